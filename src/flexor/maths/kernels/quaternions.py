"""Unit quaternions (x, y, z, w) as four numbers, for kernels that take one by one."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

from flexor.maths.kernels.functions import atan2, cos, sin
from flexor.maths.kernels.jit import inline
from flexor.maths.layout import TINY

if TYPE_CHECKING:
    from flexor.arrays import Real


@inline
def turn_both(
    ax: Real,
    ay: Real,
    az: Real,
    aw: Real,
    bx: Real,
    by: Real,
    bz: Real,
    bw: Real,
) -> tuple[Real, ...]:
    """The rotation that turns by b first, then by a."""
    return (
        aw * bx + ax * bw + ay * bz - az * by,
        aw * by - ax * bz + ay * bw + az * bx,
        aw * bz + ax * by - ay * bx + az * bw,
        aw * bw - ax * bx - ay * by - az * bz,
    )


@inline
def turn_vector(
    x: Real,
    y: Real,
    z: Real,
    w: Real,
    vx: Real,
    vy: Real,
    vz: Real,
) -> tuple[Real, Real, Real]:
    """The vector v, turned."""
    tx, ty, tz = 2 * (y * vz - z * vy), 2 * (z * vx - x * vz), 2 * (x * vy - y * vx)
    return (
        vx + w * tx + y * tz - z * ty,
        vy + w * ty + z * tx - x * tz,
        vz + w * tz + x * ty - y * tx,
    )


@inline
def make_unit(
    x: Real,
    y: Real,
    z: Real,
    w: Real,
) -> tuple[Real, ...]:
    """The same rotation at unit length; no rotation where all are 0."""
    square = x * x + y * y + z * z + w * w
    if square < 1e-30:
        return 0.0, 0.0, 0.0, 1.0
    scale = 1 / math.sqrt(square)
    return x * scale, y * scale, z * scale, w * scale


@inline
def part_turn(
    x: Real,
    y: Real,
    z: Real,
    w: Real,
    fraction: Real,
) -> tuple[Real, ...]:
    """A part of a rotation, the shorter way round."""
    if w < 0:
        x, y, z, w = -x, -y, -z, -w
    sine = math.sqrt(x * x + y * y + z * z)
    if sine < 1e-12:
        return x * fraction, y * fraction, z * fraction, 1.0
    half = fraction * atan2(sine, w)
    scale = sin(half) / sine
    return x * scale, y * scale, z * scale, cos(half)


@inline
def angles_zyx(
    x: Real,
    y: Real,
    z: Real,
    w: Real,
) -> tuple[Real, Real, Real]:
    """Angles about Z, Y and X, radians, as `euler.to_euler` gives them."""
    near = math.sqrt((w - y) * (w - y) + (z + x) * (z + x))
    far = math.sqrt((w + y) * (w + y) + (z - x) * (z - x))
    tiny = TINY * (near + far)
    if near <= tiny:
        total = apart = atan2(z - x, w + y)
    else:
        total = atan2(z + x, w - y)
        apart = atan2(z - x, w + y) if far > tiny else total
    about_z, about_x = total + apart, total - apart
    if abs(about_z) > math.pi:
        about_z -= math.copysign(2 * math.pi, about_z)
    if abs(about_x) > math.pi:
        about_x -= math.copysign(2 * math.pi, about_x)
    return about_z, 2 * atan2(far, near) - math.pi / 2, about_x


@inline
def from_angles_zyx(
    about_z: Real,
    about_y: Real,
    about_x: Real,
) -> tuple[Real, ...]:
    """The rotation of angles about Z, Y and X."""
    cz, sz = cos(about_z / 2), sin(about_z / 2)
    cy, sy = cos(about_y / 2), sin(about_y / 2)
    cx, sx = cos(about_x / 2), sin(about_x / 2)
    return (
        cz * cy * sx - sz * sy * cx,
        cz * sy * cx + sz * cy * sx,
        sz * cy * cx - cz * sy * sx,
        cz * cy * cx + sz * sy * sx,
    )
