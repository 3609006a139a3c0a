"""WebP: small, with alpha, shown by every browser; needs nothing but Pillow.

Of a movie, Pillow compresses each frame; the file around them is put together here. Its
own writer would keep every frame until the last, and then compress on one thread. Only
what changed from one frame to the next is stored.
"""

from __future__ import annotations

import struct
from collections.abc import Iterator
from functools import partial
from pathlib import Path

from flexor.arrays import Pixels
from flexor.output.format import Format
from flexor.output.frames import changed_box, ticks
from flexor.output.ordered import Ordered
from flexor.output.pillow import encode_with_pillow

__all__ = ["FORMAT", "WebpEncoder", "encode_webp"]

QUALITY = 80
METHOD = 2  # twice as fast as the usual 4, some 7 % larger
HAS_ALPHA, IS_ANIMATED = 0x10, 0x02
REPLACE = 0x02  # a frame replaces what is below it, alpha and all
PICTURE = (b"ALPH", b"VP8 ", b"VP8L")


def encode_webp(pixels: Pixels, quality: int = 90, method: int = 4) -> bytes:
    """A whole WebP file of one picture; method: 0 is fast, 6 is small."""
    return encode_with_pillow(pixels, "WEBP", quality=quality, method=method)


class WebpEncoder:
    """Writes frames as they come; the length of the file is put in at the end."""

    def __init__(self, path: Path, size: tuple[int, int], fps: float) -> None:
        self._size, self._fps = size, fps
        self._count = 0
        self._has_alpha = False
        self._before: Pixels | None = None
        self._file = open(path, "wb")
        self._write_head(0)
        self._ordered = Ordered(self._write)

    def add(self, frame: Pixels) -> None:
        """Take the next frame."""
        now = frame.copy()
        milliseconds = ticks(self._count, self._fps, 1000)
        self._ordered.add(partial(_encode, self._before, now, milliseconds))
        self._before = now
        self._count += 1

    def finish(self) -> None:
        """Write what still waits, and what the head can only know now."""
        self._ordered.finish()
        length = self._file.tell()
        self._file.seek(0)
        self._write_head(length - 8)
        self._file.close()  # here, so that a full disk is seen in time

    def close(self) -> None:
        """End the threads, close the file."""
        self._ordered.close()
        try:
            self._file.close()
        except OSError:
            pass  # what could not be written is thrown away anyway

    def _write_head(self, length: int) -> None:
        flags = IS_ANIMATED | (HAS_ALPHA if self._has_alpha else 0)
        width, height = self._size
        about = struct.pack("<B3x", flags) + _three(width - 1) + _three(height - 1)
        loop = struct.pack("<IH", 0xFFFFFFFF, 0)  # over white; played for ever
        self._file.write(struct.pack("<4sI4s", b"RIFF", length, b"WEBP"))
        self._file.write(_chunk(b"VP8X", about) + _chunk(b"ANIM", loop))

    def _write(self, data: bytes) -> None:
        # A lossless picture, as of few pixels, does not say outside whether it has.
        self._has_alpha |= data[24:28] in (b"ALPH", b"VP8L")
        self._file.write(data)


def _encode(before: Pixels | None, now: Pixels, milliseconds: int) -> bytes:
    """What changed, as a chunk of the file."""
    left, top, right, bottom = changed_box(before, now)
    left, top = left & ~1, top & ~1  # the format stores half of them
    place = b"".join(
        _three(n) for n in (left // 2, top // 2, right - left - 1, bottom - top - 1)
    )
    picture = encode_webp(now[top:bottom, left:right].copy(), QUALITY, METHOD)
    parts = (_chunk(kind, data) for kind, data in _chunks(picture) if kind in PICTURE)
    head = place + _three(milliseconds) + bytes([REPLACE])
    return _chunk(b"ANMF", head + b"".join(parts))


def _three(number: int) -> bytes:
    return number.to_bytes(3, "little")


def _chunk(kind: bytes, data: bytes) -> bytes:
    return struct.pack("<4sI", kind, len(data)) + data + b"\0" * (len(data) % 2)


def _chunks(file: bytes) -> Iterator[tuple[bytes, bytes]]:
    """The chunks of a whole WebP file: kind, data."""
    at = 12
    while at + 8 <= len(file):
        kind, length = struct.unpack_from("<4sI", file, at)
        yield kind, file[at + 8 : at + 8 + length]
        at += 8 + length + length % 2


FORMAT = Format(endings=(".webp",), encode=encode_webp, open=WebpEncoder, rank=40)
