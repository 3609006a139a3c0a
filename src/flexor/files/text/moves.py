"""Moves in a text file (TOML): read and written.

    [buttons]                # letters that this file has for buttons
    P = "B"
    K = "C"
    G = "A"

    [move.punch]
    button = "P"             # or several at once: "P+K"; none: only rules begin it
    clip = "Punch"           # left out: called like the move
    start = 6                # ticks of 1/60 s before it can hit
    hit = 3                  # ticks in which it can
    back = 12                # ticks of the return
    parts = ["rightHand"]    # that hit; an attack has at least one
    height = "high"          # high or jump: over who crouches; low; mid: meets all
    damage = 12              # points; 10 if left out
    push = 0.2               # metres
    advance = 0.1            # metres that it carries one ahead until it can hit
    can_be_parried = true    # left out: true with hands and arms, false of kicks
    knocks_down = false      # true: who is hit falls
    hits_down = false        # true: it also hits who lies on the ground
    afterimages = ["rightLowerArm", "rightHand"]

    [move.kick]
    button = "K"
    start = 9
    hit = 4
    back = 16
    parts = ["rightFoot", "rightLowerLeg"]

    [move.guard]
    button = "G"
    kind = "guard"           # attack, guard, parry, jump, crouch, throw or other
    start = 2
    hit = 6                  # at least: it stays while the button is held
    back = 4

    [move.throw]
    button = "P+K"
    sequence = "P K P"       # typed one after the other, it is the same
    kind = "throw"
    start = 8
    hit = 20
    back = 20
    reach = 0.9              # metres between the two within which it takes hold
    thrown = "thrown"        # the clip of who is thrown, of the thrown one's own

    [[combination]]
    name = "rush"
    button = "X"             # or several at once: "P+X"
    commands = "P:12 P:10 K P+K:24"

    [[combination]]
    name = "feint"
    button = "K+X"
    commands = "K:4 throw"   # a command may also name a move

Buttons are up, down, left, right, A, B, C, X, Y, Z, L and R. Numbers behind commands
are ticks until the next one; left out: until the return phase of the move. A command
names a move whose name is one word without "+" and ":", and no button's.

A file may begin from another one beside it, `base = "moves.toml"`: it has all that the
other has, and what it says itself besides, or in its place: moves and combinations by
their names, and all that its buttons did there.

A sequence is typed: each of its buttons, or chords, is pressed before the return phase
of the move of the one before, the last one while that move runs at all. All but the
last do their own moves meanwhile, so they need some; what is typed faster waits for its
turn. Where it breaks off, nothing is lost: the moves that were typed run to their end,
and the button that did not belong to it does its own move, or begins a sequence anew.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from flexor.errors import AssetError, SettingError
from flexor.files.text.input_log import log_text, read_log, write_log
from flexor.files.text.moves_text import moves_text
from flexor.files.text.parts.rows import find_file
from flexor.files.text.toml_text import (
    Keys,
    Tables,
    TomlFile,
    Words,
    find_line,
    name_key,
    open_toml,
    say_known,
)
from flexor.scene.stage.buttons import button_mask, button_text, check_letters
from flexor.scene.stage.layout import BUTTONS
from flexor.scene.stage.moves import (
    MOST_SEQUENCES,
    NO_PARTS,
    Combination,
    Move,
    MoveTable,
    fault_of_sequence,
    read_commands,
    read_sequence,
)

__all__ = [
    "TOP",
    "MoveFile",
    "log_text",
    "moves_text",
    "named_by",
    "open_moves",
    "read_log",
    "read_moves",
    "take_moves",
    "write_log",
]

TOP: Words = {
    "buttons": (dict, "buttons"),
    "move": (dict, "move"),
    "combination": (Tables, "combination"),
}
OWN: Words = {"base": (str, "base"), **TOP}  # of a file that tells of moves alone
MOST_BASES = 8  # files, each of which begins from the next
MOVE: Words = {
    "button": (str, "button"),
    "sequence": (str, "sequence"),
    "clip": (str, "clip"),
    "kind": (str, "kind"),
    "start": (int, "start"),
    "hit": (int, "hit"),
    "back": (int, "back"),
    "parts": (list, "parts"),
    "height": (str, "height"),
    "damage": (float, "damage"),
    "push": (float, "push"),
    "can_be_parried": (bool, "can_be_parried"),
    "afterimages": (list, "afterimages"),
    "knocks_down": (bool, "knocks_down"),
    "hits_down": (bool, "hits_down"),
    "reach": (float, "reach"),
    "thrown": (str, "thrown"),
    "advance": (float, "advance"),
}
COMBINATION: Words = {
    "name": (str, "name"),
    "button": (str, "button"),
    "commands": (str, "commands"),
}


@dataclass(frozen=True, slots=True, eq=False)
class MoveFile:
    """A file of moves that was read, for faults that are found later.

    table: what it says, with what the file says that it begins from; file: as text;
    letters: for buttons, of both; base: the file that it begins from, None for none.
    """

    table: MoveTable
    file: TomlFile
    letters: Mapping[str, str] = field(default_factory=dict)
    base: MoveFile | None = None

    def refuse(self, keys: Keys, fault: str) -> AssetError:
        """The error that names file, line and key of what is wrong: the file of those
        that tells of the move.
        """
        if self.base is not None and keys[0] == "move" and len(keys) > 1:
            if keys[1] not in self.file.given.get("move", {}):
                return self.base.refuse(keys, fault)
        return self.file.refuse(keys, fault)


def read_moves(
    path: str | Path,
    *,
    clips: Sequence[str] | None = None,
    parts: Sequence[str] | None = None,
) -> MoveTable:
    """The moves, buttons and combinations of a text file.

    clips, parts: names that moves may use, None: any. AssetError with line and key
    where the file is wrong.
    """
    return open_moves(path, clips=clips, parts=parts).table


def open_moves(
    path: str | Path,
    *,
    clips: Sequence[str] | None = None,
    parts: Sequence[str] | None = None,
    depth: int = 0,
) -> MoveFile:
    """The same as `read_moves`, with what it takes to refuse it later.

    depth: how many files begin from this one, one from the other.
    """
    file = open_toml(path)
    top = file.table(file.given, OWN, ())
    base = None
    if "base" in top:
        place = find_file(file, top["base"], ("base",))
        if depth == MOST_BASES:
            fault = f"more than {MOST_BASES} files that begin from another"
            raise file.refuse(("base",), f"{fault}, expected fewer")
        try:
            base = open_moves(place, clips=clips, parts=parts, depth=depth + 1)
        except AssetError as error:
            raise named_by(error, file, ("base",)) from None
    return _take(file, top, base, clips, parts)


def take_moves(file: TomlFile, top: Mapping[str, Any]) -> MoveTable:
    """The moves of a file, whose tables of the words in `TOP` are `top`.

    A file that tells more than moves has read the rest itself.
    """
    return _take(file, top, None, None, None).table


def named_by(error: AssetError, file: TomlFile, keys: Keys) -> AssetError:
    """An error of a file that cannot be read, with where it was named."""
    if error.pointer:
        return error
    place = f"{name_key(keys)} in {file.path}, {find_line(file.text, keys)}"
    return AssetError(error.path, "", f"{error.text} (named by {place})")


def _take(
    file: TomlFile,
    top: Mapping[str, Any],
    base: MoveFile | None,
    clips: Sequence[str] | None,
    parts: Sequence[str] | None,
) -> MoveFile:
    """What a file says, and what of its base it does not say otherwise."""
    before = MoveTable(()) if base is None else base.table
    letters = _read_letters(file, top.get("buttons", {}))
    if base is not None:
        letters = {**base.letters, **letters}
    given, bound, typed = dict[str, Move](), dict[str, str](), dict[str, str]()
    for name, table in top.get("move", {}).items():
        keys: Keys = ("move", name)
        if not isinstance(table, dict):
            raise file.refuse(keys, f"{table!r}, expected a table")
        own = file.table(table, MOVE, keys, _check_move)
        _check_uses(file, own, name, keys, clips, parts)
        if "button" in own:
            _bind(file, own.pop("button"), letters, name, bound, keys)
        if "sequence" in own:
            _bind_typed(file, own.pop("sequence"), letters, name, typed, keys)
        file.needs(own, ("start", "hit", "back"), keys)
        try:
            given[name] = Move(name, **own)
        except SettingError as error:
            word, _, fault = str(error).partition(": ")
            raise file.refuse((*keys, word), fault) from None
    moves = {move.name: move for move in before.moves} | given
    taken = dict(bound)
    for buttons, name in (*before.singles.items(), *before.chords.items()):
        if name not in given:
            bound.setdefault(buttons, name)
    for steps, name in before.sequences.items():
        if name not in given:
            typed.setdefault(steps, name)
    combinations = _read_combinations(file, top, letters, bound, list(moves))
    names = {word for one in combinations for word in (one.name, one.button)}
    old = [
        one
        for one in before.combinations
        if not {one.name, one.button} & names and one.button not in taken
    ]
    combinations = [*old, *combinations]
    runs = [one.button for one in combinations]
    for text, name in typed.items():
        fault = fault_of_sequence(text, bound, runs, lambda b: _in_letters(b, letters))
        if fault:
            place: Keys = ("move", name, "sequence") if name in given else ("base",)
            raise file.refuse(place, fault)
    singles = {text: move for text, move in bound.items() if text in BUTTONS}
    chords = {text: move for text, move in bound.items() if text not in BUTTONS}
    every = tuple(moves.values())
    try:
        made = MoveTable(every, tuple(combinations), singles, chords, typed)
    except SettingError as error:
        raise file.refuse(("move",), str(error)) from None
    for move in given.values():
        if not move.can_hit:
            raise file.refuse(("move", move.name, "parts"), NO_PARTS)
    return MoveFile(made, file, letters, base)


def _read_letters(file: TomlFile, given: Mapping[str, Any]) -> dict[str, str]:
    letters: dict[str, str] = {}
    for letter, button in given.items():
        keys: Keys = ("buttons", letter)
        if not isinstance(button, str):
            raise file.refuse(keys, f"{button!r}, expected the name of a button")
        try:
            check_letters({letter: button})
        except SettingError as error:
            raise file.refuse(keys, str(error).removeprefix(f"{letter}: ")) from None
        letters[letter] = button
    return letters


def _check_move(**words: Any) -> None:
    """Refuse a value that no move has, each by itself."""
    words.pop("button", None)
    words.pop("sequence", None)
    usual: dict[str, Any] = {"start": 1, "hit": 1, "back": 1, "kind": "other"}
    Move("move", **usual | words)


def _check_uses(
    file: TomlFile,
    own: Mapping[str, Any],
    name: str,
    keys: Keys,
    clips: Sequence[str] | None,
    parts: Sequence[str] | None,
) -> None:
    """Refuse clips and parts that are not there."""
    clip = own.get("clip", name)
    if clips is not None and clip not in clips:
        raise file.refuse((*keys, "clip"), f"no {clip!r}; {say_known(clip, clips)}")
    for word in ("parts", "afterimages"):
        for part in own.get(word, ()):
            if parts is not None and part not in parts:
                fault = f"no {part!r}; {say_known(part, parts)}"
                raise file.refuse((*keys, word), fault)


def _bind(
    file: TomlFile,
    text: str,
    letters: Mapping[str, str],
    move: str,
    bound: dict[str, str],
    keys: Keys,
) -> None:
    """Bind buttons to a move."""
    place = (*keys, "button")
    try:
        buttons = button_text(button_mask(text, letters))
    except SettingError as error:
        raise file.refuse(place, str(error)) from None
    if buttons in bound:
        fault = f"{text!r} does {bound[buttons]!r} already, expected other buttons"
        raise file.refuse(place, fault)
    bound[buttons] = move


def _bind_typed(
    file: TomlFile,
    text: str,
    letters: Mapping[str, str],
    move: str,
    typed: dict[str, str],
    keys: Keys,
) -> None:
    """Bind what is typed to a move."""
    place = (*keys, "sequence")
    try:
        sequence = read_sequence(text, letters)
    except SettingError as error:
        raise file.refuse(place, str(error)) from None
    if sequence in typed:
        fault = f"{text!r} does {typed[sequence]!r} already, expected another"
        raise file.refuse(place, fault)
    if len(typed) == MOST_SEQUENCES:
        fault = f"one of more than {MOST_SEQUENCES}, expected fewer"
        raise file.refuse(place, fault)
    typed[sequence] = move


def _read_combinations(
    file: TomlFile,
    top: Mapping[str, Any],
    letters: Mapping[str, str],
    bound: Mapping[str, str],
    moves: Collection[str],
) -> list[Combination]:
    """Combinations of a file, each with a name and buttons of its own."""
    found: list[Combination] = []
    for row, table in enumerate(top.get("combination", ())):
        keys: Keys = ("combination", row)
        one = _read_combination(file, table, keys, letters, bound, moves)
        for other in found:
            for word in ("name", "button"):
                value = getattr(one, word)
                if value == getattr(other, word):
                    fault = f"{value!r} is that of {other.name!r}, expected another"
                    raise file.refuse((*keys, word), fault)
        found.append(one)
    return found


def _read_combination(
    file: TomlFile,
    table: Mapping[str, Any],
    keys: Keys,
    letters: Mapping[str, str],
    bound: Mapping[str, str],
    moves: Collection[str],
) -> Combination:
    own = file.table(table, COMBINATION, keys)
    file.needs(own, COMBINATION, keys)
    place: Keys = (*keys, "button")
    try:
        button = button_text(button_mask(own["button"], letters))
        place = (*keys, "commands")
        commands = read_commands(own["commands"], letters, moves)
    except SettingError as error:
        raise file.refuse(place, str(error)) from None
    for word, command in zip(own["commands"].split(), commands, strict=True):
        if not command.move and command.buttons not in bound:
            known = (_in_letters(buttons, letters) for buttons in bound)
            there = say_known(_in_letters(command.buttons, letters), known)
            raise file.refuse(place, f"{word!r} does no move; {there}")
    try:
        return Combination(own["name"], button, commands)
    except SettingError as error:
        word, _, fault = str(error).partition(": ")
        raise file.refuse((*keys, word), fault) from None


def _in_letters(buttons: str, letters: Mapping[str, str]) -> str:
    """Buttons such as "B+C" as a file writes them that has letters: "P+K"."""
    names: dict[str, str] = {}
    for letter, button in letters.items():
        names.setdefault(button, letter)
    return "+".join(names.get(one, one) for one in buttons.split("+"))
