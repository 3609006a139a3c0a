"""Texts that say what a kernel takes: "void(f4[:, ::1], Room, out u4[::1])"."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any, NamedTuple

import numpy as np

from flexor.maths.records import Field, is_record

__all__ = ["Signature", "read_signature"]

SCALARS: dict[str, type] = {
    "bool": np.bool_,
    "i8": np.int64,
    "i4": np.int32,
    "i1": np.int8,
    "u1": np.uint8,
    "u2": np.uint16,
    "u4": np.uint32,
    "f4": np.float32,
    "f8": np.float64,
}
_WHOLE = re.compile(r"\s*(\w+)\s*\((.*)\)\s*", re.DOTALL)
_TERM = re.compile(r"\s*(out\s+)?(\w+)\s*(\[(?::,\s*)*::1\])?\s*(?:,|$)")


class Signature(NamedTuple):
    """What a kernel gives (None: nothing) and takes; a record is its class."""

    result: type | None
    arguments: tuple[Field | type, ...]


def read_signature(text: str, names: Mapping[str, Any]) -> Signature:
    """A signature of its text; names: of the kernel's module, with its records."""
    whole = _WHOLE.fullmatch(text)
    if whole is None or (whole[1] != "void" and whole[1] not in SCALARS):
        raise ValueError(f"kernel signature {text!r}: expected TYPE(TYPE, ...)")
    inside = whole[2]
    arguments: list[Field | type] = []
    at = 0
    while at < len(inside):
        match = _TERM.match(inside, at)
        if match is not None and match[2] in SCALARS:
            axes = match[3].count(":") - 1 if match[3] else 0
            arguments.append(Field(SCALARS[match[2]], axes, match[1] is not None))
        elif match is not None and is_record(names.get(match[0].strip(", "))):
            arguments.append(names[match[2]])
        else:
            raise ValueError(f"kernel signature {text!r}: cannot read {inside[at:]!r}")
        at = match.end()
    return Signature(SCALARS.get(whole[1]), tuple(arguments))
