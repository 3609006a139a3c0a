"""How far bones turn in one call: by a part of the way, within their limits, and no
quicker than their rates allow.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import numpy as np

from flexor.maths.kernels.functions import atan2
from flexor.maths.kernels.jit import inline, part
from flexor.maths.kernels.quaternions import make_unit, part_turn, turn_both
from flexor.maths.layout import ROUNDED
from flexor.pose.ik.kernels.descent import (
    FREE,
    KIND,
    LANE,
    NOW,
    RATE,
    WEIGHT,
    clamp,
)

if TYPE_CHECKING:
    from flexor.arrays import Doubles, Floats, Ints, Real, Whole


@inline
def toward(
    ax: Real,
    ay: Real,
    az: Real,
    aw: Real,
    bx: Real,
    by: Real,
    bz: Real,
    bw: Real,
    fraction: Real,
) -> tuple[Real, ...]:
    """The rotation a, turned toward b by a part of the way."""
    dx, dy, dz, dw = turn_both(bx, by, bz, bw, -ax, -ay, -az, aw)
    dx, dy, dz, dw = part_turn(dx, dy, dz, dw, fraction)
    x, y, z, w = turn_both(dx, dy, dz, dw, ax, ay, az, aw)
    return make_unit(x, y, z, w)


@inline
def _apart(
    ax: Real,
    ay: Real,
    az: Real,
    aw: Real,
    bx: Real,
    by: Real,
    bz: Real,
    bw: Real,
) -> Real:
    """The angle between two rotations, radians."""
    x, y, z, w = turn_both(bx, by, bz, bw, -ax, -ay, -az, aw)
    return 2 * atan2(math.sqrt(x * x + y * y + z * z), abs(w))


@inline
def _is_allowed(
    table: Doubles,
    b: Whole,
    x: Real,
    y: Real,
    z: Real,
    w: Real,
) -> bool:
    """Whether the limits of bone b allow a rotation, but for rounding."""
    cx, cy, cz, cw = clamp(table, b, x, y, z, w)
    return _apart(x, y, z, w, cx, cy, cz, cw) < ROUNDED


@inline
def _slow_down(
    table: Doubles,
    b: Whole,
    kind: Whole,
    most: Real,
    lx: Real,
    ly: Real,
    lz: Real,
    lw: Real,
    x: Real,
    y: Real,
    z: Real,
    w: Real,
) -> tuple[Real, ...]:
    """The rotation, or how far it can be come toward from the last one."""
    angle = _apart(lx, ly, lz, lw, x, y, z, w)
    if angle <= most:
        return x, y, z, w
    part_of = most / angle
    # From where limits do not allow it, it comes back at its own pace.
    is_bound = kind != FREE and _is_allowed(table, b, lx, ly, lz, lw)
    for _ in range(8):
        qx, qy, qz, qw = toward(lx, ly, lz, lw, x, y, z, w, part_of)
        if not is_bound:
            return qx, qy, qz, qw
        # Between two allowed rotations there may be some that are not; and what the
        # limits make of those may be too far again.
        qx, qy, qz, qw = clamp(table, b, qx, qy, qz, qw)
        if _apart(lx, ly, lz, lw, qx, qy, qz, qw) <= most * (1 + 1e-6):
            return qx, qy, qz, qw
        part_of *= 0.5
    return lx, ly, lz, lw


@part
def store_turns(
    bones: Ints,
    table: Doubles,
    weight: Real,
    seconds: Real,
    work: Doubles,
    last: Floats,
    local: Floats,
) -> None:
    """Write the rotations back: by a part, and no quicker than their rates allow."""
    lanes = len(local) // 10
    for b in range(len(bones)):
        at, kind = 3 * lanes + np.int64(bones[b, LANE]), bones[b, KIND]
        x, y, z, w = work[b, NOW], work[b, NOW + 1], work[b, NOW + 2], work[b, NOW + 3]
        if weight < 1:
            ox, oy = np.float64(local[at]), np.float64(local[at + lanes])
            oz, ow = np.float64(local[at + 2 * lanes]), local[at + 3 * lanes]
            ox, oy, oz, ow = make_unit(ox, oy, oz, ow)
            if weight > 0:
                x, y, z, w = toward(ox, oy, oz, ow, x, y, z, w, weight)
                # Between two allowed rotations there may be some that are not.
                if kind != FREE and _is_allowed(table, b, ox, oy, oz, ow):
                    x, y, z, w = clamp(table, b, x, y, z, w)
            else:
                x, y, z, w = ox, oy, oz, ow
        is_touched = weight > 0 and table[b, WEIGHT] > 0
        most = table[b, RATE] * seconds
        if most < math.pi and table[b, WEIGHT] > 0:
            lx, ly = np.float64(last[4 * b]), np.float64(last[4 * b + 1])
            lz, lw = np.float64(last[4 * b + 2]), last[4 * b + 3]
            lx, ly, lz, lw = make_unit(lx, ly, lz, lw)
            sx, sy, sz, sw = _slow_down(
                table, b, kind, most, lx, ly, lz, lw, x, y, z, w
            )
            is_touched |= sx != x or sy != y or sz != z or sw != w
            x, y, z, w = sx, sy, sz, sw
        work[b, NOW], work[b, NOW + 1] = x, y
        work[b, NOW + 2], work[b, NOW + 3] = z, w
        for i in range(4):
            if is_touched:
                local[at + i * lanes] = work[b, NOW + i]
            last[4 * b + i] = work[b, NOW + i]
