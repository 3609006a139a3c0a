"""Moves, combinations and tables of them: what they are, and what is refused."""

from __future__ import annotations

import pickle
from typing import Any

import numpy as np
import pytest

from flexor.errors import SettingError, ShapeError
from flexor.scene.stage.camera_rule import CameraChange, CameraRule
from flexor.scene.stage.layout import BUTTONS
from flexor.scene.stage.moves import (
    ALL_BUTTONS,
    Combination,
    Command,
    InputLog,
    Kind,
    Move,
    MoveTable,
    button_mask,
    button_text,
    check_letters,
    read_commands,
)

PUNCH = Move("punch", 6, 3, 12, "Punch", parts=("rightHand",), damage=10)
KICK = Move("kick", 9, 4, 16)
THROW = Move("throw", 8, 20, 20)
RUSH = Combination("rush", "X", read_commands("B:12 B:10 C C+B:24"))
TABLE: dict[str, Any] = {
    "moves": (PUNCH, KICK, THROW),
    "combinations": (RUSH,),
    "singles": {"B": "punch", "C": "kick"},
    "chords": {"C+B": "throw"},
}


def test_a_move() -> None:
    assert (PUNCH.total, PUNCH.until_back) == (21, 9)
    assert (KICK.clip, KICK.kind, KICK.height) == ("kick", "attack", "mid")
    assert PUNCH.damage == 10.0
    assert KICK.can_be_parried
    assert not KICK.knocks_down
    assert not KICK.hits_down
    assert (KICK.reach, KICK.thrown) == (1.0, "thrown")
    assert KICK.damage > 0, "an attack hurts if nothing is said"
    assert Move("hop", 4, 0, 0, kind="jump").total == 4
    assert Move("list", 1, 1, 1, parts=["a", "b"]).parts == (  # type: ignore[arg-type]
        "a",
        "b",
    )


@pytest.mark.parametrize(
    ("change", "words"),
    [
        ({"name": ""}, "name: '', expected a text of 1 to 100 letters"),
        ({"name": "a\n"}, "name: 'a\\n', expected a text"),
        ({"name": "x" * 101}, "expected a text of 1 to 100"),
        ({"name": 3}, "name: 3, expected a text"),
        ({"clip": 3}, "clip: 3, expected a text"),
        ({"start": -1}, "start: -1, expected 0 to 600 whole ticks"),
        ({"start": 601}, "start: 601, expected 0 to 600"),
        ({"hit": 1.5}, "hit: 1.5, expected 0 to 600 whole ticks"),
        ({"back": True}, "back: True, expected 0 to 600"),
        ({"hit": 0}, "hit: 0, expected 1 tick or more of a move that is an attack"),
        ({"hit": 0, "kind": "guard"}, "hit: 0, expected 1 tick or more of a move"),
        ({"hit": 0, "start": 0, "kind": "jump"}, "start: 0, expected 1 tick or more"),
        ({"kind": "atack"}, "kind: 'atack', expected one of attack, guard, parry"),
        ({"height": "tall"}, "height: 'tall', expected one of high, mid, low, jump"),
        ({"parts": "hand"}, "parts: 'hand', expected names of parts"),
        ({"parts": 3}, "parts: 3, expected names of parts"),
        ({"parts": ("",)}, "parts: '', expected a text"),
        ({"afterimages": ("a", "a")}, "afterimages: 'a' is there twice"),
        ({"damage": float("nan")}, "damage: nan, expected 0 to 1e+06"),
        ({"damage": "10"}, "damage: '10', expected 0"),
        ({"push": 1e9}, "push: 1000000000.0, expected -100 to 100"),
        ({"can_be_parried": 1}, "can_be_parried: 1, expected True or False"),
        ({"knocks_down": "yes"}, "knocks_down: 'yes', expected True or False"),
        ({"hits_down": 0}, "hits_down: 0, expected True or False"),
        ({"reach": -0.1}, "reach: -0.1, expected 0 to 100"),
        ({"reach": float("nan")}, "reach: nan, expected 0 to 100"),
        ({"advance": 11}, "advance: 11, expected -10 to 10"),
        ({"thrown": ""}, "thrown: '', expected a text of 1 to 100 letters"),
        ({"kind": "throw", "hit": 0}, "hit: 0, expected 1 tick or more of a move"),
    ],
)
def test_moves_that_are_refused(change: dict[str, Any], words: str) -> None:
    usual: dict[str, Any] = {"name": "punch", "start": 6, "hit": 3, "back": 12}
    with pytest.raises(SettingError) as caught:
        Move(**usual | change)
    assert words in str(caught.value)


