"""The library's thread pool: kernels release the interpreter's lock and run on it."""

from __future__ import annotations

import os
from collections.abc import Callable
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import suppress
from functools import partial
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
    the number of threads; a slice that no thread has begun when this one is done with
    its own is done here. An exception in any of them is raised here.
    """
    threads = min(thread_count(), count) if count > 1 else 1
    if threads <= 1:
        if count:
            work(slice(0, count))
        return
    bounds = [count * i // threads for i in range(threads + 1)]
    mine = [slice(a, b) for a, b in pairwise(bounds)]
    turns: list[tuple[Future[None], slice]] = []
    try:
        with suppress(RuntimeError):  # no new threads: we do the rest
            while len(mine) > 1:
                turns.append((Future(), mine.pop()))
                _submit(partial(work, turns[-1][1]), turns[-1][0])
        for part in mine:
            work(part)
        for turn, part in reversed(turns):
            # No waiting for threads that are busy: all may be waiting like this one.
            if turn.cancel():
                work(part)
    finally:
        begun = _wait([turn for turn, _ in turns])
    for turn in begun:
        turn.result()


def run_team(work: Callable[[], None], count: int) -> None:
    """Call `work` in up to `count` threads, this one among them; wait for all.

    The calls share out what is to be done among themselves (`kernels.team`), so a
    call that has not begun when this one is done is not needed, and is dropped.
    """
    turns: list[Future[None]] = []
    try:
        with suppress(RuntimeError):  # no new threads: we do all
            for _ in range(count - 1):
                turns.append(Future())
                _submit(work, turns[-1])
        work()
    finally:
        begun = _wait(turns)
    for turn in begun:
        turn.result()


def _submit(work: Callable[[], None], turn: Future[None]) -> None:
    """Let the pool do some work, unless `turn` is cancelled before that begins.

    The pool's own future is not enough: if no thread can be started, the pool raises
    an error and yet keeps the work, to do it at any later time. And if a user stops us
    here, the caller must know of what has begun.
    """

    def take() -> None:
        if not turn.set_running_or_notify_cancel():
            return
        try:
            work()
        except BaseException as error:
            turn.set_exception(error)
        else:
            turn.set_result(None)

    try:
        _get_pool().submit(take)
    except RuntimeError:
        if turn.cancel():
            raise


def _wait(turns: list[Future[None]]) -> list[Future[None]]:
    """Drop what has not begun and wait for the rest, so that nothing writes when this
    has returned; gives the rest.
    """
    stopped: KeyboardInterrupt | None = None
    while True:
        try:
            begun = [turn for turn in turns if not turn.cancel()]
            for turn in begun:
                turn.exception()
            break
        except KeyboardInterrupt as stop:
            # Kernels write to memory of ours: first they end, then we do.
            stopped = stop
    if stopped is not None:
        raise stopped
    return begun


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
