"""Things that stand on a stage: round ones, long ones such as walls, and polygons."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Literal, NoReturn, get_args

import numpy as np

from flexor.arrays import Doubles
from flexor.errors import SettingError, ShapeError
from flexor.maths import exact
from flexor.scene.checks import check_number, check_word
from flexor.scene.stage.fits import SMALLEST, Fit, Spot, circle_of, segment_of
from flexor.scene.stage.zone import FARTHEST, Zone

__all__ = ["Fit", "Mode", "Spot", "Structure", "circle_of"]

Mode = Literal["hide", "mesh", "lines", "fade"]

LARGEST = 1e4  # metres
ROUND = 16  # corners of a round structure, as a wall
SHAPES = (("middle", "radius"), ("ends", "thickness"))


@dataclass(frozen=True, slots=True, kw_only=True)
class Structure:
    """A thing of the stage that may stand in the way: round, long, or a polygon.

    middle, radius: (x, z) and metres, of a round one; or, of a long one, ends: (x, z)
    of both, and thickness: metres, the width of the circle at each end; or corners:
    (x, z) of each, in order, of a polygon, convex or not, that is drawn and is a wall
    as it is. What stands for a polygon where it is asked whether it is in the way is
    found by its fit: the circle that is "inscribed" in it or "circumscribed" around it
    (middle and radius are then that circle's), or the "segment" along it (ends and
    thickness are that segment's). low, high: metres from where to where it reaches,
    above the ground under its middle, for drawing; one whose low is not above 0 is
    drawn down to the lowest ground under it; mode: how it is drawn while it obstructs;
    solid: whether characters cannot go through it; colour: linear.
    """

    name: str
    middle: Spot | None = None
    radius: float | None = None
    ends: tuple[Spot, Spot] | None = None
    thickness: float | None = None
    corners: tuple[Spot, ...] | None = None
    fit: Fit = "inscribed"
    low: float = 0.0
    high: float = 2.0
    mode: Mode = "hide"
    solid: bool = True
    colour: tuple[float, float, float] = (0.42, 0.4, 0.37)

    def __post_init__(self) -> None:
        if not isinstance(self.name, str) or not self.name:
            raise SettingError(f"name: {self.name!r}, expected a text")
        check_word(self.mode, get_args(Mode), self._place("mode"))
        check_word(self.fit, get_args(Fit), self._place("fit"))
        numbers: dict[str, Any] = {}
        if self.corners is not None:
            self._take_corners()
        given = tuple(
            name
            for name in ("middle", "radius", "ends", "thickness")
            if getattr(self, name) is not None
        )
        if given not in SHAPES:
            have = ", ".join(given) or "nothing"
            self._refuse(
                f"{have}, expected middle and radius, or ends and thickness, or corners"
            )
        if self.middle is not None:
            numbers["middle"] = _check_spot(self.middle, self._place("middle"))
        else:
            numbers["ends"] = self._check_ends()
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
        farthest = float(np.abs(self.footprint).max())
        if not farthest <= FARTHEST:
            self._refuse(
                f"{given[1]}: it reaches to {farthest:g} m, expected {FARTHEST:g} m or "
                "less along x and z"
            )

    @property
    def is_long(self) -> bool:
        """Whether it is a segment rather than a circle where it may be in the way."""
        return self.ends is not None

    @property
    def footprint(self) -> Doubles:
        """What it covers, as a wall has it: corners (n, 2), x and z, in order; around
        the circle of a round one.
        """
        if self.corners is not None:
            return np.array(self.corners)
        if self.ends is not None and self.thickness is not None:
            (ax, az), (bx, bz) = self.ends
            size = exact.hypot(bx - ax, bz - az)
            half = self.thickness / 2
            nx, nz = -(bz - az) / size * half, (bx - ax) / size * half
            sides = (ax + nx, az + nz), (ax - nx, az - nz), (bx - nx, bz - nz)
            return np.array([*sides, (bx + nx, bz + nz)])
        assert self.middle is not None
        assert self.radius is not None
        turn = 2 * math.pi / ROUND
        wide = self.radius / exact.cos(turn / 2)  # around what is drawn
        x, z = self.middle
        return np.array(
            [
                (x + wide * exact.cos(turn * side), z + wide * exact.sin(turn * side))
                for side in range(ROUND)
            ]
        )

    def _take_corners(self) -> None:
        """Check the corners, and find what stands for them, unless it is told."""
        put, name = object.__setattr__, self._place("corners")
        try:
            points = np.array(self.corners, np.float64)
            found = self._find_stand_in(points)
            Zone(points, "out")  # which refuses sides that cross
        except (SettingError, ShapeError, TypeError, ValueError) as error:
            text = str(error).removeprefix("points: ").removeprefix("corners: ")
            raise SettingError(f"{name}: {text}") from None
        put(self, "corners", tuple((x, z) for x, z in points.tolist()))
        if all(getattr(self, word) is None for word in SHAPES[0] + SHAPES[1]):
            for word, value in found.items():
                put(self, word, value)

    def _find_stand_in(self, points: Doubles) -> dict[str, Any]:
        """A segment or a circle, by fit; what is not long has no segment."""
        segment = segment_of(points) if self.fit == "segment" else None
        if segment is not None:
            return dict(zip(SHAPES[1], segment, strict=True))
        outer = self.fit == "circumscribed"
        middle, radius = circle_of(points, "circumscribed" if outer else "inscribed")
        if not SMALLEST <= radius <= LARGEST:
            least, most = f"{SMALLEST:g}", f"{LARGEST:g}"
            raise SettingError(f"a circle of {radius}, expected {least} to {most}")
        return dict(zip(SHAPES[0], (middle, radius), strict=True))

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
