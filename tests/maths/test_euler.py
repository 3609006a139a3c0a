"""Three angles: against matrices, at the middle angle's ends, and clamped."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from flexor.maths import quaternions
from flexor.maths.euler import clamp_angles, clamp_rotation, from_euler, to_euler

TURN = st.floats(-math.pi, math.pi)
QUARTER = st.floats(-math.pi / 2, math.pi / 2)
ANGLES = st.tuples(TURN, QUARTER, TURN)
LENGTHS = st.floats(0.1, 10)


def about(axis: int, angle: float) -> Any:
    """The matrix of a turn about X, Y or Z."""
    cos, sin = math.cos(angle), math.sin(angle)
    one, two = (axis + 1) % 3, (axis + 2) % 3
    matrix = np.eye(3)
    matrix[one, one] = matrix[two, two] = cos
    matrix[one, two], matrix[two, one] = -sin, sin
    return matrix


def product(angles: tuple[float, float, float]) -> Any:
    a, b, c = angles
    return about(2, a) @ about(1, b) @ about(0, c)


def apart(one: Any, other: Any) -> float:
    """Radians between two rotations."""
    relative = quaternions.multiply(one * [-1, -1, -1, 1], other)
    return 2 * math.atan2(float(np.linalg.norm(relative[:3])), abs(float(relative[3])))


@given(ANGLES)
def test_from_euler_is_the_product_of_three_turns(angles: Any) -> None:
    made = quaternions.to_matrix(from_euler(np.array(angles)))
    np.testing.assert_allclose(made, product(angles), atol=1e-14)


@given(ANGLES, LENGTHS, st.sampled_from([1, -1]))
def test_to_euler_turns_back(angles: Any, length: float, sign: int) -> None:
    given_ = np.array(angles)
    found = to_euler(from_euler(given_) * (length * sign))
    assert (np.abs(found) <= [math.pi, math.pi / 2 + 1e-15, math.pi]).all()
    assert apart(from_euler(found), from_euler(given_)) < 4e-6
    if abs(given_[1]) < 1.5:
        turns = (found - given_) / (2 * math.pi)
        np.testing.assert_allclose(turns, np.round(turns), atol=1e-13)


@given(TURN, TURN, st.sampled_from([-1, 1]), st.floats(0, 1e-5))
@example(0.3, -2.0, 1, 0.0)
def test_the_ends_of_the_middle_angle(a: float, c: float, end: int, off: float) -> None:
    """Near 90 degrees the rotation is still the same one, and nothing is lost."""
    given_ = from_euler(np.array([a, end * (math.pi / 2 - off), c]))
    found = to_euler(given_)
    assert np.isfinite(found).all()
    assert abs(found[1] - end * (math.pi / 2 - off)) < 1e-13
    assert apart(from_euler(found), given_) < 4e-6


@pytest.mark.parametrize("end", [-1, 1])
def test_at_the_ends_all_is_the_first_angle(end: int) -> None:
    found = to_euler(from_euler(np.array([0.5, end * math.pi / 2, 0.25])))
    np.testing.assert_allclose(
        found, [0.5 - end * 0.25, end * math.pi / 2, 0], atol=1e-14
    )


def test_odd_rotations() -> None:
    odd = np.array([[0, 0, 0, 0], [0, 0, 0, -1], [1, 0, 0, 0], [0, 1, 0, 0]], float)
    found = to_euler(odd)
    assert np.isfinite(found).all()
    np.testing.assert_array_equal(found[:2], 0)
    assert to_euler(odd.astype(np.float32)).dtype == np.float32
    assert from_euler(np.zeros((0, 3))).shape == (0, 4)
    assert to_euler(np.zeros((2, 0, 4))).shape == (2, 0, 3)


def test_float32_is_close(rng: np.random.Generator) -> None:
    given_ = quaternions.normalise(rng.normal(size=(1000, 4)))
    back = from_euler(to_euler(given_.astype(np.float32)).astype(np.float64))
    dots = np.abs((back * given_).sum(-1))
    assert dots.min() > 1 - 1e-11


RANGE = st.tuples(st.floats(0, math.pi), st.floats(0, math.pi))


@settings(max_examples=200)
@example((1.421216599371097, -0.0078125, 2.0), ((0, 2), (1, 0), (math.pi, 0)))
@given(ANGLES, st.tuples(RANGE, RANGE, RANGE))
def test_clamped_rotations_lie_within(angles: Any, ranges: Any) -> None:
    low, high = -np.array([r[0] for r in ranges]), np.array([r[1] for r in ranges])
    low[1], high[1] = max(low[1], -math.pi / 2), min(high[1], math.pi / 2)
    rotation = from_euler(np.array(angles))
    clamped = clamp_rotation(rotation, low, high)
    found = clamp_angles(to_euler(rotation), low, high)
    assert (found >= low).all()
    assert (found <= high).all()
    assert apart(clamped, from_euler(found)) < 1e-7
    again = clamp_rotation(clamped, low - 1e-7, high + 1e-7)
    # An end at half a circle has two names; what lies there may be given the other.
    is_round = np.abs(found[[0, 2]]).max() > math.pi - 1e-6
    if is_round:
        assert apart(again, clamped) < 1e-6
    elif abs(found[1]) < 1.57:
        np.testing.assert_array_equal(again, clamped)
    inside = to_euler(rotation)
    if ((inside >= low) & (inside <= high)).all():
        np.testing.assert_array_equal(clamped, rotation)


def test_the_shorter_way_round() -> None:
    low, high = np.radians([-170, -10, -10.0]), np.radians([100, 10, 10.0])
    found = clamp_angles(np.radians([[175, 20, -30.0], [110, -20, 170]]), low, high)
    np.testing.assert_allclose(
        np.degrees(found), [[-170, 10, -10], [100, -10, 10]], atol=1e-12
    )


def test_half_a_circle_is_met_from_both_sides() -> None:
    """Its float32 is a little more than it: an angle of 180 is allowed, not far off."""
    low = np.radians([-90, -30, -180]).astype(np.float32)
    high = np.radians([180, 30, 100]).astype(np.float32)
    for angles in ((10, 10, 180), (-180, 10, 20), (10, 10, 179.99999)):
        got = clamp_angles(np.radians(np.array(angles, np.float64)), low, high)
        apart = np.exp(1j * got) - np.exp(1j * np.radians(angles))
        assert np.abs(apart).max() < 1e-5
