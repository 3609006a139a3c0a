"""Chains that are stuck, tied to poles and limits, or below turned and scaled nodes."""

from __future__ import annotations

import copy
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from flexor.maths import euler, quaternions
from flexor.pose.ik.ccd import CcdSettings, init_ccd, solve_ccd
from flexor.pose.ik.reach import Effector, make_reach
from flexor.pose.model_space import init_world, world_from_local
from tests.oracle import ik as oracle
from tests.pose.ik.chains import (
    angles_between,
    box_limits,
    chain,
    places_of,
    posed,
    random_targets,
    rotations_of,
    tree,
)
from tests.pose.ik.solves import DEGREE, solved
from tests.scenes import random_rotations

UPRIGHT = np.array([0, 0, 0, 1.0])
QUARTERS = [0.25] * 4


def arms(scale: float = 1.0) -> Any:
    """Two nodes and two arms of two bones on them: b4 and b7 are the hands.

    scale: of the second node, and so of the arms, whose own lengths make up for it.
    """
    right = [[0.1, 0.2, 0], [0.3, 0, 0], [0.3, 0, 0]]
    left = [[-x, y, z] for x, y, z in right]
    places = np.array([[0, 0, 0], [0, 0.4, 0], *right, *left])
    places[2:] /= scale
    scales = np.ones((8, 3))
    scales[1] = scale
    return tree([-1, 0, 1, 2, 3, 1, 5, 6], places, None, scales)


def test_a_solve_goes_on_until_every_effector_is_there() -> None:
    """The first one is on its target from the start, the second is not."""
    layout = arms()
    reach = make_reach(layout, [Effector("b4", "b2"), Effector("b7", "b5")])
    targets = [[(0.7, 0.6, 0), (-0.4, 0.8, 0.2)]]
    state, local = solved(layout, reach, np.tile(UPRIGHT, (1, 8, 1)), targets)
    off = np.linalg.norm(places_of(layout, local)[0, [4, 7]] - targets[0], axis=1)
    assert off.max() < 1e-3
    assert state.off.max() < 1e-3


def test_stuck_between_limits_it_begins_once_more() -> None:
    """What that brings is kept for a tenth of the squares or less, else forgotten."""
    rng = np.random.default_rng(21)
    layout = chain(QUARTERS)
    limits = box_limits(5, (-20, -60, -5), (120, 60, 5))
    reach = make_reach(layout, [Effector("b4", "b0")], limits=limits)
    targets, start = random_targets(rng, QUARTERS, 30), random_rotations(rng, 30, 4)
    # One that a new start helps, and some that it does not help, or not enough.
    rows = [17, 12, 18]
    found = []
    for passes in (20, 65, 150):
        state, local = solved(
            layout, reach, start[rows], targets[rows, None], CcdSettings(passes)
        )
        found.append((state.off[:, 0].copy(), rotations_of(layout, local)))
    assert found[0][0].min() > 0.04
    assert found[2][0][0] < 1e-3
    assert angles_between(found[2][1], found[0][1])[0].max() > 1.5
    assert state.passes.max() < 150  # they know when it is enough
    np.testing.assert_array_equal(found[2][1][1:], found[1][1][1:])
    np.testing.assert_array_equal(found[2][1][2], found[0][1][2])


def test_what_is_out_of_reach_is_given_up() -> None:
    rng = np.random.default_rng(22)
    layout = chain(QUARTERS)
    far = rng.normal(size=(10, 1, 3))
    far *= 1.5 / np.linalg.norm(far, axis=2, keepdims=True)
    start = random_rotations(rng, 10, 4)
    reach = make_reach(layout, [Effector("b4", "b0")])
    state, _ = solved(layout, reach, start, far, CcdSettings(200))
    assert state.passes.max() <= 10
    # With a limit of next to nothing there is little to try.
    limits = box_limits(5, (-2, -2, -2), (2, 2, 2))
    reach = make_reach(layout, [Effector("b4", "b0")], limits=limits)
    state, _ = solved(layout, reach, start, far, CcdSettings(200))
    assert state.passes.max() < 100


