"""Inside or outside of a goal: what a ball remembers."""

from __future__ import annotations

from functools import cache
from typing import Any

import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from flexor.stage.goal import layout
from flexor.stage.goal.areas import gate_tables
from flexor.stage.goal.kernels import ball as kernel_ball
from flexor.stage.goal.plan import BallSettings, Gate
from flexor.stage.goal.soccer import make_goal
from flexor.stage.goal.state import (
    NettingState,
    init_netting,
    pushes,
    shoot,
    step_balls,
)
from tests.oracle.ball import BEFORE, INSIDE, OUTSIDE, lay
from tests.stage.goal.flights import curtain, deepest, goal

NAMES = {BEFORE: "before", INSIDE: "inside", OUTSIDE: "outside"}


WIDE, HIGH = 3.72, 2.5  # of the mouth: to the axes of posts and bar


@cache
def mouth() -> tuple[Any, Any]:
    """The gate of a goal, 7.44 by 2.5 m, and its rules."""
    gate = Gate(
        middle=(0, HIGH / 2, 0),
        normal=(0, 0, 2),
        across=(WIDE, 0, 0),
        up=(0, HIGH / 2, 0),
    )
    return gate_tables([gate])


def passes(side: int, start: Any, *ends: Any, tables: Any = None) -> int:
    """What a ball remembers after it went from place to place."""
    gates, rules = tables or mouth()
    for end in ends:
        numbers = [float(v) for v in (*start, *end)]
        side = int(kernel_ball.pass_gates(gates, rules, side, *numbers))
        start = end
    return side


FRONT, BACK = (0, 1, 2), (0, 1, -1)  # before and in the goal


LEFT_FRONT, LEFT_BACK = (-5, 1, 2), (-5, 1, -1)  # beside it


HIGH_FRONT, HIGH_BACK = (0, 4, 2), (0, 4, -1)  # over it


# The rule in words: the way in is decided and kept; the same way back drops
# it; another way back keeps it.
@pytest.mark.parametrize(
    ("side", "start", "end", "expected"),
    [
        pytest.param(BEFORE, FRONT, BACK, INSIDE, id="30: between the posts"),
        pytest.param(BEFORE, LEFT_FRONT, LEFT_BACK, OUTSIDE, id="31: beside a post"),
        pytest.param(BEFORE, HIGH_FRONT, HIGH_BACK, OUTSIDE, id="31: over the bar"),
        pytest.param(INSIDE, BACK, FRONT, BEFORE, id="30: back through the mouth"),
        pytest.param(OUTSIDE, LEFT_BACK, LEFT_FRONT, BEFORE, id="31: back beside"),
        pytest.param(OUTSIDE, HIGH_BACK, HIGH_FRONT, BEFORE, id="31: back over it"),
        pytest.param(OUTSIDE, LEFT_BACK, (5, 9, 2), BEFORE, id="by, and back over it"),
        pytest.param(INSIDE, LEFT_BACK, LEFT_FRONT, INSIDE, id="32: inside, beside"),
        pytest.param(INSIDE, HIGH_BACK, HIGH_FRONT, INSIDE, id="32: inside, over it"),
        pytest.param(OUTSIDE, BACK, FRONT, OUTSIDE, id="32: outside, the mouth"),
        pytest.param(INSIDE, LEFT_FRONT, LEFT_BACK, INSIDE, id="32: inside, and again"),
        pytest.param(OUTSIDE, FRONT, BACK, OUTSIDE, id="32: outside, and again"),
        pytest.param(INSIDE, FRONT, BACK, INSIDE, id="inside, in again"),
        pytest.param(OUTSIDE, LEFT_FRONT, LEFT_BACK, OUTSIDE, id="outside, by again"),
        pytest.param(BEFORE, BACK, FRONT, BEFORE, id="out without having been in"),
        pytest.param(BEFORE, LEFT_BACK, LEFT_FRONT, BEFORE, id="by, without, out"),
    ],
)
def test_passing_the_goal_line(side: int, start: Any, end: Any, expected: int) -> None:
    assert NAMES[passes(side, start, end)] == NAMES[expected]


@pytest.mark.parametrize("side", [BEFORE, INSIDE, OUTSIDE])
@pytest.mark.parametrize(
    ("start", "end"),
    [(FRONT, HIGH_FRONT), (LEFT_FRONT, FRONT), (BACK, LEFT_BACK), (HIGH_BACK, BACK)],
)
def test_on_one_side_of_the_line_nothing_changes(
    side: int, start: Any, end: Any
) -> None:
    assert passes(side, start, end) == side


