"""Going down, lying and getting up: one tick of all who are not on their feet.

In: how long clips of each role are and where they carry who plays them, clocks, what is
pressed. Out: phases, places that go with the clips, and buttons that were pressed on
the ground, pressed again in the tick in which one is up. All float64; ticks and metres.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from flexor.maths.kernels.functions import cos, sin
from flexor.maths.kernels.jit import inline, jit
from flexor.maths.kernels.numbers import int64
from flexor.scene.stage.layout import BEATEN_BACK, DOWN_BACK, LIE_BACK, RISE_BACK
from flexor.stage.movement.layout import (
    COLLAPSED,
    FALLING,
    HELD,
    LYING,
    RISING,
    UP,
    FallRows,
    FallTable,
)

if TYPE_CHECKING:
    from flexor.arrays import Doubles

ANY_BUTTON, OWN_BUTTONS = 0xFFF, 0xFF0  # all, and those that are no directions
NEAR = 1e-6  # ticks: sums of parts of ticks that are nearer to a whole one are it


@inline
def way_at(travels: Doubles, row: int, ticks: float, column: int) -> float:
    """How far a way has gone after some ticks, between its rows."""
    last = travels.shape[1] - 1
    at = min(max(ticks, 0.0), float(last))
    low = min(int64(at), max(last - 1, 0))
    high = min(low + 1, last)
    part = at - low
    return travels[row, low, column] * (1.0 - part) + travels[row, high, column] * part


@inline
def role_of(phase: int, side: int) -> int:
    """The role whose clip is played in a phase."""
    if phase == COLLAPSED:
        return BEATEN_BACK + side
    if phase == FALLING:
        return DOWN_BACK + side % 2
    return (LIE_BACK if phase == LYING else RISE_BACK) + side % 2


@jit("i8(FallTable, i8, i8, FallRows)")
def step_falls(table: FallTable, lie: int, least: int, rows: FallRows) -> int:
    """Let a tick pass; gives how many are down.

    lie, least: ticks that one lies, and lies at least, if it presses a button.
    """
    down = 0
    for n in range(len(rows.phase)):
        phase, side = int64(rows.phase[n]), int64(rows.side[n])
        if phase == UP:
            continue
        down += 1
        if phase == HELD:
            continue
        pressed = int64(rows.pressed[n])
        if pressed & OWN_BUTTONS != 0:
            # Buttons that are down with it may be a chord.
            rows.kept[n] = (pressed | int64(rows.held[n])) & OWN_BUTTONS
        elif pressed & ANY_BUTTON != 0 and rows.kept[n] == 0:
            rows.kept[n] = pressed & ANY_BUTTON
        before = rows.at[n]
        after = before + rows.clocks[n]
        kind, role = int64(rows.kinds[n]), int64(role_of(phase, side))
        way = int64(table.rows[kind, role])
        if way >= 0:
            left = way_at(table.travels, way, after, 0)
            left -= way_at(table.travels, way, before, 0)
            ahead = way_at(table.travels, way, after, 1)
            ahead -= way_at(table.travels, way, before, 1)
            s, c = sin(rows.headings[n]), cos(rows.headings[n])
            rows.places[n, 0] += c * left + s * ahead
            rows.places[n, 2] += c * ahead - s * left
        rows.at[n] = after
        span = table.spans[kind, role]
        is_over = after + NEAR >= span
        if phase == FALLING and is_over:
            rows.phase[n], rows.at[n] = LYING, 0.0
        elif phase == COLLAPSED and is_over and rows.energy[n] > 0.0:
            rows.phase[n], rows.at[n] = LYING, 0.0
        elif phase == LYING and rows.energy[n] > 0.0:
            if after + NEAR >= lie or (after + NEAR >= least and rows.kept[n] != 0):
                rows.phase[n], rows.at[n] = RISING, 0.0
        elif phase == RISING and rows.energy[n] <= 0.0:
            rows.phase[n], rows.at[n] = LYING, 0.0
        elif phase == RISING and is_over:
            rows.phase[n], rows.at[n], rows.stun[n] = UP, 0.0, 0
            down -= 1
            rows.pressed[n] = pressed | (int64(rows.kept[n]) & OWN_BUTTONS)
            rows.kept[n] = 0
    return down