def test_buttons_and_masks() -> None:
    assert button_mask("up") == 1
    assert button_mask("P + left", {"P": "B"}) == 1 << 5 | 1 << 2
    assert button_text(button_mask("B+left")) == "left+B"
    assert button_text(0) == "-"
    assert button_mask("+".join(BUTTONS)) == ALL_BUTTONS
    for mask in range(1, ALL_BUTTONS + 1):
        assert button_mask(button_text(mask)) == mask
    with pytest.raises(SettingError, match="no button 'rigt'; there are: 'right'"):
        button_mask("rigt")
    with pytest.raises(SettingError, match="no button ''"):
        button_mask("B+")
    with pytest.raises(SettingError, match="names the button 'B' twice"):
        button_mask("B+P", {"P": "B"})
    for wrong in (-1, ALL_BUTTONS + 1):
        with pytest.raises(SettingError, match="expected 0 to 4095"):
            button_text(wrong)


def test_letters() -> None:
    check_letters({"P": "B", "B": "B", "Schlag": "C"})
    for letters, words in (
        ({"A": "B"}, "'A' is a button itself"),
        ({"P": "Q"}, "expected one of up, down"),
        ({"P+K": "B"}, "expected a name without spaces"),
        ({"": "B"}, "expected a name without spaces"),
        ({"-": "B"}, "expected a name without spaces"),
    ):
        with pytest.raises(SettingError, match=words):
            check_letters(letters)


def test_commands() -> None:
    letters = {"P": "B", "K": "C"}
    assert read_commands("P:12 P:10  K:20", letters) == (
        Command("B", 12),
        Command("B", 10),
        Command("C", 20),
    )
    assert read_commands("K+P:24", letters) == (Command("B+C", 24),)
    assert read_commands("P", letters) == (Command("B"),)
    assert " ".join(map(str, RUSH.commands)) == "B:12 B:10 C B+C:24"


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("", "0 commands, expected 1 to 100"),
        ("B " * 101, "101 commands, expected 1 to 100"),
        ("B:0", "'B:0', expected 1 to 600 ticks"),
        ("B:601", "'B:601', expected 1 to 600 ticks"),
        ("B:-3", "'B:-3', expected buttons and ticks such as"),
        ("B:1.5", "expected buttons and ticks"),
        ("B:", "expected buttons and ticks"),
        (":12", "expected buttons and ticks"),
        ("B:" + "9" * 5000, "expected buttons and ticks"),
        ("B:\u0663", "expected buttons and ticks"),
        ("B C:3 Q", "no button 'Q'"),
        ("B+B", "names the button 'B' twice"),
    ],
)
def test_commands_that_are_refused(text: str, words: str) -> None:
    with pytest.raises(SettingError) as caught:
        read_commands(text)
    assert words in str(caught.value)


def test_a_command_and_a_combination_are_checked() -> None:
    assert Command("C+B").buttons == "B+C"
    with pytest.raises(SettingError, match="ticks: 0, expected 1 to 600"):
        Command("B", 0)
    with pytest.raises(SettingError, match="buttons: 3, expected a text"):
        Command(3)  # type: ignore[arg-type]
    assert Combination("rush", "C+B", (Command("B"),)).button == "B+C"
    with pytest.raises(SettingError, match="button: no button 'Q'; there are"):
        Combination("rush", "Q", (Command("B"),))
    with pytest.raises(SettingError, match="button: 3, expected one of up, down"):
        Combination("rush", 3, (Command("B"),))  # type: ignore[arg-type]
    with pytest.raises(SettingError, match="name: '', expected"):
        Combination("", "B", (Command("B"),))
    wrong: Any
    for wrong in ((), ("B",), "B B", 3):
        with pytest.raises(SettingError, match="expected 1 to 100 commands"):
            Combination("rush", "B", wrong)


