"""Each operation on eight int32, inside a kernel, against NumPy."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from flexor.maths.kernels import ints as kernel_ints
from flexor.maths.kernels.ints import (
    as_floats8,
    as_ints8,
    count_bits,
    equal8,
    load_ints8,
    mark8,
    match8,
    nearer8,
    negative8,
    pack8,
    ramp_ints8,
    splat_ints8,
    store_ints8,
)
from flexor.maths.kernels.jit import jit
from flexor.maths.kernels.lanes import load8, store8
from tests.conftest import HAS_JIT
from tests.maths.machine.compiled import Compile, errors_of, names_of, run_compiler

NAN, INF = np.nan, np.inf
MOST, LEAST = 2**31 - 1, -(2**31)
STRANGE = [0, -1, 1, MOST, LEAST, MOST - 1, LEAST + 1, 65536]


@jit("void(i4[::1], i4[::1], i8, out i4[::1])")
def every_operation(a, b, at, out):  # type: ignore[no-untyped-def]
    x, y = load_ints8(a, at), load_ints8(b, at)
    store_ints8(out, 0, x + y)
    store_ints8(out, 8, x - y)
    store_ints8(out, 16, x * y)
    store_ints8(out, 24, x | y)
    store_ints8(out, 32, negative8(x, y, splat_ints8(7)))
    store_ints8(out, 40, x & y)


@jit("void(i8, i8, out i4[::1])")
def from_numbers(start, step, out):  # type: ignore[no-untyped-def]
    store_ints8(out, 0, splat_ints8(start))
    store_ints8(out, 8, ramp_ints8(start, step))


@jit("void(i4[::1], i8, i8, out i4[::1])")
def copy(a, source, target, out):  # type: ignore[no-untyped-def]
    store_ints8(out, target, load_ints8(a, source))


@jit("void(f4[::1], out i4[::1])")
def to_ints(a, out):  # type: ignore[no-untyped-def]
    store_ints8(out, 0, as_ints8(load8(a, 0)))


@jit("void(i4[::1], out f4[::1])")
def to_floats(a, out):  # type: ignore[no-untyped-def]
    store8(out, 0, as_floats8(load_ints8(a, 0)))


@jit("i8(i4[::1], i8, i8)")
def equal_bits(a, at, value):  # type: ignore[no-untyped-def]
    return equal8(a, at, value)


@jit("i8(i8)")
def bits_set(bits):  # type: ignore[no-untyped-def]
    return count_bits(bits)


@jit("void(i4[::1], i8, i8, i8, out i4[::1])")
def matches(a, at, value, bits, out):  # type: ignore[no-untyped-def]
    store_ints8(out, 0, match8(a, at, value, bits))


@jit("void(i8, i8, i8, out i4[::1])")
def write_places(bits, base, at, out):  # type: ignore[no-untyped-def]
    pack8(bits, base, out, at)


@jit("void(i4[::1], f4[::1], i8, i8, out f4[::1], out i4[::1])")
def put_nearer(inside, depth, mark, at, depths, marks):  # type: ignore[no-untyped-def]
    nearer8(depths, marks, at, load_ints8(inside, 0), load8(depth, 0), mark)


@jit("void(f4[::1], i8, i4[::1], f4[::1], i8, i8, out i4[::1])")
def put_bits(depths, at, inside, depth, bit, to, bits):  # type: ignore[no-untyped-def]
    mark8(depths, at, load_ints8(inside, 0), load8(depth, 0), bit, bits, to)


def ints(values: Any) -> Any:
    return np.array(values, np.int32)


def floats(values: Any) -> Any:
    return np.array(values, np.float32)


def expect(a: Any, b: Any) -> list[Any]:
    """What `every_operation` gives: arithmetic without carries beyond 32 bits."""
    x, y = a.astype(np.int64), b.astype(np.int64)
    return [
        (x + y).astype(np.int32),
        (x - y).astype(np.int32),
        (x * y).astype(np.int32),
        a | b,
        np.where(a < 0, b, 7),
        a & b,
    ]


@pytest.mark.parametrize("at", [0, 1, 3, 8, 13])
def test_operations(at: int, rng: np.random.Generator) -> None:
    """At any offset: loads need no alignment."""
    a, b = rng.integers(-1000, 1000, (2, 21)).astype(np.int32)
    out = np.full(51, -1, np.int32)
    every_operation(a, b, at, out)
    expected = expect(a[at : at + 8], b[at : at + 8])
    np.testing.assert_array_equal(out[:48].reshape(6, 8), expected)
    assert (out[48:] == -1).all()


@pytest.mark.parametrize("shift", range(8))
def test_operations_on_the_largest_and_smallest(shift: int) -> None:
    """Each of the strange numbers with each: what does not fit is cut off."""
    a, b = ints(STRANGE), np.roll(ints(STRANGE), shift)
    out = np.zeros(48, np.int32)
    every_operation(a, b, 0, out)
    np.testing.assert_array_equal(out.reshape(6, 8), expect(a, b))


@pytest.mark.parametrize(
    ("start", "step"),
    [(0, 0), (0, 1), (-5, 3), (9, -4), (MOST, 0), (LEAST, 0), (MOST - 7, 1)],
)
def test_splat_and_ramp(start: int, step: int) -> None:
    out = np.full(18, -1, np.int32)
    from_numbers(start, step, out)
    np.testing.assert_array_equal(out[:8], [start] * 8)
    np.testing.assert_array_equal(out[8:16], start + step * np.arange(8))
    assert (out[16:] == -1).all()


@pytest.mark.parametrize(("start", "step"), [(MOST, 1), (LEAST, -3), (5, 2**29)])
def test_a_ramp_beyond_the_largest_is_cut_off(start: int, step: int) -> None:
    out = np.zeros(16, np.int32)
    from_numbers(start, step, out)
    whole = start + step * np.arange(8, dtype=np.int64)
    np.testing.assert_array_equal(out[8:], whole.astype(np.int32))


@pytest.mark.parametrize("source", range(9))
@pytest.mark.parametrize("target", [0, 1, 7, 9])
def test_store_touches_eight_numbers(source: int, target: int) -> None:
    a, out = np.arange(17, dtype=np.int32), np.full(20, -1, np.int32)
    copy(a, source, target, out)
    expected = np.full(20, -1, np.int32)
    expected[target : target + 8] = a[source : source + 8]
    np.testing.assert_array_equal(out, expected)


@pytest.mark.parametrize(
    ("values", "expected"),
    [
        ([0.9, -0.9, 1.5, -1.5, 2.5, -2.5, 0, 100.99], [0, 0, 1, -1, 2, -2, 0, 100]),
        (
            [2.0**31 - 128, -(2.0**31), 2**24, -(2**24), 1e-45, -1e-45, -0.0, 2**23],
            [MOST - 127, LEAST, 2**24, -(2**24), 0, 0, 0, 2**23],
        ),
    ],
)
def test_floats_become_ints_toward_zero(values: Any, expected: Any) -> None:
    """Up to the largest float32 that fits, and down to the smallest."""
    out = np.full(9, -1, np.int32)
    to_ints(floats(values), out)
    np.testing.assert_array_equal(out, [*expected, -1])


@pytest.mark.parametrize("values", [STRANGE, range(-4, 4), [2**24 + 1] * 8])
def test_ints_become_the_nearest_floats(values: Any) -> None:
    out = np.full(9, -1, np.float32)
    to_floats(ints(values), out)
    np.testing.assert_array_equal(out[:8], ints(values).astype(np.float32))
    assert out[8] == -1


@pytest.mark.parametrize("at", [0, 1, 3])
@pytest.mark.parametrize("value", [0, 5, -1, MOST, LEAST, 4])
def test_equal(value: int, at: int) -> None:
    """The lowest bit is the first number; nothing beyond the eight is looked at."""
    a = ints([5, 0, 5, -1, MOST, LEAST, 0, 0, -1, 5, MOST])
    bits = sum(1 << i for i in range(8) if a[at + i] == value)
    assert equal_bits(a, at, value) == bits


@pytest.mark.parametrize(("value", "bits"), [(3, 255), (4, 0)])
def test_equal_everywhere_and_nowhere(value: int, bits: int) -> None:
    assert equal_bits(np.full(8, 3, np.int32), 0, value) == bits


@pytest.mark.parametrize("at", [0, 1, 3])
@pytest.mark.parametrize("value", [0, 5, -1, MOST, LEAST, 4])
@pytest.mark.parametrize("bits", [1, 0, -1, MOST, LEAST])
def test_match(value: int, at: int, bits: int) -> None:
    a = ints([5, 0, 5, -1, MOST, LEAST, 0, 0, -1, 5, MOST])
    out = np.full(9, -7, np.int32)
    matches(a, at, value, bits, out)
    expected = np.where(a[at : at + 8] == value, bits, 0)
    np.testing.assert_array_equal(out, [*expected, -7])


@pytest.mark.parametrize(("base", "at"), [(0, 0), (1000, 3), (-5, 1), (MOST - 7, 2)])
def test_pack_of_every_byte(base: int, at: int) -> None:
    """As many numbers as there are bits, then some that nobody asked for, but nothing
    before or after these eight.
    """
    for byte in range(256):
        places = [base + i for i in range(8) if byte >> i & 1]
        out = np.full(12, -9, np.int32)
        write_places(byte, base, at, out)
        np.testing.assert_array_equal(out[at : at + len(places)], places)
        assert (out[:at] == -9).all()
        assert (out[at + 8 :] == -9).all()


@pytest.mark.parametrize("bits", [0, 1, 255, 256, 2**62 + 1, 2**63 - 1, -1, -(2**63)])
def test_count_bits(bits: int) -> None:
    """Of all 64, whatever the sign; plain numbers and NumPy's."""
    expected = f"{bits % 2**64:b}".count("1")
    assert bits_set(bits) == expected
    assert bits_set(np.int64(bits)) == expected


