from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp

from flexor.convert.shape.body import Pull
from flexor.convert.weights.edit_weights import (
    limit_influences,
    normalise_weights,
    prune_weights,
)
from flexor.errors import SettingError


@st.composite
def pulls(draw: Any, is_whole: bool = True) -> Pull:
    """Rows of different joints in any order, some with nothing; sums of 1 if whole."""
    rows, width = draw(st.integers(0, 8)), draw(st.integers(1, 6))
    rng = np.random.default_rng(draw(st.integers(0, 2**32)))
    joints = np.argsort(rng.random((rows, 9)), axis=1)[:, :width].astype(np.int32)
    levels = st.sampled_from([0, 0, 1, 1, 2, 3, 50])
    amounts = draw(hnp.arrays(np.float64, (rows, width), elements=levels))
    amounts = np.where(rng.random(amounts.shape) < 0.5, amounts, amounts * 0.37)
    sums = amounts.sum(1, keepdims=True)
    if is_whole:
        amounts = np.divide(amounts, sums, out=amounts * 0, where=sums > 0)
    return Pull(np.where(amounts > 0, joints, -1), amounts.astype(np.float32))


def row_set(pull: Pull, row: int) -> dict[int, float]:
    return {
        int(j): float(w)
        for j, w in zip(pull.joints[row], pull.weights[row], strict=True)
        if w > 0
    }


def check_rows(before: Pull, after: Pull, keep: Any) -> None:
    """Every row holds what `keep` chooses of it, in proportion, or is untouched."""
    assert after.joints.dtype == np.int32
    assert after.weights.dtype == np.float32
    assert (after.weights >= 0).all()
    assert ((after.joints >= 0) == (after.weights > 0)).all()
    for row in range(len(before)):
        old = row_set(before, row)
        kept = keep(old)
        if kept == old:
            assert after.joints[row].tobytes() == before.joints[row].tobytes()
            assert after.weights[row].tobytes() == before.weights[row].tobytes()
            continue
        whole = sum(kept.values())
        expected = {joint: weight / whole for joint, weight in kept.items()}
        assert row_set(after, row) == pytest.approx(expected, abs=1e-6)


@given(pulls(), st.integers(1, 7))
def test_the_largest_weights_stay(pull: Pull, most: int) -> None:
    def keep(row: dict[int, float]) -> dict[int, float]:
        ranked = sorted(row, key=lambda joint: (-row[joint], joint))
        return {joint: row[joint] for joint in row if joint in ranked[:most]}

    after = limit_influences(pull, most)
    check_rows(pull, after, keep)
    assert limit_influences(after, most) is after


@given(pulls(), st.sampled_from([0, 0.01, 0.1, 0.25, 0.5, 1]))
def test_small_weights_go(pull: Pull, least: float) -> None:
    def keep(row: dict[int, float]) -> dict[int, float]:
        first = min(row, key=lambda joint: (-row[joint], joint), default=-1)
        return {
            joint: weight
            for joint, weight in row.items()
            if weight >= np.float32(least) or joint == first
        }

    after = prune_weights(pull, least)
    check_rows(pull, after, keep)
    np.testing.assert_allclose(after.weights.sum(1), pull.weights.any(1), atol=1e-6)


@given(pulls(is_whole=False))
def test_sums_are_1(pull: Pull) -> None:
    after = normalise_weights(pull)
    np.testing.assert_allclose(after.weights.sum(1), pull.weights.any(1), atol=1e-6)
    for row, total in enumerate(pull.weights.sum(1, dtype=float)):
        if total == 1 or not total:
            assert after.weights[row].tobytes() == pull.weights[row].tobytes()
        expected = {j: w / total for j, w in row_set(pull, row).items()}
        assert row_set(after, row) == pytest.approx(expected, abs=1e-6)
    assert normalise_weights(after) is after


def test_weights_that_are_no_weights_are_dropped() -> None:
    joints = np.array([[0, 1, 2], [0, 1, 2], [-1, 1, 2], [3, -1, -1]], np.int32)
    bad = [[np.nan, 1, 1], [-1, np.inf, -0.5], [5, 0.25, 0.25], [1e-38, 0, 0]]
    pull = normalise_weights(Pull(joints, np.array(bad, np.float32)))
    rows = [row_set(pull, row) for row in range(4)]
    assert rows == [{1: 0.5, 2: 0.5}, {}, {1: 0.5, 2: 0.5}, {3: 1}]
    assert pull.joints[1].tolist() == [-1, -1, -1]


def test_equal_weights_go_to_the_lower_joint() -> None:
    pull = Pull(np.array([[7, 3, 5]], np.int32), np.full((1, 3), 1 / 3, np.float32))
    assert row_set(limit_influences(pull, 1), 0) == {3: 1}
    assert row_set(prune_weights(pull, 1), 0) == {3: 1}


def test_refusals() -> None:
    pull = Pull(np.zeros((1, 1), np.int32), np.ones((1, 1), np.float32))
    with pytest.raises(SettingError, match="most: 0, expected at least 1"):
        limit_influences(pull, 0)
    for least in (-0.1, 1.5, np.nan):
        with pytest.raises(SettingError, match="expected 0 to 1"):
            prune_weights(pull, least)
