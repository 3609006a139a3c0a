"""A slow twin of moves: one character, names instead of numbers, exact fractions.

It remembers when each thing happened, on the clock of the stage, and asks at each tick
what follows from that. The kernel `step_all`.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from fractions import Fraction

from flexor.scene.stage.layout import BUTTONS
from flexor.scene.stage.moves import Combination, Move, MoveTable


@dataclass
class Pressed:
    """Buttons of which more may come; the first ones, and when and how they came."""

    buttons: set[str]
    first: set[str]
    tick: int
    is_late: bool


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
    now: int = -1
    move: Move | None = None
    at: Fraction = Fraction(0)
    holds_by: set[str] = field(default_factory=set)
    # Commands of the combination that runs, the current one first; until its end.
    combination: Combination | None = None
    step: int = 0
    left: Fraction = Fraction(0)
    pressed: Pressed | None = None
    waiting: Waiting | None = None
    started: Move | None = None

    def chords(self) -> list[set[str]]:
        """From the largest to the smallest."""
        found = [set(text.split("+")) for text in self.table.chords]
        return sorted(found, key=len, reverse=True)

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
        if not can_act:
            self.combination = self.pressed = self.waiting = None
            pressed = set()
        self.go_on(held, clock)
        self.next_command(clock)
        if self.move and self.at >= self.move.total:
            self.move = None
        if self.pressed and self.pressed.is_late and self.is_idle:
            self.pressed.is_late = False
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
        one = {own.button for own in self.table.combinations} | set(self.table.singles)
        return one.union(*self.chords())

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
        move = self.table.move_of(command.buttons)
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
        if is_busy or (not is_in_time and not self.late):
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
        what: Move | Combination | None = None
        if whole:
            what = self.table.move_of("+".join(taken))
        else:
            for one in self.table.combinations:
                if one.button == first:
                    what = one
            if what is None and first in self.table.singles:
                what = self.table.move_of(first)
        last = own.tick + self.late if own.is_late else None
        if what is not None and (last is None or self.now <= last):
            self.waiting = Waiting(what, taken, last)

    def follow(self) -> None:
        if self.waiting is None or self.combination is not None:
            return
        own = self.waiting
        if not self.is_idle and (own.last is not None or self.phase != 3):
            return
        self.waiting = None
        if isinstance(own.what, Combination):
            self.combination, self.step = own.what, 0
            self.begin_command(Fraction(0))
        else:
            self.begin(own.what, Fraction(0), own.buttons)
