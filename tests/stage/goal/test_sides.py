"""Whether a ball is inside or outside: decided at the goal line, kept, and dropped
when it comes back the same way. The cases are those of the drawings 30 to 32.
"""

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
from flexor.stage.goal.netting import Netting, make_netting
from flexor.stage.goal.plan import BallSettings, Gate, Push, SheetPlan
from flexor.stage.goal.soccer import GoalSettings, make_goal
from flexor.stage.goal.state import (
    NettingState,
    init_netting,
    pushes,
    shoot,
    step_balls,
    step_netting,
)
from tests.oracle.ball import BEFORE, INSIDE, OUTSIDE, lay

NAMES = {BEFORE: "before", INSIDE: "inside", OUTSIDE: "outside"}
WIDE, HIGH = 3.72, 2.5  # of the mouth: to the axes of posts and bar


@cache
def goal(top_depth: float | None = None) -> Netting:
    return make_goal(GoalSettings(top_depth=top_depth))


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


@settings(max_examples=100, deadline=None)
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


def deepest(netting: Netting, places: Any) -> Any:
    """How far places are within the hollow: the least over faces and the goal line."""
    planes = [(face.normal, face.place(0.0)) for face in netting.faces]
    planes += [(-gate[:3], -gate[3]) for gate in netting.gates]
    return np.min([places @ normal - offset for normal, offset in planes], axis=0)


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


@cache
def curtain() -> Netting:
    """A sheet 8 m wide and 3 m high at z = 0, held above, with no gate."""
    return make_netting(
        SheetPlan(
            lower=((-4, 0, 0), (4, 0, 0)),
            upper=((-4, 3, 0), (4, 3, 0)),
            top="sprung",
            hang=0.0,
            push=Push(k4=0.0),
        ),
        ball=BallSettings(gravity=0.0),
    )


@settings(max_examples=10, deadline=None)
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
@settings(max_examples=6, deadline=None)
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
