"""A user's Ctrl-C while threads work: first they end, then we do."""

from __future__ import annotations

import _thread
import threading
import time

import pytest

from flexor.maths import threads


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
