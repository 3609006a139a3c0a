"""Arrays by their address, for kernels that read as many arrays as there are things.

The caller checks each array (C order, the right dtype) and holds it until the
kernel is done.
"""

from __future__ import annotations

import ctypes
from typing import Any

import numpy as np
from numba import config, types
from numba.extending import intrinsic
from numba.np import arrayobj

__all__ = ["bytes_at", "floats_at", "floats_to", "ints_at", "words_at"]


def _maker(dtype: type[np.generic], kind: Any, is_written: bool = False) -> Any:
    """A function of (address, count) that gives the flat array of `dtype` there."""
    if config.DISABLE_JIT:

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

    @intrinsic
    def at_address(typing: Any, address: Any, count: Any) -> Any:
        result = types.Array(kind, 1, "C", readonly=not is_written)

        def build(context: Any, builder: Any, signature: Any, args: Any) -> Any:
            array = context.make_array(result)(context, builder)
            size = context.get_constant(types.intp, np.dtype(dtype).itemsize)
            arrayobj.populate_array(
                array,
                data=builder.inttoptr(args[0], array.data.type),
                shape=[args[1]],
                strides=[size],
                itemsize=size,
                meminfo=None,
            )
            return array._getvalue()

        return result(types.int64, types.int64), build

    return at_address


floats_at = _maker(np.float32, types.float32)
floats_to = _maker(np.float32, types.float32, is_written=True)
ints_at = _maker(np.int32, types.int32)
words_at = _maker(np.uint16, types.uint16)
bytes_at = _maker(np.uint8, types.uint8)
