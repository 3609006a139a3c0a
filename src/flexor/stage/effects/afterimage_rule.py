"""Who leaves afterimages in a tick: by their move, or as a hand or foot is fast."""

from __future__ import annotations

import numpy as np

from flexor.arrays import Bools
from flexor.scene.stage.moves import RATE
from flexor.stage.cast import Body
from flexor.stage.effects.afterimages import keep_afterimages
from flexor.stage.state import StageState

__all__ = ["leave_afterimages"]


def leave_afterimages(state: StageState) -> None:
    """Keep how those are posed now who leave afterimages; once a tick, after motion."""
    for body in state.bodies:
        kept = body.afterimages
        if kept is None or not (state.is_acting or kept.settings.fastest):
            continue
        moves = state.moves.move[body.rows]
        active = {group: own[moves] for group, own in body.group_moves.items()}
        if kept.settings.fastest and len(body.ends):
            _add_fast(body, state.tick, active, kept.settings.fastest)
        world, weights = body.world.matrices, body.player.weights
        keep_afterimages(kept, state.tick, active, world, weights)


def _add_fast(body: Body, tick: int, active: dict[int, Bools], fastest: float) -> None:
    """Add those whose limbs end faster than so many metres a second."""
    ends = body.world.matrices[..., 3][:, body.ends]
    if tick:  # else nothing has moved yet
        is_fast = np.linalg.norm(ends - body.last_ends, axis=2) * RATE > fastest
        for column, name in enumerate(body.plan.limbs):
            group = body.plan.limb_groups.get(name)
            if group is not None and is_fast[:, column].any():
                before = active.get(group, np.zeros(len(body), bool))
                active[group] = before | is_fast[:, column]
    body.last_ends[:] = ends
