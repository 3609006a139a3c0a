"""Reactions at corners and edges, and of several sheets."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from flexor.stage.goal import layout
from flexor.stage.goal.areas import EDGE
from flexor.stage.goal.netting import Netting, make_netting
from flexor.stage.goal.plan import Push
from flexor.stage.goal.state import NettingState, init_netting, shoot, step_balls
from tests.oracle.ball import INSIDE, OUTSIDE, lay
from tests.stage.goal.reactions import (
    NET,
    WEIGHTLESS,
    T,
    at,
    faces,
    goal,
    only,
    roof,
    row_of,
    sheet,
    stepped,
)

LIMIT = Push().limit


def fly(state: NettingState, steps: int) -> tuple[Any, Any, Any]:
    """Places, velocities (steps, 3) and acting areas (steps,) of the first ball."""
    places, velocities, areas = [], [], []
    for _ in range(steps):
        step_balls(state)
        places.append(state.places[0, 0].copy())
        velocities.append(state.velocities[0, 0].copy())
        areas.append(int(state.sides[0, 0, 1]))
    return np.array(places), np.array(velocities), np.array(areas)


# Flights at a convex corner from outside: start, velocity, the face that is hit first,
# the one that is not, and the axis along which nothing may happen.
CONVEX = [
    ((-5.0, 1.0, -1.95), (20, 0, 0), "A", "D", 2),
    ((5.0, 1.0, -1.95), (-20, 0, 0), "B", "D", 2),
    ((-3.65, 1.0, -3.0), (0, 0, 20), "D", "A", 0),
    ((-3.65, 4.0, -1.0), (0, -20, 0), "C", "A", 0),
    ((0.0, 4.0, -1.95), (0, -20, 0), "C", "D", 2),
]


@pytest.mark.parametrize(("start", "velocity", "first", "other", "axis"), CONVEX)
def test_outside_a_convex_corner_only_the_face_hit_first_acts(
    start: Any, velocity: Any, first: str, other: str, axis: int
) -> None:
    """Drawings 17 and 18: a ball that flies at A near D comes back as it came."""
    own = goal(NET)
    state = init_netting(own)
    shoot(state, start, velocity)
    places, velocities, areas = fly(state, 240)
    assert (velocities[:, axis] == 0).all()
    assert set(areas) == {-1, row_of(own, first)}
    # One contact, in which the other area would have acted too.
    contact = areas >= 0
    assert np.abs(np.diff(contact.astype(int))).sum() == 2
    plane = own.areas.areas[row_of(own, other)]
    assert (plane[3] - places[contact] @ plane[:3] > 0.1).all()
    flown = np.array(velocity)
    assert velocities[-1] @ flown < -0.01 * flown @ flown


def test_at_an_outer_corner_the_face_acts_whose_plane_is_passed_within_it() -> None:
    """Past both planes in one step: past A's 0.02 m earlier is into D, and reverse."""
    own = goal(NET)
    state = init_netting(own)
    for ahead, name in ((0.01, "D"), (-0.01, "A")):
        start = (-3.87 - 0.012 + ahead, 1, -2.15 - 0.012 - ahead)
        shoot(state, start, (6, 0, 6))
        assert state.sides[0, 0, 1] == -1
        step_balls(state)
        assert state.sides[0, 0].tolist() == [OUTSIDE, row_of(own, name)]
        # Both regions at once: the other one's plane is behind it too.
        assert state.places[0, 0, 0] > -3.87
        assert state.places[0, 0, 2] > -2.15


def test_another_face_may_act_after_the_first_was_left() -> None:
    """It leaves the region of A past the plane of D, and is then thrown at D."""
    own = goal(Push(k1=0, k2a=0, k2b=0, k3=0, k4=0, k5=0))
    state = init_netting(own)
    shoot(state, (-4.0, 1, -1.9), (6, 0, -6))
    _, _, areas = fly(state, 60)
    assert areas.max() == row_of(own, "A")
    assert areas[-1] == -1
    state.velocities[:] = 0, 0, 12
    _, _, areas = fly(state, 30)
    assert areas[-1] == row_of(own, "D")


def folded(angle: float) -> Netting:
    """Two faces of 4 m that meet at x = z = 0, the second turned to the front."""
    end = (4 * np.cos(angle), 4 * np.sin(angle))
    return make_netting(
        sheet(
            ((-4, 0, 0), (0, 0, 0), (end[0], 0, end[1])),
            ((-4, 3, 0), (0, 3, 0), (end[0], 3, end[1])),
            push=only(limit=0.5),
        ),
        ball=WEIGHTLESS,
    )


