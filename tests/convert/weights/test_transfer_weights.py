from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pytest

import flexor
from flexor.convert.shape.body import Pull, gather_bodies
from flexor.convert.shape.facts import SceneFacts
from flexor.convert.weights.split_palettes import split_palettes
from flexor.convert.weights.transfer_weights import (
    _rename,
    _Source,
    transfer_pull,
    transfer_weights,
)
from flexor.errors import SettingError
from flexor.maths import transforms
from flexor.scene.character.mesh import Mesh, Primitive
from flexor.scene.character.skeleton import Skeleton, rest_world
from flexor.scene.character.weights import SkinWeights
from flexor.scene.finding import Finding
from flexor.scene.scene import Scene
from tests.oracle import closest
from tests.scenes import bound_skin, one_mesh_scene


def carry(source: Scene, target: Scene) -> tuple[Scene, list[Finding]]:
    """The target with the weights of the source, and what was odd."""
    facts, findings = transfer_weights(SceneFacts(source), SceneFacts(target))
    return facts.scene, findings


@pytest.fixture(scope="module")
def hero() -> Scene:
    return flexor.samples.mannequin().scene


def bare(scene: Scene) -> Scene:
    """The scene without skins, its meshes where they were."""
    meshes = tuple(
        replace(mesh, primitives=tuple(replace(p, skin=None) for p in mesh.primitives))
        for mesh in scene.meshes
    )
    none = np.full(len(scene.skeleton), -1)
    return replace(scene, meshes=meshes, skins=(), node_skin=none)


def by_name(scene: Scene) -> dict[str, Any]:
    """Weights (V,) of the first body by the name of the joint."""
    body = gather_bodies(scene)[0]
    dense = body.pull.dense(len(body.names))
    return {name: dense[:, row] for row, name in enumerate(body.names)}


def gap(one: Scene, other: Scene) -> float:
    a, b = by_name(one), by_name(other)
    return max(float(np.abs(a[name] - b[name]).max()) for name in a)


def shown(scene: Scene) -> Any:
    """Vertices as they are shown at rest."""
    hero = flexor.Character(scene)
    return np.concatenate([part.positions for part in hero.deform(hero.pose())])


def test_corners_are_mixed_by_place() -> None:
    positions = np.array([[0, 0, 0], [1, 0, 0], [0, 1, 0]], np.float32)
    joints = np.array([[0, -1], [1, 0], [2, -1]], np.int32)
    weights = np.array([[1, 0], [0.5, 0.5], [1, 0]], np.float32)
    faces = np.array([[0, 1, 2]], np.int32)
    targets = np.array([[0.25, 0.25, 2], [-1, -1, 0], [0.5, 0, 0]])
    pull, away = transfer_pull(positions, faces, Pull(joints, weights), targets)
    expected = [[0.625, 0.125, 0.25], [1, 0, 0], [0.75, 0.25, 0]]
    np.testing.assert_allclose(pull.dense(3), expected, atol=1e-7)
    np.testing.assert_allclose(away, [2, np.sqrt(2), 0], atol=1e-7)


def test_the_largest_eight_are_kept(rng: Any) -> None:
    positions = rng.normal(size=(3, 3))
    joints = np.arange(12, dtype=np.int32).reshape(3, 4)
    weights = rng.dirichlet(np.ones(4), 3).astype(np.float32)
    faces = np.array([[0, 1, 2]], np.int32)
    middle = positions.mean(0)[None]
    pull, away = transfer_pull(positions, faces, Pull(joints, weights), middle)
    assert pull.joints.shape == (1, 8)
    best = np.sort(np.argsort(-weights.ravel())[:8])
    np.testing.assert_array_equal(np.sort(pull.joints[0]), best)
    whole = weights.ravel()[best]
    np.testing.assert_allclose(pull.dense(12)[0, best], whole / whole.sum(), atol=1e-6)
    assert away[0] == pytest.approx(
        closest.closest_point(positions[faces], middle[0])[1]
    )


def test_a_scene_gives_its_weights_to_itself(hero: Scene) -> None:
    same, findings = carry(hero, hero)
    assert findings == []
    assert gap(hero, same) < 1e-5
    assert same.skins is hero.skins


