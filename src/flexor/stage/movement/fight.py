"""What comes of attacks: hits, guards and parries, energy, stun and recoil."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from flexor.arrays import Codes, Doubles, Ints
from flexor.maths import exact
from flexor.scene.stage.moves import HEIGHTS, KINDS
from flexor.scene.stage.settings import FightSettings
from flexor.stage.hashing import Hashed
from flexor.stage.movement.layout import GUARDED, HIT, HITTING, NOTHING, PARRIED
from flexor.stage.movement.moves import MoveState, MoveTables, stop_moves
from flexor.stage.movement.parry import (
    Recoil,
    init_recoil,
    is_in_front,
    push_back,
    start,
)

__all__ = [
    "FightState",
    "begin_tick",
    "init_fight",
    "step_fight",
]

ATTACK, GUARD, PARRY, JUMP, CROUCH = (
    KINDS.index(kind) for kind in ("attack", "guard", "parry", "jump", "crouch")
)
# Heights of attacks that pass over who crouches, and under who is in a jump.
OVER = frozenset((HEIGHTS.index("high"), HEIGHTS.index("jump")))
UNDER = frozenset((HEIGHTS.index("low"),))


@dataclass(slots=True, eq=False)
class FightState:
    """How N characters fare.

    energy: float64 (N,), points; stun: int32 (N,), ticks in which it can do nothing;
    struck: uint8 (N,), what that comes of: HIT, GUARDED, or PARRIED of an attacker;
    is_new: bool (N,), whose stun began in the last tick;
    has_met: bool (N,), whether its attack has met already; outcomes: int8 (N,), what
    came of its attack in the last tick; recoil: who is pushed back.
    """

    energy: Hashed[Doubles]
    stun: Hashed[Ints]
    struck: Hashed[NDArray[np.uint8]]
    is_new: Hashed[NDArray[np.bool_]]
    has_met: Hashed[NDArray[np.bool_]]
    outcomes: Hashed[Codes]
    recoil: Hashed[Recoil]

    def __len__(self) -> int:
        return len(self.energy)

    @property
    def can_act(self) -> NDArray[np.bool_]:
        """Who is neither stunned nor beaten: bool (N,)."""
        found: NDArray[np.bool_] = (self.stun == 0) & (self.energy > 0)
        return found


def init_fight(count: int, settings: FightSettings) -> FightState:
    """All fresh."""
    return FightState(
        np.full(count, settings.energy),
        np.zeros(count, np.int32),
        np.zeros(count, np.uint8),
        np.zeros(count, bool),
        np.zeros(count, bool),
        np.zeros(count, np.int8),
        init_recoil(count),
    )


def begin_tick(state: FightState, started: Ints) -> None:
    """Let a tick of stun pass; started: int32 (N,), moves that began, -1 for none."""
    np.maximum(state.stun - 1, 0, out=state.stun)
    state.has_met[started >= 0] = False
    state.outcomes[:] = NOTHING
    state.is_new[:] = False


def step_fight(
    state: FightState,
    settings: FightSettings,
    tables: MoveTables,
    moves: MoveState,
    gaps: Doubles,
    targets: Ints,
    places: Doubles,
    headings: Doubles,
    clocks: Doubles,
) -> None:
    """Settle all attacks that meet in this tick; `step_recoil` moves who recoils.

    gaps: float64 (N,), metres between what attacks and its target, as `find_hits` gives
    them; targets: int32 (N,); places: (N, 3), headings: (N,); clocks: (N,), changed.
    Each attack meets once. All are judged by what everybody did before any of them is
    settled, so that who comes first in the table has no advantage.
    """
    is_open = (moves.phase == HITTING) & ~state.has_met & (gaps <= 0) & (targets >= 0)
    rows = np.flatnonzero(is_open)
    if len(rows):
        rows = rows[tables.kinds[moves.move[rows]] == ATTACK]
    judged = [
        (row, int(targets[row]), int(moves.move[row]), outcome)
        for row in rows.tolist()
        if (outcome := _judge(settings, tables, moves, row, targets, places, headings))
    ]
    for attacker, target, move, outcome in judged:
        state.has_met[attacker] = True
        state.outcomes[attacker] = outcome
        way = _way(places, headings, attacker, target)
        if outcome == PARRIED:
            start(state.recoil, clocks, attacker, (-way[0], -way[1]), settings.parry)
            stop_moves(moves, _only(attacker, len(state)))
            state.stun[attacker] = settings.parry.ticks
            state.struck[attacker] = PARRIED
            state.is_new[attacker] = True
            continue
        share = settings.guard_share if outcome == GUARDED else 1.0
        hurt = state.energy[target] - tables.damage[move] * share
        state.energy[target] = max(hurt, 0.0)
        state.stun[target] = settings.stun if outcome == HIT else settings.guard_stun
        state.struck[target] = outcome
        state.is_new[target] = True
        amount = float(tables.push[move])
        if amount:
            push_back(state.recoil, target, way, amount, settings.push_ticks)
        if outcome == HIT:
            stop_moves(moves, _only(target, len(state)))


def _judge(
    settings: FightSettings,
    tables: MoveTables,
    moves: MoveState,
    attacker: int,
    targets: Ints,
    places: Doubles,
    headings: Doubles,
) -> int:
    """What comes of an attack that meets its target."""
    target = int(targets[attacker])
    theirs = int(moves.move[target])
    if theirs < 0:
        return HIT
    is_ready = moves.phase[target] == HITTING
    passes = {CROUCH: OVER, JUMP: UNDER}.get(int(tables.kinds[theirs]))
    if passes and is_ready and tables.heights[moves.move[attacker]] in passes:
        return NOTHING
    angle = settings.parry.angle
    if not is_in_front(places, headings, target, attacker, angle):
        return HIT
    if tables.kinds[theirs] == PARRY and is_ready:
        can_be = bool(tables.can_be_parried[moves.move[attacker]])
        return PARRIED if can_be else HIT
    return GUARDED if tables.kinds[theirs] == GUARD and is_ready else HIT


def _way(
    places: Doubles, headings: Doubles, attacker: int, target: int
) -> tuple[float, float]:
    """From attacker to target over the ground, unit (x, z); where it looks, if they
    stand on one spot.
    """
    dx, _, dz = places[target] - places[attacker]
    away = math.sqrt(dx * dx + dz * dz)
    if away > 1e-9:
        return float(dx / away), float(dz / away)
    return exact.sin(headings[attacker]), exact.cos(headings[attacker])


def _only(row: int, count: int) -> NDArray[np.bool_]:
    mask = np.zeros(count, bool)
    mask[row] = True
    return mask
