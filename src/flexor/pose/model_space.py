"""From local transforms to world matrices."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from flexor.arrays import Floats, check_input
from flexor.pose.kernels import sample as kernel
from flexor.pose.kernels.layout import Walked
from flexor.pose.layout import Layout

__all__ = ["WorldState", "init_world", "world_from_local"]


@dataclass(slots=True, eq=False)
class WorldState:
    """World matrices of N characters."""

    layout: Layout
    _to: Walked

    @property
    def matrices(self) -> Floats:
        """world_from_node of every node: float32 (N, J, 3, 4), always one array."""
        flat = self._to.world
        return flat.reshape(len(flat), len(self.layout.skeleton), 3, 4)

    @property
    def flat(self) -> Floats:
        """The same array as kernels take it: (N, 12 * J)."""
        return self._to.world

    @property
    def places(self) -> Floats:
        """world_from_character: float32 (N, 3, 4); the identity until written to."""
        return self._to.places.reshape(-1, 3, 4)


def init_world(layout: Layout, count: int) -> WorldState:
    """Room for `count` characters, all at the origin."""
    return WorldState(
        layout,
        Walked(
            layout.nodes,
            np.tile(np.eye(3, 4, dtype=np.float32).ravel(), (count, 1)),
            np.zeros(12 * layout.lane_count, np.float32),
            np.zeros((count, 12 * len(layout.skeleton)), np.float32),
        ),
    )


def world_from_local(state: WorldState, local: Floats) -> WorldState:
    """Fill the world matrices from local transforms (N, 10 * L)."""
    to = state._to
    shape = (len(to.world), len(state.layout.rest))
    if getattr(local, "shape", None) != shape:
        check_input(local, np.float32, shape, "local")
    try:
        kernel.world_from_local(local, to)
    except TypeError:  # kernels look at what they take, quicker than we can
        check_input(local, np.float32, shape, "local")
        raise
    return state
