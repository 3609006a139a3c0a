"""A ball on the ground and at rods."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from flexor.stage.goal.netting import make_netting
from flexor.stage.goal.plan import BallSettings, Rod
from flexor.stage.goal.state import (
    init_netting,
    shoot,
    step_balls,
)
from tests.oracle.ball import ball_of
from tests.stage.goal.balls import (
    HOLLOW,
    NETTINGS,
    RADIUS,
    WEIGHTLESS,
    G,
    T,
    ball_after,
    far_sheet,
    field,
    near_anything,
    thrown,
)

# On the ground


def test_a_ball_bounces_off_the_ground() -> None:
    own = field(WEIGHTLESS)
    ball = ball_after(thrown(own, (1, 0.12, 2), (0, -5, 0)))
    np.testing.assert_allclose(ball.velocity, (0, 0.6 * 5, 0), atol=1e-12)
    np.testing.assert_allclose(ball.place, (1, 0.11, 2), atol=1e-12)


def test_the_ground_has_a_height() -> None:
    own = field(BallSettings(gravity=0, ground=7.0, bounce=0.25))
    ball = ball_after(thrown(own, (1, 7.12, 2), (0, -4, 0)))
    np.testing.assert_allclose(ball.velocity, (0, 1, 0), atol=1e-12)
    np.testing.assert_allclose(ball.place, (1, 7.11, 2), atol=1e-12)


def test_what_comes_down_slowly_does_not_bounce() -> None:
    own = field(WEIGHTLESS)
    for speed, up in ((0.34, 0.0), (0.36, 0.36 * 0.6)):
        ball = ball_after(thrown(own, (0, 0.11, 0), (0, -speed, 0)))
        np.testing.assert_allclose(ball.velocity, (0, up, 0), atol=1e-12)


def test_a_ball_that_goes_up_is_let_go() -> None:
    ball = ball_after(thrown(field(WEIGHTLESS), (0, 0.05, 0), (0, 3, 0)))
    np.testing.assert_allclose(ball.velocity, (0, 3, 0), atol=1e-12)
    np.testing.assert_allclose(ball.place[1], 0.11, atol=1e-12)


@pytest.mark.parametrize(
    ("grip", "rubbed"),
    [(0.05, 0.05 * 8), (0.5, 3 / 2.5)],
    ids=["slides on", "rolls at once"],
)
def test_the_ground_rubs_and_turns_the_ball(grip: float, rubbed: float) -> None:
    """By grip times what the bounce gives, 5 m/s times 1.6; or until it rolls, which
    for a hollow ball takes 2/5 of its speed.
    """
    own = field(BallSettings(gravity=0, grip=grip))
    ball = ball_after(thrown(own, (0, 0.12, 0), (3, -5, 0)))
    np.testing.assert_allclose(ball.velocity, (3 - rubbed, 3, 0), atol=1e-12)
    np.testing.assert_allclose(ball.spin, (0, 0, -rubbed / HOLLOW / RADIUS), atol=1e-11)


def test_a_rolling_ball_slows_evenly_and_stops() -> None:
    """By 0.06 g, and it rolls all the while: v = r w. Then it lies still for good."""
    state = thrown(field(BallSettings()), (0, 0.11, 3), (3, 0, 0), (0, 0, -3 / RADIUS))
    ball = ball_after(state, 240)
    left = 3 - 0.06 * G
    np.testing.assert_allclose(ball.velocity, (left, 0, 0), atol=1e-9)
    np.testing.assert_allclose(ball.spin, (0, 0, -left / RADIUS), atol=1e-8)
    ball = ball_after(state, int(left / (0.06 * G) * 240))
    assert (ball.velocity == 0).all()
    assert (ball.spin == 0).all()
    np.testing.assert_allclose(ball.place[0], 3**2 / (2 * 0.06 * G), rtol=0.01)
    place = ball.place
    np.testing.assert_array_equal(ball_after(state, 100).place, place)


def test_a_dropped_ball_comes_to_rest() -> None:
    state = thrown(field(BallSettings()), (2, 4, 3), (1, 0, -2), (20, 30, -50))
    ball = ball_after(state, 240 * 20)
    assert (ball.velocity == 0).all()
    assert (ball.spin == 0).all()
    assert ball.place[1] == 0.11
    assert np.hypot(*ball.place[::2]) > 0.5


def test_spin_on_the_spot_ends() -> None:
    """The skin slows by 0.06 g too, and the ball stays where it is."""
    state = thrown(field(BallSettings()), (1, 0.11, 2), (0, 0, 0), (0, 20, 0))
    ball = ball_after(state, 240)
    np.testing.assert_allclose(ball.spin, (0, 20 - 0.06 * G / RADIUS, 0), atol=1e-9)
    ball = ball_after(state, 900)
    assert (ball.spin == 0).all()
    np.testing.assert_array_equal(ball.place, (1, 0.11, 2))


def test_a_ball_that_spins_takes_off() -> None:
    """Put down with spin about -z it runs toward +x."""
    state = thrown(field(BallSettings()), (0, 0.11, 0), (0, 0, 0), (0, 0, -50))
    ball = ball_after(state, 120)
    assert ball.velocity[0] > 0.5
    assert ball.place[0] > 0.1
    assert -50 < ball.spin[2] < 0


def test_without_rolling_resistance_it_rolls_on() -> None:
    own = field(BallSettings(rolling=0.0))
    state = thrown(own, (0, 0.11, 3), (3, 0, 0), (0, 0, -3 / RADIUS))
    ball = ball_after(state, 2400)
    np.testing.assert_allclose(ball.velocity, (3, 0, 0), atol=1e-9)


# Posts and bars

POST = Rod((0, -50, 0), (0, 50, 0), 0.06)


APART = 0.06 + RADIUS


@pytest.mark.parametrize("speed", [1.0, 20.0, 60.0])
def test_a_post_throws_back_what_hits_it(speed: float) -> None:
    own = field(WEIGHTLESS, POST)
    ball = ball_after(thrown(own, (0, 2, APART + 0.001), (0, 0, -speed)))
    np.testing.assert_allclose(ball.velocity, (0, 0, 0.65 * speed), atol=1e-9)
    assert APART <= ball.place[2] <= APART + 0.65 * speed * T


def test_a_slow_ball_stops_at_a_post() -> None:
    own = field(WEIGHTLESS, POST)
    ball = ball_after(thrown(own, (0, 2, APART + 0.001), (0, 0, -0.3)))
    np.testing.assert_allclose(ball.velocity, 0, atol=1e-12)
    np.testing.assert_allclose(ball.place, (0, 2, APART), atol=1e-12)


@settings(max_examples=60)
@given(
    offset=st.floats(-0.95, 0.95),
    speed=st.floats(1, 12),
    up=st.floats(-3, 3),
    bounce=st.floats(0, 1),
    grip=st.sampled_from([0.0, 0.3, 5.0]),
)
def test_along_the_normal_a_post_has_its_restitution(
    offset: float, speed: float, up: float, bounce: float, grip: float
) -> None:
    """The normal is the one where it was found in the post."""
    own = make_netting(
        far_sheet(),
        ball=BallSettings(gravity=0, rod_bounce=bounce, rod_grip=grip),
        rods=[POST],
    )
    start = np.array([offset * APART, 2, 0.2])
    v = np.array([0, up, -speed])
    state = thrown(own, start, v)
    while True:
        old = ball_of(state, 0)
        ball = ball_after(state)
        if not np.array_equal(ball.velocity, old.velocity):
            break
        assert ball.place[2] > -0.2
    normal = (old.place + v * T) * (1, 0, 1)
    normal /= np.linalg.norm(normal)
    np.testing.assert_allclose(
        np.linalg.norm(ball.place * (1, 0, 1)), APART, atol=1e-12
    )
    into = -v @ normal
    out = ball.velocity @ normal
    restitution = bounce if into > 0.35 else 0.0
    np.testing.assert_allclose(out, restitution * into, atol=1e-9)
    # Along the post: by grip times the impulse, or until nothing slides.
    slides = v + into * normal
    size = np.linalg.norm(slides)
    less = min(grip * (1 + restitution) * into, size / 2.5)
    expected = slides * (1 - less / max(size, 1e-9))
    np.testing.assert_allclose(ball.velocity - out * normal, expected, atol=1e-9)
    np.testing.assert_allclose(
        HOLLOW * RADIUS * ball.spin, np.cross(expected - slides, normal), atol=1e-9
    )


def test_ends_of_rods_are_round() -> None:
    own = field(WEIGHTLESS, Rod((0, 0, 0), (0, 2, 0), 0.06))
    way = np.array([0.6, 0.8, 0])
    ball = ball_after(thrown(own, (0, 2, 0) + way * (APART + 0.01), -5 * way))
    np.testing.assert_allclose(ball.velocity, 0.65 * 5 * way, atol=1e-12)
    np.testing.assert_allclose(ball.place, (0, 2, 0) + way * APART, atol=1e-12)
    # A rod without a length is a sphere.
    own = field(WEIGHTLESS, Rod((0, 2, 0), (0, 2, 0), 0.06))
    for sign in (1, -1):
        at = (0, 2, 0) + sign * way * (APART + 0.01)
        ball = ball_after(thrown(own, at, -5 * sign * way))
        np.testing.assert_allclose(ball.velocity, 0.65 * 5 * sign * way, atol=1e-12)


def test_a_ball_put_on_the_axis_of_a_rod_comes_out() -> None:
    own = field(WEIGHTLESS, Rod((0, 1, 0), (0, 3, 0), 0.06))
    ball = ball_after(thrown(own, (0, 2, 0), (0, 0, 0)))
    np.testing.assert_allclose(ball.place, (0, 2, APART), atol=1e-12)
    assert (ball.velocity == 0).all()


def test_a_ball_put_on_an_axis_nearly_comes_out() -> None:
    state = thrown(field(WEIGHTLESS, POST), (0, 2, 0), (0, 0, 0))
    ball = ball_after(state, 3)
    assert np.hypot(ball.place[0], ball.place[2]) > APART - 1e-9


@pytest.mark.parametrize("way", [(0, 0, 1), (1, 0, 0), (1, 1, 1), (0, 1, 3), (2, 0, 1)])
def test_it_comes_out_beside_a_rod_of_any_direction(way: Any) -> None:
    """By a right angle, and no further than it must."""
    ends = np.array([0, 5, 0]) + np.outer((-1, 1), way)
    own = field(WEIGHTLESS, Rod(tuple(ends[0]), tuple(ends[1]), 0.06))
    ball = ball_after(thrown(own, (0, 5, 0), (0, 0, 0)))
    moved = ball.place - (0, 5, 0)
    np.testing.assert_allclose(moved @ way, 0, atol=1e-12)
    np.testing.assert_allclose(np.linalg.norm(moved), APART, atol=1e-12)


def distances(rods: Any, places: Any) -> Any:
    """Of places (n, 3) from the surfaces of rods: (n,), the least."""
    found = []
    for *ends, radius in rods.tolist():
        a, b = np.array(ends[:3]), np.array(ends[3:])
        share = np.clip((places - a) @ (b - a) / ((b - a) @ (b - a)), 0, 1)
        nearest = a + share[:, None] * (b - a)
        found.append(np.linalg.norm(places - nearest, axis=1) - radius)
    return np.min(found, axis=0)


@settings(max_examples=8)
@given(seed=st.integers(0, 2**32 - 1), thin=st.sampled_from([0.06, 0.001]))
def test_no_ball_is_in_a_rod_or_passes_through_one(seed: int, thin: float) -> None:
    """Aimed at a goal frame at up to 60 m/s: thrown off its course, and never in it."""
    rng = np.random.default_rng(seed)
    own = field(
        WEIGHTLESS,
        Rod((-3, 0, 0), (-3, 2, 0), thin),
        Rod((3, 0, 0), (3, 2, 0), thin),
        Rod((-3, 2, 0), (3, 2, 0), thin),
    )
    count = 150
    rod = own.rods[rng.integers(0, 3, count)]
    share = rng.uniform(0.2, 0.9, (count, 1))
    way = rng.normal(size=(count, 3))
    axis = rod[:, 3:6] - rod[:, :3]
    axis /= np.linalg.norm(axis, axis=1)[:, None]
    way -= (way * axis).sum(1)[:, None] * axis * 0.8
    way /= np.linalg.norm(way, axis=1)[:, None]
    beside = np.cross(way, axis)
    beside /= np.linalg.norm(beside, axis=1)[:, None]
    offset = rng.uniform(-0.9, 0.9, (count, 1)) * (thin + RADIUS)
    target = rod[:, :3] + share * (rod[:, 3:6] - rod[:, :3]) + beside * offset
    places = target - way * 0.5
    velocities = way * rng.uniform(1, 60, (count, 1))
    # Those that start in the air, and have the time to get there.
    good = (places[:, 1] > 0.2) & (target[:, 1] > 0.2)
    good &= distances(own.rods, places) > RADIUS
    places, velocities = places[good], velocities[good]
    state = init_netting(own, 1, len(places))
    shoot(state, places[None], velocities[None])
    for _ in range(int(0.8 * 240)):
        step_balls(state)
        assert (distances(own.rods, state.places[0]) >= RADIUS - 1e-9).all()
    speed = np.linalg.norm(velocities, axis=1)
    thrown_off = np.linalg.norm(state.velocities[0] - velocities, axis=1)
    assert (speed * 0.8 > 0.6).sum() > 20
    assert (thrown_off > 1e-3 * speed)[speed * 0.8 > 0.6].all()


@pytest.mark.parametrize("name", ["goal", "slanted goal"])
def test_no_ball_is_below_the_ground_or_in_a_post(name: str) -> None:
    own = NETTINGS[name]()
    rng = np.random.default_rng(4)
    state = init_netting(own, 1, 400)
    shoot(state, *(rows[None] for rows in near_anything(rng, 400, own)))
    for _ in range(480):
        step_balls(state)
        assert (state.places[..., 1] >= RADIUS - 1e-9).all()
        assert (distances(own.rods, state.places[0]) >= RADIUS - 1e-9).all()
    assert np.isfinite(state.bodies).all()


@settings(max_examples=20)
@given(seed=st.integers(0, 2**32 - 1))
def test_rods_and_ground_give_no_energy(seed: int) -> None:
    """Of motion and of spin together, for a ball that nothing pulls."""
    rng = np.random.default_rng(seed)
    own = field(
        BallSettings(gravity=0, bounce=1, rod_bounce=1, grip=0.2, rolling=0),
        *(Rod((x, 0, z), (x + 0.2, 2, z), 0.3) for x in range(3) for z in range(3)),
    )
    state = init_netting(own, 1, 100)
    shoot(
        state,
        rng.uniform((-1, 0.2, -1), (3, 2, 3), (1, 100, 3)),
        rng.normal(size=(1, 100, 3)) * 8,
        rng.normal(size=(1, 100, 3)) * 60,
    )

    def energy() -> Any:
        turning = HOLLOW * RADIUS**2 * (state.spins[0] ** 2).sum(1)
        return (state.velocities[0] ** 2).sum(1) + turning

    first = last = energy()
    for _ in range(60):
        step_balls(state)
        now = energy()
        assert (now <= last * (1 + 1e-12)).all()
        last = now
    assert (last < 0.999 * first).mean() > 0.2
