"""Text files that people write (TOML): read with checks, and faults by line and key."""

from __future__ import annotations

import difflib
import math
import re
import reprlib
import tomllib
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from flexor.errors import AssetError, SettingError
from flexor.maths.colour import linear_from_srgb

__all__ = [
    "Angle",
    "Colour",
    "Either",
    "Keys",
    "Points",
    "Tables",
    "TomlFile",
    "Words",
    "find_line",
    "name_key",
    "open_toml",
    "read_table",
    "read_toml",
    "reword",
    "say_known",
    "say_value",
]

MOST_BYTES = 1_000_000
MOST_PARTS = 64  # of a dotted key: the time to read one grows as their square
LARGEST = 2**63  # of whole numbers
LONGEST_NAME, LONGEST_FAULT = 80, 500  # letters of what is said about a fault
MOST_GUESSED = 120  # letters of a line that is no TOML
MOST_COMPARED = 2000  # names that one which is not known is compared with


class Tables:
    """The kind of a word that stands for several tables, each under [[word]]."""


class Points:
    """The kind of a word for several places, such as [[0, 0], [2, 0], [2, 3]]."""


class Angle:
    """The kind of a word for an angle: degrees in the file, radians inside."""


class Colour:
    """The kind of a word for a colour: "#rrggbb", or red, green, blue, linear."""


class Either:
    """The kind of a word that is a whole number or a text, such as 1 or "computer"."""


# Where a value stands: words, and numbers from 0 behind words of several tables.
Keys = tuple[str | int, ...]
# The words that a table may hold: the kind of each and what it is called inside.
Words = Mapping[str, tuple[type, str]]
KINDS = {
    bool: "true or false",
    int: "a whole number",
    float: "a number",
    str: "a text",
    list: "a list of texts",
    tuple: "a list of numbers",
    dict: "a table",
    Tables: "tables, each under its word in double brackets",
    Points: "a list of places, each [x, z]",
    Angle: "a number of degrees",
    Either: "a whole number or a text",
    Colour: "a colour such as '#d05040', or [red, green, blue], linear",
}
_SHORT = reprlib.Repr()
_SHORT.maxlevel, _SHORT.maxstring, _SHORT.maxlong, _SHORT.maxother = 3, 60, 40, 60
_SHORT.maxlist = _SHORT.maxdict = 6


@dataclass(frozen=True, slots=True, eq=False)
class TomlFile:
    """A text file that is being read: what it says, and how it is refused."""

    path: Path
    text: str
    given: Mapping[str, Any]

    def table(
        self,
        given: Mapping[str, Any],
        known: Words,
        above: Keys,
        check: Callable[..., Any] | None = None,
    ) -> dict[str, Any]:
        """The values of a table by the names inside, as `read_table` gives them."""
        return read_table(self.path, self.text, given, known, above, check)

    def refuse(self, keys: Keys, fault: str) -> AssetError:
        """The error that says what is wrong with the value at some keys."""
        return _refuse(self.path, self.text, keys, fault)

    def needs(self, own: Mapping[str, Any], words: Iterable[str], keys: Keys) -> None:
        """Refuse a table that lacks any of some words."""
        for word in words:
            if word not in own:
                raise self.refuse(keys, f"no {word}, expected {', '.join(words)}")


def open_toml(path: str | Path) -> TomlFile:
    """A text file, ready to be read; AssetError where it is none."""
    file = Path(path)
    return TomlFile(file, *read_toml(file))


def read_toml(path: Path) -> tuple[str, dict[str, Any]]:
    """The text of a file and what it says; AssetError where it cannot be read."""
    data = b""
    try:
        if path.exists() and not path.is_file():
            raise AssetError(path, "", "is a directory or no plain file")
        with path.open("rb") as file:
            data = file.read(MOST_BYTES + 1)
        if len(data) > MOST_BYTES:
            raise AssetError(path, "", f"is larger than {MOST_BYTES:,} bytes")
        text = data.decode("utf-8-sig")
        _check_parts(path, text)
        return text, tomllib.loads(text)
    except OSError as error:
        raise AssetError(path, "", error.strerror or str(error)) from None
    except UnicodeDecodeError as error:
        lines = data.count(b"\n", 0, error.start) + 1
        raise AssetError(path, f"line {lines}", f"is no TOML: {error}") from None
    except (ValueError, RecursionError) as error:
        found = re.search(r"\(at line ([0-9]+), column", str(error))
        place = f"line {found[1]}" if found else ""  # at the end of the document
        fault = _cut(str(error))
        if found:
            fault += _guess_fault(fault, text.split("\n")[int(found[1]) - 1])
        raise AssetError(path, place, f"is no TOML: {fault}") from None


