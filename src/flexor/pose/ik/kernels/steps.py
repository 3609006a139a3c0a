"""Steps that reach where descent is slow: stretching, bending, swinging.

Each writes the rotations that it would take into the tried ones; whether they are kept
is for the caller, who measures what they leave. They enter with arms and bases as
`measure` leaves them for the present rotations.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import numpy as np

from flexor.maths.kernels.functions import atan2, cos, sin
from flexor.maths.kernels.jit import inline, part
from flexor.maths.kernels.quaternions import from_angles_zyx, turn_both
from flexor.pose.ik.kernels.descent import (
    ARM,
    AXIS,
    BASE,
    FIRST,
    FREE,
    HIGH,
    KIND,
    LAST,
    LOW,
    MIDDLE_BONE,
    NOW,
    PLACE,
    POINT,
    POLE_BONE,
    TRIED,
    WEIGHT,
    column_times,
    row_times,
    try_turn,
)
from flexor.pose.ik.kernels.turns import arc_between

if TYPE_CHECKING:
    from flexor.arrays import Doubles, Ints, Real, Whole

# The square of the part of a limb's length by which its middle is aside, below which
# its pole counts less.
STRAIGHT = 4e-4


@inline
def _segment(
    bones: Ints,
    table: Doubles,
    work: Doubles,
    pairs: Doubles,
    b: Whole,
) -> tuple[Real, Real, Real]:
    """From the joint of bone b to the next that turns, in the base's frame."""
    x, y, z = pairs[b, ARM], pairs[b, ARM + 1], pairs[b, ARM + 2]
    sx = row_times(work, b, BASE, x, y, z)
    sy = row_times(work, b, BASE + 3, x, y, z)
    sz = row_times(work, b, BASE + 6, x, y, z)
    after = b + 1
    while after < len(bones) and table[after, WEIGHT] <= 0:
        after += 1
    if after < len(bones):
        x, y, z = pairs[after, ARM], pairs[after, ARM + 1], pairs[after, ARM + 2]
        sx -= row_times(work, after, BASE, x, y, z)
        sy -= row_times(work, after, BASE + 3, x, y, z)
        sz -= row_times(work, after, BASE + 6, x, y, z)
    return sx, sy, sz


@inline
def _stretched(
    table: Doubles,
    b: Whole,
    part_of: Real,
    sx: Real,
    sy: Real,
    sz: Real,
    ux: Real,
    uy: Real,
    uz: Real,
) -> tuple[Real, Real, Real]:
    """A segment turned by a part toward the direction u, at its length."""
    length = math.sqrt(sx * sx + sy * sy + sz * sz)
    weight = table[b, WEIGHT] * part_of
    share = weight / (weight + 1 - part_of)
    vx = (1 - share) * sx + share * length * ux
    vy = (1 - share) * sy + share * length * uy
    vz = (1 - share) * sz + share * length * uz
    now = math.sqrt(vx * vx + vy * vy + vz * vz)
    if now < 1e-9 * length or length == 0:
        return sx, sy, sz  # it looks away from the goal: any turn is as good
    scale = length / now
    return vx * scale, vy * scale, vz * scale


@inline
def _stretched_end(
    bones: Ints,
    table: Doubles,
    part_of: Real,
    work: Doubles,
    pairs: Doubles,
    ux: Real,
    uy: Real,
    uz: Real,
) -> tuple[Real, Real, Real]:
    """Where a chain ends whose segments are stretched by a part."""
    ex, ey, ez = 0.0, 0.0, 0.0
    for b in range(len(bones)):
        if table[b, WEIGHT] <= 0:
            continue
        sx, sy, sz = _segment(bones, table, work, pairs, b)
        sx, sy, sz = _stretched(table, b, part_of, sx, sy, sz, ux, uy, uz)
        ex, ey, ez = ex + sx, ey + sy, ez + sz
    return ex, ey, ez


@inline
def _arc(
    ax: Real,
    ay: Real,
    az: Real,
    bx: Real,
    by: Real,
    bz: Real,
) -> tuple[Real, ...]:
    """The shortest turn of a toward b; none where they are opposite, or 0."""
    length = math.sqrt((ax * ax + ay * ay + az * az) * (bx * bx + by * by + bz * bz))
    return arc_between(ax, ay, az, bx, by, bz, length, 0.0, 0.0, 0.0)


