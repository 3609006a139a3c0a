"""Matrices for normals: when they are needed, and what they are."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from flexor.deform.kernels import vertices as kernel
from flexor.maths import transforms
from tests.oracle import deform as oracle
from tests.scenes import random_rotations, random_scales

Rng = np.random.Generator


def matrices(rng: Rng, scales: Any) -> Any:
    """Affine (S, 3, 4) with these scales (S, 3)."""
    count = len(scales)
    turns = random_rotations(rng, count)
    made = transforms.compose(rng.normal(size=(count, 3)) * 9, turns, scales)
    return made.astype(np.float32)


def normal_palette(palette: Any) -> tuple[bool, Any]:
    out = np.full(palette.size, np.nan, np.float32)
    is_needed = kernel.normal_palette(palette.reshape(-1), out)
    return bool(is_needed), out.reshape(-1, 3, 4)


@pytest.mark.parametrize("factor", [1, -1, 1e-3, 0.37, 250, -40])
@pytest.mark.parametrize("count", [1, 2, 7])
def test_even_palettes_need_none(factor: float, count: int, rng: Rng) -> None:
    """Turns, mirrors and one scale for all: the palette itself turns the normals."""
    for _ in range(20):
        mirrors = rng.choice([-1, 1], (count, 3))
        assert not normal_palette(matrices(rng, mirrors * factor))[0]


@pytest.mark.parametrize("off", [1.01, 0.99, 3, 1e-3, 0])
@pytest.mark.parametrize("axis", range(3))
@pytest.mark.parametrize("place", [0, 1, 3])
def test_one_scale_that_differs_needs_them(
    off: float, axis: int, place: int, rng: Rng
) -> None:
    scales = np.ones((4, 3))
    scales[place, axis] = off
    for _ in range(20):
        assert normal_palette(matrices(rng, scales))[0]


def test_rounding_is_no_scale(rng: Rng) -> None:
    """A deep skeleton's rounding errors do not cost the fast way."""
    for _ in range(20):
        noise = 1 + rng.uniform(-1, 1, (5, 3)) * 5e-6
        assert not normal_palette(matrices(rng, noise))[0]


@pytest.mark.parametrize("scale", ["even", "uneven", "negative", "mirror", "zero"])
def test_they_are_the_inverse_transpose(scale: Any, rng: Rng) -> None:
    for _ in range(10):
        palette = matrices(rng, random_scales(rng, 6, scale))
        is_needed, made = normal_palette(palette)
        assert is_needed
        assert (made[:, :, 3] == 0).all()
        for s in range(6):
            expected = oracle.normal_matrix(palette[s])
            np.testing.assert_allclose(made[s, :, :3], expected, atol=2e-5)


def test_shear(rng: Rng) -> None:
    """Any matrix at all, not only products of turns and scales."""
    for _ in range(20):
        palette = rng.normal(size=(3, 3, 4)).astype(np.float32)
        is_needed, made = normal_palette(palette)
        assert is_needed
        for s in range(3):
            expected = oracle.normal_matrix(palette[s])
            size = np.abs(expected).max()
            np.testing.assert_allclose(made[s, :, :3], expected, atol=1e-4 * size)


def test_turns_keep_their_normal_matrices(rng: Rng) -> None:
    """Beside an uneven joint, an even one gives its turn, whatever its scale."""
    palette = matrices(rng, np.array([[2.0, 2, 2], [0.1, 0.1, 0.1], [1, 2, 3]]))
    _, made = normal_palette(palette)
    np.testing.assert_allclose(made[0, :, :3], palette[0, :, :3] / 2, atol=1e-5)
    np.testing.assert_allclose(made[1, :, :3], palette[1, :, :3] * 10, atol=1e-5)


@pytest.mark.parametrize("axis", range(3))
def test_scale_along_one_axis_is_noticed(axis: int) -> None:
    """Not turned, so that only one row is longer than the others."""
    matrix = np.eye(3, 4, dtype=np.float32)[None].copy()
    matrix[0, axis, axis] = 2
    assert normal_palette(matrix)[0]


@pytest.mark.parametrize(("a", "b"), [(0, 1), (0, 2), (1, 2)])
def test_rows_that_are_not_at_right_angles_are_noticed(a: int, b: int) -> None:
    """Three rows of unit length, two of them leaning to each other."""
    matrix = np.eye(3, 4, dtype=np.float32)[None].copy()
    matrix[0, b] = 0
    matrix[0, b, [a, b]] = 0.6, 0.8
    assert normal_palette(matrix)[0]
