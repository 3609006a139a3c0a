"""Scores of bones: by hand, against the oracle, and what lies inside a body."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from flexor.convert.shape.body import Pull
from flexor.convert.shape.bones import Bones
from flexor.convert.shape.sections import Sections
from flexor.convert.shape.surface import make_surface
from flexor.convert.weights.score_bones import (
    best_bones,
    tie_scores,
)
from flexor.maths import transforms
from tests.oracle import smooth as oracle
from tests.scenes import random_rotations


def random_bones(rng: Any, count: int) -> tuple[Bones, Sections]:
    frames = transforms.compose(
        rng.normal(size=(count, 3)), random_rotations(rng, count), np.ones((count, 3))
    )
    tips = rng.integers(-1, count, count).astype(np.int32)
    bones = Bones(frames, rng.uniform(0.2, 1, count), tips)
    if count > 2:
        bones.lengths[1] = 0
    radii = rng.uniform(0.05, 0.6, (count, 2, 2))
    offsets = rng.normal(size=(count, 2, 2)) * 0.1
    return bones, Sections(radii, offsets, np.ones(count, bool))


def limits(bones: Bones, sections: Sections) -> Any:
    return np.maximum(2 * bones.lengths, np.median(sections.radii))


def straight() -> tuple[Bones, Sections]:
    """One bone of length 2 along X with radii 1 and 0.5, not a leaf."""
    radii = np.tile([1.0, 0.5], (1, 2, 1))
    bones = Bones(np.eye(3, 4)[None], np.array([2.0]), np.array([0], np.int32))
    return bones, Sections(radii, np.zeros((1, 2, 2)), np.ones(1, bool))


@pytest.mark.parametrize(
    ("point", "score"),
    [
        ((1, 0, 0), 1),
        ((1, 0.5, 0), 0.875),
        ((1, 1, 0), 0.5),
        ((1, 0, 0.5), 0.5),
        ((1, 0, 1), 0.25),
        ((1, 4, 0), 0.125),
        ((-1, 0, 0), 1 / 9),
        ((3, 0, 0), 1 / 9),
        ((0, 0, 0), 1),
    ],
)
def test_scores_by_hand(point: Any, score: float) -> None:
    points = np.array([point], np.float32)
    rows, scores = best_bones(points, *straight(), most=1)
    assert rows.tolist() == [[0]]
    np.testing.assert_allclose(scores, [[score]], rtol=1e-6)


def test_beyond_the_tip_of_a_leaf_it_falls_gently() -> None:
    bones, sections = straight()
    bones.tips[0] = -1
    _, scores = best_bones(np.array([[3, 0, 0]], np.float32), bones, sections, most=1)
    np.testing.assert_allclose(scores, [[1 / 1.5]], rtol=1e-6)


@pytest.mark.parametrize("points", [0, 1, 5, 33])
@pytest.mark.parametrize("count", [1, 3, 7])
def test_the_best_bones(points: int, count: int, rng: Any) -> None:
    bones, sections = random_bones(rng, count)
    places = rng.normal(size=(points, 3)).astype(np.float32)
    rows, scores = best_bones(places, bones, sections, most=4)
    most = limits(bones, sections)
    assert rows.shape == scores.shape == (points, 4)
    for p in range(points):
        wanted = [
            oracle.score(bones, sections, b, places[p], most[b]) for b in range(count)
        ]
        order = np.argsort(wanted)[::-1][:4]
        np.testing.assert_allclose(
            scores[p, : len(order)], np.array(wanted)[order], rtol=2e-5
        )
        assert rows[p, : len(order)].tolist() == order.tolist()
        assert (rows[p, len(order) :] == -1).all()
        assert (scores[p, len(order) :] == 0).all()


def test_some_bones_alone(rng: Any) -> None:
    bones, sections = random_bones(rng, 6)
    places = rng.normal(size=(20, 3)).astype(np.float32)
    rows, _ = best_bones(
        places, bones, sections, joints=np.array([4, 2], np.int32), most=3
    )
    assert set(rows.ravel().tolist()) == {2, 4, -1}


def test_of_equal_bones_the_first_counts(rng: Any) -> None:
    bones, sections = random_bones(rng, 1)
    twice = Bones(
        np.repeat(bones.frames, 3, 0), np.repeat(bones.lengths, 3), np.repeat(-1, 3)
    )
    same = Sections(
        np.repeat(sections.radii, 3, 0),
        np.repeat(sections.offsets, 3, 0),
        np.ones(3, bool),
    )
    rows, _ = best_bones(rng.normal(size=(9, 3)).astype(np.float32), twice, same)
    assert (rows[:, :3] == [0, 1, 2]).all()


def test_scores_of_ties(rng: Any) -> None:
    bones, sections = random_bones(rng, 5)
    places = rng.normal(size=(12, 3)).astype(np.float32)
    joints = rng.integers(-1, 5, (12, 3)).astype(np.int32)
    pull = Pull(joints, np.where(joints >= 0, 1 / 3, 0).astype(np.float32))
    surface = make_surface(places, np.zeros((12, 3)), np.zeros((0, 3), np.int32))
    scores = tie_scores(surface, pull, bones, sections)
    most = limits(bones, sections)
    for p, k in np.ndindex(12, 3):
        b = int(joints[p, k])
        wanted = 0.0
        if b >= 0:
            wanted = oracle.score(bones, sections, b, places[p], most[b])
        assert scores[p, k] == pytest.approx(wanted, rel=2e-5)