@pytest.mark.parametrize("angle", [0.0, 0.5, -0.5, 1.2, -1.2])
@pytest.mark.parametrize("is_front", [True, False])
def test_faces_of_a_sheet_hand_balls_on(angle: float, is_front: bool) -> None:
    """A ball slides beyond the sheet over the fold: the other face takes it over, from
    the same side, where the plane halfway between both is passed.
    """
    own = folded(angle)
    state = init_netting(own)
    sign = 1 if is_front else -1
    first = 0 if is_front else 1
    z = 0.15 * sign - 0.3 * sign
    lay(state, (-1.0, 1.5, z), (5, 0, 0), side=OUTSIDE, area=first)
    places, _, areas = fly(state, 120)
    # With no force it goes straight on, at least until the limit of the second face.
    normal = np.array([np.cos(angle / 2), 0, np.sin(angle / 2)])
    is_past = places @ normal >= 0
    assert is_past.any()
    assert not is_past[0]
    assert (areas[~is_past] == first).all()
    assert areas[is_past][0] == first + 2
    faces_there = own.areas.marks[areas[areas >= 0], layout.GROUP]
    assert (faces_there == faces_there[0]).all()


def test_sheets_do_not_hand_balls_on_to_others() -> None:
    """Two sheets side by side: where they meet, each has an edge."""
    push = only(limit=0.5)
    plans = [
        sheet(((-4, 0, 0), (0, 0, 0)), ((-4, 3, 0), (0, 3, 0)), push=push),
        sheet(((0, 0, 0), (4, 0, 0)), ((0, 3, 0), (4, 3, 0)), push=push),
    ]
    state = init_netting(make_netting(plans, ball=WEIGHTLESS))
    lay(state, (-1.0, 1.5, -0.1), (5, 0, 0), side=OUTSIDE, area=0)
    places, _, areas = fly(state, 60)
    assert (areas[places[:, 0] < 0] == 0).all()
    # Beyond the second sheet, seen from the front: so it is at its back.
    assert (areas[places[:, 0] > 0] == 3).all()


def two_sheets(first: float, second: float) -> Netting:
    """Sheets of 4 by 3 m at z = first and z = second, their fronts toward +z."""
    plans = [
        sheet(((-2, 0, z), (2, 0, z)), ((-2, 3, z), (2, 3, z)), push=only())
        for z in (first, second)
    ]
    return make_netting(plans, ball=WEIGHTLESS)


@pytest.mark.parametrize("second", [-0.02, 0.02])
def test_of_two_sheets_the_one_acts_that_is_met_first(second: float) -> None:
    """Both planes are passed within a step, in whatever order the sheets are given."""
    state = init_netting(two_sheets(0.0, second))
    shoot(state, (0, 1.5, 0.15 + max(second, 0) + 0.005), (0, 0, -12))
    step_balls(state)
    assert state.places[0, 0, 2] < 0.15 + min(second, 0)
    assert state.sides[0, 0, 1] == (0 if second < 0 else 2)


@pytest.mark.parametrize("second", [-0.04, 0.04])
def test_of_two_sheets_the_one_acts_that_is_nearer_from_the_side(second: float) -> None:
    """In from the side, in front of both: the one in which the ball is less deep."""
    state = init_netting(two_sheets(0.0, second))
    shoot(state, (2.01, 1.5, 0.08), (-6, 0, 0))
    assert state.sides[0, 0, 1] == -1
    step_balls(state)
    assert state.places[0, 0, 0] < 2
    assert state.sides[0, 0, 1] == (0 if second > 0 else 2)


# Edges: whether from outside, the face, a place beyond the sheet by 0.1 m and 0.2 m
# before the line where it is tied, and the face's normal. NaN: by the roof's height.
EDGES = [
    (False, "A", (-3.82, 1.5, -0.2), (1, 0, 0)),
    (False, "B", (3.82, 1.5, -0.2), (-1, 0, 0)),
    (False, "C", (0.5, np.nan, -0.2), (0, -1, 0)),
    (True, "A", (-3.62, 1.5, -0.2), (-1, 0, 0)),
    (True, "B", (3.62, 1.5, -0.2), (1, 0, 0)),
    (True, "C", (0.5, np.nan, -0.2), (0, 1, 0)),
]


edges = pytest.mark.parametrize(
    ("is_outside", "name", "place", "normal"),
    EDGES,
    ids=[f"{name} {'outside' if out else 'inside'}" for out, name, *_ in EDGES],
)


def near_edge(netting: Netting, place: Any, normal: Any, beyond: float) -> Any:
    """A place of EDGES, so many metres beyond the sheet."""
    found = np.array(place, float)
    if np.isnan(found[1]):
        found[1] = roof(netting) - 0.1 * normal[1]
    return found + (0.1 - beyond) * np.array(normal)


@edges
@pytest.mark.parametrize("speed", [5.0, -5.0, 0.0])
def test_an_edge_pushes_away_from_posts_and_bar(
    is_outside: bool, name: str, place: Any, normal: Any, speed: float
) -> None:
    """Both areas add; the edge's begins 0.45 m before it, its normal is -z."""
    own = goal(only(k1=300))
    start = near_edge(own, place, normal, 0.1)
    outside = name if is_outside else ""
    _, velocity, spin = stepped(own, start, (0, 0, speed), outside=outside)
    d = 0.45 - 0.2
    k2 = EDGE.k2b if speed > 0 else EDGE.k2a
    z = speed - (EDGE.k1 * d**2 + k2 * d**2 * speed) * T
    expected = 300 * (0.15 + 0.1) ** 2 * T * np.array(normal) + (0, 0, z)
    np.testing.assert_allclose(velocity, expected, atol=1e-12)
    assert z < speed or speed < 0
    assert (spin == 0).all()