@pytest.mark.parametrize("scale", [0.01, 1.0, 100.0])
def test_poles_and_orientations_below_turned_and_scaled_nodes(scale: float) -> None:
    rng = np.random.default_rng(23)
    places = np.zeros((6, 3))
    places[2:, 0] = np.array([0.3, 0.3, 0.2, 0.2]) / scale
    scales = np.ones((6, 3))
    scales[0] = scale
    rest = np.tile(UPRIGHT, (6, 1))
    rest[0] = random_rotations(rng)
    layout = tree(range(-1, 5), places, rest, scales)
    start = np.concatenate(
        [np.tile(rest[:1], (12, 1, 1)), random_rotations(rng, 12, 5)], 1
    )
    goal = start.copy()
    goal[:, 1:] = random_rotations(rng, 12, 5)
    where = np.zeros((12, 3, 4), np.float32)
    where[:, :, :3] = quaternions.to_matrix(random_rotations(rng, 12))
    where[:, :, 3] = rng.normal(size=(12, 3))

    def placed(rotations: Any) -> tuple[Any, Any]:
        world = init_world(layout, 12)
        world.places[:] = where
        local, _ = posed(layout, rotations)
        return local, world_from_local(world, local)

    _, wanted = placed(goal)
    targets = wanted.matrices[:, 5, :, 3].astype(np.float64)
    turns = quaternions.from_matrix(wanted.matrices[:, 5, :, :3] / scale)
    reach = make_reach(layout, [Effector("b5", "b1", turn=1.0)])
    local, world = placed(start)
    state = init_ccd(reach, 12)
    # A pole gives way to the orientation.
    solve_ccd(
        state,
        local,
        world,
        targets[:, None],
        CcdSettings(200),
        turns=turns[:, None],
        poles=(0, 1, 0),
    )
    now = world_from_local(world, local).matrices[:, 5, :, :3] / scale
    apart = angles_between(quaternions.from_matrix(now), turns)
    assert ((apart < DEGREE) & (state.off[:, 0] < 1.1e-3)).mean() > 0.9
    # Without an orientation the middle points to it.
    reach = make_reach(layout, [Effector("b5", "b1")])
    local, world = placed(start)
    state = init_ccd(reach, 12)
    pole = np.array([0.3, 1, -0.2])
    solve_ccd(state, local, world, targets[:, None], CcdSettings(200), poles=pole)
    assert state.off.max() < 1.1e-3
    nodes = world_from_local(world, local).matrices[..., 3].astype(np.float64)
    middle = reach.nodes[reach.effector_table[0, 4]]
    line, side = nodes[:, 5] - nodes[:, 1], nodes[:, middle] - nodes[:, 1]
    line /= np.linalg.norm(line, axis=1, keepdims=True)
    side -= line * (side * line).sum(1, keepdims=True)
    flat = pole - line * (line @ pole)[:, None]
    sizes = np.linalg.norm(side, axis=1) * np.linalg.norm(flat, axis=1)
    assert ((side * flat).sum(1) > 0.999 * sizes).all()


def test_a_pole_gives_way_to_limits() -> None:
    rng = np.random.default_rng(24)
    layout = chain([0.3, 0.3, 0.3])
    low, high = (-170, -80, -60), (170, 80, 60)
    limits = box_limits(4, low, high)
    reach = make_reach(layout, [Effector("b3", "b0")], limits=limits)
    start = random_rotations(rng, 30, 3)
    targets = random_targets(rng, [0.3, 0.3, 0.3], 30)[:, None] * 0.8
    plain, one = solved(layout, reach, start, targets)
    poled, other = solved(layout, reach, start, targets, poles=(0, 1, 0))
    reached = plain.off[:, 0] <= 1e-3
    assert (poled.off[reached, 0] < 1.1e-3).all()
    now = rotations_of(layout, other)[:, :3]
    allowed = euler.clamp_rotation(now, np.radians(low), np.radians(high))
    assert angles_between(now, allowed).max() < 0.01 * DEGREE
    moved = np.abs(one - other).max(1) > 1e-4
    assert 0.1 < moved.mean() < 0.9  # some can swing there, some cannot


