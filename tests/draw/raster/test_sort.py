"""Polygons from far to near by one point of each, in place of the depth buffer."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from flexor.draw.backend import Backend
from flexor.draw.drawlist import DrawLines, Look
from tests.draw.shapes import Shape, at_pixels, draw, floats, put, rectangle

SIZE = (16, 16)


def paint(r: float, g: float, b: float, a: float = 1.0, **more: Any) -> Look:
    return Look(colour=(r, g, b, a), shading="unlit", cull="none", **more)


def slanted(z_left: float, z_right: float) -> Shape:
    """The whole picture as a quad, nearer on one side."""
    shape = rectangle(SIZE, is_quad=True)
    shape.positions[:, 2] = [z_left, z_left, z_right, z_right]
    return shape


@pytest.mark.parametrize("samples", [1, 4])
def test_sorted_as_a_whole(backend: Backend, samples: int) -> None:
    """Two quads through each other: the depth buffer shows both, sorting only the one
    whose middle is nearer, in any order of the list.
    """
    red = put(backend, slanted(0, 10), paint(1, 0, 0), part=1)
    blue = put(backend, slanted(7, 4), paint(0, 0, 1), part=2)
    more = {"samples": samples, "buffers": ("part",)}
    for items in ([red, blue], [blue, red]):
        depth = draw(backend, SIZE, items, **more)
        assert set(np.unique(depth.part)) == {1, 2}
        assert depth.part[0, 0] == 2
        assert depth.part[0, 15] == 1
        sort = draw(backend, SIZE, items, order="sort", **more)
        assert (sort.part == 2).all()
        assert (sort.colour == [0, 0, 255, 255]).all()


def test_equal_points_keep_the_order_of_the_list(backend: Backend) -> None:
    red = put(backend, rectangle(SIZE), paint(1, 0, 0))
    blue = put(backend, rectangle(SIZE), paint(0, 0, 1))
    last = draw(backend, SIZE, [red, blue], order="sort").colour
    assert (last == [0, 0, 255, 255]).all()
    last = draw(backend, SIZE, [blue, red], order="sort").colour
    assert (last == [255, 0, 0, 255]).all()


def kite(z_tip: float, z_tail: float) -> Shape:
    """A quad in one plane whose diagonals cross well away from its centroid.

    It goes from x = 0 (tip) over x = 2 (its wide part, where the diagonals cross) to
    x = 16; the centroid is at x = 5.
    """
    corners = at_pixels([(0, 8), (2, 16), (16, 8), (2, 0)], SIZE)
    x = corners[:, 0] + 8
    corners[:, 2] = z_tip + (z_tail - z_tip) * x / 16
    return Shape(corners, [[0, 1, 2, 3]])


def test_quads_are_sorted_by_the_crossing_of_their_diagonals(backend: Backend) -> None:
    """The kite's crossing is at z = 2, its centroid at z = 5; the plane is at 3.5."""
    front = put(backend, rectangle(SIZE, z=3.5, is_quad=True), paint(0, 0, 1), part=1)
    across = put(backend, kite(0, 16), paint(1, 0, 0), part=2)
    for items in ([front, across], [across, front]):
        target = draw(backend, SIZE, items, order="sort", buffers=("part",))
        assert (target.part == 1).all()
    # The other way round: crossing at 14, centroid at 11.
    front = put(backend, rectangle(SIZE, z=12.5, is_quad=True), paint(0, 0, 1), part=1)
    across = put(backend, kite(16, 0), paint(1, 0, 0), part=2)
    for items in ([front, across], [across, front]):
        target = draw(backend, SIZE, items, order="sort", buffers=("part",))
        assert target.part[8, 4] == 2


def test_triangles_are_sorted_by_their_centroid(backend: Backend) -> None:
    """The same kite as triangles: each half has its own point."""
    shape = kite(0, 16)
    shape.faces = [[0, 1, 3], [1, 2, 3]]  # centroids at x = 4/3 and 20/3
    for z, wanted in ((1, 2), (5, 2), (8, 1)):
        wall = put(backend, rectangle(SIZE, z=z, is_quad=True), paint(0, 0, 1), part=1)
        across = put(backend, shape, paint(1, 0, 0), part=2)
        target = draw(backend, SIZE, [across, wall], order="sort", buffers=("part",))
        assert target.part[8, 6] == wanted
        left = 2 if z == 1 else 1
        assert target.part[8, 1] == left


