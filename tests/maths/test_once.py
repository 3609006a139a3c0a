"""Properties that are made once, whoever asks at the same time."""

from __future__ import annotations

import threading
import time

from flexor.maths.once import once


class Thing:
    def __init__(self) -> None:
        self.made = 0

    @once
    def value(self) -> list[int]:
        """A list."""
        time.sleep(0.05)
        self.made += 1
        return [self.made]

    @once
    def other(self) -> int:
        return self.value[0] + 1


def test_it_is_made_once_for_each_object() -> None:
    one, two = Thing(), Thing()
    assert one.value is one.value
    assert one.value is not two.value
    assert one.other == 2
    assert (one.made, two.made) == (1, 1)


def test_threads_get_the_same() -> None:
    thing = Thing()
    start = threading.Barrier(6)
    seen: list[list[int]] = []

    def ask() -> None:
        start.wait()
        assert thing.other == 2
        seen.append(thing.value)

    threads = [threading.Thread(target=ask) for _ in range(6)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(60)
    assert thing.made == 1
    assert all(value is thing.value for value in seen)
    assert len(seen) == len(threads)


def test_the_class_shows_the_property() -> None:
    assert Thing.value.__doc__ == "A list."
