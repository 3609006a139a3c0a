"""Which structures of a stage stand in the region that is seen.

What enters: points (P, 2), camera and characters as (x, z), sorted; structures (S, 6),
see the columns below. What leaves: for each structure whether it reaches into the
convex hull of the points, and for a long one the part of it that lies there. All is
float64, in metres.

The hull is kept as sides, which also serve where it has no area: a line is two sides
that run there and back, one spot is one side of no length. What lies within BAND of a
side is measured from that side alone, so it does not matter on which side of it
rounding puts a place, and thin regions need no case of their own.

Tried: NumPy over all structures, with a hull in plain Python, took 47 us for 50
structures and 2 characters and 85 us for 30, regions that have no area and checks left
out; this takes 1.7 and 3.3 us, and 6 and 8 us with the checks around it.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

from flexor.maths.kernels.jit import inline, jit, part
from flexor.scene.stage.layout import FARTHEST

if TYPE_CHECKING:
    from flexor.arrays import Bools, Doubles

# Columns of structures: ends of a long one, middle of a round one (twice); radius of
# its circles; 1 for a long one.
X0, Z0, X1, Z1, RADIUS, IS_LONG = range(6)
# Columns of sides: where one begins, its direction, its length. Inside is to the left.
AX, AZ, DX, DZ, LENGTH = range(5)
BAND = 1e-9  # metres; rounding is far below it, what can be seen far above


@part
def wrap(points: Doubles, corners: Doubles) -> int:
    """Corners of the convex hull of sorted points, anticlockwise; how many."""
    last = len(points) - 1
    count = 0
    for way in range(2):
        first = count
        for k in range(last + 1):
            row = k if way == 0 else last - k
            x, z = points[row, 0], points[row, 1]
            while count - first >= 2:
                ax, az = corners[count - 2, 0], corners[count - 2, 1]
                bx, bz = corners[count - 1, 0], corners[count - 1, 1]
                if (bx - ax) * (z - az) > (bz - az) * (x - ax):
                    break
                count -= 1
            corners[count, 0], corners[count, 1] = x, z
            count += 1
        count -= 1  # the last of one way is the first of the other
    return max(count, 1)


@part
def join(corners: Doubles, count: int, sides: Doubles) -> int:
    """Sides between corners, those left out that stand on one spot; how many."""
    kept = 1
    for k in range(1, count):
        x, z = corners[k, 0], corners[k, 1]
        dx, dz = x - corners[kept - 1, 0], z - corners[kept - 1, 1]
        if dx * dx + dz * dz > BAND * BAND:
            corners[kept, 0], corners[kept, 1] = x, z
            kept += 1
    while kept > 1:
        x, z = corners[kept - 1, 0], corners[kept - 1, 1]
        dx, dz = x - corners[0, 0], z - corners[0, 1]
        if dx * dx + dz * dz > BAND * BAND:
            break
        kept -= 1
    for k in range(kept):
        after = (k + 1) % kept
        x = corners[after, 0] - corners[k, 0]
        z = corners[after, 1] - corners[k, 1]
        length = math.sqrt(x * x + z * z)
        sides[k, AX], sides[k, AZ] = corners[k, 0], corners[k, 1]
        sides[k, DX] = x / length if length > 0.0 else 1.0
        sides[k, DZ] = z / length if length > 0.0 else 0.0
        sides[k, LENGTH] = length
    return kept


@part
def gap(sides: Doubles, count: int, x: float, z: float) -> float:
    """Metres from a place to the region; 0 inside."""
    is_inside = count >= 3
    least = math.inf
    for k in range(count):
        dx, dz = sides[k, DX], sides[k, DZ]
        rx, rz = x - sides[k, AX], z - sides[k, AZ]
        is_inside = is_inside and dx * rz - dz * rx > BAND
        foot = min(max(dx * rx + dz * rz, 0.0), sides[k, LENGTH])
        fx, fz = rx - foot * dx, rz - foot * dz
        least = min(least, fx * fx + fz * fz)
    return 0.0 if is_inside else math.sqrt(least)


@inline
def cut(a: float, b: float, first: float, last: float) -> tuple[float, float]:
    """What is left of first..last where a value that goes from a to b is not negative;
    nothing is left if first > last.
    """
    if a < 0.0 and b < 0.0:
        first, last = 2.0, -1.0
    elif a < 0.0:
        first = max(first, a / (a - b))
    elif b < 0.0:
        last = min(last, a / (a - b))
    return first, last


@part
def find_part(
    sides: Doubles, count: int, structures: Doubles, row: int, margin: float
) -> tuple[float, float]:
    """From where to where a segment lies within `margin` of the region, in parts of its
    length; none: first > last. That is where it lies inside, near sides or corners.
    """
    x0, z0 = structures[row, X0], structures[row, Z0]
    wx, wz = structures[row, X1] - x0, structures[row, Z1] - z0
    square = wx * wx + wz * wz
    near = margin + 2.0 * BAND
    inner, outer = (0.0, 1.0) if count >= 3 else (2.0, -1.0)
    low, high = 2.0, -1.0
    for k in range(count):
        dx, dz, length = sides[k, DX], sides[k, DZ], sides[k, LENGTH]
        rx, rz = x0 - sides[k, AX], z0 - sides[k, AZ]
        along, beside = dx * rx + dz * rz, dx * rz - dz * rx
        along1, beside1 = along + dx * wx + dz * wz, beside + dx * wz - dz * wx
        inner, outer = cut(beside - BAND, beside1 - BAND, inner, outer)
        first, last = cut(near - beside, near - beside1, 0.0, 1.0)
        first, last = cut(near + beside, near + beside1, first, last)
        first, last = cut(along, along1, first, last)
        first, last = cut(length - along, length - along1, first, last)
        if first <= last:
            low, high = min(low, first), max(high, last)
        # The corner where the side begins.
        cross = wx * rz - wz * rx
        rest = near * near - cross * cross / square
        if rest >= 0.0:
            middle = -(rx * wx + rz * wz) / square
            half = math.sqrt(rest / square)
            first, last = max(middle - half, 0.0), min(middle + half, 1.0)
            if first <= last:
                low, high = min(low, first), max(high, last)
    if inner <= outer:
        low, high = min(low, inner), max(high, outer)
    return low, high


@jit(
    "bool(f8[:, ::1], f8[:, ::1], f8, out f8[:, ::1], out f8[:, ::1], out bool[::1],"
    " out f8[:, ::1])"
)
def find_obstructing(
    points: Doubles,
    structures: Doubles,
    margin: float,
    corners: Doubles,
    sides: Doubles,
    hits: Bools,
    parts: Doubles,
) -> bool:
    """Fill hits (S,) and parts (S, 2); False: a point is not a usable number.

    margin: metres by which the region is larger all around; corners: (2 P, 2) and
    sides: (P, 5) or more, to work in.
    """
    for k in range(len(points)):
        if not (abs(points[k, 0]) <= FARTHEST and abs(points[k, 1]) <= FARTHEST):
            return False
    count = join(corners, wrap(points, corners), sides)
    for row in range(len(structures)):
        near = structures[row, RADIUS] + margin + BAND
        hit = gap(sides, count, structures[row, X0], structures[row, Z0]) <= near
        parts[row, 0] = parts[row, 1] = 0.0
        if structures[row, IS_LONG] > 0.0:
            if not hit:
                x1, z1 = structures[row, X1], structures[row, Z1]
                hit = gap(sides, count, x1, z1) <= near
            first, last = find_part(sides, count, structures, row, margin)
            if first <= last:
                parts[row, 0], parts[row, 1] = first, last
                hit = True
        hits[row] = hit
    return True


@jit("void(bool[::1], f8[:, ::1], f8, out f8[::1], out f8[:, ::1])")
def move_shown(
    hits: Bools, found: Doubles, step: float, shown: Doubles, parts: Doubles
) -> None:
    """Move shown (S,) by a step toward 0 where something obstructs, else toward 1.

    parts: (S, 2), those found last, kept until a structure is shown whole again.
    """
    for row in range(len(hits)):
        if hits[row]:
            shown[row] = max(shown[row] - step, 0.0)
            parts[row, 0], parts[row, 1] = found[row, 0], found[row, 1]
        else:
            shown[row] = min(shown[row] + step, 1.0)
            if shown[row] == 1.0:
                parts[row, 0] = parts[row, 1] = 0.0
