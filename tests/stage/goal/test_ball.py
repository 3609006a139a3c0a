"""A ball in the air, step by step as the oracle."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from flexor.maths import quaternions
from flexor.stage.goal.kernels import goal as kernel_goal
from flexor.stage.goal.netting import ball_numbers
from flexor.stage.goal.plan import BallSettings
from flexor.stage.goal.state import (
    init_netting,
    shoot,
    step_balls,
)
from tests.oracle.ball import Ball, ball_of, lay, step_ball
from tests.stage.goal.balls import (
    NETTINGS,
    WEIGHTLESS,
    G,
    T,
    ball_after,
    field,
    near_anything,
    thrown,
)


@pytest.mark.parametrize("name", NETTINGS)
def test_every_step_is_that_of_the_oracle(name: str) -> None:
    """Each from the kernel's own state, since bounces make small differences large."""
    own = NETTINGS[name]()
    count, each = 120, 10
    rng = np.random.default_rng(3)
    state = init_netting(own, 1, count)
    shoot(state, *(rows[None] for rows in near_anything(rng, count, own)))
    falls = np.array([0, own.ball.gravity / own.ball.rate, 0])
    seen = set()
    for _ in range(110):
        before = [ball_of(state, ball) for ball in range(count)]
        old = state.velocities[0].copy()
        step_balls(state)
        # Rather those to which something happens than those that only fall.
        happens = np.abs(state.velocities[0] - old + falls).max(1) > 1e-9
        chances = np.where(happens, 1.0, 0.02)
        for ball in rng.choice(count, each, replace=False, p=chances / chances.sum()):
            found, expected = ball_of(state, ball), step_ball(own, before[ball])
            assert (found.side, found.area) == (expected.side, expected.area)
            seen.add((found.side, found.area))
            for one in ("place", "velocity", "spin", "rotation", "events"):
                a, b = getattr(found, one), getattr(expected, one)
                np.testing.assert_allclose(a, b, rtol=1e-9, atol=1e-9, err_msg=one)
    assert len(seen) > len(own.faces)
    assert kernel_goal.step_balls is not None


@pytest.mark.parametrize(
    ("place", "velocity", "spin"),
    [
        ((0, 0.11, 3), (0, 0, 0), (0, 0, 0)),
        ((0, 0.05, 3), (0, 0, 0), (0, 0, 0)),  # in the ground
        ((0, 0.11, 3), (0.01, 0, 0), (0, 0, 0)),
        ((0, 0.11, 3), (0.001, 0, 0.001), (0, 9, 0)),
        ((0, 0.11, 3), (0, 0, 0), (30, 0, 0)),
        ((0, 0.11, 3), (0, 0, 0), (0, 0.05, 0)),
        ((0, 0.11, 3), (0.01, 0, 0), (0, 0.3, 0)),  # so slow that it stops
        ((0, 0.11, 3), (0.01, 0, 0), (0, 0.4, 0)),  # not so slow
        ((0, 0.11, 3), (2, -0.3, 0), (1, 2, 3)),
        ((0, 0.11, 3), (0, 0.3, 0), (0, 0, 0)),
        ((-3.72, 1, 0), (0, 0, 0), (0, 0, 0)),  # on the axis of a post
        ((-3.72, 2.5, 0), (1, 2, 3), (0, 0, 0)),  # where post and bar meet
        ((-3.75, 0.1, 0.05), (9, -1, 0), (5, 5, 5)),  # in a post and in the ground
        ((0, 1, -1.85), (0, 0, -2), (0, 0, 0)),  # on the plane of D
        ((0, 0.3, -3.9), (0, 0, 0), (0, 0, 0)),
    ],
)
def test_odd_cases_are_those_of_the_oracle(
    place: Any, velocity: Any, spin: Any
) -> None:
    own = NETTINGS["goal"]()
    state = init_netting(own)
    for side in (0, 1, 2):
        lay(state, place, velocity, spin, side=side)
        for _ in range(3):
            expected = step_ball(own, ball_of(state, 0))
            found = ball_after(state)
            for name in Ball.__dataclass_fields__:
                a, b = getattr(found, name), getattr(expected, name)
                np.testing.assert_allclose(a, b, rtol=1e-9, atol=1e-12, err_msg=name)


# In the air


def test_a_ball_flies_in_a_parabola() -> None:
    """V' = V + a t, P' = P + V' t: after n steps of a slow ball n (n + 1) / 2 g t^2."""
    state = thrown(field(BallSettings()), (1, 50, 3), (2, 3, -4))
    n = 240
    ball = ball_after(state, n)
    np.testing.assert_allclose(ball.velocity, (2, 3 - G * n * T, -4), atol=1e-10)
    fallen = G * T**2 * n * (n + 1) / 2
    expected = np.array([1, 50, 3]) + np.array([2, 3, -4]) * n * T - (0, fallen, 0)
    np.testing.assert_allclose(ball.place, expected, atol=1e-10)


@pytest.mark.parametrize(
    ("speed", "radius", "parts"),
    [
        (13.1, 0.11, 1),
        (13.3, 0.11, 2),
        (26.5, 0.11, 3),
        (59.9, 0.11, 5),
        (59.9, 0.3, 5),
        (13.0, 0.08, 2),
        (200.0, 0.01, 64),  # would be 167
        (0.0, 0.11, 1),
    ],
)
def test_fast_balls_take_smaller_steps(speed: float, radius: float, parts: int) -> None:
    """A step of half a radius, and of 5.5 cm, at most: told by how far it falls."""
    state = thrown(field(BallSettings(radius=radius)), (0, 50, 0), (speed, 0, 0))
    ball = ball_after(state)
    fallen = G * (T / parts) ** 2 * parts * (parts + 1) / 2
    expected = (speed * T, 50 - fallen, 0)
    np.testing.assert_allclose(ball.place, expected, rtol=0, atol=1e-12)
    np.testing.assert_allclose(ball.velocity, (speed, -G * T, 0), atol=1e-12)


