"""Clips at points in time, all the way to the world, in one call.

What a program does for one character sixty times a second: sample its clip, walk from
parents to children, and place what hangs on nodes (the joints of a skin, a sword). As
three calls it takes twice the time of the work itself.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from flexor.arrays import Floats, Masks, freeze
from flexor.errors import ShapeError
from flexor.pose.clip_tables import ClipTables
from flexor.pose.kernels import sample as kernel
from flexor.pose.kernels.layout import Hung, Moves
from flexor.pose.layout import Layout
from flexor.pose.links import follow_links
from flexor.pose.model_space import WorldState, init_world, world_from_local
from flexor.pose.sample import SampleState, init_sample, sample

__all__ = ["MovingState", "init_moving", "move"]


@dataclass(slots=True, eq=False)
class MovingState:
    """N characters on their way through one clip, in the world.

    sampled: their transforms; world: their matrices. Written by `move`.
    """

    sampled: SampleState
    world: WorldState
    _moves: Moves
    _count: int
    _is_one_call: bool

    @property
    def hung(self) -> Floats:
        """world_from_thing of what hangs on nodes: float32 (N, S, 3, 4)."""
        hung = self._moves.hung
        return hung.matrices.reshape(self._count, len(hung.nodes), 3, 4)


def init_moving(
    clip: ClipTables,
    layout: Layout,
    count: int,
    nodes: Masks | None = None,
    offsets: Floats | None = None,
) -> MovingState:
    """State for `count` characters, at rest.

    nodes: uint32 (S,), offsets: float32 (S, 12): what hangs on nodes, node_from_thing;
    as the `nodes` and `binds` of a skin, or nothing.
    """
    if nodes is None or offsets is None:
        nodes, offsets = np.zeros(0, np.uint32), np.zeros((0, 12), np.float32)
    nodes = freeze(nodes, np.uint32, (None,), "nodes")
    offsets = freeze(offsets, np.float32, (len(nodes), 12), "offsets")
    if len(nodes) and int(nodes.max()) >= len(layout.skeleton):
        have = len(layout.skeleton)
        raise ShapeError(f"nodes: {int(nodes.max())}, but there are {have}")
    sampled, world = init_sample(clip, layout, count), init_world(layout, count)
    hung = Hung(nodes, offsets, np.zeros((count, 12 * len(nodes)), np.float32))
    is_one_call = clip.packed is None and not len(clip.morphs) and layout.links is None
    moves = Moves(sampled._tracks, sampled._to, world._to, hung)
    return MovingState(sampled, world, moves, count, is_one_call)


def move(state: MovingState, moments: Floats) -> MovingState:
    """Put every character where the clip is at its moment: float32 (N,), seconds."""
    if not state._is_one_call or len(moments) != state._count:
        return _move_by_steps(state, moments)
    try:
        kernel.move(moments, state._moves)
    except TypeError:
        return _move_by_steps(state, moments)  # says what is wrong
    return state


def _move_by_steps(state: MovingState, moments: Floats) -> MovingState:
    """The same with links, morphs and packed tracks."""
    local = sample(state.sampled, moments).local
    follow_links(state.world.layout, local)
    world_from_local(state.world, local)
    kernel.hang_all(state._moves.walked.world, state._moves.hung)
    return state
