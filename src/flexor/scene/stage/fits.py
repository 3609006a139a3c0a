"""What stands for a footprint where it is asked what is in the way: a circle, or a
segment with a circle at each end.
"""

from __future__ import annotations

from typing import Literal, get_args

import numpy as np
from numpy.typing import ArrayLike

from flexor.arrays import Doubles
from flexor.errors import SettingError, ShapeError
from flexor.maths import exact
from flexor.scene.stage.layout import FARTHEST

__all__ = ["SMALLEST", "Fit", "Spot", "circle_of", "segment_of"]

Spot = tuple[float, float]
Fit = Literal["inscribed", "circumscribed", "segment"]

SMALLEST = 1e-3  # metres
MOST_CORNERS = 200
FINE = 1e-3  # part of an inscribed circle's radius that it may fall short
MOST_SQUARES, SOME_SQUARES = 20_000, 4000  # that are looked at, and at once


def circle_of(points: ArrayLike, fit: Fit = "inscribed") -> tuple[Spot, float]:
    """Middle and radius of the circle that stands for a footprint.

    points: (n, 2), corners of a polygon in order, convex or not. inscribed: the largest
    circle in it, or one a thousandth smaller (a little more if it is very long);
    circumscribed: the smallest around it.
    """
    corners = _check_corners(points)
    base = corners.mean(0)
    corners -= base
    after = np.roll(corners, -1, 0)
    cross = corners[:, 0] * after[:, 1] - corners[:, 1] * after[:, 0]
    area = cross.sum() / 2
    if abs(area) < SMALLEST * SMALLEST:
        raise SettingError(f"points: an area of {abs(area):.3g} m^2, expected more")
    if fit == "inscribed":
        centroid = ((corners + after) * cross[:, None]).sum(0) / (6 * area)
        middle, radius = _find_inner(corners, after, centroid)
    elif fit == "circumscribed":
        middle, radius = _find_outer(corners)
    else:
        raise SettingError(f"fit: {fit!r}, expected one of {get_args(Fit)[:2]}")
    return (float(middle[0] + base[0]), float(middle[1] + base[1])), float(radius)


def segment_of(points: ArrayLike) -> tuple[tuple[Spot, Spot], float] | None:
    """Ends and thickness of the segment that stands for a long footprint: along the
    middle of the narrowest box around it, whose ends its circles touch. None if it is
    about as long as wide.

    points: (n, 2), corners of a polygon in order, convex or not.
    """
    corners = _check_corners(points)
    base = corners.mean(0)
    corners -= base
    ways = np.roll(corners, -1, 0) - corners
    sizes = exact.hypot_each(*ways.T)
    ways = ways[sizes > 0] / sizes[sizes > 0][:, None]
    along = (ways[:, None] * corners).sum(-1)
    across = ways[:, None, 0] * corners[:, 1] - ways[:, None, 1] * corners[:, 0]
    wide = across.max(1) - across.min(1)
    # Of all boxes along a side of it, also of one that is the long way across.
    long = along.max(1) - along.min(1)
    row = int(np.minimum(wide, long).argmin())
    (ux, uz), low, high = ways[row], along[row].min(), along[row].max()
    middle, thickness = (across[row].max() + across[row].min()) / 2, wide[row]
    if wide[row] > long[row]:
        (ux, uz), middle, thickness = (-uz, ux), -(low + high) / 2, long[row]
        low, high = across[row].min(), across[row].max()
    low, high = low + thickness / 2, high - thickness / 2
    if not (high - low >= SMALLEST and thickness >= SMALLEST):
        return None
    first, last = (
        (
            float(base[0] + end * ux - middle * uz),
            float(base[1] + end * uz + middle * ux),
        )
        for end in (low, high)
    )
    return (first, last), float(thickness)


def _check_corners(points: ArrayLike) -> Doubles:
    """Corners (n, 2), as numbers of their own."""
    try:
        corners = np.array(points, np.float64)
    except (TypeError, ValueError) as error:
        raise ShapeError(f"points: cannot be made numbers: {error}") from None
    if corners.ndim != 2 or corners.shape[1] != 2:
        raise ShapeError(f"points: shape {corners.shape}, expected (n, 2)")
    if not 3 <= len(corners) <= MOST_CORNERS:
        raise ShapeError(f"points: {len(corners)}, expected 3 to {MOST_CORNERS}")
    if not (np.abs(corners) <= FARTHEST).all():
        raise SettingError(f"points: expected numbers within {FARTHEST:g} m")
    return corners


