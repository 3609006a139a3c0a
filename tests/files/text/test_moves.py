"""Texts about moves: what they say, and faults by line and key."""

from __future__ import annotations

import inspect
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from flexor.errors import AssetError, SettingError
from flexor.files.text import moves as moves_read
from flexor.files.text.moves import (
    moves_text,
    read_moves,
)
from flexor.scene.stage.layout import BUTTONS
from flexor.scene.stage.moves import (
    HEIGHTS,
    KINDS,
    Combination,
    Command,
    Move,
    MoveTable,
)

LETTERS = '[buttons]\nP = "B"\nK = "C"\n'
PUNCH = '[move.punch]\nbutton = "B"\nstart = 6\nhit = 3\nback = 12\n'
KICK = '[move."high kick"]\nbutton = "C"\nstart = 9\nhit = 4\nback = 16\n'
BOTH = PUNCH + KICK  # 10 lines
ARMED = BOTH.replace("start", 'parts = ["head"]\nstart')


def write(folder: Path, text: str) -> Path:
    file = folder / "moves.toml"
    file.write_text(text, "utf-8")
    return file


def example() -> str:
    words = inspect.getdoc(moves_read) or ""
    text = words.split("\n\n", 1)[1].partition("\n\nButtons are")[0]
    return inspect.cleandoc(text)


def test_the_example_of_the_module(tmp_path: Path) -> None:
    table = read_moves(write(tmp_path, example()))
    assert [move.name for move in table.moves] == ["punch", "kick", "guard", "throw"]
    assert table.moves[0] == Move(
        *("punch", 6, 3, 12, "Punch"),
        parts=("rightHand",),
        height="high",
        damage=12.0,
        push=0.2,
        advance=0.1,
        afterimages=("rightLowerArm", "rightHand"),
    )
    assert table.moves[2].kind == "guard"
    assert table.singles == {"B": "punch", "C": "kick", "A": "guard"}
    assert table.chords == {"B+C": "throw"}
    assert table.sequences == {"B C B": "throw"}
    assert (table.moves[3].kind, table.moves[3].reach) == ("throw", 0.9)
    assert table.combinations == (
        Combination(
            "rush",
            "X",
            (Command("B", 12), Command("B", 10), Command("C"), Command("B+C", 24)),
        ),
        Combination("feint", "C+X", (Command("C", 4), Command("", None, "throw"))),
    )


def test_what_is_left_out(tmp_path: Path) -> None:
    assert read_moves(write(tmp_path, "")) == MoveTable(())
    text = "[move.a]\nstart=1\nhit=1\nback=0\nparts=['b']"
    one = read_moves(str(write(tmp_path, text)))
    assert one == MoveTable((Move("a", 1, 1, 0, parts=("b",)),))


def test_letters_and_names_of_buttons(tmp_path: Path) -> None:
    more = '[[combination]]\nname = "a"\nbutton = "P"\ncommands = "P B:2 K C"'
    table = read_moves(write(tmp_path, LETTERS + ARMED + more))
    own = table.combinations[0]
    assert own.button == "B"
    assert [str(one) for one in own.commands] == ["B", "B:2", "C", "C"]


def test_an_attack_without_parts_is_refused(tmp_path: Path) -> None:
    """It could hit nothing, in silence; all other moves need none."""
    words = "move.punch.parts: an attack without any hits nothing, expected the parts"
    for text, place in ((PUNCH, "line 1"), (with_move("parts = []"), "line 6")):
        with pytest.raises(AssetError, match=words) as caught:
            read_moves(write(tmp_path, text))
        assert caught.value.pointer == place
    for kind in KINDS[1:]:
        table = read_moves(write(tmp_path, with_move(f"kind = '{kind}'")))
        assert table.moves[0].parts == ()
    with pytest.raises(SettingError, match="table: parts of 'a': an attack without"):
        moves_text(MoveTable((Move("a", 1, 1, 1),)))


