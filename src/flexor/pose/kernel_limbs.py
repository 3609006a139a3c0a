"""Limbs of two bones, in closed form: an arm or a leg to a point in the world.

All turns are found in the world, from the matrices of the pose before, and brought into
the joints' own frames: there a turn comes after the joint's rotation, and what stands
above the joint need not be known. No angle is computed where its cosine will do.
"""

import math

import numpy as np

from flexor.maths.kernel import inline, jit
from flexor.maths.kernel_lanes import put, take
from flexor.maths.kernel_quaternions import make_unit, part_turn, turn_both, turn_vector
from flexor.pose.kernel_turns import arc_between, into_frame, pole_turn

# Columns of the limb table: nodes and lanes of start, middle and end; whether the end
# keeps its orientation.
START, MIDDLE, END, START_LANE, MIDDLE_LANE, END_LANE, KEEPS = range(7)


@inline
def _turn_lane(local, lanes, lane, m, at, x, y, z, w, weight):
    """Turn a joint by a part of a turn of the world."""
    x, y, z = into_frame(m, at, x, y, z)
    if weight < 1:
        x, y, z, w = part_turn(x, y, z, w, weight)
    to = 3 * lanes + lane
    qx, qy, qz, qw = turn_both(
        np.float64(take(local, to)),
        np.float64(take(local, to + lanes)),
        np.float64(take(local, to + 2 * lanes)),
        np.float64(take(local, to + 3 * lanes)),
        x,
        y,
        z,
        w,
    )
    square = qx * qx + qy * qy + qz * qz + qw * qw
    if abs(square - 1) < 1e-3:
        scale = 1.5 - 0.5 * square  # one step of Newton's
        qx, qy, qz, qw = qx * scale, qy * scale, qz * scale, qw * scale
    else:
        qx, qy, qz, qw = make_unit(qx, qy, qz, qw)
    put(local, to, np.float32(qx))
    put(local, to + lanes, np.float32(qy))
    put(local, to + 2 * lanes, np.float32(qz))
    put(local, to + 3 * lanes, np.float32(qw))


@inline
def _axis(m, at, axes, limb, ux, uy, uz, vx, vy, vz, px, py, pz):
    """About which the middle bends: the limb's own plane, the pole's, or its axis.

    u, v: the two bones; p: the pole, or 0.
    """
    nx, ny, nz = uy * vz - uz * vy, uz * vx - ux * vz, ux * vy - uy * vx
    size = (ux * ux + uy * uy + uz * uz) * (vx * vx + vy * vy + vz * vz)
    square = nx * nx + ny * ny + nz * nz
    if square > 1e-10 * size:
        return nx, ny, nz, square
    # Straight: toward the pole if there is one, else as the joint is made.
    nx, ny, nz = py * uz - pz * uy, pz * ux - px * uz, px * uy - py * ux
    square = nx * nx + ny * ny + nz * nz
    size = (px * px + py * py + pz * pz) * (ux * ux + uy * uy + uz * uz)
    if square > 1e-10 * size:
        return nx, ny, nz, square
    ax, ay, az = axes[limb, 0], axes[limb, 1], axes[limb, 2]
    nx = take(m, at) * ax + take(m, at + 1) * ay + take(m, at + 2) * az
    ny = take(m, at + 4) * ax + take(m, at + 5) * ay + take(m, at + 6) * az
    nz = take(m, at + 8) * ax + take(m, at + 9) * ay + take(m, at + 10) * az
    # Across the bones, or the bend would be less than asked for.
    square = ux * ux + uy * uy + uz * uz
    along = (nx * ux + ny * uy + nz * uz) / max(square, 1e-30)
    nx, ny, nz = nx - along * ux, ny - along * uy, nz - along * uz
    return nx, ny, nz, nx * nx + ny * ny + nz * nz