def test_a_whole_way_around_a_post() -> None:
    """Drawing 32: in through the mouth, out beside the post, and back again, twice."""
    round_trip = (LEFT_BACK, LEFT_FRONT, LEFT_BACK, BACK)
    assert passes(BEFORE, FRONT, BACK, *round_trip, *round_trip) == INSIDE
    assert passes(BEFORE, FRONT, BACK, *round_trip, FRONT) == BEFORE
    other = (BACK, FRONT, BACK, LEFT_BACK)
    assert passes(BEFORE, LEFT_FRONT, LEFT_BACK, *other, *other) == OUTSIDE
    assert passes(BEFORE, LEFT_FRONT, LEFT_BACK, *other, LEFT_FRONT) == BEFORE


def test_the_place_on_the_line_decides_not_where_the_step_ends() -> None:
    # At the line x = -3.4, at the end -4.6: through; and the other way around.
    assert passes(BEFORE, (-3.2, 1, 0.1), (-4.6, 1, -0.6)) == INSIDE
    assert passes(BEFORE, (-3.2, 1, 0.6), (-4.6, 1, -0.1)) == OUTSIDE
    assert passes(BEFORE, (0, 2.3, 0.1), (0, 3.7, -0.6)) == INSIDE
    assert passes(BEFORE, (0, 2.3, 0.6), (0, 3.7, -0.1)) == OUTSIDE


@pytest.mark.parametrize("far", [-1e-9, 0.0, 1e-9])
def test_the_mouth_ends_at_the_axes_of_posts_and_bar(far: float) -> None:
    expected = INSIDE if far <= 0 else OUTSIDE
    # Straight in, so that the place on the line is exact.
    for x, y in ((WIDE + far, 1), (-WIDE - far, 1), (0, HIGH + far)):
        assert passes(BEFORE, (x, y, 0.1), (x, y, -0.1)) == expected


def test_on_the_line_is_past_it() -> None:
    assert passes(BEFORE, (0, 1, 0.1), (0, 1, 0)) == INSIDE
    assert passes(INSIDE, (0, 1, 0), (0, 1, -0.1)) == INSIDE
    assert passes(INSIDE, (0, 1, 0), (0, 1, 0.1)) == BEFORE
    assert passes(OUTSIDE, (5, 1, 0), (5, 1, 0.1)) == BEFORE
    assert passes(BEFORE, (0, 1, 1e-300), (0, 1, 0)) == INSIDE


def test_without_a_gate_nothing_is_decided() -> None:
    for side in (BEFORE, INSIDE, OUTSIDE):
        assert passes(side, FRONT, BACK, tables=gate_tables([])) == side


def test_any_gate_of_several_may_be_the_way_in() -> None:
    """A tunnel with an opening at z = 0 and one at z = -4, both 2 m wide."""
    ends: Any = {"across": (1, 0, 0), "up": (0, 1, 0)}
    near = Gate(middle=(0, 1, 0), normal=(0, 0, 1), **ends)
    far = Gate(middle=(0, 1, -4), normal=(0, 0, -1), **ends)
    tables = gate_tables([near, far])
    assert passes(BEFORE, (0, 1, 1), (0, 1, -1), tables=tables) == INSIDE
    assert passes(BEFORE, (0, 1, -5), (0, 1, -3), tables=tables) == INSIDE
    assert passes(BEFORE, (0, 1, 1), (0, 1, -2), (0, 1, -5), tables=tables) == BEFORE
    assert passes(BEFORE, (3, 1, -5), (3, 1, -3), tables=tables) == OUTSIDE
    # Through both within one step.
    assert passes(BEFORE, (0, 1, 1), (0, 1, -5), tables=tables) == BEFORE


@settings(max_examples=100)
@given(st.lists(st.tuples(*[st.floats(-6, 6)] * 3), min_size=2, max_size=12))
def test_any_way_is_told_by_where_it_first_went_in(places: Any) -> None:
    """The side is that of the last way in that was not undone by the same way out."""
    start = places[0]
    side = expected = BEFORE
    for end in places[1:]:
        side = passes(side, start, end)
        a, b = np.array(start), np.array(end)
        if (a[2] > 0) != (b[2] > 0):
            there = a + (b - a) * a[2] / (a[2] - b[2])
            within = min(WIDE - abs(there[0]), there[1], HIGH - there[1])
            assume(abs(within) > 1e-9)
            is_through = within > 0
            taken = INSIDE if is_through else OUTSIDE
            if b[2] <= 0:
                expected = taken if expected == BEFORE else expected
            elif expected == taken:
                expected = BEFORE
        assert side == expected
        start = end


