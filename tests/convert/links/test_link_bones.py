"""Links in scenes: tubes that twist and bend, armpits, nodes, skins and files."""

from __future__ import annotations

import itertools
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import flexor
from flexor.api.character import Character
from flexor.convert.links.export_tracks import with_link_tracks
from flexor.convert.links.link_bones import LinkSettings, _as_signed
from flexor.convert.shape.body import gather_bodies
from flexor.errors import SettingError
from flexor.maths import quaternions, transforms
from flexor.scene.character.clip import Clip, Track
from flexor.scene.character.mesh import Mesh
from flexor.scene.character.skeleton import Link, rest_world
from flexor.scene.character.weights import Skin
from flexor.scene.scene import Scene
from tests.convert.shape.tubes import (
    armpit_scene,
    link,
    linked,
    smallest_radius,
    tube_scene,
    turn,
    turned,
    volume,
)
from tests.same import differences

REACH = (0.3 * 8 + 1.5) / 2 + 1  # half of the links' length, and a radius
RINGS = slice(*np.searchsorted(np.linspace(-8, 8, 161), (-REACH, REACH)))


@pytest.fixture(scope="module")
def linked_hero() -> Scene:
    """The mannequin with links at every joint."""
    return linked(flexor.samples.mannequin().scene)


def still_hero() -> Scene:
    """The mannequin without clips: nothing is to be baked."""
    return replace(flexor.samples.mannequin().scene, clips={})


@pytest.mark.parametrize("width", [0.0, 4.0])
@pytest.mark.parametrize(("count", "least"), [(2, 0.86), (3, 0.92), (10, 0.98)])
def test_a_twisted_tube_keeps_its_radius(
    width: float, count: int, least: float
) -> None:
    scene = tube_scene(width)
    half_turn = turn([1, 0, 0], 180)
    assert smallest_radius(turned(scene, 1, half_turn)) < 0.05
    radius = smallest_radius(turned(linked(scene, count=count), 1, half_turn))
    assert radius >= least
    # Halfway between two neighbours that are 180 / (count + 1) degrees apart.
    assert radius == pytest.approx(np.cos(np.pi / 2 / (count + 1)), abs=2e-3)


@pytest.mark.parametrize("width", [0.0, 4.0])
@pytest.mark.parametrize(("count", "least"), [(2, 0.95), (3, 0.97), (10, 0.99)])
def test_a_bent_tube_keeps_its_volume(width: float, count: int, least: float) -> None:
    scene = tube_scene(width)
    rest = volume(turned(scene, 1, [0, 0, 0, 1]), RINGS)
    assert rest > 0
    for axis in ([0, 0, 1], [0, 1, 0], [0, 1, -1]):
        bent = turn(axis, 150)
        if width:
            assert volume(turned(scene, 1, bent), RINGS) < 0.8 * rest
        kept = volume(turned(linked(scene, count=count), 1, bent), RINGS)
        assert kept >= least * rest


def outward_and_along(
    scene: Scene, node: int, pose: Any, rest: Any, normals: Any, some: Any
) -> tuple[float, float]:
    """How far vertices move along their normal and across it, mean."""
    moved = (turned(scene, node, pose) - rest)[some]
    out = (moved * normals[some]).sum(1)
    along = np.linalg.norm(moved - out[:, None] * normals[some], axis=1)
    return float(np.abs(out).mean()), float(along.mean())


@pytest.mark.parametrize("degrees", [90, -70])
def test_the_flank_does_not_bulge_when_the_arm_is_raised(degrees: float) -> None:
    scene, flank = armpit_scene()
    normals = np.asarray(scene.meshes[0].primitives[0].normals, np.float64)
    rest = turned(scene, 1, [0, 0, 0, 1])

    def measured(fade: float | None) -> tuple[float, float]:
        with_links = scene if fade is None else linked(scene, fade=fade)
        pose = turn([0, 0, 1], degrees)
        return outward_and_along(with_links, 1, pose, rest, normals, flank)

    plain, loose, faded = measured(None), measured(0), measured(1)
    assert faded[0] < 0.25 * loose[0]
    assert faded[0] < 0.6 * plain[0]
    assert faded[0] / faded[1] < 0.7 * loose[0] / loose[1]