def test_quads_without_a_crossing_use_the_centroid(backend: Backend) -> None:
    """Diagonals in one line: such a quad has no area, but must not stop the picture."""
    corners = at_pixels([(2, 8), (6, 8), (10, 8), (14, 8)], SIZE, [0, 1, 2, 3])
    flat = put(backend, Shape(corners, [[0, 1, 2, 3]]), paint(1, 0, 0))
    wall = put(backend, rectangle(SIZE, z=-1), paint(0, 0, 1))
    picture = draw(backend, SIZE, [flat, wall], order="sort").colour
    assert (picture == [0, 0, 255, 255]).all()


def test_crossing_decides_for_blended_quads_too(backend: Backend) -> None:
    """Also with the depth buffer on, what is seen through is sorted by its point."""
    far = put(backend, kite(0, 16), paint(1, 0, 0, 0.5, alpha="blend"))
    near = put(
        backend,
        rectangle(SIZE, z=3.5, is_quad=True),
        paint(0, 0, 1, 0.5, alpha="blend"),
    )
    for items in ([far, near], [near, far]):
        picture = draw(backend, SIZE, items).colour
        # Red below blue everywhere: a quarter of red, half of blue.
        assert abs(picture[8, 4].astype(int) - [137, 0, 188, 255]).max() <= 1
        assert abs(picture[8, 12].astype(int) - [137, 0, 188, 255]).max() <= 1


def test_faces_of_all_items_are_sorted_together(backend: Backend) -> None:
    """One item's faces before and behind another's."""
    left = rectangle(SIZE, (0, 0, 8, 16), z=5, is_quad=True)
    right = rectangle(SIZE, (8, 0, 16, 16), z=1, is_quad=True)
    pair = Shape(
        floats(np.concatenate([left.positions, right.positions])),
        np.concatenate([left.faces, right.faces + 4]),
    )
    outer = put(backend, pair, paint(1, 0, 0), part=1)
    wall = put(backend, rectangle(SIZE, z=3, is_quad=True), paint(0, 0, 1), part=2)
    for items in ([outer, wall], [wall, outer]):
        target = draw(backend, SIZE, items, order="sort", buffers=("part",))
        assert (target.part[:, :8] == 1).all()
        assert (target.part[:, 8:] == 2).all()


def test_back_faces_stay_left_out(backend: Backend) -> None:
    shape = rectangle(SIZE, z=3)
    shape.faces = shape.faces[:, ::-1].copy()
    back = put(backend, shape, Look(shading="unlit"))
    target = draw(backend, SIZE, [back], order="sort", buffers=("part",))
    assert (target.part == -1).all()


def test_mask_holes_show_what_is_behind(backend: Backend) -> None:
    colours = floats([(1, 1, 1, 1), (1, 1, 1, 1), (1, 1, 1, 0), (1, 1, 1, 0)])
    look = Look(shading="unlit", alpha="mask")
    front = put(backend, rectangle(SIZE, z=3), look, colours=colours)
    wall = put(backend, rectangle(SIZE), paint(0, 0, 1))
    picture = draw(backend, SIZE, [front, wall], order="sort").colour
    assert (picture[:, :8] == 255).all()
    assert (picture[:, 8:] == [0, 0, 255, 255]).all()


def test_blended_come_after_sorted(backend: Backend) -> None:
    film = put(backend, rectangle(SIZE, z=5), paint(1, 1, 1, 0.5, alpha="blend"))
    wall = put(backend, rectangle(SIZE), paint(0, 0, 0))
    picture = draw(backend, SIZE, [film, wall], order="sort").colour
    assert abs(picture[..., 0].astype(int) - 188).max() <= 1


def test_lines_before_and_behind(backend: Backend) -> None:
    """Lines come after the surfaces; those in front of all of them are seen."""
    wall = put(backend, rectangle(SIZE), paint(0, 0, 1))
    points = at_pixels([[(0, 8), (16, 8)]], SIZE, 4.0)
    line = DrawLines(points, floats([1, 0, 0, 1]), 2)
    picture = draw(backend, SIZE, [wall], lines=[line], order="sort").colour
    assert (picture[8] == [255, 0, 0, 255]).all()


def test_without_overlap_both_orders_agree(backend: Backend) -> None:
    """Boxes one behind the other: sorting and the depth buffer give one picture."""
    rng = np.random.default_rng(8)
    items = []
    for n in rng.permutation(12):
        left, top = rng.integers(0, 10, 2)
        shape = rectangle(SIZE, (left, top, left + 6, top + 5), z=float(n))
        items.append(put(backend, shape, paint(n / 11, 0.5, 1 - n / 11), part=int(n)))
    more = {"samples": 4, "buffers": ("part",)}
    depth = draw(backend, SIZE, items, **more)
    sort = draw(backend, SIZE, items, order="sort", **more)
    assert (depth.colour == sort.colour).all()
    assert (depth.part == sort.part).all()
