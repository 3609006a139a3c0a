"""Compiled kernels refuse arguments that do not fit, wherever they stand."""

from __future__ import annotations

import gc
import sys
import weakref
from pathlib import Path
from typing import Annotated, Any, NamedTuple

import numpy as np
import pytest

from flexor.arrays import Doubles, Floats, Ints
from flexor.maths.kernels.jit import jit


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
    {"out": np.array(0.0)},
    {"out": np.zeros(1, "m8[s]")},
    {"out": np.zeros(1, object)},
    {"out": np.zeros(1, "S8")},
    {"out": np.zeros(1, [("x", "f8")])},
    {"out": memoryview(np.zeros(1))},
    {"out": np.float64},
    {"numbers": Rows},
]


@pytest.mark.jit
@pytest.mark.parametrize("changed", BAD, ids=lambda bad: next(iter(bad)))
@pytest.mark.parametrize("is_first", [True, False])
def test_what_does_not_fit(changed: dict[str, Any], is_first: bool) -> None:
    if not is_first:
        add_up(*given())
    args = given(**changed)
    with pytest.raises(TypeError, match=rf"{next(iter(changed))}|argument \d"):
        add_up(*args)
    if "out" not in changed:
        assert args[2][0] == 0, "nothing was done"


@pytest.mark.jit
def test_one_array_exchanged_is_seen() -> None:
    """The record before was of the same arrays but for one."""
    picked, rows, out = given()
    add_up(picked, rows, out)
    with pytest.raises(TypeError, match="sums"):
        add_up(picked, rows._replace(sums=np.zeros(3, np.int32)), out)
    add_up(picked, rows, out)


class SameRows(NamedTuple):
    numbers: Annotated[Doubles, "[:, ::1]"]
    sums: Annotated[Floats, "out [::1]"]
    factor: float


class MoreRows(Rows):
    __slots__ = ()


@pytest.mark.jit
def test_no_record_at_all() -> None:
    """Nor one of another class that looks the same, or that stands below it."""
    picked, rows, out = given()
    others = (SameRows(*rows), MoreRows(*rows), list(rows), 1, 1.0, "", object(), Rows)
    for wrong in (tuple(rows), None, (), rows[0], *others):
        with pytest.raises(TypeError, match="expected Rows"):
            add_up(picked, wrong, out)  # type: ignore[arg-type]


@pytest.mark.jit
def test_another_number_of_arguments() -> None:
    picked, rows, out = given()
    with pytest.raises(TypeError, match="2 arguments, expected 3"):
        add_up(picked, rows)  # type: ignore[call-arg]
    with pytest.raises(TypeError, match="0 arguments, expected 3"):
        add_up()  # type: ignore[call-arg]
    with pytest.raises(TypeError, match="4 arguments, expected 3"):
        add_up(picked, rows, out, out)  # type: ignore[call-arg]
    with pytest.raises(TypeError, match="300 arguments, expected 3"):
        add_up(*[out] * 300)
    with pytest.raises(TypeError, match="no keyword arguments"):
        add_up(picked, rows, out=out)
    assert out[0] == 0


@pytest.mark.jit
@pytest.mark.parametrize("count", [0, 1, 2, 4])
def test_a_record_of_too_few_or_too_many_fields(count: int) -> None:
    picked, rows, out = given()
    wrong = tuple.__new__(Rows, (*rows, 1)[:count])
    with pytest.raises(TypeError, match=f"Rows: {count} fields, expected 3"):
        add_up(picked, wrong, out)


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
    is_added: bool


class Outer(NamedTuple):
    inner: Inner
    second: Annotated[Doubles, "out [::1]"]
    other: Inner
    count: int


@jit("f8(Outer, Inner)")
def nested(outer: Outer, last: Inner) -> float:
    total = 0.0
    for one in (outer.inner, outer.other, last):
        if one.is_added:
            total += one.first[0]
    outer.second[0] = total * outer.count
    return total


def inner(value: float, is_added: Any = True) -> Inner:
    return Inner(np.full(1, value, np.float64), is_added)


def test_records_in_records() -> None:
    outer = Outer(inner(1), np.zeros(1), inner(10, False), 3)
    assert nested(outer, inner(100)) == 101
    assert outer.second[0] == 303


@pytest.mark.jit
def test_records_in_records_are_looked_at_every_time() -> None:
    good = Outer(inner(1), np.zeros(1), inner(10), 3)
    nested(good, inner(0))
    with pytest.raises(TypeError, match="first"):
        nested(good._replace(inner=Inner(np.zeros(1, np.int64), True)), inner(0))
    with pytest.raises(TypeError, match="expected Inner"):
        nested(good._replace(other=tuple(inner(10))), inner(0))
    with pytest.raises(TypeError, match="Inner: 0 fields"):
        nested(good._replace(other=tuple.__new__(Inner, ())), inner(0))
    with pytest.raises(TypeError, match="expected Inner"):
        nested(good, good)  # type: ignore[arg-type]
    with pytest.raises(TypeError, match="expected Outer"):
        nested(inner(0), good)  # type: ignore[arg-type]
    with pytest.raises(TypeError, match="second"):
        nested(good._replace(second=frozen(np.zeros(1))), inner(0))
    assert nested(good, inner(100)) == 111


@pytest.mark.jit
def test_numbers_in_records() -> None:
    good = Outer(inner(1), np.zeros(1), inner(10), 3)
    with pytest.raises(TypeError, match="integer"):
        nested(good._replace(count=1.5), inner(0))  # type: ignore[arg-type]
    with pytest.raises(OverflowError):
        nested(good._replace(count=2**63), inner(0))
    picked, rows, out = given()
    with pytest.raises(TypeError, match="real number"):
        add_up(picked, rows._replace(factor="x"), out)  # type: ignore[arg-type]
    assert nested(good._replace(count=np.int16(2)), inner(0, np.True_)) == 11  # type: ignore[arg-type]
    assert good.second[0] == 22