def test_below_a_mirror() -> None:
    """A base that is a mirror image: all of it reaches as its image does."""
    rng = np.random.default_rng(25)
    places = np.zeros((5, 3))
    places[2:, 0] = 0.3
    flip = np.array([-1, 1, 1])
    scales = np.ones((5, 3))
    scales[0] = flip
    plain, mirror = (tree(range(-1, 4), places, None, s) for s in (None, scales))
    start = random_rotations(rng, 10, 4)
    start[:, 0] = UPRIGHT
    targets = random_targets(rng, [0.3] * 3, 10)[:, None]
    pole = np.array([0.2, 1, 0.5])
    states = []
    for layout, sign in ((plain, 1), (mirror, flip)):
        reach = make_reach(layout, [Effector("b4", "b1")])
        state, local = solved(layout, reach, start, targets * sign, poles=pole * sign)
        assert state.off.max() < 1.1e-3
        states.append(places_of(layout, local) * sign)
    np.testing.assert_allclose(states[0], states[1], atol=2e-4)


@pytest.mark.parametrize("has_limits", [False, True])
def test_sign_and_length_of_rotations_do_not_matter(has_limits: bool) -> None:
    """Also for how far a joint has turned since the last solve."""
    rng = np.random.default_rng(26)
    layout = chain([0.4, 0.3, 0.3])
    wide = (180, 90, 180) if not has_limits else (120, 70, 60)
    limits = box_limits(4, -np.array(wide), wide, rate=1.0)
    reach = make_reach(layout, [Effector("b3", "b0")], limits=limits)
    one, other = random_targets(rng, [0.4, 0.3, 0.3], 40).reshape(2, 20, 1, 3)
    found = []
    for factor in (1, -1, 3):
        rng = np.random.default_rng(27)
        local, world = posed(layout, random_rotations(rng, 20, 3))
        rows = local.reshape(20, 10, -1)
        state = init_ccd(reach, 20)
        solve_ccd(state, local.copy(), world, one)
        last = state.last.copy()
        rows[:, 3:7] *= factor
        solve_ccd(state, local, world, other, seconds=0.2)
        turned = angles_between(rotations_of(layout, local)[:, :3], last)
        assert turned.max() < 0.2 + 1e-5
        # Most go as fast as they may; between limits a step may be cut in half.
        assert np.median(turned) > (0.095 if has_limits else 0.19)
        found.append(rotations_of(layout, local)[:, :3])
        np.testing.assert_allclose(np.linalg.norm(found[-1], axis=2), 1, atol=1e-6)
    if not has_limits:
        assert angles_between(found[0], found[1]).max() < 1e-5
        assert angles_between(found[0], found[2]).max() < 1e-3


@pytest.mark.parametrize("sign", [1, -1])
def test_a_slowed_joint_comes_up_to_its_limit(sign: int) -> None:
    """The short way leads through what is not allowed: it stops where that begins."""
    layout = chain([1.0])
    limits = box_limits(2, (-170, 0, 0), (170, 0, 0), rate=15 * DEGREE)
    reach = make_reach(layout, [Effector("b1", "b0")], limits=limits)

    def turned(angle: float) -> Any:
        half = np.radians(angle) / 2
        return np.array([[[0, 0, np.sin(half), np.cos(half)]]])

    local, world = posed(layout, turned(-165) * sign)
    state = init_ccd(reach, 1)
    solve_ccd(state, local, world, places_of(layout, local)[:, 1:])
    target = places_of(layout, posed(layout, turned(160))[0])[:, 1:]
    for _ in range(10):
        before = state.last.copy()
        solve_ccd(state, local, world, target, seconds=1.0)
        now = rotations_of(layout, local)[:, :1]
        assert angles_between(now, before).max() <= 15 * DEGREE + 1e-5
        assert angles_between(now, turned(-165)).max() <= 5 * DEGREE + 1e-5
    assert angles_between(now, turned(-170)).max() < 0.1 * DEGREE


