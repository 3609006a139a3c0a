"""What a sheet does to a ball: each term of the equation alone, and areas together.

Numbers are written as the arithmetic of the specification. A goal's face D stands at
z = -2, A at x = -3.72 (half of 7.32 m, and the radius of a post), so their planes are
at -1.85 and -3.57 from the inside and at -2.15 and -3.87 from the outside.
"""

from __future__ import annotations

from functools import cache
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from flexor.stage.goal import layout
from flexor.stage.goal.areas import EDGE
from flexor.stage.goal.netting import Netting, make_netting
from flexor.stage.goal.plan import BallSettings, Push, SheetPlan
from flexor.stage.goal.soccer import GoalSettings, make_goal
from flexor.stage.goal.state import NettingState, init_netting, shoot, step_balls
from tests.oracle.ball import INSIDE, OUTSIDE, lay

T = 1 / 240
LIMIT = Push().limit
WEIGHTLESS = BallSettings(gravity=0.0)
HOLLOW, RADIUS = 2 / 3, 0.11
H1 = 1.25  # half of 2.44 m and the bar's axis above it


# A whole push; the usual one may change.
NET = Push(k1=400, k2a=220, k2b=90, k3=12, k4=0.8, k5=0.15)


def only(**given: float) -> Push:
    """A push with all coefficients 0 but those given."""
    none = dict.fromkeys(("k1", "k2a", "k2b", "k3", "k4", "k5"), 0.0)
    return Push(**{**none, **given})


@cache
def goal(push: Push, ball: BallSettings = WEIGHTLESS) -> Netting:
    return make_goal(GoalSettings(push=push), ball=ball)


def row_of(netting: Netting, name: str) -> int:
    """The row of the outside area of a face."""
    names = [face.name for face in netting.faces]
    marks = netting.areas.marks
    is_own = (marks[:, layout.FACE] == names.index(name)) & (marks[:, layout.OWNER] < 0)
    (row,) = np.flatnonzero(is_own & (marks[:, layout.SIDE] == OUTSIDE))
    return int(row)


def stepped(
    netting: Netting,
    place: Any,
    velocity: Any = (0, 0, 0),
    spin: Any = (0, 0, 0),
    *,
    outside: str = "",
) -> tuple[Any, Any, Any]:
    """Place, velocity and spin after one step of a ball that is inside, or outside in
    the area of the face named.
    """
    state = init_netting(netting)
    side = OUTSIDE if outside else INSIDE
    area = row_of(netting, outside) if outside else -1
    lay(state, place, velocity, spin, side=side, area=area)
    step_balls(state)
    assert state.sides[0, 0].tolist() == [side, area]
    return state.places[0, 0], state.velocities[0, 0], state.spins[0, 0]


def roof(netting: Netting) -> float:
    """The height at which the roof hangs."""
    (face,) = (face for face in netting.faces if face.name == "C")
    return -face.place(0)


# Faces from both sides: name, whether from outside, a place on the plane of the area,
# and the normal. The roof's height is that of the netting: NaN here.
FACES = [
    ("A", False, (-3.57, 1.5, -1.0), (1, 0, 0)),
    ("A", True, (-3.87, 1.5, -1.0), (-1, 0, 0)),
    ("B", False, (3.57, 1.5, -1.0), (-1, 0, 0)),
    ("B", True, (3.87, 1.5, -1.0), (1, 0, 0)),
    ("C", False, (1.0, np.nan, -1.0), (0, -1, 0)),
    ("C", True, (1.0, np.nan, -1.0), (0, 1, 0)),
    ("D", False, (1.0, 1.5, -1.85), (0, 0, 1)),
    ("D", True, (1.0, 1.5, -2.15), (0, 0, -1)),
]
faces = pytest.mark.parametrize(
    ("name", "is_outside", "plane", "normal"),
    FACES,
    ids=[f"{name} {'outside' if out else 'inside'}" for name, out, *_ in FACES],
)


