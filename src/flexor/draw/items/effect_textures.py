"""Pictures for effects, made by code: splashes of water and sand, leaves, snow.

Those of marks that feet leave are in `mark_textures`.

All are uint8 (H, W, 4), sRGB with straight alpha. Atlases are tiles in rows, the first
at the upper left; `tile_corners` gives where in an atlas each tile is.
"""

from __future__ import annotations

import math
from functools import cache
from typing import Literal, get_args

import numpy as np

from flexor.arrays import Doubles, Floats, Pixels
from flexor.errors import SettingError

__all__ = [
    "LEAF_TILES",
    "SPLASH_TILES",
    "Stuff",
    "leaf_atlas",
    "snow_flake",
    "splash_atlas",
    "tile_corners",
]

Stuff = Literal["water", "sand"]
SPLASH_TILES = (8, 4)  # columns, rows: 32 patterns
LEAF_TILES = (4, 2)
TIPS = (0.0, 0.98, -0.98, 1.95, -1.95)  # radians, of the lobes of a maple leaf
FINE = 3  # leaves are drawn so many times as large, and reduced
# sRGB: lit and dark, for each kind.
COLOURS = {
    "water": ((246, 251, 255), (150, 190, 214)),
    "sand": ((252, 230, 184), (134, 100, 60)),
}
# Leaves: yellow, orange, red, brown; then again, each browner or greener.
LEAF_COLOURS = (
    (224, 170, 44),
    (206, 104, 32),
    (168, 46, 30),
    (132, 88, 46),
    (186, 150, 60),
    (226, 138, 40),
    (188, 74, 38),
    (126, 134, 54),
)


def _check_side(side: int, name: str) -> None:
    if type(side) is not int or not 8 <= side <= 512:
        raise SettingError(f"{name}: {side!r}, expected 8 to 512 pixels")


def _grid(side: int) -> tuple[Doubles, Doubles]:
    """X and y (side, side) of pixels, -1 to 1, y up."""
    middle = (np.arange(side) + 0.5) / side * 2 - 1
    return np.broadcast_to(middle, (side, side)), np.broadcast_to(
        -middle[:, None], (side, side)
    )


def _pack(colour: Doubles, alpha: Doubles) -> Pixels:
    whole = np.concatenate([colour, 255 * np.clip(alpha, 0, 1)[..., None]], -1)
    pixels: Pixels = np.rint(np.clip(whole, 0, 255)).astype(np.uint8)
    return pixels


def _join(tiles: list[Pixels], columns: int) -> Pixels:
    rows = [
        np.concatenate(tiles[first : first + columns], 1)
        for first in range(0, len(tiles), columns)
    ]
    whole = np.ascontiguousarray(np.concatenate(rows, 0))
    whole.flags.writeable = False
    return whole


def tile_corners(columns: int, rows: int, margin: float = 0.0) -> Floats:
    """Texture coordinates (T, 4, 2) of the tiles of an atlas.

    Corners are in the order of quads of effects: lower left, lower right, upper right,
    upper left; margin: part of a tile that is left out all round.
    """
    for value, name in ((columns, "columns"), (rows, "rows")):
        if type(value) is not int or value < 1:
            raise SettingError(f"{name}: {value!r}, expected 1 or above")
    if not 0 <= margin < 0.5:
        raise SettingError(f"margin: {margin!r}, expected 0 to below 0.5")
    v, u = np.divmod(np.arange(columns * rows), columns)
    low, high = margin, 1 - margin
    inner = np.array([(low, high), (high, high), (high, low), (low, low)])
    whole = (np.stack([u, v], -1)[:, None] + inner) / (columns, rows)
    corners: Floats = whole.astype(np.float32)
    return corners


@cache
def splash_atlas(stuff: Stuff = "water", side: int = 64) -> Pixels:
    """32 patterns of a splash that rises, spreads and falls apart, 8 x 4 tiles.

    Drops of water fly in arcs and glitter; sand is finer, and dust stays behind.
    """
    if stuff not in get_args(Stuff):
        raise SettingError(f"stuff: {stuff!r}, expected one of {get_args(Stuff)}")
    _check_side(side, "side")
    columns, rows = SPLASH_TILES
    count = columns * rows
    tiles = [_splash(stuff, (n + 0.5) / count, side) for n in range(count)]
    return _join(tiles, columns)


