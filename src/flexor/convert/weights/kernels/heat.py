"""Which bones heat each point of a skin: the nearest, if it sees them through the body.

In: points with normals, bones as lines, which bones may heat which piece of the skin,
the body as a grid of cells. Out: up to four bones a point, and how far they are.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import numpy as np

from flexor.maths.kernels.jit import inline, jit

if TYPE_CHECKING:
    from flexor.arrays import Bools, Doubles, Ints, Real, Whole

NONE = -1
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


@jit(
    "void(f8[:, ::1], f8[:, ::1], i4[::1], bool[:, ::1], f8[:, ::1], f8[:, ::1], "
    "bool[:, :, ::1], f8, out i4[:, ::1], out i4[::1], out f8[::1])"
)
def find_sources(
    points: Doubles,
    normals: Doubles,
    pieces: Ints,
    homes: Bools,
    starts: Doubles,
    axes: Doubles,
    filled: Bools,
    tie: float,
    sources: Ints,
    nearest: Ints,
    distances: Doubles,
) -> None:
    """The bones that heat each point, the nearest bone, and how far that is.

    points, normals: (P, 3); pieces: (P,), rows of homes: (K, B), which bones may heat
    which piece; starts, axes: (B, 3); all in units of a cell of `filled`: (X, Y, Z);
    tie: bones no further than the nearest and this part of it share a point; sources:
    (P, M), the first M of them that are seen, the rest -1; nearest: (P,), -1 where the
    piece has no bones; distances: (P,), in cells.
    """
    most = sources.shape[1]
    for p in range(len(points)):
        least, best = np.inf, NONE
        for b in range(len(starts)):
            if homes[pieces[p], b]:
                far = _distance(points, normals, p, starts, axes, b)
                if far < least:
                    least, best = far, b
        nearest[p], distances[p] = best, least
        found = 0
        for b in range(len(starts)):
            if found < most and homes[pieces[p], b]:
                far = _distance(points, normals, p, starts, axes, b)
                if far <= least * (1 + tie) and _sees(
                    points, p, starts, axes, b, filled
                ):
                    sources[p, found] = b
                    found += 1
        for k in range(found, most):
            sources[p, k] = NONE
