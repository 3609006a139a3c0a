"""Links only where they help: bones that hold no skin, joints and clips that suffer."""

from __future__ import annotations

import dataclasses
from typing import Any

import numpy as np
import pytest

import flexor
from flexor.convert.links.choose_links import choose_links
from flexor.convert.links.link_weights import LinkSettings
from flexor.convert.shape.body import Body, gather_bodies
from flexor.convert.shape.deform_body import (
    MOST_CLIPS,
    bind_body,
    clip_poses,
    deform_body,
)
from flexor.convert.shape.facts import SceneFacts
from flexor.convert.shape.judge_joints import is_worse
from flexor.pose.layout import make_layout
from flexor.scene.character.clip import Clip, Track
from flexor.scene.scene import Scene
from tests.convert.shape.tubes import forearm_scene, skinned_scene, tube_scene, turn


def every(body: Body) -> dict[int, LinkSettings]:
    return dict.fromkeys(range(len(body.joints)), LinkSettings())


def chosen(scene: Scene) -> tuple[set[str], dict[str, str]]:
    """Names of joints with links, and what is said of the others by reason."""
    bodies = gather_bodies(scene)
    settings = [every(body) for body in bodies]
    facts, findings = choose_links(SceneFacts(scene), settings)
    linked = facts.scene
    links = linked.skeleton.links.values()
    names = {linked.skeleton.names[link.joint] for link in links}
    told = [f.text for f in findings if f.code == "links-left-out"]
    return names, {text.partition(" as ")[2].partition(":")[0]: text for text in told}


def test_a_tube_gets_them() -> None:
    names, told = chosen(tube_scene(1))
    assert names == {"j1"}
    assert "j1" not in told.get("they would look no better", "")


def test_a_tube_that_bends_well_goes_without() -> None:
    names, told = chosen(tube_scene(3))
    assert not names
    assert "j1" in told["they would look no better"]


def test_a_bone_above_that_holds_no_skin_gets_none() -> None:
    """As a foot that hangs on the root: its skin came from the shin."""
    scene = tube_scene(3)
    body = gather_bodies(scene)[0]
    assert body.parents.tolist()[:2] == [-1, 0]
    weights = body.pull.dense(len(body.joints))
    weights[:, 1:] += weights[:, :1]  # the first bone holds nothing
    weights[:, 0] = 0
    weights /= weights.sum(1, keepdims=True)
    primitive = scene.meshes[0].primitives[0]
    assert primitive.skin is not None
    bare = skinned_scene(
        body.frames[:, :, 3],
        body.parents,
        primitive.positions,
        primitive.triangles(),
        weights,
    )
    names, told = chosen(bare)
    assert bare.skeleton.names[int(bare.skins[0].joints[1])] not in names
    (why,) = (text for why, text in told.items() if why.startswith("no skin passes"))
    assert "no skin passes to them from the bone above" in why


def test_joints_that_would_be_worse_go_without() -> None:
    names, told = chosen(flexor.samples.mannequin().scene)
    assert not {"l-shoulder", "r-shoulder"} & names
    assert {"l-arm", "r-arm", "l-knee", "r-knee"} <= names
    assert "l-shoulder" in told["they would look no better"]


@pytest.mark.parametrize(
    ("name", "feet"),
    [
        ("Cow_quaternius.glb", {"FrontFoot.R", "FrontFoot.L", "BackFoot.R"}),
        ("Q_Character_Gun.glb", {"Foot.L", "Foot.R"}),
        ("Godot_player.glb", {"hip"}),
    ],
)
def test_clips_of_characters_do_not_tear(
    assets: Any, name: str, feet: set[str]
) -> None:
    hero = flexor.load(assets / name)
    assert LinkSettings().count == 3
    better, report = flexor.repair(hero, links=3, has_measures=False)
    skeleton = better.skeleton
    names = {skeleton.names[link.joint] for link in skeleton.links.values()}
    assert names
    assert feet <= set(skeleton.names)
    assert not feet & names
    assert report.moved is not None
    assert report.moved[1] < 0.15


def test_edges_that_tear_in_a_clip_take_the_links_away() -> None:
    """A clip that pulls a joint far from its parent: with narrow weights a few rings of
    edges are torn, with links all those along them.
    """
    scene = tube_scene(1.0)
    node = int(gather_bodies(scene)[0].joints[1])
    name = scene.skeleton.names[node]
    assert name in chosen(scene)[0]
    way = scene.skeleton.translations[node]
    far = np.stack([way, way + np.float32(60)])
    track = Track(node, "translation", np.array([0, 1], np.float32), far)
    moved = dataclasses.replace(scene, clips={"pull": Clip("pull", (track,))})
    names, told = chosen(moved)
    assert name not in names
    assert name in told["they would look no better"]


