"""The soft shadow on the floor."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from flexor.draw.items.floor_shadow import (
    SIDE,
    ShadowState,
    cast_shadow,
    init_shadow,
    sample_points,
    sample_surface,
    upload_shadow,
)
from flexor.draw.record.backend import RecordBackend

Rng = np.random.Generator
PLATE = np.array([(-1, 0, -1), (-1, 0, 1), (1, 0, 1), (1, 0, -1)], np.float32)
FACES = np.array([(0, 1, 2), (0, 2, 3)], np.int32)


@pytest.fixture
def shadow() -> ShadowState:
    return init_shadow(0, 2.0)


def plate(x: float = 0, y: float = 0, z: float = 0, size: float = 0.25) -> Any:
    """Points spread over a square plate, and the area of each."""
    places = PLATE * np.float32(size) + np.array([x, y, z], np.float32)
    samples = sample_surface([places], [FACES])
    return sample_points(samples, [places]), samples.area


def test_grid_faces_up() -> None:
    store = RecordBackend()
    assert upload_shadow(store) == 0
    (mesh,) = store.meshes
    assert mesh.vertex_count == SIDE * SIDE
    state = init_shadow(0, 2.0)
    assert cast_shadow(state, *plate(), 0.0) is not None
    a, b, c = np.moveaxis(state.positions[mesh.triangles], 1, 0)
    area = np.cross(b - a, c - a)[:, 1]
    assert (area >= 0).all()
    # What cannot be seen has no area; what has some is a part of the sheet.
    assert 0.02 < (area > 0).mean() < 0.9
    lost = state.positions[state.colours[:, 3] > 0]
    assert (np.abs(lost[:, [0, 2]]) < 1.5).all()


def test_samples_are_even() -> None:
    # Two parts, one nine times as large: nine points to one, at the same density.
    parts = [PLATE, PLATE * 3 + np.array([10, 0, 0], np.float32)]
    samples = sample_surface(parts, [FACES, FACES], 1000)
    points = sample_points(samples, parts)
    assert points.shape == (1000, 3)
    assert samples.area == pytest.approx(40 / 1000)
    assert (points[:, 0] < 5).sum() == 100
    own = points[points[:, 0] < 5]
    assert (np.abs(own) <= 1).all()
    np.testing.assert_allclose(own.mean(0), 0, atol=0.1)
    for axis in (0, 2):
        counts, _ = np.histogram(own[:, axis], 4, (-1, 1))
        assert counts.min() >= 18
    again = sample_surface(parts, [FACES, FACES], 1000)
    np.testing.assert_array_equal(again.corners, samples.corners)


def test_samples_follow() -> None:
    samples = sample_surface([PLATE], [FACES], 10)
    moved = sample_points(samples, [PLATE + np.float32(5)])
    np.testing.assert_allclose(moved, sample_points(samples, [PLATE]) + 5, rtol=1e-5)


@pytest.mark.parametrize(
    ("places", "faces"),
    [
        (np.zeros((0, 3)), np.zeros((0, 3))),
        (np.zeros((3, 3)), [(0, 1, 2)]),
        (np.full((3, 3), np.nan), [(0, 1, 2)]),
        (PLATE, np.zeros((0, 3))),
    ],
)
def test_no_surface_no_samples(places: Any, faces: Any) -> None:
    parts = [np.asarray(places, np.float32)]
    samples = sample_surface(parts, [np.asarray(faces, np.int32)])
    assert sample_points(samples, parts).shape == (0, 3)
    assert sample_surface([], []).area == 0


def darkest(item: Any) -> tuple[float, Any]:
    row = int(np.argmax(item.colours[:, 3]))
    return float(item.colours[row, 3]), item.positions[row]


def test_dark_below_and_soft(shadow: ShadowState) -> None:
    item = cast_shadow(shadow, *plate(3.0, 1.0, -2.0), 1.0)
    assert item is not None
    dark, place = darkest(item)
    assert 0.3 < dark < 1
    np.testing.assert_allclose(place, (3, 1, -2), atol=0.3)
    assert item.look is not None
    assert item.look.alpha == "blend"
    alpha = item.colours[:, 3].reshape(SIDE, SIDE)
    # Nothing at the rim, and no hard steps.
    rim = np.concatenate([alpha[0], alpha[-1], alpha[:, 0], alpha[:, -1]])
    assert (rim == 0).all()
    assert max(np.abs(np.diff(alpha, axis=axis)).max() for axis in (0, 1)) < dark / 3
    assert (item.colours[:, :3] == 0).all()


def test_fainter_when_higher(shadow: ShadowState) -> None:
    darks = []
    for high in (0, 0.1, 0.3, 0.6, 1.0):
        item = cast_shadow(shadow, *plate(y=high), 0.0)
        assert item is not None
        darks.append(darkest(item)[0])
    assert (np.diff(darks) < 0).all()
    assert cast_shadow(shadow, *plate(y=1.4), 0.0) is None
    # What is below the floor counts as on it.
    item = cast_shadow(shadow, *plate(y=-5), 0.0)
    assert item is not None
    assert darkest(item)[0] == pytest.approx(darks[0])


def test_it_goes_with_what_casts_it(shadow: ShadowState) -> None:
    points, area = plate()
    item = cast_shadow(shadow, points, area, 0.0)
    assert item is not None
    first = item.positions.copy(), item.colours.copy()  # type: ignore[union-attr]
    step = np.float32(shadow.cell * 5)
    item = cast_shadow(shadow, points + np.array([step, 0, 0], np.float32), area, 0.0)
    assert item is not None
    np.testing.assert_allclose(
        item.positions - first[0], [[step, 0, 0]] * SIDE**2, atol=1e-5
    )
    assert item.colours is not None
    np.testing.assert_allclose(item.colours, first[1], atol=0.03)


def test_number_of_points_does_not_count(shadow: ShadowState) -> None:
    darks = []
    for count in (500, 5000):
        samples = sample_surface([PLATE], [FACES], count)
        points = sample_points(samples, [PLATE])
        item = cast_shadow(shadow, points, samples.area, 0.0)
        assert item is not None
        darks.append(darkest(item)[0])
    assert darks[0] == pytest.approx(darks[1], abs=0.03)


def test_odd_points(shadow: ShadowState) -> None:
    points, area = plate()
    item = cast_shadow(shadow, points, area, 0.0)
    assert item is not None
    wanted = item.colours.copy()  # type: ignore[union-attr]
    odd = np.full((3, 3), np.nan, np.float32)
    odd[1] = 0, -np.inf, 0
    item = cast_shadow(shadow, np.concatenate([points, odd]), area, 0.0)
    assert item is not None
    assert item.colours is not None
    np.testing.assert_array_equal(item.colours, wanted)
    assert cast_shadow(shadow, odd, area, 0.0) is None
    assert cast_shadow(shadow, np.zeros((0, 3), np.float32), area, 0.0) is None
    far = np.array([(1e30, 0, 0), (-1e30, 0, 1)], np.float32)
    assert cast_shadow(shadow, far, area, 0.0) is None
