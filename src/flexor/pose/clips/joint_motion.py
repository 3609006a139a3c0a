"""Skeletons at rest and in motion: orientations and places of all joints.

An orientation holds the rotations and mirrorings of a joint and of all above it, but
no sizes, so that it is orthogonal and has an inverse.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from flexor.arrays import Doubles
from flexor.maths import exact, quaternions, transforms
from flexor.pose.clips.track_values import local_rows
from flexor.scene.character.clip import Clip
from flexor.scene.character.skeleton import Skeleton, rest_world

__all__ = [
    "Motion",
    "at_rest",
    "from_rest",
    "in_motion",
    "rest_turns",
    "signs_of",
]


@dataclass(slots=True, eq=False)
class Motion:
    """A skeleton in motion; T moments, or 1 where nothing moves.

    turns: by node, orientations (T, 3, 3), orthogonal; worlds: by node, (T, 3, 4);
    rest_turns: (J, 3, 3); rest: world_from_node (J, 3, 4).
    """

    turns: dict[int, Doubles]
    worlds: dict[int, Doubles]
    rest_turns: Doubles
    rest: Doubles


def at_rest(skeleton: Skeleton) -> Motion:
    """A skeleton of which nothing has been put anywhere yet."""
    return Motion({}, {}, rest_turns(skeleton), rest_world(skeleton))


def rest_turns(skeleton: Skeleton) -> Doubles:
    """Orientations (J, 3, 3) at rest: all rotations and mirrorings, no sizes."""
    turns = np.zeros((len(skeleton), 3, 3))
    signs = signs_of(skeleton)
    local = quaternions.to_matrix(
        quaternions.normalise(skeleton.rotations.astype(np.float64))
    )
    for node in skeleton.order.tolist():
        turns[node] = local[node] * signs[node]
        parent = int(skeleton.parents[node])
        if parent >= 0:
            turns[node] = exact.multiply(turns[parent], turns[node])
    return turns


def signs_of(skeleton: Skeleton) -> Doubles:
    """The signs of the scales (J, 3): what mirrors stays with a joint."""
    return np.where(skeleton.scales < 0, -1.0, 1.0)


def in_motion(clip: Clip, skeleton: Skeleton, times: Doubles) -> Motion:
    """Every node of the source at times (T,)."""
    motion = at_rest(skeleton)
    moves, turns, sizes = local_rows(clip, skeleton, times)
    signs = signs_of(skeleton)
    local = quaternions.to_matrix(turns)
    affine = np.concatenate([local * sizes[..., None, :], moves[..., None]], -1)
    for node in skeleton.order.tolist():
        parent = int(skeleton.parents[node])
        turn, world = local[:, node] * signs[node], affine[:, node]
        if parent >= 0:
            turn = exact.multiply(motion.turns[parent], turn)
            world = transforms.multiply(motion.worlds[parent], world)
        motion.turns[node], motion.worlds[node] = turn, world
    return motion


def from_rest(motion: Motion, node: int) -> Doubles:
    """The turn (T, 3, 3) of a node from its rest, in axes of the model."""
    turn: Doubles = exact.multiply(motion.turns[node], motion.rest_turns[node].T)
    return turn
