"""Bits at any place of an array of bytes."""

from __future__ import annotations

from typing import Any

import numpy as np
from llvmlite import ir
from numba import config, types
from numba.extending import intrinsic

from flexor.maths.kernels.lanes import is_flat

__all__ = ["load_bytes"]


@intrinsic
def _load_bytes(typing: Any, array: Any, at: Any) -> Any:
    if not is_flat(array, types.uint8):
        return None

    def build(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        data = context.make_array(signature.args[0])(context, builder, args[0]).data
        place = builder.gep(data, [args[1]])
        value = builder.load(builder.bitcast(place, ir.IntType(64).as_pointer()))
        value.align = 1
        return value

    return types.int64(array, types.int64), build


if config.DISABLE_JIT:

    def load_bytes(array: Any, at: Any) -> Any:
        """Eight bytes from `at` on as one number, the first being the lowest."""
        assert 0 <= at <= len(array) - 8
        return np.int64(
            int.from_bytes(array[at : at + 8].tobytes(), "little", signed=True)
        )

else:
    load_bytes = _load_bytes