def test_nearer_puts_depth_and_mark_where_both_tests_hold() -> None:
    """Zero is inside; an equal depth is not nearer."""
    inside = ints([0, 5, -1, MOST, LEAST, 0, 1, 0])
    depth = floats([2, 2, 2, 2, 2, 1, 0.5, -3])
    depths, marks = np.full(10, 1, np.float32), np.full(10, -9, np.int32)
    put_nearer(inside, depth, 77, 1, depths, marks)
    np.testing.assert_array_equal(depths, [1, 2, 2, 1, 2, 1, 1, 1, 1, 1])
    np.testing.assert_array_equal(marks, [-9, 77, 77, -9, 77, -9, -9, -9, -9, -9])


def test_nearer_at_the_ends_of_the_numbers() -> None:
    """Nothing is nearer than infinity; anything but itself is nearer than minus that,
    which is what a pixel without a surface may hold.
    """
    old = floats([-INF, -INF, -INF, INF, INF, 0, -1e-45, 3e38])
    new = floats([-3e38, -INF, INF, INF, 3e38, 1e-45, 0, INF])
    marks = np.zeros(8, np.int32)
    depths = old.copy()
    put_nearer(np.zeros(8, np.int32), new, LEAST, 0, depths, marks)
    np.testing.assert_array_equal(depths, np.maximum(old, new))
    np.testing.assert_array_equal(marks, np.where(new > old, LEAST, 0))


