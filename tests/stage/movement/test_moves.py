"""Moves, chords and combinations, tick by tick."""

from __future__ import annotations

import numpy as np
import pytest

from flexor.errors import ShapeError
from flexor.scene.stage.moves import (
    MoveTable,
    button_mask,
)
from flexor.stage.movement.layout import HITTING, NO_MOVE, RETURN, START_UP
from flexor.stage.movement.moves import (
    init_moves,
    lay_out_moves,
    step_moves,
    stop_moves,
)
from tests.stage.movement.move_ring import (
    PUNCH,
    Ring,
    _random_buttons,
    _run,
    table_of,
)


def test_a_button_does_its_own_move() -> None:
    ring = Ring(table_of())
    phases = []
    for tick in range(12):
        assert ring.tick("B" if tick == 0 else "") == ("punch" if tick == 0 else "")
        phases.append(int(ring.state.phase[0]))
        assert ring.state.at[0] == (tick if tick < PUNCH.total else 0)
    wanted = [START_UP] * 3 + [HITTING] * 2 + [RETURN] * 5 + [NO_MOVE] * 2
    assert phases == wanted
    assert ring.state.phase.dtype == np.int8


def test_a_move_without_a_hitting_phase_and_one_with_nothing_else() -> None:
    ring = Ring(table_of())
    phases = []
    for tick in range(6):
        ring.tick("up" if tick == 0 else "")
        phases.append(int(ring.state.phase[0]))
    assert phases == [1, 1, 3, 3, 3, 0]
    assert ring.run({0: "L", 1: "L"}, 4) == [(0, "nudge"), (1, "nudge")]


def test_commands_run_in_order_each_for_its_ticks() -> None:
    ring = Ring(table_of(("X", "B:12 B:10 C:20")))
    # The punch has ended before its 12 ticks are over.
    assert ring.run({5: "X"}, 80) == [(5, "punch"), (17, "punch"), (27, "kick")]
    assert ring.now == ""
    assert ring.state.combination[0] == -1


def test_commands_without_ticks_go_on_at_the_return_phase() -> None:
    ring = Ring(table_of(("X", "B B C")))
    assert ring.run({0: "X"}, 18) == [(0, "punch"), (5, "punch"), (10, "kick")]
    # The last move goes on through its return phase.
    assert (ring.now, ring.state.phase[0], ring.state.combination[0]) == ("kick", 3, -1)
    assert ring.run({}, 5) == []
    assert ring.now == "kick"
    ring.tick()
    assert ring.now == ""


def test_several_buttons_at_once_in_a_combination() -> None:
    table = table_of(("X", "B+C:24 B"), chords={"B+C": "throw"})
    assert Ring(table).run({0: "X"}) == [(0, "throw"), (24, "punch")]


def test_a_combination_stands_before_the_move_of_its_button() -> None:
    ring = Ring(table_of(("B", "B B C")))
    assert ring.run({0: "B"}) == [(0, "punch"), (5, "punch"), (10, "kick")]


def test_unbound_buttons_do_nothing() -> None:
    ring = Ring(table_of(("X", "B")))
    for text in ("Y", "Z+R", "left", "down+right"):
        assert ring.run({0: text}, 5) == []
    assert Ring(table_of()).run({0: "B", 2: "Y"}) == [(0, "punch")]
    assert Ring(MoveTable(())).run({0: "B"}) == []


def test_bits_beyond_the_buttons_do_nothing() -> None:
    state, out = init_moves(1), np.empty(1, np.int32)
    many = np.array([0xFFFFF000], np.uint32)
    ones = np.ones(1), np.ones(1, bool)
    step_moves(lay_out_moves(table_of()), state, many, many, *ones, out=out)
    assert out[0] == -1


@pytest.mark.parametrize("gap", [0, 1, 2])
@pytest.mark.parametrize("order", ["BC", "CB"])
def test_buttons_within_the_window_are_at_once(gap: int, order: str) -> None:
    ring = Ring(table_of(chords={"B+C": "throw"}))
    inputs = {10: order[0], 10 + gap: order[1]} if gap else {10: "B+C"}
    # Nothing larger can come of it: it begins with the last button.
    assert ring.run(inputs) == [(10 + gap, "throw")]


def test_buttons_beyond_the_window_follow_each_other() -> None:
    ring = Ring(table_of(chords={"B+C": "throw"}))
    # The punch has waited two ticks, and the kick waits for its return phase.
    assert ring.run({10: "B", 13: "C"}) == [(12, "punch"), (17, "kick")]
    ring = Ring(table_of(chords={"B+C": "throw"}), chord_ticks=3)
    assert ring.run({10: "B", 13: "C"}) == [(13, "throw")]
    ring = Ring(table_of(chords={"B+C": "throw"}), chord_ticks=0)
    assert ring.run({10: "B"}, 30) == [(10, "punch")]
    assert ring.run({10: "B+C"}) == [(10, "throw")]