def _splash(stuff: Stuff, time: float, side: int) -> Pixels:
    """A moment of a splash, time 0 to 1."""
    is_water = stuff == "water"
    rng = np.random.default_rng(11 if is_water else 12)
    x, y = _grid(side)
    drops = 15 if is_water else 80
    # From straight up, more there than below; evenly, so that no side is empty.
    even = (rng.permutation(drops) + rng.random(drops)) / drops * 2 - 1
    angle = 2.7 * np.sign(even) * np.abs(even) ** 1.35
    speed = 1 - rng.random(drops) ** 0.6 * 0.92
    late = rng.uniform(0, 0.1, drops)
    if is_water:
        size = 0.035 + 0.075 * rng.random(drops) ** 3
    else:
        size = 0.022 + 0.055 * rng.random(drops) ** 3
    # From the middle outward, ever slower, and down at last; most of that is to come of
    # what shows it, which grows.
    t = np.clip((time - late) / (1 - late), 0, 1)
    out, faster = 1 - 0.5 * (1 - t) ** 3, 1.5 * (1 - t) ** 2
    px = 0.88 * np.sin(angle) * speed * out
    py = -0.06 * (1 + t) + 0.9 * np.cos(angle) * speed * out - 0.3 * t * t
    way = np.stack(
        [np.sin(angle) * speed * faster, np.cos(angle) * speed * faster - 0.8 * t], -1
    )
    pace = np.linalg.norm(way, axis=1) + 1e-9
    way /= pace[:, None]
    lit, dark = (np.array(colour, np.float64) for colour in COLOURS[stuff])
    cover, shine = np.zeros((side, side)), np.zeros((side, side))
    fade = np.clip((1 - t) / 0.45, 0, 1) * (t > 0) * np.clip(t / 0.08, 0, 1)
    shrink = 1 - 0.6 * t
    for n in np.flatnonzero(fade > 0):
        # Fast drops are drawn out along their way.
        long = 1 + (0.3 if is_water else 0.2) * min(pace[n], 1.6)
        radius = size[n] * shrink[n]
        near = _window(px[n], py[n], 1.2 * radius * long, side)
        dx, dy = x[near] - px[n], y[near] - py[n]
        along = dx * way[n, 0] + dy * way[n, 1]
        across = dx * way[n, 1] - dy * way[n, 0]
        away = np.sqrt((along / long) ** 2 + across**2) / radius
        own = np.clip((1.15 - away) / 0.5, 0, 1) * fade[n]
        light = np.clip(0.55 + 0.5 * (dy - 0.5 * dx) / radius, 0, 1)
        shine[near] += (light - shine[near]) * own
        cover[near] += own * (1 - cover[near])
    # What hangs together: a sheet of water at first, dust of sand to the end.
    mist, mist_light = _mist(is_water, time, x, y)
    total = cover + mist * (1 - cover)
    mix = np.where(total > 0, (shine * cover + mist_light * mist * (1 - cover)), 0)
    mix = np.divide(mix, total, out=np.full_like(mix, 0.6), where=total > 1e-6)
    colour = dark + (lit - dark) * np.clip(mix, 0, 1)[..., None]
    # Nothing at the edge, so that neighbours in the atlas do not show.
    edge = (1 - 1.5 / side - np.maximum(np.abs(x), np.abs(y))) / 0.1
    return _pack(colour, total * np.clip(edge, 0, 1) * (0.92 if is_water else 0.96))


def _window(x: float, y: float, reach: float, side: int) -> tuple[slice, slice]:
    """The pixels of a tile around a place."""
    rows, columns = (
        slice(
            max(math.floor((at - reach + 1) / 2 * side), 0),
            max(math.ceil((at + reach + 1) / 2 * side), 0),
        )
        for at in (-y, x)
    )
    return rows, columns


def _mist(
    is_water: bool, time: float, x: Doubles, y: Doubles
) -> tuple[Doubles, Doubles]:
    """Cover and light of a cloud of spray or dust."""
    rng = np.random.default_rng(21 if is_water else 22)
    puffs = 14 if is_water else 20
    angle = rng.normal(0, 1.2, puffs)
    reach = rng.uniform(0.05, 0.5, puffs)
    size = rng.uniform(0.18, 0.3, puffs) * (0.55 + (0.6 if is_water else 0.75) * time)
    eased = 1 - 0.5 * (1 - time) ** 2
    px = np.sin(angle) * reach * eased
    py = -0.12 + np.cos(angle) * reach * eased - (0.25 if is_water else 0.05) * time**2
    strength = min(time / 0.1, 1.0)
    if is_water:
        strength *= 0.36 * max(1 - time / 0.7, 0.0)
    else:
        strength *= 0.3 * (1 - time) ** 0.9
    cover, light = np.zeros_like(x), np.zeros_like(x)
    for n in range(puffs):
        square = ((x - px[n]) ** 2 + (y - py[n]) ** 2) / size[n] ** 2
        own = strength * np.exp(-2.2 * square)
        cover = cover + own * (1 - cover)
        light = np.maximum(light, own * (0.75 + 0.25 * (y - py[n]) / size[n]))
    cover = np.where(cover < 0.012, 0, cover)
    shade = np.divide(light, strength, out=np.zeros_like(x), where=cover > 0)
    return cover, 0.35 + 0.6 * np.clip(shade, 0, 1)


@cache
def leaf_atlas(side: int = 64) -> Pixels:
    """Eight leaves, 4 x 2 tiles: of beech, maple, oak and willow, in colours of autumn.

    Their stalks are at the lower edge.
    """
    _check_side(side, "side")
    columns, rows = LEAF_TILES
    tiles = [
        _leaf(
            number % columns, np.array(LEAF_COLOURS[number], np.float64), number, side
        )
        for number in range(columns * rows)
    ]
    return _join(tiles, columns)