def twisting(degrees: float) -> dict[str, Clip]:
    keys = np.array([turn([1, 0, 0], angle) for angle in (0, degrees)], np.float32)
    track = Track(1, "rotation", np.array([0, 1], np.float32), keys)
    return {"twist": Clip("twist", (track,))}


def wound(scene: Scene, **settings: int) -> dict[str, int]:
    """How many twist links each joint gets."""
    facts = SceneFacts(scene)
    own = LinkSettings(**settings)
    wanted = [dict.fromkeys(range(len(b.body.joints)), own) for b in facts.bodies]
    skeleton = choose_links(facts, wanted)[0].scene.skeleton
    found: dict[str, int] = {}
    for link in skeleton.links.values():
        if link.axis is not None and not link.is_swing:
            name = skeleton.names[link.joint]
            found[name] = found.get(name, 0) + 1
    return found


@pytest.mark.parametrize(
    ("degrees", "twists", "expected"),
    [(180, 6, 3), (45, 6, 0), (180, 2, 2), (180, 0, 0)],
)
def test_bones_that_twist_get_as_many_twist_links_as_they_need(
    degrees: float, twists: int, expected: int
) -> None:
    """A step of 30 degrees each, of a quarter more than the clip turns it by, 90 at
    most.
    """
    scene = forearm_scene(clips=twisting(degrees))
    found = wound(scene, count=0, twists=twists)
    assert found == ({"forearm": expected} if expected else {})


def test_where_links_for_a_bend_share_the_twist_no_others_do() -> None:
    assert not wound(forearm_scene(clips=twisting(60)), count=3, twists=6)


def test_bones_with_something_on_their_way_get_no_twist_links() -> None:
    clips = twisting(180)
    assert wound(forearm_scene(clips=clips, more=[7.0]), count=0, twists=6)
    assert not wound(forearm_scene(clips=clips, more=[3.0]), count=0, twists=6)


@pytest.mark.parametrize("name", ["RiggedFigure.glb", "Fox.glb"])
def test_joints_with_links_look_better_and_are_measured(assets: Any, name: str) -> None:
    """No gain is no reason for links, nor is a joint that cannot be measured."""
    _, report = flexor.repair(flexor.load(assets / name), links=3, twists=6)
    linked = [joint for joint in report.joints if joint.links]
    assert linked
    for joint in linked:
        assert joint.looked is not None
        assert joint.looks is not None
        assert joint.looks.score < 0.97 * joint.looked.score


def test_the_automatic_repair_puts_them_in(assets: Any) -> None:
    """The arms of a man wind up, and links for bends do not share that out."""
    better, report = flexor.repair(flexor.load(assets / "CesiumMan.glb"))
    twisted = {link.joint for link in better.skeleton.links.values() if link.axis}
    names = {better.skeleton.names[joint] for joint in twisted}
    assert {"Skeleton_arm_joint_L__4_", "Skeleton_arm_joint_R"} <= names
    for joint in report.joints:
        if joint.looked is not None and joint.looks is not None:
            assert not is_worse(joint.looks, joint.looked)


def test_poses_and_skins_of_clips() -> None:
    hero = flexor.samples.mannequin()
    layout = make_layout(hero.scene)
    poses = clip_poses(hero.scene, layout)
    assert len(hero.clips) > MOST_CLIPS
    assert poses.shape == (4 * MOST_CLIPS, len(layout.rest))
    body = gather_bodies(hero.scene)[0]
    found, _ = deform_body(layout, bind_body(hero.scene, body), poses[:4])
    first = next(iter(hero.clips))
    times = np.linspace(0, hero.clips[first].duration, 4, endpoint=False)
    wanted = hero.deform_many(hero.pose_many(first, times))[0].positions
    np.testing.assert_allclose(found, wanted, atol=1e-6)


def test_without_clips_there_are_no_poses() -> None:
    scene = dataclasses.replace(flexor.samples.mannequin().scene, clips={})
    assert len(clip_poses(scene, make_layout(scene))) == 0
    _, report = flexor.repair(
        flexor.Character(scene), links=1, joints=["neck"], has_measures=False
    )
    assert report.moved is None
