"""Bones that reach: what is left of the way, and cyclic coordinate descent.

A bone's rotation is looked at in the frame of its parent. On the way out (base to ends)
the goals are brought into each such frame, on the way back the ends are carried from
frame to frame, and each bone on the way turns so that the points it carries come as
near their goals as they can. No world matrix is made, and scale along the chain does no
harm. With several points a bone turns about the axis of the sum of their pulls, by the
angle that is best for all of them: what is left of the weighted squares of the
distances cannot grow.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

from flexor.maths.kernels.jit import inline, part
from flexor.maths.kernels.quaternions import (
    angles_zyx,
    from_angles_zyx,
    make_unit,
    part_turn,
    turn_both,
    turn_vector,
)
from flexor.maths.layout import ROUNDED

if TYPE_CHECKING:
    from flexor.arrays import Doubles, Ints, Real, Whole

# Columns of the bone tables: whole numbers,
LANE, UP, FIRST, LAST, KIND = range(5)
# and others: willingness, bone_from_rest, joint_from_bone, limits about Z, Y, X, the
# axis to bend about in the parent's frame, and the quickest turn in rad/s.
WEIGHT, BEFORE, FRAME, LOW, HIGH, AXIS, RATE = 0, 1, 5, 9, 12, 15, 18
BONE_NUMBERS = 19
FREE, LIMITED, HINGE = range(3)
# Columns of the effector table.
POINT, POINTS, NODE, POLE_BONE, MIDDLE_BONE = range(5)
# Columns of the work space of a bone: rotation, the one that is tried, translation,
# scale, rotation times scale, base_from_parent, a rotation kept for later, that
# before a pass, and that of the pose.
NOW, TRIED, PLACE, SCALE, TURN, BASE, KEPT, EARLIER = 0, 4, 8, 11, 14, 23, 32, 36
HOME = 40
BONE_WORK = 44
# Before the passes: its turn on the way home, then what is closed to its turns.
AWAY = EARLIER
# Columns of the work space of a bone and point: the goal in the parent's frame, from
# the joint to the point, and how the point moves with the bone's turn.
GOAL, ARM, SLOPE = 0, 3, 6
PAIR_WORK = 15


@inline
def _clamp_angle(
    angle: Real,
    low: Real,
    high: Real,
) -> Real:
    """The angle, or the nearer end of its limits, going round."""
    if low <= angle <= high:
        return angle
    turn = 2 * math.pi
    below, above = (low - angle) % turn, (angle - high) % turn
    # An end that is half a circle, rounded up, is met from the other side.
    below = 0.0 if below > turn - ROUNDED else below
    above = 0.0 if above > turn - ROUNDED else above
    return low if below < above else high


@inline
def clamp(
    table: Doubles,
    b: Whole,
    x: Real,
    y: Real,
    z: Real,
    w: Real,
) -> tuple[Real, ...]:
    """The rotation of bone b nearest to a given one that its limits allow."""
    px, py, pz, pw = table[b, 1], table[b, 2], table[b, 3], table[b, 4]
    fx, fy, fz, fw = table[b, 5], table[b, 6], table[b, 7], table[b, 8]
    dx, dy, dz, dw = turn_both(px, py, pz, pw, x, y, z, w)
    dx, dy, dz, dw = turn_both(dx, dy, dz, dw, fx, fy, fz, fw)
    about_z, about_y, about_x = angles_zyx(dx, dy, dz, dw)
    new_z = _clamp_angle(about_z, table[b, LOW], table[b, HIGH])
    new_y = min(max(about_y, table[b, LOW + 1]), table[b, HIGH + 1])
    new_x = _clamp_angle(about_x, table[b, LOW + 2], table[b, HIGH + 2])
    if new_z == about_z and new_y == about_y and new_x == about_x:
        return x, y, z, w
    dx, dy, dz, dw = from_angles_zyx(new_z, new_y, new_x)
    dx, dy, dz, dw = turn_both(dx, dy, dz, dw, -fx, -fy, -fz, fw)
    return turn_both(-px, -py, -pz, pw, dx, dy, dz, dw)


@inline
def _set_turn(
    work: Doubles,
    b: Whole,
    at: Whole,
) -> None:
    """Rotation times scale of bone b, for the rotation in column `at`."""
    x, y, z, w = work[b, at], work[b, at + 1], work[b, at + 2], work[b, at + 3]
    sx, sy, sz = work[b, SCALE], work[b, SCALE + 1], work[b, SCALE + 2]
    work[b, TURN] = (1 - 2 * (y * y + z * z)) * sx
    work[b, TURN + 1] = 2 * (x * y - z * w) * sy
    work[b, TURN + 2] = 2 * (x * z + y * w) * sz
    work[b, TURN + 3] = 2 * (x * y + z * w) * sx
    work[b, TURN + 4] = (1 - 2 * (x * x + z * z)) * sy
    work[b, TURN + 5] = 2 * (y * z - x * w) * sz
    work[b, TURN + 6] = 2 * (x * z - y * w) * sx
    work[b, TURN + 7] = 2 * (y * z + x * w) * sy
    work[b, TURN + 8] = (1 - 2 * (x * x + y * y)) * sz


@inline
def row_times(
    work: Doubles,
    b: Whole,
    at: Whole,
    x: Real,
    y: Real,
    z: Real,
) -> Real:
    """One row of a matrix times a vector."""
    return work[b, at] * x + work[b, at + 1] * y + work[b, at + 2] * z


@inline
def column_times(
    work: Doubles,
    b: Whole,
    at: Whole,
    x: Real,
    y: Real,
    z: Real,
) -> Real:
    """One row of a matrix's transpose times a vector."""
    return work[b, at] * x + work[b, at + 3] * y + work[b, at + 6] * z


