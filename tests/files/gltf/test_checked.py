from __future__ import annotations

from pathlib import Path

import pytest

from flexor.errors import AssetError
from flexor.files.gltf.checked import Checked

HERE = Path("some.gltf")


def checked(value):
    return Checked({"a": value}, HERE)


def refused(call, pointer, words):
    with pytest.raises(AssetError) as caught:
        call()
    assert (caught.value.path, caught.value.pointer) == (HERE, pointer)
    assert words in caught.value.text


def test_pointer_is_escaped():
    inner = Checked({"x": [{"a/b~c": 1}]}, HERE).items("x")[0].child("a/b~c")
    assert inner.pointer == "/x/0/a~1b~0c"
    assert Checked({}, HERE).error("no").pointer == "/"
    assert Checked({}, HERE).error("no", "a/b").pointer == "/a~1b"


@pytest.mark.parametrize("value", [None, [], "text", 3, 1.5, True])
def test_every_look_up_refuses_what_is_no_object(value):
    item = Checked({"x": [value]}, HERE).items("x")[0]
    for call in (
        lambda: item.get("k"),
        lambda: item.child("k"),
        lambda: item.object("k"),
        lambda: item.names(),
        lambda: item.items("k"),
        lambda: item.integer("k", 0),
        lambda: item.index("k", 1, "thing"),
        lambda: item.row("k", 1, "thing"),
        lambda: item.indices("k", 1, "thing"),
        lambda: item.number("k", 0),
        lambda: item.vector("k", (0,)),
        lambda: item.text("k"),
        lambda: item.flag("k"),
        lambda: item.choice("k", ("a",), "a"),
    ):
        refused(call, "/x/0", "expected an object")
    assert not item.has("k")


def test_missing_values_take_the_default():
    item = Checked({}, HERE)
    assert item.get("a") is None
    assert item.object("a") is None
    assert item.items("a") == []
    assert item.integer("a", 7) == 7
    assert item.index("a", 0, "thing") is None
    assert item.indices("a", 0, "thing") == []
    assert item.number("a", 2.5) == 2.5
    assert item.vector("a", (1.0, 2.0)) == (1.0, 2.0)
    assert item.text("a", "x") == "x"
    assert item.flag("a") is False
    assert item.choice("a", ("x", "y"), "y") == "y"


def test_missing_values_that_must_be_there():
    item = Checked({"x": {}}, HERE).child("x")
    refused(lambda: item.child("a"), "/x", "'a' is missing")
    refused(lambda: item.integer("a"), "/x", "'a' is missing")
    refused(lambda: item.row("a", 5, "thing"), "/x", "'a' is missing")


@pytest.mark.parametrize("value", ["3", True, False, None, [], {}, 1.5])
def test_whole_numbers(value):
    refused(lambda: checked(value).integer("a"), "/a", "expected a whole number")
    refused(lambda: checked(value).index("a", 9, "x"), "/a", "expected a whole number")
    refused(lambda: checked(value).row("a", 9, "x"), "/a", "expected a whole number")
    many = checked([0, value])
    refused(lambda: many.indices("a", 9, "x"), "/a/1", "expected a whole number")


def test_whole_numbers_in_range():
    assert checked(3).integer("a") == 3
    assert checked(3.0).integer("a") == 3
    assert checked(3.0).row("a", 4, "node") == 3
    refused(lambda: checked(-1).integer("a"), "/a", "-1 is out of range, expected 0 or")
    refused(lambda: checked(7).integer("a", low=0, high=6), "/a", "expected 0 to 6")
    refused(lambda: checked(1 << 80).integer("a"), "/a", "out of range")
    refused(lambda: checked(1e300).integer("a"), "/a", "out of range")
    refused(lambda: checked(10**4000).integer("a"), "/a", "out of range")


def test_rows():
    assert checked(4).row("a", 5, "node") == 4
    refused(lambda: checked(5).row("a", 5, "node"), "/a", "node 5 does not exist")
    refused(lambda: checked(5).index("a", 5, "node"), "/a", "the last is 4")
    refused(lambda: checked(0).index("a", 0, "node"), "/a", "there are none")
    refused(lambda: checked(-1).index("a", 5, "node"), "/a", "out of range")
    refused(lambda: checked([0, 5]).indices("a", 5, "node"), "/a/1", "does not exist")
    assert checked([1, 2.0]).indices("a", 5, "node") == [1, 2]


@pytest.mark.parametrize("value", ["3", True, None, [], {}])
def test_numbers(value):
    refused(lambda: checked(value).number("a", 0), "/a", "expected a number")
    many = checked([0.5, value, 1])
    refused(lambda: many.vector("a", (0, 0, 0)), "/a/1", "expected a number")


