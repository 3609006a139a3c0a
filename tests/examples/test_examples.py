"""Every example runs, in a folder of its own, and fits on a screen."""

from __future__ import annotations

import doctest
import importlib
import subprocess
import sys
from pathlib import Path

import pytest

FOLDER = Path(__file__).parents[2] / "examples"
EXAMPLES = sorted(FOLDER.glob("[0-9]*.py"))


def test_there_are_examples() -> None:
    assert EXAMPLES


@pytest.mark.slow
@pytest.mark.parametrize("file", EXAMPLES, ids=lambda file: file.stem)
def test_example_runs(file: Path, tmp_path: Path) -> None:
    lines = file.read_text().splitlines()
    assert lines[0] == "# test: run"
    assert len(lines) <= 80
    done = subprocess.run(
        [sys.executable, str(file)],
        cwd=tmp_path,
        capture_output=True,
        text=True,
        timeout=300,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    assert done.stdout


@pytest.mark.slow
@pytest.mark.parametrize("name", ["start.md", "clips.md"])
def test_documents_are_true(name: str) -> None:
    failed, tried = doctest.testfile(
        str(FOLDER.parent / "docs" / name), module_relative=False
    )
    assert tried
    assert not failed


@pytest.mark.slow
@pytest.mark.parametrize(
    "name",
    [
        "flexor.samples",
        "flexor.api.character",
        "flexor.api.pictures.drawing",
        "flexor.api.goal",
        "flexor.api.retargeting",
        "flexor.pose.clips.cut",
        "flexor.pose.clips.mirror",
    ],
)
def test_docstrings_are_true(name: str) -> None:
    failed, tried = doctest.testmod(importlib.import_module(name))
    assert tried
    assert not failed
