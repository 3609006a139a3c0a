"""Each operation on eight or four lanes, inside a kernel, against NumPy."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from flexor.maths.kernels import lanes as kernel_lanes
from flexor.maths.kernels.affine import multiply_affine
from flexor.maths.kernels.jit import jit
from flexor.maths.kernels.lanes import (
    floor8,
    fma4,
    fma8,
    load4,
    load8,
    make4,
    max4,
    max8,
    min4,
    min8,
    pick4,
    put,
    ramp8,
    splat4,
    splat8,
    spread4,
    spread8,
    sqrt8,
    store4,
    store8,
    take,
    words4,
)
from flexor.maths.kernels.points import points8, rows8, scatter8
from tests.conftest import HAS_JIT
from tests.maths.machine.compiled import Compile, errors_of, names_of, run_compiler

LANES, ROWS = 8, 9
NAN, INF = np.nan, np.inf
LARGEST = float(np.finfo(np.float32).max)


@jit("void(f4[::1], f4[::1], f4[::1], i8, out f4[::1])")
def every_operation(a, b, c, at, out):  # type: ignore[no-untyped-def]
    x, y, z = load8(a, at), load8(b, at), load8(c, at)
    store8(out, 0, x + y)
    store8(out, 8, x - y)
    store8(out, 16, x * y)
    store8(out, 24, x / y)
    store8(out, 32, fma8(x, y, z))
    store8(out, 40, sqrt8(z))
    store8(out, 48, max8(x, y))
    store8(out, 56, spread8(a, at))
    store8(out, 64, splat8(np.float32(2.5)))


@jit("void(f4[::1], i8, i8, out f4[::1])")
def copy(a, source, target, out):  # type: ignore[no-untyped-def]
    store8(out, target, load8(a, source))


@jit("void(f4[::1], u4[::1], i8, out f4[::1])")
def hand_out(block, rows, at, out):  # type: ignore[no-untyped-def]
    scatter8(out, rows, at, load8(block, 0), load8(block, 8), load8(block, 16))


@jit("void(f4[::1], f4[::1], f4[::1], i8, out f4[::1])")
def on_four(a, b, c, at, out):  # type: ignore[no-untyped-def]
    x, y, z = load4(a, at), load4(b, at), load4(c, at)
    store4(out, 0, x + y)
    store4(out, 4, x - y)
    store4(out, 8, x * y)
    store4(out, 12, x / y)
    store4(out, 16, fma4(x, y, z))
    store4(out, 20, spread4(a, at))


@jit("void(f4[::1], i8, out f4[::1])")
def line_up(block, at, out):  # type: ignore[no-untyped-def]
    points8(out, at, load8(block, 0), load8(block, 8), load8(block, 16))


@jit("void(f4[::1], i8, out f4[::1])")
def transpose(a, at, out):  # type: ignore[no-untyped-def]
    rows8(out, at, load8(a, 0), load8(a, 8), load8(a, 16), load8(a, 24))


@jit("void(f4[::1], i4[::1], i8, out f4[::1], out i4[::1])")
def one_by_one(numbers, places, at, out, whole):  # type: ignore[no-untyped-def]
    put(out, at, take(numbers, at))
    put(whole, at, take(places, at))


@jit("void(f4[::1], f4[::1], out f4[::1])")
def choices(a, b, out):  # type: ignore[no-untyped-def]
    store8(out, 0, min8(load8(a, 0), load8(b, 0)))
    store8(out, 8, max8(load8(a, 0), load8(b, 0)))
    for i in range(0, 8, 4):
        store4(out, 16 + i, min4(load4(a, i), load4(b, i)))
        store4(out, 24 + i, max4(load4(a, i), load4(b, i)))


@jit("void(f4[::1], out f4[::1])")
def round_down(a, out):  # type: ignore[no-untyped-def]
    store8(out, 0, floor8(load8(a, 0)))


@jit("void(f4, f4, out f4[::1])")
def steps(start, step, out):  # type: ignore[no-untyped-def]
    store8(out, 0, ramp8(start, step))


@jit("void(f4, f4, f4, f4, out f4[::1])")
def put_together(a, b, c, d, out):  # type: ignore[no-untyped-def]
    four = make4(a, b, c, d)
    store4(out, 0, four)
    store4(out, 4, splat4(c))
    for lane in range(4):
        out[8 + lane] = pick4(four, 3 - lane)
    out[12] = pick4(four, 2)


@jit("f4(f4[::1], i8)")
def one_of_four(a, lane):  # type: ignore[no-untyped-def]
    return pick4(load4(a, 0), lane)


@jit("void(u2[::1], i8, out f4[::1])")
def from_words(words, at, out):  # type: ignore[no-untyped-def]
    store4(out, 0, words4(words, at))


@jit("void(f4[::1], i8, f4[::1], i8, i8, out f4[::1])")
def product(a, left, b, right, to, out):  # type: ignore[no-untyped-def]
    multiply_affine(a, left, b, right, out, to)


def run(a: Any, b: Any, c: Any, at: int = 0) -> Any:
    out = np.zeros(ROWS * LANES, np.float32)
    every_operation(a, b, c, at, out)
    return out.reshape(ROWS, LANES)


def vectors(rng: np.random.Generator, count: int) -> Any:
    a, b = rng.normal(size=(2, count)).astype(np.float32)
    return a, b, rng.uniform(0, 9, count).astype(np.float32)


@pytest.mark.parametrize("at", [0, 1, 3, 8, 13])
def test_operations(at: int, rng: np.random.Generator) -> None:
    """At any offset: loads need no alignment."""
    a, b, c = vectors(rng, 21)
    x, y, z = (v[at : at + 8].astype(np.float64) for v in (a, b, c))
    expected = [x + y, x - y, x * y, x / y, x * y + z, np.sqrt(z), np.maximum(x, y)]
    made = run(a, b, c, at)
    np.testing.assert_allclose(made[:7], expected, rtol=1e-6, atol=1e-6)
    np.testing.assert_array_equal(made[7], np.full(8, a[at]))
    np.testing.assert_array_equal(made[8], np.full(8, 2.5))


@pytest.mark.parametrize("at", [0, 1, 2, 3, 4, 7])
def test_operations_on_four(at: int, rng: np.random.Generator) -> None:
    a, b, c = vectors(rng, 11)
    x, y, z = (v[at : at + 4].astype(np.float64) for v in (a, b, c))
    expected = [x + y, x - y, x * y, x / y, x * y + z, np.full(4, x[0])]
    out = np.full(27, -1, np.float32)
    on_four(a, b, c, at, out)
    made = out[:24].reshape(6, 4)
    np.testing.assert_allclose(made, expected, rtol=1e-6, atol=1e-6)
    assert (out[24:] == -1).all()


@pytest.mark.parametrize("at", [0, 5, 12])
def test_rows(at: int) -> None:
    """Four vectors of eight become eight rows of four, twelve numbers apart."""
    a = np.arange(32, dtype=np.float32)
    out = np.full(at + 96, -1, np.float32)
    expected = out.copy()
    expected[at : at + 96].reshape(8, 12)[:, :4] = a.reshape(4, 8).T
    transpose(a, at, out[: at + 88])
    np.testing.assert_array_equal(out, expected)


def test_take_and_put_keep_the_type() -> None:
    out, whole = np.zeros(5, np.float32), np.zeros(5, np.int32)
    places = np.array([7, -3, 2**31 - 1, 0, -(2**31)], np.int32)
    for at in (1, 2, 4):
        one_by_one(np.arange(5, dtype=np.float32), places, at, out, whole)
    np.testing.assert_array_equal(out, [0, 1, 2, 0, 4])
    np.testing.assert_array_equal(whole, [0, -3, 2**31 - 1, 0, -(2**31)])


@pytest.mark.parametrize(("left", "right", "to"), [(0, 0, 0), (12, 0, 3), (5, 17, 24)])
def test_multiply_affine(
    left: int, right: int, to: int, rng: np.random.Generator
) -> None:
    a, b = rng.normal(size=(2, 40)).astype(np.float32)
    out = np.full(40, -1, np.float32)
    product(a, left, b, right, to, out)
    c_from_b, b_from_a = (
        np.vstack([m.reshape(3, 4), [0, 0, 0, 1]]).astype(np.float64)
        for m in (a[left : left + 12], b[right : right + 12])
    )
    made = out[to : to + 12].reshape(3, 4)
    np.testing.assert_allclose(made, (c_from_b @ b_from_a)[:3], rtol=1e-5, atol=1e-6)
    assert (np.delete(out, range(to, to + 12)) == -1).all()


def test_multiply_affine_in_place(rng: np.random.Generator) -> None:
    """The result may take the right side's place."""
    a, b = rng.normal(size=(2, 12)).astype(np.float32)
    out = np.zeros(12, np.float32)
    product(a, 0, b, 0, 0, out)
    product(a, 0, b, 0, 0, b)
    np.testing.assert_array_equal(b, out)


