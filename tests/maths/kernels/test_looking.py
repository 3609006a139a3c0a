"""Kernels with records refuse arrays that do not fit, wherever they stand."""

from __future__ import annotations

import gc
import weakref
from typing import Annotated, Any, NamedTuple

import numpy as np
import pytest

from flexor.arrays import Doubles, Floats, Ints
from flexor.maths.kernels.jit import jit
from flexor.maths.kernels.looking import looking
from flexor.maths.records import Field


class Rows(NamedTuple):
    numbers: Annotated[Doubles, "[:, ::1]"]
    sums: Annotated[Floats, "out [::1]"]
    factor: float


@jit("i8(i4[::1], Rows, out f8[::1])")
def add_up(picked: Ints, rows: Rows, out: Doubles) -> int:
    for i in range(len(picked)):
        out[0] += rows.numbers[picked[i], 0] * rows.factor
        rows.sums[picked[i]] += 1
    return len(picked)


def given(**changed: Any) -> tuple[Any, ...]:
    parts = {
        "numbers": np.ones((3, 2)),
        "sums": np.zeros(3, np.float32),
        "factor": 2.0,
        "picked": np.array([0, 2], np.int32),
        "out": np.zeros(1),
    } | changed
    rows = Rows(parts["numbers"], parts["sums"], parts["factor"])
    return parts["picked"], rows, parts["out"]


def frozen(array: Any) -> Any:
    array.flags.writeable = False
    return array


def test_what_fits() -> None:
    picked, rows, out = given(numbers=frozen(np.ones((3, 2))))
    assert add_up(picked, rows, out) == 2
    assert out[0] == 4
    assert rows.sums.tolist() == [1, 0, 1]
    assert add_up(picked, Rows(*rows), out) == 2, "another record of the same arrays"
    assert out[0] == 8


BAD = [
    {"numbers": np.ones((3, 2), np.float32)},
    {"numbers": np.ones((3, 2), np.int64)},
    {"numbers": np.ones((3, 2), ">f8")},
    {"numbers": np.ones((2, 3)).T},
    {"numbers": np.ones(6)},
    {"numbers": np.ones((3, 1, 2))},
    {"numbers": np.ones((3, 4))[:, ::2]},
    {"numbers": [[1.0]]},
    {"numbers": None},
    {"numbers": np.broadcast_to(np.ones(2), (3, 2))},
    {"numbers": np.frombuffer(bytes(49), np.uint8)[1:].view("f8").reshape(3, 2)},
    {"sums": frozen(np.zeros(3, np.float32))},
    {"sums": np.zeros(3, np.int32)},
    {"picked": np.array([0, 2], np.float32)},
    {"picked": np.array([0, 0, 2, 0], np.int32)[::2]},
    {"picked": np.int32(1)},
    {"out": np.zeros((1, 1))},
    {"out": frozen(np.zeros(1))},
]


@pytest.mark.jit
@pytest.mark.parametrize("changed", BAD, ids=lambda bad: next(iter(bad)))
@pytest.mark.parametrize("is_first", [True, False])
def test_what_does_not_fit(changed: dict[str, Any], is_first: bool) -> None:
    if not is_first:
        add_up(*given())
    with pytest.raises(TypeError):
        add_up(*given(**changed))


@pytest.mark.jit
def test_one_array_exchanged_is_seen() -> None:
    """The record before was of the same arrays but for one."""
    picked, rows, out = given()
    add_up(picked, rows, out)
    with pytest.raises(TypeError, match="sums"):
        add_up(picked, rows._replace(sums=np.zeros(3, np.int32)), out)
    add_up(picked, rows, out)


@pytest.mark.jit
def test_no_record_at_all() -> None:
    picked, rows, out = given()
    for wrong in (tuple(rows), None, (), rows[0]):
        with pytest.raises(TypeError, match="expected Rows"):
            add_up(picked, wrong, out)  # type: ignore[arg-type]
    with pytest.raises(TypeError, match="2 arguments, expected 3"):
        add_up(picked, rows)  # type: ignore[call-arg]


@pytest.mark.jit
def test_arrays_are_not_kept_alive() -> None:
    picked, rows, out = given()
    add_up(picked, rows, out)
    there = weakref.ref(rows.numbers)
    del rows
    gc.collect()
    assert there() is None


class Inner(NamedTuple):
    first: Annotated[Doubles, "[::1]"]


class Outer(NamedTuple):
    inner: Inner
    second: Annotated[Doubles, "[::1]"]


def test_records_in_records_are_looked_at_every_time() -> None:
    seen: list[Any] = []
    call = looking(seen.append, [Outer])
    good = Outer(Inner(np.zeros(1)), np.zeros(2))
    call(good)
    with pytest.raises(TypeError, match="first"):
        call(good._replace(inner=Inner(np.zeros(1, np.int64))))
    assert seen == [good]


def test_numbers_are_left_to_the_compiled_code() -> None:
    call = looking(lambda *given: given, [Field(float, 0, False)])
    assert call("x") == ("x",)