def test_a_source_of_several_bodies(hero: Scene) -> None:
    pieces, _ = split_palettes(hero, 32)
    assert len(gather_bodies(pieces)) > 1
    blank = replace(hero, meshes=tuple(rigid(mesh) for mesh in hero.meshes))
    carried, findings = carry(pieces, blank)
    assert findings == []
    assert gap(hero, carried) < 1e-5


def test_a_scene_without_skin_gets_one(hero: Scene) -> None:
    skinned, findings = carry(hero, bare(hero))
    assert findings == []
    assert gap(hero, skinned) < 1e-5
    np.testing.assert_allclose(shown(skinned), shown(hero), atol=2e-6)
    pose = flexor.Character(hero).pose("walk", 0.3)
    both = [flexor.Character(scene).deform(pose)[0] for scene in (hero, skinned)]
    np.testing.assert_allclose(both[0].positions, both[1].positions, atol=2e-5)


def scaled(scene: Scene, factor: float) -> Scene:
    """The scene as by a tool with other units: the roots carry a scale that is undone
    by what is below them, and vertices are stored in the other unit.
    """
    tree = scene.skeleton
    root = tree.parents < 0
    scales = np.where(root[:, None], tree.scales * factor, tree.scales)
    moves = np.where(root[:, None], tree.translations, tree.translations / factor)
    skeleton = Skeleton(tree.names, tree.parents, moves, tree.rotations, scales)
    world = rest_world(skeleton)
    shrink = np.eye(3, 4) * factor  # world from the new mesh space
    skins = tuple(
        replace(
            skin,
            joints=skin.joints.copy(),
            inverse_binds=transforms.multiply(
                transforms.invert(world[skin.joints]), shrink
            ),
        )
        for skin in scene.skins
    )
    meshes = tuple(
        replace(
            mesh,
            primitives=tuple(
                replace(p, positions=p.positions / np.float32(factor))
                for p in mesh.primitives
            ),
        )
        for mesh in scene.meshes
    )
    return replace(scene, skeleton=skeleton, skins=skins, meshes=meshes, clips={})


@pytest.mark.parametrize("factor", [0.01, 2.5])
def test_bind_spaces_of_other_units(hero: Scene, factor: float) -> None:
    other = scaled(hero, factor)
    np.testing.assert_allclose(shown(other), shown(hero), atol=1e-5)
    for source, target in ((hero, other), (other, hero)):
        blank = replace(target, meshes=tuple(rigid(mesh) for mesh in target.meshes))
        carried, findings = carry(source, blank)
        assert findings == []
        assert gap(source, carried) < 1e-3
        assert (
            np.median(np.abs(by_name(carried)["head"] - by_name(hero)["head"])) < 1e-5
        )
        skinned, _ = carry(source, bare(target))
        np.testing.assert_allclose(shown(skinned), shown(bare(target)), atol=1e-5)


def rigid(mesh: Mesh) -> Mesh:
    """The mesh wholly on the first joint: bound at rest, so in the same place."""
    primitives = []
    for p in mesh.primitives:
        joints = np.zeros((len(p), 4), np.uint16)
        weights = np.tile(np.array([1, 0, 0, 0], np.float32), (len(p), 1))
        primitives.append(replace(p, skin=SkinWeights(joints, weights)))
    return replace(mesh, primitives=tuple(primitives))


def test_joints_are_matched_by_name(hero: Scene) -> None:
    """A target whose nodes and joints come in another order."""
    count = len(hero.skeleton)
    order = np.random.default_rng(5).permutation(count)
    place = np.argsort(order)
    tree = hero.skeleton
    skeleton = Skeleton(
        tuple(tree.names[i] for i in order),
        np.where(tree.parents < 0, -1, place[tree.parents])[order],
        tree.translations[order],
        tree.rotations[order],
        tree.scales[order],
    )
    joints = place[hero.skins[0].joints[::-1]]
    mixed = replace(
        hero,
        skeleton=skeleton,
        node_mesh=hero.node_mesh[order],
        node_skin=hero.node_skin[order],
        meshes=tuple(rigid(mesh) for mesh in hero.meshes),
        skins=(bound_skin(skeleton, joints),),
        clips={},
        root_sets=(),
        default_set=None,
        node_carried={},
        node_weights={},
    )
    carried, findings = carry(hero, mixed)
    assert findings == []
    assert gap(hero, carried) < 1e-4


