"""All kernels at once: which there are, which are missing, and that they are made."""

from __future__ import annotations

import ast
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import pytest

import flexor
from flexor.maths.machine import warm
from flexor.maths.machine.code import Object, pack_code
from flexor.maths.machine.keep import find_code, keep_code
from flexor.maths.machine.target import Target, find_target
from flexor.maths.machine.warm import kernel_modules, stale_modules, warm_modules

PACKAGE = Path(flexor.__file__).parent
CODE = pack_code([Object("one", "kernel0", b"code")])
SOME = ["flexor.pose.kernels.sample", "flexor.deform.kernels.vertices"]


def has_kernels(file: Path) -> bool:
    """Whether a function in a file, at any depth, is declared by `jit`."""
    text = file.read_text("utf-8")
    return "jit" in text and any(
        isinstance(call, ast.Call) and getattr(call.func, "id", "") == "jit"
        for node in ast.walk(ast.parse(text))
        if isinstance(node, ast.FunctionDef)
        for call in node.decorator_list
    )


def test_all_modules_with_kernels_and_no_other() -> None:
    wanted = {
        ".".join(("flexor", *file.relative_to(PACKAGE).with_suffix("").parts))
        for file in PACKAGE.rglob("*.py")
        if has_kernels(file)
    }
    found = kernel_modules()
    assert set(found) == wanted
    assert len(found) == len(wanted) > 30


def test_the_longest_come_first() -> None:
    found = kernel_modules()
    first = len(warm._FIRST)
    assert tuple(found[:first]) == warm._FIRST, "each is still there"
    assert found[first:] == sorted(found[first:])


@pytest.fixture
def cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("NUMBA_CACHE_DIR", str(tmp_path))
    monkeypatch.setenv("FLEXOR_PREBUILT", "0")
    return tmp_path


@pytest.mark.usefixtures("cache")
def test_which_are_missing() -> None:
    target = find_target()
    assert stale_modules(SOME, target) == SOME
    keep_code(SOME[0], warm.file_of(SOME[0]), target, CODE)
    assert stale_modules(SOME, target) == SOME[1:]
    assert stale_modules([], target) == []
    assert stale_modules(SOME, target._replace(key="other")) == SOME


@pytest.mark.usefixtures("cache")
def test_what_is_made_is_kept(monkeypatch: pytest.MonkeyPatch) -> None:
    """One after another, as each is done."""
    asked: list[Any] = []

    def compile_modules(
        names: Sequence[str], target: Target, jobs: int
    ) -> Iterator[tuple[str, bytes]]:
        asked.append((list(names), target, jobs))
        for name in reversed(names):
            yield name, CODE

    monkeypatch.setattr(warm, "compile_modules", compile_modules)
    target = find_target()
    made = warm_modules(SOME, 7)
    assert next(made) == SOME[1]
    assert stale_modules(SOME, target) == SOME[:1]
    assert list(made) == SOME[:1]
    assert asked == [(SOME, target, 7)]
    for name in SOME:
        assert find_code(name, warm.file_of(name), target) == CODE
    list(warm_modules(SOME))
    assert asked[1][2] >= 1, "as many as there are cores"


@pytest.mark.parametrize("name", ["flexor.nothing", "there_is_no_such_module"])
def test_no_such_module(name: str) -> None:
    with pytest.raises(ModuleNotFoundError, match=name):
        stale_modules([name], find_target())
