"""How joints look: what is plain to see of tubes, and what is better or worse."""

from __future__ import annotations

import dataclasses
from dataclasses import replace
from typing import Any

import numpy as np
import pytest

import flexor
from flexor.convert.links.link_bones import LinkSettings, link_bones
from flexor.convert.shape.body import Pull
from flexor.convert.shape.facts import SceneFacts
from flexor.convert.shape.judge_joints import (
    JointScore,
    Judged,
    JudgePlan,
    TrialScore,
    is_better,
    is_worse,
    judge_body,
    plan_judging,
)
from flexor.scene.character.clip import Clip, Track
from flexor.scene.scene import Scene
from tests.convert.shape.tubes import skinned_scene, tube_scene, turn

SCORE = JointScore(1, 1, "knee", 0.4, 0.1, 3.0, 2.0, 1.0, 0.8)


def judge(scene: Scene, plan: JudgePlan | None = None) -> tuple[Judged, JudgePlan]:
    facts = SceneFacts(scene)
    (own,) = facts.bodies
    plan = plan or plan_judging(facts, own)
    return judge_body(facts, own, plan), plan


def twist_clip(degrees: float, axis: Any = (1, 0, 0)) -> dict[str, Clip]:
    times = np.array([0, 1, 2, 3], np.float32)
    steps = [turn(axis, at) for at in (0, degrees, 0, 0)]
    track = Track(1, "rotation", times, np.array(steps, np.float32))
    return {"twist": Clip("twist", (track,))}


def with_links(scene: Scene) -> Scene:
    linked, _ = link_bones(SceneFacts(scene), [{1: LinkSettings()}])
    return linked.scene


def test_the_score_counts_clips_more() -> None:
    assert SCORE.score == pytest.approx(0.4 + 4 * 0.1)


@pytest.mark.parametrize("old", [0.0, 0.5, 1.0, 3.0])
def test_borders_of_worse(old: float) -> None:
    """A fiftieth of the skin around the joint, or of what was bad before."""
    before = replace(SCORE, tried=old, seen=0.0)
    most = old + 0.02 * max(old, 1)
    assert not is_worse(before, before)
    assert not is_worse(replace(before, tried=most - 1e-6), before)
    assert is_worse(replace(before, tried=most + 1e-6), before)
    assert is_worse(replace(before, seen=0.0050001), before)


@pytest.mark.parametrize("old", [0.1, 1.0])
def test_borders_of_better(old: float) -> None:
    before = replace(SCORE, tried=old, seen=0.01)
    enough = 0.97 * before.score - 0.005 - 0.04
    assert not is_better(before, before)
    assert not is_better(replace(before, tried=enough + 1e-6), before)
    assert is_better(replace(before, tried=enough - 1e-6), before)


@pytest.mark.parametrize("old", [0.0, 0.5, 1.0, 3.0])
def test_one_trial_that_is_spoilt_is_not_paid_for_by_others(old: float) -> None:
    """By a good fifth of the skin around the joint, or of what was bad before."""
    trials = (TrialScore(1, 0.5, 1.0), TrialScore(0, -0.5, old))
    before = replace(SCORE, trials=trials)
    most = old + 0.22 * max(old, 1)
    for bad, expected in ((most - 1e-6, False), (most + 1e-6, True)):
        after = replace(
            SCORE, tried=0.1, trials=(TrialScore(1, 0.5, 0.0), TrialScore(0, -0.5, bad))
        )
        assert is_worse(after, before) is expected
        assert is_better(after, before) is not expected


def test_each_trial_of_a_joint_has_its_score() -> None:
    judged, plan = judge(tube_scene(1))
    for joint in judged.joints:
        mine = plan.poses.rows == joint.row
        assert [one.angle for one in joint.trials] == plan.poses.angles[mine].tolist()
        assert [one.axis for one in joint.trials] == plan.poses.axes[mine].tolist()
        bad = [one.bad for one in joint.trials]
        assert bad == judged.trials[mine].tolist()
        assert joint.tried == pytest.approx(np.mean(bad))


def test_what_is_better_in_trials_but_not_in_clips_is_no_better() -> None:
    before = replace(SCORE, tried=1.0, seen=0.01)
    assert is_better(replace(before, tried=0.5, seen=0.0112), before)
    assert not is_better(replace(before, tried=0.5, seen=0.0113), before)


def test_what_is_faultless_cannot_be_better() -> None:
    before = replace(SCORE, tried=0.0, seen=0.0)
    assert not is_better(before, before)
    assert not is_worse(replace(before, tried=0.019), before)


@pytest.mark.slow
def test_a_candy_wrapper_and_the_same_tube_with_links() -> None:
    scene = tube_scene(1.0, clips=twist_clip(180))
    wrapped, plan = judge(scene)
    (joint,) = wrapped.joints
    assert (joint.row, joint.node, joint.name) == (1, 1, "j1")
    assert joint.squeezed + joint.folds + joint.torn > 0
    assert joint.seen > 0
    assert wrapped.squeezed > 0
    assert len(wrapped.trials) == len(plan.poses)
    assert joint.tried == pytest.approx(wrapped.trials.mean())
    linked, _ = judge(with_links(scene), plan)
    assert linked.joints[0].score < 0.5 * joint.score
    assert is_better(linked.joints[0], joint)
    assert is_worse(joint, linked.joints[0])


