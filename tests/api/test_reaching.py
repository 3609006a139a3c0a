"""Reach, Limbs and Look, on poses and players."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import flexor
from flexor.api.reaching import find_limits
from flexor.errors import FlexorError
from flexor.files.text.limits import limits_text
from flexor.pose.ik.ccd import CcdSettings
from flexor.pose.ik.human_limits import human_limits
from flexor.pose.ik.limit_angles import measure_excess
from flexor.pose.ik.reach import Effector
from flexor.pose.ik.two_bone import Limb

HERO = flexor.samples.mannequin()
SKELETON = HERO.skeleton
HAND, FOOT = SKELETON.index("l-wrist"), SKELETON.index("l-ankle")
TURNED = np.array([[0, 0, 1, 5], [0, 1, 0, 0.5], [-1, 0, 0, 2.0]], np.float32)


def test_a_pose_with_its_hand_at_a_target() -> None:
    arm = flexor.Reach(HERO, {"leftHand": "leftUpperArm"})
    pose = HERO.pose("walk", 0.3)
    given = pose.rotations.copy()
    new = arm.solve(pose, (0.3, 1.2, 0.3))
    np.testing.assert_allclose(new.world[HAND, :, 3], (0.3, 1.2, 0.3), atol=1e-3)
    np.testing.assert_array_equal(pose.rotations, given)
    moved = {
        SKELETON.names[node]
        for node in np.flatnonzero(np.abs(new.rotations - given).max(1) > 1e-6)
    }
    # What is between, and nothing else: roll joints too.
    assert moved <= {"l-arm", "l-arm-roll", "l-elbow", "l-elbow-roll"}
    assert len(moved) >= 2
    for part in HERO.deform(new):
        assert np.isfinite(part.positions).all()


def test_names_and_effectors_say_the_same() -> None:
    pose = HERO.pose("run", 0.1)
    target = (0.4, 1.1, 0.2)
    one = flexor.Reach(HERO, {"leftHand": "leftUpperArm"}).solve(pose, target)
    other = flexor.Reach(HERO, [Effector("l-wrist", "l-arm")]).solve(pose, target)
    np.testing.assert_array_equal(one.rotations, other.rotations)


def test_human_limits_hold(tmp_path: Path) -> None:
    limits = human_limits(SKELETON)
    file = tmp_path / "limits.toml"
    file.write_text(limits_text(limits, SKELETON), "utf-8")
    pose = HERO.pose("walk", 0.2)
    target = (-0.5, 1.6, -0.4)  # behind the head
    for given in ("human", limits, file, str(file)):
        arms = flexor.Reach(HERO, {"leftHand": "spine"}, limits=given)
        new = arms.solve(pose, target)
        excess = measure_excess(limits, SKELETON, new.rotations[None])
        chain = arms.state.reach.nodes
        assert np.degrees(np.abs(excess[0, chain]).max()) < 0.01
    assert find_limits(HERO, None) is None


def test_a_moved_pose_reaches_in_the_world() -> None:
    arm = flexor.Reach(HERO, {"leftHand": "leftUpperArm"})
    pose = HERO.pose("walk", 0.3)
    plain = arm.solve(pose, (0.3, 1.2, 0.3))
    there = TURNED @ [0.3, 1.2, 0.3, 1]
    moved = arm.solve(pose.moved(TURNED), there)
    np.testing.assert_allclose(moved.world[HAND, :, 3], there, atol=1e-3)
    np.testing.assert_allclose(moved.rotations, plain.rotations, atol=2e-3)
    np.testing.assert_allclose(moved.world, plain.moved(TURNED).world, atol=5e-3)


def test_many_poses_at_once() -> None:
    legs = flexor.Limbs(HERO, ["left leg", "right leg"], keeps=True, count=3)
    poses = HERO.pose_many("walk", [0.0, 0.3, 0.6])
    targets = np.array([(0.1, 0.2, 0.1), (-0.1, 0.15, 0)])
    many = legs.solve(poses, targets)
    assert many.is_many
    np.testing.assert_allclose(many.world[:, FOOT, :, 3], [targets[0]] * 3, atol=1e-4)
    # The feet keep how they stood.
    np.testing.assert_allclose(
        many.world[:, FOOT, :, :3], poses.world[:, FOOT, :, :3], atol=1e-5
    )
    alone = flexor.Limbs(HERO, ["left leg", "right leg"], keeps=True)
    one = alone.solve(poses[1], targets)
    np.testing.assert_allclose(one.rotations, many.rotations[1], atol=1e-6)


def test_knees_bend_forward_and_elbows_back_from_a_straight_pose() -> None:
    """The mannequin's limbs are nearly straight at rest: bodies know where to bend."""
    rest = HERO.pose()
    legs = flexor.Limbs(HERO, ["left leg", "right leg"])
    for side, node in ((0, "l"), (1, "r")):
        ankle = rest.world[SKELETON.index(f"{node}-ankle"), :, 3]
        targets = rest.world[
            [SKELETON.index("l-ankle"), SKELETON.index("r-ankle")], :, 3
        ].copy()
        targets[side] = ankle + np.array([0, 0.25, 0])
        new = legs.solve(rest, targets[None])
        knee = SKELETON.index(f"{node}-knee")
        step = new.world[knee, :, 3] - rest.world[knee, :, 3]
        assert step[2] > 0.1
        assert abs(step[0]) < 0.6 * step[2]


