"""`flexor convert --levels`, what it says of them, and `flexor inspect`."""

from __future__ import annotations

import dataclasses
import json
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import flexor
from flexor.api.character import Character
from flexor.cli.tables.levels import print_levels, report_stored
from flexor.convert.levels import make as converter
from flexor.convert.levels.make import make_levels
from flexor.convert.levels.report import border_distance
from flexor.scene.runtime.level_settings import LevelChoice, LevelSettings
from flexor.scene.runtime.levels import Levels
from tests.cli.conftest import Done
from tests.files import bvh_text
from tests.files.package.packages import small_levels, small_package, unlike
from tests.scenes import random_scene

# Conversions pack motion and measure skins: too much without compiled kernels.
pytestmark = [pytest.mark.slow, pytest.mark.usefixtures("made_once")]

COLUMNS = ("nodes", "vertices", "triangles", "influences", "bytes")
WORDS = """
[[level]]
name = "near"
height = 200
[[level]]
height = 50
drop = ["node1*"]
keep = ["node11"]
influences = 1
"""


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """Two small characters without motion, to be quick, and words about levels."""
    for name, seed in (("hero", 5), ("other", 6)):
        scene = random_scene(np.random.default_rng(seed), vertices=50)
        scene = dataclasses.replace(scene, clips={})
        flexor.save(Character(scene), tmp_path / f"{name}.glb")
    names = flexor.load(tmp_path / "hero.glb").skeleton.names
    words = WORDS.replace("node1*", names[1]).replace("node11", names[2])
    (tmp_path / "words.toml").write_text(words)
    return tmp_path


def fail(*_: object, **__: object) -> None:
    raise AssertionError("levels are made")


def refused(done: Done, text: str) -> None:
    """One line on standard error, nothing else."""
    assert done.code == 2
    assert done.out == ""
    assert done.err.startswith("flexor: ")
    assert done.err.count("\n") == 1
    assert text in done.err


def check_same(one: Levels, other: Levels) -> None:
    assert list(unlike(one, other)) == []


# What is written


def test_levels_are_made(run: Any, folder: Path) -> None:
    done = run("convert", folder / "hero.glb", "-o", folder / "a.flexor")
    assert (done.code, done.err) == (0, "")
    made = flexor.load(folder / "a.flexor").given_levels
    assert made is not None
    expected, _, _ = make_levels(flexor.load(folder / "a.flexor").scene)
    check_same(made, expected)
    counts = ", ".join(f"{made.totals(level)[2]:,}" for level in range(4))
    assert f"; levels of {counts} triangles" in done.out


def test_an_author_says_how(run: Any, folder: Path) -> None:
    """By a text file, whose names of nodes are those of the character."""
    words = ("-o", folder / "a.flexor", "--levels", folder / "words.toml", "--json")
    done = run("convert", folder / "hero.glb", *words)
    assert (done.code, done.err) == (0, "")
    (row,) = json.loads(done.out)
    assert [level["name"] for level in row["levels"]] == ["", "near", ""]
    assert [level["height"] for level in row["levels"]] == [720, 200, 50]
    hero = flexor.load(folder / "a.flexor")
    choices = (
        LevelChoice(name="near", height=200.0),
        LevelChoice(
            height=50.0,
            drop=(hero.skeleton.names[1],),
            keep=(hero.skeleton.names[2],),
            influences=1,
        ),
    )
    expected, reports, _ = make_levels(hero.scene, LevelSettings(choices=choices))
    assert hero.given_levels is not None
    check_same(hero.given_levels, expected)
    assert row["levels"] == [dataclasses.asdict(one) for one in reports]


