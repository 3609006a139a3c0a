"""Files of machine code: the object files of a module's kernels in one.

A line that says what this is, a line of JSON with names and sizes, the object files one
after another. A digest of all that follows it tells files that are damaged, which
would else crash whoever runs them.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from hashlib import blake2b
from typing import NamedTuple

__all__ = ["DamagedCode", "Object", "pack_code", "unpack_code"]

_WHAT = b"flexor kernels 1 "
_DIGEST = 32  # letters


class DamagedCode(ValueError):
    """A file that is not what `pack_code` made."""


class Object(NamedTuple):
    """The machine code of one kernel, an object file in which `symbol` is called."""

    name: str
    symbol: str
    code: bytes


def _digest(data: bytes) -> bytes:
    return blake2b(data, digest_size=_DIGEST // 2).hexdigest().encode()


def pack_code(objects: Sequence[Object]) -> bytes:
    """The file of several kernels."""
    heads = [[one.name, one.symbol, len(one.code)] for one in objects]
    body = json.dumps(heads).encode() + b"\n" + b"".join(one.code for one in objects)
    return _WHAT + _digest(body) + b"\n" + body


def unpack_code(data: bytes) -> list[Object]:
    """The kernels in a file; DamagedCode where it is not one, or not whole."""
    start = len(_WHAT) + _DIGEST + 1
    body = data[start:]
    if data[:start] != _WHAT + _digest(body) + b"\n":
        raise DamagedCode("not a whole file of kernels")
    at = body.index(b"\n") + 1
    found = []
    for name, symbol, size in json.loads(body[:at]):
        found.append(Object(name, symbol, body[at : at + size]))
        at += size
    return found
