"""Reactions of a net's faces, term by term."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from flexor.stage.goal import layout
from flexor.stage.goal.netting import make_netting
from flexor.stage.goal.plan import BallSettings
from flexor.stage.goal.soccer import GoalSettings, make_goal
from flexor.stage.goal.state import init_netting, step_balls
from tests.oracle.ball import INSIDE, OUTSIDE, lay
from tests.stage.goal.reactions import (
    FACES,
    NET,
    WEIGHTLESS,
    T,
    at,
    faces,
    goal,
    only,
    roof,
    sheet,
    stepped,
)

HOLLOW, RADIUS = 2 / 3, 0.11


H1 = 1.25  # half of 2.44 m and the bar's axis above it


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


@settings(max_examples=60)
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
