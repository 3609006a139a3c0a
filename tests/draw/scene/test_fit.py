"""Cameras that see everything and waste little."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from flexor.draw.scene.fit import direction_of, fit_camera, fit_shape
from flexor.errors import SettingError
from flexor.scene.character.camera import Camera

Rng = np.random.Generator


def edges(camera: Camera, points: Any, size: tuple[int, int]) -> Any:
    """Shares of the picture: left, top, right, bottom end of the points."""
    seen = camera.project(np.asarray(points, np.float64).reshape(-1, 3), size)
    assert np.isfinite(seen).all()
    share = seen[:, :2] / size
    return np.concatenate([share.min(0), share.max(0)])


@pytest.mark.parametrize("is_flat", [False, True])
@pytest.mark.parametrize("size", [(640, 480), (480, 640), (1000, 100), (1, 1)])
def test_all_is_seen_and_touches_the_margin(
    is_flat: bool, size: tuple[int, int], rng: Rng
) -> None:
    for _ in range(20):
        points = rng.normal(size=(50, 3)) * rng.uniform(0.1, 5, 3) + rng.normal(size=3)
        camera = fit_camera(
            points,
            size,
            direction=rng.normal(size=3),
            fov=rng.uniform(0.2, 2),
            is_flat=is_flat,
            margin=0.1,
        )
        left, top, right, bottom = edges(camera, points, size)
        assert min(left, top) >= 0.1 - 1e-6
        assert max(right, bottom) <= 0.9 + 1e-6
        # In one direction the picture is full, in the other it is in the middle.
        assert max(right - left, bottom - top) == pytest.approx(0.8, abs=1e-5)
        if is_flat:
            assert left + right == pytest.approx(1)
            assert top + bottom == pytest.approx(1)


def test_a_motion_is_seen_whole(rng: Rng) -> None:
    points = rng.normal(size=(5, 30, 3)) + np.arange(5)[:, None, None]
    camera = fit_camera(points)
    assert (np.abs(edges(camera, points, (640, 480)) - 0.5) <= 0.42 + 1e-6).all()


@given(
    st.floats(-30, 30),
    st.floats(-20, 20),
    st.integers(0, 8),
    st.booleans(),
)
def test_all_scales(size: float, place: float, kind: int, is_flat: bool) -> None:
    """Points, lines, planes and boxes, tiny, huge, far away."""
    scale = 10.0**size
    extent = np.array([kind & 1, kind >> 1 & 1, kind >> 2 & 1]) * scale
    middle = np.array([1.0, -2, 3]) * math.copysign(10 ** abs(place / 2), place)
    corners = middle + extent * (np.indices((2, 2, 2)).reshape(3, -1).T - 0.5)
    camera = fit_camera(corners, is_flat=is_flat)
    numbers = [*camera.eye, *camera.target, camera.near, camera.height or 1]
    assert np.isfinite(numbers).all()
    seen = edges(camera, corners, (640, 480))
    assert (np.abs(seen - 0.5) <= 0.43).all()


@pytest.mark.parametrize("is_flat", [False, True])
def test_what_is_faint_may_reach_into_the_margin(is_flat: bool, rng: Rng) -> None:
    size = (300, 200)
    for _ in range(20):
        points, faint = rng.normal(size=(30, 3)), rng.normal(size=(30, 3)) * 1.2
        way = rng.normal(size=3)
        camera = fit_camera(points, size, direction=way, is_flat=is_flat, faint=faint)
        inner, outer = edges(camera, points, size), edges(camera, faint, size)
        assert (np.abs(inner - 0.5) <= 0.42 + 1e-6).all()
        assert (np.abs(outer - 0.5) <= 0.5 + 1e-6).all()
        # No nearer: a border of each kind is touched, on both sides of one axis.
        touched = np.abs(inner - 0.5) > 0.42 - 1e-6
        touched |= np.abs(outer - 0.5) > 0.5 - 1e-6
        assert (touched[0] and touched[2]) or (touched[1] and touched[3])
    alone = fit_camera(points, size, is_flat=is_flat)
    for none in (points, np.zeros((0, 3)), [(np.nan, 0, 0)]):
        camera = fit_camera(points, size, is_flat=is_flat, faint=none)
        np.testing.assert_allclose(camera.eye, alone.eye)


def test_odd_points() -> None:
    one = fit_camera([(5, 6, 7)])
    np.testing.assert_allclose(one.target, (5, 6, 7))
    for count in (2, 3, 100):
        same = fit_camera(np.tile([5.1, 6.2, 7.3], (count, 1)))
        assert np.linalg.norm(np.subtract(same.eye, same.target)) > 1
    # As a metre is seen.
    assert edges(one, [(5, 6.5, 7), (5, 5.5, 7)], (640, 480)) == pytest.approx(
        [0.5, 0.08, 0.5, 0.92], abs=0.03
    )
    for none in (np.zeros((0, 3)), [(np.nan, 0, 0)], [(np.inf, 1, 2), (0, np.nan, 0)]):
        assert fit_camera(none).target == (0, 0, 0)
    plain = fit_camera([(0, 0, 0), (1, 2, 3)])
    dirty = [(0, 0, 0), (np.nan, 9, 9), (1, 2, 3), (0, np.inf, 0)]
    assert fit_camera(dirty) == plain


def test_directions(rng: Rng) -> None:
    points = rng.normal(size=(9, 3))
    for way in [(0, 1, 0), (0, -1, 0), (0, 0, 1), (1e-30, 0, 0), (1e30, 1e30, 0)]:
        camera = fit_camera(points, direction=way)
        back = np.subtract(camera.eye, camera.target)
        unit = np.array(way) / max(np.abs(way))
        np.testing.assert_allclose(
            back / np.linalg.norm(back), unit / np.linalg.norm(unit), atol=1e-9
        )
    camera = fit_camera(points, up=(1, 0, 0), direction=(0, 0, 1))
    np.testing.assert_allclose(camera.axes()[1], (1, 0, 0))


def test_direction_of() -> None:
    quarter = math.pi / 2
    np.testing.assert_allclose(direction_of(0, 0), (0, 0, 1))
    np.testing.assert_allclose(direction_of(quarter, 0), (1, 0, 0), atol=1e-15)
    np.testing.assert_allclose(direction_of(1, quarter), (0, 1, 0), atol=1e-15)


def test_turntable_keeps_distance_and_target(rng: Rng) -> None:
    camera = fit_camera(rng.normal(size=(20, 3)))
    turned = camera.turned(math.radians(90))
    assert turned.target == camera.target
    far = [np.linalg.norm(np.subtract(c.eye, c.target)) for c in (camera, turned)]
    assert far[0] == pytest.approx(far[1])


def test_shape() -> None:
    box = np.array([(0, 0, 0), (4, 1, 0)])
    assert fit_shape(box, (0, 0, 1)) == pytest.approx(4)
    assert fit_shape(box[:, [1, 0, 2]], (0, 0, 1)) == pytest.approx(0.25)
    for odd in (
        [(1, 2, 3)],
        np.zeros((0, 3)),
        [(np.nan, 0, 0)],
        [(0, 0, 0), (1, 0, 0)],
    ):
        assert fit_shape(odd, (0, 0, 1)) == 1


@pytest.mark.parametrize(
    ("settings", "text"),
    [
        ({"margin": 0.5}, "margin"),
        ({"margin": -0.1}, "margin"),
        ({"direction": (0, 0, 0)}, "direction"),
        ({"direction": (0, 1)}, "direction"),
        ({"direction": (0, np.nan, 1)}, "direction"),
        ({"size": (0, 10)}, "size"),
        ({"fov": 4.0}, "fov"),
        ({"up": (0, 0, 1), "direction": (0, 0, 1)}, "up"),
    ],
)
def test_refusals(settings: Any, text: str) -> None:
    with pytest.raises(SettingError, match=text):
        fit_camera([(0, 0, 0), (1, 1, 1)], **settings)