def test_small_whole_numbers_are_exact() -> None:
    a, b, c = np.arange(1, 25, dtype=np.float32).reshape(3, 8)
    made = run(a, b, c * c)
    expected = [a + b, a - b, a * b]
    np.testing.assert_array_equal(made[:3], expected)
    np.testing.assert_array_equal(made[4], a * b + c * c)
    np.testing.assert_array_equal(made[5], c)


def test_max_takes_the_second_where_the_first_is_no_number() -> None:
    nan = np.nan
    a = np.array([nan, 1, nan, -1, 0, np.inf, -np.inf, 2], np.float32)
    b = np.array([1, nan, nan, -2, 0, 1, 1, 2], np.float32)
    with np.errstate(invalid="ignore"):
        made = run(a, b, np.ones(8, np.float32))
    np.testing.assert_array_equal(made[6], [1, nan, nan, -1, 0, np.inf, 1, 2])


def test_a_nan_stays_in_its_lane() -> None:
    a = np.ones(8, np.float32)
    a[5] = np.nan
    with np.errstate(invalid="ignore"):
        made = run(a, np.full(8, 2, np.float32), np.ones(8, np.float32))
    for row in (0, 1, 2, 3, 4):
        np.testing.assert_array_equal(np.isnan(made[row]), np.arange(8) == 5)


