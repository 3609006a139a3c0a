"""Moves, the buttons that do them, and combinations of them.

Time is in ticks of 1/60 s. Several buttons at once are written "B+C", in sequence with
the ticks of each "B:12 B:10 C+B:20".
"""

from __future__ import annotations

import difflib
from collections.abc import Callable, Collection, Iterable, Mapping
from dataclasses import dataclass, field
from numbers import Real
from types import MappingProxyType
from typing import Any, Literal, get_args

from flexor.errors import SettingError
from flexor.scene.stage.buttons import (
    ALL_BUTTONS,
    NO_BUTTON,
    NO_LETTERS,
    button_mask,
    button_text,
    check_letters,
)
from flexor.scene.stage.commands import (
    MOST_TICKS,
    Combination,
    Command,
    check_name,
    check_ticks,
    read_commands,
)
from flexor.scene.stage.input_log import InputLog
from flexor.scene.stage.layout import BUTTONS

__all__ = [
    "ALL_BUTTONS",
    "HEIGHTS",
    "HELD",
    "KINDS",
    "MOST_TABLES",
    "MOST_TICKS",
    "NO_BUTTON",
    "NO_PARTS",
    "RATE",
    "Combination",
    "Command",
    "Height",
    "InputLog",
    "Kind",
    "Move",
    "MoveTable",
    "button_mask",
    "button_text",
    "check_letters",
    "fault_of_sequence",
    "hands_can_parry",
    "read_commands",
    "read_sequence",
]

Kind = Literal["attack", "guard", "parry", "jump", "other", "crouch", "throw"]
Height = Literal["high", "mid", "low", "jump"]
KINDS: tuple[str, ...] = get_args(Kind)
HEIGHTS: tuple[str, ...] = get_args(Height)
HELD: tuple[Kind, ...] = ("guard", "crouch")  # as long as their button is
NO_PARTS = (
    "an attack without any hits nothing, expected the parts that hit, such as "
    "['rightHand'], or another kind of move, such as 'other'"
)
# What parts of kicks, and of blows with the head or the trunk, have in their names: no
# hand parries those, unless the move says so.
BEYOND_HANDS = (
    *("leg", "foot", "feet", "toe", "knee", "shin", "calf", "thigh"),
    *("head", "neck", "chest", "spine", "hips"),
)
RATE = 60  # ticks a second
MOST_MOVES = 1000  # and as many combinations and chords
MOST_TABLES = 100  # of a stage
MOST_SEQUENCES, MOST_STEPS = 100, 10  # typed ones, and buttons of each


@dataclass(frozen=True, slots=True)
class Move:
    """What a character can do.

    name: of the move; start, hit, back: ticks of its phases: before it can hit (or
    guard, or parry), while it can, and of the return; clip: the name of a clip, the
    move's own where none is given; kind: "attack", "guard", "parry", "jump", "crouch",
    "throw" or "other"; parts: that hit, parts of a human body or nodes, at least one of
    an attack on a stage; height: at which it hits: "high" and "jump" pass over who
    crouches, "low" passes under who is in a jump, "mid" meets all; damage: points that
    an attack or a throw takes, of the 100 that all begin with if a stage says no other;
    push: metres that it pushes who is hit; can_be_parried: whether a parry stops it; if
    not said, it stops attacks with hands and arms, and nothing else; afterimages: parts
    whose afterimages are kept while it runs; knocks_down: whether who is hit falls;
    hits_down: whether it also hits who lies on the ground; reach: metres between the
    two within which a throw can take hold; thrown: the clip of who is thrown, of the
    thrown one's own; advance: metres that it carries who does it ahead until it can
    hit, below 0 back; it stops at the opponent.
    """

    name: str
    start: int
    hit: int
    back: int
    clip: str = ""
    kind: Kind = "attack"
    parts: tuple[str, ...] = ()
    height: Height = "mid"
    damage: float = 10.0
    push: float = 0.0
    can_be_parried: bool | None = None
    afterimages: tuple[str, ...] = ()
    knocks_down: bool = False
    hits_down: bool = False
    reach: float = 1.0
    thrown: str = "thrown"
    advance: float = 0.0

    def __post_init__(self) -> None:
        put = object.__setattr__
        check_name(self.name, "name")
        if self.clip == "":
            put(self, "clip", self.name)
        check_name(self.clip, "clip")
        for name in ("start", "hit", "back"):
            put(self, name, check_ticks(getattr(self, name), name, 0))
        for name, known in (("kind", KINDS), ("height", HEIGHTS)):
            word = getattr(self, name)
            if word not in known:
                raise SettingError(
                    f"{name}: {word!r}, expected one of {', '.join(known)}"
                )
        for name in ("parts", "afterimages"):
            put(self, name, _check_names(getattr(self, name), name))
        for name, least, most in (
            ("damage", 0.0, 1e6),
            ("push", -100.0, 100.0),
            ("reach", 0.0, 100.0),
            ("advance", -10.0, 10.0),
        ):
            put(self, name, _check_number(getattr(self, name), name, least, most))
        check_name(self.thrown, "thrown")
        if self.can_be_parried is None:
            put(self, "can_be_parried", hands_can_parry(self.kind, self.parts))
        for name in ("can_be_parried", "knocks_down", "hits_down"):
            if not isinstance(getattr(self, name), bool):
                raise SettingError(
                    f"{name}: {getattr(self, name)!r}, expected True or False"
                )
        if self.kind not in ("jump", "other") and self.hit < 1:
            raise SettingError(
                f"hit: {self.hit}, expected 1 tick or more of a move that is "
                f"{'an' if self.kind == 'attack' else 'a'} {self.kind}"
            )
        if self.start + self.hit < 1:
            raise SettingError("start: 0, expected 1 tick or more where hit is 0")

    @property
    def total(self) -> int:
        """Ticks that it lasts."""
        return self.start + self.hit + self.back

    @property
    def can_hit(self) -> bool:
        """Whether it has what its kind hits with: attacks need parts."""
        return self.kind != "attack" or len(self.parts) > 0

    @property
    def until_back(self) -> int:
        """Ticks before its return phase."""
        return self.start + self.hit


