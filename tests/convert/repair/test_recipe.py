"""The recipe: each pass alone, all together, what is left alone, what is refused."""

from __future__ import annotations

import dataclasses
from typing import Any

import numpy as np
import pytest

import flexor
from flexor.api.character import Character
from flexor.convert.links.place_links import JointRule
from flexor.convert.repair.recipe import repair_scene
from flexor.convert.repair.settings import RepairSettings, make_settings
from flexor.convert.shape.body import Pull, gather_bodies, merge_same, with_pulls
from flexor.convert.shape.facts import BodyFacts
from flexor.convert.weights.regenerate_weights import regenerate_weights
from flexor.convert.weights.smooth_weights import SmoothSettings
from flexor.errors import SettingError
from flexor.scene.character.mesh import Mesh, Primitive
from flexor.scene.character.skeleton import Skeleton
from flexor.scene.character.weights import Skin, SkinWeights
from flexor.scene.scene import Scene
from tests.convert.shape.test_measure_joints import tube
from tests.scenes import random_scene


@pytest.fixture(scope="module")
def scene() -> Scene:
    """The mannequin; of its clips two, as links are baked into each."""
    whole = flexor.samples.mannequin().scene
    few = {name: whole.clips[name] for name in ("walk", "kick")}
    return dataclasses.replace(whole, clips=few)


def settled(**values: Any) -> RepairSettings:
    """Settings by name; True for smoothing is the usual number of steps."""
    if values.get("smooth") is True:
        values["smooth"] = SmoothSettings().most
    return make_settings(values)


def dense(scene: Scene) -> Any:
    body = gather_bodies(scene)[0]
    return body.pull.dense(len(body.joints))


def planted(scene: Scene, joint: str, around: str, share: float = 0.6) -> Any:
    """The scene with the vertices nearest one joint tied to another; and which."""
    body = gather_bodies(scene)[0]
    middle = body.frames[body.names.index(around), :, 3]
    order = np.argsort(np.linalg.norm(body.positions - middle, axis=1), kind="stable")
    places = body.positions.astype(np.float32)
    # All vertices of a place, so that no seam opens.
    rows = np.flatnonzero((places[:, None] == places[order[:12]]).all(2).any(1))
    joints = np.concatenate(
        [body.pull.joints, np.full((len(body), 1), -1, np.int32)], 1
    )
    weights = np.concatenate([body.pull.weights, np.zeros((len(body), 1))], 1)
    weights[rows] *= 1 - share
    joints[rows, -1], weights[rows, -1] = body.names.index(joint), share
    pull = merge_same(joints, weights)
    return with_pulls(scene, {0: pull}, [body]), rows


def test_without_passes_nothing_changes(scene: Scene) -> None:
    repaired, report = repair_scene(scene, settled(), has_measures=False)
    assert report.passes == ()
    assert report.vertices == 0
    assert repaired.meshes[0].primitives == scene.meshes[0].primitives
    assert repaired.skins == scene.skins


def test_rogues_alone_change_what_was_planted_alone(scene: Scene) -> None:
    bad, rows = planted(scene, "r-knee", "l-middle1")
    settings = settled(rogues=True, max_influences=0)
    repaired, report = repair_scene(bad, settings, has_measures=False)
    (finding,) = report.findings
    assert (finding.level, finding.code, finding.where) == (
        "warning",
        "rogue-patch",
        "r-knee",
    )
    assert report.passes == ("rogues",)
    before, after, sound = dense(bad), dense(repaired), dense(scene)
    others = np.setdiff1d(np.arange(len(before)), rows)
    assert (after[others] == before[others]).all()
    np.testing.assert_allclose(after[rows], sound[rows], atol=1e-5)
    (change,) = (one for one in report.joints if one.name == "r-knee")
    assert change.vertices == report.vertices == len(rows)
    assert change.largest == pytest.approx(0.6, abs=1e-5)


