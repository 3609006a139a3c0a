"""Balls stay on their side of nets of any size."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from flexor.stage.goal.plan import BallSettings, Push
from flexor.stage.goal.soccer import GoalSettings, make_goal
from flexor.stage.goal.state import (
    init_netting,
    shoot,
    step_balls,
    step_netting,
)
from tests.oracle.ball import BEFORE, INSIDE, OUTSIDE
from tests.stage.goal.flights import curtain, deepest, goal


@settings(max_examples=10)
@given(seed=st.integers(0, 2**32 - 1))
def test_a_sheet_alone_throws_back_what_hits_it(seed: int) -> None:
    """At up to 60 m/s, from both sides, and not near its edges."""
    rng = np.random.default_rng(seed)
    count = 200
    state = init_netting(curtain(), 1, count)
    sign = rng.choice([-1.0, 1.0], count)
    places = rng.uniform((-1, 0.5, 0.5), (1, 2, 1.5), (count, 3))
    velocities = rng.uniform((-0.1, -0.01, -1), (0.1, 0.01, -0.8), (count, 3))
    velocities *= rng.uniform(4, 60, count)[:, None]
    places[:, 2] *= sign
    velocities[:, 2] *= sign
    shoot(state, places[None], velocities[None])
    contact = np.zeros(count, bool)
    lowest = np.inf
    for _ in range(480):
        step_balls(state)
        contact |= state.sides[0, :, 1] >= 0
        lowest = min(lowest, float((state.places[0, :, 2] * sign).min()))
    assert (state.sides[..., 0] == OUTSIDE).all()
    assert contact.all()
    # No deeper than the limit, then back to where it came from.
    assert -Push().limit + 0.15 - 1e-9 <= lowest < -0.5
    assert (state.places[0, :, 2] * sign > 0).all()
    assert (state.velocities[0, :, 2] * sign > 0).all()


def aimed(rng: Any, count: int, is_inside: bool, fastest: float) -> tuple[Any, Any]:
    """Shots at points all over a goal's net: places and velocities (n, 3)."""
    x, y, z = rng.uniform((-3.72, 0.1, -2), (3.72, 2.4, 0), (count, 3)).T
    # Half of the numbers are moved onto a face: so faces, edges and corners.
    face = rng.integers(0, 2, (count, 3)).astype(bool)
    x = np.where(face[:, 0], np.sign(x) * 3.72, x)
    y = np.where(face[:, 1], 2.4, y)
    z = np.where(face[:, 2] | ~face.any(1), -2.0, z)
    target = np.stack([x, y, z], 1)
    if is_inside:
        places = rng.uniform((-3.3, 0.15, -1.7), (3.3, 2.1, -0.3), (count, 3))
    else:
        way = rng.normal(size=(count, 3)) + np.sign(target - (0, 1, -1)) * face
        way /= np.linalg.norm(way, axis=1)[:, None]
        places = target + way * rng.uniform(1, 4, count)[:, None]
        places[:, 1] = np.maximum(places[:, 1], 0.2)
    velocities = target - places
    velocities /= np.linalg.norm(velocities, axis=1)[:, None]
    velocities *= rng.uniform(1, fastest, count)[:, None]
    return places, velocities