NAMES = st.text(
    st.characters(codec="utf-8", exclude_categories=("C", "Z")), min_size=1, max_size=9
)


@settings(max_examples=50)
@given(st.data())
def test_a_table_survives_its_text(
    tmp_path_factory: pytest.TempPathFactory, data: st.DataObject
) -> None:
    some = st.lists(NAMES, unique=True, max_size=3).map(tuple)
    parts = st.lists(NAMES, unique=True, min_size=1, max_size=3).map(tuple)
    ticks = st.integers(1, 600)
    names = data.draw(st.lists(NAMES, unique=True, max_size=4))
    moves = tuple(
        data.draw(
            st.builds(
                Move,
                *(st.just(name), ticks, ticks, st.integers(0, 600), NAMES),
                kind=st.sampled_from(KINDS),
                parts=parts,
                height=st.sampled_from(HEIGHTS),
                damage=st.floats(0, 1e6),
                push=st.floats(-100, 100),
                can_be_parried=st.none() | st.booleans(),
                knocks_down=st.booleans(),
                hits_down=st.booleans(),
                reach=st.floats(0, 100),
                thrown=NAMES,
                advance=st.floats(-10, 10),
                afterimages=some,
            )
        )
        for name in names
    )
    free = ["A", "B+left", "C", "A+B+C"][: len(names)]
    bound = dict(zip(free, names, strict=True))
    commands = tuple(Command(text, data.draw(st.none() | ticks)) for text in free)
    words = [one for one in names if ":" not in one and "+" not in one]
    named = tuple(Command("", 9, one) for one in words if one not in BUTTONS)
    button = data.draw(st.sampled_from(["X", "C+X", "A+B+C"]))
    typed = data.draw(
        st.dictionaries(
            st.lists(st.sampled_from(free), min_size=2, max_size=5).map(" ".join),
            st.sampled_from(names),
            max_size=1,
        )
        if free and "+" not in button
        else st.just({})
    )
    table = MoveTable(
        moves,
        (Combination("all", button, commands + named),) if commands else (),
        {text: name for text, name in bound.items() if "+" not in text},
        {text: name for text, name in bound.items() if "+" in text},
        typed,
    )
    file = write(Path(tmp_path_factory.mktemp("moves")), moves_text(table))
    assert read_moves(file) == table


def test_a_move_of_two_buttons_has_no_text() -> None:
    moves = (Move("a", 1, 1, 1, parts=("head",)),)
    table = MoveTable(moves, (), {"A": "a", "B": "a"})
    with pytest.raises(SettingError, match="'a' is done by A, B, expected one"):
        moves_text(table)


def combination(button: str = '"X"', commands: str = '"B C"', name: str = '"a"') -> str:
    """Three lines behind a head, 11 to 14 after BOTH."""
    return (
        f"{BOTH}[[combination]]\nname = {name}\nbutton = {button}\n"
        f"commands = {commands}\n"
    )


def with_move(line: str) -> str:
    """A punch with a sixth line."""
    return f"{PUNCH}{line}\n"


