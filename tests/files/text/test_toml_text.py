"""Text files: where a key is, and what kinds of value there are."""

from __future__ import annotations

import math
import tomllib
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given as given_any
from hypothesis import strategies as st

from flexor.errors import AssetError, SettingError
from flexor.files.text import toml_text
from flexor.files.text.toml_text import (
    Angle,
    Colour,
    Keys,
    Points,
    Tables,
    find_line,
    name_key,
    open_toml,
    read_table,
    read_toml,
    reword,
    say_known,
    say_value,
)

TEXT = """
top = 1
[a."b.c"]   # a table
one = 2
'two' = [3]
[[list]]
d.e = 4
[[list]]  # again
d.e = 5
f = {g = 6, h = {i = 7}}
[list.inner]
j = 8
[[list.inner.deep]]
k = 9
  [[list]]
[[ list . "inner" . deep ]]
k = 10
[[list.inner.deep]]
k = 11
"""


@pytest.mark.parametrize(
    ("keys", "place"),
    [
        (("top",), "line 2"),
        (("a", "b.c"), "line 3"),
        (("a", "b.c", "one"), "line 4"),
        (("a", "b.c", "two"), "line 5"),
        (("list", "d", "e"), "line 7"),
        (("list", 0), "line 6"),
        (("list", 0, "d", "e"), "line 7"),
        (("list", 1), "line 8"),
        (("list", 1, "d", "e"), "line 9"),
        (("list", 1, "f"), "line 10"),
        (("list", 1, "f", "g"), "line 10"),
        (("list", 1, "f", "h", "i"), "line 10"),
        (("list", 1, "inner"), "line 11"),
        (("list", 1, "inner", "j"), "line 12"),
        (("list", 1, "inner", "deep", 0, "k"), "line 14"),
        (("list", 2, "inner", "deep", 0, "k"), "line 17"),
        (("list", 2, "inner", "deep", 1), "line 18"),
        (("list", 2, "inner", "deep", 1, "k"), "line 19"),
        (("none", "there"), "none.there"),
        (("none", 1, "there"), "none 2.there"),
    ],
)
def test_lines_of_keys(keys: Keys, place: str) -> None:
    assert find_line(TEXT, keys) == place


LISTS = """
a = [
    [1, 2],  # [not] a.table = 3
    [3.5, 4]
]
b = '''
[no.table]
c = 5
'''
[["q\\u0041.r"]]
'c' = "[d]" # e = 6
"f" . 'g' = [{h = 1}, {h = [
  7,
  8]}]
[d] # ]
e = {}
i.j.k = "\\"="
l = [ ]
m = [[], [[9]], '''
x" ]
=y''', "z"]
n = 1
"""


@pytest.mark.parametrize(
    ("keys", "line"),
    [
        (("a",), 2),
        (("a", 0), 3),
        (("a", 0, 1), 3),
        (("a", 1), 4),
        (("a", 1, 1), 4),
        (("a", 2), 2),
        (("b",), 6),
        (("c",), None),
        (("no",), None),
        (("qA.r",), 10),
        (("qA.r", 0), 10),
        (("qA.r", 0, "c"), 11),
        (("qA.r", 0, "f"), 12),
        (("qA.r", 0, "f", "g"), 12),
        (("qA.r", 0, "f", "g", 1, "h"), 12),
        (("qA.r", 0, "f", "g", 1, "h", 1), 14),
        (("qA.r", 1), 10),
        (("d",), 15),
        (("d", "e"), 16),
        (("d", "e", "f"), 16),
        (("d", "i"), 17),
        (("d", "i", "j", "k"), 17),
        (("d", "l"), 18),
        (("d", "m", 1, 0, 0), 19),
        (("d", "m", 2), 19),
        (("d", "m", 3), 21),
        (("d", "n"), 22),
    ],
)
def test_lines_of_lists_and_texts(keys: Keys, line: int | None) -> None:
    tomllib.loads(LISTS)
    assert find_line(LISTS, keys) == (f"line {line}" if line else name_key(keys))