def flown(
    state: NettingState, place: Any, velocity: Any, steps: int, spin: Any = (0, 0, 0)
) -> list[str]:
    """What a ball remembers in turn on its flight."""
    shoot(state, place, velocity, spin)
    found = [NAMES[int(state.sides[0, 0, 0])]]
    for _ in range(steps):
        step_balls(state)
        name = NAMES[int(state.sides[0, 0, 0])]
        if name != found[-1]:
            found.append(name)
    return found


@pytest.mark.parametrize(
    "velocity",
    [(0, 2, -20), (-9, 3, -20), (9, 3, -20), (0, 6, -16), (0, 2, -60), (-6, 1, -5)],
    ids=["D", "A", "B", "C", "fast", "slow"],
)
def test_a_goal_is_kept_inside(velocity: Any) -> None:
    """Drawing 30: it hits the net from the inside and stays, or comes back out."""
    state = init_netting(goal())
    names = flown(state, (0, 0.3, 3), velocity, 960)
    assert names in (["before", "inside"], ["before", "inside", "before"])
    if names[-1] == "inside":
        assert deepest(goal(), state.places[0, 0]) > 0
    else:
        assert state.places[0, 0, 2] > 0


@pytest.mark.parametrize(
    ("place", "velocity"),
    [
        ((-5, 0.3, 3), (3, 2, -20)),  # at A
        ((5, 0.3, 3), (-3, 2, -20)),  # at B
        ((-6, 0.3, 3), (4, 2, -60)),  # at A, fast
        ((0, 4.5, 3), (0, -2, -20)),  # at C
    ],
)
def test_a_miss_is_kept_outside(place: Any, velocity: Any) -> None:
    """Drawing 31: it hits the net from the outside and stays there."""
    state = init_netting(goal())
    names = flown(state, place, velocity, 120)
    assert names == ["before", "outside"]
    hit = state.sides[0, 0, 1]
    step_balls(state, 960)
    assert state.sides[0, 0, 0] in (OUTSIDE, BEFORE)
    assert deepest(goal(), state.places[0, 0]) < 0.02, hit


@pytest.mark.parametrize(
    ("place", "inward"),
    [
        ((-3.72, 1, -1), (1, 0, 0)),
        ((3.72, 1, -1), (-1, 0, 0)),
        ((0.5, 1, -2), (0, 0, 1)),
    ],
    ids=["A", "B", "D"],
)
def test_in_one_place_the_history_says_which_way_it_is_pushed(
    place: Any, inward: Any
) -> None:
    """Drawings 30 and 31: two balls in one place, in the net, one from each side."""
    state = init_netting(goal(), 1, 2)
    way = np.array(inward, float)
    lay(state, np.array(place) + way * 0.5, -8 * way, side=INSIDE)
    shoot(state, np.array(place) - way * 0.5, 8 * way, who=(0, 1))
    for _ in range(240):
        step_balls(state)
        depths = (state.places[0] - place) @ way * (1, -1)
        if (depths < -0.05).all():
            break
    assert (depths < -0.05).all()  # each beyond the sheet, seen from its side
    state.places[:] = place
    state.velocities[:] = 0
    assert state.is_inside.tolist() == [[True, False]]
    ways = {tuple(np.round(way, 6)): who.tolist() for _, way, who in pushes(state)}
    step_balls(state)
    pushed = state.velocities[0] @ way
    assert pushed[0] > 0 > pushed[1]
    # And so is the net: away from where each came from.
    assert ways[tuple(-way)] == [[True, False]]
    assert ways[tuple(way)] == [[False, True]]


def test_a_ball_from_the_mouth_comes_back_and_is_forgotten() -> None:
    """In, off the net, out; then by the post: outside; and back by the post."""
    weightless = BallSettings(gravity=0.0, ground=-100.0)
    state = init_netting(make_goal(ball=weightless))
    off = -100.0
    names = flown(state, (0, off + 1, 1), (0, 0, -20), 960)
    assert names == ["before", "inside", "before"]
    state.velocities[:] = 0, 0, 3
    state.bodies[..., 0] = -5
    state.velocities[:] = 0, 0, -20
    step_balls(state, 240)
    assert state.sides[0, 0, 0] == OUTSIDE
    state.velocities[:] = 0, 0, 40
    step_balls(state, 240)
    assert state.sides[0, 0].tolist() == [BEFORE, -1]


