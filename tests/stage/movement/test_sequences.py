"""What is typed for a move: P, then K before the punch returns, then P."""

from __future__ import annotations

import pytest

from flexor.errors import SettingError
from flexor.scene.stage.moves import Combination, read_commands
from tests.stage.movement.move_ring import KICK, PUNCH, Ring, table_of

# The punch returns at 5 and ends at 10, the kick after 7 and 13 ticks.
PKP = {"B C B": "throw"}
MANY = {" ".join("BC"[n >> bit & 1] for bit in range(9)): "throw" for n in range(101)}


def test_each_step_is_seen_and_then_the_move() -> None:
    ring = Ring(table_of(sequences=PKP))
    began = ring.run({0: "B", 3: "C", 8: "B"}, 40)
    # The kick comes from the delivered punch, the throw from the delivered kick.
    assert began == [(0, "punch"), (5, "kick"), (12, "throw")]


@pytest.mark.parametrize("came", range(6, 20))
def test_the_last_step_counts_while_the_move_before_it_runs(came: int) -> None:
    began = Ring(table_of(sequences=PKP)).run({0: "B", 3: "C", came: "B"}, 50)
    back, total = 5 + KICK.until_back, 5 + KICK.total
    assert began[:2] == [(0, "punch"), (5, "kick")]
    if came < back:
        assert began[2:] == [(back, "throw")]
    elif came < total:  # in its return phase: at once
        assert began[2:] == [(came, "throw")]
    else:
        assert began[2:] == [(came, "punch")]


@pytest.mark.parametrize("came", range(1, 12))
def test_other_steps_count_before_the_return(came: int) -> None:
    inputs = {0: "B", came: "C", came + 8: "B"}
    names = [name for _, name in Ring(table_of(sequences=PKP)).run(inputs, 50)]
    if came < PUNCH.until_back:
        assert names == ["punch", "kick", "throw"]
    else:
        assert "throw" not in names


def test_typed_faster_than_its_moves_begin() -> None:
    ring = Ring(table_of(sequences=PKP))
    wanted = [(0, "punch"), (5, "kick"), (12, "throw")]
    assert ring.run({0: "B", 1: "C", 2: "B"}, 40) == wanted
    long = {"B B C C B": "burst"}
    ring = Ring(table_of(sequences=long))
    began = ring.run({0: "B", 1: "B", 2: "C", 3: "C", 4: "B"}, 60)
    assert began == [
        *((0, "punch"), (5, "punch"), (10, "kick"), (17, "kick"), (24, "burst"))
    ]


def test_where_it_breaks_off_moves_go_on() -> None:
    ring = Ring(table_of(sequences=PKP))
    # A guard after the kick: the punch that follows is none of the throw.
    began = ring.run({0: "B", 3: "C", 8: "A", 14: "B"}, 60)
    assert began == [(0, "punch"), (5, "kick"), (12, "guard"), (16, "punch")]
    ring = Ring(table_of(sequences=PKP))
    # The last of several inputs follows, and begins anew what it can.
    began = ring.run({0: "B", 1: "B", 11: "C", 17: "B"}, 60)
    assert began == [(0, "punch"), (10, "punch"), (15, "kick"), (22, "throw")]
    ring = Ring(table_of(sequences=PKP))
    assert ring.run({0: "B", 3: "C"}, 60) == [(0, "punch"), (5, "kick")]
    assert ring.run({0: "B"}, 30) == [(0, "punch")]


def test_buttons_that_do_nothing_break_nothing() -> None:
    ring = Ring(table_of(sequences=PKP))
    began = ring.run({0: "B", 1: "Y", 3: "C", 6: "left", 8: "B"}, 40)
    assert [name for _, name in began] == ["punch", "kick", "throw"]


def test_what_is_done_begins_no_other() -> None:
    ring = Ring(table_of(sequences=PKP))
    began = ring.run({0: "B", 3: "C", 8: "B", 14: "C", 24: "B"}, 90)
    names = [name for _, name in began]
    assert names == ["punch", "kick", "throw", "kick", "punch"]
    longer = PKP | {"B C B C": "burst"}
    ring = Ring(table_of(sequences=longer))
    began = ring.run({0: "B", 3: "C", 8: "B", 14: "C"}, 90)
    assert [name for _, name in began] == ["punch", "kick", "throw", "burst"]


