"""Moves and combinations of them, by buttons: many characters in one call.

    tables = lay_out_moves(table)
    state = init_moves(2)
    started = np.empty(2, np.int32)
    step_moves(tables, state, pressed, held, clock, can_act, out=started)

In the tick in which a move begins it is 0 ticks old. A button that a combination is
bound to runs the commands of it, each until its ticks are over, whether its move has
ended by then or not; meanwhile inputs are passed over, but in the last one. Another
button does its own move. An input before the return phase of a move waits until the
hitting phase is over, and then follows; of several the last one does. One in the return
phase is passed over. What is typed for a sequence does the moves of its buttons one
after the other, and at its last one the move of the sequence, which may also come while
the move before it returns. Moves and commands run on the character's own clock, presses
on that of the stage.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from numbers import Integral
from typing import Any

import numpy as np

from flexor.arrays import (
    Bools,
    Codes,
    Doubles,
    Ints,
    Masks,
    check_array,
    check_input,
    freeze,
)
from flexor.errors import SettingError, ShapeError
from flexor.scene.stage.layout import BUTTONS
from flexor.scene.stage.moves import (
    HEIGHTS,
    HELD,
    KINDS,
    MOST_TABLES,
    Combination,
    Move,
    MoveTable,
)
from flexor.scene.stage.settings import MoveSettings
from flexor.stage.hashing import Hashed, Unhashed
from flexor.stage.movement.layout import (
    BEGUN,
    FASTEST,
    MARKS,
    PENDING,
    TYPED,
    Doing,
    MoveRules,
)
from flexor.stage.movement.sequences import NODE, lay_out_rows

__all__ = [
    "MoveState",
    "MoveTables",
    "forget_inputs",
    "go_ahead",
    "init_moves",
    "lay_out_moves",
    "since_hit",
    "step_moves",
    "stop_moves",
]

MOST = 1_000_000  # characters


@dataclass(frozen=True, slots=True, eq=False)
class MoveTables:
    """T tables, laid out one behind the other: M moves and C combinations in all.

    tables: as they were given; moves, combinations: all of them, by the numbers that
    they have everywhere on a stage; first_moves: int32 (T + 1,), number of the first
    move of each table; phases: int32 (M, 4), ticks before the hitting phase, before the
    return phase and in all, 1 for what is held; kinds, heights: int8 (M,), numbers in
    KINDS and HEIGHTS; damage, push, reach, advance: float64 (M,), points and metres;
    can_be_parried, knocks_down, hits_down: bool (M,); firsts: int32 (C + 1,), first row
    in commands of each combination; commands: int32 (K, 2), move and ticks; singles:
    int32 (T, 12), command by button, -1: none, from M on: a combination; chord_rows:
    int32 (T + 1,), first row in chords of each table; chords: int32 (H, 2), mask and
    command, the largest of each table first; nodes: int32 (S, 8), of what is typed for
    sequences, see NODE in `flexor.stage.movement.sequences`, one of no button for each
    table first; edges: int32 (E, 2), mask and the node that it leads to.
    """

    tables: tuple[MoveTable, ...]
    settings: MoveSettings
    moves: tuple[Move, ...]
    combinations: tuple[Combination, ...]
    first_moves: Ints
    phases: Ints
    kinds: Codes
    heights: Codes
    damage: Doubles
    push: Doubles
    reach: Doubles
    advance: Doubles
    can_be_parried: Bools
    knocks_down: Bools
    hits_down: Bools
    firsts: Ints
    commands: Ints
    singles: Ints
    chord_rows: Ints
    chords: Ints
    nodes: Ints
    edges: Ints
    _rules: MoveRules  # as the kernel takes them

    def __len__(self) -> int:
        return len(self.phases)

    def numbers(self, table: int) -> range:
        """Numbers of the moves of a table."""
        return range(*self.first_moves[table : table + 2].tolist())


@dataclass(slots=True, eq=False)
class MoveState:
    """What N characters do.

    table: int32 (N,), whose moves each has; move: int32 (N,), number of the move, -1:
    none; at: float64 (N,), ticks of the character's own clock since it began; phase:
    int8 (N,), 0 none, 1 start-up, 2 hitting, 3 return; combination: int32 (N,), that
    runs, -1: none; step: int32 (N,), its command; left: float64 (N,), ticks of its own
    clock until the next one; buffered: int32 (N,), the input that waits, as a move or
    from M on a combination, -1: none.
    """

    table: Hashed[Ints]
    move: Hashed[Ints]
    at: Hashed[Doubles]
    phase: Hashed[Codes]
    combination: Hashed[Ints]
    step: Hashed[Ints]
    left: Hashed[Doubles]
    buffered: Hashed[Ints]
    _marks: Hashed[Ints]
    # As the kernel takes them.
    _doing: Unhashed[Doing] = field(init=False, repr=False)

    def __post_init__(self) -> None:
        self._doing = Doing(
            self.table,
            self.move,
            self.at,
            self.phase,
            self.combination,
            self.step,
            self.left,
            self.buffered,
            self._marks,
        )

    def __len__(self) -> int:
        return len(self.move)


def lay_out_moves(
    tables: MoveTable | Sequence[MoveTable], settings: MoveSettings | None = None
) -> MoveTables:
    """Make tables ready for `step_moves`: one, or several, one behind the other."""
    own = (tables,) if isinstance(tables, MoveTable) else tuple(tables)
    for one in own:
        if not isinstance(one, MoveTable):
            raise SettingError(f"tables: {type(one).__name__}, expected a MoveTable")
    if not 1 <= len(own) <= MOST_TABLES:
        raise SettingError(f"tables: {len(own)}, expected 1 to {MOST_TABLES}")
    settings = MoveSettings() if settings is None else settings
    moves = tuple(move for one in own for move in one.moves)
    combinations = tuple(combo for one in own for combo in one.combinations)
    parts = lay_out_rows(own)
    phases = [(m.start, m.until_back, m.total, m.kind in HELD) for m in moves]
    count = len(own)

    def ints(rows: Any, *shape: int, name: str) -> Ints:
        return freeze(np.array(rows, np.int32).reshape(shape), np.int32, shape, name)

    rows = (
        ints(phases, len(moves), 4, name="phases"),
        ints(parts.firsts, len(parts.firsts), name="firsts"),
        ints(parts.commands, len(parts.commands), 2, name="commands"),
        ints(parts.singles, count, len(BUTTONS), name="singles"),
        ints(parts.chord_rows, count + 1, name="chord_rows"),
        ints(parts.chords, len(parts.chords), 2, name="chords"),
        ints(parts.nodes, len(parts.nodes), len(NODE), name="nodes"),
        ints(parts.edges, len(parts.edges), 2, name="edges"),
    )
    bound = ints(parts.bound, count, name="bound")

    def column(name: str, dtype: type[np.generic], known: Sequence[str] = ()) -> Any:
        values = [getattr(move, name) for move in moves]
        codes = [known.index(word) for word in values] if known else values
        return freeze(np.array(codes, dtype), dtype, (len(moves),), name)

    return MoveTables(
        own,
        settings,
        moves,
        combinations,
        ints(parts.first_moves, count + 1, name="first_moves"),
        rows[0],
        column("kind", np.int8, KINDS),
        column("height", np.int8, HEIGHTS),
        column("damage", np.float64),
        column("push", np.float64),
        column("reach", np.float64),
        column("advance", np.float64),
        column("can_be_parried", np.bool_),
        column("knocks_down", np.bool_),
        column("hits_down", np.bool_),
        *rows[1:],
        MoveRules(
            int(settings.chord_ticks),
            int(settings.late_ticks),
            int(settings.repeats),
            bound,
            *rows,
        ),
    )


def init_moves(count: int, table: Sequence[int] | None = None) -> MoveState:
    """Characters that do nothing yet.

    table: the number of each one's table of moves, None: the first, of all.
    """
    is_whole = isinstance(count, Integral) and not isinstance(count, bool)
    if not is_whole or not 0 <= count <= MOST:
        raise SettingError(f"count: {count!r}, expected 0 to {MOST:,} characters")
    own = np.zeros(count, np.int32) if table is None else np.array(table, np.int32)
    if own.shape != (count,):
        raise ShapeError(f"table: shape {own.shape}, expected ({count},)")
    state = MoveState(
        own,
        np.empty(count, np.int32),
        np.empty(count),
        np.empty(count, np.int8),
        np.empty(count, np.int32),
        np.empty(count, np.int32),
        np.empty(count),
        np.empty(count, np.int32),
        np.zeros((count, MARKS), np.int32),
    )
    stop_moves(state, np.ones(count, bool))
    return state


def stop_moves(state: MoveState, who: Bools) -> None:
    """Break off what characters do: bool (N,). Inputs that wait are lost too."""
    check_input(who, np.bool_, state.move.shape, "who")
    for values in (state.move, state.combination, state.buffered):
        values[who] = -1
    for others in (state.at, state.left, state.phase, state.step, state._marks):
        others[who] = 0


def forget_inputs(state: MoveState, row: int) -> None:
    """Let one forget what it has pressed and typed; its move goes on, and so does its
    combination.
    """
    state.buffered[row] = -1
    state._marks[row, [PENDING, TYPED, BEGUN]] = 0


def since_hit(tables: MoveTables, state: MoveState, who: int) -> float:
    """Ticks of its own clock since the move of somebody could hit first."""
    return float(state.at[who]) - int(tables.phases[state.move[who], 0])


def step_moves(
    tables: MoveTables,
    state: MoveState,
    pressed: Masks,
    held: Masks,
    clock: Doubles,
    can_act: Bools,
    *,
    out: Ints,
) -> Ints:
    """One tick: moves go on, end and begin.

    pressed: uint32 (N,), buttons pressed since the tick before; held: uint32 (N,), all
    that are down, by which guards are held; clock: float64 (N,), speed of each
    character's own time, 0 to 16; can_act: bool (N,), False of who was hit: its
    combination and inputs are lost, its move goes on unless `stop_moves` ends it;
    out: int32 (N,), filled with the move that began in this tick, -1 for none.
    """
    shape = state.move.shape
    check_array(out, np.int32, shape, "out")
    check_input(pressed, np.uint32, shape, "pressed")
    check_input(held, np.uint32, shape, "held")
    check_input(clock, np.float64, shape, "clock")
    check_input(can_act, np.bool_, shape, "can_act")
    if not shape[0]:
        return out
    from flexor.stage.movement.kernels import moves as kernel_moves

    wrong = kernel_moves.step_all(
        tables._rules, pressed, held, clock, can_act, state._doing, out
    )
    if wrong >= 0:
        _refuse(tables, state, clock, wrong)
    return out


def go_ahead(
    tables: MoveTables,
    state: MoveState,
    clocks: Doubles,
    headings: Doubles,
    opponents: Ints,
    radii: Doubles,
    places: Doubles,
) -> None:
    """Carry those ahead whose moves do, in the ticks before they can hit.

    clocks, headings, radii: float64 (N,), factors of time, radians, metres; opponents:
    int32 (N,), at whose radius it stops, -1 for none; places: float64 (N, 3), changed.
    What has gone when it can hit is the move's advance exactly, at any clock.
    """
    count = len(state)
    for values, name in ((clocks, "clocks"), (headings, "headings"), (radii, "radii")):
        check_input(values, np.float64, (count,), name)
    check_input(opponents, np.int32, (count,), "opponents")
    check_array(places, np.float64, (count, 3), "places")
    from flexor.stage.movement.kernels import moves as kernel_moves

    kernel_moves.go_ahead(
        tables.phases,
        tables.advance,
        state._doing,
        clocks,
        headings,
        opponents,
        radii,
        places,
    )


def _refuse(tables: MoveTables, state: MoveState, clock: Doubles, row: int) -> None:
    """Say what is wrong with the numbers of a character."""
    if not 0 <= clock[row] <= FASTEST:
        raise ShapeError(
            f"clock: {clock[row]} of character {row}, expected 0 to {FASTEST:g}"
        )
    if not 0 <= state.table[row] < len(tables.tables):
        raise ShapeError(
            f"table: {state.table[row]} of character {row}, expected 0 to "
            f"{len(tables.tables) - 1}"
        )
    raise ShapeError(
        f"state: character {row} is in move {state.move[row]}, {state.at[row]} ticks, "
        f"combination {state.combination[row]}, command {state.step[row]}, waiting "
        f"{state.buffered[row]}: not of these {len(tables)} moves and "
        f"{len(tables.firsts) - 1} combinations"
    )
