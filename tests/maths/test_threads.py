"""The thread pool: every index once, exceptions, forks, many callers."""

from __future__ import annotations

import multiprocessing
import os
import threading
import time
import warnings
from typing import Any

import numpy as np
import pytest

from flexor.maths import threads
from flexor.maths.threads import run_slices, thread_count

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

    def work(rows: slice) -> None:
        names[rows.start] = threading.current_thread()

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
    answer.put(bool((seen == 1).all()))


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
