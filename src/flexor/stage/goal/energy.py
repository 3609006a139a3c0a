"""How much energy the nets have: of motion, of strings, of anchors and of height."""

from __future__ import annotations

import numpy as np

from flexor.arrays import Doubles
from flexor.stage.goal.layout import FIXED, SPRUNG
from flexor.stage.goal.state import NettingState

__all__ = ["kinetic_energy", "total_energy"]


def kinetic_energy(state: NettingState) -> Doubles:
    """Joules of motion of each net: float64 (N,)."""
    found: Doubles = state.netting.net.mass / 2 * np.square(state.speeds).sum((1, 2))
    return found


def total_energy(state: NettingState) -> Doubles:
    """Joules of each net, above the ground at rest: float64 (N,)."""
    own, net = state.netting.sheet, state.netting.net
    ends = state.nodes[:, own.strings]
    lengths = np.linalg.norm(ends[:, :, 1] - ends[:, :, 0], axis=2)
    over = np.maximum(lengths - own.lengths, 0)
    strings = (net.k11 / (2 * own.lengths) * over * over).sum(1)
    is_sprung = own.holds == SPRUNG
    away = state.nodes[:, is_sprung] - own.anchors[is_sprung]
    anchors = net.k12 / 2 * np.square(away).sum((1, 2))
    high = state.nodes[:, own.holds != FIXED, 1] - state.netting.ball.ground
    height = net.mass * net.gravity * high.sum(1)
    found: Doubles = kinetic_energy(state) + strings + anchors + height
    return found