@inline
def _left(
    pulls: Doubles,
    ends: Doubles,
    goals: Doubles,
) -> Real:
    """The weighted squares of the distances that are left."""
    left = 0.0
    for k in range(len(goals)):
        x = ends[k, 0] - goals[k, 0]
        y = ends[k, 1] - goals[k, 1]
        z = ends[k, 2] - goals[k, 2]
        left += pulls[k, 3] * (x * x + y * y + z * z)
    return left


@inline
def _begin(
    pulls: Doubles,
    ends: Doubles,
) -> None:
    for k in range(len(ends)):
        ends[k, 0], ends[k, 1], ends[k, 2] = pulls[k, 0], pulls[k, 1], pulls[k, 2]


@part
def measure(
    bones: Ints,
    pulls: Doubles,
    at: Whole,
    work: Doubles,
    pairs: Doubles,
    ends: Doubles,
    goals: Doubles,
) -> Real:
    """Carry the points home by the rotations in column `at`; give what is left."""
    count = len(ends)
    for b in range(len(bones)):
        _set_turn(work, b, at)
        up = bones[b, UP]
        for i in range(3):
            if up < 0:
                for j in range(3):
                    work[b, BASE + 3 * i + j] = 1.0 if i == j else 0.0
                continue
            row = BASE + 3 * i
            x, y, z = work[up, row], work[up, row + 1], work[up, row + 2]
            for j in range(3):
                work[b, row + j] = column_times(work, up, TURN + j, x, y, z)
    _begin(pulls, ends)
    for b in range(len(bones) - 1, -1, -1):
        for k in range(bones[b, FIRST], bones[b, LAST]):
            x, y, z = ends[k, 0], ends[k, 1], ends[k, 2]
            row = b * count + k
            for i in range(3):
                arm = row_times(work, b, TURN + 3 * i, x, y, z)
                pairs[row, ARM + i] = arm
                ends[k, i] = arm + work[b, PLACE + i]
    return _left(pulls, ends, goals)


