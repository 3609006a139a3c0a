"""The backdrop: a picture on a cylinder that is infinitely far away, in a tile.

In: the camera, the backdrop's pixels (sRGB, four bytes each), and which samples of the
tile are covered. Out: the pixels of the picture that nothing covers, and where the tile
holds anything, also their linear colours, for what is seen through or has only some of
a pixel's samples.

Where a pixel looks to is found exactly at the corners of squares of at most 32 x 32
pixels, and is straight between them. An arc tangent curves by at most 0.65, so that is
off by 0.65 / 8 of the square of their side over the pixels to the radian: they are
halved until that is an eighth of a pixel. Near straight up and down, where all columns
meet, each pixel is looked up for itself.

Tried: to find it for each pixel: an arc tangent and a root for each take 12 times as
long as all the rest. The four pixels of the backdrop around a place are mixed as whole
numbers, all four bytes at once, sixteen bits for each: a third of the time of floats.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import numpy as np

from flexor.draw.raster import layout as at
from flexor.draw.raster.kernels.refs import tile_box
from flexor.draw.raster.layout import Picture, Scene
from flexor.maths.kernels.borrow import masks_at
from flexor.maths.kernels.functions import atan2
from flexor.maths.kernels.jit import inline, part
from flexor.maths.kernels.lanes import put, take
from flexor.maths.kernels.numbers import float32, float64, int64, uint32, uint64

if TYPE_CHECKING:
    from flexor.arrays import Doubles, Floats, Ints, Longs, Masks

F = float32
_SHARE = np.arange(256) / 255
_CURVE = ((np.maximum(_SHARE, 0.04045) + 0.055) / 1.055) ** 2.4
# Linear light of each byte, sRGB.
LINEAR = np.where(_SHARE <= 0.04045, _SHARE / 12.92, _CURVE).astype(np.float32)
SIDE = 32  # pixels, of the largest squares
CURVES = 0.65  # times the square of their side is allowed to be the pixels to a radian
STEEP = 64.0  # tangent: what is higher or lower is as there
UPRIGHT = 1.0  # tangent: from there on each pixel is looked up for itself
LANES = uint64(0x00FF00FF00FF00FF)
HALVES = uint64(0x0080008000800080)


@inline
def _place(camera: Doubles, frame: Longs, x: int, y: int) -> tuple[float, float]:
    """Where the middle of a pixel looks to: column and row of the backdrop."""
    across = (x * 256.0 + 128.0 - camera[at.CENTRE_X]) / camera[at.SCALE]
    up = (camera[at.CENTRE_Y] - y * 256.0 - 128.0) / camera[at.SCALE]
    if frame[at.IS_FLAT_VIEW]:
        across, up = 0.0, 0.0
    dx = camera[8] + across * camera[0] + up * camera[4]
    dy = camera[9] + across * camera[1] + up * camera[5]
    dz = camera[10] + across * camera[2] + up * camera[6]
    flat = math.sqrt(dx * dx + dz * dz)
    tangent = min(max(dy / max(flat, 1e-12), -STEEP), STEEP)
    around = atan2(dx, -dz) / (2.0 * math.pi) + 0.5
    return (
        around * frame[at.BACKDROP_W] - 0.5,
        (camera[at.BACKDROP_HIGH] - tangent) * camera[at.BACKDROP_FINE] - 0.5,
    )


@inline
def _spread(pixel: int) -> int:
    """The four bytes of a pixel, sixteen bits each."""
    wide = uint64(pixel)
    return (wide | wide << uint64(24)) & LANES


@inline
def _mix(a: int, b: int, part: int) -> int:
    """Between two spread pixels; part: of 256."""
    # What one of the lanes borrows from the next, adding gives back.
    mixed = (a << uint64(8)) + (b - a) * part
    return (mixed + HALVES) >> uint64(8) & LANES


@inline
def _look_up(texels: Masks, width: int, height: int, u: int, v: int) -> int:
    """The backdrop at a column and a row, in 1/65536: a pixel."""
    column = u >> 16 & width - 1
    after = column + 1 & width - 1
    v = min(max(v, 0), (height - 1) << 16)
    row = (v >> 16) * width
    below = min(row + width, (height - 1) * width)
    down = uint64(v >> 8 & 255)
    right = uint64(u >> 8 & 255)
    a = _spread(take(texels, row + column))
    b = _spread(take(texels, row + after))
    c = _spread(take(texels, below + column))
    d = _spread(take(texels, below + after))
    mixed = _mix(_mix(a, c, down), _mix(b, d, down), right)
    return uint32((mixed | mixed >> uint64(24)) & uint64(0xFFFFFFFF))


@inline
def _is_bare(spot: int, samples: int, marks: Ints) -> bool:
    """Whether nothing covers a pixel, or one of its samples."""
    if samples == 1:
        return take(marks, spot) < 0
    both = take(marks, spot) | take(marks, spot + at.PLANE)
    more = take(marks, spot + 2 * at.PLANE) | take(marks, spot + 3 * at.PLANE)
    return (both | more) < 0


@part
def fill_backdrop(
    tile: int,
    scene: Scene,
    is_empty: bool,
    is_marked: bool,
    marks: Ints,
    colours: Floats,
    picture: Picture,
) -> None:
    """Draw the backdrop where a tile is bare.

    is_empty: nothing will be drawn in it; is_marked: `marks` tell what covers it.
    """
    camera, frame, pixels = scene.camera, scene.frame, picture.pixels
    samples = frame[at.SAMPLES]
    left, top, right, bottom = tile_box(tile, frame)
    width, height = frame[at.BACKDROP_W], frame[at.BACKDROP_H]
    texels = masks_at(frame[at.BACKDROP], width * height)
    side = SIDE
    while side > 1 and CURVES * side * side > camera[at.SCALE] / at.SUB:
        side >>= 1
    one = 65536.0 / side
    for first_y in range(top, bottom, side):
        for first_x in range(left, right, side):
            last_x, last_y = min(first_x + side, right), min(first_y + side, bottom)
            is_seen = not is_marked
            for y in range(first_y, last_y):
                if is_seen:
                    break
                for x in range(first_x, last_x):
                    spot = (y - top) * at.STRIDE + x - left
                    if _is_bare(spot, samples, marks):
                        is_seen = True
            if not is_seen:
                continue
            u0, v0 = _place(camera, frame, first_x, first_y)
            u1, v1 = _place(camera, frame, first_x + side, first_y)
            u2, v2 = _place(camera, frame, first_x, first_y + side)
            u3, v3 = _place(camera, frame, first_x + side, first_y + side)
            most = UPRIGHT * camera[at.BACKDROP_FINE]
            middle = camera[at.BACKDROP_HIGH] * camera[at.BACKDROP_FINE]
            nearest = max(
                max(abs(v0 - middle), abs(v1 - middle)),
                max(abs(v2 - middle), abs(v3 - middle)),
            )
            is_upright = nearest > most
            # The short way around.
            half = 0.5 * width
            u1 -= math.floor((u1 - u0 + half) / width) * width
            u2 -= math.floor((u2 - u0 + half) / width) * width
            u3 -= math.floor((u3 - u2 + half) / width) * width
            for y in range(first_y, last_y):
                down = (y - first_y) / float64(side)
                a, b = u0 + down * (u2 - u0), u1 + down * (u3 - u1)
                c, d = v0 + down * (v2 - v0), v1 + down * (v3 - v1)
                u, step_u = int64(math.floor(a * 65536.0)), int64((b - a) * one)
                v, step_v = int64(math.floor(c * 65536.0)), int64((d - c) * one)
                for x in range(first_x, last_x):
                    i = (y - top) * at.STRIDE + x - left
                    if not is_marked or _is_bare(i, samples, marks):
                        if is_upright:
                            e, f = _place(camera, frame, x, y)
                            u = int64(math.floor(e * 65536.0))
                            v = int64(math.floor(f * 65536.0))
                        colour = _look_up(texels, width, height, u, v)
                        put(pixels, y * frame[at.WIDTH] + x, colour)
                        if not is_empty:
                            to = 4 * ((y - top) * at.TILE_W + x - left)
                            put(colours, to, take(LINEAR, int64(colour & 255)))
                            put(colours, to + 1, take(LINEAR, int64(colour >> 8 & 255)))
                            put(
                                colours, to + 2, take(LINEAR, int64(colour >> 16 & 255))
                            )
                    u += step_u
                    v += step_v
