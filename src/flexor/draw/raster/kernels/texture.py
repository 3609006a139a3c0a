"""Colours from textures: linear RGBA in 16 bits, all levels one after the other."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from flexor.draw.raster import layout as at
from flexor.maths.kernels.ints import (
    as_floats8,
    as_ints8,
    negative8,
    splat_ints8,
    store_ints8,
)
from flexor.maths.kernels.jit import inline
from flexor.maths.kernels.lanes import (
    floor8,
    fma4,
    fma8,
    max8,
    min8,
    splat4,
    splat8,
    spread4,
    store8,
    take,
    words4,
)
from flexor.maths.kernels.numbers import float32, int32, int64

if TYPE_CHECKING:
    from flexor.arrays import Floats, Ints, Longs, Words

F = float32
FULL = 1.0 / 65535.0
# Of two levels where they begin, width and height; share of the second; whether the
# nearest texel is wanted.
Levels = tuple[int, int, int, int, int, int, float, bool]


@inline
def half_log2(square: float) -> float:
    """log2 of the square root of a number above 0, to 0.005."""
    bits = np.float32(square).view(np.int32)
    whole = F((bits >> 23) - 127)
    rest = F(np.int32(bits & 0x7FFFFF | 0x3F800000).view(np.float32))
    return F(0.5) * (whole + (F(2) - rest * F(1 / 3)) * rest - F(5 / 3))


@inline
def levels_of(textures: Longs, texture: int, detail: float) -> Levels:
    """What to read for a level of detail (0: texels as large as pixels, 1: half).

    Gives for two levels where they begin, their width and height; then the share of the
    second, and whether the nearest texel is wanted.
    """
    row = texture * at.TEXTURE_INTS
    last = take(textures, row + at.LEVELS) - 1
    # Whatever a strange mesh makes of it, nothing outside the texture is read.
    level = max(min(int64(max(detail, F(0))), last), 0)
    # Between two levels, but only in the middle of the way: one look-up instead of two
    # for most pixels, and no step that could be seen.
    share = min(max((detail - F(level)) * F(2.5) - F(0.75), F(0)), F(1))
    is_nearest = take(textures, row + at.IS_NEAREST) != 0
    if level == last or detail <= F(0):
        share = F(0)
    if share == F(1):
        level, share = level + 1, F(0)
    fine = row + at.LEVEL_ROWS + 3 * level
    coarse = fine + 3 if share > F(0) else fine
    return (
        take(textures, fine), take(textures, fine + 1), take(textures, fine + 2),
        take(textures, coarse), take(textures, coarse + 1), take(textures, coarse + 2),
        share, is_nearest and detail <= F(0),
    )  # fmt: skip


@inline
def floor(value: float) -> float:
    """The whole number below; without the function call that math.floor would be."""
    whole = F(int32(value))
    return whole - F(1) if whole > value else whole


@inline
def wrapped(value: float, wrap: int) -> float:
    """A texture coordinate brought to 0 to 1."""
    if wrap == at.REPEAT:
        return value - floor(value)
    if wrap == at.MIRROR:
        return abs(value - F(2) * floor(value * F(0.5) + F(0.5)))
    return min(max(value, F(0)), F(1))


@inline
def neighbours(value: float, size: int, wrap: int) -> tuple[int, int, float]:
    """The two texels around a coordinate (0 to 1), and the share of the second."""
    place = value * F(size) + F(0.5)  # one more than it is, so that it is not negative
    high = min(max(int64(place), 0), size)
    share = place - F(high)
    low = high - 1
    is_repeat = wrap == at.REPEAT
    if low < 0:
        low = size - 1 if is_repeat else 0
    if high == size:
        high = 0 if is_repeat else size - 1
    return low, high, share


@inline
def blend_four(
    texels: Words,
    begin: int,
    width: int,
    height: int,
    wrap_s: int,
    wrap_t: int,
    u: float,
    v: float,
) -> Any:
    """The colour between four texels of one level, 0 to 65535."""
    left, right, across = neighbours(u, width, wrap_s)
    top, bottom, down = neighbours(v, height, wrap_t)
    top, bottom = begin + top * width, begin + bottom * width
    a, b = words4(texels, 4 * (top + left)), words4(texels, 4 * (top + right))
    c, d = words4(texels, 4 * (bottom + left)), words4(texels, 4 * (bottom + right))
    sideways = splat4(across)
    upper, lower = fma4(b - a, sideways, a), fma4(d - c, sideways, c)
    return fma4(lower - upper, splat4(down), upper)


@inline
def look_up(
    texels: Words, levels: Levels, wrap_s: int, wrap_t: int, u: float, v: float
) -> Any:
    """The linear colour of a texture, RGBA 0 to 1; levels: of `levels_of`."""
    u, v = wrapped(u, wrap_s), wrapped(v, wrap_t)
    begin, width, height, begin_2, width_2, height_2, share, is_nearest = levels
    if is_nearest:
        x = max(min(int64(u * F(width)), width - 1), 0)
        y = max(min(int64(v * F(height)), height - 1), 0)
        return words4(texels, 4 * (begin + y * width + x)) * splat4(F(FULL))
    colour = blend_four(texels, begin, width, height, wrap_s, wrap_t, u, v)
    if share > F(0):
        coarse = blend_four(texels, begin_2, width_2, height_2, wrap_s, wrap_t, u, v)
        colour = fma4(coarse - colour, splat4(share), colour)
    return colour * splat4(F(FULL))


@inline
def wrapped8(value: Any, wrap: int) -> Any:
    """Eight texture coordinates brought to 0 to 1."""
    if wrap == at.REPEAT:
        return value - floor8(value)
    if wrap == at.MIRROR:
        half = splat8(F(0.5))
        folded = value - splat8(F(2)) * floor8(fma8(value, half, half))
        return max8(folded, splat8(F(0)) - folded)
    return min8(max8(value, splat8(F(0))), splat8(F(1)))


@inline
def neighbours8(value: Any, size: int, wrap: int) -> tuple[Any, Any, Any]:
    """Eight times the two texels around a coordinate, and the share of the second."""
    place = fma8(value, splat8(F(size)), splat8(F(0.5)))
    # Whatever a strange mesh makes of it, nothing outside the texture is read.
    place = min8(max8(place, splat8(F(0))), splat8(F(size) + F(0.5)))
    high, end = as_ints8(place), splat_ints8(size)
    share = place - as_floats8(high)
    is_repeat = wrap == at.REPEAT
    before = splat_ints8(size - 1 if is_repeat else 0)
    after = splat_ints8(0 if is_repeat else size - 1)
    low = high - splat_ints8(1)
    low = negative8(low, before, low)
    return low, negative8(high - end, high, after), share


@inline
def _note8(
    u: Any,
    v: Any,
    begin: int,
    width: int,
    height: int,
    wrap_s: int,
    wrap_t: int,
    to: int,
    places: Ints,
    parts: Floats,
) -> None:
    """Where the texels of eight pixels are, and their shares; to: 0 or 1."""
    left, right, across = neighbours8(u, width, wrap_s)
    top, bottom, down = neighbours8(v, height, wrap_t)
    wide, first = splat_ints8(4 * width), splat_ints8(4 * begin)
    left, right = left * splat_ints8(4) + first, right * splat_ints8(4) + first
    top, bottom = top * wide, bottom * wide
    store_ints8(places, 32 * to, top + left)
    store_ints8(places, 32 * to + 8, top + right)
    store_ints8(places, 32 * to + 16, bottom + left)
    store_ints8(places, 32 * to + 24, bottom + right)
    store8(parts, at.PARTS + 16 * to, across)
    store8(parts, at.PARTS + 16 * to + 8, down)


@inline
def prepare8(
    u: Any,
    v: Any,
    levels: Levels,
    wrap_s: int,
    wrap_t: int,
    places: Ints,
    parts: Floats,
) -> None:
    """Note for eight pixels where their texels are; `texel_colour` reads them."""
    begin, width, height, begin_2, width_2, height_2, share, is_nearest = levels
    if is_nearest:
        none = splat8(F(0))
        x = max8(min8(u * splat8(F(width)), splat8(F(width - 1))), none)
        y = max8(min8(v * splat8(F(height)), splat8(F(height - 1))), none)
        place = as_ints8(y) * splat_ints8(width) + as_ints8(x)
        place = (place + splat_ints8(begin)) * splat_ints8(4)
        store_ints8(places, 0, place)
        return
    _note8(u, v, begin, width, height, wrap_s, wrap_t, 0, places, parts)
    if share > F(0):
        _note8(u, v, begin_2, width_2, height_2, wrap_s, wrap_t, 1, places, parts)


@inline
def _between(texels: Words, places: Ints, parts: Floats, to: int, lane: int) -> Any:
    """The colour between the four texels of one pixel, 0 to 65535."""
    i, j = 32 * to + lane, at.PARTS + 16 * to + lane
    a = words4(texels, int64(take(places, i)))
    b = words4(texels, int64(take(places, i + 8)))
    c = words4(texels, int64(take(places, i + 16)))
    d = words4(texels, int64(take(places, i + 24)))
    across = spread4(parts, j)
    upper, lower = fma4(b - a, across, a), fma4(d - c, across, c)
    return fma4(lower - upper, spread4(parts, j + 8), upper)


@inline
def texel_alpha(texels: Words, places: Ints, parts: Floats, lane: int) -> float:
    """Alpha, 0 to 65535, of one of the pixels that were prepared, of one level."""
    a = F(take(texels, int64(take(places, lane)) + 3))
    b = F(take(texels, int64(take(places, lane + 8)) + 3))
    c = F(take(texels, int64(take(places, lane + 16)) + 3))
    d = F(take(texels, int64(take(places, lane + 24)) + 3))
    across = take(parts, at.PARTS + lane)
    upper, lower = a + (b - a) * across, c + (d - c) * across
    return upper + (lower - upper) * take(parts, at.PARTS + 8 + lane)


@inline
def texel_colour(
    texels: Words, levels: Levels, places: Ints, parts: Floats, lane: int
) -> Any:
    """The linear colour, RGBA 0 to 65535, of one of the pixels that were prepared."""
    share, is_nearest = levels[6], levels[7]
    if is_nearest:
        colour = words4(texels, int64(take(places, lane)))
    else:
        colour = _between(texels, places, parts, 0, lane)
        if share > F(0):
            coarse = _between(texels, places, parts, 1, lane)
            colour = fma4(coarse - colour, splat4(share), colour)
    return colour
