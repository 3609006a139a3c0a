"""Checking and freezing of arrays."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from flexor.arrays import check_array, check_input, freeze, spell_out
from flexor.errors import ShapeError


def test_freeze_converts_lists() -> None:
    array = freeze([[1, 2], [3, 4]], np.float32, (2, 2), "rows")
    assert array.dtype == np.float32
    assert not array.flags.writeable
    assert array.flags.c_contiguous


def test_freeze_keeps_an_array_that_fits() -> None:
    given = np.zeros((3, 4), np.float32)
    assert freeze(given, np.float32, (None, 4), "rows") is given
    with pytest.raises(ValueError, match="read-only"):
        given[0, 0] = 1


def test_freeze_copies_other_orders_and_types() -> None:
    turned = np.zeros((4, 3), np.float32).T
    frozen = freeze(turned, np.float32, (3, 4), "rows")
    assert frozen.flags.c_contiguous
    turned[0, 0] = 1
    assert frozen[0, 0] == 0
    doubles = np.zeros(3)
    freeze(doubles, np.float32, (3,), "row")
    doubles[0] = 1


@pytest.mark.parametrize(
    ("shape", "wanted", "text"),
    [
        ((2, 3), (2, 4), r"rows: shape \(2, 3\), expected \(2, 4\)"),
        ((2, 3), (None, 4), r"expected \(any, 4\)"),
        ((2, 3), (6,), r"expected \(6,\)"),
        ((2,), (None, None), r"shape \(2,\), expected \(any, any\)"),
        ((0,), (1,), r"shape \(0,\)"),
    ],
)
def test_freeze_refuses_shapes(shape: Any, wanted: Any, text: str) -> None:
    with pytest.raises(ShapeError, match=text):
        freeze(np.zeros(shape), np.float32, wanted, "rows")


@pytest.mark.parametrize(
    ("value", "kind", "text"),
    [
        ("hello", np.float32, "rows: cannot be made float32"),
        ([[1, 2], [3]], np.float32, "float32"),
        (None, np.int32, "int32"),
        ([1 << 40], np.int32, "int32"),
        ([-1], np.uint16, "uint16"),
        ([object()], np.float32, "float32"),
        (np.array([-1]), np.uint16, "rows: .* uint16"),
        (np.array([70000]), np.uint16, "rows: .* uint16"),
        (np.array([0.5]), np.int32, "rows: .* int32"),
        (np.array([2**40]), np.int32, "rows: .* int32"),
    ],
)
def test_freeze_refuses_values(value: Any, kind: Any, text: str) -> None:
    with pytest.raises(ShapeError, match=text):
        freeze(value, kind, (None,), "rows")


def test_check_array_accepts() -> None:
    check_array(np.zeros((2, 3), np.float32), np.float32, (2, None), "out")
    check_array(np.zeros((0, 3), np.float32), np.float32, (0, 3), "out")


def _locked() -> Any:
    array = np.zeros((2, 3), np.float32)
    array.flags.writeable = False
    return array


@pytest.mark.parametrize(
    ("array", "text"),
    [
        ([[0.0] * 3] * 2, "out: list, expected float32"),
        (np.zeros((2, 3)), "out: float64, expected float32"),
        (np.zeros((2, 4), np.float32), r"out: shape \(2, 4\), expected \(2, 3\)"),
        (np.zeros((2, 3, 1), np.float32), "shape"),
        (np.zeros((3, 2), np.float32).T, "out: must be .*C-ordered"),
        (_locked(), "out: must be .*C-ordered"),
        (np.zeros((2, 3), ">f4"), "expected float32"),
    ],
)
def test_check_array_refuses(array: Any, text: str) -> None:
    with pytest.raises(ShapeError, match=text):
        check_array(array, np.float32, (2, 3), "out")


def test_freeze_locks_what_a_view_looks_at() -> None:
    given = np.zeros((2, 3), np.float32)
    frozen = freeze(given.reshape(3, 2), np.float32, (3, 2), "rows")
    with pytest.raises(ValueError, match="read-only"):
        given[0, 0] = 1
    assert frozen.base is given


def test_freeze_copies_a_part_of_a_larger_array() -> None:
    given = np.zeros((4, 3), np.float32)
    frozen = freeze(given[1:3], np.float32, (2, 3), "rows")
    given[1, 0] = 1
    assert frozen[0, 0] == 0


def test_check_input_takes_read_only_arrays() -> None:
    locked = _locked()
    check_input(locked, np.float32, locked.shape, "rows")
    with pytest.raises(ShapeError, match="C-ordered"):
        check_input(np.zeros((3, 2), np.float32).T, np.float32, (2, 3), "rows")
    with pytest.raises(ShapeError, match="float64"):
        check_input(np.zeros((2, 3)), np.float32, (2, 3), "rows")
    with pytest.raises(ShapeError, match="shape"):
        check_input(np.zeros((2, 4), np.float32), np.float32, (2, 3), "rows")


def test_slices_are_spelled_out() -> None:
    assert spell_out(slice(1, 9, 2), 6, "who").tolist() == [1, 3, 5]
    assert spell_out(slice(None, None, -1), 3, "who").tolist() == [2, 1, 0]
    assert spell_out([4], 6, "who") == [4]
    assert spell_out(None, 6, "who") is None
    for wrong in (slice("a"), slice(0, 2, 0), slice(0.5, None)):
        with pytest.raises(ShapeError, match="who: slice"):
            spell_out(wrong, 6, "who")
