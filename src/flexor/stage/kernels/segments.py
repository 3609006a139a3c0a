"""Where segments of capsules are nearest to each other.

In: ends of segments (N, H, 2, 3), float64, metres, of which two are looked at; out:
shares of both, 0 to 1, and the way between. Nothing is divided by a length of 0.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from flexor.maths.kernels.jit import inline

if TYPE_CHECKING:
    from flexor.arrays import Doubles


@inline
def _clamp(value: float) -> float:
    return min(max(value, 0.0), 1.0)


@inline
def between(
    ends: Doubles, n: int, h: int, m: int, k: int
) -> tuple[float, float, float, float, float]:
    """Shares of two segments at which they are nearest, and the way there, from that of
    m to that of n.
    """
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
    return s, t, wx + s * ux - t * vx, wy + s * uy - t * vy, wz + s * uz - t * vz