def at(netting: Netting, plane: Any, normal: Any, depth: float) -> Any:
    """A place so deep behind a plane of FACES."""
    place = np.array(plane, float)
    if np.isnan(place[1]):
        place[1] = roof(netting) + 0.15 * normal[1]
    return place - depth * np.array(normal)


@faces
@pytest.mark.parametrize("depth", [0.05, 0.2, 1.1])
def test_k1_pushes_back_by_the_square_of_the_depth(
    name: str, is_outside: bool, plane: Any, normal: Any, depth: float
) -> None:
    own = goal(only(k1=300))
    start = at(own, plane, normal, depth)
    place, velocity, spin = stepped(own, start, outside=name if is_outside else "")
    expected = 300 * depth**2 * T * np.array(normal)
    np.testing.assert_allclose(velocity, expected, atol=1e-12)
    # The new velocity moves it.
    np.testing.assert_allclose(place, start + expected * T, atol=1e-12)
    assert (spin == 0).all()


@faces
def test_nothing_before_the_plane(
    name: str, is_outside: bool, plane: Any, normal: Any
) -> None:
    own = goal(NET, BallSettings())
    start = at(own, plane, normal, -0.06)
    state = init_netting(own)
    lay(state, start, (1, 2, 3), side=OUTSIDE if is_outside else INSIDE)
    step_balls(state)
    expected = np.array([1, 2 - 9.81 * T, 3])
    np.testing.assert_allclose(state.velocities[0, 0], expected, atol=1e-12)
    np.testing.assert_allclose(
        state.places[0, 0], start + expected * T, rtol=0, atol=1e-12
    )


def test_an_outside_ball_is_not_held_by_inside_areas_nor_the_other_way_around() -> None:
    own = goal(only(k1=300))
    # 0.1 m in front of D from the inside, 0.25 m beyond it from the outside.
    place = (0, 1, -1.9)
    _, inside, _ = stepped(own, place)
    _, outside, _ = stepped(own, place, outside="D")
    np.testing.assert_allclose(inside, (0, 0, 300 * 0.05**2 * T), atol=1e-12)
    np.testing.assert_allclose(outside, (0, 0, -300 * 0.25**2 * T), atol=1e-12)


def test_k2a_slows_what_leaves_along_the_normal() -> None:
    own = goal(only(k2a=100))
    _, velocity, _ = stepped(own, (0, 1.5, -2.05), (1, 2, 3))
    np.testing.assert_allclose(velocity, (1, 2, 3 - 100 * 0.2**2 * 3 * T), atol=1e-12)
    _, velocity, _ = stepped(own, (0, 1.5, -2.05), (1, 2, -3))
    np.testing.assert_allclose(velocity, (1, 2, -3), atol=1e-12)


def test_k2b_slows_what_enters_along_the_normal() -> None:
    own = goal(only(k2b=60))
    _, velocity, _ = stepped(own, (0, 1.5, -2.05), (1, 2, -3))
    np.testing.assert_allclose(velocity, (1, 2, -3 + 60 * 0.2**2 * 3 * T), atol=1e-12)
    _, velocity, _ = stepped(own, (0, 1.5, -2.05), (1, 2, 3))
    np.testing.assert_allclose(velocity, (1, 2, 3), atol=1e-12)


def test_k3_slows_motion_along_the_face() -> None:
    own = goal(only(k3=12))
    _, velocity, _ = stepped(own, (0, 1.5, -2.05), (1, 2, -3))
    slow = 1 - 12 * 0.2**2 * T
    np.testing.assert_allclose(velocity, (1 * slow, 2 * slow, -3), atol=1e-12)


