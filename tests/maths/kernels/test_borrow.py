"""Arrays by their address: what kernels read there, and that they hold nothing."""

from __future__ import annotations

import sys
import weakref
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from flexor.maths.kernels.borrow import bytes_at, floats_at, ints_at, words_at
from flexor.maths.kernels.jit import jit
from flexor.maths.kernels.lanes import load8, put, store4, store8, take, words4
from tests.conftest import HAS_JIT
from tests.maths.machine.compiled import Compile, errors_of, names_of, run_compiler


@jit("void(i8[::1], i8, out f4[::1], out i4[::1], out u2[::1], out u1[::1])")
def copy_all(addresses, count, floats, ints, words, octets):  # type: ignore[no-untyped-def]
    a, b = floats_at(addresses[0], count), ints_at(addresses[1], count)
    c, d = words_at(addresses[2], count), bytes_at(addresses[3], count)
    for i in range(count):
        floats[i], ints[i], words[i], octets[i] = a[i], b[i], c[i], d[i]


@jit("void(i8, i8, out i8[::1])")
def lengths(address, count, out):  # type: ignore[no-untyped-def]
    out[0] = len(floats_at(address, count))
    out[1] = len(ints_at(address, count))
    out[2] = words_at(address, count).size
    out[3] = bytes_at(address, count).shape[0]


@jit("void(i8, i8, i8, i8, out f4[::1])")
def by_lanes(floats, words, count, at, out):  # type: ignore[no-untyped-def]
    store8(out, 0, load8(floats_at(floats, count), at))
    store4(out, 8, words4(words_at(words, count), at))
    put(out, 12, take(floats_at(floats, count), count - 1))


KINDS = (np.float32, np.int32, np.uint16, np.uint8)
VALUES = (
    [0, -1.5, np.nan, np.inf, -np.inf, 3.4e38, 1e-45, -0.0],
    [0, -1, 2**31 - 1, -(2**31), 7, -7, 65536, 1],
    [0, 1, 65535, 32768, 32767, 255, 256, 9],
    [0, 1, 255, 128, 127, 2, 254, 9],
)


def addresses_of(arrays: Any) -> Any:
    return np.array([array.ctypes.data for array in arrays], np.int64)


@pytest.mark.parametrize("first", [0, 1, 3])
def test_every_kind_is_read_bit_by_bit(first: int) -> None:
    """From any element on, and no further than asked."""
    arrays = [np.array(v, k)[first:] for v, k in zip(VALUES, KINDS, strict=True)]
    count = len(arrays[0]) - 1
    copies = [np.full(count + 1, 99, kind) for kind in KINDS]
    copy_all(addresses_of(arrays), count, *copies)
    for array, copy in zip(arrays, copies, strict=True):
        assert copy[:count].tobytes() == array[:count].tobytes()
        assert copy[count] == 99


def test_changes_are_seen() -> None:
    """An address is read when the kernel runs; nothing is kept from the last time."""
    arrays = [np.zeros(2, kind) for kind in KINDS]
    copies = [np.zeros(2, kind) for kind in KINDS]
    addresses = addresses_of(arrays)
    for value in (1, 2):
        for array in arrays:
            array[1] = value
        copy_all(addresses, 2, *copies)
        assert [copy.tolist() for copy in copies] == [[0, value]] * 4


@pytest.mark.parametrize("count", [0, 1, 5])
def test_lengths(count: int) -> None:
    room = np.zeros(5, np.float32)
    out = np.full(4, -1, np.int64)
    lengths(room.ctypes.data, count, out)
    assert out.tolist() == [count] * 4


def test_an_empty_array_needs_no_address() -> None:
    out = np.full(4, -1, np.int64)
    lengths(0, 0, out)
    assert out.tolist() == [0] * 4
    nothing = [np.zeros(0, kind) for kind in KINDS]
    copy_all(np.zeros(4, np.int64), 0, *nothing)


@pytest.mark.parametrize("at", [0, 1, 5])
def test_lanes_can_be_loaded_from_there(at: int) -> None:
    floats = np.arange(13, dtype=np.float32) - 6
    words = np.arange(65535, 65535 - 13, -1).astype(np.uint16)
    out = np.full(14, -1, np.float32)
    by_lanes(floats.ctypes.data, words.ctypes.data, 13, at, out)
    expected = [*floats[at : at + 8], *words[at : at + 4], floats[12], -1]
    np.testing.assert_array_equal(out, expected)


def test_the_array_is_not_held() -> None:
    """The caller holds it: no reference is added, none is dropped."""
    arrays = [np.ones(3, kind) for kind in KINDS]
    copies = [np.zeros(3, kind) for kind in KINDS]
    everything = [*arrays, *copies]
    before = [sys.getrefcount(array) for array in everything]
    addresses = addresses_of(arrays)
    for _ in range(100):
        copy_all(addresses, 3, *copies)
    assert [sys.getrefcount(array) for array in everything] == before
    there = weakref.ref(arrays[0])
    del arrays, everything
    assert there() is None
    assert copies[0].tolist() == [1, 1, 1]


def set_float(address):  # type: ignore[no-untyped-def]
    floats_at(address, 8)[0] = 1


def set_int(address):  # type: ignore[no-untyped-def]
    ints_at(address, 8)[0] = 1


def set_word(address):  # type: ignore[no-untyped-def]
    words_at(address, 8)[0] = 1


def set_byte(address):  # type: ignore[no-untyped-def]
    bytes_at(address, 8)[0] = 1


def set_lanes(address):  # type: ignore[no-untyped-def]
    there = floats_at(address, 8)
    store8(there, 0, load8(there, 0))


def set_one(address):  # type: ignore[no-untyped-def]
    put(ints_at(address, 8), 0, 1)


WRITING = (set_float, set_int, set_word, set_byte, set_lanes, set_one)
WRONG: list[tuple[Callable[..., Any], str]] = [(one, "void(i8)") for one in WRITING]


def try_all(compile: Compile) -> list[str]:
    return errors_of(compile, WRONG)


@pytest.fixture(scope="module")
def errors() -> list[str]:
    """What the compiler says of all of them, in a process of its own."""
    return run_compiler(__name__, "try_all")  # type: ignore[no-any-return]


@pytest.mark.jit
@pytest.mark.parametrize("at", range(len(WRONG)), ids=names_of(WRONG))
def test_what_writes_there_is_not_compiled(at: int, errors: list[str]) -> None:
    assert errors[at].startswith("TypingError")


@pytest.mark.parametrize("function", WRITING)
def test_nothing_can_be_written_there(function: Callable[[int], None]) -> None:
    """Without compiling it is an error when it happens."""
    there = np.zeros(8, np.float32)
    with pytest.raises(ValueError, match="read-only"):
        function(there.ctypes.data)
    assert not there.any()


@pytest.mark.skipif(HAS_JIT, reason="compiled kernels check nothing")
def test_without_compiled_kernels_a_negative_count_is_refused() -> None:
    there = np.zeros(8, np.float32)
    for function in (floats_at, ints_at, words_at, bytes_at):
        with pytest.raises(AssertionError):
            function(there.ctypes.data, -1)