@pytest.mark.parametrize("text", ['"' * 9, "[" * 99, "a = [", "]" * 9, "= }", "'" * 3])
def test_lines_of_what_is_no_toml(text: str) -> None:
    assert find_line(text, ("x",)) == "x"


@given_any(st.text("ab01.=,[]{}\"'#\n\\ ", max_size=60))
def test_any_text_has_lines(text: str) -> None:
    assert find_line(text, ("c", 0))


def test_texts_are_gone_through_once(monkeypatch: pytest.MonkeyPatch) -> None:
    """One fault costs one walk through the text, of as many steps as it has parts."""
    steps = []
    places = toml_text._places

    def counted(text: str) -> Any:
        for place in places(text):
            steps.append(place)
            yield place

    monkeypatch.setattr(toml_text, "_places", counted)
    text = "".join(f"[[a]]\nb = {n}\n" for n in range(1000))
    assert find_line(text, ("a", 999, "none", "there", "either")) == "line 1999"
    assert len(steps) == 2000


def test_text_and_values(tmp_path: Path) -> None:
    file = tmp_path / "a.toml"
    file.write_text("\ufeff" + TEXT, "utf-8")  # with the mark that some editors put
    text, given = read_toml(file)
    assert text == TEXT
    assert given["a"]["b.c"] == {"one": 2, "two": [3]}


def test_a_file_that_is_too_large(tmp_path: Path) -> None:
    file = tmp_path / "a.toml"
    file.write_bytes(b"#" * 1_000_001)
    with pytest.raises(AssetError, match="larger than 1,000,000 bytes"):
        read_toml(file)


def check(**words: Any) -> None:
    if words.get("number") == 7 or words.get("numbers") == [7]:
        raise SettingError("number: 7, expected another")
    if words.get("number") == 8:
        raise SettingError("number: must not be 8")


KNOWN = {
    "yes": (bool, "is_yes"),
    "whole": (int, "whole"),
    "number": (float, "number"),
    "text": (str, "text"),
    "texts": (list, "texts"),
    "numbers": (tuple, "numbers"),
    "table": (dict, "table"),
    "tables": (Tables, "tables"),
    "points": (Points, "points"),
    "angle": (Angle, "angle"),
    "colour": (Colour, "colour"),
}


@pytest.mark.parametrize(
    ("key", "value", "words"),
    [
        ("yes", 1, "true or false"),
        ("whole", 1.5, "a whole number"),
        ("whole", True, "a whole number"),
        ("number", "1", "a number"),
        ("number", 10**400, "too large"),
        ("number", 7, "expected another"),
        ("text", 1, "a text"),
        ("texts", ["a", 1], "a list of texts"),
        ("numbers", ["a"], "a list of numbers"),
        ("numbers", [False], "a list of numbers"),
        ("numbers", [7], "expected another"),
        ("number", 8, "must not be 8"),
        ("table", [], "a table"),
        ("tables", {}, "tables, each under"),
        ("tables", [{}, 1], "tables, each under"),
        ("other", 1, "not known; there are: yes, whole"),
        ("colr", 1, "there are: .*; perhaps colour is meant"),
        ("qqqqqq", 1, "colour$"),
        ("whole", 2**63, "too large"),
        ("points", 1, "a list of places, each .x, z."),
        ("points", {}, "a list of places"),
        ("points", [1, 2], "a.points 1: 1, expected two numbers, x and z"),
        ("points", [[1, 2], [1]], r"a.points 2: \[1\], expected two numbers"),
        ("points", [[1, 2], [1, True]], "a.points 2: .*expected two numbers"),
        ("points", [[1, 2], [1, "a"]], "a.points 2: .*expected two numbers"),
        ("angle", "1", "a number of degrees"),
        ("angle", True, "a number of degrees"),
        ("angle", 10**400, "too large"),
        ("colour", "red", "a colour such as '#d05040'"),
        ("colour", "#12345g", "a colour such as"),
        ("colour", "#1234567", "a colour such as"),
        ("colour", "#123456\n", "a colour such as"),
        ("colour", [1, 2], "a colour such as"),
        ("colour", [1, 2, "3"], "a colour such as"),
    ],
)
def test_wrong_kinds(key: str, value: Any, words: str) -> None:
    with pytest.raises(AssetError, match=words):
        read_table(Path("f"), "", {key: value}, KNOWN, ("a",), check)


