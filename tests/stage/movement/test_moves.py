"""Moves by buttons: single ones, chords, combinations, and against the slow twin."""

from __future__ import annotations

from collections.abc import Mapping
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from flexor.errors import SettingError, ShapeError
from flexor.files.text.moves import read_log, write_log
from flexor.scene.stage.layout import BUTTONS
from flexor.scene.stage.moves import (
    Combination,
    Move,
    MoveTable,
    button_mask,
    read_commands,
)
from flexor.scene.stage.settings import MoveSettings
from flexor.stage.movement.buttons import (
    buttons_at,
    find_pressed,
    init_recorder,
    init_replay,
    record,
    recorded,
)
from flexor.stage.movement.kernels.moves import FASTEST
from flexor.stage.movement.layout import HITTING, NO_MOVE, RETURN, START_UP
from flexor.stage.movement.moves import (
    MoveState,
    MoveTables,
    init_moves,
    lay_out_moves,
    step_moves,
    stop_moves,
)
from tests.oracle.moves import Fighter

PUNCH = Move("punch", 3, 2, 5)
KICK = Move("kick", 4, 3, 6)
THROW = Move("throw", 5, 5, 5, kind="other")
GUARD = Move("guard", 1, 3, 2, kind="guard")
HOP = Move("hop", 2, 0, 3, kind="jump")
NUDGE = Move("nudge", 0, 1, 0)
BURST = Move("burst", 2, 2, 2)


def table_of(*combinations: tuple[str, str], **changes: Any) -> MoveTable:
    """B punches, C kicks, A guards, up hops, L nudges; combinations: by button."""
    values: dict[str, Any] = {
        "moves": (PUNCH, KICK, THROW, GUARD, HOP, NUDGE, BURST),
        "combinations": tuple(
            Combination(f"combination {button}", button, read_commands(text))
            for button, text in combinations
        ),
        "singles": {
            "A": "guard",
            "B": "punch",
            "C": "kick",
            "up": "hop",
            "L": "nudge",
        },
    }
    return MoveTable(**values | changes)


class Ring:
    """One character, by names."""

    def __init__(self, table: MoveTable, **options: int) -> None:
        self.table = table
        self.tables = lay_out_moves(table, MoveSettings(**options))
        self.state = init_moves(1)
        self.out = np.empty(1, np.int32)

    def tick(
        self, pressed: str = "", held: str = "", clock: float = 1.0, act: bool = True
    ) -> str:
        """The move that began, "" for none."""
        masks = [button_mask(text) if text else 0 for text in (pressed, held)]
        step_moves(
            self.tables,
            self.state,
            np.array(masks[:1], np.uint32),
            np.array([masks[0] | masks[1]], np.uint32),
            np.array([clock]),
            np.array([act]),
            out=self.out,
        )
        return self.table.moves[self.out[0]].name if self.out[0] >= 0 else ""

    def run(
        self, inputs: Mapping[int, str], ticks: int = 60, clock: float = 1.0
    ) -> list[tuple[int, str]]:
        """When which moves began."""
        began = [(t, self.tick(inputs.get(t, ""), clock=clock)) for t in range(ticks)]
        return [(t, name) for t, name in began if name]

    @property
    def now(self) -> str:
        row = int(self.state.move[0])
        return self.table.moves[row].name if row >= 0 else ""


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
    assert ring.run({0: "B", 1: "C", 2: "B"}) == [(0, "punch"), (5, "punch")]
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


def _random_buttons(rng: np.random.Generator, ticks: int, count: int) -> np.ndarray:
    masks = [0, 0, *(button_mask(text) for text in ("A", "B", "C", "X", "B+C"))]
    chosen = rng.choice(np.array(masks, np.uint32), (ticks, count))
    for tick in range(1, ticks):
        stays = rng.random(count) < 0.6
        chosen[tick, stays] = chosen[tick - 1, stays]
    return np.ascontiguousarray(chosen)


