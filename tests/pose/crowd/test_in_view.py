"""What is in the picture."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from flexor.pose.crowd.level_choice import is_in_view
from flexor.scene.character.camera import Camera
from tests.pose.crowd.level_figures import EYE, FLAT, SIZE, Rng, ahead

# In the picture


def in_view(places: Any, reach: Any = 0.0, camera: Camera = EYE) -> list[bool]:
    at = np.array(places, np.float32).reshape(-1, 3)
    reaches = np.empty(len(at), np.float32)
    reaches[:] = reach
    return is_in_view(camera, SIZE, at, reaches).tolist()  # type: ignore[no-any-return]


@pytest.mark.parametrize("way", [(2, 0), (-2, 0), (0, 1), (0, -1)])
def test_points_at_each_side(way: Any) -> None:
    x, y = way
    for depth in (0.5, 5.0, 500.0):
        edge = np.array([x * depth, y * depth, -depth])
        places = [edge * [s, s, 1] for s in (0, 0.99, 1.01)]
        assert in_view(places) == [True, True, False]
    assert in_view([[s * x / 1, s * y, -7] for s in (0.99, 1.01)], camera=FLAT) == [
        True,
        False,
    ]


def test_balls_that_reach_in() -> None:
    """The side is a plane at 45 degrees: 1 m beyond is 0.71 m from it."""
    above = [(0, 6, -5)] * 2
    assert in_view(above, [0.70, 0.72]) == [False, True]
    assert in_view(above, [4.9, 5.1], FLAT) == [False, True]
    behind = [(0, 0, 1)] * 2
    for camera in (EYE, FLAT):
        assert in_view(behind, [1.005, 1.015], camera) == [False, True]


def test_nothing_is_nearer_than_near() -> None:
    for camera in (EYE, FLAT):
        assert in_view(ahead(0.009, 0.011, 1e9), camera=camera) == [False, True, True]


@pytest.mark.parametrize("camera", [EYE, FLAT])
@pytest.mark.parametrize("bad", [np.nan, np.inf, -np.inf])
def test_places_that_are_no_places(camera: Camera, bad: float) -> None:
    for row in range(3):
        place = [0.0, 0.0, -2.0]
        place[row] = bad
        got = in_view([(0, 0, -2), place, (0, 0, -2)], 1.0, camera)
        assert got == [True, False, True]
        aslant = replace(camera, eye=(1, 2, 3), target=(-2, 1, 0))
        assert in_view([place], np.inf, aslant) == [False]
    assert in_view(ahead(2, 2), [np.nan, np.inf], camera) == [False, True]


@pytest.mark.parametrize("height", [None, 3.0])
def test_what_can_be_seen_is_never_left_out(height: float | None, rng: Rng) -> None:
    """Points all over balls, projected: one in the picture, and the ball is in view.
    And what is taken for seen is not far outside.
    """
    camera = Camera((1, 2, 3), (-2, 1, 0), fov=0.9, height=height, near=0.2)
    places = rng.uniform(-9, 9, (400, 3)).astype(np.float32)
    reaches = rng.uniform(0, 2, 400).astype(np.float32)
    got = is_in_view(camera, SIZE, places, reaches)
    ways = rng.normal(size=(3000, 3))
    ways /= np.linalg.norm(ways, axis=1)[:, None]
    ways *= rng.choice([0.5, 1.0], (3000, 1))

    view, half = camera.view(), np.array(SIZE) / 2 / camera.scale(SIZE)

    def can_see(scale: float) -> Any:
        points = places[:, None] + ways * (scale * reaches)[:, None, None]
        seen = points @ view[:, :3].T + view[:, 3]
        distance = -seen[..., 2]
        reach = (
            half * (distance if height is None else np.ones_like(distance))[..., None]
        )
        inside = (np.abs(seen[..., :2]) <= reach).all(-1)
        return (inside & (distance >= camera.near)).any(1)

    seen = can_see(1.0)
    assert not (seen & ~got).any()
    assert 30 < seen.sum() < 370
    # Corners are where a plane at a time is not exact.
    assert not (got & ~can_see(1.6)).any()
