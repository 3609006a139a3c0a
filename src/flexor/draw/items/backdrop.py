"""What is far away, painted by code: a sky with clouds, and hills or a city below it.

A backdrop is a picture on a cylinder around the viewer (see `DrawBackdrop`). The colour
of the sky is given; haze, clouds and what stands in the haze take theirs from it.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from flexor.arrays import Doubles, Floats
from flexor.draw.drawlist import RGB, DrawBackdrop
from flexor.draw.scene.textures import decode_image
from flexor.errors import AssetError
from flexor.maths.colour import linear_from_srgb, srgb_from_linear
from flexor.scene.character.material import Image

__all__ = ["Backdrop", "paint_backdrop", "read_backdrop"]

WIDE = 4096  # pixels once around
LOW, HIGH = -0.03, 0.8  # tangents of the lower and upper edge
FINE = WIDE / (2 * math.pi)  # rows for each 1 of tangent, as columns for each radian
MOST_BYTES = 1 << 28  # of a picture in a file
EVEN = 0.12  # part of a picture's height over which its edges become even
# Linear colours of the land far away, and how much of it is in the haze over it.
LANDS: dict[str, RGB] = {"hills": (0.17, 0.235, 0.11), "city": (0.26, 0.255, 0.245)}
MISTY = 0.36
# Clouds: how large, at which height they begin to be seen, and how much of the sky.
CLOUD, CLOUDS_FROM, CLEAR = 0.55, 0.03, 0.53


@dataclass(frozen=True, slots=True, eq=False)
class Backdrop:
    """A backdrop; haze: linear colour at the horizon, into which ground fades; land:
    linear colour of the ground far away, or None for the ground's own.
    """

    picture: DrawBackdrop
    haze: RGB
    land: RGB | None = None


@lru_cache(maxsize=4)
def paint_backdrop(
    name: Literal["hills", "city"], sky: tuple[int, int, int], seed: int = 0
) -> Backdrop:
    """Paint a backdrop; sky: sRGB, 0 to 255; seed: of its shapes.

    About half a second for one that was not painted before.
    """
    chance = np.random.default_rng(seed)
    blue: Doubles = linear_from_srgb(np.array(sky, np.float64))
    haze: Doubles = np.asarray(blue + 0.5 * (np.array([0.92, 0.94, 0.95]) - blue))
    rows = round((HIGH - LOW) * FINE)
    tangents: Doubles = np.asarray(HIGH - (np.arange(rows) + 0.5) / FINE)
    light = _sky(tangents, blue, haze)
    _add_clouds(light, tangents, haze, chance)
    around: Doubles = np.asarray((np.arange(WIDE) + 0.5) * (2 * math.pi / WIDE))
    # Low over the land haze has some of its colour.
    land = LANDS[name]
    mist: Doubles = np.asarray(haze + MISTY * (np.array(land) - haze))
    add = _add_hills if name == "hills" else _add_city
    add(light, tangents, around, (haze, mist), chance)
    # Below the horizon there is mist alone, as at the far edge of the ground.
    light[tangents < 0] = mist
    pixels = np.full((rows, WIDE, 4), 255, np.uint8)
    # Looked up: the curve itself takes ten times as long.
    table = srgb_from_linear(np.linspace(0, 1, 1 << 14)).round().astype(np.uint8)
    steps = np.clip(light, 0, 1) * np.float32((1 << 14) - 1) + np.float32(0.5)
    pixels[..., :3] = table[steps.astype(np.int32)]
    return Backdrop(DrawBackdrop(pixels, LOW, HIGH), _rgb(mist), land)


def _rgb(colour: NDArray[np.floating]) -> RGB:
    red, green, blue = colour.tolist()
    return red, green, blue


def _sky(tangents: Doubles, blue: Doubles, haze: Doubles) -> Floats:
    """From haze at the horizon to a deep blue: float32 (rows, WIDE, 3), linear."""
    deep = blue * np.array([0.42, 0.58, 0.86])
    share = np.clip(tangents / HIGH, 0, 1)[:, None] ** 0.65
    middle = blue * np.array([0.95, 1.0, 1.06])
    light = np.where(
        share < 0.5,
        haze + (middle - haze) * (2 * share),
        middle + (deep - middle) * (2 * share - 1),
    )
    return np.repeat(light[:, None].astype(np.float32), WIDE, 1)


def _add_clouds(
    light: Floats, tangents: Doubles, haze: Doubles, chance: np.random.Generator
) -> None:
    """Clouds in a layer overhead, so that they crowd toward the horizon; none in the
    first rows, as all columns meet above them.
    """
    # Clouds are soft: every other row and column are enough.
    high = int((tangents > CLOUDS_FROM).sum()) // 2 * 2
    t = tangents[:high].reshape(-1, 2).mean(1)[:, None].astype(np.float32)
    around = (np.arange(WIDE // 2) + 0.5) * (4 * math.pi / WIDE)
    away = 1 / (CLOUD * t)
    x = away * np.cos(around).astype(np.float32) + np.float32(64)
    z = away * np.sin(around).astype(np.float32) + np.float32(64)
    dense = np.zeros(x.shape, np.float32)
    grid = chance.uniform(0, 1, (128, 128)).astype(np.float32)
    for octave in range(5):
        size, weight = np.float32(2**octave), np.float32(0.5 ** (octave + 1))
        # Fine ones are lost far away, where they would only flicker.
        seen = np.clip(2.5 - size * away / np.float32(24), 0, 1)
        dense += weight * (0.5 + seen * (_bumps(grid, x * size, z * size) - 0.5))
    fade = np.clip((t - CLOUDS_FROM) / 0.06, 0, 1) * np.clip(
        (HIGH - t - 0.01) / 0.12, 0, 1
    )
    dense -= CLEAR * 0.97
    cover = np.clip(dense / 0.16, 0, 1)
    cover = cover * cover * (3 - 2 * cover) * fade
    shadow = np.clip(dense / 0.3, 0, 1)[..., None]
    bright = np.array([0.97, 0.965, 0.955], np.float32)
    dark = (haze * np.array([0.72, 0.75, 0.8])).astype(np.float32)
    own = bright + shadow * (dark - bright)
    own = np.repeat(np.repeat(own, 2, 0), 2, 1)
    share = np.repeat(np.repeat(0.88 * cover, 2, 0), 2, 1)[..., None]
    light[:high] += share * (own - light[:high])


def _bumps(grid: Floats, x: Floats, z: Floats) -> Floats:
    """Smooth noise, 0 to 1, at places in a grid that repeats."""
    i, j = np.floor(x), np.floor(z)
    u, v = x - i, z - j
    u, v = u * u * (3 - 2 * u), v * v * (3 - 2 * v)
    side = len(grid)
    i, j = i.astype(np.int32) % side, j.astype(np.int32) % side
    after, below = (i + 1) % side, (j + 1) % side
    top = grid[j, i] + u * (grid[j, after] - grid[j, i])
    low = grid[below, i] + u * (grid[below, after] - grid[below, i])
    mixed: Floats = top + v * (low - top)
    return mixed


def _waves(
    around: Doubles, first: int, count: int, chance: np.random.Generator
) -> Doubles:
    """Sums of waves that close after one turn, about -1 to 1; the finer the lower."""
    found = np.zeros(len(around))
    total = 0.0
    for number in range(count):
        turns = first * 2**number + int(chance.integers(0, first * 2**number))
        weight = 0.55**number
        found += weight * np.sin(turns * around + chance.uniform(0, 2 * math.pi))
        total += weight * weight
    return found / math.sqrt(2 * total)


def _lay(
    light: Floats,
    tangents: Doubles,
    tops: Doubles,
    colour: Callable[[slice], Floats],
    soft: float = 1.0,
) -> None:
    """Lay on what reaches up to `tops` (WIDE,), tangents; colour: of some rows."""
    first = max(int((HIGH - tops.max()) * FINE) - 2, 0)
    rows = slice(first, int((tangents > 0).sum()))
    cover = (tops - tangents[rows, None]) * (FINE / soft) + 0.5
    share = np.clip(cover, 0, 1).astype(np.float32)[..., None]
    light[rows] += share * (colour(rows) - light[rows])


def _hazy(
    colour: NDArray[np.floating], haze: Doubles, t: Doubles, part: float, foot: float
) -> Floats:
    """A colour (..., 3) in haze: `part` of it everywhere, more toward its foot."""
    more = part + (1 - part) * np.exp(-np.maximum(t, 0) / foot)
    hazy: Floats = (colour + (haze - colour) * more[..., None]).astype(np.float32)
    return hazy


def _add_hills(
    light: Floats,
    tangents: Doubles,
    around: Doubles,
    hazes: tuple[Doubles, Doubles],
    chance: np.random.Generator,
) -> None:
    """Mountains, hills before them, and woods before these; hazes: far and near."""
    haze, mist = hazes
    t = tangents[:, None]
    wide = _waves(around, 3, 3, chance)
    tops = 0.115 + 0.042 * wide + 0.055 * (0.55 - np.abs(_waves(around, 11, 5, chance)))
    rock, snow = np.array([0.13, 0.16, 0.215]), np.array([0.84, 0.87, 0.92])
    grid = chance.uniform(0, 1, (128, 128)).astype(np.float32)
    turn = (around * (64 / math.pi)).astype(np.float32)

    def mountains(rows: slice) -> Floats:
        depth = np.maximum(tops - t[rows], 0).astype(np.float32)
        # Ridges run down to one side and the other: each side has its own light.
        folds = np.abs(_bumps(grid, turn + 30 * depth, 26 * depth) - 0.5)
        folds += 0.6 * np.abs(_bumps(grid, 3 * turn - 70 * depth, 60 * depth) - 0.5)
        shade = 0.72 + 0.9 * folds
        line = 0.138 + 0.09 * (folds - 0.35)
        is_high = np.clip((t[rows] - line) / 0.006, 0, 1)
        own = rock + is_high[..., None] * (snow - rock)
        return _hazy(own * shade[..., None], haze, t[rows], 0.4, 0.06)

    _lay(light, tangents, tops, mountains)
    for part, height, swing, first, foot in (
        (0.34, 0.085, 0.034, 5, 0.035),
        (0.17, 0.05, 0.026, 7, 0.018),
    ):
        hill = height + swing * _waves(around, first, 5, chance)
        patch = _waves(around, 23, 6, chance)
        base = np.array([0.085, 0.15, 0.07])

        def green(
            rows: slice,
            hill: Doubles = hill,
            patch: Doubles = patch,
            base: Doubles = base,
            part: float = part,
            foot: float = foot,
        ) -> Floats:
            depth = hill - t[rows]
            shade = 1 + 0.18 * np.sin(260 * depth + 5 * patch) * patch
            return _hazy(base * shade[..., None], mist, t[rows], part, foot)

        _lay(light, tangents, hill, green)
    woods = 0.02 + 0.012 * _waves(around, 6, 4, chance)
    woods += _trees(around, 420, 0.02, chance) * (
        0.75 + 0.5 * _waves(around, 9, 3, chance)
    )
    dark = np.array([0.045, 0.085, 0.045])
    spots = 1 + 0.25 * _waves(around, 300, 3, chance)

    def leaves(rows: slice) -> Floats:
        own = np.broadcast_to(dark * spots[:, None], (*t[rows].shape[:1], WIDE, 3))
        return _hazy(own, mist, t[rows], 0.06, 0.006)

    _lay(light, tangents, woods, leaves, soft=1.6)


def _trees(
    around: Doubles, count: int, high: float, chance: np.random.Generator
) -> Doubles:
    """Tops of trees that stand side by side: (WIDE,), tangents, from 0 up."""
    tops = np.zeros(len(around))
    for _ in range(2):
        middles = (np.arange(count) + chance.uniform(0, 1, count)) / count
        heights = high * chance.uniform(0.35, 1, count)
        width = 1.1 / count * chance.uniform(0.7, 1.4, count)
        for middle, height, half in zip(middles, heights, width, strict=True):
            first, last = int((middle - half) * WIDE), int((middle + half) * WIDE) + 1
            columns = np.arange(first, last)
            off = np.abs((columns + 0.5) / WIDE - middle) / half
            own = height * np.clip(1 - off, 0, 1) ** 0.7
            np.maximum.at(tops, columns % WIDE, own)
    return tops


def _add_city(
    light: Floats,
    tangents: Doubles,
    around: Doubles,
    hazes: tuple[Doubles, Doubles],
    chance: np.random.Generator,
) -> None:
    """Towers, blocks before them, and roofs before these; hazes: far and near."""
    haze, mist = hazes
    t = tangents[:, None]
    for part, foot, low, high, widest, window in (
        (0.56, 0.08, 0.05, 0.25, 44, 5),
        (0.34, 0.05, 0.035, 0.15, 60, 7),
        (0.14, 0.018, 0.02, 0.06, 76, 9),
    ):
        is_near = part < 0.2
        tops, tone, inside = _houses(low, high, widest, is_near, chance)
        lit = chance.random((256, 512)) < 0.3

        def walls(
            rows: slice,
            tops: Doubles = tops,
            tone: Doubles = tone,
            inside: Doubles = inside,
            lit: NDArray[np.bool_] = lit,
            part: float = part,
            foot: float = foot,
            window: int = window,
            is_near: bool = is_near,
        ) -> Floats:
            y = ((tops - t[rows]) * FINE).astype(np.int64)
            x = np.arange(WIDE)
            is_pane = (x % window >= window // 2) & (y % window >= window // 2)
            is_pane &= (inside > 2) & (y > window)
            glow = lit[(y // window) % 256, (x // window) % 512]
            shade = np.where(is_pane, np.where(glow, 1.3, 0.72), 1.0)
            own = mist if is_near else haze
            return _hazy(tone * shade[..., None], own, t[rows], part, foot)

        _lay(light, tangents, tops, walls)


def _houses(
    low: float, high: float, widest: int, is_near: bool, chance: np.random.Generator
) -> tuple[Doubles, Doubles, Doubles]:
    """Houses side by side: tops (WIDE,), tangents; colours (WIDE, 3), linear; and how
    many columns each column is from its house's edge.
    """
    tops, inside = np.zeros(WIDE), np.zeros(WIDE)
    tone = np.zeros((WIDE, 3))
    column = 0
    while column < WIDE:
        wide = int(chance.integers(widest // 3, widest))
        if WIDE - column - wide < widest // 3:
            wide = WIDE - column
        rows = np.arange(column, column + wide)
        off = np.minimum(rows - column, column + wide - 1 - rows)
        height = low + (high - low) * chance.random() ** 2.2
        own = np.full(wide, height)
        if is_near:  # a gable
            own += 0.6 * np.minimum(off, wide / 2) / FINE
        elif chance.random() < 0.35:  # a narrower part on top
            own[off > wide // 4] += 0.25 * height
        tops[rows], inside[rows] = own, off
        base = (
            np.array([0.2, 0.185, 0.175])
            if not is_near
            else (
                np.array([[0.3, 0.13, 0.09], [0.3, 0.24, 0.17], [0.22, 0.2, 0.19]])[
                    int(chance.integers(3))
                ]
            )
        )
        tone[rows] = base * chance.uniform(0.7, 1.2)
        column += wide
    return tops, tone, inside


@lru_cache(maxsize=4)
def _read(path: Path, stamp: tuple[int, int]) -> Backdrop:
    try:
        data = path.read_bytes()
    except OSError as error:
        raise AssetError(path, "", f"cannot be read: {error.strerror}") from None
    pixels, findings = decode_image(Image(path.name, data, ""), str(path), WIDE)
    if findings:
        text = findings[0].text.removesuffix("; a checker stands in")
        raise AssetError(path, "", text)
    high, wide = pixels.shape[:2]
    columns = 1 << max(math.floor(math.log2(wide) + 0.5), 3)
    columns = min(columns, WIDE)
    rows = min(max(round(high * columns / wide), 2), WIDE)
    if (rows, columns) != (high, wide):
        from PIL import Image as Pillow

        picture = Pillow.fromarray(np.array(pixels[..., :3]))
        size = (columns, rows)
        small = np.asarray(picture.resize(size, Pillow.Resampling.BOX), np.uint8)
        pixels = np.full((rows, columns, 4), 255, np.uint8)
        pixels[..., :3] = small
    own = pixels.copy()
    own[..., 3] = 255
    # All columns meet above and below: there they are of one colour.
    part = max(round(EVEN * rows), 1)
    share = (np.arange(part) + 1)[::-1, None, None] / part
    for edge in (own[:part, :, :3], own[::-1][:part, :, :3]):
        mean = edge[0].mean(0)
        edge[:] = (edge + share * (mean - edge) + 0.5).astype(np.uint8)
    half = rows * math.pi / columns
    haze = linear_from_srgb(own[rows // 2, :, :3].astype(np.float64)).mean(0)
    return Backdrop(DrawBackdrop(own, -half, half), _rgb(haze))


def read_backdrop(path: str | Path) -> Backdrop:
    """A picture once around, as wide as 360 degrees; its middle row is the horizon.

    AssetError if it cannot be read, or is too large. What is wider than 4096 pixels is
    made smaller.
    """
    path = Path(path)
    if not path.is_file():  # to open a pipe would wait for ever
        raise AssetError(path, "", "is not a plain file, expected a picture")
    about = path.stat()
    if about.st_size > MOST_BYTES:
        text = f"has {about.st_size:,} bytes, expected {MOST_BYTES:,} or less"
        raise AssetError(path, "", text)
    return _read(path, (about.st_size, about.st_mtime_ns))