def test_joints_of_a_pattern_alone_are_freed(scene: Scene) -> None:
    bad, _ = planted(scene, "r-knee", "l-middle1")
    settings = settled(rogues=True, joints=("l-*",))
    _, report = repair_scene(bad, settings, has_measures=False)
    assert report.findings == ()


def test_smoothing_alone_takes_steps_away(scene: Scene) -> None:
    body = gather_bodies(scene)[0]
    top = body.pull.joints[:, :1]
    hard = with_pulls(scene, {0: Pull(top, np.ones_like(top, np.float32))}, [body])
    settings = settled(smooth=True)
    repaired, report = repair_scene(hard, settings, has_measures=False)
    assert report.passes == ("smooth",)
    assert report.influences_before == 1
    assert 1 < report.influences_after <= 4
    off = [np.abs(dense(one) - dense(scene)).sum(1).mean() for one in (hard, repaired)]
    assert off[1] < 0.7 * off[0]


def test_rigid_meshes_are_neither_smoothed_nor_linked(scene: Scene) -> None:
    name = scene.meshes[0].name
    settings = settled(smooth=True, links=2, rigid=(name,))
    repaired, report = repair_scene(scene, settings, has_measures=False)
    assert report.vertices == 0
    marked = dataclasses.replace(scene.meshes[0], carried={"extras": {"rigid": True}})
    scene = dataclasses.replace(scene, meshes=(marked, *scene.meshes[1:]))
    settings = settled(smooth=True)
    repaired, report = repair_scene(scene, settings, has_measures=False)
    assert report.vertices == 0
    assert repaired.meshes[0].primitives == scene.meshes[0].primitives


def test_smoothing_of_some_joints_leaves_the_others(scene: Scene) -> None:
    settings = settled(smooth=True, smooth_width=8, joints=("l-knee",))
    repaired, report = repair_scene(scene, settings, has_measures=False)
    body = gather_bodies(scene)[0]
    knee = body.names.index("l-knee")
    tied = (body.pull.joints == knee).any(1)
    before, after = dense(scene), dense(repaired)
    assert (before[~tied] == after[~tied]).all()
    assert report.vertices > 0


def test_what_is_regenerated_is_smoothed_if_asked() -> None:
    bent = tube(smooth=0.5)
    plain, _ = repair_scene(bent, settled(regenerate=True), has_measures=False)
    settings = settled(regenerate=True, smooth=True, smooth_width=8)
    softer, report = repair_scene(bent, settings, has_measures=False)
    assert report.passes == ("regenerate", "smooth")
    want = regenerate_weights(BodyFacts(gather_bodies(bent)[0])).dense(3)
    np.testing.assert_allclose(dense(plain), want, atol=1e-6)
    assert np.abs(dense(softer) - want).max() > 0.01


def test_links_and_rules(scene: Scene) -> None:
    settings = settled(
        links=3,
        rules=(
            JointRule(pattern="*", count=0),
            JointRule(pattern="?-elbow", count=2),
            JointRule(pattern="l-*", fade=0.5),
        ),
    )
    repaired, report = repair_scene(scene, settings, has_measures=False)
    assert len(repaired.skeleton.links) == 4
    linked = {one.name: one.links for one in report.joints if one.links}
    assert linked == {"l-elbow": 2, "r-elbow": 2}


def test_links_bend_better_and_the_report_says_so(scene: Scene) -> None:
    settings = settled(links=3, joints=("l-elbow",))
    _, report = repair_scene(scene, settings)
    (elbow,) = (one for one in report.joints if one.name == "l-elbow")
    assert elbow.before is not None
    assert elbow.after is not None
    assert elbow.after.twist180 > elbow.before.twist180 + 0.1  # type: ignore[operator]
    assert elbow.after.bend150 > elbow.before.bend150  # type: ignore[operator]
    (knee,) = (one for one in report.joints if one.name == "l-knee")
    assert knee.after.bend150 == pytest.approx(knee.before.bend150, abs=1e-6)  # type: ignore[union-attr]


