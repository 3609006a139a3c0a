"""Who fights whom: opponents that the plan names, or the nearest who can fight."""

from __future__ import annotations

import numpy as np

from flexor.scene.stage.plan import NEAREST, NOBODY
from flexor.stage.state import StageState

__all__ = ["choose_opponents", "run_opponents"]


def choose_opponents(state: StageState) -> None:
    """Give an opponent that can still fight to all who have none, as the plan says."""
    from flexor.stage.movement.kernels import opponents as kernel_opponents

    plan, alive = state.plan, state.fight.energy > 0
    state.alive[:] = alive
    rows = {actor.name: row for row, actor in enumerate(plan.cast)}
    before, looks = state.opponents.copy(), np.zeros(len(state), bool)
    for row, actor in enumerate(plan.cast):
        mine = int(before[row])
        state.has_won[row] = False
        if actor.opponent == NOBODY or (mine >= 0 and alive[mine]):
            continue
        if actor.opponent == NEAREST:
            looks[row] = True
            continue
        other = rows[actor.opponent]
        is_over = mine >= 0 and bool(alive[row]) and not alive[other]
        state.has_won[row] = is_over
        state.opponents[row] = other
    if not looks.any():
        return
    kernel_opponents.choose_nearest(
        state.places, looks, alive, state.teams, 1.0, 0, 1, state.opponents
    )
    # Who finds nobody any more, and stands, has won.
    is_same = looks & (state.opponents == before)
    state.has_won[is_same] = (before[is_same] >= 0) & alive[is_same]


def run_opponents(state: StageState) -> None:
    """Look for nearer opponents, each character every so often; who is in a move goes
    on with the one it has.
    """
    from flexor.stage.movement.kernels import opponents as kernel_opponents

    fight = state.plan.fight
    looks = state.looks & (state.moves.move < 0)
    kernel_opponents.choose_nearest(
        state.places,
        looks,
        state.alive,
        state.teams,
        fight.nearest_share,
        state.tick % fight.nearest_ticks,
        fight.nearest_ticks,
        state.opponents,
    )
