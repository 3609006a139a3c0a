"""Moves in a text file (TOML), and logs of buttons in lines: read and written.

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
    can_be_parried = true
    afterimages = ["rightLowerArm", "rightHand"]

    [move.kick]
    button = "K"
    start = 9
    hit = 4
    back = 16
    parts = ["rightFoot", "rightLowerLeg"]

    [move.guard]
    button = "G"
    kind = "guard"           # attack, guard, parry, jump, crouch or other
    start = 2
    hit = 6                  # at least: it stays while the button is held
    back = 4

    [move.throw]
    button = "P+K"
    start = 8
    hit = 20
    back = 20
    parts = ["leftHand", "rightHand"]

    [[combination]]
    name = "rush"
    button = "X"
    commands = "P:12 P:10 K P+K:24"

Buttons are up, down, left, right, A, B, C, X, Y, Z, L and R. Numbers behind commands
are ticks until the next one; left out: until the return phase of the move.

A log of buttons is a line for each change: tick, character, what it holds from then on.

    flexor inputs 1
    ticks 600
    120 0 left+B
    131 0 -

Where the camera was given another rule, there is a line for that too, and the log is of
version 2: tick, "camera", the row of whom it is about, and the rule.

    flexor inputs 2
    140 camera 0 {"rule": "behind", "distance": 3.4}
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping, Sequence
from dataclasses import MISSING, fields
from pathlib import Path
from typing import Any

import numpy as np

from flexor.errors import AssetError, SettingError, ShapeError, VersionError
from flexor.files.replace import replace_file
from flexor.files.text.toml_text import (
    Keys,
    Tables,
    TomlFile,
    Words,
    open_toml,
    say_known,
)
from flexor.scene.stage.camera_rule import CameraChange, CameraRule
from flexor.scene.stage.layout import BUTTONS
from flexor.scene.stage.moves import (
    NO_PARTS,
    Combination,
    InputLog,
    Move,
    MoveTable,
    button_mask,
    button_text,
    check_letters,
    read_commands,
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
}
COMBINATION: Words = {
    "name": (str, "name"),
    "button": (str, "button"),
    "commands": (str, "commands"),
}
WORD = "flexor inputs"
VERSION, CAMERA_VERSION = 1, 2
CAMERA = "camera"
MOST_BYTES = 64_000_000  # of a log


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
    moves, bound = [], dict[str, str]()
    for name, table in top.get("move", {}).items():
        keys: Keys = ("move", name)
        if not isinstance(table, dict):
            raise file.refuse(keys, f"{table!r}, expected a table")
        own = file.table(table, MOVE, keys, _check_move)
        _check_uses(file, own, name, keys, clips, parts)
        if "button" in own:
            _bind(file, own.pop("button"), letters, name, bound, keys)
        file.needs(own, ("start", "hit", "back"), keys)
        try:
            moves.append(Move(name, **own))
        except SettingError as error:
            word, _, fault = str(error).partition(": ")
            raise file.refuse((*keys, word), fault) from None
    combinations: list[Combination] = []
    for row, table in enumerate(top.get("combination", ())):
        one = _read_combination(file, table, ("combination", row), letters, bound)
        for other in combinations:
            for word in ("name", "button"):
                value = getattr(one, word)
                if value == getattr(other, word):
                    fault = f"{value!r} is that of {other.name!r}, expected another"
                    raise file.refuse(("combination", row, word), fault)
        combinations.append(one)
    singles = {text: move for text, move in bound.items() if text in BUTTONS}
    chords = {text: move for text, move in bound.items() if text not in BUTTONS}
    try:
        table = MoveTable(tuple(moves), tuple(combinations), singles, chords)
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


def _read_combination(
    file: TomlFile,
    table: Mapping[str, Any],
    keys: Keys,
    letters: Mapping[str, str],
    bound: Mapping[str, str],
) -> Combination:
    own = file.table(table, COMBINATION, keys)
    file.needs(own, COMBINATION, keys)
    place: Keys = (*keys, "button")
    try:
        button = button_text(button_mask(own["button"], letters))
        if button not in BUTTONS:
            raise SettingError(f"{own['button']!r}, expected one button")
        place = (*keys, "commands")
        commands = read_commands(own["commands"], letters)
    except SettingError as error:
        raise file.refuse(place, str(error)) from None
    for word, command in zip(own["commands"].split(), commands, strict=True):
        if command.buttons not in bound:
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

    A move that several buttons do cannot be told there, nor an attack without parts.
    """
    doing = [*table.singles.items(), *table.chords.items()]
    blocks = []
    for move in table.moves:
        buttons = [text for text, name in doing if name == move.name]
        if len(buttons) > 1:
            raise SettingError(
                f"table: {move.name!r} is done by {', '.join(buttons)}, expected one"
            )
        if not move.can_hit:
            raise SettingError(f"table: parts of {move.name!r}: {NO_PARTS}")
        lines = [f"[move.{_quoted(move.name)}]"]
        lines += [f"button = {_quoted(text)}" for text in buttons]
        for one in fields(Move)[1:]:
            value = getattr(move, one.name)
            usual = move.name if one.name == "clip" else one.default
            if one.default is MISSING or value != usual:
                lines.append(f"{one.name} = {_value(value)}")
        blocks.append("\n".join(lines) + "\n")
    for own in table.combinations:
        commands = " ".join(map(str, own.commands))
        lines = ["[[combination]]", f"name = {_quoted(own.name)}"]
        lines += [f"button = {_quoted(own.button)}", f"commands = {_quoted(commands)}"]
        blocks.append("\n".join(lines) + "\n")
    return "\n".join(blocks)


