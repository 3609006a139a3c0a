from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pytest

import flexor
from flexor.convert.shape.body import (
    Pull,
    body_surface,
    gather_bodies,
    joint_parents,
    merge_same,
    same_rows,
    skin_weights,
    with_pulls,
)
from flexor.convert.weights.edit_weights import limit_influences
from flexor.maths import transforms
from flexor.scene.character.mesh import Mesh, Primitive
from flexor.scene.character.skeleton import Skeleton, rest_world
from flexor.scene.character.weights import Skin, SkinWeights
from flexor.scene.scene import Scene
from tests.conftest import asset_files
from tests.scenes import (
    bound_skin,
    one_mesh_scene,
    random_primitive,
    random_scene,
    random_skeleton,
    random_weights,
)


def all_primitives(scene: Scene) -> list[Primitive]:
    return [p for mesh in scene.meshes for p in mesh.primitives]


def check_kept(scene: Scene) -> None:
    """Pulls that go back as they came change nothing."""
    bodies = gather_bodies(scene)
    again = with_pulls(scene, {i: body.pull for i, body in enumerate(bodies)}, bodies)
    before, after = all_primitives(scene), all_primitives(again)
    assert all(a is b for a, b in zip(before, after, strict=True))
    assert all(a is b for a, b in zip(scene.meshes, again.meshes, strict=True))


def test_gathered_and_given_back(rng: Any) -> None:
    check_kept(random_scene(rng))
    check_kept(flexor.samples.mannequin().scene)


@pytest.mark.skipif(not asset_files(), reason="no assets: set FLEXOR_ASSETS")
@pytest.mark.parametrize("file", asset_files()[::4], ids=lambda file: file.stem)
def test_real_characters_gathered_and_given_back(file: Any) -> None:
    scene = flexor.load(file).scene
    check_kept(scene)
    for body in gather_bodies(scene):
        assert np.isfinite(body.frames).all()
        np.testing.assert_allclose(body.pull.weights.sum(1), 1, atol=1e-5)


def test_what_a_body_is_made_of(rng: Any) -> None:
    scene = random_scene(rng, vertices=21)
    (body,) = gather_bodies(scene)
    assert body.skins == (0,)
    assert body.places == ((0, 0), (0, 1), (2, 0), (2, 1))
    assert body.starts == (0, 21, 46, 67, 72)
    assert len(body) == 72
    skin = scene.skins[0]
    assert body.names == tuple(scene.skeleton.names[node] for node in skin.joints)
    back = transforms.multiply(body.frames, skin.inverse_binds.astype(float))
    np.testing.assert_allclose(
        back, np.tile(np.eye(3, 4), (len(back), 1, 1)), atol=1e-5
    )
    second = scene.meshes[0].primitives[1]
    np.testing.assert_array_equal(body.positions[21:46], second.positions)
    assert second.skin is not None
    dense = np.zeros((25, len(body.names)))
    for v in range(25):
        np.add.at(dense[v], second.skin.joints[v], second.skin.weights[v])
    pull = body.pull.take(np.arange(21, 46, dtype=np.int32))
    np.testing.assert_allclose(pull.dense(len(body.names)), dense, atol=1e-6)
    faces = second.triangles() + 21
    assert {tuple(face) for face in faces.tolist()} <= {
        tuple(face) for face in body.faces.tolist()
    }
    assert not body.rigid.any()


def test_meshes_marked_as_rigid(rng: Any) -> None:
    (body,) = gather_bodies(random_scene(rng, vertices=21), [False, False, True])
    assert body.rigid.tolist() == [False] * 46 + [True] * 26


def test_only_changed_surfaces_are_new(rng: Any) -> None:
    scene = random_scene(rng, vertices=21)
    bodies = gather_bodies(scene)
    pull = bodies[0].pull
    joints, weights = pull.joints.copy(), pull.weights.copy()
    joints[50], weights[50] = -1, 0
    joints[50, 0], weights[50, 0] = 3, 1
    changed = with_pulls(scene, {0: Pull(joints, weights)}, bodies)
    before, after = all_primitives(scene), all_primitives(changed)
    same = [a is b for a, b in zip(before, after, strict=True)]
    assert same == [True, True, True, False, True]
    assert [a is b for a, b in zip(scene.meshes, changed.meshes, strict=True)] == [
        True,
        True,
        False,
    ]
    skin = after[3].skin
    assert skin is not None
    assert (skin.joints[4, 0], skin.weights[4, 0]) == (3, 1)
    (again,) = gather_bodies(changed)
    np.testing.assert_allclose(again.pull.dense(5), Pull(joints, weights).dense(5))


