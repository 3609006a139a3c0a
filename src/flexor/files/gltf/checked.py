"""JSON that is not trusted: every look-up is checked and knows its place.

Each method either returns a value of the right kind or raises an AssetError that names
the file and the JSON pointer. Numbers come back finite and inside their range.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from flexor.errors import AssetError

__all__ = ["Checked"]

_REQUIRED: Any = object()


class Checked:
    """A JSON value, the key it stands under, and the value around it."""

    __slots__ = ("_above", "_key", "path", "value")

    def __init__(
        self, value: Any, path: Path, above: Checked | None = None, key: object = ""
    ) -> None:
        self.value = value
        self.path = path
        self._above = above
        self._key = key

    @property
    def pointer(self) -> str:
        """JSON pointer of this value; the root is empty."""
        if self._above is None:
            return ""
        # RFC 6901: the two characters with a meaning of their own are escaped.
        key = str(self._key).replace("~", "~0").replace("/", "~1")
        return f"{self._above.pointer}/{key}"

    def error(self, text: str, key: object = None) -> AssetError:
        """An AssetError for this place, or for `key` inside it."""
        pointer = self.pointer if key is None else f"{self.pointer}/{key}"
        return AssetError(self.path, pointer or "/", text)

    def has(self, key: str) -> bool:
        """Whether this is an object that holds `key`."""
        return isinstance(self.value, dict) and key in self.value

    def get(self, key: str) -> Checked | None:
        """What stands under `key`, or None."""
        if not isinstance(self.value, dict):
            raise self.error(f"expected an object, got {_kind(self.value)}")
        if key not in self.value:
            return None
        return Checked(self.value[key], self.path, self, key)

    def child(self, key: str) -> Checked:
        """What stands under `key`; it must be there."""
        found = self.get(key)
        if found is None:
            raise self.error(f"{key!r} is missing")
        return found

    def object(self, key: str) -> Checked | None:
        """The object under `key`, or None."""
        found = self.get(key)
        if found is not None and not isinstance(found.value, dict):
            raise found.error(f"expected an object, got {_kind(found.value)}")
        return found

    def items(self, key: str) -> list[Checked]:
        """The members of the array under `key`; none if it is missing."""
        found = self.get(key)
        return [] if found is None else list(found.members())

    def members(self) -> Iterator[Checked]:
        """The members of this array."""
        if not isinstance(self.value, list):
            raise self.error(f"expected an array, got {_kind(self.value)}")
        for i, value in enumerate(self.value):
            yield Checked(value, self.path, self, i)

    def as_integer(self, low: int = 0, high: int | None = None) -> int:
        """This value as a whole number from `low` to `high`."""
        value = self.value
        if isinstance(value, float) and value.is_integer():
            value = int(value)
        if not isinstance(value, int) or isinstance(value, bool):
            raise self.error(f"expected a whole number, got {_kind(value)}")
        if value < low or (high is not None and value > high):
            upper = "" if high is None else f" to {high}"
            raise self.error(f"{value} is out of range, expected {low}{upper}")
        return value

    def integer(
        self, key: str, default: int = _REQUIRED, low: int = 0, high: int | None = None
    ) -> int:
        """The whole number under `key`."""
        found = self.child(key) if default is _REQUIRED else self.get(key)
        return default if found is None else found.as_integer(low, high)

    def as_index(self, count: int, what: str) -> int:
        """This value as a row of a table with `count` rows."""
        row = self.as_integer()
        if row >= count:
            has = "there are none" if count == 0 else f"the last is {count - 1}"
            raise self.error(f"{what} {row} does not exist; {has}")
        return row

    def index(self, key: str, count: int, what: str) -> int | None:
        """The row under `key`, or None."""
        found = self.get(key)
        return None if found is None else found.as_index(count, what)

    def indices(self, key: str, count: int, what: str) -> list[int]:
        """The rows in the array under `key`; none if it is missing."""
        return [item.as_index(count, what) for item in self.items(key)]

    def as_number(self) -> float:
        """This value as a finite number."""
        value = self.value
        if not isinstance(value, int | float) or isinstance(value, bool):
            raise self.error(f"expected a number, got {_kind(value)}")
        try:
            number = float(value)
        except OverflowError:
            number = math.inf
        if not math.isfinite(number):
            raise self.error("expected a finite number")
        return number

    def number(self, key: str, default: float) -> float:
        """The finite number under `key`."""
        found = self.get(key)
        return default if found is None else found.as_number()

    def vector(self, key: str, default: tuple[float, ...]) -> tuple[float, ...]:
        """As many finite numbers under `key` as `default` has."""
        found = self.get(key)
        if found is None:
            return default
        numbers = tuple(item.as_number() for item in found.members())
        if len(numbers) != len(default):
            raise found.error(f"{len(numbers)} numbers, expected {len(default)}")
        return numbers

    def text(self, key: str, default: str = "") -> str:
        """The text under `key`."""
        found = self.get(key)
        if found is None:
            return default
        if not isinstance(found.value, str):
            raise found.error(f"expected a text, got {_kind(found.value)}")
        return found.value

    def flag(self, key: str, default: bool = False) -> bool:
        """The truth value under `key`."""
        found = self.get(key)
        if found is None:
            return default
        if not isinstance(found.value, bool):
            raise found.error(f"expected true or false, got {_kind(found.value)}")
        return found.value

    def choice(self, key: str, allowed: tuple[str, ...], default: str) -> str:
        """The text under `key`, one of `allowed`."""
        text = self.text(key, default)
        if text not in allowed:
            raise self.error(f"{text!r}, expected one of {', '.join(allowed)}", key)
        return text


def _kind(value: Any) -> str:
    names = {dict: "an object", list: "an array", str: "a text", type(None): "null"}
    return names.get(type(value), repr(value))