def _outline(shape: int, along: Doubles) -> Doubles:
    """Half the breadth of a leaf at parts 0 to 1 of its length; less than 0 outside."""
    t = np.clip(along, 0, 1)
    inside = (along > 0) & (along < 1)
    if shape == 0:  # beech: an egg with small teeth
        wide = 0.47 * np.sin(np.pi * t**0.82) ** 0.85 + 0.012 * np.sin(46 * t)
    elif shape == 2:  # oak: round lobes
        lobes = np.abs(np.sin(np.pi * (4 * t**1.1 + 0.1))) ** 0.55
        wide = (0.15 + 0.3 * lobes) * np.sin(np.pi * (0.06 + 0.9 * t**1.25)) ** 0.7
    else:  # willow: long and narrow
        wide = 0.2 * np.sin(np.pi * t**0.8) ** 0.9
    return np.where(inside, wide, -1)


def _maple(x: Doubles, y: Doubles) -> Doubles:
    """How deep pixels are inside a leaf of five pointed lobes; negative outside."""
    px, py = x, y + 0.3
    angle, radius = np.arctan2(px, py), np.hypot(px, py)
    reach = (1.2, 1.08, 1.08, 0.68, 0.68)
    edge = np.full_like(x, 0.3)
    for tip, far in zip(TIPS, reach, strict=True):
        off = np.abs(angle - tip)
        spike = 0.3 + (far - 0.3) * np.clip(1 - off / 0.5, 0, 1) ** 1.25
        # Teeth on the sides of a lobe, none at its tip.
        spike += 0.085 * np.sin(21 * off) * np.clip(off / 0.12, 0, 1) * (off < 0.46)
        edge = np.maximum(edge, spike)
    return edge - radius


def _leaf(shape: int, colour: Doubles, seed: int, side: int) -> Pixels:
    x, y = _grid(side * FINE)
    bend = 0.06 * (-1) ** seed
    x = x - bend * (1 - y * y)  # no leaf is straight
    along = (y + 0.78) / 1.68
    if shape == 1:
        depth = _maple(x, y)
        angle, radius = np.arctan2(x, y + 0.3), np.hypot(x, y + 0.3)
        vein = np.min(
            [np.abs(np.sin(np.clip(angle - a, -1.5, 1.5))) * radius for a in TIPS], 0
        )
    else:
        depth = _outline(shape, along) - np.abs(x)
        # Side veins run from the middle rib toward the tip.
        run = (y - 0.9 * np.abs(x)) * (5.2 if shape != 3 else 8.0)
        side_vein = np.abs((run + 0.5) % 1 - 0.5) / 7 + 0.006
        vein = np.minimum(np.abs(x), side_vein)
    stalk = np.where((y < -0.5) & (y > -0.97), 0.03 - np.abs(x), -1)
    depth = np.maximum(depth, stalk)
    cover = np.clip(depth / 0.02 + 0.5, 0, 1)
    shade = 1.08 - 0.16 * np.exp(-np.maximum(depth, 0) / 0.06)  # a darker rim
    shade = shade + 0.05 * np.sign(x) - 0.2 * np.exp(-((vein / 0.018) ** 2))
    noise = _noise(side * FINE, seed)
    spots = np.clip((noise - 0.56) / 0.22, 0, 1)[..., None]
    brown = np.array((92.0, 58.0, 30.0))
    tint = colour * (0.88 + 0.24 * noise)[..., None]
    whole = (tint + (brown - tint) * 0.45 * spots) * shade[..., None]
    # Reduced; what is outside does not count toward the colour at the edge.
    weight = cover.reshape(side, FINE, side, FINE)
    alpha = weight.mean((1, 3))
    sums = (whole.reshape(side, FINE, side, FINE, 3) * weight[..., None]).sum((1, 3))
    total = weight.sum((1, 3))[..., None]
    mean = np.where(total > 0, sums / np.maximum(total, 1e-9), colour * 0.9)
    return _pack(mean, alpha)


def _noise(side: int, seed: int) -> Doubles:
    """Soft spots, (side, side), 0 to 1."""
    rng = np.random.default_rng(100 + seed)
    whole = np.zeros((side, side))
    for cells, part in ((5, 0.55), (11, 0.3), (23, 0.15)):
        points = rng.random((cells + 1, cells + 1))
        at = np.arange(side) / side * cells
        low = at.astype(int)
        t = at - low
        t = t * t * (3 - 2 * t)
        rows = points[low] + (points[low + 1] - points[low]) * t[:, None]
        whole += part * (rows[:, low] + (rows[:, low + 1] - rows[:, low]) * t[None, :])
    return whole


@cache
def snow_flake(side: int = 32) -> Pixels:
    """A soft white dot."""
    _check_side(side, "side")
    x, y = _grid(side)
    away = np.hypot(x, y)
    core = np.exp(-((away / 0.42) ** 2))
    alpha = core * np.clip((1 - away) / 0.25, 0, 1)
    tint = np.array((236.0, 243.0, 252.0)) + (19.0, 12.0, 3.0) * core[..., None]
    pixels = _pack(tint, alpha)
    pixels.flags.writeable = False
    return pixels
