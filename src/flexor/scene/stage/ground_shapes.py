"""Grounds made of shapes: hills, steps, pools and patches of sand."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from numbers import Integral
from typing import Any

import numpy as np

from flexor.arrays import Doubles
from flexor.errors import SettingError
from flexor.maths import exact
from flexor.scene.checks import check_kind, check_number
from flexor.scene.stage.ground import MOST_SIDE, Ground
from flexor.scene.stage.layout import FARTHEST, SURFACES

__all__ = ["Patch", "shape_ground"]

HIGHEST = 1000.0  # metres
STEEPEST = 100.0  # metres a metre
SHARPEST = 1e-9  # metres of an edge: below, there is none
MOST_POINTS = 100_000_000  # of a ground that all patches together may lie on
ROUGH_SIZES = (4.0, 2.0, 1.0)  # metres from bump to bump, each half as high


@dataclass(frozen=True, slots=True, kw_only=True)
class Patch:
    """A part of a ground that differs.

    area: x and z of two opposite corners of a rectangle; or middle and radius, of a
    circle; metres. height: what it is set to; rise: what is added to it; tilt: how much
    higher it gets a metre along x and along z, from its middle on; edge: metres around
    it over which it runs out, 0 for a sheer step; surface: what it is made of, "" as
    before; that has no edge.
    """

    area: tuple[float, float, float, float] | None = None
    middle: tuple[float, float] | None = None
    radius: float | None = None
    height: float | None = None
    rise: float = 0.0
    tilt: tuple[float, float] = (0.0, 0.0)
    edge: float = 0.0
    surface: str = ""

    def __post_init__(self) -> None:
        put = object.__setattr__
        for name, count in (("area", 4), ("middle", 2), ("tilt", 2)):
            value = getattr(self, name)
            if value is not None:
                most = STEEPEST if name == "tilt" else FARTHEST
                put(self, name, _numbers(value, count, name, most))
        if self.area is not None:
            if self.middle is not None or self.radius is not None:
                raise SettingError("area: expected area, or middle and radius, alone")
            a, b, c, d = self.area
            put(self, "area", (min(a, c), min(b, d), max(a, c), max(b, d)))
            if a == c or b == d:
                raise SettingError(f"area: {self.area}, expected corners apart")
        elif self.middle is None or self.radius is None:
            raise SettingError("area: missing, expected area, or middle and radius")
        else:
            check_number(self.radius, "radius", 0, FARTHEST, is_above=True)
        if self.height is not None:
            check_number(self.height, "height", -HIGHEST, HIGHEST)
        check_number(self.rise, "rise", -HIGHEST, HIGHEST)
        check_number(self.edge, "edge", 0, FARTHEST)
        if self.surface not in ("", *SURFACES):
            known = ", ".join(SURFACES)
            raise SettingError(f"surface: {self.surface!r}, expected one of {known}")

    def distance(self, x: Doubles, z: Doubles) -> Doubles:
        """Metres from places to the patch, 0 or less on it."""
        if self.area is not None:
            a, b, c, d = self.area
            across = np.maximum(a - x, x - c)
            along = np.maximum(b - z, z - d)
            outside = exact.hypot_each(np.maximum(across, 0), np.maximum(along, 0))
            inside = np.minimum(np.maximum(across, along), 0)
            away: Doubles = outside + inside
            return away
        mx, mz = self.centre
        return np.asarray(exact.hypot_each(x - mx, z - mz) - (self.radius or 0.0))

    @property
    def centre(self) -> tuple[float, float]:
        """X and z of its middle."""
        if self.area is not None:
            a, b, c, d = self.area
            return (a + c) / 2, (b + d) / 2
        assert self.middle is not None
        return self.middle


def _numbers(value: Any, count: int, name: str, most: float) -> tuple[float, ...]:
    try:
        given = tuple(value)
    except TypeError:
        given = ()
    if len(given) != count:
        raise SettingError(f"{name}: {value!r}, expected {count} numbers")
    return tuple(check_number(v, name, -most, most) for v in given)


def shape_ground(
    size: tuple[float, float] = (40.0, 40.0),
    step: float = 0.5,
    patches: Sequence[Patch] = (),
    *,
    rough: float = 0.0,
    seed: int = 0,
) -> Ground:
    """A ground around the origin, of patches that are laid on it in order.

    size: metres along x and z, of whole cells; step: metres of a cell; rough: metres
    that gentle bumps are high, at random by `seed`, before the patches.
    """
    wide, long = _numbers(size, 2, "size", FARTHEST)
    step = check_number(step, "step", 1e-3, FARTHEST)
    check_number(rough, "rough", 0, HIGHEST)
    if not isinstance(seed, Integral) or seed < 0:
        raise SettingError(f"seed: {seed!r}, expected a whole number from 0")
    columns, rows = round(wide / step), round(long / step)
    if not (1 <= columns <= MOST_SIDE and 1 <= rows <= MOST_SIDE):
        raise SettingError(
            f"size: {columns} by {rows} cells of {step:g} m, expected 1 to {MOST_SIDE}"
        )
    corner = -columns * step / 2, -rows * step / 2
    x = np.arange(columns + 1) * step + corner[0]
    z = np.arange(rows + 1)[:, None] * step + corner[1]
    windows = _windows(patches, x, z)
    heights = np.zeros((rows + 1, columns + 1))
    if rough:
        heights += _bumps(x, z, rough, int(seed))
    surfaces = np.zeros((rows, columns), np.uint8)
    for patch, (across, along) in zip(patches, windows, strict=True):
        _lay(patch, heights[along, across], x[across], z[along])
        if patch.surface:
            inner = x[across][:-1] + step / 2, z[along][:-1] + step / 2
            own = surfaces[along.start : along.stop - 1, across.start : across.stop - 1]
            own[patch.distance(*inner) <= 0] = SURFACES.index(patch.surface)
    return Ground(heights, corner, step, surfaces)


def _windows(
    patches: Sequence[Patch], x: Doubles, z: Doubles
) -> list[tuple[slice, slice]]:
    """The window of each patch; too many points are refused before any is laid."""
    windows = []
    points = 0
    for row, patch in enumerate(patches):
        check_kind(patch, Patch, f"patches[{row}]")
        across, along = _window(patch, x, z)
        points += (along.stop - along.start) * (across.stop - across.start)
        if points > MOST_POINTS:
            raise SettingError(
                f"patches: {points:,} points of the ground in {row + 1} patches, "
                f"expected {MOST_POINTS:,} or less: fewer or smaller patches, or a "
                "larger step"
            )
        windows.append((across, along))
    return windows


def _window(patch: Patch, x: Doubles, z: Doubles) -> tuple[slice, slice]:
    """The columns and rows of points that a patch may change, and one more around."""
    (mx, mz), radius = patch.centre, patch.radius or 0.0
    a, b, c, d = patch.area or (mx - radius, mz - radius, mx + radius, mz + radius)
    edge = patch.edge
    slices = []
    for line, low, high in ((x, a - edge, c + edge), (z[:, 0], b - edge, d + edge)):
        first, last = np.searchsorted(line, (low, high))
        slices.append(slice(max(int(first) - 1, 0), min(int(last) + 2, len(line))))
    return slices[0], slices[1]


def _lay(patch: Patch, heights: Doubles, x: Doubles, z: Doubles) -> None:
    """Change heights (R, C) at places x (C,), z (R, 1)."""
    away = patch.distance(x, z)
    # A little slack: points on its very rim are on it, however they are rounded.
    is_soft = patch.edge > SHARPEST
    share = np.clip(1 - away / patch.edge, 0, 1) if is_soft else away <= SHARPEST
    part = np.asarray(share, np.float64)
    part = part * part * (3 - 2 * part)
    base = heights if patch.height is None else patch.height
    mx, mz = patch.centre
    new = base + patch.rise + patch.tilt[0] * (x - mx) + patch.tilt[1] * (z - mz)
    heights += part * (new - heights)


def _bumps(x: Doubles, z: Doubles, high: float, seed: int) -> Doubles:
    """Waves of several lengths in directions at random: (R, C), within +-high."""
    chance = np.random.default_rng(seed)
    heights = np.zeros((len(z), len(x)))
    total = 0.0
    for number, length in enumerate(ROUGH_SIZES):
        amount = 0.5**number
        for _ in range(3):
            way, phase = chance.uniform(0, 2 * math.pi, 2)
            along = x * exact.cos(way) + z * exact.sin(way)
            heights += amount * exact.sin_each(2 * math.pi * along / length + phase)
            total += amount
    return np.asarray(heights * (high / total))
