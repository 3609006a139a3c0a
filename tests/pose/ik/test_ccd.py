"""Chains of one effector: targets, limits and rates, and what is refused."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from flexor.errors import FlexorError
from flexor.maths import euler, quaternions
from flexor.pose.ik.ccd import CcdSettings, init_ccd, solve_ccd
from flexor.pose.ik.kernels import ccd as kernel_ccd
from flexor.pose.ik.reach import Effector, make_reach
from flexor.pose.model_space import init_world, world_from_local
from tests.oracle import ik as oracle
from tests.pose.ik.chains import (
    angles_between,
    box_limits,
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


@pytest.mark.parametrize("weights", [(1, 1, 1), (0.5, 1, 0.25)])
def test_the_first_pass_is_plain_descent(weights: Any) -> None:
    rng = np.random.default_rng(1)
    lengths = np.array([0.5, 0.3, 0.4])
    layout = chain(lengths)
    willing = {f"b{i}": w for i, w in enumerate(weights)}
    reach = make_reach(layout, [Effector("b3", "b0")], willing=willing)
    start = random_rotations(rng, 20, 3)
    targets = random_targets(rng, lengths, 20)
    _, local = solved(layout, reach, start, targets[:, None], CcdSettings(1))
    for n in range(20):
        wanted = oracle.descend(lengths, start[n], targets[n], weights)
        off = angles_between(rotations_of(layout, local)[n, :3], wanted)
        assert off.max() < 1e-5
    assert kernel_ccd.solve_reach is not None


@pytest.mark.slow
@pytest.mark.parametrize("start", ["rest", "random"])
def test_random_targets_are_reached(start: str) -> None:
    """10,000 targets, chains of 3 to 8 bones: 95 % in 30 passes, 99.5 % in 200."""
    rng = np.random.default_rng(2)
    near: dict[int, list[Any]] = {30: [], 200: []}
    for bones in range(3, 9):
        for _ in range(5):
            lengths = random_lengths(rng, bones)
            layout = chain(lengths)
            reach = make_reach(layout, [Effector(f"b{bones}", "b0")])
            targets = random_targets(rng, lengths, 167)
            turns = random_rotations(rng, 167, bones)
            if start == "rest":
                turns[:] = [0, 0, 0, 1]
            for passes, found in near.items():
                state, local = solved(
                    layout, reach, turns, targets[:, None], CcdSettings(passes)
                )
                ends = places_of(layout, local)[:, -1]
                off = np.linalg.norm(ends - targets, axis=1)
                np.testing.assert_allclose(off, state.off[:, 0], atol=1e-5)
                found.append(off <= 1e-3)
    assert np.concatenate(near[30]).mean() >= 0.95
    assert np.concatenate(near[200]).mean() >= 0.995


@settings(max_examples=30)
@given(st.integers(0, 2**32 - 1), st.integers(1, 6), st.booleans(), st.floats(0.2, 2.5))
def test_the_distance_never_grows(
    seed: int, bones: int, has_limits: bool, far: float
) -> None:
    rng = np.random.default_rng(seed)
    lengths = random_lengths(rng, bones)
    layout = chain(lengths)
    limits = None
    if has_limits:
        low, high = -rng.uniform(1, 80, 3), rng.uniform(1, 80, 3)
        limits = box_limits(bones + 1, low, high)
    willing = {f"b{i}": float(rng.uniform(0.1, 1)) for i in range(bones)}
    effector = Effector(f"b{bones}", "b0")
    reach = make_reach(layout, [effector], willing=willing, limits=limits)
    targets = random_targets(rng, lengths, 4) * far
    start = random_rotations(rng, 4, bones)
    # Limits are applied before the first pass: what they leave is where it begins.
    last = np.full(4, np.inf)
    for passes in range(1, 12):
        state, _ = solved(layout, reach, start, targets[:, None], CcdSettings(passes))
        assert (state.off[:, 0] <= last + 1e-6).all()
        last = state.off[:, 0].astype(np.float64)


def test_out_of_reach_the_chain_ends_straight_and_still() -> None:
    rng = np.random.default_rng(3)
    lengths = random_lengths(rng, 5)
    layout = chain(lengths)
    reach = make_reach(layout, [Effector("b5", "b0")])
    targets = random_targets(rng, lengths, 50)
    targets *= (
        rng.uniform(1.001, 10, 50)[:, None] / np.linalg.norm(targets, axis=1)[:, None]
    )
    local, world = posed(layout, random_rotations(rng, 50, 5))
    state = init_ccd(reach, 50)
    last = None
    for frame in range(70):
        solve_ccd(state, local, world, targets[:, None], CcdSettings(incremental=True))
        world_from_local(world, local)
        now = rotations_of(layout, local)
        if last is not None and frame >= 2:
            assert angles_between(now, last).max() < 0.01 * DEGREE
        last = now
    steps = np.diff(places_of(layout, local), axis=1)
    steps /= np.linalg.norm(steps, axis=2, keepdims=True)
    ways = targets / np.linalg.norm(targets, axis=1, keepdims=True)
    assert np.abs(steps - ways[:, None]).max() < 1e-4


def test_out_of_reach_with_limits_it_comes_to_rest() -> None:
    rng = np.random.default_rng(4)
    layout = chain([0.3, 0.3, 0.3])
    limits = box_limits(4, (-20, -20, -5), (20, 20, 5))
    reach = make_reach(layout, [Effector("b3", "b0")], limits=limits)
    targets = random_targets(rng, [0.3, 0.3, 0.3], 40) * 3
    local, world = posed(layout, random_rotations(rng, 40, 3))
    state = init_ccd(reach, 40)
    for _ in range(60):
        solve_ccd(state, local, world, targets[:, None], CcdSettings(incremental=True))
    before = rotations_of(layout, local)
    for _ in range(5):
        solve_ccd(state, local, world, targets[:, None], CcdSettings(incremental=True))
        now = rotations_of(layout, local)
        assert angles_between(now, before).max() < 0.01 * DEGREE
        before = now


@settings(max_examples=40)
@given(st.integers(0, 2**32 - 1), st.integers(1, 5))
def test_limits_hold(seed: int, bones: int) -> None:
    rng = np.random.default_rng(seed)
    lengths = random_lengths(rng, bones)
    rest = random_rotations(rng, bones + 1)
    places = np.zeros((bones + 1, 3))
    places[1:, 0] = lengths
    layout = tree(range(-1, bones), places, rest)
    low = -rng.uniform(0, (180, 90, 180))
    high = rng.uniform(0, (180, 90, 180))
    frames = random_rotations(rng, bones + 1)
    limits = box_limits(bones + 1, low, high, frames=frames)
    reach = make_reach(layout, [Effector(f"b{bones}", "b0")], limits=limits)
    targets = random_targets(rng, lengths, 6)
    _, local = solved(layout, reach, random_rotations(rng, 6, bones), targets[:, None])
    now = rotations_of(layout, local)[:, :bones]
    back = quaternions.multiply(rest[:bones] * [-1, -1, -1, 1], now)
    frames = frames[:bones]
    turns = quaternions.multiply(
        quaternions.multiply(frames * [-1, -1, -1, 1], back), frames
    )
    allowed = euler.clamp_rotation(turns, np.radians(low), np.radians(high))
    assert angles_between(turns, allowed).max() < 0.01 * DEGREE


def test_a_moving_target_turns_no_joint_faster_than_its_rate() -> None:
    rng = np.random.default_rng(5)
    layout = chain([0.4, 0.3, 0.3])
    rate, step = np.radians(90), 1 / 60
    for limits in (
        box_limits(4, (-180, -90, -180), (180, 90, 180), rate=rate),
        box_limits(4, (-80, -40, -10), (80, 60, 30), rate=rate),
    ):
        reach = make_reach(layout, [Effector("b3", "b0")], limits=limits)
        count = 8
        local, world = posed(layout, random_rotations(rng, count, 3))
        state = init_ccd(reach, count)
        ways = random_targets(rng, [0.4, 0.3, 0.3], count)
        last = None
        fastest = 0.0
        for frame in range(90):
            angle = 0.04 * frame
            turn = oracle.about(np.array([0, 0, 1.0]), angle)
            solve_ccd(
                state,
                local,
                world,
                (ways @ turn.T)[:, None],
                CcdSettings(4, incremental=True),
                seconds=step,
            )
            now = rotations_of(layout, local)
            if last is not None:
                fastest = max(fastest, angles_between(now, last).max())
            last = now
        assert fastest <= rate * step + 2e-6
        assert fastest > 0.9 * rate * step


def test_no_time_no_turn() -> None:
    layout = chain([0.5, 0.5])
    limits = box_limits(3, (-180, -90, -180), (180, 90, 180), rate=1.0)
    reach = make_reach(layout, [Effector("b2", "b0")], limits=limits)
    local, world = posed(layout, random_rotations(np.random.default_rng(6), 1, 2))
    state = init_ccd(reach, 1)
    first = local.copy()
    for target in ((0.3, 0.3, 0.3), (-0.3, 0.3, 0.3)):
        solve_ccd(state, local, world, target, seconds=0.0)
        np.testing.assert_allclose(local, first, atol=1e-7)
    state.forget()
    solve_ccd(state, local, world, (-0.3, 0.3, 0.3), seconds=0.0)
    np.testing.assert_allclose(local, first, atol=1e-7)
    solve_ccd(state, local, world, (-0.3, 0.3, 0.3))
    assert state.off[0, 0] < 1e-3


def test_a_straight_chain_bends_for_a_target_on_its_line() -> None:
    layout = chain([0.25] * 4)
    reach = make_reach(layout, [Effector("b4", "b0")])
    targets = np.array(
        [[0.5, 0, 0], [0.05, 0, 0], [-0.7, 0, 0], [0, 0, 0], [0.99, 0, 0]]
    )
    start = np.tile([0, 0, 0, 1.0], (5, 4, 1))
    state, _ = solved(layout, reach, start, targets[:, None], CcdSettings(60))
    assert state.off.max() < 1e-3


@settings(max_examples=30)
@given(st.integers(0, 2**32 - 1), st.sampled_from(["zero", "base", "flat", "folded"]))
def test_degenerate_inputs_stay_finite(seed: int, kind: str) -> None:
    rng = np.random.default_rng(seed)
    lengths = np.array([0.3, 0.0, 0.3, 0.4])
    scales = np.ones((6, 3))
    if kind == "zero":
        lengths[:] = 0
    if kind == "flat":
        scales[0] = [1, 0, 1]
    places = np.zeros((6, 3))
    places[2:, 0] = lengths
    layout = tree(range(-1, 5), places, None, scales)
    reach = make_reach(layout, [Effector("b5", "b1", turn=float(rng.integers(2)))])
    start = np.tile([0, 0, 0, 1.0], (3, 6, 1))
    if kind == "folded":
        start[:, 3:5] = [0, 0, 1, 0]
    target = np.zeros((3, 1, 3)) if kind == "base" else rng.normal(size=(3, 1, 3))
    state, local = solved(
        layout, reach, start, target, poles=rng.choice([0.0, 1.0], (3, 1, 3))
    )
    assert np.isfinite(local).all()
    assert np.isfinite(state.off).all()
    lengths = np.linalg.norm(rotations_of(layout, local), axis=2)
    np.testing.assert_allclose(lengths, 1, atol=1e-5)


@pytest.mark.parametrize(
    ("effectors", "named", "words"),
    [
        ([], {}, "1 to 16"),
        ([Effector("b9", "b0")], {}, "no node 'b9'"),
        ([Effector(9, "b0")], {}, "must lie in 0..4"),
        ([Effector("b1", "b3")], {}, "is not above"),
        ([Effector("b0", "b0")], {}, "no bone can move it"),
        ([Effector("b4", "b0", weight=0)], {}, "weight must be above 0"),
        ([Effector("b4", "b0", weight=1e300)], {}, "at most 1e\\+06"),
        ([Effector(2.5, "b0")], {}, "expected a name or a row"),
        ([Effector("b4", "b0", offset=(np.nan, 0, 0))], {}, "finite"),
        ([Effector("b4", "b0")], {"willing": {"b4": 1.0}}, "is not in a chain"),
        ([Effector("b4", "b0")], {"willing": {"b1": 2.0}}, "expected 0 to 1"),
        (
            [Effector("b4", "b0")],
            {"limits": box_limits(3, (0, 0, 0), (1, 1, 1))},
            "of 3 joints for a skeleton of 5",
        ),
    ],
)
def test_what_cannot_reach_is_refused(effectors: Any, named: Any, words: str) -> None:
    with pytest.raises(FlexorError, match=words):
        make_reach(chain([0.25] * 4), effectors, **named)


@pytest.mark.parametrize(
    ("named", "words"),
    [
        ({"targets": np.zeros((2, 1, 3))}, "targets: shape"),
        ({"targets": [[[np.nan, 0, 0]]]}, "targets: must be finite"),
        ({"targets": "here"}, "targets: expected numbers"),
        ({"weights": 1.5}, "weights: must lie in 0..1"),
        ({"turns": np.zeros((1, 1, 4))}, "unit quaternions"),
        ({"poles": np.zeros((1, 2, 3))}, "poles: shape"),
        ({"seconds": -1.0}, "seconds: -1.0"),
        ({"seconds": np.nan}, "seconds"),
    ],
)
def test_bad_goals_are_refused(named: Any, words: str) -> None:
    layout = chain([0.25] * 4)
    state = init_ccd(make_reach(layout, [Effector("b4", "b0")]), 1)
    local, world = posed(layout, np.tile([0, 0, 0, 1.0], (1, 4, 1)))
    before = local.copy()
    targets = named.pop("targets", np.zeros((1, 1, 3)))
    with pytest.raises(FlexorError, match=words):
        solve_ccd(state, local, world, targets, **named)
    np.testing.assert_array_equal(local, before)
    with pytest.raises(FlexorError, match="world"):
        solve_ccd(state, local, init_world(layout, 2), np.zeros(3))
    with pytest.raises(FlexorError, match="passes"):
        CcdSettings(passes=0)
    with pytest.raises(FlexorError, match="tolerance"):
        CcdSettings(tolerance=np.nan)


@pytest.mark.parametrize("far", [1e2, 1e4, 1e7, 1e12, 1e30])
def test_a_goal_at_the_end_of_the_world_straightens_the_chain(far: float) -> None:
    rng = np.random.default_rng(14)
    layout = chain([0.3, 0.3, 0.4])
    reach = make_reach(layout, [Effector("b3", "b0")])
    ways = random_targets(rng, [0.3, 0.3, 0.4], 8)
    ways /= np.linalg.norm(ways, axis=1, keepdims=True)
    start = random_rotations(rng, 8, 3)
    state, local = solved(layout, reach, start, (ways * far)[:, None])
    steps = np.diff(places_of(layout, local), axis=1)
    steps /= np.linalg.norm(steps, axis=2, keepdims=True)
    assert np.abs(steps - ways[:, None]).max() < 1e-4
    np.testing.assert_allclose(state.off, far - 1 if far < 1e6 else far, rtol=1e-4)


def test_links_are_not_turned() -> None:
    from flexor.pose.layout import make_layout
    from flexor.scene.character.skeleton import Link, Skeleton
    from tests.scenes import plain_scene

    skeleton = Skeleton(
        ("a", "b", "link", "c"),
        np.array([-1, 0, 0, 2]),
        np.array([[0, 0, 0], [1, 0, 0], [1, 0, 0], [1, 0, 0]]),
        np.tile([0, 0, 0, 1], (4, 1)),
        np.ones((4, 3)),
        links={2: Link(1, 0.5)},
    )
    layout = make_layout(plain_scene(skeleton))
    with pytest.raises(FlexorError, match="'link' is a link that follows 'b'"):
        make_reach(layout, [Effector("c", "a")])


def test_many_goals_out_of_reach_come_to_rest() -> None:
    rng = np.random.default_rng(5)
    layout = chain([0.3, 0.3, 0.3, 0.2])
    limits = box_limits(5, (-60, -40, -20), (60, 40, 20))
    effectors = [Effector("b2", "b0"), Effector("b4", "b0")]
    for rule in (None, limits):
        reach = make_reach(layout, effectors, limits=rule)
        targets = rng.normal(size=(60, 2, 3)) * 2
        local, world = posed(layout, random_rotations(rng, 60, 4))
        state = init_ccd(reach, 60)
        for _ in range(60):
            solve_ccd(state, local, world, targets, CcdSettings(incremental=True))
        before = rotations_of(layout, local)
        solve_ccd(state, local, world, targets, CcdSettings(incremental=True))
        apart = angles_between(rotations_of(layout, local), before)
        assert np.degrees(apart.max()) < 0.01