def test_commands_that_name_a_move() -> None:
    names = ["throw", "high kick", "B"]
    found = read_commands("P:4 throw:9 throw B", {"P": "B"}, names)
    assert found == (
        *(Command("B", 4), Command("", 9, "throw"), Command("", None, "throw")),
        Command("B"),  # a button, whatever else is called so
    )
    assert [str(one) for one in found] == ["B:4", "throw:9", "throw", "B"]
    with pytest.raises(SettingError, match="no button or move 'trow'; there are: 'thr"):
        read_commands("trow", {}, names)
    with pytest.raises(SettingError, match="no button 'throw'; there are: "):
        read_commands("throw+B", {}, names)
    with pytest.raises(SettingError, match="move: 'throw', expected buttons or a move"):
        Command("B", 3, "throw")
    with pytest.raises(SettingError, match="move: 3, expected a text of 1 to 100"):
        Command("", 3, 3)  # type: ignore[arg-type]
    with pytest.raises(SettingError, match="no button ''"):
        Command("")
    own = Combination("rush", "X", (Command("", None, "throw"),))
    table = MoveTable(**TABLE | {"combinations": (own,)})
    assert table.command_move(own.commands[0]) is THROW
    assert table.command_move(Command("C")) is KICK
    wrong = Combination("rush", "X", (Command("", None, "thow"),))
    with pytest.raises(SettingError, match="names 'thow', expected a move: 'throw'"):
        MoveTable(**TABLE | {"combinations": (wrong,)})


def test_a_table() -> None:
    typed = {"C  B+C B": "throw"}
    table = MoveTable(**TABLE, sequences=typed)
    assert table.sequences == {"C B+C B": "throw"}
    assert table.chords == {"B+C": "throw"}
    assert table.index("kick") == 1
    assert table.move_of("C+B") is THROW
    assert table.move_of("B") is PUNCH
    assert pickle.loads(pickle.dumps(table)) == table
    assert MoveTable(()).moves == ()
    with pytest.raises(SettingError, match="no move 'kik'; there are: 'kick'"):
        table.index("kik")
    with pytest.raises(SettingError, match="'X' do no move"):
        table.move_of("X")


@pytest.mark.parametrize(
    ("change", "words"),
    [
        ({"moves": 3}, "moves: expected 1000 or less, each a Move"),
        ({"moves": ("punch",)}, "each a Move"),
        ({"moves": (PUNCH, KICK, THROW, KICK)}, "moves: 'kick' is there twice"),
        ({"combinations": (PUNCH,)}, "combinations: expected 1000 or less, each a"),
        ({"combinations": (RUSH, RUSH)}, "combinations: 'rush' is there twice"),
        (
            {"combinations": (RUSH, Combination("run", "X", (Command("B"),)))},
            "button: 'X' is there twice, expected once",
        ),
        (
            {"combinations": (Combination("run", "X", (Command("A"),)),)},
            "commands: 'run' names 'A', expected buttons that do a move",
        ),
        (
            {"combinations": (Combination("run", "X", (Command("X"),)),)},
            "commands: 'run' names 'X', expected buttons that do a move",
        ),
        ({"singles": 3}, "singles: expected names of moves by buttons"),
        ({"singles": {"Q": "punch"}}, "singles: 'Q', expected one of up"),
        ({"singles": {"A": "pnch"}}, "singles: 'A' does 'pnch', expected a move"),
        ({"chords": {"B": "throw"}}, "chords: 'B', expected two buttons or more"),
        ({"chords": {"B+C": "thrw"}}, "'B+C' does 'thrw', expected a move: 'throw'"),
        ({"chords": {"B+C": "kick", "C+B": "kick"}}, "'C+B' is there twice"),
        ({"chords": {3: "kick"}}, "chords: 3, expected a text"),
        ({"chords": {"B+Q": "kick"}}, "no button 'Q'"),
    ],
)
def test_tables_that_are_refused(change: dict[str, Any], words: str) -> None:
    with pytest.raises(SettingError) as caught:
        MoveTable(**TABLE | change)
    assert words in str(caught.value)


