"""What the compiler is told of `bits`."""

from __future__ import annotations

from typing import Any

from llvmlite import ir
from numba import types
from numba.extending import intrinsic

from flexor.maths.machine.llvm.lanes import is_flat

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


load_bytes = _load_bytes
