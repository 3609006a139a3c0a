"""Cameras: refusals, axes, where points appear, turning."""

from __future__ import annotations

import math
from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from flexor.errors import SettingError
from flexor.scene.character.camera import Camera

SIZE = (64, 48)
SLANTED = Camera((1.0, 2.0, 3.0), (-0.5, 0.4, 0.2), (0.1, 1.0, 0.3), fov=0.8)


@pytest.mark.parametrize("name", ["eye", "target", "up"])
@pytest.mark.parametrize(
    "value", [(0, 0), (0, 0, 0, 1), (0, 0, math.nan), (0, math.inf, 0), "xyz", None]
)
def test_vectors_must_be_three_finite_numbers(name: str, value: Any) -> None:
    with pytest.raises(
        SettingError, match=f"camera {name}: .* expected three finite numbers"
    ):
        Camera(**{name: value})


@pytest.mark.parametrize(
    ("changes", "text"),
    [
        ({"fov": 0}, "camera fov: 0, expected 1e-6 to pi radians"),
        ({"fov": math.pi}, "camera fov: 3.14.*, expected 1e-6 to pi radians"),
        ({"fov": math.nan}, "camera fov: nan"),
        ({"height": 0}, "camera height: 0, expected metres above 0"),
        ({"height": -2}, "camera height: -2"),
        ({"height": math.inf}, "camera height: inf"),
        ({"near": 0}, "camera near: 0, expected metres above 0"),
        ({"near": -1}, "camera near: -1"),
        ({"near": math.nan}, "camera near: nan"),
        ({"near": math.inf}, "camera near: inf"),
        ({"eye": (1, 2, 3), "target": (1, 2, 3)}, "eye and target are the same point"),
        ({"eye": (0, 5, 0), "target": (0, 1, 0)}, "up points along the view"),
        ({"up": (0, 0, 0)}, "up points along the view"),
        ({"up": (0, 0, -3)}, "up points along the view"),
    ],
)
def test_refusals(changes: Any, text: str) -> None:
    with pytest.raises(SettingError, match=text):
        Camera(**changes)


def test_arrays_are_taken() -> None:
    camera = Camera(np.array([1, 2, 3]), [0, 0, 0])  # type: ignore[arg-type]
    assert camera.eye == (1.0, 2.0, 3.0)
    assert camera == Camera((1, 2, 3), (0, 0, 0))
    assert hash(camera) == hash(Camera((1, 2, 3), (0, 0, 0)))


def test_axes() -> None:
    """Right-handed and unit; the camera looks along its -z."""
    axes = SLANTED.axes()
    np.testing.assert_allclose(axes @ axes.T, np.eye(3), atol=1e-12)
    np.testing.assert_allclose(np.linalg.det(axes), 1)
    view = np.array(SLANTED.target) - SLANTED.eye
    np.testing.assert_allclose(axes @ view, [0, 0, -np.linalg.norm(view)], atol=1e-12)
    assert axes[1] @ np.array(SLANTED.up) > 0
    assert abs(axes[0] @ np.array(SLANTED.up)) < 1e-12
    np.testing.assert_allclose(Camera().axes(), np.eye(3), atol=1e-12)


def test_view() -> None:
    view = SLANTED.view()
    at_eye = view[:, :3] @ SLANTED.eye + view[:, 3]
    np.testing.assert_allclose(at_eye, 0, atol=1e-12)
    np.testing.assert_allclose(view[:, :3], SLANTED.axes())


def test_target_is_in_the_middle() -> None:
    x, y, distance = SLANTED.project(SLANTED.target, SIZE)
    assert (x, y) == pytest.approx((32, 24))
    assert distance == pytest.approx(math.dist(SLANTED.eye, SLANTED.target))


def test_fov_is_from_bottom_to_top() -> None:
    camera = Camera((0, 0, 2), (0, 0, 0), fov=0.6)
    top = 2 * math.tan(0.3)
    places = camera.project([(0, top, 0), (0, -top, 0), (top, 0, 0)], SIZE)
    np.testing.assert_allclose(places[:, 1], [0, 48, 24], atol=1e-9)
    np.testing.assert_allclose(places[:, 0], [32, 32, 32 + 24], atol=1e-9)
    assert camera.scale(SIZE) == pytest.approx(24 / math.tan(0.3))


def test_height_is_from_bottom_to_top_at_any_distance() -> None:
    camera = Camera((0, 0, 2), (0, 0, 0), height=3)
    assert camera.scale(SIZE) == 16
    for z in (0, -7, 1.5):
        places = camera.project([(0, 1.5, z), (1, -1.5, z)], SIZE)
        np.testing.assert_allclose(places[:, :2], [(32, 0), (48, 48)], atol=1e-9)
        np.testing.assert_allclose(places[:, 2], 2 - z)


@pytest.mark.parametrize("height", [None, 3.0])
def test_behind_near_there_are_no_pixels(height: float | None) -> None:
    camera = Camera((0, 0, 2), (0, 0, 0), height=height, near=0.5)
    places = camera.project([(0, 0, 1.5), (0, 0, 1.6), (0, 0, 2), (0, 0, 5)], SIZE)
    assert np.isnan(places[:, 0]).tolist() == [False, True, True, True]
    assert np.isnan(places[:, 1]).tolist() == [False, True, True, True]
    np.testing.assert_allclose(places[:, 2], [0.5, 0.4, 0, -3])


