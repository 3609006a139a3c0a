"""A field of heights under a place: its cell, height, slope and triangles.

heights: float64 (R, C), metres, at the corners of square cells; x0, z0: where the first
of them is; step: metres from one to the next; inverse: 1 / step. A cell is two
triangles, cut from its first corner to the opposite one; "near" is the one at the
corner of larger z. Beyond the edges the ground goes on as at the edge.

A cell is found in two ways. `find_cell` divides by the step, and a place on the last
edge is at the end of the last cell: characters stand there to the bit. `find_cell_fast`
multiplies by the inverse, and a place there is a little before that end, for particles
by the hundred thousand. The two differ in the last bit, and what follows from both is
state that is hashed, so neither can take the place of the other.

Places are looked up by numbers, not by a record: with one, walking characters who are
held by steep ground get other last bits, since sums are then made in another order.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

from flexor.maths.kernels.jit import inline, jit
from flexor.maths.kernels.numbers import int64, uint64

if TYPE_CHECKING:
    from flexor.arrays import Bytes, Doubles

BEFORE = 1.0 - 2.0**-52


@inline
def find_cell(
    heights: Doubles, x0: float, z0: float, step: float, x: float, z: float
) -> tuple[int, int, float, float]:
    """Row and column of the cell under a place, and where in it, 0 to 1 each."""
    rows, columns = heights.shape
    # So that what is not a number is the first cell: comparisons with it are false.
    across, along = (x - x0) / step, (z - z0) / step
    across = min(across, columns - 1.0) if across > 0.0 else 0.0
    along = min(along, rows - 1.0) if along > 0.0 else 0.0
    c = min(int64(across), columns - 2)
    r = min(int64(along), rows - 2)
    return r, c, along - r, across - c


@inline
def find_cell_fast(
    heights: Doubles, x0: float, z0: float, inverse: float, x: float, z: float
) -> tuple[int, int, float, float]:
    """The same without a division."""
    rows, columns = heights.shape
    # A little before the last point, so that the last cell is before it, too.
    across, most = (x - x0) * inverse, (columns - 1) * BEFORE
    across = across if across > 0.0 else 0.0
    across = across if across < most else most
    along, most = (z - z0) * inverse, (rows - 1) * BEFORE
    along = along if along > 0.0 else 0.0
    along = along if along < most else most
    c, r = int64(across), int64(along)
    return r, c, along - r, across - c


@inline
def _at(heights: Doubles, r: int, c: int) -> float:
    return heights[uint64(r), uint64(c)]


@inline
def _height_in(heights: Doubles, r: int, c: int, v: float, u: float) -> float:
    """The height in a cell, v along z and u along x."""
    # Of its two triangles, without a branch: which one it is cannot be foreseen.
    is_near = v >= u
    a, d = _at(heights, r, c), _at(heights, r + 1, c + 1)
    b = _at(heights, r + is_near, c + (not is_near))
    return a + max(u, v) * (b - a) + min(u, v) * (d - b)


@inline
def ground_height(
    heights: Doubles, x0: float, z0: float, step: float, x: float, z: float
) -> float:
    """Metres, of the triangle under a place."""
    r, c, v, u = find_cell(heights, x0, z0, step, x, z)
    return _height_in(heights, r, c, v, u)


@inline
def ground_height_fast(
    heights: Doubles, x0: float, z0: float, inverse: float, x: float, z: float
) -> float:
    """The same without a division."""
    r, c, v, u = find_cell_fast(heights, x0, z0, inverse, x, z)
    return _height_in(heights, r, c, v, u)


@inline
def _level(heights: Doubles, r: int, c: int) -> float:
    """The height of a point; beyond the edges that of the edge."""
    rows, columns = heights.shape
    return heights[min(max(r, 0), rows - 1), min(max(c, 0), columns - 1)]


@inline
def plane_of(
    heights: Doubles, r: int, c: int, is_near: bool
) -> tuple[float, float, float]:
    """A triangle of a cell, which may be beyond the edges: its height at the cell's
    first corner, and how much higher it gets a cell along x and along z.
    """
    a, d = _level(heights, r, c), _level(heights, r + 1, c + 1)
    if is_near:
        b = _level(heights, r + 1, c)
        return a, d - b, b - a
    b = _level(heights, r, c + 1)
    return a, b - a, d - b


@inline
def ground_slope(
    heights: Doubles, x0: float, z0: float, step: float, x: float, z: float
) -> tuple[float, float]:
    """How much higher it gets a metre along x and along z; 0 beyond the edges."""
    r, c, v, u = find_cell(heights, x0, z0, step, x, z)
    _, gx, gz = plane_of(heights, r, c, v >= u)
    gx, gz = gx / step, gz / step
    rows, columns = heights.shape
    if x < x0 or x > x0 + step * (columns - 1):
        gx = 0.0
    if z < z0 or z > z0 + step * (rows - 1):
        gz = 0.0
    return gx, gz


@jit(
    "void(f8[:, ::1], u1[:, ::1], f8, f8, f8, f8[:, ::1],"
    " out f8[::1], out f8[:, ::1], out u1[::1])"
)
def look_down(
    heights: Doubles,
    surfaces: Bytes,
    x0: float,
    z0: float,
    step: float,
    places: Doubles,
    below: Doubles,
    normals: Doubles,
    kinds: Bytes,
) -> None:
    """What is under places: heights (N,), unit normals (N, 3), surfaces (N,)."""
    for n in range(len(places)):
        x, z = places[n, 0], places[n, 2]
        below[n] = ground_height(heights, x0, z0, step, x, z)
        gx, gz = ground_slope(heights, x0, z0, step, x, z)
        scale = 1.0 / math.sqrt(gx * gx + 1.0 + gz * gz)
        normals[n, 0], normals[n, 1], normals[n, 2] = -gx * scale, scale, -gz * scale
        r, c, _, _ = find_cell(heights, x0, z0, step, x, z)
        kinds[n] = surfaces[r, c]
