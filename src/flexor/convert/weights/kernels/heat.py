"""Which bones heat each point of a skin: the nearest, if it sees them through the body.

In: points with normals, bones as lines, which bones may heat which piece of the skin,
the body as a grid of cells, and which faces each cell holds. Out: up to four bones a
point, and how far they are.

A line of sight stays in filled cells, and enters the skin of the point's own piece
nowhere: what it enters, it came to through the air, as from an eye into the head around
it. It may leave the skin, for bones of thin limbs lie beside them. Skin that is in the
way counts only by the side that it shows: so measured beside Blender's bone heat, whose
weights come out the same on characters of one piece. Any skin in the way instead loses
points next to folds; cells alone see from knobs into what they sit on.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import numpy as np

from flexor.maths.kernels.jit import inline, jit

if TYPE_CHECKING:
    from flexor.arrays import Bools, Doubles, Ints, Real, Whole

NONE = -1
ENDS = 1e-5  # of a line of sight: what it meets so near to its ends is not in the way
FACING = 1.001  # so that a bone straight outside is far and not infinitely far
MISSED = 1  # cells that a line of sight may pass outside


@inline
def _along(
    points: Doubles,
    p: Whole,
    starts: Doubles,
    axes: Doubles,
    b: Whole,
) -> Real:
    """Where on bone b it is nearest to point p, 0 to 1."""
    square, dot = 0.0, 0.0
    for k in range(3):
        square += axes[b, k] * axes[b, k]
        dot += (points[p, k] - starts[b, k]) * axes[b, k]
    if square <= 0:
        return 0.0
    return min(max(dot / square, 0.0), 1.0)


@inline
def _distance(
    points: Doubles,
    normals: Doubles,
    p: Whole,
    starts: Doubles,
    axes: Doubles,
    b: Whole,
) -> Real:
    """How far bone b is from point p; further where the skin does not face away."""
    share = _along(points, p, starts, axes, b)
    square, facing = 0.0, 0.0
    for k in range(3):
        way = points[p, k] - starts[b, k] - share * axes[b, k]
        square += way * way
        facing += way * normals[p, k]
    far = math.sqrt(square)
    if far > 0:
        far /= 0.5 * (facing / far + FACING)
    return far


@inline
def _sees(
    points: Doubles,
    p: Whole,
    starts: Doubles,
    axes: Doubles,
    b: Whole,
    filled: Bools,
) -> bool:
    """Whether the line from point p to bone b stays in the filled cells."""
    share = _along(points, p, starts, axes, b)
    square = 0.0
    for k in range(3):
        way = starts[b, k] + share * axes[b, k] - points[p, k]
        square += way * way
    steps = int(math.sqrt(square) * 2) + 1
    missed = 0
    for i in range(steps + 1):
        inside = True
        x = (
            points[p, 0]
            + (starts[b, 0] + share * axes[b, 0] - points[p, 0]) * i / steps
        )
        y = (
            points[p, 1]
            + (starts[b, 1] + share * axes[b, 1] - points[p, 1]) * i / steps
        )
        z = (
            points[p, 2]
            + (starts[b, 2] + share * axes[b, 2] - points[p, 2]) * i / steps
        )
        if x < 0 or y < 0 or z < 0:
            inside = False
        elif x >= filled.shape[0] or y >= filled.shape[1] or z >= filled.shape[2]:
            inside = False
        elif not filled[int(x), int(y), int(z)]:
            inside = False
        if not inside:
            missed += 1
            if missed > MISSED:
                return False
    return True


@inline
def _is_entered(
    points: Doubles,
    p: Whole,
    x: Real,
    y: Real,
    z: Real,
    faces: Ints,
    f: Whole,
) -> bool:
    """Whether the way (x, y, z) from point p enters face f, by its outer side."""
    a, b, c = faces[f, 0], faces[f, 1], faces[f, 2]
    if a == p or b == p or c == p:
        return False
    ux, uy = points[b, 0] - points[a, 0], points[b, 1] - points[a, 1]
    uz = points[b, 2] - points[a, 2]
    vx, vy = points[c, 0] - points[a, 0], points[c, 1] - points[a, 1]
    vz = points[c, 2] - points[a, 2]
    hx, hy, hz = y * vz - z * vy, z * vx - x * vz, x * vy - y * vx
    # How far the way goes against the normal; 0 or less where it leaves.
    against = ux * hx + uy * hy + uz * hz
    if against <= 0:
        return False
    wx, wy = points[p, 0] - points[a, 0], points[p, 1] - points[a, 1]
    wz = points[p, 2] - points[a, 2]
    first = wx * hx + wy * hy + wz * hz
    if first < 0 or first > against:
        return False
    qx, qy, qz = wy * uz - wz * uy, wz * ux - wx * uz, wx * uy - wy * ux
    second = x * qx + y * qy + z * qz
    if second < 0 or first + second > against:
        return False
    share = vx * qx + vy * qy + vz * qz
    return share > ENDS * against and share < (1 - ENDS) * against


@inline
def _is_free(
    points: Doubles,
    p: Whole,
    pieces: Ints,
    starts: Doubles,
    axes: Doubles,
    b: Whole,
    faces: Ints,
    cell_starts: Ints,
    cell_faces: Ints,
    filled: Bools,
) -> bool:
    """Whether the line from point p to bone b enters the skin of its piece nowhere.

    It goes from cell to cell, by the next side that it meets.
    """
    along = _along(points, p, starts, axes, b)
    x = starts[b, 0] + along * axes[b, 0] - points[p, 0]
    y = starts[b, 1] + along * axes[b, 1] - points[p, 1]
    z = starts[b, 2] + along * axes[b, 2] - points[p, 2]
    i, j, k = int(points[p, 0]), int(points[p, 1]), int(points[p, 2])
    if i >= filled.shape[0] or j >= filled.shape[1] or k >= filled.shape[2]:
        return True
    # Shares of the way at which it passes the next side, and from side to side.
    step_x, step_y, step_z = np.inf, np.inf, np.inf
    next_x, next_y, next_z = np.inf, np.inf, np.inf
    if x != 0:
        step_x = 1 / abs(x)
        next_x = step_x * ((i + 1 - points[p, 0]) if x > 0 else (points[p, 0] - i))
    if y != 0:
        step_y = 1 / abs(y)
        next_y = step_y * ((j + 1 - points[p, 1]) if y > 0 else (points[p, 1] - j))
    if z != 0:
        step_z = 1 / abs(z)
        next_z = step_z * ((k + 1 - points[p, 2]) if z > 0 else (points[p, 2] - k))
    while True:
        cell = (i * filled.shape[1] + j) * filled.shape[2] + k
        for at in range(cell_starts[cell], cell_starts[cell + 1]):
            f = cell_faces[at]
            if pieces[faces[f, 0]] == pieces[p] and _is_entered(
                points, p, x, y, z, faces, f
            ):
                return False
        if min(next_x, next_y, next_z) > 1:
            return True
        if next_x <= next_y and next_x <= next_z:
            next_x += step_x
            i += 1 if x > 0 else -1
            if i < 0 or i >= filled.shape[0]:
                return True
        elif next_y <= next_z:
            next_y += step_y
            j += 1 if y > 0 else -1
            if j < 0 or j >= filled.shape[1]:
                return True
        else:
            next_z += step_z
            k += 1 if z > 0 else -1
            if k < 0 or k >= filled.shape[2]:
                return True


@jit(
    "void(i8, f8[:, ::1], f8[:, ::1], i4[::1], bool[:, ::1], i4[::1], f8[:, ::1], "
    "f8[:, ::1], bool[:, :, ::1], i4[:, ::1], i4[::1], i4[::1], f8, "
    "out i4[:, ::1], out i4[::1], out f8[::1])"
)
def find_sources(
    begin: int,
    points: Doubles,
    normals: Doubles,
    pieces: Ints,
    homes: Bools,
    bones: Ints,
    starts: Doubles,
    axes: Doubles,
    filled: Bools,
    faces: Ints,
    cell_starts: Ints,
    cell_faces: Ints,
    tie: float,
    sources: Ints,
    nearest: Ints,
    distances: Doubles,
) -> None:
    """The bones that heat points, the nearest bone of each, and how far that is.

    begin: the first of the N points that are asked for; points, normals: (P, 3);
    pieces: (P,), rows of homes: (K, B), which bones may heat which piece; bones: (L,),
    which one each line is of; starts, axes: (L, 3); all in units of a cell of `filled`:
    (X, Y, Z); faces: (F, 3), turned outward; cell_starts: (X*Y*Z + 1,), where those of
    each cell begin in cell_faces; tie: bones no further than the nearest and this part
    of it share a point; sources: (N, M), the first M of them that are seen, the rest
    -1; nearest: (N,), -1 where the piece has no bones; distances: (N,), in cells.
    """
    most = sources.shape[1]
    for n in range(len(sources)):
        p = begin + n
        least, best = np.inf, NONE
        for b in range(len(starts)):
            if homes[pieces[p], bones[b]]:
                far = _distance(points, normals, p, starts, axes, b)
                if far < least:
                    least, best = far, bones[b]
        nearest[n], distances[n] = best, least
        found = 0
        for b in range(len(starts)):
            if found < most and homes[pieces[p], bones[b]]:
                far = _distance(points, normals, p, starts, axes, b)
                if far <= least * (1 + tie):
                    is_new = True
                    for k in range(found):
                        is_new = is_new and sources[n, k] != bones[b]
                    if (
                        is_new
                        and _sees(points, p, starts, axes, b, filled)
                        and _is_free(
                            points,
                            p,
                            pieces,
                            starts,
                            axes,
                            b,
                            faces,
                            cell_starts,
                            cell_faces,
                            filled,
                        )
                    ):
                        sources[n, found] = bones[b]
                        found += 1
        for k in range(found, most):
            sources[n, k] = NONE
