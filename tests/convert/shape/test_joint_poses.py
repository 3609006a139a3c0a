"""Poses in which joints are tried: by limits, by clips, by guess; at random; joined."""

from __future__ import annotations

import dataclasses
from typing import Any

import numpy as np
import pytest

import flexor
from flexor.convert.shape.facts import SceneFacts
from flexor.convert.shape.joint_poses import (
    JointPoses,
    joined_poses,
    plan_poses,
    random_poses,
)
from flexor.maths import quaternions
from flexor.pose.ik.limit_angles import measure_excess
from flexor.pose.layout import ROWS, Layout
from flexor.scene.character.clip import Clip, Track
from tests.convert.shape.tubes import linked, tube_scene, turn


@pytest.fixture(scope="module")
def human() -> SceneFacts:
    """The mannequin without clips."""
    scene = flexor.samples.mannequin().scene
    return SceneFacts(dataclasses.replace(scene, clips={}))


def plan(facts: SceneFacts, rows: Any = None) -> JointPoses:
    (own,) = facts.bodies
    every = np.flatnonzero(own.body.parents >= 0) if rows is None else rows
    return plan_poses(
        facts, own.body, own.shape_by_place.bones, np.asarray(every, np.int32)
    )


def turns_of(layout: Layout, local: Any) -> Any:
    """Rotations (N, J, 4) of all nodes."""
    lanes = local.reshape(len(local), ROWS, layout.lane_count)
    return lanes[:, 3:7, layout.lane_of_node].transpose(0, 2, 1).astype(float)


def clip_turned(degrees: float) -> dict[str, Clip]:
    times = np.array([0, 1, 2, 3], np.float32)
    steps = [turn([0, 0, 1], at) for at in (0, degrees, 0, 0)]
    track = Track(1, "rotation", times, np.array(steps, np.float32))
    return {"bend": Clip("bend", (track,))}


def largest(poses: JointPoses, axis: int) -> float:
    return float(np.degrees(np.abs(poses.angles[poses.axes == axis]).max()))


def test_a_guess_without_clips_and_limits() -> None:
    poses = plan(SceneFacts(tube_scene(1)), [1])
    assert len(poses) == 12
    assert set(poses.rows.tolist()) == {1}
    for axis, far in ((0, 45), (1, 75), (2, 75)):
        own = np.degrees(poses.angles[poses.axes == axis])
        np.testing.assert_allclose(sorted(own), [-far, -0.6 * far, 0.6 * far, far])
    np.testing.assert_allclose(np.linalg.norm(poses.turns, axis=1), 1)
    # The bone lies along x: a twist is about it, bends are across.
    for way, axis, angle in zip(poses.turns, poses.axes, poses.angles, strict=True):
        assert np.abs(way[3]) == pytest.approx(np.cos(angle / 2))
        along = abs(way[0]) / np.linalg.norm(way[:3])
        assert along == pytest.approx(1 if axis == 0 else 0, abs=1e-6)


@pytest.mark.parametrize(
    ("degrees", "bend", "twist"), [(4, 40, 25), (60, 75, 75), (88, 110, 90)]
)
def test_clips_tell_how_far_a_joint_turns(
    degrees: float, bend: float, twist: float
) -> None:
    """A quarter more than in the clip, within bounds."""
    scene = tube_scene(1, clips=clip_turned(degrees))
    facts = SceneFacts(scene)
    assert len(facts.poses) == 4
    # The clip is looked at in four moments; one of them is near its turn.
    seen = quaternions_apart(turns_of(facts.layout, facts.poses)[:, 1])
    poses = plan(facts, [1])
    for axis, far, low, high in ((0, twist, 25, 90), (1, bend, 40, 120)):
        assert largest(poses, axis) == pytest.approx(
            np.clip(1.25 * seen, low, high), abs=0.05
        )
        assert largest(poses, axis) <= far + 0.05


def quaternions_apart(turns: Any) -> float:
    """The largest angle from no turn, degrees."""
    return float(np.degrees(2 * np.arccos(np.clip(np.abs(turns[:, 3]), 0, 1))).max())