def test_nearer_ignores_what_is_no_number_outside() -> None:
    inside, depth = np.full(8, -1, np.int32), np.full(8, NAN, np.float32)
    inside[3], depth[3] = 0, 4
    depths, marks = np.zeros(8, np.float32), np.zeros(8, np.int32)
    put_nearer(inside, depth, MOST, 0, depths, marks)
    np.testing.assert_array_equal(depths, [0, 0, 0, 4, 0, 0, 0, 0])
    np.testing.assert_array_equal(marks, [0, 0, 0, MOST, 0, 0, 0, 0])


@pytest.mark.parametrize("at", [0, 1, 5])
def test_nearer_and_mark_on_any_numbers(at: int, rng: np.random.Generator) -> None:
    """Many surfaces one after another, and where the last of them would be seen."""
    depths, marks = np.full(14, -INF, np.float32), np.full(14, -1, np.int32)
    bits = rng.integers(0, 4, 16).astype(np.int32)
    for mark in range(50):
        inside = rng.integers(-2, 3, 8).astype(np.int32)
        depth = rng.integers(-9, 9, 8).astype(np.float32)
        is_seen = (inside >= 0) & (depth > depths[at : at + 8])
        new_depths, new_marks, new_bits = depths.copy(), marks.copy(), bits.copy()
        new_depths[at : at + 8][is_seen] = depth[is_seen]
        new_marks[at : at + 8][is_seen] = mark
        new_bits[at + 2 : at + 10][is_seen] |= 1 << mark % 31
        put_bits(depths, at, inside, depth, 1 << mark % 31, at + 2, bits)
        put_nearer(inside, depth, mark, at, depths, marks)
        np.testing.assert_array_equal(bits, new_bits)
        np.testing.assert_array_equal(depths, new_depths)
        np.testing.assert_array_equal(marks, new_marks)


