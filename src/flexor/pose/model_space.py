"""From local transforms to world matrices."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from flexor.arrays import Floats, check_input
from flexor.pose import kernel
from flexor.pose.layout import Layout

__all__ = ["WorldState", "init_world", "world_from_local"]


@dataclass(slots=True, eq=False)
class WorldState:
    """World matrices of N characters.

    matrices: float32 (N, J, 3, 4), world_from_node; places: float32 (N, 3, 4),
    world_from_character, the identity unless you write to it: where each stands.
    """

    layout: Layout
    matrices: Floats
    places: Floats
    _work: Floats


def init_world(layout: Layout, count: int) -> WorldState:
    """Room for `count` characters, all at the origin."""
    return WorldState(
        layout,
        np.zeros((count, len(layout.skeleton), 3, 4), np.float32),
        np.tile(np.eye(3, 4, dtype=np.float32), (count, 1, 1)),
        np.zeros(12 * layout.lane_count, np.float32),
    )


def world_from_local(state: WorldState, local: Floats) -> WorldState:
    """Fill the world matrices from local transforms (N, 10 * L)."""
    count, nodes = state.matrices.shape[:2]
    check_input(local, np.float32, (count, len(state.layout.rest)), "local")
    check_input(state.places, np.float32, (count, 3, 4), "places")
    kernel.world_from_local(
        local,
        state.layout.nodes,
        state.places.reshape(count, 12),
        state._work,
        state.matrices.reshape(count, 12 * nodes),
    )
    return state
