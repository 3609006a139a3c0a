"""Characters with a file of moves of their own: what is read, and where faults are."""

from __future__ import annotations

from pathlib import Path

import pytest

from flexor.api.stage import Stage
from flexor.errors import AssetError, SettingError
from flexor.files.text.stage import open_stage, read_stage
from flexor.scene.stage import plan as plan_module
from flexor.scene.stage.moves import Move, MoveTable
from flexor.scene.stage.plan import Actor, StagePlan
from tests.files.text.stage_text import write

ALL = "[move.punch]\nbutton = 'B'\nparts = ['rightHand']\nstart=6\nhit=3\nback=9\n"
OWN = ALL.replace("punch", "jab").replace("\nparts", "\nclip = 'punch'\nparts")
CAST = """moves = "all.toml"
[[character]]
name = "red"
place = [-1, 0]
[[character]]
name = "blue"
moves = "own.toml"
[[character]]
name = "green"
place = [1, 0]
moves = "own.toml"
"""


def stage_file(folder: Path, own: str = OWN, text: str = CAST) -> Path:
    write(folder, ALL, "all.toml")
    write(folder, own, "own.toml")
    return write(folder, text)


def test_a_table_of_its_own(tmp_path: Path) -> None:
    file = open_stage(stage_file(tmp_path))
    red, blue, green = file.plan.cast
    assert red.moves is None
    assert blue.moves is green.moves
    assert blue.moves is not None
    assert [move.name for move in blue.moves.moves] == ["jab"]
    tables, rows = file.plan.tables()
    assert tables == (file.plan.moves, blue.moves)
    assert rows == (0, 1, 1)
    fault = file.refuse(("character", 2, "moves", "move", "jab", "clip"), "no")
    assert (fault.path.name, fault.pointer) == ("own.toml", "line 3")
    assert file.refuse(("character", 1, "moves"), "no").path.name == "stage.toml"
    assert file.refuse(("move", "punch", "hit"), "no").path.name == "all.toml"


def test_the_same_moves_are_one_table(tmp_path: Path) -> None:
    plan = read_stage(stage_file(tmp_path, ALL))
    assert plan.cast[1].moves is not plan.moves
    assert plan.tables() == ((plan.moves,), (0, 0, 0))
    assert StagePlan().tables() == ((MoveTable(()),), ())
    nobody = Actor(name="red", moves=plan.moves)
    assert StagePlan(cast=(nobody,)).tables() == ((plan.moves,), (0,))


@pytest.mark.parametrize(
    ("own", "text", "name", "place", "words"),
    [
        (OWN + "hit = 1", CAST, "own.toml", "", "is no TOML"),
        (OWN + "hurt = 1", CAST, "own.toml", "line 8", "move.jab.hurt: not known"),
        ("[zone]", CAST, "own.toml", "line 1", "zone: not known"),
        (OWN, CAST.replace('"own.', '"non.'), "non.toml", "", "character 2.moves in"),
        (OWN, CAST.replace('"own.toml"', "3"), "stage.toml", "line 7", "moves: 3, exp"),
        (OWN, CAST.replace('"own.toml"', "''"), "stage.toml", "line 7", "moves: '', "),
        (
            OWN,
            CAST.replace('"blue"', '"blue"\nclips = { punsh = "Jab" }'),
            "stage.toml",
            "line 7",
            "character 2.clips.punsh: no role, and no move's clip; there are: 'punch'",
        ),
        (
            OWN.replace("clip = 'punch'\n", ""),
            CAST,
            "own.toml",
            "line 1",
            "move.jab.clip: 'blue' has no 'jab' for the move",
        ),
        (
            OWN.replace("rightHand", "wing"),
            CAST,
            "own.toml",
            "line 4",
            "move.jab.parts: nobody has 'wing'",
        ),
    ],
)
def test_faults_name_the_file_they_are_in(
    tmp_path: Path, own: str, text: str, name: str, place: str, words: str
) -> None:
    with pytest.raises(AssetError) as caught:
        Stage(stage_file(tmp_path, own, text))
    assert caught.value.path.name == name
    assert caught.value.pointer == place
    assert words in str(caught.value)


def test_moves_of_a_plan_that_are_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    with pytest.raises(SettingError, match="moves: str, expected MoveTable"):
        Actor(name="red", moves="punch")  # type: ignore[arg-type]
    own = MoveTable((Move("bow", 1, 1, 1, kind="other"),))
    cast = (Actor(name="red"), Actor(name="blue", moves=own))
    with pytest.raises(SettingError, match=r"character 2.moves.move.bow.clip: 'blue' "):
        Stage(StagePlan(cast=cast))
    monkeypatch.setattr(plan_module, "MOST_TABLES", 1)
    with pytest.raises(SettingError, match="cast: 2 tables of moves, expected 1 or f"):
        StagePlan(cast=cast)
