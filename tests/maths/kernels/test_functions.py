"""Functions of our own against those of the C library."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from flexor.maths.kernels.functions import acos, atan2, cbrt, cos, sin
from flexor.maths.kernels.jit import jit

FEW = 4  # units in the last place that a value may be off


@jit("void(f8[::1], f8[::1], out f8[:, ::1])")
def all_of(a, b, out):  # type: ignore[no-untyped-def]
    for i in range(len(a)):
        out[0, i], out[1, i] = sin(a[i]), cos(a[i])
        out[2, i] = atan2(a[i], b[i])
        out[3, i] = acos(min(max(b[i], -1.0), 1.0))
        out[4, i] = cbrt(abs(a[i]))


def values(a: Any, b: Any) -> Any:
    out = np.zeros((5, len(a)))
    all_of(np.array(a, np.float64), np.array(b, np.float64), out)
    return out


PLAIN: list[Callable[[float, float], float]] = [
    lambda a, b: math.sin(a),
    lambda a, b: math.cos(a),
    math.atan2,
    lambda a, b: math.acos(min(max(b, -1.0), 1.0)),
    lambda a, b: math.cbrt(abs(a)),
]


@pytest.mark.parametrize("scale", [1e-8, 1e-3, 1.0, 3.0, 100.0, 1e5])
def test_they_are_right_to_a_few_units(rng: np.random.Generator, scale: float) -> None:
    a, b = rng.normal(0, scale, 2000), rng.normal(0, 1, 2000)
    for found, plain in zip(values(a, b), PLAIN, strict=True):
        wanted = np.array([plain(*pair) for pair in zip(a, b, strict=True)])
        assert np.all(abs(found - wanted) <= FEW * np.spacing(abs(wanted)))


@pytest.mark.parametrize("quarter", range(-9, 10))
def test_near_quarter_turns(quarter: int) -> None:
    """Where a sine is nearly nothing, the reduction of the angle shows."""
    a = quarter * math.pi / 2 + np.array([-1e-9, 0, 1e-9])
    found = values(a, a)[:2]
    wanted = np.array([[math.sin(x) for x in a], [math.cos(x) for x in a]])
    assert np.all(abs(found - wanted) <= FEW * np.spacing(abs(wanted)))


def test_angles_of_points_on_axes_and_far_away() -> None:
    some = [0.0, -0.0, 1.0, -1.0, 1e-300, -1e300, math.inf, -math.inf]
    pairs = [(y, x) for y in some for x in some]
    found = values(*np.array(pairs).T)[2]
    wanted = np.array([math.atan2(*pair) for pair in pairs])
    np.testing.assert_allclose(found, wanted, rtol=1e-15)
    np.testing.assert_array_equal(np.signbit(found), np.signbit(wanted))


def test_what_is_no_number() -> None:
    found = values([math.nan, math.inf, -math.inf, 1.0], [1.0, 1.0, 1.0, math.nan])
    assert np.isnan(found[:2, :3]).all()
    assert np.isnan(found[2, [0, 3]]).all()
    assert math.isnan(found[4, 0])
    assert found[4, 1] == math.inf


def test_far_angles_lose_their_last_bits_alone() -> None:
    a = np.array([1e7, -3e9, 1e12])
    found = values(a, a)[0]
    wanted = np.array([math.sin(x) for x in a])
    assert np.all(abs(found - wanted) <= 2 * np.spacing(abs(a)))
