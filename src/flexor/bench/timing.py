"""Timing for busy machines: many short rounds, of which the best counts."""

from __future__ import annotations

import os
import platform
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from importlib.metadata import version
from typing import Any

__all__ = ["Result", "best_seconds", "machine", "use_threads"]


@dataclass(frozen=True, slots=True)
class Result:
    """One figure: value in `unit`; note: what exactly was measured."""

    name: str
    value: float
    unit: str
    note: str = ""


def best_seconds(
    *calls: Callable[[], object], rounds: int = 30, least: float = 2e-3
) -> list[float]:
    """Seconds a call, the best round of each; the calls take turns round by round.

    Each round repeats a call until `least` seconds have passed, so that the clock's
    own cost does not show. Other programs can only make a round slower, never faster.
    """
    repeats = []
    for call in calls:
        call()
        started = time.perf_counter()
        call()
        once = time.perf_counter() - started
        repeats.append(max(1, int(least / max(once, 1e-9))))
    best = [float("inf")] * len(calls)
    for _ in range(rounds):
        for i, (call, repeat) in enumerate(zip(calls, repeats, strict=True)):
            started = time.perf_counter()
            for _ in range(repeat):
                call()
            best[i] = min(best[i], (time.perf_counter() - started) / repeat)
    return best


@contextmanager
def use_threads(count: int) -> Iterator[None]:
    """Let kernels use so many threads for a while."""
    before = os.environ.get("FLEXOR_THREADS")
    os.environ["FLEXOR_THREADS"] = str(count)
    try:
        yield
    finally:
        if before is None:
            del os.environ["FLEXOR_THREADS"]
        else:
            os.environ["FLEXOR_THREADS"] = before


def machine() -> dict[str, Any]:
    """What the figures were measured on."""
    return {
        "processor": _processor(),
        "cores": os.cpu_count(),
        "system": platform.platform(),
        "python": platform.python_version(),
        "numpy": version("numpy"),
        "numba": version("numba"),
    }


def _processor() -> str:
    for line in _cpu_lines():
        if line.startswith("model name"):
            return line.partition(":")[2].strip()
    return platform.processor() or platform.machine()


def _cpu_lines() -> Iterator[str]:
    try:
        with open("/proc/cpuinfo", encoding="ascii", errors="replace") as file:
            yield from file
    except OSError:
        return
