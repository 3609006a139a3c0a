"""Which pixels of a tile a triangle is seen at, and how they are written.

Colours of a tile are linear, times alpha. An opaque pixel takes the place of what was
there; where a triangle has only some of its four samples, it adds its share.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from flexor.draw.raster import layout as at
from flexor.maths.kernels.ints import count_bits, equal8, match8, pack8, store_ints8
from flexor.maths.kernels.jit import inline, part
from flexor.maths.kernels.lanes import (
    fma4,
    load4,
    make4,
    max4,
    min4,
    pick4,
    put,
    splat4,
    store4,
    take,
)
from flexor.maths.kernels.numbers import float32, int32, int64

if TYPE_CHECKING:
    from flexor.arrays import Floats, Ints

F = float32

# For each set of samples (a bit each) their mean place from the pixel's centre, in
# 1/256 pixel, and their share of all four.
_SAMPLES = np.array(at.SAMPLES_AT, np.float32)
_SETS = [[s for s in range(4) if bits >> s & 1] for bits in range(16)]
MIDDLES = np.array(
    [
        [*(_SAMPLES[some].mean(0) if some else (0, 0)), len(some) / 4, 0]
        for some in _SETS
    ],
    np.float32,
).reshape(-1)


@inline
def spot_of(pixel: int) -> int:
    """Where a pixel of a tile is in planes of samples, whose rows are longer."""
    return pixel + (pixel >> at.TILE_BITS) * (at.STRIDE - at.TILE_W)


@inline
def put_colour(colours: Floats, to: int, colour: Any, weight: float) -> None:
    """Write an opaque pixel, or add the share of it that its samples are."""
    colour = min4(max4(colour, splat4(F(0))), splat4(F(1)))
    colour = make4(pick4(colour, 0), pick4(colour, 1), pick4(colour, 2), F(1))
    if weight < F(1):
        colour = fma4(colour, splat4(weight), load4(colours, to))
    store4(colours, to, colour)


@inline
def put_over(
    colours: Floats, split: Ints, pixel: int, colour: Any, bits: int, full: int
) -> None:
    """Lay a colour over a pixel, or over some of its samples.

    Where not all samples are covered, a pixel is split into four until all is drawn:
    so the triangles of a surface meet without a seam.
    """
    colour = min4(max4(colour, splat4(F(0))), splat4(F(1)))
    alpha = pick4(colour, 3)
    red, green, blue = pick4(colour, 0), pick4(colour, 1), pick4(colour, 2)
    colour = make4(red * alpha, green * alpha, blue * alpha, alpha)
    kept, to = splat4(F(1) - alpha), 4 * pixel
    if bits == full and take(split, pixel) == 0:
        store4(colours, to, fma4(load4(colours, to), kept, colour))
        return
    if take(split, pixel) == 0:
        put(split, pixel, int32(1))
        for sample in range(1, 4):
            store4(colours, to + sample * at.COPY, load4(colours, to))
    for sample in range(4):
        if bits >> sample & 1:
            i = to + sample * at.COPY
            store4(colours, i, fma4(load4(colours, i), kept, colour))


@part
def join_samples(split: Ints, colours: Floats) -> None:
    """Make one pixel again of those that were split."""
    for pixel in range(at.TILE_W * at.TILE_H):
        if take(split, pixel):
            put(split, pixel, int32(0))
            i = 4 * pixel
            total = load4(colours, i) + load4(colours, i + at.COPY)
            total = total + load4(colours, i + 2 * at.COPY)
            total = total + load4(colours, i + 3 * at.COPY)
            store4(colours, i, total * splat4(F(0.25)))


@inline
def put_pixel(
    spot: int,
    pixel: int,
    colour: Any,
    is_whole: bool,
    is_blend: bool,
    full: int,
    bits: Ints,
    split: Ints,
    colours: Floats,
) -> None:
    """Write a pixel that has been shaded. The bits of blended ones are cleared."""
    if is_blend:
        here = int64(take(bits, spot))
        put(bits, spot, int32(0))
        put_over(colours, split, pixel, colour, here, full)
        return
    weight = F(1)
    if not is_whole:
        weight = take(MIDDLES, 4 * int64(take(bits, spot)) + 2)
    put_colour(colours, 4 * pixel, colour, weight)


@inline
def list_pixels(
    ref: int,
    box: tuple[int, int, int, int],
    tile_x: int,
    tile_y: int,
    samples: int,
    is_blend: bool,
    marks: Ints,
    bits: Ints,
    rows: Ints,
    listed: Ints,
) -> tuple[int, bool]:
    """The pixels of a tile that a ref is seen at, into `listed`.

    Gives how many they are, and whether it has all samples of all of them. If there are
    four samples or if it is blended, `bits` tells which samples of each.
    """
    count, is_whole = int64(0), True
    for y in range(box[2], box[3] + 1):
        spot = (y - tile_y) * at.STRIDE - tile_x
        pixel = (y - tile_y) * at.TILE_W - tile_x
        for x in range(box[0], box[1] + 1, 8):
            lanes = 255 >> max(x + 7 - box[1], 0)
            if samples == 1 and not is_blend:
                seen = equal8(marks, spot + x, ref) & lanes
            else:
                if not is_blend:
                    both = match8(marks, spot + x, ref, 1)
                    both = both | match8(marks, spot + x + at.PLANE, ref, 2)
                    both = both | match8(marks, spot + x + 2 * at.PLANE, ref, 4)
                    both = both | match8(marks, spot + x + 3 * at.PLANE, ref, 8)
                    store_ints8(bits, spot + x, both)
                seen = ~equal8(bits, spot + x, 0) & lanes
                if samples > 1:
                    is_whole &= (~equal8(bits, spot + x, 15) & seen) == 0
            pack8(seen, pixel + x, listed, count)
            count += count_bits(seen)
        put(rows, 2 * (y - tile_y), min(
            take(rows, 2 * (y - tile_y)), int32(box[0] - tile_x)
        ))  # fmt: skip
        put(rows, 2 * (y - tile_y) + 1, max(
            take(rows, 2 * (y - tile_y) + 1), int32(box[1] + 1 - tile_x)
        ))  # fmt: skip
    return count, is_whole


@inline
def note_moves(first: int, count: int, listed: Ints, bits: Ints, work: Floats) -> None:
    """Where in their pixels the samples of eight listed pixels are."""
    for lane in range(8):
        pixel = int64(take(listed, first + min(lane, count - 1)))
        spot = spot_of(pixel)
        row = 4 * int64(take(bits, spot))
        put(work, at.MOVE_X + lane, take(MIDDLES, row))
        put(work, at.MOVE_Y + lane, take(MIDDLES, row + 1))
