"""Records of arrays that kernels take: what always travels together has one name.

    class Voices(NamedTuple):
        marks: Annotated[Ints, "out [:, ::1]"]  # (V, 6)
        speeds: Annotated[Doubles, "[::1]"]  # (V,)
        count: int

The alias says what an array holds, the text its axes and whether kernels write to it.
Fields may also be numbers (int, float, bool) and other records. A kernel names the
record in its signature (see `kernels.jit`); here nothing loads the compiler.
"""

from __future__ import annotations

import re
from functools import cache
from typing import Any, NamedTuple, TypeVar, get_args, get_type_hints

import numpy as np

__all__ = ["Field", "check_record", "fields_of", "fits", "is_record"]

_AXES = re.compile(r"(out )?\[((?::, )*)::1\]")
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


def fits(value: Any, field: Field) -> bool:
    """Whether an array is what a field says."""
    if type(value) is not np.ndarray:
        return False
    flags = value.flags
    return (
        value.dtype == field.dtype
        and value.ndim == field.axes
        and flags.c_contiguous
        and flags.aligned
        and (flags.writeable or not field.is_output)
    )


def check_record(record: Record) -> Record:
    """The record itself, once all that is in it is what its class says.

    To be called once, where the record is made: kernels that are trusted (see
    `kernels.jit`) take it as it is.
    """
    values: tuple[Any, ...] = record
    for value, (name, field) in zip(
        values, fields_of(type(record)).items(), strict=True
    ):
        if not isinstance(field, Field):
            given: type = type(value)
            if given is not field:
                raise TypeError(f"{name}: {value!r}, expected {field.__name__}")
            check_record(value)
        elif field.axes == 0:
            if not isinstance(value, int | float | np.number | np.bool_):
                raise TypeError(f"{name}: {value!r}, expected a number")
        elif not fits(value, field):
            have = f"{value.dtype} {value.shape}" if hasattr(value, "dtype") else value
            raise TypeError(
                f"{type(record).__name__}.{name}: {have}, expected "
                f"{field.dtype.__name__} with "
                f"{field.axes} axes, C-ordered{', writable' * field.is_output}"
            )
    return record
