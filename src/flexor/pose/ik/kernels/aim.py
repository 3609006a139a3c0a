"""Looking at: a chain of joints turns so that the last one's axis meets a point.

Each joint but the last takes a share of the turn that is left, seen from the last one's
place; the last takes all of the rest. All in the world, from the matrices of the pose
before; what the joints above have turned is kept as one rotation and one place.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import numpy as np

from flexor.maths.kernels.functions import acos, atan2
from flexor.maths.kernels.jit import inline, jit
from flexor.maths.kernels.lanes import take
from flexor.maths.kernels.quaternions import (
    make_unit,
    part_turn,
    turn_both,
    turn_vector,
)
from flexor.pose.ik.kernels.descent import FREE, clamp
from flexor.pose.ik.kernels.turns import (
    arc_between,
    into_frame,
    out_of_frame,
    pole_turn,
)

if TYPE_CHECKING:
    from flexor.arrays import Doubles, Floats, Ints, Real, Whole

# Columns of the joint table.
NODE, LANE, KIND = range(3)
# Radians over which interest in a target fades.
FADE = math.radians(40)


@inline
def _apart(
    m: Floats,
    one: Whole,
    other: Whole,
    x: Real,
    y: Real,
    z: Real,
    w: Real,
) -> tuple[Real, Real, Real]:
    """From one node to another, turned."""
    return turn_vector(
        x,
        y,
        z,
        w,
        np.float64(take(m, other + 3)) - take(m, one + 3),
        np.float64(take(m, other + 7)) - take(m, one + 7),
        np.float64(take(m, other + 11)) - take(m, one + 11),
    )


@inline
def _vector(
    m: Floats,
    at: Whole,
    x: Real,
    y: Real,
    z: Real,
) -> tuple[Real, Real, Real]:
    """A vector of a node's frame in the world."""
    return (
        take(m, at) * x + take(m, at + 1) * y + take(m, at + 2) * z,
        take(m, at + 4) * x + take(m, at + 5) * y + take(m, at + 6) * z,
        take(m, at + 8) * x + take(m, at + 9) * y + take(m, at + 10) * z,
    )


@inline
def _sight(
    ox: Real,
    oy: Real,
    oz: Real,
    fx: Real,
    fy: Real,
    fz: Real,
    far: Real,
) -> tuple[Real, Real, Real]:
    """The point of the line of sight that is `far` from the joint, or the nearest.

    o: from the joint to the eye; f: the line's unit direction.
    """
    along = ox * fx + oy * fy + oz * fz
    square = far * far - (ox * ox + oy * oy + oz * oz) + along * along
    reach = math.sqrt(max(square, 0.0)) - along
    return ox + reach * fx, oy + reach * fy, oz + reach * fz


@inline
def _look(
    eye: tuple[Real, Real, Real],
    way: tuple[Real, Real, Real],
    high: tuple[Real, Real, Real],
    to: tuple[Real, Real, Real],
    up: tuple[Real, Real, Real],
    share: Real,
) -> tuple[Real, ...]:
    """The turn that brings a line of sight to a point; all vectors from the joint.

    eye: where the line begins; way: its unit direction; high: what is to come to the
    side of `up`, if that is not 0; share: how much of the turn, 1 for all.
    """
    tx, ty, tz = to
    far = math.sqrt(tx * tx + ty * ty + tz * tz)
    ax, ay, az = _sight(eye[0], eye[1], eye[2], way[0], way[1], way[2], far)
    length = far * math.sqrt(ax * ax + ay * ay + az * az)
    hx, hy, hz = high
    # Half a circle goes about what is up, across the line of sight.
    square = ax * ax + ay * ay + az * az
    along = (hx * ax + hy * ay + hz * az) / square if square > 1e-30 else 0.0
    nx, ny, nz = hx - along * ax, hy - along * ay, hz - along * az
    if nx * nx + ny * ny + nz * nz < 1e-12 * (hx * hx + hy * hy + hz * hz):
        nx, ny, nz = (ay, -ax, 0.0) if abs(ax) > abs(az) else (0.0, az, -ay)
    x, y, z, w = arc_between(ax, ay, az, tx, ty, tz, length, nx, ny, nz)
    if share < 1:
        return part_turn(x, y, z, w, share)
    if up[0] != 0 or up[1] != 0 or up[2] != 0:
        hx, hy, hz = turn_vector(x, y, z, w, hx, hy, hz)
        qx, qy, qz, qw = pole_turn(tx, ty, tz, hx, hy, hz, up[0], up[1], up[2])
        return turn_both(qx, qy, qz, qw, x, y, z, w)
    return x, y, z, w