def test_skins_alike_are_one_body_and_others_are_not(rng: Any) -> None:
    skeleton = random_skeleton(rng, 8)
    one, other = bound_skin(skeleton, [0, 1, 2]), bound_skin(skeleton, [2, 1, 0])
    alike = replace(one, name="alike", joints=one.joints.copy())
    meshes = tuple(
        Mesh(f"m{i}", (random_primitive(rng, 6, skin=random_weights(rng, 6, 3, 3)),))
        for i in range(3)
    )
    node_mesh, node_skin = np.full((2, 8), -1)
    node_mesh[:3], node_skin[:3] = [2, 1, 0], [0, 1, 2]
    scene = Scene(skeleton, node_mesh, node_skin, meshes, (one, other, alike))
    first, second = gather_bodies(scene)
    assert (first.skins, first.places) == ((0, 2), ((0, 0), (2, 0)))
    assert (second.skins, second.places) == ((1,), ((1, 0),))
    check_kept(scene)


def test_a_mesh_of_two_skins_belongs_to_the_first(rng: Any) -> None:
    skeleton = random_skeleton(rng, 8)
    skins = (bound_skin(skeleton, [0, 1, 2]), bound_skin(skeleton, [3, 4, 5]))
    mesh = Mesh("m", (random_primitive(rng, 6, skin=random_weights(rng, 6, 3, 3)),))
    node_mesh, node_skin = np.full((2, 8), -1)
    node_mesh[:2], node_skin[:2] = 0, [1, 0]
    scene = Scene(skeleton, node_mesh, node_skin, (mesh,), skins)
    (body,) = gather_bodies(scene)
    assert (body.skins, body.joints.tolist()) == ((0,), [0, 1, 2])
    check_kept(scene)


def test_scenes_without_bodies(rng: Any) -> None:
    skeleton = random_skeleton(rng, 3)
    plain = one_mesh_scene(skeleton, random_primitive(rng, 6), None)
    assert gather_bodies(plain) == []
    empty = SkinWeights(np.zeros((0, 4), np.uint16), np.zeros((0, 4), np.float32))
    none = Primitive(np.zeros((0, 3)), skin=empty)
    scene = one_mesh_scene(skeleton, none, bound_skin(skeleton, [0]))
    assert gather_bodies(scene) == []
    assert with_pulls(scene, {}, []).meshes == scene.meshes


def test_a_joint_named_twice_is_its_first_row(rng: Any) -> None:
    skeleton = random_skeleton(rng, 4)
    skin = bound_skin(skeleton, [2, 1, 2])
    weights = SkinWeights([[0, 2], [1, 2], [2, 0]], [[0.25, 0.75], [0.5, 0.5], [1, 0]])
    scene = one_mesh_scene(skeleton, Primitive(np.eye(3), skin=weights), skin)
    (body,) = gather_bodies(scene)
    np.testing.assert_allclose(
        body.pull.dense(3), [[1, 0, 0], [0.5, 0.5, 0], [1, 0, 0]]
    )
    check_kept(scene)
    # Bound differently, they are not the same.
    binds = skin.inverse_binds.copy()
    binds[2, :, 3] += 1
    other = replace(skin, joints=skin.joints.copy(), inverse_binds=binds)
    scene = one_mesh_scene(skeleton, Primitive(np.eye(3), skin=weights), other)
    (body,) = gather_bodies(scene)
    expected = [[0.25, 0, 0.75], [0, 0.5, 0.5], [0, 0, 1]]
    np.testing.assert_allclose(body.pull.dense(3), expected)


def test_binds_without_an_inverse_are_the_joint_at_rest(rng: Any) -> None:
    skeleton = random_skeleton(rng, 4)
    binds = bound_skin(skeleton, [0, 1, 2, 3]).inverse_binds.copy()
    binds[1, :, :3] = 0
    binds[2, 0, 0] = np.nan
    binds[3, :, 0] = binds[3, :, 1]
    skin = Skin("odd", [0, 1, 2, 3], binds)
    weights = random_weights(rng, 3, 4, 4)
    scene = one_mesh_scene(skeleton, Primitive(np.eye(3), skin=weights), skin)
    (body,) = gather_bodies(scene)
    np.testing.assert_allclose(body.frames, rest_world(skeleton), atol=1e-5)
    # Seen from the space of the mesh, by the joints that have one.
    mesh_from_world = transforms.compose(
        np.array([1.0, 2, 3]), np.array([0, 0, 1.0, 0]), np.full(3, 100.0)
    )
    world_from_mesh = transforms.invert(mesh_from_world)
    skin = Skin("odd", [0, 1, 2, 3], transforms.multiply(binds, world_from_mesh))
    (body,) = gather_bodies(
        one_mesh_scene(skeleton, Primitive(np.eye(3), skin=weights), skin)
    )
    expected = transforms.multiply(mesh_from_world, rest_world(skeleton))
    np.testing.assert_allclose(body.frames, expected, atol=1e-3)
    none = Skin("none", [0, 1, 2, 3], np.zeros((4, 3, 4)))
    (body,) = gather_bodies(
        one_mesh_scene(skeleton, Primitive(np.eye(3), skin=weights), none)
    )
    np.testing.assert_allclose(body.frames, rest_world(skeleton), atol=1e-5)