def test_only_parts_of_chords_wait() -> None:
    table = table_of(("X", "C"), chords={"B+C": "throw"})
    assert Ring(table).run({0: "A"}, 30) == [(0, "guard")]
    assert Ring(table).run({0: "X"}, 30) == [(0, "kick")]
    assert Ring(table).run({0: "B"}, 30) == [(2, "punch")]


def test_another_button_ends_the_wait_of_one() -> None:
    ring = Ring(table_of(chords={"B+C": "throw"}))
    assert ring.run({0: "B", 1: "A"}) == [(1, "punch"), (6, "guard")]


def test_chords_in_chords() -> None:
    chords = {"B+C": "throw", "A+B+C": "burst"}
    assert Ring(table_of(chords=chords)).run({0: "B+C"}) == [(2, "throw")]
    assert Ring(table_of(chords=chords)).run({0: "B", 1: "C", 2: "A"}) == [(2, "burst")]
    assert Ring(table_of(chords=chords)).run({0: "B", 1: "A"}) == [(2, "punch")]
    assert Ring(table_of(chords=chords)).run({0: "L+B+C"}, 9) == [(2, "throw")]
    # Buttons that are no chord: the first one that was pressed.
    assert Ring(table_of(chords=chords)).run({0: "C", 1: "A"}) == [(2, "kick")]
    assert Ring(table_of()).run({0: "B+C"}) == [(0, "punch")]


def test_a_chord_of_buttons_without_moves() -> None:
    ring = Ring(table_of(chords={"Y+Z": "throw"}))
    assert ring.run({0: "Y", 9: "Y", 10: "Z"}, 20) == [(10, "throw")]


@pytest.mark.parametrize("came", range(1, 12))
def test_an_input_continues_a_move_before_its_return(came: int) -> None:
    began = Ring(table_of()).run({0: "B", came: "C"}, 40)
    back, total = PUNCH.until_back, PUNCH.total
    if came < back:
        assert began == [(0, "punch"), (back, "kick")]
    elif came < total:
        assert began == [(0, "punch")]
    else:
        assert began == [(0, "punch"), (came, "kick")]


def test_the_window_of_a_part_of_a_chord_is_when_it_was_pressed() -> None:
    chords = {"C+Y": "throw"}
    back = PUNCH.until_back
    ring = Ring(table_of(chords=chords))
    # Pressed in the last tick before the return, it waits for others, and then begins.
    assert ring.run({0: "B", back - 1: "C"}) == [(0, "punch"), (back + 1, "kick")]
    ring = Ring(table_of(chords=chords))
    assert ring.run({0: "B", back: "C"}) == [(0, "punch")]
    ring = Ring(table_of(chords=chords))
    began = ring.run({0: "B", back - 1: "C", back: "Y"})
    assert began == [(0, "punch"), (back, "throw")]


def test_of_several_inputs_the_last_one_follows() -> None:
    ring = Ring(table_of(("X", "C C")))
    assert ring.run({0: "C", 1: "C", 2: "B"}) == [(0, "kick"), (7, "punch")]
    assert ring.run({0: "B", 1: "X"}) == [(0, "punch"), (5, "kick"), (12, "kick")]


def test_what_waits_begins_before_new_inputs_are_taken() -> None:
    ring = Ring(table_of())
    # At tick 5 the punch is in its return phase, but the kick begins just then.
    began = ring.run({0: "B", 2: "C", 5: "A"}, 40)
    assert began == [(0, "punch"), (5, "kick"), (12, "guard")]
    ring = Ring(table_of(chords={"B+Y": "throw"}))
    # So does the kick when a button that waits for others is joined by none.
    began = ring.run({0: "A", 2: "C", 3: "B", 4: "L"}, 40)
    assert began == [(0, "guard"), (4, "kick"), (11, "nudge")]


def test_a_chord_among_more_buttons_has_those_that_came_first() -> None:
    chords = {"A+C": "burst", "B+C": "throw"}
    began = Ring(table_of(chords=chords)).run({0: "B", 1: "A+C"}, 9)
    assert began == [(1, "throw")]


