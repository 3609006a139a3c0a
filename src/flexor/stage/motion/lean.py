"""Who was parried is thrown back, part by part: trunk, head and arms."""

from __future__ import annotations

import numpy as np

from flexor.arrays import Doubles
from flexor.pose.model_space import world_from_local
from flexor.scene.stage.settings import ParrySettings
from flexor.stage.cast import Body
from flexor.stage.state import StageState

__all__ = ["lean", "step_leans"]


def step_leans(state: StageState) -> bool:
    """Let all who were parried lean back, and return; gives whether anybody leans."""
    fight = state.fight
    if not fight.is_leaning and not fight.recoil.is_any:
        return False
    from flexor.stage.motion.kernels import lean as kernel_lean

    fight.is_leaning = kernel_lean.step_leans(
        fight.opened, fight.stun, fight.recoil.opened, fight.leans
    )
    return fight.is_leaning


def lean(state: StageState, body: Body) -> None:
    """Turn the parts of all of a body who lean."""
    from flexor.stage.motion.kernels import lean as kernel_lean

    own = body.plan.leans
    if not len(own.joints):
        return
    kernel_lean.lean_back(
        body.rows,
        state.fight.leans,
        state.headings,
        own.joints,
        _angles(state.plan.fight.parry, own.shares),
        body.world.flat,
        body.player.local,
    )
    world_from_local(body.world, body.player.local)


def _angles(parry: ParrySettings, shares: Doubles) -> Doubles:
    """Radians of each joint (P,) at a whole lean; shares: (P, 3), of trunk, head and
    arms.
    """
    found: Doubles = (shares * [parry.trunk, parry.head, parry.arms]).sum(1)
    return np.ascontiguousarray(found)
