"""What the compiler is told of `team`."""

from __future__ import annotations

from typing import Any

from llvmlite import ir
from numba import types
from numba.extending import intrinsic

from flexor.maths.machine.llvm.lanes import is_flat

__all__ = ["claim", "watch"]


def _place(context: Any, builder: Any, signature: Any, args: Any) -> Any:
    data = context.make_array(signature.args[0])(context, builder, args[0]).data
    return builder.gep(data, [args[1]])


@intrinsic
def _claim(typing: Any, counters: Any, at: Any) -> Any:
    if not is_flat(counters, types.int64, is_written=True):
        return None

    def build(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        place = _place(context, builder, signature, args)
        return builder.atomic_rmw("add", place, ir.IntType(64)(1), "seq_cst")

    return types.int64(counters, types.int64), build


@intrinsic
def _watch(typing: Any, counters: Any, at: Any) -> Any:
    if not is_flat(counters, types.int64):
        return None

    def build(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        place = _place(context, builder, signature, args)
        return builder.load_atomic(place, "acquire", 8)

    return types.int64(counters, types.int64), build


claim, watch = _claim, _watch
