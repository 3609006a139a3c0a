"""Bodies for tests of dropped nodes: random ones, bones in a row, bones in a star."""

from __future__ import annotations

from typing import Any

import numpy as np

from flexor.convert.levels.poses import LevelPoses
from flexor.maths import transforms
from flexor.scene.runtime.node_table import NodeTable
from tests.scenes import random_rotations

Rng = np.random.Generator


def random_moves(rng: Rng, count: int, angle: float, way: float) -> Any:
    """Rigid movements (count, 3, 4) of about an angle and a way."""
    turns = np.concatenate(
        [rng.normal(size=(count, 3)) * angle, np.ones((count, 1))], 1
    )
    turns /= np.linalg.norm(turns, axis=1, keepdims=True)
    return transforms.compose(
        rng.normal(size=(count, 3)) * way, turns, np.ones((count, 3))
    )


def pose_tree(parents: Any, local: Any) -> Any:
    """World matrices (T, 3, 4) of local ones; parents come first."""
    world = np.empty_like(local)
    for number, parent in enumerate(parents):
        own = local[number]
        world[number] = own if parent < 0 else transforms.multiply(world[parent], own)
    return world


def random_body(
    rng: Rng,
    nodes: int = 7,
    *,
    roots: int = 1,
    clips: int = 3,
    swings: int = 2,
    vertices: int = 18,
    flat: int = -1,
) -> dict[str, Any]:
    """What `plan_drops` takes: two mesh spaces, one node with two slots in one space,
    one node that pulls nothing, rows of the skeleton in an order of their own.

    flat: the number of a node without volume at rest.
    """
    parents = [-1 if n < roots else int(rng.integers(0, n)) for n in range(nodes)]
    rows = rng.permutation(nodes + 2)[:nodes]
    local = transforms.compose(
        rng.normal(size=(nodes, 3)), random_rotations(rng, nodes), np.ones((nodes, 3))
    )
    if flat >= 0:
        local[flat, :, 0] = 0
    rest = np.zeros((nodes + 2, 3, 4))
    rest[rows] = pose_tree(parents, local)
    world = np.zeros((clips + swings, nodes + 2, 3, 4))
    for pose in world:
        moved = transforms.multiply(local, random_moves(rng, nodes, 0.3, 0.05))
        pose[rows] = pose_tree(parents, moved)
    idle = nodes // 2
    # All but one in the first space, one of them twice; some in the second.
    numbers = [n for n in range(nodes) if n != idle] + [nodes - 1]
    spaces = [0] * len(numbers)
    numbers += [n for n in range(0, nodes, 2) if n != idle]
    spaces += [1] * (len(numbers) - len(spaces))
    slots, space_of = rows[numbers], np.array(spaces)
    near = random_moves(rng, len(slots), 0.1, 0.1)
    safe = rest[slots]
    safe[np.abs(np.linalg.det(safe[..., :3])) < 1e-9] = np.eye(3, 4)
    binds = transforms.multiply(near, transforms.invert(safe))
    joints = np.zeros((vertices, 3), np.uint16)
    weights = np.zeros((vertices, 3), np.float32)
    for vertex in range(vertices):
        own = np.flatnonzero(space_of == (vertex % 3 == 0))
        joints[vertex] = rng.choice(own, 3)  # the same slot may come twice
        weights[vertex] = rng.uniform(0.1, 1, 3) * (rng.random(3) < [1, 0.7, 0.5])
        weights[vertex] /= weights[vertex].sum()
    return {
        "table": NodeTable(
            tuple(f"n{row}" for row in rows), rows, parents, np.zeros(nodes)
        ),
        "slots": slots.astype(np.int32),
        "binds": binds.astype(np.float32),
        "spaces": space_of.astype(np.int32),
        "positions": rng.normal(size=(vertices, 3)).astype(np.float32),
        "joints": joints,
        "weights": weights,
        "poses": LevelPoses(world[:clips].copy(), world[clips:].copy()),
        "rest": rest.astype(np.float32),
    }


def turned_body(parents: Any, local: Any, angles: Any, points: Any) -> dict[str, Any]:
    """Bones with local rest matrices (T, 3, 4), turned about z by angles (A, T) against
    their parents; each alone pulls points (T, n, 3) of the world. Clips only.
    """
    angles = np.asarray(angles, float)
    count, each = points.shape[:2]
    rest = pose_tree(parents, local)
    world = np.zeros((len(angles), count, 3, 4))
    for pose, angle in enumerate(angles):
        turns = np.tile(np.eye(3, 4), (count, 1, 1))
        turns[:, 0, 0] = turns[:, 1, 1] = np.cos(angle)
        turns[:, 1, 0], turns[:, 0, 1] = np.sin(angle), -np.sin(angle)
        world[pose] = pose_tree(parents, transforms.multiply(local, turns))
    return {
        "table": NodeTable(
            tuple(f"b{n}" for n in range(count)),
            np.arange(count),
            parents,
            np.zeros(count),
        ),
        "slots": np.arange(count, dtype=np.int32),
        "binds": transforms.invert(rest).astype(np.float32),
        "spaces": np.zeros(count, np.int32),
        "positions": points.reshape(-1, 3).astype(np.float32),
        "joints": np.repeat(np.arange(count), each).astype(np.uint16)[:, None],
        "weights": np.ones((count * each, 1), np.float32),
        "poses": LevelPoses(world, np.zeros((0, count, 3, 4))),
        "rest": rest.astype(np.float32),
    }


def chain_body(angles: Any, length: float = 1.0, each: int = 4) -> dict[str, Any]:
    """Bones in a row along x, each pulls so many vertices along itself."""
    count = np.shape(angles)[1]
    local = np.tile(np.eye(3, 4), (count, 1, 1))
    local[1:, 0, 3] = length
    points = np.zeros((count, each, 3))
    points[..., 0] = np.arange(1, each + 1) / each * length
    points[..., 0] += np.arange(count)[:, None] * length
    return turned_body(np.arange(count) - 1, local, angles, points)


def star_body(places: Any, angles: Any) -> dict[str, Any]:
    """A root and its children at places (T - 1, 3), each pulls its own place and the
    one a tenth beside.
    """
    local = np.tile(np.eye(3, 4), (len(places) + 1, 1, 1))
    local[1:, :, 3] = places
    points = np.repeat(local[:, None, :, 3], 2, 1)
    points[:, 1, 0] += 0.1
    return turned_body([-1] + [0] * len(places), local, angles, points)
