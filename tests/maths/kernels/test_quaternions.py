"""Quaternions one by one against those of NumPy."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from flexor.maths import euler, quaternions
from flexor.maths.kernels import quaternions as kernel

numbers = st.floats(-1, 1).map(lambda x: x if abs(x) > 1e-6 else 0.0)
rotations = st.tuples(numbers, numbers, numbers, numbers).filter(
    lambda q: sum(x * x for x in q) > 0.01
)


def unit(q: Any) -> Any:
    return quaternions.normalise(np.array(q, np.float64))


def is_same(one: Any, other: Any) -> bool:
    """Whether two quaternions are one rotation."""
    return bool(abs(abs(np.dot(one, other)) - 1) < 1e-9)


@settings(max_examples=100)
@given(rotations, rotations)
def test_turns_as_numpy_has_them(a: Any, b: Any) -> None:
    a, b = unit(a), unit(b)
    both = kernel.turn_both(*a, *b)
    np.testing.assert_allclose(both, quaternions.multiply(a, b), atol=1e-12)
    vector = np.array([0.3, -2.0, 0.7])
    turned = kernel.turn_vector(*a, *vector)
    np.testing.assert_allclose(turned, quaternions.to_matrix(a) @ vector, atol=1e-12)
    np.testing.assert_allclose(kernel.make_unit(*(3 * a)), a, atol=1e-12)


def test_nothing_has_no_turn() -> None:
    assert kernel.make_unit(0.0, 0.0, 0.0, 0.0) == (0, 0, 0, 1)
    assert kernel.part_turn(0.0, 0.0, 0.0, 1.0, 0.5) == (0, 0, 0, 1)


@settings(max_examples=100)
@given(rotations, st.floats(0, 1))
def test_a_part_of_a_turn(q: Any, part: float) -> None:
    q = unit(q)
    whole = 2 * np.arctan2(np.linalg.norm(q[:3]), abs(q[3]))
    got = np.array(kernel.part_turn(*q, part))
    angle = 2 * np.arctan2(np.linalg.norm(got[:3]), abs(got[3]))
    assert abs(angle - part * whole) < 1e-8
    if part == 1:
        assert is_same(got, q)
    rest = np.array(kernel.part_turn(*q, 1 - part))
    if whole < 3.1:
        assert is_same(kernel.turn_both(*rest, *got), q)


@settings(max_examples=200)
@given(rotations)
def test_angles_are_those_of_euler(q: Any) -> None:
    q = unit(q)
    angles = kernel.angles_zyx(*q)
    apart = angles - euler.to_euler(q)
    # Half a circle is the same either way round.
    np.testing.assert_allclose(np.exp(1j * apart), 1, atol=1e-9)
    assert np.abs(angles).max() <= np.pi
    assert is_same(kernel.from_angles_zyx(*angles), q)


@pytest.mark.parametrize("middle", [-90, 90])
@pytest.mark.parametrize("about_z", [-170, -30, 0, 100])
def test_angles_where_two_axes_are_one(middle: float, about_z: float) -> None:
    q = kernel.from_angles_zyx(*np.radians([about_z, middle, 40.0]))
    angles = kernel.angles_zyx(*q)
    assert np.isfinite(angles).all()
    np.testing.assert_allclose(angles, euler.to_euler(np.array(q)), atol=1e-6)
    assert is_same(kernel.from_angles_zyx(*angles), q)
