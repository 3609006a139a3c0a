"""Stretching, bending, swinging and middles of limits, against plain algebra."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from flexor.maths import euler, quaternions
from flexor.pose.ik.kernels.descent import ARM, NOW, TRIED
from flexor.pose.ik.reach import Effector, Reach, make_reach
from tests.oracle import ik as oracle
from tests.pose.ik import step_kernels as steps
from tests.pose.ik.benched import Bench
from tests.pose.ik.chains import angles_between, box_limits, chain, random_lengths, tree
from tests.scenes import random_rotations

UPRIGHT = np.array([0, 0, 0, 1.0])


@pytest.mark.parametrize("far", [0.7, 0.95, 1.001, 1.3])
@pytest.mark.parametrize("scale", [0.01, 1.0, 50.0])
def test_a_chain_is_stretched_to_be_just_long_enough(far: float, scale: float) -> None:
    rng = np.random.default_rng(2)
    lengths = random_lengths(rng, 5) / scale
    places = np.zeros((6, 3))
    places[1:, 0] = lengths
    # A scale along the chain, which bones below inherit.
    places[1:] /= 1.7
    scales = np.ones((6, 3))
    scales[0] = 1.7
    layout = tree(range(-1, 5), places, None, scales)
    willing = {"b1": 0.3, "b3": 0.6}
    reach = make_reach(layout, [Effector("b5", "b0")], willing=willing)
    start = np.tile(UPRIGHT, (5, 1))
    half = rng.uniform(-0.9, 0.9, 5)
    start[:, 2], start[:, 3] = np.sin(half), np.cos(half)
    start[0] = random_rotations(rng)
    goal = rng.normal(size=3)
    goal *= far / scale / np.linalg.norm(goal)
    bench = Bench(reach, start, goal[None])
    before = bench.ends.copy()
    assert np.linalg.norm(before) < np.linalg.norm(goal)
    found = steps.stretch(
        reach.bones, reach.table, bench.work, bench.pairs, bench.goals
    )
    assert found == (1 if far < 1 else 2)
    left = np.sqrt(bench.measure(TRIED)) * scale
    np.testing.assert_allclose(left, max(far - 1, 0), atol=1e-4)


def test_a_chain_that_is_too_long_is_not_stretched() -> None:
    layout = chain([0.5, 0.5])
    reach = make_reach(layout, [Effector("b2", "b0")])
    for goal in ((0.2, 0.1, 0), (0, 0, 0)):
        bench = Bench(reach, np.tile(UPRIGHT, (2, 1)), [goal])
        found = steps.stretch(
            reach.bones, reach.table, bench.work, bench.pairs, bench.goals
        )
        assert found == 0
        np.testing.assert_array_equal(bench.tried(), np.tile(UPRIGHT, (2, 1)))


def test_the_middle_of_limits() -> None:
    """Limited and willing bones go there, others stay; their frames are kept to."""
    rng = np.random.default_rng(3)
    rest, frames = random_rotations(rng, 4), random_rotations(rng, 4)
    layout = tree(range(-1, 3), np.tile([0.3, 0, 0], (4, 1)), rest)
    low, high = np.radians([-20, -60, 0]), np.radians([100, 10, 70])
    limits = box_limits(4, np.degrees(low), np.degrees(high), frames=frames)
    effector = Effector("b3", "b0")
    reach = make_reach(layout, [effector], willing={"b1": 0.0}, limits=limits)
    start = random_rotations(rng, 3)
    bench = Bench(reach, start, np.ones((1, 3)))
    assert steps.centre(reach.bones, reach.table, bench.work)
    now = bench.work[:, NOW : NOW + 4]
    np.testing.assert_array_equal(now[1], start[1])
    z, y, x = (low + high) / 2
    turn = oracle.about(np.array([0, 0, 1.0]), z)
    turn = turn @ oracle.about(np.array([0, 1.0, 0]), y)
    turn = turn @ oracle.about(np.array([1.0, 0, 0]), x)
    for b in (0, 2):
        frame = quaternions.to_matrix(frames[b])
        wanted = quaternions.to_matrix(rest[b]) @ frame @ turn @ frame.T
        np.testing.assert_allclose(quaternions.to_matrix(now[b]), wanted, atol=1e-6)
    free = make_reach(layout, [effector])
    bench = Bench(free, start, np.ones((1, 3)))
    assert not steps.centre(free.bones, free.table, bench.work)


def test_a_bend_moves_willing_bones_off_their_line() -> None:
    layout = chain([0.25] * 4)
    reach = make_reach(layout, [Effector("b4", "b0")], willing={"b2": 0.0})
    bench = Bench(reach, np.tile(UPRIGHT, (4, 1)), [[0.5, 0, 0]])
    steps.bend(reach.bones, reach.table, 0.5, bench.work)
    turned = angles_between(bench.work[:, NOW : NOW + 4], UPRIGHT)
    np.testing.assert_allclose(turned, [0.5, 0.65, 0, 0.95], atol=1e-6)
    # To and fro.
    assert bench.work[0, NOW + 2] * bench.work[1, NOW + 2] < 0


@pytest.mark.parametrize(
    ("goal", "willing", "wanted"),
    [
        ((0.5, 0, 0), {}, True),  # on its line
        ((0.5, 0.01, 0), {}, False),
        ((0.7, 0.3, 0), {"b0": 0.0, "b1": 0.0, "b2": 0.0}, True),  # nothing can turn
        ((0.7, 0.3, 0), {"b0": 0.0, "b1": 0.0}, False),
    ],
)
def test_what_is_balanced(goal: Any, willing: Any, wanted: bool) -> None:
    layout = chain([0.25] * 3)
    reach = make_reach(layout, [Effector("b3", "b0")], willing=willing)
    bench = Bench(reach, np.tile(UPRIGHT, (3, 1)), [goal])
    found = steps.is_balanced(
        reach.bones,
        reach.table,
        bench.pulls,
        bench.work,
        bench.pairs,
        bench.ends,
        bench.goals,
    )
    assert found == wanted


@pytest.mark.parametrize("axis", [0, 1, 2])
@pytest.mark.parametrize("pull", [1.0, 3.0])
def test_pulls_to_either_side_are_balanced_by_their_weights(
    pull: float, axis: int
) -> None:
    """Two ends on a T: goals on either side, the nearer one pulling harder."""
    places = np.roll([[0, 0, 0], [1, 0, 0], [-1, 0, 0]], axis, 1)
    layout = tree([-1, 0, 0], places)
    ends = [Effector("b1", "b0", weight=pull), Effector("b2", "b0")]
    reach = make_reach(layout, ends)
    goals = np.roll([[1, 0.1, 0.3], [-1, 0.3, 0.9]], axis, 1)
    bench = Bench(reach, UPRIGHT[None], goals)
    found = steps.is_balanced(
        reach.bones,
        reach.table,
        bench.pulls,
        bench.work,
        bench.pairs,
        bench.ends,
        bench.goals,
    )
    assert found == (pull == 3)


def clamped(reach: Reach, rotation: Any) -> Any:
    """A rotation (4,) of the first bone within its limits."""
    turn = np.empty(4)
    steps.clamp(reach.table, 0, *rotation, turn)
    return turn


def test_rotations_are_cut_to_limits_as_angles_are() -> None:
    """The nearer end of each angle's limits, going round; what is allowed stays."""
    rng = np.random.default_rng(4)
    for _ in range(40):
        rest, frames = random_rotations(rng, 2), random_rotations(rng, 2)
        low, high = -rng.uniform(0, (180, 90, 180)), rng.uniform(0, (180, 90, 180))
        limits = box_limits(2, low, high, frames=frames)
        layout = tree([-1, 0], [[0, 0, 0], [1, 0, 0]], rest)
        reach = make_reach(layout, [Effector("b1", "b0")], limits=limits)
        turn = random_rotations(rng)
        bone = quaternions.multiply(rest[0], frames[0])
        back = frames[0] * [-1, -1, -1, 1]
        given = quaternions.multiply(quaternions.multiply(bone, turn), back)
        got = clamped(reach, given)
        cut = euler.clamp_rotation(turn, np.radians(low), np.radians(high))
        wanted = quaternions.multiply(quaternions.multiply(bone, cut), back)
        assert angles_between(got, wanted) < 1e-5
        again = clamped(reach, got)
        assert angles_between(again, got) < 1e-5


