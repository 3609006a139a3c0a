"""Several threads in one kernel: each number is handed out once, none is missed."""

from __future__ import annotations

import sys
import threading
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import pytest

from flexor.maths.kernels.jit import jit
from flexor.maths.kernels.team import claim, watch
from flexor.maths.threads import run_team
from tests.conftest import HAS_JIT
from tests.maths.machine.compiled import Compile, errors_of, names_of, run_compiler

MANY = 200_000 if HAS_JIT else 3_000


@jit("void(i8, i8, out i8[::1], out i8[::1])")
def take_numbers(stop, at, counters, taken):  # type: ignore[no-untyped-def]
    while True:
        number = claim(counters, at)
        if number >= stop:
            break
        taken[number] += 1


@jit("i8(i8, out i8[::1])")
def claim_one(at, counters):  # type: ignore[no-untyped-def]
    return claim(counters, at)


@jit("i8(i8[::1], i8)")
def look(counters, at):  # type: ignore[no-untyped-def]
    return watch(counters, at)


@jit("i8(i8, i8[::1], i8[::1])")
def sum_when_all_is_there(stop, counters, values):  # type: ignore[no-untyped-def]
    while watch(counters, 0) < stop:
        pass
    total = 0
    for value in values:
        total += value
    return total


@jit("void(i8, i8, out i8[::1], out i8[::1])")
def write_and_count(start, stop, counters, values):  # type: ignore[no-untyped-def]
    for i in range(start, stop):
        values[i] = i + 1
        claim(counters, 0)


@jit("void(i8, out i8[::1], out i8[::1], out i8[::1])")
def two_stages(count, counters, first, second):  # type: ignore[no-untyped-def]
    while True:
        work = claim(counters, 0)
        if work >= count:
            break
        first[work] += work * work + 1
        claim(counters, 8)
    while watch(counters, 8) < count:
        pass
    while True:
        work = claim(counters, 16)
        if work >= count:
            break
        for value in first:
            second[work] += value
        second[work] -= work


@pytest.fixture
def hasty() -> Iterator[None]:
    """Threads of the interpreter take turns as often as they can."""
    before = sys.getswitchinterval()
    sys.setswitchinterval(1e-6)
    yield
    sys.setswitchinterval(before)


