"""Where a thing stands: the height of the floor, from points on its surface."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

__all__ = ["bounds", "find_floor", "stands_at"]

NEAR_FLOOR = 0.12  # in sizes of the character
BELOW_FLOOR = 0.1  # share of its surface
AIRBORNE = 0.5  # in sizes: a single pose so far from the floor at rest is elsewhere


def bounds(points: NDArray[np.float32]) -> tuple[NDArray[np.float64], float]:
    """The lowest y of each moment (N,), and the longest side of the largest.

    points: (P, 3), or (N, P, 3) for N moments. What is not finite does not count; a
    single point has the size of 1 metre.
    """
    moments = points if points.ndim == 3 else points[None]
    is_finite = np.isfinite(moments)
    if moments.size and is_finite.all():
        low, high = moments.min(1), moments.max(1)
    else:
        is_whole = np.logical_and.reduce(is_finite, 2, keepdims=True)
        seen = np.logical_or.reduce(is_whole, 1)[:, 0]
        if not seen.any():
            return np.zeros(1), 1.0
        low = np.where(is_whole, moments, np.inf).min(1)[seen]
        high = np.where(is_whole, moments, -np.inf).max(1)[seen]
    size = float((high.astype(np.float64) - low).max())
    return low[:, 1].astype(np.float64), size if size > 0 else 1.0


def find_floor(rest: float, lows: NDArray[np.float64], size: float) -> float:
    """The height of the floor, from the lowest y of each moment (N,) of a motion.

    Where the character stands at `rest`, if the motion stands there at some moment, or
    a single pose is not far above or below: it may be in the air. Else its lowest.
    """
    apart = np.abs(lows - rest).min()
    most = (AIRBORNE if len(lows) == 1 else NEAR_FLOOR) * size
    return rest if apart < most else float(lows.min())


def stands_at(points: NDArray[np.float32], low: float, size: float) -> float:
    """Where a thing stands whose lowest point is at `low`: there, or at 0.

    points: (S, 3), spread over its surface. Most files have the floor at 0; a tool in
    a hand, or a tail, may hang below it all the same.
    """
    with np.errstate(invalid="ignore"):
        below = points[:, 1] < -0.01 * size
    is_near = abs(low) < NEAR_FLOOR * size
    return 0.0 if is_near and below.sum() <= BELOW_FLOOR * len(points) else low