def test_none(run: Any, folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(converter, "make_levels", fail)
    words = ("-o", folder / "a.flexor", "--levels", "none", "--report")
    done = run("convert", folder / "hero.glb", *words)
    assert (done.code, done.err) == (0, "")
    assert "level" not in done.out
    assert flexor.load(folder / "a.flexor").given_levels is None


def test_a_skeleton_has_none(
    run: Any, folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(converter, "make_levels", fail)
    (folder / "a.bvh").write_text(bvh_text.SMALL)
    done = run("convert", folder / "a.bvh", "-o", folder / "a.flexor", "--json")
    assert (done.code, done.err) == (0, "")
    assert json.loads(done.out)[0]["levels"] == []
    assert flexor.load(folder / "a.flexor").given_levels is None


def test_those_of_a_package_stay(
    run: Any, folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """What an author said is not lost; unless there are other words."""
    first, second = folder / "a.flexor", folder / "b.flexor"
    words = ("--levels", folder / "words.toml")
    assert run("convert", folder / "hero.glb", "-o", first, *words).code == 0
    with monkeypatch.context() as patch:
        patch.setattr(converter, "make_levels", fail)
        assert run("convert", first, "-o", second, "--no-split").code == 0
        kept = flexor.load(second).given_levels
        assert kept is not None
        check_same(flexor.load(first).levels, kept)
        done = run("convert", first, "-o", second, "--levels", "none")
        assert done.code == 0
        assert flexor.load(second).given_levels is None
    # Of a package without any they are made.
    assert run("convert", second, "-o", second).code == 0
    again = flexor.load(second).given_levels
    assert again is not None
    assert len(again) == 4


@pytest.mark.usefixtures("made_anew")
def test_without_the_package_that_simplifies(
    run: Any, folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A warning, and a package without levels; an error where they are asked for."""
    monkeypatch.setitem(sys.modules, "meshoptimizer", None)
    out = folder / "a.flexor"
    done = run("convert", folder / "hero.glb", "-o", out, "--json")
    assert done.code == 0
    assert json.loads(done.out)[0]["levels"] == []
    (line,) = done.err.splitlines()
    assert line.startswith("flexor: hero.glb: warning: no-levels at scene: ")
    assert "pip install 'flexor[codecs]'" in line
    assert flexor.load(out).given_levels is None
    out.unlink()
    words = ("-o", out, "--levels", folder / "words.toml")
    refused(run("convert", folder / "hero.glb", *words), "flexor[codecs]")
    assert not out.exists()


# Words that are wrong


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("mean = 0", "words.toml at line 1: mean: 0, expected pixels above 0"),
        ("[[level]]\ndrop = ['thumb']", "at line 2: level 1.drop: no node 'thumb'; th"),
        ("[[level", "words.toml: is no TOML"),
    ],
)
def test_words_that_are_wrong(run: Any, folder: Path, text: str, words: str) -> None:
    (folder / "words.toml").write_text(text)
    given = ("-o", folder / "a.flexor", "--levels", folder / "words.toml")
    refused(run("convert", folder / "hero.glb", *given), words)
    assert not (folder / "a.flexor").exists()


def test_a_file_that_is_not_there(
    run: Any, folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Looked at before any work is done."""
    monkeypatch.setattr("flexor.api.load_save.load", fail)
    given = ("--report", "--levels", folder / "no.toml")
    refused(run("convert", folder / "hero.glb", *given), "no.toml: No such file")


# The report


def rows_of(text: str) -> list[list[str]]:
    """Cells of the rows of the table of levels."""
    lines = text.splitlines()
    head = next(n for n, line in enumerate(lines) if line.startswith("level "))
    rows = [line.split() for line in lines[head + 1 :]]
    count = next(n for n, row in enumerate(rows) if row[0] != str(n))
    return rows[:count]


def test_the_table(run: Any, folder: Path) -> None:
    words = ("--levels", folder / "words.toml")
    done = run("convert", folder / "hero.glb", folder / "hero.glb", "--report", *words)
    assert (done.code, done.err) == (0, "")
    assert done.out.count("hero.glb: levels") == 2
    assert done.out.count("goal: whether both") == 1
    (row, _) = json.loads(
        run("convert", folder / "hero.glb", folder / "hero.glb", "--json", *words).out
    )
    found = rows_of(done.out)
    assert found[1].pop(1) == "near"
    for cells, level in zip(found, row["levels"], strict=True):
        numbers = [int(cell.replace(",", "")) for cell in cells[1:6]]
        assert numbers == [level[column] for column in COLUMNS]
        if level["level"]:
            assert cells[6] == f"{level['height']:.0f}"
            assert cells[8:10] == [f"{level['mean']:.2f}", f"{level['worst']:.2f}"]
            assert cells[10] == ("met" if level["is_met"] else "missed")
    lines = [line.rstrip() for line in done.out.splitlines()]
    start = lines.index("hero.glb: levels")
    assert max(map(len, lines[start : start + 5])) <= 80


@pytest.mark.parametrize(
    ("metres", "text"), [(0.01234, "0.0123"), (99.94, "99.9"), (1411.2, "1,411")]
)
def test_distances(
    metres: float, text: str, capsys: pytest.CaptureFixture[str]
) -> None:
    whole, near, _ = report_stored(small_levels())
    print_levels("a", [whole, dataclasses.replace(near, distance=metres)])
    assert rows_of(f"{capsys.readouterr().out}end")[1][7] == text


def test_goals_that_are_missed(run: Any, folder: Path) -> None:
    """Asked for so few triangles, no level can be good."""
    text = "mean = 1e-6\nworst = 1e-6\n[[level]]\nheight = 600\ntriangles = 2"
    (folder / "words.toml").write_text(text)
    words = ("--levels", folder / "words.toml", "--report")
    done = run("convert", folder / "hero.glb", *words)
    assert rows_of(done.out)[1][-1] == "missed"


# What is in a package


def test_inspect(run: Any, tmp_path: Path) -> None:
    package = small_package()
    hero = Character(package).with_levels(small_levels())
    flexor.save(hero, tmp_path / "a.flexor")
    done = run("inspect", tmp_path / "a.flexor")
    assert (done.code, done.err) == (0, "")
    assert "levels of detail" in done.out
    rows = rows_of(done.out)
    assert [row[1:5] for row in rows] == [
        ["3", "7", "3", "2"],
        ["3", "6", "2", "3"],
        ["1", "3", "1", "1"],
    ]
    found = json.loads(run("inspect", tmp_path / "a.flexor", "--json").out)["levels"]
    assert found == [dataclasses.asdict(one) for one in report_stored(hero.levels)]
    flexor.save(hero.with_levels(None), tmp_path / "b.flexor")
    done = run("inspect", tmp_path / "b.flexor")
    assert "levels" not in done.out
    assert (
        json.loads(run("inspect", tmp_path / "b.flexor", "--json").out)["levels"] == []
    )


def test_where_stored_levels_may_take_over() -> None:
    """0.1 m tall; errors of 10 and 20 mm, then of 0.1 and a third of a metre."""
    levels = small_levels()
    whole, near, far = report_stored(levels)
    assert (whole.height, whole.distance, whole.mean, whole.worst) == (720, 0, 0, 0)
    assert near.height == pytest.approx(1 * 0.1 / 0.01, rel=1e-5)
    assert far.height == pytest.approx(3 * 0.1 / (1 / 3), rel=1e-5)
    assert (near.mean, near.worst) == pytest.approx((1, 2), rel=1e-5)
    assert far.worst == pytest.approx(3, rel=1e-5)
    assert near.is_met
    assert far.is_met
    assert near.distance == pytest.approx(border_distance(0.1, 10), rel=1e-5)


@pytest.mark.parametrize("height", [0.0, 0.1])
def test_stored_levels_without_errors_or_height(height: float) -> None:
    levels = small_levels()
    errors = levels.errors.copy()
    if height:
        errors[:] = 0
    same = dataclasses.replace(levels, errors=errors, height=height)
    assert [report.height for report in report_stored(same)] == [720] * 3
