"""What characters are seen to do, where they stand, and feet on uneven ground."""

import math

import numpy as np

from flexor.maths.kernels.jit import jit
from flexor.stage.kernels.field import ground_height, ground_slope

# Those of scene.stage_plan.ROLES; moves come behind them.
STANCE, WALK, RUN, BACK, LEFT, RIGHT, AIR = range(7)
HIT, GUARDED, RECOIL, BEATEN, WON = range(7, 12)
ROLES = 12
# What came of an attack, as in stage.movement.fight.
WAS_GUARDED, WAS_PARRIED = 2, 3
FALLING = 1.5  # metres a second downward that look like falling
SLOWEST, FASTEST = 0.25, 2.5  # factors of a clip's own speed
FASTER = 1.25  # times walking: from there on it is a run
LOWEST, HIGHEST = -0.4, 0.4  # metres that a foot is moved
SOFT = 0.3  # of the way that hips sink in a tick
FLAT = 1e-4  # metres: ground as even as this needs no feet put on it
LOW_FOOT, HIGH_FOOT = 0.25, 0.6  # metres: a foot that kicks leaves the ground be
NEAR_GROUND = 0.12  # metres over which a foot loses the slope of the ground


@jit(
    "void(f8, f8[::1], i4[::1], u1[::1], bool[::1], bool[::1], i4[::1], i4[::1],"
    " bool[::1], f8[::1], f8[:, ::1], f8[::1], i4[::1], f8[:, ::1], out i4[::1],"
    " out bool[::1], out f8[::1])"
)
def choose_roles(
    walk, energy, stun, struck, is_new, has_won, moves, started, grounded, falls,
    asked, paces, kinds, own_speeds, roles, changed, rates,
):  # fmt: skip
    """The role of each character (N,), whether it begins now, and how fast it plays.

    walk: metres a second; struck: (N,), what its stun came of; is_new: (N,), whose
    began just now; started: (N,), moves that began, -1 for none; kinds: (N,), and
    own_speeds: (K, 12), metres a second at
    which clips of roles carry who plays them, 0 for none.
    """
    for n in range(len(roles)):
        rate = 1.0
        if energy[n] <= 0.0:
            role = BEATEN
        elif stun[n] > 0:
            role = HIT
            if struck[n] == WAS_GUARDED:
                role = GUARDED
            elif struck[n] == WAS_PARRIED:
                role = RECOIL
        elif moves[n] >= 0:
            role = ROLES + np.int64(moves[n])
        elif has_won[n] and asked[n, 0] == 0.0 and asked[n, 1] == 0.0:
            role = WON
        elif not grounded[n] and falls[n] > FALLING:
            role = AIR
        else:
            ahead, right = asked[n, 0], asked[n, 1]
            role = STANCE
            if abs(right) > abs(ahead):
                role = RIGHT if right > 0.0 else LEFT
            elif ahead > FASTER * walk:
                role = RUN
            elif ahead > 0.0:
                role = WALK
            elif ahead < 0.0:
                role = BACK
            own = own_speeds[np.int64(kinds[n]), role]
            if own > 0.0:
                speed = math.sqrt(ahead * ahead + right * right) * paces[n]
                rate = min(max(speed / own, SLOWEST), FASTEST)
        is_again = started[n] >= 0 and role >= ROLES
        is_again = is_again or (is_new[n] and HIT <= role <= RECOIL)
        changed[n] = role != roles[n] or is_again
        roles[n], rates[n] = role, rate


@jit("void(i4[::1], f8[:, ::1], f8[::1], f8[::1], out f8[:, :, ::1])")
def put_places(rows, places, headings, sinks, out):
    """world_from_character (n, 3, 4) of some rows: turned about Y, and in place."""
    for k in range(len(rows)):
        n = np.int64(rows[k])
        s, c = math.sin(headings[n]), math.cos(headings[n])
        out[k, 0, 0], out[k, 0, 1], out[k, 0, 2] = c, 0.0, s
        out[k, 1, 0], out[k, 1, 1], out[k, 1, 2] = 0.0, 1.0, 0.0
        out[k, 2, 0], out[k, 2, 1], out[k, 2, 2] = -s, 0.0, c
        out[k, 0, 3] = places[n, 0]
        out[k, 1, 3] = places[n, 1] + sinks[n]
        out[k, 2, 3] = places[n, 2]


@jit(
    "bool(f8[:, ::1], f8, f8, f8, i4[::1], i4[::1], f8[::1], f8[:, ::1], f8[::1],"
    " f8[:, ::1], out f8[::1], out f4[:, :, :, ::1], out f4[:, :, ::1],"
    " out f4[:, :, ::1], out f4[:, ::1])"
)
def plant_feet(
    heights, x0, z0, step, rows, ends, flats, places, planted, lifts, sinks,
    world, targets, tilts, weights,
):  # fmt: skip
    """Where the ends of limbs are to be, on uneven ground; gives whether any moves.

    rows: (n,), characters; ends: (M,), nodes of their limbs; flats: (M,), metres that a
    foot's node is above the floor at rest, below 0 for a hand; planted: (N,), how
    much of feet follows the ground, 0 to 1; lifts: (n, M), metres by which limbs are
    lifted beside; sinks: (N,), metres by which hips give way, changed, and so is world
    (n, J, 3, 4). Fills targets (n, M, 3), metres, tilts (n, M, 4), rotations, and
    weights (n, M).
    """
    is_any = False
    for k in range(len(rows)):
        n = np.int64(rows[k])
        base = places[n, 1]
        lowest = 0.0
        for m in range(len(ends)):
            j = np.int64(ends[m])
            x, y, z = world[k, j, 0, 3], world[k, j, 1, 3], world[k, j, 2, 3]
            lift = lifts[k, m]
            is_tilted = False
            targets[k, m, 0], targets[k, m, 2] = x, z
            tilts[k, m, 0], tilts[k, m, 1] = 0.0, 0.0
            tilts[k, m, 2], tilts[k, m, 3] = 0.0, 1.0
            if flats[m] >= 0.0 and planted[n] > 0.0:
                ground = ground_height(heights, x0, z0, step, x, z) - base
                ground = min(max(ground, LOWEST), HIGHEST)
                over = y - sinks[n] - base - flats[m]
                low = (HIGH_FOOT - over) / (HIGH_FOOT - LOW_FOOT)
                ground *= min(max(low, 0.0), 1.0) * planted[n]
                lowest = min(lowest, ground)
                lift += ground
                part = min(max(1.0 - over / NEAR_GROUND, 0.0), 1.0) * planted[n]
                gx, gz = ground_slope(heights, x0, z0, step, x, z)
                gx, gz = gx * part, gz * part
                is_tilted = max(abs(gx), abs(gz)) > FLAT
                w = 1.0 + math.sqrt(1.0 + gx * gx + gz * gz)
                size = 1.0 / math.sqrt(gx * gx + gz * gz + w * w)
                tilts[k, m, 0], tilts[k, m, 2] = -gz * size, gx * size
                tilts[k, m, 3] = w * size
            targets[k, m, 1] = y - sinks[n] + lift
            weights[k, m] = 1.0 if abs(lift) > FLAT or is_tilted else 0.0
        sink = sinks[n] + SOFT * (lowest - sinks[n])
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
