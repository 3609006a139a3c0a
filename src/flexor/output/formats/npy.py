"""Frames as one NumPy array, uint8 (N, H, W, 4), for `numpy.load`."""

from __future__ import annotations

from pathlib import Path

from numpy.lib import format as npy_format

from flexor.arrays import Pixels
from flexor.output.format import Format

__all__ = ["FORMAT", "NpyEncoder"]


class NpyEncoder:
    """Writes frames as they come; their number is put into the header at the end."""

    def __init__(self, path: Path, size: tuple[int, int], fps: float) -> None:
        self._size = size
        self._count = 0
        self._file = open(path, "wb")
        self._write_header()

    def add(self, frame: Pixels) -> None:
        """Write the next frame."""
        self._file.write(frame.data)
        self._count += 1

    def finish(self) -> None:
        """Write the header again, with the number of frames."""
        self._file.seek(0)
        self._write_header()
        self._file.close()  # here, so that a full disk is seen in time

    def close(self) -> None:
        """Close the file."""
        try:
            self._file.close()
        except OSError:
            pass  # what could not be written is thrown away anyway

    def _write_header(self) -> None:
        # NumPy leaves room in a header for the first number to grow.
        shape = (self._count, self._size[1], self._size[0], 4)
        about = {"descr": "|u1", "fortran_order": False, "shape": shape}
        npy_format.write_array_header_1_0(self._file, about)


FORMAT = Format(endings=(".npy",), open=NpyEncoder, rank=70)
