"""Processes that compile: what they give, what they say, and that none is left."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from contextlib import suppress
from pathlib import Path
from typing import Any

import pytest

from flexor.maths.machine import compiling
from flexor.maths.machine.code import unpack_code
from flexor.maths.machine.compiling import CannotCompile, compile_modules
from flexor.maths.machine.target import Target, find_target
from tests.maths.machine.compiled import PROGRAM, write_kernels

TARGET = Target("level", "processor", "+feature")
# Stands for the compiler, and does what the name of a module says.
STAND_IN = """
import os, sys, time
for line in sys.stdin:
    name = line.strip()
    if name == "sleep":
        time.sleep(1000)
    if name == "error":
        raise SystemError("what is wrong " + "x" * 300_000 + " at the end")
    if name == "exit":
        os._exit(3)
    if name == "loud":
        print("y" * 300_000, file=sys.stderr)
    data = " ".join((name, *sys.argv[1:])).encode()
    size = len(data) + (name == "short")
    sys.stdout.buffer.write(f"{size}\\n".encode() + data)
    sys.stdout.flush()
    if name == "short":
        break
"""


class Processes(list["subprocess.Popen[bytes]"]):
    """All that were started."""

    def assert_ended(self) -> None:
        assert [one.returncode is None for one in self] == [False] * len(self)


@pytest.fixture
def processes(monkeypatch: pytest.MonkeyPatch) -> Processes:
    started = Processes()
    start = subprocess.Popen

    def popen(*args: Any, **words: Any) -> Any:
        started.append(start(*args, **words))
        return started[-1]

    monkeypatch.setattr(compiling.subprocess, "Popen", popen)
    return started


@pytest.fixture
def stand_in(monkeypatch: pytest.MonkeyPatch, processes: Processes) -> Processes:
    monkeypatch.setattr(compiling, "_SCRIPT", STAND_IN)
    return processes


@pytest.mark.parametrize("jobs", [-1, 0, 1, 2, 3, 50])
def test_each_module_is_compiled_once(jobs: int, stand_in: Processes) -> None:
    """By no more processes than there are modules, and by one at least."""
    names = [f"name{i}" for i in range(4)]
    found = dict(compile_modules(names, TARGET, jobs))
    assert found == {name: f"{name} processor +feature".encode() for name in names}
    assert len(stand_in) == min(max(jobs, 1), 4)
    stand_in.assert_ended()


def test_nothing_to_compile(stand_in: Processes) -> None:
    assert list(compile_modules([], TARGET, 3)) == []
    assert not stand_in


def test_one_process_keeps_the_order(stand_in: Processes) -> None:
    names = [f"name{i}" for i in range(9)]
    assert [name for name, _ in compile_modules(names, TARGET)] == names
    stand_in.assert_ended()


def test_what_is_said_does_not_hold_it_up(stand_in: Processes) -> None:
    """More than fits between two processes while nobody reads it."""
    found = dict(compile_modules(["loud", "next"], TARGET))
    assert list(found) == ["loud", "next"]
    stand_in.assert_ended()


def test_an_error_says_where_and_what(stand_in: Processes) -> None:
    made = compile_modules(["first", "error", "third"], TARGET)
    assert next(made)[0] == "first"
    with pytest.raises(CannotCompile) as caught:
        next(made)
    text = str(caught.value)
    assert text.startswith("error: kernels cannot be compiled\n")
    assert "SystemError: what is wrong" in text
    assert text.endswith("at the end")
    stand_in.assert_ended()


@pytest.mark.parametrize("name", ["exit", "short"])
def test_a_process_that_ends_without_a_word(name: str, stand_in: Processes) -> None:
    with pytest.raises(CannotCompile, match=f"^{name}: kernels cannot be compiled"):
        list(compile_modules([name], TARGET))
    stand_in.assert_ended()


def test_an_error_ends_the_others(stand_in: Processes) -> None:
    with pytest.raises(CannotCompile, match=r"^error"):
        list(compile_modules(["sleep", "sleep", "error", "next"], TARGET, 3))
    assert len(stand_in) == 3
    stand_in.assert_ended()


def test_who_wants_no_more_ends_them(stand_in: Processes) -> None:
    made = compile_modules(["first", "sleep", "sleep"], TARGET, 2)
    assert next(made)[0] == "first"
    made.close()  # type: ignore[attr-defined]
    stand_in.assert_ended()


def test_no_process_can_be_started(monkeypatch: pytest.MonkeyPatch) -> None:
    """It is told, not waited for."""
    monkeypatch.setattr(sys, "executable", "/there/is/no/python")
    with pytest.raises(OSError, match="no/python"):
        list(compile_modules(["name"], TARGET, 2))


@pytest.mark.skipif(sys.platform == "win32", reason="there are no such signals")
def test_an_interrupt_ends_them(tmp_path: Path) -> None:
    """One that only the program is sent: no process of its group is left."""
    script = (
        "from flexor.maths.machine import compiling\n"
        f"compiling._SCRIPT = {STAND_IN!r}\n"
        f"target = compiling.Target('', '', '')\n"
        "for name, _ in compiling.compile_modules(['go', 'sleep', 'sleep'], target, 2):"
        "\n    print(name, flush=True)\n"
    )
    out, said = interrupt(script, "go")
    assert out == ""
    assert "KeyboardInterrupt" in said


def interrupt(script: str, *words: str, **environment: str) -> tuple[str, str]:
    """What a program says after its first line, which ends it; nothing may be left."""
    stream = "stdout" if words == ("go",) else "stderr"
    # Where tests run in the background, a shell has had interrupts ignored.
    script = f"import signal\nsignal.signal(2, signal.default_int_handler)\n{script}"
    process = subprocess.Popen(
        [sys.executable, "-c", script, *words],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        start_new_session=True,
        env={**os.environ, **environment},
    )
    assert getattr(process, stream).readline()
    # Not so long that a quick machine has compiled it all.
    time.sleep(0.5 if stream == "stdout" else 0.15)
    process.send_signal(signal.SIGINT)
    out, said = process.communicate(timeout=120)
    assert process.returncode not in (0, None)
    until = time.monotonic() + 60
    with suppress(ProcessLookupError):
        while time.monotonic() < until:
            os.killpg(process.pid, 0)
            time.sleep(0.05)
        raise AssertionError("a process is left")
    return out, said


@pytest.mark.jit
@pytest.mark.skipif(sys.platform == "win32", reason="there are no such signals")
def test_an_interrupted_program_leaves_nothing(tmp_path: Path) -> None:
    """Neither a process that compiles, nor a file or a part of one."""
    write_kernels(tmp_path / "one")
    cache = tmp_path / "cache"
    words = {"NUMBA_CACHE_DIR": str(cache), "NUMBA_DISABLE_JIT": "0"}
    out, said = interrupt(PROGRAM, str(tmp_path / "one"), **words)
    assert out == ""
    assert "KeyboardInterrupt" in said
    assert not list(cache.rglob("*.kernels*"))


OTHER = """
import math
from helper import twice
from flexor.maths.kernels.functions import atan2, cbrt, cos, sin
from flexor.maths.kernels.jit import jit, part

