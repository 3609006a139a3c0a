"""Animated PNG: lossless, with alpha, shown by every browser.

Pillow would keep every frame until the last; here each is compressed when it comes,
and only the part that changed.
"""

from __future__ import annotations

import struct
from fractions import Fraction
from functools import partial
from pathlib import Path

from flexor.arrays import Pixels
from flexor.output.format import Format
from flexor.output.formats.png import QUICK, SIGNATURE, chunk, deflate, header
from flexor.output.frames import changed_box
from flexor.output.ordered import Ordered

__all__ = ["FORMAT", "ApngEncoder"]


class ApngEncoder:
    """Writes frames as they come; their number is put into the head at the end."""

    def __init__(self, path: Path, size: tuple[int, int], fps: float) -> None:
        self._size = size
        # Seconds a frame, as two numbers of 16 bits.
        self._delay = (1 / Fraction(fps)).limit_denominator(30000)
        self._frames = self._sequence = 0
        self._before: Pixels | None = None
        self._file = open(path, "wb")
        self._write_head()
        self._ordered = Ordered(self._write)

    def add(self, frame: Pixels) -> None:
        """Take the next frame."""
        now = frame.copy()
        self._ordered.add(partial(_encode, self._before, now, self._delay))
        self._before = now

    def finish(self) -> None:
        """Write what still waits, the end, and the number of frames."""
        self._ordered.finish()
        self._file.write(chunk(b"IEND", b""))
        self._file.seek(0)
        self._write_head()
        self._file.close()  # here, so that a full disk is seen in time

    def close(self) -> None:
        """End the threads, close the file."""
        self._ordered.close()
        try:
            self._file.close()
        except OSError:
            pass  # what could not be written is thrown away anyway

    def _write_head(self) -> None:
        count = struct.pack(">II", self._frames, 0)  # 0: played for ever
        self._file.write(SIGNATURE + header(*self._size) + chunk(b"acTL", count))

    def _write(self, data: bytes) -> None:
        control, pixels = data[:22], data[22:]
        self._file.write(chunk(b"fcTL", self._next() + control))
        if self._frames == 0:
            self._file.write(chunk(b"IDAT", pixels))
        else:
            self._file.write(chunk(b"fdAT", self._next() + pixels))
        self._frames += 1

    def _next(self) -> bytes:
        """The number of the next chunk of the animation."""
        self._sequence += 1
        return struct.pack(">I", self._sequence - 1)


def _encode(before: Pixels | None, now: Pixels, delay: Fraction) -> bytes:
    """What changed: where it is and how long it is shown (22 bytes), then its data."""
    left, top, right, bottom = changed_box(before, now)
    control = struct.pack(
        ">IIIIHHBB",
        right - left,
        bottom - top,
        left,
        top,
        delay.numerator,
        delay.denominator,
        0,  # the picture stays for the next frame
        0,  # and this one replaces it, alpha and all
    )
    return control + deflate(now[top:bottom, left:right].copy(), QUICK)


FORMAT = Format(endings=(".apng",), open=ApngEncoder, rank=60)