def test_a_player_reaches_until_its_next_step() -> None:
    player = flexor.Player(HERO, 2)
    player.play("walk")
    player.advance(0.2)
    before = player.world.copy()
    limbs = flexor.Limbs(HERO, [("l-arm", "l-elbow", "l-wrist")], count=2)
    limbs.apply(player, (0.3, 1.2, 0.3))
    np.testing.assert_allclose(
        player.world[:, HAND, :, 3], [(0.3, 1.2, 0.3)] * 2, atol=1e-4
    )
    look = flexor.Look(HERO, count=2, limits="human")
    look.apply(player, (1, 1.6, 3), weights=[0, 1])
    chain = flexor.Reach(HERO, {"rightHand": "chest"}, count=2)
    chain.apply(player, (-0.3, 1.2, 0.3))
    assert chain.off.max() < 1e-3
    assert look.off[1] < 1e-3 < look.off[0]
    player.advance(0)
    np.testing.assert_allclose(player.world, before, atol=1e-6)


def test_the_last_solution_is_the_start_of_the_next() -> None:
    settings = CcdSettings(2, incremental=True)
    arm = flexor.Reach(HERO, {"leftHand": "leftUpperArm"}, settings=settings)
    rest = HERO.pose()
    for step in range(60):
        angle = step / 20
        target = np.array([0.35 + 0.1 * np.cos(angle), 1.2 + 0.1 * np.sin(angle), 0.25])
        new = arm.solve(rest, target)
        if step > 5:
            off = np.linalg.norm(new.world[HAND, :, 3] - target)
            assert off < 2e-3


@pytest.mark.parametrize(
    ("call", "words"),
    [
        (lambda: flexor.Reach(HERO, {"hand": "spine"}), "no node 'hand'.*leftHand"),
        (lambda: flexor.Reach(HERO, {}), "1 to 16"),
        (lambda: flexor.Reach(HERO, {"leftHand": "rightHand"}), "is not above"),
        (lambda: flexor.Reach(HERO, {"leftHand": "spine"}, count=0), "count: 0"),
        (
            lambda: flexor.Reach(HERO, {"leftHand": "spine"}, limits="no.toml"),
            "no.toml",
        ),
        (
            lambda: flexor.Limbs(HERO, ["third arm"]),
            "no limb 'third arm'; there are left",
        ),
        (lambda: flexor.Limbs(HERO, [("l-arm", "l-wrist")]), "2 names, expected 3"),
        (lambda: flexor.Limbs(HERO, [Limb("l-arm", "l-elbow", "x")]), "no node 'x'"),
    ],
)
def test_what_cannot_be_is_refused(call: Any, words: str) -> None:
    with pytest.raises(FlexorError, match=words):
        call()


def test_poses_and_players_of_others_are_refused() -> None:
    arm = flexor.Reach(HERO, {"leftHand": "leftUpperArm"})
    with pytest.raises(FlexorError, match="a pose of 2 moments"):
        arm.solve(HERO.pose_many("walk", [0, 1]), (0, 0, 0))
    with pytest.raises(FlexorError, match="a player of 2 characters"):
        arm.apply(flexor.Player(HERO, 2), (0, 0, 0))
    bad = HERO.pose()
    bad.rotations[3] = np.nan
    with pytest.raises(FlexorError, match="not finite"):
        arm.solve(bad, (0, 0, 0))


