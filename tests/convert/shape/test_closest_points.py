from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from flexor.convert.shape.closest_points import closest_points, surface_tree
from flexor.convert.shape.kernels import closest as kernel_closest
from flexor.errors import ShapeError
from tests.oracle.closest import closest_point


def check(triangles: Any, points: Any) -> None:
    """Distances as the oracle has them, at places that are in the triangle."""
    face, weights, away = closest_points(triangles, points)
    assert face.dtype == np.int32
    assert weights.min(initial=0) >= 0
    np.testing.assert_allclose(weights.sum(1), 1, atol=1e-12)
    corners = np.asarray(triangles, float)[face]
    there = np.einsum("pk,pkd->pd", weights, corners)
    np.testing.assert_allclose(
        np.linalg.norm(there - points, axis=1), away, rtol=1e-9, atol=1e-12
    )
    expected = [closest_point(triangles, point)[1] for point in points]
    np.testing.assert_allclose(away, expected, rtol=1e-9, atol=1e-9)


@pytest.mark.parametrize("count", [1, 2, 3, 4, 5, 7, 8, 9, 33, 64, 100])
def test_against_trying_every_triangle(rng: Any, count: int) -> None:
    triangles = rng.normal(size=(count, 1, 3)) + rng.normal(size=(count, 3, 3)) * 0.3
    check(triangles, rng.normal(size=(25, 3)) * 2)


def test_triangles_of_very_different_sizes(rng: Any) -> None:
    sizes = 10.0 ** rng.uniform(-3, 1, (60, 1, 1))
    triangles = rng.normal(size=(60, 1, 3)) + rng.normal(size=(60, 3, 3)) * sizes
    check(triangles, rng.normal(size=(40, 3)) * 2)


@pytest.mark.parametrize("size", [1e-4, 1e-2, 1e3])
def test_surfaces_of_any_size(rng: Any, size: float) -> None:
    triangles = rng.normal(size=(60, 1, 3)) + rng.normal(size=(60, 3, 3)) * 0.3
    points = rng.normal(size=(40, 3)) * 2 * size
    check(triangles * size, points)
    _, _, away = closest_points(triangles * size, points)
    expected = closest_points(triangles, points / size)[2]
    np.testing.assert_allclose(away, expected * size, rtol=1e-9)


def test_narrow_triangles_have_an_inside() -> None:
    """A side of a metre and a height of a centimetre or less."""
    for height in (1e-2, 1e-3, 1e-4):
        triangle = np.array([[[0, 0, 0], [1, 0, 0], [0.9, height, 0]]])
        point = np.array([[0.8, height / 2, height]])
        _, weights, away = closest_points(triangle, point)
        assert away[0] == pytest.approx(height, rel=1e-6)
        np.testing.assert_allclose(weights, [[0.15, 0.35, 0.5]], atol=1e-6)


def test_triangles_that_are_lines_and_points(rng: Any) -> None:
    triangles = rng.normal(size=(30, 3, 3))
    triangles[:10, 1] = triangles[:10, 0]
    triangles[10:20, 2] = 0.25 * triangles[10:20, 0] + 0.75 * triangles[10:20, 1]
    triangles[20:25] = triangles[20:25, :1]
    triangles[25, 2] = triangles[25, 1]
    check(triangles, rng.normal(size=(40, 3)))
    check(triangles[20:21], rng.normal(size=(5, 3)))
    check(np.zeros((9, 3, 3)), rng.normal(size=(5, 3)))


def test_corners_sides_and_insides() -> None:
    triangle = np.array([[[0, 0, 0], [2, 0, 0], [0, 2, 0]]], np.float32)
    points = [[0.5, 0.5, 3], [1, -1, 0], [-1, -1, 0], [3, -1, 0], [2, 2, 0], [1, 1, 0]]
    face, weights, away = closest_points(triangle, np.array(points))
    assert not face.any()
    expected = [
        [0.5, 0.25, 0.25],
        [0.5, 0.5, 0],
        [1, 0, 0],
        [0, 1, 0],
        [0, 0.5, 0.5],
        [0, 0.5, 0.5],
    ]
    np.testing.assert_allclose(weights, expected, atol=1e-12)
    root = np.sqrt(2)
    np.testing.assert_allclose(away, [3, 1, root, root, root, 0], atol=1e-12)


def test_of_equally_near_triangles_the_first_counts(rng: Any) -> None:
    one = rng.normal(size=(1, 3, 3))
    many = np.repeat(one, 21, axis=0)
    face, _, _ = closest_points(many, rng.normal(size=(20, 3)))
    assert not face.any()


@pytest.mark.parametrize("sign", [1, -1])
def test_the_first_counts_from_whichever_side_it_is_reached(sign: int) -> None:
    """Twelve upright triangles in a row; a point halfway between two of them."""
    places = np.concatenate([np.arange(1, 13, 2), np.arange(-1, -13, -2)])
    triangles = np.zeros((12, 3, 3))
    triangles[:, :, 0] = sign * places[:, None]
    triangles[:, 1, 1] = triangles[:, 2, 2] = 1
    points = np.tile([0, 0.25, 0.25], (5, 1))
    points[:, 0] = np.arange(-4, 5, 2)
    face, _, away = closest_points(triangles, points)
    gaps = np.abs(triangles[:, 0, 0] - points[:, :1])
    assert face.tolist() == np.argmin(gaps, axis=1).tolist()
    assert (away == 1).all()


def test_vertices_of_the_surface_are_found_exactly(rng: Any) -> None:
    triangles = rng.normal(size=(50, 3, 3))
    _, _, away = closest_points(triangles, triangles.reshape(-1, 3))
    assert away.max() < 1e-12


def test_no_points(rng: Any) -> None:
    face, weights, away = closest_points(rng.normal(size=(5, 3, 3)), np.zeros((0, 3)))
    assert (len(face), weights.shape, len(away)) == (0, (0, 3), 0)


def test_the_stack_is_deep_enough() -> None:
    # Two more for each level than are taken off: the deepest tree of int32 faces.
    assert kernel_closest.DEPTH >= 2 * 31
    assert callable(kernel_closest.closest_points)


@pytest.mark.parametrize(
    ("triangles", "points", "text"),
    [
        (np.zeros((0, 3, 3)), np.zeros((1, 3)), "triangles: shape"),
        (np.zeros((2, 3)), np.zeros((1, 3)), "triangles: shape"),
        (np.zeros((1, 3, 3)), np.zeros(3), "points: shape"),
        (np.full((1, 3, 3), np.nan), np.zeros((1, 3)), "triangles: must be finite"),
        (np.zeros((1, 3, 3)), np.full((1, 3), np.inf), "points: must be finite"),
    ],
)
def test_refusals(triangles: Any, points: Any, text: str) -> None:
    with pytest.raises(ShapeError, match=text):
        closest_points(triangles, points)


def test_a_tree_can_be_asked_again(rng: Any) -> None:
    triangles = rng.normal(size=(30, 3, 3))
    tree = surface_tree(triangles)
    for _ in range(2):
        points = rng.normal(size=(9, 3))
        for own, want in zip(
            closest_points(tree, points), closest_points(triangles, points), strict=True
        ):
            np.testing.assert_array_equal(own, want)
