"""Colours for the slow twin of the rasteriser: sRGB, textures, lights. Float64."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from flexor.draw.drawlist import DrawTexture
from flexor.scene.character.light import Light

# The 8 x 8 ordered-dither matrix, 0 to 63: each 2 x 2 block of a matrix half the size
# becomes 4 m + (0, 2; 3, 1).
BAYER = np.zeros((1, 1), np.int64)
for _ in range(3):
    BAYER = np.block([[4 * BAYER, 4 * BAYER + 2], [4 * BAYER + 3, 4 * BAYER + 1]])


def decode(level: Any) -> Any:
    """Linear light 0 to 1 of sRGB bytes."""
    s = np.asarray(level, np.float64) / 255
    return np.where(s <= 0.04045, s / 12.92, ((s + 0.055) / 1.055) ** 2.4)


def encode(linear: Any) -> Any:
    """sRGB bytes of linear light, which is cut to 0 to 1."""
    c = np.clip(linear, 0, 1)
    s = np.where(c <= 0.0031308, c * 12.92, 1.055 * c ** (1 / 2.4) - 0.055)
    return np.floor(s * 255 + 0.5).astype(np.uint8)


def unit(vectors: Any) -> Any:
    """Vectors (..., 3) made unit; those of no length stay zero."""
    length = np.linalg.norm(vectors, axis=-1, keepdims=True)
    return np.where(length > 0, vectors / np.where(length > 0, length, 1), 0.0)


def levels_of(texture: DrawTexture) -> list[Any]:
    """The texture in linear light (h, w, 4), then each half as large, to 1 x 1."""
    pixels = texture.pixels.astype(np.float64)
    levels = [np.concatenate([decode(pixels[..., :3]), pixels[..., 3:] / 255], -1)]
    while levels[-1].shape[:2] != (1, 1):
        old = levels[-1]
        height, width = (max(1, n // 2) for n in old.shape[:2])
        new = np.empty((height, width, 4))
        for y in range(height):
            for x in range(width):
                block = old[2 * y : 2 * y + 2, 2 * x : 2 * x + 2]
                new[y, x] = block.reshape(-1, 4).mean(0)
        levels.append(new)
    return levels


def wrapped(index: Any, size: int, wrap: str) -> Any:
    """Which of `size` texels stands at any index."""
    index = index.astype(np.int64)
    if wrap == "clamp":
        return np.clip(index, 0, size - 1)
    if wrap == "repeat":
        return index % size
    index = index % (2 * size)
    return np.where(index < size, index, 2 * size - 1 - index)


def bilinear(level: Any, texcoords: Any, texture: DrawTexture) -> Any:
    """Colours (n, 4) between the four nearest texel centres."""
    height, width = level.shape[:2]
    x = texcoords[:, 0] * width - 0.5
    y = texcoords[:, 1] * height - 0.5
    left, top = np.floor(x), np.floor(y)
    result = np.zeros((len(x), 4))
    for dx, share_x in ((0, 1 - (x - left)), (1, x - left)):
        for dy, share_y in ((0, 1 - (y - top)), (1, y - top)):
            column = wrapped(left + dx, width, texture.wrap_s)
            row = wrapped(top + dy, height, texture.wrap_t)
            result += level[row, column] * (share_x * share_y)[:, None]
    return result


def nearest(level: Any, texcoords: Any, texture: DrawTexture) -> Any:
    """Colours (n, 4) of the texels that the coordinates are in."""
    height, width = level.shape[:2]
    column = wrapped(np.floor(texcoords[:, 0] * width), width, texture.wrap_s)
    row = wrapped(np.floor(texcoords[:, 1] * height), height, texture.wrap_t)
    return level[row, column]


def sample(
    texture: DrawTexture, levels: list[Any], texcoords: Any, across: Any, down: Any
) -> Any:
    """Colours (n, 4) at texcoords (n, 2).

    across, down: (n, 2), change of the coordinates from a pixel to the next one.
    """
    size = np.array(levels[0].shape[1::-1], np.float64)
    step = np.maximum(
        np.linalg.norm(across * size, axis=1), np.linalg.norm(down * size, axis=1)
    )
    is_large = step <= 1
    last = len(levels) - 1 if texture.has_mipmaps else 0
    detail = np.minimum(np.log2(np.maximum(step, 1.0)), last)
    result = np.empty((len(texcoords), 4))
    for number in range(len(levels)):
        rows = np.floor(detail) == number
        if not rows.any():
            continue
        fine = bilinear(levels[number], texcoords[rows], texture)
        coarse = bilinear(
            levels[min(number + 1, len(levels) - 1)], texcoords[rows], texture
        )
        # One level alone for most sizes, and a blend in the middle of the way.
        share = np.clip((detail[rows] - number)[:, None] * 2.5 - 0.75, 0, 1)
        result[rows] = fine * (1 - share) + coarse * share
    if texture.is_nearest:
        result[is_large] = nearest(levels[0], texcoords[is_large], texture)
    return result


def light_sum(
    lights: Sequence[Light], positions: Any, normals: Any, bands: int | None = None
) -> Any:
    """Light (n, 3) that reaches surfaces at positions (n, 3) with unit normals (n, 3).

    bands: how many steps the angle to a light has (cel shading); None for no steps.
    """

    def stepped(factor: Any) -> Any:
        factor = np.maximum(factor, 0)
        if bands is not None:
            factor = np.floor(factor * bands + 0.5) / bands
        return factor[:, None]

    total = np.zeros((len(positions), 3))
    for light in lights:
        colour = np.array(light.colour, np.float64)
        if light.kind == "ambient":
            ground = colour if light.ground is None else np.array(light.ground)
            share = (0.5 + 0.5 * normals[:, 1])[:, None]
            total += ground * (1 - share) + colour * share
        elif light.kind == "directional":
            way = unit(np.array(light.direction, np.float64))
            total += colour * stepped(-(normals @ way))
        else:
            to_light = np.array(light.position, np.float64) - positions
            distance = np.linalg.norm(to_light, axis=1)
            factor = np.einsum("ij,ij->i", unit(to_light), normals)
            fade = 1 + (distance / light.reach) ** 2
            total += colour * stepped(factor) / fade[:, None]
    return total