def _depths(corners: Doubles, after: Doubles, at: Doubles) -> Doubles:
    """How deep places (n, 2) are inside a polygon; negative outside."""
    # Coordinate by coordinate: long sums of two numbers each would take most of it.
    (cx, cz), (wx, wz) = corners.T.copy(), (after - corners).T.copy()
    x, z = at[:, :1] - cx, at[:, 1:] - cz
    squares = np.maximum(wx * wx + wz * wz, 1e-30)
    foot = np.clip((x * wx + z * wz) / squares, 0, 1)
    off_x, off_z = x - foot * wx, z - foot * wz
    least = np.sqrt((off_x * off_x + off_z * off_z).min(1))
    is_crossed = (corners[:, 1] > at[:, 1:]) != (after[:, 1] > at[:, 1:])
    is_right = (x * wz - z * wx < 0) == (wz > 0)
    is_inside = (is_crossed & is_right).sum(1) % 2 == 1
    depths: Doubles = np.where(is_inside, least, -least)
    return depths


def _find_inner(
    corners: Doubles, after: Doubles, centroid: Doubles
) -> tuple[Doubles, float]:
    """The deepest place: squares that may hold a deeper one are cut in four.

    The centroid comes first, so that of many such places that in the middle is taken.
    """
    best = float(_depths(corners, after, centroid[None])[0])
    middle = centroid
    low, high = corners.min(0), corners.max(0)
    half = float((high - low).max()) / 2
    squares = (low + high)[None] / 2
    quarters = np.array([[-1, -1], [-1, 1], [1, -1], [1, 1]]) / 2
    fine = FINE
    while len(squares):
        depths = np.concatenate(
            [
                _depths(corners, after, squares[row : row + SOME_SQUARES])
                for row in range(0, len(squares), SOME_SQUARES)
            ]
        )
        deepest = int(depths.argmax())
        if depths[deepest] > best * (1 + 1e-9):
            best, middle = float(depths[deepest]), squares[deepest]
        reach = depths + half * np.sqrt(2)
        kept = reach > max(best, 0.0) * (1 + fine) + 1e-9
        while kept.sum() > MOST_SQUARES:  # very many are as good: all along its middle
            fine *= 2
            kept = reach > max(best, 0.0) * (1 + fine) + 1e-9
        squares = squares[kept]
        squares = (squares[:, None] + half * quarters).reshape(-1, 2)
        half /= 2
    return middle, best


def _find_outer(corners: Doubles) -> tuple[Doubles, float]:
    """The smallest circle around points: each that lies outside is on the next one."""
    slack = 1e-12 * float(np.abs(corners).max())
    # In no order, as going around would find a larger circle each time.
    corners = np.random.default_rng(0).permutation(corners)

    def is_out(point: Doubles, middle: Doubles, radius: float) -> bool:
        return bool(exact.hypot(*(point - middle)) > radius + slack)

    middle, radius = corners[0], 0.0
    for i, a in enumerate(corners):
        if not is_out(a, middle, radius):
            continue
        middle, radius = a, 0.0
        for j, b in enumerate(corners[:i]):
            if not is_out(b, middle, radius):
                continue
            middle, radius = (a + b) / 2, exact.hypot(*(a - b)) / 2
            for c in corners[:j]:
                if is_out(c, middle, radius):
                    middle, radius = _circle_through(a, b, c, middle, radius)
    return middle, radius


def _circle_through(
    a: Doubles, b: Doubles, c: Doubles, middle: Doubles, radius: float
) -> tuple[Doubles, float]:
    """The circle through three points; as it was if they are in a line."""
    p, q = b - a, c - a
    twice = 2 * (p[0] * q[1] - p[1] * q[0])
    if abs(twice) < 1e-12 * float(exact.multiply(p, p) + exact.multiply(q, q)):
        return middle, radius
    x = (q[1] * exact.multiply(p, p) - p[1] * exact.multiply(q, q)) / twice
    z = (p[0] * exact.multiply(q, q) - q[0] * exact.multiply(p, p)) / twice
    return a + np.array([x, z]), exact.hypot(x, z)
