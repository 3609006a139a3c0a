"""Settings of a repair in a text file (TOML)."""

from __future__ import annotations

import re
import tomllib
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

from flexor.convert.link_weights import LinkSettings
from flexor.convert.repair import JointRule, RepairSettings
from flexor.convert.smooth_weights import SmoothSettings
from flexor.errors import AssetError, SettingError

__all__ = ["read_settings"]

MOST_BYTES = 1_000_000
# Words of the file, and what they are called in the settings.
TOP = {
    "regenerate": (bool, "regenerate"),
    "rogues": (bool, "rogues"),
    "spare": (float, "spare"),
    "mirror": (str, "mirror"),
    "prune": (float, "prune"),
    "max_influences": (int, "most_influences"),
    "palette": (int, "most_palette"),
    "joints": (list, "joints"),
    "rigid": (list, "rigid"),
    "smooth": (dict, "smooth"),
    "links": (dict, "links"),
    "joint": (dict, "rules"),
}
SMOOTH = {
    "width": (float, "width"),
    "steps": (int, "most"),
    "enough": (float, "enough"),
}
CHAIN = {"count": (int, "count"), "length": (float, "length"), "fade": (float, "fade")}
LINKS = CHAIN | {"always": (bool, "is_forced")}
KINDS = {
    bool: "true or false",
    int: "a whole number",
    float: "a number",
    str: "a text",
    list: "a list of texts",
    dict: "a table",
}


def read_settings(path: Path) -> RepairSettings:
    """The settings in a file; AssetError with line and key where it is wrong."""
    try:
        if path.exists() and not path.is_file():
            raise AssetError(path, "", "is a directory or no plain file")
        with path.open("rb") as file:
            data = file.read(MOST_BYTES + 1)
        if len(data) > MOST_BYTES:
            raise AssetError(path, "", f"is larger than {MOST_BYTES:,} bytes")
        text = data.decode("utf-8-sig")
        given = tomllib.loads(text)
    except OSError as error:
        raise AssetError(path, "", error.strerror or str(error)) from None
    except (ValueError, RecursionError) as error:
        raise AssetError(path, "", f"is no TOML: {error}") from None
    values = _words(path, text, given, TOP, ())
    for key, known, make in (
        ("smooth", SMOOTH, SmoothSettings),
        ("links", LINKS, LinkSettings),
    ):
        if key in values:
            words = _words(path, text, values[key], known, (key,), make)
            if "is_forced" in words:
                values["is_forced"] = words.pop("is_forced")
            values[key] = make(**words)
    rules = values.pop("rules", {})
    values["rules"] = tuple(_rule(path, text, one, rules) for one in rules)
    values |= {key: tuple(values[key]) for key in ("joints", "rigid") if key in values}
    return RepairSettings(**values)


def _rule(path: Path, text: str, pattern: str, rules: Mapping[str, Any]) -> JointRule:
    """The rule of one [joint."pattern"]."""
    keys = ("joint", pattern)
    if not isinstance(rules[pattern], dict):
        raise AssetError(path, _place(text, keys), f"joint.{pattern}: expected a table")
    words = _words(path, text, rules[pattern], CHAIN, keys, LinkSettings)
    return JointRule(pattern=pattern, **words)


def _words(
    path: Path,
    text: str,
    given: Mapping[str, Any],
    known: Mapping[str, tuple[type, str]],
    above: tuple[str, ...],
    make: Callable[..., Any] = RepairSettings,
) -> dict[str, Any]:
    """The values of a table by the settings' names, each of its kind.

    make: takes any of them alone, and refuses what is no good.
    """
    values = {}
    for key, value in given.items():
        place = _place(text, (*above, key))
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
            make(**{word: values[word]})
        except SettingError as error:
            wanted = str(error).partition(", expected ")[2]
            text = f"{name}: {value!r}, expected {wanted}"
            raise AssetError(path, place, text) from None
    return values


def _is_of(value: Any, kind: type) -> bool:
    if kind is list:
        return isinstance(value, list) and all(isinstance(one, str) for one in value)
    if isinstance(value, bool):
        return kind is bool
    if kind is float:
        return isinstance(value, int | float)
    return isinstance(value, kind)


def _place(text: str, keys: tuple[str, ...]) -> str:
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
