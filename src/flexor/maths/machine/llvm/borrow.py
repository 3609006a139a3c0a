"""What the compiler is told of `borrow`."""

from __future__ import annotations

from typing import Any

import numpy as np
from numba import types
from numba.extending import intrinsic
from numba.np import arrayobj

__all__ = ["bytes_at", "floats_at", "floats_to", "ints_at", "masks_at", "words_at"]


def _maker(dtype: type[np.generic], kind: Any, is_written: bool = False) -> Any:
    """A function of (address, count) that gives the flat array of `dtype` there."""

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
masks_at = _maker(np.uint32, types.uint32)
words_at = _maker(np.uint16, types.uint16)
bytes_at = _maker(np.uint8, types.uint8)
