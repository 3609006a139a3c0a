"""Mend what real files get wrong but what can be put right: weights, normals, times.

Every function returns the mended array and the number of rows it had to touch.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from flexor.arrays import Floats
from flexor.scene.weights import SkinWeights

__all__ = ["WeightReport", "mend_directions", "mend_times", "mend_weights"]

# A row of float32 weights that was divided by its sum is off 1 by less than this, so
# mending twice changes nothing.
EXACT = 1e-7


class WeightReport(dict[str, int]):
    """Vertices by what was wrong with their weights."""

    worst: float = 0.0


def mend_weights(
    joints: NDArray[Any], weights: Floats, joint_count: int
) -> tuple[SkinWeights, WeightReport]:
    """Weights (V, K) that are finite, not negative, sum to 1, each joint named once.

    A vertex without any usable weight goes wholly to its first joint. joints: (V, K)
    unsigned; an entry past `joint_count` is mended only where its weight is 0.
    """
    report = WeightReport()
    values = weights.astype(np.float64)
    joints = joints.astype(np.int64)

    def count(name: str, rows: NDArray[np.bool_]) -> None:
        if rows.any():
            report[name] = int(rows.sum())

    broken = ~np.isfinite(values)
    count("not finite", broken.any(1))
    values[broken] = 0
    negative = values < 0
    count("negative", negative.any(1))
    values[negative] = 0
    # Repeated joints: the first takes the weight of all.
    twice = np.zeros(len(values), bool)
    for later in range(1, joints.shape[1]):
        for first in range(later):
            same = (joints[:, later] == joints[:, first]) & (values[:, later] > 0)
            same &= values[:, first] > 0
            values[same, first] += values[same, later]
            values[same, later] = 0
            twice |= same
    count("a joint twice", twice)
    sums = values.sum(1)
    empty = sums <= 0
    count("no weight", empty)
    values[empty, 0] = 1
    sums[empty] = 1
    off = np.abs(sums - 1)
    report.worst = float(off.max(initial=0))
    count("sum not 1", off > 1e-4)
    inexact = off > EXACT
    values[inexact] /= sums[inexact, None]
    values = values.astype(np.float32)
    joints[values == 0] = 0
    past = joints >= joint_count
    if past.any():
        vertex = int(np.nonzero(past.any(1))[0][0])
        raise IndexError(
            f"vertex {vertex} hangs on joint {int(joints[vertex].max())} of a skin with "
            f"{joint_count}"
        )
    return SkinWeights(joints.astype(np.uint16), values), report


def mend_directions(vectors: Floats, spare: Floats) -> tuple[Floats, int, int]:
    """Unit vectors (V, 3); those without a direction are taken from `spare` (V, 3).

    Returns them with the number of rows that had no direction and the number that
    were off unit length by more than a quantisation step of one part in 100.
    """
    values = vectors.astype(np.float64)
    values[~np.isfinite(values).all(1)] = 0
    length = np.linalg.norm(values, axis=1)
    none = length < 1e-6
    values[none] = spare[none]
    length[none] = 1
    off = np.abs(length - 1)
    if not none.any() and not (off > 1e-6).any():
        return vectors, 0, 0
    unit = (values / length[:, None]).astype(np.float32)
    unit[off <= 1e-6] = values[off <= 1e-6]
    return unit, int(none.sum()), int((off > 1e-2).sum())


def mend_times(times: Floats) -> tuple[Floats, int]:
    """Key times (T,) that rise: repeated ones move up by the smallest step.

    Two keys at one time mean a jump; the step keeps it. Times that fall cannot be
    mended: ValueError.
    """
    steps = np.diff(times)
    if (steps > 0).all():
        return times, 0
    if (steps < 0).any():
        key = int(np.nonzero(steps < 0)[0][0]) + 1
        raise ValueError(f"key {key} is earlier than the one before it")
    mended = times.copy()
    for key in range(1, len(mended)):
        if mended[key] <= mended[key - 1]:
            mended[key] = np.nextafter(mended[key - 1], np.float32(np.inf))
    return mended, int((steps == 0).sum())
