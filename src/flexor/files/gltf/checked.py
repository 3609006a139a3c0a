"""JSON that is not trusted: every look-up is checked and knows its place.

Each method either returns a value of the right kind or raises an AssetError that names
the file and the JSON pointer. Numbers come back finite and inside their range.

Files have tens of thousands of values, nearly all of them right. So the tables that
grow with the file are checked a column at a time (`Table`), and the object that knows
its place is made only to complain.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

from flexor.errors import AssetError

__all__ = ["Checked", "Table", "kind_of"]

_MISSING: Any = object()
_LARGEST = 3.4028234663852886e38  # of float32, which is what numbers are kept in
_MOST = 1 << 53  # up to here a whole number is the same in every JSON reader


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
        place = self if key is None else Checked(None, self.path, self, key)
        return AssetError(self.path, place.pointer or "/", text)

    def has(self, key: str) -> bool:
        """Whether this is an object that holds `key`."""
        return isinstance(self.value, dict) and key in self.value

    def get(self, key: str) -> Checked | None:
        """What stands under `key`, or None."""
        value = self._look(key)
        return None if value is _MISSING else Checked(value, self.path, self, key)

    def child(self, key: str) -> Checked:
        """What stands under `key`; it must be there."""
        value = self._look(key)
        if value is _MISSING:
            raise self.error(f"{key!r} is missing")
        return Checked(value, self.path, self, key)

    def object(self, key: str) -> Checked | None:
        """The object under `key`, or None."""
        found = self.get(key)
        if found is not None:
            found.names()
        return found

    def names(self) -> list[str]:
        """The keys of this object."""
        if not isinstance(self.value, dict):
            raise self.error(f"expected an object, got {kind_of(self.value)}")
        return list(self.value)

    def items(self, key: str) -> list[Checked]:
        """The members of the array under `key`; none if it is missing."""
        found = self.get(key)
        return [] if found is None else found.members()

    def members(self) -> list[Checked]:
        """The members of this array."""
        return [self.member(row) for row in range(len(self.array()))]

    def table(self, key: str) -> Table:
        """The objects of the array under `key`; none if it is missing."""
        found = self.get(key)
        found = found or Checked([], self.path, self, key)
        return Table(found.array(), found.member)

    def array(self) -> list[Any]:
        """The plain values of this array."""
        if not isinstance(self.value, list):
            raise self.error(f"expected an array, got {kind_of(self.value)}")
        return self.value

    def member(self, row: int) -> Checked:
        """One member of what is known to be an array."""
        return Checked(self.value[row], self.path, self, row)

    def as_integer(self, low: int = 0, high: int = _MOST) -> int:
        """The value itself as a whole number from `low` to `high`."""
        value = self.value
        if isinstance(value, float) and value.is_integer():
            value = int(value)
        if not isinstance(value, int) or isinstance(value, bool):
            raise self.error(f"expected a whole number, got {kind_of(value)}")
        if not low <= value <= high:
            upper = "or more" if high == _MOST else f"to {high}"
            raise self.error(
                f"{kind_of(value)} is out of range, expected {low} {upper}"
            )
        return value

    def integer(
        self, key: str, default: int = _MISSING, low: int = 0, high: int = _MOST
    ) -> int:
        """The whole number under `key`."""
        value = self._look(key)
        if type(value) is int and low <= value <= high:
            return value
        if value is _MISSING and default is not _MISSING:
            return default
        return self.child(key).as_integer(low, high)

    def as_index(self, count: int, what: str) -> int:
        """The value itself as a row of a table with `count` rows."""
        row = self.as_integer()
        if row >= count:
            has = "there are none" if count == 0 else f"the last is {count - 1}"
            raise self.error(f"{what} {row} does not exist; {has}")
        return row

    def index(self, key: str, count: int, what: str) -> int | None:
        """The row under `key`, or None."""
        value = self._look(key)
        if type(value) is int and 0 <= value < count:
            return value
        return None if value is _MISSING else self.child(key).as_index(count, what)

    def row(self, key: str, count: int, what: str) -> int:
        """The row under `key`; it must be there."""
        value = self._look(key)
        if type(value) is int and 0 <= value < count:
            return value
        return self.child(key).as_index(count, what)

    def indices(self, key: str, count: int, what: str) -> list[int]:
        """The rows in the array under `key`; none if it is missing."""
        found = self.get(key)
        if found is None:
            return []
        rows = found.value
        if type(rows) is list and all(type(r) is int and 0 <= r < count for r in rows):
            return list(rows)
        return [item.as_index(count, what) for item in found.members()]

    def as_number(self) -> float:
        """The value itself as a number that float32 can hold."""
        if _is_number(self.value):
            return float(self.value)
        if type(self.value) in (int, float):
            raise self.error(f"{kind_of(self.value)} is too large")
        raise self.error(f"expected a number, got {kind_of(self.value)}")

    def number(self, key: str, default: float) -> float:
        """The finite number under `key`."""
        found = self.get(key)
        return default if found is None else found.as_number()

    def vector(self, key: str, default: tuple[float, ...]) -> tuple[float, ...]:
        """As many finite numbers under `key` as `default` has."""
        found = self.get(key)
        if found is None:
            return default
        numbers = found.value
        if type(numbers) is not list or not all(map(_is_number, numbers)):
            numbers = [item.as_number() for item in found.members()]
        if len(numbers) != len(default):
            raise found.error(f"{len(numbers)} numbers, expected {len(default)}")
        return tuple(map(float, numbers))

    def text(self, key: str, default: str = "") -> str:
        """The text under `key`."""
        value = self._look(key)
        if type(value) is str:
            return value
        if value is _MISSING:
            return default
        raise self.error(f"expected a text, got {kind_of(value)}", key)

    def flag(self, key: str, default: bool = False) -> bool:
        """The truth value under `key`."""
        value = self._look(key)
        if type(value) is bool:
            return value
        if value is _MISSING:
            return default
        raise self.error(f"expected true or false, got {kind_of(value)}", key)

    def choice(self, key: str, allowed: tuple[str, ...], default: str) -> str:
        """The text under `key`, one of `allowed`."""
        text = self.text(key, default)
        if text not in allowed:
            raise self.error(f"{text!r}, expected one of {', '.join(allowed)}", key)
        return text

    def _look(self, key: str, default: Any = _MISSING) -> Any:
        """The plain value under `key`."""
        if type(self.value) is dict:
            return self.value.get(key, default)
        raise self.error(f"expected an object, got {kind_of(self.value)}")


class Table:
    """An array of objects of which whole columns are looked up at once.

    A column comes back as a list of plain values, checked like those of `Checked`.
    """

    __slots__ = ("_place", "_values")

    def __init__(self, values: list[Any], place: Callable[[int], Checked]) -> None:
        self._values = values
        self._place = place
        if not set(map(type, values)) <= {dict}:
            for row in range(len(values)):
                place(row).names()

    def __len__(self) -> int:
        return len(self._values)

    def __getitem__(self, row: int) -> Checked:
        return self._place(row)

    def below(self, key: str) -> Table:
        """The objects under `key` of each; they must be there."""
        return Table(self._get(key), lambda row: self[row].child(key))

    def has(self, key: str) -> list[bool]:
        """Whether each holds `key`."""
        return [key in value for value in self._values]

    def integers(
        self, key: str, default: int = _MISSING, low: int = 0, high: int = _MOST
    ) -> list[int]:
        """The whole number under `key` of each."""
        values = self._get(key, default)
        if _are(int, values) and low <= min(values) and max(values) <= high:
            return values
        return [item.integer(key, default, low, high) for item in self._items()]

    def rows(
        self, key: str, count: int, what: str, default: int = _MISSING
    ) -> list[int]:
        """The row under `key` of each; `default` where there is none."""
        values = self._get(key)
        if _are(int, values) and 0 <= min(values) and max(values) < count:
            return values
        items = self._items()
        if default is _MISSING:
            return [item.row(key, count, what) for item in items]
        found = (item.index(key, count, what) for item in items)
        return [default if row is None else row for row in found]

    def flags(self, key: str) -> list[bool]:
        """The truth value under `key` of each."""
        values = self._get(key, False)
        return values if _are(bool, values) else [i.flag(key) for i in self._items()]

    def texts(self, key: str) -> list[str]:
        """The text under `key` of each."""
        values = self._get(key, "")
        return values if _are(str, values) else [i.text(key) for i in self._items()]

    def choices(self, key: str, allowed: tuple[str, ...], default: str) -> list[str]:
        """The text under `key` of each, one of `allowed`."""
        values = self._get(key, default)
        if _are(str, values) and set(values) <= set(allowed):
            return values
        return [item.choice(key, allowed, default) for item in self._items()]

    def _get(self, key: str, default: Any = _MISSING) -> list[Any]:
        return [value.get(key, default) for value in self._values]

    def _items(self) -> Iterator[Checked]:
        return map(self._place, range(len(self._values)))


def _are(kind: type, values: list[Any]) -> bool:
    """Whether there are values, all of just this kind."""
    return set(map(type, values)) == {kind}


def _is_number(value: Any) -> bool:
    return type(value) in (int, float) and -_LARGEST <= value <= _LARGEST


def kind_of(value: Any) -> str:
    """What a JSON value is, in words for errors."""
    names = {dict: "an object", list: "an array", str: "a text", type(None): "null"}
    named = names.get(type(value)) or repr(value)
    return named if len(named) <= 40 else f"{named[:37]}..."
