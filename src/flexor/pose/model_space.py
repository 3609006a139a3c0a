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

    padded: float32 (N, J + 1, 3, 4), world_from_node, and last the identity that roots
    hang on.
    """

    layout: Layout
    padded: Floats
    _flat: Floats
    _matrices: Floats

    @property
    def matrices(self) -> Floats:
        """A view (N, J, 3, 4): world_from_node of every node."""
        return self.padded[:, :-1]


def init_world(layout: Layout, count: int) -> WorldState:
    """Room for `count` characters."""
    padded = np.zeros((count, len(layout.skeleton) + 1, 3, 4), np.float32)
    padded[:, -1] = np.eye(3, 4)
    work = np.zeros(12 * layout.lane_count, np.float32)
    return WorldState(layout, padded, padded.reshape(count, 12 * padded.shape[1]), work)


def world_from_local(state: WorldState, local: Floats) -> WorldState:
    """Fill the world matrices from local transforms (N, 10 * L)."""
    shape = (len(state.padded), len(state.layout.rest))
    check_input(local, np.float32, shape, "local")
    kernel.world_from_local(local, state.layout.nodes, state._matrices, state._flat)
    return state
