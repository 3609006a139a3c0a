"""Meshes without weights are bound to joints that a file has."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pytest

import flexor
from flexor.api.character import Character
from flexor.convert.weights.bind_scene import bind_scene, joint_nodes
from flexor.scene.character.clip import Clip, Track
from flexor.scene.scene import Scene
from tests.bench.closed_tube import closed_tube
from tests.convert.shape.tubes import skinned_scene


def bare(*, has_skin: bool, is_moved: bool = True) -> Scene:
    """A tube on three joints, whose weights are lost, and its skin too if asked."""
    positions, faces = closed_tube()
    bases = [[0.0, 0, 0], [2, 0, 0], [4, 0, 0]]
    tied = np.tile([1.0, 0, 0], (len(positions), 1))
    turn = np.array([[0, 0, 0, 1], [0, 0, 2**-0.5, 2**-0.5]], np.float32)
    track = Track(1, "rotation", np.array([0, 1], np.float32), turn)
    clips = {"bend": Clip("bend", (track,))} if is_moved else {}
    scene = skinned_scene(bases, [-1, 0, 1], positions, faces, tied, clips=clips)
    mesh = scene.meshes[0]
    plain = tuple(replace(primitive, skin=None) for primitive in mesh.primitives)
    scene = replace(scene, meshes=(replace(mesh, primitives=plain),))
    if has_skin:
        return scene
    return replace(scene, skins=(), node_skin=np.full(4, -1))


@pytest.mark.parametrize("has_skin", [True, False])
@pytest.mark.parametrize("is_moved", [True, False])
def test_a_mesh_without_weights_is_bound(has_skin: bool, is_moved: bool) -> None:
    hero = Character(bare(has_skin=has_skin, is_moved=is_moved))
    bound, report = flexor.repair(hero, regenerate=True, has_measures=False)
    assert report.vertices > 0
    codes = [finding.code for finding in report.findings]
    assert "mesh-bound" in codes
    assert "weights-far" not in codes
    rest, was = (h.deform(h.pose())[0].positions for h in (bound, hero))
    np.testing.assert_allclose(rest, was, atol=1e-5)
    turned = np.tile([0.0, 0, 0, 1], (4, 1))
    turned[1] = [0, 0, 2**-0.5, 2**-0.5]
    bent = bound.deform(bound.pose_from(rotations=turned))[0].positions
    x = was[:, 0]
    end = x > 3 if has_skin or not is_moved else x > 9
    np.testing.assert_allclose(bent[end, 1], x[end] - 2, atol=0.6)


def test_joints_are_what_clips_move() -> None:
    assert joint_nodes(bare(has_skin=False)).tolist() == [1, 2]
    assert joint_nodes(bare(has_skin=False, is_moved=False)).tolist() == [0, 1, 2]
    assert joint_nodes(bare(has_skin=True)).tolist() == [0, 1, 2]


def test_parts_that_joints_carry_stay(assets: Any) -> None:
    """A figure of parts that move as they are has nothing to bind."""
    scene = flexor.load(assets / "Kenney_character.glb").scene
    assert bind_scene(scene) == (scene, [])


def test_props_beside_a_skin_stay(assets: Any) -> None:
    scene = flexor.load(assets / "KayKit_Knight.glb").scene
    assert bind_scene(scene)[0] is scene


def test_weights_that_are_all_of_one_joint_are_made_new() -> None:
    scene, _ = bind_scene(bare(has_skin=True))
    hero = Character(scene)
    _, report = flexor.repair(hero, regenerate=True, has_measures=False)
    assert report.vertices > 0
    assert "weights-far" not in [finding.code for finding in report.findings]