def _run(
    tables: MoveTables, held: np.ndarray, clock: np.ndarray, can_act: np.ndarray
) -> list[np.ndarray]:
    """What began, and where everyone was, of all ticks."""
    count = held.shape[1]
    state, out = init_moves(count), np.empty(count, np.int32)
    before, pressed = np.zeros(count, np.uint32), np.empty(count, np.uint32)
    rows: list[list[np.ndarray]] = [[], [], [], []]
    for now, acts in zip(np.ascontiguousarray(held), can_act, strict=True):
        now, acts = np.ascontiguousarray(now), np.ascontiguousarray(acts)
        find_pressed(now, before, out=pressed)
        before[:] = now
        own = np.ascontiguousarray(clock)
        step_moves(tables, state, pressed, now, own, acts, out=out)
        for row, values in zip(
            rows, (out, state.move, state.at, state.phase), strict=True
        ):
            row.append(values.copy())
    return [np.array(row) for row in rows]


def test_a_recorded_match_runs_again_alike(tmp_path: Path) -> None:
    rng = np.random.default_rng(11)
    tables = lay_out_moves(table_of(("X", "B:7 B C"), chords={"B+C": "throw"}))
    ticks, count = 400, 5
    held = _random_buttons(rng, ticks, count)
    clock, can_act = np.ones(count), np.ones((ticks, count), bool)
    recorder = init_recorder(count)
    for row in held:
        record(recorder, row)
    write_log(tmp_path / "match.txt", recorded(recorder))
    log = read_log(tmp_path / "match.txt")
    replay, again = init_replay(log, count), np.empty_like(held)
    for tick in range(log.length):
        buttons_at(replay, tick, out=again[tick])
    for a, b in zip(
        _run(tables, held, clock, can_act),
        _run(tables, again, clock, can_act),
        strict=True,
    ):
        assert a.tobytes() == b.tobytes()


TICKS = st.integers(0, 6)
CLOCKS = st.sampled_from([Fraction(n, d) for n, d in ((1, 1), (1, 2), (3, 10), (7, 4))])


@st.composite
def tables_and_options(draw: st.DrawFn) -> tuple[MoveTable, dict[str, int]]:
    moves = []
    for row in range(draw(st.integers(2, 6))):
        kind: Any = draw(st.sampled_from(["attack", "guard", "jump"]))
        hit = draw(TICKS) if kind == "jump" else 1 + draw(TICKS)
        start = draw(TICKS) + (kind == "jump")
        moves.append(Move(f"move {row}", start, hit, draw(TICKS), kind=kind))
    names = st.sampled_from([move.name for move in moves])
    buttons = ["A", "B", "C", "X"]
    singles = draw(st.dictionaries(st.sampled_from(buttons[:3]), names))
    chosen = st.sampled_from(["A+B", "B+C", "A+B+C", "A+X", "B+C+X", "A+B+C+X"])
    chords = draw(st.dictionaries(chosen, names, max_size=4))
    combinations = []
    known = [*singles, *chords]
    if known:
        command = st.builds(
            lambda text, ticks: text + (f":{ticks}" if ticks else ""),
            st.sampled_from(known),
            st.integers(0, 9),
        )
        for button in sorted(draw(st.sets(st.sampled_from("XYB"), max_size=2))):
            text = " ".join(draw(st.lists(command, min_size=1, max_size=4)))
            combinations.append(Combination(button, button, read_commands(text)))
    options = {
        "chord_ticks": draw(st.integers(0, 3)),
        "late_ticks": draw(st.integers(0, 4)),
    }
    return MoveTable(tuple(moves), tuple(combinations), singles, chords), options


BEAT = st.tuples(
    st.sets(st.sampled_from(["A", "B", "C", "X", "Y", "Z"]), max_size=3),
    st.integers(1, 5),  # ticks that it stays so
    CLOCKS,
    st.sampled_from([True] * 9 + [False]),
)


@settings(max_examples=150, deadline=None)
@given(tables_and_options(), st.lists(BEAT, max_size=25))
def test_against_the_slow_twin(given_table: Any, beats: list[Any]) -> None:
    table, options = given_table
    ring = Ring(table, **options)
    slow = Fighter(table, options["chord_ticks"], options["late_ticks"])
    before: set[str] = set()
    for held, ticks, clock, can_act in beats:
        for _ in range(ticks):
            pressed = held - before
            before = held
            began = ring.tick("+".join(pressed), "+".join(held), float(clock), can_act)
            wanted = slow.tick(pressed, held, clock, can_act)
            assert began == (wanted.name if wanted else "")
            _compare(ring.table, ring.state, slow)


