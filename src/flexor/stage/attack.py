"""The rules of fights, tick by tick: who is met by what, who goes down and gets up, and
who answers a parry.
"""

from __future__ import annotations

import numpy as np

from flexor.arrays import Bools, Doubles
from flexor.maths import exact
from flexor.scene.stage.layout import ATTACK, PARRY, RISE_BACK
from flexor.stage.hands import bring_hands
from flexor.stage.movement.falls import step_falls
from flexor.stage.movement.fight import begin_tick, step_fight
from flexor.stage.movement.hits import find_hits, find_near, keep_strikes
from flexor.stage.movement.layout import HITTING, RETURN, RISING, UP
from flexor.stage.movement.moves import stop_moves
from flexor.stage.movement.parry import push_back, step_recoil
from flexor.stage.state import StageState

__all__ = ["end_parries", "run_attack", "run_falls", "run_recoil", "solid_parts"]

IN_REACH = 0.7  # of the reach of an attack: who was parried leans back


def run_falls(state: StageState) -> None:
    """Who is down falls, lies and gets up; before moves, so that what was pressed
    meanwhile begins in the tick in which it is up.
    """
    falls = state.fight.falls
    if not falls.is_any:
        return
    step_falls(falls, state.fall_table, state.plan.fight, state._falling)
    np.equal(falls.phase, UP, out=state.upright)
    state.upright &= state.alive
    np.equal(state.fight.stun, 0, out=state.can_act)
    state.can_act &= state.upright


def solid_parts(state: StageState) -> tuple[Doubles, Bools]:
    """Radii (N,) of who is in others' way, and who is: who gets up grows into it."""
    falls = state.fight.falls
    is_rising = falls.phase == RISING
    spans = state.fall_table.spans[state.kinds, RISE_BACK + falls.side % 2]
    share = np.clip(falls.at / np.maximum(spans, 1.0), 0.0, 1.0)
    radii = np.where(is_rising, state.radii * share, state.radii)
    return radii, state.upright | (is_rising & state.alive)


def end_parries(state: StageState) -> None:
    """A parry that has met is over with its holding phase: after moves have gone on.

    Who begins an attack while somebody is open to it steps into reach of that one.
    """
    fight, moves = state.fight, state.moves
    begin_tick(fight, state.started)
    if not fight.is_parried:
        return
    if fight.has_parried.any():
        is_other = (moves.move < 0) | (state.tables.kinds[moves.move] != PARRY)
        fight.has_parried &= ~is_other
        over = fight.has_parried & (moves.phase == RETURN)
        if over.any():
            stop_moves(moves, over)
            fight.has_parried &= ~over
    fight.opened[fight.stun == 0] = -1
    fight.is_parried = bool((fight.opened >= 0).any() or fight.has_parried.any())
    if fight.is_parried:
        begun = state.started >= 0
        begun[begun] = state.tables.kinds[state.started[begun]] == ATTACK
        for row in np.flatnonzero(begun).tolist():
            _step_in(state, row)


def _step_in(state: StageState, row: int) -> None:
    """Bring one who answers a parry to where its attack meets who was parried."""
    open_rows = np.flatnonzero(state.fight.opened == row)
    if not len(open_rows):
        return
    recoil, move = state.fight.recoil, int(state.started[row])
    start = max(int(state.tables.phases[move, 0]), 1)
    best = None
    for other in open_rows.tolist():
        # Where it will be when the attack can hit.
        part = min(int(recoil.left[other]), start) / max(int(recoil.ticks[other]), 1)
        way = state.places[other, [0, 2]] - state.places[row, [0, 2]]
        way = way + recoil.amounts[other] * part
        away = exact.hypot(float(way[0]), float(way[1]))
        if best is None or away < best[0]:
            best = away, way
    assert best is not None
    away, way = best
    if away < 1e-6:
        return
    reach = IN_REACH * float(state.fights.reaches[state.kinds[row], move])
    near = max(reach, 2.0 * float(state.radii[row]))
    step = min(away - near, state.plan.fight.parry.step)
    state.headings[row] = exact.atan2_each(way[0], way[1])
    if step > 0:
        x, z = (way / away).tolist()
        push_back(recoil, row, (x, z), step, start)


def run_recoil(state: StageState) -> None:
    """Who was pushed or parried moves back; before zones, so that walls hold it."""
    step_recoil(state.fight.recoil, state.clocks, state.places)


def run_attack(state: StageState) -> None:
    """Attacks, guards and parries, by where bodies were seen last."""
    hits, tables = state.hits, state.tables
    if not state.is_acting:
        hits.swept[:] = False
        return
    from flexor.stage.movement.kernels import hits as kernel_hits

    bring_hands(state)
    if not kernel_hits.aim(tables.kinds, state.fights.meets, state._aiming, hits._aims):
        hits.swept[:] = False
        return
    bodies = [(b.rows, b.plan.volumes, b.world.matrices) for b in state.bodies]
    if not find_near(hits, bodies):
        hits.swept[:] = False
        return
    moves = state.moves
    doing = np.where(moves.phase == HITTING, moves.move, -1)
    for body in state.bodies:
        rows, wide = body.rows, body.attacks.shape[1]
        hits.attacks[rows, :wide] = body.attacks[doing[rows]]
        hits.shields[rows, :wide] = body.shields[doing[rows]]
    find_hits(hits, state.plan.fight.parry.reach)
    keep_strikes(hits)
    step_fight(
        state.fight,
        state.plan.fight,
        tables,
        state.fights,
        moves,
        hits,
        state.places,
        state.headings,
        state.clocks,
    )
