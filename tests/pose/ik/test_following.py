"""Incremental mode: moving targets, the way home, and what is out of reach."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import flexor
from flexor.pose.ik.ccd import CcdSettings, CcdState, init_ccd, solve_ccd
from flexor.pose.ik.reach import Effector, make_reach
from flexor.pose.layout import Layout
from flexor.pose.model_space import init_world, world_from_local
from tests.pose.ik.benched import arms
from tests.pose.ik.chains import (
    angles_between,
    box_limits,
    chain,
    places_of,
    posed,
    random_targets,
    rotations_of,
)
from tests.scenes import random_rotations

RATE = 60  # frames a second
HERO = flexor.samples.mannequin()
SHOULDER = HERO.pose().world[HERO.skeleton.index("l-arm"), :, 3]
ONE = CcdSettings(1, incremental=True)


def wander(
    rng: Any, low: float, high: float, count: int, frames: int, speed: float
) -> Any:
    """Points that wander in a shell about 0, metres and metres a second: (T, N, 3)."""
    way = rng.normal(size=(count, 3))
    at = rng.normal(size=(count, 3))
    at *= (low + high) / 2 / np.linalg.norm(at, axis=1, keepdims=True)
    found = []
    for _ in range(frames):
        found.append(at.copy())
        way += 0.08 * rng.normal(size=way.shape)
        way /= np.linalg.norm(way, axis=1, keepdims=True)
        out = at / np.linalg.norm(at, axis=1, keepdims=True)
        far = np.linalg.norm(at + way * speed / RATE, axis=1)
        along = (way * out).sum(1)
        turns_back = ((far > high) & (along > 0)) | ((far < low) & (along < 0))
        way[turns_back] -= 2 * (along[:, None] * out)[turns_back]
        at = at + way * speed / RATE
    return np.array(found)


def follow(
    state: CcdState, pose: Any, targets: Any, settings: CcdSettings = ONE
) -> tuple[Any, Any, Any]:
    """Millimetres left, rotations of the bones and passes, (T, N, ...) of each frame.

    pose: local rows (N, 10 L), given in every frame.
    """
    layout, nodes = state.reach.layout, state.reach.nodes
    world = world_from_local(init_world(layout, len(pose)), pose)
    off, turns, passes = [], [], []
    for target in targets:
        local = pose.copy()
        solve_ccd(state, local, world, target[:, None], settings)
        off.append(state.off[:, 0] * 1e3)
        turns.append(rotations_of(layout, local)[:, nodes])
        passes.append(state.passes.copy())
    return np.array(off), np.array(turns), np.array(passes)


def chain_of(bones: int, bend: float = 30.0) -> tuple[Layout, Any]:
    """A chain of a metre, and a pose in which each bone is bent, in degrees."""
    half = np.radians(bend) / 2
    layout = chain([1 / bones] * bones)
    turns = np.tile([0, 0, np.sin(half), np.cos(half)], (1, bones, 1))
    return layout, posed(layout, turns)[0]


@pytest.mark.parametrize("speed", [0.2, 0.5])
@pytest.mark.parametrize("bend", [0.0, 40.0])
@pytest.mark.parametrize("bones", [4, 8])
def test_one_pass_follows_with_a_chain(bones: int, bend: float, speed: float) -> None:
    layout, pose = chain_of(bones, bend)
    state = init_ccd(make_reach(layout, [Effector(f"b{bones}", "b0")]), 12)
    targets = wander(np.random.default_rng(1), 0.25, 0.9, 12, 600, speed)
    off, turns, passes = follow(state, np.repeat(pose, 12, 0), targets)
    off, turns = off[30:], turns[30:]  # where the wandering began was anywhere
    assert np.median(off) < 0.25
    assert off.max() < 1
    assert passes.max() == 1
    # It goes on evenly.
    assert np.degrees(angles_between(turns[1:], turns[:-1]).max()) < 8


@pytest.mark.parametrize("speed", [0.2, 0.5])
def test_one_pass_follows_with_an_arm(speed: float) -> None:
    arm = flexor.Reach(HERO, {"leftHand": "leftUpperArm"}, settings=ONE, count=12)
    targets = wander(np.random.default_rng(2), 0.2, 0.48, 12, 600, speed) + SHOULDER
    off, turns, _ = follow(arm.state, np.tile(HERO.layout.rest, (12, 1)), targets)
    assert np.median(off[30:]) < 0.2
    assert off[30:].max() < 1
    assert np.degrees(angles_between(turns[31:], turns[30:-1]).max()) < 8


def test_one_pass_follows_within_limits() -> None:
    """What limits cut off is done by other bones in the same pass."""
    rng = np.random.default_rng(3)
    arm = flexor.Reach(
        HERO, {"leftHand": "leftShoulder"}, limits="human", settings=ONE, count=20
    )
    middle = rng.uniform((0.15, 1.1, 0.3), (0.35, 1.35, 0.4), (20, 3))
    across = np.linalg.qr(rng.normal(size=(20, 3, 2)))[0] * 0.09
    angle = np.arange(480) * 0.5 / 0.09 / RATE
    circle = np.stack([np.cos(angle), np.sin(angle)], 1)
    targets = middle + np.einsum("nij,tj->tni", across, circle)
    off, turns, _ = follow(arm.state, np.tile(HERO.layout.rest, (20, 1)), targets)
    assert np.percentile(off[30:], 99) < 1.1
    assert off[30:].max() < 4
    low, high = arm.state.reach.table[:, 9:12], arm.state.reach.table[:, 12:15]
    assert (high > low).any()
    assert np.isfinite(turns).all()


def test_after_minutes_an_arm_is_as_it_would_be_at_once() -> None:
    """Characters that wandered on ways of their own hold a target alike: as one does
    that came there directly, and nearly as reference mode does. Without `home`, they
    roll away.
    """
    count, frames = 6, 2 * 60 * RATE
    goal = np.array([0.3, 1.2, 0.3])
    paths = wander(np.random.default_rng(4), 0.2, 0.45, count, frames, 0.3) + SHOULDER
    last = paths[-1] + (goal - paths[-1]) * np.linspace(0, 1, 120)[:, None, None]
    held = np.tile(goal, (120, count, 1))
    pose = np.tile(HERO.layout.rest, (count, 1))

    def came(settings: CcdSettings, targets: Any) -> Any:
        state = flexor.Reach(
            HERO, {"leftHand": "leftUpperArm"}, settings=settings, count=count
        ).state
        off, turns, _ = follow(state, pose, targets, settings)
        assert off[-1].max() < 1
        return turns

    at_home = rotations_of(HERO.layout, pose[:1])
    nodes = flexor.Reach(HERO, {"leftHand": "leftUpperArm"}).state.reach.nodes
    at_home = at_home[:, nodes]

    def away(turns: Any) -> Any:
        return np.linalg.norm(angles_between(turns, at_home), axis=-1)

    wandered = came(ONE, np.concatenate([paths, last, held]))
    now, directly = wandered[-1], came(ONE, held)[-1]
    reference = came(CcdSettings(), held[:1])[-1]
    assert np.degrees(angles_between(now, directly).max()) < 2
    assert np.degrees(angles_between(now, reference).max()) < 10
    assert away(now).max() < 1.02 * away(reference).max()
    # No further from home in the last half minute than in the first.
    part = RATE * 30
    assert (
        away(wandered[frames - part : frames]).mean()
        < 1.1 * away(wandered[:part]).mean()
    )
    lost = came(
        CcdSettings(1, incremental=True, home=0.0),
        np.concatenate([paths, last, held]),
    )[-1]
    assert np.degrees(angles_between(lost, directly).max()) > 45


def test_the_way_home_leaves_the_target_alone() -> None:
    """A chain that was left far from home goes there while its end stays."""
    rng = np.random.default_rng(5)
    layout, pose = chain_of(6)
    state = init_ccd(make_reach(layout, [Effector("b6", "b0")]), 10)
    pose = np.repeat(pose, 10, 0)
    local, _ = posed(layout, random_rotations(rng, 10, 6))
    targets = places_of(layout, local)[:, 6]
    state.last[:] = rotations_of(layout, local)[:, :6]
    state.started[:] = 1
    off, turns, passes = follow(state, pose, np.tile(targets, (900, 1, 1)))
    assert off.max() <= 1 + 1e-3
    assert passes.max() == 1
    home = rotations_of(layout, pose)[:, :6]
    far = np.linalg.norm(angles_between(turns, home), axis=-1)
    assert (far[-1] < 0.8 * far[0]).all()
    # There it stays: nothing trembles.
    assert np.degrees(angles_between(turns[-1], turns[-2]).max()) < 0.02
    # With no home it stays where it was left.
    state.last[:] = rotations_of(layout, local)[:, :6]
    still = CcdSettings(1, incremental=True, home=0.0)
    _, turns, _ = follow(state, pose, np.tile(targets, (20, 1, 1)), still)
    start = rotations_of(layout, local)[:, :6]
    assert np.degrees(angles_between(turns, start).max()) < 0.1


@pytest.mark.parametrize("passes", [1, 30])
def test_out_of_reach_a_chain_is_straight_and_does_not_roll_away(passes: int) -> None:
    layout, pose = chain_of(5)
    state = init_ccd(make_reach(layout, [Effector("b5", "b0")]), 4)
    angle = np.arange(960)[:, None] * np.pi / 120 + np.arange(4)
    circle = [1.3 * np.cos(angle), np.sin(angle), 0.9 * np.sin(angle) + 0.5]
    targets = np.stack(circle, 2)
    targets = np.concatenate([targets, np.repeat(targets[-1:], 900, 0)])
    settings = CcdSettings(passes, incremental=True)
    off, turns, made = follow(state, np.repeat(pose, 4, 0), targets, settings)
    short = np.linalg.norm(targets, axis=2) - 1
    assert (short > 0).all()
    np.testing.assert_allclose(off[60:], 1e3 * short[60:], atol=1e-2)
    assert made[60:].max() == 1  # it is known at once
    steps = np.degrees(angles_between(turns[61:], turns[60:-1]).max((1, 2)))
    assert steps[:900].max() < 4
    assert steps[-1] < 0.02
    # Of the last three rounds each is as the one before, but for a few degrees.
    rounds = turns[240:960].reshape(3, 240, 4, 5, 4)
    assert np.degrees(angles_between(rounds[1:], rounds[:-1]).max()) < 10


@pytest.mark.parametrize("has_limits", [False, True])
def test_one_pass_a_frame_comes_to_targets_that_jump(has_limits: bool) -> None:
    rng = np.random.default_rng(6)
    layout, pose = chain_of(4)
    limits = box_limits(5, (-120, -80, -60), (120, 80, 60)) if has_limits else None
    state = init_ccd(make_reach(layout, [Effector("b4", "b0")], limits=limits), 50)
    pose = np.repeat(pose, 50, 0)
    arrived = []
    for _ in range(4):
        target = random_targets(rng, [0.25] * 4, 50) * 0.95
        off, _, _ = follow(state, pose, np.tile(target, (40, 1, 1)))
        arrived.append(off[-1] < 1.001)
    assert np.mean(arrived) > (0.9 if has_limits else 0.99)


def test_limits_out_of_reach_come_to_rest_far_from_home() -> None:
    layout, pose = chain_of(4)
    limits = box_limits(5, (-40, -40, -5), (40, 40, 5))
    state = init_ccd(make_reach(layout, [Effector("b4", "b0")], limits=limits), 20)
    targets = np.random.default_rng(7).normal(size=(20, 3)) * 2
    for passes in (1, 30):
        settings = CcdSettings(passes, incremental=True)
        _, turns, _ = follow(
            state, np.repeat(pose, 20, 0), np.tile(targets, (120, 1, 1)), settings
        )
        assert np.degrees(angles_between(turns[-1], turns[-2]).max()) < 0.01


@pytest.mark.parametrize("passes", [1, 6])
def test_two_hands_follow_with_a_trunk_between_them(passes: int) -> None:
    """With one pass by the step of all bones; with more the trunk stays nearer home."""
    rng = np.random.default_rng(8)
    layout = arms()
    reach = make_reach(layout, [Effector("b4", "b0"), Effector("b7", "b0")])
    state = init_ccd(reach, 8)
    pose = np.tile(layout.rest, (8, 1))
    world = world_from_local(init_world(layout, 8), pose)
    rest = places_of(layout, pose)[:, [4, 7]]
    phase = rng.uniform(0, 6, (8, 2, 3))
    settings = CcdSettings(passes, incremental=True)
    off, trunk = [], []
    for frame in range(300):
        local = pose.copy()
        targets = rest * [0.8, 1, 1] + 0.1 * np.sin(1.5 * frame / RATE + phase)
        solve_ccd(state, local, world, targets, settings)
        off.append(state.off.max(1) * 1e3)
        turns = rotations_of(layout, local)[:, :2]
        trunk.append(angles_between(turns, [0, 0, 0, 1.0]).sum(1))
    assert np.max(off[30:]) < 2
    assert np.median(off[30:]) < 0.5
    bent = np.degrees(np.mean(trunk[30:]))
    assert bent < (50 if passes == 1 else 33)