def test_the_mannequins_flank_does_not_bulge() -> None:
    scene = still_hero()
    body = gather_bodies(scene)[0]
    rows = {name: row for row, name in enumerate(body.names)}
    weights = body.pull.dense(len(body.joints))
    arm = weights[:, [rows["l-arm"], rows["l-arm-roll"], rows["l-elbow"]]].sum(1)
    trunk = weights[:, [rows[n] for n in ("chest", "spine1", "l-shoulder")]].sum(1)
    low = body.positions[:, 1] < body.frames[rows["l-arm"], 1, 3] - 0.05
    flank = (arm > 0.02) & (trunk > 0.3) & low
    assert np.count_nonzero(flank) > 20
    node = scene.skeleton.index("l-arm")
    above = rest_world(scene.skeleton)[scene.skeleton.parents[node], :, :3]
    own = scene.skeleton.rotations[node].astype(np.float64)
    raised = above.T @ quaternions.to_matrix(turn([0, 0, 1], 90)) @ above
    pose = quaternions.from_matrix(raised @ quaternions.to_matrix(own))
    rest = turned(scene, node, own)

    def measured(with_links: Scene) -> float:
        return outward_and_along(with_links, node, pose, rest, body.normals, flank)[0]

    faded = measured(linked(scene, fade=1.0))
    assert faded < 0.5 * measured(linked(scene, fade=0.0))
    assert faded < 0.4 * measured(scene)


def test_links_stand_beside_their_joint() -> None:
    scene = flexor.samples.mannequin().scene
    new = linked(scene, count=2)
    old = len(scene.skeleton)
    body = gather_bodies(scene)[0]
    joints = [int(n) for n, p in zip(body.joints, body.parents, strict=True) if p >= 0]
    joints.sort(key=body.joints.tolist().index)
    assert len(new.skeleton) == old + 2 * len(joints)
    assert new.skeleton.names[:old] == scene.skeleton.names
    np.testing.assert_array_equal(new.skeleton.parents[:old], scene.skeleton.parents)
    for i, joint in enumerate(joints):
        for k in (1, 2):
            node = old + 2 * i + k - 1
            name = f"{scene.skeleton.names[joint]}-link{k}"
            assert new.skeleton.names[node] == name
            assert new.skeleton.links[node] == Link(joint, k / 3)
            for part in ("parents", "translations", "rotations", "scales"):
                rows = getattr(new.skeleton, part)
                np.testing.assert_array_equal(rows[node], rows[joint])
    for one, two in zip(scene.skins, new.skins, strict=True):
        count = len(one.joints)
        np.testing.assert_array_equal(two.joints[:count], one.joints)
        np.testing.assert_array_equal(two.joints[count:], np.arange(old, old + 126))
        where = [one.joints.tolist().index(j) for j in joints for _ in range(2)]
        np.testing.assert_array_equal(
            two.inverse_binds[count:], one.inverse_binds[where]
        )
    assert (new.node_mesh[old:] == -1).all()
    assert (new.node_skin[old:] == -1).all()
    # Tracks are made when a file is written.
    assert all(new.clips[name] is clip for name, clip in scene.clips.items())


@pytest.mark.parametrize("fade", [0.0, 1.0])
def test_the_rest_pose_stays(fade: float) -> None:
    for one in (still_hero(), armpit_scene()[0], tube_scene(3)):
        new = Character(linked(one, fade=fade))
        was, now = Character(one).deform(Character(one).pose()), new.deform(new.pose())
        for a, b in zip(was, now, strict=True):
            np.testing.assert_allclose(a.positions, b.positions, atol=2e-6)


def test_no_links_change_nothing() -> None:
    scene = flexor.samples.mannequin().scene
    assert linked(scene, count=0) is scene
    bodies = gather_bodies(scene)
    assert link(scene, [{}])[0] is scene
    root = int(np.flatnonzero(bodies[0].parents < 0)[0])
    assert link(scene, [{root: LinkSettings()}])[0] is scene


