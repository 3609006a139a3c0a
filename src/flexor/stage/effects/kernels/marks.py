"""What feet leave on sand and water: prints where they stand, rings where they go in.

In: where feet, toes and other parts are (N, P, 3), float64, now and a tick ago; what
they churn; the ground. Changed: a ring of marks: a new mark takes the place of the
oldest.

Times, one thread of an AMD EPYC: a tick of two characters with 192 marks 1.5 us.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

from flexor.maths.kernels.field import find_cell_fast, ground_height_fast
from flexor.maths.kernels.functions import cos, sin
from flexor.maths.kernels.jit import inline, jit
from flexor.maths.kernels.numbers import int64
from flexor.scene.stage.layout import SAND
from flexor.stage.effects.layout import (
    KICK_UP,
    LANDING,
    PLOUGHING,
    PRINT,
    RING,
    TOES,
    MarkRows,
)
from flexor.stage.layout import GroundTable

if TYPE_CHECKING:
    from flexor.arrays import Bools, Bytes, Doubles, Floats, Ints, Longs

MISSING = 1000.0  # metres above the ground
NEAR = 0.12  # metres above the ground: a foot that is lower may stand on it
SLOW = 0.012  # metres a tick over the ground: one that is slower does
AGAIN = 0.12  # metres from its last print to the next without being lifted
SHORT = 0.03  # metres from ankle to toes: less says no way
RARE = 12  # ticks from a ring of one part to its next
SMALL, WIDE = 0.12, 3.0  # metres of a ring, and for each metre a tick of the part


@jit("void(f4[:, :, :, ::1], i4[::1], i4[::1], f8[:, ::1], out f8[:, :, ::1])")
def place_parts(
    world: Floats, nodes: Ints, rows: Ints, places: Doubles, parts: Doubles
) -> None:
    """Where parts of bodies are: into rows (n,) of `parts` (N, P, 3).

    world: (n, J, 3, 4), of nodes; nodes: (P,), -1 for what a body has not: that is far
    above its place (N, 3), where it does nothing.
    """
    for n in range(len(rows)):
        row = int64(rows[n])
        for p in range(len(nodes)):
            node = int64(nodes[p])
            for axis in range(3):
                if node < 0:
                    lift = MISSING if axis == 1 else 0.0
                    parts[row, p, axis] = places[row, axis] + lift
                else:
                    parts[row, p, axis] = world[n, node, axis, 3]


@inline
def _leave(
    rows: MarkRows,
    kind: int,
    x: float,
    y: float,
    z: float,
    way_x: float,
    way_z: float,
    size: float,
) -> None:
    number = rows.serial[0]
    rows.serial[0] = number + 1
    slot = number % len(rows.ages)
    rows.places[slot, 0], rows.places[slot, 1], rows.places[slot, 2] = x, y, z
    rows.ways[slot, 0], rows.ways[slot, 1] = way_x, way_z
    rows.sizes[slot] = size
    rows.ages[slot], rows.kinds[slot] = 0, kind


@jit("i8(i8[::1], MarkRows)")
def age_marks(lives: Longs, rows: MarkRows) -> int:
    """A tick of all marks; lives: (2,), ticks of each kind; gives how many are left."""
    count = 0
    for i in range(len(rows.ages)):
        if rows.ages[i] < 0:
            continue
        age = int64(rows.ages[i]) + 1
        if age >= lives[int64(rows.kinds[i])]:
            age = -1
        rows.ages[i] = age
        count += age >= 0
    return count


@jit(
    "void(f8[:, :, ::1], f8[:, :, ::1], f8[::1], GroundTable, out f8[:, :, ::1],"
    " out bool[:, ::1], MarkRows)"
)
def leave_prints(
    before: Doubles,
    now: Doubles,
    headings: Doubles,
    ground: GroundTable,
    lasts: Doubles,
    is_down: Bools,
    rows: MarkRows,
) -> None:
    """Prints of feet that have come to stand on sand.

    before, now: (N, 8, 3), parts of CHECKED; headings: (N,), radians; lasts:
    (N, 2, 3), the last print of each foot; is_down: (N, 2), whether feet stood a tick
    ago.
    """
    heights, x0, z0, inverse = ground.heights, ground.x0, ground.z0, ground.inverse
    for n in range(len(now)):
        for foot in range(2):
            ankle, toes, old = now[n, foot], now[n, foot + TOES], before[n, foot + TOES]
            x, z = 0.5 * (ankle[0] + toes[0]), 0.5 * (ankle[2] + toes[2])
            level = ground_height_fast(heights, x0, z0, inverse, x, z)
            dx, dz = toes[0] - old[0], toes[2] - old[2]
            is_near = min(ankle[1], toes[1]) < level + NEAR
            stands = is_near and math.sqrt(dx * dx + dz * dz) < SLOW
            stood = is_down[n, foot]
            is_down[n, foot] = stands or (stood and is_near)
            if not stands:
                continue
            dx, dz = x - lasts[n, foot, 0], z - lasts[n, foot, 2]
            if stood and dx * dx + dz * dz < AGAIN * AGAIN:
                continue
            lasts[n, foot, 0], lasts[n, foot, 1], lasts[n, foot, 2] = x, level, z
            r, c, _, _ = find_cell_fast(heights, x0, z0, inverse, x, z)
            if int64(ground.surfaces[r, c]) != SAND:
                continue
            way_x, way_z = toes[0] - ankle[0], toes[2] - ankle[2]
            size = math.sqrt(way_x * way_x + way_z * way_z)
            if size > SHORT:
                way_x, way_z = way_x / size, way_z / size
            else:
                way_x, way_z = sin(headings[n]), cos(headings[n])
            _leave(rows, PRINT, x, level, z, way_x, way_z, 1.0)


@jit("void(u1[:, ::1], f8[:, :, ::1], f8[:, :, ::1], out i4[:, ::1], MarkRows)")
def leave_rings(
    states: Bytes, moves: Doubles, lasts: Doubles, waits: Ints, rows: MarkRows
) -> None:
    """Rings where parts (N, P) go into water, out of it, or along in it; toes leave
    none beside those of their feet.

    states, moves, lasts: of churned water, see `churn.Churn`; waits: (N, P), ticks to
    the next ring of each part.
    """
    for n in range(states.shape[0]):
        for p in range(min(states.shape[1], TOES)):
            state, move = int64(states[n, p]), moves[n, p]
            if waits[n, p] > 0:
                waits[n, p] -= 1
                continue
            is_new = state == LANDING or state == KICK_UP or state == PLOUGHING
            if not is_new or move[4] == 0.0:
                continue
            waits[n, p] = RARE
            size = math.sqrt(move[0] ** 2 + move[1] ** 2 + move[2] ** 2)
            _leave(
                rows, RING, lasts[n, p, 0], move[3], lasts[n, p, 2], 0.0, 0.0,
                SMALL + WIDE * min(size, 0.15),
            )  # fmt: skip
