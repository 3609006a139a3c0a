"""The thread pool: all work once, exceptions, forks, shutdown, many callers."""

from __future__ import annotations

import multiprocessing
import os
import subprocess
import sys
import threading
import time
import warnings
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import numpy as np
import pytest

from flexor.maths import threads
from flexor.maths.threads import run_slices, run_team, thread_count

COUNTS = [0, 1, 2, 3, 5, 8, 100]


@pytest.mark.parametrize("workers", [1, 2, 3, 7])
@pytest.mark.parametrize("count", COUNTS)
def test_every_index_once(
    workers: int, count: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("FLEXOR_THREADS", str(workers))
    seen = np.zeros(count, int)
    slices: list[slice] = []

    def work(rows: slice) -> None:
        slices.append(rows)
        assert 0 <= rows.start < rows.stop <= count
        assert rows.step is None
        seen[rows] += 1

    run_slices(work, count)
    assert (seen == 1).all()
    assert len(slices) == min(workers, count)


def test_same_bytes_for_any_number_of_threads(
    monkeypatch: pytest.MonkeyPatch, rng: np.random.Generator
) -> None:
    values = rng.normal(size=(37, 5)).astype(np.float32)
    results = []
    for workers in (1, 2, 3):
        monkeypatch.setenv("FLEXOR_THREADS", str(workers))
        out = np.zeros_like(values)

        def work(rows: slice, out: Any = out) -> None:
            out[rows] = np.sqrt(values[rows] ** 2 + 1) * values[rows].sum(1)[:, None]

        run_slices(work, len(values))
        results.append(out.tobytes())
    assert results[0] == results[1] == results[2]


@pytest.mark.parametrize("bad", [0, 4, 9])
def test_exceptions_are_raised_here(bad: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("FLEXOR_THREADS", "3")

    def work(rows: slice) -> None:
        if rows.start <= bad < rows.stop:
            raise KeyError(bad)

    with pytest.raises(KeyError, match=str(bad)):
        run_slices(work, 10)
    run_slices(lambda rows: None, 10)  # and the pool still works


@pytest.mark.parametrize("fails", [False, True])
def test_nothing_runs_after_return(
    fails: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Not even when the caller's own slice fails at once."""
    monkeypatch.setenv("FLEXOR_THREADS", "4")
    running = []

    def work(rows: slice) -> None:
        if rows.start == 0:
            if fails:
                raise ValueError("early")
            return
        running.append(rows.start)
        time.sleep(0.03)
        running.remove(rows.start)

    if fails:
        with pytest.raises(ValueError, match="early"):
            run_slices(work, 8)
    else:
        run_slices(work, 8)
    assert running == []


def test_the_caller_works_too(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("FLEXOR_THREADS", "2")
    names = {}
    both = threading.Barrier(2)

    def work(rows: slice) -> None:
        names[rows.start] = threading.current_thread()
        both.wait(30)

    run_slices(work, 2)
    assert names[0] is threading.current_thread()
    assert names[1] is not threading.current_thread()


def test_one_thread_makes_no_pool(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("FLEXOR_THREADS", "1")
    monkeypatch.setattr(threads, "_pool", None)
    run_slices(lambda rows: None, 10)
    assert threads._pool is None


def test_many_callers_at_once(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("FLEXOR_THREADS", "3")
    rows = np.zeros((8, 60), int)
    errors: list[Exception] = []

    def call(me: int) -> None:
        def work(part: slice) -> None:
            time.sleep(0.001)
            rows[me, part] += 1

        try:
            for _ in range(5):
                run_slices(work, rows.shape[1])
        except Exception as error:
            errors.append(error)

    callers = [threading.Thread(target=call, args=(me,)) for me in range(len(rows))]
    for caller in callers:
        caller.start()
    for caller in callers:
        caller.join(30)
    assert not errors
    assert (rows == 5).all()


@pytest.mark.parametrize(("text", "count"), [("1", 1), ("3", 3), ("12", 12)])
def test_thread_count_is_asked(
    text: str, count: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("FLEXOR_THREADS", text)
    assert thread_count() == count


@pytest.mark.parametrize("text", ["", "0", "-2", "many", "1.5", "\u00b2"])
def test_other_texts_mean_all_cores(text: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("FLEXOR_THREADS", text)
    cores = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else None
    assert thread_count() == (cores or os.cpu_count())


def _child(answer: Any) -> None:
    seen = np.zeros(10, int)

    def work(rows: slice) -> None:
        seen[rows] += 1

    run_slices(work, 10)
    calls: list[int] = []
    run_team(lambda: calls.append(1), 2)
    answer.put(bool((seen == 1).all() and calls))


@pytest.mark.skipif(not hasattr(os, "fork"), reason="no fork here")
def test_a_forked_process_has_its_own_pool(monkeypatch: pytest.MonkeyPatch) -> None:
    """Data loaders fork: the pool's threads do not come along."""
    monkeypatch.setenv("FLEXOR_THREADS", "2")
    run_slices(lambda rows: time.sleep(0.01), 4)
    run_slices(lambda rows: time.sleep(0.01), 4)
    context = multiprocessing.get_context("fork")
    answer = context.Queue()
    child = context.Process(target=_child, args=(answer,))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DeprecationWarning)
        child.start()
    child.join(10)
    is_stuck = child.is_alive()
    if is_stuck:
        child.kill()
    assert not is_stuck, "the child waits for threads it does not have"
    assert answer.get(timeout=5) is True


def test_without_new_threads_the_caller_does_the_rest(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """As when the interpreter shuts down, here after the first part was handed out."""
    monkeypatch.setenv("FLEXOR_THREADS", "4")
    pool = threads._get_pool()
    submit, handed = pool.submit, []

    def once(*arguments: Any) -> Any:
        if handed:
            raise RuntimeError("cannot schedule new futures after shutdown")
        handed.append(submit(*arguments))
        return handed[0]

    monkeypatch.setattr(pool, "submit", once)
    done = np.zeros(10, int)

    def work(rows: slice) -> None:
        done[rows] += 1

    threads.run_slices(work, 10)
    assert len(handed) == 1
    assert done.tolist() == [1] * 10


@pytest.fixture
def busy_pool(
    monkeypatch: pytest.MonkeyPatch,
) -> Iterator[Callable[[], None]]:
    """A pool whose one thread is at work until the fixture's function is called, which
    then waits until the pool has done all it was given.
    """
    pool, is_free = ThreadPoolExecutor(1), threading.Event()
    monkeypatch.setattr(threads, "_pool", pool)
    pool.submit(is_free.wait, 60)

    def free() -> None:
        is_free.set()
        pool.shutdown()

    yield free
    free()


def test_slices_that_no_thread_has_begun_are_done_here(
    busy_pool: Callable[[], None], monkeypatch: pytest.MonkeyPatch
) -> None:
    """And not once more when the thread has time."""
    monkeypatch.setenv("FLEXOR_THREADS", "4")
    done = np.zeros(10, int)

    def work(rows: slice) -> None:
        done[rows] += 1

    run_slices(work, 10)
    assert done.tolist() == [1] * 10
    busy_pool()
    assert done.tolist() == [1] * 10


class Pile:
    """Pieces of work, each handed to one of the threads that ask."""

    def __init__(self, count: int) -> None:
        self.left = list(range(count))
        self.done: list[int] = []
        self.callers: list[threading.Thread] = []

    def work(self) -> None:
        self.callers.append(threading.current_thread())
        while True:
            try:
                piece = self.left.pop()
            except IndexError:
                return
            time.sleep(0.0002)
            self.done.append(piece)


@pytest.mark.parametrize("count", [0, 1, 2, 3, 4, 50])
@pytest.mark.parametrize("pieces", [0, 1, 40])
def test_a_team_does_all_the_work(count: int, pieces: int) -> None:
    """Whatever the number of threads, and with this one at least."""
    pile = Pile(pieces)
    run_team(pile.work, count)
    assert sorted(pile.done) == list(range(pieces))
    assert threading.current_thread() in pile.callers
    assert 1 <= len(pile.callers) <= max(count, 1)


def test_a_team_is_several_threads_at_once() -> None:
    both = threading.Barrier(2)
    run_team(lambda: both.wait(30) and None, 2)
    assert not both.broken


def test_one_in_a_team_makes_no_pool(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(threads, "_pool", None)
    run_team(lambda: None, 1)
    assert threads._pool is None


def test_a_late_thread_is_dropped(busy_pool: Callable[[], None]) -> None:
    """This one does all and does not wait; the other has nothing to do later on."""
    pile = Pile(5)
    run_team(pile.work, 4)
    assert sorted(pile.done) == [0, 1, 2, 3, 4]
    busy_pool()
    assert pile.callers == [threading.current_thread()]


def test_a_team_waits_for_those_who_have_begun() -> None:
    """With this one's own error, too."""
    for fails in (False, True):
        has_begun, running = threading.Event(), []

        def work(
            begun: Any = has_begun, at: Any = running, fails: bool = fails
        ) -> None:
            if threading.current_thread() is threading.main_thread():
                begun.wait(30)
                if fails:
                    raise ValueError("early")
                return
            at.append(1)
            begun.set()
            time.sleep(0.03)
            at.pop()

        if fails:
            with pytest.raises(ValueError, match="early"):
                run_team(work, 2)
        else:
            run_team(work, 2)
        assert has_begun.is_set()
        assert running == []


@pytest.mark.parametrize("failing", ["this", "other", "both"])
def test_an_exception_in_a_team_is_raised_here(failing: str) -> None:
    """This thread's own, if both have one."""
    both = threading.Barrier(2)

    def work() -> None:
        is_this = threading.current_thread() is threading.main_thread()
        both.wait(30)
        if failing in ("both", "this" if is_this else "other"):
            raise KeyError("this" if is_this else "other")

    with pytest.raises(KeyError, match="other" if failing == "other" else "this"):
        run_team(work, 2)
    pile = Pile(3)
    run_team(pile.work, 2)  # and the pool still works
    assert sorted(pile.done) == [0, 1, 2]


def test_many_teams_at_once() -> None:
    """More callers than the pool has threads."""
    piles = [[Pile(30) for _ in range(5)] for _ in range(8)]

    def call(mine: list[Pile]) -> None:
        for pile in mine:
            run_team(pile.work, 4)

    callers = [threading.Thread(target=call, args=(mine,)) for mine in piles]
    for caller in callers:
        caller.start()
    for caller in callers:
        caller.join(30)
    for mine in piles:
        for pile in mine:
            assert sorted(pile.done) == list(range(30))


@pytest.mark.parametrize("run", ["slices", "team"])
def test_when_no_thread_can_be_started(
    run: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """As when a system has no more: the pool says no and yet keeps the work, which is
    not done a second time when threads can be started again.
    """
    monkeypatch.setenv("FLEXOR_THREADS", "3")
    pool = ThreadPoolExecutor(2)
    monkeypatch.setattr(threads, "_pool", pool)
    calls: list[threading.Thread] = []

    def refuse(thread: threading.Thread) -> None:
        raise RuntimeError("can't start new thread")

    def work(rows: slice | None = None) -> None:
        calls.append(threading.current_thread())

    with monkeypatch.context() as patch:
        patch.setattr(threading.Thread, "start", refuse)
        if run == "slices":
            run_slices(work, 3)
        else:
            run_team(work, 3)
    expected = [threading.current_thread()] * (3 if run == "slices" else 1)
    assert calls == expected
    assert pool.submit(int).result(30) == 0
    pool.shutdown()
    assert calls == expected


def run_script(script: str) -> str:
    """In its own process, which is ended if it hangs; gives what it prints."""
    result = subprocess.run(
        [sys.executable, "-c", "from flexor.maths.threads import *\n" + script],
        capture_output=True,
        text=True,
        timeout=60,
        env={**os.environ, "FLEXOR_THREADS": "4"},
    )
    assert (result.returncode, result.stderr) == (0, "")
    return result.stdout


NESTED = """
import threading, time
done, lock = [], threading.Lock()

def note(rows=None):
    time.sleep(0.002)
    with lock:
        done.append(rows)

def slices(work):
    return lambda rows=None: (time.sleep(0.002), run_slices(work, 4))

def team(work):
    return lambda rows=None: (time.sleep(0.002), run_team(work, 4))

for _ in range(10):
    OUTER(MIDDLE(INNER(note)))()
assert done
print(len(done))
"""


@pytest.mark.parametrize("outer", ["slices", "team"])
@pytest.mark.parametrize("inner", ["slices", "team"])
def test_work_that_hands_out_work_does_not_hang(outer: str, inner: str) -> None:
    """Three deep, with more to do than the pool has threads."""
    script = NESTED.replace("OUTER", outer).replace("INNER", inner)
    for middle in ("slices", "team"):
        count = int(run_script(script.replace("MIDDLE", middle)))
        if (outer, middle, inner) == ("slices",) * 3:
            assert count == 10 * 4**3


@pytest.mark.parametrize("is_used_before", [False, True])
def test_work_while_the_interpreter_shuts_down(is_used_before: bool) -> None:
    """There are no new threads then: the one that asks does all."""
    script = """
import atexit
pieces, done = list(range(10)), []

def work(rows=None):
    while pieces:
        done.append(pieces.pop())

def late():
    run_team(work, 4)
    seen = []
    run_slices(seen.append, 8)
    print(sorted(done), sorted((rows.start, rows.stop) for rows in seen))

atexit.register(late)
"""
    if is_used_before:
        script += "run_team(lambda: None, 4)\nrun_slices(lambda rows: None, 8)\n"
    assert run_script(script) == f"{list(range(10))} [(0, 2), (2, 4), (4, 6), (6, 8)]\n"


def test_a_thread_goes_on_after_the_main_program() -> None:
    """Another thread that hands out work when the pool is already closed."""
    script = """
import threading, time

def work():
    time.sleep(0.001)

def late():
    for _ in range(100):
        run_team(work, 4)
        run_slices(lambda rows: work(), 4)
    print("done")

threading.Thread(target=late).start()
"""
    assert run_script(script) == "done\n"