def test_a_move_that_follows_on_itself_waits_until_it_is_over() -> None:
    presses = {0: "B", 3: "B", 6: "B", 12: "B"}
    assert Ring(table_of()).run(presses) == [(0, "punch"), (10, "punch"), (20, "punch")]
    again = Ring(table_of(), repeats=True).run(presses)
    assert again == [(tick, "punch") for tick in (0, 5, 10, 15)]
    # Others do not wait; a guard that is pressed again is held again at once.
    assert Ring(table_of()).run({0: "B", 3: "C"}) == [(0, "punch"), (5, "kick")]
    assert Ring(table_of()).run({0: "A", 2: "A"}) == [(0, "guard"), (4, "guard")]
    # A combination may have a move twice, and so may what is typed.
    twice = Ring(table_of(("X", "B B"))).run({0: "X"})
    assert twice == [(0, "punch"), (5, "punch")]
    # The same combination again waits for the return of its last move.
    again = Ring(table_of(("X", "B C"))).run({0: "X", 7: "X"}, 40)
    assert again == [(0, "punch"), (5, "kick"), (18, "punch"), (23, "kick")]
    # A single move does not wait for itself as the end of a combination.
    other = Ring(table_of(("X", "C B"))).run({0: "X", 8: "B"})
    assert other == [(0, "kick"), (7, "punch"), (12, "punch")]
    typed = Ring(table_of(sequences={"B B C": "throw"}))
    began = typed.run({0: "B", 2: "B", 7: "C"}, 40)
    assert began == [(0, "punch"), (5, "punch"), (10, "throw")]


def test_late_inputs_are_kept_for_so_many_ticks() -> None:
    end = PUNCH.total
    for late in (1, 3):
        ring = Ring(table_of(), late_ticks=late)
        assert ring.run({0: "B", end - late: "C"}) == [(0, "punch"), (end, "kick")]
        ring = Ring(table_of(), late_ticks=late)
        assert ring.run({0: "B", end - late - 1: "C"}) == [(0, "punch")]
    # Three ticks before the end, two of which it waits for others.
    ring = Ring(table_of(chords={"C+Y": "throw"}), late_ticks=2)
    assert ring.run({0: "B", end - 3: "C"}) == [(0, "punch")]
    ring = Ring(table_of(chords={"C+Y": "throw"}), late_ticks=2)
    assert ring.run({0: "B", end - 2: "C"}) == [(0, "punch"), (end, "kick")]
    ring = Ring(table_of(chords={"C+Y": "throw"}), late_ticks=3)
    assert ring.run({0: "B", end - 3: "C"}) == [(0, "punch"), (end, "kick")]
    ring = Ring(table_of(chords={"C+Y": "throw"}), late_ticks=1)
    assert ring.run({0: "B", end - 1: "C"}) == [(0, "punch"), (end + 1, "kick")]


def test_inputs_while_a_combination_runs() -> None:
    ring = Ring(table_of(("X", "B B C:20")))
    began = [(0, "punch"), (5, "punch"), (10, "kick")]
    assert ring.run({0: "X", 3: "C", 7: "X"}) == began
    # In the last command they are taken, but wait until its ticks are over.
    assert ring.run({0: "X", 16: "B"}) == [*began, (30, "punch")]
    assert ring.run({0: "X", 17: "B", 29: "B"}) == began


def test_who_is_hit_loses_the_combination_and_the_inputs() -> None:
    ring = Ring(table_of(("X", "B B C")))
    ring.tick("X")
    ring.tick(act=False)
    assert ring.state.combination[0] == -1
    assert ring.now == "punch"
    assert ring.run({}) == []
    ring.tick("B")
    ring.tick("C")
    assert ring.state.buffered[0] == ring.table.index("kick")
    ring.tick(act=False)
    assert ring.state.buffered[0] == -1
    assert ring.run({}) == []
    # What is pressed while nothing can be done is lost too.
    assert ring.tick("B", act=False) == ""
    assert ring.run({}) == []
    ring = Ring(table_of(chords={"B+C": "throw"}))
    ring.tick("B")
    ring.tick(act=False)
    assert ring.run({}) == []


def test_a_hit_at_the_tick_of_the_next_command() -> None:
    ring = Ring(table_of(("X", "B B C")))
    assert ring.run({0: "X"}, 5) == [(0, "punch")]
    assert ring.tick(act=False) == ""
    assert (ring.now, ring.state.phase[0]) == ("punch", RETURN)


def test_moves_can_be_stopped() -> None:
    tables, state = lay_out_moves(table_of(("X", "B B C"))), init_moves(3)
    out, ones = np.empty(3, np.int32), (np.ones(3), np.ones(3, bool))
    masks = np.full(3, button_mask("X"), np.uint32)
    step_moves(tables, state, masks, masks, *ones, out=out)
    stop_moves(state, np.array([False, True, False]))
    assert state.move.tolist() == [0, -1, 0]
    assert state.combination.tolist() == [0, -1, 0]
    assert state.phase.tolist() == [1, 0, 1]
    none = np.zeros(3, np.uint32)
    for _ in range(5):
        step_moves(tables, state, none, none, *ones, out=out)
    assert out.tolist() == [0, -1, 0]
    with pytest.raises(ShapeError, match="who: shape"):
        stop_moves(state, np.ones(2, bool))