def test_no_weight_touches_nothing_but_what_is_too_fast() -> None:
    rng = np.random.default_rng(28)
    layout = chain([0.4, 0.3, 0.3])
    limits = box_limits(4, (-180, -90, -180), (180, 90, 180), rate=1.0)
    reach = make_reach(layout, [Effector("b3", "b0")], limits=limits)
    local, world = posed(layout, random_rotations(rng, 5, 3) * 1.1)
    state = init_ccd(reach, 5)
    given = local.copy()
    targets = random_targets(rng, [0.4, 0.3, 0.3], 5)[:, None]
    for _ in range(2):
        solve_ccd(state, local, world, targets, weights=0)
        np.testing.assert_array_equal(local, given)
    # Let go of a target, the joints go back to the pose no faster than they may.
    solve_ccd(state, local.copy(), world, targets)
    last = state.last.copy()
    solve_ccd(state, local, world, targets, weights=0, seconds=0.1)
    turned = angles_between(rotations_of(layout, local)[:, :3], last)
    assert turned.max() < 0.1 + 1e-5
    assert np.median(turned) > 0.09


@pytest.mark.parametrize("scale", [1.0, 30.0])
def test_several_limbs_have_poles_of_their_own(scale: float) -> None:
    """Also where another one's cannot be followed, and the base is shared."""
    rng = np.random.default_rng(29)
    layout = arms(scale)
    hands = [Effector("b4", "b0", turn=1.0), Effector("b7", "b0")]
    reach = make_reach(layout, hands)
    goal, world = posed(layout, random_rotations(rng, 8, 8))
    targets = places_of(layout, goal)[:, [4, 7]]
    frames = world.matrices[:, [4, 7], :, :3].astype(np.float64) / scale
    turns = quaternions.from_matrix(frames)
    poles = np.array([[1, 0, 0], [0.2, -0.3, 1.0]])
    start = np.tile(UPRIGHT, (8, 8, 1))
    state, local = solved(
        layout, reach, start, targets, CcdSettings(200), turns=turns, poles=poles
    )
    reached = state.off.max(1) < 1.1e-3
    assert reached.sum() > 5
    nodes = places_of(layout, local)[reached]
    line, side = nodes[:, 7] - nodes[:, 5], nodes[:, 6] - nodes[:, 5]
    line /= np.linalg.norm(line, axis=1, keepdims=True)
    side -= line * (side * line).sum(1, keepdims=True)
    flat = poles[1] - line * (line @ poles[1])[:, None]
    sizes = np.linalg.norm(side, axis=1) * np.linalg.norm(flat, axis=1)
    assert ((side * flat).sum(1) > 0.999 * sizes).all()


HANDS = [Effector("b4", "b0", weight=0.4), Effector("b7", "b0", weight=3.0)]


@pytest.mark.parametrize("is_hinged", [False, True])
def test_a_pass_over_a_tree_is_plain_descent(is_hinged: bool) -> None:
    """Shared bones turn for both hands, by their weights; hinges about their axes."""
    rng = np.random.default_rng(30)
    layout = arms()
    skeleton = layout.skeleton
    axes, limits, start = None, None, random_rotations(rng, 10, 8)
    if is_hinged:
        frames = random_rotations(rng, 8)
        limits = box_limits(8, (-180, 0, 0), (180, 0, 0), frames=frames)
        axes = quaternions.to_matrix(frames)[:, :, 2]
        half = rng.uniform(-1.5, 1.5, (10, 8, 1))
        start = np.concatenate([np.sin(half) * axes, np.cos(half)], 2)
    reach = make_reach(layout, HANDS, limits=limits)
    targets = rng.normal(size=(10, 2, 3))
    _, local = solved(layout, reach, start, targets, CcdSettings(1))
    now = rotations_of(layout, local)
    for n in range(10):
        wanted = oracle.descend_tree(
            skeleton.parents.tolist(),
            skeleton.translations,
            start[n],
            reach.nodes,
            [4, 7],
            targets[n],
            [0.4, 3.0],
            axes,
        )
        assert angles_between(now[n, reach.nodes], wanted[reach.nodes]).max() < 2e-5


def test_the_weighted_squares_never_grow() -> None:
    rng = np.random.default_rng(31)
    layout = arms()
    reach = make_reach(layout, HANDS)
    start, targets = random_rotations(rng, 15, 8), rng.normal(size=(15, 2, 3))
    last = np.full(15, np.inf)
    for passes in range(1, 14):
        state, _ = solved(layout, reach, start, targets, CcdSettings(passes))
        left = (state.off.astype(np.float64) ** 2 * [0.4, 3.0]).sum(1)
        assert (left <= last * (1 + 1e-5)).all()
        last = left


