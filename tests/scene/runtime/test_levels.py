"""Levels as data: what they hold, and what is refused."""

from __future__ import annotations

import dataclasses
from typing import Any

import numpy as np
import pytest

from flexor.errors import ShapeError
from flexor.scene.runtime.levels import Levels, LevelSurface, check_levels
from tests.level_bodies import make_hand_levels
from tests.pose.crowd.test_node_motion import chain


def surface(**change: Any) -> LevelSurface:
    """Six vertices and two faces; three vertices and one face."""
    values: dict[str, Any] = {
        "material": -1,
        "sources": np.array([[3, 0, row] for row in range(6)]),
        "counts": np.array([6, 3]),
        "faces": (np.arange(6).reshape(2, 3), np.arange(3)[None]),
        "joints": (np.arange(6)[:, None] % 4, np.zeros((3, 1), int)),
        "weights": (np.ones((6, 1)), np.ones((3, 1))),
        **change,
    }
    return LevelSurface(**values)


def levels(**change: Any) -> Levels:
    own = make_hand_levels(chain(4), [(0, 2)], [0.5], [0.1])
    return dataclasses.replace(own, **change)


def test_totals() -> None:
    made = levels()
    assert len(made) == 2
    assert made.totals(0) == (4, 12, 4)
    assert made.totals(1) == (1, 6, 2)
    assert not surface().faces[0].flags.writeable


@pytest.mark.parametrize(
    ("change", "text"),
    [
        ({"counts": np.array([5, 3])}, "level 0 must use all"),
        ({"counts": np.array([6, 7])}, "must not grow"),
        ({"counts": np.array([6, -1])}, "must not grow"),
        ({"counts": np.array([6])}, "faces: 2 levels, counts has 1"),
        ({"sources": -np.ones((6, 3))}, "sources: must be 0 or above"),
        ({"sources": np.zeros((6, 2))}, "sources"),
        (
            {"faces": (np.arange(6).reshape(2, 3), np.array([[0, 1, 3]]))},
            r"faces\[1\]: must lie in 0..2",
        ),
        ({"faces": (np.array([[0, 1, -1]]), np.arange(3)[None])}, r"faces\[0\]"),
        (
            {"joints": (np.zeros((6, 2), int), np.zeros((3, 1), int))},
            r"weights\[0\]: not of the shape",
        ),
        (
            {
                "joints": (np.zeros((6, 1), int), np.zeros((3, 0), int)),
                "weights": (np.ones((6, 1)), np.ones((3, 0))),
            },
            r"weights\[1\]: at least one",
        ),
        ({"weights": (np.full((6, 1), np.nan), np.ones((3, 1)))}, "must be finite"),
        ({"weights": (np.full((6, 1), 0.9), np.ones((3, 1)))}, "rows must sum to 1"),
        ({"weights": (np.full((6, 1), 1.05), np.ones((3, 1)))}, "rows must sum to 1"),
        ({"weights": (np.ones((6, 1)), np.full((3, 1), 0.998))}, r"weights\[1\]: rows"),
        ({"weights": (-np.ones((6, 1)), np.ones((3, 1)))}, "not negative"),
        ({"shapes": (np.zeros((0, 6)),)}, "shapes: 1 levels, counts has 2"),
        (
            {"shapes": (np.zeros((0, 6)), np.zeros((2, 6)))},
            r"shapes\[1\]: 2 rows for 3",
        ),
        (
            {"shapes": (np.zeros((0, 6)), np.full((3, 6), np.inf))},
            r"shapes\[1\]: must be finite",
        ),
    ],
)
def test_surfaces_refuse(change: dict[str, Any], text: str) -> None:
    with pytest.raises(ShapeError, match=text):
        surface(**change)


@pytest.mark.parametrize("total", [0.9992, 1.0008])
def test_sums_may_be_off_by_rounding(total: float) -> None:
    made = surface(weights=(np.full((6, 1), total), np.ones((3, 1))))
    assert made.weights[0][0, 0] == np.float32(total)


@pytest.mark.parametrize(
    ("change", "text"),
    [
        ({"masks": np.zeros((0, 4), bool)}, "errors|masks"),
        ({"masks": np.ones((2, 3), bool)}, "masks"),
        ({"masks": np.zeros((2, 4), bool)}, "masks: level 0 needs node 'n0'"),
        ({"slots": np.array([0, 1, 2, 9], np.int32)}, "slots: a node that is not in"),
        ({"binds": np.full((4, 3, 4), np.nan, np.float32)}, "binds: must be finite"),
        ({"errors": np.ones((2, 2), np.float32)}, "errors: must be finite, .* 0 at"),
        ({"errors": np.array([[0, 0], [-1, 0]], np.float32)}, "not negative"),
        ({"errors": np.zeros((3, 2), np.float32)}, "errors"),
        ({"height": -1.0}, "height: -1.0, expected metres"),
        ({"height": np.inf}, "height"),
    ],
)
def test_levels_refuse(change: dict[str, Any], text: str) -> None:
    with pytest.raises(ShapeError, match=text):
        levels(**change)


def test_surfaces_must_fit_their_levels() -> None:
    own = levels()
    one = surface(
        counts=np.array([6]),
        faces=(np.arange(6).reshape(2, 3),),
        joints=(np.zeros((6, 1), int),),
        weights=(np.ones((6, 1)),),
    )
    with pytest.raises(ShapeError, match="surfaces: 1 levels, expected 2"):
        dataclasses.replace(own, surfaces=(one,))
    far = surface(joints=(np.full((6, 1), 7), np.zeros((3, 1), int)))
    with pytest.raises(ShapeError, match=r"joints\[0\]: must lie in 0..3"):
        dataclasses.replace(own, surfaces=(far,))


def test_what_the_scene_has_not_is_refused() -> None:
    scene = chain(4)
    check_levels(levels(), scene)
    check_levels(levels(surfaces=(surface(),)), scene)
    for change, text in (
        ({"material": 0}, "material: 0 is not in the scene"),
        ({"sources": np.array([[3, 0, 12]] * 6)}, "no vertex 12 in primitive 0"),
        ({"sources": np.array([[3, 1, 0]] * 6)}, "no vertex 0 in primitive 1"),
        ({"sources": np.array([[2, 0, 0]] * 6)}, "no vertex 0 .* at node 2"),
    ):
        with pytest.raises(ShapeError, match=text):
            check_levels(levels(surfaces=(surface(**change),)), scene)
    with pytest.raises(ShapeError, match="table: node 3, there are 2"):
        check_levels(levels(), chain(2))
