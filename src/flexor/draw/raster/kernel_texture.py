"""Colours from textures: linear RGBA in 16 bits, all levels one after the other."""

from __future__ import annotations

import math

import numpy as np

from flexor.draw.raster import kernel_layout as at
from flexor.maths.kernel import inline
from flexor.maths.kernel_lanes import fma4, splat4, words4

F = np.float32
FULL = 1.0 / 65535.0


@inline
def half_log2(square):
    """log2 of the square root of a number above 0, to 0.005."""
    bits = np.float32(square).view(np.int32)
    whole = F((bits >> 23) - 127)
    rest = np.int32(bits & 0x7FFFFF | 0x3F800000).view(np.float32)
    return F(0.5) * (whole + (F(2) - rest * F(1 / 3)) * rest - F(5 / 3))


@inline
def wrapped(value, wrap):
    """A texture coordinate brought to 0 to 1."""
    if wrap == at.REPEAT:
        return value - F(math.floor(value))
    if wrap == at.MIRROR:
        return abs(value - F(2) * F(math.floor(value * F(0.5) + F(0.5))))
    return min(max(value, F(0)), F(1))


@inline
def neighbours(value, size, wrap):
    """The two texels around a coordinate (0 to 1), and the share of the second."""
    place = value * F(size) - F(0.5)
    below = math.floor(place)
    share = place - F(below)
    low = np.int64(below)
    high = low + 1
    if low < 0:
        low = size - 1 if wrap == at.REPEAT else 0
    if high >= size:
        high = 0 if wrap == at.REPEAT else size - 1
        low = min(low, size - 1)
    return low, high, share


@inline
def blend_four(texels, texture, level, u, v):
    """The colour between four texels of one level, 0 to 65535."""
    row = at.LEVEL_ROWS + 3 * level
    begin, width, height = texture[row], texture[row + 1], texture[row + 2]
    left, right, across = neighbours(u, width, texture[at.WRAP_S])
    top, bottom, down = neighbours(v, height, texture[at.WRAP_T])
    top, bottom = begin + top * width, begin + bottom * width
    a, b = words4(texels, 4 * (top + left)), words4(texels, 4 * (top + right))
    c, d = words4(texels, 4 * (bottom + left)), words4(texels, 4 * (bottom + right))
    sideways = splat4(across)
    upper, lower = fma4(b - a, sideways, a), fma4(d - c, sideways, c)
    return fma4(lower - upper, splat4(down), upper)


@inline
def nearest_one(texels, texture, u, v):
    """The texel of level 0 that a point lies in, 0 to 65535."""
    width, height = texture[at.LEVEL_ROWS + 1], texture[at.LEVEL_ROWS + 2]
    x = min(np.int64(u * F(width)), width - 1)
    y = min(np.int64(v * F(height)), height - 1)
    return words4(texels, 4 * (texture[at.LEVEL_ROWS] + y * width + x))


@inline
def look_up(texels, texture, u, v, detail):
    """The linear colour of a texture, RGBA 0 to 1.

    detail: level of detail, 0 for texels as large as pixels or larger, 1 for half.
    """
    u = wrapped(u, texture[at.WRAP_S])
    v = wrapped(v, texture[at.WRAP_T])
    last = texture[at.LEVELS] - 1
    if detail <= F(0) or last == 0:
        if texture[at.IS_NEAREST]:
            return nearest_one(texels, texture, u, v) * splat4(F(FULL))
        return blend_four(texels, texture, 0, u, v) * splat4(F(FULL))
    level = min(np.int64(detail), last)
    colour = blend_four(texels, texture, level, u, v)
    share = detail - F(level)
    if level < last and share > F(0):
        coarse = blend_four(texels, texture, level + 1, u, v)
        colour = fma4(coarse - colour, splat4(share), colour)
    return colour * splat4(F(FULL))