def test_an_edge_slows_motion_along_it() -> None:
    own = goal(only(k1=300))
    _, velocity, _ = stepped(own, (-3.82, 1.5, -0.2), (0, 4, 0))
    np.testing.assert_allclose(velocity[1], 4 * (1 - EDGE.k3 * 0.25**2 * T), rtol=1e-12)


@edges
@pytest.mark.parametrize("beyond", [-0.04, -1e-9])
def test_an_edge_does_nothing_before_the_sheet_itself(
    is_outside: bool, name: str, place: Any, normal: Any, beyond: float
) -> None:
    own = goal(only(k1=300))
    start = near_edge(own, (*place[:2], -0.25), normal, beyond)
    _, velocity, _ = stepped(own, start, (0, 0, 5), outside=name if is_outside else "")
    expected = 300 * (0.15 + beyond) ** 2 * T * np.array(normal) + (0, 0, 5)
    np.testing.assert_allclose(velocity, expected, atol=1e-12)


@edges
def test_an_edge_does_nothing_far_from_it(
    is_outside: bool, name: str, place: Any, normal: Any
) -> None:
    own = goal(only(k1=300))
    start = near_edge(own, (*place[:2], -0.5), normal, 0.1)
    _, velocity, _ = stepped(own, start, (0, 0, 5), outside=name if is_outside else "")
    expected = 300 * 0.25**2 * T * np.array(normal) + (0, 0, 5)
    np.testing.assert_allclose(velocity, expected, atol=1e-12)


@edges
def test_beyond_a_sheet_nothing_slips_around_its_edge(
    is_outside: bool, name: str, place: Any, normal: Any
) -> None:
    """Shot along the sheet, which does nothing, toward where it is tied."""
    own = goal(only())
    count = 240
    state = init_netting(own, 1, count)
    starts = np.tile(near_edge(own, (*place[:2], -1.2), normal, 0.3), (1, count, 1))
    starts[..., 2] += np.random.default_rng(1).normal(size=count) * 0.1
    velocities = np.zeros((1, count, 3))
    velocities[..., 2] = np.linspace(2, 60, count)
    side = OUTSIDE if is_outside else INSIDE
    area = row_of(own, name) if is_outside else -1
    lay(state, starts, velocities, side=side, area=area)
    nearest = np.full(count, -9.0)
    for _ in range(240):
        step_balls(state)
        nearest = np.maximum(nearest, state.places[0, :, 2])
        assert (state.sides[..., 0] == side).all()
    # Tight 0.05 m before the edge: fast ones are stopped there, slow ones before.
    assert nearest.max() < -0.05 + 1e-12
    assert (nearest[count // 2 :] > -0.06).all()
    assert (nearest > -0.45).all()
    assert (state.velocities[..., 2] <= 0).all()


@pytest.mark.parametrize("reach", [0.45, 0.08])
def test_a_plan_says_how_its_edges_push(reach: float) -> None:
    """A net on a pole: tied at x = 0, its front toward +z."""
    edge = only(k1=900)
    plan = sheet(
        ((0, 1, 0), (3, 1, 0)),
        ((0, 3, 0), (3, 3, 0)),
        left="fixed",
        push=only(k1=300),
        edge=edge,
        reach=reach,
    )
    own = make_netting(plan, ball=WEIGHTLESS)
    state = init_netting(own)
    lay(state, (reach - 0.03, 2, -0.1), side=OUTSIDE, area=0)
    step_balls(state)
    a = (900 * 0.03**2, 0, 300 * 0.25**2)
    np.testing.assert_allclose(state.velocities[0, 0], np.array(a) * T, atol=1e-12)
    lay(state, (reach - 0.03, 2, -0.1), (-20, 0, 0), side=OUTSIDE, area=0)
    places, _, _ = fly(state, 20)
    tight = 0.05 if reach > 0.1 else reach / 2
    assert tight - 1e-12 <= places[:, 0].min() < tight + 0.002


@faces
def test_at_its_limit_a_sheet_is_tight(
    name: str, is_outside: bool, plane: Any, normal: Any
) -> None:
    """Without any force only the limit stops a ball; along the face it goes on."""
    own = goal(only())
    n = np.array(normal)
    beside = np.array([0.0, 0.3, 0.0]) if normal[1] == 0 else np.array([0.3, 0, 0])
    place = at(own, plane, normal, LIMIT - 0.01)
    outside = name if is_outside else ""
    for _ in range(2):
        place, velocity, _ = stepped(own, place, -5 * n + beside, outside=outside)
        np.testing.assert_allclose(velocity, beside, atol=1e-12)
        depth = (at(own, plane, normal, 0) - place) @ n
        np.testing.assert_allclose(depth, LIMIT, atol=1e-12)
    # What is already on its way back is not held.
    _, velocity, _ = stepped(own, place, n, outside=outside)
    np.testing.assert_allclose(velocity, n, atol=1e-12)