def test_limits_of_a_human_hold(human: SceneFacts) -> None:
    poses = plan(human)
    (own,) = human.bodies
    limits = SceneFacts(human.scene).limits
    nodes = own.body.joints[poses.rows]
    assert limits.limited[nodes].mean() > 0.5
    rest = human.scene.skeleton.rotations.astype(float)
    for part in range(0, len(poses), 64):
        local = poses.local(human.layout, own.body, slice(part, part + 64))
        found = turns_of(human.layout, local)
        excess = measure_excess(limits, human.scene.skeleton, found.astype(np.float32))
        assert np.abs(excess).max() < np.radians(0.1)
        at = np.arange(len(found))
        found[at, nodes[part : part + 64]] = rest[nodes[part : part + 64]]
        np.testing.assert_allclose(found, np.tile(rest, (len(found), 1, 1)), atol=1e-6)


def test_an_elbow_bends_one_way(human: SceneFacts) -> None:
    (own,) = human.bodies
    elbow = own.body.names.index("l-elbow")
    poses = plan(human, [elbow])
    bends = np.degrees(poses.angles[poses.axes == 2])
    assert len(bends) == 2
    assert np.ptp(np.sign(bends)) == 0
    assert 100 < np.abs(bends).max() <= 150


def test_no_joint_no_pose() -> None:
    facts = SceneFacts(tube_scene(1))
    poses = plan(facts, [])
    assert len(poses) == 0
    assert poses.turns.shape == (0, 4)
    body = facts.bodies[0].body
    assert poses.local(facts.layout, body, slice(0, 16)).shape[0] == 0
    assert len(joined_poses(facts.layout, body, poses)) == 0


def test_poses_of_a_joint_are_its_own_and_about_the_rest() -> None:
    facts = SceneFacts(tube_scene(1))
    (own,) = facts.bodies
    poses = plan(facts, [1, 2])
    local = poses.local(facts.layout, own.body, slice(10, 14))
    found = turns_of(facts.layout, local)
    assert poses.rows[10:14].tolist() == [1, 1, 2, 2]
    for at, (row, wanted) in enumerate(
        zip(poses.rows[10:14], poses.turns[10:14], strict=True)
    ):
        np.testing.assert_allclose(found[at, row], wanted, atol=1e-6)
        found[at, row] = [0, 0, 0, 1]
    np.testing.assert_allclose(found, np.tile([0, 0, 0, 1], (4, len(found[0]), 1)))


def test_joined_poses_hold_each_trial_once(human: SceneFacts) -> None:
    """Joints next to each other are never turned in the same pose."""
    (own,) = human.bodies
    body, poses = own.body, plan(human)
    joined = turns_of(human.layout, joined_poses(human.layout, body, poses))
    most = int(np.bincount(poses.rows).max())
    assert len(joined) == 2 * most
    assert len(joined) < len(poses) / 4
    rest = human.scene.skeleton.rotations.astype(float)
    still = np.abs((joined * rest).sum(2)) > 1 - 1e-6
    moved = ~still[:, body.joints]
    assert moved.sum() == len(poses)
    above = body.parents >= 0
    parents = np.maximum(body.parents, 0)
    assert not (moved & moved[:, parents] & above).any()
    for row in np.unique(poses.rows).tolist():
        node = body.joints[row]
        own_turns = quaternions.multiply(rest[node], poses.turns[poses.rows == row])
        found = joined[moved[:, row], node]
        np.testing.assert_allclose(found, own_turns, atol=1e-6)


def test_random_poses_are_the_same_again_and_within_limits(human: SceneFacts) -> None:
    local = random_poses(human)
    assert local.shape == (16, len(human.layout.rest))
    assert (local == random_poses(human)).all()
    assert (local != random_poses(human, seed=1)).any()
    limits = SceneFacts(human.scene).limits
    found = turns_of(human.layout, local).astype(np.float32)
    excess = measure_excess(limits, human.scene.skeleton, found)
    assert np.abs(excess).max() < np.radians(0.1)


def test_random_poses_leave_the_root_and_what_holds_no_skin() -> None:
    facts = SceneFacts(tube_scene(1))
    found = turns_of(facts.layout, random_poses(facts))
    body = facts.bodies[0].body
    still = np.abs(found[..., 3]) > 1 - 1e-7
    roots = np.flatnonzero(facts.scene.skeleton.parents < 0)
    assert still[:, roots].all()
    assert not still[:, body.joints[1:]].all(0).any()


def test_links_change_nothing_for_the_other_joints() -> None:
    scene = tube_scene(1)
    more = linked(scene, count=2)
    count = len(scene.skeleton)
    assert len(more.skeleton) > count
    found = []
    for one in (scene, more):
        facts = SceneFacts(one)
        found.append(turns_of(facts.layout, random_poses(facts))[:, :count])
    np.testing.assert_allclose(*found, atol=1e-7)
