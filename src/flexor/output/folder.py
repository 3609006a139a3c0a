"""A folder of numbered pictures: 00000.png, 00001.png, ..."""

from __future__ import annotations

from functools import partial
from pathlib import Path

from flexor.arrays import Pixels
from flexor.output.formats.png import QUICK, encode_png
from flexor.output.ordered import Ordered

__all__ = ["FolderEncoder"]


class FolderEncoder:
    """Writes each frame to a file of its own."""

    def __init__(self, path: Path, size: tuple[int, int], fps: float) -> None:
        self._path = path
        self._count = 0
        self._ordered = Ordered(self._write)

    def add(self, frame: Pixels) -> None:
        """Take the next frame."""
        self._ordered.add(partial(encode_png, frame.copy(), QUICK))

    def finish(self) -> None:
        """Write what still waits."""
        self._ordered.finish()

    def close(self) -> None:
        """End the threads."""
        self._ordered.close()

    def _write(self, data: bytes) -> None:
        (self._path / f"{self._count:05d}.png").write_bytes(data)
        self._count += 1
