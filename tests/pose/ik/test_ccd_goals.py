"""Several effectors, orientations, poles and weights; units, places and batches."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from flexor.maths import quaternions
from flexor.pose.ik.ccd import CcdSettings, init_ccd, solve_ccd
from flexor.pose.ik.reach import Effector, make_reach
from flexor.pose.model_space import init_world, world_from_local
from tests.pose.ik.chains import (
    angles_between,
    chain,
    places_of,
    posed,
    random_lengths,
    random_targets,
    rotations_of,
    tree,
)
from tests.pose.ik.solves import DEGREE, solved
from tests.scenes import random_rotations

ARMS = tree(
    [-1, 0, 1, 2, 3, 1, 5, 6],
    [
        [0, 0, 0],
        [0, 0.4, 0],
        [0.1, 0.2, 0],
        [0.3, 0, 0],
        [0.3, 0, 0],
        [-0.1, 0.2, 0],
        [-0.3, 0, 0],
        [-0.3, 0, 0],
    ],
)


HANDS = [Effector("b4", "b0"), Effector("b7", "b0")]


def test_two_hands_share_a_spine() -> None:
    rng = np.random.default_rng(7)
    reach = make_reach(ARMS, HANDS)
    goal, _ = posed(ARMS, random_rotations(rng, 60, 8))
    targets = places_of(ARMS, goal)[:, [4, 7]]
    start = np.tile([0, 0, 0, 1.0], (60, 8, 1))
    state, local = solved(ARMS, reach, start, targets, CcdSettings(100))
    off = np.linalg.norm(places_of(ARMS, local)[:, [4, 7]] - targets, axis=2)
    np.testing.assert_allclose(off, state.off, atol=1e-5)
    assert (off.max(1) < 2e-3).mean() > 0.9


def test_of_two_that_cannot_both_be_the_heavier_wins() -> None:
    targets = np.array([[[3.0, 0.3, 0], [-3.0, 0.3, 0]]])
    start = np.tile([0, 0, 0, 1.0], (1, 8, 1))
    off = []
    for weight in (1.0, 20.0):
        hands = [Effector("b4", "b0", weight=weight), HANDS[1]]
        reach = make_reach(ARMS, hands)
        state, _ = solved(ARMS, reach, start, targets, CcdSettings(100))
        off.append(state.off[0].astype(float))
    assert abs(off[0][0] - off[0][1]) < 0.01
    assert off[1][0] < off[0][0] - 0.05 < off[1][1] - 0.1


def test_hands_with_roots_of_their_own_leave_the_spine_alone() -> None:
    reach = make_reach(ARMS, [Effector("b4", "b2"), Effector("b7", "b5")])
    targets = np.array([[[0.3, 0.8, 0.2], [-0.3, 0.8, 0.2]]])
    state, local = solved(ARMS, reach, np.tile([0, 0, 0, 1.0], (1, 8, 1)), targets)
    assert state.off.max() < 1e-3
    np.testing.assert_array_equal(rotations_of(ARMS, local)[0, :2], [[0, 0, 0, 1]] * 2)


def test_orientation_goals() -> None:
    rng = np.random.default_rng(8)
    lengths = np.array([0.3, 0.25, 0.25, 0.2])
    layout = chain(lengths)
    reach = make_reach(layout, [Effector("b4", "b0", turn=1.0)])
    _, world = posed(layout, random_rotations(rng, 80, 5))
    targets = world.matrices[:, 4, :, 3].copy()
    turns = quaternions.from_matrix(world.matrices[:, 4, :, :3].astype(np.float64))
    start = np.tile([0, 0, 0, 1.0], (80, 5, 1))
    _, local = solved(
        layout, reach, start, targets[:, None], CcdSettings(100), turns=turns[:, None]
    )
    world_from_local(world, local)
    now = quaternions.from_matrix(world.matrices[:, 4, :, :3].astype(np.float64))
    off = np.linalg.norm(world.matrices[:, 4, :, 3] - targets, axis=1)
    good = (off < 2e-3) & (angles_between(now, turns) < 1 * DEGREE)
    assert good.mean() > 0.95


def test_an_offset_point_is_brought_to_the_target() -> None:
    layout = chain([0.5, 0.5])
    reach = make_reach(layout, [Effector("b2", "b0", offset=(0.1, 0.05, 0))])
    local, world = posed(layout, np.tile([0, 0, 0, 1.0], (1, 3, 1)))
    state = init_ccd(reach, 1)
    solve_ccd(state, local, world, (0.4, 0.5, 0.1))
    world_from_local(world, local)
    point = world.matrices[0, 2] @ [0.1, 0.05, 0, 1]
    np.testing.assert_allclose(point, [0.4, 0.5, 0.1], atol=1.1e-3)


@settings(max_examples=40)
@given(st.integers(0, 2**32 - 1), st.integers(2, 5))
def test_the_middle_points_to_the_pole(seed: int, bones: int) -> None:
    rng = np.random.default_rng(seed)
    lengths = random_lengths(rng, bones)
    layout = chain(lengths)
    reach = make_reach(layout, [Effector(f"b{bones}", "b0")])
    target = random_targets(rng, lengths, 1) * 0.8
    pole = rng.normal(size=3)
    start = random_rotations(rng, 1, bones)
    middle = int(
        np.flatnonzero(reach.nodes == reach.nodes[reach.effector_table[0, 4]])[0]
    )

    def side(way: Any) -> Any:
        state, local = solved(
            layout, reach, start, target[:, None], CcdSettings(100), poles=way
        )
        assert state.off[0, 0] <= 1.1e-3 or bones == 2
        places = places_of(layout, local)[0]
        end = places[-1]
        offset = places[middle] - end * (places[middle] @ end) / (end @ end)
        flat = way - end * (way @ end) / (end @ end)
        length = np.linalg.norm(offset)
        cosine = offset @ flat / max(length * np.linalg.norm(flat), 1e-12)
        is_bent = length > 0.021 * np.linalg.norm(end)  # else it has no side
        return cosine if is_bent and np.linalg.norm(flat) > 1e-2 else 1.0

    assert side(pole) > 0.999
    assert side(-pole) > 0.999  # flipped, the middle flips


@settings(max_examples=40)
@given(st.integers(0, 2**32 - 1), st.floats(0, 1))
def test_a_weighted_solve_turns_by_that_part_of_the_full_one(
    seed: int, weight: float
) -> None:
    rng = np.random.default_rng(seed)
    layout = chain(random_lengths(rng, 4))
    reach = make_reach(layout, [Effector("b4", "b0")])
    start = random_rotations(rng, 2, 4)
    target = rng.normal(size=(2, 1, 3)) * 0.4
    _, full = solved(layout, reach, start, target)
    _, part = solved(layout, reach, start, target, weights=weight)
    whole = angles_between(rotations_of(layout, full)[:, :4], start)
    turned = angles_between(rotations_of(layout, part)[:, :4], start)
    np.testing.assert_allclose(turned, whole * weight, atol=2e-5)


def test_reference_and_incremental_mode() -> None:
    """Reference: the same for the same pose; incremental: it goes on from the last."""
    rng = np.random.default_rng(9)
    layout = chain([0.3, 0.3, 0.4])
    reach = make_reach(layout, [Effector("b3", "b0")])
    start = random_rotations(rng, 1, 3)
    one, other = np.array([[0.3, 0.4, 0.1]]), np.array([[0.31, 0.4, 0.1]])
    fresh, world = posed(layout, start)
    state = init_ccd(reach, 1)
    first = fresh.copy()
    solve_ccd(state, first, world, one)
    moved = fresh.copy()
    solve_ccd(state, moved, world, other, CcdSettings(incremental=True))
    assert state.passes[0] <= 2  # a small step from where it was
    again = fresh.copy()
    solve_ccd(state, again, world, one)
    np.testing.assert_array_equal(again, first)
    nearer = angles_between(rotations_of(layout, moved), rotations_of(layout, first))
    assert nearer.max() < 0.2


def test_mirrored_limbs_reach_alike() -> None:
    rng = np.random.default_rng(10)
    right, left = make_reach(ARMS, [HANDS[0]]), make_reach(ARMS, [HANDS[1]])
    targets = rng.normal(size=(30, 1, 3)) * 0.3 + [0.3, 0.6, 0.2]
    start = np.tile([0, 0, 0, 1.0], (30, 8, 1))
    _, one = solved(ARMS, right, start, targets)
    _, other = solved(ARMS, left, start, targets * [-1, 1, 1])
    a = places_of(ARMS, one)[:, [1, 2, 3, 4]]
    b = places_of(ARMS, other)[:, [1, 5, 6, 7]] * [-1, 1, 1]
    np.testing.assert_allclose(a, b, atol=1e-4)


@pytest.mark.parametrize("scale", [0.01, 1.0, 100.0])
def test_units_do_not_matter(scale: float) -> None:
    """Below a node of any scale, turned: the tolerance is metres in the world."""
    rng = np.random.default_rng(11)
    lengths = random_lengths(rng, 4)
    places = np.zeros((6, 3))
    places[2:, 0] = lengths / scale
    rest = np.tile([0, 0, 0, 1.0], (6, 1))
    rest[0] = random_rotations(rng)
    scales = np.ones((6, 3))
    scales[0] = scale
    layout = tree(range(-1, 5), places, rest, scales)
    reach = make_reach(layout, [Effector("b5", "b1")])
    state, local = solved(
        layout,
        reach,
        np.tile(rest, (20, 1, 1)),
        (targets := random_targets(rng, lengths, 20))[:, None],
    )
    off = np.linalg.norm(places_of(layout, local)[:, 5] - targets, axis=1)
    assert off.max() < 1.01e-3
    np.testing.assert_allclose(off, state.off[:, 0], atol=1e-5)


def test_scale_along_the_chain_and_places_of_characters() -> None:
    rng = np.random.default_rng(12)
    scales = rng.uniform(0.6, 1.6, (5, 3))
    places = np.zeros((5, 3))
    places[1:, 0] = 0.3
    layout = tree(range(-1, 4), places, random_rotations(rng, 5), scales)
    reach = make_reach(layout, [Effector("b4", "b0")])
    goal, _ = posed(layout, random_rotations(rng, 30, 4))
    where = np.concatenate(
        [quaternions.to_matrix(random_rotations(rng, 30)), rng.normal(size=(30, 3, 1))],
        2,
    )
    targets = places_of(layout, goal, where)[:, 4]
    local, _ = posed(layout, random_rotations(rng, 30, 4))
    world = init_world(layout, 30)
    world.places[:] = where
    world_from_local(world, local)
    state = init_ccd(reach, 30)
    solve_ccd(state, local, world, targets[:, None], CcdSettings(100))
    off = np.linalg.norm(places_of(layout, local, where)[:, 4] - targets, axis=1)
    assert (off < 1.01e-3).mean() > 0.8  # uneven scale has dead ends
    np.testing.assert_allclose(off, state.off[:, 0], atol=2e-5)


def test_many_are_as_one() -> None:
    rng = np.random.default_rng(13)
    layout = chain(random_lengths(rng, 5))
    reach = make_reach(layout, [Effector("b5", "b0")])
    start, targets = random_rotations(rng, 9, 5), rng.normal(size=(9, 1, 3)) * 0.4
    _, many = solved(layout, reach, start, targets)
    for n in range(9):
        _, one = solved(layout, reach, start[n : n + 1], targets[n : n + 1])
        np.testing.assert_array_equal(one[0], many[n])
