"""What reaches: bones, effectors and limits, laid out for inverse kinematics."""

from __future__ import annotations

import math
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from flexor.arrays import Floats, Ints
from flexor.errors import SettingError
from flexor.maths import exact, quaternions
from flexor.pose.ik.kernels.descent import (
    AXIS,
    BEFORE,
    BONE_NUMBERS,
    FRAME,
    FREE,
    HIGH,
    HINGE,
    LIMITED,
    LOW,
    RATE,
    WEIGHT,
)
from flexor.pose.layout import Layout
from flexor.scene.character.limits import Limits
from flexor.scene.character.skeleton import Skeleton, rest_world
from flexor.scene.character.tree import chain, upward

__all__ = [
    "Effector",
    "Reach",
    "as_floats",
    "as_turns",
    "as_weights",
    "bend_axis",
    "bone_kinds",
    "bone_numbers",
    "find_node",
    "make_reach",
    "refuse_links",
]

MOST_EFFECTORS = 16
MOST_PULL = 1e6
FEW = 16  # so many numbers are looked at one by one: less than NumPy's calls take
# A joint that can move less than this about two of its axes is a hinge, radians.
HINGE_PLAY = np.radians(8)
# A turn of a radian counts as much as this part of the chain's length.
TURN_PART = 0.25


@dataclass(frozen=True, slots=True)
class Effector:
    """A node that is to be somewhere, and the chain that brings it there.

    node: name or row; root: the first bone of its chain, an ancestor; offset: the point
    of it that is meant, metres in the node's own frame; weight: its pull where several
    cannot all be satisfied, above 0; turn: how much its orientation counts beside its
    place, 0 if not at all. The node itself turns only with an offset or a turn.
    """

    node: str | int
    root: str | int
    offset: tuple[float, float, float] = (0.0, 0.0, 0.0)
    weight: float = 1.0
    turn: float = 0.0


@dataclass(frozen=True, slots=True, eq=False)
class Reach:
    """Chains that share a base, as the kernel wants them.

    nodes: int32 (B,), the bones, each before all that hangs on it; bones, table,
    effector_table, point_lanes, points: tables of the kernel; base: the node in whose
    frame the first bone stands, or -1; is_chain: whether it is one free chain, the
    first bone willing.
    """

    layout: Layout
    effectors: tuple[Effector, ...]
    nodes: Ints
    bones: Ints
    table: NDArray[np.float64]
    effector_table: Ints
    point_lanes: Ints
    points: NDArray[np.float64]
    base: int
    is_chain: bool


def make_reach(
    layout: Layout,
    effectors: Sequence[Effector],
    *,
    willing: Mapping[str, float] | None = None,
    limits: Limits | None = None,
    rigid: Collection[int] = (),
) -> Reach:
    """Lay out chains for a solver.

    willing: by name, how much of each turn a bone takes, 0 to 1 (1 if not named);
    limits: how far and how quickly joints turn; without, they turn freely; rigid: nodes
    that only ride along if they are not named, such as joints that share a twist.
    """
    skeleton = layout.skeleton
    if not 1 <= len(effectors) <= MOST_EFFECTORS:
        raise SettingError(
            f"effectors: {len(effectors)}, expected 1 to {MOST_EFFECTORS}"
        )
    if limits is not None and len(limits.low) != len(skeleton):
        raise SettingError(
            f"limits: of {len(limits.low)} joints for a skeleton of {len(skeleton)}"
        )
    paths = [_path(skeleton, effector) for effector in effectors]
    tree = _tree(skeleton, paths)
    weights = _weights(skeleton, paths, willing or {}, rigid)
    row_of = {node: row for row, node in enumerate(tree)}
    world = rest_world(skeleton)
    points, lanes, owners, table = _points(layout, effectors, paths, row_of, world)
    bones = np.zeros((len(tree), 5), np.int32)
    bones[:, 0] = layout.lane_of_node[tree]
    for row, node in enumerate(tree):
        above = row_of.get(int(skeleton.parents[node]), -1)
        below = _subtree(skeleton, tree, row)
        inside = np.flatnonzero((owners >= row) & (owners < below))
        first = int(inside[0]) if len(inside) else 0
        bones[row, 1:4] = above, first, first + len(inside)
    numbers = _numbers(skeleton, tree, paths, weights, limits)
    bones[:, 4] = bone_kinds(tree, limits)
    for e, path in enumerate(paths):
        turning = [node for node in path if weights[node] > 0]
        table[e, 3:] = _pole_bones(turning, row_of, bones, table[e], world)
    is_chain = (
        len(points) == 1
        and bool(numbers[0, WEIGHT] > 0)
        and bool((bones[:, 4] == FREE).all())
    )
    return Reach(
        layout,
        tuple(effectors),
        np.array(tree, np.int32),
        bones,
        numbers,
        table,
        lanes,
        points,
        int(skeleton.parents[tree[0]]),
        is_chain,
    )


