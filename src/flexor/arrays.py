"""Check arrays and freeze them: type, shape, order, read-only."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from flexor.errors import ShapeError

__all__ = [
    "Bools",
    "Bytes",
    "Doubles",
    "Eight",
    "Floats",
    "Four",
    "Ints",
    "Longs",
    "Masks",
    "Pixels",
    "Real",
    "Rows",
    "RowsLike",
    "Shorts",
    "Whole",
    "Words",
    "address",
    "check_array",
    "check_input",
    "first_same",
    "freeze",
    "spell_out",
]

# The names of arrays, by what they hold; the only ones there are.
Floats = NDArray[np.float32]
Doubles = NDArray[np.float64]
Ints = NDArray[np.int32]
Longs = NDArray[np.int64]
Shorts = NDArray[np.int16]
Words = NDArray[np.uint16]
Masks = NDArray[np.uint32]  # bits
Rows = NDArray[np.intp]  # that index others
Bools = NDArray[np.bool_]
Bytes = NDArray[np.uint8]
Codes = NDArray[np.int8]  # small numbers that stand for something
Pixels = NDArray[np.uint8]  # (H, W, 3 or 4)

# What parts of kernels hand each other beside arrays: numbers, which mypy cannot follow
# (an element of an array is none of Python's, and becomes one or the other), and eight
# or four of them at once (see maths.kernels.lanes).
Whole = Any
Real = Any
Eight = NDArray[np.float32]
Four = NDArray[np.float32]

# Rows of many that a caller names: numbers, a mask, or a slice.
RowsLike = ArrayLike | slice

Shape = tuple[int | None, ...]


def _text(shape: Shape) -> str:
    inner = ", ".join("any" if n is None else str(n) for n in shape)
    return f"({inner},)" if len(shape) == 1 else f"({inner})"


def _fits(shape: tuple[int, ...], wanted: Shape) -> bool:
    return len(shape) == len(wanted) and all(
        want is None or have == want for have, want in zip(shape, wanted, strict=True)
    )


def freeze(
    value: Any, dtype: type[np.generic], shape: Shape, name: str
) -> NDArray[Any]:
    """Return `value` as a read-only C-ordered array of `dtype` and `shape`.

    None in `shape` stands for any length. An array that already fits is not copied:
    it becomes read-only, so the caller gives it away; a part of a larger one is copied.
    """
    try:
        given = np.asarray(value)
        array = np.ascontiguousarray(given, dtype=dtype)
        # NumPy would wrap or cut numbers that are not such integers, without a word.
        if array.dtype.kind in "iu" and given is not array and (array != given).any():
            raise OverflowError("a number does not fit")
    except (TypeError, ValueError, OverflowError) as error:
        wanted = np.dtype(dtype).name
        raise ShapeError(f"{name}: cannot be made {wanted}: {error}") from None
    if not _fits(array.shape, shape):
        raise ShapeError(f"{name}: shape {array.shape}, expected {_text(shape)}")
    return _lock(array)


def _lock(array: NDArray[Any]) -> NDArray[Any]:
    """Make an array read-only for good: also what it is a view of.

    A part of a larger array that can be written is copied instead.
    """
    base = array.base
    while isinstance(base, np.ndarray):
        if base.flags.writeable and base.size != array.size:
            array = array.copy()
            break
        base.flags.writeable = False
        base = base.base
    array.flags.writeable = False
    return array


def check_array(
    array: NDArray[Any], dtype: type[np.generic], shape: Shape, name: str
) -> None:
    """Refuse a caller's buffer that is not C-ordered, writable, `dtype`, `shape`."""
    # Called in every frame: the usual case is settled by four quick look-ups.
    if (
        type(array) is np.ndarray
        and array.dtype.type is dtype
        and array.dtype.isnative
        and (array.shape == shape or _fits(array.shape, shape))
        and array.flags.carray
    ):
        return
    if not isinstance(array, np.ndarray) or array.dtype != np.dtype(dtype):
        have = getattr(array, "dtype", type(array).__name__)
        raise ShapeError(f"{name}: {have}, expected {np.dtype(dtype).name}")
    if not _fits(array.shape, shape):
        raise ShapeError(f"{name}: shape {array.shape}, expected {_text(shape)}")
    raise ShapeError(f"{name}: must be a plain C-ordered array that can be written")


def check_input(
    array: NDArray[Any], dtype: type[np.generic], shape: Shape, name: str
) -> None:
    """Refuse an array to be read that is not C-ordered, `dtype` and `shape`."""
    is_plain = type(array) is np.ndarray and array.flags.c_contiguous
    if (
        is_plain
        and array.dtype.type is dtype
        and array.dtype.isnative
        and (array.shape == shape or _fits(array.shape, shape))
    ):
        return
    if isinstance(array, np.ndarray) and not array.flags.c_contiguous:
        raise ShapeError(f"{name}: must be C-ordered")
    check_array(array, dtype, shape, name)


def address(array: NDArray[Any] | None) -> int:
    """Where an array's numbers begin; 0: there is none."""
    if array is None:
        return 0
    where: int = array.__array_interface__["data"][0]
    return where


def spell_out(rows: Any, count: int, name: str) -> Any:
    """The rows of `count` that a slice names, one by one; all else as it is."""
    if not isinstance(rows, slice):
        return rows
    try:
        return np.arange(*rows.indices(count))
    except (TypeError, ValueError):
        raise ShapeError(f"{name}: {rows!r}, expected whole numbers") from None


def first_same(rows: Ints) -> Ints:
    """For each row of (R, C) the number of the first one equal to it: int32 (R,)."""
    if not len(rows):
        return np.zeros(0, np.int32)
    plain = np.ascontiguousarray(rows, np.int32)
    whole = plain.view(np.dtype((np.void, plain.shape[1] * 4)))[:, 0]
    _, first, group = np.unique(whole, return_index=True, return_inverse=True)
    return first[group].astype(np.int32)