def test_damping_on_a_slanted_face() -> None:
    """The back leans forward by 1 m in 2.5 m: N = (0, -1, 2.5) / 2.6926."""
    push = only(k2a=20, k2b=60, k3=12)
    own = make_goal(GoalSettings(push=push, top_depth=1.0), ball=WEIGHTLESS)
    normal = np.array([0, -1, 2.5]) / np.hypot(1, 2.5)
    middle = np.array([0, 1.25, -1.5])
    start = middle + (0.15 - 0.3) * normal
    v = np.array([1.0, -2.0, -3.0])
    along_n = (2 * 1 - 3 * 2.5) / np.hypot(1, 2.5)
    assert along_n < 0
    a = -60 * 0.3**2 * along_n * normal - 12 * 0.3**2 * (v - along_n * normal)
    place, velocity, _ = stepped(own, start, v)
    np.testing.assert_allclose(velocity, v + a * T, atol=1e-12)
    np.testing.assert_allclose(place, start + velocity * T, atol=1e-12)


@pytest.mark.parametrize("height", [0.2, 0.5, 1.0])
def test_k4_lifts_a_low_ball_that_enters(height: float) -> None:
    own = goal(only(k1=300, k4=0.8))
    push = 300 * 0.2**2
    _, velocity, _ = stepped(own, (0, height, -2.05), (0, 0, -1))
    up = 0.8 * push * (1 - height / H1) ** 2 * T
    np.testing.assert_allclose(velocity, (0, up, -1 + push * T), atol=1e-12)


@pytest.mark.parametrize(
    ("height", "speed"),
    [(H1, -1.0), (1.3, -1.0), (2.2, -1.0), (0.5, 0.0), (0.5, 1.0)],
)
def test_k4_is_nothing_high_up_or_on_the_way_out(height: float, speed: float) -> None:
    own = goal(only(k1=300, k4=0.8))
    _, velocity, _ = stepped(own, (0, height, -2.05), (0, 0, speed))
    np.testing.assert_allclose(velocity, (0, 0, speed + 300 * 0.2**2 * T), atol=1e-12)


def test_k4_counts_from_the_ground() -> None:
    ball = BallSettings(gravity=0, ground=3.0)
    own = goal(only(k1=300, k4=0.8), ball)
    _, velocity, _ = stepped(own, (0, 3.5, -2.05), (0, 0, -1))
    up = 0.8 * 300 * 0.2**2 * (1 - 0.5 / H1) ** 2 * T
    np.testing.assert_allclose(velocity[1], up, atol=1e-12)


def test_k4_lifts_on_both_sides_of_a_wall_but_never_on_the_roof() -> None:
    own = goal(only(k1=300, k4=0.8))
    for name, place, velocity in (
        ("", (-3.77, 0.5, -1), (-1, 0, 0)),
        ("A", (-3.67, 0.5, -1), (1, 0, 0)),
        ("D", (0, 0.5, -1.95), (0, 0, 1)),
    ):
        _, found, _ = stepped(own, place, velocity, outside=name)
        up = 0.8 * 300 * 0.2**2 * (1 - 0.5 / H1) ** 2 * T
        np.testing.assert_allclose(found[1], up, atol=1e-12)
    marks, areas = own.areas.marks, own.areas.areas
    is_roof = marks[:, layout.FACE] == 3
    assert is_roof.sum() == 4
    assert (areas[is_roof, layout.K4] == 0).all()


def sheet(lower: Any, upper: Any, **named: Any) -> SheetPlan:
    """A flat sheet that hangs where it is drawn."""
    return SheetPlan(lower=lower, upper=upper, hang=0.0, **named)


