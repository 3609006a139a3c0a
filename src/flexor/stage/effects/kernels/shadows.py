"""Shadows of parts of characters on a field of heights: one matrix a part.

In: the ways of the light (metres along x and z for each metre down), middles of parts
(N, K, 3), the ground's heights (R, C). Out: matrices (N, K, 3, 4), float64, that take
points of the world along the light onto the plane of the triangle that the light
through the middle meets. All else is a multiplication for each vertex.

Tried: to find that triangle by going back and forth between the height under a place
and the place at that height. It takes three rounds on slopes, but where the ground is
steeper than the light, as the front of a step is, it never ends: it jumps between the
step's top and its foot. Going through the cells one by one always ends, at the first:
4000 parts on cells of 5 cm take 0.5 ms, 20 bodies in 236 pieces each 0.7 ms.

Tried: to move shadows straight up to the ground and to turn them without a change of
length. Outlines of a mannequin on slopes of 15 degrees and steps of up to 0.3 m are
then 5 to 92 mm from where light puts them, in the mean; along the light 0 to 19 mm with
16 parts, 0 to 8 mm with 236 pieces.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

from flexor.maths.kernels.field import plane_of
from flexor.maths.kernels.jit import inline, jit
from flexor.maths.kernels.numbers import float64, int64

if TYPE_CHECKING:
    from flexor.arrays import Bools, Doubles, Floats, Ints

NEVER = 1e18  # metres down: farther than anything
# Planes that light goes along rather than onto are taken to be level, as parts would be
# drawn out along them: a metre of light for so many of a part, on slopes and on walls.
GRAZING, GRAZING_WALL = 0.1, 0.5
WALL = 3.0  # square of the rise for each metre: what is steeper is a wall
MOST_CELLS = 20_000  # that light goes through: what is farther away has no shadow


@inline
def _next_edge(at: float, cell: int, way: float) -> float:
    """Metres down at which light leaves a cell along one axis; all in cells."""
    if way > 0.0:
        return (cell + 1.0 - at) / way
    if way < 0.0:
        return (cell - at) / way
    return NEVER


@inline
def _meet(
    heights: Doubles, u: float, y: float, v: float, du: float, dv: float
) -> tuple[float, float, float, int]:
    """Follow light from a place down to the ground; u, v: cells from the first corner.

    Gives the ground's slope along x and z (rise for each cell) and its height at u, v
    if it went on so, and 1; 0 in place of 1 if the light goes too far. A place below
    the ground has the plane above it.
    """
    c, r = int64(math.floor(u)), int64(math.floor(v))
    is_near = v - r >= u - c
    a, gu, gv = plane_of(heights, r, c, is_near)
    height = a + gu * (u - c) + gv * (v - r)
    if height >= y:
        return gu, gv, height, 1
    enter = 0.0
    for _ in range(MOST_CELLS):
        out_u, out_v = _next_edge(u, c, du), _next_edge(v, r, dv)
        out = min(out_u, out_v)
        # Within a cell the light may cross the line between its triangles.
        gain, lead = dv - du, (v - r) - (u - c)
        cut = out
        if gain != 0.0 and enter < -lead / gain < out:
            cut = -lead / gain
        end = cut
        for half in range(2):
            if half == 1:
                if cut == out:
                    break
                end = out
            is_near = lead + gain * 0.5 * (enter + end) >= 0.0
            a, gu, gv = plane_of(heights, r, c, is_near)
            height = a + gu * (u - c) + gv * (v - r)
            if y - height - end * (1.0 + gu * du + gv * dv) <= 0.0:
                return gu, gv, height, 1
            enter = end
        if out_u <= out:
            c += 1 if du > 0.0 else -1
        if out_v <= out:
            r += 1 if dv > 0.0 else -1
    return 0.0, 0.0, 0.0, 0


@inline
def _put(row: Doubles, way: float, gx: float, gz: float, offset: float) -> None:
    row[0], row[1], row[2], row[3] = -way * gx, way, -way * gz, -way * offset


@jit(
    "void(f8, f8, f8, f8[:, :, ::1], f8[:, ::1], f8, f8, f8,"
    " out f8[:, :, :, ::1], out bool[::1])"
)
def cast_parts(
    along_x: float,
    along_z: float,
    lift: float,
    middles: Doubles,
    heights: Doubles,
    x0: float,
    z0: float,
    step: float,
    matrices: Doubles,
    is_cast: Bools,
) -> None:
    """Matrices of the shadows of parts, and who has one.

    along_x, along_z: metres of the light's way for each metre down; lift: metres that
    shadows are above the ground.
    """
    for n in range(len(middles)):
        is_cast[n] = True
        for k in range(middles.shape[1]):
            x, y, z = middles[n, k, 0], middles[n, k, 1], middles[n, k, 2]
            found = 0
            if abs(x) + abs(y) + abs(z) < 1e9:
                gu, gv, height, found = _meet(
                    heights, (x - x0) / step, y, (z - z0) / step,
                    along_x / step, along_z / step,
                )  # fmt: skip
            if found == 0:
                is_cast[n] = False
                break
            gx, gz = gu / step, gv / step
            facing = 1.0 + gx * along_x + gz * along_z
            is_wall = gx * gx + gz * gz > WALL
            if facing < (GRAZING_WALL if is_wall else GRAZING):
                # Level, at the height at which the light meets it.
                if height < y:
                    height = y - (y - height) / max(facing, 1e-9)
                gx, gz, facing = 0.0, 0.0, 1.0
            # A point's height above the plane is (-gx, 1, -gz) . point - offset: the
            # light goes down so far over `facing`.
            offset = height - gx * x - gz * z
            offset += lift * math.sqrt(1.0 + gx * gx + gz * gz)
            px, py, pz = along_x / facing, -1.0 / facing, along_z / facing
            # A point moves by (px, py, pz) for each metre that it is above the plane.
            _put(matrices[n, k, 0], px, gx, gz, offset)
            _put(matrices[n, k, 1], py, gx, gz, offset)
            _put(matrices[n, k, 2], pz, gx, gz, offset)
            for axis in range(3):
                matrices[n, k, axis, axis] += 1.0
        if not is_cast[n]:
            matrices[n] = 0.0


@jit("void(f4[:, :, ::1], i4[::1], i4[::1], out f8[:, :, ::1])")
def find_middles(
    positions: Floats, sources: Ints, starts: Ints, middles: Doubles
) -> None:
    """The mean of the vertices of each part; starts: (K + 1,), in sources."""
    for n in range(len(positions)):
        for k in range(len(starts) - 1):
            x, y, z = 0.0, 0.0, 0.0
            for p in range(starts[k], starts[k + 1]):
                v = int64(sources[p])
                x += float64(positions[n, v, 0])
                y += float64(positions[n, v, 1])
                z += float64(positions[n, v, 2])
            count = starts[k + 1] - starts[k]
            middles[n, k, 0] = x / count
            middles[n, k, 1] = y / count
            middles[n, k, 2] = z / count


@jit("void(f8[:, :, :, ::1], f4[:, :, ::1], i4[::1], i4[::1], out f4[:, :, ::1])")
def flatten(
    matrices: Doubles, positions: Floats, sources: Ints, parts: Ints, flat: Floats
) -> None:
    """Vertices moved by the matrices of their parts: flat (N, P, 3)."""
    for n in range(len(positions)):
        for p in range(len(sources)):
            v, m = int64(sources[p]), matrices[n, int64(parts[p])]
            x, y, z = positions[n, v, 0], positions[n, v, 1], positions[n, v, 2]
            for axis in range(3):
                flat[n, p, axis] = (
                    m[axis, 0] * x + m[axis, 1] * y + m[axis, 2] * z + m[axis, 3]
                )
