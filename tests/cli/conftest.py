"""The program, run in this process."""

from __future__ import annotations

import dataclasses
import sys
from typing import Any

import pytest

from flexor.cli.main import main


@dataclasses.dataclass
class Done:
    code: int
    out: str
    err: str


@pytest.fixture
def run(capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> Any:
    """Runs the program in this process, as if from a shell."""

    def start(*words: object) -> Done:
        monkeypatch.setattr(sys, "argv", ["flexor", *map(str, words)])
        with pytest.raises(SystemExit) as ended:
            main()
        printed = capsys.readouterr()
        return Done(int(ended.value.code or 0), printed.out, printed.err)

    return start
