"""The surfaces of a scene as parts: what pulls them, in which space, in which order."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from flexor.api.character import Character
from flexor.convert.envelope.make import EnvelopeSettings, convert_scene
from flexor.convert.envelope.one_weight import one_weight
from flexor.convert.envelope.scene_parts import scene_parts, take_vertices
from flexor.deform.envelope import init_envelope, skin_envelope
from flexor.errors import ShapeError
from flexor.scene.character.mesh import Mesh, MorphTarget, Primitive
from flexor.scene.character.normals import vertex_normals
from flexor.scene.character.weights import Skin, SkinWeights
from flexor.scene.scene import RootSet, Scene
from tests.envelopes import random_part
from tests.oracle import deform as skin_oracle
from tests.oracle import envelope as oracle
from tests.scenes import (
    one_mesh_scene,
    random_primitive,
    random_scene,
    random_skeleton,
    random_skin,
    random_weights,
)

Rng = np.random.Generator


def skinned_scene(rng: Rng, joints: Any, binds: Any = None, **more: Any) -> Scene:
    """Nine vertices at the last of seven nodes, on a skin of these joints."""
    nodes = random_skeleton(rng, 7)
    skin = random_skin(rng, nodes, len(joints))
    own = Skin("skin", np.array(joints), skin.inverse_binds if binds is None else binds)
    weights = random_weights(rng, 9, len(joints), min(3, len(joints)))
    return one_mesh_scene(nodes, random_primitive(rng, 9, skin=weights, **more), own)


def check_moved(scene: Scene, rng: Rng) -> None:
    """Parts are moved as skinning moves the surfaces themselves."""
    count = len(scene.skeleton)
    world = np.asarray(
        Character(scene)
        .pose_from(rng.normal(size=(count, 3)), scales=rng.uniform(1, 2, (count, 3)))
        .world
    )
    parts = scene_parts(scene)[0]
    for part, (positions, normals) in zip(
        parts, oracle.moved(parts, world), strict=True
    ):
        primitive = scene.meshes[scene.node_mesh[part.node]].primitives[part.primitive]
        row = int(scene.node_skin[part.node])
        skin = scene.skins[row] if row >= 0 else None
        still = np.zeros(len(primitive.targets))
        places, turns = skin_oracle.deform(primitive, skin, world, part.node, still)
        np.testing.assert_allclose(positions, places, atol=1e-9)
        np.testing.assert_allclose(normals, turns, atol=1e-9)


def test_every_surface_of_a_scene(rng: Rng) -> None:
    """By node and primitive; each is owned by its node and knows where it stands."""
    scene = random_scene(rng)
    parts = scene_parts(scene)[0]
    places = [(0, 0), (1, 0), (1, 1), (3, 0), (4, 0), (4, 1)]
    assert [(part.node, part.primitive) for part in parts] == places
    for part in parts:
        primitive = scene.meshes[scene.node_mesh[part.node]].primitives[part.primitive]
        assert part.owner == part.node
        np.testing.assert_array_equal(part.positions, primitive.positions)
        np.testing.assert_array_equal(part.vertices, np.arange(len(primitive)))
        np.testing.assert_array_equal(part.faces, primitive.triangles())
        assert part.targets == primitive.targets
    check_moved(scene, rng)


def test_only_what_is_shown(rng: Rng) -> None:
    scene = replace(random_scene(rng), root_sets=(RootSet("none", ()),))
    assert scene_parts(scene)[0] == []


def test_rigid(rng: Rng) -> None:
    """Goes wholly with its node, in whose space it is."""
    nodes = random_skeleton(rng, 4)
    (part,) = scene_parts(one_mesh_scene(nodes, random_primitive(rng, 6), None))[0]
    assert part.models.tolist() == [3]
    np.testing.assert_array_equal(part.binds, np.eye(3, 4)[None])
    assert (part.joints == 0).all()
    assert (part.weights == 1).all()
    check_moved(one_mesh_scene(nodes, random_primitive(rng, 6), None), rng)


def test_skinned(rng: Rng) -> None:
    """Goes with its joints alone; joints without a weight are none."""
    scene = skinned_scene(rng, [4, 0, 5])
    (part,) = scene_parts(scene)[0]
    assert part.owner == 6
    assert part.models.tolist() == [0, 4, 5]
    assert part.binds.dtype == np.float64
    np.testing.assert_array_equal(part.binds, scene.skins[0].inverse_binds[[1, 0, 2]])
    tie = scene.meshes[0].primitives[0].skin
    assert tie is not None
    is_used = tie.weights > 0
    assert not is_used.all()
    assert (part.joints[~is_used] == -1).all()
    named = part.models[part.joints[is_used]]
    np.testing.assert_array_equal(named, scene.skins[0].joints[tie.joints[is_used]])
    np.testing.assert_array_equal(part.weights, tie.weights)
    check_moved(scene, rng)


@pytest.mark.parametrize("has_skin", [True, False])
def test_half_a_skin_is_rigid(has_skin: bool, rng: Rng) -> None:
    """A skin but no weights, or weights but no skin: the node alone counts."""
    nodes = random_skeleton(rng, 5)
    skin = random_skin(rng, nodes, 3)
    weights = random_weights(rng, 6, 3, 2)
    primitive = random_primitive(rng, 6, skin=None if has_skin else weights)
    scene = one_mesh_scene(nodes, primitive, skin if has_skin else None)
    (part,) = scene_parts(scene)[0]
    assert part.models.tolist() == [4]
    check_moved(scene, rng)


def test_normals_are_made_where_a_file_has_none(rng: Rng) -> None:
    scene = skinned_scene(rng, [1, 2, 3], has_normals=False)
    (part,) = scene_parts(scene)[0]
    expected = vertex_normals(scene.meshes[0].primitives[0])
    np.testing.assert_array_equal(part.normals, expected)
    check_moved(scene, rng)


@pytest.mark.parametrize("mode", [0, 1, 2, 3])
def test_points_and_lines_have_no_faces(mode: int, rng: Rng) -> None:
    scene = skinned_scene(rng, [1, 2, 3])
    primitive = replace(scene.meshes[0].primitives[0], mode=mode)
    scene = replace(scene, meshes=(Mesh("lines", (primitive,)),))
    (part,) = scene_parts(scene)[0]
    assert part.faces.shape == (0, 3)
    assert len(part) == 9
    check_moved(scene, rng)


@pytest.mark.parametrize(
    ("mode", "faces"),
    [
        (4, [(4, 3, 2), (1, 0, 4)]),
        (5, [(4, 3, 2), (3, 1, 2), (2, 1, 0), (1, 4, 0)]),
        (6, [(4, 3, 2), (4, 2, 1), (4, 1, 0), (4, 0, 4)]),
    ],
)
def test_strips_and_fans_are_triangles(mode: int, faces: Any, rng: Rng) -> None:
    primitive = replace(random_primitive(rng, 5), indices=[4, 3, 2, 1, 0, 4], mode=mode)
    (part,) = scene_parts(one_mesh_scene(random_skeleton(rng, 3), primitive, None))[0]
    assert part.faces.tolist() == [list(face) for face in faces]


def test_a_mesh_without_vertices(rng: Rng) -> None:
    empty = Primitive(np.zeros((0, 3), np.float32))
    (part,) = scene_parts(one_mesh_scene(random_skeleton(rng, 3), empty, None))[0]
    assert (len(part), len(part.faces)) == (0, 0)


# Joints that a skin names twice


def test_a_joint_named_twice_alike_is_one_model(rng: Rng) -> None:
    joints = [2, 5, 2, 1]
    binds = np.array(skinned_scene(rng, joints).skins[0].inverse_binds)
    binds[2] = binds[0]
    scene = skinned_scene(rng, joints, binds)
    (part,) = scene_parts(scene)[0]
    assert part.models.tolist() == [1, 2, 5]
    tie = scene.meshes[0].primitives[0].skin
    assert tie is not None
    both = (tie.weights > 0) & ((tie.joints == 0) | (tie.joints == 2))
    assert both.any()
    assert (part.joints[both] == 1).all()
    check_moved(scene, rng)
    counts = convert_scene(scene, EnvelopeSettings(split=False))[0].multi.group_counts()
    pulls = sum(len(oracle.pulls(part, row)) for row in range(9))
    assert sum(counts.values()) == pulls


def test_a_joint_named_twice_with_two_binds_pulls_by_both(rng: Rng) -> None:
    """Two rows of one model, which is one pull of each vertex: by the mean bind."""
    scene = skinned_scene(rng, [2, 5, 2, 1])
    (part,) = scene_parts(scene)[0]
    assert part.models.tolist() == [1, 2, 2, 5]
    tie = scene.meshes[0].primitives[0].skin
    assert tie is not None
    both = (tie.joints == 0) | (tie.joints == 2)
    assert (((tie.weights > 0) & both).sum(1) > 1).any()
    check_moved(scene, rng)
    made = convert_scene(scene, EnvelopeSettings(split=False))[0]
    assert made.one.group_counts()["native"] == len(part)
    hero = Character(scene)
    turns = rng.normal(size=(7, 4))
    turns /= np.linalg.norm(turns, axis=1, keepdims=True)
    pose = hero.pose_from(rng.normal(size=(7, 3)), turns)
    (skin,) = hero.deform(pose)
    places, normals = np.empty((2, 1, 9, 3), np.float32)
    state = init_envelope(made.multi)
    skin_envelope(
        state,
        pose.world[None],
        pose.weights[None],
        positions=[places],
        normals=[normals],
    )
    np.testing.assert_allclose(places[0], skin.positions, atol=1e-5)
    np.testing.assert_allclose(normals[0], skin.normals, atol=1e-4)
    hero.deform(pose, weights="one")


def test_one_weight_of_two_binds_is_the_larger(rng: Rng) -> None:
    scene = skinned_scene(rng, [2, 5, 2, 1])
    (part,) = scene_parts(scene)[0]
    weights = np.zeros_like(part.weights)
    weights[:, :3] = 0.25, 0.35, 0.4  # model 2 pulls by 0.6, mostly by its second row
    joints = np.zeros_like(part.joints)
    joints[:, :3] = 1, 2, 3
    lone = one_weight(replace(part, joints=joints, weights=weights), range(9))
    assert (part.models[lone.joints] == 2).all()
    assert (lone.joints == 2).all()


# Pieces of a part


def test_take_vertices(rng: Rng) -> None:
    part = random_part(rng, 4, 6, 2, targets=2, vertices=[9, 8, 7, 6, 5, 4], node=3)
    rows = np.array([1, 3, 4])
    taken = take_vertices(part, rows, np.array([(3, 1, 4), (4, 1, 3)], np.int32), 2)
    assert (taken.owner, taken.node) == (2, 3)
    assert taken.faces.tolist() == [[1, 0, 2], [2, 0, 1]]
    assert taken.vertices.tolist() == [8, 6, 5]
    for name in ("positions", "normals", "joints", "weights"):
        np.testing.assert_array_equal(getattr(taken, name), getattr(part, name)[rows])
    for own, target in zip(taken.targets, part.targets, strict=True):
        np.testing.assert_array_equal(own.positions, target.positions[rows])
        assert (own.normals is None) == (target.normals is None)


def test_tangents_of_morphs_are_left_behind(rng: Rng) -> None:
    """Envelopes have positions and normals alone."""
    target = MorphTarget(None, rng.normal(size=(6, 3)), rng.normal(size=(6, 3)))
    part = random_part(rng, 4, 6, 2, targets=0)
    part = replace(part, targets=(target,))
    rows = np.array([5, 0])
    (own,) = take_vertices(part, rows, np.zeros((0, 3), np.int32), 0).targets
    assert own.positions is None
    assert target.normals is not None
    np.testing.assert_array_equal(own.normals, target.normals[rows])
    assert own.tangents is None


def test_weights_of_joints_and_influences_of_any_width(rng: Rng) -> None:
    """One influence in one column, and nine in nine."""
    nodes = random_skeleton(rng, 12)
    for influences in (1, 9):
        skin = random_skin(rng, nodes, 10)
        primitive = random_primitive(
            rng, 20, skin=random_weights(rng, 20, 10, influences)
        )
        scene = one_mesh_scene(nodes, primitive, skin)
        (part,) = scene_parts(scene)[0]
        assert part.joints.shape == (20, influences)
        check_moved(scene, rng)


def test_joints_of_weight_zero_may_name_anything(rng: Rng) -> None:
    """Their numbers are not looked at: some files have rubbish there."""
    scene = skinned_scene(rng, [1, 2, 3])
    primitive = scene.meshes[0].primitives[0]
    joints = np.zeros((9, 2), np.uint16)
    joints[:, 1] = 999
    weights = np.tile([1.0, 0.0], (9, 1))
    tied = replace(primitive, skin=SkinWeights(joints, weights))
    (part,) = scene_parts(replace(scene, meshes=(Mesh("mesh", (tied,)),)))[0]
    assert (part.joints[:, 1] == -1).all()
    assert [list(oracle.pulls(part, row)) for row in range(9)] == [[1]] * 9


# What is mended, and what is refused


def with_weights(scene: Scene, weights: Any) -> Scene:
    """The same mesh with other weights, of the first joints of the skin."""
    weights = np.asarray(weights, np.float32)
    primitive = scene.meshes[0].primitives[0]
    joints = np.tile(np.arange(weights.shape[1]), (len(weights), 1))
    tied = replace(primitive, skin=SkinWeights(joints, weights))
    return replace(scene, meshes=(replace(scene.meshes[0], primitives=(tied,)),))


def test_good_scenes_have_no_findings(rng: Rng) -> None:
    assert scene_parts(random_scene(rng))[1] == []
    assert scene_parts(replace(random_scene(rng), root_sets=(RootSet("", ()),))) == (
        [],
        [],
    )


@pytest.mark.parametrize("off", [9e-4, -9e-4, 2e-5])
def test_weights_nearly_1_are_mended(off: float, rng: Rng) -> None:
    """With a warning that names the mesh, in parts as in envelopes."""
    weights = np.tile([0.25, 0.75], (9, 1))
    weights[2:5] *= 1 + off
    scene = with_weights(skinned_scene(rng, [1, 2, 3]), weights)
    (part,), (finding,) = scene_parts(scene)
    assert (finding.level, finding.code) == ("warning", "weights-not-1")
    assert finding.where == "mesh"
    assert "3 vertices" in finding.text
    np.testing.assert_allclose(part.weights, np.tile([0.25, 0.75], (9, 1)), atol=1e-6)
    envelopes, found = convert_scene(scene)
    assert found == [finding]
    right = with_weights(scene, np.tile([0.25, 0.75], (9, 1)))
    np.testing.assert_allclose(
        envelopes.multi.data, convert_scene(right)[0].multi.data, atol=1e-5
    )


def test_each_primitive_has_its_own_finding(rng: Rng) -> None:
    scene = with_weights(skinned_scene(rng, [1, 2, 3]), np.full((9, 2), 0.5003))
    both = scene.meshes[0].primitives * 2
    scene = replace(scene, meshes=(replace(scene.meshes[0], primitives=both),))
    parts, findings = scene_parts(scene)
    assert len(parts) == len(findings) == 2


@pytest.mark.parametrize("wild", [np.nan, np.inf, -np.inf])
def test_binds_that_are_not_finite_are_refused(wild: float, rng: Rng) -> None:
    """The node is named, not the row."""
    binds = np.array(skinned_scene(rng, [4, 0, 5]).skins[0].inverse_binds)
    binds[2, 1, 3] = wild
    scene = skinned_scene(rng, [4, 0, 5], binds)
    text = "skin 'skin': the bind of node 5 is not finite"
    for call in (scene_parts, convert_scene):
        with pytest.raises(ShapeError, match=text):
            call(scene)
