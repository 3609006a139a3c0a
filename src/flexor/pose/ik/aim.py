"""Looking at a point: eyes, a head on its neck, a turret, a whole spine."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, field
from itertools import pairwise

import numpy as np
from numpy.typing import ArrayLike, NDArray

from flexor.arrays import Floats, Ints, check_array
from flexor.errors import SettingError
from flexor.maths import exact
from flexor.pose.ik.kernels import aim as kernel_aim
from flexor.pose.ik.reach import (
    as_floats,
    as_weights,
    bone_kinds,
    bone_numbers,
    find_node,
    refuse_links,
)
from flexor.pose.layout import Layout
from flexor.pose.model_space import WorldState
from flexor.scene.character.limits import Limits
from flexor.scene.character.skeleton import rest_world
from flexor.scene.character.tree import is_above

__all__ = ["Aim", "AimState", "init_aim", "solve_aim"]


@dataclass(frozen=True, slots=True)
class Aim:
    """Joints that look, each below the one before; the last one is what looks.

    joints: names or rows; shares: how much of what is left each takes, the last one
    all (None: evenly); forward: the direction it looks in at rest, in model space; up:
    the direction that may be kept up, likewise; eye: where its look begins, metres in
    the last joint's own frame; most: radians from where it looks in the pose: what is
    further round is looked at less and less, and 40 degrees further not at all, so that
    nobody breaks a neck for somebody behind.
    """

    joints: Sequence[str | int]
    shares: Sequence[float] | None = None
    forward: tuple[float, float, float] = (0.0, 0.0, 1.0)
    up: tuple[float, float, float] = (0.0, 1.0, 0.0)
    eye: tuple[float, float, float] = (0.0, 0.0, 0.0)
    most: float = math.pi


@dataclass(slots=True, eq=False)
class AimState:
    """N characters that look.

    off: float32 (N,), radians between where each looks and its target, at full weight;
    of those that are not touched, as they look.
    """

    layout: Layout
    aim: Aim
    off: Floats
    _joints: Ints = field(repr=False)
    _table: NDArray[np.float64] = field(repr=False)
    _shares: NDArray[np.float64] = field(repr=False)
    _axes: NDArray[np.float64] = field(repr=False)
    _before: NDArray[np.float64] = field(repr=False)


def init_aim(
    layout: Layout, aim: Aim, count: int, *, limits: Limits | None = None
) -> AimState:
    """State for `count` characters that look in one way."""
    skeleton = layout.skeleton
    nodes = [find_node(skeleton, joint) for joint in aim.joints]
    if not nodes:
        raise SettingError("aim: no joints")
    for one, other in pairwise(nodes):
        if not is_above(skeleton.parents, one, other):
            names = skeleton.names[one], skeleton.names[other]
            raise SettingError(f"aim: {names[0]!r} is not above {names[1]!r}")
    refuse_links(skeleton, nodes)
    if not 0 <= aim.most <= math.pi:
        raise SettingError(f"most: {aim.most}, expected radians from 0 to pi")
    shares = _shares(aim, len(nodes))
    joints = np.zeros((len(nodes), 3), np.int32)
    joints[:, 0], joints[:, 1] = nodes, layout.lane_of_node[nodes]
    joints[:, 2] = bone_kinds(nodes, limits)
    world = rest_world(skeleton)
    frame = world[nodes[-1], :, :3]
    axes = np.zeros((3, 3))
    axes[0] = as_floats(aim.eye, (3,), "eye")
    for row, name in ((1, "forward"), (2, "up")):
        way = as_floats(getattr(aim, name), (3,), name).astype(np.float64)
        if not way.any():
            raise SettingError(f"{name}: a direction, not 0")
        axes[row] = exact.multiply(exact.pseudo_invert(frame), way)
    return AimState(
        layout,
        aim,
        np.zeros(count, np.float32),
        joints,
        bone_numbers(skeleton, nodes, limits),
        shares,
        axes,
        np.zeros((len(nodes), 4)),
    )


def solve_aim(
    state: AimState,
    local: Floats,
    world: WorldState,
    targets: ArrayLike,
    *,
    ups: ArrayLike | None = None,
    weights: ArrayLike | None = None,
) -> AimState:
    """Turn the joints of N characters so that they look at their targets.

    local: (N, 10 * L), changed; world: what `world_from_local` made of it before;
    targets: (N, 3), metres in the world; ups: (N, 3), directions in the world that the
    aim's `up` is kept near, 0 for none; weights: (N,), how much of the turning is done,
    0 to 1 (1 without).
    """
    count = len(state.off)
    check_array(local, np.float32, (count, len(state.layout.rest)), "local")
    if world.layout is not state.layout or len(world.flat) != count:
        raise SettingError("world: it is of another character, or of others")
    kernel_aim.solve_aim(
        state._joints,
        state._table,
        state._shares,
        state._axes,
        state.aim.most,
        world.flat,
        as_floats(targets, (count, 3), "targets"),
        as_floats(0.0 if ups is None else ups, (count, 3), "ups"),
        as_weights(1.0 if weights is None else weights, (count,)),
        state._before,
        state.off,
        local,
    )
    return state


def _shares(aim: Aim, count: int) -> NDArray[np.float64]:
    """Of each joint the share of what those before it have left."""
    if aim.shares is None:
        return 1 / np.arange(count, 0, -1, dtype=np.float64)
    if len(aim.shares) != count:
        raise SettingError(f"shares: {len(aim.shares)}, expected one a joint: {count}")
    shares = as_floats(aim.shares, (count,), "shares").astype(np.float64)
    if not ((shares >= 0) & (shares <= 1)).all():
        raise SettingError("shares: must lie in 0..1")
    return shares
