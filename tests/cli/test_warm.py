"""`flexor warm`: which modules it compiles, and what it says and refuses."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest

from flexor.maths.machine import warm
from flexor.maths.machine.warm import kernel_modules


@pytest.fixture
def compiled(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """What was compiled: everything that is asked for is missing."""
    done: list[str] = []

    def make(names: list[str], jobs: int | None) -> Iterator[str]:
        for name in names:
            done.append(name)
            yield name

    monkeypatch.setattr(warm, "stale_modules", lambda names, target: list(names))
    monkeypatch.setattr(warm, "warm_modules", make)
    return done


def test_all_of_them(run: Any, compiled: list[str]) -> None:
    done = run("warm")
    assert done.code == 0, done.err
    assert compiled == kernel_modules()
    assert f"{len(compiled)} modules for " in done.out
    assert f": {len(compiled)} compiled, 0 were there" in done.out


@pytest.mark.parametrize(
    "rooms",
    [
        ["draw"],
        ["stage.goal", "pose"],
        ["deform.kernels.crowd", "deform.kernels.vertices"],
        ["stage", "stage.goal"],
    ],
)
def test_parts(rooms: list[str], run: Any, compiled: list[str]) -> None:
    assert run("warm", *rooms).code == 0
    parts = tuple(f"flexor.{room}." for room in rooms)
    assert compiled
    assert compiled == [n for n in kernel_modules() if f"{n}.".startswith(parts)]


@pytest.mark.parametrize("room", ["stag", "nothing", "stage.go", ".", "flexor.stage"])
def test_no_such_part(room: str, run: Any, compiled: list[str]) -> None:
    done = run("warm", "draw", room)
    assert done.code == 2
    assert f"{room}: no such part, expected convert, deform, draw," in done.err
    assert not compiled


def test_jobs(run: Any, compiled: list[str]) -> None:
    done = run("warm", "--jobs", "-1")
    assert done.code == 2
    assert "--jobs -1: expected 0 or more" in done.err
    assert not compiled
