"""`flexor stage`: what it says and writes, and what it refuses."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner

from flexor.api.stage import Stage
from flexor.cli.main import app
from flexor.errors import AssetError, SettingError
from flexor.files.text.moves import write_log
from flexor.scene.stage.camera_rule import CameraRule

TEXT = """
[ground]
size = [10, 10]

[[zone]]
corners = [[-4, -4], [4, -4], [4, 4], [-4, 4]]

[[character]]
name = "red"
place = [-1, 0]
heading = 90

[[character]]
name = "blue"
place = [1, 0]
heading = -90
"""


def run(*words: Any) -> str:
    """What the command says; errors are raised."""
    found = CliRunner().invoke(
        app, ["stage", *map(str, words)], catch_exceptions=False, standalone_mode=False
    )
    if found.exception is not None:
        raise found.exception
    return found.stdout


@pytest.fixture
def file(tmp_path: Path) -> Path:
    path = tmp_path / "small.toml"
    path.write_text(TEXT)
    return path


@pytest.mark.slow
def test_a_stage_is_checked(file: Path) -> None:
    said = run(file)
    assert "ground 10 x 10 m, 1 zones, 0 structures, 0 moves" in said
    assert "0  red: mannequin at -1, 0, against blue" in said
    assert "hash" not in said
    assert list(file.parent.iterdir()) == [file]


@pytest.mark.slow
def test_what_is_seldom_meant_is_told(file: Path) -> None:
    """And changes nothing of what is played."""
    assert "?" not in run(file)
    team = 'opponent = "red"\nteam = "all"\n'
    text = TEXT.replace("place = [1, 0]", f"place = [9, 0]\n{team}")
    text = "light = [0, 1, 0]" + text.replace('"red"\n', '"red"\nteam = "all"\n', 1)
    file.write_text(text)
    said = run(file)
    assert "1  blue: mannequin at 9, 0, against red, of team all" in said
    assert "?  blue: no room at 9, 0 for walls or others, begins at 3." in said
    assert "?  blue: against red, whom it cannot hit: both are of team all" in said
    assert "?  light: comes from below" in said
    log = file.with_name("none.log")
    log.write_text("flexor inputs 1\nticks 3\n")
    stage = Stage(file)
    for _ in range(3):
        stage.step()
    assert f"tick 3, hash {stage.hash()}" in run(file, "--inputs", log)
    file.write_text(f"{text}\n[fight]\nfriendly = true\n")
    assert "cannot hit" not in run(file)


@pytest.mark.slow
def test_an_attack_that_meets_nobody_is_told(file: Path) -> None:
    """As its clip is fitted to all of its ticks, and not to each phase."""
    move = "[move.whirl]\nclip = 'spin-kick'\nparts = ['rightFoot']\n"
    for start, is_told in ((16, True), (26, False)):
        file.write_text(f"{TEXT}{move}start = {start}\nhit = 9\nback = 31\n")
        said = run(file)
        text = f"?  whirl: meets nobody from tick {start} to {start + 9} of"
        assert said.count(text) == is_told
        assert said.count("?") == is_told
    assert "?" not in run("arena")


@pytest.mark.slow
def test_the_arena_needs_no_path(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    assert "0  red: mannequin at -1.3, 0, against blue" in run("arena")
    (tmp_path / "arena").write_text(TEXT)
    assert "0  red: mannequin at -1, 0, against blue" in run("arena")
    with pytest.raises(AssetError, match="No such file"):
        run("areno")


@pytest.mark.slow
def test_inputs_are_played(file: Path) -> None:
    stage = Stage(file)
    for _ in range(30):
        stage.step(["right", "left"])
    log = file.with_name("walk.log")
    write_log(log, stage.log)
    said = run(file, "--inputs", log)
    assert f"tick 30, hash {stage.hash()}" in said
    longer = run(file, "--inputs", log, "--seconds", "1")
    assert "tick 60, hash" in longer


@pytest.mark.slow
def test_cameras_of_inputs_are_played(file: Path) -> None:
    stage = Stage(file)
    for tick in range(30):
        if tick == 9:
            stage.set_camera(CameraRule(rule="behind"), of="blue")
        stage.step(["right", "left"])
    stage.set_camera(CameraRule())
    log = file.with_name("walk.log")
    write_log(log, stage.log)
    assert f"tick 30, hash {stage.hash()}" in run(file, "--inputs", log)


@pytest.mark.slow
def test_pictures_and_movies(file: Path) -> None:
    from PIL import Image

    picture, movie = file.with_name("end.png"), file.with_name("all.webp")
    said = run(file, "-o", picture, "--seconds", "0.2", "--size", "64x48")
    assert f"{picture}: after 12 ticks" in said
    with Image.open(picture) as shown:
        assert shown.size == (64, 48)
    said = run(file, "-o", movie, "--seconds", "0.2", "--size", "64x48", "--fps", "20")
    assert "4 frames, 20 a second; made in " in said
    assert "tick 12, hash" in said
    with Image.open(movie) as shown:
        assert shown.n_frames == 4


@pytest.mark.parametrize(
    ("words", "text"),
    [
        (["--seconds", "-1"], "--seconds -1, expected 0 to 3600"),
        (["--fps", "7"], "--fps 7, expected 60, 30, 20"),
        (["--size", "big"], "--size"),
        (["-o", "x.txt"], "-o x.txt: unknown ending; there are"),
    ],
)
def test_what_is_refused(file: Path, words: list[str], text: str) -> None:
    with pytest.raises(SettingError, match=text):
        run(file, *words)


@pytest.mark.slow
def test_inputs_of_too_many_are_refused(file: Path) -> None:
    log = file.with_name("many.log")
    log.write_text("flexor inputs 1\n3 5 B\n")
    with pytest.raises(SettingError, match="of 6 characters, not of 2"):
        run(file, "--inputs", log)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("old", "new", "text"),
    [
        ('name = "red"', 'name = "red"\nfile = "none.glb"', "line 10.*none.glb"),
        ('name = "red"', 'name = "red"\nclips = {walk = "x"}', "line 10.*has no 'x'"),
        ("[ground]", '[look]\nstyle = "cell"\n[ground]', "line 3.*'cell'.*'cel'"),
        ("[ground]", '[look]\nsmooth = ["hat"]\n[ground]', "line 3.*nobody has 'hat'"),
    ],
)
def test_faults_that_characters_show_are_told_by_line(
    file: Path, old: str, new: str, text: str
) -> None:
    file.write_text(TEXT.replace(old, new, 1))
    with pytest.raises(AssetError, match=text):
        run(file)