def _compare(table: MoveTable, state: MoveState, slow: Fighter) -> None:
    row = int(state.move[0])
    assert (table.moves[row] if row >= 0 else None) == slow.move
    assert state.phase[0] == slow.phase
    if slow.move:
        assert abs(state.at[0] - float(slow.at)) < 1e-9
    row = int(state.combination[0])
    assert (table.combinations[row] if row >= 0 else None) == slow.combination
    if slow.combination:
        assert state.step[0] == slow.step
        assert abs(state.left[0] - float(slow.left)) < 1e-9
    assert (state.buffered[0] >= 0) == (slow.waiting is not None)


def test_tables_are_laid_out() -> None:
    table = table_of(("X", "B:12 C"), chords={"B+C": "throw", "A+B+C": "burst"})
    tables = lay_out_moves(table)
    assert len(tables) == 7
    assert tables.phases[0].tolist() == [3, 5, 10, 0]
    assert tables.phases[3].tolist() == [1, 4, 6, 1]
    assert tables.commands.tolist() == [[0, 12], [1, 7]]
    assert tables.firsts.tolist() == [0, 2]
    assert tables.singles[BUTTONS.index("X")] == 7
    assert tables.chords[:, 1].tolist() == [6, 2]  # the largest first
    assert tables.kinds.tolist() == [0, 0, 4, 1, 3, 0, 0]
    assert not tables.phases.flags.writeable
    assert tables.can_be_parried.all()


def test_nobody() -> None:
    none = np.zeros(0, np.uint32)
    out = np.empty(0, np.int32)
    tables, state = lay_out_moves(table_of()), init_moves(0)
    ones = np.ones(0), np.ones(0, bool)
    assert step_moves(tables, state, none, none, *ones, out=out) is out
    assert len(state) == 0


def test_what_is_refused() -> None:
    wrong: Any
    for wrong in (-1, 1.5, True, 10_000_000):
        with pytest.raises(SettingError, match=r"count: .*, expected 0 to 1,000,000"):
            init_moves(wrong)
    with pytest.raises(SettingError, match="table: str, expected a MoveTable"):
        lay_out_moves("table")  # type: ignore[arg-type]
    for name, wrong in (("chord_ticks", 31), ("late_ticks", -1), ("late_ticks", 1.5)):
        with pytest.raises(SettingError, match=f"{name}: {wrong}, expected 0 to"):
            MoveSettings(**{name: wrong})


def _arguments() -> dict[str, Any]:
    return {
        "pressed": np.zeros(2, np.uint32),
        "held": np.zeros(2, np.uint32),
        "clock": np.ones(2),
        "can_act": np.ones(2, bool),
        "out": np.empty(2, np.int32),
    }


@pytest.mark.parametrize("name", ["pressed", "held", "clock", "can_act", "out"])
def test_arrays_that_are_refused(name: str) -> None:
    tables, state, own = lay_out_moves(table_of()), init_moves(2), _arguments()
    with pytest.raises(ShapeError, match=rf"{name}: shape \(3,\), expected \(2,\)"):
        step_moves(tables, state, **own | {name: np.resize(own[name], 3)})
    with pytest.raises(ShapeError, match=f"{name}: complex128, expected"):
        step_moves(tables, state, **own | {name: np.zeros(2, complex)})


@pytest.mark.parametrize("clock", [-0.5, np.nan, np.inf, FASTEST * 1.01])
def test_clocks_that_are_refused(clock: float) -> None:
    tables, state, own = lay_out_moves(table_of()), init_moves(2), _arguments()
    own["clock"][1] = clock
    with pytest.raises(ShapeError, match=r"clock: .* of character 1, expected 0 to 16"):
        step_moves(tables, state, **own)


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("move", 7),
        ("move", -2),
        ("at", np.nan),
        ("combination", 1),
        ("combination", -2),
        ("step", 2),
        ("step", -1),
        ("left", np.nan),
        ("buffered", 8),
        ("buffered", -2),
    ],
)
def test_states_that_are_refused(name: str, value: float) -> None:
    tables, own = lay_out_moves(table_of(("X", "B B"))), _arguments()
    state = init_moves(2)
    own["pressed"][:] = button_mask("X")
    step_moves(tables, state, **own)
    before = state.move.copy(), state.at.copy()
    getattr(state, name)[1] = value
    with pytest.raises(ShapeError, match="state: character 1 is in move"):
        step_moves(tables, state, **own)
    assert state.at[0] == before[1][0]
