"""Affine transforms against homogeneous matrices and their own algebra."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from flexor.maths import quaternions, transforms

SEEDS = st.integers(0, 2**32 - 1)
SIZES = st.floats(0.05, 20) | st.floats(-20, -0.05)


def homogeneous(m: Any) -> Any:
    return np.vstack([m, [0, 0, 0, 1]])


def random_affine(rng: np.random.Generator, *shape: int) -> Any:
    return rng.normal(size=(*shape, 3, 4))


def parts(seed: int) -> tuple[Any, Any]:
    rng = np.random.default_rng(seed)
    return rng.normal(size=3), quaternions.normalise(rng.normal(size=4))


@given(SEEDS, arrays(np.float64, 3, elements=SIZES))
def test_compose_scales_then_turns_then_moves(seed: int, scale: Any) -> None:
    move, turn = parts(seed)
    point = np.random.default_rng(seed + 1).normal(size=3)
    by_steps = quaternions.to_matrix(turn) @ (scale * point) + move
    made = transforms.apply(transforms.compose(move, turn, scale), point[None])[0]
    np.testing.assert_allclose(made, by_steps, atol=1e-10)


@given(SEEDS, arrays(np.float64, 3, elements=SIZES))
def test_decompose_gives_the_same_matrix(seed: int, scale: Any) -> None:
    """Also with negative scales: the parts may differ, the matrix does not."""
    m = transforms.compose(*parts(seed), scale)
    move, turn, size = transforms.decompose(m)
    np.testing.assert_allclose(transforms.compose(move, turn, size), m, atol=1e-9)
    np.testing.assert_allclose(np.abs(size), np.abs(scale), rtol=1e-9)
    assert (size[1:] > 0).all()
    assert (size[0] < 0) == (np.prod(scale) < 0)


@given(SEEDS, arrays(np.float64, 3, elements=st.floats(0.05, 20)))
def test_decompose_positive_scales_gives_the_parts(seed: int, scale: Any) -> None:
    move, turn = parts(seed)
    again, back, size = transforms.decompose(transforms.compose(move, turn, scale))
    np.testing.assert_array_equal(again, move)
    assert abs(abs(back @ turn) - 1) < 1e-9
    np.testing.assert_allclose(size, scale, rtol=1e-9)


@pytest.mark.parametrize("zeros", [(0,), (1,), (2,), (0, 1), (1, 2), (0, 1, 2)])
def test_decompose_with_zero_scales(zeros: Any, rng: np.random.Generator) -> None:
    """A flattened node stays finite, and as flat and turned as it was."""
    for _ in range(50):
        scale = rng.uniform(0.5, 2, 3)
        scale[list(zeros)] = 0
        turn = quaternions.normalise(rng.normal(size=4))
        m = transforms.compose(rng.normal(size=3), turn, scale)
        move, back, size = transforms.decompose(m)
        assert (size[list(zeros)] == 0).all()
        assert abs(np.linalg.norm(back) - 1) < 1e-12
        np.testing.assert_allclose(transforms.compose(move, back, size), m, atol=1e-12)


def test_decompose_keeps_the_type_and_owns_the_translation() -> None:
    m = np.eye(3, 4, dtype=np.float32)[None]
    found = transforms.decompose(m)
    assert all(part.dtype == np.float32 for part in found)
    found[0][:] = 5
    assert (m[0, :, 3] == 0).all()


def test_multiply_is_the_matrix_product(rng: np.random.Generator) -> None:
    a, b = random_affine(rng), random_affine(rng)
    expected = (homogeneous(a) @ homogeneous(b))[:3]
    np.testing.assert_allclose(transforms.multiply(a, b), expected, atol=1e-12)


def test_multiply_does_b_first(rng: np.random.Generator) -> None:
    a, b, points = random_affine(rng), random_affine(rng), rng.normal(size=(4, 3))
    at_once = transforms.apply(transforms.multiply(a, b), points)
    in_turn = transforms.apply(a, transforms.apply(b, points))
    np.testing.assert_allclose(at_once, in_turn, atol=1e-12)


def test_multiply_broadcasts(rng: np.random.Generator) -> None:
    one, many = random_affine(rng), random_affine(rng, 2, 5)
    left, right = transforms.multiply(one, many), transforms.multiply(many, one)
    assert left.shape == right.shape == (2, 5, 3, 4)
    np.testing.assert_allclose(left[1, 3], transforms.multiply(one, many[1, 3]))
    np.testing.assert_allclose(right[1, 3], transforms.multiply(many[1, 3], one))


def test_invert(rng: np.random.Generator) -> None:
    m = random_affine(rng, 20) + 3 * np.eye(3, 4)
    back = transforms.invert(m)
    expected = np.array([np.linalg.inv(homogeneous(one))[:3] for one in m])
    np.testing.assert_allclose(back, expected, atol=1e-9)
    there = transforms.multiply(m, back)
    np.testing.assert_allclose(there, np.broadcast_to(np.eye(3, 4), m.shape), atol=1e-9)


def test_invert_refuses_a_flat_transform() -> None:
    with pytest.raises(np.linalg.LinAlgError):
        transforms.invert(np.zeros((3, 4)))


def test_apply_to_many(rng: np.random.Generator) -> None:
    m, points = random_affine(rng, 3), rng.normal(size=(3, 7, 3))
    moved = transforms.apply(m, points)
    for i in range(3):
        for p in range(7):
            expected = m[i, :, :3] @ points[i, p] + m[i, :, 3]
            np.testing.assert_allclose(moved[i, p], expected, atol=1e-12)
    np.testing.assert_allclose(transforms.apply(m[0], points[0]), moved[0], atol=1e-12)
