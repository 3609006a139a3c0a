"""Eight int32 at once, and the choice among eight pixels that goes with them."""

from __future__ import annotations

from typing import Any

import numpy as np

from flexor.maths.machine.mode import mode

__all__ = [
    "as_floats8",
    "as_ints8",
    "count_bits",
    "equal8",
    "load_ints8",
    "mark8",
    "match8",
    "nearer8",
    "negative8",
    "pack8",
    "ramp_ints8",
    "splat_ints8",
    "store_ints8",
]


def splat_ints8(value: int) -> Any:
    """One number eight times."""
    return np.full(8, value, np.int32)


def ramp_ints8(start: int, step: int) -> Any:
    """Eight numbers from `start` on, `step` apart."""
    return (start + step * np.arange(8)).astype(np.int32)


def nearer8(
    depths: Any, marks: Any, at: int, inside: Any, depth: Any, mark: int
) -> None:
    """Where `inside` is not negative and `depth` is above what eight depths from
    `at` on hold, put it there, and `mark` into the marks. No depth is NaN there.
    """
    assert 0 <= at <= min(len(depths), len(marks)) - 8
    assert not np.isnan(depth[inside >= 0]).any()
    is_kept = (inside >= 0) & (depth > depths[at : at + 8])
    depths[at : at + 8][is_kept] = depth[is_kept]
    marks[at : at + 8][is_kept] = mark


def mark8(
    depths: Any, at: int, inside: Any, depth: Any, bit: int, bits: Any, to: int
) -> None:
    """Set `bit` in eight numbers from `to` on, where `nearer8` would put a mark."""
    assert 0 <= at <= len(depths) - 8
    assert 0 <= to <= len(bits) - 8
    is_seen = (inside >= 0) & (depth > depths[at : at + 8])
    bits[to : to + 8][is_seen] |= bit


def load_ints8(array: Any, at: int) -> Any:
    """Eight numbers of a flat array of int32, from `at` on."""
    assert 0 <= at <= len(array) - 8
    return array[at : at + 8].copy()


def store_ints8(array: Any, at: int, value: Any) -> None:
    """Put eight numbers into a flat array of int32, from `at` on."""
    assert 0 <= at <= len(array) - 8
    array[at : at + 8] = value


def as_ints8(value: Any) -> Any:
    """Float32 that fit to int32, toward zero."""
    assert ((value >= -(2.0**31)) & (value < 2.0**31)).all()
    return value.astype(np.int32)


def as_floats8(value: Any) -> Any:
    """Eight int32 as float32."""
    return value.astype(np.float32)


def negative8(test: Any, a: Any, b: Any) -> Any:
    """The first where `test` is negative, else the second."""
    return np.where(test < 0, a, b)


def equal8(array: Any, at: int, value: int) -> int:
    """A bit for each of eight numbers from `at` on that is equal to `value`."""
    assert 0 <= at <= len(array) - 8
    return sum(1 << i for i in range(8) if array[at + i] == value)


def match8(array: Any, at: int, value: int, bits: int) -> Any:
    """`bits` where eight numbers from `at` on are equal to `value`, else 0."""
    assert 0 <= at <= len(array) - 8
    return np.where(array[at : at + 8] == value, np.int32(bits), np.int32(0))


def pack8(bits: int, base: int, array: Any, at: int) -> None:
    """Write `base` plus the number of each of the eight bits that is set, in order;
    eight numbers from `at` on are overwritten.
    """
    assert 0 <= at <= len(array) - 8
    assert 0 <= bits < 256
    places = [place for place in range(8) if bits >> place & 1]
    array[at : at + 8] = base
    array[at : at + len(places)] += np.array(places, np.int32)


def count_bits(bits: int) -> int:
    """How many of 64 bits are set."""
    return (int(bits) & 2**64 - 1).bit_count()


if mode.compiler is not None:  # machine code instead
    from flexor.maths.machine.llvm import ints as _code

    globals().update({name: getattr(_code, name) for name in __all__})
