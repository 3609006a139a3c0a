"""Many balls, what they remember, and shots."""

from __future__ import annotations

import numpy as np
import pytest

from flexor.stage.goal.layout import MET_GROUND as GROUND
from flexor.stage.goal.layout import MET_NET as NET
from flexor.stage.goal.layout import MET_ROD as ROD
from flexor.stage.goal.layout import SCORED
from flexor.stage.goal.plan import BallSettings
from flexor.stage.goal.soccer import make_goal
from flexor.stage.goal.state import (
    NettingState,
    init_netting,
    shoot,
    step_balls,
    step_netting,
)
from tests.oracle.ball import INSIDE, OUTSIDE, lay
from tests.stage.goal.balls import (
    NETTINGS,
    RADIUS,
    near_anything,
)

# Same input, same bits


def busy(count: int = 6, balls: int = 40) -> NettingState:
    """Nettings with balls that hit everything."""
    own = NETTINGS["goal"]()
    state = init_netting(own, count, balls)
    rows = near_anything(np.random.default_rng(6), count * balls, own)
    shoot(state, *(row.reshape(count, balls, 3) for row in rows))
    return state


def test_any_number_of_threads_gives_the_same_bits(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    found = []
    for threads in ("1", "2", "3"):
        monkeypatch.setenv("FLEXOR_THREADS", threads)
        state = busy()
        start = state.bodies.copy()
        step_balls(state, 200)
        found.append((state.bodies.tobytes(), state.sides.tobytes()))
        assert not np.array_equal(state.bodies, start)
        state = busy()
        step_netting(state, 50)
        found.append((state.bodies.tobytes(), state.sides.tobytes()))
    assert len(set(found)) == 1


def test_a_ball_is_the_same_alone_and_in_company() -> None:
    many = busy(2, 20)
    start = many.bodies.copy()
    step_balls(many, 200)
    one = init_netting(many.netting)
    for row in np.ndindex(2, 20):
        shoot(one, *(start[row][k : k + 3] for k in (0, 3, 6)))
        one.rotations[:] = 0, 0, 0, 1
        step_balls(one, 200)
        np.testing.assert_array_equal(one.bodies[0, 0], many.bodies[row])
        np.testing.assert_array_equal(one.sides[0, 0], many.sides[row])


def test_steps_at_once_are_steps_one_by_one() -> None:
    one, other = busy(), busy()
    step_balls(one, 100)
    for _ in range(100):
        step_balls(other)
    np.testing.assert_array_equal(one.bodies, other.bodies)
    np.testing.assert_array_equal(one.sides, other.sides)


def test_balls_alone_leave_nets_as_they_are() -> None:
    state = busy()
    nodes = state.nodes.copy()
    step_balls(state, 50)
    np.testing.assert_array_equal(state.nodes, nodes)
    assert (state.speeds == 0).all()


@pytest.mark.parametrize(("count", "balls"), [(0, 0), (0, 3), (2, 0)])
def test_no_balls_or_no_nettings(count: int, balls: int) -> None:
    state = init_netting(NETTINGS["goal"](), count, balls)
    assert len(state) == count
    shoot(state, (0, 1, 2), (0, 0, -9))
    step_balls(state, 3)
    step_netting(state, 2)
    assert state.places.shape == (count, balls, 3)
    assert state.is_inside.shape == (count, balls)


def test_no_steps_change_nothing() -> None:
    state = busy()
    start = state.bodies.copy()
    step_balls(state, 0)
    step_netting(state, 0)
    np.testing.assert_array_equal(state.bodies, start)


# What has happened


def test_what_has_happened_is_kept_until_the_next_shot() -> None:
    """Of five shots: in, at a post, on the ground, at the net from outside, nothing."""
    own = NETTINGS["goal"]()
    state = init_netting(own, 1, 5)
    places = [(0, 1, 1), (-3.72, 1, 1), (0, 0.2, 5), (-5, 1, -1), (0, 15, 5)]
    velocities = [(0, 2, -6), (0, 2, -9), (0, 0, 0), (20, 0, 0), (0, 0, 0)]
    shoot(state, np.array([places]), np.array([velocities]))
    assert (state.events == 0).all()
    step_balls(state, 70)
    expected = {
        SCORED: [True, False, False, False, False],
        ROD: [False, True, False, False, False],
        GROUND: [False, False, True, False, False],
        NET: [False, False, False, True, False],
    }
    for event, who in expected.items():
        assert state.has_met(event).tolist() == [who], event
    # Kept, and more is added; a shot begins anew, for those who are shot.
    before = state.events.copy()
    step_balls(state, 600)
    assert (state.events & before == before).all()
    assert state.has_met(GROUND).all()
    shoot(state, (0, 1, 3), who=(0, 0))
    assert state.events[0, 0] == 0
    assert (state.events[0, 1:] & before[0, 1:] == before[0, 1:]).all()


def test_a_goal_is_scored_when_all_of_the_ball_is_in() -> None:
    own = make_goal(ball=BallSettings(gravity=0.0))
    state = init_netting(own)
    shoot(state, (0, 1, 0.005), (0, 0, -2.4))  # 0.01 m a step
    for _ in range(11):
        step_balls(state)
        assert not state.has_met(SCORED).any()
    assert state.is_inside.all()
    step_balls(state)
    assert state.places[0, 0, 2] < -RADIUS
    assert state.has_met(SCORED).all()
    # Over the bar it may be as far back as it likes.
    shoot(state, (0, 5, 0.005), (0, 0, -2.4))
    step_balls(state, 300)
    assert not state.has_met(SCORED).any()


def test_what_was_written_to_sides_is_not_believed() -> None:
    """Rows that are not there would be read from nowhere."""
    own = NETTINGS["goal"]()
    for sides, as_if in (
        ((7, -1), (0, -1)),
        ((-1, -1), (0, -1)),
        ((2, 99), (2, -1)),
        ((2, len(own.areas.areas)), (2, -1)),
        ((2, -7), (2, -1)),
        ((1, 5), (1, -1)),  # inside: no outside area acts
    ):
        one, other = init_netting(own), init_netting(own)
        lay(one, (0, 1, -1.9), (0, 0, 9), side=sides[0], area=sides[1])
        lay(other, (0, 1, -1.9), (0, 0, 9), side=as_if[0], area=as_if[1])
        for state in (one, other):
            step_balls(state, 40)
        np.testing.assert_array_equal(one.bodies, other.bodies)
        np.testing.assert_array_equal(one.sides, other.sides)


def test_nor_where_every_area_is_an_outside_one() -> None:
    """The ball is in the reach of the back, which would act if it were remembered."""
    own = NETTINGS["two sheets"]()
    found = []
    for area in (-1, 99, len(own.areas.areas), 1):
        state = init_netting(own)
        lay(state, (0, 1, 0.0), side=OUTSIDE, area=area)
        step_balls(state)
        found.append(state.bodies.tolist())
    assert found[0] == found[1] == found[2] != found[3]


# Who is shot


def test_some_balls_are_shot_and_others_left() -> None:
    state = init_netting(NETTINGS["goal"](), 2, 3)
    shoot(state, (0, 1, 5), (1, 2, 3), (4, 5, 6), who=(1, 2))
    shoot(state, (0, 1, 6), who=(slice(None), 0))
    mask = np.zeros((2, 3), bool)
    mask[0, 1:] = True
    places = np.array([(7, 1, 1), (8, 1, 1)])
    shoot(state, places, who=mask)
    shoot(state, [(9, 1, 9)], who=([1], [1]))
    expected = [
        [(0, 1, 6), (7, 1, 1), (8, 1, 1)],
        [(0, 1, 6), (9, 1, 9), (0, 1, 5)],
    ]
    np.testing.assert_array_equal(state.places, expected)
    np.testing.assert_array_equal(state.velocities[1, 2], (1, 2, 3))
    np.testing.assert_array_equal(state.spins[1, 2], (4, 5, 6))
    assert (state.velocities[0] == 0).all()
    assert (state.sides == (0, -1)).all()


def test_a_shot_leaves_alone_what_others_remember() -> None:
    """At the outer corner of A and D: the ball there was at A, and stays so."""
    own = NETTINGS["goal"]()
    state = init_netting(own, 1, 2)
    for area in (2, 5):
        lay(state, (-3.8, 1, -2.1), side=OUTSIDE, area=area)
        state.events[:] = 9
        shoot(state, (0, 1, 5), who=(0, 1))
        assert state.sides[0].tolist() == [[OUTSIDE, area], [0, -1]]
        assert state.events[0].tolist() == [9, 0]


def test_a_shot_forgets_what_was() -> None:
    state = init_netting(NETTINGS["goal"]())
    lay(state, (0, 1, -1), (1, 1, 1), (1, 1, 1), side=INSIDE)
    shoot(state, (0, 1, 5))
    assert (state.bodies[0, 0, 3:9] == 0).all()
    assert state.sides[0, 0].tolist() == [0, -1]
