"""Records of arrays: what their fields say, and what is refused."""

from __future__ import annotations

from typing import Annotated, Any, NamedTuple

import numpy as np
import pytest

from flexor.arrays import Floats, Ints
from flexor.maths.records import Field, check_record, fields_of, is_record


class Inner(NamedTuple):
    """A record inside of another."""

    marks: Annotated[Ints, "out [::1]"]


class Outer(NamedTuple):
    """Every kind of field."""

    rows: Annotated[Floats, "[:, ::1]"]
    inner: Inner
    count: int


def make(**changes: Any) -> Outer:
    inner = Inner(np.zeros(2, np.int32))
    return Outer(np.zeros((2, 3), np.float32), inner, 2)._replace(**changes)


def test_fields() -> None:
    assert fields_of(Outer) == {
        "rows": Field(np.float32, 2, False),
        "inner": Inner,
        "count": Field(int, 0, False),
    }
    assert fields_of(Inner) == {"marks": Field(np.int32, 1, True)}
    assert is_record(Outer)
    assert not is_record(tuple)
    assert not is_record(make())


@pytest.mark.parametrize("text", ["[:]", "in [::1]", "f4[::1]", "[::2]", ""])
def test_bad_axes_are_refused(text: str) -> None:
    class Bad(NamedTuple):
        rows: Annotated[np.ndarray, text]

    Bad.__annotations__["rows"] = Annotated[Floats, text]
    with pytest.raises(TypeError, match=r"Bad\.rows"):
        fields_of(Bad)


def test_what_fits_is_given_back() -> None:
    record = make()
    assert check_record(record) is record
    record.rows.flags.writeable = False
    assert check_record(record) is record


@pytest.mark.parametrize(
    "rows",
    [
        np.zeros((2, 3)),
        np.zeros(3, np.float32),
        np.zeros((3, 2), np.float32).T,
        [[0.0, 1.0]],
        None,
    ],
)
def test_other_arrays_are_refused(rows: Any) -> None:
    with pytest.raises(TypeError, match=r"Outer\.rows: .*expected .*float32.* 2 axes"):
        check_record(make(rows=rows))


def test_what_is_written_must_be_writable() -> None:
    record = make()
    record.inner.marks.flags.writeable = False
    with pytest.raises(TypeError, match=r"Inner\.marks: .*writable"):
        check_record(record)


def test_other_records_are_refused() -> None:
    with pytest.raises(TypeError, match=r"inner: .*expected Inner"):
        check_record(make(inner=(np.zeros(2, np.int32),)))