def test_a_log() -> None:
    log = InputLog(
        np.array([0, 0, 7], np.int32),
        np.array([0, 2, 0], np.int32),
        np.array([1, 2, 0], np.uint32),
    )
    assert (len(log), log.count, log.length) == (3, 3, 8)
    assert not log.states.flags.writeable
    none = InputLog([], [], [], 5)  # type: ignore[arg-type]
    assert (len(none), none.count, none.length) == (0, 0, 5)


def test_cameras_of_a_log() -> None:
    one, two = (CameraChange(tick, 3, CameraRule()) for tick in (4, 7))
    log = InputLog([2], [0], [1], -1, [one, two])  # type: ignore[arg-type]
    assert (log.count, log.length, log.cameras) == (4, 7, (one, two))
    for cameras, length, words in (
        ((two, one), -1, "cameras[1]: of tick 4, expected them to rise"),
        ((one,), 3, "length: 3, expected whole ticks, 4 or more"),
        ((5,), -1, "cameras[0]: int, expected CameraChange"),
    ):
        with pytest.raises(SettingError) as caught:
            InputLog([2], [0], [1], length, cameras)  # type: ignore[arg-type]
        assert words in str(caught.value)
    with pytest.raises(SettingError, match="row: -1, expected a whole number from 0"):
        CameraChange(1, -1, CameraRule())


@pytest.mark.parametrize(
    ("ticks", "who", "states", "length", "words"),
    [
        ([-1], [0], [1], -1, "ticks: -1, expected 0 or more"),
        ([1], [-2], [1], -1, "who: -2, expected 0 or more"),
        ([1], [0], [1 << 12], -1, "states: 4096, expected 4095 or less"),
        ([2, 1], [0, 0], [1, 0], -1, "ticks: change 1 is at tick 1 of character 0"),
        ([2, 2], [1, 1], [1, 0], -1, "or a higher character"),
        ([2, 2], [1, 0], [1, 0], -1, "or a higher character"),
        ([2, 3], [1], [1, 0], -1, "who: shape (1,), expected (2,)"),
        ([2], [1], [1, 0], -1, "states: shape (2,), expected (1,)"),
        ([2.5], [1], [1], -1, "ticks: cannot be made int32"),
        ([2], [1], [1], 2, "length: 2, expected whole ticks, 3 or more"),
        ([2], [1], [1], 3.5, "length: 3.5, expected whole ticks"),
    ],
)
def test_logs_that_are_refused(
    ticks: Any, who: Any, states: Any, length: Any, words: str
) -> None:
    with pytest.raises((SettingError, ShapeError)) as caught:
        InputLog(ticks, who, states, length)
    assert words in str(caught.value)


@pytest.mark.parametrize(
    ("parts", "kind", "can_be"),
    [
        (("rightHand", "rightLowerArm"), "attack", True),
        (("leftIndexProximal",), "attack", True),
        (("sword",), "attack", True),
        (("rightHand", "rightFoot"), "attack", False),
        (("mixamorig:LeftToeBase",), "attack", False),
        (("RIGHTUPPERLEG",), "attack", False),
        (("head",), "attack", False),
        ((), "throw", False),
        ((), "guard", True),
    ],
)
def test_hands_parry_hands_if_not_said(
    parts: tuple[str, ...], kind: Kind, can_be: bool
) -> None:
    assert Move("a", 1, 1, 1, kind=kind, parts=parts).can_be_parried is can_be
    for said in (False, True):
        own = Move("a", 1, 1, 1, kind=kind, parts=parts, can_be_parried=said)
        assert own.can_be_parried is said