# Where a ball is put: place, what it remembers, and the face whose outside it is at.
PLACES = [
    ((0, 1, 1), BEFORE, None, "before the goal"),
    ((5, 1, 1e-6), BEFORE, None, "beside, before the line"),
    ((-3.8, 1, 0.3), BEFORE, None, "near A's plane, before the line"),
    ((0, 1, -1), INSIDE, None, "in the hollow"),
    ((0, 1, 0), INSIDE, None, "in the mouth"),
    ((-3.71, 0.2, -1.99), INSIDE, None, "in the hollow's corner"),
    ((5, 1, 0), OUTSIDE, None, "beside, on the line"),
    ((5, 1, -1), OUTSIDE, None, "beside"),
    ((0, 1, -3), OUTSIDE, None, "behind"),
    ((0, 3, -1), OUTSIDE, None, "above"),
    ((-3.8, 1, -1), OUTSIDE, "A", "just before A, from outside"),
    ((3.8, 1, -1), OUTSIDE, "B", "just before B, from outside"),
    ((0, 1, -2.1), OUTSIDE, "D", "just behind D"),
    ((-3.88, 1, -1), OUTSIDE, None, "before A's plane, from outside"),
    ((0, 1, -2.16), OUTSIDE, None, "behind D's plane"),
]


@pytest.mark.parametrize(
    ("place", "side", "face"),
    [row[:3] for row in PLACES],
    ids=[row[3] for row in PLACES],
)
def test_where_a_ball_is_put_says_its_side(
    place: Any, side: int, face: str | None
) -> None:
    own = goal()
    state = init_netting(own, 2, 2)
    shoot(state, (0, 1, -1))
    shoot(state, place, who=(1, 0))
    assert NAMES[int(state.sides[1, 0, 0])] == NAMES[side]
    row = int(state.sides[1, 0, 1])
    if face is None:
        assert row == -1
    else:
        mark = own.areas.marks[row]
        assert own.faces[mark[layout.FACE]].name == face
        assert mark[layout.SIDE] == OUTSIDE
        assert mark[layout.OWNER] == -1
    # Others keep what they have.
    assert (state.sides[state.sides[..., 1] == -1][:, 0] == INSIDE).sum() >= 3
    assert state.is_inside.sum() == 3 + (side == INSIDE)


def test_a_ball_put_on_the_roof() -> None:
    """The roof hangs lower than where it is tied, at 2.5 m: that decides."""
    own = goal()
    (roof,) = (row for row, face in enumerate(own.faces) if face.name == "C")
    state = init_netting(own)
    shoot(state, (0, HIGH + 0.01, -1))
    side, area = state.sides[0, 0]
    assert (side, own.areas.marks[area, layout.FACE]) == (OUTSIDE, roof)
    shoot(state, (0, HIGH - 0.01, -1))
    assert state.sides[0, 0].tolist() == [INSIDE, -1]


def test_a_ball_put_behind_a_slanted_back() -> None:
    """At a height of 2 m the back of a goal with a short roof is 1.2 m behind."""
    for own, side in ((goal(), INSIDE), (goal(1.0), OUTSIDE)):
        state = init_netting(own)
        shoot(state, (0, 2, -1.7))
        assert state.sides[0, 0].tolist() == [side, -1]
        shoot(state, (0, 0.2, -1.7))
        assert state.sides[0, 0].tolist() == [INSIDE, -1]


def test_a_ball_put_near_a_sheet_without_a_gate() -> None:
    own = curtain()
    state = init_netting(own)
    for z, area in ((1, -1), (0.1, 0), (-0.1, 1), (-1, -1)):
        shoot(state, (0, 1, z))
        assert state.sides[0, 0].tolist() == [OUTSIDE, area]
    shoot(state, (5, 1, 0.1))  # beside it
    assert state.sides[0, 0].tolist() == [OUTSIDE, -1]


def test_new_balls_lie_in_a_row_before_the_goal() -> None:
    state = init_netting(goal(), 2, 3)
    x, y, z = (state.places[..., k] for k in range(3))
    assert (np.diff(x, axis=1) > 2 * 0.11).all()
    np.testing.assert_allclose(x.mean(1), 0, atol=1e-12)
    assert (y == 0.11).all()
    assert (z > 5).all()
    assert (state.sides == (BEFORE, -1)).all()
    places = state.places.copy()
    step_balls(state, 10)
    np.testing.assert_array_equal(state.places, places)
    assert (state.velocities == 0).all()