def _quoted(text: str) -> str:
    return json.dumps(text, ensure_ascii=False)


def _value(value: Any) -> str:
    if isinstance(value, tuple):
        return f"[{', '.join(map(_quoted, value))}]"
    if isinstance(value, bool):
        return "true" if value else "false"
    return _quoted(value) if isinstance(value, str) else repr(value)


def log_text(log: InputLog) -> str:
    """A log of buttons as the text of a file."""
    words = {int(mask): button_text(int(mask)) for mask in np.unique(log.states)}
    rows = zip(log.ticks.tolist(), log.who.tolist(), log.states.tolist(), strict=True)
    version = CAMERA_VERSION if log.cameras else VERSION
    lines = [f"{WORD} {version}", f"ticks {log.length}"]
    lines += [f"{tick} {who} {words[mask]}" for tick, who, mask in rows]
    lines += [f"{one.tick} {CAMERA} {one.row} {_say(one.rule)}" for one in log.cameras]
    return "\n".join(lines) + "\n"


def _say(rule: CameraRule) -> str:
    """What a rule has that is not usual, in one line without comments."""
    told = {
        own.name: getattr(rule, own.name)
        for own in fields(CameraRule)
        if getattr(rule, own.name) != own.default
    }
    return json.dumps(told).replace("#", "\\u0023")


def _read_camera(file: Path, place: str, words: list[str]) -> CameraChange:
    """A line of a change of the camera: tick, "camera", row, rule."""
    tick, row = _whole(file, place, words[0]), _whole(file, place, words[2])
    try:
        told = json.loads(words[3])
        known = {own.name for own in fields(CameraRule)}
        if not isinstance(told, dict) or not told.keys() <= known:
            raise SettingError(f"expected {', '.join(sorted(known))} in braces")
        return CameraChange(tick, row, CameraRule(**told))
    except (SettingError, ShapeError, ValueError, RecursionError) as error:
        raise AssetError(file, place, f"camera: {str(error)[:200]}") from None


def write_log(path: str | Path, log: InputLog) -> None:
    """Write a log of buttons, all of it or nothing."""
    replace_file(Path(path), log_text(log).encode("ascii"))


def read_log(path: str | Path) -> InputLog:
    """A log of buttons; AssetError with the line where the file is wrong.

    Empty lines, and what is behind a #, are passed over.
    """
    file = Path(path)
    lines = _read_lines(file)
    head = lines[0].split() if lines else []
    if head[:-1] != WORD.split():
        raise AssetError(file, "line 1", f"expected '{WORD} {VERSION}': is no such log")
    if head[-1] not in (str(VERSION), str(CAMERA_VERSION)):
        text = f"version {head[-1]!r}, expected {VERSION} or {CAMERA_VERSION}"
        raise VersionError(file, "line 1", text)
    length = -1
    ticks, who, states = list[int](), list[int](), list[int]()
    masks: dict[str, int] = {"-": 0}
    before, cameras = (-1, -1), list[CameraChange]()
    for number, line in enumerate(lines[1:], 2):
        words = line.partition("#")[0].split(None, 3)
        if not words:
            continue
        place = f"line {number}"
        if words[0] == "ticks" and length < 0 and not ticks and len(words) == 2:
            length = _whole(file, place, words[1])
            continue
        if words[1:2] == [CAMERA] and len(words) == 4:
            cameras.append(_read_camera(file, place, words))
            continue
        if len(words) != 3:
            raise AssetError(file, place, f"{line[:80]!r}, expected '120 0 B+left'")
        now = _whole(file, place, words[0]), _whole(file, place, words[1])
        if now <= before:
            fault = f"tick {now[0]} of character {now[1]}, expected them to rise"
            raise AssetError(file, place, fault)
        if words[2] not in masks:
            try:
                masks[words[2]] = button_mask(words[2][:80])
            except SettingError as error:
                raise AssetError(file, place, str(error)) from None
        before = now
        ticks.append(now[0])
        who.append(now[1])
        states.append(masks[words[2]])
    try:
        return InputLog(
            np.array(ticks, np.int32),
            np.array(who, np.int32),
            np.array(states, np.uint32),
            length,
            tuple(cameras),
        )
    except (SettingError, ShapeError) as error:
        raise AssetError(file, "line 2", str(error)) from None


def _read_lines(file: Path) -> list[str]:
    try:
        if file.exists() and not file.is_file():
            raise AssetError(file, "", "is a directory or no plain file")
        with file.open("rb") as opened:
            data = opened.read(MOST_BYTES + 1)
        if len(data) > MOST_BYTES:
            raise AssetError(file, "", f"is larger than {MOST_BYTES:,} bytes")
        return data.decode("utf-8-sig").split("\n")
    except OSError as error:
        raise AssetError(file, "", error.strerror or str(error)) from None
    except ValueError as error:
        raise AssetError(file, "", f"is no text: {error}") from None


def _whole(file: Path, place: str, word: str) -> int:
    if not re.fullmatch("[0-9]{1,10}", word) or int(word) >= 2**31 - 1:
        raise AssetError(file, place, f"{word[:80]!r}, expected a whole number")
    return int(word)
