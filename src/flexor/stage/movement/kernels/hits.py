"""Capsules of bodies in the world, and which of them meet.

All float64, metres; a capsule is a segment with a radius, none if that is 0.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

from flexor.maths.kernels.jit import inline, jit
from flexor.maths.kernels.numbers import int64

if TYPE_CHECKING:
    from flexor.arrays import Bools, Doubles, Floats, Ints


@jit("void(f4[:, :, :, ::1], i4[::1], f8[:, :, ::1], i4[::1], out f8[:, :, :, ::1])")
def place_volumes(
    world: Floats, nodes: Ints, local: Doubles, rows: Ints, ends: Doubles
) -> None:
    """Ends (N, H, 2, 3), on rows (n,), of capsules that go with nodes (H,) of world
    (n, J, 3, 4).
    """
    for n in range(len(world)):
        to = int64(rows[n])
        for h in range(len(nodes)):
            j = int64(nodes[h])
            for e in range(2):
                x, y, z = local[h, e, 0], local[h, e, 1], local[h, e, 2]
                for row in range(3):
                    ends[to, h, e, row] = (
                        world[n, j, row, 0] * x
                        + world[n, j, row, 1] * y
                        + world[n, j, row, 2] * z
                        + world[n, j, row, 3]
                    )


@inline
def _clamp(value: float) -> float:
    return min(max(value, 0.0), 1.0)


@inline
def closest(
    ends: Doubles, n: int, h: int, m: int, k: int
) -> tuple[float, float, float]:
    """Where two segments are nearest: shares of each, and their distance."""
    ux = ends[n, h, 1, 0] - ends[n, h, 0, 0]
    uy = ends[n, h, 1, 1] - ends[n, h, 0, 1]
    uz = ends[n, h, 1, 2] - ends[n, h, 0, 2]
    vx = ends[m, k, 1, 0] - ends[m, k, 0, 0]
    vy = ends[m, k, 1, 1] - ends[m, k, 0, 1]
    vz = ends[m, k, 1, 2] - ends[m, k, 0, 2]
    wx = ends[n, h, 0, 0] - ends[m, k, 0, 0]
    wy = ends[n, h, 0, 1] - ends[m, k, 0, 1]
    wz = ends[n, h, 0, 2] - ends[m, k, 0, 2]
    a = ux * ux + uy * uy + uz * uz
    b = ux * vx + uy * vy + uz * vz
    c = vx * vx + vy * vy + vz * vz
    d = ux * wx + uy * wy + uz * wz
    e = vx * wx + vy * wy + vz * wz
    cross = a * c - b * b
    s = _clamp((b * e - c * d) / cross) if cross > 1e-12 * a * c else 0.0
    t = (b * s + e) / c if c > 0.0 else 0.0
    if t < 0.0 or t > 1.0 or c == 0.0:
        t = _clamp(t)
        s = _clamp((b * t - d) / a) if a > 0.0 else 0.0
    x = wx + s * ux - t * vx
    y = wy + s * uy - t * vy
    z = wz + s * uz - t * vz
    return s, t, math.sqrt(x * x + y * y + z * z)


@jit(
    "void(f8[:, :, :, ::1], f8[:, ::1], bool[:, ::1], i4[::1],"
    " out f8[::1], out i4[:, ::1], out f8[:, ::1])"
)
def find_hits(
    ends: Doubles,
    radii: Doubles,
    attacks: Bools,
    targets: Ints,
    gaps: Doubles,
    pairs: Ints,
    points: Doubles,
) -> None:
    """How near attacking capsules are to those of their targets.

    ends: (N, H, 2, 3); radii: (N, H); attacks: (N, H), which attack; targets: (N,),
    rows, -1 for none. gaps: (N,), metres, 0 or less where they meet, infinite if there
    is nothing to meet; pairs: (N, 2), the two capsules, -1 for none; points: (N, 3), on
    the target's surface, where it is nearest.
    """
    for n in range(len(ends)):
        gaps[n] = math.inf
        pairs[n, 0] = pairs[n, 1] = -1
        points[n, 0] = points[n, 1] = points[n, 2] = 0.0
        m = int64(targets[n])
        if m < 0:
            continue
        for h in range(radii.shape[1]):
            if not attacks[n, h] or radii[n, h] <= 0.0:
                continue
            for k in range(radii.shape[1]):
                if radii[m, k] <= 0.0:
                    continue
                s, t, away = closest(ends, n, h, m, k)
                gap = away - radii[n, h] - radii[m, k]
                if gap < gaps[n]:
                    gaps[n] = gap
                    pairs[n, 0], pairs[n, 1] = h, k
                    share = radii[m, k] / away if away > 0.0 else 0.0
                    for row in range(3):
                        mine = ends[n, h, 0, row] + s * (
                            ends[n, h, 1, row] - ends[n, h, 0, row]
                        )
                        other = ends[m, k, 0, row] + t * (
                            ends[m, k, 1, row] - ends[m, k, 0, row]
                        )
                        points[n, row] = other + min(share, 1.0) * (mine - other)
