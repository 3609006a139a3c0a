"""What machine code knows of the memory of objects: right here, and seen where not."""

from __future__ import annotations

import ctypes

import numpy as np
import pytest

from flexor.maths.machine import layout
from flexor.maths.machine.layout import check_layout, needed_flags, numbers_of
from flexor.maths.machine.signature import SCALARS

PLACES = [
    "TYPE",
    "FLOAT_VALUE",
    "TUPLE_SIZE",
    "TUPLE_ITEMS",
    "ARRAY_DATA",
    "ARRAY_AXES",
    "ARRAY_SHAPE",
    "ARRAY_DESCR",
    "ARRAY_FLAGS",
    "DESCR_ORDER",
    "DESCR_NUMBER",
]


def test_objects_are_laid_out_as_expected() -> None:
    check_layout()


@pytest.mark.parametrize("name", PLACES)
def test_any_other_layout_is_seen(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Where something else stands that can be read in its place."""
    others = {"ARRAY_SHAPE": 8, "DESCR_ORDER": -2, "DESCR_NUMBER": -4, "TYPE": -8}
    shift = others.get(name, 8 if name in ("TUPLE_ITEMS", "ARRAY_DATA") else -8)
    monkeypatch.setattr(layout, name, getattr(layout, name) + shift)
    with pytest.raises(RuntimeError, match="laid out differently; NUMBA_DISABLE_JIT=1"):
        check_layout()


def test_every_place_is_tested_here() -> None:
    numbers = {name for name, value in vars(layout).items() if type(value) is int}
    hidden = {name for name in numbers if name.startswith("_")}
    assert numbers - hidden - {"SWAPPED"} == set(PLACES)


def test_flags_are_those_of_numpy() -> None:
    array = np.zeros(3)
    assert array.flags.num & needed_flags(True) == needed_flags(True)
    array.flags.writeable = False
    assert array.flags.num & needed_flags(True) != needed_flags(True)
    assert array.flags.num & needed_flags(False) == needed_flags(False)
    unaligned = np.zeros(9, np.uint8)[1:].view(np.float64)
    strided = np.zeros((2, 2))[:, ::2]
    for wrong in (unaligned, strided, np.zeros((2, 2)).T):
        assert wrong.flags.num & needed_flags(False) != needed_flags(False)


@pytest.mark.parametrize("dtype", SCALARS.values(), ids=list(SCALARS))
def test_numbers_of_types(dtype: type) -> None:
    """All that are equal, by whichever name of C."""
    codes = np.typecodes["All"]
    equal = {np.dtype(code).num for code in codes if np.dtype(code) == np.dtype(dtype)}
    assert set(numbers_of(dtype)) == equal
    assert np.dtype(dtype).num in numbers_of(dtype)
    assert len(numbers_of(dtype)) <= 2, "as many as `entry` compares"


def test_two_types_of_c_that_are_alike() -> None:
    numbers = numbers_of(np.int64)
    assert np.dtype(np.longlong).num in numbers
    assert np.dtype(np.uint64).num not in numbers


@pytest.mark.parametrize("name", layout.FUNCTIONS)
def test_python_has_every_function(name: str) -> None:
    assert ctypes.cast(getattr(ctypes.pythonapi, name), ctypes.c_void_p).value
