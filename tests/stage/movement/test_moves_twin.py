"""Moves against their slow twin, again alike, and what is refused."""

from __future__ import annotations

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
    init_recorder,
    init_replay,
    record,
    recorded,
)
from flexor.stage.movement.layout import FASTEST
from flexor.stage.movement.moves import (
    MoveState,
    init_moves,
    lay_out_moves,
    step_moves,
)
from tests.oracle.moves import Fighter
from tests.stage.movement.move_ring import (
    Ring,
    _random_buttons,
    _run,
    table_of,
)


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
        kind: Any = draw(st.sampled_from(["attack", "guard", "jump", "crouch"]))
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
        own = ["X", "Y", "B", "A+B", "A+Y"]
        for button in sorted(draw(st.sets(st.sampled_from(own), max_size=3))):
            text = " ".join(draw(st.lists(command, min_size=1, max_size=4)))
            combinations.append(Combination(button, button, read_commands(text)))
    taken = {one.button for one in combinations}
    steps = [text for text in known if text not in taken]
    sequences: dict[str, str] = {}
    if steps:
        lasts = [*buttons, "Z", *chords, *(text for text in taken if "+" in text)]
        typed = st.builds(
            lambda first, last: " ".join([*first, last]),
            st.lists(st.sampled_from(steps), min_size=1, max_size=3),
            st.sampled_from([*steps, *steps, *lasts]),
        )
        sequences = draw(st.dictionaries(typed, names, max_size=4))
    options = {
        "chord_ticks": draw(st.integers(0, 3)),
        "late_ticks": draw(st.integers(0, 4)),
        "repeats": draw(st.booleans()),
    }
    table = MoveTable(tuple(moves), tuple(combinations), singles, chords, sequences)
    return table, options


BEAT = st.tuples(
    st.one_of(
        st.sampled_from([{"A"}, {"B"}, {"C"}]),
        st.sets(st.sampled_from(["A", "B", "C", "X", "Y", "Z"]), max_size=3),
    ),
    st.integers(1, 5),  # ticks that it stays so
    CLOCKS,
    st.sampled_from([True] * 9 + [False]),
)


@settings(max_examples=150)
@given(tables_and_options(), st.lists(BEAT, max_size=25))
def test_against_the_slow_twin(given_table: Any, beats: list[Any]) -> None:
    table, options = given_table
    ring = Ring(table, **options)
    slow = Fighter(
        table, options["chord_ticks"], options["late_ticks"], options["repeats"]
    )
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
    assert tables.singles[0, BUTTONS.index("X")] == 7
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
    for wrong in ((), [table_of()] * 101):
        with pytest.raises(SettingError, match=r"tables: \d+, expected 1 to 100"):
            lay_out_moves(wrong)
    with pytest.raises(ShapeError, match=r"table: shape \(1,\), expected \(2,\)"):
        init_moves(2, [0])
    with pytest.raises(SettingError, match="tables: str, expected a MoveTable"):
        lay_out_moves("table")  # type: ignore[arg-type]
    for name, wrong in (("chord_ticks", 31), ("late_ticks", -1), ("late_ticks", 1.5)):
        with pytest.raises(SettingError, match=f"{name}: {wrong}, expected 0 to"):
            MoveSettings(**{name: wrong})
    with pytest.raises(SettingError, match="repeats"):
        MoveSettings(repeats=1)  # type: ignore[arg-type]


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


@pytest.mark.parametrize("table", [-1, 1])
def test_tables_that_are_refused(table: int) -> None:
    tables, own = lay_out_moves(table_of()), _arguments()
    state = init_moves(2, [0, table])
    with pytest.raises(ShapeError, match=f"table: {table} of character 1, expected 0"):
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
