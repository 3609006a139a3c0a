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
    a, *others = (points[:, None, i] for i in range(points.shape[1]))
    out = [_turn(a, b, at) for b in others]
    back = [_turn(c, a, at) for c in others]
    for i, j in combinations(range(len(others)), 2):
        b, c = others[i], others[j]
        sign = np.sign(_turn(a, b, c))
        is_in = (out[i] * sign > 0) & (back[j] * sign > 0)
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
    ends = [points[:, None, i] for i in range(points.shape[1])]
    ways = [at - end for end in ends]
    aways = [_length(way) for way in ways]
    # What is between two points: from one of them, or beside the line.
    least = np.full(at.shape[:2], np.inf)
    for i, j in combinations(range(len(ends)), 2):
        way = ends[j] - ends[i]
        is_before, is_after = _dot(ways[i], way) <= 0, _dot(ways[j], -way) <= 0
        beside = np.abs(_turn(ends[i], ends[j], at)) / np.maximum(_length(way), 1e-30)
        gap = np.where(is_after, aways[j], beside)
        np.minimum(least, np.where(is_before, aways[i], gap), out=least)
    return np.where(is_inside(points, at), 0.0, least)


def _dot(a: Any, b: Any) -> Any:
    """By numbers: sums over an axis of two take ten times as long."""
    return a[..., 0] * b[..., 0] + a[..., 1] * b[..., 1]


def _length(way: Any) -> Any:
    return np.sqrt(_dot(way, way))


def circle_gap(points: Any, middles: Any) -> Any:
    """Metres from middles (B, 2) to the region: (B,); found by trying places of it."""
    least = np.full(len(points), np.inf)
    for i, j in combinations(range(points.shape[1]), 2):
        a, b = points[:, i], points[:, j]
        _, gap = _try(a, b, lambda at: _length(at - middles[:, None, :]))
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


def wall_part(points: Any, a: Any, b: Any, near: float, nearest: Any) -> Any:
    """From where to where segments are within `near` of the region (B, 2), by halving;
    NaN if nowhere. nearest: what `wall_gap` says of them.
    """
    best, gap = nearest

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
