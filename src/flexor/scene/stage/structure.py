"""Things that stand on a stage: round ones, and long ones such as walls."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Literal, NoReturn, get_args

import numpy as np
from numpy.typing import ArrayLike

from flexor.arrays import Doubles
from flexor.errors import SettingError, ShapeError
from flexor.maths import exact
from flexor.scene.checks import check_number
from flexor.scene.stage.layout import FARTHEST

__all__ = ["Fit", "Mode", "Spot", "Structure", "circle_of"]

Spot = tuple[float, float]
Fit = Literal["inscribed", "circumscribed"]
Mode = Literal["hide", "mesh", "lines", "fade"]

SMALLEST, LARGEST = 1e-3, 1e4  # metres
MOST_CORNERS = 200
FINE = 1e-3  # part of an inscribed circle's radius that it may fall short
MOST_SQUARES, SOME_SQUARES = 20_000, 4000  # that are looked at, and at once


@dataclass(frozen=True, slots=True, kw_only=True)
class Structure:
    """A thing of the stage that may stand in the way; round or long.

    middle, radius: (x, z) and metres, of the circle that stands for it (`circle_of`);
    or, of a long one, ends: (x, z) of both, and thickness: metres, the width of the
    circle at each end. low, high: metres from where to where it reaches, above the
    ground under its middle, for drawing; one whose low is not above 0 is drawn down to
    the lowest ground under it; mode: how it is drawn while it obstructs; solid: whether
    characters cannot go through it; colour: linear.
    """

    name: str
    middle: Spot | None = None
    radius: float | None = None
    ends: tuple[Spot, Spot] | None = None
    thickness: float | None = None
    low: float = 0.0
    high: float = 2.0
    mode: Mode = "hide"
    solid: bool = True
    colour: tuple[float, float, float] = (0.42, 0.4, 0.37)

    def __post_init__(self) -> None:
        if not isinstance(self.name, str) or not self.name:
            raise SettingError(f"name: {self.name!r}, expected a text")
        if self.mode not in get_args(Mode):
            self._refuse(f"mode: {self.mode!r}, expected one of {get_args(Mode)}")
        numbers: dict[str, Any] = {}
        given = [
            name
            for name in ("middle", "radius", "ends", "thickness")
            if getattr(self, name) is not None
        ]
        if given == ["middle", "radius"]:
            numbers["middle"] = _check_spot(self.middle, self._place("middle"))
        elif given == ["ends", "thickness"]:
            numbers["ends"] = self._check_ends()
        else:
            have = ", ".join(given) or "nothing"
            self._refuse(f"{have}, expected middle and radius, or ends and thickness")
        for name in given[1:]:
            size = getattr(self, name)
            numbers[name] = check_number(size, self._place(name), SMALLEST, LARGEST)
        if not isinstance(self.solid, bool):
            self._refuse(f"solid: {self.solid!r}, expected True or False")
        numbers["colour"] = self._check_colour()
        for name in ("low", "high"):
            height = getattr(self, name)
            numbers[name] = check_number(height, self._place(name), -LARGEST, LARGEST)
        if numbers["low"] >= numbers["high"]:
            self._refuse(f"high: {self.high:g}, expected more than low, {self.low:g}")
        for name, value in numbers.items():
            object.__setattr__(self, name, value)

    @property
    def is_long(self) -> bool:
        """Whether it is a segment rather than a circle."""
        return self.ends is not None

    def _place(self, name: str) -> str:
        return f"structure {self.name!r}: {name}"

    def _refuse(self, text: str) -> NoReturn:
        raise SettingError(f"structure {self.name!r}: {text}")

    def _check_colour(self) -> tuple[float, float, float]:
        name = self._place("colour")
        try:
            red, green, blue = (check_number(v, name, 0, 10) for v in self.colour)
        except (TypeError, ValueError):
            raise SettingError(
                f"{name}: {self.colour!r}, expected three numbers"
            ) from None
        return red, green, blue

    def _check_ends(self) -> tuple[Spot, Spot]:
        name = self._place("ends")
        if not isinstance(self.ends, Sequence | np.ndarray) or len(self.ends) != 2:
            raise SettingError(f"{name}: {self.ends!r}, expected two places (x, z)")
        a, b = (_check_spot(end, name) for end in self.ends)
        if exact.hypot(b[0] - a[0], b[1] - a[1]) < SMALLEST:
            raise SettingError(
                f"{name}: {self.ends!r}, expected {SMALLEST:g} m or more between them; "
                "a round structure has middle and radius"
            )
        return a, b


def _check_spot(value: Any, name: str) -> Spot:
    try:
        x, z = (check_number(v, name, -FARTHEST, FARTHEST) for v in value)
    except SettingError:
        raise
    except (TypeError, ValueError):
        raise SettingError(f"{name}: {value!r}, expected x and z in metres") from None
    return x, z


def circle_of(points: ArrayLike, fit: Fit = "inscribed") -> tuple[Spot, float]:
    """Middle and radius of the circle that stands for a footprint.

    points: (n, 2), corners of a polygon in order, convex or not. inscribed: the largest
    circle in it, or one a thousandth smaller (a little more if it is very long);
    circumscribed: the smallest around it.
    """
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
        raise SettingError(f"fit: {fit!r}, expected one of {get_args(Fit)}")
    return (float(middle[0] + base[0]), float(middle[1] + base[1])), float(radius)


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