def hands_can_parry(kind: str, parts: Iterable[str]) -> bool:
    """Whether a parry stops a move that does not say so: attacks with hands and arms.

    parts: that hit, by their names; those of no human body, such as a weapon's, count
    as held in hands.
    """
    names = [part.casefold() for part in parts]
    return kind != "throw" and not any(
        word in name for name in names for word in BEYOND_HANDS
    )


@dataclass(frozen=True, slots=True)
class MoveTable:
    """Everything that a character can do, and what each button does.

    moves, combinations: their numbers are their places here; singles: names of moves by
    button; chords: names of moves by several buttons at once, such as "B+C"; sequences:
    names of moves by what is typed for them, such as "B C B". Buttons that a
    combination is bound to run that, and may have a move of their own beside, for
    commands to name. All but the last buttons of a sequence do moves of their own,
    which are seen while it is typed.
    """

    moves: tuple[Move, ...]
    combinations: tuple[Combination, ...] = ()
    singles: Mapping[str, str] = field(default_factory=dict)
    chords: Mapping[str, str] = field(default_factory=dict)
    sequences: Mapping[str, str] = field(default_factory=dict)

    def __post_init__(self) -> None:
        put = object.__setattr__
        for name, kind in (("moves", Move), ("combinations", Combination)):
            try:
                own = tuple(getattr(self, name))
            except TypeError:
                own = (None,)
            if not all(isinstance(one, kind) for one in own) or len(own) > MOST_MOVES:
                raise SettingError(
                    f"{name}: expected {MOST_MOVES} or less, each a {kind.__name__}"
                )
            put(self, name, own)
            _check_once([one.name for one in own], name)
        for name in ("singles", "chords", "sequences"):
            if not isinstance(getattr(self, name), Mapping):
                raise SettingError(f"{name}: expected names of moves by buttons")
        for button in self.singles:
            _check_button(button, "singles")
        put(self, "singles", MappingProxyType(dict(self.singles)))
        put(self, "chords", MappingProxyType(_check_chords(self.chords)))
        put(self, "sequences", MappingProxyType(_check_sequences(self.sequences)))
        names = [move.name for move in self.moves]
        for name in ("singles", "chords", "sequences"):
            for buttons, move in getattr(self, name).items():
                if move not in names:
                    raise SettingError(
                        f"{name}: {buttons!r} does {move!r}, expected a move: "
                        f"{_say_near(move, names)}"
                    )
        _check_once([one.button for one in self.combinations], "button")
        known = [*self.singles, *self.chords]
        for text in self.sequences:
            fault = fault_of_sequence(
                text, known, [c.button for c in self.combinations]
            )
            if fault:
                raise SettingError(f"sequences: {text!r}: {fault}")
        for one in self.combinations:
            for command in one.commands:
                self._check_command(one, command)

    def _check_command(self, own: Combination, command: Command) -> None:
        if command.move:
            names = [move.name for move in self.moves]
            if command.move not in names:
                raise SettingError(
                    f"commands: {own.name!r} names {command.move!r}, expected a move: "
                    f"{_say_near(command.move, names)}"
                )
            return
        known = [*self.singles, *self.chords]
        if command.buttons not in known:
            raise SettingError(
                f"commands: {own.name!r} names {command.buttons!r}, expected buttons "
                f"that do a move: {_say_near(command.buttons, known)}"
            )

    def __reduce__(self) -> tuple[Any, ...]:
        maps = dict(self.singles), dict(self.chords), dict(self.sequences)
        return MoveTable, (self.moves, self.combinations, *maps)

    def index(self, name: str) -> int:
        """The number of a move."""
        for number, move in enumerate(self.moves):
            if move.name == name:
                return number
        near = _say_near(name, [move.name for move in self.moves])
        raise SettingError(f"no move {name!r}; there are: {near}")

    def move_of(self, buttons: str) -> Move:
        """The move that a button, or several at once, does; combinations left out."""
        text = button_text(button_mask(buttons))
        name = self.singles.get(text) or self.chords.get(text)
        if name is None:
            raise SettingError(f"buttons: {buttons!r} do no move")
        return self.moves[self.index(name)]

    def command_move(self, command: Command) -> Move:
        """The move that a command does."""
        if command.move:
            return self.moves[self.index(command.move)]
        return self.move_of(command.buttons)