def find_node(skeleton: Skeleton, node: str | int) -> int:
    """The row of a node that is given by name or by row."""
    if isinstance(node, str):
        return skeleton.index(node)
    if isinstance(node, bool) or not isinstance(node, int | np.integer):
        raise SettingError(f"node {node!r}: expected a name or a row")
    if not 0 <= node < len(skeleton):
        raise SettingError(f"node {node}: must lie in 0..{len(skeleton) - 1}")
    return int(node)


def refuse_links(skeleton: Skeleton, nodes: Sequence[int]) -> None:
    """Refuse nodes that follow others: what turns them would be overwritten."""
    for node in nodes:
        if node in skeleton.links:
            joint = skeleton.names[skeleton.links[node].joint]
            raise SettingError(
                f"{skeleton.names[node]!r} is a link that follows {joint!r}: turn that"
            )


def _turns_itself(effector: Effector) -> bool:
    return any(effector.offset) or effector.turn > 0


def _path(skeleton: Skeleton, effector: Effector) -> list[int]:
    """The bones of an effector's chain, from its root on."""
    node, root = find_node(skeleton, effector.node), find_node(skeleton, effector.root)
    numbers = (*effector.offset, effector.weight, effector.turn)
    if len(effector.offset) != 3 or not np.isfinite(numbers).all():
        raise SettingError(f"effector {effector.node!r}: numbers must be finite")
    if not (0 < effector.weight <= MOST_PULL and 0 <= effector.turn <= MOST_PULL):
        raise SettingError(
            f"effector {effector.node!r}: weight must be above 0, turn not below it, "
            f"both at most {MOST_PULL:g}"
        )
    path = chain(skeleton.parents, root, node)
    if not path:
        name, below = skeleton.names[root], skeleton.names[node]
        raise SettingError(f"root {name!r} is not above {below!r}")
    bones = path if _turns_itself(effector) else path[:-1]
    refuse_links(skeleton, bones)
    if not bones:
        raise SettingError(
            f"effector {effector.node!r}: no bone can move it; the root must be above"
        )
    return bones


def _tree(skeleton: Skeleton, paths: list[list[int]]) -> list[int]:
    """All bones of the chains and what joins them, each before what hangs on it."""
    above = [list(upward(skeleton.parents, path[0])) for path in paths]
    shared = [node for node in above[0] if all(node in others for others in above)]
    if not shared:
        raise SettingError("effectors: their chains hang on different roots")
    members = {node for path in paths for node in path}
    for line in above:
        members.update(line[: line.index(shared[0]) + 1])
    ordered: list[int] = []
    waiting = [shared[0]]
    while waiting:
        node = waiting.pop()
        ordered.append(node)
        waiting += [c for c in reversed(skeleton.children(node)) if c in members]
    return ordered


def _subtree(skeleton: Skeleton, tree: list[int], row: int) -> int:
    """The row behind the last one that hangs on a row."""
    inside = {tree[row]}
    end = row + 1
    while end < len(tree) and int(skeleton.parents[tree[end]]) in inside:
        inside.add(tree[end])
        end += 1
    return end