def test_a_guard_holds_while_its_button_is_held() -> None:
    ring = Ring(table_of())
    ring.tick("A")
    for _ in range(50):
        ring.tick(held="A")
        assert ring.now == "guard"
    assert ring.state.phase[0] == HITTING
    phases = [int((ring.tick(), ring.state.phase[0])[1]) for _ in range(4)]
    assert phases == [RETURN, RETURN, NO_MOVE, NO_MOVE]
    # Not held, it lasts as long as it says.
    ring.tick("A")
    assert [int((ring.tick(), ring.state.phase[0])[1]) for _ in range(6)] == [
        *(2, 2, 2, 3, 3, 0)
    ]


def test_an_input_ends_the_holding_of_a_guard() -> None:
    ring = Ring(table_of())
    ring.tick("A")
    for _ in range(9):
        ring.tick(held="A")
    assert ring.tick("B", held="A") == ""
    assert ring.tick(held="A") == "punch"


def test_a_guard_of_two_buttons_and_one_in_a_combination() -> None:
    table = table_of(("X", "A B"), chords={"L+R": "guard"})
    ring = Ring(table)
    ring.tick("L+R")
    for _ in range(9):
        ring.tick(held="L+R")
    assert ring.state.phase[0] == HITTING
    ring.tick(held="L")
    assert ring.state.phase[0] == RETURN
    ring = Ring(table)
    began = [ring.tick("X"), *(ring.tick(held="X+A") for _ in range(6))]
    assert began == ["guard", "", "", "", "punch", "", ""]


@pytest.mark.parametrize("divisor", [2, 3, 4, 10])
def test_slow_clocks_make_moves_longer_exactly(divisor: int) -> None:
    ring = Ring(table_of(("X", "B B:11 C")))
    began = ring.run({0: "X"}, 30 * divisor, 1 / divisor)
    steps = [(0, "punch"), (5, "punch"), (16, "kick")]
    assert began == [(tick * divisor, name) for tick, name in steps]
    ring = Ring(table_of())
    ring.tick("B", clock=1 / divisor)
    phases = []
    while ring.now:
        phases.append(int(ring.state.phase[0]))
        ring.tick(clock=1 / divisor)
    ticks = PUNCH.start, PUNCH.hit, PUNCH.back
    assert [phases.count(row) for row in (1, 2, 3)] == [n * divisor for n in ticks]


def test_what_is_over_of_a_tick_belongs_to_the_next_command() -> None:
    ring = Ring(table_of(("X", "B:10 B:10 B:10 B:10")))
    began = ring.run({0: "X"}, 90, 0.75)
    assert [tick for tick, _ in began] == [0, 14, 27, 40]  # 40 / 3, rounded up


def test_a_clock_that_stands_still() -> None:
    ring = Ring(table_of())
    assert ring.run({0: "B"}, 99, 0.0) == [(0, "punch")]
    assert ring.state.at[0] == 0.0


def test_each_has_the_moves_of_its_table() -> None:
    """Beside others with other tables each does what it does alone."""
    rng = np.random.default_rng(6)
    ways = (
        table_of(("X", "B B C"), chords={"B+C": "throw"}),
        MoveTable(()),
        table_of(("C", "A C:3"), singles={"A": "kick", "C": "hop"}),
        table_of(chords={"A+B": "burst", "A+B+C": "throw"}),
    )
    count, ticks = 12, 120
    rows = np.arange(count, dtype=np.int32) % len(ways)
    held = _random_buttons(rng, ticks, count)
    clock, can_act = np.ones(count), rng.random((ticks, count)) < 0.98
    tables = lay_out_moves(ways)
    whole = _run(tables, held, clock, can_act, rows)
    for row in range(count):
        one, own = slice(row, row + 1), int(rows[row])
        alone = _run(
            lay_out_moves(ways[own]), held[:, one], clock[one], can_act[:, one]
        )
        first = tables.numbers(own).start
        for n, (a, b) in enumerate(zip(alone, whole, strict=True)):
            number = np.where(a >= 0, a + first, a) if n < 2 else a
            np.testing.assert_array_equal(number, b[:, one])
    assert [len(tables.numbers(row)) for row in range(4)] == [7, 0, 7, 7]
    assert len(tables.moves) == len(tables) == 21


def test_each_character_by_itself() -> None:
    """Who stands beside whom makes no difference."""
    rng = np.random.default_rng(5)
    tables = lay_out_moves(table_of(("X", "B B C"), chords={"B+C": "throw"}))
    count, ticks = 40, 120
    held = _random_buttons(rng, ticks, count)
    clock = rng.choice([0.5, 1.0, 1.25], count)
    can_act = rng.random((ticks, count)) < 0.98
    whole = _run(tables, held, clock, can_act)
    for row in range(0, count, 7):
        one = slice(row, row + 1)
        alone = _run(tables, held[:, one], clock[one], can_act[:, one])
        for a, b in zip(alone, whole, strict=True):
            assert (a == b[:, one]).all()
