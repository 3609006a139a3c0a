"""What is seen of a motion that is not quite the same: how far points are off."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from flexor.arrays import Doubles, Floats
from flexor.maths import transforms
from flexor.pose.clip_tables import ClipTables
from flexor.pose.layout import ROWS, Layout
from flexor.pose.links import follow_links
from flexor.pose.sample import SampleState, init_sample, sample

__all__ = [
    "MotionError",
    "displacements",
    "measure_motion",
    "motion_errors",
    "node_parts",
    "shell_reach",
    "world_of",
]

CHUNK = 1 << 22  # numbers of local transforms that are looked at together


@dataclass(frozen=True, slots=True)
class MotionError:
    """How far points around the nodes are off, over all moments, in scene units.

    worst: the largest distance; p99: what 99 of 100 nodes and moments stay below;
    node, moment: where the worst is, the moment in seconds; weights: the largest
    difference of a morph weight.
    """

    worst: float
    p99: float
    node: int
    moment: float
    weights: float


def world_of(layout: Layout, parts: Doubles) -> Doubles:
    """Matrices world_from_node (F, J, 12) of local parts (F, J, 10), double."""
    skeleton = layout.skeleton
    local = transforms.compose(parts[..., :3], parts[..., 3:7], parts[..., 7:])
    world = np.empty_like(local)
    for node in skeleton.order:
        parent = skeleton.parents[node]
        world[:, node] = (
            local[:, node]
            if parent < 0
            else transforms.multiply(world[:, parent], local[:, node])
        )
    return world.reshape(len(parts), len(skeleton), 12)


def shell_reach(world: Doubles, shell: float) -> Doubles:
    """How many of its own units each axis of a node reaches to be `shell` long in the
    scene: (F, J, 3) of matrices (F, J, 12); 0 for an axis without length.
    """
    axes = world.reshape(*world.shape[:2], 3, 4)[..., :3]
    lengths = np.sqrt((axes * axes).sum(2))
    reach: Doubles = np.zeros_like(lengths)
    np.divide(shell, lengths, out=reach, where=lengths > 1e-12)
    return reach


def node_parts(layout: Layout, local: Floats) -> Doubles:
    """Local parts (F, J, 10) of lanes (F, 10 * L), double."""
    rows = local.reshape(len(local), ROWS, layout.lane_count)
    by_node = rows[:, :, layout.lane_of_node].transpose(0, 2, 1)
    parts: Doubles = np.ascontiguousarray(by_node, np.float64)
    return parts


def displacements(original: Doubles, other: Doubles, shell: float) -> Doubles:
    """How far the points at `shell` on both sides of each axis are off: (F, J)."""
    shape = (*original.shape[:2], 3, 4)
    apart = (other - original).reshape(shape)
    reach = shell_reach(original, shell)
    arms = apart[..., :3] * reach[..., None, :]
    place = apart[..., 3:]
    both = np.concatenate([place + arms, place - arms], -1)
    worst: Doubles = np.sqrt((both * both).sum(2)).max(-1)
    return worst


def measure_motion(
    original: ClipTables, other: ClipTables, moments: Floats, shell: float
) -> MotionError:
    """How far another form of a clip is off, at moments (F,) in seconds.

    Both are sampled as they are at run time, links follow their joints, and world
    matrices are made in double precision.
    """
    off, weights = _compare(original, other, moments, shell)
    if not off.size:
        return MotionError(0.0, 0.0, 0, 0.0, weights)
    moment, node = divmod(int(off.argmax()), off.shape[1])
    return MotionError(
        float(off.max()),
        float(np.percentile(off, 99)),
        node,
        float(moments[moment]),
        weights,
    )


def motion_errors(
    original: ClipTables, other: ClipTables, moments: Floats, shell: float
) -> Doubles:
    """How far the points around each node are off at each moment: (F, J)."""
    return _compare(original, other, moments, shell)[0]


def _compare(
    original: ClipTables, other: ClipTables, moments: Floats, shell: float
) -> tuple[Doubles, float]:
    """How far points are off (F, J), and the largest difference of a morph weight."""
    layout = original.layout
    chunks = [np.zeros((0, len(layout.skeleton)))]
    weights = 0.0
    for one, two, (ours, theirs) in _poses(original, other, moments):
        chunks.append(
            displacements(world_of(layout, one), world_of(layout, two), shell)
        )
        if ours.size:
            weights = max(weights, float(np.abs(ours - theirs).max()))
    return np.concatenate(chunks), weights


def _poses(
    original: ClipTables, other: ClipTables, moments: Floats
) -> Iterator[tuple[Doubles, Doubles, tuple[Floats, Floats]]]:
    """Local parts of both, and their morph weights, some moments at a time."""
    layout = original.layout
    size = max(1, CHUNK // len(layout.rest)) if len(layout.rest) else len(moments)
    for first in range(0, len(moments), max(size, 1)):
        some = np.ascontiguousarray(moments[first : first + size])
        pair = [_pose(tables, layout, some) for tables in (original, other)]
        yield (
            node_parts(layout, pair[0].local),
            node_parts(layout, pair[1].local),
            (pair[0].weights, pair[1].weights),
        )


def _pose(tables: ClipTables, layout: Layout, moments: Floats) -> SampleState:
    state = sample(init_sample(tables, layout, len(moments)), moments)
    follow_links(layout, state.local)
    return state
