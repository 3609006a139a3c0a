"""Texts about levels of detail: what they say, and faults by line and key."""

from __future__ import annotations

import inspect
from pathlib import Path

import pytest

from flexor.errors import AssetError
from flexor.files.text import levels as levels_read
from flexor.files.text.levels import read_levels
from flexor.scene.runtime.level_settings import LevelChoice, LevelSettings

NAMES = ("hips", "head", "l-foot", "l-toe", "r-foot", "r-toe", "l-finger1", "[odd]")


def write(folder: Path, text: str) -> Path:
    file = folder / "levels.toml"
    file.write_text(text, "utf-8")
    return file


FULL = """
mean = 2
worst = 4.5
heights = [300, 200, 100]

[[level]]
name = "near"

[[level]]
name = "mid"
height = 150
drop = ["*finger*", "?-toe"]
keep = ["r-toe", "head"]
triangles = 1200
influences = 2
[level.carriers]
"l-toe" = "l-foot"

[[level]]
height = 20.5
carriers = {"r-toe" = "r-foot", "[odd]" = "hips"}
"""


def test_everything_that_can_be_said(tmp_path: Path) -> None:
    settings = read_levels(write(tmp_path, FULL), NAMES)
    assert settings == LevelSettings(
        mean=2.0,
        worst=4.5,
        heights=(300, 200, 100),
        choices=(
            LevelChoice(name="near"),
            LevelChoice(
                name="mid",
                height=150.0,
                drop=("*finger*", "?-toe"),
                keep=("r-toe", "head"),
                triangles=1200,
                influences=2,
                carriers={"l-toe": "l-foot"},
            ),
            LevelChoice(height=20.5, carriers={"r-toe": "r-foot", "[odd]": "hips"}),
        ),
    )
    assert [choice.height for choice in settings.levels()] == [300, 150, 20.5]


def test_what_is_left_out(tmp_path: Path) -> None:
    assert read_levels(write(tmp_path, ""), NAMES) == LevelSettings()
    assert read_levels(str(write(tmp_path, "[[level]]")), ()) == LevelSettings(
        choices=(LevelChoice(),)
    )
    one = read_levels(write(tmp_path, "heights = [100]"), NAMES)
    assert one == LevelSettings(heights=(100,))
    assert len(one.levels()) == 1
    assert read_levels(write(tmp_path, "heights = []"), NAMES).levels() == ()


def test_a_carrier_may_be_carried(tmp_path: Path) -> None:
    text = "[[level]]\n[level.carriers]\nl-toe = 'l-foot'\nl-foot = 'hips'"
    carriers = read_levels(write(tmp_path, text), NAMES).choices[0].carriers
    assert carriers == {"l-toe": "l-foot", "l-foot": "hips"}


def test_names_that_look_like_patterns(tmp_path: Path) -> None:
    text = "[[level]]\ndrop = ['[odd]']"
    assert read_levels(write(tmp_path, text), NAMES).choices[0].drop == ("[odd]",)


def test_the_example_of_the_module(tmp_path: Path) -> None:
    words = inspect.getdoc(levels_read) or ""
    text = words.split("\n\n", 1)[1].rpartition("\n\n")[0]
    settings = read_levels(write(tmp_path, inspect.cleandoc(text)), NAMES)
    assert [choice.name for choice in settings.choices] == ["near", "mid"]
    assert settings.choices[1].carriers == {"l-toe": "l-foot"}


@pytest.mark.parametrize(
    ("text", "place", "words"),
    [
        ("means = 1", "line 1", "means: not known; there are: mean, worst"),
        ("mean = 0", "line 1", "mean: 0, expected pixels above 0"),
        ("\nworst = nan", "line 2", "worst: nan, expected pixels above 0"),
        ("worst = '3'", "line 1", "worst: '3', expected a number"),
        ("heights = [1, -2]", "line 1", "expected pixels above 0"),
        ("heights = [1, 2]", "line 1", "they must fall"),
        ("heights = 3", "line 1", "heights: 3, expected a list of numbers"),
        ("level = 3", "line 1", "level: 3, expected tables, each under"),
        ("[level]\nname = 'a'", "line 1", "expected tables, each under"),
        ("[[level]]\nnam = 'a'", "line 2", "level 1.nam: not known; there are: name"),
        ("[[level]]\nname = 3", "line 2", "level 1.name: 3, expected a text"),
        ("[[level]]\n[[level]]\nheight = 0", "line 3", "level 2.height: 0, expected"),
        ("[[level]]\nheight = inf", "line 2", "level 1.height: inf, expected pixels"),
        ("[[level]]\ntriangles = -1", "line 2", "level 1.triangles: -1, expected 0"),
        ("[[level]]\ntriangles = 1.5", "line 2", "expected a whole number"),
        ("[[level]]\ninfluences = 0", "line 2", "level 1.influences: 0, expected 1"),
        ("[[level]]\ninfluences = 9", "line 2", "expected 1 to 8"),
        ("[[level]]\ninfluences = true", "line 2", "expected a whole number"),
        ("[[level]]\ndrop = 'head'", "line 2", "level 1.drop: 'head', expected a list"),
        ("[[level]]\nkeep = ['hed']", "line 2", "level 1.keep: no node 'hed'; there"),
        ("[[level]]\nkeep = ['hed']", "line 2", "there are: 'head', ..."),
        ("[[level]]\n[[level]]\ndrop = ['*thumb*']", "line 3", "level 2.drop: no node"),
        ("[[level]]\ncarriers = 1", "line 2", "level 1.carriers: 1, expected a table"),
        (
            "[[level]]\n[level.carriers]\nl-toe = 3",
            "line 3",
            "level 1.carriers.l-toe: 3, expected the name of a node",
        ),
        (
            "[[level]]\n[level.carriers]\nl-toe = 'lfoot'",
            "line 3",
            "level 1.carriers.l-toe: no node 'lfoot'; there are: 'l-foot'",
        ),
        (
            "[[level]]\n[level.carriers]\n'l-te' = 'l-foot'",
            "line 3",
            "level 1.carriers.l-te: no node 'l-te'; there are: 'l-toe'",
        ),
        ("[[level]]\ncarriers = {head='hea'}", "line 2", "level 1.carriers.head: no"),
        (
            "[[level]]\n[level.carriers]\nhead='l-toe'\nl-toe='l-foot'\nl-foot='l-toe'",
            "line 3",
            "level 1.carriers.head: nobody carries it, it is handed in a circle",
        ),
        (
            "[[level]]\n[level.carriers]\nhead = 'head'",
            "line 3",
            "level 1.carriers.head: nobody carries it",
        ),
        (
            "[[level]]\nheight = 50\n[[level]]\nheight = 60",
            "line 4",
            "level 2 takes over at 60 pixels, level 1 at 50; they must fall",
        ),
        ("[[level]]\nheight = 50\n[[level]]\n", "line 3", "they must fall"),
        ("heights = [9]\n[[level]]\n[[level]]", "line 3", "level 2 has no height"),
    ],
)
def test_faults_name_line_and_key(
    tmp_path: Path, text: str, place: str, words: str
) -> None:
    with pytest.raises(AssetError) as caught:
        read_levels(write(tmp_path, text), NAMES)
    assert caught.value.pointer == place
    assert words in str(caught.value)
    assert "levels.toml" in str(caught.value)


def test_files_that_are_none(tmp_path: Path) -> None:
    with pytest.raises(AssetError, match="No such file"):
        read_levels(tmp_path / "none.toml", NAMES)
    with pytest.raises(AssetError, match="is no TOML"):
        read_levels(write(tmp_path, "[[level]"), NAMES)
