"""Limbs of two bones, in closed form: an arm or a leg to a point in the world.

All turns are found in the world, from the matrices of the pose before, and brought into
the joints' own frames: there a turn comes after the joint's rotation, and what stands
above the joint need not be known. No angle is computed where its cosine will do.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import numpy as np

from flexor.maths.kernels.jit import inline, jit
from flexor.maths.kernels.lanes import put, take
from flexor.maths.kernels.quaternions import (
    make_unit,
    part_turn,
    turn_both,
    turn_vector,
)
from flexor.pose.ik.kernels.turns import arc_between, into_frame, pole_turn

if TYPE_CHECKING:
    from flexor.arrays import Doubles, Floats, Ints, Real, Whole

# Columns of the limb table: nodes and lanes of start, middle and end; whether the end
# keeps its orientation.
START, MIDDLE, END, START_LANE, MIDDLE_LANE, END_LANE, KEEPS = range(7)
# A limb whose outer angle has a sine with a square below this takes to its own axis.
NEARLY_STRAIGHT = 0.01


@inline
def _turn_lane(
    local: Floats,
    lanes: Whole,
    lane: Whole,
    m: Floats,
    at: Whole,
    x: Real,
    y: Real,
    z: Real,
    w: Real,
    weight: Real,
) -> None:
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
def _axis(
    m: Floats,
    at: Whole,
    axes: Doubles,
    limb: Whole,
    ux: Real,
    uy: Real,
    uz: Real,
    vx: Real,
    vy: Real,
    vz: Real,
    inverse: Real,
    px: Real,
    py: Real,
    pz: Real,
) -> tuple[Real, Real, Real]:
    """About which the middle bends: across the limb, or as it is made if that is not
    plain: unit and across u.

    u, v: the two bones; inverse: 1 over the product of their lengths; p: the pole.
    """
    nx, ny = (uy * vz - uz * vy) * inverse, (uz * vx - ux * vz) * inverse
    nz = (ux * vy - uy * vx) * inverse
    bent = nx * nx + ny * ny + nz * nz  # the square of the sine
    if bent < NEARLY_STRAIGHT:
        ax, ay, az = axes[limb, 0], axes[limb, 1], axes[limb, 2]
        share = axes[limb, 3] * (1 - bent / NEARLY_STRAIGHT)
        nx += share * (take(m, at) * ax + take(m, at + 1) * ay + take(m, at + 2) * az)
        ny += share * (
            take(m, at + 4) * ax + take(m, at + 5) * ay + take(m, at + 6) * az
        )
        nz += share * (
            take(m, at + 8) * ax + take(m, at + 9) * ay + take(m, at + 10) * az
        )
        # Across the bone, or the bend would be less than asked for.
        along = (nx * ux + ny * uy + nz * uz) / (ux * ux + uy * uy + uz * uz)
        nx, ny, nz = nx - along * ux, ny - along * uy, nz - along * uz
        bent = nx * nx + ny * ny + nz * nz
        if bent < 1e-12:
            # Straight, and made to bend about itself: toward the pole, or anyhow.
            nx, ny, nz = py * uz - pz * uy, pz * ux - px * uz, px * uy - py * ux
            bent = nx * nx + ny * ny + nz * nz
            if bent < 1e-20:
                nx, ny, nz = (uy, -ux, 0.0) if abs(ux) > abs(uz) else (0.0, uz, -uy)
                bent = nx * nx + ny * ny + nz * nz
    scale = 1 / math.sqrt(max(bent, 1e-300))
    return nx * scale, ny * scale, nz * scale


@jit(
    "void(i4[:, ::1], f8[:, ::1], f4[:, ::1], f4[:, ::1], f4[:, ::1], f4[:, ::1],"
    " f4[:, ::1], out f4[:, ::1], out f4[:, ::1])"
)
def solve_two_bone(
    limbs: Ints,
    axes: Doubles,
    world: Floats,
    targets: Floats,
    poles: Floats,
    tilts: Floats,
    weights: Floats,
    off: Floats,
    local: Floats,
) -> None:
    """Bring the ends of M limbs of N characters to their targets.

    limbs: (M, 7), see the columns above; axes: (M, 4), what a straight limb bends
    about, in the middle's frame, and how much that counts; world: (N, 12 J) before the
    call; targets, poles: (N, 3 M), world, poles 0 for none; tilts: (N, 4 M), turns of
    the world for ends that keep their orientation; weights: (N, M), 0 for what is not
    touched; off: (N, M), metres left at full weight; local: (N, 10 L).
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
            inverse = 1 / (one * other)
            nx, ny, nz = _axis(
                m, b, axes, k, ux, uy, uz, vx, vy, vz, inverse, px, py, pz
            )
            # The lower bone as it must be: the outer angle at the middle by its cosine.
            cosine = 0.5 * (reach * reach - upper - lower) * inverse
            cosine = min(max(cosine, -1.0), 1.0)
            sine = math.sqrt(1 - cosine * cosine) * other
            cosine *= other
            scale = 1 / one
            dx, dy, dz = ux * scale, uy * scale, uz * scale
            wx = dx * cosine + (ny * dz - nz * dy) * sine
            wy = dy * cosine + (nz * dx - nx * dz) * sine
            wz = dz * cosine + (nx * dy - ny * dx) * sine
            bx, by, bz, bw = arc_between(vx, vy, vz, wx, wy, wz, lower, nx, ny, nz)
            ex, ey, ez = ux + wx, uy + wy, uz + wz
            sx, sy, sz, sw = arc_between(
                ex, ey, ez, tx, ty, tz, reach * far, nx, ny, nz
            )
            if px * px + py * py + pz * pz > 0:
                # The side that the middle is on, which a straight limb has too.
                ux, uy, uz = ey * nz - ez * ny, ez * nx - ex * nz, ex * ny - ey * nx
                ux, uy, uz = turn_vector(sx, sy, sz, sw, ux, uy, uz)
                qx, qy, qz, qw = pole_turn(tx, ty, tz, ux, uy, uz, px, py, pz)
                sx, sy, sz, sw = turn_both(qx, qy, qz, qw, sx, sy, sz, sw)
            lane = np.int64(limbs[k, MIDDLE_LANE])
            _turn_lane(mine, lanes, lane, m, b, bx, by, bz, bw, weight)
            lane = np.int64(limbs[k, START_LANE])
            _turn_lane(mine, lanes, lane, m, a, sx, sy, sz, sw, weight)
            if limbs[k, KEEPS] != 0:
                x, y, z, w = turn_both(sx, sy, sz, sw, bx, by, bz, bw)
                qx, qy = np.float64(tilts[n, 4 * k]), np.float64(tilts[n, 4 * k + 1])
                qz, qw = np.float64(tilts[n, 4 * k + 2]), tilts[n, 4 * k + 3]
                x, y, z, w = turn_both(-x, -y, -z, w, qx, qy, qz, qw)
                lane = np.int64(limbs[k, END_LANE])
                _turn_lane(mine, lanes, lane, m, c, x, y, z, w, weight)
