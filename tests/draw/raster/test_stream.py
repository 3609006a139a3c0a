"""The order of drawing: one point of each polygon, and runs of lines."""

from __future__ import annotations

import numpy as np
import pytest

from flexor.draw.drawlist import DrawItem, DrawLines, DrawMesh
from flexor.draw.raster.assets import KeptMesh, find_edges
from flexor.draw.raster.stream import _line_runs, polygon_distances
from flexor.scene.character.camera import Camera
from tests.draw.shapes import floats

AHEAD = Camera((0, 0, 10), (0, 0, 0))


def distances(points: object, face: list[int]) -> np.ndarray:
    points = floats(points)
    kept = KeptMesh(DrawMesh(points.shape[-2], np.array([face])))
    return polygon_distances(AHEAD, DrawItem(0, points), kept)


def test_a_triangle_by_its_centroid() -> None:
    far = distances([(0, 0, 1), (5, 0, 2), (0, 5, 6)], [0, 1, 2])
    np.testing.assert_allclose(far, [10 - 3])


@pytest.mark.parametrize("share", [0.1, 0.5, 0.8])
@pytest.mark.parametrize("other", [0.25, 0.6])
def test_a_quad_by_the_crossing_of_its_diagonals(share: float, other: float) -> None:
    """Diagonals laid through a known point, cut by it at known shares."""
    crossing = np.array([0.3, -0.2, 1.5])
    way, across = np.array([1.0, 0.2, 2.0]), np.array([-0.4, 1.0, 0.7])
    points = [
        crossing - share * way,
        crossing - other * across,
        crossing + (1 - share) * way,
        crossing + (1 - other) * across,
    ]
    far = distances(points, [0, 1, 2, 3])
    np.testing.assert_allclose(far, [10 - 1.5], rtol=1e-5)


def test_a_quad_whose_diagonals_are_parallel() -> None:
    """It has no crossing: the mean of its corners stands in."""
    far = distances([(0, 0, 0), (1, 0, 1), (2, 0, 2), (3, 0, 3)], [0, 1, 2, 3])
    np.testing.assert_allclose(far, [10 - 1.5])


def test_many_at_once() -> None:
    points = floats([[(0, 0, z), (1, 0, z), (0, 1, z)] for z in (1, 2, 5)])
    np.testing.assert_allclose(distances(points, [0, 1, 2])[:, 0], [9, 8, 5])


def test_runs_of_lines_by_alpha() -> None:
    points = np.zeros((5, 2, 3), np.float32)
    colours = floats([(0, 0, 0, a) for a in (1, 1, 0.5, 0, 1)])
    runs = [(0, 2, False), (2, 4, True), (4, 5, False)]
    assert _line_runs(DrawLines(points, colours)) == runs
    assert _line_runs(DrawLines(points, colours[0])) == [(0, 5, False)]
    assert _line_runs(DrawLines(points[:0], colours[0])) == []


def test_edges_of_a_strip_and_a_quad() -> None:
    """A diagonal of a quad is no edge; faces on both sides go around alike."""
    strip = DrawMesh(4, np.array([[0, 1, 2], [2, 1, 3]]))
    edges = {tuple(row) for row in find_edges(strip).tolist()}
    assert (1, 2, 0, 3) in edges
    assert len(edges) == 5
    assert sum(row[3] == -1 for row in edges) == 4
    quad = DrawMesh(4, np.array([[0, 1, 2, 3]]))
    assert len(find_edges(quad)) == 4
    assert len(find_edges(DrawMesh(0, np.empty((0, 3), np.int32)))) == 0


def test_edges_are_found_once() -> None:
    kept = KeptMesh(DrawMesh(3, np.array([[0, 1, 2]])))
    assert kept.edges is kept.edges
