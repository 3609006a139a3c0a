"""Numbers that compiled kernels take and give, errors in kernels, and their threads."""

from __future__ import annotations

import sys
from decimal import Decimal
from fractions import Fraction
from threading import Thread
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as some

from flexor.maths.kernels.jit import jit
from flexor.maths.kernels.team import claim, watch

LONG = 2**63


@jit("i8(i8)")
def same_i8(value: Any) -> Any:
    return value


@jit("i4(i4)")
def same_i4(value: Any) -> Any:
    return value


@jit("i1(i1)")
def same_i1(value: Any) -> Any:
    return value


@jit("u1(u1)")
def same_u1(value: Any) -> Any:
    return value


@jit("u2(u2)")
def same_u2(value: Any) -> Any:
    return value


@jit("u4(u4)")
def same_u4(value: Any) -> Any:
    return value


@jit("f8(f8)")
def same_f8(value: Any) -> Any:
    return value


@jit("f4(f4)")
def same_f4(value: Any) -> Any:
    return value


@jit("bool(bool)")
def same_bool(value: Any) -> Any:
    return value


@jit("f8(i8, f4, bool, u1)")
def mixed(whole: Any, small: Any, is_added: Any, octet: Any) -> Any:
    return whole * 1.0 + small + octet if is_added else -1.0


WHOLE = {
    same_i8: (-LONG, LONG - 1),
    same_i4: (-(2**31), 2**31 - 1),
    same_i1: (-128, 127),
    same_u1: (0, 255),
    same_u2: (0, 2**16 - 1),
    same_u4: (0, 2**32 - 1),
}
each_whole = pytest.mark.parametrize("kernel", WHOLE, ids=lambda one: one.__name__)


@each_whole
def test_whole_numbers_of_all_sizes(kernel: Any) -> None:
    least, most = WHOLE[kernel]
    for value in (0, 1, 7, least, least + 1, most, most - 1, -1 if least else 2):
        result = kernel(value)
        assert result == value
        assert type(result) is int


@pytest.mark.jit
@each_whole
def test_whole_numbers_that_are_too_large_are_refused(kernel: Any) -> None:
    least, most = WHOLE[kernel]
    for value in (least - 1, most + 1, 10**30, -(10**30), 2**64, -(2**64)):
        with pytest.raises((TypeError, OverflowError), match=r"too (large|big)"):
            kernel(value)
    assert kernel(most) == most


@each_whole
@given(some.data())
def test_any_whole_number(kernel: Any, data: some.DataObject) -> None:
    value = data.draw(some.integers(*WHOLE[kernel]))
    assert kernel(value) == value


class Indexed:
    """A number by itself."""

    def __index__(self) -> int:
        return 5

    def __float__(self) -> float:
        return 2.5


class Broken:
    """What cannot be made a number, for a reason of its own."""

    def __index__(self) -> int:
        raise ZeroDivisionError("no index")

    def __float__(self) -> float:
        raise ZeroDivisionError("no float")

    def __bool__(self) -> bool:
        raise ZeroDivisionError("no truth")


@pytest.mark.jit
@each_whole
def test_what_is_no_whole_number_is_refused(kernel: Any) -> None:
    for value in (1.0, 1.5, np.float32(1), np.nan, None, "1", [], np.zeros(1), 1j):
        with pytest.raises(TypeError):
            kernel(value)
    with pytest.raises(ZeroDivisionError, match="no index"):
        kernel(Broken())


@pytest.mark.jit
@each_whole
def test_what_stands_for_a_whole_number_is_taken(kernel: Any) -> None:
    for value in (np.int64(5), np.uint8(5), np.int16(5), Indexed(), np.array(5)):
        assert kernel(value) == 5
    assert kernel(True) == 1


@pytest.mark.parametrize("value", [0.0, -0.0, 1.5, -1.0, 1e308, -5e-324, np.inf])
def test_numbers(value: float) -> None:
    result = same_f8(value)
    assert type(result) is float
    assert (result, np.signbit(result)) == (value, np.signbit(value))
    assert same_f8(-value) == -value


@pytest.mark.parametrize("value", [0.5, -1.0, 3.4028234663852886e38, 1e-45, -np.inf])
def test_small_numbers(value: float) -> None:
    assert same_f4(np.float32(value)) == np.float32(value)


def test_what_is_no_number_stays_so() -> None:
    assert np.isnan(same_f8(np.nan))
    assert np.isnan(same_f4(np.float32(np.nan)))


@pytest.mark.jit
def test_small_numbers_are_rounded() -> None:
    assert same_f4(0.1) == np.float32(0.1)
    assert same_f4(1e300) == np.inf
    assert same_f4(-1e-300) == 0
    assert type(same_f4(0.1)) is float