def test_the_end_of_what_was_typed_may_begin_another() -> None:
    table = table_of(sequences={"B B C": "throw", "B C A": "burst"})
    ring = Ring(table)
    # Three punches: the last two and a kick.
    began = ring.run({0: "B", 2: "B", 7: "B", 12: "C"}, 90)
    assert [name for _, name in began] == ["punch", "punch", "punch", "throw"]
    ring = Ring(table_of(sequences={"B B C C": "throw", "B C A": "burst"}))
    began = ring.run({0: "B", 2: "B", 7: "C", 12: "A"}, 90)
    assert [name for _, name in began] == ["punch", "punch", "kick", "burst"]
    # One within another, longer one.
    ring = Ring(table_of(sequences={"A B C C": "throw", "B C": "burst"}))
    began = ring.run({0: "A", 2: "B", 7: "C", 12: "C"}, 90)
    assert [name for _, name in began] == ["guard", "punch", "burst", "throw"]


def test_who_is_hit_has_typed_nothing() -> None:
    ring = Ring(table_of(sequences=PKP))
    assert ring.run({0: "B", 3: "C"}, 8) == [(0, "punch"), (5, "kick")]
    ring.tick(act=False)
    assert ring.run({0: "B"}, 40) == [(3, "punch")]


def test_late_inputs_begin_no_second_step() -> None:
    ring = Ring(table_of(sequences=PKP), late_ticks=4)
    began = ring.run({0: "B", 7: "C", 14: "B"}, 60)
    assert began == [(0, "punch"), (10, "kick"), (17, "punch")]


def test_chords_and_buttons_without_a_move_in_sequences() -> None:
    table = table_of(
        chords={"B+C": "burst"}, sequences={"B+C Y": "throw", "C B+C": "nudge"}
    )
    ring = Ring(table)
    assert ring.run({0: "B+C", 2: "Y"}, 40) == [(0, "burst"), (4, "throw")]
    assert ring.run({0: "Y"}, 40) == []
    began = Ring(table).run({0: "C", 4: "B", 5: "C"}, 40)
    assert began == [(2, "kick"), (9, "nudge")]


def test_a_combination_names_a_move() -> None:
    own = Combination("rush", "X", read_commands("B:6 throw:9 C", moves=["throw"]))
    ring = Ring(table_of(combinations=(own,), sequences=PKP))
    began = ring.run({0: "X"}, 60)
    assert began == [(0, "punch"), (6, "throw"), (15, "kick")]


def test_combinations_on_several_buttons_at_once() -> None:
    ring = Ring(table_of(("B+C", "B B"), ("X", "C A"), ("A+X", "A")))
    assert ring.run({0: "B+C"}, 60) == [(0, "punch"), (5, "punch")]
    assert ring.run({0: "B", 1: "C"}, 60) == [(1, "punch"), (6, "punch")]
    assert ring.run({0: "X"}, 60) == [(2, "kick"), (9, "guard")]
    assert ring.run({0: "X", 1: "A"}, 60) == [(1, "guard")]
    # It stands before the move of the same buttons, which commands can do.
    table = table_of(("B+C", "C B+C"), chords={"B+C": "throw"})
    assert Ring(table).run({0: "B+C"}, 60) == [(0, "kick"), (7, "throw")]


@pytest.mark.parametrize(
    ("sequences", "words"),
    [
        ({"B": "throw"}, "'B', expected 2 to 10 buttons, or chords"),
        ({"B " * 11: "throw"}, "expected 2 to 10 buttons, or chords"),
        ({"B Q": "throw"}, "no button 'Q'; there are:"),
        ({3: "throw"}, "sequences: 3, expected a text such as 'B C B'"),
        ({"B C": "throw", "B  C": "kick"}, "'B  C' is there twice, expected once"),
        ({"B C": "thow"}, "'B C' does 'thow', expected a move: 'throw'"),
        ({"Y C": "throw"}, "'Y C': 'Y' does no move; there are: 'A', 'B', 'C', 'up'"),
        ({"X C": "throw"}, "'X C': 'X' runs a combination, expected buttons that do"),
        ({"B A+B": "throw"}, "'A+B' are no buttons of a move; there are: there are no"),
        ([], "sequences: expected names of moves by buttons"),
        (MANY, "sequences: 101, expected 100 or fewer"),
    ],
)
def test_sequences_that_are_refused(sequences: dict[str, str], words: str) -> None:
    with pytest.raises(SettingError) as caught:
        table_of(("X", "B"), sequences=sequences)
    assert words in str(caught.value)