def test_less_willing_bones_are_stretched_less() -> None:
    layout = chain([0.25] * 4)
    start = np.tile(UPRIGHT, (4, 1))
    half = np.array([0.6, -1.1, 1.2, -1.0]) / 2
    start[:, 2], start[:, 3] = np.sin(half), np.cos(half)
    ways = []
    for willing in ({}, {"b1": 0.1}):
        reach = make_reach(layout, [Effector("b4", "b0")], willing=willing)
        bench = Bench(reach, start, [[0.93, 0, 0]])
        given = (reach.bones, reach.table, bench.work, bench.pairs, bench.goals)
        assert steps.stretch(*given) == 1
        assert bench.measure(TRIED) < 1e-8
        spots = oracle.ends([0.25] * 4, bench.tried())[0]
        ways.append(np.diff(spots, axis=0)[:, 0] / 0.25)  # cosines to the goal
    assert ways[1][1] < ways[0][1] - 0.01  # it has kept more of its bend
    assert (ways[1][[0, 2, 3]] > ways[0][[0, 2, 3]]).all()  # for which others turn


def test_a_limb_folded_onto_itself_has_no_side_to_swing_to() -> None:
    """Its end lies at its base: there is no line to swing about."""
    reach = make_reach(chain([0.5, 0.5]), [Effector("b2", "b0")])
    start = np.stack([UPRIGHT, [0, 0, 1.0, 0]])
    bench = Bench(reach, start, np.zeros((1, 3)))
    np.testing.assert_allclose(bench.ends, 0, atol=1e-12)
    bench.pairs[0, ARM : ARM + 3] = 0
    effectors = np.array([[0, 1, 2, 0, 1]], np.int32)
    is_tried = steps.swing(
        reach.bones,
        reach.table,
        effectors,
        0,
        np.array([[0, 1.0, 0]]),
        1,
        bench.work,
        bench.pairs,
    )
    assert not is_tried
    np.testing.assert_array_equal(bench.tried(), start)
