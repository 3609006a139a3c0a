"""Skeletons that stand like another one but are built otherwise."""

from __future__ import annotations

from typing import Any

import numpy as np

from flexor.maths import quaternions, transforms
from flexor.pose.clips.track_values import AnyClip, as_keys
from flexor.scene.character.skeleton import Skeleton
from tests.oracle import pose as oracle
from tests.scenes import random_rotations, rest_world


def with_axes(
    skeleton: Skeleton, rng: np.random.Generator, names: Any = None
) -> Skeleton:
    """The same places at rest, every joint with local axes of its own, all sizes 1."""
    world = rest_world(skeleton)
    turns = quaternions.to_matrix(random_rotations(rng, len(skeleton)))
    return from_world(skeleton, world[:, :, 3], turns, names)


def from_world(
    skeleton: Skeleton, places: Any, turns: Any, names: Any = None
) -> Skeleton:
    """The same tree at places (J, 3) with orientations (J, 3, 3)."""
    world = np.concatenate([turns, np.asarray(places)[..., None]], 2)
    local = world.copy()
    for node, parent in enumerate(skeleton.parents.tolist()):
        if parent >= 0:
            local[node] = transforms.multiply(
                transforms.invert(world[parent]), world[node]
            )
    moves, rotations, scales = transforms.decompose(local)
    return Skeleton(
        skeleton.names if names is None else names,
        skeleton.parents.copy(),
        moves,
        rotations,
        scales,
    )


def places_at(skeleton: Skeleton, clip: AnyClip | None, time: float) -> Any:
    """Where all joints are (J, 3), by the slow twin."""
    keys = None if clip is None else as_keys(clip)
    local = oracle.local_matrices(skeleton, keys, time)
    return oracle.world_matrices(skeleton, local)[:, :, 3]
