"""Irregular zones: walls that keep characters inside of a polygon, or outside."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal, get_args

import numpy as np

from flexor.arrays import Doubles, freeze
from flexor.errors import SettingError
from flexor.maths import exact

__all__ = ["Keeps", "Zone"]

Keeps = Literal["in", "out"]

FARTHEST = 1e4  # metres, of corners
MOST_CORNERS = 2000
SHORTEST = 1e-5  # metres of a side, and between sides that do not meet


@dataclass(frozen=True, slots=True, eq=False)
class Zone:
    """A simple polygon of walls in the plane of x and z, convex or not.

    corners: float64 (V, 2), x and z of each, metres, either way around; keeps: "in",
    characters stay inside of it, or "out", they stay outside of it; name: for errors.
    Side n runs from corner n to the next.
    """

    corners: Doubles
    keeps: Keeps = "in"
    name: str = ""

    def __post_init__(self) -> None:
        corners = freeze(self.corners, np.float64, (None, 2), "corners")
        object.__setattr__(self, "corners", corners)
        if not isinstance(self.name, str):
            raise SettingError(f"name: {self.name!r}, expected a text")
        where = f"zone {self.name!r}: " if self.name else ""
        if self.keeps not in get_args(Keeps):
            raise SettingError(f"{where}keeps: {self.keeps!r}, expected 'in' or 'out'")
        if not 3 <= len(corners) <= MOST_CORNERS:
            raise SettingError(
                f"{where}{len(corners)} corners, expected 3 to {MOST_CORNERS}"
            )
        wrong = np.flatnonzero(~(np.abs(corners) <= FARTHEST).all(1))
        if len(wrong):
            raise SettingError(
                f"{where}corner {wrong[0]}: {corners[wrong[0]].tolist()}, expected "
                f"numbers of at most {FARTHEST:g} m"
            )
        _check_sides(corners, where)

    @property
    def area(self) -> float:
        """Square metres; negative if the corners go from +z toward +x."""
        return _area(self.corners)


def _area(corners: Doubles) -> float:
    x, z = (corners - corners[0]).T  # from a corner: far away nothing is lost
    return float((x * np.roll(z, -1) - np.roll(x, -1) * z).sum() / 2)


def _check_sides(corners: Doubles, where: str) -> None:
    """Refuse sides of no length, and those that meet where they should not."""
    count = len(corners)
    ends = np.roll(corners, -1, 0)
    ways = ends - corners
    sizes = exact.hypot_each(*ways.T)
    if sizes.min() < SHORTEST:
        row = int(sizes.argmin())
        fault = f"{where}side {row} is {sizes[row]:g} m long, expected more"
        if row == count - 1:
            fault += ": the last corner is not the first one again"
        raise SettingError(fault)
    # Where corners (rows) are beside the lines of sides (columns).
    away = corners[:, None] - corners[None]
    beside = (ways[:, 0] * away[..., 1] - ways[:, 1] * away[..., 0]) / sizes
    is_left, is_right = beside > 0, beside < 0
    parts = (is_left & np.roll(is_right, -1, 0)) | (is_right & np.roll(is_left, -1, 0))
    crossing = np.argwhere(parts & parts.T)
    if len(crossing):
        one, two = sorted(crossing[0].tolist())
        raise SettingError(f"{where}sides {one} and {two} cross, expected none to")
    if abs(_area(corners)) < SHORTEST * sizes.max():
        raise SettingError(f"{where}no area, expected corners that are not in a line")
    along = np.clip((away * (ways / sizes[:, None])).sum(-1), 0, sizes)
    nearest = np.abs(away - along[..., None] * (ways / sizes[:, None]))
    distance = exact.hypot_each(nearest[..., 0], nearest[..., 1])
    rows = np.arange(count)
    distance[rows, rows] = distance[(rows + 1) % count, rows] = np.inf
    corner, side = divmod(int(distance.argmin()), count)
    if distance[corner, side] < SHORTEST:
        # The side that has this corner and does not have one of the other's.
        before = (corner - 1) % count
        own = before if corner == (side - 1) % count else corner
        one, two = sorted((own, side))
        raise SettingError(
            f"{where}sides {one} and {two} touch at corner {corner}, expected none to"
        )
