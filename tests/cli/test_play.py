"""`flexor play`: what it says and writes, and what it refuses."""

from __future__ import annotations

import subprocess
import sys
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from flexor.cli import play as cli
from flexor.files.text.moves import write_log
from flexor.scene.stage.camera_rule import CameraChange, CameraRule
from tests.games.fake import FakeGame, make_log

Made = list[cli.Choice]


@pytest.fixture
def made(monkeypatch: pytest.MonkeyPatch) -> Made:
    """What games were asked for; a small one is given instead."""
    asked: Made = []

    def make(choice: cli.Choice) -> FakeGame:
        asked.append(choice)
        game = FakeGame()
        game.demo = make_log((2, 0, 16), (4, 0, 0), length=30)  # type: ignore[attr-defined]
        return game

    monkeypatch.setattr(cli, "make_game", make)
    return asked


@pytest.fixture
def log(tmp_path: Path) -> Path:
    path = tmp_path / "play.log"
    write_log(path, make_log((3, 0, 16), (5, 1, 4), length=20))
    return path


def test_a_script_is_played(run: Any, made: Made, log: Path) -> None:
    done = run("play", "arena", "--script", log, "--versus", "two", "--seed", "7")
    game = FakeGame()
    game.held = [(0, 0)] * 3 + [(16, 0)] * 2 + [(16, 4)] * 15
    assert done.code == 0
    assert done.out == f"tick 20, hash {game.hash()}\n"
    assert made == [cli.Choice("arena", None, "two", 7)]


def test_a_stage_without_anybody_is_refused(run: Any, tmp_path: Path) -> None:
    """Such as a file of moves, in place of the stage that names it."""
    moves = tmp_path / "moves.toml"
    moves.write_text("[move.a]\nkind = 'other'\nstart = 1\nhit = 1\nback = 1\n")
    done = run("play", moves, "--record", tmp_path / "out.npy")
    assert done.code != 0
    assert f"{moves}: nobody is on this stage, expected a [[character]]" in done.err


def test_a_script_is_recorded(run: Any, made: Made, log: Path) -> None:
    out = log.with_name("out.npy")
    words = ("--record", out, "--size", "32x18", "--seconds", "0.5", "--fps", "60")
    done = run("play", "goal", "--character", "a.glb", "--script", log, *words)
    assert done.code == 0, done.err
    assert f"{out}: 30 frames\ntick 30, hash " in done.out
    assert np.load(out).shape == (30, 18, 32, 4)
    assert made == [cli.Choice("goal", Path("a.glb"))]


def test_a_game_shows_itself(run: Any, made: Made, tmp_path: Path) -> None:
    out = tmp_path / "out.npy"
    done = run("play", "arena", "--record", out, "--size", "32x18")
    assert f"{out}: 15 frames\ntick 30, hash " in done.out  # as long as its demo
    assert made == [cli.Choice("arena", None, "watch")]  # by opponents alone
    assert done.err == ""


def test_sound_is_recorded_unless_mute(run: Any, made: Made, tmp_path: Path) -> None:
    av = pytest.importorskip("av")
    counts = []
    for more in ((), ("--mute",)):
        out = tmp_path / "out.mp4"
        done = run("play", "goal", "--record", out, "--size", "32x18", *more)
        assert done.code == 0, done.err
        with av.open(str(out)) as movie:
            counts.append(len(movie.streams.audio))
    assert counts == [1, 0]


def test_a_folder_of_pictures(run: Any, made: Made, tmp_path: Path) -> None:
    done = run("play", "goal", "--record", f"{tmp_path}/new/", "--size", "32x18")
    assert done.code == 0, done.err
    assert len(list((tmp_path / "new").iterdir())) == 15


