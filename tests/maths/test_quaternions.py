"""Quaternions against Rodrigues' formula and their own algebra."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from flexor.maths import quaternions

PARTS = st.floats(-1, 1, width=32)
AXES = arrays(np.float64, 3, elements=PARTS).filter(lambda a: np.linalg.norm(a) > 0.1)
ANGLES = st.floats(-3.14, 3.14)


def rodrigues(axis: Any, angle: float) -> Any:
    """The turn by `angle` about a unit axis, from the cross product matrix."""
    x, y, z = axis
    cross = np.array([[0, -z, y], [z, 0, -x], [-y, x, 0]])
    return np.eye(3) + math.sin(angle) * cross + (1 - math.cos(angle)) * cross @ cross


def quaternion(axis: Any, angle: float) -> Any:
    return np.append(math.sin(angle / 2) * axis, math.cos(angle / 2))


@given(AXES, ANGLES)
def test_to_matrix_is_rodrigues(axis: Any, angle: float) -> None:
    axis = axis / np.linalg.norm(axis)
    made = quaternions.to_matrix(quaternion(axis, angle))
    np.testing.assert_allclose(made, rodrigues(axis, angle), atol=1e-12)


@given(AXES, st.floats(-20, 20))
def test_from_matrix_turns_back(axis: Any, angle: float) -> None:
    axis = axis / np.linalg.norm(axis)
    turn = rodrigues(axis, angle)
    q = quaternions.from_matrix(turn)
    assert abs(np.linalg.norm(q) - 1) < 1e-12
    np.testing.assert_allclose(quaternions.to_matrix(q), turn, atol=1e-11)
    # The same up to sign, also where sine or cosine vanish.
    assert abs(abs(q @ quaternion(axis, angle)) - 1) < 1e-12


@pytest.mark.parametrize("row", range(4))
def test_from_matrix_half_turns(row: int) -> None:
    """Each of the four formulas once: half turns about x, y, z, and no turn."""
    q = np.eye(4)[row]
    back = quaternions.from_matrix(quaternions.to_matrix(q))
    np.testing.assert_array_equal(np.abs(back), q)


def test_from_matrix_near_half_turn_keeps_float32_precision(
    rng: np.random.Generator,
) -> None:
    axes = rng.normal(size=(500, 3))
    axes /= np.linalg.norm(axes, axis=1, keepdims=True)
    turns = np.array([rodrigues(a, math.pi - 1e-4) for a in axes]).astype(np.float32)
    back = quaternions.to_matrix(quaternions.from_matrix(turns))
    assert back.dtype == np.float32
    np.testing.assert_allclose(back, turns, atol=1e-6)


# Lengths are summed squares, which have few digits left below 1e-150.
NOT_TINY = st.floats(-5, 5).map(lambda x: x if abs(x) > 1e-100 else 0.0)


@given(arrays(np.float64, (3, 2, 4), elements=NOT_TINY))
def test_normalise(q: Any) -> None:
    unit = quaternions.normalise(q)
    length = np.linalg.norm(q, axis=-1)
    assert unit.shape == q.shape
    np.testing.assert_allclose(np.linalg.norm(unit, axis=-1), 1, atol=1e-12)
    np.testing.assert_allclose(
        unit * length[..., None], q, atol=1e-12 * max(1, length.max())
    )


def test_normalise_zero_is_the_identity() -> None:
    unit = quaternions.normalise(np.zeros((2, 4), np.float32))
    assert unit.dtype == np.float32
    np.testing.assert_array_equal(unit, [[0, 0, 0, 1]] * 2)


@settings(max_examples=50)
@given(AXES, ANGLES, AXES, ANGLES)
def test_product_of_matrices_is_product_of_quaternions(
    a: Any, alpha: float, b: Any, beta: float
) -> None:
    p = quaternion(a / np.linalg.norm(a), alpha)
    q = quaternion(b / np.linalg.norm(b), beta)
    both = np.append(
        p[3] * q[:3] + q[3] * p[:3] + np.cross(p[:3], q[:3]),
        p[3] * q[3] - p[:3] @ q[:3],
    )
    product = quaternions.to_matrix(p) @ quaternions.to_matrix(q)
    np.testing.assert_allclose(quaternions.to_matrix(both), product, atol=1e-12)


def test_leading_axes(rng: np.random.Generator) -> None:
    q = quaternions.normalise(rng.normal(size=(2, 3, 5, 4)))
    matrices = quaternions.to_matrix(q)
    assert matrices.shape == (2, 3, 5, 3, 3)
    np.testing.assert_array_equal(matrices[1, 2, 3], quaternions.to_matrix(q[1, 2, 3]))
    back = quaternions.from_matrix(matrices)
    np.testing.assert_allclose(np.abs((back * q).sum(-1)), 1, atol=1e-12)
    assert quaternions.from_matrix(matrices[:0]).shape == (0, 3, 5, 4)


def test_a_product_turns_by_the_second_first(rng: np.random.Generator) -> None:
    one, other = (quaternions.normalise(rng.normal(size=(5, 4))) for _ in range(2))
    both = quaternions.to_matrix(quaternions.multiply(one, other))
    wanted = quaternions.to_matrix(one) @ quaternions.to_matrix(other)
    np.testing.assert_allclose(both, wanted, atol=1e-12)
    alone = quaternions.multiply(one[0], other)  # spread over leading axes
    np.testing.assert_allclose(alone[0], quaternions.multiply(one[0], other[0]))


@given(AXES, ANGLES)
def test_about_an_axis(axis: Any, angle: float) -> None:
    unit = axis / np.linalg.norm(axis)
    turn = quaternions.about(unit, angle)
    np.testing.assert_allclose(
        quaternions.to_matrix(turn), rodrigues(unit, angle), atol=1e-12
    )


def test_about_many_axes_or_by_many_angles() -> None:
    axes, angles = np.eye(3), [0.1, -0.2, 3.0]
    every = quaternions.about(axes, angles)
    assert every.shape == (3, 4)
    for row in range(3):
        np.testing.assert_array_equal(
            quaternions.about(axes[row], angles[row]), every[row]
        )
        np.testing.assert_array_equal(
            quaternions.about(axes[row], angles)[row], every[row]
        )
        np.testing.assert_array_equal(
            quaternions.about(axes, angles[row])[row], every[row]
        )