@pytest.mark.parametrize(
    ("low", "lean", "climbs"),
    [
        (0.0, 0.0, True),  # a wall
        (0.0, 1.5, True),  # a slope
        (0.0, 3.0, False),  # nearly a roof
        (0.5, 0.0, False),  # a curtain that ends above the ground
    ],
)
def test_k4_acts_on_what_stands_on_the_ground(
    low: float, lean: float, climbs: bool
) -> None:
    """A sheet 2 m high, its front toward +z and up."""
    plan = sheet(
        ((-2, low, 0), (2, low, 0)),
        ((-2, low + 2, -lean), (2, low + 2, -lean)),
        push=only(k1=300, k4=0.8),
    )
    own = make_netting(plan, ball=WEIGHTLESS)
    normal = np.array([0, lean, 2]) / np.hypot(lean, 2)
    place = np.array([0, low + 0.5, -lean / 4]) + (0.15 - 0.2) * normal
    state = init_netting(own)
    lay(state, place, -normal, side=OUTSIDE, area=0)
    step_balls(state)
    expected = -normal + 300 * 0.2**2 * normal * T
    height = place[1]
    half = (low + 2) / 2
    if climbs:
        expected[1] += 0.8 * 300 * 0.2**2 * (1 - height / half) ** 2 * T
    assert height < half
    np.testing.assert_allclose(state.velocities[0, 0], expected, atol=1e-12)


# Friction: k1 d^2 = 12, of which k5 = 0.1.
RUB = only(k1=300, k5=0.1)


def test_k5_rubs_against_sliding_and_turns_the_ball() -> None:
    _, velocity, spin = stepped(goal(RUB), (0, 1.5, -2.05), (3, 0, 0))
    np.testing.assert_allclose(velocity, (3 - 1.2 * T, 0, 12 * T), atol=1e-12)
    # The back of the ball is held, so it turns about +y: as if it rolled along D.
    turned = 1.2 * T / (HOLLOW * RADIUS)
    np.testing.assert_allclose(spin, (0, turned, 0), atol=1e-12)


def test_k5_pushes_a_ball_that_spins_on_the_spot() -> None:
    _, velocity, spin = stepped(goal(RUB), (0, 1.5, -2.05), spin=(0, 30, 0))
    np.testing.assert_allclose(velocity, (1.2 * T, 0, 12 * T), atol=1e-12)
    slowed = 30 - 1.2 * T / (HOLLOW * RADIUS)
    np.testing.assert_allclose(spin, (0, slowed, 0), atol=1e-12)


def test_k5_looks_at_sliding_along_the_face_alone() -> None:
    _, velocity, spin = stepped(goal(RUB), (0, 1.5, -2.05), (3, -4, -12), (0, 0, 50))
    along = np.array([3, -4, 0])
    expected = along * (1 - 1.2 * T / 5)
    np.testing.assert_allclose(velocity, (*expected[:2], -12 + 12 * T), atol=1e-12)
    assert spin[2] == 50  # about the normal: it slides nowhere


@pytest.mark.parametrize(
    ("velocity", "spin"),
    [((0, 0, 0), (0, 0, 0)), ((0, 0, -2), (0, 0, 9)), ((0.11, 0, 0), (0, 1, 0))],
    ids=["at rest", "about the normal", "rolling along"],
)
def test_k5_is_nothing_without_sliding(velocity: Any, spin: Any) -> None:
    _, found, turned = stepped(goal(RUB), (0, 1.5, -2.05), velocity, spin)
    np.testing.assert_array_equal(found[:2], velocity[:2])
    np.testing.assert_allclose(found[2], velocity[2] + 12 * T, atol=1e-12)
    np.testing.assert_array_equal(turned, spin)


def test_k5_ends_sliding_but_does_not_turn_it_around() -> None:
    """1.2 T would be 0.005 m/s; of 0.001 m/s 2/5 go from the velocity, for a hollow
    ball, and the spin takes the rest.
    """
    _, velocity, spin = stepped(goal(RUB), (0, 1.5, -2.05), (0.001, 0, 0))
    np.testing.assert_allclose(velocity[0], 0.001 * 3 / 5, rtol=1e-9)
    np.testing.assert_allclose(RADIUS * spin[1], 0.001 * 3 / 5, rtol=1e-9)


vectors = st.tuples(*[st.floats(-7, 7)] * 3)  # so slow that a step is one