def _check_number(value: Any, name: str, least: float, most: float) -> float:
    is_number = isinstance(value, Real) and not isinstance(value, bool)
    if not is_number or not least <= value <= most:
        raise SettingError(f"{name}: {value!r}, expected {least:g} to {most:g}")
    return float(value)


def _check_names(values: Any, name: str) -> tuple[str, ...]:
    if isinstance(values, str) or not isinstance(values, Iterable):
        raise SettingError(f"{name}: {values!r}, expected names of parts")
    found = tuple(values)
    for one in found:
        check_name(one, name)
    _check_once(found, name)
    return found


def _check_button(value: Any, name: str) -> None:
    if value not in BUTTONS:
        raise SettingError(f"{name}: {value!r}, expected one of {', '.join(BUTTONS)}")


def _check_chords(chords: Mapping[str, str]) -> dict[str, str]:
    """Chords by their buttons in order."""
    found: dict[str, str] = {}
    for buttons, move in chords.items():
        if not isinstance(buttons, str):
            raise SettingError(f"chords: {buttons!r}, expected a text such as 'B+C'")
        text = button_text(button_mask(buttons))
        if "+" not in text:
            raise SettingError(f"chords: {buttons!r}, expected two buttons or more")
        if text in found:
            raise SettingError(f"chords: {buttons!r} is there twice, expected once")
        found[text] = move
    if len(found) > MOST_MOVES:
        raise SettingError(f"chords: {len(found)}, expected {MOST_MOVES} or less")
    return found


def _check_sequences(sequences: Mapping[str, str]) -> dict[str, str]:
    """Sequences by their buttons in order."""
    found: dict[str, str] = {}
    for given, move in sequences.items():
        if not isinstance(given, str):
            raise SettingError(f"sequences: {given!r}, expected a text such as 'B C B'")
        text = read_sequence(given)
        if text in found:
            raise SettingError(f"sequences: {given!r} is there twice, expected once")
        found[text] = move
    if len(found) > MOST_SEQUENCES:
        raise SettingError(
            f"sequences: {len(found)}, expected {MOST_SEQUENCES} or fewer"
        )
    return found


def read_sequence(text: str, letters: Mapping[str, str] = NO_LETTERS) -> str:
    """Buttons that are typed one after the other, such as "B C B", from a text such as
    "P K P" or "P P+K".

    letters: other names of buttons, such as {"P": "B"}.
    """
    steps = [button_text(button_mask(word, letters)) for word in text.split()]
    if not 2 <= len(steps) <= MOST_STEPS:
        raise SettingError(f"{text!r}, expected 2 to {MOST_STEPS} buttons, or chords")
    return " ".join(steps)


def fault_of_sequence(
    text: str,
    known: Collection[str],
    taken: Collection[str],
    say: Callable[[str], str] = str,
) -> str:
    """What is wrong with what is typed for a move, "" where nothing is.

    known: buttons that do moves; taken: those that run combinations; say: how buttons
    are written.
    """
    *steps, last = text.split()
    for step in steps:
        if step in taken:
            return f"{say(step)!r} runs a combination, expected buttons that do a move"
        if step not in known:
            there = _say_near(say(step), [say(one) for one in known])
            return f"{say(step)!r} does no move; there are: {there}"
    if "+" in last and last not in (*known, *taken):
        there = _say_near(say(last), [say(one) for one in known if "+" in one])
        return f"{say(last)!r} are no buttons of a move; there are: {there}"
    return ""


def _check_once(values: Iterable[str], name: str) -> None:
    seen: set[str] = set()
    for value in values:
        if value in seen:
            raise SettingError(f"{name}: {value!r} is there twice, expected once")
        seen.add(value)


def _say_near(name: Any, known: list[str]) -> str:
    near = difflib.get_close_matches(str(name), known, 4, 0.5) or known[:8]
    return ", ".join(map(repr, near)) or "there are none"