@inline
def _carry_goals(
    bones: Ints,
    work: Doubles,
    pairs: Doubles,
    goals: Doubles,
) -> None:
    """Bring the goals into the frame of each bone's parent."""
    count = len(goals)
    for b in range(len(bones)):
        up = bones[b, UP]
        _set_turn(work, b, NOW)
        for k in range(bones[b, FIRST], bones[b, LAST]):
            row = b * count + k
            if up < 0:
                for i in range(3):
                    pairs[row, GOAL + i] = goals[k, i]
                continue
            above = up * count + k
            x = pairs[above, GOAL] - work[up, PLACE]
            y = pairs[above, GOAL + 1] - work[up, PLACE + 1]
            z = pairs[above, GOAL + 2] - work[up, PLACE + 2]
            for i in range(3):
                # A column of rotation times scale, divided by the scale's square.
                scale = work[up, SCALE + i]
                turned = column_times(work, up, TURN + i, x, y, z)
                pairs[row, GOAL + i] = turned / max(scale * scale, 1e-24)


@inline
def _best_turn(
    table: Doubles,
    kind: Whole,
    work: Doubles,
    b: Whole,
    first: Whole,
    last: Whole,
    count: Whole,
    pulls: Doubles,
    pairs: Doubles,
    ends: Doubles,
) -> tuple[Real, ...]:
    """The turn of bone b that brings its points nearest their goals; ends: arms."""
    cx, cy, cz, cosine, pull = 0.0, 0.0, 0.0, 0.0, 0.0
    for k in range(first, last):
        row, weight = b * count + k, pulls[k, 3]
        ax, ay, az = ends[k, 0], ends[k, 1], ends[k, 2]
        bx = pairs[row, GOAL] - work[b, PLACE]
        by = pairs[row, GOAL + 1] - work[b, PLACE + 1]
        bz = pairs[row, GOAL + 2] - work[b, PLACE + 2]
        cx += weight * (ay * bz - az * by)
        cy += weight * (az * bx - ax * bz)
        cz += weight * (ax * by - ay * bx)
        cosine += weight * (ax * bx + ay * by + az * bz)
        pull += weight * math.sqrt(
            (ax * ax + ay * ay + az * az) * (bx * bx + by * by + bz * bz)
        )
    square = cx * cx + cy * cy + cz * cz
    if kind == HINGE or square <= 1e-24 * pull * pull:
        if kind != HINGE and cosine >= 0:
            return 0.0, 0.0, 0.0, 1.0
        # A hinge, or all points look away from their goals: about the bone's own axis.
        nx, ny, nz = table[b, AXIS], table[b, AXIS + 1], table[b, AXIS + 2]
    else:
        scale = 1 / math.sqrt(square)
        nx, ny, nz = cx * scale, cy * scale, cz * scale
    if last - first > 1 or kind == HINGE:
        for k in range(first, last):
            row = b * count + k
            along = ends[k, 0] * nx + ends[k, 1] * ny + ends[k, 2] * nz
            goal = (pairs[row, GOAL] - work[b, PLACE]) * nx
            goal += (pairs[row, GOAL + 1] - work[b, PLACE + 1]) * ny
            goal += (pairs[row, GOAL + 2] - work[b, PLACE + 2]) * nz
            cosine -= pulls[k, 3] * along * goal
    sine = cx * nx + cy * ny + cz * nz
    length = math.sqrt(sine * sine + cosine * cosine)
    if length <= 1e-14 * pull or length < 1e-200:
        return 0.0, 0.0, 0.0, 1.0
    # Half the angle: its tangent is sine / (length + cosine).
    if cosine >= 0:
        s, c = sine, length + cosine
    else:
        s, c = length - cosine, abs(sine)
        if sine < 0:
            s = -s
    scale = 1 / math.sqrt(s * s + c * c)
    s, c = s * scale, c * scale
    return nx * s, ny * s, nz * s, c


