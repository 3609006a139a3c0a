"""Text files that people write (TOML): read with checks, and faults by line and key."""

from __future__ import annotations

import re
import tomllib
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

from flexor.errors import AssetError, SettingError

__all__ = ["Words", "find_line", "read_table", "read_toml"]

MOST_BYTES = 1_000_000
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
    above: tuple[str, ...],
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
        name = ".".join((*above, key))
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
        if kind in (list, dict, bool):
            continue
        try:
            check(**{word: values[word]})
        except SettingError as error:
            wanted = str(error).partition(", expected ")[2]
            text = f"{name}: {value!r}, expected {wanted}"
            raise AssetError(path, place, text) from None
    return values


def _is_of(value: Any, kind: type) -> bool:
    if kind is list:
        return isinstance(value, list) and all(isinstance(one, str) for one in value)
    if kind is tuple:
        return isinstance(value, list) and all(_is_of(one, float) for one in value)
    if isinstance(value, bool):
        return kind is bool
    if kind is float:
        return isinstance(value, int | float)
    return isinstance(value, kind)


def find_line(text: str, keys: tuple[str, ...]) -> str:
    """The line where a key is set, as far as a look at each line tells."""
    table: tuple[str, ...] = ()
    for number, line in enumerate(text.splitlines(), 1):
        head = re.match(r"\s*\[+\s*(.*?)\s*\]+\s*(#.*)?$", line)
        if head:
            table = _split(head[1])
            if table == keys:
                return f"line {number}"
            continue
        before, equals, _ = line.partition("=")
        if equals and (*table, *_split(before.strip())) == keys:
            return f"line {number}"
    return ".".join(keys)


def _split(name: str) -> tuple[str, ...]:
    """The parts of a dotted key."""
    parts = re.findall(r'"((?:[^"\\]|\\.)*)"|\'([^\']*)\'|([^.\s"\']+)', name)
    return tuple(a or b or c for a, b, c in parts)
