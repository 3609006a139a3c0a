"""Arrays by their address, for kernels that read as many arrays as there are things.

The caller checks each array (C order, the right dtype) and holds it until the
kernel is done.
"""

from __future__ import annotations

import ctypes
from collections.abc import Callable
from typing import Any

import numpy as np

from flexor.maths.machine.mode import mode

__all__ = ["bytes_at", "floats_at", "floats_to", "ints_at", "masks_at", "words_at"]


def _maker(
    dtype: type[np.generic], is_written: bool = False
) -> Callable[[int, int], Any]:
    """A function of (address, count) that gives the flat array of `dtype` there."""

    def at(address: int, count: int) -> Any:
        assert count >= 0
        size = int(count) * np.dtype(dtype).itemsize
        array = np.empty(0, dtype)
        if size:
            memory: Any = (ctypes.c_char * size).from_address(int(address))
            array = np.frombuffer(memory, dtype)
        array.flags.writeable = is_written
        return array

    return at


floats_at = _maker(np.float32)
floats_to = _maker(np.float32, is_written=True)
ints_at = _maker(np.int32)
masks_at = _maker(np.uint32)
words_at = _maker(np.uint16)
bytes_at = _maker(np.uint8)

if mode.compiler is not None:  # machine code instead
    from flexor.maths.machine.llvm import borrow as _code

    globals().update({name: getattr(_code, name) for name in __all__})
