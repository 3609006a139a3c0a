"""Settings of a repair in a file: what they mean, and where they are wrong."""

from __future__ import annotations

from pathlib import Path

import pytest

from flexor.cli.repair_settings import read_settings
from flexor.convert.links.place_links import JointRule
from flexor.convert.repair.settings import make_settings
from flexor.errors import AssetError

WHOLE = """
regenerate = true
rogues = true
mirror = "left"
prune = 0.01
max_influences = 4
palette = 32
joints = ["l-*", "r-*"]
rigid = ["Helmet*"]

[smooth]
width = 3
steps = 50
enough = 0.1

[links]
count = 3
length = 1.2
fade = 0.5
always = true

[joint."*-elbow"]
count = 2

[joint.neck]
fade = 0
"""


def write(folder: Path, text: str) -> Path:
    file = folder / "settings.toml"
    file.write_text(text, "utf-8")
    return file


def test_all_words(tmp_path: Path) -> None:
    assert read_settings(write(tmp_path, WHOLE)) == make_settings(
        {
            "regenerate": True,
            "rogues": True,
            "smooth": 50,
            "smooth_width": 3,
            "smooth_enough": 0.1,
            "mirror": "left",
            "links": 3,
            "links_length": 1.2,
            "links_fade": 0.5,
            "always": True,
            "rules": (
                JointRule(pattern="*-elbow", count=2),
                JointRule(pattern="neck", fade=0),
            ),
            "prune": 0.01,
            "max_influences": 4,
            "palette": 32,
            "joints": ("l-*", "r-*"),
            "rigid": ("Helmet*",),
        }
    )


def test_an_empty_file_says_nothing(tmp_path: Path) -> None:
    assert read_settings(write(tmp_path, "")) == make_settings({})


@pytest.mark.parametrize(
    ("text", "place", "words"),
    [
        ("rogues = 1", "line 1", "rogues: 1, expected true or false"),
        ("\n\nprune = 'much'", "line 3", "prune: 'much', expected a number"),
        ("prune = 2.0", "line 1", "prune: 2.0, expected 0 to 1"),
        ("max_influences = true", "line 1", "expected a whole number"),
        ("max_influences = -1", "line 1", "max_influences: -1, expected 0 or more"),
        ("palette = -4", "line 1", "palette: -4, expected 0 or more"),
        ("mirror = 'up'", "line 1", "mirror: 'up', expected left or right"),
        ("joints = 'l-*'", "line 1", "expected a list of texts"),
        ("rigid = [1]", "line 1", "expected a list of texts"),
        ("smoth = 3", "line 1", "smoth: not known; there are: regenerate"),
        ("smooth = 3", "line 1", "smooth: 3, expected a table"),
        ("[smooth]\nwidth = 0", "line 2", "smooth.width"),
        ("[smooth]\nsteps = -1", "line 2", "smooth.steps: -1, expected steps"),
        ("[smooth]\nslow = 1", "line 2", "smooth.slow: not known"),
        ("smooth.width = 'x'", "line 1", "smooth.width: 'x', expected a number"),
        ("[links]\nalways = 1", "line 2", "links.always: 1, expected true or false"),
        ("[joint.a]\nalways = true", "line 2", "joint.a.always: not known"),
        ("[links]\ncount = -1", "line 2", "links.count"),
        ("[links]\ncount = 2\nfade = 7", "line 3", "links.fade"),
        ("[joint.'a b']\nlinks = 3", "line 2", "joint.a b.links: not known"),
        ('[joint."*"]\nfade = -1', "line 2", "joint.*.fade"),
        ("joint = {a = 3}", "", "joint.a: expected a table"),
        ("rogues = ", "", "is no TOML"),
        ("\x00", "", "is no TOML"),
    ],
)
def test_what_is_wrong_and_where(
    tmp_path: Path, text: str, place: str, words: str
) -> None:
    file = write(tmp_path, text)
    with pytest.raises(AssetError) as refused:
        read_settings(file)
    assert words in str(refused.value)
    assert str(file) in str(refused.value)
    if place:
        assert refused.value.pointer == place


def test_numbers_too_large_and_files_without_end(tmp_path: Path) -> None:
    for text in (f"prune = 1{'0' * 400}", f"palette = {'9' * 5000}", "#" * 1_000_001):
        with pytest.raises(AssetError, match=r"settings\.toml"):
            read_settings(write(tmp_path, text))
    if Path("/dev/zero").exists():
        with pytest.raises(AssetError, match="no plain file"):
            read_settings(Path("/dev/zero"))
    with pytest.raises(AssetError, match="null"):
        read_settings(Path("a\0b"))


def test_a_mark_of_bytes_is_passed_over(tmp_path: Path) -> None:
    file = tmp_path / "settings.toml"
    file.write_bytes(b"\xef\xbb\xbfrogues = true")
    assert read_settings(file).values["rogues"]


def test_no_file(tmp_path: Path) -> None:
    with pytest.raises(AssetError, match="No such file"):
        read_settings(tmp_path / "none.toml")
    with pytest.raises(AssetError, match="directory"):
        read_settings(tmp_path)


def test_bytes_that_are_no_text(tmp_path: Path) -> None:
    file = tmp_path / "settings.toml"
    file.write_bytes(b"\xff\xfe")
    with pytest.raises(AssetError, match="is no TOML"):
        read_settings(file)