def test_parents_pass_over_nodes_that_are_no_joints() -> None:
    skeleton = Skeleton(
        ("a", "b", "c", "d", "e"),
        np.array([-1, 0, 1, 2, -1]),
        np.zeros((5, 3)),
        np.tile([0.0, 0, 0, 1], (5, 1)),
        np.ones((5, 3)),
    )
    joints = np.array([3, 0, 4, 2], np.int32)
    assert joint_parents(skeleton, joints).tolist() == [3, -1, -1, 1]
    assert joint_parents(skeleton, np.array([3, 1, 1], np.int32)).tolist() == [
        1,
        -1,
        -1,
    ]
    assert joint_parents(skeleton, np.zeros(0, np.int32)).tolist() == []


def test_names_that_come_twice_are_added() -> None:
    joints = np.array([[4, 2, 4, -1], [0, 0, 0, 0], [1, -1, 3, 2], [5, 6, 7, 8]])
    weights = np.array([[1, 3, 4, 9], [1, 1, 1, 1], [0, 5, 0, 0], [0.25] * 4])
    pull = merge_same(joints, weights)
    assert pull.joints.tolist() == [
        [4, 2, -1, -1],
        [0, -1, -1, -1],
        [-1, -1, -1, -1],
        [5, 6, 7, 8],
    ]
    expected = [[0.625, 0.375, 0, 0], [1, 0, 0, 0], [0] * 4, [0.25] * 4]
    np.testing.assert_allclose(pull.weights, expected)
    assert pull.weights.dtype == np.float32


def test_weights_are_written_in_columns_of_four() -> None:
    joints = np.array([[3, 1, 2, 0, 4], [9, -1, -1, -1, -1]], np.int32)
    weights = np.array([[0.1, 0.2, 0.3, 0.25, 0.15], [1, 0, 0, 0, 0]], np.float32)
    skin = skin_weights(Pull(joints, weights))
    assert skin.joints.shape == (2, 8)
    assert skin.joints[0, :5].tolist() == [2, 0, 1, 4, 3]
    assert skin.joints[1].tolist() == [9] + [0] * 7
    narrow = skin_weights(Pull(joints[1:], weights[1:]))
    assert narrow.joints.shape == (1, 4)


def test_pulls_that_are_the_same() -> None:
    one = Pull(np.array([[1, 2]], np.int32), np.array([[0.5, 0.5]], np.float32))
    turned = Pull(np.array([[2, 1, -1]], np.int32), np.array([[0.5, 0.5, 0]], "f4"))
    other = Pull(np.array([[1, 3]], np.int32), np.array([[0.5, 0.5]], np.float32))
    more = Pull(np.array([[1, 2, 3]], np.int32), np.array([[0.5, 0.4, 0.1]], "f4"))
    assert same_rows(one, turned).all()
    assert same_rows(turned, one).all()
    assert not same_rows(one, other).all()
    assert not same_rows(one, more).all()


def test_a_seam_is_one_point_unless_its_weights_differ(rng: Any) -> None:
    positions = np.array(
        [[0, 0, 0], [1, 0, 0], [0, 1, 0], [1, 0, 0], [0, 1, 0], [1, 1, 0]]
    )
    indices = np.array([0, 1, 2, 3, 5, 4], np.uint32)
    skeleton = random_skeleton(rng, 3)
    weights = np.array([[1, 0], [1, 0], [1, 0], [1, 0], [0.5, 0.5], [0, 1]], np.float32)
    joints = np.tile(np.array([0, 1], np.uint16), (6, 1))
    primitive = Primitive(positions, indices=indices, skin=SkinWeights(joints, weights))
    (body,) = gather_bodies(
        one_mesh_scene(skeleton, primitive, bound_skin(skeleton, [0, 1]))
    )
    surface = body_surface(body)
    assert surface.point_of_vertex.tolist() == [0, 1, 2, 1, 3, 4]
    assert surface.pieces.tolist() == [0] * 5
    assert body_surface(body, is_by_place=True).point_of_vertex.tolist() == [
        0,
        1,
        2,
        1,
        2,
        3,
    ]
    assert body.size == 1