def test_whole_numbers_that_have_no_text() -> None:
    huge = 1 << 99_999
    for key, words in (
        ("whole", "whole: is too large"),
        ("text", "a huge number, expected a text"),
        ("tables", "a huge number, expected tables"),
    ):
        with pytest.raises(AssetError, match=words):
            read_table(Path("f"), "", {key: huge}, KNOWN, ("a",), check)


def test_values_by_their_names_inside() -> None:
    given = {"yes": True, "whole": 2, "number": 3, "numbers": [1, 2.5], "table": {}}
    given["tables"] = [{"a": 1}, {}]
    found = read_table(Path("f"), "", given, KNOWN, (), check)
    assert found == {
        "is_yes": True,
        "whole": 2,
        "number": 3.0,
        "numbers": [1, 2.5],
        "table": {},
        "tables": [{"a": 1}, {}],
    }
    assert isinstance(found["number"], float)
    given = {"points": [[1, 2.5]], "angle": 180, "colour": [1, 0, 2]}
    assert read_table(Path("f"), "", given, KNOWN, ()) == {
        "points": [(1.0, 2.5)],
        "angle": math.pi,
        "colour": (1.0, 0.0, 2.0),
    }
    red = read_table(Path("f"), "", {"colour": "#FF0080"}, KNOWN, ())["colour"]
    assert red == pytest.approx((1, 0, 0.2158605))
    far = read_table(Path("f"), "", {"points": [[10**400, -(10**400)]]}, KNOWN, ())
    assert far["points"] == [(math.inf, -math.inf)]


def test_files_and_their_faults(tmp_path: Path) -> None:
    path = tmp_path / "a.toml"
    path.write_text("whole = 1\n[table]\nnumber = 7")
    file = open_toml(str(path))
    assert file.path == path
    assert file.table(file.given, KNOWN, ()) == {"whole": 1, "table": {"number": 7}}
    with pytest.raises(AssetError, match="number: 7, expected another") as caught:
        file.table(file.given["table"], KNOWN, ("table",), check)
    assert caught.value.pointer == "line 3"
    with pytest.raises(AssetError, match="table: no text, expected number, text"):
        file.needs(file.given["table"], ("number", "text"), ("table",))
    error = file.refuse(("table", "none"), "that\n" * 999)
    assert error.pointer == "line 2"
    assert len(error.text) < 520


def test_values_in_faults() -> None:
    assert say_value("a" * 999) == f"'{'a' * 27}...{'a' * 28}'"
    assert say_value([1] * 99) == "[1, 1, 1, 1, 1, 1, ...]"
    deep: list[Any] = []
    for _ in range(9999):
        deep = [deep]
    assert say_value(deep) == "[[[[...]]]]"
    assert reword("a: 1.0, expected 2, expected 3", 1) == "1, expected 2, expected 3"
    assert reword("a: must not be 1", 1) == "a: must not be 1"


def test_names_of_keys() -> None:
    assert name_key(("a\nb", "c")) == "'a\\nb'.c"
    assert len(name_key(("a" * 999,))) < 99
    assert name_key(()) == ""
    assert name_key(("a", "b c")) == "a.b c"
    assert name_key(("a", 0, "b", 11)) == "a 1.b 12"


def test_names_that_may_be_meant() -> None:
    names = ["head", "neck", "head", *(f"bone{n}" for n in range(20))]
    assert say_known("hed", names) == "there are: 'head', ..."
    first = ", ".join(repr(name) for name in ["head", "neck", *names[3:9]])
    assert say_known("qqqqq", names) == f"there are: {first}, ..."
    assert say_known("neck", ["neck"]) == "there are: 'neck'"
    assert say_known("a", []) == "there are none"
    assert say_known("b" * 10**6, ["b" * 10**6, "c"]).startswith("there are: 'bbb")