@pytest.mark.parametrize("is_inside", [False, True], ids=["outside", "inside"])
@pytest.mark.parametrize("top_depth", [None, 1.0], ids=["box", "slanted"])
@settings(max_examples=6)
@given(seed=st.integers(0, 2**32 - 1))
def test_no_ball_ends_on_the_wrong_side(
    seed: int, top_depth: float | None, is_inside: bool
) -> None:
    """Up to 60 m/s at faces, edges and corners: each ball stays on its side of the net
    and leaves it through the mouth, or never had to.
    """
    rng = np.random.default_rng(seed)
    own, count = goal(top_depth), 250
    places, velocities = aimed(rng, count, is_inside, 60)
    spins = rng.normal(size=(1, count, 3)) * rng.choice([0, 40, 200], (count, 1))
    state = init_netting(own, 1, count)
    shoot(state, places[None], velocities[None], spins)
    start = state.sides[0, :, 0].copy()
    if not is_inside:
        # Not those that begin in the hollow after all.
        start = np.where(start == INSIDE, -1, start)
    old, z = start.copy(), places[:, 2].copy()
    for _ in range(480):
        step_balls(state)
        new, at = state.sides[0, :, 0], state.places[0]
        # A ball that crosses the line outward has nothing to remember afterwards.
        crossed = (z <= 0) & (at[:, 2] > 0) & (start >= 0)
        assert (new[crossed] == BEFORE).all()
        # From one side to the other only by way of the field.
        assert not (((old == INSIDE) & (new == OUTSIDE)) & (start >= 0)).any()
        assert not (((old == OUTSIDE) & (new == INSIDE)) & (start >= 0)).any()
        old, z = new.copy(), at[:, 2].copy()
    step_balls(state, 2400)  # until all are calm
    old = state.sides[0, :, 0]
    assert np.isfinite(state.bodies).all()
    deep = deepest(own, state.places[0])
    who = start >= 0
    assert who.mean() > 0.5
    assert (deep[who & (old == INSIDE)] > -0.12).all()
    assert (deep[who & (old == OUTSIDE)] < 0.12).all()
    assert (state.places[0, who & (old == BEFORE), 2] > 0).all()


# Goals and balls of other sizes, and one shot each at the net from behind or above.
SIZES = [
    ("shallow", {"depth": 0.8}, {}, (0, 0.6, -1.5), (0, 0, 50)),
    ("short roof", {"top_depth": 0.5}, {}, (0, 2, -1.5), (0, -2, 55)),
    ("narrow", {"width": 1.0}, {}, (-1.5, 0.6, -1), (50, 0, 0)),
    ("low", {"height": 0.8}, {}, (0, 2, -1), (0, -50, 0)),
    ("big ball", {}, {"radius": 0.3}, (-4.2, 1, -2.4), (16.9, 0, 43.8)),
    ("shallow, from the side", {"depth": 0.4}, {}, (-4.9, 0.6, -0.2), (50, 0, 0)),
    ("small ball", {}, {"radius": 0.01}, (0.4, 2.86, -1.12), (0, -21.4, 52.9)),
    ("thin posts", {"post": 0.01}, {}, (0.4, 2.86, -1.12), (0, -21.4, 52.9)),
]


@pytest.mark.parametrize(
    ("goal_sizes", "ball_sizes", "place", "velocity"),
    [
        pytest.param(
            *row,
            id=name,
        )
        for name, *row in SIZES
    ],
)
def test_in_any_size_a_ball_from_outside_stays_there(
    goal_sizes: Any, ball_sizes: Any, place: Any, velocity: Any
) -> None:
    own = make_goal(GoalSettings(**goal_sizes), ball=BallSettings(**ball_sizes))
    state = init_netting(own)
    shoot(state, place, velocity)
    contact = False
    for _ in range(480):
        step_balls(state)
        contact |= bool(state.sides[0, 0, 1] >= 0)
        assert state.places[0, 0, 2] <= 0
    assert contact
    assert state.sides[0, 0, 0] == OUTSIDE
    assert deepest(own, state.places[0, 0]) < 0.12


def test_frames_remember_as_steps_do() -> None:
    """A frame moves balls by four steps, whatever the net does."""
    places, velocities = aimed(np.random.default_rng(5), 40, False, 40)
    one, other = (init_netting(goal(), 1, 40) for _ in range(2))
    for state in (one, other):
        shoot(state, places[None], velocities[None])
    step_netting(one, 60)
    step_balls(other, 240)
    np.testing.assert_array_equal(one.bodies, other.bodies)
    np.testing.assert_array_equal(one.sides, other.sides)
    assert not np.array_equal(one.nodes, other.nodes)