def test_joints_that_have_links_are_passed_over() -> None:
    scene = tube_scene(2)
    once, none = link(scene, [{1: LinkSettings()}])
    assert none == []
    bodies = gather_bodies(once)
    every = dict.fromkeys(range(len(bodies[0].joints)), LinkSettings())
    twice, findings = link(once, [every])
    assert [(f.level, f.code, f.where) for f in findings] == [
        ("info", "joint-linked", "j1")
    ]
    joints = [link.joint for link in twice.skeleton.links.values()]
    assert joints == [1, 1, 1, 2, 2, 2]
    again, _ = link(once, [{1: LinkSettings()}])
    assert again is once


def test_names_are_new() -> None:
    scene = tube_scene(2)
    names = ("j0", "j1", "j1-link2", "j1-link2-2")
    scene = replace(scene, skeleton=replace(scene.skeleton, names=names))
    new, _ = link(scene, [{1: LinkSettings()}])
    assert new.skeleton.names[4:] == ("j1-link1", "j1-link2-3", "j1-link3")


def test_links_of_joints_with_one_name_have_names_of_their_own() -> None:
    scene = tube_scene(2)
    names = ("j0", "knee", "knee", "body")
    scene = replace(scene, skeleton=replace(scene.skeleton, names=names))
    new = linked(scene, count=1)
    assert new.skeleton.names[4:] == ("knee-link1", "knee-link1-2")


def two_bodies(order: tuple[int, int, int] = (1, 0, 2)) -> Scene:
    """Two meshes on skins that list the same nodes, the second in another order."""
    scene = tube_scene(2)
    (mesh,), (skin,) = scene.meshes, scene.skins
    rows = np.array(order)
    (primitive,) = mesh.primitives
    assert primitive.skin is not None
    weights = replace(primitive.skin, weights=primitive.skin.weights[:, rows].copy())
    other = Mesh("other", (replace(primitive, skin=weights),))
    turned_skin = Skin("other", skin.joints[rows], skin.inverse_binds[rows])
    skeleton = scene.skeleton
    nodes = [0, 1, 2, 3, 3]
    return replace(
        scene,
        skeleton=replace(
            skeleton,
            names=(*skeleton.names, "other"),
            parents=skeleton.parents[nodes],
            translations=skeleton.translations[nodes],
            rotations=skeleton.rotations[nodes],
            scales=skeleton.scales[nodes],
        ),
        node_mesh=np.array([-1, -1, -1, 0, 1]),
        node_skin=np.array([-1, -1, -1, 0, 1]),
        meshes=(mesh, other),
        skins=(skin, turned_skin),
        root_sets=(replace(scene.root_sets[0], nodes=(0, 3, 4)),),
    )


def test_bodies_on_the_same_nodes_share_links() -> None:
    scene = two_bodies()
    new = linked(scene)
    assert len(new.skeleton) == 5 + 6
    moved = turned(new, 1, turn([0, 0, 1], 100))
    half = len(moved) // 2
    np.testing.assert_allclose(moved[:half], moved[half:], atol=1e-5)
    np.testing.assert_allclose(
        moved[:half], turned(linked(tube_scene(2)), 1, turn([0, 0, 1], 100)), atol=1e-5
    )
    uneven = [{1: LinkSettings(count=1)}, {0: LinkSettings(count=2)}]
    new, _ = link(scene, uneven)
    fractions = [link.fraction for link in new.skeleton.links.values()]
    assert fractions == [1 / 2, 1 / 3, 2 / 3]
    assert len(set(new.skeleton.names)) == len(new.skeleton)


def test_skins_alike_both_get_the_links() -> None:
    scene = two_bodies((0, 1, 2))
    assert len(gather_bodies(scene)) == 1
    new = linked(scene)
    assert [len(skin.joints) for skin in new.skins] == [9, 9]
    moved = turned(new, 1, turn([0, 0, 1], 100))
    half = len(moved) // 2
    np.testing.assert_array_equal(moved[:half], moved[half:])
    plain = turned(scene, 1, turn([0, 0, 1], 100))
    assert np.abs(moved - plain).max() > 0.1


