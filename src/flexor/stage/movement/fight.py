"""What comes of attacks: hits, guards and parries, energy, stun and recoil."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from flexor.arrays import Bools, Codes, Doubles, Ints
from flexor.maths import exact
from flexor.scene.stage.layout import GUARD, PARRY
from flexor.scene.stage.settings import FightSettings
from flexor.stage.hashing import Hashed
from flexor.stage.movement.falls import Falls, collapse, init_falls, knock_down
from flexor.stage.movement.hits import Hits
from flexor.stage.movement.layout import (
    CROUCHES,
    GUARDED,
    HIT,
    HITTING,
    JUMPS,
    LIES,
    NOTHING,
    PARRIABLE,
    PARRIED,
    STANDS,
    UP,
)
from flexor.stage.movement.moves import MoveState, MoveTables, stop_moves
from flexor.stage.movement.parry import (
    Recoil,
    init_recoil,
    is_in_front,
    open_up,
    push_back,
)

__all__ = [
    "FightState",
    "FightTables",
    "begin_tick",
    "init_fight",
    "lay_out_fight",
    "step_fight",
]

# Of heights of attacks, who is met by them: high ones pass over who crouches, low ones
# under who is in a jump.
MEETS = {
    "high": STANDS | JUMPS,
    "jump": STANDS | JUMPS,
    "mid": STANDS | CROUCHES | JUMPS,
    "low": STANDS | CROUCHES,
}
SLACK = 6  # ticks beside: buttons that may become a chord wait, and steps are whole
SLOWEST = 0.1  # of a clock that is waited for


@dataclass(frozen=True, slots=True, eq=False)
class FightTables:
    """Of M moves what a fight needs to know beside their tables, and of N characters.

    meets: uint8 (M,), bits of who is met by an attack, and whether it can be parried;
    reaches: float64 (K, M), metres from one to the other within
    which an attack of a kind of body meets one who stands, 0 for none; quickest: int32
    (N,), ticks in which the quickest attack of a character has hit, 0 if it has none.
    """

    meets: NDArray[np.uint8]
    reaches: Doubles
    quickest: Ints


def lay_out_fight(
    tables: MoveTables, reaches: Doubles, own: Sequence[int]
) -> FightTables:
    """What a fight needs of M moves; own: the table of each character."""
    meets = np.zeros(len(tables), np.uint8)
    for number, move in enumerate(tables.moves):
        if move.kind == "attack":
            meets[number] = MEETS[move.height]
            meets[number] |= LIES if move.hits_down else 0
            meets[number] |= PARRIABLE if move.can_be_parried else 0
    quickest = []
    for table in tables.tables:
        hits = [move.until_back for move in table.moves if move.kind == "attack"]
        quickest.append(min(hits, default=0))
    ticks = np.array([quickest[number] for number in own], np.int32)
    return FightTables(meets, reaches, ticks)


@dataclass(slots=True, eq=False)
class FightState:
    """How N characters fare.

    energy: float64 (N,), points; stun: int32 (N,), ticks in which it can do nothing;
    struck: uint8 (N,), what that comes of: HIT, GUARDED, or PARRIED of an attacker;
    is_new: bool (N,), whose stun began in the last tick; has_met: bool (N,), whether
    its attack has met already; outcomes: int8 (N,), what came of its attack in the last
    tick; opened: int32 (N,), who has parried it, -1 for nobody; met_node: int32
    (N,), the node that its attack came with, -1 for none; has_parried: bool (N,),
    whose parry has met, and ends early; is_throwing: bool (N,), who holds somebody;
    leans: float64 (N,), how far each is thrown back by a parry, 0 to 1, is_leaning:
    whether any is; is_parried: whether anybody has parried, or is open to who has;
    recoil: who is pushed back; falls: who is down.
    """

    energy: Hashed[Doubles]
    stun: Hashed[Ints]
    struck: Hashed[NDArray[np.uint8]]
    is_new: Hashed[NDArray[np.bool_]]
    has_met: Hashed[NDArray[np.bool_]]
    outcomes: Hashed[Codes]
    opened: Hashed[Ints]
    met_node: Hashed[Ints]
    has_parried: Hashed[Bools]
    is_throwing: Hashed[Bools]
    leans: Hashed[Doubles]
    recoil: Hashed[Recoil]
    falls: Hashed[Falls]
    is_leaning: Hashed[bool] = False
    is_parried: Hashed[bool] = False

    def __len__(self) -> int:
        return len(self.energy)

    @property
    def can_act(self) -> NDArray[np.bool_]:
        """Who is neither stunned, nor down, nor beaten: bool (N,)."""
        found: Bools = (self.stun == 0) & (self.energy > 0)
        found &= self.falls.phase == UP
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
        np.full(count, -1, np.int32),
        np.full(count, -1, np.int32),
        np.zeros(count, bool),
        np.zeros(count, bool),
        np.zeros(count),
        init_recoil(count),
        init_falls(count),
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
    fights: FightTables,
    moves: MoveState,
    hits: Hits,
    places: Doubles,
    headings: Doubles,
    clocks: Doubles,
) -> None:
    """Settle all attacks that meet in this tick; `step_recoil` moves who recoils.

    hits: as `find_hits` has found them, of those who can hit now; places: (N, 3),
    headings: (N,); clocks: (N,), changed. Each attack meets once. All are judged by
    what everybody did before any of them is settled, so that who comes first in the
    table has no advantage.
    """
    is_open = (hits.gaps.min(1) <= 0) & (hits.targets >= 0)
    judged = [
        (row, int(hits.targets[row]), int(moves.move[row]), outcome)
        for row in np.flatnonzero(is_open).tolist()
        if (outcome := _judge(settings, tables, moves, row, hits, places, headings))
    ]
    for attacker, target, move, outcome in judged:
        state.has_met[attacker] = True
        state.outcomes[attacker] = outcome
        way = _way(places, headings, attacker, target)
        if outcome == PARRIED:
            _parry(state, settings, fights, moves, clocks, (attacker, target), way)
            _end_soon(settings, tables, moves, target)
            continue
        share = settings.guard_share if outcome == GUARDED else 1.0
        hurt = state.energy[target] - tables.damage[move] * share
        state.energy[target] = max(hurt, 0.0)
        state.stun[target] = settings.stun if outcome == HIT else settings.guard_stun
        state.struck[target] = outcome
        state.is_new[target] = True
        state.opened[target] = -1
        amount = float(tables.push[move])
        if amount:
            push_back(state.recoil, target, way, amount, settings.push_ticks)
        if state.energy[target] <= 0:
            collapse(state.falls, target, way, float(headings[target]))
        elif outcome == HIT and tables.knocks_down[move]:
            knock_down(state.falls, target, way, float(headings[target]))
        if outcome == HIT:
            stop_moves(moves, _only(target, len(state)))


def _parry(
    state: FightState,
    settings: FightSettings,
    fights: FightTables,
    moves: MoveState,
    clocks: Doubles,
    who: tuple[int, int],
    way: tuple[float, float],
) -> None:
    """Open an attacker to who has parried it, for as long as that one needs: until its
    parry is over, and its quickest attack has hit.
    """
    parry, (attacker, target) = settings.parry, who
    need = float(parry.rest)
    if fights.quickest[target]:
        need += int(fights.quickest[target]) + SLACK
    ticks = max(parry.ticks, math.ceil(need / max(float(clocks[target]), SLOWEST)))
    open_up(state.recoil, clocks, attacker, (-way[0], -way[1]), parry, ticks)
    stop_moves(moves, _only(attacker, len(state)))
    state.stun[attacker] = ticks
    state.struck[attacker] = PARRIED
    state.is_new[attacker] = True
    state.opened[attacker] = target
    state.has_parried[target] = True
    state.is_parried = True


def _end_soon(
    settings: FightSettings, tables: MoveTables, moves: MoveState, who: int
) -> None:
    """Let a parry that has met hold for so long only that it is seen to."""
    left = float(tables.phases[moves.move[who], 1] - moves.at[who])
    moves.at[who] += max(left - settings.parry.rest, 0.0)


def _judge(
    settings: FightSettings,
    tables: MoveTables,
    moves: MoveState,
    attacker: int,
    hits: Hits,
    places: Doubles,
    headings: Doubles,
) -> int:
    """What comes of an attack that meets somebody."""
    target = int(hits.targets[attacker])
    theirs = int(moves.move[target])
    has_met, is_held = (hits.gaps[attacker] <= 0).tolist()
    struck = HIT if has_met else NOTHING
    if theirs < 0 or moves.phase[target] != HITTING:
        return struck
    if not is_in_front(places, headings, target, attacker, settings.parry.angle):
        return struck
    if tables.kinds[theirs] == PARRY:
        return PARRIED if is_held else struck
    return GUARDED if tables.kinds[theirs] == GUARD and has_met else struck


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
