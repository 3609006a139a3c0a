"""Spaces of one or two parameters with clips at points: which clips a value mixes.

On a line a value is between two points. In a plane the points are joined to triangles,
and a value in one of them has barycentric weights; one outside of all has those of the
nearest point of their hull. Weights are not negative and add up to 1, and change
without a jump as the value does; at a point they are exactly that of its clip.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from flexor.arrays import Doubles, Longs, freeze
from flexor.errors import SettingError

__all__ = ["BlendSpace", "Points", "blend_weights", "make_space"]

Points = Mapping[str, ArrayLike]

MOST_POINTS = 64
FARTHEST = 1e6  # of a number of a point
NEAREST = 1e-9  # of the size of the space: what is nearer, or flatter, is the same
INSIDE = -1e-9  # of barycentric weights, so that no value falls between two triangles


@dataclass(frozen=True, slots=True, eq=False)
class BlendSpace:
    """Clips at points.

    clips: C names; points: float64 (C, D), D is 1 or 2, along a line rising; triangles:
    int64 (T, 3), and edges: (E, 2), those around the hull: rows of points; both empty
    along a line. Takes ownership of the arrays.
    """

    clips: tuple[str, ...]
    points: Doubles
    triangles: Longs
    edges: Longs

    def __post_init__(self) -> None:
        put = object.__setattr__
        count = len(self.clips)
        put(self, "points", freeze(self.points, np.float64, (count, None), "points"))
        for name, width in (("triangles", 3), ("edges", 2)):
            rows = freeze(getattr(self, name), np.int64, (None, width), name)
            put(self, name, rows)


def make_space(points: Points) -> BlendSpace:
    """A space of clips by name, at numbers or at pairs of numbers."""
    if not isinstance(points, Mapping) or not points:
        raise SettingError(f"points: {points!r}, expected clips at numbers or pairs")
    if len(points) > MOST_POINTS:
        raise SettingError(f"points: {len(points)}, expected at most {MOST_POINTS}")
    for name, given in points.items():
        if not isinstance(name, str):
            raise SettingError(f"points: {name!r}, expected the name of a clip")
        try:
            spot = np.asarray(given, np.float64)
        except (TypeError, ValueError):
            spot = np.full(3, np.nan)
        if spot.shape not in ((), (1,), (2,)) or not (np.abs(spot) <= FARTHEST).all():
            raise SettingError(
                f"points[{name!r}]: {given!r}, expected a number or two, of at most "
                f"{FARTHEST:g}"
            )
    spots = [np.atleast_1d(np.asarray(p, np.float64)) for p in points.values()]
    if len({len(spot) for spot in spots}) > 1:
        raise SettingError("points: some are numbers and some are pairs")
    found, names = np.array(spots), list(points)
    _check_apart(names, found)
    if found.shape[1] == 1:
        order = np.argsort(found[:, 0], kind="stable")
        none = np.zeros((0, 3), np.int64), np.zeros((0, 2), np.int64)
        return BlendSpace(tuple(names[row] for row in order), found[order], *none)
    if len(found) < 3:
        raise SettingError(f"points: {len(found)} pairs, expected 3 or more")
    return BlendSpace(tuple(names), found, *_triangles(found))


def _check_apart(names: list[str], points: Doubles) -> None:
    """Refuse two clips at one point."""
    size = float(np.ptp(points, 0).max())
    for row in range(1, len(points)):
        away = np.abs(points[:row] - points[row]).max(1)
        near = int(away.argmin())
        if away[near] <= NEAREST * size:
            raise SettingError(
                f"points: {names[near]!r} and {names[row]!r} are at the same point"
            )


def _triangles(points: Doubles) -> tuple[Longs, Longs]:
    """Triangles (T, 3) of points (C, 2), no other point within the circle of each, and
    the edges (E, 2) of their hull.
    """
    from scipy.spatial import Delaunay, QhullError

    size = np.ptp(points, 0).max()
    try:
        # So that numbers of different kinds, such as metres and degrees, count alike.
        spread = np.maximum(np.ptp(points, 0), NEAREST * size)
        found = Delaunay((points - points.min(0)) / spread)
    except QhullError:
        raise SettingError(
            "points: all lie on one line; give one number for each clip"
        ) from None
    rows = found.simplices.astype(np.int64)
    a, b, c = (points[rows[:, corner]] for corner in range(3))
    rows = rows[np.abs(_cross(b - a, c - a)) > NEAREST * size * size]
    if not len(rows) or len(np.unique(rows)) < len(points):
        raise SettingError("points: too nearly on one line, or too near each other")
    sides = np.sort(np.concatenate([rows[:, [0, 1]], rows[:, [1, 2]], rows[:, [2, 0]]]))
    edges, times = np.unique(sides, axis=0, return_counts=True)
    return rows, edges[times == 1]


def _cross(a: Any, b: Any) -> Any:
    return a[..., 0] * b[..., 1] - a[..., 1] * b[..., 0]


def blend_weights(space: BlendSpace, values: ArrayLike, count: int) -> Doubles:
    """Weights (R, C) of the clips of a space; values: one for each of R, or for all."""
    wide = space.points.shape[1]
    shape = (count,) if wide == 1 else (count, 2)
    try:
        given = np.asarray(values, np.float64)
        if wide == 1 and given.shape == (1,):
            given = given[0]
        if wide == 2 and given.shape[-1:] != (2,):
            raise ValueError("one number is no pair")
        at = np.broadcast_to(given, shape)
    except (TypeError, ValueError):
        what = "a number" if wide == 1 else "two numbers"
        raise SettingError(
            f"value: {values!r}, expected {what}, or as many for each of {count}"
        ) from None
    if not np.isfinite(given).all():
        raise SettingError(f"value: {values!r}, expected finite numbers")
    out = np.zeros((count, len(space.clips)))
    if wide == 1:
        _along(space, at, out)
    else:
        _across(space, np.clip(at, -FARTHEST * 1e3, FARTHEST * 1e3), out)
    return out


def _along(space: BlendSpace, at: Doubles, out: Doubles) -> None:
    """Weights on a line."""
    points, every = space.points[:, 0], np.arange(len(at))
    if len(points) == 1:
        out[:] = 1
        return
    at = np.clip(at, points[0], points[-1])
    low = np.clip(np.searchsorted(points, at, "right") - 1, 0, len(points) - 2)
    share = (at - points[low]) / (points[low + 1] - points[low])
    out[every, low], out[every, low + 1] = 1 - share, share


def _across(space: BlendSpace, at: Doubles, out: Doubles) -> None:
    """Weights in a plane."""
    every = np.arange(len(at))
    a, b, c = (space.points[space.triangles[:, corner]] for corner in range(3))
    way = at[:, None] - a
    area = _cross(b - a, c - a)
    second, third = _cross(way, c - a) / area, _cross(b - a, way) / area
    shares = np.stack([1 - second - third, second, third], -1)  # (R, T, 3)
    best = shares.min(-1).argmax(1)
    own = shares[every, best]
    is_in = own.min(1) >= INSIDE
    own = np.maximum(own, 0)
    own /= own.sum(1, keepdims=True)
    rows = space.triangles[best]
    for corner in range(3):
        out[every[is_in], rows[is_in, corner]] = own[is_in, corner]
    if is_in.all():
        return
    # The nearest point of each edge, and of these the nearest.
    beside = at[~is_in]
    start, end = space.points[space.edges[:, 0]], space.points[space.edges[:, 1]]
    along, away = end - start, beside[:, None] - start
    share = np.clip((away * along).sum(-1) / (along * along).sum(-1), 0, 1)
    off = away - share[..., None] * along
    edge = (off * off).sum(-1).argmin(1)
    part = share[np.arange(len(edge)), edge]
    out[every[~is_in], space.edges[edge, 0]] = 1 - part
    out[every[~is_in], space.edges[edge, 1]] = part
