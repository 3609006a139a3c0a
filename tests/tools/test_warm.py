"""What compiles all kernels before tests begin: its words are further modules."""

from __future__ import annotations

import sys

import pytest

from flexor.maths.machine.warm import kernel_modules
from tools import warm


def test_what_is_missing_is_compiled_and_said(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    asked: list[str] = []

    def missing(names: list[str], target: object) -> list[str]:
        asked.extend(names)
        return names[-1:]

    monkeypatch.setattr(warm, "stale_modules", missing)
    monkeypatch.setattr(warm, "warm_modules", iter)
    monkeypatch.setattr(sys, "argv", ["warm", "one.more"])
    warm.main()
    assert asked == [*kernel_modules(), "one.more"]
    assert capsys.readouterr().out == "compiled one.more\n"


def test_nothing_is_said_where_nothing_is_missing(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(warm, "stale_modules", lambda names, target: [])
    monkeypatch.setattr(sys, "argv", ["warm"])
    warm.main()
    assert capsys.readouterr().out == ""