def test_a_joint_that_is_bound_twice_is_linked_once() -> None:
    scene = tube_scene(2)
    skin = scene.skins[0]
    binds = skin.inverse_binds[[0, 1, 2, 1]]
    binds[3, :, 3] += 1
    scene = replace(scene, skins=(Skin("skin", [0, 1, 2, 1], binds),))
    every = dict.fromkeys(range(4), LinkSettings())
    new, _ = link(scene, [every])
    joints = [link.joint for link in new.skeleton.links.values()]
    assert joints == [1, 1, 1, 2, 2, 2]
    assert new.skins[0].joints.tolist() == [0, 1, 2, 1, *range(4, 10)]


def test_a_mesh_on_several_skins_keeps_its_weights() -> None:
    scene = replace(two_bodies(), node_mesh=np.array([-1, -1, -1, 0, 0]))
    new, findings = link(scene, [{1: LinkSettings()}])
    assert [f.code for f in findings] == ["mesh-shared"]
    assert new.meshes[0].primitives[0].skin is scene.meshes[0].primitives[0].skin


def bound_elsewhere(degrees: float) -> Scene:
    """A tube whose joint stands turned at rest, not as it was bound."""
    scene = tube_scene(3)
    rotations = scene.skeleton.rotations.copy()
    rotations[1] = turn([0, 0, 1], degrees)
    return replace(scene, skeleton=replace(scene.skeleton, rotations=rotations))


def test_links_stand_right_where_rest_and_bind_differ() -> None:
    scene = bound_elsewhere(70)
    new, findings = link(scene, [{1: LinkSettings()}])
    assert [f.code for f in findings] == ["links-fitted"]
    straight = linked(tube_scene(3))
    for pose in (0, 70, 140, -40):
        turned_so = turn([0, 0, 1], pose)
        np.testing.assert_allclose(
            turned(new, 1, turned_so), turned(straight, 1, turned_so), atol=1e-4
        )
    other = turn([0.3, 1, 0.2], 100)
    ring = smallest_radius(turned(new, 1, other))
    assert ring > 0.8 * smallest_radius(turned(straight, 1, other))


@pytest.mark.parametrize(("degrees", "is_fitted"), [(1.5, True), (1e-3, False)])
def test_a_rest_that_is_hardly_turned(degrees: float, is_fitted: bool) -> None:
    scene = bound_elsewhere(degrees)
    new, findings = link(scene, [{1: LinkSettings()}])
    assert [f.code for f in findings] == ["links-fitted"] * is_fitted
    pose = turn([0, 0, 1], 90)
    straight = turned(linked(tube_scene(3)), 1, pose)
    np.testing.assert_allclose(turned(new, 1, pose), straight, atol=1e-4)


def test_signs_of_a_bind_follow_those_of_the_rest(rng: np.random.Generator) -> None:
    """The same transform, its scales of the signs of the rest's, where that can be."""
    turned_so = quaternions.normalise(rng.normal(size=4))
    rest = np.array([1.0, 2.0, 3.0])
    for signs in itertools.product((1, -1), repeat=3):
        scale, move = rest * signs, rng.normal(size=3)
        for like in (rest, rest * [-1, 1, 1]):
            found = _as_signed(move, turned_so, scale, like)
            np.testing.assert_allclose(
                transforms.compose(*found),
                transforms.compose(move, turned_so, scale),
                atol=1e-12,
            )
            is_same = (np.sign(found[2]) == np.sign(like)).all()
            assert is_same == (np.prod(np.sign(scale)) == np.prod(np.sign(like)))


def test_binds_of_links_are_written_where_joints_had_none(tmp_path: Path) -> None:
    scene = tube_scene(3)
    rest = scene.skeleton
    rotations = rest.rotations.copy()
    rotations[1] = turn([0, 0, 1], 40)
    skin = Skin("skin", [0, 1, 2], np.tile(np.eye(3, 4), (3, 1, 1)), None, False)
    scene = replace(scene, skins=(skin,), skeleton=replace(rest, rotations=rotations))
    new, findings = link(scene, [{1: LinkSettings()}])
    assert [f.code for f in findings] == ["links-fitted"]
    target = tmp_path / "tube.glb"
    flexor.save(Character(new), target)
    back = flexor.load(target).scene
    binds = back.skins[0].inverse_binds
    np.testing.assert_array_equal(binds, new.skins[0].inverse_binds)
    assert np.abs(binds[3:] - binds[1]).max() > 0.1


