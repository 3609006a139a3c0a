"""Hands that meet attacks: who parries brings the nearer hand to what comes at it."""

from __future__ import annotations

import numpy as np

from flexor.arrays import Doubles
from flexor.maths import exact
from flexor.scene.stage.layout import ATTACK, PARRY
from flexor.stage.cast import Body
from flexor.stage.motion.goals import ask_on
from flexor.stage.movement.layout import HITTING, RETURN, START_UP, UP
from flexor.stage.movement.parry import is_in_front
from flexor.stage.state import StageState

__all__ = ["bring_hands"]

HANDS = ("leftHand", "rightHand")
EARLY = 8.0  # ticks before an attack can hit from which hands come to meet it
FAR = 1.8  # metres: who attacks from farther away is let be
BEFORE = 0.06  # metres from what attacks to the hand that meets it
LEAST = 1e-6


def bring_hands(state: StageState) -> None:
    """Ask the hands of all who parry to be where an attack comes from, in this tick."""
    moves, kinds = state.moves, state.tables.kinds
    is_ready = (moves.move >= 0) & (kinds[moves.move] == PARRY)
    is_ready &= (moves.phase == START_UP) | (moves.phase == HITTING)
    if not is_ready.any():
        return
    attacks = (moves.move >= 0) & (kinds[moves.move] == ATTACK)
    attacks &= (moves.phase != RETURN) & ~state.fight.has_met
    attacks &= state.tables.can_be_parried[moves.move]
    opened = state.fight.opened
    for row in np.flatnonzero(is_ready & (state.fight.falls.phase == UP)).tolist():
        found = np.flatnonzero(attacks | (opened == row)).tolist()
        best, weight = -1, 0.0
        for other in found:
            own = _weight(state, row, other)
            if own > weight:
                best, weight = other, own
        if best >= 0:
            _ask(state, row, best, weight)


def _weight(state: StageState, row: int, other: int) -> float:
    """How much of the way to an attack of another a hand is to go, 0 to 1."""
    if row == other:
        return 0.0
    way = state.places[other] - state.places[row]
    if exact.hypot(float(way[0]), float(way[2])) > FAR:
        return 0.0
    if state.fight.opened[other] == row:  # it has met: the hand comes back
        move = int(state.moves.move[row])
        left = float(state.tables.phases[move, 1] - state.moves.at[row])
        return min(max(left / max(state.plan.fight.parry.rest, 1), 0.0), 1.0)
    angle = state.plan.fight.parry.angle
    if not is_in_front(state.places, state.headings, row, other, angle):
        return 0.0
    wait = state.tables.phases[state.moves.move[other], 0] - state.moves.at[other]
    return min(max(1.0 - float(wait) / EARLY, 0.0), 1.0)


def _ask(state: StageState, row: int, other: int, weight: float) -> None:
    """Ask for the hand that is nearer to what attacks."""
    mine, at = _body_of(state, row)
    theirs, there = _body_of(state, other)
    move = int(state.moves.move[other])
    if move >= 0:
        state.fight.met_node[other] = theirs.strikes[move]
    node = int(state.fight.met_node[other])
    if node < 0 or mine.limbs is None:
        return
    frame = theirs.world.matrices[there, node].astype(np.float64)
    best, part, way = np.inf, "", np.zeros(3)
    for name in HANDS:
        column = mine.goals.columns.get(name, -1)
        if column < 0:
            continue
        end = mine.world.matrices[at, int(mine.ends[column]), :, 3]
        own = end.astype(np.float64) - frame[:, 3]
        away = exact.norm(own)
        if away < best:
            best, part, way = away, name, own
    if not part:
        return
    # A hand's breadth before it, in the frame of what attacks.
    off = way / max(best, LEAST) * min(BEFORE, best)
    point = exact.multiply(frame[:, :3].T, off) / max(_square(frame), LEAST)
    ask_on(
        mine.goals,
        at,
        part,
        other=other,
        node=node,
        point=point.tolist(),
        weight=weight,
    )


def _square(frame: Doubles) -> float:
    """The square of the scale of a frame (3, 4)."""
    return float((frame[:, 0] * frame[:, 0]).sum())


def _body_of(state: StageState, row: int) -> tuple[Body, int]:
    """The body of a character, and its row in it."""
    body = state.bodies[int(state.kinds[row])]
    return body, int(np.flatnonzero(body.rows == row)[0])