def _weights(
    skeleton: Skeleton,
    paths: list[list[int]],
    willing: Mapping[str, float],
    rigid: Collection[int],
) -> dict[int, float]:
    """How willing each bone of a chain is; what only joins chains is not at all."""
    weights = {node: float(node not in rigid) for path in paths for node in path}
    for name, weight in willing.items():
        node = skeleton.index(name)
        if node not in weights:
            raise SettingError(f"willing: {name!r} is not in a chain")
        if not 0 <= weight <= 1:
            raise SettingError(f"willing: {name!r}: {weight}, expected 0 to 1")
        weights[node] = float(weight)
    return weights


def _points(
    layout: Layout,
    effectors: Sequence[Effector],
    paths: list[list[int]],
    row_of: dict[int, int],
    world: NDArray[np.float64],
) -> tuple[NDArray[np.float64], Ints, Ints, Ints]:
    """Points in the order of their bones, lanes and rows of those, effector table."""
    entries: list[tuple[int, int, int, tuple[float, ...]]] = []
    for e, (effector, path) in enumerate(zip(effectors, paths, strict=True)):
        node, row = find_node(layout.skeleton, effector.node), row_of[path[-1]]
        lane = -1 if _turns_itself(effector) else int(layout.lane_of_node[node])
        entries.append((row, e, lane, (*effector.offset, effector.weight)))
        if effector.turn > 0:
            # Two points beside the first, on axes of the node: they tell how it turns.
            steps = np.diff(world[[*path, node], :, 3], axis=0)
            length = np.linalg.norm(steps, axis=1).sum() or 1.0
            unit = exact.norm(world[node, :, 0]) or 1.0
            for axis in np.eye(3)[:2]:
                beside = axis * TURN_PART * length / unit + effector.offset
                pull = effector.weight * effector.turn
                entries.append((row, e, -1, (*beside.tolist(), pull)))
    # Stable, so that the points of an effector stay together and in order.
    entries.sort(key=lambda entry: (entry[0], entry[1]))
    owners = np.array([entry[0] for entry in entries], np.int32)
    lanes = np.array([entry[2] for entry in entries], np.int32)
    table = np.full((len(effectors), 5), -1, np.int32)
    of = [entry[1] for entry in entries]
    for e, effector in enumerate(effectors):
        node = find_node(layout.skeleton, effector.node)
        table[e, :3] = of.index(e), of.count(e), node
    return np.array([entry[3] for entry in entries], np.float64), lanes, owners, table


def bone_kinds(nodes: Sequence[int], limits: Limits | None) -> Ints:
    """Whether each bone is free, limited or a hinge."""
    if limits is None:
        return np.full(len(nodes), FREE, np.int32)
    play = (limits.high - limits.low)[nodes, 1:].max(1)
    kinds = np.where(play <= HINGE_PLAY, HINGE, LIMITED)
    return np.where(limits.limited[nodes], kinds, FREE).astype(np.int32)


def bone_numbers(
    skeleton: Skeleton, nodes: Sequence[int], limits: Limits | None
) -> NDArray[np.float64]:
    """Frames, limits and rates of bones, as the kernels want them; all willing."""
    numbers = np.zeros((len(nodes), BONE_NUMBERS))
    numbers[:, WEIGHT] = 1
    numbers[:, RATE] = np.inf if limits is None else limits.rates[nodes]
    rest = quaternions.normalise(skeleton.rotations[nodes].astype(np.float64))
    frames = np.tile([0.0, 0.0, 0.0, 1.0], (len(nodes), 1))
    if limits is not None:
        frames = quaternions.normalise(limits.frames[nodes].astype(np.float64))
        numbers[:, LOW : LOW + 3] = limits.low[nodes]
        numbers[:, HIGH : HIGH + 3] = limits.high[nodes]
    turned = quaternions.multiply(rest, frames)
    numbers[:, FRAME : FRAME + 4] = frames
    numbers[:, BEFORE : BEFORE + 4] = turned * [-1, -1, -1, 1]
    numbers[:, AXIS : AXIS + 3] = quaternions.to_matrix(turned)[:, :, 2]
    return numbers


