"""Text files: where a key is, and what kinds of value there are."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from flexor.errors import AssetError, SettingError
from flexor.files.toml_text import find_line, read_table, read_toml

TEXT = """
top = 1
[a."b.c"]   # a table
one = 2
'two' = [3]
[[list]]
d.e = 4
"""


@pytest.mark.parametrize(
    ("keys", "place"),
    [
        (("top",), "line 2"),
        (("a", "b.c"), "line 3"),
        (("a", "b.c", "one"), "line 4"),
        (("a", "b.c", "two"), "line 5"),
        (("list", "d", "e"), "line 7"),
        (("none", "there"), "none.there"),
    ],
)
def test_lines_of_keys(keys: tuple[str, ...], place: str) -> None:
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


KNOWN = {
    "yes": (bool, "is_yes"),
    "whole": (int, "whole"),
    "number": (float, "number"),
    "text": (str, "text"),
    "texts": (list, "texts"),
    "numbers": (tuple, "numbers"),
    "table": (dict, "table"),
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
        ("table", [], "a table"),
        ("other", 1, "not known; there are: yes, whole"),
    ],
)
def test_wrong_kinds(key: str, value: Any, words: str) -> None:
    with pytest.raises(AssetError, match=words):
        read_table(Path("f"), "", {key: value}, KNOWN, ("a",), check)


def test_values_by_their_names_inside() -> None:
    given = {"yes": True, "whole": 2, "number": 3, "numbers": [1, 2.5], "table": {}}
    found = read_table(Path("f"), "", given, KNOWN, (), check)
    assert found == {
        "is_yes": True,
        "whole": 2,
        "number": 3.0,
        "numbers": [1, 2.5],
        "table": {},
    }
    assert isinstance(found["number"], float)
