from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from flexor.convert.shape.surface import Surface, make_surface


def near(surface: Surface, point: int) -> dict[int, float]:
    span = slice(surface.starts[point], surface.starts[point + 1])
    pairs = zip(surface.neighbours[span], surface.lengths[span], strict=True)
    return {int(beside): float(length) for beside, length in pairs}


def plain(positions: Any, faces: Any, rows: Any = None) -> Surface:
    places = np.array(positions, float).reshape(-1, 3)
    normals = np.tile([0.0, 0, 1], (len(places), 1))
    corners = np.array(faces, np.int32).reshape(-1, 3)
    return make_surface(places, normals, corners, rows)


def test_a_square_of_two_triangles() -> None:
    surface = plain(
        [[0, 0, 0], [3, 0, 0], [0, 4, 0], [3, 4, 0]], [[0, 1, 2], [1, 3, 2]]
    )
    assert near(surface, 0) == {1: 3, 2: 4}
    assert near(surface, 1) == {0: 3, 2: 5, 3: 4}
    first, second, lengths = surface.edges()
    assert list(zip(first, second, strict=True)) == [
        (0, 1),
        (0, 2),
        (1, 2),
        (1, 3),
        (2, 3),
    ]
    assert lengths.tolist() == [3, 4, 5, 4, 3]
    assert surface.pieces.tolist() == [0] * 4
    assert surface.positions.dtype == surface.lengths.dtype == np.float32
    assert surface.neighbours.dtype == surface.starts.dtype == np.int32


def test_vertices_in_one_place_are_one_point() -> None:
    positions = [[0, 0, 0], [1, 0, 0], [0, 1, 0], [1, -0.0, 0], [0, 1, -0.0], [1, 1, 0]]
    surface = plain(positions, [[0, 1, 2], [3, 5, 4]])
    assert len(surface) == 4
    assert surface.point_of_vertex.tolist() == [0, 1, 2, 1, 2, 3]
    assert surface.vertex_of_point.tolist() == [0, 1, 2, 5]
    assert set(near(surface, 1)) == {0, 2, 3}


def test_points_in_one_place_with_other_rows_are_neighbours_at_distance_0() -> None:
    positions = [[0, 0, 0], [1, 0, 0], [0, 1, 0]] + [[1, 0, 0]] * 3 + [[2, 1, 0]] * 2
    rows = np.array([[0], [0], [0], [1], [2], [0], [1], [1]], np.int32)
    surface = plain(positions, [[0, 1, 2], [3, 6, 7]], rows)
    assert surface.point_of_vertex.tolist() == [0, 1, 2, 3, 4, 1, 5, 5]
    assert near(surface, 3) == pytest.approx({1: 0, 4: 0, 5: np.sqrt(2)})
    assert near(surface, 1)[3] == 0
    assert surface.pieces.tolist() == [0] * 6  # joined through the place


def test_pieces() -> None:
    positions = np.arange(27).reshape(9, 3) ** 2
    surface = plain(positions, [[0, 4, 8], [1, 2, 3]])
    assert surface.pieces.tolist() == [0, 1, 1, 1, 0, 2, 3, 4, 0]
    assert near(surface, 5) == {}


def test_normals_are_the_mean_of_a_points_vertices() -> None:
    positions = np.array([[0, 0, 0], [0, 0, 0], [1, 1, 1], [2, 2, 2], [2, 2, 2]], float)
    normals = np.array([[1, 0, 0], [0, 1, 0], [0, 0, 1], [0, 0, 1], [0, 0, -1]], float)
    surface = make_surface(positions, normals, np.zeros((0, 3), np.int32))
    root = np.sqrt(0.5)
    expected = [[root, root, 0], [0, 0, 1], [0, 0, 0]]
    np.testing.assert_allclose(surface.normals, expected, atol=1e-6)


def test_no_faces_no_vertices_and_faces_that_are_none() -> None:
    lone = plain([[0, 0, 0], [1, 2, 3]], [])
    assert (lone.starts.tolist(), lone.pieces.tolist()) == ([0, 0, 0], [0, 1])
    assert [len(part) for part in lone.edges()] == [0, 0, 0]
    empty = plain([], [])
    assert (len(empty), empty.starts.tolist(), empty.pieces.tolist()) == (0, [0], [])
    flat = plain([[0, 0, 0], [1, 0, 0], [1, 0, 0]], [[0, 0, 0], [0, 1, 1], [1, 2, 2]])
    assert len(flat) == 2
    assert near(flat, 0) == {1: 1}


def test_random_surfaces_have_every_edge_both_ways(rng: Any) -> None:
    positions = rng.integers(0, 3, (60, 3)).astype(float)
    faces = rng.integers(0, 60, (40, 3)).astype(np.int32)
    rows = rng.integers(0, 2, (60, 1)).astype(np.int32)
    surface = plain(positions, faces, rows)
    ways = {(p, q): d for p in range(len(surface)) for q, d in near(surface, p).items()}
    assert all(ways[q, p] == d for (p, q), d in ways.items())
    for (p, q), d in ways.items():
        away = np.linalg.norm(surface.positions[p] - surface.positions[q])
        assert d == pytest.approx(away)
        assert surface.pieces[p] == surface.pieces[q]
    points = surface.point_of_vertex
    for face in faces:
        for a, b in ((0, 1), (1, 2), (2, 0)):
            p, q = int(points[face[a]]), int(points[face[b]])
            assert p == q or (p, q) in ways
    for v in range(60):
        p = points[v]
        assert (surface.positions[p] == positions[v]).all()
        assert rows[surface.vertex_of_point[p]] == rows[v]
    assert (np.diff(surface.vertex_of_point) > 0).all()