@pytest.mark.parametrize(
    ("text", "place", "words"),
    [
        ("moves = 1", "line 1", "moves: not known; there are: base, buttons, m"),
        ("move = 1", "line 1", "move: 1, expected a table"),
        ("[move]\npunch = 1", "line 2", "move.punch: 1, expected a table"),
        ("combination = 1", "line 1", "combination: 1, expected tables"),
        ("buttons = 'B'", "line 1", "buttons: 'B', expected a table"),
        ("[buttons]\nP = 3", "line 2", "buttons.P: 3, expected the name of a button"),
        ("[buttons]\nP = 'Q'", "line 2", "buttons.P: 'Q', expected one of up, down"),
        ("[buttons]\nA = 'B'", "line 2", "buttons.A: 'B', expected another letter"),
        ("[buttons]\n'P K' = 'B'", "line 2", "expected a name without spaces"),
        (with_move("strt = 6"), "line 6", "move.punch.strt: not known; there are:"),
        (with_move("strt = 6"), "line 6", "button, sequence, clip, kind, start"),
        (with_move("damage = '3'"), "line 6", "move.punch.damage: '3', expected a num"),
        (with_move("damage = -1"), "line 6", "move.punch.damage: -1, expected 0 to"),
        (with_move("damage = nan"), "line 6", "move.punch.damage: nan, expected 0"),
        (with_move("push = 1e9"), "line 6", "move.punch.push: 1000000000.0, expected"),
        (with_move("height = 'up'"), "line 6", "'up', expected one of high, mid, low"),
        (with_move("kind = 'hit'"), "line 6", "'hit', expected one of attack, guard"),
        (with_move("parts = 'hand'"), "line 6", "expected a list of texts"),
        (with_move("parts = ['a', 'a']"), "line 6", "parts: 'a' is there twice"),
        (with_move("afterimages = ['']"), "line 6", "'', expected a text of 1 to 100"),
        (with_move("can_be_parried = 1"), "line 6", "expected true or false"),
        (
            with_move("sequence = 3"),
            "line 6",
            "move.punch.sequence: 3, expected a text",
        ),
        (with_move("sequence = 'B'"), "line 6", "'B', expected 2 to 10 buttons"),
        (with_move("sequence = 'B Q'"), "line 6", "no button 'Q'; there are"),
        (with_move("sequence = 'Y B'"), "line 6", "'Y' does no move; there are: 'B'"),
        (with_move("sequence = 'B B+C'"), "line 6", "'B+C' are no buttons of a move"),
        (
            BOTH.replace('"C"', '"C"\nsequence = "B C"')
            + '[move.a]\nsequence = "B  C"\nstart = 1\nhit = 1\nback = 1\n',
            "line 13",
            "move.a.sequence: 'B  C' does 'high kick' already, expected another",
        ),
        (
            combination().replace('"C"\n', '"C"\nsequence = "X C"\n', 1),
            "line 8",
            "move.high kick.sequence: 'X' runs a combination, expected buttons that",
        ),
        (combination(commands='"high"'), "line 14", "no button or move 'high'; there"),
        (with_move("knocks_down = 1"), "line 6", "expected true or false"),
        (with_move("hits_down = 'no'"), "line 6", "expected true or false"),
        (with_move("reach = -1"), "line 6", "move.punch.reach: -1, expected 0 to 100"),
        (with_move("thrown = ''"), "line 6", "move.punch.thrown: '', expected a text"),
        (with_move("clip = 3"), "line 6", "move.punch.clip: 3, expected a text"),
        (PUNCH.replace("6", "601"), "line 3", "move.punch.start: 601, expected 0 to 6"),
        (PUNCH.replace("6", "6.0"), "line 3", "start: 6.0, expected a whole number"),
        (PUNCH.replace("6", "true"), "line 3", "start: True, expected a whole number"),
        (PUNCH.replace("3", "0"), "line 4", "move.punch.hit: 0, expected 1 tick"),
        (
            PUNCH.replace("hit = 3\n", ""),
            "line 1",
            "move.punch: no hit, expected start",
        ),
        (PUNCH.replace('"B"', '"Q"'), "line 2", "move.punch.button: no button 'Q'"),
        (PUNCH.replace('"B"', '"rigt"'), "line 2", "there are: 'right'"),
        (PUNCH.replace('"B"', '"B+B"'), "line 2", "names the button 'B' twice"),
        (PUNCH.replace('"B"', "3"), "line 2", "move.punch.button: 3, expected a text"),
        (PUNCH.replace('"B"', '""'), "line 2", "move.punch.button: no button ''"),
        (PUNCH.replace("punch", '""'), "line 1", "name: '', expected a text"),
        (
            BOTH.replace('"C"', '"B"'),
            "line 7",
            "move.high kick.button: 'B' does 'punch' already, expected other buttons",
        ),
        (
            BOTH.replace('"C"', '"B+A"').replace('"B"', '"A+B"'),
            "line 7",
            "'B+A' does 'punch' already",
        ),
        (combination(button='"Q"'), "line 13", "combination 1.button: no button 'Q'"),
        (combination(button='"B+B"'), "line 13", "names the button 'B' twice"),
        (combination(button="3"), "line 13", "combination 1.button: 3, expected a"),
        (combination(name="3"), "line 12", "combination 1.name: 3, expected a text"),
        (combination(name='""'), "line 12", "combination 1.name: '', expected a"),
        (combination(commands="3"), "line 14", "combination 1.commands: 3, expected"),
        (combination(commands='""'), "line 14", "0 commands, expected 1 to 100"),
        (combination(commands='"B Q"'), "line 14", "no button or move 'Q'; there are"),
        (combination(commands='"B P"'), "line 14", "no button or move 'P'; there are"),
        (combination(commands='"B:0"'), "line 14", "'B:0', expected 1 to 600 ticks"),
        (combination(commands='"B:601"'), "line 14", "expected 1 to 600 ticks"),
        (combination(commands='"B:x"'), "line 14", "'B:x', expected buttons and"),
        (combination(commands='"B A:3"'), "line 14", "'A:3' does no move; there are:"),
        (combination(commands='"B+C"'), "line 14", "'B+C' does no move"),
        (combination(commands='"X"'), "line 14", "'X' does no move; there are: 'B'"),
        (combination() + "frames = 3", "line 15", "combination 1.frames: not known"),
        (
            combination().replace('name = "a"\n', ""),
            "line 11",
            "combination 1: no name, expected name, button, commands",
        ),
        (
            combination() + combination(name='"b"')[len(BOTH) :],
            "line 17",
            "combination 2.button: 'X' is that of 'a', expected another",
        ),
        (
            combination() + combination(button='"Y"')[len(BOTH) :],
            "line 16",
            "combination 2.name: 'a' is that of 'a', expected another",
        ),
    ],
)
def test_faults_name_line_and_key(
    tmp_path: Path, text: str, place: str, words: str
) -> None:
    with pytest.raises(AssetError) as caught:
        read_moves(write(tmp_path, text))
    assert words in str(caught.value)
    assert caught.value.pointer == place
    assert "moves.toml" in str(caught.value)


