"""Machine code in a program: taken from disk, or compiled where it is not whole."""

from __future__ import annotations

import importlib
import sys
from collections.abc import Iterator, Sequence
from pathlib import Path
from types import SimpleNamespace
from typing import Annotated, Any, NamedTuple

import numpy as np
import pytest

from flexor.arrays import Floats
from flexor.maths.machine import load
from flexor.maths.machine.code import unpack_code
from flexor.maths.machine.compiling import CannotCompile, compile_modules
from flexor.maths.machine.keep import say_once
from flexor.maths.machine.load import kernel_of
from flexor.maths.machine.signature import Signature, read_signature
from flexor.maths.machine.target import LEVELS, Target, find_target

NAMES = ("mine", "helper", "numbers_of_it")
pytestmark = pytest.mark.jit


class Cache(NamedTuple):
    """What a program has on disk, and what it had compiled."""

    file: Path
    code: bytes
    compiled: list[str]

    def run(self) -> float:
        """Import the kernels as a program does, and run them."""
        for name in NAMES:
            sys.modules.pop(name, None)
        load._modules.pop("mine", None)
        module = importlib.import_module("mine")
        values = np.full(2, 3, np.float32)
        module.double(values, values)
        return float(module.first(values))


@pytest.fixture
def cache(
    compiled: Path, code: bytes, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> Iterator[Cache]:
    """An empty cache; who wants to compile is given what was compiled before."""
    (kept,) = (compiled / "cache").rglob("*.kernels")
    file = tmp_path / "cache" / kept.relative_to(compiled / "cache")
    done: list[str] = []

    def stand_in(names: Sequence[str], target: Target) -> Iterator[tuple[str, bytes]]:
        done.extend(names)
        yield names[0], code

    monkeypatch.setattr(load, "compile_modules", stand_in)
    monkeypatch.setenv("NUMBA_CACHE_DIR", str(tmp_path / "cache"))
    monkeypatch.syspath_prepend(compiled / "one")
    yield Cache(file, code, done)
    for name in NAMES:
        sys.modules.pop(name, None)
    load._modules.pop("mine", None)


def test_compiled_once_then_taken_from_disk(
    cache: Cache, caplog: pytest.LogCaptureFixture
) -> None:
    say_once.cache_clear()
    assert [cache.run() for _ in range(3)] == [6, 6, 6]
    assert cache.compiled == ["mine"]
    assert cache.file.read_bytes() == cache.code
    assert len(caplog.records) == 1
    assert "compiling kernels; this happens once" in caplog.text


def test_any_damage_of_the_head(cache: Cache) -> None:
    """Every byte of it; each time it is compiled anew, and right."""
    head = cache.code.index(b"\n", cache.code.index(b"\n") + 1) + 1
    assert 50 < head < 300
    for at in range(head):
        byte = cache.code[at] ^ (1 << at % 8)
        damaged = cache.code[:at] + bytes([byte]) + cache.code[at + 1 :]
        cache.file.parent.mkdir(parents=True, exist_ok=True)
        cache.file.write_bytes(damaged)
        assert cache.run() == 6
        assert len(cache.compiled) == at + 1
        assert cache.file.read_bytes() == cache.code


def test_any_length(cache: Cache) -> None:
    cache.file.parent.mkdir(parents=True)
    lengths = [*range(0, len(cache.code), 97), len(cache.code) - 1]
    for length in lengths:
        cache.file.write_bytes(cache.code[:length])
        assert cache.run() == 6
    assert len(cache.compiled) == len(lengths)


def test_another_version(cache: Cache) -> None:
    cache.file.parent.mkdir(parents=True)
    cache.file.write_bytes(cache.code.replace(b"kernels 1", b"kernels 2", 1))
    assert cache.run() == 6
    assert len(cache.compiled) == 1


def test_a_module_that_is_imported_again(cache: Cache) -> None:
    """Functions of the first time go on as well."""
    assert cache.run() == 6
    module = sys.modules["mine"]
    before = module.first
    for _ in range(3):
        module = importlib.reload(module)
        assert module.first(np.full(1, 7, np.float32)) == 7
        assert module.first is not before
    assert before(np.full(1, 8, np.float32)) == 8
    assert len(cache.compiled) == 1


def test_an_import_that_failed_can_be_done_again(cache: Cache) -> None:
    """After the first of two kernels."""
    cache.run()
    kernels = sys.modules["mine"]
    one = read_signature("void(f4[::1], out f4[::1])", {})

    def double(a: Any, out: Any) -> None: ...

    double.__module__, double.__qualname__ = "mine", "double"
    double.__code__ = double.__code__.replace(co_filename=str(kernels.__file__))
    out = np.zeros(1, np.float32)
    for _ in range(3):
        kernel_of(double, one)(np.ones(1, np.float32), out)
        assert out[0] == 2
    assert cache.run() == 6


def test_a_kernel_that_is_not_in_its_file(cache: Cache) -> None:
    cache.run()
    kernels = sys.modules["mine"]

    def third(a: Any) -> None: ...

    third.__module__, third.__qualname__ = "mine", "third"
    third.__code__ = third.__code__.replace(co_filename=str(kernels.__file__))
    for _ in range(2):
        with pytest.raises(CannotCompile, match="mine: third is not declared where"):
            kernel_of(third, Signature(None, ()))
    assert cache.run() == 6


def test_other_layouts_are_seen_before_anything_is_loaded(
    cache: Cache, monkeypatch: pytest.MonkeyPatch
) -> None:
    def refuse() -> None:
        raise RuntimeError("laid out differently")

    monkeypatch.setattr(load, "check_layout", refuse)
    load._linker.cache_clear()
    with pytest.raises(RuntimeError, match="laid out differently"):
        cache.run()
    monkeypatch.undo()
    load._linker.cache_clear()


@pytest.mark.parametrize(
    "build", [{"abiflags": "t"}, {"abiflags": "", "_is_gil_enabled": lambda: False}]
)
def test_free_threaded_builds_are_refused(
    build: dict[str, Any], cache: Cache, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Before anything is loaded."""
    with monkeypatch.context() as patch:
        patch.setattr(load, "sys", SimpleNamespace(**build))
        load._linker.cache_clear()
        with pytest.raises(RuntimeError, match=r"free-threaded .* NUMBA_DISABLE_JIT=1"):
            cache.run()
    load._linker.cache_clear()
    assert cache.run() == 6


class Inner(NamedTuple):
    values: Annotated[Floats, "[::1]"]


class Outer(NamedTuple):
    inner: Inner
    other: Inner


def test_classes_are_handed_over_in_the_order_of_machine_code() -> None:
    kinds = read_signature("void(f4, Outer, Inner, Outer)", globals())
    assert load._classes(kinds.arguments) == [Outer, Inner]


def test_the_lowest_level_gives_the_same(
    cache: Cache, compiled: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Other machine code, which runs on every machine of the kind."""
    if find_target().key not in LEVELS or find_target().key == "x86-64":
        pytest.skip("there is no other level")
    target = Target("x86-64", "x86-64", "")
    ((_, data),) = compile_modules(["mine"], target)
    assert data != cache.code
    assert [one[:2] for one in unpack_code(data)] == [
        one[:2] for one in unpack_code(cache.code)
    ]
    monkeypatch.setattr(load, "find_target", lambda: target)
    monkeypatch.setattr(load, "find_code", lambda *given: data)
    assert cache.run() == 6
    assert cache.compiled == []


def test_functions_look_like_functions(cache: Cache) -> None:
    cache.run()
    kernel = sys.modules["mine"].first
    assert kernel.__name__ == "first"
    assert kernel.__module__ == "mine"
    assert callable(kernel)
    with pytest.raises(TypeError, match="expected float32"):
        kernel(np.zeros(1))
