"""Values of the scene as JSON objects, both ways; what is read is not trusted.

A value is an object by the names of its fields; None, and what equals the default, is
left out. Reading looks at what is there and nothing else: most fields are as usual, and
a character is read in a fraction of a millisecond. For each field there is a function
that gives the value as it should be, or raises a ValueError that says what is wrong.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import MISSING, fields, is_dataclass
from pathlib import Path
from typing import Any

from flexor.errors import AssetError
from flexor.files.gltf.checked import kind_of
from flexor.files.package.tensors import parse_json

__all__ = [
    "Checks",
    "carried",
    "choice",
    "flag",
    "number",
    "parse_scene",
    "read_record",
    "read_records",
    "record",
    "row",
    "text",
    "texts",
    "vector",
    "whole",
]

Checks = Mapping[str, Callable[[Any], Any]]

LARGEST = 3.4028234663852886e38  # of float32
MOST = 1 << 53  # up to here a whole number is the same in every JSON reader
# How deep JSON that is not looked at may be nested: writers walk it.
MOST_DEPTH = 400


def record(value: Any, *without: str) -> dict[str, Any]:
    """A dataclass as JSON; fields `without` are kept elsewhere."""
    out = {}
    for field in fields(value):
        item = getattr(value, field.name)
        if item is None or field.name in without:
            continue
        # By their texts: 0.0 and -0.0 are equal but not the same.
        if field.default is MISSING or repr(item) != repr(field.default):
            out[field.name] = record(item) if is_dataclass(item) else item
    return out


def read_records(
    path: Path, json: dict[str, Any], key: str, checks: Checks
) -> list[dict[str, Any]]:
    """The objects of the array under `key`, checked; none if it is missing."""
    if key not in json:
        return []
    items = json[key]
    if type(items) is not list:
        raise AssetError(path, f"/{key}", "expected an array")
    return [
        read_record(path, item, checks, key, number)
        for number, item in enumerate(items)
    ]


def read_record(
    path: Path, item: Any, checks: Checks, *place: str | int
) -> dict[str, Any]:
    """The fields of an object that are known, checked; place: where it stands."""
    if type(item) is not dict:
        where = "".join(f"/{part}" for part in place)
        raise AssetError(path, where, f"expected an object, got {kind_of(item)}")
    out = {}
    for key, value in item.items():
        check = checks.get(key)
        if check is not None:
            try:
                out[key] = check(value)
            except ValueError as error:
                where = "".join(f"/{part}" for part in (*place, key))
                raise AssetError(path, where, str(error)) from None
    return out


def text(value: Any) -> str:
    """A text."""
    if type(value) is not str:
        raise ValueError(f"expected a text, got {kind_of(value)}")
    return value


def texts(value: Any) -> tuple[str, ...]:
    """An array of texts."""
    if type(value) is not list or not set(map(type, value)) <= {str}:
        raise ValueError("expected an array of texts")
    return tuple(value)


def flag(value: Any) -> bool:
    """True or false."""
    if type(value) is not bool:
        raise ValueError(f"expected true or false, got {kind_of(value)}")
    return value


def number(value: Any) -> float:
    """A number that float32 can hold."""
    if (type(value) is not float and type(value) is not int) or not (
        -LARGEST <= value <= LARGEST
    ):
        raise ValueError(f"expected a finite number, got {kind_of(value)}")
    return float(value)


def vector(size: int) -> Callable[[Any], tuple[float, ...]]:
    """So many numbers."""

    def check(value: Any) -> tuple[float, ...]:
        if type(value) is not list or len(value) != size:
            raise ValueError(f"expected {size} numbers, got {kind_of(value)}")
        return tuple(map(number, value))

    return check


def whole(value: Any) -> int:
    """A whole number from 0 on."""
    if type(value) is not int or not 0 <= value <= MOST:
        raise ValueError(f"expected a whole number from 0 on, got {kind_of(value)}")
    return value


def row(count: int) -> Callable[[Any], int]:
    """A row of a table with `count` rows."""

    def check(value: Any) -> int:
        if type(value) is not int or not 0 <= value < count:
            raise ValueError(f"{kind_of(value)} is not one of {count} rows")
        return value

    return check


def choice(allowed: tuple[str, ...]) -> Callable[[Any], str]:
    """One of several texts."""

    def check(value: Any) -> str:
        given = text(value)
        if given not in allowed:
            raise ValueError(f"{given[:40]!r}, expected one of {', '.join(allowed)}")
        return given

    return check


def carried(value: Any) -> dict[str, Any]:
    """JSON that is kept unread: an object that the writer of glTF can take."""
    if type(value) is not dict:
        raise ValueError(f"expected an object, got {kind_of(value)}")
    for key in ("asset", "extensions"):
        if type(value.get(key, value)) is not dict:
            raise ValueError(f"expected an object under {key!r}")
    return value


def parse_scene(text: str) -> dict[str, Any]:
    """The JSON object of a text; ValueError where it is none, or nested too deeply."""
    json = parse_json(text)
    if type(json) is not dict:
        raise ValueError("expected an object")
    # No text is nested deeper than it opens brackets, and most open few.
    if text.count("{") + text.count("[") > MOST_DEPTH:
        level: list[Any] = [json]
        for _ in range(MOST_DEPTH):
            level = [
                inner
                for outer in level
                for inner in (outer.values() if type(outer) is dict else outer)
                if type(inner) is dict or type(inner) is list
            ]
        if level:
            raise ValueError("nested too deeply")
    return json