@pytest.mark.parametrize("source", range(9))
@pytest.mark.parametrize("target", [0, 1, 7, 9])
def test_store_touches_eight_numbers(source: int, target: int) -> None:
    a = np.arange(17, dtype=np.float32)
    out = np.full(20, -1, np.float32)
    copy(a, source, target, out)
    expected = np.full(20, -1, np.float32)
    expected[target : target + 8] = a[source : source + 8]
    np.testing.assert_array_equal(out, expected)


@pytest.mark.parametrize("at", [0, 3])
def test_scatter(at: int) -> None:
    """Points to rows by a table; the first rows of `out` and the rest are untouched."""
    block = np.arange(24, dtype=np.float32)
    rows = np.array([0, 0, 0, 9, 2, 11, 5, 1, 0, 7, 10], np.uint32)[: at + 8]
    rows[:at] = 3
    if at == 0:
        rows[:] = [4, 0, 8, 2, 6, 1, 3, 9]
    out = np.full((13, 3), -1, np.float32)
    hand_out(block, rows, at, out.reshape(-1))
    expected = np.full((13, 3), -1, np.float32)
    expected[rows[at:]] = block.reshape(3, 8).T
    np.testing.assert_array_equal(out, expected)


@pytest.mark.parametrize("at", [0, 3, 24])
def test_points_follow_each_other(at: int) -> None:
    block = np.arange(24, dtype=np.float32)
    out = np.full(52, -1, np.float32)
    line_up(block, at, out)
    np.testing.assert_array_equal(out[at : at + 24], block.reshape(3, 8).T.ravel())
    assert (np.delete(out, np.s_[at : at + 24]) == -1).all()


def test_scatter_to_one_row_leaves_the_last_point() -> None:
    block = np.tile(np.float32([1, 2, 3]), (8, 1)).T.ravel().copy()
    out = np.zeros(9, np.float32)
    hand_out(block, np.full(8, 2, np.uint32), 0, out)
    np.testing.assert_array_equal(out, [0, 0, 0, 0, 0, 0, 1, 2, 3])


# Pairs of which one is chosen, and the smaller and the larger of them.
PAIRS = np.array(
    [
        (1, 2, 1, 2),
        (-1, -2, -2, -1),
        (3, 3, 3, 3),
        (NAN, 1, 1, 1),
        (1, NAN, NAN, NAN),
        (NAN, NAN, NAN, NAN),
        (-INF, INF, -INF, INF),
        (LARGEST, -LARGEST, -LARGEST, LARGEST),
        (INF, NAN, NAN, NAN),
        (NAN, -INF, -INF, -INF),
        (0, -1e-45, -1e-45, 0),
        (INF, LARGEST, LARGEST, INF),
    ],
    np.float32,
)


@pytest.mark.parametrize("first", range(5))
def test_the_smaller_and_the_larger_of_two(first: int) -> None:
    """The second wherever one of the two is no number; each lane for itself."""
    a, b, small, large = PAIRS[first : first + 8].T.copy()
    out = np.zeros(32, np.float32)
    with np.errstate(invalid="ignore"):
        choices(a, b, out)
    np.testing.assert_array_equal(out.reshape(4, 8), [small, large, small, large])


def test_floor() -> None:
    """Toward minus infinity, whole numbers stay; NaN and infinities too."""
    values = [0.5, -0.5, -1, 2, 2**23 + 1, -(2**22) - 0.5, 1e-45, -1e-45]
    strange = [NAN, INF, -INF, LARGEST, -LARGEST, 0, np.nextafter(np.float32(1), 0), 1]
    for numbers in (values, strange):
        a, out = np.array(numbers, np.float32), np.zeros(8, np.float32)
        with np.errstate(invalid="ignore"):
            round_down(a, out)
            np.testing.assert_array_equal(out, np.floor(a))


