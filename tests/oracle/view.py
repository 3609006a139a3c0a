"""What obstructs the view, by trying places: slow and plain.

The region is never built. A place is in the convex hull of points if it is in a
triangle of the first and two others, or between two; so triangles and pairs of points
are all that is looked at, and structures are tried at many places, then at more near
the best.

All functions take B scenes at once: points (B, P, 2), camera and characters.
"""

from __future__ import annotations

from itertools import combinations
from typing import Any

import numpy as np

TRIES, ROUNDS = 9, 14  # each round looks four times as closely


def is_inside(points: Any, at: Any) -> Any:
    """Which places (B, K, 2) are in a triangle of the points: (B, K)."""
    found = np.zeros(at.shape[:2], bool)
    a = points[:, None, 0]
    for i, j in combinations(range(1, points.shape[1]), 2):
        b, c = points[:, None, i], points[:, None, j]
        sign = np.sign(_turn(a, b, c))
        is_in = (_turn(a, b, at) * sign > 0) & (_turn(c, a, at) * sign > 0)
        found |= is_in & (_turn(b, c, at) * sign > 0) & (_area(a, b, c) > 1e-12)
    return found


def _turn(a: Any, b: Any, c: Any) -> Any:
    """Twice the area of a triangle, positive to the left."""
    ab, ac = b - a, c - a
    return ab[..., 0] * ac[..., 1] - ab[..., 1] * ac[..., 0]


def _area(a: Any, b: Any, c: Any) -> Any:
    return np.abs(_turn(a, b, c)) / 2


def region_gap(points: Any, at: Any) -> Any:
    """Metres from places (B, K, 2) to the region: (B, K)."""
    least = np.full(at.shape[:2], np.inf)
    for i, j in combinations(range(points.shape[1]), 2):
        a, b = points[:, None, i], points[:, None, j]
        least = np.minimum(least, _line_gap(a, b, at))
    return np.where(is_inside(points, at), 0.0, least)


def _line_gap(a: Any, b: Any, at: Any) -> Any:
    """Metres from places to what is between a and b."""
    from_a, from_b = (np.linalg.norm(at - end, axis=-1) for end in (a, b))
    length = np.linalg.norm(b - a, axis=-1)
    is_before = ((at - a) * (b - a)).sum(-1) <= 0
    is_after = ((at - b) * (a - b)).sum(-1) <= 0
    beside = np.abs(_turn(a, b, at)) / np.maximum(length, 1e-30)
    return np.where(is_before, from_a, np.where(is_after, from_b, beside))


def circle_gap(points: Any, middles: Any) -> Any:
    """Metres from middles (B, 2) to the region: (B,); found by trying places of it."""
    least = np.full(len(points), np.inf)
    for i, j in combinations(range(points.shape[1]), 2):
        a, b = points[:, i], points[:, j]
        _, gap = _try(
            a, b, lambda at: np.linalg.norm(at - middles[:, None, :], axis=-1)
        )
        least = np.minimum(least, gap)
    return np.where(is_inside(points, middles[:, None])[:, 0], 0.0, least)


def wall_gap(points: Any, a: Any, b: Any) -> tuple[Any, Any]:
    """Where on segments (B,) they are nearest to the region, and how near: (B,)."""
    return _try(a, b, lambda at: region_gap(points, at))


def _try(a: Any, b: Any, measure: Any) -> tuple[Any, Any]:
    """The least that `measure` gives between a and b, and where; it must have one
    lowest place, as distances from convex things do.
    """
    low, high = np.zeros(len(a)), np.ones(len(a))
    rows = np.arange(len(a))
    for _ in range(ROUNDS):
        u = low[:, None] + (high - low)[:, None] * np.linspace(0, 1, TRIES)
        at = a[:, None] + u[..., None] * (b - a)[:, None]
        values = measure(at)
        best = values.argmin(1)
        low, high = (
            u[rows, np.maximum(best - 1, 0)],
            u[rows, np.minimum(best + 1, TRIES - 1)],
        )
    return u[rows, best], values[rows, best]


def wall_part(points: Any, a: Any, b: Any, near: float) -> Any:
    """From where to where segments are within `near` of the region (B, 2), by halving;
    NaN if nowhere.
    """
    best, gap = wall_gap(points, a, b)

    def is_near(u: Any) -> Any:
        at = a + u[:, None] * (b - a)
        return region_gap(points, at[:, None])[:, 0] <= near

    found = []
    for end in (0.0, 1.0):
        outside = np.full(len(a), end)
        inside = np.where(is_near(outside), outside, best)
        for _ in range(30):
            u = (inside + outside) / 2
            is_in = is_near(u)
            inside, outside = np.where(is_in, u, inside), np.where(is_in, outside, u)
        found.append(inside)
    return np.where((gap <= near)[:, None], np.stack(found, -1), np.nan)
