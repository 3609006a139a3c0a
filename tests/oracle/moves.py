"""A slow twin of moves: one character, names instead of numbers, exact fractions.

It remembers when each thing happened, on the clock of the stage, and asks at each tick
what follows from that. What is typed for sequences is a list of buttons, compared with
all sequences anew. The kernel `step_all`.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from fractions import Fraction
from typing import Any

from flexor.scene.stage.layout import BUTTONS
from flexor.scene.stage.moves import Combination, Move, MoveTable


@dataclass
class Pressed:
    """Buttons of which more may come; the first ones, and when and how they came."""

    buttons: set[str]
    first: set[str]
    tick: int
    is_late: bool
    is_new: bool = False  # it came late, but what it came in has ended


@dataclass
class Waiting:
    """An input that waits; last: the tick up to which it does, None: for ever."""

    what: Move | Combination
    buttons: set[str]
    last: int | None


@dataclass
class Fighter:
    """One character; a move is its description and how old it is."""

    table: MoveTable
    window: int = 2
    late: int = 0
    repeats: bool = False
    now: int = -1
    move: Move | None = None
    at: Fraction = Fraction(0)
    holds_by: set[str] = field(default_factory=set)
    # Commands of the combination that runs, the current one first; until its end.
    combination: Combination | None = None
    step: int = 0
    left: Fraction = Fraction(0)
    of: Move | Combination | None = None  # what the move came of
    # Steps typed toward a sequence, and how many of their moves have begun.
    typed: list[frozenset[str]] = field(default_factory=list)
    shown: int = 0
    pressed: Pressed | None = None
    waiting: Waiting | None = None
    started: Move | None = None

    def chords(self) -> list[set[str]]:
        """From the largest to the smallest."""
        bound = [one.button for one in self.table.combinations if "+" in one.button]
        texts = dict.fromkeys([*self.table.chords, *bound])
        found = [set(text.split("+")) for text in texts]
        return sorted(found, key=len, reverse=True)

    def sequences(self) -> dict[tuple[frozenset[str], ...], Move]:
        return {
            tuple(
                frozenset(step.split("+")) for step in text.split()
            ): self.table.moves[self.table.index(name)]
            for text, name in self.table.sequences.items()
        }

    def is_begun(self, typed: list[frozenset[str]]) -> bool:
        """Whether some sequence begins like this."""
        own = tuple(typed)
        return bool(own) and any(one[: len(own)] == own for one in self.sequences())

    def ended(self, typed: list[frozenset[str]]) -> Move | None:
        """The move of the longest sequence that ends like this."""
        for first in range(len(typed)):
            found = self.sequences().get(tuple(typed[first:]))
            if found and self.is_begun(typed):
                return found
        return None

    def typed_on(self, before: list[frozenset[str]], step: frozenset[str]) -> list[Any]:
        """What has been typed with another step: as much as begins a sequence."""
        if self.is_begun([*before, step]):
            return [*before, step]
        if self.ended(before):
            before = []
        own = [*before, step]
        while own and not self.is_begun(own):
            own = own[1:]
        return own

    @property
    def is_idle(self) -> bool:
        return self.move is None and self.combination is None

    @property
    def phase(self) -> int:
        if self.move is None:
            return 0
        if self.at < self.move.start:
            return 1
        return 2 if self.at < self.move.start + self.move.hit else 3

    def tick(
        self, pressed: set[str], held: set[str], clock: Fraction, can_act: bool
    ) -> Move | None:
        self.now += 1
        self.started = None
        if self.waiting and self.waiting.last is not None:
            if self.now > self.waiting.last:
                self.waiting = None
                self.typed, self.shown = [], 0
        if not can_act:
            self.combination = self.pressed = self.waiting = None
            self.typed, self.shown = [], 0
            pressed = set()
        self.go_on(held, clock)
        self.next_command(clock)
        if self.move and self.at >= self.move.total:
            self.move = None
        if self.pressed and self.pressed.is_late and self.is_idle and self.late:
            self.pressed.is_late, self.pressed.is_new = False, True
        if self.is_idle and not self.pressed and not self.waiting:
            self.typed, self.shown = [], 0
        self.follow()
        self.take(pressed & self.bound())
        if self.pressed and (
            self.now >= self.pressed.tick + self.window
            or not any(self.pressed.buttons < chord for chord in self.chords())
        ):
            self.settle()
        self.follow()
        return self.started

    def bound(self) -> set[str]:
        steps = [step for own in self.sequences() for step in own]
        one = {own.button for own in self.table.combinations if "+" not in own.button}
        return one.union(self.table.singles, *self.chords(), *steps)

    def go_on(self, held: set[str], clock: Fraction) -> None:
        if self.move is None:
            return
        is_kept = (
            self.move.kind in ("guard", "crouch")
            and self.holds_by
            and self.holds_by <= held
            and self.waiting is None
            and self.phase in (1, 2)
            and self.at + clock >= self.move.until_back
        )
        if is_kept:
            self.at = max(self.at, Fraction(self.move.start))
        else:
            self.at += clock

    def next_command(self, clock: Fraction) -> None:
        if self.combination is None:
            return
        self.left -= clock
        if self.left > 0:
            return
        self.step += 1
        if self.step == len(self.combination.commands):
            self.combination = None
            return
        self.begin_command(-self.left)

    def begin_command(self, over: Fraction) -> None:
        assert self.combination
        command = self.combination.commands[self.step]
        move = self.table.command_move(command)
        self.begin(move, over, set())
        ticks = move.start + move.hit if command.ticks is None else command.ticks
        self.left = ticks - over

    def begin(self, move: Move, at: Fraction, holds_by: set[str]) -> None:
        self.move = self.started = move
        self.at, self.holds_by = at, holds_by

    def take(self, new: set[str]) -> None:
        if not new:
            return
        if self.pressed:
            both = self.joined(self.pressed.buttons, new)
            if both:
                self.pressed.buttons = both
                return
            self.settle()
            self.follow()
        is_busy = self.combination and self.step + 1 < len(self.combination.commands)
        is_in_time = self.is_idle or self.phase in (1, 2)
        is_open = self.shown == len(self.typed) and any(
            list(own[: len(self.typed)]) == self.typed
            and len(own) > len(self.typed)
            and self.ended([*self.typed, own[len(self.typed)]])
            for own in self.sequences()
            if self.typed
        )
        if is_busy or (not is_in_time and not self.late and not is_open):
            return
        first = self.joined(set(), new)
        self.pressed = Pressed(first, set(first), self.now, not is_in_time)

    def joined(self, before: set[str], new: set[str]) -> set[str]:
        both = before | new
        if any(both <= chord for chord in self.chords()):
            return both
        for chord in self.chords():
            if before < chord <= both:
                return set(chord)
        return set() if before else {min(new, key=BUTTONS.index)}

    def settle(self) -> None:
        assert self.pressed
        own, self.pressed = self.pressed, None
        whole = [chord for chord in self.chords() if chord <= own.buttons]
        first = min(own.first, key=BUTTONS.index)
        taken = whole[0] if whole else {first}
        before, step = self.typed, frozenset(taken)
        is_last = (
            bool(before)
            and self.shown == len(before)
            and self.typed_on(before, step) == [*before, step]
            and self.ended([*before, step]) is not None
        )
        if (own.is_late or own.is_new) and not is_last:
            before = []
        typed = self.typed_on(before, step)
        what = self.ended(typed) or self.plain(taken)
        last = own.tick + self.late if own.is_late and not is_last else None
        is_kept = not own.is_late or is_last or bool(self.late)
        if what is None or not is_kept or (last is not None and self.now > last):
            return
        if not before:
            self.shown = 0
        is_next = typed == [*before, step]
        if not is_next or self.shown == len(before):
            self.waiting = Waiting(what, taken, last)
        if not is_next:
            self.shown = max(len(typed) - 1, 0)
        self.typed = typed

    def plain(self, taken: set[str]) -> Move | Combination | None:
        """What buttons do by themselves: combinations stand before moves."""
        for one in self.table.combinations:
            if set(one.button.split("+")) == taken:
                return one
        for text, name in (*self.table.singles.items(), *self.table.chords.items()):
            if set(text.split("+")) == taken:
                return self.table.moves[self.table.index(name)]
        return None

    def follow(self) -> None:
        if self.waiting is None or self.combination is not None:
            return
        own = self.waiting
        if not self.is_idle and (own.last is not None or self.phase != 3):
            return
        if self.move and own.what == self.of and not self.repeats:
            if len(self.typed) < 2 and self.move.kind not in ("guard", "crouch"):
                return
        self.waiting, self.of = None, own.what
        if isinstance(own.what, Combination):
            self.combination, self.step = own.what, 0
            self.begin_command(Fraction(0))
        else:
            self.begin(own.what, Fraction(0), own.buttons)
            if self.shown < len(self.typed):
                self.shown += 1
            if self.shown < len(self.typed):
                steps = self.typed[: self.shown + 1]
                step = set(steps[-1])
                what = self.ended(steps) or self.plain(step)
                assert what
                self.waiting = Waiting(what, step, None)


def gone_ahead(
    move: Move,
    at: float,
    clock: float,
    heading: float,
    place: tuple[float, float],
    other: tuple[float, float] | None,
    apart: float,
) -> tuple[float, float]:
    """Where one is, x and z, after a tick of a move that carries it ahead: the kernel
    `go_ahead`.

    at: ticks of the move, after this one; other: where the opponent is; apart: metres
    between the two at which it stops.
    """

    def gone(ticks: float) -> float:
        return move.advance * min(max(ticks, 0.0) / move.start, 1.0)

    if move.start == 0:
        return place
    way = gone(at) - gone(at - clock)
    ahead = math.sin(heading), math.cos(heading)
    if other is not None and way > 0:
        dx, dz = other[0] - place[0], other[1] - place[1]
        along = dx * ahead[0] + dz * ahead[1]
        aside = math.sqrt(max(dx * dx + dz * dz - along * along, 0.0))
        if along > 0 and aside < apart:
            way = min(way, max(along - apart - 0.02, 0.0))
    return place[0] + way * ahead[0], place[1] + way * ahead[1]
