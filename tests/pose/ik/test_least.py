"""Least turning, and the way home that leaves goals alone, against plain algebra."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from flexor.maths import quaternions
from flexor.pose.ik.kernels.descent import AWAY, HOME, NOW, TRIED
from flexor.pose.ik.reach import Effector, make_reach
from tests.oracle import ik as oracle
from tests.pose.ik import step_kernels as steps
from tests.pose.ik.benched import Bench, arms, slopes
from tests.pose.ik.chains import angles_between, box_limits, tree
from tests.scenes import random_rotations

UPRIGHT = np.array([0, 0, 0, 1.0])
HANDS = [Effector("b4", "b0", weight=0.4), Effector("b7", "b0", weight=3.0)]
PULLS = np.array([0.4, 3.0])
WILLING = {"b0": 0.2, "b1": 0.7, "b3": 0.5, "b6": 0.9}
DAMPING = 0.03


@pytest.mark.parametrize("is_hinged", [False, True])
def test_all_bones_at_once_turn_by_damped_least_squares(is_hinged: bool) -> None:
    rng = np.random.default_rng(1)
    layout = arms()
    willing = {"b0": 0.2, "b1": 0.7, "b3": 0.5, "b6": 0.9}
    pulls = np.array([0.4, 3.0])
    hands = [Effector("b4", "b0", weight=0.4), Effector("b7", "b0", weight=3.0)]
    limits, axes = None, None
    start = random_rotations(rng, 8)
    if is_hinged:
        frames = random_rotations(rng, 8)
        limits = box_limits(8, (-180, 0, 0), (180, 0, 0), frames=frames)
        axes = quaternions.to_matrix(frames)[:, :, 2]
        half = rng.uniform(-1, 1, (8, 1))
        start = np.concatenate([np.sin(half) * axes, np.cos(half)], 1)
    reach = make_reach(layout, hands, willing=willing, limits=limits)
    nodes, names = reach.nodes, layout.skeleton.names
    goals = rng.normal(size=(2, 3))
    bench = Bench(reach, start[nodes], goals)
    damping = 0.03
    is_there = steps.step_all(
        reach.bones,
        reach.table,
        bench.pulls,
        damping,
        bench.work,
        bench.pairs,
        bench.ends,
        bench.goals,
        bench.system,
        bench.right,
    )
    assert is_there
    slope, ends = slopes(layout.skeleton, nodes, [4, 7], start)
    np.testing.assert_allclose(bench.ends, ends, atol=1e-6)
    if axes is not None:
        slope = (slope * axes[nodes]).sum(2, keepdims=True) * axes[nodes]
    shares = [willing.get(names[node], 1.0) for node in nodes]
    gap = (goals - ends).ravel()
    turns = oracle.turn_least(slope, gap, shares, pulls, damping)
    wanted = oracle.turned(start[nodes], turns)
    assert angles_between(bench.tried(), wanted).max() < 1e-6


def test_a_system_that_says_nothing_is_not_solved() -> None:
    """Points on their joints do not move, whatever turns."""
    layout = tree([-1, 0], [[0, 0, 0], [0, 0, 0]])
    reach = make_reach(layout, [Effector("b1", "b0")])
    bench = Bench(reach, UPRIGHT[None], np.ones((1, 3)))
    steps.step_all(
        reach.bones,
        reach.table,
        bench.pulls,
        1e-4,
        bench.work,
        bench.pairs,
        bench.ends,
        bench.goals,
        bench.system,
        bench.right,
    )
    np.testing.assert_array_equal(bench.tried(), UPRIGHT[None])


def longest_arms(skeleton: Any, bones: Any, ends: Any, rotations: Any) -> Any:
    """How far the farthest end that hangs on each bone is from it: (B,)."""
    parents = skeleton.parents.tolist()
    _, spots = oracle.frames_of(parents, skeleton.translations, rotations)
    return np.array(
        [
            max(
                np.linalg.norm(spots[end] - spots[bone])
                for end in ends
                if oracle.is_below(parents, end, bone)
            )
            for bone in bones
        ]
    )


def stepped(bench: Bench, part_of: float, slack: float) -> int:
    """A step over the gap and home."""
    found = steps.step_home(
        bench.reach.bones,
        bench.reach.table,
        bench.pulls,
        part_of,
        slack,
        DAMPING,
        bench.work,
        bench.pairs,
        bench.ends,
        bench.goals,
        bench.system,
        bench.right,
        bench.homeward,
    )
    return int(found)


@pytest.mark.parametrize("is_hinged", [False, True])
@pytest.mark.parametrize("slack", [1e9, 1e-3])
def test_the_way_home_is_what_moves_no_end(is_hinged: bool, slack: float) -> None:
    rng = np.random.default_rng(6)
    layout = arms()
    limits, axes = None, None
    start, home = random_rotations(rng, 8), random_rotations(rng, 8)
    if is_hinged:
        frames = random_rotations(rng, 8)
        limits = box_limits(8, (-180, 0, 0), (180, 0, 0), frames=frames)
        axes = quaternions.to_matrix(frames)[:, :, 2]
        half = rng.uniform(-0.7, 0.7, (2, 8, 1))
        start, home = np.concatenate([np.sin(half) * axes, np.cos(half)], 2)
    reach = make_reach(layout, HANDS, willing={**WILLING, "b2": 0}, limits=limits)
    nodes, skeleton = reach.nodes, layout.skeleton
    goals = rng.normal(size=(2, 3)) * 0.2
    bench = Bench(reach, start[nodes], goals)
    # The sign of a rotation says nothing.
    bench.work[:, HOME : HOME + 4] = home[nodes] * rng.choice([-1, 1], (len(nodes), 1))
    assert stepped(bench, 0.3, slack) == 1
    slope, ends = slopes(skeleton, nodes, [4, 7], start)
    back = quaternions.multiply(home, start * [-1, -1, -1, 1])[nodes]
    back *= np.sign(back[:, 3:])
    sines = np.linalg.norm(back[:, :3], axis=1, keepdims=True)
    away = 0.3 * 2 * np.arctan2(sines, back[:, 3:]) * back[:, :3] / sines
    shares = np.array(
        [{**WILLING, "b2": 0}.get(skeleton.names[node], 1.0) for node in nodes]
    )
    away[shares == 0] = 0
    if axes is not None:
        slope = (slope * axes[nodes]).sum(2, keepdims=True) * axes[nodes]
    levers = longest_arms(skeleton, nodes, [4, 7], start)
    gap = (goals - ends).ravel()
    turns = oracle.turn_home(slope, gap, away, levers, shares, PULLS, DAMPING, slack)
    wanted = oracle.turned(start[nodes], turns)
    assert angles_between(bench.tried(), wanted).max() < 1e-6
    if slack < 1:  # and it is little
        free = oracle.turn_least(slope, gap, shares, PULLS, DAMPING)
        assert 0 < np.abs(turns - free).max() < 0.1


@pytest.mark.parametrize("closed", [1, 2, 3])
def test_no_bone_turns_where_it_is_closed(closed: int) -> None:
    """A direction, all but a direction, or all."""
    rng = np.random.default_rng(7)
    layout = arms()
    reach = make_reach(layout, HANDS, willing=WILLING)
    nodes, skeleton = reach.nodes, layout.skeleton
    start, goals = random_rotations(rng, 8), rng.normal(size=(2, 3)) * 0.3
    bench = Bench(reach, start[nodes], goals)
    ways = rng.normal(size=(len(nodes), 3))
    ways /= np.linalg.norm(ways, axis=1, keepdims=True)
    bench.work[:, AWAY : AWAY + 3] = 0
    bench.work[1:4, AWAY : AWAY + 3] = closed * ways[1:4]
    found = steps.step_within(
        reach.bones,
        reach.table,
        bench.pulls,
        DAMPING,
        bench.work,
        bench.pairs,
        bench.ends,
        bench.goals,
        bench.system,
        bench.right,
    )
    assert found == 1
    slope, ends = slopes(skeleton, nodes, [4, 7], start)
    for b in (1, 2, 3):
        only = np.outer(ways[b], ways[b])
        left = {1: np.eye(3) - only, 2: only, 3: np.zeros((3, 3))}[closed]
        slope[:, b] = slope[:, b] @ left
    shares = [WILLING.get(skeleton.names[node], 1.0) for node in nodes]
    turns = oracle.turn_least(slope, (goals - ends).ravel(), shares, PULLS, DAMPING)
    wanted = oracle.turned(start[nodes], turns)
    assert angles_between(bench.tried(), wanted).max() < 1e-6


def test_limits_that_cut_a_step_close_the_way() -> None:
    """Once a direction; then also another; then there is none that is open."""
    layout = tree([-1, 0, 1], [[0, 0, 0], [0.5, 0, 0], [0.5, 0, 0]])
    limits = box_limits(3, (-5, -5, -5), (5, 5, 5))
    reach = make_reach(layout, [Effector("b2", "b0")], limits=limits)
    bench = Bench(reach, np.tile(UPRIGHT, (2, 1)), [[0.8, 0.5, 0]])
    bench.work[:, HOME : HOME + 4] = UPRIGHT
    assert stepped(bench, 0.1, 1e-3) == 2
    np.testing.assert_allclose(bench.work[:, AWAY : AWAY + 3], [[0, 0, -1]] * 2)
    tenth = np.radians(5) / 2
    cut = [0, 0, np.sin(tenth), np.cos(tenth)]
    np.testing.assert_allclose(bench.tried(), [cut, cut], atol=1e-9)

    def again(goal: Any) -> int:
        bench.goals[:] = goal
        bench.work[:, NOW : NOW + 4] = bench.work[:, TRIED : TRIED + 4]
        bench.measure(NOW)
        found = steps.step_within(
            reach.bones,
            reach.table,
            bench.pulls,
            DAMPING,
            bench.work,
            bench.pairs,
            bench.ends,
            bench.goals,
            bench.system,
            bench.right,
        )
        return int(found)

    # Up is closed; to the side is not.
    assert again([[0.8, 0.5, 0]]) == 1
    assert again([[0.8, 0.2, -0.6]]) == 2
    closed = bench.work[:, AWAY : AWAY + 3]
    np.testing.assert_allclose(np.linalg.norm(closed, axis=1), 2)
    # Only the twist is open, about the bones.
    assert (np.abs(closed[:, 0]) > 1.98).all()
    bench.work[:, AWAY : AWAY + 3] = [2, 0, 0]
    bench.work[:, TRIED : TRIED + 4] = [np.sin(0.3), 0, 0, np.cos(0.3)]
    again([[0.8, 0.2, -0.6]])
    np.testing.assert_allclose(
        np.linalg.norm(bench.work[:, AWAY : AWAY + 3], axis=1), 3
    )
