"""How levels of detail are made, and what authors may say about each of them."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from types import MappingProxyType

from flexor.errors import SettingError

__all__ = ["INFLUENCES", "ROWS", "LevelChoice", "LevelSettings"]

ROWS = 720  # of the picture that heights and errors in pixels speak of
MOST_LEVELS = 16  # beyond the whole character
INFLUENCES = 8  # the most that a level may have a vertex


@dataclass(frozen=True, slots=True, kw_only=True)
class LevelChoice:
    """What an author says about one level; what is left out is found by measuring.

    name: what it is called; height: how tall in pixels the character is when the level
    takes over; keep, drop: patterns of node names, such as those of a shell, that must
    stay and that must go (keep wins where both match); triangles: how many it has at
    most; influences: the most a vertex, 1 to 8; carriers: who takes over the vertices
    of a dropped node, names of nodes by name (a node named there is dropped).
    """

    name: str = ""
    height: float | None = None
    keep: tuple[str, ...] = ()
    drop: tuple[str, ...] = ()
    triangles: int | None = None
    influences: int | None = None
    carriers: Mapping[str, str] = field(default_factory=dict)

    def __post_init__(self) -> None:
        put = object.__setattr__
        for name in ("keep", "drop"):
            patterns = getattr(self, name)
            if isinstance(patterns, str):
                raise SettingError(f"{name}: one text, expected several patterns")
            put(self, name, tuple(patterns))
        put(self, "carriers", MappingProxyType(dict(self.carriers)))
        if self.height is not None:
            _check_height(self.height)
        if self.triangles is not None and self.triangles < 0:
            raise SettingError(f"triangles: {self.triangles}, expected 0 or more")
        if self.influences is not None and not 1 <= self.influences <= INFLUENCES:
            raise SettingError(
                f"influences: {self.influences}, expected 1 to {INFLUENCES}"
            )
        for dropped, kept in self.carriers.items():
            if dropped == kept:
                raise SettingError(f"carriers: {dropped!r} cannot carry itself")


@dataclass(frozen=True, slots=True, kw_only=True)
class LevelSettings:
    """How levels are made.

    heights: how tall in pixels the character is, in a picture of 720 rows, when each
    further level takes over, falling; mean, worst: pixels that a level may be off
    there; choices: what authors say, one for each further level; without any there are
    as many as heights. A choice without a height takes the one of `heights` that stands
    in its place.
    """

    heights: tuple[float, ...] = (360.0, 160.0, 64.0)
    mean: float = 1.0
    worst: float = 3.0
    choices: tuple[LevelChoice, ...] = ()

    def __post_init__(self) -> None:
        put = object.__setattr__
        try:
            put(self, "heights", tuple(float(height) for height in self.heights))
        except (OverflowError, TypeError, ValueError):
            raise SettingError(f"heights: {self.heights!r}, expected numbers") from None
        put(self, "choices", tuple(self.choices))
        for name in ("mean", "worst"):
            value = getattr(self, name)
            if not 0 < value < math.inf:
                raise SettingError(f"{name}: {value}, expected pixels above 0")
        for height in self.heights:
            _check_height(height)
        self.levels()

    def levels(self) -> tuple[LevelChoice, ...]:
        """A choice with a height for each level beyond level 0."""
        if not self.choices:
            found = tuple(LevelChoice(height=height) for height in self.heights)
        else:
            found = tuple(
                choice if choice.height is not None else self._with_height(row)
                for row, choice in enumerate(self.choices)
            )
        if len(found) > MOST_LEVELS:
            raise SettingError(f"{len(found)} levels, expected {MOST_LEVELS} or less")
        heights = [choice.height or 0.0 for choice in found]
        for row in range(1, len(heights)):
            if heights[row] >= heights[row - 1]:
                raise SettingError(
                    f"heights: level {row + 1} takes over at {heights[row]:g} pixels, "
                    f"level {row} at {heights[row - 1]:g}; they must fall"
                )
        return found

    def _with_height(self, row: int) -> LevelChoice:
        if row >= len(self.heights):
            raise SettingError(
                f"choices: level {row + 1} has no height, and heights has "
                f"{len(self.heights)}"
            )
        return replace(self.choices[row], height=self.heights[row])


def _check_height(height: float) -> None:
    if not 0 < height < math.inf:
        raise SettingError(f"height: {height}, expected pixels above 0")
