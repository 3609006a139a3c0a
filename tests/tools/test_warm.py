"""What compiles all kernels before tests begin: its words are further modules."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

import pytest

from flexor.maths.machine.warm import kernel_modules
from tools import warm

MAKEFILE = Path(__file__).parents[2] / "Makefile"


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


PLAY = """
import sys
from flexor.cli.main import main
from flexor.maths.machine import load
for game in ("arena", "goal"):
    sys.argv = ["flexor", "play", game, "--record", f"{game}.mp4"]
    sys.argv += ["--seconds", "0.2", "--size", "64x48"]
    try:
        main()
    except SystemExit as end:
        assert not end.code
print("kernels of", *load._modules)
"""


@pytest.mark.jit
def test_make_run_compiles_beforehand_what_its_games_load(tmp_path: Path) -> None:
    """So that neither of them stops to compile."""
    pytest.importorskip("av", reason="the games write videos")
    words = re.search(r"^PLAYED := ((?:.*\\\n)*.*)$", MAKEFILE.read_text("utf-8"), re.M)
    assert words is not None
    done = subprocess.run(
        [sys.executable, "-c", PLAY],
        cwd=tmp_path,
        capture_output=True,
        text=True,
        check=True,
    )
    loaded = done.stdout.splitlines()[-1].removeprefix("kernels of ").split()
    parts = [f"flexor.{word}" for word in words[1].replace("\\", " ").split()]
    assert "flexor.draw.raster.kernels.frame" in loaded
    missing = [
        name
        for name in loaded
        if not any(f"{name}.".startswith(f"{p}.") for p in parts)
    ]
    assert not missing
