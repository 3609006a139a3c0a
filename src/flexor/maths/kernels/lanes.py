"""Eight (or four) float32 numbers at once, for kernels that must use vector code.

LLVM turns plain loops into vector code only when it can prove enough about them; with
several arrays, short runs or small fixed blocks it often cannot. Here a kernel says so
itself: `load8` takes eight neighbours from a flat array, `+ - * /` work on all eight,
`store8` puts them back. On a machine with narrower registers LLVM splits them. `take`
and `put` read and write one number without the check for negative indices.

Nothing here checks bounds. With NUMBA_DISABLE_JIT=1 the same names work on NumPy arrays
of length 8 or 4, and do.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from flexor.maths.machine.mode import mode

__all__ = [
    "floor8",
    "fma4",
    "fma8",
    "load4",
    "load8",
    "make4",
    "max4",
    "max8",
    "min4",
    "min8",
    "pick4",
    "put",
    "ramp8",
    "splat4",
    "splat8",
    "spread4",
    "spread8",
    "sqrt8",
    "store4",
    "store8",
    "take",
    "words4",
]


def window(array: Any, at: Any, count: int) -> Any:
    """The part of a flat array that lanes stand for, bounds checked."""
    assert array.ndim == 1
    assert 0 <= at <= len(array) - count
    return array[at : at + count]


def take(array: Any, at: Any) -> Any:
    """One number of a flat array."""
    return window(array, at, 1)[0]


def put(array: Any, at: Any, value: Any) -> None:
    """Write one number of a flat array."""
    window(array, at, 1)[0] = value


def load8(array: Any, at: Any) -> Any:
    """Eight numbers of a flat array, from `at` on."""
    return window(array, at, 8).copy()


def store8(array: Any, at: Any, value: Any) -> None:
    """Put eight numbers into a flat array, from `at` on."""
    window(array, at, 8)[:] = value


def spread8(array: Any, at: Any) -> Any:
    """One number of a flat array eight times."""
    return np.full(8, take(array, at), np.float32)


def splat8(value: Any) -> Any:
    """One number eight times."""
    return np.full(8, value, np.float32)


def ramp8(start: Any, step: Any) -> Any:
    """Eight numbers from `start` on, `step` apart."""
    return np.float32(start) + np.float32(step) * np.arange(8, dtype=np.float32)


def fma8(a: Any, b: Any, c: Any) -> Any:
    """The sum of a * b and c."""
    return a * b + c


def sqrt8(a: Any) -> Any:
    """Square roots."""
    return np.sqrt(a)


def floor8(a: Any) -> Any:
    """Whole numbers below."""
    return np.floor(a)


def max8(a: Any, b: Any) -> Any:
    """The larger of two; b where a is NaN."""
    return np.where(a > b, a, b)


def load4(array: Any, at: Any) -> Any:
    """Four numbers of a flat array, from `at` on."""
    return window(array, at, 4).copy()


def store4(array: Any, at: Any, value: Any) -> None:
    """Put four numbers into a flat array, from `at` on."""
    window(array, at, 4)[:] = value


def spread4(array: Any, at: Any) -> Any:
    """One number of a flat array four times."""
    return np.full(4, take(array, at), np.float32)


def splat4(value: Any) -> Any:
    """One number four times."""
    return np.full(4, value, np.float32)


def make4(a: Any, b: Any, c: Any, d: Any) -> Any:
    """Four numbers."""
    return np.array([a, b, c, d], np.float32)


def pick4(value: Any, lane: int) -> Any:
    """One of four numbers."""
    assert 0 <= lane < 4
    return value[lane]


def words4(array: Any, at: Any) -> Any:
    """Four numbers of a flat array of uint16, from `at` on."""
    return window(array, at, 4).astype(np.float32)


def min4(a: Any, b: Any) -> Any:
    """The smaller of two; b where a is NaN."""
    return np.where(a < b, a, b)


fma4, max4, min8 = fma8, max8, min4


if mode.compiler is not None:  # machine code instead
    from flexor.maths.machine.llvm import lanes as _code

    globals().update({name: getattr(_code, name) for name in __all__})
