"""How fast bones turn: from the first call on, and after a solver forgot."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from flexor.errors import FlexorError
from flexor.pose.ik.ccd import CcdSettings, CcdState, init_ccd, solve_ccd
from flexor.pose.ik.reach import Effector, make_reach
from tests.pose.ik.chains import (
    angles_between,
    box_limits,
    chain,
    posed,
    random_targets,
    rotations_of,
)
from tests.scenes import random_rotations

LENGTHS = [0.4, 0.3, 0.3]
RATE, STEP = 1.5, 1 / 30
MODES = [CcdSettings(), CcdSettings(1, incremental=True)]


def solver(count: int, kind: str = "wide") -> CcdState:
    wide = {"wide": (180, 90, 180), "tight": (100, 60, 40)}[kind]
    limits = box_limits(4, -np.array(wide), wide, rate=RATE)
    reach = make_reach(chain(LENGTHS), [Effector("b3", "b0")], limits=limits)
    return init_ccd(reach, count)


def turns_of(state: CcdState, local: Any) -> Any:
    return rotations_of(state.reach.layout, local)[:, :3]


@pytest.mark.parametrize("settings", MODES)
@pytest.mark.parametrize("kind", ["wide", "tight"])
@pytest.mark.parametrize("count", [1, 12])
def test_the_first_call_is_no_faster(
    settings: CcdSettings, kind: str, count: int
) -> None:
    """From the pose that is given; also where limits do not allow that pose."""
    rng = np.random.default_rng(1)
    state = solver(count, kind)
    start = random_rotations(rng, count, 3)
    targets = random_targets(rng, LENGTHS, count)[:, None]
    local, world = posed(state.reach.layout, start)
    before = start
    for frame in range(4):
        local, _ = posed(state.reach.layout, start)
        solve_ccd(state, local, world, targets, settings, seconds=STEP)
        now = turns_of(state, local)
        angles = angles_between(now, before)
        assert angles.max() < RATE * STEP + 1e-5
        if frame == 0:
            assert angles.max() > 0.99 * RATE * STEP
        before = now


def test_as_many_calls_as_it_takes_lead_to_the_target() -> None:
    rng = np.random.default_rng(2)
    state = solver(6)
    pose, world = posed(state.reach.layout, random_rotations(rng, 6, 3))
    targets = random_targets(rng, LENGTHS, 6)[:, None]
    for _ in range(100):
        local = pose.copy()
        solve_ccd(state, local, world, targets, seconds=STEP)
    assert state.off.max() < 1e-3


def test_without_seconds_it_is_there_at_once() -> None:
    """And what follows begins there."""
    rng = np.random.default_rng(3)
    state = solver(6)
    pose, world = posed(state.reach.layout, random_rotations(rng, 6, 3))
    targets = random_targets(rng, LENGTHS, 6)[:, None]
    local = pose.copy()
    solve_ccd(state, local, world, targets)
    assert state.off.max() < 1e-3
    there = turns_of(state, local)
    local = pose.copy()
    solve_ccd(state, local, world, targets, seconds=STEP)
    assert angles_between(turns_of(state, local), there).max() < 1e-3


def test_what_is_forgotten_begins_from_the_pose() -> None:
    rng = np.random.default_rng(4)
    for which, rows in (
        (None, range(4)),
        ([1, 3], [1, 3]),
        (2, [2]),
        (slice(1, None), [1, 2, 3]),
    ):
        state = solver(4)
        pose, world = posed(state.reach.layout, random_rotations(rng, 4, 3))
        targets = random_targets(rng, LENGTHS, 4)[:, None]
        solve_ccd(state, pose.copy(), world, targets)
        state.forget(which)
        local = pose.copy()
        solve_ccd(state, local, world, targets, seconds=STEP)
        angles = angles_between(turns_of(state, local), turns_of(state, pose)).max(1)
        for row in range(4):
            if row in rows:
                assert angles[row] < RATE * STEP + 1e-5
            else:
                assert angles[row] > 2 * RATE * STEP
    state.forget(np.array([True, False, False, True]))
    np.testing.assert_array_equal(state.started, [0, 1, 1, 0])


@pytest.mark.parametrize("which", [[7], -9, 0.5, "all", [True, False]])
def test_who_is_not_there_is_not_forgotten(which: Any) -> None:
    with pytest.raises(FlexorError, match="which: "):
        solver(4).forget(which)


def test_no_weight_leaves_the_first_pose_as_it_is() -> None:
    state = solver(3)
    pose, world = posed(
        state.reach.layout, random_rotations(np.random.default_rng(5), 3, 3)
    )
    local = pose.copy()
    solve_ccd(state, local, world, (0.3, 0.3, 0), weights=0, seconds=STEP)
    np.testing.assert_array_equal(local, pose)
