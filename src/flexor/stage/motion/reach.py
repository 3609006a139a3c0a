"""Limbs that go where rules have asked them to be."""

from __future__ import annotations

import numpy as np

from flexor.arrays import Floats
from flexor.stage.cast import Body
from flexor.stage.state import StageState

__all__ = ["reach_goals", "take_goals"]


def reach_goals(state: StageState, body: Body) -> None:
    """Bring targets of limbs to what their goals mean, by their weights.

    Limbs let go of what is too far from where clips have them, and not from where they
    are themselves: those that let go would be farther and farther away, at once.
    """
    points, weights = take_goals(state, body), body.goals.weights
    way = (points - body.targets).astype(np.float64)
    away = np.sqrt((way * way).sum(2))
    weights *= np.clip(2.0 * (1.0 - away / body.goals.leashes), 0.0, 1.0)
    share = weights[..., None]
    np.copyto(
        body.targets,
        body.targets + share * (points - body.targets),
        where=share > 0,
        casting="same_kind",
    )
    np.copyto(body.weights, 1.0, where=weights > 0)


def take_goals(state: StageState, body: Body) -> Floats:
    """Points of the world (n, L, 3) that the goals of a body mean now."""
    goals = body.goals
    found = goals.points.copy()
    for k, limb in np.argwhere((goals.weights > 0) & (goals.others >= 0)).tolist():
        other, node = int(goals.others[k, limb]), int(goals.nodes[k, limb])
        whose = state.bodies[int(state.kinds[other])]
        at = int(np.flatnonzero(whose.rows == other)[0])
        m = whose.world.matrices[at, node].astype(np.float64)
        x, y, z = goals.points[k, limb].tolist()
        found[k, limb] = m[:, 0] * x + m[:, 1] * y + m[:, 2] * z + m[:, 3]
    return found.astype(np.float32)