@part
def stretch(
    bones: Ints,
    table: Doubles,
    work: Doubles,
    pairs: Doubles,
    goals: Doubles,
) -> Whole:
    """Try a chain that is just long enough, or straight where it cannot be.

    For one point and free bones, one after another, the first willing. Gives 0 where
    there is nothing to try, 2 where the goal is out of reach, else 1.
    """
    gx = goals[0, 0] - work[0, PLACE]
    gy = goals[0, 1] - work[0, PLACE + 1]
    gz = goals[0, 2] - work[0, PLACE + 2]
    far = math.sqrt(gx * gx + gy * gy + gz * gz)
    if far < 1e-200:
        return 0
    ux, uy, uz = gx / far, gy / far, gz / far
    low, high = 0.0, 1.0
    ex, ey, ez = _stretched_end(bones, table, low, work, pairs, ux, uy, uz)
    below = math.sqrt(ex * ex + ey * ey + ez * ez) - far
    ex, ey, ez = _stretched_end(bones, table, high, work, pairs, ux, uy, uz)
    above = math.sqrt(ex * ex + ey * ey + ez * ez) - far
    if below > 0:
        return 0
    part_of, found = high, 2
    if above > 0:
        found = 1
        for _ in range(24):
            # Between the chord's root and the middle: near the end the length is flat.
            chord = low + (high - low) * below / (below - above)
            part_of = 0.5 * (chord + 0.5 * (low + high))
            ex, ey, ez = _stretched_end(bones, table, part_of, work, pairs, ux, uy, uz)
            off = math.sqrt(ex * ex + ey * ey + ez * ez) - far
            if abs(off) < 1e-6 * far:
                break
            if off < 0:
                low, below = part_of, off
            else:
                high, above = part_of, off
    ax, ay, az, aw = _arc(ex, ey, ez, gx, gy, gz)
    # The turn of the frame before, in the base's frame.
    px, py, pz, pw = 0.0, 0.0, 0.0, 1.0
    for b in range(len(bones)):
        if table[b, WEIGHT] <= 0:
            try_turn(table, FREE, work, b, 0.0, 0.0, 0.0, 1.0)
            continue
        sx, sy, sz = _segment(bones, table, work, pairs, b)
        vx, vy, vz = _stretched(table, b, part_of, sx, sy, sz, ux, uy, uz)
        tx, ty, tz, tw = _arc(sx, sy, sz, vx, vy, vz)
        tx, ty, tz, tw = turn_both(ax, ay, az, aw, tx, ty, tz, tw)
        dx, dy, dz, dw = turn_both(-px, -py, -pz, pw, tx, ty, tz, tw)
        px, py, pz, pw = tx, ty, tz, tw
        square = work[b, BASE] ** 2 + work[b, BASE + 3] ** 2 + work[b, BASE + 6] ** 2
        scale = 1 / math.sqrt(max(square, 1e-300))
        lx = column_times(work, b, BASE, dx, dy, dz) * scale
        ly = column_times(work, b, BASE + 1, dx, dy, dz) * scale
        lz = column_times(work, b, BASE + 2, dx, dy, dz) * scale
        try_turn(table, FREE, work, b, lx, ly, lz, dw)
    return found


@part
def bend(
    bones: Ints,
    table: Doubles,
    angle: Real,
    work: Doubles,
) -> None:
    """Bend a chain that does not know where to: to and fro about its own axes."""
    for b in range(len(bones)):
        if table[b, WEIGHT] > 0:
            # Uneven, so that equal bones do not come to lie on one line again.
            half = 0.5 * angle * (1.0 + 0.3 * b) * (1.0 - 2.0 * (b & 1))
            s, c = sin(half), cos(half)
            nx, ny, nz = table[b, AXIS], table[b, AXIS + 1], table[b, AXIS + 2]
            try_turn(table, bones[b, KIND], work, b, nx * s, ny * s, nz * s, c)
            for i in range(4):
                work[b, NOW + i] = work[b, TRIED + i]


@part
def centre(
    bones: Ints,
    table: Doubles,
    work: Doubles,
) -> bool:
    """Put limited bones in the middle of what they may, to begin from elsewhere."""
    has_any = False
    for b in range(len(bones)):
        if bones[b, KIND] != FREE and table[b, WEIGHT] > 0:
            has_any = True
            x, y, z, w = from_angles_zyx(
                0.5 * (table[b, LOW] + table[b, HIGH]),
                0.5 * (table[b, LOW + 1] + table[b, HIGH + 1]),
                0.5 * (table[b, LOW + 2] + table[b, HIGH + 2]),
            )
            fx, fy, fz, fw = table[b, 5], table[b, 6], table[b, 7], table[b, 8]
            x, y, z, w = turn_both(x, y, z, w, -fx, -fy, -fz, fw)
            px, py, pz, pw = table[b, 1], table[b, 2], table[b, 3], table[b, 4]
            x, y, z, w = turn_both(-px, -py, -pz, pw, x, y, z, w)
            work[b, NOW], work[b, NOW + 1] = x, y
            work[b, NOW + 2], work[b, NOW + 3] = z, w
    return has_any


