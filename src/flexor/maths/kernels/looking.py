"""Kernels that look at what they are given: arrays that do not fit are refused.

Numba looks at the type of every argument itself, but not at records (it would take a
record of writable arrays for another type than one that is only read). Without a look,
an array of another kind would be read as what it is not, or written beyond its end.

A look at an array costs about 0.3 us, at one that was looked at in the last call 0.1:
a record made anew for every call of the same arrays is looked at once.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any
from weakref import ref

from flexor.maths.records import Field, array_test, check_record, fields_of, misfit

__all__ = ["looking"]


class _Record:
    """A place for records of one class: which arrays were there last."""

    def __init__(self, kind: type) -> None:
        self._kind = kind
        fields = list(fields_of(kind).values())
        self._tests = [
            (at, array_test(field))
            for at, field in enumerate(fields)
            if isinstance(field, Field) and field.axes
        ]
        self._has_more = any(not isinstance(field, Field) for field in fields)
        self._last: list[Callable[[], Any]] | None = None

    def __call__(self, value: Any) -> None:
        given: type = type(value)
        if given is not self._kind:
            raise TypeError(f"{value!r}, expected {self._kind.__name__}")
        last = self._last
        if last is None or self._has_more:
            check_record(value)
            self._last = [ref(value[at]) for at, _ in self._tests]
            return
        for place, (at, fits) in enumerate(self._tests):
            array = value[at]
            if last[place]() is not array:
                if not fits(array):
                    check_record(value)  # says what is wrong
                last[place] = ref(array)


def looking(
    entry: Callable[..., Any], kinds: Sequence[Field | type]
) -> Callable[..., Any]:
    """A compiled entry that looks at its arguments: TypeError where one does not fit.

    kinds: of each argument, as `fields_of` tells those of a record.
    """
    records = tuple(
        (place, _Record(kind))
        for place, kind in enumerate(kinds)
        if not isinstance(kind, Field)
    )
    arrays = tuple(
        (place, array_test(kind))
        for place, kind in enumerate(kinds)
        if isinstance(kind, Field) and kind.axes
    )
    count = len(kinds)

    def call(*given: Any) -> Any:
        if len(given) != count:
            raise TypeError(f"{len(given)} arguments, expected {count}")
        for place, fits in arrays:
            if not fits(given[place]):
                text = misfit(given[place], kinds[place])
                raise TypeError(f"No matching definition: {text}")
        for place, look in records:
            look(given[place])
        return entry(*given)

    return call