def test_everything_at_once(scene: Scene) -> None:
    bad, _ = planted(scene, "r-knee", "l-middle1")
    settings = settled(
        regenerate=True,
        rogues=True,
        smooth=True,
        mirror="left",
        links=3,
        prune=0.02,
        max_influences=4,
        palette=40,
    )
    words: list[str] = []
    repaired, report = repair_scene(
        bad, settings, has_measures=False, note=words.append
    )
    assert report.passes == (
        "regenerate",
        "rogues",
        "smooth",
        "mirror",
        "links",
        "prune",
        "limit",
        "palette",
    )
    assert len(words) >= 5
    assert report.influences_after <= 4
    for mesh in repaired.meshes:
        for primitive in mesh.primitives:
            assert primitive.skin is not None
            weights = primitive.skin.weights
            np.testing.assert_allclose(weights.sum(1), 1, atol=1e-5)
            assert not ((weights > 0) & (weights < 0.015)).any()
    assert all(len(skin.joints) <= 40 for skin in repaired.skins)
    hero, better = Character(bad), Character(repaired)
    for character in (hero, better):
        assert np.isfinite(
            character.deform(character.pose("walk", 0.3))[0].positions
        ).all()


def test_more_joints_a_vertex_only_when_asked(scene: Scene) -> None:
    for most, wanted in ((None, 4), (0, 5), (2, 2)):
        settings = settled(links=3, max_influences=most)
        _, report = repair_scene(scene, settings, has_measures=False)
        if most == 0:
            assert report.influences_after >= wanted
        else:
            assert report.influences_after == wanted


def test_weights_from_another_character(scene: Scene) -> None:
    body = gather_bodies(scene)[0]
    lost = Pull(np.zeros((len(body), 1), np.int32), np.ones((len(body), 1), np.float32))
    bare = with_pulls(scene, {0: lost}, [body])
    repaired, report = repair_scene(bare, settled(), source=scene, has_measures=False)
    assert report.passes == ("transfer",)
    assert report.vertices > 4000
    np.testing.assert_allclose(dense(repaired), dense(scene), atol=2e-3)


@pytest.mark.parametrize(
    ("settings", "text"),
    [
        (settled(rogues=True, joints=("tail*",)), "joints: none fits 'tail\\*'"),
        (settled(smooth=True, rigid=("box",)), "no mesh fits 'box'"),
        (
            settled(rules=(JointRule(pattern="tail", count=2),)),
            "joints: none fits 'tail'",
        ),
        (settled(palette=1), "joints"),
    ],
)
def test_what_is_refused(scene: Scene, settings: RepairSettings, text: str) -> None:
    with pytest.raises(SettingError, match=text):
        repair_scene(scene, settings, has_measures=False)


@pytest.mark.parametrize(
    "words",
    [
        {"prune": 1.5},
        {"prune": -0.1},
        {"spare": float("nan")},
        {"max_influences": -1},
        {"palette": -1},
        {"mirror": "up"},
    ],
)
def test_settings_that_are_refused(words: Any) -> None:
    with pytest.raises(SettingError, match=next(iter(words))):
        settled(**words)


def test_linked_characters_are_not_regenerated(scene: Scene) -> None:
    knee = settled(links=1, joints=("l-knee",))
    linked, _ = repair_scene(scene, knee, has_measures=False)
    assert len(linked.skeleton.links) == 1
    for words in (
        {"regenerate": True},
        {"rogues": True},
        {"smooth": True},
        {"mirror": "left"},
    ):
        with pytest.raises(SettingError, match=f"{next(iter(words))}: the character"):
            repair_scene(linked, settled(**words), has_measures=False)  # type: ignore[arg-type]
    with pytest.raises(SettingError, match="transfer: the character has links"):
        repair_scene(linked, settled(), source=scene, has_measures=False)
    again, report = repair_scene(linked, knee, has_measures=False)
    assert len(again.skeleton.links) == 1
    assert not any("l-knee-link1" in finding.text for finding in report.findings)
    assert any(finding.code == "joint-linked" for finding in report.findings)


