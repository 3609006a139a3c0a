"""What values say, as a few letters: the same for equal values only."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterator, Mapping
from hashlib import blake2b
from pathlib import Path
from typing import Any

import numpy as np

__all__ = ["Unknown", "digest"]


class Unknown(Exception):
    """A value of which it is not known what makes it another."""


def digest(*values: Any) -> str:
    """32 letters that are the same for equal values only.

    Of numbers, texts, bytes, paths, arrays, and tuples, lists, mappings and dataclasses
    of these; others are Unknown.
    """
    found = blake2b(digest_size=16)
    for value in values:
        for part in _parts(value):
            found.update(part)
    return found.hexdigest()


def _parts(value: Any) -> Iterator[bytes]:
    """All that a value says, so that different values say different things."""
    yield f"({type(value).__module__}.{type(value).__qualname__}".encode()
    if isinstance(value, np.ndarray):
        yield f"{value.dtype.str}{value.shape}{value.flags.writeable}".encode()
        yield np.ascontiguousarray(value).tobytes()
    elif dataclasses.is_dataclass(value):
        for field in dataclasses.fields(value):
            yield field.name.encode()
            yield from _parts(getattr(value, field.name))
    elif isinstance(value, Mapping):
        for key, held in value.items():
            yield from _parts(key)
            yield from _parts(held)
    elif isinstance(value, tuple | list):
        for held in value:
            yield from _parts(held)
    elif isinstance(value, bytes):
        yield str(len(value)).encode() + value
    elif value is None or isinstance(
        value, str | bool | int | float | np.generic | Path
    ):
        yield repr(value).encode()
    else:
        raise Unknown(type(value))
    yield b")"