@inline
def _turn_joint(
    m: Floats,
    at: Whole,
    table: Doubles,
    b: Whole,
    kind: Whole,
    local: Floats,
    to: Whole,
    lanes: Whole,
    so_far: tuple[Real, ...],
    turn: tuple[Real, ...],
) -> tuple[Real, ...]:
    """Turn a joint below others that have turned; give what it turned after all."""
    rx, ry, rz, rw = so_far
    x, y, z, w = turn
    vx, vy, vz = turn_vector(-rx, -ry, -rz, rw, x, y, z)
    vx, vy, vz = into_frame(m, at, vx, vy, vz)
    qx, qy = np.float64(take(local, to)), np.float64(take(local, to + lanes))
    qz, qw = np.float64(take(local, to + 2 * lanes)), take(local, to + 3 * lanes)
    qx, qy, qz, qw = make_unit(qx, qy, qz, qw)
    nx, ny, nz, nw = turn_both(qx, qy, qz, qw, vx, vy, vz, w)
    nx, ny, nz, nw = make_unit(nx, ny, nz, nw)
    if kind != FREE:
        nx, ny, nz, nw = clamp(table, b, nx, ny, nz, nw)
        vx, vy, vz, w = turn_both(-qx, -qy, -qz, qw, nx, ny, nz, nw)
        vx, vy, vz = out_of_frame(m, at, vx, vy, vz)
        x, y, z = turn_vector(rx, ry, rz, rw, vx, vy, vz)
    local[to], local[to + lanes] = nx, ny
    local[to + 2 * lanes], local[to + 3 * lanes] = nz, nw
    rx, ry, rz, rw = turn_both(x, y, z, w, rx, ry, rz, rw)
    return make_unit(rx, ry, rz, rw)


@inline
def _interest(
    way: tuple[Real, Real, Real],
    x: Real,
    y: Real,
    z: Real,
    most: Real,
) -> Real:
    """How much a target at (x, y, z) is looked at: less and less beyond an angle."""
    length = math.sqrt(x * x + y * y + z * z)
    if most >= math.pi or length < 1e-30:
        return 1.0
    cosine = (way[0] * x + way[1] * y + way[2] * z) / length
    angle = acos(min(max(cosine, -1.0), 1.0))
    return min(max(1.0 - (angle - most) / FADE, 0.0), 1.0)


@inline
def _blend(
    joints: Ints,
    before: Doubles,
    weight: Real,
    lanes: Whole,
    local: Floats,
) -> None:
    """Joints a part of the way from how they stood to how they look."""
    for b in range(len(joints)):
        to = 3 * lanes + np.int64(joints[b, LANE])
        ox, oy, oz, ow = before[b, 0], before[b, 1], before[b, 2], before[b, 3]
        ox, oy, oz, ow = make_unit(ox, oy, oz, ow)
        x, y = np.float64(local[to]), np.float64(local[to + lanes])
        z, w = np.float64(local[to + 2 * lanes]), local[to + 3 * lanes]
        x, y, z, w = turn_both(x, y, z, w, -ox, -oy, -oz, ow)
        x, y, z, w = part_turn(x, y, z, w, weight)
        x, y, z, w = turn_both(x, y, z, w, ox, oy, oz, ow)
        x, y, z, w = make_unit(x, y, z, w)
        local[to], local[to + lanes] = x, y
        local[to + 2 * lanes], local[to + 3 * lanes] = z, w