def test_mark_adds_a_bit_and_keeps_depths() -> None:
    """What is no number is not seen, and nothing is seen in front of it."""
    inside = ints([0, 0, 0, -1, LEAST, MOST, 0, 0])
    depth = floats([2, 1, NAN, 2, 2, 2, INF, 2])
    depths = floats([1, 1, 1, 1, 1, -INF, 3e38, NAN])
    before = depths.copy()
    bits = ints([-1, 1, 2, 3, 8, 1, 6, LEAST, 1, -1])
    with np.errstate(invalid="ignore"):
        put_bits(depths, 0, inside, depth, 4, 1, bits)
    expected = [-1, 1 | 4, 2, 3, 8, 1, 6 | 4, LEAST | 4, 1, -1]
    np.testing.assert_array_equal(bits, expected)
    np.testing.assert_array_equal(depths, before)


def store_into(a, out):  # type: ignore[no-untyped-def]
    store_ints8(out, 0, load_ints8(a, 0))


def compare(a, out):  # type: ignore[no-untyped-def]
    out[0] = equal8(a, 0, 1)


def find(a, out):  # type: ignore[no-untyped-def]
    store_ints8(out, 0, match8(a, 0, 1, 1))


def pack(bits, out):  # type: ignore[no-untyped-def]
    pack8(bits, 0, out, 0)


def choose(a, marks, depths):  # type: ignore[no-untyped-def]
    nearer8(depths, marks, 0, splat_ints8(0), load8(a, 0), 1)


def set_bit(depths, a, bits):  # type: ignore[no-untyped-def]
    mark8(depths, 0, splat_ints8(0), load8(a, 0), 1, bits, 0)


