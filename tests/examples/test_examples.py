"""Every example runs, in a folder of its own, and fits on a screen."""

from __future__ import annotations

import doctest
import importlib
import re
import sys
from pathlib import Path

import numpy as np
import pytest

FOLDER = Path(__file__).parents[2] / "examples"
EXAMPLES = sorted(FOLDER.glob("[0-9]*.py"))
SIZES = re.compile(r"^(.*\bSIZE\b.* = .*?)\((\d+), (\d+)\)", re.MULTILINE)
USUAL = np.geterr()  # readers of examples have not asked for more


def test_there_are_examples() -> None:
    assert EXAMPLES


@pytest.mark.slow
@pytest.mark.parametrize("file", EXAMPLES, ids=lambda file: file.stem)
@pytest.mark.usefixtures("made_once")
def test_example_runs(
    file: Path,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    """As a program of its own would, from its first line to its last; pictures are
    half as wide and high, to be quick.
    """
    text = file.read_text()
    lines = text.splitlines()
    assert lines[0] == "# test: run"
    assert len(lines) <= 80
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(sys, "argv", [str(file)])
    half = SIZES.sub(lambda m: f"{m[1]}({int(m[2]) // 2}, {int(m[3]) // 2})", text)
    assert (half != text) == ("SIZE" in text)
    known = {"__name__": "__main__", "__file__": str(file)}
    with np.errstate(**USUAL):
        exec(compile(half, str(file), "exec"), known)
    assert capsys.readouterr().out


@pytest.mark.slow
@pytest.mark.parametrize("name", ["start.md", "clips.md"])
def test_documents_are_true(name: str) -> None:
    failed, tried = doctest.testfile(
        str(FOLDER.parent / "docs" / "guide" / name), module_relative=False
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