@pytest.mark.slow
def test_a_wide_change_of_weights_looks_better_than_a_narrow_one() -> None:
    """A cut folds most edges, though only those of one ring."""
    cut, narrow, wide = (
        judge(tube_scene(width))[0].joints[0] for width in (0.0, 0.6, 2.0)
    )
    assert cut.folds > narrow.folds
    assert cut.score > wide.score
    assert is_better(wide, narrow)
    assert is_worse(narrow, wide)


@pytest.mark.slow
def test_skin_on_one_bone_is_faultless() -> None:
    scene = tube_scene(1.0, clips=twist_clip(120, (0, 0, 1)))
    facts = SceneFacts(scene)
    count = len(facts.bodies[0].body)
    one = Pull(np.ones((count, 1), np.int32), np.ones((count, 1), np.float32))
    found, plan = judge(facts.with_pulls({0: one}).scene)
    assert [joint.name for joint in found.joints] == ["j1"]
    assert (found.joints[0].tried, found.joints[0].seen) == (0, 0)
    assert found.hurt.shape == (len(plan.form.faces),)
    assert not found.hurt.any()
    assert (found.folds, found.torn, found.squeezed) == (0, 0, 0)


@pytest.mark.slow
def test_what_is_bad_is_near_the_joint() -> None:
    found, plan = judge(tube_scene(0.6))
    scene = tube_scene(0.6)
    places = SceneFacts(scene).bodies[0].by_place.positions
    x = places[plan.form.faces].mean(1)[:, 0]
    assert found.hurt[np.abs(x) < 0.3].max() > 0.3
    assert not found.hurt[np.abs(x) > 1.5].any()
    assert set(plan.owners.tolist()) <= set(plan.rows.tolist())
    assert (plan.areas > 0).all()


@pytest.mark.slow
def test_a_bend_that_flattens_counts_for_the_volume_it_loses() -> None:
    """Wide weights fold nothing, but an arm bent with them is thin."""
    scene = tube_scene(6.0, clips=twist_clip(150, (0, 0, 1)))
    found, plan = judge(scene)
    (joint,) = found.joints
    assert joint.left is not None
    assert joint.left < 0.9
    assert joint.tried > (0.9 - joint.left) / len(plan.poses)


@pytest.mark.slow
@pytest.mark.parametrize("factor", [1e-2, 100.0])
def test_size_does_not_matter(factor: float) -> None:
    scene = tube_scene(0.6)
    skeleton, skin = scene.skeleton, scene.skins[0]
    mesh = scene.meshes[0]
    binds = skin.inverse_binds.copy()
    binds[:, :, 3] *= factor
    primitive = mesh.primitives[0]
    large = replace(primitive, positions=primitive.positions * np.float32(factor))
    other = replace(
        scene,
        skeleton=replace(skeleton, translations=skeleton.translations * factor),
        meshes=(replace(mesh, primitives=(large,)),),
        skins=(replace(skin, inverse_binds=binds),),
    )
    one, two = judge(scene)[0].joints[0], judge(other)[0].joints[0]
    assert two.score == pytest.approx(one.score, rel=0.02)
    assert two.folds == pytest.approx(one.folds, abs=1)


@pytest.mark.slow
def test_the_mannequin_is_judged_left_as_right_and_the_same_again() -> None:
    scene = flexor.samples.mannequin().scene
    few = {name: scene.clips[name] for name in ("walk", "kick")}
    scene = dataclasses.replace(scene, clips=few)
    found, plan = judge(scene)
    again, _ = judge(scene, plan)
    assert found.joints == again.joints
    scores = {joint.name: joint for joint in found.joints}
    assert {"l-elbow", "l-knee", "neck", "l-shoulder"} <= set(scores)
    assert "hips" not in scores
    for name, joint in scores.items():
        assert np.isfinite(joint.score)
        if name.startswith("l-"):
            other = scores[name.replace("l-", "r-", 1)]
            assert other.tried == pytest.approx(joint.tried, abs=0.05)


def test_skin_without_area_is_judged_too() -> None:
    """Its scores are numbers: no gate lets it through because they are none."""
    scene = tube_scene(1)
    primitive = scene.meshes[0].primitives[0]
    for positions in (primitive.positions * 0, primitive.positions * [1, 0, 0]):
        thin = replace(primitive, positions=positions.astype(np.float32), normals=None)
        mesh = replace(scene.meshes[0], primitives=(thin,))
        judged, _ = judge(replace(scene, meshes=(mesh,)))
        assert all(np.isfinite(one.score) for one in judged.joints)


def test_a_body_without_joints_to_turn() -> None:
    places = np.array([[0, 0, 0], [1, 0, 0], [0, 1, 0]], float)
    scene = skinned_scene(
        [(0, 0, 0)], [-1], places, [[0, 1, 2]], np.ones((3, 1)), normals=places + 1
    )
    found, plan = judge(scene)
    assert found.joints == ()
    assert len(plan.rows) == len(plan.poses) == 0
    assert found.hurt.tolist() == [0]
