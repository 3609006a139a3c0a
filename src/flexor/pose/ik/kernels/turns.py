"""Turns of the world, and the same in the frames of nodes, for kernels.

A turn is a unit quaternion in four numbers; frames are matrices (3, 4) in flat arrays.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

from flexor.maths.kernels.jit import inline
from flexor.maths.kernels.lanes import take
from flexor.maths.kernels.quaternions import make_unit

if TYPE_CHECKING:
    from flexor.arrays import Floats, Real, Whole


@inline
def into_frame(
    m: Floats,
    at: Whole,
    x: Real,
    y: Real,
    z: Real,
) -> tuple[Real, Real, Real]:
    """A vector about which the world turns, in the frame of the matrix at `at`."""
    # For rotation times one scale the transpose is the inverse but for the scale; where
    # the frame is a mirror image, turns go round the other way.
    a, b, c = take(m, at), take(m, at + 1), take(m, at + 2)
    d, e, f = take(m, at + 4), take(m, at + 5), take(m, at + 6)
    g, h, i = take(m, at + 8), take(m, at + 9), take(m, at + 10)
    lx, ly, lz = a * x + d * y + g * z, b * x + e * y + h * z, c * x + f * y + i * z
    square, wanted = lx * lx + ly * ly + lz * lz, x * x + y * y + z * z
    if abs(square - wanted) > 1e-6 * wanted:  # the frame has another scale
        if square < 1e-30:
            return 0.0, 0.0, 0.0
        scale = math.sqrt(wanted / square)
        lx, ly, lz = lx * scale, ly * scale, lz * scale
    if a * (e * i - f * h) - b * (d * i - f * g) + c * (d * h - e * g) < 0:
        return -lx, -ly, -lz
    return lx, ly, lz


@inline
def out_of_frame(
    m: Floats,
    at: Whole,
    x: Real,
    y: Real,
    z: Real,
) -> tuple[Real, Real, Real]:
    """The other way round: a vector about which a frame turns, in the world."""
    a, b, c = take(m, at), take(m, at + 1), take(m, at + 2)
    d, e, f = take(m, at + 4), take(m, at + 5), take(m, at + 6)
    g, h, i = take(m, at + 8), take(m, at + 9), take(m, at + 10)
    wx, wy, wz = a * x + b * y + c * z, d * x + e * y + f * z, g * x + h * y + i * z
    square, wanted = wx * wx + wy * wy + wz * wz, x * x + y * y + z * z
    scale = math.sqrt(wanted / square) if square > 1e-30 else 0.0
    if a * (e * i - f * h) - b * (d * i - f * g) + c * (d * h - e * g) < 0:
        scale = -scale
    return wx * scale, wy * scale, wz * scale


@inline
def arc_between(
    ax: Real,
    ay: Real,
    az: Real,
    bx: Real,
    by: Real,
    bz: Real,
    length: Real,
    nx: Real,
    ny: Real,
    nz: Real,
) -> tuple[Real, ...]:
    """The shortest turn of a toward b; half a circle about n where they are opposite.

    length: that of a times that of b; n: across a.
    """
    if length < 1e-30:
        return 0.0, 0.0, 0.0, 1.0
    inverse = 1 / length
    cosine = (ax * bx + ay * by + az * bz) * inverse
    if cosine < -1 + 1e-12:
        return make_unit(nx, ny, nz, 0.0)
    w = math.sqrt(0.5 + 0.5 * cosine)
    scale = 0.5 * inverse / w
    x, y, z = ay * bz - az * by, az * bx - ax * bz, ax * by - ay * bx
    return x * scale, y * scale, z * scale, w


@inline
def pole_turn(
    tx: Real,
    ty: Real,
    tz: Real,
    bx: Real,
    by: Real,
    bz: Real,
    px: Real,
    py: Real,
    pz: Real,
) -> tuple[Real, ...]:
    """The turn about t that brings b to the side of p."""
    square = tx * tx + ty * ty + tz * tz
    if square < 1e-30:
        return 0.0, 0.0, 0.0, 1.0
    b = (bx * tx + by * ty + bz * tz) / square
    p = (px * tx + py * ty + pz * tz) / square
    bx, by, bz = bx - b * tx, by - b * ty, bz - b * tz
    px, py, pz = px - p * tx, py - p * ty, pz - p * tz
    cosine = bx * px + by * py + bz * pz
    sine = tx * (by * pz - bz * py) + ty * (bz * px - bx * pz)
    sine += tz * (bx * py - by * px)
    size = (bx * bx + by * by + bz * bz) * (px * px + py * py + pz * pz)
    length = math.sqrt(square)
    sine /= length
    if size < 1e-20 * square * square or size < 1e-30:
        return 0.0, 0.0, 0.0, 1.0
    # Half the angle; written so that half a circle is no division by 0.
    root = math.sqrt(sine * sine + cosine * cosine)
    if cosine >= 0:
        s, c = sine, root + cosine
    else:
        s, c = math.copysign(root - cosine, sine), abs(sine)
    s /= length
    return make_unit(tx * s, ty * s, tz * s, c)
