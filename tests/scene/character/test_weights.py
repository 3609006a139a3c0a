"""Weights and skins: refusals, and what is accepted sums to 1."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from flexor.errors import ShapeError
from flexor.scene.character.weights import Skin, SkinWeights


@pytest.mark.parametrize(
    ("joints", "weights", "text"),
    [
        ([0, 1], [1, 0], "joints: shape"),
        ([[0, 1]], [[1]], r"weights: shape \(1, 1\), expected \(1, 2\)"),
        ([[0, 1]], [[1, 0], [1, 0]], "weights: shape"),
        ([[0, 1]], [[1.5, -0.5]], "weights: must be finite and not negative"),
        ([[0, 1]], [[np.nan, 1]], "weights: must be finite"),
        ([[0, 1]], [[np.inf, 0]], "weights: must be finite"),
        ([[0, 1]], [[0.5, 0.4]], "weights: a row's sum is off 1 by 0.1"),
        ([[0, 1], [0, 1]], [[0.5, 0.5], [0, 0]], "weights: a row's sum is off 1 by 1"),
        (np.zeros((2, 0)), np.zeros((2, 0)), "weights: a row's sum is off"),
        ([[-1]], [[1]], "joints: cannot be made uint16"),
        ([[70000]], [[1]], "joints: cannot be made uint16"),
        (np.array([[-1]]), [[1]], "joints: cannot be made uint16"),
    ],
)
def test_refusals(joints: Any, weights: Any, text: str) -> None:
    with pytest.raises(ShapeError, match=text):
        SkinWeights(joints, weights)


def test_frozen() -> None:
    skin = SkinWeights([[0, 3]], [[0.25, 0.75]])  # type: ignore[arg-type]
    assert skin.joints.dtype == np.uint16
    assert skin.weights.dtype == np.float32
    assert not skin.joints.flags.writeable
    assert not skin.weights.flags.writeable


def test_no_vertices() -> None:
    skin = SkinWeights(np.zeros((0, 4)), np.zeros((0, 4)))
    assert skin.influence_counts().shape == (0,)


def test_influence_counts() -> None:
    skin = SkinWeights(np.zeros((3, 3)), [[1, 0, 0], [0, 0.5, 0.5], [0.2, 0.3, 0.5]])
    assert skin.influence_counts().tolist() == [1, 2, 3]


ROWS = arrays(np.float32, (3, 4), elements=st.floats(0, 1, width=32))


@given(ROWS, st.booleans())
def test_weights_sum_to_one_where_accepted(rows: Any, is_scaled: bool) -> None:
    sums = rows.astype(np.float64).sum(1, keepdims=True)
    if is_scaled:
        rows = np.where(sums > 0, rows / np.where(sums > 0, sums, 1), [1, 0, 0, 0])
    try:
        skin = SkinWeights(np.zeros((3, 4)), rows)
    except ShapeError:
        assert not is_scaled
        return
    total = skin.weights.sum(1, dtype=np.float64)
    assert (np.abs(total - 1) <= 1e-3).all()
    assert (skin.weights >= 0).all()


@pytest.mark.parametrize(
    ("joints", "binds", "text"),
    [
        ([[0]], np.zeros((1, 3, 4)), "joints: shape"),
        ([0, 1], np.zeros((1, 3, 4)), "inverse_binds: shape"),
        (
            [0],
            np.zeros((1, 4, 4)),
            r"inverse_binds: shape \(1, 4, 4\), expected \(1, 3, 4\)",
        ),
    ],
)
def test_skin_refusals(joints: Any, binds: Any, text: str) -> None:
    with pytest.raises(ShapeError, match=text):
        Skin("skin", joints, binds)


def test_skin_is_frozen() -> None:
    skin = Skin("skin", [0, 4], np.zeros((2, 3, 4)))  # type: ignore[arg-type]
    assert skin.joints.dtype == np.int32
    assert skin.inverse_binds.dtype == np.float32
    assert not skin.joints.flags.writeable
    assert not skin.inverse_binds.flags.writeable