@part
def stage(a, out, at):
    for i in range(len(a)):
        if a[i] > out[at]:
            out[at] += sin(a[i]) * cbrt(out[i]) + atan2(twice(a[at]), out[i])
        elif a[at] > 3:
            out[i] = math.sqrt(a[at] % out[i]) - atan2(a[i], out[at]) * cos(out[at])

@jit("void(f8[::1], i8, out f8[::1])")
def another(a, at, out):
    for i in range(at):
        stage(a, out, i)
        stage(out, out, at - i)
    stage(a, out, at)
    stage(out, out, at + 1)
"""


@pytest.mark.jit
def test_the_same_bytes_whatever_is_around(
    compiled: Path, code: bytes, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """After other modules, with settings of the compiler that are meant for others, and
    in a folder with files of the names of libraries.
    """
    write_kernels(tmp_path / "one")
    (tmp_path / "one" / "other.py").write_text(OTHER)
    (tmp_path / "here").mkdir()
    for name in ("numba", "numpy", "json"):
        (tmp_path / "here" / f"{name}.py").write_text("raise SystemError('not this')")
    monkeypatch.chdir(tmp_path / "here")
    monkeypatch.syspath_prepend(tmp_path / "one")
    settings = {"OPT": "0", "DISABLE_JIT": "1", "BOUNDSCHECK": "1", "DEBUGINFO": "1"}
    for name, value in settings.items():
        monkeypatch.setenv(f"NUMBA_{name}", value)
    names = ["other", "helper", "mine", "other"]
    several = list(compile_modules(names, find_target(), 1))
    found = dict(several)
    assert found["mine"] == code
    assert several[0] == several[-1], "a stage that stands for itself has a name"
    assert unpack_code(found["helper"]) == [], "it has no kernels"
    assert [one.name for one in unpack_code(found["other"])] == ["another"]
    assert [one.name for one in unpack_code(code)] == ["double", "first"]


WRONG = """
from flexor.maths.kernels.jit import jit

print("z" * 300_000)

@jit("f4(f4[::1])")
def fine(a):
    return a[0]

@jit("f4(f4[::1])")
def not_fine(a):
    return a.there_is_no_such_thing
"""


@pytest.mark.jit
def test_a_kernel_with_an_error(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, processes: Processes
) -> None:
    """The module, and what is wrong in it; also where it prints a lot."""
    (tmp_path / "wrong_kernels.py").write_text(WRONG)
    monkeypatch.syspath_prepend(tmp_path)
    with pytest.raises(CannotCompile) as caught:
        list(compile_modules(["wrong_kernels"], find_target()))
    text = str(caught.value)
    assert text.startswith("wrong_kernels: kernels cannot be compiled\n")
    assert "there_is_no_such_thing" in text
    assert "TypingError" in text
    processes.assert_ended()
