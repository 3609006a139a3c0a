"""Records of arrays that kernels take: what always travels together has one name.

    class Voices(NamedTuple):
        marks: Annotated[Ints, "out [:, ::1]"]  # (V, 6)
        speeds: Annotated[Doubles, "[::1]"]  # (V,)
        count: int

The alias says what an array holds, the text its axes and whether kernels write to it.
Fields may also be numbers (int, float, bool) and other records. A kernel names the
record in its signature (see `kernels.jit`).
"""

from __future__ import annotations

import re
from collections.abc import Callable
from functools import cache
from typing import Any, NamedTuple, TypeVar, get_args, get_type_hints

import numpy as np

__all__ = [
    "Field",
    "array_test",
    "check_record",
    "fields_of",
    "is_record",
    "misfit",
]

_AXES = re.compile(r"(out )?\[((?::, )*)::1\]")
# As in `ndarray.flags.num`.
_ORDERED, _ALIGNED, _WRITABLE = 0x1, 0x100, 0x400
_NUMBERS = (int, float, np.number, np.bool_)
Record = TypeVar("Record", bound=tuple[Any, ...])


class Field(NamedTuple):
    """An array in a record: what it holds, its number of axes, whether it is written.

    dtype: a type of NumPy, or int, float or bool for a number, with 0 axes.
    """

    dtype: type
    axes: int
    is_output: bool


def is_record(kind: Any) -> bool:
    """Whether this is a class of records."""
    return (
        isinstance(kind, type) and issubclass(kind, tuple) and hasattr(kind, "_fields")
    )


@cache
def fields_of(kind: type) -> dict[str, Field | type]:
    """The fields of a class of records, in order; a record in it is its class."""
    fields: dict[str, Field | type] = {}
    for name, hint in get_type_hints(kind, include_extras=True).items():
        words = getattr(hint, "__metadata__", ())
        axes = _AXES.fullmatch(words[0]) if words else None
        if axes is not None:
            _, dtype = get_args(get_args(hint)[0])
            fields[name] = Field(
                get_args(dtype)[0], axes[2].count(":") + 1, axes[1] is not None
            )
        elif is_record(hint):
            fields[name] = hint
        elif hint in (int, float, bool):
            fields[name] = Field(hint, 0, False)
        else:
            raise TypeError(
                f"{kind.__name__}.{name}: {hint}, expected a number, a record or an "
                'array such as Annotated[Floats, "out [:, ::1]"]'
            )
    return fields


def array_test(field: Field) -> Callable[[Any], bool]:
    """A quick test whether an array is what a field says: 0.2 us."""
    dtype, axes = np.dtype(field.dtype), field.axes
    needed = _ORDERED | _ALIGNED | (_WRITABLE if field.is_output else 0)

    def fits(value: Any) -> bool:
        if not isinstance(value, np.ndarray) or value.ndim != axes:
            return False
        have = value.dtype
        flags: int = value.flags.num
        return (have is dtype or have == dtype) and flags & needed == needed

    return fits


@cache
def _array_tests(kind: type) -> tuple[tuple[int, Callable[[Any], bool]], ...]:
    """Places and tests of the arrays of a class of records."""
    fields = fields_of(kind).values()
    return tuple(
        (place, array_test(field))
        for place, field in enumerate(fields)
        if isinstance(field, Field) and field.axes
    )


def check_record(record: Record) -> Record:
    """The record itself, once all that is in it is what its class says.

    Kernels look at records themselves; this says what is wrong with one: TypeError.
    """
    values: tuple[Any, ...] = record
    kind = type(record)
    if len(values) != len(fields_of(kind)):
        raise TypeError(
            f"{kind.__name__}: {len(values)} fields, expected {len(fields_of(kind))}"
        )
    for place, fits in _array_tests(kind):
        if not fits(values[place]):
            value, name = values[place], list(fields_of(kind))[place]
            field = fields_of(kind)[name]
            raise TypeError(f"{kind.__name__}.{name}: {misfit(value, field)}")
    for value, (name, other) in zip(values, fields_of(kind).items(), strict=True):
        if not isinstance(other, Field):
            given: type = type(value)
            if given is not other:
                raise TypeError(f"{name}: {value!r}, expected {other.__name__}")
            check_record(value)
        elif not other.axes and not isinstance(value, _NUMBERS):
            raise TypeError(f"{name}: {value!r}, expected a number")
    return record


def misfit(value: Any, field: Field | type) -> str:
    """What came in place of an array, and what would be right."""
    assert isinstance(field, Field)
    have = f"{value.dtype} {value.shape}" if hasattr(value, "dtype") else repr(value)
    return (
        f"{have}, expected {field.dtype.__name__} with {field.axes} axes, "
        f"C-ordered{', writable' * field.is_output}"
    )