@part
def is_balanced(
    bones: Ints,
    table: Doubles,
    pulls: Doubles,
    work: Doubles,
    pairs: Doubles,
    ends: Doubles,
    goals: Doubles,
) -> bool:
    """Whether no willing bone is drawn to either side, though goals are not reached."""
    count = len(goals)
    for b in range(len(bones)):
        tx, ty, tz, most = 0.0, 0.0, 0.0, 0.0
        for k in range(bones[b, FIRST], bones[b, LAST]):
            row = b * count + k
            x, y, z = pairs[row, ARM], pairs[row, ARM + 1], pairs[row, ARM + 2]
            ax = row_times(work, b, BASE, x, y, z)
            ay = row_times(work, b, BASE + 3, x, y, z)
            az = row_times(work, b, BASE + 6, x, y, z)
            dx = goals[k, 0] - ends[k, 0]
            dy = goals[k, 1] - ends[k, 1]
            dz = goals[k, 2] - ends[k, 2]
            tx += pulls[k, 3] * (ay * dz - az * dy)
            ty += pulls[k, 3] * (az * dx - ax * dz)
            tz += pulls[k, 3] * (ax * dy - ay * dx)
            most += pulls[k, 3] * math.sqrt(
                (ax * ax + ay * ay + az * az) * (dx * dx + dy * dy + dz * dz)
            )
        torque = math.sqrt(tx * tx + ty * ty + tz * tz)
        if table[b, WEIGHT] > 0 and torque > 1e-6 * most:
            return False
    return True


@part
def swing(
    bones: Ints,
    table: Doubles,
    effectors: Ints,
    m: Whole,
    poles: Doubles,
    count: Whole,
    work: Doubles,
    pairs: Doubles,
) -> bool:
    """Try to swing the middle of a limb about the line to its end, toward its pole.

    poles: (M, 3) directions in the base's frame. False where there is nothing to do:
    the limb or the pole lies on the line.
    """
    point = effectors[m, POINT]
    b, middle = np.int64(effectors[m, POLE_BONE]), np.int64(effectors[m, MIDDLE_BONE])
    if middle < 0:
        return False
    row = b * count + point
    x, y, z = pairs[row, ARM], pairs[row, ARM + 1], pairs[row, ARM + 2]
    ex = row_times(work, b, BASE, x, y, z)
    ey = row_times(work, b, BASE + 3, x, y, z)
    ez = row_times(work, b, BASE + 6, x, y, z)
    square = ex * ex + ey * ey + ez * ez
    px, py, pz = poles[m, 0], poles[m, 1], poles[m, 2]
    pole = px * px + py * py + pz * pz
    if square < 1e-200 or pole < 1e-200:
        return False
    row = middle * count + point
    x, y, z = pairs[row, ARM], pairs[row, ARM + 1], pairs[row, ARM + 2]
    mx = ex - row_times(work, middle, BASE, x, y, z)
    my = ey - row_times(work, middle, BASE + 3, x, y, z)
    mz = ez - row_times(work, middle, BASE + 6, x, y, z)
    along = (mx * ex + my * ey + mz * ez) / square
    mx, my, mz = mx - along * ex, my - along * ey, mz - along * ez
    along = (px * ex + py * ey + pz * ez) / square
    px, py, pz = px - along * ex, py - along * ey, pz - along * ez
    aside = (mx * mx + my * my + mz * mz) / square
    if aside < 1e-10 or px * px + py * py + pz * pz < 1e-10 * pole:
        return False
    # About the line itself, so that half a circle has an axis too.
    length = math.sqrt(square)
    nx, ny, nz = ex / length, ey / length, ez / length
    cosine = mx * px + my * py + mz * pz
    sine = nx * (my * pz - mz * py) + ny * (mz * px - mx * pz)
    sine += nz * (mx * py - my * px)
    # The straighter the limb, the less it has a side: it must not roll for nothing.
    half = 0.5 * atan2(sine, cosine) * min(1.0, aside / STRAIGHT)
    for i in range(len(bones)):
        for j in range(4):
            work[i, TRIED + j] = work[i, NOW + j]
    scale = work[b, BASE] ** 2 + work[b, BASE + 3] ** 2 + work[b, BASE + 6] ** 2
    scale = sin(half) / math.sqrt(max(scale, 1e-300))
    x = column_times(work, b, BASE, nx, ny, nz) * scale
    y = column_times(work, b, BASE + 1, nx, ny, nz) * scale
    z = column_times(work, b, BASE + 2, nx, ny, nz) * scale
    try_turn(table, bones[b, KIND], work, b, x, y, z, cos(half))
    return True
