"""Which samples of a tile a triangle covers, eight pixels at a time.

Edges are whole numbers: each is the exact side of a sample, divided by 256 and rounded
down, which does not change its sign. So a sample on a shared edge goes to exactly one
triangle. A number that does not fit 32 bits is cut off: its sign is the same all over
the tile then.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from flexor.draw.raster import layout as at
from flexor.draw.raster.kernels.refs import Corners, Spots
from flexor.maths.kernels.ints import (
    load_ints8,
    mark8,
    nearer8,
    ramp_ints8,
    splat_ints8,
)
from flexor.maths.kernels.jit import inline
from flexor.maths.kernels.lanes import max8, min8, ramp8, splat8
from flexor.maths.kernels.numbers import float32, int64

if TYPE_CHECKING:
    from flexor.arrays import Floats, Ints

F = float32
(X0, Y0), (X1, Y1), (X2, Y2), (X3, Y3) = at.SAMPLES_AT


@inline
def sample_offset(sample: int, samples: int) -> tuple[int, int]:
    """Where a sample lies from its pixel's centre, in 1/256 pixel."""
    if samples == 1:
        return 0, 0
    if sample == 0:
        return X0, Y0
    if sample == 1:
        return X1, Y1
    if sample == 2:
        return X2, Y2
    return X3, Y3


@inline
def side(x0: int, y0: int, x1: int, y1: int, x: int, y: int) -> int:
    """On which side of an edge a sample is: 0 or more is inside, top-left rule."""
    dx, dy = x1 - x0, y1 - y0
    value = dx * (y - y0) - dy * (x - x0)
    if not (dy < 0 or (dy == 0 and dx > 0)):
        value -= 1
    return min(max(value >> 8, -at.EDGE_BOUND), at.EDGE_BOUND)


@inline
def box_of(
    spots: Spots, left: int, top: int, right: int, bottom: int, spread: int
) -> tuple[int, int, int, int]:
    """The pixels of a tile that samples of a triangle can be in: first and last column
    and row; spread: how far samples lie from a pixel's centre, in 1/256 pixel.
    """
    x0, y0, x1, y1, x2, y2 = spots
    return (
        max((min(x0, min(x1, x2)) + 127 - spread) >> 8, left),
        min((max(x0, max(x1, x2)) - 128 + spread) >> 8, right - 1),
        max((min(y0, min(y1, y2)) + 127 - spread) >> 8, top),
        min((max(y0, max(y1, y2)) - 128 + spread) >> 8, bottom - 1),
    )


@inline
def clockwise(xs: Corners, ys: Corners, depths: Corners) -> tuple[Spots, Corners, int]:
    """Whole corners and depths in the order that `cover` wants: clockwise, y down."""
    x0, y0 = int64(xs[0]), int64(ys[0])
    x1, y1 = int64(xs[1]), int64(ys[1])
    x2, y2 = int64(xs[2]), int64(ys[2])
    area = (x1 - x0) * (y2 - y0) - (x2 - x0) * (y1 - y0)
    if area < 0:
        return (x0, y0, x2, y2, x1, y1), (depths[0], depths[2], depths[1]), -area
    return (x0, y0, x1, y1, x2, y2), depths, area


@inline
def slopes(spots: Spots, depths_of: Corners, area: int) -> tuple[float, float]:
    """How depth grows from pixel to pixel, to the right and downward."""
    x0, y0, x1, y1, x2, y2 = spots
    d0, d1, d2 = depths_of
    unit = F(at.SUB) / F(area)
    return (
        ((d1 - d0) * F(y2 - y0) - (d2 - d0) * F(y1 - y0)) * unit,
        ((d2 - d0) * F(x1 - x0) - (d1 - d0) * F(x2 - x0)) * unit,
    )


@inline
def cover(
    spots: Spots,
    depths_of: Corners,
    area: int,
    left: int,
    top: int,
    right: int,
    bottom: int,
    samples: int,
    pattern: int,
    patterns: Ints,
    ref: int,
    depths: Floats,
    marks: Ints,
    is_kept: bool,
) -> None:
    """Put a triangle into a tile.

    spots, depths_of, area: as `clockwise` gives them; left to bottom: the tile's first
    pixels and the pixels after its last; pattern: row of `patterns` that leaves pixels
    out, or -1. If is_kept, `ref` goes into `marks` wherever it is nearest, and its
    depth into `depths`; else a bit for each sample that is not hidden is set in
    `marks`, whose planes are one.
    """
    x0, y0, x1, y1, x2, y2 = spots
    d0, d1, d2 = depths_of
    slope_x, slope_y = slopes(spots, depths_of, area)
    # Slivers have steep planes; no sample is nearer or farther than the corners.
    least, most = splat8(min(d0, min(d1, d2))), splat8(max(d0, max(d1, d2)))
    across_a = ramp_ints8(0, y0 - y1)
    across_b = ramp_ints8(0, y1 - y2)
    across_c = ramp_ints8(0, y2 - y0)
    down_a, down_b = splat_ints8(x1 - x0), splat_ints8(x2 - x1)
    down_c = splat_ints8(x0 - x2)
    for sample in range(samples):
        move_x, move_y = sample_offset(sample, samples)
        spot = (
            x0 - move_x, y0 - move_y, x1 - move_x, y1 - move_y, x2 - move_x, y2 - move_y
        )  # fmt: skip
        first_x, last_x, first_y, last_y = box_of(spot, left, top, right, bottom, 0)
        if first_x > last_x or first_y > last_y:
            continue
        x, y = first_x * 256 + 128 + move_x, first_y * 256 + 128 + move_y
        row_a = splat_ints8(side(x0, y0, x1, y1, x, y)) + across_a
        row_b = splat_ints8(side(x1, y1, x2, y2, x, y)) + across_b
        row_c = splat_ints8(side(x2, y2, x0, y0, x, y)) + across_c
        depth = d0 + (slope_x * F(x - x0) + slope_y * F(y - y0)) * F(1 / 256)
        plane = sample * at.PLANE
        for line in range(first_y, last_y + 1):
            place = plane + (line - top) * at.STRIDE - left
            a, b, c = row_a, row_b, row_c
            depth_row = ramp8(depth, slope_x)
            column = first_x
            while True:
                inside = a | b | c
                if pattern >= 0:
                    where = (pattern * 8 + (line & 7)) * 16 + (column & 7)
                    inside = inside | load_ints8(patterns, where)
                near = min8(max8(depth_row, least), most)
                if is_kept:
                    nearer8(depths, marks, place + column, inside, near, ref)
                else:
                    # Nothing beyond the tile: who looks at the bits clears no more.
                    inside = inside | ramp_ints8(last_x - column, -1)
                    to = place + column - plane
                    mark8(depths, place + column, inside, near, 1 << sample, marks, to)
                column += 8
                if column > last_x:
                    break
                a = a + splat_ints8((y0 - y1) * 8)
                b = b + splat_ints8((y1 - y2) * 8)
                c = c + splat_ints8((y2 - y0) * 8)
                depth_row = depth_row + splat8(slope_x * F(8))
            row_a, row_b, row_c = row_a + down_a, row_b + down_b, row_c + down_c
            depth += slope_y