@jit("i8(i8[::1], u4[::1], u1[::1], bool[::1])")
def total_of(long: Any, words: Any, octets: Any, truths: Any) -> int:
    total = 0
    for i in range(len(long)):
        if truths[i]:
            total += long[i] + words[i] + octets[i]
    return total


@pytest.mark.parametrize("long", [np.int64, np.longlong, np.intp, "<i8", "l", "q"])
@pytest.mark.parametrize("words", [np.uint32, np.uintc, "<u4"])
def test_the_same_type_by_another_name_is_taken(long: Any, words: Any) -> None:
    """Two types of C may be alike; NumPy numbers them apart."""
    octets, truths = np.array([255, 1], np.ubyte), np.array([True, False])
    numbers = np.array([2**40, 7], long)
    if np.dtype(long) == np.dtype(np.int64):
        assert total_of(numbers, np.array([2**32 - 1, 1], words), octets, truths) == (
            2**40 + 2**32 - 1 + 255
        )


@pytest.mark.jit
@pytest.mark.parametrize("long", [np.uint64, np.int32, np.float64, ">i8", "M8[s]"])
def test_types_of_the_same_size_are_not_the_same(long: Any) -> None:
    words, octets = np.zeros(1, np.uint32), np.zeros(1, np.uint8)
    with pytest.raises(TypeError, match=r"argument 0: .*expected int64"):
        total_of(np.zeros(1, long), words, octets, np.zeros(1, bool))
    with pytest.raises(TypeError, match="argument 3: int8"):
        total_of(np.zeros(1, "i8"), words, octets, np.zeros(1, np.int8))
    with pytest.raises(TypeError, match="argument 2: bool"):
        total_of(np.zeros(1, "i8"), words, np.zeros(1, bool), np.zeros(1, bool))


class Marked(np.ndarray[Any, Any]):
    pass


@pytest.mark.parametrize("is_first", [True, False])
def test_arrays_of_a_class_below_are_taken(is_first: bool, tmp_path: Path) -> None:
    mapped = np.memmap(tmp_path / "numbers", np.float64, "w+", shape=(3, 2))
    mapped[:] = 3
    args = given(numbers=mapped, out=np.zeros(1).view(Marked))
    if is_first:
        assert add_up(*args) == 2
        assert args[2][0] == 12
    else:
        read = np.memmap(tmp_path / "numbers", np.float64, "r", shape=(3, 2))
        assert add_up(*given(numbers=read)) == 2


@pytest.mark.jit
def test_what_is_wrong_is_named_behind_what_is_right() -> None:
    numbers = np.ones((3, 2)).view(Marked)
    with pytest.raises(TypeError, match="argument 2"):
        add_up(*given(numbers=numbers, out=np.zeros(1, np.float32)))


def test_empty_arrays() -> None:
    out = np.zeros(1)
    empty = given(
        numbers=np.ones((0, 2)), sums=np.zeros(0, np.float32), picked=np.zeros(0, "i4")
    )
    assert add_up(*empty[:2], out) == 0
    assert out[0] == 0
    assert add_up(*given(numbers=np.ones((3, 0)), picked=np.zeros(0, "i4"))) == 0


@pytest.mark.jit
def test_no_reference_is_gained_or_lost() -> None:
    """By calls that are done, and by calls that are refused at any place."""
    picked, rows, out = given()
    good = Outer(inner(1), np.zeros(1), inner(10), 3)
    last = inner(5)
    wrong, text = np.zeros(3, np.int32), "not a number"
    none_at_all = tuple.__new__(Rows, ())
    held = [picked, rows, out, *rows, good, *good, last, *last, wrong, text]
    held += [none_at_all, Rows, Inner, Outer, add_up, nested]
    # Small numbers are held by everyone.
    held = [one for one in held if not isinstance(one, int | float)]
    calls: list[tuple[Any, tuple[Any, ...]]] = [
        (add_up, (picked, rows, out)),
        (nested, (good, last)),
        (add_up, (picked, rows, wrong)),
        (add_up, (wrong, none_at_all, out)),
        (add_up, (picked, rows._replace(factor=text), out)),
        (add_up, (picked, rows._replace(sums=wrong), out)),
        (add_up, (picked, rows)),
        (nested, (good, rows)),
    ]
    before = [sys.getrefcount(one) for one in held]
    for function, args in calls:
        for _ in range(1000):
            try:
                function(*args)
            except TypeError:
                continue
        gc.collect()
    after = [sys.getrefcount(one) for one in held]
    few = [abs(a - b) for a, b in zip(before, after, strict=True)]
    assert max(few) < 500, few  # some are also held by others, but not by thousands


@jit("void(out f8[::1])")
def give_nothing(out: Any) -> None:
    out[0] = 1


@pytest.mark.jit
def test_none_is_given_with_a_reference() -> None:
    """The one thing that kernels without a result give."""
    out = np.zeros(1)
    before = sys.getrefcount(None)
    given_back = [give_nothing(out) for _ in range(5000)]  # type: ignore[func-returns-value]
    assert given_back == [None] * 5000
    gained = sys.getrefcount(None) - before
    assert gained == 0 or 4000 < gained < 6000, "0 where it is not counted at all"
    del given_back
    assert abs(sys.getrefcount(None) - before) < 1000