def test_a_bone_that_looks_away_turns_round_at_once() -> None:
    layout = chain([0.5])
    reach = make_reach(layout, [Effector("b1", "b0")])
    start = np.tile(UPRIGHT, (1, 1, 1))
    state, _ = solved(layout, reach, start, (-0.5, 0, 0), CcdSettings(1))
    assert state.off[0, 0] < 1e-6


@pytest.mark.parametrize("turn", [0.0, 1.0])
def test_flat_bones_in_the_chain_stay_finite(turn: float) -> None:
    rng = np.random.default_rng(32)
    scales = np.ones((5, 3))
    scales[1], scales[2] = [1, 0, 1], [0, 0, 0]
    layout = tree(range(-1, 4), np.tile([0.3, 0, 0], (5, 1)), None, scales)
    reach = make_reach(layout, [Effector("b4", "b0", turn=turn)])
    start = random_rotations(rng, 10, 5)
    state, local = solved(
        layout, reach, start, rng.normal(size=(10, 1, 3)), poles=(0, 1, 0)
    )
    assert np.isfinite(local).all()
    assert np.isfinite(state.off).all()
    lengths = np.linalg.norm(rotations_of(layout, local), axis=2)
    np.testing.assert_allclose(lengths, 1, atol=1e-5)


@pytest.mark.parametrize("far", [0.6, 2.0])
def test_a_pole_on_the_line_says_nothing(far: float) -> None:
    """Nor does any pole to a chain that is straight."""
    rng = np.random.default_rng(33)
    layout = chain(QUARTERS)
    reach = make_reach(layout, [Effector("b4", "b0")])
    targets = rng.normal(size=(6, 1, 3))
    targets *= far / np.linalg.norm(targets, axis=2, keepdims=True)
    start = random_rotations(rng, 6, 4)
    fine = CcdSettings(100, 1e-7)
    _, plain = solved(layout, reach, start, targets, fine)
    poles = targets if far < 1 else rng.normal(size=(6, 1, 3))
    _, poled = solved(layout, reach, start, targets, fine, poles=poles)
    np.testing.assert_allclose(poled, plain, atol=1e-6)


def test_out_of_its_limits_a_joint_is_not_faster_either() -> None:
    """A pose that the limits do not allow, then a target: the way back takes time."""
    layout = chain([0.5, 0.5])
    limits = box_limits(3, (-20, -20, -20), (20, 20, 20), rate=1.0)
    reach = make_reach(layout, [Effector("b2", "b0")], limits=limits)
    start = np.tile(UPRIGHT, (1, 2, 1))
    start[0, 1] = [0, 0, np.sin(0.5), np.cos(0.5)]
    pose, world = posed(layout, start)
    state = init_ccd(reach, 1)
    solve_ccd(state, pose, world, (0.9, 0.2, 0), weights=0)
    for _ in range(10):
        before, local = state.last.copy(), pose.copy()
        solve_ccd(state, local, world, (0.9, 0.2, 0), seconds=1 / 60)
        turned = angles_between(rotations_of(layout, local)[:, :2], before)
        assert turned.max() < 1 / 60 + 1e-5


def test_a_flat_base_is_left_alone() -> None:
    layout = tree(range(-1, 2), np.tile([0.5, 0, 0], (3, 1)))
    reach = make_reach(layout, [Effector("b2", "b1")])
    local, world = posed(layout, np.tile(UPRIGHT, (1, 3, 1)))
    state = init_ccd(reach, 1)
    solve_ccd(state, local, world, (0.5, 0.5, 0.3))
    assert state.passes[0] > 0
    local.reshape(1, 10, -1)[:, 8, layout.lane_of_node[0]] = 0
    world_from_local(world, local)
    before = local.copy()
    solve_ccd(state, local, world, (0.5, 0.7, 0.3))
    np.testing.assert_array_equal(local, before)
    assert state.passes[0] == 0
    end = places_of(layout, local)[0, 2]
    away = np.linalg.norm(end - [0.5, 0.7, 0.3])
    np.testing.assert_allclose(state.off[0, 0], away, atol=1e-6)


