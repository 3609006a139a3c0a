"""Skins blended by dual quaternions, for tests."""

from __future__ import annotations

from typing import Any

import numpy as np

from flexor.deform.bind import Bind, bind_scene
from flexor.deform.dual import init_dual, skin_blocks_dual, skin_vertices_dual
from flexor.scene.character.mesh import Primitive
from flexor.scene.character.weights import Skin, SkinWeights
from flexor.scene.scene import Scene
from tests.deform.test_vertices import NODES, rigid_skin
from tests.scenes import (
    one_mesh_scene,
    random_primitive,
    random_skeleton,
    random_weights,
)

Rng = np.random.Generator
F4 = np.float32
SCALES = ["one", "even", "uneven", "negative", "mirror", "zero"]


def run(bind: Bind, world: Any, weights: Any = None, **more: Any) -> tuple[Any, Any]:
    """Positions and normals (N, V, 3), the blocks agreeing with the vertices."""
    count = len(world)
    if weights is None:
        weights = np.zeros((count, len(bind.deltas)), F4)
    positions, normals = np.full((2, count, bind.vertex_count, 3), np.nan, F4)
    state = init_dual(bind, count)
    skin_vertices_dual(
        state, world, weights, positions=positions, normals=normals, **more
    )
    blocks = np.full((count, len(bind.order) // 8, 6, 8), np.nan, F4)
    skin_blocks_dual(state, world, weights, out=blocks, **more)
    rows = blocks.swapaxes(2, 3).reshape(count, len(bind.order), 6)
    np.testing.assert_allclose(
        rows[..., :3], positions[:, bind.order], rtol=1e-5, atol=1e-5
    )
    np.testing.assert_allclose(
        rows[..., 3:], normals[:, bind.order], rtol=1e-5, atol=1e-5
    )
    return positions, normals


def one_mesh(rng: Rng, vertices: int, influences: int, **more: Any) -> Scene:
    """A mesh on 13 joints whose bind matrices turn and move only."""
    weights = random_weights(rng, vertices, 13, influences)
    primitive = random_primitive(rng, vertices, skin=weights, **more)
    return one_mesh_scene(random_skeleton(rng, NODES), primitive, rigid_skin(rng, 13))


# A tube along x whose ends are turned against each other.


def tube(shares: Any) -> Bind:
    """Rings of radius 1, each with its share of the second joint."""
    angles = np.arange(16) * np.pi / 8
    ring = np.stack([np.zeros(16), np.cos(angles), np.sin(angles)], 1)
    positions = np.concatenate([ring + np.array([x, 0, 0]) for x in shares])
    share = np.repeat(shares, 16)
    weights = SkinWeights(
        np.tile([0, 1], (len(share), 1)), np.stack([1 - share, share], 1)
    )
    primitive = Primitive(positions, np.tile(ring, (len(shares), 1)), skin=weights)
    skin = Skin("tube", np.array([0, 1]), np.tile(np.eye(3, 4), (2, 1, 1)))
    skeleton = random_skeleton(np.random.default_rng(0), 2)
    return bind_scene(one_mesh_scene(skeleton, primitive, skin))[0]
