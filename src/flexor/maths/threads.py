"""The library's thread pool: kernels release the interpreter's lock and run on it."""

from __future__ import annotations

import os
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from itertools import pairwise
from threading import Lock

__all__ = ["run_slices", "run_team", "thread_count"]

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
    mine = [slice(a, b) for a, b in pairwise(bounds)]
    futures = []
    try:
        while len(mine) > 1:
            futures.append(_get_pool().submit(work, mine[-1]))
            mine.pop()
    except RuntimeError:
        pass  # no new threads, as when the interpreter shuts down: we do the rest
    try:
        for part in mine:
            work(part)
    finally:
        for future in futures:
            future.exception()  # wait, so that nothing writes after we return
    for future in futures:
        future.result()


def run_team(work: Callable[[], None], count: int) -> None:
    """Call `work` in up to `count` threads, this one among them; wait for all.

    The calls share out what is to be done among themselves (`maths.kernel_team`), so a
    call that has not begun when this one is done is not needed, and is dropped.
    """
    futures = []
    try:
        for _ in range(count - 1):
            futures.append(_get_pool().submit(work))
    except RuntimeError:
        pass  # no new threads, as when the interpreter shuts down: we do all
    try:
        work()
    finally:
        waiting = [future for future in futures if not future.cancel()]
        for future in waiting:
            future.exception()  # wait, so that nothing writes after we return
    for future in waiting:
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