def with_hat(scene: Scene) -> Scene:
    """The mannequin with a triangle of its own skin on its head."""
    skeleton = scene.skeleton
    grown = Skeleton(
        (*skeleton.names, "hat"),
        np.append(skeleton.parents, -1),
        np.concatenate([skeleton.translations, np.zeros((1, 3))]),
        np.concatenate([skeleton.rotations, [[0, 0, 0, 1]]]),
        np.concatenate([skeleton.scales, np.ones((1, 3))]),
    )
    head = skeleton.index("head")
    row = scene.skins[0].joints.tolist().index(head)
    skin = Skin("hat", np.array([head]), scene.skins[0].inverse_binds[[row]])
    hat = Primitive(
        np.array([[0.1, 1.8, 0], [0, 1.9, 0], [0, 1.8, 0.1]], np.float32),
        skin=SkinWeights(np.zeros((3, 4), np.uint16), np.tile([1, 0, 0, 0], (3, 1))),
    )
    return dataclasses.replace(
        scene,
        skeleton=grown,
        node_mesh=np.append(scene.node_mesh, len(scene.meshes)),
        node_skin=np.append(scene.node_skin, len(scene.skins)),
        meshes=(*scene.meshes, Mesh("hat", (hat,))),
        skins=(*scene.skins, skin),
        root_sets=(),
        default_set=None,
    )


def test_a_hat_does_not_keep_a_body_from_being_mirrored(scene: Scene) -> None:
    settings = settled(mirror="left")
    _, report = repair_scene(with_hat(scene), settings, has_measures=False)
    (finding,) = report.findings
    assert (finding.level, finding.code) == ("warning", "not-mirrored")
    alone = dataclasses.replace(
        with_hat(scene), node_mesh=np.append(np.full(len(scene.node_mesh), -1), 1)
    )
    with pytest.raises(SettingError, match="left"):
        repair_scene(alone, settings, has_measures=False)


def test_meshes_that_several_skins_use_keep_their_weights(scene: Scene) -> None:
    skin = scene.skins[0]
    order = np.arange(len(skin.joints))[::-1]
    other = Skin("other", skin.joints[order], skin.inverse_binds[order])
    node = int(np.flatnonzero(scene.node_mesh >= 0)[0])
    skeleton = scene.skeleton
    twice = dataclasses.replace(
        with_hat(scene),
        node_mesh=np.append(scene.node_mesh, scene.node_mesh[node]),
        node_skin=np.append(scene.node_skin, len(scene.skins)),
        meshes=scene.meshes,
        skins=(*scene.skins, other),
    )
    assert len(skeleton) + 1 == len(twice.skeleton)
    settings = settled(regenerate=True)
    repaired, report = repair_scene(twice, settings, has_measures=False)
    assert report.vertices == 0
    assert "mesh-shared" in {finding.code for finding in report.findings}
    assert repaired.meshes[0].primitives == scene.meshes[0].primitives


@pytest.mark.parametrize("seed", range(8))
def test_random_scenes_survive_all_passes(seed: int) -> None:
    rng = np.random.default_rng(seed)
    scene = random_scene(rng, vertices=int(rng.integers(1, 60)))
    settings = settled(
        regenerate=bool(seed % 2),
        rogues=True,
        smooth=5,
        links=2,
        prune=0.01,
    )
    repaired, report = repair_scene(scene, settings)
    assert report.vertex_count == sum(len(body) for body in gather_bodies(scene))
    for mesh in repaired.meshes:
        for primitive in mesh.primitives:
            if primitive.skin is not None:
                assert np.isfinite(primitive.skin.weights).all()