WRONG: list[tuple[Callable[..., Any], str]] = [
    (store_into, "void(i8[::1], out i4[::1])"),
    (store_into, "void(u2[::1], out i4[::1])"),
    (store_into, "void(f4[::1], out i4[::1])"),
    (store_into, "void(i4[:, ::1], out i4[::1])"),
    (store_into, "void(i4[::1], out i8[::1])"),
    (store_into, "void(i4[::1], i4[::1])"),
    (compare, "void(i8[::1], out i8[::1])"),
    (compare, "void(f4[::1], out i8[::1])"),
    (find, "void(i8[::1], out i4[::1])"),
    (find, "void(f4[::1], out i4[::1])"),
    (pack, "void(i8, out i8[::1])"),
    (pack, "void(i8, i4[::1])"),
    (choose, "void(f4[::1], out i8[::1], out f4[::1])"),
    (choose, "void(f4[::1], out i4[::1], out f8[::1])"),
    (choose, "void(f4[::1], i4[::1], out f4[::1])"),
    (choose, "void(f4[::1], out i4[::1], f4[::1])"),
    (set_bit, "void(f8[::1], f4[::1], out i4[::1])"),
    (set_bit, "void(f4[::1], f4[::1], out u1[::1])"),
    (set_bit, "void(f4[::1], f4[::1], i4[::1])"),
]


def try_all(compile: Compile) -> list[str]:
    return errors_of(compile, WRONG)


@pytest.fixture(scope="module")
def errors() -> list[str]:
    """What the compiler says of all of them, in a process of its own."""
    return run_compiler(__name__, "try_all")  # type: ignore[no-any-return]


@pytest.mark.jit
@pytest.mark.parametrize("at", range(len(WRONG)), ids=names_of(WRONG))
def test_wrong_arrays_are_not_compiled(at: int, errors: list[str]) -> None:
    """Another dtype or shape would be read as if it were right; and nothing is written
    into an array that is not marked as a result.
    """
    assert errors[at].startswith("TypingError")


@pytest.mark.skipif(HAS_JIT, reason="compiled kernels check nothing")
@pytest.mark.parametrize("at", [-1, 2, 9])
def test_without_compiled_kernels_bounds_are_checked(at: int) -> None:
    whole, parts = np.zeros(9, np.int32), np.zeros(9, np.float32)
    long, none = np.zeros(30, np.int32), np.zeros(8, np.int32)
    near = np.ones(8, np.float32)
    with pytest.raises(AssertionError):
        load_ints8(whole, at)
    with pytest.raises(AssertionError):
        store_ints8(whole, at, none)
    with pytest.raises(AssertionError):
        equal8(whole, at, 0)
    with pytest.raises(AssertionError):
        match8(whole, at, 0, 1)
    with pytest.raises(AssertionError):
        pack8(1, 0, whole, at)
    with pytest.raises(AssertionError):
        nearer8(parts, long, at, none, near, 1)
    with pytest.raises(AssertionError):
        nearer8(long.astype(np.float32), whole, at, none, near, 1)
    with pytest.raises(AssertionError):
        mark8(parts, at, none, near, 1, long, 0)
    with pytest.raises(AssertionError):
        mark8(parts, 0, none, near, 1, whole, at)


@pytest.mark.skipif(HAS_JIT, reason="compiled kernels check nothing")
@pytest.mark.parametrize("value", [2.0**31, -(2.0**31) - 256, INF, NAN])
def test_without_compiled_kernels_what_does_not_fit_is_refused(value: float) -> None:
    with pytest.raises(AssertionError), np.errstate(invalid="ignore"):
        as_ints8(np.full(8, value, np.float32))


@pytest.mark.skipif(HAS_JIT, reason="compiled kernels check nothing")
def test_without_compiled_kernels_bits_are_checked() -> None:
    for bits in (-1, 256):
        with pytest.raises(AssertionError):
            pack8(bits, 0, np.zeros(8, np.int32), 0)


@pytest.mark.skipif(HAS_JIT, reason="compiled kernels check nothing")
def test_without_compiled_kernels_a_depth_that_is_no_number_is_refused() -> None:
    depths, marks = np.zeros(8, np.float32), np.zeros(8, np.int32)
    inside, depth = np.zeros(8, np.int32), np.full(8, NAN, np.float32)
    with pytest.raises(AssertionError):
        nearer8(depths, marks, 0, inside, depth, 1)


def test_every_operation_is_tested_here() -> None:
    here = globals()
    assert all(name in here for name in kernel_ints.__all__)
