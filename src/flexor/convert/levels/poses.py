"""Poses in which levels of detail are measured.

Moments of the clips show what a character does; swings, in which every joint is turned
a little, show what it could do, for characters whose clips move little or that have
none.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import combinations, product

import numpy as np
from numpy.typing import NDArray

from flexor.arrays import Bools, Floats, freeze
from flexor.errors import ShapeError
from flexor.maths import quaternions
from flexor.pose.layout import Layout
from flexor.pose.turned import turn_from_rest
from flexor.scene.runtime.node_table import NodeTable
from flexor.scene.scene import Scene

__all__ = ["LevelPoses", "level_poses", "says_enough", "share_moments", "swing_turns"]

MOST_MOMENTS = 32  # of all clips together
SWINGS = 12
ANGLE = np.deg2rad(20.0)  # that a joint is turned by in a swing
SEED = 20260
TURNED = np.deg2rad(4.0)  # that a node must turn by, against its parent, to have moved


@dataclass(frozen=True, slots=True, eq=False)
class LevelPoses:
    """World matrices of all nodes in the poses that levels are measured in.

    clips: float32 (A, J, 3, 4), world_from_node at moments of the clips; swings:
    float32 (B, J, 3, 4), the rest pose with every joint turned. Takes ownership of the
    arrays.
    """

    clips: Floats
    swings: Floats

    def __post_init__(self) -> None:
        for name in ("clips", "swings"):
            poses = freeze(getattr(self, name), np.float32, (None, None, 3, 4), name)
            object.__setattr__(self, name, poses)
            if not np.isfinite(poses).all():
                raise ShapeError(f"{name}: must be finite")
        if self.clips.shape[1] != self.swings.shape[1]:
            have, want = self.swings.shape[1], self.clips.shape[1]
            raise ShapeError(f"swings: {have} nodes, clips has {want}")


def level_poses(scene: Scene, layout: Layout) -> LevelPoses:
    """At most 32 moments spread over all clips, and twelve swings."""
    return LevelPoses(_world(layout, _moments(scene, layout)), _swings(scene, layout))


def says_enough(clips: Floats, table: NodeTable, used: Bools) -> bool:
    """Whether clips turn at least half of the nodes that pull something.

    clips: (A, J, 3, 4), world_from_node. What they leave still would otherwise seem to
    be of one piece, and others may be played later.
    """
    numbers = np.flatnonzero(used)
    if len(clips) < 2 or not len(numbers):
        return False
    own = table.nodes[numbers]
    above = table.parents[numbers]
    axes = clips[..., :3].astype(np.float64)
    length = np.linalg.norm(axes, axis=2, keepdims=True)
    axes = axes / np.where(length > 0, length, 1)
    ways = axes[:, own]
    ways = np.where(
        (above >= 0)[:, None, None],
        np.swapaxes(axes[:, table.nodes[above]], -1, -2) @ ways,
        ways,
    )
    cosines = (np.einsum("anij,nij->an", ways, ways[0]) - 1) / 2
    turned = cosines.min(0) < np.cos(TURNED)
    return bool(turned.mean() >= 0.5)


def share_moments(durations: Sequence[float], most: int) -> NDArray[np.int64]:
    """How many of `most` moments each clip gets, by its duration in seconds: (C,).

    Every clip gets one, the others go to long clips, and none but the first to a clip
    that lasts no time. Of more clips than moments some get none, evenly spread.
    """
    count = len(durations)
    if count > most:
        at = (np.arange(most) * 2 + 1) * count // (2 * most)
        return np.bincount(at, minlength=count)
    counts = np.ones(count, np.int64)
    lengths = np.asarray(durations, np.float64)
    whole = lengths.sum()
    if whole <= 0:
        return counts
    shares = lengths / whole * (most - count)
    counts += shares.astype(np.int64)
    left = most - int(counts.sum())
    by_rest = np.argsort(-(shares % 1), kind="stable")
    counts[by_rest[:left]] += 1
    return counts


def _moments(scene: Scene, layout: Layout) -> Floats:
    """Local transforms (A, 10 * L) at moments in the middle of equal parts of clips."""
    from flexor.pose.clip_tables import pack_clip
    from flexor.pose.sample import init_sample, sample

    clips = list(scene.clips.values())
    poses = [np.zeros((0, len(layout.rest)), np.float32)]
    counts = share_moments([clip.duration for clip in clips], MOST_MOMENTS)
    for clip, count in zip(clips, counts.tolist(), strict=True):
        if count:
            times = (np.arange(count) + 0.5) * (clip.duration / count)
            state = init_sample(pack_clip(clip, layout), layout, count)
            poses.append(sample(state, times.astype(np.float32)).local)
    return np.concatenate(poses)


def swing_turns(node: int) -> NDArray[np.float64]:
    """Turns (12, 4) of a node in the swings: the same set for all, each in its order.

    Their axes are the twelve ways from the middle of a cube to that of an edge. So the
    set looks the same along every axis of the node, forwards or backwards, and nodes on
    the left and on the right, whose axes are mirrored, move their skin as far.
    """
    axes = []
    for one, other in combinations(range(3), 2):
        for signs in product((-1.0, 1.0), repeat=2):
            axis = np.zeros(3)
            axis[[one, other]] = signs
            axes.append(axis / np.sqrt(2))
    order = np.random.default_rng((SEED, node)).permutation(SWINGS)
    return quaternions.about(np.array(axes)[order], ANGLE)


def _swings(scene: Scene, layout: Layout) -> Floats:
    """World matrices (12, J, 3, 4) with every joint of a skin turned, and every node
    that carries a mesh.
    """
    is_turned = scene.node_mesh >= 0
    for skin in scene.skins:
        is_turned[skin.joints] = True
    local = np.tile(layout.rest, (SWINGS, 1))
    for node in np.flatnonzero(is_turned).tolist():
        turn_from_rest(layout, local, node, swing_turns(node))
    return _world(layout, local)


def _world(layout: Layout, local: Floats) -> Floats:
    """World matrices (N, J, 3, 4) of local transforms (N, 10 * L), links following."""
    from flexor.pose.links import follow_links
    from flexor.pose.model_space import init_world, world_from_local

    follow_links(layout, local)
    return world_from_local(init_world(layout, len(local)), local).matrices
