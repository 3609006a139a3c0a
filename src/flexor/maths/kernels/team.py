"""Several threads in one kernel: they share out work by counting.

Every thread runs the same kernel. `claim` hands out numbers, each to one thread;
`watch` reads a counter that others change. So a piece of work is done once, by whoever
comes first, and a thread that comes late, or never, is not missed.
"""

from __future__ import annotations

from threading import Lock
from typing import Any

from llvmlite import ir
from numba import config, types
from numba.extending import intrinsic

from flexor.maths.kernels.lanes import is_flat

__all__ = ["claim", "watch"]

_LOCK = Lock()  # for `claim` without compiled kernels


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


if config.DISABLE_JIT:

    def claim(counters: Any, at: int) -> int:
        """Add one to a counter of int64 (n,); gives what it was before."""
        assert 0 <= at < len(counters)
        with _LOCK:
            counters[at] += 1
            return int(counters[at]) - 1

    def watch(counters: Any, at: int) -> int:
        """What a counter is now."""
        assert 0 <= at < len(counters)
        return int(counters[at])

else:
    claim, watch = _claim, _watch
