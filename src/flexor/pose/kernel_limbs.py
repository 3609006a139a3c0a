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

# Columns of the limb table: nodes and lanes of start, middle and end; whether the end
# keeps its orientation.
START, MIDDLE, END, START_LANE, MIDDLE_LANE, END_LANE, KEEPS = range(7)


@inline
def _into(m, at, x, y, z):
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
def _turn_lane(local, lanes, lane, m, at, x, y, z, w, weight):
    """Turn a joint by a part of a turn of the world."""
    x, y, z = _into(m, at, x, y, z)
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
def _axis(m, at, axes, limb, ux, uy, uz, vx, vy, vz, tx, ty, tz, px, py, pz):
    """About which the middle bends: the limb's own plane, the pole's, or its axis.

    u, v: the two bones; t: to the target; p: the pole, or 0.
    """
    nx, ny, nz = uy * vz - uz * vy, uz * vx - ux * vz, ux * vy - uy * vx
    size = (ux * ux + uy * uy + uz * uz) * (vx * vx + vy * vy + vz * vz)
    square = nx * nx + ny * ny + nz * nz
    if square > 1e-10 * size:
        return nx, ny, nz, square
    # Straight: toward the pole if there is one, else as the joint is made.
    nx, ny, nz = py * tz - pz * ty, pz * tx - px * tz, px * ty - py * tx
    square = nx * nx + ny * ny + nz * nz
    far = (px * px + py * py + pz * pz) * (tx * tx + ty * ty + tz * tz)
    if square > 1e-10 * far:
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


@inline
def _arc(ax, ay, az, bx, by, bz, length, nx, ny, nz):
    """The shortest turn of a toward b; half a circle about n where they are opposite.

    length: that of a times that of b; n: across a.
    """
    if length < 1e-30:
        return 0.0, 0.0, 0.0, 1.0
    inverse = 1 / length
    cosine = (ax * bx + ay * by + az * bz) * inverse
    if cosine < -1 + 1e-7:
        return make_unit(nx, ny, nz, 0.0)
    w = math.sqrt(0.5 + 0.5 * cosine)
    scale = 0.5 * inverse / w
    x, y, z = ay * bz - az * by, az * bx - ax * bz, ax * by - ay * bx
    return x * scale, y * scale, z * scale, w


@inline
def _pole_turn(tx, ty, tz, bx, by, bz, px, py, pz):
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


@jit(
    "void(i4[:, ::1], f8[:, ::1], f4[:, ::1], f4[:, ::1], f4[:, ::1], f4[:, ::1],"
    " out f4[:, ::1], out f4[:, ::1])"
)
def solve_two_bone(limbs, axes, world, targets, poles, weights, off, local):
    """Bring the ends of M limbs of N characters to their targets.

    limbs: (M, 7), see the columns above; axes: (M, 3), what a straight limb bends
    about, in the middle's frame; world: (N, 12 J) before the call; targets, poles:
    (N, 3 M), world, poles 0 for none; weights: (N, M); off: (N, M), metres that are
    left at full weight; local: (N, 10 L).
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
                m, b, axes, k, ux, uy, uz, vx, vy, vz, tx, ty, tz, px, py, pz
            )
            scale = s_half / math.sqrt(max(square, 1e-30))
            bx, by, bz, bw = nx * scale, ny * scale, nz * scale, c_half
            wx, wy, wz = turn_vector(bx, by, bz, bw, vx, vy, vz)
            ex, ey, ez = ux + wx, uy + wy, uz + wz
            sx, sy, sz, sw = _arc(ex, ey, ez, tx, ty, tz, reach * far, nx, ny, nz)
            if px * px + py * py + pz * pz > 0:
                ux, uy, uz = turn_vector(sx, sy, sz, sw, ux, uy, uz)
                qx, qy, qz, qw = _pole_turn(tx, ty, tz, ux, uy, uz, px, py, pz)
                sx, sy, sz, sw = turn_both(qx, qy, qz, qw, sx, sy, sz, sw)
            weight = np.float64(weights[n, k])
            lane = np.int64(limbs[k, MIDDLE_LANE])
            _turn_lane(mine, lanes, lane, m, b, bx, by, bz, bw, weight)
            lane = np.int64(limbs[k, START_LANE])
            _turn_lane(mine, lanes, lane, m, a, sx, sy, sz, sw, weight)
            if limbs[k, KEEPS] != 0:
                x, y, z, w = turn_both(sx, sy, sz, sw, bx, by, bz, bw)
                lane = np.int64(limbs[k, END_LANE])
                _turn_lane(mine, lanes, lane, m, c, -x, -y, -z, w, weight)
