"""Inverse kinematics of arms and legs: two bones, in closed form."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import ArrayLike, NDArray

from flexor.arrays import Floats, Ints, check_array
from flexor.errors import SettingError
from flexor.maths import exact
from flexor.pose.ik.kernels import two_bone as kernel_two_bone
from flexor.pose.ik.reach import (
    as_floats,
    as_turns,
    as_weights,
    bend_axis,
    find_node,
    refuse_links,
)
from flexor.pose.layout import Layout
from flexor.pose.model_space import WorldState
from flexor.scene.character.skeleton import rest_world
from flexor.scene.character.tree import is_above

__all__ = ["Limb", "TwoBoneState", "init_two_bone", "limb_ends", "solve_two_bone"]


# How far a limb is bent when its own plane counts as much as the axis that was found
# at rest, or as one that was told: sines.
FOUND, TOLD = 0.01, 0.05


@dataclass(frozen=True, slots=True)
class Limb:
    """Three nodes, each below the one before: shoulder, elbow, wrist, say.

    keeps: whether the end keeps the orientation it had in the world, as a foot does
    that stays flat on the ground; axis: what the middle bends about when the limb is
    straight, a direction in model space at rest: the end swings about it as fingers
    close round a thumb that points along it; None: as the limb is bent at rest.
    """

    start: str | int
    middle: str | int
    end: str | int
    keeps: bool = False
    axis: tuple[float, float, float] | None = None


@dataclass(slots=True, eq=False)
class TwoBoneState:
    """The limbs of N characters.

    off: float32 (N, M), metres by which each target is out of reach; nodes: of each
    limb the nodes that it turns.
    """

    layout: Layout
    limbs: tuple[Limb, ...]
    off: Floats
    nodes: tuple[tuple[int, ...], ...]
    _table: Ints = field(repr=False)
    _axes: NDArray[np.float64] = field(repr=False)
    _no_poles: Floats = field(repr=False)
    _no_tilts: Floats = field(repr=False)
    _full: Floats = field(repr=False)


def init_two_bone(layout: Layout, limbs: Sequence[Limb], count: int) -> TwoBoneState:
    """State for the limbs of `count` characters; limbs must not share nodes."""
    skeleton = layout.skeleton
    table = np.zeros((len(limbs), 7), np.int32)
    axes = np.zeros((len(limbs), 4))
    world = rest_world(skeleton)
    for row, limb in enumerate(limbs):
        nodes = [find_node(skeleton, n) for n in (limb.start, limb.middle, limb.end)]
        for above, below in ((0, 1), (1, 2)):
            if not is_above(skeleton.parents, nodes[above], nodes[below]):
                one, other = (skeleton.names[nodes[i]] for i in (above, below))
                raise SettingError(f"limb: {one!r} is not above {other!r}")
        refuse_links(skeleton, nodes[: 2 + limb.keeps])
        table[row] = *nodes, *layout.lane_of_node[nodes], limb.keeps
        axes[row] = _axis(limb, world[nodes])
    used = table[:, :3].ravel()
    if len(np.unique(used)) < len(used):
        raise SettingError("limbs: two of them share a node")
    return TwoBoneState(
        layout,
        tuple(limbs),
        np.zeros((count, len(limbs)), np.float32),
        tuple(tuple(row[: 2 + row[-1]]) for row in table.tolist()),
        table,
        axes,
        np.zeros((count, 3 * len(limbs)), np.float32),
        np.tile(np.array([0, 0, 0, 1], np.float32), (count, len(limbs))),
        np.ones((count, len(limbs)), np.float32),
    )


def _axis(limb: Limb, world: NDArray[np.float64]) -> NDArray[np.float64]:
    """The axis of a limb in its middle's frame, and how much it counts; (3, 3, 4)."""
    if limb.axis is None:
        way, strength = bend_axis(world[:, :, 3]), FOUND
    else:
        way, strength = as_floats(limb.axis, (3,), "axis").astype(np.float64), TOLD
        length = exact.norm(way)
        if length == 0:
            raise SettingError("axis: a direction, not 0")
        way /= length
    return np.append(
        exact.multiply(exact.pseudo_invert(world[1, :, :3]), way), strength
    )


def limb_ends(state: TwoBoneState, world: WorldState) -> Floats:
    """Where the ends of the limbs are in the world: float32 (N, M, 3), a copy."""
    return world.matrices[..., 3][:, state._table[:, kernel_two_bone.END]]


def solve_two_bone(
    state: TwoBoneState,
    local: Floats,
    world: WorldState,
    targets: ArrayLike,
    *,
    poles: ArrayLike | None = None,
    tilts: ArrayLike | None = None,
    weights: ArrayLike | None = None,
) -> TwoBoneState:
    """Turn the limbs of N characters so that their ends come to their targets.

    local: (N, 10 * L), changed; world: what `world_from_local` made of it before;
    targets: (N, M, 3), metres in the world; poles: (N, M, 3), directions in the world
    that the middles point to, 0 for none: then limbs bend as they are bent; tilts:
    (N, M, 4), rotations in the world by which ends that keep their orientation are
    turned from it, as a foot is on a slope; weights:
    (N, M), how much of the turning is done, 0 to 1 (1 without). A target out of reach:
    the limb is straight, or folded, toward it.
    """
    count, limbs = state.off.shape
    check_array(local, np.float32, (count, len(state.layout.rest)), "local")
    if world.layout is not state.layout or len(world.flat) != count:
        raise SettingError("world: it is of another character, or of others")
    at = as_floats(targets, (count, limbs, 3), "targets")
    ways, pull = state._no_poles, state._full
    if poles is not None:
        ways = as_floats(poles, (count, limbs, 3), "poles").reshape(count, -1)
    turned = state._no_tilts
    if tilts is not None:
        turned = as_turns(tilts, (count, limbs), "tilts").reshape(count, -1)
    if weights is not None:
        pull = as_weights(weights, (count, limbs))
    kernel_two_bone.solve_two_bone(
        state._table,
        state._axes,
        world.flat,
        at.reshape(count, -1),
        ways,
        turned,
        pull,
        state.off,
        local,
    )
    return state
