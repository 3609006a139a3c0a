"""Sand and water that parts of bodies churn up: who does, and how drops fly.

In: places of parts (N, P, 3), float64, of this tick; the ground. Changed: what is known
of each part, and a ring of drops: a new drop takes the place of the oldest. Random
numbers are made from a drop's number and a seed.

Times, one thread of an AMD EPYC: a tick of 80 parts that go in and out all the time,
with 15,000 drops, 0.10 ms; the drops' quads 0.06 ms.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

from flexor.maths.kernels.field import find_cell_fast, ground_height_fast
from flexor.maths.kernels.functions import cos, sin
from flexor.maths.kernels.jit import inline, jit
from flexor.maths.kernels.numbers import float32, int32, int64
from flexor.scene.stage.layout import PLAIN, WATER
from flexor.stage.effects.kernels.snow import scramble
from flexor.stage.effects.layout import (
    CONTINUING,
    KICK_UP,
    LANDING,
    NONE,
    PLOUGHING,
    Drops,
    Parts,
)
from flexor.stage.layout import GroundTable

if TYPE_CHECKING:
    from flexor.arrays import Bytes, Doubles, Floats, Ints


WIDEST = 0.75 * math.pi  # 135 degrees
PATTERNS = 32
UNIT = 2.0**-32
SLOWEST = 0.02  # metres a tick: a part that is slower ploughs nothing up
SMALLEST = 0.35  # of the size of drops
HINDMOST = 1e-9  # metres: a way that is shorter has no direction


@inline
def _surface(
    ground: GroundTable, water: float, x: float, z: float
) -> tuple[int, float]:
    """What the ground is made of, and the height of it or of the water on it."""
    heights, x0, z0, inverse = ground.heights, ground.x0, ground.z0, ground.inverse
    r, c, _, _ = find_cell_fast(heights, x0, z0, inverse, x, z)
    kind = int64(ground.surfaces[r, c])
    level = ground_height_fast(heights, x0, z0, inverse, x, z)
    if kind == WATER:
        level = max(level, water)
    return kind, level


@inline
def _spread(
    spread: float, one: float, two: float, x: float, y: float, z: float
) -> tuple[float, float, float]:
    """A way, turned by up to `spread` at random: all of a cone alike, none of it below
    the ground. one, two: 0 to 1, which way of the cone.
    """
    size = math.sqrt(x * x + y * y + z * z)
    if spread <= 0.0 or size < HINDMOST:
        return x, y, z
    x, y, z = x / size, y / size, z / size
    # The middle of the cone is as far above the ground, and beside straight up, as the
    # cone is wide.
    low, high = sin(spread), cos(spread)
    flat = math.sqrt(x * x + z * z)
    y = min(max(y, low), high)
    side = math.sqrt(1.0 - y * y)
    if flat > HINDMOST:
        x, z = x / flat * side, z / flat * side
    else:
        angle = 2.0 * math.pi * two
        x, z = side * sin(angle), side * cos(angle)
    # A way across, level, and one across both.
    ax, az = z / side, -x / side
    bx, by, bz = y * az, z * ax - x * az, -y * ax
    turn, around = spread * math.sqrt(one), 2.0 * math.pi * two
    s, c = sin(turn), cos(turn)
    u, v = s * cos(around), s * sin(around)
    return (
        size * (c * x + u * ax + v * bx),
        size * (c * y + v * by),
        size * (c * z + u * az + v * bz),
    )


@inline
def _throw(
    chances: tuple[float, float, float, float],
    event: int,
    move: Doubles,
    origin: Doubles,
    radius: float,
    scale: float,
    spread: float,
    place: Floats,
    speed: Floats,
) -> None:
    """Where a drop begins and how fast it is, of four random numbers 0 to 1."""
    part = chances[1] / 10.0
    if event != LANDING:
        x, y, z = scale * move[0] * part, scale * move[1] * part, scale * move[2] * part
        x, y, z = _spread(spread, chances[2], chances[3], x, y, z)
        speed[0], speed[1], speed[2] = x, y, z
        place[0], place[1], place[2] = origin[0] + x, origin[1] + y, origin[2] + z
        return
    size = math.sqrt(move[0] * move[0] + move[2] * move[2])
    widest, x, z = math.pi, 0.0, 1.0  # straight down there is no way: all round
    if size > 0.0:
        widest, x, z = WIDEST, move[0] / size, move[2] / size
    angle = (2.0 * chances[0] - 1.0) * widest
    s, c = sin(angle), cos(angle)
    out = (scale * size + radius) * part
    x, z = (c * x + s * z) * out, (c * z - s * x) * out
    y = abs(scale * move[1]) * part
    speed[0], speed[1], speed[2] = _spread(spread, chances[2], chances[3], x, y, z)
    for axis in range(3):
        place[axis] = origin[axis]


@jit("bool(f8[:, :, ::1], f8)")
def are_near(places: Doubles, farthest: float) -> bool:
    """Whether all places (N, P, 3) are numbers within bounds."""
    for n in range(len(places)):
        for p in range(places.shape[1]):
            for axis in range(3):
                if not abs(places[n, p, axis]) <= farthest:
                    return False
    return True


@jit(
    "i8(bool, f8[:, :, ::1], f8[:, ::1], f8[::1], GroundTable, f8, i8, Parts, Drops)",
)
def check_parts(
    has_last: bool,
    now: Doubles,
    shapes: Doubles,
    settings: Doubles,
    ground: GroundTable,
    water: float,
    seed: int,
    parts: Parts,
    drops: Drops,
) -> int:
    """Look at every part and let it throw drops; gives how many more there are.

    now: (N, P, 3); shapes: (P, 2), radii, and how far what is above a part reaches;
    settings: base, scale, most, ticks, touch, jump, spread, reach, plough, wet;
    water: metres, the height of water.
    """
    states, left, serial, ages = parts.states, parts.left, drops.serial, drops.ages
    base, scale, most = settings[0], settings[1], settings[2]
    ticks, touch, jump = int32(settings[3]), settings[4], settings[5]
    spread, reach, plough = settings[6], settings[7], settings[8]
    wet = scale * settings[9]
    more = 0
    for n in range(now.shape[0]):
        for p in range(now.shape[1]):
            x, y, z = now[n, p, 0], now[n, p, 1], now[n, p, 2]
            old, move, origin = (
                parts.lasts[n, p],
                parts.moves[n, p],
                parts.origins[n, p],
            )
            radius, peak = shapes[p, 0], parts.peaks[n, p]
            kind, level = _surface(ground, water, x, z)
            is_down = y - touch * radius <= level
            was_aloft = parts.is_aloft[n, p]
            parts.is_aloft[n, p], parts.is_wet[n, p] = not is_down, kind == WATER
            dx, dy, dz = x - old[0], y - old[1], z - old[2]
            size = math.sqrt(dx * dx + dy * dy + dz * dz)
            # The size times the cosine of the angle above the ground.
            flat = math.sqrt(dx * dx + dz * dz)
            event, amount = NONE, 0.0
            if not has_last or size > jump:
                left[n, p, 0] = 0
                peak = -1.0
            elif is_down and was_aloft:
                event, amount, peak = LANDING, base * size, -1.0
                origin[0], origin[1], origin[2] = old[0], level, old[2]
            elif not is_down and not was_aloft:
                kind, level = _surface(ground, water, old[0], old[2])
                event, amount, peak = KICK_UP, base * flat, flat
                origin[0], origin[1], origin[2] = old[0], old[1], old[2]
            elif not is_down and peak >= 0.0:
                # It has left the surface and may still get faster.
                if y - touch * radius > level + reach:
                    peak = -1.0
                elif flat > peak:
                    kind, level = _surface(ground, water, old[0], old[2])
                    event, amount = KICK_UP, base * (flat - peak) + left[n, p, 0]
                    peak = flat
                    origin[0], origin[2] = old[0], old[2]
                    origin[1] = min(old[1], level + radius)
            elif is_down and plough > 0.0 and flat > SLOWEST:
                if y + max(touch * radius, shapes[p, 1]) >= level:
                    event, amount = PLOUGHING, 2.0 * plough * base * flat
                    origin[0], origin[1], origin[2] = x, level, z
            parts.peaks[n, p] = peak
            if event != NONE:
                parts.events[n, p] = event
                move[0], move[1], move[2] = dx, dy, dz
                move[3], move[4] = level, 1.0 if kind == WATER else 0.0
                amount = 0.0 if kind == PLAIN else min(amount, most)
                left[n, p, 0], left[n, p, 1] = int64(amount + 0.5), ticks
                states[n, p] = NONE if kind == PLAIN else event
            else:
                states[n, p] = CONTINUING if left[n, p, 0] > 0 else NONE
            old[0], old[1], old[2] = x, y, z
            if left[n, p, 0] == 0:
                continue
            half = (left[n, p, 0] + 1) // 2
            left[n, p, 0] -= half
            left[n, p, 1] -= 1
            if left[n, p, 1] == 0 or event == PLOUGHING:
                left[n, p, 0] = 0
            for _ in range(half):
                number = serial[0]
                serial[0] = number + 1
                slot = number % len(ages)
                a = scramble(seed ^ scramble(4 * number)) * UNIT
                b = scramble(seed ^ scramble(4 * number + 1)) * UNIT
                c = scramble(seed ^ scramble(4 * number + 2)) * UNIT
                d = scramble(seed ^ scramble(4 * number + 3)) * UNIT
                _throw(
                    (a, b, c, d), int64(parts.events[n, p]), move, origin, radius,
                    wet if move[4] > 0.0 else scale, spread,
                    drops.places[slot], drops.speeds[slot],
                )  # fmt: skip
                drops.floors[slot] = move[3]
                more += ages[slot] < 0
                ages[slot], drops.patterns[slot] = 0, 0
                drops.is_water[slot] = move[4] > 0.0
    return more


@jit("i8(f4, i8, f4[::1], out f4[:, ::1], out f4[:, ::1], out i4[::1], out u1[::1])")
def fly(
    gravity: float,
    life: int,
    floors: Floats,
    places: Floats,
    speeds: Floats,
    ages: Ints,
    patterns: Bytes,
) -> int:
    """A tick of all drops (C,); gives how many are left. ages: -1 is none."""
    count, half = 0, gravity * float32(0.5)
    for i in range(len(ages)):
        if ages[i] < 0:
            continue
        age = int64(ages[i]) + 1
        places[i, 0] += speeds[i, 0]
        places[i, 1] += speeds[i, 1] - half
        places[i, 2] += speeds[i, 2]
        speeds[i, 1] -= gravity
        if age >= life or (places[i, 1] < floors[i] and speeds[i, 1] < 0.0):
            ages[i] = -1
            continue
        ages[i], patterns[i] = age, age * PATTERNS // life
        count += 1
    return count


@jit("i8(f4[:, ::1], i4[::1], f4, f4, f4[::1], out i4[::1], out f4[:, :, ::1])")
def drop_quads(
    places: Floats,
    ages: Ints,
    size: float,
    life: float,
    view: Floats,
    rows: Ints,
    quads: Floats,
) -> int:
    """Corners of the drops that are there, one behind the other; rows: which these are;
    gives how many.

    Drops are of different sizes, most small, and half of them are seen the other way
    round; which, goes by their rows. They grow, at first quickly.
    """
    count = 0
    for i in range(len(ages)):
        if ages[i] < 0:
            continue
        chance = scramble(i)
        share = float32((chance >> 8) * 2.0**-24)
        young = float32(1.0) - float32(ages[i]) / life
        young *= young
        grown = float32(1.0) - float32(0.6) * young * young
        share = float32(SMALLEST) + float32(1.0 - SMALLEST) * share * share
        half = size * float32(0.5) * share * grown
        wide = -half if chance & 1 else half
        rx, ry, rz = wide * view[0], wide * view[1], wide * view[2]
        ux, uy, uz = half * view[3], half * view[4], half * view[5]
        x, y, z = places[i, 0], places[i, 1], places[i, 2]
        quad = quads[count]
        quad[0, 0], quad[0, 1], quad[0, 2] = x - rx - ux, y - ry - uy, z - rz - uz
        quad[1, 0], quad[1, 1], quad[1, 2] = x + rx - ux, y + ry - uy, z + rz - uz
        quad[2, 0], quad[2, 1], quad[2, 2] = x + rx + ux, y + ry + uy, z + rz + uz
        quad[3, 0], quad[3, 1], quad[3, 2] = x - rx + ux, y - ry + uy, z - rz + uz
        rows[count] = i
        count += 1
    return count
