"""Tables of moves as texts that `flexor.files.text.moves` reads."""

from __future__ import annotations

import json
from collections.abc import Collection
from dataclasses import MISSING, fields
from typing import Any

from flexor.errors import SettingError
from flexor.scene.stage.moves import (
    NO_PARTS,
    Command,
    Move,
    MoveTable,
    hands_can_parry,
    read_commands,
)

__all__ = ["moves_text"]


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
