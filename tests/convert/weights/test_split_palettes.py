"""Scenes with small skins: the same vertices in every pose, to the bit."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pytest

import flexor
from flexor.api.character import Character
from flexor.convert.weights.split_palettes import split_palettes
from flexor.errors import SettingError
from flexor.scene.character.clip import Clip, Track
from flexor.scene.character.material import Material
from flexor.scene.character.mesh import Mesh, Primitive
from flexor.scene.character.weights import SkinWeights
from flexor.scene.finding import Finding
from flexor.scene.scene import RootSet, Scene
from tests.scenes import (
    bound_skin,
    one_mesh_scene,
    random_primitive,
    random_scene,
    random_skeleton,
    random_skin,
    random_weights,
)


def triangle_soup(rng: Any, joints: int, *, targets: int = 0, count: int = 40) -> Any:
    """Triangles over a cloud, two joints at most at a vertex."""
    primitive = random_primitive(
        rng, count, skin=random_weights(rng, count, joints, 2), targets=targets
    )
    names = np.stack([np.arange(count) % joints, (np.arange(count) + 1) % joints], 1)
    weights = rng.uniform(0.1, 1, (count, 2))
    weights /= weights.sum(1, keepdims=True)
    start = rng.integers(0, count - 2, 50)
    indices = (start[:, None] + np.arange(3)).ravel()
    marks = np.arange(count, dtype=np.float32)
    return replace(
        primitive,
        indices=indices,
        skin=SkinWeights(names.astype(np.uint16), weights),
        texcoords=(np.stack([marks, marks], 1),),
        custom={"_MARK": marks},
    )


def soup_scene(rng: Any, joints: int, primitives: Any, **more: Any) -> Scene:
    """Primitives in one mesh at the last node, hanging on `joints` nodes."""
    skeleton = random_skeleton(rng, joints + 3)
    skin = random_skin(rng, skeleton, joints)
    first = one_mesh_scene(skeleton, primitives[0], skin)
    targets = len(primitives[0].targets)
    mesh = Mesh("soup", tuple(primitives), rng.normal(size=targets))
    return replace(first, meshes=(mesh,), **more)


def corners(scene: Scene, clip: str | None, time: float) -> tuple[list[Any], Any]:
    """Corners of every triangle, posed: material, texcoords, places; and the normals.

    Sorted: a split scene must give the very same, whatever pieces it is in.
    """
    hero = Character(scene)
    pose = hero.pose(clip, time)
    found = []
    for part in hero.deform(pose):
        primitive = scene.meshes[scene.node_mesh[part.node]].primitives[part.primitive]
        faces = primitive.triangles()
        looks = np.concatenate([part.positions, *primitive.texcoords], 1)[faces]
        rows = zip(looks.tolist(), part.normals[faces].tolist(), strict=True)
        found += [(primitive.material or 0, look, normal) for look, normal in rows]
    found.sort()
    return [row[:2] for row in found], np.array([row[2] for row in found])


def assert_equal(before: Scene, after: Scene, clip: str | None, time: float) -> None:
    one, two = corners(before, clip, time), corners(after, clip, time)
    assert one[0] == two[0]
    # They are turned in another way where a joint of the skin is scaled unevenly.
    np.testing.assert_allclose(one[1], two[1], atol=1e-6)


def assert_small(scene: Scene, most: int) -> None:
    used = set(scene.node_skin[scene.node_mesh >= 0].tolist()) - {-1}
    assert all(1 <= len(scene.skins[row].joints) <= most for row in used)


def assert_same(before: Scene, after: Scene, most: int) -> None:
    assert_small(after, most)
    for clip in (None, *before.clips):
        for time in (0.0, 0.31, 0.9):
            assert_equal(before, after, clip, time)


@pytest.mark.parametrize("most", [8, 16, 24])
def test_the_mannequin(most: int) -> None:
    scene = flexor.samples.mannequin().scene
    after, findings = split_palettes(scene, most)
    assert_small(after, most)
    for clip, time in (("walk", 0.3), (list(scene.clips)[-1], 0.5)):
        assert_equal(scene, after, clip, time)
    (finding,) = findings
    assert finding.code == "palette-split"
    pieces = len(after.skeleton) - len(scene.skeleton) + 1
    assert f"split into {pieces} pieces" in finding.text
    total = sum(len(mesh.primitives[0]) for mesh in after.meshes)
    twice = total - len(scene.meshes[0].primitives[0])
    assert f"{twice} of 4855 vertices duplicated" in finding.text
    assert after.skeleton.names[64:67] == ("mannequin", "mannequin-2", "mannequin-3")
    assert set(after.root_sets[0].nodes) >= {64, 65, 66}
    assert after.skeleton.names[:65] == scene.skeleton.names


def test_twice_is_once() -> None:
    scene = flexor.samples.mannequin().scene
    after, _ = split_palettes(scene, 16)
    again, findings = split_palettes(after, 16)
    assert again is after
    assert findings == []


def test_four_joints_are_too_few_for_the_mannequin() -> None:
    scene = flexor.samples.mannequin().scene
    with pytest.raises(SettingError, match="at least 7 are needed"):
        split_palettes(scene, 4)


@pytest.mark.parametrize("most", [4, 5, 8])
@pytest.mark.parametrize("seed", range(4))
def test_random_scenes_with_morphs(seed: int, most: int) -> None:
    rng = np.random.default_rng(seed)
    pair = [triangle_soup(rng, 12, targets=2) for _ in range(2)]
    scene = soup_scene(rng, 12, pair)
    node = len(scene.skeleton) - 1
    track = Track(node, "weights", [0.0, 1.0], rng.normal(size=(2, 2)))
    turned = Track(3, "rotation", [0.0, 1.0], rng.normal(size=(2, 4)))
    clips = {"morph": Clip("morph", (track, turned))}
    own = {node: rng.normal(size=2).astype(np.float32)}
    scene = replace(scene, clips=clips, node_weights=own)
    after, findings = split_palettes(scene, most)
    assert_same(scene, after, most)
    assert [f.where for f in findings] == [
        "/meshes/0/primitives/0",
        "/meshes/0/primitives/1",
    ]
    moved = {t.node for t in after.clips["morph"].tracks if t.path == "weights"}
    assert moved == {node, *range(node + 1, len(after.skeleton))}


@pytest.mark.parametrize("most", [4, 5, 30])
@pytest.mark.parametrize("influences", [1, 4])
def test_random_scenes_without_order(influences: int, most: int) -> None:
    rng = np.random.default_rng(most)
    scene = random_scene(rng, vertices=30, influences=influences)
    try:
        after, _ = split_palettes(scene, most)
    except SettingError as error:
        assert "are needed" in str(error)  # noqa: PT017
        return
    assert_same(scene, after, most)


def test_one_joint_each() -> None:
    rng = np.random.default_rng(4)
    names = np.repeat(np.arange(5, dtype=np.uint16), 3)[:, None]
    weights = SkinWeights(names, np.ones((15, 1), np.float32))
    scene = soup_scene(rng, 5, [random_primitive(rng, 15, skin=weights)])
    after, _ = split_palettes(scene, 1)
    assert_same(scene, after, 1)
    assert len(after.skeleton) == len(scene.skeleton) + 4


def test_a_small_surface_on_a_large_skin_gets_a_small_skin() -> None:
    rng = np.random.default_rng(5)
    names = np.full((6, 1), 3, np.uint16)
    weights = SkinWeights(names, np.ones((6, 1), np.float32))
    primitive = random_primitive(rng, 6, skin=weights)
    scene = soup_scene(rng, 9, [primitive])
    after, findings = split_palettes(scene, 4)
    assert findings == []
    assert after.skins[0].joints.tolist() == [scene.skins[0].joints[3]]
    np.testing.assert_array_equal(
        after.skins[0].inverse_binds[0], scene.skins[0].inverse_binds[3]
    )
    assert len(after.skeleton) == len(scene.skeleton)
    assert after.meshes[0].primitives[0].positions is primitive.positions
    assert_same(scene, after, 4)


def test_primitives_that_fit_together_share_a_node() -> None:
    rng = np.random.default_rng(6)
    names = [[0, 1], [2, 3], [0, 2], [8, 9]]
    primitives = []
    for pair in names:
        rows = np.tile(np.array(pair, np.uint16), (6, 1))
        half = np.full((6, 2), 0.5, np.float32)
        primitives.append(random_primitive(rng, 6, skin=SkinWeights(rows, half)))
    scene = soup_scene(rng, 10, primitives)
    after, _ = split_palettes(scene, 4)
    assert [len(mesh.primitives) for mesh in after.meshes] == [3, 1]
    assert_same(scene, after, 4)


def test_a_surface_goes_where_its_joints_are() -> None:
    """The third fits with the second too, which would need a joint more."""
    rng = np.random.default_rng(17)
    primitives = []
    for joints in ([0, 1], [2, 3, 4], [0]):
        rows = np.resize(np.array(joints, np.uint16), (6, 1))
        weights = SkinWeights(rows, np.ones((6, 1), np.float32))
        primitives.append(random_primitive(rng, 6, skin=weights))
    scene = soup_scene(rng, 10, primitives)
    after, _ = split_palettes(scene, 4)
    assert [len(mesh.primitives) for mesh in after.meshes] == [2, 1]
    assert [len(skin.joints) for skin in after.skins] == [2, 3]
    assert_same(scene, after, 4)


def test_all_that_vertices_have_goes_with_them() -> None:
    rng = np.random.default_rng(18)
    tangents = np.tile([1, 0, 0, -1.0], (40, 1))
    tangents[:, 1] = np.arange(40)
    soup = triangle_soup(rng, 12, targets=1)
    target = replace(soup.targets[0], tangents=rng.normal(size=(40, 3)))
    colours = (rng.random((40, 4)), rng.random((40, 4)))
    soup = replace(soup, tangents=tangents, colours=colours, targets=(target,))
    scene = soup_scene(rng, 12, [soup])
    meshes = (replace(scene.meshes[0], primitives=(replace(soup, material=0),)),)
    after, _ = split_palettes(
        replace(scene, meshes=meshes, materials=(Material("skin"),)), 5
    )
    assert len(after.meshes) > 2
    for mesh in after.meshes:
        (piece,) = mesh.primitives
        assert piece.material == 0
        rows = piece.custom["_MARK"].astype(int)
        (found,) = piece.targets
        for mine, whole in [
            *zip(piece.colours, soup.colours, strict=True),
            (piece.tangents, soup.tangents),
            (found.positions, soup.targets[0].positions),
            (found.normals, soup.targets[0].normals),
            (found.tangents, soup.targets[0].tangents),
        ]:
            np.testing.assert_array_equal(mine, whole[rows])


def test_a_node_with_a_matrix() -> None:
    """Nodes for further pieces have it too."""
    rng = np.random.default_rng(19)
    scene = soup_scene(rng, 12, [triangle_soup(rng, 12)])
    node = len(scene.skeleton) - 1
    matrix = np.eye(3, 4)
    matrix[:, :3] += rng.normal(size=(3, 3)) * 0.2  # no turn and scale alone
    skeleton = replace(scene.skeleton, matrices={node: matrix})
    after, _ = split_palettes(replace(scene, skeleton=skeleton), 5)
    pieces = range(node, len(after.skeleton))
    assert len(pieces) > 2
    assert sorted(after.skeleton.matrices) == list(pieces)
    for piece in pieces:
        np.testing.assert_array_equal(
            after.skeleton.matrices[piece], skeleton.matrices[node]
        )


def test_without_a_skin_nothing_happens() -> None:
    rng = np.random.default_rng(7)
    skeleton = random_skeleton(rng, 5)
    scene = one_mesh_scene(skeleton, random_primitive(rng, 9), None)
    assert split_palettes(scene, 1) == (scene, [])


def test_small_skins_stay_as_they_are() -> None:
    rng = np.random.default_rng(8)
    scene = soup_scene(rng, 6, [triangle_soup(rng, 6)])
    assert split_palettes(scene, 6) == (scene, [])


def test_what_has_no_weights_stays_with_the_first_piece() -> None:
    rng = np.random.default_rng(9)
    rigid = random_primitive(rng, 6)
    scene = soup_scene(rng, 12, [rigid, triangle_soup(rng, 12)])
    after, _ = split_palettes(scene, 5)
    assert after.meshes[0].primitives[0] is rigid
    assert_same(replace(scene), after, 5)
    only = soup_scene(rng, 12, [rigid])
    after, findings = split_palettes(only, 5)
    assert findings == []
    assert len(after.skins[0].joints) == 1
    assert_same(only, after, 5)


def test_a_mesh_that_is_used_in_many_ways() -> None:
    """Twice with one skin, once with another, once rigid, beside a small mesh."""
    rng = np.random.default_rng(10)
    skeleton = random_skeleton(rng, 16)
    large, small = triangle_soup(rng, 12), triangle_soup(rng, 3)
    skins = (random_skin(rng, skeleton, 12), bound_skin(skeleton, np.arange(13)))
    node_mesh, node_skin = np.full((2, 16), -1)
    node_mesh[[1, 2, 5, 6, 7]] = 0, 0, 0, 0, 1
    node_skin[[1, 2, 5, 6, 7]] = 0, 0, 1, -1, 1
    meshes = (Mesh("large", (large,)), Mesh("small", (small,)))
    scene = Scene(skeleton, node_mesh, node_skin, meshes, skins)
    after, findings = split_palettes(scene, 5)
    assert_same(scene, after, 5)
    assert len(findings) == 1
    assert after.meshes[0].primitives[0] is large  # the rigid use keeps it
    assert after.node_mesh[1] == after.node_mesh[2] == after.node_mesh[5] >= 2
    assert after.node_skin[1] == after.node_skin[2] != after.node_skin[5]
    pieces = (len(after.skeleton) - 16) // 3 + 1
    assert len(after.meshes) == 2 + pieces


def test_a_skin_that_is_large_for_one_mesh_and_small_enough_elsewhere() -> None:
    """A mesh shared by a large and a small skin is renumbered for both."""
    rng = np.random.default_rng(11)
    skeleton = random_skeleton(rng, 14)
    soup, other = triangle_soup(rng, 4), triangle_soup(rng, 4)
    skins = (random_skin(rng, skeleton, 9), random_skin(rng, skeleton, 4))
    node_mesh, node_skin = np.full((2, 14), -1)
    node_mesh[:3], node_skin[:3] = (0, 0, 1), (0, 1, 1)
    meshes = (Mesh("soup", (soup,)), Mesh("other", (other,)))
    scene = Scene(skeleton, node_mesh, node_skin, meshes, skins)
    after, _ = split_palettes(scene, 4)
    assert_same(scene, after, 4)
    assert after.skins[1] is skins[1]
    assert after.meshes[1] is meshes[1]


@pytest.mark.parametrize("mode", range(7))
def test_every_mode(mode: int) -> None:
    rng = np.random.default_rng(12 + mode)
    soup = replace(triangle_soup(rng, 10), mode=mode, normals=None)
    indices = None if mode == 3 else rng.permutation(40)[:25]
    scene = soup_scene(rng, 10, [replace(soup, indices=indices)])
    if mode > 4:  # strips and fans join what is far apart
        with pytest.raises(SettingError):
            split_palettes(scene, 2)
    after, findings = split_palettes(scene, 6)
    assert_same(scene, after, 6)
    marks: list[Any] = []
    for mesh in after.meshes:
        (piece,) = mesh.primitives
        assert piece.mode == {2: 1, 3: 1, 5: 4, 6: 4}.get(mode, mode)
        assert piece.indices is not None
        marks += piece.custom["_MARK"][piece.indices].tolist()
    given = np.arange(40) if indices is None else indices
    closed = {1: 24, 2: 50, 3: 78}.get(mode, len(marks))
    assert len(marks) == closed
    assert set(marks) <= set(given.tolist())
    assert ("dropped" in findings[0].text) == (mode != 3)


def test_surfaces_that_draw_nothing() -> None:
    """Two vertices are no triangle; they are split as they are."""
    rng = np.random.default_rng(30)
    weights = SkinWeights(np.array([[0], [1]], np.uint16), np.ones((2, 1), np.float32))
    for indices in (None, np.array([0, 1], np.uint32)):
        bare = replace(random_primitive(rng, 2, skin=weights), indices=indices)
        empty = random_primitive(
            rng, 0, skin=SkinWeights(np.zeros((0, 1), np.uint16), np.zeros((0, 1)))
        )
        scene = soup_scene(rng, 4, [bare, empty])
        after, _ = split_palettes(scene, 1)
        assert_same(scene, after, 1)
        assert sorted(len(p) for mesh in after.meshes for p in mesh.primitives) == [
            0,
            1,
            1,
        ]


def test_names_are_free_and_roots_are_shown() -> None:
    rng = np.random.default_rng(13)
    scene = soup_scene(rng, 12, [triangle_soup(rng, 12)])
    names = [*scene.skeleton.names[:-1], "Body"]
    names[0] = "Body-2"
    parents = scene.skeleton.parents.copy()
    parents[parents == len(names) - 1] = -1
    parents[-1] = -1
    skeleton = replace(scene.skeleton, names=tuple(names), parents=parents)
    roots = tuple(np.flatnonzero(parents < 0).tolist())
    scene = replace(scene, skeleton=skeleton, root_sets=(RootSet("all", roots),))
    after, _ = split_palettes(scene, 5)
    assert after.skeleton.names[len(names) :][:2] == ("Body-3", "Body-4")
    assert after.shown_nodes().all()
    assert [mesh.name for mesh in after.meshes][:2] == ["soup", "soup-2"]
    assert [skin.name for skin in after.skins][:2] == ["skin", "skin-2"]
    assert_same(scene, after, 5)


def test_morphs_that_extensions_speak_of() -> None:
    rng = np.random.default_rng(14)
    soup = triangle_soup(rng, 12, targets=1)
    scene = soup_scene(rng, 12, [soup], carried={"extensions": {"VRM": {}}})
    _, findings = split_palettes(scene, 5)
    assert findings[-1] == Finding(
        "info",
        "palette-morphs",
        "/meshes/0",
        "what extensions say of this mesh's morphs holds for the first piece",
    )


def test_it_can_be_written_and_read(tmp_path: Any) -> None:
    rng = np.random.default_rng(15)
    scene = soup_scene(rng, 12, [triangle_soup(rng, 12, targets=1)])
    after, _ = split_palettes(scene, 5)
    flexor.save(Character(after), tmp_path / "split.glb")
    assert_same(after, flexor.load(tmp_path / "split.glb").scene, 5)


@pytest.mark.parametrize("most", [0, -1])
def test_no_joints_are_too_few(most: int) -> None:
    with pytest.raises(SettingError, match="at least 1"):
        split_palettes(flexor.samples.mannequin().scene, most)


def test_primitives_are_told_apart_by_their_corners() -> None:
    """What the other tests stand on: a moved vertex is seen."""
    rng = np.random.default_rng(16)
    soup = triangle_soup(rng, 12)
    scene = soup_scene(rng, 12, [soup])
    moved = replace(soup, positions=soup.positions + np.float32(1e-3))
    assert isinstance(moved, Primitive)
    other = replace(scene, meshes=(Mesh("soup", (moved,)),))
    assert corners(scene, None, 0)[0] != corners(other, None, 0)[0]
