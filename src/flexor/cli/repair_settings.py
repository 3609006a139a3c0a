"""Settings of a repair in a text file (TOML)."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import fields
from pathlib import Path
from typing import Any

from flexor.convert.links.place_links import JointRule
from flexor.convert.repair.passes import TABLE
from flexor.convert.repair.settings import RepairSettings, make_settings
from flexor.errors import AssetError
from flexor.files.text.toml_text import find_line, read_table, read_toml

__all__ = ["file_words", "read_settings", "read_values"]


def file_words() -> dict[str, dict[str, tuple[type, str]]]:
    """The words that each table of the file may hold; "" for those outside of tables.

    Of each its kind and the name of its setting; tables are words of kind dict.
    """
    words: dict[str, dict[str, tuple[type, str]]] = {"": {}}
    for name, setting in TABLE.settings.items():
        table, _, word = setting.word.rpartition(".")
        words.setdefault(table, {})[word] = setting.kind, name
    words[""] |= {table: (dict, table) for table in words if table}
    return words


def read_settings(path: Path) -> RepairSettings:
    """The settings in a file; AssetError with line and key where it is wrong."""
    return make_settings(read_values(path))


def read_values(path: Path) -> dict[str, Any]:
    """What a file says, by the names of the settings; AssetError where it is wrong.

    A table that is there asks for its pass, with the usual number where it says none.
    """
    text, given = read_toml(path)
    words = file_words()
    values = read_table(path, text, given, words[""], (), _check)
    for table in [name for name in words if name in values and name]:
        inner = read_table(
            path, text, values.pop(table), words[table], (table,), _check
        )
        usual = {name: TABLE.settings[name].usual for _, name in words[table].values()}
        values |= {name: value for name, value in usual.items() if value is not None}
        values |= inner
    rules = values.pop("rules", {})
    values["rules"] = tuple(_rule(path, text, one, rules) for one in rules)
    return values


def _check(**given: Any) -> None:
    """Refuse a value that is no good, by the name of its setting."""
    for name, value in given.items():
        TABLE.settings[name].check(value)


def _rule(path: Path, text: str, pattern: str, rules: Mapping[str, Any]) -> JointRule:
    """The rule of one [joint."pattern"]: words of [links] for some joints."""
    keys = ("joint", pattern)
    if not isinstance(rules[pattern], dict):
        raise AssetError(
            path, find_line(text, keys), f"joint.{pattern}: expected a table"
        )
    own = {field.name for field in fields(JointRule)}
    every = file_words()["links"]
    words = {word: row for word, row in every.items() if word in own}
    given = read_table(path, text, rules[pattern], words, keys, _check)
    named = {word: given[name] for word, (_, name) in words.items() if name in given}
    return JointRule(pattern=pattern, **named)
