"""From a ref, the number of a triangle or piece, to its corners and its owner.

Tables are flat in kernels: a row is the place where it begins. Rows of two-dimensional
arrays would be counted references, which cost more than what is read from them.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

from flexor.draw.raster import layout as at
from flexor.maths.kernels.borrow import ints_at
from flexor.maths.kernels.jit import inline
from flexor.maths.kernels.lanes import take
from flexor.maths.kernels.numbers import int64

if TYPE_CHECKING:
    from flexor.arrays import Floats, Ints, Longs

# What is known of a triangle's owner, in `own`. By name in each module: as `at.OF_ITEM`
# they would be no constants for Numba, and the tuple would go through memory.
OF_ITEM, OF_LOOK, FIRST_OF, LAST_OF, VERTEX_OF, INSTANCE_OF = range(6)


Spots = tuple[int, int, int, int, int, int]  # x and y of three corners, whole
Owner = tuple[int, int, int, int, int, int]
Corners = tuple[float, float, float]  # a number of each


class Face(NamedTuple):
    """A triangle, or a piece of one, at work."""

    ref: int
    element: int
    owner: Owner
    a: int  # its vertices, counted inside its instance
    b: int
    c: int
    xs: Corners
    ys: Corners
    nears: Corners


@inline
def find_row(table: Longs, width: int, column: int, value: Any) -> int:
    """The last row of a flat table whose number in `column` (rising) is not above
    `value`; rows are `width` numbers long.
    """
    low, high = 0, len(table) // width
    while high - low > 1:
        middle = (low + high) // 2
        if take(table, middle * width + column) <= value:
            low = middle
        else:
            high = middle
    return low


@inline
def nobody() -> Owner:
    """An owner that fits no triangle."""
    zero = int64(0)
    return zero, zero, zero, zero, zero, zero


@inline
def own(items: Longs, element: int, owner: Owner) -> Owner:
    """Which item and instance a triangle belongs to.

    owner: what was found for the triangle before, which mostly fits: where the item's
    row begins in `items` and in `looks`, first triangle of the instance and of the
    next, first vertex of the instance among all, number of the instance.
    """
    if owner[FIRST_OF] <= element < owner[LAST_OF]:
        return owner
    row = find_row(items, at.ITEM_INTS, at.FIRST_TRIANGLE, element)
    item = row * at.ITEM_INTS
    faces = take(items, item + at.FACES)
    first = take(items, item + at.FIRST_TRIANGLE)
    instance = (element - first) // faces
    vertices = take(items, item + at.VERTICES)
    vertex = take(items, item + at.FIRST_VERTEX) + instance * vertices
    low = first + instance * faces
    return item, row * at.ITEM_FLOATS, low, low + faces, vertex, instance


@inline
def corners_of(items: Longs, element: int, owner: Owner) -> tuple[int, int, int]:
    """The vertices of a triangle, counted inside its instance."""
    item = owner[OF_ITEM]
    triangles = ints_at(
        take(items, item + at.TRIANGLES), 3 * take(items, item + at.FACES)
    )
    corner = 3 * (element - owner[FIRST_OF])
    return (
        int64(take(triangles, corner)),
        int64(take(triangles, corner + 1)),
        int64(take(triangles, corner + 2)),
    )


@inline
def element_of(ref: int, triangles: int, sources: Ints) -> int:
    """The element that a ref was made of."""
    if ref >= triangles:
        return int64(take(sources, ref - triangles))
    return ref


@inline
def corner_rows(
    ref: int,
    triangles: int,
    owner: Owner,
    a: int,
    b: int,
    c: int,
    screen: Floats,
    pieces: Floats,
) -> tuple[Corners, Corners, Corners, Corners]:
    """x, y, 1/distance and depth of three corners: three numbers each."""
    if ref >= triangles:
        i = (ref - triangles) * at.PIECE_FLOATS
        return (
            (take(pieces, i), take(pieces, i + 4), take(pieces, i + 8)),
            (take(pieces, i + 1), take(pieces, i + 5), take(pieces, i + 9)),
            (take(pieces, i + 2), take(pieces, i + 6), take(pieces, i + 10)),
            (take(pieces, i + 3), take(pieces, i + 7), take(pieces, i + 11)),
        )
    i, j, k = (
        4 * (owner[VERTEX_OF] + a),
        4 * (owner[VERTEX_OF] + b),
        4 * (owner[VERTEX_OF] + c),
    )
    return (
        (take(screen, i), take(screen, j), take(screen, k)),
        (take(screen, i + 1), take(screen, j + 1), take(screen, k + 1)),
        (take(screen, i + 2), take(screen, j + 2), take(screen, k + 2)),
        (take(screen, i + 3), take(screen, j + 3), take(screen, k + 3)),
    )


@inline
def tile_box(tile: int, frame: Longs) -> tuple[int, int, int, int]:
    """First pixels of a tile and those after its last: left, top, right, bottom."""
    left = tile % frame[at.TILES_X] * at.TILE_W
    top = tile // frame[at.TILES_X] * at.TILE_H
    right = min(left + at.TILE_W, frame[at.WIDTH])
    bottom = min(top + at.TILE_H, frame[at.HEIGHT])
    return left, top, right, bottom
