"""What tables of a file of a stage share: rows, names, angles and names of files."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from flexor.errors import SettingError
from flexor.files.text.toml_text import Keys, TomlFile, say_value

__all__ = ["Names", "check_angles", "find_file", "rows_of"]

# Degrees, from the least to the most.
ANGLES = {
    "heading": (-3600.0, 3600.0),
    "fov": (1.0, 170.0),
    "turn": (0.0, 5700.0),
    "angle": (0.1, 180.0),
}


def check_angles(**words: Any) -> None:
    """Refuse angles, here in radians, that are of no use."""
    for word, value in words.items():
        if word in ANGLES:
            least, most = ANGLES[word]
            if not math.radians(least) <= value <= math.radians(most):
                wanted = f"{least:g} to {most:g} degrees"
                raise SettingError(f"{word}: {value}, expected {wanted}")


def rows_of(
    file: TomlFile, tables: Sequence[Mapping[str, Any]], word: str, most: int
) -> list[tuple[Keys, Mapping[str, Any]]]:
    """Several tables and the keys of each."""
    if len(tables) > most:
        fault = f"there are {len(tables):,}, expected {most:,} or less"
        raise file.refuse((word, most), fault)
    return [((word, row), table) for row, table in enumerate(tables)]


class Names:
    """Names that are there once."""

    def __init__(self, file: TomlFile) -> None:
        self.file = file
        self.rows: dict[str, Keys] = {}

    def add(self, name: str, keys: Keys) -> None:
        """Take a name in, or refuse it where another has it."""
        if name in self.rows:
            word, row = self.rows[name]
            first = f"{word} {int(row) + 1}"
            fault = f"{say_value(name)} is that of {first}, expected another"
            raise self.file.refuse((*keys, "name"), fault)
        self.rows[name] = keys


def find_file(file: TomlFile, name: str, keys: Keys) -> Path:
    """A file that is named from the folder of another."""
    if not name or "\0" in name:
        raise file.refuse(keys, f"{say_value(name)}, expected the name of a file")
    return file.path.parent.absolute() / name
