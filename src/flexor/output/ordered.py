"""Compress on several threads, write in order."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable
from concurrent.futures import Future, ThreadPoolExecutor

from flexor.maths.threads import thread_count

__all__ = ["Ordered"]


class Ordered:
    """Runs work on threads and hands the results to `take` in the order of the work.

    At most a few pieces of work wait at any time, so that memory stays small; `take`
    is called in the thread that calls `add` and `finish`. The threads are its own:
    the library's pool is for kernels, which must not wait behind a compressor.
    """

    def __init__(self, take: Callable[[bytes], object]) -> None:
        self._take = take
        self._most = 2 * thread_count()
        self._pool = ThreadPoolExecutor(thread_count(), "flexor-output")
        self._waiting: deque[Future[bytes]] = deque()

    def add(self, work: Callable[[], bytes]) -> None:
        """Start `work`; take what is ready."""
        self._waiting.append(self._pool.submit(work))
        while self._waiting and (
            len(self._waiting) > self._most or self._waiting[0].done()
        ):
            self._take(self._waiting.popleft().result())

    def finish(self) -> None:
        """Wait for all work and take its results."""
        while self._waiting:
            self._take(self._waiting.popleft().result())

    def close(self) -> None:
        """Drop what has not been taken, and end the threads."""
        self._pool.shutdown(wait=True, cancel_futures=True)
        self._waiting.clear()