@part
def descend(
    bones: Ints,
    table: Doubles,
    pulls: Doubles,
    work: Doubles,
    pairs: Doubles,
    ends: Doubles,
    goals: Doubles,
) -> Real:
    """One pass of cyclic coordinate descent; give what is left."""
    count = len(ends)
    _carry_goals(bones, work, pairs, goals)
    _begin(pulls, ends)
    for b in range(len(bones) - 1, -1, -1):
        first, last, kind = bones[b, FIRST], bones[b, LAST], bones[b, KIND]
        for k in range(first, last):
            x, y, z = ends[k, 0], ends[k, 1], ends[k, 2]
            for i in range(3):
                ends[k, i] = row_times(work, b, TURN + 3 * i, x, y, z)
        weight = table[b, WEIGHT]
        if weight > 0 and last > first:
            x, y, z, w = _best_turn(
                table, kind, work, b, first, last, count, pulls, pairs, ends
            )
            if weight < 1:
                x, y, z, w = part_turn(x, y, z, w, weight)
            _turn_bone(
                table, kind, work, b, first, last, pairs, pulls, ends, x, y, z, w
            )
        for k in range(first, last):
            for i in range(3):
                ends[k, i] += work[b, PLACE + i]
    return _left(pulls, ends, goals)


@inline
def _turn_bone(
    table: Doubles,
    kind: Whole,
    work: Doubles,
    b: Whole,
    first: Whole,
    last: Whole,
    pairs: Doubles,
    pulls: Doubles,
    ends: Doubles,
    x: Real,
    y: Real,
    z: Real,
    w: Real,
) -> None:
    """Turn bone b and the points it carries, as far as its limits let it."""
    count = len(ends)
    ox, oy, oz, ow = work[b, NOW], work[b, NOW + 1], work[b, NOW + 2], work[b, NOW + 3]
    qx, qy, qz, qw = turn_both(x, y, z, w, ox, oy, oz, ow)
    qx, qy, qz, qw = make_unit(qx, qy, qz, qw)
    if kind != FREE:
        qx, qy, qz, qw = clamp(table, b, qx, qy, qz, qw)
        x, y, z, w = turn_both(qx, qy, qz, qw, -ox, -oy, -oz, ow)
    gain = 0.0
    for k in range(first, last):
        row = b * count + k
        ax, ay, az = ends[k, 0], ends[k, 1], ends[k, 2]
        tx, ty, tz = turn_vector(x, y, z, w, ax, ay, az)
        gain += pulls[k, 3] * (
            (tx - ax) * (pairs[row, GOAL] - work[b, PLACE])
            + (ty - ay) * (pairs[row, GOAL + 1] - work[b, PLACE + 1])
            + (tz - az) * (pairs[row, GOAL + 2] - work[b, PLACE + 2])
        )
    if gain <= 0:
        return
    for k in range(first, last):
        ax, ay, az = ends[k, 0], ends[k, 1], ends[k, 2]
        ends[k, 0], ends[k, 1], ends[k, 2] = turn_vector(x, y, z, w, ax, ay, az)
    work[b, NOW], work[b, NOW + 1] = qx, qy
    work[b, NOW + 2], work[b, NOW + 3] = qz, qw


@inline
def try_turn(
    table: Doubles,
    kind: Whole,
    work: Doubles,
    b: Whole,
    x: Real,
    y: Real,
    z: Real,
    w: Real,
) -> None:
    """Write into the tried rotation of bone b the present one, turned."""
    ox, oy, oz, ow = work[b, NOW], work[b, NOW + 1], work[b, NOW + 2], work[b, NOW + 3]
    qx, qy, qz, qw = turn_both(x, y, z, w, ox, oy, oz, ow)
    qx, qy, qz, qw = make_unit(qx, qy, qz, qw)
    if kind != FREE:
        qx, qy, qz, qw = clamp(table, b, qx, qy, qz, qw)
    work[b, TRIED], work[b, TRIED + 1] = qx, qy
    work[b, TRIED + 2], work[b, TRIED + 3] = qz, qw
