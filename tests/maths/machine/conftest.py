"""Kernels that several files of tests use, compiled once."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.maths.machine.compiled import run, write_kernels


@pytest.fixture(scope="session")
def compiled(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with a module `one/mine.py`, compiled into `cache` by a program."""
    folder = tmp_path_factory.mktemp("compiled")
    write_kernels(folder / "one")
    assert run(folder / "one", folder / "cache") == ("6.0 6.0", True)
    return folder


@pytest.fixture
def code(compiled: Path) -> bytes:
    """The file of machine code of that module."""
    (file,) = (compiled / "cache").rglob("*.kernels")
    return file.read_bytes()
