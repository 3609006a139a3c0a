"""Commands, and combinations of them that buttons run.

Several buttons at once are written "B+C", in sequence with the ticks of each
"B:12 B:10 C+B:20"; a command may also name a move: "B:12 throw:40".
"""

from __future__ import annotations

import difflib
import re
from collections.abc import Collection, Mapping
from dataclasses import dataclass
from numbers import Integral
from typing import Any

from flexor.errors import SettingError
from flexor.scene.stage.buttons import NO_LETTERS, button_mask, button_text
from flexor.scene.stage.layout import BUTTONS

__all__ = [
    "LONGEST_NAME",
    "MOST_TICKS",
    "Combination",
    "Command",
    "check_name",
    "check_ticks",
    "read_commands",
]

MOST_TICKS = 600  # of a phase and of a command
MOST_COMMANDS = 100  # of a combination
LONGEST_NAME = 100
_COMMAND = re.compile(r"([^:]+)(?::([0-9]{1,9}))?")


@dataclass(frozen=True, slots=True)
class Command:
    """One step of a combination.

    buttons: one, or several at once, such as "B" or "B+C", "" where a move is named;
    ticks: until the next command, None: until the return phase of its move; move: the
    name of the move that it does, "": that of the buttons.
    """

    buttons: str
    ticks: int | None = None
    move: str = ""

    def __post_init__(self) -> None:
        put = object.__setattr__
        if not isinstance(self.buttons, str):
            raise SettingError(f"buttons: {self.buttons!r}, expected a text")
        if self.move != "":
            check_name(self.move, "move")
            if self.buttons:
                raise SettingError(f"move: {self.move!r}, expected buttons or a move")
        else:
            put(self, "buttons", button_text(button_mask(self.buttons)))
        if self.ticks is not None:
            put(self, "ticks", check_ticks(self.ticks, "ticks", 1))

    def __str__(self) -> str:
        text = self.move or self.buttons
        return text if self.ticks is None else f"{text}:{self.ticks}"


@dataclass(frozen=True, slots=True)
class Combination:
    """Commands that a button, or several at once, run in order.

    name: of the combination; button: that it is bound to, such as "X", or several, such
    as "B+X"; commands: each does the move of its buttons, or the one that it names,
    never another combination.
    """

    name: str
    button: str
    commands: tuple[Command, ...]

    def __post_init__(self) -> None:
        put = object.__setattr__
        check_name(self.name, "name")
        if not isinstance(self.button, str):
            known = ", ".join(BUTTONS)
            raise SettingError(f"button: {self.button!r}, expected one of {known}")
        try:
            put(self, "button", button_text(button_mask(self.button)))
        except SettingError as error:
            raise SettingError(f"button: {error}") from None
        try:
            commands = tuple(self.commands)
        except TypeError:
            commands = ()
        if not all(isinstance(one, Command) for one in commands):
            commands = ()
        if not 1 <= len(commands) <= MOST_COMMANDS:
            raise SettingError(
                f"commands: {self.commands!r}, expected 1 to {MOST_COMMANDS} commands"
            )
        put(self, "commands", commands)


def read_commands(
    text: str,
    letters: Mapping[str, str] = NO_LETTERS,
    moves: Collection[str] = (),
) -> tuple[Command, ...]:
    """Commands written as "P:12 P:10 K", "P+K:24" or "P:12 throw".

    letters: other names of buttons, such as {"P": "B"}; moves: names of moves that
    commands may do; one that is called like a button is not meant by it.
    """
    commands = []
    for word in text.split():
        found = _COMMAND.fullmatch(word)
        if found is None:
            raise SettingError(
                f"{word!r}, expected buttons and ticks such as 'B', 'B:12' or 'B+C:24'"
            )
        buttons, move = _read_word(found[1], letters, moves)
        ticks = None
        if found[2] is not None:
            ticks = int(found[2])
            if not 1 <= ticks <= MOST_TICKS:
                raise SettingError(f"{word!r}, expected 1 to {MOST_TICKS} ticks")
        commands.append(Command(buttons, ticks, move))
    if not 1 <= len(commands) <= MOST_COMMANDS:
        raise SettingError(f"{len(commands)} commands, expected 1 to {MOST_COMMANDS}")
    return tuple(commands)


def _read_word(
    word: str, letters: Mapping[str, str], moves: Collection[str]
) -> tuple[str, str]:
    """The buttons of a word, or the move that it names."""
    try:
        return button_text(button_mask(word, letters)), ""
    except SettingError:
        if word in moves:
            return "", word
        if "+" in word or not moves:
            raise
    known = [*letters, *moves, *BUTTONS]
    near = difflib.get_close_matches(word, known, 4, 0.5) or known[:8]
    there = ", ".join(map(repr, near))
    raise SettingError(f"no button or move {word!r}; there are: {there}")


def check_ticks(value: Any, name: str, least: int) -> int:
    """A whole number of ticks, or SettingError."""
    is_whole = isinstance(value, Integral) and not isinstance(value, bool)
    if not is_whole or not least <= value <= MOST_TICKS:
        raise SettingError(
            f"{name}: {value!r}, expected {least} to {MOST_TICKS} whole ticks"
        )
    return int(value)


def check_name(value: Any, name: str) -> None:
    """Refuse what is no name: texts of some letters that can be shown."""
    is_good = isinstance(value, str) and value.isprintable()
    if not is_good or not 1 <= len(value) <= LONGEST_NAME:
        raise SettingError(
            f"{name}: {value!r}, expected a text of 1 to {LONGEST_NAME} letters"
        )
