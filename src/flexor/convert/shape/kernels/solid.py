"""Whether places lie in a body, and the body as a grid of cells.

Surfaces of files have holes, overlap and cut themselves. So places are judged by how
often the surface goes around them, and cells by most of six half lines, each of which
counts signed crossings: what overlaps stays solid, a hole spoils only the lines through
it.

Windings by the solid angle of every triangle take 45 ns a triangle and place. Triangles
far off count as dipoles (Barill and others, "Fast Winding Numbers for Soups and
Clouds", 2018, without their tree): 4 ns, and within 0.01 turns.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import numpy as np

from flexor.maths.kernels.functions import atan2
from flexor.maths.kernels.jit import inline, jit

if TYPE_CHECKING:
    from flexor.arrays import Bools, Doubles, Ints, Real, Whole

FAR = 16.0  # of a triangle's radius, squared: from there on it is a dipole
ASIDE = 1e-6  # cells: what lies this near to a cell's side is in both cells
HALF = 0.5 + ASIDE


@inline
def _solid_angle(triangles: Doubles, f: int, x: Real, y: Real, z: Real) -> Real:
    """Half the solid angle of triangle f, seen from a place.

    van Oosterom and Strackee, "The Solid Angle of a Plane Triangle", 1983.
    """
    ax, ay = triangles[f, 0, 0] - x, triangles[f, 0, 1] - y
    az = triangles[f, 0, 2] - z
    bx, by = triangles[f, 1, 0] - x, triangles[f, 1, 1] - y
    bz = triangles[f, 1, 2] - z
    cx, cy = triangles[f, 2, 0] - x, triangles[f, 2, 1] - y
    cz = triangles[f, 2, 2] - z
    a = math.sqrt(ax * ax + ay * ay + az * az)
    b = math.sqrt(bx * bx + by * by + bz * bz)
    c = math.sqrt(cx * cx + cy * cy + cz * cz)
    volume = ax * (by * cz - bz * cy)
    volume += ay * (bz * cx - bx * cz)
    volume += az * (bx * cy - by * cx)
    rest = a * b * c + (ax * bx + ay * by + az * bz) * c
    rest += (bx * cx + by * cy + bz * cz) * a
    rest += (cx * ax + cy * ay + cz * az) * b
    return atan2(volume, rest)


@jit("void(f8[:, ::1], f8[:, :, ::1], f8[:, ::1], out f8[::1])")
def winding_numbers(
    places: Doubles,
    triangles: Doubles,
    dipoles: Doubles,
    turns: Doubles,
) -> None:
    """How often a surface goes around each place: 0 outside, 1 inside, or between.

    places: (N, 3); triangles: (F, 3, 3), corners; dipoles: (F, 7), the middle of each,
    its area along its normal, the square of its radius; turns: (N,).
    """
    for n in range(len(places)):
        x, y, z = places[n, 0], places[n, 1], places[n, 2]
        total = 0.0
        for f in range(len(triangles)):
            dx, dy = dipoles[f, 0] - x, dipoles[f, 1] - y
            dz = dipoles[f, 2] - z
            square = dx * dx + dy * dy + dz * dz
            if square > FAR * dipoles[f, 6]:
                along = dx * dipoles[f, 3] + dy * dipoles[f, 4] + dz * dipoles[f, 5]
                total += 0.5 * along / (square * math.sqrt(square))
            else:
                total += _solid_angle(triangles, f, x, y, z)
        turns[n] = total / (2 * math.pi)


@jit("void(f8[:, ::1], i4[:, ::1], out bool[:, :, ::1])")
def mark_surface(
    cells: Doubles,
    faces: Ints,
    grid: Bools,
) -> None:
    """Mark the cells that triangles pass through.

    cells: (P, 3), points in units of a cell's side, all inside the grid; faces: (F, 3);
    grid: (X, Y, Z).
    """
    for f in range(len(faces)):
        a, b, c = faces[f, 0], faces[f, 1], faces[f, 2]
        longest = 0.0
        for first, second in ((a, b), (b, c), (c, a)):
            square = 0.0
            for k in range(3):
                square += (cells[first, k] - cells[second, k]) ** 2
            longest = max(longest, square)
        steps = int(math.sqrt(longest) * 2) + 1
        for i in range(steps + 1):
            u = i / steps
            for j in range(steps + 1 - i):
                v = j / steps
                w = 1 - u - v
                grid[
                    int(w * cells[a, 0] + u * cells[b, 0] + v * cells[c, 0]),
                    int(w * cells[a, 1] + u * cells[b, 1] + v * cells[c, 1]),
                    int(w * cells[a, 2] + u * cells[b, 2] + v * cells[c, 2]),
                ] = True


@jit("void(f8[:, ::1], i4[:, ::1], out i4[:, :, ::1])")
def mark_crossings(
    cells: Doubles,
    faces: Ints,
    grid: Ints,
) -> None:
    """Add 1 or -1 where lines through the middles of cells cross the surface.

    cells: (P, 3), points in units of a cell's side, with the first axis along the
    lines, moved so that the middle of cell (i, j, k) is at (i, j, k); faces: (F, 3);
    grid: (X, Y, Z), to which is added at the first cell behind the crossing.
    """
    for f in range(len(faces)):
        a, b, c = faces[f, 0], faces[f, 1], faces[f, 2]
        ay, az = cells[a, 1], cells[a, 2]
        by, bz = cells[b, 1], cells[b, 2]
        cy, cz = cells[c, 1], cells[c, 2]
        area = (by - ay) * (cz - az) - (bz - az) * (cy - ay)
        if area == 0:
            continue
        sign = np.int32(1) if area > 0 else np.int32(-1)
        low, high = math.ceil(min(ay, by, cy)), math.floor(max(ay, by, cy))
        near, far = math.ceil(min(az, bz, cz)), math.floor(max(az, bz, cz))
        for j in range(low, high + 1):
            for k in range(near, far + 1):
                u = ((by - j) * (cz - k) - (bz - k) * (cy - j)) / area
                v = ((cy - j) * (az - k) - (cz - k) * (ay - j)) / area
                if u >= 0 and v >= 0 and u + v <= 1:
                    depth = u * cells[a, 0] + v * cells[b, 0]
                    depth += (1 - u - v) * cells[c, 0]
                    grid[math.ceil(depth), j, k] += sign


@inline
def _touches(
    cells: Doubles,
    a: Whole,
    b: Whole,
    c: Whole,
    i: Whole,
    j: Whole,
    k: Whole,
) -> bool:
    """Whether the plane of a triangle passes through cell (i, j, k)."""
    ux, uy = cells[b, 0] - cells[a, 0], cells[b, 1] - cells[a, 1]
    uz = cells[b, 2] - cells[a, 2]
    vx, vy = cells[c, 0] - cells[a, 0], cells[c, 1] - cells[a, 1]
    vz = cells[c, 2] - cells[a, 2]
    x, y, z = uy * vz - uz * vy, uz * vx - ux * vz, ux * vy - uy * vx
    off = x * (i + 0.5 - cells[a, 0]) + y * (j + 0.5 - cells[a, 1])
    off += z * (k + 0.5 - cells[a, 2])
    return abs(off) <= HALF * (abs(x) + abs(y) + abs(z))


@inline
def _low(cells: Doubles, a: Whole, b: Whole, c: Whole, axis: Whole) -> Whole:
    """The first cell along an axis that a triangle may touch."""
    least = min(cells[a, axis], cells[b, axis], cells[c, axis])
    return max(int(least - ASIDE), 0)


@inline
def _high(
    cells: Doubles, a: Whole, b: Whole, c: Whole, axis: Whole, shape: Ints
) -> Whole:
    """The cell after the last one along an axis that a triangle may touch."""
    most = max(cells[a, axis], cells[b, axis], cells[c, axis])
    return min(int(most + ASIDE) + 1, shape[axis])


@jit("void(f8[:, ::1], i4[:, ::1], i4[::1], bool, out i4[::1], out i4[::1])")
def list_faces(
    cells: Doubles,
    faces: Ints,
    shape: Ints,
    is_counting: bool,
    ends: Ints,
    listed: Ints,
) -> None:
    """Which faces may pass through each cell: first counted, then listed.

    cells: (P, 3), points in units of a cell's side, inside the grid; faces: (F, 3);
    shape: (3,), of the grid; ends: (X*Y*Z + 1,), to which counts are added at cell + 1;
    then, with their sums, moved on by 1 for each face that is listed. All cells of the
    box around a face count which its plane passes through.
    """
    for f in range(len(faces)):
        a, b, c = faces[f, 0], faces[f, 1], faces[f, 2]
        for i in range(_low(cells, a, b, c, 0), _high(cells, a, b, c, 0, shape)):
            for j in range(_low(cells, a, b, c, 1), _high(cells, a, b, c, 1, shape)):
                for k in range(
                    _low(cells, a, b, c, 2), _high(cells, a, b, c, 2, shape)
                ):
                    if _touches(cells, a, b, c, i, j, k):
                        cell = (i * shape[1] + j) * shape[2] + k
                        if is_counting:
                            ends[cell + 1] += 1
                        else:
                            listed[ends[cell]] = f
                            ends[cell] += 1