def test_a_pole_of_a_single_bone_says_nothing() -> None:
    """What it shares with others is not turned for it, nor are the others."""
    rng = np.random.default_rng(34)
    layout = arms()
    reach = make_reach(layout, [Effector("b3", "b0"), Effector("b7", "b0")])
    goal, _ = posed(layout, random_rotations(rng, 8, 8))
    targets = places_of(layout, goal)[:, [3, 7]]
    start = random_rotations(rng, 8, 8)
    _, plain = solved(layout, reach, start, targets)
    poles = np.array([[0, 0.3, 1.0], [0, 0, 0]])
    _, poled = solved(layout, reach, start, targets, poles=poles)
    np.testing.assert_array_equal(poled, plain)


@settings(max_examples=30)
@given(st.integers(0, 2**32 - 1), st.floats(0.05, 0.95))
def test_limits_hold_for_a_part_of_a_solve(seed: int, weight: float) -> None:
    rng = np.random.default_rng(seed)
    low, high = np.radians([-100, -80, -10]), np.radians([100, 80, 10])
    layout = chain([0.4, 0.3, 0.3])
    limits = box_limits(4, np.degrees(low), np.degrees(high))
    reach = make_reach(layout, [Effector("b3", "b0")], limits=limits)
    start = euler.from_euler(rng.uniform(low, high, (5, 3, 3)))
    local, world = posed(layout, start)
    state = init_ccd(reach, 5)
    solve_ccd(state, local, world, rng.normal(size=(5, 1, 3)) * 0.5, weights=weight)
    now = rotations_of(layout, local)[:, :3]
    allowed = euler.clamp_rotation(now, low, high)
    assert np.degrees(angles_between(now, allowed).max()) < 0.01


def test_limits_do_not_slow_down_what_they_are_not_in_the_way_of() -> None:
    rng = np.random.default_rng(3)
    layout = chain([0.4, 0.3, 0.3])
    limits = box_limits(4, (-170, -89, -170), (170, 89, 170), rate=0.1)
    reach = make_reach(layout, [Effector("b3", "b0")], limits=limits)
    low, high = np.radians([-20, -20, -20]), np.radians([20, 20, 20])
    start = euler.from_euler(rng.uniform(low, high, (40, 3, 3)))
    local, world = posed(layout, start)
    state = init_ccd(reach, 40)
    state.last[:] = start
    state.started[:] = 1
    targets = rng.normal(size=(40, 1, 3)) * 0.4
    solve_ccd(state, local, world, targets, seconds=1.0)
    turned = angles_between(rotations_of(layout, local)[:, :3], start)
    assert (turned > 0.0999).mean() > 0.9


def test_a_joint_outside_its_limits_comes_back_at_its_rate() -> None:
    layout = chain([0.5, 0.5])
    limits = box_limits(3, (-10, -10, -10), (10, 10, 10), rate=np.radians(30))
    reach = make_reach(layout, [Effector("b2", "b0")], limits=limits)
    bent = euler.from_euler(np.radians([[[60.0, 0, 0], [0, 0, 0]]]))
    state = init_ccd(reach, 1)
    local, world = posed(layout, bent)
    solve_ccd(state, local, world, (1, 0, 0), weights=0.0, seconds=1 / 60)
    for _ in range(130):
        local, world = posed(layout, bent)
        solve_ccd(state, local, world, (1, 0, 0), seconds=1 / 60)
    angles = np.degrees(euler.to_euler(rotations_of(layout, local)[0, 0]))
    assert abs(angles[0]) < 10.01


def test_a_copy_goes_on_by_itself() -> None:
    """What is shown of a copy's last solve is what its next one begins from."""
    state = init_ccd(make_reach(arms(), [Effector("b4", "b2")]), 2)
    other = copy.deepcopy(state)
    other.last[:] = 0.5
    assert not (state.last == 0.5).any()
    assert (other._memory.last == 0.5).all()
    with pytest.raises(AttributeError):
        other.off = np.zeros((5, 1), np.float32)  # type: ignore[misc]
