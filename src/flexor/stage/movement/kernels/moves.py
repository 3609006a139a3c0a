"""Moves of many characters: one tick.

In: tables of moves, combinations and chords, which table each character has, what it
pressed and holds, its clock and whether it can act. Out: which move each is in and how
far, the combination that it runs, the input that waits, and the moves that began. Every
character is a small machine of its own, so this is one loop; commands are numbers,
those of moves and behind them those of combinations. Everything is checked first: what
is wrong is told by the row of the character, and then nothing has changed.

A tick with its checks around it takes 4 us for 2 characters, 4 us for 20 and 8 us for
200 that press a button every third of a second; of 2 characters the kernel is 0.8 us.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from flexor.maths.kernels.functions import cos, sin
from flexor.maths.kernels.jit import inline, jit
from flexor.maths.kernels.numbers import float64, int64
from flexor.stage.movement.layout import (
    AGE,
    BEGUN,
    BY,
    CAME,
    FASTEST,
    FIRST,
    HITTING,
    HOLD,
    NO_MOVE,
    OF,
    PENDING,
    RETURN,
    START_UP,
    TYPED,
    WAIT,
    Doing,
    MoveRules,
)

if TYPE_CHECKING:
    from flexor.arrays import Bools, Doubles, Ints, Masks


# Columns of phases of moves, int32: ticks before the hitting phase, before the return
# phase, and in all; 1 for what is held, guards and crouching.
HITS, BACK, TOTAL, HELD = range(4)
# Columns of commands, int32.
MOVE, TICKS = range(2)
# Columns of chords, int32, the largest chords first.
MASK, DOES = range(2)
# Columns of nodes of what is typed, int32, and of edges from one to the next: see
# `flexor.stage.movement.sequences`.
PARENT, STEP_DOES, BUTTONS, ENDS, OPENS, FIRST_EDGE, LAST_EDGE, FALL = range(8)
EDGE, LEADS = range(2)
# How an input comes: before the return phase; in it; in it, but that move has ended.
IN_TIME, LATE, ANEW = 1, 2, 3
ROOM = 0.02  # metres that are left between two bodies
NEAR = 1e-6  # ticks: sums of parts of ticks that are nearer to a whole one are it


@inline
def lowest(mask: int) -> int:
    """The lowest bit of a mask that is not 0, as its number."""
    bit = int64(0)
    while mask >> bit & 1 == 0:
        bit += 1
    return bit


@inline
def is_part(mask: int, chords: Ints) -> bool:
    """Whether more buttons could make a chord of these."""
    for row in range(len(chords)):
        whole = int64(chords[row, MASK])
        if whole != mask and whole & mask == mask:
            return True
    return False


@inline
def join(mask: int, new: int, chords: Ints) -> int:
    """Buttons that were pressed and new ones, as far as they can be one chord; 0 where
    they cannot. Without any before, one button is always found.
    """
    both = mask | new
    for row in range(len(chords)):
        if int64(chords[row, MASK]) & both == both:
            return both
    for row in range(len(chords)):
        whole = int64(chords[row, MASK])
        if whole & both == whole and whole & mask == mask and whole != mask:
            return whole
    if mask == 0:
        return int64(1) << lowest(new)
    return int64(0)


@inline
def settle(mask: int, first: int, singles: Ints, chords: Ints) -> tuple[int, int]:
    """The command of buttons, -1 for none, and those of them that it takes."""
    for row in range(len(chords)):
        whole = int64(chords[row, MASK])
        if whole & mask == whole:
            return int64(chords[row, DOES]), whole
    bit = lowest(first)
    return int64(singles[bit]), int64(1) << bit


@inline
def type_on(node: int, root: int, mask: int, nodes: Ints, edges: Ints) -> int:
    """The node of what was typed, 0 for nothing, and of these buttons behind it; 0
    where no sequence has that, nor any end of it.
    """
    row = node if node > 0 else root
    while True:
        for edge in range(nodes[row, FIRST_EDGE], nodes[row, LAST_EDGE]):
            if edges[edge, EDGE] == mask:
                return int64(edges[edge, LEADS])
        if row == root:
            return int64(0)
        row = int64(nodes[row, FALL])


@inline
def next_typed(begun: int, typed: int, nodes: Ints) -> int:
    """The node after `begun` on the way to `typed`."""
    row = typed
    while nodes[row, PARENT] != begun and nodes[row, PARENT] > 0:
        row = int64(nodes[row, PARENT])
    return row


@inline
def read_step(
    command: int,
    buttons: int,
    came: int,
    typed: int,
    shown: int,
    root: int,
    nodes: Ints,
    edges: Ints,
) -> tuple[int, int, int, bool]:
    """What buttons do behind what was typed, the node before them and their own, and
    whether they are the last ones of a sequence, which may come late.

    command: what they do by themselves.
    """
    before, node = typed, type_on(typed, root, buttons, nodes, edges)
    ends = 0 < typed == shown and nodes[node, PARENT] == typed and nodes[node, ENDS] > 0
    if came != IN_TIME and not ends:
        before, node = int64(0), type_on(int64(0), root, buttons, nodes, edges)
    if node > 0:
        command = int64(nodes[node, STEP_DOES])
    return command, before, node, ends


@inline
def show_next(shown: int, typed: int, by: int, nodes: Ints) -> tuple[int, int, int]:
    """What of a sequence has begun now, and the command that waits behind it, -1 for
    none, with its buttons.
    """
    shown = next_typed(shown, typed, nodes)
    if shown == typed:
        return shown, int64(-1), by
    node = next_typed(shown, typed, nodes)
    return shown, int64(nodes[node, STEP_DOES]), int64(nodes[node, BUTTONS])


@inline
def find_wrong(rules: MoveRules, clock: Doubles, doing: Doing) -> int:
    """The first character whose numbers mean nothing, -1 for none."""
    firsts = rules.firsts
    moves, combinations = len(rules.phases), len(firsts) - 1
    for i in range(len(doing.move)):
        if not 0 <= doing.tables[i] < len(rules.singles):
            return i
        if not (0.0 <= clock[i] <= FASTEST and -1 <= doing.move[i] < moves):
            return i
        if not (-1 <= doing.combination[i] < combinations and doing.at[i] >= 0.0):
            return i
        if not (
            -1 <= doing.buffered[i] < moves + combinations and doing.left[i] > -1e9
        ):
            return i
        c = doing.combination[i]
        if c >= 0 and not 0 <= doing.step[i] < firsts[c + 1] - firsts[c]:
            return i
    return -1


@inline
def when_it_comes(
    m: int, t: float, c: int, s: int, is_kept: bool, phases: Ints, firsts: Ints
) -> int:
    """How an input that comes now is taken: in time, late, or not at all (0).

    is_kept: whether one in the return phase may do something.
    """
    if c >= 0 and s + 1 < firsts[c + 1] - firsts[c]:
        return 0  # commands are still to come
    if m < 0 and c < 0:
        return IN_TIME
    if m >= 0 and t + NEAR < phases[m, BACK]:
        return IN_TIME
    return LATE if is_kept else 0


@inline
def may_begin(
    m: int, t: float, c: int, wait: int, is_again: bool, phases: Ints
) -> bool:
    """Whether the input that waits may begin now; is_again: it is the command that the
    move is of, which has to be over.
    """
    if c >= 0:
        return False
    return m < 0 or (wait < 0 and not is_again and t + NEAR >= phases[m, BACK])


@inline
def go_on(m: int, t: float, tick: float, is_held: bool, phases: Ints) -> float:
    """How far a move is after a tick; what is held stays before its return phase."""
    after = t + tick
    if is_held and phases[m, HELD] == 1:
        if t + NEAR < phases[m, BACK] <= after + NEAR:
            return max(t, float64(phases[m, HITS]))
    return after


@inline
def phase_of(m: int, t: float, phases: Ints) -> int:
    """0: no move, 1: before it can hit, 2: while it can, 3: the return."""
    if m < 0:
        return NO_MOVE
    if t + NEAR < phases[m, HITS]:
        return START_UP
    return HITTING if t + NEAR < phases[m, BACK] else RETURN


@inline
def follows_itself(rules: MoveRules, m: int, waits: int, typed: int) -> bool:
    """Whether a command that waits is the move m again, that may not follow on itself.

    A step of what is typed may be the move before it; what is held ends when it is let
    go.
    """
    if rules.repeats != 0 or waits < 0 or m < 0:
        return False
    return rules.nodes[typed, PARENT] <= 0 and rules.phases[m, HELD] == 0


@inline
def sees_opening(rules: MoveRules, typed: int, shown: int) -> bool:
    """Whether what comes in a return phase may still count: a sequence goes on with it,
    or the rules take late buttons.
    """
    return rules.late > 0 or (0 < typed == shown and rules.nodes[typed, OPENS] > 0)


@jit(
    "i8(MoveRules, u4[::1], u4[::1], f8[::1], bool[::1], Doing, out i4[::1])",
)
def step_all(
    rules: MoveRules,
    pressed: Masks,
    held: Masks,
    clock: Doubles,
    can_act: Bools,
    doing: Doing,
    started: Ints,
) -> int:
    """One tick of N characters; -1, or the row of a character whose numbers are wrong.

    pressed, held: (N,), buttons; clock: (N,), factors of time; can_act: (N,); started:
    (N,), moves that began, -1 for none.
    """
    wrong = find_wrong(rules, clock, doing)
    if wrong >= 0:
        return wrong
    phases, firsts, commands = rules.phases, rules.firsts, rules.commands
    late, marks, nodes, edges = rules.late, doing.marks, rules.nodes, rules.edges
    for i in range(len(doing.move)):
        own = int64(doing.tables[i])
        singles = rules.singles[own]
        chords = rules.chords[rules.chord_rows[own] : rules.chord_rows[own + 1]]
        m, t, tick = int64(doing.move[i]), doing.at[i], clock[i]
        c, s = int64(doing.combination[i]), int64(doing.step[i])
        rest = doing.left[i]
        waits, wait = int64(doing.buffered[i]), int64(marks[i, WAIT])
        by, hold = int64(marks[i, BY]), int64(marks[i, HOLD])
        mask, first = int64(marks[i, PENDING]), int64(marks[i, FIRST])
        age, came = int64(marks[i, AGE]) + 1, int64(marks[i, CAME])
        typed, shown = int64(marks[i, TYPED]), int64(marks[i, BEGUN])
        of = int64(marks[i, OF])  # the command that the move is of
        new, begun = int64(pressed[i]) & int64(rules.bound[own]), int64(-1)
        if waits >= 0 and wait >= 0:
            if wait == 0:
                waits, typed, shown = int64(-1), int64(0), int64(0)
            wait -= 1
        if not can_act[i]:
            c, waits, mask, new = int64(-1), int64(-1), int64(0), int64(0)
            typed = shown = int64(0)
        if m >= 0:
            is_held = hold != 0 and int64(held[i]) & hold == hold and waits < 0
            t = go_on(m, t, tick, is_held, phases)
        if c >= 0:
            rest -= tick
            if rest <= NEAR:
                s += 1
                if s < firsts[c + 1] - firsts[c]:
                    # What is over of the tick belongs to the next command.
                    row = firsts[c] + s
                    t, hold = max(-rest, 0.0), int64(0)
                    m = begun = int64(commands[row, MOVE])
                    rest = commands[row, TICKS] - t
                else:
                    c = int64(-1)
        if m >= 0 and t + NEAR >= phases[m, TOTAL]:
            m = int64(-1)
        if m < 0 and c < 0:
            if came == LATE and late > 0:
                came = int64(ANEW)
            if mask == 0 and waits < 0:
                typed = shown = int64(0)
        # What waits begins before others are taken; then buttons pressed before, if
        # new ones cannot join them, and then new ones.
        for turn in range(3):
            is_settled = False
            if turn == 1:
                if mask != 0 and new != 0:
                    both = join(mask, new, chords)
                    is_settled = both == 0
                    if both != 0:
                        mask, new = both, int64(0)
            elif turn == 2:
                if new != 0:
                    opens = sees_opening(rules, typed, shown)
                    came = int64(when_it_comes(m, t, c, s, opens, phases, firsts))
                    if came != 0:
                        mask = first = join(int64(0), new, chords)
                        age = int64(0)
                if mask != 0:
                    is_settled = age >= rules.window or not is_part(mask, chords)
            if is_settled:
                command, taken = settle(mask, first, singles, chords)
                mask = int64(0)
                command, before, node, ends = read_step(
                    command, taken, came, typed, shown, own, nodes, edges
                )
                if command >= 0 and (came != LATE or ends or 0 < late >= age):
                    is_next = node > 0 and nodes[node, PARENT] == before
                    if before == 0 or not is_next:
                        shown = int64(nodes[node, PARENT])
                    # What was typed faster than its moves begin waits for them.
                    if not is_next or shown == before:
                        waits, by = command, taken
                        wait = late - age if came == LATE and not ends else int64(-1)
                    typed = node
            is_again = waits == of and follows_itself(rules, m, waits, typed)
            if waits >= 0 and may_begin(m, t, c, wait, is_again, phases):
                of = waits
                if waits >= len(phases):
                    c, s, hold = waits - len(phases), int64(0), int64(0)
                    m = int64(commands[firsts[c], MOVE])
                    rest = float64(commands[firsts[c], TICKS])
                else:
                    m, hold = waits, by
                t, begun, waits = 0.0, m, int64(-1)
                if shown != typed:
                    shown, waits, by = show_next(shown, typed, by, nodes)
                    wait = int64(-1)
        doing.move[i], doing.at[i] = m, t if m >= 0 else 0.0
        doing.phase[i] = phase_of(m, t, phases)
        doing.combination[i] = c
        doing.step[i], doing.left[i] = (s, rest) if c >= 0 else (0, 0.0)
        doing.buffered[i], started[i] = waits, begun
        marks[i, WAIT], marks[i, BY] = wait if waits >= 0 else -1, by
        marks[i, PENDING], marks[i, FIRST] = mask, first
        marks[i, AGE] = age if mask != 0 else 0
        marks[i, CAME], marks[i, HOLD] = came, hold
        marks[i, TYPED], marks[i, BEGUN], marks[i, OF] = typed, shown, of
    return -1


@jit(
    "void(i4[:, ::1], f8[::1], Doing, f8[::1], f8[::1], i4[::1], f8[::1],"
    " out f8[:, ::1])",
)
def go_ahead(
    phases: Ints,
    advances: Doubles,
    doing: Doing,
    clocks: Doubles,
    headings: Doubles,
    opponents: Ints,
    radii: Doubles,
    places: Doubles,
) -> None:
    """Carry N characters ahead in the ticks before their moves can hit.

    advances: (M,), metres of each move; opponents: (N,), -1 for none, at whom it stops;
    places: (N, 3), changed.
    """
    for i in range(len(doing.move)):
        move = int64(doing.move[i])
        if move < 0 or advances[move] == 0.0:
            continue
        until = float64(phases[move, HITS])
        now = min(doing.at[i], until)
        before = min(max(doing.at[i] - clocks[i], 0.0), until)
        if now <= before:
            continue
        way = advances[move] * (now - before) / until
        s, c = sin(headings[i]), cos(headings[i])
        other = int64(opponents[i])
        if other >= 0 and way > 0.0:
            dx, dz = places[other, 0] - places[i, 0], places[other, 2] - places[i, 2]
            room = dx * s + dz * c - radii[i] - radii[other] - ROOM
            aside = dx * c - dz * s
            if dx * s + dz * c > 0.0 and abs(aside) < radii[i] + radii[other]:
                way = min(way, max(room, 0.0))
        places[i, 0] += way * s
        places[i, 2] += way * c