def test_shapes_of_points() -> None:
    assert SLANTED.project(np.zeros((4, 5, 3)), SIZE).shape == (4, 5, 3)
    assert SLANTED.project(np.zeros((0, 3)), SIZE).shape == (0, 3)


def test_turned_goes_around_the_target() -> None:
    camera = Camera((0, 1, 4), (0, 0.5, 0))
    quarter = camera.turned(math.pi / 2)
    np.testing.assert_allclose(quarter.eye, (4, 1, 0), atol=1e-12)
    assert quarter.target == camera.target
    np.testing.assert_allclose(camera.turned(2 * math.pi).eye, camera.eye, atol=1e-12)
    for angle in (0.3, 2.0, -1.0):
        turned = SLANTED.turned(angle)
        before = math.dist(SLANTED.eye, SLANTED.target)
        assert math.dist(turned.eye, turned.target) == pytest.approx(before)
        up = np.array(SLANTED.up)
        rise = up @ (np.array(SLANTED.eye) - SLANTED.target)
        assert up @ (np.array(turned.eye) - turned.target) == pytest.approx(rise)


def test_moved_takes_the_target_along() -> None:
    moved = SLANTED.moved((1, -2, 3.5))
    np.testing.assert_allclose(moved.eye, np.add(SLANTED.eye, (1, -2, 3.5)))
    np.testing.assert_allclose(moved.target, np.add(SLANTED.target, (1, -2, 3.5)))
    np.testing.assert_allclose(moved.axes(), SLANTED.axes(), atol=1e-12)
    assert (moved.fov, moved.height, moved.near) == (
        SLANTED.fov,
        SLANTED.height,
        SLANTED.near,
    )
    for way in ((1, 2), (1, 2, math.nan), "far"):
        with pytest.raises(SettingError, match="camera way"):
            SLANTED.moved(way)  # type: ignore[arg-type]


def in_clip(camera: Camera, points: np.ndarray, far: float = math.inf) -> np.ndarray:
    """Where points (n, 3) are after projection, each number from -1 to 1 if seen."""
    view = np.vstack([camera.view(), (0, 0, 0, 1)])
    clip = camera.projection(SIZE, far=far) @ view
    put = np.column_stack([points, np.ones(len(points))]) @ clip.T
    return np.asarray(put[:, :3] / put[:, 3:])


@pytest.mark.parametrize("height", [None, 2.5])
@pytest.mark.parametrize("far", [math.inf, 50.0])
def test_projection_is_where_points_appear(height: float | None, far: float) -> None:
    rng = np.random.default_rng(3)
    camera = replace(SLANTED, height=height, near=0.05)
    points = rng.normal(size=(100, 3))
    pixels = camera.project(points, SIZE)
    points, pixels = points[pixels[:, 2] > 0.1], pixels[pixels[:, 2] > 0.1]
    assert len(points) > 80
    seen = in_clip(camera, points, far)
    across = (seen[:, 0] + 1) / 2 * SIZE[0]
    down = (1 - seen[:, 1]) / 2 * SIZE[1]
    np.testing.assert_allclose(across, pixels[:, 0], rtol=0, atol=1e-9)
    np.testing.assert_allclose(down, pixels[:, 1], rtol=0, atol=1e-9)
    # What is farther away is deeper.
    assert (np.diff(seen[np.argsort(pixels[:, 2]), 2]) >= 0).all()


@pytest.mark.parametrize("height", [None, 2.5])
def test_depth_goes_from_near_to_far(height: float | None) -> None:
    camera = Camera((0, 0, 0), (0, 0, -1), height=height, near=0.25)
    ends = np.array([(0, 0, -0.25), (0, 0, -40.0)])
    np.testing.assert_allclose(in_clip(camera, ends, 40)[:, 2], (-1, 1), atol=1e-12)
    last = 1000.0 if height else 1e12  # without an end, depth comes to 1 far away
    ends[1, 2] = -last
    np.testing.assert_allclose(in_clip(camera, ends)[:, 2], (-1, 1), atol=1e-9)


def test_projection_is_the_usual_matrix() -> None:
    camera = Camera(fov=math.radians(60), near=0.1)
    f = 1 / math.tan(math.radians(30))
    wanted = [[f * 48 / 64, 0, 0, 0], [0, f, 0, 0]]
    wanted += [[0, 0, -100.1 / 99.9, -2 * 100 * 0.1 / 99.9], [0, 0, -1, 0]]
    np.testing.assert_allclose(camera.projection(SIZE, far=100), wanted, atol=1e-12)


@pytest.mark.parametrize(
    ("size", "far", "text"),
    [
        ((0, 48), 10, r"size: \(0, 48\), expected width and height in pixels"),
        ((64,), 10, "size"),
        ((64, math.nan), 10, "size"),
        (SIZE, 0.01, "far: 0.01, expected metres beyond 0.01"),
        (SIZE, math.nan, "far: nan"),
    ],
)
def test_projections_that_are_refused(size: Any, far: float, text: str) -> None:
    with pytest.raises(SettingError, match=text):
        Camera().projection(size, far=far)
