"""Text files that people write (TOML): read with checks, and faults by line and key."""

from __future__ import annotations

import difflib
import re
import tomllib
from collections.abc import Callable, Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any

from flexor.errors import AssetError, SettingError

__all__ = [
    "Keys",
    "Tables",
    "Words",
    "find_line",
    "name_key",
    "read_table",
    "read_toml",
    "say_known",
]

MOST_BYTES = 1_000_000


class Tables:
    """The kind of a word that stands for several tables, each under [[word]]."""


# Where a value stands: words, and numbers from 0 behind words of several tables.
Keys = tuple[str | int, ...]
# The words that a table may hold: the kind of each and what it is called inside.
Words = Mapping[str, tuple[type, str]]
KINDS = {
    bool: "true or false",
    int: "a whole number",
    float: "a number",
    str: "a text",
    list: "a list of texts",
    tuple: "a list of numbers",
    dict: "a table",
    Tables: "tables, each under its word in double brackets",
}


def read_toml(path: Path) -> tuple[str, dict[str, Any]]:
    """The text of a file and what it says; AssetError where it cannot be read."""
    try:
        if path.exists() and not path.is_file():
            raise AssetError(path, "", "is a directory or no plain file")
        with path.open("rb") as file:
            data = file.read(MOST_BYTES + 1)
        if len(data) > MOST_BYTES:
            raise AssetError(path, "", f"is larger than {MOST_BYTES:,} bytes")
        text = data.decode("utf-8-sig")
        return text, tomllib.loads(text)
    except OSError as error:
        raise AssetError(path, "", error.strerror or str(error)) from None
    except (ValueError, RecursionError) as error:
        raise AssetError(path, "", f"is no TOML: {error}") from None


def read_table(
    path: Path,
    text: str,
    given: Mapping[str, Any],
    known: Words,
    above: Keys,
    check: Callable[..., Any],
) -> dict[str, Any]:
    """The values of a table by the names inside, each of its kind.

    above: the keys of the table; check: takes any of the values alone, by name, and
    refuses with a SettingError what is no good; tables, lists and yes or no are not
    handed to it.
    """
    values = {}
    for key, value in given.items():
        place = find_line(text, (*above, key))
        name = name_key((*above, key))
        if key not in known:
            there = ", ".join(known)
            raise AssetError(path, place, f"{name}: not known; there are: {there}")
        kind, word = known[key]
        if not _is_of(value, kind):
            raise AssetError(path, place, f"{name}: {value!r}, expected {KINDS[kind]}")
        try:
            values[word] = float(value) if kind is float else value
        except OverflowError:
            raise AssetError(path, place, f"{name}: is too large") from None
        if kind in (list, dict, bool, Tables):
            continue
        try:
            check(**{word: values[word]})
        except SettingError as error:
            _, expected, wanted = str(error).partition(", expected ")
            fault = f"{name}: {value!r}{expected}{wanted}" if expected else str(error)
            raise AssetError(path, place, fault) from None
    return values


def _is_of(value: Any, kind: type) -> bool:
    if kind is list:
        return isinstance(value, list) and all(isinstance(one, str) for one in value)
    if kind is tuple:
        return isinstance(value, list) and all(_is_of(one, float) for one in value)
    if kind is Tables:
        return isinstance(value, list) and all(isinstance(one, dict) for one in value)
    if isinstance(value, bool):
        return kind is bool
    if kind is float:
        return isinstance(value, int | float)
    return isinstance(value, kind)


def find_line(text: str, keys: Keys) -> str:
    """The line where a key is set, as far as a look at each line tells.

    A key inside of braces is in the line of what holds them. Without numbers in `keys`
    the first of several tables is meant.
    """
    for count in range(len(keys), 0, -1):
        for number, place in _places(text):
            words = tuple(key for key in place if isinstance(key, str))
            if keys[:count] in (place, words):
                return f"line {number}"
    return name_key(keys)


def _places(text: str) -> Iterator[tuple[int, Keys]]:
    """Lines that set a key or begin a table, by number, and where that stands."""
    table: Keys = ()
    counts: dict[Keys, int] = {}  # of each word of several tables, the last number
    for number, line in enumerate(text.splitlines(), 1):
        head = re.match(r"\s*(\[+)\s*(.*?)\s*\]+\s*(#.*)?$", line)
        if head:
            table, words = (), _split(head[2])
            for depth, key in enumerate(words, 1):
                table = (*table, key)
                if len(head[1]) > 1 and depth == len(words):
                    counts[table] = counts.get(table, -1) + 1
                if table in counts:
                    table = (*table, counts[table])
            yield number, table
            continue
        before, equals, _ = line.partition("=")
        if equals:
            yield number, (*table, *_split(before.strip()))


def name_key(keys: Keys) -> str:
    """Keys in words, such as "level 2.height": tables are counted from 1."""
    name = ""
    for key in keys:
        name += f" {key + 1}" if isinstance(key, int) else f".{key}"
    return name.removeprefix(".")


def say_known(name: str, names: Iterable[str]) -> str:
    """What there is instead of a name that is not among `names`, the closest first."""
    known = list(dict.fromkeys(names))
    near = difflib.get_close_matches(name, known, 4, 0.5) or known[:8]
    more = ", ..." if len(near) < len(known) else ""
    return (
        f"there are: {', '.join(map(repr, near))}{more}" if near else "there are none"
    )


def _split(name: str) -> tuple[str, ...]:
    """The parts of a dotted key."""
    parts = re.findall(r'"((?:[^"\\]|\\.)*)"|\'([^\']*)\'|([^.\s"\']+)', name)
    return tuple(a or b or c for a, b, c in parts)