@jit(
    "void(i4[:, ::1], f8[:, ::1], f8[::1], f8[:, ::1], f8, f4[:, ::1], f4[:, ::1],"
    " f4[:, ::1], f4[::1], out f8[:, ::1], out f4[::1], out f4[:, ::1])"
)
def solve_aim(
    joints: Ints,
    table: Doubles,
    shares: Doubles,
    axes: Doubles,
    most: float,
    world: Floats,
    targets: Floats,
    ups: Floats,
    weights: Floats,
    before: Doubles,
    off: Floats,
    local: Floats,
) -> None:
    """Turn the joints of N characters so that the last one looks at its target.

    joints: (B, 3), see the columns above, each below the one before; table: (B, 19),
    as `kernels.descent` has it; shares: (B,) of what is left; axes: (3, 3) the eye,
    the direction it looks in and the one that is to be up, in the last joint's frame;
    most: radians from where it looks beyond which it loses interest; world: (N, 12 J)
    before the call; targets, ups: (N, 3), world, ups 0 for none; weights: (N,), 0 for
    those not touched; before: (B, 4) work space; off: (N,) radians that are left, at
    full weight; local: (N, 10 L).
    """
    lanes, end = local.shape[1] // 10, 12 * np.int64(joints[len(joints) - 1, NODE])
    for n in range(len(local)):
        m = world[n]
        eye = _vector(m, end, axes[0, 0], axes[0, 1], axes[0, 2])
        way = _vector(m, end, axes[1, 0], axes[1, 1], axes[1, 2])
        high = _vector(m, end, axes[2, 0], axes[2, 1], axes[2, 2])
        length = math.sqrt(way[0] * way[0] + way[1] * way[1] + way[2] * way[2])
        if length < 1e-30:
            off[n] = 0
            continue
        way = way[0] / length, way[1] / length, way[2] / length
        up = np.float64(ups[n, 0]), np.float64(ups[n, 1]), np.float64(ups[n, 2])
        # What all joints so far have turned, and where that has brought this one.
        so_far = 0.0, 0.0, 0.0, 1.0
        above = 12 * np.int64(joints[0, NODE])
        px, py = np.float64(take(m, above + 3)), np.float64(take(m, above + 7))
        pz = np.float64(take(m, above + 11))
        tx, ty, tz, weight = 0.0, 0.0, 0.0, np.float64(weights[n])
        for b in range(len(joints)):
            rx, ry, rz, rw = so_far
            at = 12 * np.int64(joints[b, NODE])
            vx, vy, vz = _apart(m, above, at, rx, ry, rz, rw)
            px, py, pz, above = px + vx, py + vy, pz + vz, at
            vx, vy, vz = _apart(m, at, end, rx, ry, rz, rw)
            tx, ty = targets[n, 0] - px - vx, targets[n, 1] - py - vy
            tz = targets[n, 2] - pz - vz
            turn = _look(
                turn_vector(rx, ry, rz, rw, eye[0], eye[1], eye[2]),
                turn_vector(rx, ry, rz, rw, way[0], way[1], way[2]),
                turn_vector(rx, ry, rz, rw, high[0], high[1], high[2]),
                (tx, ty, tz),
                up,
                shares[b],
            )
            if b == 0:
                weight *= _interest(way, tx - eye[0], ty - eye[1], tz - eye[2], most)
            if weight <= 0:
                continue
            to = 3 * lanes + np.int64(joints[b, LANE])
            for i in range(4):
                before[b, i] = local[n, to + i * lanes]
            kind = joints[b, KIND]
            so_far = _turn_joint(
                m, at, table, b, kind, local[n], to, lanes, so_far, turn
            )
        if 0 < weight < 1:
            _blend(joints, before, weight, lanes, local[n])
        rx, ry, rz, rw = so_far
        ux, uy, uz = turn_vector(rx, ry, rz, rw, eye[0], eye[1], eye[2])
        sx, sy, sz = turn_vector(rx, ry, rz, rw, way[0], way[1], way[2])
        tx, ty, tz = tx - ux, ty - uy, tz - uz
        cx, cy, cz = sy * tz - sz * ty, sz * tx - sx * tz, sx * ty - sy * tx
        sine = math.sqrt(cx * cx + cy * cy + cz * cz)
        off[n] = atan2(sine, sx * tx + sy * ty + sz * tz)