def test_the_rate_is_a_setting() -> None:
    for rate in (480, 960):
        own = field(BallSettings(rate=rate))
        ball = ball_after(thrown(own, (0, 50, 0), (1, 0, 0)))
        np.testing.assert_allclose(ball.velocity, (1, -G / rate, 0), atol=1e-12)
        np.testing.assert_allclose(ball.place[0], 1 / rate, atol=1e-12)


def test_drag_slows_by_the_square_of_the_speed() -> None:
    own = field(BallSettings(gravity=0, drag=0.02))
    ball = ball_after(thrown(own, (0, 50, 0), (3, 4, 12), (9, 9, 9)))
    # By drag |v| times the velocity that comes out, so it never turns around.
    slow = 1 / (1 + 0.02 * 13 * T)
    np.testing.assert_allclose(ball.velocity, np.array([3, 4, 12]) * slow, atol=1e-12)
    own = field(BallSettings(gravity=0, drag=1))
    ball = ball_after(thrown(own, (0, 500, 0), (0, 200, 0)), 240)
    # Of v' = -v^2: 1 / v grows by 1 in a second.
    np.testing.assert_allclose(ball.velocity, (0, 1 / (1 / 200 + 1), 0), rtol=0.03)


def test_curl_bends_the_path_toward_spin_cross_velocity() -> None:
    own = field(BallSettings(gravity=0, curl=0.01))
    ball = ball_after(thrown(own, (0, 50, 0), (3, 4, 12), (5, -6, 7)))
    v, w = np.array([3, 4, 12]), np.array([5, -6, 7])
    bent = v + 0.01 * np.cross(w, v) * T
    # And makes it no faster.
    expected = bent * 13 / np.linalg.norm(bent)
    np.testing.assert_allclose(ball.velocity, expected, atol=1e-12)
    assert (ball.velocity - v) @ np.cross(w, v) > 0


def test_air_does_nothing_to_a_ball_that_hangs_still() -> None:
    own = field(BallSettings(gravity=0, drag=1, curl=1))
    ball = ball_after(thrown(own, (0, 50, 0), (0, 0, 0), (9, 9, 9)))
    assert (ball.velocity == 0).all()


@settings(max_examples=40)
@given(
    st.tuples(*[st.floats(-100, 100)] * 3),
    st.tuples(*[st.floats(-1000, 1000)] * 3),
    st.floats(-1, 1),
    st.floats(0, 1),
)
def test_air_makes_nothing_faster(v: Any, w: Any, curl: float, drag: float) -> None:
    ball = BallSettings(gravity=0, curl=curl, drag=drag)
    own = replace(field(WEIGHTLESS), ball=ball, ball_numbers=ball_numbers(ball))
    state = thrown(own, (0, 900, 0), v, w)
    speeds = []
    for _ in range(5):
        speeds.append(np.linalg.norm(state.velocities))
        step_balls(state)
    assert (np.diff(speeds) <= 1e-9).all()
    assert np.isfinite(state.bodies).all()


def test_a_free_kick_around_the_wall() -> None:
    """Spin about +y, shot toward -z: spin x velocity is -x, and the ball goes there."""
    own = field(BallSettings(curl=0.005, drag=0.01))
    bent, other, straight = (
        ball_after(thrown(own, (0, 5, 20), (0, 3, -25), (0, spin, 0)), 120)
        for spin in (60, -60, 0)
    )
    assert bent.place[0] < -0.5
    np.testing.assert_allclose(other.place, bent.place * (-1, 1, 1), atol=1e-9)
    assert straight.place[0] == 0
    assert np.linalg.norm(bent.velocity[::2]) < 25


def test_a_ball_turns_by_its_spin() -> None:
    for spin in ((0, 0, 10), (3, -4, 12)):
        state = thrown(field(BallSettings()), (0, 50, 0), (0, 0, 0), spin)
        start = quaternions.to_matrix(np.array([0.6, 0, 0.8, 0]))
        state.rotations[:] = 0.6, 0, 0.8, 0
        size = np.linalg.norm(spin)
        found = quaternions.to_matrix(ball_after(state).rotation) @ start.T
        # About the axis of the spin in space, by |spin| t, nearly.
        np.testing.assert_allclose(found @ spin, spin, atol=1e-5)
        angle = np.arccos((np.trace(found) - 1) / 2)
        np.testing.assert_allclose(angle, size * T, rtol=1e-3)
        axis = found - found.T
        way = np.array([axis[2, 1], axis[0, 2], axis[1, 0]])
        np.testing.assert_allclose(way / np.linalg.norm(way), spin / size, atol=1e-5)


def test_rotations_stay_unit() -> None:
    state = thrown(field(WEIGHTLESS), (0, 50, 0), (0, 0, 0), (300, -200, 100))
    ball = ball_after(state, 2000)
    np.testing.assert_allclose(np.linalg.norm(ball.rotation), 1, atol=1e-12)
    assert np.abs(ball.rotation).min() > 1e-3
    np.testing.assert_array_equal(ball.spin, (300, -200, 100))


def test_a_whole_turn_takes_as_long_as_it_should() -> None:
    state = thrown(field(WEIGHTLESS), (0, 50, 0), (0, 0, 0), (0, 0, 2 * np.pi))
    quarter = ball_after(state, 60).rotation
    np.testing.assert_allclose(quarter, (0, 0, 0.5**0.5, 0.5**0.5), atol=1e-4)
    whole = ball_after(state, 180).rotation
    np.testing.assert_allclose(np.abs(whole), (0, 0, 0, 1), atol=1e-3)
