"""Hands that meet attacks: who parries brings the nearer hand to what comes at it."""

from __future__ import annotations

import numpy as np

from flexor.arrays import Doubles
from flexor.maths import exact
from flexor.stage.motion.goals import ask_on
from flexor.stage.state import StageState, body_of

__all__ = ["bring_hands"]

HANDS = ("leftHand", "rightHand")
BEFORE = 0.06  # metres from what attacks to the hand that meets it
LEAST = 1e-6


def bring_hands(state: StageState) -> None:
    """Ask the hands of all who parry to be where an attack comes from, in this tick."""
    from flexor.stage.movement.kernels import hands as kernel_hands

    tables, parry, hits = state.tables, state.plan.fight.parry, state.hits
    if not kernel_hands.find_meeting(
        tables.kinds,
        tables.phases,
        tables.can_be_parried,
        state._meeting,
        float(parry.rest),
        exact.cos(parry.angle),
        hits.met,
        hits.shares,
    ):
        return
    for row in np.flatnonzero(hits.met >= 0).tolist():
        _ask(state, row, int(hits.met[row]), float(hits.shares[row]))


def _ask(state: StageState, row: int, other: int, weight: float) -> None:
    """Ask for the hand that is nearer to what attacks."""
    mine, at = body_of(state, row)
    theirs, there = body_of(state, other)
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
