"""Stone that structures are built of: courses of blocks, painted by code.

A texture whose mean is white times `TONE`, so that a structure keeps its colour, and
where it lies on each shape: by metres around and from its top down.
"""

from __future__ import annotations

from functools import cache

import numpy as np
from numpy.typing import NDArray

from flexor.arrays import Doubles, Floats
from flexor.draw.drawlist import DrawTexture
from flexor.maths.colour import srgb_from_linear

__all__ = [
    "BLOCKS",
    "FOOT",
    "TILE",
    "TONE",
    "paint_stone",
    "stone_colours",
    "stone_coords",
]

TILE = 1.6  # metres that the texture is wide and high
SIDE = 512  # pixels
COURSES, BLOCKS = 5, 3  # rows of blocks in it, and blocks in a row
JOINT, ROUNDED = 0.009, 0.02  # metres: of joints, and over which blocks round off
TONE = 0.75  # of the mean
DEEP = 0.5  # of a block's light that a joint has
FOOT = 0.72  # of its light that the foot of a structure has, which sees less sky


@cache
def paint_stone(seed: int = 3) -> DrawTexture:
    """The texture; it repeats."""
    chance = np.random.default_rng(seed)
    metre = SIDE / TILE
    y, x = (np.indices((SIDE, SIDE)) + 0.5) / metre
    # Joints waver a little.
    x = x + 0.006 * _noise(chance, 16) + 0.003 * _noise(chance, 64)
    y = y + 0.005 * _noise(chance, 16) + 0.003 * _noise(chance, 64)
    high, wide = TILE / COURSES, TILE / BLOCKS
    row = np.floor(y / high).astype(np.int64)
    begins = np.array([0.0, 0.5, 0.15, 0.62, 0.31])[row % COURSES]
    column = np.floor(x / wide + begins).astype(np.int64)
    across = (x / wide + begins - column) * wide
    down = y - row * high
    inside = np.minimum(
        np.minimum(across, wide - across), np.minimum(down, high - down)
    )
    tones = 1 + 0.13 * chance.uniform(-1, 1, (COURSES, BLOCKS))
    warm = 0.05 * chance.uniform(-1, 1, (COURSES, BLOCKS))
    own = row % COURSES, column % BLOCKS
    light = tones[own] * (1 + 0.07 * _noise(chance, 8) + 0.06 * _noise(chance, 32))
    light *= 1 + 0.05 * _noise(chance, 128) + 0.05 * _noise(chance, 512)
    edge = np.clip((inside - JOINT) / ROUNDED, 0, 1)
    # The upper edges of blocks catch light, the lower ones do not.
    rise = np.clip(1 - (down - JOINT) / ROUNDED, 0, 1) * (down > JOINT)
    fall = np.clip(1 - (high - JOINT - down) / ROUNDED, 0, 1)
    light *= 1 + 0.14 * rise - 0.16 * fall * (high - down > JOINT)
    light *= DEEP + (1 - DEEP) * np.sqrt(
        np.where(inside > JOINT, 0.55 + 0.45 * edge, 0)
    )
    tint = np.stack([1 + warm[own], np.ones(light.shape), 1 - warm[own]], -1)
    colours = light[..., None] * tint
    colours *= TONE / colours.mean((0, 1))
    pixels = np.full((SIDE, SIDE, 4), 255, np.uint8)
    pixels[..., :3] = srgb_from_linear(np.clip(colours, 0, 1)).round().astype(np.uint8)
    return DrawTexture(pixels)


def _noise(chance: np.random.Generator, cells: int) -> Doubles:
    """Smooth bumps that repeat, about -1 to 1: (SIDE, SIDE)."""
    grid = chance.uniform(-1, 1, (cells, cells))
    at = (np.arange(SIDE) + 0.5) * (cells / SIDE)
    low = np.floor(at).astype(np.intp)
    part = at - low
    part = part * part * (3 - 2 * part)
    after, low = (low + 1) % cells, low % cells
    rows = grid[low] + part[:, None] * (grid[after] - grid[low])
    found: Doubles = rows[:, low] + part * (rows[:, after] - rows[:, low])
    return found


def stone_coords(positions: Floats, normals: Floats, top: float) -> Floats:
    """Where the texture lies on flat faces: float32 (V, 2).

    On upright ones along them and from `top` down, metres; on level ones as seen from
    above.
    """
    along = np.stack([normals[:, 2], -normals[:, 0]], 1)
    size = np.hypot(*along.T)[:, None]
    along = np.where(size > 0.5, along / np.maximum(size, 1e-9), (1.0, 0.0))
    is_level = size[:, 0] <= 0.5
    u = (positions[:, [0, 2]] * along).sum(1)
    v = np.where(is_level, positions[:, 2], top - positions[:, 1])
    return (np.stack([u, v], 1) / TILE).astype(np.float32)


def stone_colours(positions: Floats) -> NDArray[np.float32]:
    """Light by height: less at the foot. float32 (V, 4)."""
    y = positions[:, 1]
    low, high = float(y.min()), float(y.max())
    light = FOOT + (1 - FOOT) * (y - low) / max(high - low, 1e-9)
    colours = np.ones((len(y), 4), np.float32)
    colours[:, :3] = light[:, None]
    return colours
