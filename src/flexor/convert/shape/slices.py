"""Slices of the skin around a joint, and how much of their width a twist leaves.

Skin that is wound up over a short way grows thin as a sweet's wrapper does, and loses
little volume by it.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from flexor.arrays import Doubles, Ints
from flexor.convert.shape.bones import Bones
from flexor.convert.shape.joint_regions import Region
from flexor.convert.shape.surface import Surface

__all__ = ["least_width", "slice_region"]

SLICES = 8  # of the region around a joint
FEWEST = 5  # points that make a slice


def slice_region(region: Region, surface: Surface, bones: Bones) -> Ints:
    """The slice of each point of a region, across its bone: int32 (R,), -1 for none."""
    along = bones.local(region.joint, surface.positions[region.points])[:, 0]
    low, high = float(along.min()), float(along.max())
    part = (along - low) / max(high - low, 1e-30)
    labels = np.minimum((part * SLICES).astype(np.int32), SLICES - 1)
    few = np.bincount(labels, minlength=SLICES) < FEWEST
    return np.where(few[labels], -1, labels).astype(np.int32)


def least_width(
    slices: Ints, before: NDArray[np.floating], after: NDArray[np.floating]
) -> float:
    """The width of the slice that has lost most of it, over what it was.

    slices: of R points, see slice_region; before, after: (R, 3). Infinite without any.
    """
    some = slices >= 0
    if not some.any():
        return float("inf")
    old, new = (
        _widths(slices[some], places[some].astype(np.float64))
        for places in (before, after)
    )
    there = old > 0
    return float((new[there] / old[there]).min()) if there.any() else float("inf")


def _widths(slices: Ints, places: Doubles) -> Doubles:
    """Mean square distances (SLICES,) of points from the middle of their slice, rooted;
    0 for slices without points.
    """
    counts = np.maximum(np.bincount(slices, minlength=SLICES), 1)
    sums = [np.bincount(slices, places[:, axis], SLICES) for axis in range(3)]
    away = places - (np.stack(sums, 1) / counts[:, None])[slices]
    squares = np.bincount(slices, (away * away).sum(1), SLICES)
    widths: Doubles = np.sqrt(squares / counts)
    return widths
