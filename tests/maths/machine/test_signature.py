"""Texts that say what a kernel takes: what they mean, and which are refused."""

from __future__ import annotations

from typing import Annotated, Any, NamedTuple

import numpy as np
import pytest

from flexor.arrays import Doubles, Floats
from flexor.maths.machine.signature import SCALARS, Signature, read_signature
from flexor.maths.records import Field


class Sums(NamedTuple):
    rows: Annotated[Floats, "out [::1]"]
    whole: Annotated[Doubles, "out [:, ::1]"]


class Table(NamedTuple):
    rows: Annotated[Floats, "[:, ::1]"]
    sums: Sums
    factor: float


def number(kind: type) -> Field:
    return Field(kind, 0, False)


def array(kind: type, axes: int, *, is_output: bool = False) -> Field:
    return Field(kind, axes, is_output)


@pytest.mark.parametrize(
    ("text", "result", "arguments"),
    [
        ("void()", None, ()),
        ("f4(f8, i8)", np.float32, (number(np.float64), number(np.int64))),
        (
            "bool(u1, u2, u4, i4)",
            np.bool_,
            tuple(number(kind) for kind in (np.uint8, np.uint16, np.uint32, np.int32)),
        ),
        ("i1(bool)", np.int8, (number(np.bool_),)),
        ("void(f4[::1])", None, (array(np.float32, 1),)),
        ("void(f4[:, ::1])", None, (array(np.float32, 2),)),
        ("void(f4[:,:,::1])", None, (array(np.float32, 3),)),
        ("void( out u4[::1] )", None, (array(np.uint32, 1, is_output=True),)),
        (
            "i8(f4[:, ::1], i4[::1],\n out f4[:, ::1], f4)",
            np.int64,
            (
                array(np.float32, 2),
                array(np.int32, 1),
                array(np.float32, 2, is_output=True),
                number(np.float32),
            ),
        ),
    ],
)
def test_signature_texts(text: str, result: Any, arguments: Any) -> None:
    assert read_signature(text, {}) == Signature(result, arguments)


@pytest.mark.parametrize(
    "text",
    [
        "void(f4[:])",  # not C order
        "void(f4[::2])",
        "void(f3[::1])",  # no such type
        "f3(f4[::1])",
        "void(f4 [::1] f4)",
        "void(in f4[::1])",
        "void(f4[::1]",  # no end
        "void f4[::1])",
        "void(f4[::1]) x",
        "void(out)",
        "void(f4[1])",  # no axis
        "void",
        "",
    ],
)
def test_bad_signature_texts_are_refused(text: str) -> None:
    with pytest.raises(ValueError, match="kernel signature"):
        read_signature(text, {})


def test_signature_texts_with_records() -> None:
    read = read_signature("void(i8, Table, Sums)", globals())
    assert read.arguments == (number(np.int64), Table, Sums)


@pytest.mark.parametrize(
    "text",
    [
        "void(out Table)",
        "void(Table[::1])",
        "void(Nothing)",
        "void(np)",
        "Table()",
        "void(tuple)",
    ],
)
def test_what_is_no_record_is_refused(text: str) -> None:
    with pytest.raises(ValueError, match="kernel signature"):
        read_signature(text, {**globals(), "tuple": tuple})


@pytest.mark.parametrize("name", SCALARS)
def test_every_type_is_what_its_name_says(name: str) -> None:
    assert np.dtype(SCALARS[name]) == np.dtype(name)
    assert read_signature(f"{name}({name})", {}).result is SCALARS[name]
