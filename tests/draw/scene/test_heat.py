"""Weights of joints, and their colours."""

from __future__ import annotations

from typing import Any

import numpy as np

from flexor.draw.scene.heat import colour_ramp, joint_weights
from flexor.scene.character.mesh import Mesh, Primitive
from flexor.scene.character.weights import Skin, SkinWeights
from flexor.scene.scene import Scene
from tests.draw.scenes import skeleton


def chain() -> Scene:
    """Five nodes in a row; 1 and 2 are joints; meshes at 3 (rigid) and 4 (skinned)."""
    weights = SkinWeights(
        [[0, 1, 0], [1, 0, 0], [0, 1, 0]], [[0.25, 0.75, 0], [1, 0, 0], [1, 0, 0]]
    )
    places = np.zeros((3, 3), np.float32)
    meshes = (
        Mesh("rigid", (Primitive(places.copy()),)),
        Mesh("skinned", (Primitive(places.copy(), skin=weights),)),
    )
    binds = np.tile(np.eye(3, 4, dtype=np.float32), (2, 1, 1))
    return Scene(
        skeleton(5),
        [-1, -1, -1, 0, 1],
        [-1, -1, -1, -1, 0],
        meshes,
        (Skin("skin", [1, 2], binds),),
    )


def test_skinned() -> None:
    scene = chain()

    def weights(*joints: int) -> Any:
        return joint_weights(scene, 4, 0, joints).tolist()

    assert weights(1) == [0.25, 0, 1]
    assert weights(2) == [0.75, 1, 0]
    assert weights(1, 2) == [1, 1, 1]
    assert weights(0) == [0, 0, 0]
    assert weights() == [0, 0, 0]


def test_rigid_hangs_on_its_node_or_the_joint_above() -> None:
    scene = chain()
    sums = [float(joint_weights(scene, 3, 0, [node]).sum()) for node in range(5)]
    assert sums == [0, 0, 3, 3, 0]


def test_ramp_grows_lighter() -> None:
    colours = colour_ramp(np.linspace(0, 1, 50))
    assert colours.dtype == np.float32
    assert (colours[:, 3] == 1).all()
    light = colours[:, :3] @ [0.2126, 0.7152, 0.0722]
    assert (np.diff(light) > 0).all()
    # Blue, green, red.
    assert [int(np.argmax(colours[row, :3])) for row in (0, 25, 49)] == [2, 1, 0]


def test_ramp_takes_anything() -> None:
    odd = colour_ramp([-1, 2, np.nan, np.inf])
    ends = colour_ramp([0, 1, 0, 1])
    np.testing.assert_array_equal(odd, ends)
    assert colour_ramp([]).shape == (0, 4)