def _numbers(
    skeleton: Skeleton,
    tree: list[int],
    paths: list[list[int]],
    weights: dict[int, float],
    limits: Limits | None,
) -> NDArray[np.float64]:
    """The numbers of the bones of chains: free ones bend with the chain."""
    numbers = bone_numbers(skeleton, tree, limits)
    numbers[:, WEIGHT] = [weights.get(node, 0.0) for node in tree]
    world = rest_world(skeleton)
    bends = _bend_axes(tree, paths, world)
    for row, node in enumerate(tree):
        above = int(skeleton.parents[node])
        if limits is None or not limits.limited[node]:
            axis = (
                bends[row]
                if above < 0
                else exact.multiply(world[above, :, :3].T, bends[row])
            )
            length = exact.norm(axis)
            if length > 0:
                numbers[row, AXIS : AXIS + 3] = axis / length
    return numbers


def _bend_axes(
    tree: list[int], paths: list[list[int]], world: NDArray[np.float64]
) -> NDArray[np.float64]:
    """For each bone a direction across its chain, in model space, to bend about."""
    axes = np.tile([0.0, 0.0, 1.0], (len(tree), 1))
    for path in paths:
        axes[[tree.index(node) for node in path]] = bend_axis(world[path, :, 3])
    return axes


def bend_axis(places: NDArray[np.float64]) -> NDArray[np.float64]:
    """A unit direction that the joints of a chain, at (P, 3), bend about.

    Across the plane they lie in; across the line, where they lie in one.
    """
    steps = np.diff(places, axis=0)
    across = np.cross(steps[:-1], steps[1:]).sum(0)
    if exact.norm(across) <= 1e-3 * (steps * steps).sum():
        along = steps.sum(0)
        across = np.cross(along, np.eye(3)[np.argmin(np.abs(along))])
    length = exact.norm(across)
    unit: NDArray[np.float64] = across / length if length > 0 else np.eye(3)[2]
    return unit


def _pole_bones(
    path: list[int],
    row_of: dict[int, int],
    bones: Ints,
    effector: Ints,
    world: NDArray[np.float64],
) -> tuple[int, int]:
    """The first bone that moves this effector alone, and the one midway; or -1."""
    first, count = int(effector[0]), int(effector[1])
    own = [
        row_of[node]
        for node in path
        if (bones[row_of[node], 2:4] == (first, first + count)).all()
    ]
    if len(own) < 2:
        return -1, -1
    places = world[path[-len(own) :], :, 3]
    along = np.concatenate(
        [[0.0], np.cumsum(np.linalg.norm(np.diff(places, axis=0), axis=1))]
    )
    end = world[int(effector[2]), :, 3]
    total = along[-1] + exact.norm(end - places[-1])
    middle = 1 + int(np.argmin(np.abs(along[1:] - total / 2)))
    return own[0], own[middle]


def as_floats(values: object, shape: tuple[int, ...], name: str) -> Floats:
    """Numbers as float32 of a shape, spread where axes lack; finite."""
    if isinstance(values, np.ndarray) and values.dtype == np.float32:
        given = values
    else:
        try:
            given = np.asarray(values, np.float32)
        except (TypeError, ValueError):
            raise SettingError(f"{name}: expected numbers") from None
    if given.shape != shape:
        try:
            given = np.broadcast_to(given, shape)
        except ValueError:
            raise SettingError(
                f"{name}: shape {given.shape}, expected {shape}"
            ) from None
    if given.size <= FEW:  # one character's, in every frame
        is_finite = all(map(math.isfinite, given.ravel().tolist()))
    else:
        is_finite = bool(np.isfinite(given).all())
    if not is_finite:
        raise SettingError(f"{name}: must be finite")
    return np.ascontiguousarray(given)


def as_weights(values: object, shape: tuple[int, ...]) -> Floats:
    """Weights as float32 of a shape, each from 0 to 1."""
    given = as_floats(values, shape, "weights")
    if given.size and not (given.min() >= 0 and given.max() <= 1):
        raise SettingError("weights: must lie in 0..1")
    return given


def as_turns(values: object, shape: tuple[int, ...], name: str) -> Floats:
    """Rotations as float32 (*shape, 4) of unit length."""
    given = as_floats(values, (*shape, 4), name)
    length = np.linalg.norm(given, axis=-1, keepdims=True)
    if (np.abs(length - 1) > 0.01).any():
        raise SettingError(f"{name}: must be unit quaternions (x, y, z, w)")
    return np.ascontiguousarray(given / length)