@settings(max_examples=60, deadline=None)
@given(
    velocity=vectors,
    spin=vectors,
    inertia=st.sampled_from([2 / 5, 2 / 3]),
    radius=st.sampled_from([0.11, 0.2]),
    face=st.sampled_from([f for f in FACES if f[0] != "C"]),
)
def test_friction_gives_to_the_spin_what_it_takes_from_the_velocity(
    velocity: Any, spin: Any, inertia: float, radius: float, face: Any
) -> None:
    """A force F on the skin at -r N: inertia r dR = dV x N; and it only slows."""
    name, is_outside, plane, normal = face
    push = only(k1=300, k5=0.5)
    own = goal(push, BallSettings(gravity=0, inertia=inertia, radius=radius))
    start = at(own, plane, normal, 0.2)
    _, after, turned = stepped(
        own, start, velocity, spin, outside=name if is_outside else ""
    )
    rubbed = after - velocity - 12 * T * np.array(normal)
    np.testing.assert_allclose(rubbed @ normal, 0, atol=1e-12)
    np.testing.assert_allclose(
        inertia * radius * (turned - spin), np.cross(rubbed, normal), atol=1e-12
    )

    def slides(v: Any, w: Any) -> Any:
        s = np.array(v) - radius * np.cross(w, normal)
        return s - (s @ normal) * np.array(normal)

    first, last = slides(velocity, spin), slides(after, turned)
    size = np.linalg.norm(first)
    most = 0.5 * 12 * T * (1 + 1 / inertia)
    np.testing.assert_allclose(
        last, first * max(1 - most / max(size, 1e-9), 0), atol=1e-10
    )


@pytest.mark.parametrize(
    "start",
    [(0, 1, -1), (0, 1, -2.05), (-3.9, 1, -2.2), (-3.9, 2.6, -2.2)],
    ids=["no area", "one area", "two areas", "three areas"],
)
def test_gravity_acts_once_however_many_areas_do(start: Any) -> None:
    own = goal(only(), BallSettings())
    place, velocity, _ = stepped(own, start, (1, 0, 0))
    expected = np.array([1, -9.81 * T, 0])
    np.testing.assert_allclose(velocity, expected, atol=1e-12)
    np.testing.assert_allclose(place, start + expected * T, atol=1e-12)


def test_in_a_corner_two_areas_add() -> None:
    own = goal(only(k1=300), BallSettings())
    _, velocity, _ = stepped(own, (-3.67, 1.5, -2.05))
    a = (300 * 0.1**2, -9.81, 300 * 0.2**2)
    np.testing.assert_allclose(velocity, np.array(a) * T, atol=1e-12)


def test_in_a_corner_three_areas_add() -> None:
    own = goal(only(k1=300), BallSettings())
    height = roof(own) - 0.15 + 0.3
    _, velocity, _ = stepped(own, (3.67, height, -2.05))
    a = (-300 * 0.1**2, -9.81 - 300 * 0.3**2, 300 * 0.2**2)
    np.testing.assert_allclose(velocity, np.array(a) * T, atol=1e-12)


def test_in_a_corner_all_terms_add() -> None:
    """What three areas do is the sum of what each does alone."""
    own = goal(NET)
    v, w = np.array([-2.0, 3.0, -4.0]), np.array([5.0, -20.0, 9.0])
    high = roof(own) - 0.15 + 0.3
    corner, *alone = (
        stepped(own, place, v, w)[1:]
        for place in (
            (-3.67, high, -2.05),
            (-3.67, 1.5, -1.0),
            (1.0, high, -1.0),
            (1.0, 1.5, -2.05),
        )
    )
    for found, start, which in ((corner[0], v, 0), (corner[1], w, 1)):
        parts = sum(one[which] - start for one in alone)
        np.testing.assert_allclose(found - start, parts, atol=1e-12)


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