def test_a_body_without_a_head_cannot_look() -> None:
    legs = HERO.posed(HERO.pose())
    names = tuple(f"bone{i}" for i in range(len(legs.skeleton)))
    bare = flexor.Character(
        replace(legs.scene, skeleton=replace(legs.skeleton, names=names))
    )
    with pytest.raises(FlexorError, match="no node 'head'"):
        flexor.Look(bare)


def test_one_pose_serves_many() -> None:
    arm = flexor.Reach(HERO, {"leftHand": "leftUpperArm"}, count=3)
    targets = np.array([[(0.3, 1.2, 0.3)], [(0.3, 1.1, 0.3)], [(0.4, 1.2, 0.2)]])
    many = arm.solve(HERO.pose("walk", 0.1), targets)
    np.testing.assert_allclose(many.world[:, HAND, :, 3], targets[:, 0], atol=1e-3)


def test_joints_that_share_a_twist_do_not_bend() -> None:
    rolls = [SKELETON.index("l-arm-roll"), SKELETON.index("l-elbow-roll")]
    pose = HERO.pose("walk", 0.2)
    for limits in (None, "human"):
        arm = flexor.Reach(HERO, {"leftHand": "leftUpperArm"}, limits=limits)
        new = arm.solve(pose, (0.1, 1.3, 0.25))
        np.testing.assert_array_equal(new.rotations[rolls], pose.rotations[rolls])
    free = flexor.Reach(
        HERO, {"leftHand": "leftUpperArm"}, willing={"l-elbow-roll": 1.0}
    )
    new = free.solve(pose, (0.1, 1.3, 0.25))
    assert np.abs(new.rotations[rolls[1]] - pose.rotations[rolls[1]]).max() > 1e-3


def test_human_limits_of_what_is_none_are_refused() -> None:
    names = tuple(f"bone{i}" for i in range(len(SKELETON)))
    scene = replace(HERO.scene, skeleton=replace(SKELETON, names=names))
    with pytest.raises(FlexorError, match="no human body"):
        flexor.Reach(flexor.Character(scene), {"bone25": "bone21"}, limits="human")


def test_a_hand_that_follows_a_target_neither_jumps_nor_wanders() -> None:
    """Round and round: each round as the one before, and no large steps."""
    settings = CcdSettings(incremental=True)
    arm = flexor.Reach(
        HERO, {"leftHand": "leftShoulder"}, limits="human", settings=settings
    )
    rest = HERO.pose()
    turns = []
    for step in range(240):
        angle = 2 * np.pi * step / 80
        target = np.array([0.3, 1.25, 0.35])
        target[:2] += 0.12 * np.cos(angle), 0.12 * np.sin(angle)
        turns.append(arm.solve(rest, target).rotations.astype(np.float64))
        assert arm.off[0, 0] < 2e-3
    rounds = np.stack(turns[80:]).reshape(2, 80, -1, 4)
    cosine = np.abs((rounds[0] * rounds[1]).sum(-1)).clip(0, 1)
    assert np.degrees(2 * np.arccos(cosine)).max() < 3
    steps = np.abs((rounds[:, 1:] * rounds[:, :-1]).sum(-1)).clip(0, 1)
    assert np.degrees(2 * np.arccos(steps)).max() < 6


@pytest.mark.parametrize("count", [1, 3])
def test_the_first_frame_of_a_player_is_no_faster_than_rates(count: int) -> None:
    """Targets behind the back: half a circle for the shoulder, were it in one frame."""
    limits = human_limits(SKELETON)
    arms = flexor.Reach(HERO, {"leftHand": "chest"}, limits=limits, count=count)
    nodes = arms.state.reach.nodes
    player = flexor.Player(HERO, count)
    player.play("walk")
    lanes = HERO.layout.lane_of_node[nodes]

    def turns() -> Any:
        return player.local.reshape(count, 10, -1)[:, 3:7, lanes].astype(np.float64)

    for is_again in (False, True):
        player.advance(1 / 60)
        before = turns()
        arms.apply(player, (0.5, 1.7, -0.2), seconds=1 / 60)
        cosine = np.abs((turns() * before).sum(1)).clip(0, 1)
        angles = 2 * np.arccos(cosine)
        assert (angles <= limits.rates[nodes] / 60 + 1e-3).all()
        assert (angles > 0.95 * limits.rates[nodes] / 60).any(1).all() or is_again
        arms.forget()
    arms.apply(player, (0.5, 1.7, -0.2))
    assert arms.off.max() < 1e-3
    with pytest.raises(FlexorError, match="which"):
        arms.forget([5])