def _guess_fault(fault: str, line: str) -> str:
    """What is likely meant in a line that is no TOML; nothing if that is not clear."""
    key, _, value = (one.strip() for one in line[:MOST_GUESSED].partition("="))
    if key.startswith("["):
        if re.search("overwrite|declare", fault):
            return "; what is there several times is in double brackets each time"
        return ""
    if re.search("overwrite|[Dd]uplicate", fault):
        return f"; {key} is said twice in its table"
    value = value.partition("#")[0].strip()
    if value.lower() in ("true", "false"):
        return f"; perhaps {value.lower()} is meant"
    if re.fullmatch(r"[+-]?[0-9]+,[0-9]+", value):
        return f"; perhaps {value.replace(',', '.')} is meant"
    if re.fullmatch(r"[^\W\d][\w .-]*", value):
        return "; texts are in quotes"
    return ""


def _check_parts(path: Path, text: str) -> None:
    """Refuse keys of very many parts, before they are read."""
    if all(line.count(".") <= MOST_PARTS for line in text.split("\n")):
        return
    line, dots = 1, 0
    for found in _TOKEN.finditer(text):
        token = found[0]
        if token == ".":
            dots += 1
            if dots > MOST_PARTS:
                fault = f"a key of more than {MOST_PARTS} parts, expected fewer"
                raise AssetError(path, f"line {line}", fault)
        elif found.lastgroup == "mark":
            dots = 0
        line += token.count("\n")


def read_table(
    path: Path,
    text: str,
    given: Mapping[str, Any],
    known: Words,
    above: Keys,
    check: Callable[..., Any] | None = None,
) -> dict[str, Any]:
    """The values of a table by the names inside, each of its kind.

    above: the keys of the table; check: takes any of the values alone, by name, and
    refuses with a SettingError what is no good; tables, lists and yes or no are not
    handed to it. The text is only looked at where something is wrong.
    """
    values = {}
    for key, value in given.items():
        keys = (*above, key)
        if key not in known:
            there = ", ".join(known)
            fault = f"not known; there are: {there}{_say_near(key, known)}"
            raise _refuse(path, text, keys, fault)
        kind, word = known[key]
        wrong = _find_wrong(value, kind)
        if wrong is not None:
            place, fault = wrong
            if kind is Tables and isinstance(value, dict):
                fault += f": [[{_printable(key)}]]"
            elif kind is dict and _is_of(value, Tables):
                fault += " under its word in single brackets, once"
            raise _refuse(path, text, (*keys, *place), fault)
        values[word] = _take(value, kind)
        if check is None or kind in (list, dict, bool, Tables, Points):
            continue
        try:
            check(**{word: values[word]})
        except SettingError as error:
            fault = str(error)
            if ", expected " in fault:
                raise _refuse(path, text, keys, reword(fault, value)) from None
            raise AssetError(path, find_line(text, keys), _cut(fault)) from None
    return values


def reword(fault: str, value: Any) -> str:
    """A fault of the form "name: value, expected that", with the value as written."""
    _, expected, wanted = fault.partition(", expected ")
    return f"{say_value(value)}{expected}{wanted}" if expected else fault


def _refuse(path: Path, text: str, keys: Keys, fault: str) -> AssetError:
    name = f"{name_key(keys)}: " if keys else ""
    return AssetError(path, find_line(text, keys), _cut(name + fault))


def _find_wrong(value: Any, kind: type) -> tuple[Keys, str] | None:
    """What is wrong with a value: where in it, and the fault."""
    if kind is Points and isinstance(value, list):
        for row, one in enumerate(value):
            is_pair = isinstance(one, list) and len(one) == 2
            if not is_pair or not _is_of(one, tuple):
                return (row,), f"{say_value(one)}, expected two numbers, x and z"
    elif not _is_of(value, kind):
        return (), f"{say_value(value)}, expected {KINDS[kind]}"
    if isinstance(value, int) and not -LARGEST <= value < LARGEST:
        return (), f"is too large, expected {KINDS[kind]} of usual size"
    return None


def _is_of(value: Any, kind: type) -> bool:
    if kind is Points:
        return False
    if kind is list:
        return isinstance(value, list) and all(isinstance(one, str) for one in value)
    if kind is tuple:
        return isinstance(value, list) and all(_is_of(one, float) for one in value)
    if kind is Tables:
        return isinstance(value, list) and all(isinstance(one, dict) for one in value)
    if kind is Colour:
        if isinstance(value, str):
            return re.fullmatch("#[0-9a-fA-F]{6}", value) is not None
        return _is_of(value, tuple) and len(value) == 3
    if isinstance(value, bool):
        return kind is bool
    if kind is Either:
        return isinstance(value, int | str)
    if kind in (float, Angle):
        return isinstance(value, int | float)
    return isinstance(value, kind)


def _take(value: Any, kind: type) -> Any:
    """A value as it is inside."""
    if kind is float:
        return float(value)
    if kind is Angle:
        return math.radians(value)
    if kind is tuple:
        return [_number(one) for one in value]
    if kind is Points:
        return [(_number(x), _number(z)) for x, z in value]
    if kind is Colour and isinstance(value, str):
        return tuple(linear_from_srgb(list(bytes.fromhex(value[1:]))).tolist())
    if kind is Colour:
        return tuple(_number(one) for one in value)
    return value


