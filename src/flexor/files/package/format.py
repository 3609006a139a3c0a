"""What a package file is: a safetensors file with a name, a version and a checksum.

The header begins with the checksum, always at the same place, so that it can cover all
other bytes: the size of the header, the header behind the checksum, and the data. The
envelopes are one array of bytes, a container in the container, because they are looked
at only when they are asked for; so are the levels of detail, where there are any.

Versions, of which every one has a file in tests/data/packages:

1. Scene and envelopes, of which either or both may lack.
2. Packed clips. A file without any is still written as version 1.
3. Twist and swing links, which older releases would take for other links. A file
   without any is still written as version 1 or 2.

A reader takes its own version and all before it. It ignores arrays and texts it does
not know: what adds to a file needs no new version, what changes the meaning does. So
levels of detail have none of their own: releases that do not know them read the rest;
those that expect both envelopes read all but these of a file that lacks one.
"""

from __future__ import annotations

from collections.abc import Iterable

import xxhash

from flexor.errors import AssetError, VersionError
from flexor.files.package.tensors import TensorFile

__all__ = [
    "ENVELOPES",
    "FORMAT",
    "LEVELS",
    "OLDEST",
    "PACKED",
    "VERSION",
    "Bytes",
    "check_bytes",
    "check_format",
    "checksum",
    "seal",
]

Bytes = bytes | memoryview

FORMAT, OLDEST, PACKED, VERSION = "flexor", 1, 2, 3
READ = tuple(str(number) for number in range(OLDEST, VERSION + 1))
ENVELOPES, LEVELS = "envelopes", "levels"  # the names of their arrays
# What stands before the checksum, behind the eight bytes of the header's size.
START = b'{"__metadata__":{"checksum":"'
FIRST = 8 + len(START)
BEHIND = FIRST + 16


def checksum(parts: Iterable[Bytes]) -> str:
    """Sixteen digits for bytes that follow each other: xxh3, 64 bits.

    It finds damage. It does not keep out someone who writes a file on purpose: all that
    a file says is checked on its own.
    """
    made = xxhash.xxh3_64()
    for part in parts:
        made.update(part)
    return made.hexdigest()


def seal(head: bytes, parts: Iterable[Bytes]) -> bytes:
    """The header with its checksum; parts: the data."""
    if head[8:FIRST] != START:
        raise ValueError("the header does not begin with the checksum")
    made = checksum([head[:8], head[BEHIND:], *parts])
    return head[:FIRST] + made.encode() + head[BEHIND:]


def check_format(file: TensorFile) -> None:
    """Refuse what is no package, or one of a version that is not read here."""
    if file.metadata.get("format") != FORMAT:
        text = "a safetensors file, but not a package of flexor"
        raise AssetError(file.path, "format", text)
    version = file.metadata.get("version", "")
    if version in READ:
        return
    if not (version.isascii() and version.isdigit() and len(version) < 10):
        text = f"{version[:20]!r}, expected a number"
        raise AssetError(file.path, "version", text)
    text = f"format version {version}, this release reads up to version {VERSION}"
    hint = "; a newer release of flexor is needed" if int(version) > VERSION else ""
    raise VersionError(file.path, "version", text + hint)


def check_bytes(file: TensorFile) -> None:
    """Refuse a file that is not as it was written."""
    if file.buffer[8:FIRST] != START:
        raise AssetError(file.path, "byte 8", "the header begins with no checksum")
    view = memoryview(file.buffer)
    made = checksum([view[:8], view[BEHIND:]])
    if file.buffer[FIRST:BEHIND] != made.encode():
        raise AssetError(file.path, "checksum", "wrong: the file is damaged")
