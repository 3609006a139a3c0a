"""A user's Ctrl-C while threads work: first they end, then we do."""

from __future__ import annotations

import _thread
import signal
import threading
import time
from collections.abc import Iterator

import pytest

from flexor.maths import threads


@pytest.fixture(autouse=True)
def heard() -> Iterator[None]:
    """Interrupts are heard, also in tests that a shell runs in the background."""
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    yield
    signal.signal(signal.SIGINT, before)


@pytest.mark.parametrize("kind", ["team", "slices"])
def test_nothing_runs_on_after_an_interrupt(
    kind: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("FLEXOR_THREADS", "2")
    begun, ended = threading.Event(), threading.Event()
    main = threading.get_ident()

    def work(*_: object) -> None:
        if threading.get_ident() == main:
            assert begun.wait(10)
            return
        begun.set()
        time.sleep(0.1)
        _thread.interrupt_main()  # the main thread is waiting for this one by now
        time.sleep(0.3)
        ended.set()

    def run() -> None:
        if kind == "team":
            threads.run_team(work, 2)
        else:
            threads.run_slices(work, 2)

    with pytest.raises(KeyboardInterrupt):
        run()
    assert ended.is_set()