@pytest.mark.jit
@pytest.mark.parametrize("kernel", [same_f8, same_f4])
def test_what_stands_for_a_number_is_taken(kernel: Any) -> None:
    halves = (np.float64(2.5), np.float32(2.5), np.float16(2.5), Decimal("2.5"))
    for value in (*halves, Fraction(5, 2), Indexed(), np.array(2.5)):
        assert kernel(value) == 2.5
    for one in (1, True, np.int8(1), np.True_):
        assert kernel(one) == 1
    for minus in (-1, -1.0, np.float32(-1), np.int8(-1)):
        assert kernel(minus) == -1


@pytest.mark.jit
@pytest.mark.parametrize("kernel", [same_f8, same_f4])
def test_what_stands_for_no_number_is_refused(kernel: Any) -> None:
    for value in (None, "1", [], np.zeros(2), 1j, object()):
        with pytest.raises(TypeError):
            kernel(value)
    with pytest.raises(ZeroDivisionError, match="no float"):
        kernel(Broken())
    with pytest.raises(OverflowError):
        kernel(10**400)


@pytest.mark.jit
def test_truth() -> None:
    for value in (True, 1, -1, 0.5, np.True_, "x", [0], np.nan):
        assert same_bool(value) is True
    for value in (False, 0, 0.0, np.False_, "", [], None):
        assert same_bool(value) is False
    with pytest.raises(ZeroDivisionError, match="no truth"):
        same_bool(Broken())
    with pytest.raises(ValueError, match="ambiguous"):
        same_bool(np.zeros(2))


def test_numbers_of_several_kinds() -> None:
    assert mixed(-(2**40), np.float32(0.5), True, 255) == -(2**40) + 255.5
    assert mixed(1, 2, False, 3) == -1


@pytest.mark.jit
def test_each_of_several_numbers_is_looked_at() -> None:
    good = (1, 2.0, True, 3)
    for at, value in enumerate(("x", "x", Broken(), 256)):
        with pytest.raises((TypeError, ZeroDivisionError)):
            mixed(*good[:at], value, *good[at + 1 :])
    assert mixed(*good) == 6


@pytest.mark.jit
def test_no_reference_is_gained_or_lost_by_numbers() -> None:
    large, real, broken, number = 2**40, 1234.5, Broken(), Indexed()
    held = [large, real, broken, number, "text"]
    before = [sys.getrefcount(one) for one in held]
    for _ in range(1000):
        same_i8(large)
        same_f8(real)
        same_i4(number)
        for wrong in (large, broken, "text"):
            with pytest.raises((TypeError, ZeroDivisionError)):
                same_u1(wrong)
    after = [sys.getrefcount(one) for one in held]
    assert max(abs(a - b) for a, b in zip(before, after, strict=True)) <= 2


@jit("f4(f4[::1], i8, i8)")
def corner(values: Any, rows: Any, columns: Any) -> Any:
    return values.reshape((rows, columns))[rows - 1, columns - 1]


def test_another_shape() -> None:
    assert corner(np.arange(6, dtype=np.float32), 2, 3) == 5
    assert corner(np.arange(6, dtype=np.float32)[:4], 4, 1) == 3


@pytest.mark.jit
@pytest.mark.parametrize(("rows", "columns"), [(2, 2), (6, 2), (0, 3), (7, 1)])
def test_an_error_in_a_kernel_is_raised(rows: int, columns: int) -> None:
    values = np.arange(6, dtype=np.float32)
    before = sys.getrefcount(values)
    for _ in range(100):
        with pytest.raises(RuntimeError, match="a kernel ended with an error"):
            corner(values, rows, columns)
    assert sys.getrefcount(values) == before
    assert corner(values, 3, 2) == 5


@jit("bool(i8, i8, i8, out i8[::1])")
def meet(mine: Any, other: Any, tries: Any, counters: Any) -> Any:
    claim(counters, mine)
    for _ in range(tries):
        if watch(counters, other) > 0:
            return True
    return False


@pytest.mark.jit
def test_kernels_run_without_the_lock() -> None:
    """Two threads, each waiting in its kernel for the other to come into its own."""
    counters, met = np.zeros(16, np.int64), [False, False]

    def run(me: int) -> None:
        met[me] = meet(8 * me, 8 - 8 * me, 2 * 10**9, counters)

    threads = [Thread(target=run, args=(me,), daemon=True) for me in range(2)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(120)
    assert met == [True, True]
    assert counters[[0, 8]].tolist() == [1, 1]
    assert meet(0, 4, 10, counters) is False
