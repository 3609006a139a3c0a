"""What machine code knows of Python and NumPy: functions, and where things stand in the
memory of objects, in bytes.

The same in all versions that flexor runs on; `check_layout` looks whether it is so.
"""

from __future__ import annotations

import ctypes
import sys

import numpy as np

__all__ = ["check_layout", "needed_flags", "numbers_of"]

_HEAD = object.__basicsize__
TYPE = _HEAD - 8
FLOAT_VALUE = _HEAD
TUPLE_SIZE, TUPLE_ITEMS = _HEAD, tuple.__basicsize__
ARRAY_DATA, ARRAY_AXES, ARRAY_SHAPE = _HEAD, _HEAD + 8, _HEAD + 16
ARRAY_DESCR, ARRAY_FLAGS = _HEAD + 40, _HEAD + 48
DESCR_ORDER, DESCR_NUMBER = _HEAD + 10, _HEAD + 12
SWAPPED = ord(">" if sys.byteorder == "little" else "<")
# What machine code needs of Python: functions by name, objects by address.
FUNCTIONS = (
    "PyBool_FromLong",
    "PyErr_Occurred",
    "PyErr_SetString",
    "PyEval_RestoreThread",
    "PyEval_SaveThread",
    "PyFloat_AsDouble",
    "PyFloat_FromDouble",
    "PyLong_AsLongLong",
    "PyLong_FromLongLong",
    "PyObject_IsTrue",
    "PyObject_Vectorcall",
    "PyType_IsSubtype",
    "Py_IncRef",
)
OBJECTS = {
    "flexor_error": RuntimeError,
    "flexor_ndarray": np.ndarray,
    "PyFloat_Type": float,
    "_Py_NoneStruct": None,
}
# As in `ndarray.flags.num`.
_ORDERED, _ALIGNED, _WRITABLE = 0x1, 0x100, 0x400


def needed_flags(is_output: bool) -> int:
    """The flags that an array must have."""
    return _ORDERED | _ALIGNED | (_WRITABLE if is_output else 0)


def numbers_of(dtype: type) -> list[int]:
    """NumPy's numbers of all types that are this one: two C types may be alike."""
    wanted = np.dtype(dtype)
    return sorted(
        {np.dtype(code).num for code in "?bBhHiIlLqQfd" if np.dtype(code) == wanted}
    )


def check_layout() -> None:
    """RuntimeError where objects are not laid out as machine code expects them."""

    def read(value: object, offset: int, kind: type[ctypes._SimpleCData[int]]) -> int:
        return kind.from_address(id(value) + offset).value

    array = np.zeros((2, 3), np.float32)
    swapped = array.dtype.newbyteorder()
    number = 0.5
    pair = (array, number)
    seen = (
        read(array, TYPE, ctypes.c_size_t) == id(np.ndarray),
        read(array, ARRAY_DATA, ctypes.c_size_t) == array.ctypes.data,
        read(array, ARRAY_AXES, ctypes.c_int) == 2,
        read(array, ARRAY_DESCR, ctypes.c_size_t) == id(array.dtype),
        read(array, ARRAY_FLAGS, ctypes.c_int) & 0xFFF == array.flags.num & 0xFFF,
        read(array.dtype, DESCR_NUMBER, ctypes.c_int) == array.dtype.num,
        read(array.dtype, DESCR_ORDER, ctypes.c_ubyte) == ord("="),
        read(swapped, DESCR_ORDER, ctypes.c_ubyte) == SWAPPED,
        read(pair, TUPLE_SIZE, ctypes.c_ssize_t) == 2,
        read(pair, TUPLE_ITEMS, ctypes.c_size_t) == id(array),
        ctypes.c_double.from_address(id(number) + FLOAT_VALUE).value == number,
    )
    sizes = read(array, ARRAY_SHAPE, ctypes.c_size_t)
    shape = (ctypes.c_ssize_t * 2).from_address(sizes)
    if not all(seen) or tuple(shape) != array.shape:
        raise RuntimeError(
            "compiled kernels do not fit this build of Python or NumPy, whose objects "
            "are laid out differently; NUMBA_DISABLE_JIT=1 runs without them"
        )
