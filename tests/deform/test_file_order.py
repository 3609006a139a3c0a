"""Skins in the file's order: blocks that stand in a row there, filled up, scattered."""

from __future__ import annotations

import numpy as np
import pytest

from flexor.deform.bind import bind_scene
from flexor.deform.kernels.file_order import skin_character
from flexor.deform.kernels.layout import Skin, SkinRoom
from flexor.scene.character.weights import SkinWeights
from tests.deform.test_vertices import random_world, run
from tests.scenes import (
    one_mesh_scene,
    random_primitive,
    random_skeleton,
    random_skin,
    random_weights,
)

Rng = np.random.Generator
NODES = 14


@pytest.mark.parametrize("scale", ["one", "negative"])
@pytest.mark.parametrize("influences", [1, 2, 4])
@pytest.mark.parametrize("vertices", [0, 1, 7, 8, 9, 16, 17, 100])
def test_one_character_in_one_call(
    vertices: int, influences: int, scale: str, rng: Rng
) -> None:
    """Palette and skin as in two calls, to the bit."""
    skeleton = random_skeleton(rng, NODES)
    weights = random_weights(rng, vertices, 2, min(influences, 2))
    if influences == 4:  # as files mostly are: neighbours with the same joints
        joints = np.repeat(rng.integers(0, 5, (vertices // 20 + 1, 4)), 20, 0)
        weights = SkinWeights(joints[:vertices], np.full((vertices, 4), 0.25))
    primitive = random_primitive(rng, vertices, skin=weights)
    scene = one_mesh_scene(skeleton, primitive, random_skin(rng, skeleton, 5))
    (bind,) = bind_scene(scene)
    world = random_world(rng, 1, NODES, scale)
    positions, normals = np.full((2, vertices, 3), np.nan, np.float32)
    size = 12 * len(bind.nodes)
    skin_character(
        world[0],
        Skin(bind.nodes, bind.binds, bind.runs, bind.joints, bind.data, bind.order),
        SkinRoom(
            np.zeros(size, np.float32),
            np.zeros(size, np.float32),
            np.zeros(24 * bind.most_joints + 96, np.float32),
        ),
        positions,
        normals,
    )
    in_a_row = bind.order.reshape(-1, 8)
    is_plain = (np.diff(in_a_row.astype(int), axis=1) == 1).all(1)
    if influences == 4 and vertices == 100:
        assert is_plain.any()
        assert not is_plain.all()
    expected = run(bind, world)
    np.testing.assert_array_equal(positions, expected[0][0])
    np.testing.assert_array_equal(normals, expected[1][0])
