"""What authors say about levels of detail, in a text file (TOML).

    mean = 1.0               # pixels that a level may be off where it takes over
    worst = 3.0
    heights = [360, 160]     # pixels tall, of 720 rows, when each level takes over

    [[level]]                # the first one beyond the whole character
    name = "near"

    [[level]]
    name = "mid"
    height = 120             # instead of that in heights
    drop = ["*finger*"]      # names of nodes, or patterns such as those of a shell
    keep = ["head"]          # wins over drop
    triangles = 1200         # at most
    influences = 2           # at most, a vertex
    [level.carriers]
    "l-toe" = "l-foot"       # whose vertices go to whom

What is left out is found by measuring.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from fnmatch import fnmatchcase
from pathlib import Path
from typing import Any

from flexor.errors import AssetError, SettingError
from flexor.files.text.toml_text import (
    Keys,
    Tables,
    TomlFile,
    Words,
    open_toml,
    say_known,
    say_value,
)
from flexor.scene.runtime.level_settings import LevelChoice, LevelSettings

__all__ = ["read_levels"]

TOP: Words = {
    "mean": (float, "mean"),
    "worst": (float, "worst"),
    "heights": (tuple, "heights"),
    "level": (Tables, "choices"),
}
LEVEL: Words = {
    "name": (str, "name"),
    "height": (float, "height"),
    "drop": (list, "drop"),
    "keep": (list, "keep"),
    "triangles": (int, "triangles"),
    "influences": (int, "influences"),
    "carriers": (dict, "carriers"),
}


def read_levels(path: str | Path, names: Sequence[str]) -> LevelSettings:
    """How a file says that levels are to be made.

    names: of the nodes there are. AssetError with line and key where the file is wrong
    or names nodes that are not there.
    """
    file = open_toml(path)
    values = file.table(file.given, TOP, (), LevelSettings)
    choices: list[LevelChoice] = []
    settings = LevelSettings(**values | {"choices": ()})
    for row, table in enumerate(values.get("choices", ())):
        choices.append(_read_choice(file, table, row, names))
        try:
            settings = LevelSettings(**values | {"choices": choices})
        except SettingError as error:
            raise file.refuse(("level", row, "height"), str(error)) from None
    return settings


def _read_choice(
    file: TomlFile, table: Mapping[str, Any], row: int, names: Sequence[str]
) -> LevelChoice:
    """One [[level]], counted from 0."""
    keys: Keys = ("level", row)
    own = file.table(table, LEVEL, keys, LevelChoice)
    for word in ("drop", "keep"):
        for pattern in own.get(word, ()):
            if not any(pattern == n or fnmatchcase(n, pattern) for n in names):
                raise _no_node(file, (*keys, word), pattern, names)
    carriers = own.get("carriers", {})
    for dropped, kept in carriers.items():
        place = (*keys, "carriers", dropped)
        if not isinstance(kept, str):
            raise file.refuse(place, f"{say_value(kept)}, expected the name of a node")
        for name in (dropped, kept):
            if name not in names:
                raise _no_node(file, place, name, names)
    for dropped, heir in carriers.items():
        seen = {dropped}
        while heir in carriers and heir not in seen:
            seen.add(heir)
            heir = carriers[heir]
        if heir in seen:
            place = (*keys, "carriers", dropped)
            fault = "nobody carries it, it is handed in a circle"
            raise file.refuse(place, fault)
    return LevelChoice(**own)


def _no_node(file: TomlFile, keys: Keys, name: str, names: Sequence[str]) -> AssetError:
    return file.refuse(keys, f"no node {say_value(name)}; {say_known(name, names)}")