def _number(value: float) -> float:
    """As a float; whole numbers that are too large for one are endless."""
    try:
        return float(value)
    except OverflowError:
        return math.inf if value > 0 else -math.inf


def find_line(text: str, keys: Keys) -> str:
    """The line where a key is set, or else the nearest of those that hold it.

    Without numbers in `keys` the first of several tables is meant. Goes through the
    whole text: for what is refused, not for what is read.
    """
    line, best = 0, 0
    for number, place in _places(text):
        words = tuple(key for key in place if isinstance(key, str))
        for one in (place, words):
            if best < len(one) <= len(keys) and keys[: len(one)] == one:
                line, best = number, len(one)
        if best == len(keys):
            break
    return f"line {line}" if best else name_key(keys)


_TOKEN = re.compile(
    r"""(?P<skip>[ \t\r]++|\#[^\n]*+)
    |(?P<mark>[][{}=,.\n])
    |(?P<word>[^]\s[{}=,."'\#]++)
    |(?P<text>
        \"{3}(?:[^"\\]++|\\.|"(?!""))*+(?:\"{3,5}|\Z)
        |'{3}(?:[^']++|'(?!''))*+(?:'{3,5}|\Z)
        |"(?:[^"\\\n]++|\\[^\n])*+"?
        |'[^'\n]*+'?)
    |(?P<other>.)""",
    re.VERBOSE | re.DOTALL,
)


def _places(text: str) -> Iterator[tuple[int, Keys]]:
    """Lines where keys, tables and parts of lists begin, and where those stand."""
    line = 1
    table: Keys = ()  # that the lines are in
    counts: dict[Keys, int] = {}  # of each word of several tables, the last number
    words: list[str] = []  # of the key that is being read
    opened: list[tuple[Keys, int]] = []  # brackets: whose, and which part; braces: -1
    own: Keys = ()  # of the value that is being read
    heads = 0  # brackets in front of a table's key
    is_value = False
    for found in _TOKEN.finditer(text):
        token, kind = found[0], found.lastgroup
        if kind == "skip":
            continue
        if token == "\n":
            line += 1
            if not opened:
                is_value, heads, words = False, 0, []
        elif not is_value and kind in ("word", "text"):
            words.append(_plain(token))
        elif not is_value and token == "[" and not opened:
            heads += 1
        elif not is_value and token == "]" and words:
            table = ()
            for depth, word in enumerate(words, 1):
                table = (*table, word)
                if heads > 1 and depth == len(words):
                    counts[table] = counts.get(table, -1) + 1
                if table in counts:
                    table = (*table, counts[table])
                yield line, table
            words = []
        elif not is_value and token == "=":
            own = opened[-1][0] if opened else table
            for word in words:
                own = (*own, word)
                yield line, own
            is_value, words = True, []
        elif token == "," and opened:
            above, part = opened.pop()
            opened.append((above, part if part < 0 else part + 1))
            is_value, own = part >= 0, (*above, part + 1)
        elif token in "]}" and opened:
            above, _ = opened.pop()
            is_value, own = True, above
        elif is_value:
            if opened and opened[-1][1] >= 0:
                yield line, own
            if token == "[":
                opened.append((own, 0))
                own = (*own, 0)
            elif token == "{":
                opened.append((own, -1))
                is_value = False
            elif kind == "text":
                line += token.count("\n")


def _plain(word: str) -> str:
    """A part of a key without its quotes."""
    if word[0] == '"' and "\\" in word:
        try:
            return str(tomllib.loads(f"a = {word}")["a"])
        except ValueError:
            return word
    return word.strip(word[0]) if word[0] in "\"'" else word


def name_key(keys: Keys) -> str:
    """Keys in words, such as "level 2.height": tables are counted from 1."""
    name = ""
    for key in keys:
        name += f" {key + 1}" if isinstance(key, int) else f".{_printable(key)}"
    return name.removeprefix(".")


def _printable(key: str) -> str:
    return key if key.isprintable() and len(key) <= LONGEST_NAME else say_value(key)


def say_value(value: Any) -> str:
    """A value as an error shows it: short, whatever it holds."""
    try:
        return _SHORT.repr(value)
    except ValueError:  # a whole number of very many digits
        return "a huge number"


def _cut(fault: str) -> str:
    return fault if len(fault) <= LONGEST_FAULT else f"{fault[:LONGEST_FAULT]}..."


def _say_near(name: str, known: Iterable[str]) -> str:
    near = difflib.get_close_matches(name[:LONGEST_NAME], known, 1, 0.6)
    return f"; perhaps {near[0]} is meant" if near else ""


def say_known(name: str, names: Iterable[str]) -> str:
    """What there is instead of a name that is not among `names`, the closest first."""
    known = list(dict.fromkeys(names))
    some = [one for one in known[:MOST_COMPARED] if len(one) <= LONGEST_NAME]
    near = difflib.get_close_matches(name[:LONGEST_NAME], some, 4, 0.5) or known[:8]
    more = ", ..." if len(near) < len(known) else ""
    there = ", ".join(map(say_value, near))
    return f"there are: {there}{more}" if near else "there are none"
