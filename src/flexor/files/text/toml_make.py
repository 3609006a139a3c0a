"""Things made of the words of a table: their faults are told by line and key."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import fields
from typing import Any

from flexor.errors import SettingError, ShapeError
from flexor.files.text.toml_text import KINDS, Keys, TomlFile, Words, reword

__all__ = ["make_of", "words_of"]

LONG = 300  # letters of a fault, of which most are what came


def words_of(made: Any, **others: type) -> Words:
    """The words for the fields of a class: kinds are of their defaults, or others."""
    kinds = {one.name: type(one.default) for one in fields(made)} | others
    return {word: (kind, word) for word, kind in kinds.items() if kind in KINDS}


def make_of(
    file: TomlFile,
    keys: Keys,
    make: Callable[..., Any],
    own: Mapping[str, Any],
    known: Words,
    prefix: str = "",
) -> Any:
    """What is made of words; its faults are those of the words that they begin with.

    prefix: what may stand before those words.
    """
    try:
        return make(**own)
    except (SettingError, ShapeError) as error:
        text = str(error).removeprefix(prefix)
    word, colon, fault = text.partition(": ")
    if not colon or word not in known:
        raise file.refuse(keys, text)
    if len(fault) > LONG:
        fault = reword(text, own.get(word))
    raise file.refuse((*keys, word), fault)
