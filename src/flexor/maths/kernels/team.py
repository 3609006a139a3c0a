"""Several threads in one kernel: they share out work by counting.

Every thread runs the same kernel. `claim` hands out numbers, each to one thread;
`watch` reads a counter that others change. So a piece of work is done once, by whoever
comes first, and a thread that comes late, or never, is not missed.
"""

from __future__ import annotations

from threading import Lock
from typing import Any

from flexor.maths.machine.mode import mode

__all__ = ["claim", "watch"]

_LOCK = Lock()


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


if mode.compiler is not None:  # machine code instead
    from flexor.maths.machine.llvm import team as _code

    globals().update({name: getattr(_code, name) for name in __all__})
