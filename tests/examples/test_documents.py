"""What the documents tell people to type works as it stands there."""

from __future__ import annotations

import re
import shlex
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import flexor
from flexor.cli.main import main
from flexor.files.text.moves import read_log, read_moves
from flexor.files.text.stage import read_stage
from tests.cli.test_motion import walker

ROOT = Path(__file__).parents[2]
pytestmark = [pytest.mark.slow, pytest.mark.usefixtures("made_once")]


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Where a reader would be: in a folder with a hero.glb, and a motion capture."""
    monkeypatch.chdir(tmp_path)
    (tmp_path / "wave.bvh").write_text(walker())
    flexor.save(flexor.samples.mannequin(), "hero.glb")
    return tmp_path


def commands(name: str) -> Iterator[str]:
    """Lines of a document that start with `flexor`, without what they are for."""
    for line in (ROOT / name).read_text("utf-8").splitlines():
        if line.startswith("    flexor "):
            yield re.split(r"\s{2,}|\s+#", line.strip())[0]


def blocks(name: str, language: str = "python") -> list[str]:
    """The Python, or what else, of a document."""
    text = (ROOT / name).read_text("utf-8")
    return re.findall(rf"^```{language}\n(.*?)^```", text, re.MULTILINE | re.DOTALL)


@pytest.mark.parametrize("name", ["README.md", "docs/guide/output.md"])
def test_commands_work(
    name: str, folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    lines = [line for line in commands(name) if not line.startswith("flexor bench")]
    assert len(lines) > 5
    type_all(lines, folder, monkeypatch)


def test_levels_work(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """With the text file of the page; its levels are those of the package."""
    name = "docs/guide/levels.md"
    (words,) = blocks(name, "toml")
    (folder / "levels.toml").write_text(words, "utf-8")
    lines = list(commands(name))
    assert len(lines) == 5
    type_all(lines, folder, monkeypatch)
    hero = flexor.load("hero.flexor")
    assert hero.given_levels is not None
    names = hero.levels.table.names
    drop = [names.index(f"{side}-pinky1") for side in "lr"]
    assert not hero.levels.masks[2:, drop].any()
    assert hero.levels.masks[2, [names.index(f"{side}-hand") for side in "lr"]].all()
    assert hero.levels.totals(2)[2] <= 500
    assert flexor.load("plain.flexor").given_levels is None


def test_stages_and_moves_are_read(folder: Path) -> None:
    stage, words = blocks("docs/guide/stage.md", "toml")
    (folder / "moves.toml").write_text(words, "utf-8")
    (folder / "arena.toml").write_text(stage, "utf-8")
    plan = read_stage(folder / "arena.toml")
    assert [actor.name for actor in plan.cast] == ["red", "blue"]
    table = read_moves(folder / "moves.toml")
    assert plan.moves == table
    assert [move.name for move in table.moves] == ["punch", "kick", "throw"]
    assert len(table.combinations[0].commands) == 3
    played = flexor.Stage(folder / "arena.toml")
    pads = [["right", "left"]] * 60 + [["B", ""]] * 20
    for held in pads:
        played.step(held)
    assert played.energy.tolist() == [100, 90], "they fight"


def test_the_log_of_the_guide_is_read(folder: Path) -> None:
    """Of which the punch lands, on the stage of the guide."""
    stage, words = blocks("docs/guide/stage.md", "toml")
    (folder / "moves.toml").write_text(words, "utf-8")
    (folder / "arena.toml").write_text(stage, "utf-8")
    (text,) = blocks("docs/guide/stage.md", "text")
    (folder / "fight.log").write_text(text, "utf-8")
    log = read_log(folder / "fight.log")
    assert (log.length, log.count, log.has_sticks) == (600, 2, True)
    played = flexor.Stage(folder / "arena.toml")
    played.replay(log)
    assert played.energy[1] < 100


def type_all(lines: list[str], folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Run commands one after another; what they say they write is there."""
    small = ["--size", "64x48", "--samples", "1", "--fps", "5"]  # to be quick
    for line in lines:
        words = shlex.split(line)
        extra = small if words[1] == "render" else []
        monkeypatch.setattr(sys, "argv", [*words, *extra])
        with pytest.raises(SystemExit) as ended:
            main()
        assert not ended.value.code, line
        if "-o" in words:
            assert (folder / words[words.index("-o") + 1]).exists(), line


@pytest.mark.parametrize(
    "name",
    [
        "README.md",
        "docs/guide/crowds.md",
        "docs/guide/draw.md",
        "docs/guide/effects.md",
        "docs/guide/goal.md",
        "docs/guide/levels.md",
        "docs/guide/motion.md",
        "docs/guide/output.md",
        "docs/guide/stage.md",
    ],
)
def test_python_works(name: str, folder: Path) -> None:
    pixels = np.full((480, 640, 4), 255, np.uint8)
    known: dict[str, Any] = {"pixels": pixels, "frames": [pixels] * 3}
    assert blocks(name)
    for block in blocks(name):
        exec(compile(block, name, "exec"), known)


@pytest.mark.parametrize(
    "name", ["README.md", "CONTRIBUTING.md", "benches/README.md", "docs/*/*.md"]
)
def test_links_lead_somewhere(name: str) -> None:
    for document in ROOT.glob(name):
        for link in re.findall(r"\]\(([^)#]+)\)", document.read_text("utf-8")):
            if "://" not in link:
                assert (document.parent / link).exists(), f"{document.name}: {link}"


def test_windows_of_pygame_are_shown_pictures_that_are_not_blended() -> None:
    """With "RGBA" a blit of a large picture takes 7 to 23 ms, with "RGBX" 0.3."""
    said = [
        line
        for file in (ROOT / "README.md", *(ROOT / "docs").rglob("*.md"))
        for line in re.findall(r"frombuffer\([^)]*\)", file.read_text("utf-8"))
    ]
    assert said
    assert all('"RGBX"' in line for line in said)
