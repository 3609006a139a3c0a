from __future__ import annotations

import threading
import time
from functools import partial

import pytest

from flexor.maths.threads import thread_count
from flexor.output.ordered import Ordered


def slow(number: int, seconds: float) -> bytes:
    time.sleep(seconds)
    return bytes([number])


def test_results_come_in_order() -> None:
    got: list[bytes] = []
    ordered = Ordered(got.append)
    for i in range(20):
        ordered.add(partial(slow, i, 0.01 if i % 3 == 0 else 0))
        assert len(got) >= i - 2 * thread_count() - 1, "too much is waiting"
    ordered.finish()
    ordered.close()
    assert got == [bytes([i]) for i in range(20)]


def test_an_error_in_the_work_is_raised() -> None:
    def fail() -> bytes:
        raise OSError("no")

    ordered = Ordered(lambda _: None)
    ordered.add(partial(slow, 0, 0.1))  # so that the next one is not taken at once
    ordered.add(fail)
    with pytest.raises(OSError, match="no"):
        ordered.finish()
    ordered.close()


def test_closing_drops_what_waits() -> None:
    got: list[bytes] = []
    ordered = Ordered(got.append)
    for i in range(2 * thread_count()):
        ordered.add(partial(slow, i, 0.05))
    ordered.close()
    ordered.finish()
    assert len(got) < 2 * thread_count()
    assert not [t for t in threading.enumerate() if t.name.startswith("flexor-out")]