def run_threads(works: list[Callable[[], Any]]) -> list[Any]:
    """All at once, each in its own thread; gives what they give."""
    start = threading.Barrier(len(works))
    results: list[Any] = [None] * len(works)

    def run(me: int) -> None:
        start.wait(60)
        results[me] = works[me]()

    threads = [
        threading.Thread(target=run, args=(me,), daemon=True)
        for me in range(len(works))
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(60)
    assert not any(thread.is_alive() for thread in threads), "a thread waits forever"
    return results


@pytest.mark.parametrize("start", [0, 5, -3, 2**40, -(2**63)])
def test_claim_gives_what_was_there_and_adds_one(start: int) -> None:
    counters = np.array([7, start, -1], np.int64)
    assert [claim_one(1, counters) for _ in range(4)] == [start + i for i in range(4)]
    np.testing.assert_array_equal(counters, [7, start + 4, -1])


@pytest.mark.parametrize("value", [0, -1, 2**63 - 1, -(2**63)])
def test_watch_reads_and_keeps(value: int) -> None:
    counters = np.array([3, value, 4], np.int64)
    assert look(counters, 1) == value
    np.testing.assert_array_equal(counters, [3, value, 4])


@pytest.mark.usefixtures("hasty")
@pytest.mark.parametrize("threads", [1, 2, 8])
@pytest.mark.parametrize("at", [0, 3])
def test_each_number_is_handed_out_once(threads: int, at: int) -> None:
    """And each thread is told once that there is no more."""
    counters = np.zeros(5, np.int64)
    taken = np.zeros((threads, MANY), np.int64)
    works = [
        lambda mine=mine: take_numbers(MANY, at, counters, mine)  # type: ignore[misc]
        for mine in taken
    ]
    run_threads(works)
    np.testing.assert_array_equal(taken.sum(0), 1)
    expected = np.zeros(5)
    expected[at] = MANY + threads
    np.testing.assert_array_equal(counters, expected)


def test_no_number_of_an_empty_lot() -> None:
    counters, taken = np.zeros(1, np.int64), np.zeros(1, np.int64)
    take_numbers(0, 0, counters, taken)
    assert counters[0] == 1
    assert taken[0] == 0


@pytest.mark.usefixtures("hasty")
def test_who_watches_sees_what_was_written_before_it_was_counted() -> None:
    """One thread waits in its kernel while others write and count."""
    count, writers = 300, 3
    for _ in range(20 if HAS_JIT else 3):
        counters, values = np.zeros(1, np.int64), np.zeros(count, np.int64)

        def wait(counters: Any = counters, values: Any = values) -> Any:
            return sum_when_all_is_there(count, counters, values)

        def write(me: int, counters: Any = counters, values: Any = values) -> None:
            share = count // writers
            write_and_count(me * share, (me + 1) * share, counters, values)

        works = [lambda me=me: write(me) for me in range(writers)]  # type: ignore[misc]
        total = run_threads([wait, *works])[0]
        assert total == count * (count + 1) // 2


@pytest.mark.usefixtures("hasty")
@pytest.mark.parametrize("threads", [1, 2, 3, 4])
@pytest.mark.parametrize("count", [0, 1, 2, 50])
def test_a_team_does_both_stages_once(threads: int, count: int) -> None:
    """The second stage needs all of the first, whoever did it; and a thread that comes
    when all is done adds nothing.
    """
    squares = np.arange(count) ** 2 + 1
    for _ in range(50 if HAS_JIT else 3):
        counters = np.zeros(24, np.int64)
        first, second = np.zeros(count, np.int64), np.zeros(count, np.int64)

        def work(counters: Any = counters, a: Any = first, b: Any = second) -> None:
            two_stages(count, counters, a, b)

        run_team(work, threads)
        for _ in range(2):
            np.testing.assert_array_equal(first, squares)
            np.testing.assert_array_equal(second, squares.sum() - np.arange(count))
            work()


def claim_from(counters):  # type: ignore[no-untyped-def]
    return claim(counters, 0)


def look_at(counters):  # type: ignore[no-untyped-def]
    return watch(counters, 0)


WRONG: list[tuple[Callable[..., Any], str]] = [
    (claim_from, "i8(out i4[::1])"),
    (claim_from, "i8(out f8[::1])"),
    (claim_from, "i8(out i8[:, ::1])"),
    (claim_from, "i8(i8[::1])"),
    (look_at, "i8(i4[::1])"),
    (look_at, "i8(f4[::1])"),
    (look_at, "i8(i8[:, ::1])"),
]


def try_all(compile: Compile) -> list[str]:
    return errors_of(compile, WRONG)


@pytest.fixture(scope="module")
def errors() -> list[str]:
    """What the compiler says of all of them, in a process of its own."""
    return run_compiler(__name__, "try_all")  # type: ignore[no-any-return]


@pytest.mark.jit
@pytest.mark.parametrize("at", range(len(WRONG)), ids=names_of(WRONG))
def test_counters_of_another_kind_are_not_compiled(at: int, errors: list[str]) -> None:
    """They would be counted as if they were int64; none is read-only."""
    assert errors[at].startswith("TypingError")


@pytest.mark.skipif(HAS_JIT, reason="compiled kernels check nothing")
@pytest.mark.parametrize("at", [-1, 3])
def test_without_compiled_kernels_bounds_are_checked(at: int) -> None:
    counters = np.zeros(3, np.int64)
    with pytest.raises(AssertionError):
        claim(counters, at)
    with pytest.raises(AssertionError):
        watch(counters, at)
    assert not counters.any()