@pytest.mark.parametrize("value", [float("nan"), float("inf"), 1e39, -1e39, 10**4000])
def test_numbers_that_float32_cannot_hold(value):
    refused(lambda: checked(value).number("a", 0), "/a", "too large")
    refused(lambda: checked([value]).vector("a", (0,)), "/a/0", "too large")


def test_vectors():
    assert checked([1, 2.5]).vector("a", (0, 0)) == (1.0, 2.5)
    refused(lambda: checked([1]).vector("a", (0, 0)), "/a", "1 numbers, expected 2")
    refused(lambda: checked({"0": 1}).vector("a", (0,)), "/a", "expected an array")


def test_texts_flags_and_choices():
    assert checked("x").text("a") == "x"
    assert checked(True).flag("a") is True
    refused(lambda: checked(1).text("a"), "/a", "expected a text, got 1")
    refused(lambda: checked(None).text("a"), "/a", "expected a text, got null")
    refused(lambda: checked(1).flag("a"), "/a", "expected true or false")
    refused(lambda: checked("z").choice("a", ("x", "y"), "x"), "/a", "one of x, y")


def test_objects_and_arrays():
    refused(lambda: checked([1]).object("a"), "/a", "expected an object, got an array")
    refused(lambda: checked({}).items("a"), "/a", "expected an array, got an object")
    refused(lambda: checked("x").items("a"), "/a", "expected an array, got a text")


# Tables: whole columns, with the same answers and refusals as one by one.


def table(*rows):
    return Checked({"x": list(rows)}, HERE).table("x")


def test_table_of_nothing():
    for empty in (table(), Checked({}, HERE).table("x")):
        assert len(empty) == 0
        assert empty.integers("a") == []
        assert empty.rows("a", 0, "node") == []
        assert empty.choices("a", ("x",), "y") == []
        assert empty.has("a") == empty.flags("a") == empty.texts("a") == []
        assert len(empty.below("a")) == 0


@pytest.mark.parametrize("value", [None, [], "x", 3])
def test_table_of_what_are_no_objects(value):
    refused(lambda: table({}, value), "/x/1", "expected an object")
    refused(lambda: Checked({"x": "y"}, HERE).table("x"), "/x", "expected an array")
    inner = table({"t": {}}, {"t": value})
    refused(lambda: inner.below("t"), "/x/1/t", "expected an object")
    refused(lambda: table({"t": {}}, {}).below("t"), "/x/1", "'t' is missing")


def test_columns():
    rows = table(
        {"i": 1, "f": True, "t": "a", "o": {"k": 5}}, {"i": 2.0, "o": {"k": 6}}
    )
    assert rows.integers("i") == [1, 2]
    assert rows.integers("n", 9) == [9, 9]
    assert rows.rows("i", 3, "node") == [1, 2]
    assert rows.rows("n", 3, "node", -1) == [-1, -1]
    assert rows.flags("f") == [True, False]
    assert rows.texts("t") == ["a", ""]
    assert rows.choices("t", ("a", "b"), "b") == ["a", "b"]
    assert rows.has("f") == [True, False]
    assert rows.below("o").integers("k") == [5, 6]
    assert rows[1].pointer == "/x/1"


@pytest.mark.parametrize("value", [None, True, "1", [], {}, 1.5, -1, 2, 1 << 80])
def test_columns_refuse_what_single_values_do(value):
    rows = table({"a": 0}, {"a": value})
    refused(lambda: rows.integers("a", high=1), "/x/1/a", "expected")
    refused(lambda: rows.rows("a", 2, "node"), "/x/1/a", "")
    refused(lambda: rows.rows("a", 2, "node", -1), "/x/1/a", "")


def test_columns_refuse_what_is_missing():
    rows = table({"a": 0}, {})
    refused(lambda: rows.integers("a"), "/x/1", "'a' is missing")
    refused(lambda: rows.rows("a", 1, "node"), "/x/1", "'a' is missing")


def test_columns_refuse_other_kinds():
    refused(lambda: table({}, {"a": 0}).flags("a"), "/x/1/a", "expected true or false")
    refused(lambda: table({}, {"a": 0}).texts("a"), "/x/1/a", "expected a text")
    odd = table({"a": "x"}, {"a": ["x"]})
    refused(lambda: odd.choices("a", ("x",), "x"), "/x/1/a", "expected a text")
    other = table({"a": "x"}, {"a": "z"})
    refused(lambda: other.choices("a", ("x",), "x"), "/x/1/a", "expected one of x")
