"""What a ground looks like from above, painted by code: grass or stone, sand, water.

Where surfaces meet the border is smooth, though they are told cell by cell. Plain
ground and sand have squares of two shades, so that slopes are seen by them.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache
from typing import Literal, get_args

import numpy as np
from numpy.typing import NDArray

from flexor.arrays import Floats, Rows, freeze
from flexor.draw.drawlist import RGB
from flexor.errors import SettingError
from flexor.maths.colour import linear_from_srgb, srgb_from_linear
from flexor.scene.stage.ground import Ground
from flexor.scene.stage.layout import SURFACES

__all__ = [
    "BAND_ROWS",
    "COLOURS",
    "GroundPicture",
    "Plain",
    "levels_of",
    "paint_ground",
    "values_between",
]

Plain = Literal["grass", "stone"]
Chance = np.random.Generator
# Linear colours by surface, of even and odd squares.
COLOURS: dict[str, tuple[RGB, RGB]] = {
    "grass": ((0.115, 0.235, 0.075), (0.135, 0.27, 0.085)),
    "stone": ((0.27, 0.26, 0.25), (0.31, 0.3, 0.285)),
    "sand": ((0.56, 0.44, 0.26), (0.6, 0.475, 0.285)),
    "water": ((0.05, 0.16, 0.24), (0.055, 0.175, 0.26)),
    "floor": ((0.21, 0.2, 0.15), (0.23, 0.22, 0.165)),
}
# By surface: how much light and dark grains differ, and how large they are, metres.
GRAINS: dict[str, tuple[tuple[float, float], ...]] = {
    "grass": ((0.16, 0.03), (0.14, 0.4)),
    "stone": ((0.05, 0.02), (0.08, 0.5)),
    "sand": ((0.07, 0.02), (0.08, 0.3)),
    "water": ((0.14, 0.3), (0.1, 0.9)),
    "floor": ((0.2, 0.06), (0.1, 0.4)),
}
SQUARE = 0.5  # metres, of the squares
FINEST, MOST = 64.0, 2048  # pixels a metre, and of a side
ROUND = 0.45  # cells over which borders are rounded
SHARP = 10.0  # how sharp they are
WOBBLE = 0.07  # how far chance moves a border
STEPS = 1 << 15  # of light, whose levels are looked up
BAND_ROWS = 128  # of a picture, that are painted at a time
FOAM: RGB = (0.5, 0.62, 0.66)  # at the border of water


@dataclass(frozen=True, slots=True, eq=False)
class GroundPicture:
    """A ground from above.

    pixels: uint8 (H, W, 4), sRGB; light: float32 (H, W, 3), the same, linear; the
    first row is at the least z, the first column at the least x.
    """

    pixels: NDArray[np.uint8]
    light: Floats

    def __post_init__(self) -> None:
        shape = self.light.shape[:2]
        put = object.__setattr__
        put(self, "pixels", freeze(self.pixels, np.uint8, (*shape, 4), "pixels"))
        put(self, "light", freeze(self.light, np.float32, (*shape, 3), "light"))


def paint_ground(
    ground: Ground, plain: Plain = "grass", *, is_clear: bool = False, seed: int = 0
) -> GroundPicture:
    """Paint a ground; plain: what its plain cells look like; is_clear: water is drawn
    over it, so that its floor is seen; seed: of its grains.
    """
    if plain not in get_args(Plain):
        known = ", ".join(get_args(Plain))
        raise SettingError(f"plain: {plain!r}, expected one of {known}")
    rows, columns = ground.surfaces.shape
    longest = max(rows, columns) * ground.step
    fine = min(FINEST, MOST / longest)
    high, wide = (max(round(n * ground.step * fine), 4) for n in (rows, columns))
    chance = np.random.default_rng(seed)
    # Where pixels are, in cells.
    z = (np.arange(high, dtype=np.float32) + 0.5) * (rows / high)
    x = (np.arange(wide, dtype=np.float32) + 0.5) * (columns / wide)
    side = max(round(SQUARE / ground.step), 1)
    below = _Paint(plain, (high, wide), fine, chance)
    wobbles = _Noise((high, wide), 0.35 * fine, chance)
    over: list[tuple[_Paint, Floats]] = []
    for number, name in enumerate(SURFACES[1:], 1):
        is_it = ground.surfaces == number
        if is_it.any():
            look = "floor" if name == "water" and is_clear else name
            over.append((_Paint(look, (high, wide), fine, chance), _soft(is_it)))
    pixels = np.full((high, wide, 4), 255, np.uint8)
    light = np.empty((high, wide, 3), np.float32)
    # In bands: what is in between takes several times the room of a picture.
    for first in range(0, high, BAND_ROWS):
        band = slice(first, min(first + BAND_ROWS, high))
        odd = (z[band, None] // side + x // side) % 2
        own = below.colours(odd, band)
        wobble = WOBBLE * wobbles.values(band)
        for paint, soft in over:
            _lay_over(own, paint.colours(odd, band), soft, wobble, z[band], x, paint)
        light[band] = own
        pixels[band, :, :3] = levels_of(np.clip(own, 0, 1))
    return GroundPicture(pixels, light)


def _lay_over(
    light: Floats,
    own: Floats,
    soft: Floats,
    wobble: Floats,
    z: Floats,
    x: Floats,
    paint: _Paint,
) -> None:
    """Put a surface over light (H, W, 3) where its soft cells say."""
    share = values_between(soft, z - np.float32(0.5), x - np.float32(0.5))
    part = np.clip((share + wobble - 0.5) * SHARP + 0.5, 0, 1)[..., None]
    if paint.name == "water":
        rim = np.exp(-(((share + wobble - 0.56) / 0.05) ** 2))[..., None]
        own += 0.5 * rim * (np.array(FOAM, np.float32) - own)
    light += part * (own - light)


@cache
def _level_table() -> tuple[NDArray[np.uint8], Floats]:
    """The level at the begin of each of `STEPS` steps of light; and the most light that
    each level has.
    """
    begins = np.round(srgb_from_linear(np.arange(STEPS + 1) / STEPS)).astype(np.uint8)
    borders = linear_from_srgb(np.arange(256) + 0.5)
    most = borders.astype(np.float32)
    return begins, np.where(most > borders, np.nextafter(most, np.float32(0)), most)


def levels_of(light: Floats) -> NDArray[np.uint8]:
    """The nearest sRGB level of light, 0 to 1: looked up, as the curve takes seven
    times as long. No step has more than one border of levels, so it is exact.
    """
    begins, most = _level_table()
    levels: NDArray[np.uint8] = begins[(light * np.float32(STEPS)).astype(np.uint16)]
    levels += light > most[levels]
    return levels


def _soft(is_it: NDArray[np.bool_]) -> Floats:
    """How much of a surface is around each cell: float32 (R, C)."""
    from scipy import ndimage

    soft: Floats = ndimage.gaussian_filter(
        is_it.astype(np.float32), ROUND, mode="nearest"
    )
    return soft


class _Noise:
    """Smooth bumps of `size` pixels, about -1 to 1, on a picture of (H, W)."""

    def __init__(self, shape: tuple[int, int], size: float, chance: Chance) -> None:
        self._size, self._wide = max(size, 1.0), shape[1]
        cells = [int(n / self._size) + 3 for n in shape]
        self._grid = chance.uniform(-1, 1, cells).astype(np.float32)

    def values(self, band: slice) -> Floats:
        """Those of some rows of the picture: float32 (H, W)."""
        if self._size == 1.0:
            return self._grid[band, : self._wide]
        z, x = (np.arange(n) / self._size for n in (band.stop, self._wide))
        return values_between(self._grid, z[band], x)


class _Paint:
    """A surface everywhere on a picture of (H, W); fine: pixels a metre."""

    def __init__(
        self, name: str, shape: tuple[int, int], fine: float, chance: Chance
    ) -> None:
        self.name = name
        self._grains = [
            (amount, _Noise(shape, size * fine, chance))
            for amount, size in GRAINS[name]
        ]

    def colours(self, odd: Floats, band: slice) -> Floats:
        """Linear colours of some rows: float32 (H, W, 3)."""
        even, other = (np.array(one, np.float32) for one in COLOURS[self.name])
        light: Floats = even + odd[..., None] * (other - even)
        for amount, noise in self._grains:
            light *= (1 + amount * noise.values(band))[..., None]
        return light


def values_between(
    grid: Floats, z: NDArray[np.floating], x: NDArray[np.floating]
) -> Floats:
    """Values of a grid at places (z, x) in it, in cells, as float32 (H, W): straight
    between its points, and beyond them as at its edge.
    """
    # Along z first, where there are few columns.
    low, high, part = _neighbours(z, grid.shape[0])
    rows = grid[low] + part[:, None] * (grid[high] - grid[low])
    low, high, part = _neighbours(x, grid.shape[1])
    found: Floats = rows[:, low]
    found += part * (rows[:, high] - found)
    return found


def _neighbours(at: NDArray[np.floating], count: int) -> tuple[Rows, Rows, Floats]:
    """The points below and above places on a line of points, and how far from the one
    to the other they are: float32.
    """
    inside = np.clip(at, 0, count - 1)
    low = inside.astype(np.intp)
    return low, np.minimum(low + 1, count - 1), (inside - low).astype(np.float32)
