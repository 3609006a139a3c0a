"""Heat along a surface: its sources, its Laplacian, its equilibrium."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from flexor.convert.shape.solid import Solid, list_faces, make_solid
from flexor.convert.weights.bone_heat import (
    face_normals,
    find_heat,
    largest_weights,
    make_laplacian,
    turn_outward,
)
from flexor.convert.weights.choose_bones import BoneLines
from flexor.convert.weights.kernels import heat as kernel
from tests.oracle import solid as oracle

NO_SEAMS = np.zeros((0, 2), np.int32)


@pytest.mark.parametrize(("points", "begin"), [(0, 0), (1, 0), (25, 0), (25, 11)])
def test_sources_are_the_nearest_that_are_seen(
    points: int, begin: int, rng: Any
) -> None:
    solid = Solid(np.zeros(3), 1.0, rng.random((6, 6, 6)) < 0.9)
    cells = rng.uniform(0, 6, (points, 3))
    normals = rng.normal(size=(points, 3))
    normals /= np.linalg.norm(normals, axis=1, keepdims=True)
    starts, axes = rng.uniform(0, 6, (6, 3)), rng.normal(size=(6, 3))
    starts[4], axes[4] = starts[3], axes[3]  # two bones as far as each other
    starts[5], axes[5] = starts[3], -axes[3]  # and another line of the first of them
    axes[0] = 0
    bones = np.array([0, 1, 2, 3, 4, 3], np.int32)
    pieces = rng.integers(0, 2, points).astype(np.int32)
    homes = np.array([[1, 1, 1, 1, 1], [0, 1, 0, 1, 1]], bool)
    faces = np.zeros((0, 3), np.int32)
    if points > 3:
        faces = rng.integers(0, points, (12, 3)).astype(np.int32)
    count = points - begin
    sources = np.empty((count, 4), np.int32)
    nearest, far = np.empty(count, np.int32), np.empty(count)
    kernel.find_sources(
        begin,
        cells,
        normals,
        pieces,
        homes,
        bones,
        starts,
        axes,
        solid.filled,
        faces,
        *list_faces(solid, cells, faces),
        1e-4,
        sources,
        nearest,
        far,
    )
    for n in range(count):
        p = begin + n
        found = {
            line: oracle.bone_distance(cells[p], normals[p], starts[line], axes[line])
            for line in range(6)
            if homes[pieces[p], bones[line]]
        }
        least = min(away for away, _ in found.values())
        assert far[n] == pytest.approx(least)
        tied = [k for k, (away, _) in found.items() if away <= least * (1 + 1e-4)]
        assert nearest[n] == bones[tied[0]]
        seen = [
            int(bones[line])
            for line in tied
            if oracle.sees(cells[p], found[line][1], solid.filled)
            and oracle.is_free(p, found[line][1], cells, faces, pieces)
        ]
        seen = list(dict.fromkeys(seen))
        assert sources[n].tolist() == (seen + [-1] * 4)[:4]


def ball(middle: Any, radius: float) -> tuple[Any, Any]:
    """Points and outward faces of a ball of 6 x 8 quads, its poles on z."""
    up = np.repeat(np.linspace(0.1, np.pi - 0.1, 7), 8)
    around = np.tile(np.arange(8) * np.pi / 4, 7)
    ways = [np.sin(up) * np.cos(around), np.sin(up) * np.sin(around), np.cos(up)]
    rows, columns = np.divmod(np.arange(48), 8)
    beside = rows * 8 + (columns + 1) % 8
    here = np.arange(48)
    faces = np.concatenate(
        [
            np.stack([here, here + 8, beside + 8], 1),
            np.stack([here, beside + 8, beside], 1),
        ]
    )
    return np.array(middle) + radius * np.stack(ways, 1), faces


@pytest.mark.parametrize("is_one", [True, False])
def test_an_eye_does_not_see_into_the_head(is_one: bool) -> None:
    """A small ball that stands out of a large one, with a bone in the large one: as
    one piece, what lies outside of the large one is not heated through its skin.
    """
    head, faces = ball((0, 0, 0), 1)
    eye, more = ball((0.95, 0.02, 0), 0.15)
    points = np.concatenate([head, eye])
    faces = np.concatenate([faces, more + len(head)])
    faces = turn_outward(points, faces[:, ::-1], points)
    outside = np.flatnonzero(np.linalg.norm(points, axis=1) > 1.02)
    pieces = np.zeros(len(points), np.int32)
    pieces[len(head) :] = not is_one
    middle = np.array([[0.0, 0, -0.2]])
    lines = BoneLines(
        rows=np.zeros(1, np.int32),
        bases=middle,
        starts=middle,
        ends=-middle,
        forks=np.zeros(0, np.int32),
        fork_ends=np.zeros((0, 3)),
    )
    heat = find_heat(
        points,
        faces,
        face_normals(points, faces),
        pieces,
        np.ones((2, 1), bool),
        lines,
        make_solid(points, faces),
    )
    assert len(outside) > 10
    assert (heat.amounts[: len(head)] > 0).all()
    assert (heat.amounts[outside] > 0).any() != is_one


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


def test_faces_look_where_normals_of_the_file_do() -> None:
    points = np.array([[0.0, 0, 0], [1, 0, 0], [0, 1, 0], [5, 5, 5]])
    faces = np.array([[0, 1, 2]], np.int32)
    for way in ([0, 0, 1.0], [0, 0, -1.0]):
        turned = turn_outward(points, faces, np.tile(way, (4, 1)))
        found = face_normals(points, turned)
        np.testing.assert_array_equal(found[:3], np.tile(way, (3, 1)))
        np.testing.assert_array_equal(found[3], 0)


def test_small_weights_are_left_out() -> None:
    given = np.array([[0.96, 0.02, 0.02], [0.5, 0.46, 0.04], [0, 0, 2]], np.float32)
    bones, weights = largest_weights(given)
    assert bones[:, 0].tolist() == [0, 0, 2]
    np.testing.assert_allclose(weights.sum(1), 1)
    assert weights[0].tolist() == [1, 0, 0]
    np.testing.assert_allclose(weights[1], np.array([0.5, 0.46, 0.03]) / 0.99, 1e-5)
