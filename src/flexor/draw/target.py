"""Where a picture goes: arrays of one size that a backend fills again and again."""

from __future__ import annotations

import operator
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Literal, get_args

import numpy as np
from numpy.typing import NDArray

from flexor.arrays import Floats, Ints
from flexor.errors import SettingError

__all__ = ["Buffer", "Target", "check_target", "init_target"]

Buffer = Literal["depth", "normal", "part", "heat"]
MOST_PIXELS = 1 << 26
LONGEST_SIDE = 8192


@dataclass(slots=True, eq=False)
class Target:
    """A picture of W x H pixels, row 0 at the top, and what was asked for beside it.

    colour: uint8 (H, W, 4), sRGB and straight alpha; samples: 1, or 4 for smooth edges;
    depth: float32 (H, W), metres from the camera along the view, infinite where nothing
    is; normal: float32 (H, W, 3), world space, zero where nothing is; part: int32
    (H, W), -1 where nothing is; heat: float32 (H, W), NaN where nothing is. The four
    are None unless asked for; they show the nearest surface at pixel centres that is
    not blended and not on layer 1. skipped: faces of the last picture that were left
    out because a corner was not finite.
    """

    colour: NDArray[np.uint8]
    samples: int = 1
    depth: Floats | None = None
    normal: Floats | None = None
    part: Ints | None = None
    heat: Floats | None = None
    skipped: int = 0

    @property
    def size(self) -> tuple[int, int]:
        """Width and height in pixels."""
        return self.colour.shape[1], self.colour.shape[0]


def check_target(width: int, height: int, samples: int) -> None:
    """Refuse a size or a number of samples that cannot be drawn."""
    if not (0 < width <= LONGEST_SIDE and 0 < height <= LONGEST_SIDE):
        raise SettingError(
            f"size: ({width}, {height}), expected (width, height), each 1 to "
            f"{LONGEST_SIDE} pixels"
        )
    if width * height > MOST_PIXELS:
        raise SettingError(
            f"size: {width} x {height} is more than {MOST_PIXELS} pixels in all"
        )
    if samples not in (1, 4):
        raise SettingError(f"samples: {samples!r}, expected 1 or 4")


def init_target(
    size: tuple[int, int], samples: int = 1, buffers: Iterable[Buffer] = ()
) -> Target:
    """Make the arrays for pictures of (width, height)."""
    try:
        width, height = (operator.index(n) for n in size)
    except (TypeError, ValueError):
        raise SettingError(f"size: {size!r}, expected (width, height)") from None
    check_target(width, height, samples)
    wanted = set(buffers)
    unknown = wanted - set(get_args(Buffer))
    if unknown:
        known = ", ".join(get_args(Buffer))
        raise SettingError(f"buffers: {sorted(unknown)}, expected some of {known}")
    target = Target(np.zeros((height, width, 4), np.uint8), samples)
    if "depth" in wanted:
        target.depth = np.full((height, width), np.inf, np.float32)
    if "normal" in wanted:
        target.normal = np.zeros((height, width, 3), np.float32)
    if "part" in wanted:
        target.part = np.full((height, width), -1, np.int32)
    if "heat" in wanted:
        target.heat = np.full((height, width), np.nan, np.float32)
    return target
