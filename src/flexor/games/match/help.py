"""What the pads do, in lines: made from the moves that there are."""

from __future__ import annotations

from collections.abc import Iterable

from flexor.scene.stage.moves import MoveTable

__all__ = ["help_lines", "move_words"]

WIDEST = 52  # letters of a line
GAP = "   "


def move_words(table: MoveTable) -> list[str]:
    """What each button, or several at once, does: "B punch", "B+C spin kick"; and what
    is typed: "B C B throw".
    """
    runs = {one.button: one.name for one in table.combinations}
    does = {**table.singles, **table.chords, **runs}
    every = [*does.items(), *table.sequences.items()]
    return [f"{buttons} {_plain(name)}" for buttons, name in every]


def _plain(name: str) -> str:
    return name.replace("-", " ").replace("_", " ")


def fold(words: Iterable[str]) -> list[str]:
    """Words side by side in lines that are not too long."""
    lines: list[str] = []
    for word in words:
        if lines and len(lines[-1]) + len(GAP) + len(word) <= WIDEST:
            lines[-1] += GAP + word
        else:
            lines.append(word)
    return lines


def help_lines(
    table: MoveTable, *, is_facing: bool, has_cameras: bool, has_snow: bool
) -> tuple[str, ...]:
    """Lines for a title and for the help.

    is_facing: whether who plays faces an opponent, and goes around it; has_cameras:
    whether L gives another camera; has_snow: and L with R snow.
    """
    way = "direction: walk"
    if is_facing:
        way += ", left and right to and fro, up and down around"
    more = ["R run"]
    more += ["L camera"] if has_cameras else []
    more += ["L+R snow"] if has_snow else []
    return (way, *fold(move_words(table)), GAP.join(more))