def test_changes_larger_than_rounding_are_written(rng: Any) -> None:
    skeleton = random_skeleton(rng, 2)
    rows = np.tile(np.array([0, 1], np.uint16), (3, 1))
    weights = SkinWeights(rows, np.full((3, 2), 0.5))
    primitive = Primitive(np.eye(3), skin=weights)
    scene = one_mesh_scene(skeleton, primitive, bound_skin(skeleton, [0, 1]))
    bodies = gather_bodies(scene)
    amounts = np.array([[0.5, 0.5], [0.5001, 0.4999], [0.5 + 2e-7, 0.5 - 2e-7]], "f4")
    new = Pull(rows.astype(np.int32), amounts)
    assert same_rows(bodies[0].pull, new).tolist() == [True, False, True]
    skin = with_pulls(scene, {0: new}, bodies).meshes[0].primitives[0].skin
    assert skin is not None
    np.testing.assert_allclose(skin.weights[:, 0], [0.5, 0.5001, 0.5], atol=1e-7)


@pytest.mark.parametrize(("less", "points"), [(0.1, 4), (0.002, 4), (1e-4, 3)])
def test_vertices_in_one_place_are_one_point_if_weights_are_close(
    rng: Any, less: float, points: int
) -> None:
    skeleton = random_skeleton(rng, 2)
    places = np.array([[0, 0, 0], [1, 0, 0], [0, 1, 0], [0, 0, 0]])
    rows = np.tile(np.array([0, 1], np.uint16), (4, 1))
    weights = np.tile([0.75, 0.25], (4, 1))
    weights[3] += [-less, less]
    primitive = Primitive(
        places,
        indices=np.array([0, 1, 2, 3, 1, 2], np.uint32),
        skin=SkinWeights(rows, weights),
    )
    (body,) = gather_bodies(
        one_mesh_scene(skeleton, primitive, bound_skin(skeleton, [0, 1]))
    )
    assert len(body_surface(body)) == points
    assert len(body_surface(body, is_by_place=True)) == 3


def test_columns_that_no_row_needs_any_more_are_dropped(rng: Any) -> None:
    skeleton = random_skeleton(rng, 5)
    joints, weights = np.zeros((3, 8), np.uint16), np.zeros((3, 8), np.float32)
    joints[:, :5], weights[:, :5] = np.arange(5), 0.2
    primitive = Primitive(np.eye(3), skin=SkinWeights(joints, weights))
    scene = one_mesh_scene(skeleton, primitive, bound_skin(skeleton, np.arange(5)))
    bodies = gather_bodies(scene)
    pulls = {0: limit_influences(bodies[0].pull, 4)}
    skin = with_pulls(scene, pulls, bodies).meshes[0].primitives[0].skin
    assert skin is not None
    assert skin.joints.tolist() == [[0, 1, 2, 3]] * 3
    np.testing.assert_allclose(skin.weights, 0.25)
    # A row that stays as it was is narrow too.
    joints, weights = joints.copy(), weights.copy()
    joints[0], weights[0] = 0, 0
    joints[0, [2, 1]], weights[0, [2, 1]] = [3, 1], [0.75, 0.25]
    loose = replace(primitive, skin=SkinWeights(joints, weights))
    other = one_mesh_scene(skeleton, loose, scene.skins[0])
    others = gather_bodies(other)
    pull = limit_influences(others[0].pull, 4)
    skin = with_pulls(other, {0: pull}, others).meshes[0].primitives[0].skin
    assert skin is not None
    assert skin.influence_counts().tolist() == [2, 4, 4]
    assert skin.weights.shape == (3, 4)
    (again,) = gather_bodies(with_pulls(other, {0: pull}, others))
    np.testing.assert_allclose(again.pull.dense(5), pull.dense(5), atol=1e-6)
    # One that needs all of them keeps them.
    pull = bodies[0].pull.take(np.arange(3, dtype=np.int32))
    pull.joints[1:], pull.weights[1:] = pulls[0].joints[1:], pulls[0].weights[1:]
    skin = with_pulls(scene, {0: pull}, bodies).meshes[0].primitives[0].skin
    assert skin is not None
    assert skin.influence_counts().tolist() == [5, 4, 4]
    assert skin.weights.shape == (3, 8)
