"""Files of moves that begin from another file."""

from __future__ import annotations

from pathlib import Path

import pytest

from flexor.errors import AssetError
from flexor.files.text.moves import open_moves, read_moves
from flexor.files.text.stage import open_stage
from tests.files.text.stage_text import write

ALL = """[buttons]
P = "B"
K = "C"
[move.punch]
button = "P"
start = 6
hit = 3
back = 12
parts = ["rightHand"]
[move.kick]
button = "K"
start = 9
hit = 4
back = 16
parts = ["rightFoot"]
[move.throw]
button = "P+K"
sequence = "P K P"
kind = "throw"
start = 8
hit = 4
back = 40
[[combination]]
name = "rush"
button = "X"
commands = "P P K"
[[combination]]
name = "feint"
button = "Y"
commands = "K:4 throw"
"""
NEW = "start = 1\nhit = 1\nback = 1\nkind = 'other'\n"


def read(folder: Path, own: str) -> Path:
    write(folder, ALL, "all.toml")
    return write(folder, f"base = 'all.toml'\n{own}", "own.toml")


def test_it_has_all_that_the_other_has(tmp_path: Path) -> None:
    own = read(tmp_path, "")
    assert read_moves(own) == read_moves(tmp_path / "all.toml")


def test_what_it_says_itself_is_in_place_of_that(tmp_path: Path) -> None:
    text = f"[move.kick]\nbutton = 'K'\n{NEW}[move.bow]\nbutton = 'Z'\n{NEW}"
    text += "[[combination]]\nname = 'rush'\nbutton = 'L'\ncommands = 'K P+K bow'\n"
    text += "[[combination]]\nname = 'run'\nbutton = 'Y'\ncommands = 'P'\n"
    table = read_moves(read(tmp_path, text))
    assert [move.name for move in table.moves] == ["punch", "kick", "throw", "bow"]
    assert table.moves[1].kind == "other"
    assert table.singles == {"C": "kick", "Z": "bow", "B": "punch"}
    assert (table.chords, table.sequences) == ({"B+C": "throw"}, {"B C B": "throw"})
    assert [(one.name, one.button) for one in table.combinations] == [
        ("rush", "L"),
        ("run", "Y"),
    ]


def test_its_buttons_do_what_it_says(tmp_path: Path) -> None:
    text = f"[buttons]\nQ = 'X'\n[move.bow]\nbutton = 'P'\nsequence = 'Q K'\n{NEW}"
    text += f"[move.nod]\nbutton = 'Q'\n{NEW}"
    table = read_moves(read(tmp_path, text))
    # The punch has no button now, but commands may name it; X runs no rush.
    assert table.singles == {"B": "bow", "X": "nod", "C": "kick"}
    assert table.sequences == {"X C": "bow", "B C B": "throw"}
    assert [one.name for one in table.combinations] == ["feint"]


@pytest.mark.parametrize(
    ("own", "name", "place", "words"),
    [
        ("[move.punch]\nstart = 1", "own.toml", "line 2", "no hit, expected start"),
        (
            f"[move.kick]\n{NEW}",
            "own.toml",
            "line 1",
            "base: 'K' does no move; there a",
        ),
        (
            "[[combination]]\nname='a'\nbutton='L'\ncommands='P bow'",
            "own.toml",
            "line 5",
            "no button or move 'bow'",
        ),
        (
            "[[combination]]\nname='a'\nbutton='P'\ncommands='P'",
            "own.toml",
            "line 1",
            "base: 'P' runs a combination, expected buttons that do a move",
        ),
    ],
)
def test_faults_of_the_two(
    tmp_path: Path, own: str, name: str, place: str, words: str
) -> None:
    with pytest.raises(AssetError) as caught:
        read_moves(read(tmp_path, own))
    assert caught.value.path.name == name
    assert caught.value.pointer == place
    assert words in caught.value.text


def test_a_base_that_cannot_be_read(tmp_path: Path) -> None:
    own = write(tmp_path, "\nbase = 'non.toml'", "own.toml")
    with pytest.raises(AssetError, match=r"named by base in .*own.toml, line 2"):
        read_moves(own)
    own = write(tmp_path, "base = 'own.toml'", "own.toml")
    with pytest.raises(AssetError, match="more than 8 files that begin from another"):
        read_moves(own)
    write(tmp_path, "[move.a]\nhit = 'x'", "bad.toml")
    own = write(tmp_path, "base = 'bad.toml'", "own.toml")
    with pytest.raises(AssetError, match=r"move.a.hit: 'x', expected") as caught:
        read_moves(own)
    assert caught.value.path.name == "bad.toml"
    for wrong in ("3", "''"):
        with pytest.raises(AssetError, match="base: "):
            read_moves(write(tmp_path, f"base = {wrong}", "own.toml"))
    with pytest.raises(AssetError, match="base: not known"):
        open_stage(write(tmp_path, "base = 'all.toml'"))


def test_faults_that_are_found_later(tmp_path: Path) -> None:
    own = open_moves(read(tmp_path, f"[move.kick]\nbutton = 'K'\n{NEW}"))
    for name, file, place in (
        ("kick", "own.toml", "line 2"),
        ("punch", "all.toml", "line 4"),
    ):
        fault = own.refuse(("move", name, "clip"), "there is none")
        assert (fault.path.name, fault.pointer) == (file, place)