def test_buttons_without_a_move_are_told_in_the_letters_of_the_file(
    tmp_path: Path,
) -> None:
    """Where a file has letters, what there is instead is not told in buttons."""
    letters = LETTERS + 'F = "B"\nE = "right"\n'
    chord = ARMED.replace('"C"', '"P+E+A"')
    for text, commands, words in (
        (LETTERS + ARMED, "P+K", "'P+K' does no move; there are: 'P', 'K'"),
        (LETTERS + ARMED, "B+C:9", "'B+C:9' does no move; there are: 'P', 'K'"),
        (letters + chord, "F+A", "'F+A' does no move; there are: 'E+A+P', 'P'"),
    ):
        more = f'[[combination]]\nname = "a"\nbutton = "X"\ncommands = "{commands}"'
        with pytest.raises(AssetError) as caught:
            read_moves(write(tmp_path, text + more))
        assert caught.value.text.endswith(words)


def test_clips_and_parts_that_are_there(tmp_path: Path) -> None:
    text = with_move("clip = 'Punch'\nparts = ['head']\nafterimages = ['hips']")
    file = write(tmp_path, text)
    names: dict[str, Any] = {"clips": ["Punch"], "parts": ["head", "hips"]}
    assert read_moves(file, **names).moves[0].clip == "Punch"
    for change, place, words in (
        ({"clips": ["Puch"]}, "line 6", "move.punch.clip: no 'Punch'; there are: 'Pu"),
        ({"parts": ["hips"]}, "line 7", "move.punch.parts: no 'head'; there are"),
        ({"parts": ["head"]}, "line 8", "move.punch.afterimages: no 'hips'; there"),
    ):
        with pytest.raises(AssetError, match=words) as caught:
            read_moves(file, **names | change)
        assert caught.value.pointer == place
    with pytest.raises(AssetError, match="no 'punch'; there are none") as caught:
        read_moves(write(tmp_path, PUNCH), clips=[])
    assert caught.value.pointer == "line 1"


