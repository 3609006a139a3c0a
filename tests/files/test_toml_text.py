"""Text files: where a key is, and what kinds of value there are."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from flexor.errors import AssetError, SettingError
from flexor.files.toml_text import (
    Keys,
    Tables,
    find_line,
    name_key,
    read_table,
    read_toml,
    say_known,
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
    ],
)
def test_wrong_kinds(key: str, value: Any, words: str) -> None:
    with pytest.raises(AssetError, match=words):
        read_table(Path("f"), "", {key: value}, KNOWN, ("a",), check)


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


def test_names_of_keys() -> None:
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
