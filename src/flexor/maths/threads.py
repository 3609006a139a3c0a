"""The library's thread pool: kernels release the interpreter's lock and run on it."""

from __future__ import annotations

import os
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from itertools import pairwise
from threading import Lock

__all__ = ["run_slices", "thread_count"]

_pool: ThreadPoolExecutor | None = None
_lock = Lock()


def thread_count() -> int:
    """Threads in use: FLEXOR_THREADS, else the cores this process may run on."""
    asked = os.environ.get("FLEXOR_THREADS", "")
    if asked.isdecimal() and int(asked) > 0:
        return int(asked)
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1


def run_slices(work: Callable[[slice], None], count: int) -> None:
    """Call `work` on slices that cover range(count), on all threads; wait for all.

    Each call must write only rows of its own slice, so the result does not depend on
    the number of threads. An exception in any of them is raised here.
    """
    threads = min(thread_count(), count) if count > 1 else 1
    if threads <= 1:
        if count:
            work(slice(0, count))
        return
    bounds = [count * i // threads for i in range(threads + 1)]
    parts = [slice(a, b) for a, b in pairwise(bounds)]
    try:
        futures = [_get_pool().submit(work, part) for part in parts[1:]]
    except RuntimeError:  # the interpreter is shutting down: no new threads
        work(slice(0, count))
        return
    try:
        work(parts[0])
    finally:
        for future in futures:
            future.exception()  # wait, so that nothing writes after we return
    for future in futures:
        future.result()


def _get_pool() -> ThreadPoolExecutor:
    global _pool
    with _lock:
        if _pool is None:
            _pool = ThreadPoolExecutor(os.cpu_count() or 1, "flexor")
        return _pool


def _forget_pool() -> None:
    """A forked process has the pool but not its threads: let it make its own."""
    global _pool, _lock
    _pool, _lock = None, Lock()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_forget_pool)
