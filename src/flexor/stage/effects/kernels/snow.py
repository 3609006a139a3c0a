"""Falling snow, flake by flake.

In: the wind of the tick, the box that snow falls in, the ground's heights. Changed:
places (F, 3), float32, metres, around which flakes go in circles; phases (F,), uint16,
of these circles, 65536 a turn; rolls (F,), uint32, from which random places are made:
each flake has its own, so that no order matters; drifts (F, 3), float32, metres a
tick, what flakes have taken on of the speed of parts that moved among them.

Times of 100,000 flakes above hills, AMD EPYC: a tick 0.38 ms with one thread, 0.24 with
two; their quads 0.37 and 0.24 ms.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

from flexor.maths.kernels.field import ground_height_fast
from flexor.maths.kernels.jit import inline, jit
from flexor.maths.kernels.numbers import float32, int64, uint64
from flexor.stage.effects.layout import FLAKES as BLOCK
from flexor.stage.layout import GroundTable

if TYPE_CHECKING:
    from flexor.arrays import Bools, Bytes, Doubles, Floats, Masks, Words


WEYL = 0x9E3779B9
WORD = 0xFFFFFFFF
STILL = 1e-5  # metres a tick: a flake that drifts slower drifts no more
NEAR = 0.6  # how far a part stirs flakes, as part of how far it stirs leaves
ASIDE = 0.5  # how fast flakes get out of the way, as part of the speed of a wind


@inline
def scramble(number: int) -> int:
    """Mix the bits of a number of 32: neighbours become unlike. In 64 bits and with
    small factors, so that nothing overflows.
    """
    h = int64(number) & WORD
    h ^= h >> 16
    h = (h * 0x21F0AAAD) & WORD
    h ^= h >> 15
    h = (h * 0x735A2D97) & WORD
    h ^= h >> 15
    return h


@inline
def _wrap(value: float, low: float, high: float) -> float:
    if value < low or value > high:
        width = high - low
        value -= width * math.floor((value - low) / width)
    return value


@jit(
    "i8(f8[:, :, ::1], f8[:, :, ::1], f8[::1], out f8[:, ::1], out f8[::1])",
)
def find_stirs(
    before: Doubles, now: Doubles, settings: Doubles, stirs: Doubles, box: Doubles
) -> int:
    """The winds that moving parts (N, P) make; gives how many there are.

    settings: scale, least, weakest, strongest, jump, as those of wind, and how much of
    a part's speed they have; stirs: (W, 7), place, reach and speed of each; box: (6,),
    around all that they reach: least x, y, z, then most.
    """
    scale, least, weakest = settings[0], settings[1], settings[2]
    strongest, jump, much = settings[3], settings[4], settings[5]
    count = 0
    for axis in range(3):
        box[axis], box[axis + 3] = math.inf, -math.inf
    for n in range(now.shape[0]):
        for p in range(now.shape[1]):
            a, b = before[n, p], now[n, p]
            dx, dy, dz = b[0] - a[0], b[1] - a[1], b[2] - a[2]
            size = math.sqrt(dx * dx + dy * dy + dz * dz)
            if size * scale <= least or size > jump or count == len(stirs):
                continue
            reach = NEAR * min(max(size * scale, weakest), strongest)
            own = stirs[count]
            own[0], own[1], own[2], own[3] = b[0], b[1], b[2], reach
            own[4], own[5], own[6] = much * dx, much * dy, much * dz
            for axis in range(3):
                box[axis] = min(box[axis], b[axis] - reach)
                box[axis + 3] = max(box[axis + 3], b[axis] + reach)
            count += 1
    return count


@inline
def _stir(
    x: float, y: float, z: float, count: int, stirs: Doubles, drift: Floats
) -> bool:
    """Let winds take a flake along: the nearer, the more of their speed it gets; and
    push it out of their way. Gives whether any reaches it.
    """
    is_reached = False
    for s in range(count):
        own = stirs[s]
        dx, dy, dz, reach = x - own[0], y - own[1], z - own[2], own[3]
        if abs(dy) >= reach:
            continue
        square = dx * dx + dy * dy + dz * dz
        if square >= reach * reach:
            continue
        is_reached = True
        away = math.sqrt(square)
        c = (reach - away) / reach
        out = 0.0
        if away > 1e-9:
            speed = math.sqrt(own[4] * own[4] + own[5] * own[5] + own[6] * own[6])
            out = ASIDE * speed / away
        drift[0] += c * (own[4] + out * dx - drift[0])
        drift[1] += c * (own[5] + out * dy - drift[1])
        drift[2] += c * (own[6] + out * dz - drift[2])
    return is_reached


@jit(
    "void(i8, i8, f8[::1], f8[::1], GroundTable, f8, u1[::1], u2[::1], i8,"
    " f8[:, ::1], f8[::1], f4, out f4[:, ::1], out u2[::1], out u4[::1],"
    " out f4[:, ::1], out bool[::1])",
)
def step_flakes(
    begin: int,
    end: int,
    move: Doubles,
    box: Doubles,
    ground: GroundTable,
    highest: float,
    kinds: Bytes,
    turns: Words,
    stir_count: int,
    stirs: Doubles,
    stir_box: Doubles,
    drag: float,
    places: Floats,
    phases: Words,
    rolls: Masks,
    drifts: Floats,
    is_stirred: Bools,
) -> None:
    """A tick of the blocks begin to end.

    move: (3,), metres, of all flakes; box: least x, most x, least z, most z, top;
    highest: metres, of the ground; kinds: (F,), rows in turns (K,), what is added to
    phases; stir_count: of winds as `find_stirs` gives them; drag: what is kept of
    drifts; is_stirred: bool (F,), which flakes drift.
    """
    heights, x0, z0, inverse = ground.heights, ground.x0, ground.z0, ground.inverse
    low_x, high_x, low_z, high_z, top = box[0], box[1], box[2], box[3], box[4]
    count = len(places)
    low, high = stir_box[:3], stir_box[3:]
    for block in range(begin, end):
        for n in range(block * BLOCK, min((block + 1) * BLOCK, count)):
            i = uint64(n)
            turn = int64(turns[uint64(kinds[i])])
            phases[i] = (int64(phases[i]) + turn) & 0xFFFF
            x, y, z = places[i, 0] + move[0], places[i, 1] + move[1], places[i, 2]
            z += move[2]
            # Whether a flake is between bounds cannot be foreseen, so these are no
            # branches; that it is between all of them hardly ever is.
            is_in = (x > low[0]) & (x < high[0]) & (y > low[1]) & (y < high[1])
            is_in &= (z > low[2]) & (z < high[2])
            if is_in and _stir(x, y, z, stir_count, stirs, drifts[i]):
                is_stirred[i] = True
            if is_stirred[i]:
                drift = drifts[i]
                x, y, z = x + drift[0], y + drift[1], z + drift[2]
                fastest = 0.0
                for axis in range(3):
                    drift[axis] *= drag
                    fastest = max(fastest, abs(drift[axis]))
                if fastest < STILL:
                    is_stirred[i] = False
                    drift[0] = drift[1] = drift[2] = 0.0
            x, z = _wrap(x, low_x, high_x), _wrap(z, low_z, high_z)
            if y <= highest or y > top:
                below = ground_height_fast(heights, x0, z0, inverse, x, z)
                if y <= below or y > top:
                    # By as much as there is between ground and top, so that flakes
                    # do not gather in sheets.
                    room = max(top - below, 0.0)
                    y += room if y <= below else -room
                    y = top if y < below or y > top else y
                    roll = (int64(rolls[i]) + WEYL) & WORD
                    rolls[i] = roll
                    chance = scramble(roll)
                    x = low_x + (high_x - low_x) * ((chance >> 16) * 2.0**-16)
                    z = low_z + (high_z - low_z) * ((chance & 0xFFFF) * 2.0**-16)
                    if is_stirred[i]:
                        is_stirred[i] = False
                        drifts[i, 0] = drifts[i, 1] = drifts[i, 2] = 0.0
            places[i, 0], places[i, 1], places[i, 2] = x, y, z


@jit(
    "void(i8, i8, f4[:, ::1], u2[::1], u1[::1], f4[::1], f4[::1], f4[::1], f4[::1],"
    " out f4[:, :, ::1])"
)
def make_quads(
    begin: int,
    end: int,
    places: Floats,
    phases: Words,
    kinds: Bytes,
    circles: Floats,
    sizes: Floats,
    sines: Floats,
    view: Floats,
    quads: Floats,
) -> None:
    """Corners (F, 4, 3) of flakes begin to end, turned to who looks.

    circles: (K,), their radii, metres; sines: of a whole turn, a power of two of them;
    view: (6,), what is right and what is up to who looks.
    """
    count = len(sines)
    turn, quarter = 65536 // count, count // 4
    rx, ry, rz, ux, uy, uz = view[0], view[1], view[2], view[3], view[4], view[5]
    for n in range(begin, end):
        i = uint64(n)
        q = int64(phases[i]) // turn
        a = circles[uint64(kinds[i])]
        x = places[i, 0] + a * sines[uint64(q)]
        z = places[i, 2] + a * sines[uint64((q + quarter) & (count - 1))]
        y, half = places[i, 1], sizes[i] * float32(0.5)
        ax, ay, az = half * (rx - ux), half * (ry - uy), half * (rz - uz)
        bx, by, bz = half * (rx + ux), half * (ry + uy), half * (rz + uz)
        quad = quads[i]
        quad[0, 0], quad[0, 1], quad[0, 2] = x - bx, y - by, z - bz
        quad[1, 0], quad[1, 1], quad[1, 2] = x + ax, y + ay, z + az
        quad[2, 0], quad[2, 1], quad[2, 2] = x + bx, y + by, z + bz
        quad[3, 0], quad[3, 1], quad[3, 2] = x - ax, y - ay, z - az
