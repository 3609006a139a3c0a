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

A sequence is typed: each of its buttons, or chords, is pressed before the return phase
of the move of the one before, the last one while that move runs at all. All but the
last do their own moves meanwhile, so they need some; what is typed faster waits for its
turn. Where it breaks off, nothing is lost: the moves that were typed run to their end,
and the button that did not belong to it does its own move, or begins a sequence anew.
"""

from __future__ import annotations

import json
from collections.abc import Collection, Mapping, Sequence
from dataclasses import MISSING, fields
from pathlib import Path
from typing import Any

from flexor.errors import SettingError
from flexor.files.text.input_log import log_text, read_log, write_log
from flexor.files.text.toml_text import (
    Keys,
    Tables,
    TomlFile,
    Words,
    open_toml,
    say_known,
)
from flexor.scene.stage.buttons import button_mask, button_text, check_letters
from flexor.scene.stage.layout import BUTTONS
from flexor.scene.stage.moves import (
    MOST_SEQUENCES,
    NO_PARTS,
    Combination,
    Command,
    Move,
    MoveTable,
    fault_of_sequence,
    hands_can_parry,
    read_commands,
    read_sequence,
)

__all__ = [
    "TOP",
    "log_text",
    "moves_text",
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
}
COMBINATION: Words = {
    "name": (str, "name"),
    "button": (str, "button"),
    "commands": (str, "commands"),
}


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
    file = open_toml(path)
    return take_moves(file, file.table(file.given, TOP, ()), clips=clips, parts=parts)


def take_moves(
    file: TomlFile,
    top: Mapping[str, Any],
    *,
    clips: Sequence[str] | None = None,
    parts: Sequence[str] | None = None,
) -> MoveTable:
    """The moves of a file, whose tables of the words in `TOP` are `top`.

    A file that tells more than moves has read the rest itself.
    """
    letters = _read_letters(file, top.get("buttons", {}))
    moves, bound, typed = [], dict[str, str](), dict[str, str]()
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
            moves.append(Move(name, **own))
        except SettingError as error:
            word, _, fault = str(error).partition(": ")
            raise file.refuse((*keys, word), fault) from None
    combinations: list[Combination] = []
    for row, table in enumerate(top.get("combination", ())):
        keys = ("combination", row)
        one = _read_combination(file, table, keys, letters, bound, moves)
        for other in combinations:
            for word in ("name", "button"):
                value = getattr(one, word)
                if value == getattr(other, word):
                    fault = f"{value!r} is that of {other.name!r}, expected another"
                    raise file.refuse((*keys, word), fault)
        combinations.append(one)
    taken = [one.button for one in combinations]
    for text, name in typed.items():
        fault = fault_of_sequence(text, bound, taken, lambda b: _in_letters(b, letters))
        if fault:
            raise file.refuse(("move", name, "sequence"), fault)
    singles = {text: move for text, move in bound.items() if text in BUTTONS}
    chords = {text: move for text, move in bound.items() if text not in BUTTONS}
    try:
        table = MoveTable(tuple(moves), tuple(combinations), singles, chords, typed)
    except SettingError as error:
        raise file.refuse(("move",), str(error)) from None
    for move in moves:
        if not move.can_hit:
            raise file.refuse(("move", move.name, "parts"), NO_PARTS)
    return table


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


def _read_combination(
    file: TomlFile,
    table: Mapping[str, Any],
    keys: Keys,
    letters: Mapping[str, str],
    bound: Mapping[str, str],
    moves: Sequence[Move],
) -> Combination:
    own = file.table(table, COMBINATION, keys)
    file.needs(own, COMBINATION, keys)
    place: Keys = (*keys, "button")
    try:
        button = button_text(button_mask(own["button"], letters))
        place = (*keys, "commands")
        names = {move.name for move in moves}
        commands = read_commands(own["commands"], letters, names)
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


def moves_text(table: MoveTable) -> str:
    """A table as a text from which `read_moves` makes the same.

    What cannot be told there is refused: a move that several buttons do, an attack
    without parts, commands that name a move by more than a word.
    """
    doing = [*table.singles.items(), *table.chords.items()]
    names = {move.name for move in table.moves}
    blocks = []
    for move in table.moves:
        buttons = [text for text, name in doing if name == move.name]
        if len(buttons) > 1:
            raise SettingError(
                f"table: {move.name!r} is done by {', '.join(buttons)}, expected one"
            )
        typed = [text for text, name in table.sequences.items() if name == move.name]
        if len(typed) > 1:
            raise SettingError(
                f"table: {move.name!r} is typed as {', '.join(typed)}, expected one"
            )
        if not move.can_hit:
            raise SettingError(f"table: parts of {move.name!r}: {NO_PARTS}")
        lines = [f"[move.{_quoted(move.name)}]"]
        lines += [f"button = {_quoted(text)}" for text in buttons]
        lines += [f"sequence = {_quoted(text)}" for text in typed]
        for one in fields(Move)[1:]:
            value = getattr(move, one.name)
            usual = {
                "clip": move.name,
                "can_be_parried": hands_can_parry(move.kind, move.parts),
            }.get(one.name, one.default)
            if one.default is MISSING or value != usual:
                lines.append(f"{one.name} = {_value(value)}")
        blocks.append("\n".join(lines) + "\n")
    for own in table.combinations:
        commands = " ".join(map(str, own.commands))
        for command in own.commands:
            if command.move and not _is_told(command, names):
                raise SettingError(
                    f"table: {own.name!r} names {command.move!r}, expected one "
                    "word without '+' and ':' that is no button's"
                )
        lines = ["[[combination]]", f"name = {_quoted(own.name)}"]
        lines += [f"button = {_quoted(own.button)}", f"commands = {_quoted(commands)}"]
        blocks.append("\n".join(lines) + "\n")
    return "\n".join(blocks)


def _is_told(command: Command, names: Collection[str]) -> bool:
    """Whether a command that names a move can be read again."""
    try:
        return read_commands(str(command), moves=names) == (command,)
    except SettingError:
        return False


def _quoted(text: str) -> str:
    return json.dumps(text, ensure_ascii=False)


def _value(value: Any) -> str:
    if isinstance(value, tuple):
        return f"[{', '.join(map(_quoted, value))}]"
    if isinstance(value, bool):
        return "true" if value else "false"
    return _quoted(value) if isinstance(value, str) else repr(value)