def test_in_a_window(
    run: Any, made: Made, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    pygame = pytest.importorskip("pygame")
    monkeypatch.setenv("SDL_VIDEODRIVER", "dummy")
    monkeypatch.chdir(tmp_path)
    step = FakeGame.step

    def step_and_close(self: FakeGame, held: Any) -> None:
        step(self, held)
        if self.tick == 2:
            code = pygame.KSCAN_F12
            event = pygame.event.Event(pygame.KEYDOWN, scancode=code, mod=0, key=0)
            pygame.event.post(event)
        if self.tick >= 5:
            pygame.event.post(pygame.event.Event(pygame.QUIT))

    monkeypatch.setattr(FakeGame, "step", step_and_close)
    done = run("play", "arena", "--mute", "--size", "320x180")
    assert done.code == 0, done.err
    assert "flexor-arena-001.png is written\n" in done.out
    assert " frames, the last at " in done.out
    assert (tmp_path / "flexor-arena-001.png").stat().st_size > 100
    assert made == [cli.Choice("arena")]


def test_a_stage_that_is_not_there_is_said_before_a_window_is(
    run: Any, made: Made, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in ("SDL_VIDEODRIVER", "DISPLAY", "WAYLAND_DISPLAY"):
        monkeypatch.delenv(name, raising=False)
    done = run("play", "nowhere.toml")
    assert done.code == 2
    assert done.err == "flexor: nowhere.toml: No such file or directory\n"
    assert made == []


def test_no_display(run: Any, made: Made, monkeypatch: pytest.MonkeyPatch) -> None:
    pytest.importorskip("pygame")
    for name in ("SDL_VIDEODRIVER", "DISPLAY", "WAYLAND_DISPLAY"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setattr("sys.platform", "linux")
    words = ("--character", "my hero.glb", "--versus", "two", "--seed", "3")
    done = run("play", "arena", *words)
    assert done.code == 2
    assert done.err == (
        "flexor: no window can be opened: there is no display (neither DISPLAY nor "
        "WAYLAND_DISPLAY is set); without a window: flexor play arena --character "
        "'my hero.glb' --versus two --seed 3 --record arena.mp4\n"
    )
    assert not made  # said at once, before anything is loaded


def test_pygame_is_missing(
    run: Any, made: Made, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, "pygame", None)
    done = run("play", "goal")
    assert done.code == 2
    assert 'needs pygame-ce: pip install "flexor[play]"' in done.err
    assert not made


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (("aren",), "no game 'aren'; did you mean 'arena'?"),
        (("chess",), "no game 'chess'; there are: 'arena', 'goal'"),
        (("goal", "--versus", "two"), "--versus two: is for stages alone"),
        (("goal", "--skill", "low"), "--skill low: is for stages alone"),
        (("arena", "--skill", "best"), "--skill 'best', expected one of low, middle"),
        (("arena", "--versus", "me"), "--versus 'me', expected one of two, opponent"),
        (("arena", "--record", "a.avi"), "--record a.avi: unknown ending; there are"),
        (("arena", "--record", "a.png"), "--record a.png: unknown ending"),
        (("goal", "--record", "a.gif", "--seconds", "-1"), "--seconds -1, expected 0"),
        (("goal", "--record", "a.gif", "--fps", "25"), "--fps 25, expected 60, 30"),
        (("goal", "--seconds", "5"), "--seconds 5: is for --script and --record"),
        (("goal", "--size", "big"), "--size: 'big', expected such as"),
        (("goal", "--size", "0x9"), "0"),
        (("goal", "--seed", "-1"), "--seed -1, expected 0 to 4294967295"),
        (("goal", "--script", "no.log"), "no.log: No such file"),
    ],
)
def test_refusals(run: Any, made: Made, words: tuple[str, ...], said: str) -> None:
    done = run("play", *words)
    assert done.code == 2
    assert done.err.startswith("flexor: ")
    assert said in done.err
    assert not made


def test_a_script_of_too_many_pads(run: Any, made: Made, tmp_path: Path) -> None:
    path = tmp_path / "three.log"
    write_log(path, make_log((0, 2, 1)))
    done = run("play", "arena", "--script", path)
    assert done.code == 2
    assert f"--script {path}: of 3 pads, expected 2 or less" in done.err
    assert not made


def test_a_script_with_cameras_of_a_stage(run: Any, made: Made, tmp_path: Path) -> None:
    path = tmp_path / "stage.log"
    change = CameraChange(0, 1, CameraRule())
    write_log(path, replace(make_log((0, 1, 1)), cameras=(change,)))
    done = run("play", "arena", "--script", path)
    assert done.code == 2
    assert f"--script {path}: has cameras of a stage, expected buttons" in done.err
    assert not made


def test_any_stage_is_a_game(run: Any, made: Made, tmp_path: Path) -> None:
    stage = tmp_path / "dunes.toml"
    out = tmp_path / "out.npy"
    words = ("--record", out, "--size", "32x18", "--skill", "high", "--seed", "3")
    done = run("play", stage, *words, "--versus", "two")
    assert done.code == 0, done.err
    assert made == [cli.Choice(str(stage), None, "two", 3, None, "high")]
    assert (made[0].name, made[0].is_file) == ("dunes", True)
    assert cli._say_headless(made[0]) == (
        f"flexor play {stage} --versus two --skill high --seed 3 --record dunes.mp4"
    )


def test_a_stage_that_is_not_there(run: Any) -> None:
    done = run("play", "nowhere.toml", "--record", "out.gif")
    assert done.code == 2
    assert "nowhere.toml: No such file" in done.err


def test_help_is_quick() -> None:
    text = (
        "import sys; from flexor.cli.main import app\n"
        "try: app(['play', '--help'])\n"
        "except SystemExit: pass\n"
        "print([n for n in ('numba', 'pygame', 'av', 'PIL') if n in sys.modules])"
    )
    done = subprocess.run(
        [sys.executable, "-c", text], capture_output=True, text=True, check=True
    )
    assert done.stdout.rstrip().endswith("[]")
    assert "--record" in done.stdout
    assert "--versus" in done.stdout
