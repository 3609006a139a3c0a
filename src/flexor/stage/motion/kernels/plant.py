"""Where ends of limbs are to be: feet on the ground, and none of a sole under it."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

from flexor.maths.kernels.field import ground_height, ground_slope
from flexor.maths.kernels.functions import cos, sin
from flexor.maths.kernels.jit import jit
from flexor.maths.kernels.numbers import int64
from flexor.maths.kernels.quaternions import turn_both, turn_vector
from flexor.stage.layout import GroundTable
from flexor.stage.motion.kernels.soles import sole_point
from flexor.stage.motion.layout import LOCKED, OFF_TURN, OFF_X, OFF_Y, OFF_Z, Soles
from flexor.stage.movement.layout import Feet

if TYPE_CHECKING:
    from flexor.arrays import Doubles, Floats, Ints

LOWEST, HIGHEST = -0.4, 0.4  # metres that a foot is moved
SOFT, SOON = 0.3, 0.6  # of the way that hips sink in a tick; to a foot that is far
FLAT = 1e-4  # metres: ground as even as this needs no feet put on it
LIFT = 5.0  # times sooner than the rest, a sole comes out of the ground
LOW_FOOT, HIGH_FOOT = 0.25, 0.6  # metres: a foot that kicks leaves the ground be
NEAR_GROUND = 0.12  # metres over which a foot loses the slope of the ground
BENT, DEEPEST = 0.985, -0.18  # of a straight leg; metres that hips sink for a far foot


@jit(
    "bool(GroundTable, i4[::1], f8[:, ::1], f8[::1], f8[:, :, ::1], i4[:, ::1], Soles,"
    " Feet, out f8[::1], out f4[:, :, :, ::1])",
)
def plant_feet(
    ground: GroundTable,
    rows: Ints,
    places: Doubles,
    planted: Doubles,
    offsets: Doubles,
    phases: Ints,
    soles: Soles,
    feet: Feet,
    sinks: Doubles,
    world: Floats,
) -> bool:
    """Where the ends of limbs are to be; gives whether any moves.

    rows: (n,), characters; planted: (N,), how much of feet follows the ground, 0 to 1;
    offsets: (n, M, 4), of feet from where clips have them, metres and radians, phases:
    (n, M), what they do; sinks: (N,), metres by which hips give way, changed, and so is
    world (n, J, 3, 4).
    """
    heights, x0, z0, step = ground.heights, ground.x0, ground.z0, ground.step
    ends, flats, lifts = feet.ends, feet.flats, feet.lifts
    targets, tilts, weights = feet.targets, feet.tilts, feet.weights
    is_any = False
    for k in range(len(rows)):
        n = int64(rows[k])
        base = places[n, 1]
        lowest = nearest = 0.0
        for m in range(len(ends)):
            j = int64(ends[m])
            x, y, z = world[k, j, 0, 3], world[k, j, 1, 3], world[k, j, 2, 3]
            ax, ay, az = float(x), float(y), float(z)
            lift = lifts[k, m]
            is_tilted = False
            qx = qy = qz = 0.0
            qw = 1.0
            if flats[m] >= 0.0 and soles.nodes[m, 0] >= 0:
                turn = offsets[k, m, OFF_TURN]
                x, z = ax + offsets[k, m, OFF_X], az + offsets[k, m, OFF_Z]
                lift += offsets[k, m, OFF_Y]
                is_tilted = abs(turn) > FLAT
                is_tilted = is_tilted or max(abs(x - ax), abs(z - az)) > FLAT
                qy, qw = sin(0.5 * turn), cos(0.5 * turn)
            if flats[m] >= 0.0 and planted[n] > 0.0:
                below = ground_height(heights, x0, z0, step, x, z) - base
                if below < LOWEST:  # over an edge: it is not reached for
                    below = max(LOWEST * (2.0 - below / LOWEST), LOWEST)
                    below = min(below, 0.0)
                below = min(below, HIGHEST)
                over = y - sinks[n] - base - flats[m]
                low = (HIGH_FOOT - over) / (HIGH_FOOT - LOW_FOOT)
                below *= min(max(low, 0.0), 1.0) * planted[n]
                lowest = min(lowest, below)
                lift += below
                part = min(max(1.0 - over / NEAR_GROUND, 0.0), 1.0) * planted[n]
                gx, gz = ground_slope(heights, x0, z0, step, x, z)
                gx, gz = gx * part, gz * part
                is_tilted = is_tilted or max(abs(gx), abs(gz)) > FLAT
                w = 1.0 + math.sqrt(1.0 + gx * gx + gz * gz)
                size = 1.0 / math.sqrt(gx * gx + gz * gz + w * w)
                qx, qy, qz, qw = turn_both(
                    -gz * size, 0.0, gx * size, w * size, qx, qy, qz, qw
                )
            high = ay - sinks[n] + lift
            if flats[m] >= 0.0:
                under = 0.0
                for p in range(soles.nodes.shape[1]):
                    if soles.nodes[m, p] < 0:
                        break
                    px, py, pz = sole_point(world, k, soles, m, p)
                    px, py, pz = turn_vector(qx, qy, qz, qw, px - ax, py - ay, pz - az)
                    floor = ground_height(heights, x0, z0, step, x + px, z + pz)
                    under = max(under, floor - high - py)
                under = min(under, HIGHEST) * min(LIFT * planted[n], 1.0)
                lift, high = lift + under, high + under
                if phases[k, m] == LOCKED:
                    # Hips come down to a foot that is far away.
                    h = int64(soles.starts[m])
                    dx, dz = x - world[k, h, 0, 3], z - world[k, h, 2, 3]
                    far = BENT * soles.lengths[m]
                    tall = math.sqrt(max(far * far - dx * dx - dz * dz, 0.0))
                    need = high + tall - (world[k, h, 1, 3] - sinks[n])
                    nearest = min(nearest, max(need, DEEPEST))
            targets[k, m, 0], targets[k, m, 1], targets[k, m, 2] = x, high, z
            tilts[k, m, 0], tilts[k, m, 1] = qx, qy
            tilts[k, m, 2], tilts[k, m, 3] = qz, qw
            weights[k, m] = 1.0 if abs(lift) > FLAT or is_tilted else 0.0
        soft = SOFT
        if nearest < lowest:
            lowest, soft = nearest, SOON
        sink = sinks[n] + soft * (lowest - sinks[n])
        if abs(sink) < FLAT:
            sink = 0.0
        if sink != sinks[n]:
            for j in range(world.shape[1]):
                world[k, j, 1, 3] += sink - sinks[n]
            sinks[n] = sink
        for m in range(len(ends)):
            if sink != 0.0:
                weights[k, m] = 1.0 if flats[m] >= 0.0 else weights[k, m]
            if flats[m] < 0.0:
                targets[k, m, 1] += sink
            is_any = is_any or weights[k, m] > 0.0
    return is_any
