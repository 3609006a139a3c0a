"""Vertices that always stand in the same place."""

from __future__ import annotations

from typing import Any

import numpy as np

from flexor.draw.scene.weld import weld_vertices
from flexor.scene.character.mesh import MorphTarget, Primitive
from flexor.scene.character.weights import SkinWeights

Rng = np.random.Generator
PLACES = [(0, 0, 0), (1, 0, 0), (0, 0, 0), (1, 0, 0), (2, 0, 0), (0, 0, 0)]


def weld(positions: Any = PLACES, **more: Any) -> list[int] | None:
    welded = weld_vertices(Primitive(np.array(positions, np.float32), **more))
    return None if welded is None else welded.tolist()


def skin(rows: list[dict[int, float]]) -> SkinWeights:
    joints, weights = np.zeros((len(rows), 4), np.uint16), np.zeros((len(rows), 4))
    for row, pulls in enumerate(rows):
        joints[row, : len(pulls)] = list(pulls)
        weights[row, : len(pulls)] = list(pulls.values())
    return SkinWeights(joints, weights)


def test_same_place() -> None:
    assert weld() == [0, 1, 0, 1, 4, 0]


def test_none_are_the_same() -> None:
    assert weld([(0, 0, 0), (1, 0, 0)]) is None
    assert weld(np.zeros((0, 3))) is None


def test_minus_zero_is_zero() -> None:
    assert weld([(0.0, 0, 0), (-0.0, 0, 0)]) == [0, 0]


def test_other_weights_part_them() -> None:
    half = {0: 0.5, 1: 0.5}
    rows = [half, {0: 1.0}, {1: 0.5, 0: 0.5}, {0: 1.0}, {0: 1.0}, {0: 0.75, 1: 0.25}]
    # The order of the joints does not count.
    assert weld(skin=skin(rows)) == [0, 1, 0, 1, 4, 5]


def test_rounding_of_weights_does_not() -> None:
    rows = [{0: 0.3, 1: 0.7}, {0: 0.30001, 1: 0.69999}]
    assert weld([(0, 0, 0), (0, 0, 0)], skin=skin(rows)) == [0, 0]


def test_morphs_part_them() -> None:
    moved = np.zeros((6, 3), np.float32)
    moved[2] = 1, 0, 0
    targets = (MorphTarget(np.zeros((6, 3), np.float32)), MorphTarget(moved))
    assert weld(targets=targets) == [0, 1, 2, 1, 4, 0]
    apart = np.arange(18, dtype=np.float32).reshape(6, 3)
    assert weld(targets=(MorphTarget(apart),)) is None


def test_normals_of_morphs_do_not() -> None:
    target = MorphTarget(None, np.arange(18, dtype=np.float32).reshape(6, 3))
    assert weld(targets=(target,)) == [0, 1, 0, 1, 4, 0]


def test_brute_force(rng: Rng) -> None:
    places = rng.integers(0, 3, (60, 3)).astype(np.float32)
    welded = weld(places)
    assert welded is not None
    for row, place in enumerate(places):
        assert welded[row] == next(
            i for i, other in enumerate(places) if (other == place).all()
        )
