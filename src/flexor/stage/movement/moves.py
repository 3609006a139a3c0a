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
phase is passed over. Moves and commands run on the character's own clock, presses on
that of the stage.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from numbers import Integral
from typing import Any

import numpy as np
from numpy.typing import NDArray

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
    MoveTable,
    button_mask,
)
from flexor.scene.stage.settings import MoveSettings
from flexor.stage.hashing import Hashed, Unhashed
from flexor.stage.movement.layout import FASTEST, MARKS, Doing, MoveRules

__all__ = [
    "MoveState",
    "MoveTables",
    "init_moves",
    "lay_out_moves",
    "step_moves",
    "stop_moves",
]

MOST = 1_000_000  # characters


@dataclass(frozen=True, slots=True, eq=False)
class MoveTables:
    """A table of M moves and C combinations, laid out.

    phases: int32 (M, 4), ticks before the hitting phase, before the return phase and in
    all, 1 for what is held; kinds, heights: int8 (M,), numbers in KINDS and HEIGHTS;
    damage, push: float64 (M,), points and metres; can_be_parried: bool (M,); firsts:
    int32 (C + 1,), first row in commands of each combination; commands: int32 (K, 2),
    move and ticks; singles: int32 (12,), command by button, -1: none, from M on: a
    combination; chords: int32 (H, 2), mask and move, the largest first.
    """

    table: MoveTable
    settings: MoveSettings
    phases: Ints
    kinds: Codes
    heights: Codes
    damage: Doubles
    push: Doubles
    can_be_parried: Bools
    firsts: Ints
    commands: Ints
    singles: Ints
    chords: Ints
    _rules: MoveRules  # as the kernel takes them

    def __len__(self) -> int:
        return len(self.phases)


@dataclass(slots=True, eq=False)
class MoveState:
    """What N characters do.

    move: int32 (N,), number of the move, -1: none; at: float64 (N,), ticks of the
    character's own clock since it began; phase: int8 (N,), 0 none, 1 start-up, 2
    hitting, 3 return; combination: int32 (N,), that runs, -1: none; step: int32 (N,),
    its command; left: float64 (N,), ticks of its own clock until the next one;
    buffered: int32 (N,), the input that waits, as a move or from M on a combination,
    -1: none.
    """

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


def lay_out_moves(table: MoveTable, settings: MoveSettings | None = None) -> MoveTables:
    """Make a table ready for `step_moves`."""
    if not isinstance(table, MoveTable):
        raise SettingError(f"table: {type(table).__name__}, expected a MoveTable")
    settings = MoveSettings() if settings is None else settings
    moves = table.moves
    phases = [(m.start, m.until_back, m.total, m.kind in HELD) for m in moves]
    firsts, commands = [0], []
    for one in table.combinations:
        for command in one.commands:
            move = table.move_of(command.buttons)
            ticks = move.until_back if command.ticks is None else command.ticks
            commands.append((table.index(move.name), ticks))
        firsts.append(len(commands))
    singles = np.full(len(BUTTONS), -1, np.int32)
    for button, name in table.singles.items():
        singles[BUTTONS.index(button)] = table.index(name)
    for row, one in enumerate(table.combinations):
        singles[BUTTONS.index(one.button)] = len(moves) + row
    chords = [(button_mask(b), table.index(name)) for b, name in table.chords.items()]
    chords.sort(key=lambda chord: -chord[0].bit_count())
    bound = sum(1 << int(bit) for bit in np.flatnonzero(singles >= 0))
    for mask, _ in chords:
        bound |= mask

    def ints(rows: Any, *shape: int, name: str) -> Ints:
        return freeze(np.array(rows, np.int32).reshape(shape), np.int32, shape, name)

    own = (
        ints(phases, len(moves), 4, name="phases"),
        ints(firsts, len(firsts), name="firsts"),
        ints(commands, len(commands), 2, name="commands"),
        ints(singles, len(BUTTONS), name="singles"),
        ints(chords, len(chords), 2, name="chords"),
    )

    def column(values: list[Any], dtype: type[np.generic], name: str) -> NDArray[Any]:
        return freeze(np.array(values, dtype), dtype, (len(moves),), name)

    return MoveTables(
        table,
        settings,
        own[0],
        column([KINDS.index(m.kind) for m in moves], np.int8, "kinds"),
        column([HEIGHTS.index(m.height) for m in moves], np.int8, "heights"),
        column([m.damage for m in moves], np.float64, "damage"),
        column([m.push for m in moves], np.float64, "push"),
        column([m.can_be_parried for m in moves], np.bool_, "can_be_parried"),
        *own[1:],
        MoveRules(int(settings.chord_ticks), int(settings.late_ticks), bound, *own),
    )


def init_moves(count: int) -> MoveState:
    """Characters that do nothing yet."""
    is_whole = isinstance(count, Integral) and not isinstance(count, bool)
    if not is_whole or not 0 <= count <= MOST:
        raise SettingError(f"count: {count!r}, expected 0 to {MOST:,} characters")
    state = MoveState(
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


def _refuse(tables: MoveTables, state: MoveState, clock: Doubles, row: int) -> None:
    """Say what is wrong with the numbers of a character."""
    if not 0 <= clock[row] <= FASTEST:
        raise ShapeError(
            f"clock: {clock[row]} of character {row}, expected 0 to {FASTEST:g}"
        )
    raise ShapeError(
        f"state: character {row} is in move {state.move[row]}, {state.at[row]} ticks, "
        f"combination {state.combination[row]}, command {state.step[row]}, waiting "
        f"{state.buffered[row]}: not of these {len(tables)} moves and "
        f"{len(tables.firsts) - 1} combinations"
    )