def test_vertices_that_are_far_are_told_of(hero: Scene) -> None:
    target = bare(hero)
    (mesh,) = (m for m in target.meshes if len(m.primitives[0]) == 4855)
    positions = mesh.primitives[0].positions.copy()
    positions[:7] += [0, 0, 0.5]
    moved = replace(
        mesh, primitives=(replace(mesh.primitives[0], positions=positions),)
    )
    meshes = tuple(moved if m is mesh else m for m in target.meshes)
    _, (finding,) = carry(hero, replace(target, meshes=meshes))
    assert (finding.level, finding.code) == ("warning", "vertices-far")
    assert finding.where == mesh.name
    assert finding.text.startswith("7 of 4855 vertices are more than 5% of the size")


def test_joints_that_stand_elsewhere_are_told_of(hero: Scene) -> None:
    tree = hero.skeleton
    moves = tree.translations.copy()
    moves[tree.index("head")] += [0, 0.3, 0]
    skeleton = Skeleton(tree.names, tree.parents, moves, tree.rotations, tree.scales)
    _, findings = carry(hero, replace(bare(hero), skeleton=skeleton))
    assert [finding.code for finding in findings] == ["joints-elsewhere"]
    assert "'head' by 0.3 m" in findings[0].text


def plain_scene(names: tuple[str, ...], skin_joints: Any, tied: Any) -> Scene:
    """A triangle, corners tied to rows of a skin of a flat skeleton."""
    count = len(names)
    skeleton = Skeleton(
        names,
        np.full(count, -1),
        np.zeros((count, 3)),
        np.tile([0.0, 0, 0, 1], (count, 1)),
        np.ones((count, 3)),
    )
    skin = None if skin_joints is None else bound_skin(skeleton, skin_joints)
    weights = SkinWeights(np.array(tied)[:, None], np.ones((3, 1)))
    primitive = Primitive(np.eye(3), skin=None if skin is None else weights)
    return one_mesh_scene(skeleton, primitive, skin)


def test_refusals() -> None:
    source = plain_scene(("a", "b", "mesh"), [0, 1], [0, 1, 1])
    with pytest.raises(SettingError, match="gives them has no skinned triangles"):
        carry(plain_scene(("a", "mesh"), None, [0, 0, 0]), source)
    with pytest.raises(SettingError, match="gets them has no nodes 'b'"):
        carry(source, plain_scene(("a", "mesh"), None, [0, 0, 0]))
    with pytest.raises(
        SettingError, match=r"of the target lacks the joints 'b', which"
    ):
        carry(source, plain_scene(("a", "b", "mesh"), [0], [0, 0, 0]))
    with pytest.raises(SettingError, match="two joints called 'a'"):
        carry(plain_scene(("a", "a", "mesh"), [0, 1], [0, 1, 1]), source)
    bare = plain_scene(("a", "b", "mesh"), None, [0, 0, 0])
    twice = replace(bare, node_mesh=np.array([0, -1, 0]))
    with pytest.raises(SettingError, match="mesh 'mesh' is shown at 2 nodes"):
        carry(source, twice)
    flat = replace(bare.skeleton, scales=np.zeros((3, 3)))
    with pytest.raises(SettingError, match="scaled to nothing"):
        carry(source, replace(bare, skeleton=flat))


def test_a_joint_that_pulls_nothing_may_be_missing() -> None:
    source = plain_scene(("a", "b", "mesh"), [0, 1], [0, 0, 0])
    target = plain_scene(("a", "mesh"), None, [0, 0, 0])
    skinned, _ = carry(source, target)
    assert skinned.skins[0].joints.tolist() == [0]


def test_slots_that_name_no_joint_stay_empty() -> None:
    """A joint of -1 is none, not the last of them."""
    pull = Pull(
        np.array([[0, -1], [2, -1]], np.int32), np.array([[1, 0], [1, 0]], np.float32)
    )
    faces = np.array([[0, 1, 2]], np.int32)
    found = _rename(_Source(np.eye(3), faces, pull, ("a", "b", "c")), pull, "ca", "")
    assert found.joints.tolist() == [[1, -1], [0, -1]]
