"""Chains and small trees of bones for tests of inverse kinematics."""

from __future__ import annotations

from typing import Any

import numpy as np

from flexor.arrays import Floats
from flexor.pose.layout import Layout, make_layout
from flexor.pose.model_space import WorldState, init_world, world_from_local
from flexor.scene.character.limits import Limits, free_limits
from flexor.scene.character.skeleton import Skeleton
from tests.scenes import plain_scene

Rng = np.random.Generator
REST = np.array([0, 0, 0, 1.0])


def chain(lengths: Any) -> Layout:
    """A chain along X: bones b0, b1, ... and its end."""
    count = len(lengths)
    places = np.zeros((count + 1, 3))
    places[1:, 0] = lengths
    return tree(range(-1, count), places)


def tree(
    parents: Any, places: Any, rotations: Any = None, scales: Any = None
) -> Layout:
    """Nodes b0, b1, ... at places relative to their parents."""
    count = len(places)
    skeleton = Skeleton(
        tuple(f"b{i}" for i in range(count)),
        np.array(list(parents)),
        np.asarray(places),
        np.tile(REST, (count, 1)) if rotations is None else rotations,
        np.ones((count, 3)) if scales is None else scales,
    )
    return make_layout(plain_scene(skeleton))


def posed(layout: Layout, rotations: Any) -> tuple[Floats, WorldState]:
    """Local rows (N, 10 L) of rotations (N, B, 4) of the first nodes, and the world."""
    count, bones = rotations.shape[:2]
    local = np.tile(layout.rest, (count, 1))
    rows = local.reshape(count, 10, -1)
    rows[:, 3:7, layout.lane_of_node[:bones]] = np.swapaxes(rotations, 1, 2)
    return local, world_from_local(init_world(layout, count), local)


def rotations_of(layout: Layout, local: Floats) -> Any:
    """Rotations (N, J, 4) in local rows."""
    rows = local.reshape(len(local), 10, -1)[:, 3:7, layout.lane_of_node]
    return np.swapaxes(rows, 1, 2).astype(np.float64)


def places_of(layout: Layout, local: Floats, places: Any = None) -> Any:
    """Where the nodes are: (N, J, 3)."""
    world = init_world(layout, len(local))
    if places is not None:
        world.places[:] = places
    return world_from_local(world, local).matrices[..., 3].astype(np.float64)


def angles_between(one: Any, other: Any) -> Any:
    """Angles between rotations (..., 4), radians, by their chord."""
    apart = np.minimum(
        np.linalg.norm(one - other, axis=-1), np.linalg.norm(one + other, axis=-1)
    )
    return 4 * np.arcsin(np.clip(apart / 2, 0, 1))


def random_lengths(rng: Rng, bones: int) -> Any:
    """Lengths of a chain of one metre."""
    lengths = rng.uniform(0.3, 1, bones)
    return lengths / lengths.sum()


def random_targets(rng: Rng, lengths: Any, count: int) -> Any:
    """Points (N, 3), evenly spread over what a chain can reach."""
    ways = rng.normal(size=(count, 3))
    ways /= np.linalg.norm(ways, axis=1, keepdims=True)
    least = max(0.0, 2 * max(lengths) - sum(lengths))
    cubes = rng.uniform(least**3, sum(lengths) ** 3, count)
    return ways * np.cbrt(cubes)[:, None]


def box_limits(count: int, low: Any, high: Any, **rest: Any) -> Limits:
    """The same limits, degrees about Z, Y, X, for all joints."""
    free = free_limits(count)
    return Limits(
        rest.get("frames", free.frames),
        np.tile(np.radians(low), (count, 1)),
        np.tile(np.radians(high), (count, 1)),
        np.full(count, rest.get("rate", np.inf)),
    )