@pytest.mark.parametrize(
    ("start", "step"),
    [(0, 1), (5, 0), (-3, -2), (0.25, 0.5), (2**20, -(2**17)), (-1e30, 1e30), (0, 0)],
)
def test_ramp(start: float, step: float) -> None:
    out = np.zeros(8, np.float32)
    steps(np.float32(start), np.float32(step), out)
    expected = np.float64(start) + np.float64(step) * np.arange(8)
    np.testing.assert_allclose(out, expected, rtol=1e-6)


def test_a_ramp_from_no_number_and_to_infinity() -> None:
    out = np.zeros(8, np.float32)
    steps(np.float32(NAN), np.float32(1), out)
    assert np.isnan(out).all()
    with np.errstate(over="ignore"):
        steps(np.float32(0), np.float32(LARGEST / 2), out)
    np.testing.assert_array_equal(out[:3], np.float32([0, LARGEST / 2, LARGEST]))
    np.testing.assert_array_equal(out[3:], INF)


@pytest.mark.parametrize(
    "four", [(1, 2, 3, 4), (0, -0.5, LARGEST, -LARGEST), (NAN, INF, -INF, 1e-45)]
)
def test_four_numbers_put_together_and_taken_out(four: tuple[float, ...]) -> None:
    numbers = np.array(four, np.float32)
    out = np.full(15, -1, np.float32)
    put_together(*numbers, out)
    expected = [*numbers, *[numbers[2]] * 4, *numbers[::-1], numbers[2], -1, -1]
    np.testing.assert_array_equal(out, np.float32(expected))


@pytest.mark.parametrize("lane", range(4))
def test_one_of_four(lane: int) -> None:
    assert (
        one_of_four(np.array([7, -8, 0.5, 1e30], np.float32), lane)
        == (np.float32([7, -8, 0.5, 1e30])[lane])
    )


@pytest.mark.parametrize("at", range(6))
def test_words(at: int) -> None:
    """At any offset; the largest is 65535 and not -1."""
    words = np.array([0, 1, 32767, 32768, 65535, 255, 256, 65534, 9], np.uint16)
    out = np.full(5, -1, np.float32)
    from_words(words, at, out)
    np.testing.assert_array_equal(out, [*words[at : at + 4], -1])


def test_words_of_all_sizes_are_exact() -> None:
    words = np.arange(0, 2**16, 251).astype(np.uint16)
    out = np.zeros(4, np.float32)
    for at in range(len(words) - 3):
        from_words(words, at, out)
        np.testing.assert_array_equal(out, words[at : at + 4])


def load_eight(a, out):  # type: ignore[no-untyped-def]
    store8(out, 0, load8(a, 0))


def load_four(a, out):  # type: ignore[no-untyped-def]
    store4(out, 0, load4(a, 0))


def spread(a, out):  # type: ignore[no-untyped-def]
    store8(out, 0, spread8(a, 0))


def load_words(a, out):  # type: ignore[no-untyped-def]
    store4(out, 0, words4(a, 0))


def write_rows(a, out):  # type: ignore[no-untyped-def]
    x = load8(a, 0)
    rows8(out, 0, x, x, x, x)


def write_points(a, rows, out):  # type: ignore[no-untyped-def]
    x = load8(a, 0)
    scatter8(out, rows, 0, x, x, x)


WRONG: list[tuple[Callable[..., Any], str]] = [
    (load_eight, "void(f8[::1], out f4[::1])"),
    (load_eight, "void(i4[::1], out f4[::1])"),
    (load_eight, "void(f4[:, ::1], out f4[::1])"),
    (load_eight, "void(f4[::1], out f8[::1])"),
    (load_eight, "void(f4[::1], f4[::1])"),
    (load_four, "void(f8[::1], out f4[::1])"),
    (load_four, "void(f4[::1], f4[::1])"),
    (spread, "void(u4[::1], out f4[::1])"),
    (load_words, "void(u1[::1], out f4[::1])"),
    (load_words, "void(i4[::1], out f4[::1])"),
    (write_rows, "void(f4[::1], out u4[::1])"),
    (write_rows, "void(f4[::1], f4[::1])"),
    (write_points, "void(f4[::1], i4[::1], out f4[::1])"),
    (write_points, "void(f4[::1], u4[::1], out f8[::1])"),
    (write_points, "void(f4[::1], u4[::1], f4[::1])"),
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
    nine = np.zeros(9, np.float32)
    with pytest.raises(AssertionError):
        load8(nine, at)
    with pytest.raises(AssertionError):
        store8(nine, at, np.zeros(8, np.float32))
    with pytest.raises(AssertionError):
        load4(nine[:5], at)
    with pytest.raises(AssertionError):
        words4(nine[:5].astype(np.uint16), at)
    with pytest.raises(AssertionError):
        pick4(nine[:4], at if at != 2 else 4)
    with pytest.raises(AssertionError):
        take(nine[:2], at)


def test_every_operation_is_tested_here() -> None:
    here = globals()
    assert all(name in here for name in kernel_lanes.__all__)
