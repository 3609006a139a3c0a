"""Functions that are the same everywhere: as near to the truth as they say."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from flexor.maths import exact
from flexor.maths.kernels.exact import (
    arc_cosines,
    arc_sines,
    arc_tangents,
    cosines,
    product,
    products,
    sines,
    stretches,
)

FEW = 4  # units in the last place that a value may be off
LONG = np.longdouble  # 64 bits of it: eleven more than a float64 has
LARGE, SMALL = 709.0, -708.0


def off(found: Any, wanted: Any) -> float:
    """The most that values are off, in units in the last place."""
    near = np.asarray(wanted, np.float64)
    return float(np.max(np.abs(LONG(found) - wanted) / np.spacing(np.abs(near))))


def numbers(rng: np.random.Generator) -> Any:
    parts = [rng.normal(0, scale, 400) for scale in (1e-8, 1e-3, 0.1, 1, 3, 100)]
    return np.concatenate(parts)


ODD: list[tuple[Callable[[float], float], Any]] = [
    (exact.sin, np.sin),
    (exact.cos, np.cos),
    (exact.tan, np.tan),
    (exact.exp, np.exp),
]


@pytest.mark.parametrize(("own", "truth"), ODD)
def test_functions_of_any_number(
    rng: np.random.Generator, own: Callable[[float], float], truth: Any
) -> None:
    given = numbers(rng)
    assert off([own(x) for x in given.tolist()], truth(LONG(given))) <= FEW


@pytest.mark.parametrize(
    ("own", "truth"), [(exact.asin, np.arcsin), (exact.acos, np.arccos)]
)
def test_angles_of_sines_and_cosines(
    rng: np.random.Generator, own: Callable[[float], float], truth: Any
) -> None:
    near = rng.choice([-1, 1], 200) * (1 - 10.0 ** rng.uniform(-15, -2, 200))
    given = np.concatenate([rng.uniform(-1, 1, 1000), near, [-1.0, 1.0]])
    assert off([own(x) for x in given.tolist()], truth(LONG(given))) <= FEW


def test_angles_of_points(rng: np.random.Generator) -> None:
    y, x = rng.normal(0, 1, (2, 1000)) * 10.0 ** rng.uniform(-9, 9, (2, 1000))
    found = [exact.atan2(*pair) for pair in zip(y.tolist(), x.tolist(), strict=True)]
    assert off(found, np.arctan2(LONG(y), LONG(x))) <= FEW


def test_exponentials_near_their_ends(rng: np.random.Generator) -> None:
    given = rng.uniform(SMALL, LARGE, 2000)
    found = [exact.exp(x) for x in given.tolist()]
    assert off(found, np.exp(LONG(given))) <= FEW
    assert exact.exp(-745.1) == 5e-324
    assert exact.exp(709.7) == pytest.approx(math.exp(709.7), rel=1e-15)


def test_ends() -> None:
    assert exact.exp(0.0) == 1
    assert exact.exp(710.0) == exact.exp(math.inf) == math.inf
    assert exact.exp(-746.0) == exact.exp(-math.inf) == 0
    assert math.isnan(exact.exp(math.nan))
    assert math.isnan(exact.tan(math.inf))
    assert exact.asin(1.0) == math.pi / 2
    assert exact.acos(-1.0) == math.pi


@pytest.mark.parametrize(
    ("own", "each", "kernel"),
    [
        (exact.sin, exact.sin_each, sines),
        (exact.cos, exact.cos_each, cosines),
        (exact.asin, exact.asin_each, arc_sines),
        (exact.acos, exact.acos_each, arc_cosines),
    ],
)
def test_of_each_is_of_one(
    rng: np.random.Generator, own: Any, each: Any, kernel: Any
) -> None:
    given = rng.uniform(0, 1, (4, 5))
    wanted = [[own(x) for x in row] for row in given.tolist()]
    out = np.empty(20)
    kernel(given.reshape(-1), out)
    np.testing.assert_array_equal(out.reshape(4, 5), wanted)
    np.testing.assert_array_equal(each(given), wanted)
    np.testing.assert_array_equal(each(given.T), np.transpose(wanted))
    assert each(given.astype(np.float32)).dtype == np.float32
    assert each(given[0, 0]).shape == ()


def test_angles_of_each_point(rng: np.random.Generator) -> None:
    y, x = rng.normal(0, 1, (2, 6))
    wanted = [exact.atan2(*pair) for pair in zip(y.tolist(), x.tolist(), strict=True)]
    out = np.empty(6)
    arc_tangents(y, x, out)
    np.testing.assert_array_equal(out, wanted)
    found = exact.atan2_each(y[:, None], x)
    np.testing.assert_array_equal(np.diagonal(found), wanted)


def test_lengths(rng: np.random.Generator) -> None:
    x, y = rng.normal(0, 1, (2, 50))
    np.testing.assert_allclose(exact.hypot_each(x, y), np.hypot(x, y), rtol=1e-15)
    assert exact.hypot(3.0, 4.0) == exact.norm([3.0, 4.0]) == 5
    assert exact.norm([[1, 1], [1, 1]]) == 2
    np.testing.assert_array_equal(exact.dot([[1, 2], [3, 4]], [5, 6]), [17, 39])


def test_normal_numbers_are_spread_as_they_should() -> None:
    found = exact.normal(np.random.default_rng(1), 2.0, 20_000)
    assert abs(found.mean()) < 0.05
    assert found.std() == pytest.approx(2.0, rel=0.02)
    assert (np.abs(found) < 2).mean() == pytest.approx(0.683, abs=0.02)
    wanted = np.random.default_rng(1).normal(0, 2.0, 20_000)
    is_near = np.abs(wanted) < 2 * exact.TAIL
    np.testing.assert_array_equal(found[is_near], wanted[is_near])
    assert 0 < (~is_near).sum() < 20
    assert np.abs(found).max() == 2 * exact.TAIL


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ((3, 3), (3, 4)),
        ((7, 3), (3,)),
        ((3,), (3, 2)),
        ((3,), (3,)),
        ((5, 3, 3), (3, 3)),
        ((3, 3), (5, 3, 2)),
        ((5, 1, 3, 3), (4, 3, 3)),
        ((5, 3, 3), (3,)),
        ((0, 3, 3), (3, 4)),
        ((0, 3), (3, 3)),
        ((1, 3, 3), (6, 3, 4)),
    ],
)
def test_products(
    rng: np.random.Generator, one: tuple[int, ...], other: tuple[int, ...]
) -> None:
    a, b = rng.normal(0, 1, one), rng.normal(0, 1, other)
    wanted = np.matmul(a, b)
    found = exact.multiply(a, b)
    assert np.shape(found) == np.shape(wanted)
    np.testing.assert_allclose(found, wanted, rtol=1e-12, atol=1e-14)
    small = exact.multiply(a.astype(np.float32), b.astype(np.float32))
    assert small.dtype == np.float32
    np.testing.assert_allclose(small, wanted, rtol=1e-4, atol=1e-5)


def test_products_are_added_from_the_first_to_the_last() -> None:
    a = np.array([[[1e16, 1.0, -1e16]]])
    out = np.empty((1, 1, 1))
    products(a, np.ones((1, 3, 1)), out)
    assert out[0, 0, 0] == 0
    product(a[0], np.ones((3, 1)), out[0])
    assert out[0, 0, 0] == 0
    products(np.ascontiguousarray(a[..., [0, 2, 1]]), np.ones((1, 3, 1)), out)
    assert out[0, 0, 0] == 1


def test_products_of_what_does_not_fit_are_refused() -> None:
    with pytest.raises(ValueError, match="products of"):
        exact.multiply(np.eye(3), np.ones(4))


def matrices(rng: np.random.Generator) -> Any:
    made = rng.normal(0, 1, (60, 3, 3))
    made[0] = np.diag([-1.0, 1e-3, 3.0])
    made[1] = 1e-150 * np.eye(3)
    made[2] *= 1e120
    return made


def test_inverses(rng: np.random.Generator) -> None:
    given = matrices(rng)
    found = exact.invert(given)
    np.testing.assert_allclose(
        np.matmul(found, given), np.tile(np.eye(3), (60, 1, 1)), atol=1e-10
    )
    np.testing.assert_array_equal(exact.invert(given[5]), found[5])
    np.testing.assert_allclose(exact.det(given[3:]), np.linalg.det(given[3:]))
    assert exact.invert(np.eye(3, dtype=np.float32)).dtype == np.float32


@pytest.mark.parametrize(
    "flat", [np.zeros((3, 3)), np.arange(9.0).reshape(3, 3), np.diag([1.0, 0, 1])]
)
def test_what_is_flat_has_no_inverse(flat: Any) -> None:
    with pytest.raises(np.linalg.LinAlgError):
        exact.invert(flat)
    with pytest.raises(np.linalg.LinAlgError):
        exact.invert(np.stack([np.eye(3), flat]))


def flat_ones(rng: np.random.Generator) -> Any:
    v, w = rng.normal(0, 1, (2, 3))
    return np.stack([np.zeros((3, 3)), np.outer(v, w), np.outer(v, v) + np.eye(3)[0]])


def test_matrices_are_turns_and_sizes(rng: np.random.Generator) -> None:
    given = np.concatenate([matrices(rng), flat_ones(rng)])
    left, sizes, right = exact.svd(given)
    scale = sizes[:, :1, None] + 1e-300
    again = np.matmul(left * sizes[:, None, :], right)
    np.testing.assert_allclose(again / scale, given / scale, atol=1e-14)
    for turns in (left, right):
        product = np.matmul(np.swapaxes(turns, 1, 2), turns)
        np.testing.assert_allclose(product, np.tile(np.eye(3), (63, 1, 1)), atol=1e-14)
    wanted = np.linalg.svd(given, compute_uv=False)
    np.testing.assert_allclose(
        sizes / scale[..., 0], wanted / scale[..., 0], atol=1e-14
    )
    own = np.ascontiguousarray(given[5:6])
    out = np.empty((1, 3)), np.empty((1, 3, 3))
    stretches(own, *out)
    np.testing.assert_allclose(out[0], sizes[5:6], rtol=1e-14)


def test_inverses_of_what_is_flat(rng: np.random.Generator) -> None:
    given = np.concatenate([matrices(rng)[3:], flat_ones(rng)])
    found = exact.pseudo_invert(given)
    np.testing.assert_allclose(found, np.linalg.pinv(given), rtol=1e-9, atol=1e-12)
    np.testing.assert_allclose(exact.pseudo_invert(given[-1]), found[-1])
    with pytest.raises(np.linalg.LinAlgError):
        exact.pseudo_invert(np.full((3, 3), np.nan))


def test_equations(rng: np.random.Generator) -> None:
    left, right = rng.normal(0, 1, (5, 5)), rng.normal(0, 1, (5, 2))
    left[0, 0] = 0.0
    found = exact.solve(left, right)
    np.testing.assert_allclose(np.matmul(left, found), right, atol=1e-12)
    with pytest.raises(np.linalg.LinAlgError):
        exact.solve(np.zeros((2, 2)), np.ones((2, 1)))
