"""What all formats do with frames: check, flatten, find what changed, keep time."""

from __future__ import annotations

import sys
from typing import Any

import numpy as np
from numpy.typing import NDArray

from flexor.arrays import Pixels
from flexor.errors import SettingError, ShapeError

__all__ = [
    "Box",
    "changed_box",
    "check_frame",
    "check_rate",
    "check_size",
    "flatten",
    "ticks",
]

Box = tuple[int, int, int, int]  # left, top, right, bottom; the last two are outside

LONGEST_SIDE = 16383  # of WebP, the smallest of all formats
OPAQUE = 0xFF000000 if sys.byteorder == "little" else 0x000000FF


def check_size(size: tuple[int, int]) -> tuple[int, int]:
    """Refuse what is no (width, height) in pixels."""
    try:
        width, height = size
        if all(1 <= n <= LONGEST_SIDE and n == int(n) for n in (width, height)):
            return int(width), int(height)
    except (TypeError, ValueError, OverflowError):
        pass
    raise SettingError(
        f"size: {size!r}, expected (width, height), each 1 to {LONGEST_SIDE} pixels"
    )


def check_rate(fps: float) -> float:
    """Refuse frames per second that files cannot hold."""
    try:
        rate = float(fps)
    except (TypeError, ValueError):
        rate = 0.0
    if not 0.01 <= rate <= 1000:
        raise SettingError(f"fps: {fps!r}, expected 0.01 to 1000 frames a second")
    return rate


def check_frame(pixels: Any, size: tuple[int, int] | None, name: str) -> Pixels:
    """Give `pixels` as a C-ordered array, uint8 (H, W, 4); refuse all else."""
    have = getattr(pixels, "dtype", type(pixels).__name__)
    if not isinstance(pixels, np.ndarray) or pixels.dtype != np.uint8:
        raise ShapeError(f"{name}: {have}, expected an array of uint8")
    if size is None:
        if pixels.ndim != 3 or pixels.shape[2] != 4 or not pixels.size:
            raise ShapeError(f"{name}: shape {pixels.shape}, expected (H, W, 4)")
    elif pixels.shape != (size[1], size[0], 4):
        raise ShapeError(
            f"{name}: shape {pixels.shape}, expected ({size[1]}, {size[0]}, 4)"
        )
    return np.ascontiguousarray(pixels)


def flatten(pixels: Pixels) -> Pixels:
    """C-ordered pixels (H, W, 4) over white, for formats without alpha.

    Gives the same array if nothing shows through it, else a new one.
    """
    if (_words(pixels) & OPAQUE == OPAQUE).all():
        return pixels
    alpha = pixels[..., 3:].astype(np.uint16)
    over = pixels[..., :3] * alpha + 255 * (255 - alpha)
    flat = np.full_like(pixels, 255)
    flat[..., :3] = (over + 127) // 255
    return flat


def changed_box(before: Pixels | None, now: Pixels) -> Box:
    """The smallest box around all pixels that differ; one pixel if none does.

    Both C-ordered uint8 (H, W, 4); without a frame before, the box is everything.
    """
    height, width = now.shape[:2]
    if before is None:
        return 0, 0, width, height
    differs = _words(before) != _words(now)
    rows = np.flatnonzero(differs.any(1))
    if not len(rows):
        return 0, 0, 1, 1
    columns = np.flatnonzero(differs[rows[0] : rows[-1] + 1].any(0))
    return int(columns[0]), int(rows[0]), int(columns[-1]) + 1, int(rows[-1]) + 1


def ticks(frame: int, fps: float, per_second: int) -> int:
    """How long a frame is shown, in ticks of a clock with `per_second` of them.

    Times are rounded, not durations, so that a long film does not drift: three frames
    at 30 a second are 33, 34 and 33 milliseconds.
    """
    return round((frame + 1) * per_second / fps) - round(frame * per_second / fps)


def _words(pixels: Pixels) -> NDArray[np.uint32]:
    """One number for each pixel: uint32 (H, W), a view."""
    return pixels.view(np.uint32)[..., 0]