def test_more_than_a_table_may_hold(tmp_path: Path) -> None:
    text = "".join(f"[move.m{n}]\nstart=1\nhit=1\nback=1\n" for n in range(1001))
    with pytest.raises(AssetError, match="moves: expected 1000 or less"):
        read_moves(write(tmp_path, text))


def test_files_that_are_none(tmp_path: Path) -> None:
    with pytest.raises(AssetError, match="No such file"):
        read_moves(tmp_path / "none.toml")
    with pytest.raises(AssetError, match="is no TOML"):
        read_moves(write(tmp_path, "[[move]"))
    with pytest.raises(AssetError, match="is a directory"):
        read_moves(tmp_path)


@settings(max_examples=100)
@given(
    st.lists(
        st.sampled_from(
            [
                *("[move.a]", "[move.b]", "[[combination]]", "[buttons]", "[move]"),
                *('button = "B"', 'button = "B+C"', "start = 3", "hit = 4", "back = 5"),
                *('name = "a"', 'commands = "B C:4"', "hit = [", 'P = "B"', "a = {}"),
                *("a.b.c = 3", "move = 4", "\x00", 'kind = "guard"', "start = 1e400"),
            ]
        ),
        max_size=12,
    )
)
def test_any_text_is_read_or_refused(
    tmp_path_factory: pytest.TempPathFactory, lines: list[str]
) -> None:
    file = write(Path(tmp_path_factory.mktemp("moves")), "\n".join(lines))
    try:
        table = read_moves(file)
    except AssetError:
        return
    assert isinstance(table, MoveTable)


def test_sequences_are_told_in_the_letters_of_the_file(tmp_path: Path) -> None:
    text = LETTERS + ARMED.replace('"C"', '"C"\nsequence = "P K P"', 1)
    assert read_moves(write(tmp_path, text)).sequences == {"B C B": "high kick"}
    for typed, words in (
        ("G P", "no button 'G'; there are"),
        ("Y P", "'Y' does no move; there are: 'P', 'K'"),
        ("P K+P", "'P+K' are no buttons of a move; there are: there are none"),
    ):
        with pytest.raises(AssetError) as caught:
            read_moves(write(tmp_path, text.replace("P K P", typed)))
        assert words in caught.value.text


def test_what_has_no_text() -> None:
    moves = tuple(Move(name, 1, 1, 1, kind="other") for name in ("a", "b c", "B"))
    bound = {"A": "a", "C": "B"}
    typed = {"A A": "a", "A C": "a"}
    with pytest.raises(SettingError, match="'a' is typed as A A, A C, expected one"):
        moves_text(MoveTable(moves, (), bound, {}, typed))
    for name in ("b c", "B"):
        own = Combination("x", "X", (Command("", None, name),))
        with pytest.raises(
            SettingError, match=f"'x' names '{name}', expected one word"
        ):
            moves_text(MoveTable(moves, (own,), bound))


def test_many_sequences(tmp_path: Path) -> None:
    move = "kind='other'\nstart=1\nhit=1\nback=1\n"
    head = f"[move.a]\nbutton='A'\n{move}[move.b]\nbutton='B'\n{move}"
    text = head
    for n in range(101):
        typed = " ".join("AB"[n >> bit & 1] for bit in range(7))
        text += f"[move.m{n}]\nsequence='{typed}'\n{move}"
    with pytest.raises(AssetError, match="one of more than 100, expected fewer") as got:
        read_moves(write(tmp_path, text))
    assert got.value.pointer == "line 614"