@jit(
    "void(i4[:, ::1], f8[:, ::1], f4[:, ::1], f4[:, ::1], f4[:, ::1], f4[:, ::1],"
    " out f4[:, ::1], out f4[:, ::1])"
)
def solve_two_bone(limbs, axes, world, targets, poles, weights, off, local):
    """Bring the ends of M limbs of N characters to their targets.

    limbs: (M, 7), see the columns above; axes: (M, 3), what a straight limb bends
    about, in the middle's frame; world: (N, 12 J) before the call; targets, poles:
    (N, 3 M), world, poles 0 for none; weights: (N, M), 0 for what is not touched; off:
    (N, M), metres that are left at full weight; local: (N, 10 L).
    """
    lanes = local.shape[1] // 10
    for n in range(len(local)):
        m, mine, goals, ways = world[n], local[n], targets[n], poles[n]
        for k in range(len(limbs)):
            a, b = 12 * np.int64(limbs[k, START]), 12 * np.int64(limbs[k, MIDDLE])
            c = 12 * np.int64(limbs[k, END])
            ax, ay, az = (
                np.float64(take(m, a + 3)),
                np.float64(take(m, a + 7)),
                np.float64(take(m, a + 11)),
            )
            ux, uy, uz = take(m, b + 3) - ax, take(m, b + 7) - ay, take(m, b + 11) - az
            vx, vy = (
                take(m, c + 3) - np.float64(take(m, b + 3)),
                take(m, c + 7) - np.float64(take(m, b + 7)),
            )
            vz = take(m, c + 11) - np.float64(take(m, b + 11))
            tx, ty = take(goals, 3 * k) - ax, take(goals, 3 * k + 1) - ay
            tz = take(goals, 3 * k + 2) - az
            px = np.float64(take(ways, 3 * k))
            py, pz = (
                np.float64(take(ways, 3 * k + 1)),
                np.float64(take(ways, 3 * k + 2)),
            )
            upper, lower = ux * ux + uy * uy + uz * uz, vx * vx + vy * vy + vz * vz
            far = math.sqrt(tx * tx + ty * ty + tz * tz)
            one, other = math.sqrt(upper), math.sqrt(lower)
            if one * other < 1e-30:
                off[n, k] = far
                continue
            reach = min(max(far, abs(one - other)), one + other)
            off[n, k] = abs(far - reach)
            weight = np.float64(weights[n, k])
            if weight <= 0:
                continue
            # Cosines of the outer angle at the middle, as it is and as it must be.
            inverse = 1 / (one * other)
            before = (ux * vx + uy * vy + uz * vz) * inverse
            after = 0.5 * (reach * reach - upper - lower) * inverse
            before, after = min(max(before, -1.0), 1.0), min(max(after, -1.0), 1.0)
            sines = math.sqrt((1 - before * before) * (1 - after * after))
            cosine = min(max(before * after + sines, -1.0), 1.0)
            c_half = math.sqrt(0.5 * (1 + cosine))
            s_half = math.sqrt(0.5 * (1 - cosine))
            if after > before:
                s_half = -s_half  # less bent
            nx, ny, nz, square = _axis(
                m, b, axes, k, ux, uy, uz, vx, vy, vz, px, py, pz
            )
            scale = s_half / math.sqrt(max(square, 1e-30))
            bx, by, bz, bw = nx * scale, ny * scale, nz * scale, c_half
            wx, wy, wz = turn_vector(bx, by, bz, bw, vx, vy, vz)
            ex, ey, ez = ux + wx, uy + wy, uz + wz
            sx, sy, sz, sw = arc_between(
                ex, ey, ez, tx, ty, tz, reach * far, nx, ny, nz
            )
            if px * px + py * py + pz * pz > 0:
                ux, uy, uz = turn_vector(sx, sy, sz, sw, ux, uy, uz)
                qx, qy, qz, qw = pole_turn(tx, ty, tz, ux, uy, uz, px, py, pz)
                sx, sy, sz, sw = turn_both(qx, qy, qz, qw, sx, sy, sz, sw)
            lane = np.int64(limbs[k, MIDDLE_LANE])
            _turn_lane(mine, lanes, lane, m, b, bx, by, bz, bw, weight)
            lane = np.int64(limbs[k, START_LANE])
            _turn_lane(mine, lanes, lane, m, a, sx, sy, sz, sw, weight)
            if limbs[k, KEEPS] != 0:
                x, y, z, w = turn_both(sx, sy, sz, sw, bx, by, bz, bw)
                lane = np.int64(limbs[k, END_LANE])
                _turn_lane(mine, lanes, lane, m, c, -x, -y, -z, w, weight)
