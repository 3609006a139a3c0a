"""Feet that stand where they stand, and steps where clips have none.

A foot that its clip has planted is locked: the lowest point of its sole stays where it
is in the world, whatever the body does, and so does its heading. What that takes is an
offset from where the clip has the foot, in the world, so that a foot that is let go
comes back to its clip without a jump. Clips that go (they have a way) lift feet
themselves; the offset then runs to half of what the body will slide over the next
contact, so that a walk that goes aslant has its feet under the body. In clips that
stand, a foot that is too far off makes a step.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

from flexor.maths.kernels.functions import cos, sin
from flexor.maths.kernels.jit import inline, jit
from flexor.maths.kernels.numbers import int64
from flexor.stage.motion.kernels.soles import sole_point
from flexor.stage.motion.layout import (
    AHEAD,
    AT_X,
    AT_Z,
    BEHIND,
    COSINE,
    FREE,
    FROM_TURN,
    FROM_X,
    FROM_Y,
    FROM_Z,
    GONE,
    HIGH,
    IS_DOWN,
    LEFT,
    LENGTH,
    LOCKED,
    LOW,
    OFF,
    OFF_TURN,
    OFF_X,
    OFF_Y,
    OFF_Z,
    PIVOT,
    PLANTED,
    SCORE,
    SINCE,
    SINE,
    STEPPING,
    Contacts,
    Heard,
    Soles,
    Steps,
)

if TYPE_CHECKING:
    from flexor.arrays import Bools, Doubles, Floats, Ints

RATE = 60.0  # rows of contacts a second
FASTEST = 15.0  # metres a second: who is farther was put there
KEEN = 0.35  # of a new pace that is taken on in a tick
DOWN = 0.03  # metres: a sole as low is on the floor
LANDING = 0.12  # metres: a foot that comes down makes the rest of the way as a step
NEAR, ROUND = 0.10, 0.55  # metres and radians that a foot may be off before it steps
SETTLED, TIDY, TIDY_ROUND = 0.35, 0.04, 0.2  # seconds at rest, after that so much
WIDE, WIDE_ROUND = 0.5, 1.0  # in clips that go
FAR = 0.6  # metres: a foot steps even if the other is in the air
STILL = 0.05  # metres a second: who goes slower rests
SLOW_STEP, FAST_STEP, HASTE = 0.25, 0.11, 2.0  # seconds, and metres a second
LEAST_HIGH, MORE_HIGH, MOST_HIGH = 0.04, 0.12, 0.08  # metres, of the way, metres
LEAD, MOST_LEAD = 0.5, 0.3  # of a step that one steps ahead, and metres at most
MOST_STRIDE = 0.28  # metres that a walk's foot is put aside
HELD, HELD_GOING = 0.2, 0.1  # seconds that a foot waits for the other to come down
LET_GO = 0.15  # of an offset that goes in a tick
EASE_IN = 0.25  # of a swing in which the offset begins to change


@inline
def _within(x: float, z: float, most: float) -> tuple[float, float]:
    """A way that is at most so long."""
    size = math.sqrt(x * x + z * z)
    if size > most:
        return x * most / size, z * most / size
    return x, z


@inline
def _turned(angle: float) -> float:
    """An angle from minus half a turn to half a turn."""
    return angle - 2 * math.pi * math.floor(angle / (2 * math.pi) + 0.5)


@inline
def _put(
    steps: Steps, found: Doubles, k: int, m: int, x: float, z: float
) -> tuple[float, float]:
    """Where a point of a foot is, that the clip has at x and z."""
    rx, rz = x - found[m, AT_X], z - found[m, AT_Z]
    s, c = found[m, SINE], found[m, COSINE]
    return (
        found[m, AT_X] + steps.offsets[k, m, OFF_X] + c * rx + s * rz,
        found[m, AT_Z] + steps.offsets[k, m, OFF_Z] - s * rx + c * rz,
    )


@inline
def _stay(world: Floats, steps: Steps, soles: Soles, k: int, m: int) -> None:
    """The lowest point of a foot is where it was a tick ago."""
    found, offsets = steps.found, steps.offsets
    p = int64(found[m, PIVOT])
    x, _, z = sole_point(world, k, soles, m, p)
    x, z = _put(steps, found, k, m, x, z)
    offsets[k, m, OFF_X] += steps.spots[k, m, p, 0] - x
    offsets[k, m, OFF_Z] += steps.spots[k, m, p, 1] - z


@inline
def _set_turn(steps: Steps, found: Doubles, k: int, m: int, turn: float) -> None:
    steps.offsets[k, m, OFF_TURN] = turn
    found[m, SINE], found[m, COSINE] = sin(turn), cos(turn)


@inline
def _begin_step(steps: Steps, found: Doubles, k: int, m: int, speed: float) -> None:
    """A foot leaves where it is."""
    offsets, own = steps.offsets, steps.steps
    steps.phases[k, m] = STEPPING
    own[k, m, FROM_X] = found[m, AT_X] + offsets[k, m, OFF_X]
    own[k, m, FROM_Z] = found[m, AT_Z] + offsets[k, m, OFF_Z]
    own[k, m, FROM_Y] = offsets[k, m, OFF_Y]
    own[k, m, FROM_TURN] = offsets[k, m, OFF_TURN]
    own[k, m, SINCE] = 0.0
    haste = min(speed / HASTE, 1.0)
    own[k, m, LENGTH] = SLOW_STEP + (FAST_STEP - SLOW_STEP) * haste
    way = math.sqrt(offsets[k, m, OFF_X] ** 2 + offsets[k, m, OFF_Z] ** 2)
    own[k, m, HIGH] = min(LEAST_HIGH + MORE_HIGH * way, MOST_HIGH)


@inline
def _make_step(dt: float, steps: Steps, found: Doubles, k: int, m: int) -> None:
    """A tick of a step, toward where the clip will have the foot."""
    offsets, own = steps.offsets, steps.steps
    own[k, m, SINCE] += dt
    length = own[k, m, LENGTH]
    part = min(own[k, m, SINCE] / length, 1.0)
    gone = part * part * (3.0 - 2.0 * part)
    left = (1.0 - part + LEAD) * length
    ax, az = steps.paces[k, 0] * left, steps.paces[k, 1] * left
    ax, az = _within(ax, az, MOST_LEAD)
    bx, bz = own[k, m, FROM_X] - found[m, AT_X], own[k, m, FROM_Z] - found[m, AT_Z]
    offsets[k, m, OFF_X] = bx + (ax - bx) * gone
    offsets[k, m, OFF_Z] = bz + (az - bz) * gone
    high = own[k, m, FROM_Y] * (1.0 - gone)
    offsets[k, m, OFF_Y] = high + 4.0 * own[k, m, HIGH] * part * (1.0 - part)
    _set_turn(steps, found, k, m, own[k, m, FROM_TURN] * (1.0 - gone))
    if part >= 1.0:
        steps.phases[k, m] = LOCKED
        offsets[k, m, OFF_Y] = 0.0


@inline
def _let_go(
    dt: float,
    steps: Steps,
    found: Doubles,
    k: int,
    m: int,
    ax: float,
    az: float,
    is_going: bool,
) -> None:
    """A foot in the air comes to its clip, or beside it by (ax, az), to land there."""
    offsets, part = steps.offsets, LET_GO
    left, gone = found[m, LEFT], found[m, GONE]
    if is_going and found[m, IS_DOWN] == 0.0:
        part = min(2.0 * dt / max(left, dt), 1.0)
        part *= min(gone / (EASE_IN * max(left + gone, dt)), 1.0)
    offsets[k, m, OFF_X] += (ax - offsets[k, m, OFF_X]) * part
    offsets[k, m, OFF_Z] += (az - offsets[k, m, OFF_Z]) * part
    offsets[k, m, OFF_Y] -= offsets[k, m, OFF_Y] * part
    _set_turn(steps, found, k, m, offsets[k, m, OFF_TURN] * (1.0 - part))


@inline
def _listen(heard: Heard, k: int) -> tuple[int, float, float]:
    """The clip that is played, or -1, the second it is at, and its speed."""
    target = int64(heard.targets[k])
    if target < 0:
        return -1, 0.0, 0.0
    r = k * (len(heard.voices) // len(heard.targets)) + target
    pace = heard.voices[r, heard.speed] * heard.speeds[k]
    return int64(heard.marks[r, heard.clip]), heard.voices[r, heard.position], pace


@inline
def _look(
    contacts: Contacts, found: Doubles, m: int, clip: int, time: float, pace: float
) -> None:
    """What the clip that is played says of a foot."""
    found[m, IS_DOWN], found[m, LEFT], found[m, GONE] = 1.0, 1.0, 1.0
    if clip < 0:
        return
    first, count = int64(contacts.rows[clip, 0]), int64(contacts.rows[clip, 1])
    if count == 0:
        return
    at = int64(time * RATE + 0.5)
    row = first + min(max(at, 0), count - 1)
    found[m, IS_DOWN] = contacts.plans[row, m, PLANTED]
    ahead, behind = contacts.plans[row, m, AHEAD], contacts.plans[row, m, BEHIND]
    if pace < 0.0:
        ahead, behind = behind, ahead
    scale = 1.0 / max(abs(pace), 0.05)
    found[m, LEFT], found[m, GONE] = ahead * scale, behind * scale


@inline
def _is_held(steps: Steps, soles: Soles, k: int, own: int, longest: float) -> bool:
    """Whether a foot that its clip lifts waits: no other stands, and one soon will."""
    found = steps.found
    soonest = math.inf
    for m in range(len(soles.nodes)):
        if m == own or soles.nodes[m, 0] < 0:
            continue
        phase = steps.phases[k, m]
        if phase == LOCKED:
            return False
        left = 0.0
        if phase == STEPPING:
            return True
        if found[m, IS_DOWN] == 0.0:
            left = found[m, LEFT]
        soonest = min(soonest, left)
    return soonest <= longest


@inline
def _may_step(steps: Steps, soles: Soles, k: int, own: int) -> bool:
    """Whether no other foot is in the air, or will be before a step is over."""
    for m in range(len(soles.nodes)):
        if m == own or soles.nodes[m, 0] < 0:
            continue
        if steps.phases[k, m] != LOCKED or steps.found[m, LEFT] < FAST_STEP:
            return False
    return True


@inline
def _find_low(
    world: Floats, soles: Soles, found: Doubles, k: int, m: int, floor: float
) -> None:
    """The lowest point of a sole by the clip, and how high it is above the floor."""
    found[m, LOW], found[m, PIVOT] = math.inf, 0.0
    for p in range(soles.nodes.shape[1]):
        if soles.nodes[m, p] < 0:
            break
        _, y, _ = sole_point(world, k, soles, m, p)
        if y < found[m, LOW]:
            found[m, LOW], found[m, PIVOT] = y, p
    found[m, LOW] -= floor


@inline
def _keep_spots(world: Floats, steps: Steps, soles: Soles, k: int, m: int) -> None:
    """Where points of a sole are now, for the next tick."""
    for p in range(soles.nodes.shape[1]):
        if soles.nodes[m, p] < 0:
            break
        x, _, z = sole_point(world, k, soles, m, p)
        x, z = _put(steps, steps.found, k, m, x, z)
        steps.spots[k, m, p, 0], steps.spots[k, m, p, 1] = x, z


@inline
def _change(
    world: Floats,
    steps: Steps,
    soles: Soles,
    k: int,
    m: int,
    is_going: bool,
    is_put: bool,
    speed: float,
) -> None:
    """Whether a foot of somebody who stands is let go, put down or begins a step."""
    found, offsets, phases = steps.found, steps.offsets, steps.phases
    if found[m, IS_DOWN] == 0.0:
        held = HELD_GOING if is_going else HELD
        if phases[k, m] == LOCKED and _is_held(steps, soles, k, m, held):
            offsets[k, m, OFF_Y] = -max(found[m, LOW], 0.0)
        else:
            phases[k, m] = FREE
    elif phases[k, m] == FREE:
        if found[m, LOW] + offsets[k, m, OFF_Y] <= DOWN:
            phases[k, m] = LOCKED
            if not is_put:
                _stay(world, steps, soles, k, m)
        elif not is_going and found[m, LOW] <= LANDING:
            _begin_step(steps, found, k, m, speed)
    elif phases[k, m] == LOCKED:
        offsets[k, m, OFF_Y] -= LET_GO * offsets[k, m, OFF_Y]


@inline
def _step_one(steps: Steps, soles: Soles, k: int, speed: float) -> None:
    """Let the foot that is farthest off begin a step, if it is too far and may."""
    found, best = steps.found, -1
    for m in range(len(soles.nodes)):
        if soles.nodes[m, 0] < 0 or found[m, SCORE] < 1.0:
            continue
        if found[m, OFF] <= FAR and not _may_step(steps, soles, k, m):
            continue
        if best < 0 or found[m, SCORE] > found[best, SCORE]:
            best = m
    if best >= 0:
        _begin_step(steps, found, k, best, speed)


@jit(
    "void(f8, bool, i4[::1], f8[:, ::1], f8[:, ::1], f8[::1], f8[::1], bool[::1],"
    " i4[::1], f4[:, :, :, ::1], Heard, Contacts, Soles, Steps)"
)
def lock_feet(
    dt: float,
    begins: bool,
    rows: Ints,
    before: Doubles,
    places: Doubles,
    headings: Doubles,
    sinks: Doubles,
    stands: Bools,
    ends: Ints,
    world: Floats,
    heard: Heard,
    contacts: Contacts,
    soles: Soles,
    steps: Steps,
) -> None:
    """How far feet are off where clips have them, to stand still on the ground.

    begins: nothing was before; rows: (n,), characters; before, places: (N, 3), metres,
    a tick ago and now; headings: (N,), radians; sinks: (N,), metres that hips have
    given way; stands: (N,), who is on its feet; ends: (M,), nodes at which limbs end;
    world: (n, J, 3, 4), as clips have it, sunk. Limbs without a sole are left alone.
    """
    found, offsets, phases = steps.found, steps.offsets, steps.phases
    for k in range(len(rows)):
        n = int64(rows[k])
        vx, vz = places[n, 0] - before[n, 0], places[n, 2] - before[n, 2]
        is_put = begins or math.sqrt(vx * vx + vz * vz) > FASTEST * dt
        is_put = is_put or abs(places[n, 1] - before[n, 1]) > FASTEST * dt
        vx, vz = vx / dt, vz / dt
        if is_put:
            vx = vz = steps.paces[k, 0] = steps.paces[k, 1] = 0.0
        steps.paces[k, 0] += KEEN * (vx - steps.paces[k, 0])
        steps.paces[k, 1] += KEEN * (vz - steps.paces[k, 1])
        vx, vz = steps.paces[k, 0], steps.paces[k, 1]
        speed = math.sqrt(vx * vx + vz * vz)
        turn = _turned(headings[n] - steps.headings[k])
        steps.headings[k] = headings[n]
        clip, time, pace = _listen(heard, k)
        wx = wz = 0.0
        if clip >= 0:
            left, ahead = contacts.ways[clip, 0] * pace, contacts.ways[clip, 1] * pace
            s, c = sin(headings[n]), cos(headings[n])
            wx, wz = left * c + ahead * s, ahead * c - left * s
        is_going = wx != 0.0 or wz != 0.0
        is_still = speed < STILL and not is_going and abs(turn) < STILL * dt
        steps.rests[k] = steps.rests[k] + dt if is_still else 0.0
        near, around = NEAR, ROUND
        if is_going:
            near, around = WIDE, WIDE_ROUND
        elif steps.rests[k] > SETTLED:
            near, around = TIDY, TIDY_ROUND
        floor = places[n, 1] + sinks[n]
        for m in range(len(ends)):
            if soles.nodes[m, 0] < 0:
                continue
            j = int64(ends[m])
            found[m, AT_X], found[m, AT_Z] = world[k, j, 0, 3], world[k, j, 2, 3]
            _look(contacts, found, m, clip, time, pace)
            if is_put:
                phases[k, m] = FREE
                for i in range(4):
                    offsets[k, m, i] = 0.0
            if phases[k, m] != FREE:
                offsets[k, m, OFF_TURN] -= turn
                steps.steps[k, m, FROM_TURN] -= turn
            _set_turn(steps, found, k, m, offsets[k, m, OFF_TURN])
            _find_low(world, soles, found, k, m, floor)
            if phases[k, m] == LOCKED:
                _stay(world, steps, soles, k, m)
            ox, oz = offsets[k, m, OFF_X], offsets[k, m, OFF_Z]
            found[m, OFF] = math.sqrt(ox * ox + oz * oz)
            found[m, SCORE] = 0.0
        for m in range(len(ends)):
            if soles.nodes[m, 0] < 0:
                continue
            if not stands[n]:
                phases[k, m] = FREE
            else:
                _change(world, steps, soles, k, m, is_going, is_put, speed)
            if phases[k, m] == LOCKED:
                turned = abs(offsets[k, m, OFF_TURN]) / around
                found[m, SCORE] = max(found[m, OFF] / near, turned)
        _step_one(steps, soles, k, speed)
        for m in range(len(ends)):
            if soles.nodes[m, 0] < 0:
                continue
            if phases[k, m] == STEPPING:
                _make_step(dt, steps, found, k, m)
            elif phases[k, m] == FREE:
                ax = az = 0.0
                if is_going and stands[n]:
                    half = 0.5 * contacts.holds[clip, m] / max(abs(pace), 0.25)
                    ax, az = _within((vx - wx) * half, (vz - wz) * half, MOST_STRIDE)
                _let_go(dt, steps, found, k, m, ax, az, is_going)
            _keep_spots(world, steps, soles, k, m)
