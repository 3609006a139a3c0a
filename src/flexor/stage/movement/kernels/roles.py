"""What characters are seen to do, and where they stand."""

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
    BEATEN_BACK,
    DOWN_BACK,
    GUARDED,
    HIT,
    LEFT,
    LIE_BACK,
    RECOIL,
    RIGHT,
    RISE_BACK,
    RUN,
    STANCE,
    THROWN,
    WALK,
    WON,
)
from flexor.scene.stage.layout import ROLE_COUNT as ROLES
from flexor.stage.movement.layout import (
    COLLAPSED,
    HELD,
    LYING,
    RISING,
    UP,
    Roles,
    Seen,
)
from flexor.stage.movement.layout import GUARDED as WAS_GUARDED
from flexor.stage.movement.layout import PARRIED as WAS_PARRIED

if TYPE_CHECKING:
    from flexor.arrays import Doubles, Ints


FALLING = 1.5  # metres a second downward that look like falling
SLOWEST, FASTEST = 0.25, 2.5  # factors of a clip's own speed
FASTER = 1.25  # times walking: from there on it is a run
STUCK = 0.1  # of the way that is asked for: who goes less far is held, and stands
SAME = 0.05  # of it: who goes as far, up to this, goes as it asks


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


@inline
def role_down(phase: int, side: int) -> int:
    """What one who is not on its feet is seen to do."""
    if phase == HELD:
        return THROWN
    if phase == COLLAPSED:
        return BEATEN_BACK + side
    first = DOWN_BACK
    if phase == LYING:
        first = LIE_BACK
    elif phase == RISING:
        first = RISE_BACK
    return first + side % 2


@jit("void(f8, f8, Seen, f8[:, ::1], Roles)")
def choose_roles(
    walk: float, dt: float, seen: Seen, own_speeds: Doubles, out: Roles
) -> None:
    """The role of each character, whether it begins now, and how fast it plays.

    walk: metres a second; dt: seconds; own_speeds: (K, R), metres a second at which
    clips of roles carry who plays them, 0 for none.
    """
    energy, stun, asked = seen.energy, seen.stun, seen.asked
    for n in range(len(out.roles)):
        rate = 1.0
        if seen.phases[n] != UP:
            role = role_down(int64(seen.phases[n]), int64(seen.sides[n]))
        elif energy[n] <= 0.0:
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
