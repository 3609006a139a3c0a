"""A scene as one body: what is in it, what pulls it, and where it stands."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from flexor.api.character import Character
from flexor.convert.levels.body import (
    LevelBody,
    make_level_body,
    skin_body,
    tidy_influences,
)
from flexor.errors import ShapeError
from flexor.scene.character.material import Material, Texture, TextureRef
from flexor.scene.character.mesh import LINES, Mesh, Primitive
from flexor.scene.character.skeleton import rest_world
from flexor.scene.character.weights import Skin, SkinWeights
from flexor.scene.scene import Scene
from tests.convert.shape.tubes import tube_scene
from tests.scenes import one_mesh_scene, random_scene, random_skeleton

Rng = np.random.Generator


def body_of(scene: Scene) -> LevelBody:
    return make_level_body(scene)[0]


def moved(body: LevelBody, world: Any) -> Any:
    whole = np.asarray(world, np.float32)[None]
    return skin_body(
        whole, body.slots, body.binds, body.positions, body.joints, body.weights
    )[0]


def square(**more: Any) -> Primitive:
    """Four corners and two triangles, and a vertex that is in none."""
    corners = [(0, 0, 0), (1, 0, 0), (1, 1, 0), (0, 1, 0), (9, 9, 9)]
    indices = np.array([0, 1, 2, 0, 2, 3])
    return Primitive(np.array(corners, float), indices=indices, **more)


def test_moves_as_the_character_does(rng: Rng) -> None:
    """Skinned, rigid, morphed and instanced surfaces, in one body."""
    scene = random_scene(rng)
    body = body_of(scene)
    pose = Character(scene).pose_from(rng.normal(size=(11, 3)))
    skin = Character(scene).deform(pose)
    where = {(part.node, part.primitive): part.positions for part in skin}
    want = [where[node, row][v] for node, row, v in body.sources.tolist()]
    np.testing.assert_allclose(moved(body, pose.world), want, atol=2e-5)
    np.testing.assert_allclose(
        moved(body, rest_world(scene.skeleton)), body.rest, atol=2e-5
    )


def test_everything_with_triangles_is_in_it_once(rng: Rng) -> None:
    scene = random_scene(rng)
    body = body_of(scene)
    assert len(np.unique(body.sources, axis=0)) == len(body)
    triangles = sum(
        len(primitive.triangles())
        for node in np.flatnonzero(scene.node_mesh >= 0)
        for primitive in scene.meshes[scene.node_mesh[node]].primitives
    )
    assert len(body.faces) == triangles
    assert set(np.unique(body.faces)) == set(range(len(body)))
    spaces = body.spaces[body.joints]
    assert (spaces == spaces[:, :1]).all()


def test_each_node_and_bind_is_one_slot(rng: Rng) -> None:
    """Two skins that say the same share their slots; rigid parts have their own."""
    scene = tube_scene(2.0)
    twin = replace(
        scene,
        node_mesh=np.array([-1, -1, 0, 0]),
        node_skin=np.array([-1, -1, 1, 0]),
        skins=(scene.skins[0], replace(scene.skins[0], name="again")),
    )
    assert body_of(twin).slots.tolist() == body_of(scene).slots.tolist() == [0, 1]
    rigid = replace(twin, node_skin=np.array([-1, -1, -1, 0]))
    body = body_of(rigid)
    assert body.slots.tolist() == [2, 0, 1]
    np.testing.assert_array_equal(body.binds[0], np.eye(3, 4))
    assert body.spaces.tolist() == [0, 1, 1]


def test_a_joint_named_twice_with_other_binds_has_two_slots(rng: Rng) -> None:
    binds = np.tile(np.eye(3, 4, dtype=np.float32), (2, 1, 1))
    binds[1, 0, 3] = 5
    weights = SkinWeights(np.tile([0, 1], (5, 1)), np.full((5, 2), 0.5))
    scene = one_mesh_scene(
        random_skeleton(rng, 3),
        square(skin=weights),
        Skin("twice", np.array([1, 1]), binds),
    )
    body = body_of(scene)
    assert body.slots.tolist() == [1, 1]
    assert body.joints.shape == (4, 2)


def test_vertices_that_no_triangle_has_are_left_out(rng: Rng) -> None:
    body = body_of(one_mesh_scene(random_skeleton(rng, 2), square(), None))
    assert body.sources.tolist() == [[1, 0, row] for row in range(4)]
    assert body.faces.tolist() == [[0, 1, 2], [0, 2, 3]]
    assert body.materials.tolist() == [-1] * 4
    np.testing.assert_allclose(body.normals, np.tile([0, 0, 1], (4, 1)))


def test_points_and_lines_are_left_out_with_a_word(rng: Rng) -> None:
    scene = one_mesh_scene(random_skeleton(rng, 2), replace(square(), mode=LINES), None)
    body, findings = make_level_body(scene)
    assert len(body) == len(body.faces) == len(body.slots) == 0
    assert [(f.code, f.where) for f in findings] == [("no-triangles", "mesh/0")]


def test_an_empty_scene(rng: Rng) -> None:
    scene = Scene(random_skeleton(rng, 2), np.full(2, -1), np.full(2, -1))
    body, findings = make_level_body(scene)
    assert len(body) == 0
    assert not findings
    assert body.joints.shape == body.weights.shape == (0, 1)


def test_coordinates_are_those_of_the_base_colour(rng: Rng) -> None:
    sets = tuple(np.full((5, 2), float(n), np.float32) for n in range(2))
    sets[1][0] = np.nan
    surface = square(texcoords=sets, material=0)
    plain = one_mesh_scene(random_skeleton(rng, 2), square(texcoords=sets), None)
    assert not body_of(plain).texcoords.any()
    for texcoord, want in ((0, [0, 0]), (1, [0, 1]), (2, [0, 0])):
        material = Material(base_texture=TextureRef(0, texcoord))
        scene = replace(
            plain,
            meshes=(Mesh("mesh", (surface,)),),
            materials=(material,),
            textures=(Texture("", None, None),),
        )
        assert body_of(scene).texcoords[:2, 0].tolist() == want


def test_seams_are_closed_exactly(rng: Rng) -> None:
    """Weights that differ by rounding do not part what stands at one place."""
    scene = tube_scene(2.0)
    primitive = scene.meshes[0].primitives[0]
    joints, weights = primitive.skin.joints, primitive.skin.weights.copy()  # type: ignore[union-attr]
    weights[:, 0] *= 1 + 2e-7
    other = replace(primitive, skin=SkinWeights(joints.copy(), weights))
    moved_away = scene.skeleton.translations.copy()
    moved_away[0] += (100.0, 0.1, 0.3)
    both = replace(
        scene,
        skeleton=replace(scene.skeleton, translations=moved_away),
        meshes=(Mesh("body", (primitive, other)),),
    )
    body = body_of(both)
    half = len(primitive)
    np.testing.assert_array_equal(body.rest[:half], body.rest[half:])


def test_what_stands_apart_is_not_joined() -> None:
    scene = tube_scene(2.0)
    twin = replace(
        scene,
        node_mesh=np.array([-1, -1, 0, 0]),
        node_skin=np.array([-1, -1, -1, 0]),
    )
    body = body_of(twin)  # at the joint at x = 8, and where it was
    half = len(body) // 2
    np.testing.assert_allclose(body.rest[:half] - body.rest[half:], [[8, 0, 0]] * half)


def test_places_that_are_not_finite_are_refused(rng: Rng) -> None:
    bad = square().positions.copy()
    bad[2, 1] = np.inf
    scene = one_mesh_scene(
        random_skeleton(rng, 2), replace(square(), positions=bad), None
    )
    with pytest.raises(ShapeError, match="mesh 'mesh', primitive 0: vertex 2"):
        make_level_body(scene)
    unused = square().positions.copy()
    unused[4] = np.nan
    fine = one_mesh_scene(
        random_skeleton(rng, 2), replace(square(), positions=unused), None
    )
    assert len(body_of(fine)) == 4


def test_binds_that_are_not_finite_are_refused(rng: Rng) -> None:
    binds = np.full((1, 3, 4), np.nan)
    weights = SkinWeights(np.zeros((5, 1)), np.ones((5, 1)))
    skin = Skin("bad", np.array([1]), binds)
    scene = one_mesh_scene(random_skeleton(rng, 3), square(skin=weights), skin)
    with pytest.raises(ShapeError, match="skin 'bad': the bind of node 1"):
        make_level_body(scene)


def test_more_slots_than_a_weight_can_name_are_refused(
    rng: Rng, monkeypatch: Any
) -> None:
    monkeypatch.setattr("flexor.convert.levels.body.MOST_SLOTS", 1)
    with pytest.raises(ShapeError, match="2 pairs of a node and a bind matrix"):
        make_level_body(tube_scene(2.0))


@given(st.data())
def test_tidy_influences_say_the_same_in_one_form(data: Any) -> None:
    rows, wide = data.draw(st.integers(0, 5)), data.draw(st.integers(1, 5))
    number = st.integers(0, 4)
    joints = np.array(
        data.draw(st.lists(number, min_size=rows * wide, max_size=rows * wide)), int
    ).reshape(rows, wide)
    share = st.sampled_from([0.0, 0.25, 0.5, 1.0])
    weights = np.array(
        data.draw(st.lists(share, min_size=rows * wide, max_size=rows * wide)),
        np.float32,
    ).reshape(rows, wide)
    weights[:, 0] = np.maximum(weights[:, 0], 0.25)
    names, pulls = tidy_influences(joints, weights)
    assert names.dtype == np.uint16
    assert names.shape == pulls.shape
    assert 1 <= names.shape[1] <= wide
    for row in range(rows):
        given, found = np.zeros(5), np.zeros(5)
        np.add.at(given, joints[row], weights[row])
        np.add.at(found, names[row], pulls[row])
        np.testing.assert_allclose(found, given)
        used = names[row][pulls[row] > 0]
        assert (np.diff(used.astype(int)) > 0).all()
        assert (names[row][len(used) :] == names[row][0]).all()
