"""Solids: what lies inside a surface, also one that is open or cuts itself."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from flexor.convert.shape.kernels import solid as kernel
from flexor.convert.shape.solid import list_faces, make_solid, winding_numbers
from tests.oracle import solid as oracle

BOX = np.array([[x, y, z] for x in (0, 1) for y in (0, 1) for z in (0, 1)], float)
SIDES = [
    (0, 1, 3, 2),
    (4, 6, 7, 5),
    (0, 4, 5, 1),
    (2, 3, 7, 6),
    (0, 2, 6, 4),
    (1, 5, 7, 3),
]
FACES = np.array([t for a, b, c, d in SIDES for t in ((a, b, c), (a, c, d))], np.int32)


@pytest.mark.parametrize("count", [0, 1, 30])
def test_windings_are_those_of_solid_angles(count: int, rng: Any) -> None:
    triangles = rng.normal(size=(40, 3, 3)) * 0.2 + rng.normal(size=(40, 1, 3))
    places = rng.normal(size=(count, 3))
    wanted = [oracle.winding(place, triangles) for place in places]
    np.testing.assert_allclose(winding_numbers(places, triangles), wanted, atol=0.01)


@pytest.mark.parametrize("place", [(0.5, 0.5, 0.5), (0.1, 0.9, 0.2), (1.5, 0.5, 0.5)])
def test_windings_of_a_box(place: Any) -> None:
    turns = winding_numbers(np.array([place]), BOX[FACES])
    assert abs(turns[0]) == pytest.approx(float(max(place) < 1), abs=1e-6)


def filled_at(solid: Any, place: Any) -> bool:
    cell = np.floor((np.array(place) - solid.low) / solid.step).astype(int)
    return bool(solid.filled[tuple(cell)])


@pytest.mark.parametrize("lost", [0, 1, 2])
def test_a_box_is_full_even_with_a_hole(lost: int) -> None:
    solid = make_solid(BOX, FACES[lost:])
    for place in ((0.5, 0.5, 0.5), (0.2, 0.8, 0.3)):
        assert filled_at(solid, place)
    assert not solid.filled[0].any()
    assert not filled_at(solid, (1.02, 0.5, 0.5))


def test_boxes_that_overlap_are_full_where_they_do() -> None:
    places = np.concatenate([BOX, BOX + 0.4])
    solid = make_solid(places, np.concatenate([FACES, FACES + 8]).astype(np.int32))
    for place in ((0.2, 0.2, 0.2), (0.7, 0.7, 0.7), (1.2, 1.2, 1.2)):
        assert filled_at(solid, place)
    assert not filled_at(solid, (0.1, 1.2, 0.1))


def test_points_in_one_place() -> None:
    solid = make_solid(np.ones((3, 3)), np.array([[0, 1, 2]], np.int32))
    assert filled_at(solid, (1, 1, 1))


@pytest.mark.parametrize("count", [0, 1, 9])
def test_crossings_are_those_of_single_lines(count: int, rng: Any) -> None:
    cells = rng.uniform(0.2, 6.8, (12, 3))
    faces = np.array([rng.permutation(12)[:3] for _ in range(count)], np.int32)
    faces = faces.reshape(-1, 3)
    grid = np.zeros((8, 8, 8), np.int32)
    kernel.mark_crossings(cells, faces, grid)
    np.testing.assert_array_equal(grid, oracle.crossings(cells, faces, grid.shape))


@pytest.mark.parametrize("count", [0, 1, 5])
def test_marked_cells_are_near_triangles_and_hold_their_corners(
    count: int, rng: Any
) -> None:
    cells = rng.uniform(0.2, 6.8, (12, 3))
    faces = np.array([rng.permutation(12)[:3] for _ in range(count)], np.int32)
    faces = faces.reshape(-1, 3)
    grid = np.zeros((8, 8, 8), bool)
    kernel.mark_surface(cells, faces, grid)
    wanted = np.zeros_like(grid)
    for corners in cells[faces]:
        shares = rng.dirichlet([1, 1, 1], 20_000)
        wanted[tuple(np.concatenate([shares @ corners, corners]).astype(int).T)] = True
    assert not (grid & ~wanted).sum() > 0.02 * wanted.sum()
    assert (grid & wanted).sum() >= 0.8 * wanted.sum()
    assert grid[tuple(cells[faces].reshape(-1, 3).astype(int).T)].all()


def test_each_cell_lists_the_faces_that_pass_through_it(rng: Any) -> None:
    places = rng.uniform(0, 3, (12, 3))
    places[:4] = [[0, 0, 0], [3, 0, 0], [0, 3, 0], [3, 3, 0]]  # along sides of cells
    faces = rng.permutation(12).reshape(4, 3).astype(np.int32)
    faces = np.concatenate([faces, np.array([[0, 1, 2], [1, 3, 2]], np.int32)])
    solid = make_solid(places, faces)
    cells = (places - solid.low) / solid.step
    starts, listed = list_faces(solid, places, faces)
    assert len(starts) == solid.filled.size + 1
    assert starts[-1] == len(listed)
    for cell in rng.choice(solid.filled.size, 60):
        found = listed[starts[cell] : starts[cell + 1]].tolist()
        assert len(set(found)) == len(found)
        at = np.unravel_index(cell, solid.filled.shape)
        assert oracle.faces_near(at, cells, faces) <= set(found)
    # Far fewer than in the boxes around them.
    spans = np.ptp(cells[faces], axis=1) + 1
    assert len(listed) < 0.5 * spans.prod(1).sum()


def test_every_face_is_in_the_cells_of_its_places(rng: Any) -> None:
    places = rng.uniform(0, 3, (30, 3))
    faces = rng.permutation(30).reshape(10, 3).astype(np.int32)
    solid = make_solid(places, faces)
    starts, listed = list_faces(solid, places, faces)
    for f, face in enumerate(faces):
        shares = rng.dirichlet([1, 1, 1], 200)
        at = ((shares @ places[face] - solid.low) / solid.step).astype(int)
        for cell in np.ravel_multi_index(at.T, solid.filled.shape).tolist():
            assert f in listed[starts[cell] : starts[cell + 1]]