def test_joints_carried_by_a_node_that_is_none() -> None:
    """The links hang on the node between; positions are as without it."""
    scene = tube_scene(3)
    s = scene.skeleton
    rows = [0, 1, 2, 3, 3]
    parts: dict[str, Any] = {
        name: getattr(s, name)[rows].copy()
        for name in ("parents", "translations", "rotations", "scales")
    }
    parts["parents"][[1, 4]] = [4, 0]
    parts["translations"][[1, 4]] = [(6, 0, 0), (2, 0, 0)]
    between = replace(
        scene,
        skeleton=replace(s, names=(*s.names, "between"), **parts),
        node_mesh=np.array([-1, -1, -1, 0, -1]),
        node_skin=np.array([-1, -1, -1, 0, -1]),
    )
    new, findings = link(between, [{1: LinkSettings()}])
    assert findings == []
    assert set(new.skeleton.parents[5:].tolist()) == {4}
    pose = turn([0, 1, 0], 110)
    plain, _ = link(scene, [{1: LinkSettings()}])
    np.testing.assert_allclose(turned(new, 1, pose), turned(plain, 1, pose), atol=1e-5)


def test_what_cannot_be_is_refused() -> None:
    scene = tube_scene(2)
    with pytest.raises(SettingError, match="no joint 3 in the body; the last is 2"):
        link(scene, [{3: LinkSettings()}])
    with pytest.raises(SettingError, match="settings of 2 bodies"):
        link(scene, [{}, {}])


def test_skins_of_too_many_joints_are_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("flexor.convert.links.link_bones.MOST_JOINTS", 5)
    scene = tube_scene(2)
    with pytest.raises(SettingError, match="more than 5 joints"):
        link(scene, [{1: LinkSettings()}])


def without_links(clips: Any, links: Any) -> Any:
    """Clips by name, with the tracks of nodes that are no links."""
    return {
        name: replace(clip, tracks=tuple(t for t in clip.tracks if t.node not in links))
        for name, clip in clips.items()
    }


@pytest.mark.parametrize("ending", [".glb", ".flexor"])
def test_linked_scenes_come_back_from_files(
    tmp_path: Path, linked_hero: Scene, ending: str
) -> None:
    keys = np.array([turn([0, 0, 1], 0), turn([0, 1, 0], 120)], np.float32)
    track = Track(1, "rotation", np.array([0, 1], np.float32), keys)
    tubes = linked(tube_scene(3, clips={"bend": Clip("bend", (track,))}))
    for name, scene in (("tube", tubes), ("mannequin", linked_hero)):
        target = tmp_path / f"{name}{ending}"
        flexor.save(Character(scene), target)
        back = flexor.load(target)
        assert not list(differences(scene.skeleton, back.scene.skeleton))
        assert not list(differences(scene.skins, back.scene.skins))
        # Of links, tracks are made when a file is written.
        links = scene.skeleton.links
        assert not list(
            differences(*(without_links(s.clips, links) for s in (scene, back.scene)))
        )
        hero = Character(scene)
        clip = next(iter(hero.clips))
        for a, b in zip(
            hero.deform(hero.pose(clip, 0.4)),
            back.deform(back.pose(clip, 0.4)),
            strict=True,
        ):
            np.testing.assert_allclose(a.positions, b.positions, atol=1e-6)


def test_baked_tracks_are_what_links_do(linked_hero: Scene) -> None:
    """Without links in the skeleton, as other engines see it, clips look the same."""
    scene = with_link_tracks(linked_hero)
    deaf = replace(scene, skeleton=replace(scene.skeleton, links={}))
    one, two = Character(scene), Character(deaf)
    for name in scene.clips:
        for time in np.linspace(0, scene.clips[name].duration, 7):
            skins = (hero.deform(hero.pose(name, time)) for hero in (one, two))
            for a, b in zip(*skins, strict=True):
                np.testing.assert_allclose(a.positions, b.positions, atol=3e-4)
