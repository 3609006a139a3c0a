"""Heat along a surface: its sources, its Laplacian, its equilibrium."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from flexor.convert.weights.bone_heat import (
    face_normals,
    largest_weights,
    make_laplacian,
)
from flexor.convert.weights.kernels import heat as kernel
from tests.oracle import solid as oracle

NO_SEAMS = np.zeros((0, 2), np.int32)


@pytest.mark.parametrize("points", [0, 1, 25])
def test_sources_are_the_nearest_that_are_seen(points: int, rng: Any) -> None:
    filled = rng.random((6, 6, 6)) < 0.8
    cells = rng.uniform(0, 6, (points, 3))
    normals = rng.normal(size=(points, 3))
    normals /= np.linalg.norm(normals, axis=1, keepdims=True)
    starts, axes = rng.uniform(0, 6, (5, 3)), rng.normal(size=(5, 3))
    starts[4], axes[4] = starts[3], axes[3]  # two bones as far as each other
    axes[0] = 0
    pieces = rng.integers(0, 2, points).astype(np.int32)
    homes = np.array([[1, 1, 1, 1, 1], [0, 1, 0, 1, 1]], bool)
    sources = np.empty((points, 4), np.int32)
    nearest, far = np.empty(points, np.int32), np.empty(points)
    kernel.find_sources(
        cells, normals, pieces, homes, starts, axes, filled, 1e-4, sources, nearest, far
    )
    for p in range(points):
        found = {
            b: oracle.bone_distance(cells[p], normals[p], starts[b], axes[b])
            for b in np.flatnonzero(homes[pieces[p]]).tolist()
        }
        least = min(away for away, _ in found.values())
        assert far[p] == pytest.approx(least)
        tied = [b for b, (away, _) in found.items() if away <= least * (1 + 1e-4)]
        assert nearest[p] == tied[0]
        seen = [b for b in tied if oracle.sees(cells[p], found[b][1], filled)]
        assert sources[p].tolist() == (seen + [-1] * 4)[:4]


@settings(max_examples=40)
@given(st.integers(0, 2**32 - 1))
def test_no_triangles_take_energy_away(seed: int) -> None:
    """Slivers, doubled faces, many at an edge: no negative eigenvalue."""
    rng = np.random.default_rng(seed)
    points = rng.choice([0.0, 0.5, 1.0, 1e-6], (8, 3)) + rng.normal(size=(8, 3)) * 1e-3
    faces = np.array([rng.permutation(8)[:3] for _ in range(12)], np.int32)
    stiffness, areas = make_laplacian(points, faces, np.array([[0, 7]], np.int32))
    dense = stiffness.toarray()
    np.testing.assert_allclose(dense, dense.T, atol=1e-9)
    np.testing.assert_allclose(dense.sum(1), 0, atol=1e-8 * np.abs(dense).max())
    assert np.linalg.eigvalsh(dense).min() >= -1e-9 * np.abs(dense).max()
    assert (areas > 0).all()


def test_areas_are_those_of_the_triangles(rng: Any) -> None:
    points = rng.normal(size=(3, 3))
    _, areas = make_laplacian(points, np.array([[0, 1, 2]], np.int32), NO_SEAMS)
    across = np.cross(points[1] - points[0], points[2] - points[0])
    assert areas.sum() == pytest.approx(np.linalg.norm(across) / 2)


def test_normals_look_where_those_of_the_file_do() -> None:
    points = np.array([[0.0, 0, 0], [1, 0, 0], [0, 1, 0], [5, 5, 5]])
    faces = np.array([[0, 1, 2]], np.int32)
    for way in ([0, 0, 1.0], [0, 0, -1.0]):
        found = face_normals(points, faces, np.tile(way, (4, 1)))
        np.testing.assert_array_equal(found[:3], np.tile(way, (3, 1)))
        np.testing.assert_array_equal(found[3], 0)


def test_small_weights_are_left_out() -> None:
    given = np.array([[0.96, 0.02, 0.02], [0.5, 0.46, 0.04], [0, 0, 2]], np.float32)
    bones, weights = largest_weights(given)
    assert bones[:, 0].tolist() == [0, 0, 2]
    np.testing.assert_allclose(weights.sum(1), 1)
    assert weights[0].tolist() == [1, 0, 0]
    np.testing.assert_allclose(weights[1], np.array([0.5, 0.46, 0.03]) / 0.99, 1e-5)
