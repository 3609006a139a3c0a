"""Limits of joints: what is refused, what is filled in."""

from __future__ import annotations

import math
import pickle
from typing import Any

import numpy as np
import pytest

from flexor.errors import ShapeError
from flexor.scene.character.limits import FREE, Limits, free_limits


def make(count: int = 2, **changes: Any) -> Limits:
    parts: dict[str, Any] = {
        "frames": np.tile([0.0, 0, 0, 1], (count, 1)),
        "low": np.tile([-0.1, -0.2, -0.3], (count, 1)),
        "high": np.tile([2.0, 0.2, 0.3], (count, 1)),
        "rates": np.full(count, 10.0),
    }
    return Limits(**{**parts, **changes})


def with_row(value: Any, width: int = 3) -> Any:
    return np.array([[0.0] * width, np.broadcast_to(value, (width,))])


@pytest.mark.parametrize(
    ("changes", "text"),
    [
        ({"frames": np.zeros((2, 3))}, "frames: shape"),
        ({"frames": np.zeros((2, 4))}, r"frames\[0\]: not of unit length"),
        ({"low": np.zeros((3, 3))}, "low: shape"),
        ({"low": with_row(np.nan)}, r"low\[1\]: not finite"),
        ({"high": with_row(np.inf)}, r"high\[1\]: not finite"),
        ({"low": with_row(0.1)}, r"low\[1\]: above 0: the rest"),
        ({"high": with_row([0, -0.1, 0])}, r"high\[1\]: below 0: the rest"),
        ({"low": with_row([0, -1.6, 0])}, r"low\[1\]: below -180, -90"),
        ({"high": with_row([0, 0, 3.15])}, r"high\[1\]: above 180"),
        ({"rates": np.array([1.0, 0])}, r"rates\[1\]: must be above 0"),
        ({"rates": np.array([np.nan, 1])}, r"rates\[0\]: must be above 0"),
        ({"low": "text"}, "low: cannot be made float32"),
    ],
)
def test_refusals(changes: dict[str, Any], text: str) -> None:
    with pytest.raises(ShapeError, match=text):
        make(**changes)


def test_what_is_not_free_is_limited() -> None:
    most = np.array(FREE)
    low, high = -np.array([most, most]), np.array([most, most])
    high[1, 2] = 1
    limits = make(low=low, high=high)
    assert limits.limited.tolist() == [False, True]


def test_free_limits() -> None:
    limits = free_limits(3)
    assert len(limits) == 3
    assert not limits.limited.any()
    assert np.isinf(limits.rates).all()
    assert limits.high.dtype == np.float32
    assert limits.high[0, 0] == np.float32(math.pi)
    assert len(free_limits(0)) == 0


def test_arrays_are_frozen_and_kept() -> None:
    limits = make()
    with pytest.raises(ValueError, match="read-only"):
        limits.low[0, 0] = 0
    again = pickle.loads(pickle.dumps(limits))
    for name in ("frames", "low", "high", "rates", "limited"):
        np.testing.assert_array_equal(getattr(again, name), getattr(limits, name))
