"""What characters are seen to do, where they stand, and feet on uneven ground."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

from flexor.maths.kernels.functions import cos, sin
from flexor.maths.kernels.jit import inline, jit
from flexor.maths.kernels.numbers import int64
from flexor.scene.stage.layout import (
    AIR,
    BACK,
    BEATEN,
    GUARDED,
    HIT,
    LEFT,
    RECOIL,
    RIGHT,
    RUN,
    STANCE,
    WALK,
    WON,
)
from flexor.scene.stage.layout import ROLE_COUNT as ROLES
from flexor.stage.kernels.field import ground_height, ground_slope
from flexor.stage.layout import GroundTable
from flexor.stage.movement.layout import GUARDED as WAS_GUARDED
from flexor.stage.movement.layout import PARRIED as WAS_PARRIED
from flexor.stage.movement.layout import Feet, Roles, Seen

if TYPE_CHECKING:
    from flexor.arrays import Doubles, Floats, Ints


FALLING = 1.5  # metres a second downward that look like falling
SLOWEST, FASTEST = 0.25, 2.5  # factors of a clip's own speed
FASTER = 1.25  # times walking: from there on it is a run
STUCK = 0.1  # of the way that is asked for: who goes less far is held, and stands
SAME = 0.05  # of it: who goes as far, up to this, goes as it asks
LOWEST, HIGHEST = -0.4, 0.4  # metres that a foot is moved
SOFT = 0.3  # of the way that hips sink in a tick
FLAT = 1e-4  # metres: ground as even as this needs no feet put on it
LOW_FOOT, HIGH_FOOT = 0.25, 0.6  # metres: a foot that kicks leaves the ground be
NEAR_GROUND = 0.12  # metres over which a foot loses the slope of the ground


@inline
def speed_of(dt: float, seen: Seen, n: int) -> float:
    """Metres a second at which one really goes: as it asks, unless walls, others or
    slopes let it go less far or further. 0 for who is held.
    """
    ahead, right = seen.asked[n, 0], seen.asked[n, 1]
    speed = math.sqrt(ahead * ahead + right * right) * seen.paces[n]
    wanted = speed * dt * seen.clocks[n]
    if wanted <= 0.0:
        return speed
    dx = seen.places[n, 0] - seen.before[n, 0]
    dz = seen.places[n, 2] - seen.before[n, 2]
    share = math.sqrt(dx * dx + dz * dz) / wanted
    if share < STUCK:
        return 0.0
    return speed if abs(share - 1.0) <= SAME else speed * share


@jit("void(f8, f8, Seen, f8[:, ::1], Roles)")
def choose_roles(
    walk: float, dt: float, seen: Seen, own_speeds: Doubles, out: Roles
) -> None:
    """The role of each character, whether it begins now, and how fast it plays.

    walk: metres a second; dt: seconds; own_speeds: (K, 12), metres a second at which
    clips of roles carry who plays them, 0 for none.
    """
    energy, stun, asked = seen.energy, seen.stun, seen.asked
    for n in range(len(out.roles)):
        rate = 1.0
        if energy[n] <= 0.0:
            role = BEATEN
        elif stun[n] > 0:
            role = HIT
            if seen.struck[n] == WAS_GUARDED:
                role = GUARDED
            elif seen.struck[n] == WAS_PARRIED:
                role = RECOIL
        elif seen.moves[n] >= 0:
            role = ROLES + int64(seen.moves[n])
        elif seen.has_won[n] and asked[n, 0] == 0.0 and asked[n, 1] == 0.0:
            role = WON
        elif not seen.grounded[n] and seen.falls[n] > FALLING:
            role = AIR
        else:
            ahead, right = asked[n, 0], asked[n, 1]
            role = STANCE
            speed = speed_of(dt, seen, n)
            if speed == 0.0:
                ahead, right = 0.0, 0.0
            if abs(right) > abs(ahead):
                role = RIGHT if right > 0.0 else LEFT
            elif ahead > FASTER * walk:
                role = RUN
            elif ahead > 0.0:
                role = WALK
            elif ahead < 0.0:
                role = BACK
            own = own_speeds[int64(seen.kinds[n]), role]
            if own > 0.0:
                rate = min(max(speed / own, SLOWEST), FASTEST)
        is_again = seen.started[n] >= 0 and role >= ROLES
        is_again = is_again or (seen.is_new[n] and HIT <= role <= RECOIL)
        out.changed[n] = role != out.roles[n] or is_again
        out.roles[n], out.rates[n] = role, rate


@jit("void(i4[::1], f8[:, ::1], f8[::1], f8[::1], out f8[:, :, ::1])")
def put_places(
    rows: Ints, places: Doubles, headings: Doubles, sinks: Doubles, out: Doubles
) -> None:
    """world_from_character (n, 3, 4) of some rows: turned about Y, and in place."""
    for k in range(len(rows)):
        n = int64(rows[k])
        s, c = sin(headings[n]), cos(headings[n])
        out[k, 0, 0], out[k, 0, 1], out[k, 0, 2] = c, 0.0, s
        out[k, 1, 0], out[k, 1, 1], out[k, 1, 2] = 0.0, 1.0, 0.0
        out[k, 2, 0], out[k, 2, 1], out[k, 2, 2] = -s, 0.0, c
        out[k, 0, 3] = places[n, 0]
        out[k, 1, 3] = places[n, 1] + sinks[n]
        out[k, 2, 3] = places[n, 2]


@jit(
    "bool(GroundTable, i4[::1], f8[:, ::1], f8[::1], Feet, out f8[::1],"
    " out f4[:, :, :, ::1])",
)
def plant_feet(
    ground: GroundTable,
    rows: Ints,
    places: Doubles,
    planted: Doubles,
    feet: Feet,
    sinks: Doubles,
    world: Floats,
) -> bool:
    """Where the ends of limbs are to be, on uneven ground; gives whether any moves.

    rows: (n,), characters; planted: (N,), how much of feet follows the ground, 0 to 1;
    sinks: (N,), metres by which hips give way, changed, and so is world (n, J, 3, 4).
    """
    heights, x0, z0, step = ground.heights, ground.x0, ground.z0, ground.step
    ends, flats, lifts = feet.ends, feet.flats, feet.lifts
    targets, tilts, weights = feet.targets, feet.tilts, feet.weights
    is_any = False
    for k in range(len(rows)):
        n = int64(rows[k])
        base = places[n, 1]
        lowest = 0.0
        for m in range(len(ends)):
            j = int64(ends[m])
            x, y, z = world[k, j, 0, 3], world[k, j, 1, 3], world[k, j, 2, 3]
            lift = lifts[k, m]
            is_tilted = False
            targets[k, m, 0], targets[k, m, 2] = x, z
            tilts[k, m, 0], tilts[k, m, 1] = 0.0, 0.0
            tilts[k, m, 2], tilts[k, m, 3] = 0.0, 1.0
            if flats[m] >= 0.0 and planted[n] > 0.0:
                below = ground_height(heights, x0, z0, step, x, z) - base
                below = min(max(below, LOWEST), HIGHEST)
                over = y - sinks[n] - base - flats[m]
                low = (HIGH_FOOT - over) / (HIGH_FOOT - LOW_FOOT)
                below *= min(max(low, 0.0), 1.0) * planted[n]
                lowest = min(lowest, below)
                lift += below
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
