"""Mend what real files get wrong but what can be put right: weights, normals, times.

Every function returns what it mended and how much it had to touch.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from flexor.arrays import Floats
from flexor.scene.character.weights import SkinWeights

__all__ = ["WeightReport", "mend_directions", "mend_times", "mend_weights"]

# A row of float32 weights that was divided by its sum is off 1 by less than this, so
# mending twice changes nothing.
EXACT = 1e-7
# As many vertices look for the nearest good one at most.
MOST_LOST = 200


class WeightReport(dict[str, int]):
    """Vertices by what was wrong with their weights."""

    worst: float = 0.0


def mend_weights(
    joints: NDArray[Any], weights: Floats, joint_count: int, positions: Floats
) -> tuple[SkinWeights, WeightReport]:
    """Weights (V, K) that are finite, not negative, sum to 1, each joint named once.

    A vertex with nothing but broken weights gets those of the nearest good one, by
    positions (V, 3) if there are few, else by the file's order; one whose weights are
    all 0 goes wholly to its first joint, as in other engines. joints: (V, K) unsigned;
    an entry past `joint_count` is mended only where its weight is 0, else it is an
    IndexError.
    """
    report = WeightReport()
    with np.errstate(invalid="ignore"):  # some kinds of NaN complain when widened
        values = weights.astype(np.float64)
    joints = joints.astype(np.int64)

    def count(name: str, rows: Any) -> None:
        if rows.any():
            report[name] = int(rows.sum())

    broken = ~np.isfinite(values)
    count("not finite", broken.any(1))
    values[broken] = 0
    negative = values < 0
    count("negative", negative.any(1))
    values[negative] = 0
    joints[(values == 0) & (joints >= joint_count)] = 0
    count("a joint twice", _merge_repeated(joints, values))
    lost = broken.any(1) & (values.sum(1) <= 0)
    _take_from_nearest(lost, joints, values, positions)
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
    mended = values.astype(np.float32)
    joints[mended == 0] = 0
    past = joints >= joint_count
    if past.any():
        vertex = int(np.nonzero(past.any(1))[0][0])
        raise IndexError(
            f"vertex {vertex} hangs on joint {int(joints[vertex].max())} of a skin "
            f"with {joint_count}"
        )
    return SkinWeights(joints.astype(np.uint16), mended), report


def _take_from_nearest(
    lost: NDArray[np.bool_],
    joints: NDArray[np.int64],
    values: NDArray[np.float64],
    positions: Floats,
) -> None:
    """Give the vertices `lost` the joints and weights of the nearest with any.

    Where more than a few are lost, the nearest in the file's order: also near, mostly,
    and found in no time.
    """
    good, rows = np.flatnonzero(values.sum(1) > 0), np.flatnonzero(lost)
    if not len(good):
        return
    if len(rows) > MOST_LOST:
        after = np.searchsorted(good, rows)
        before = good[np.maximum(after - 1, 0)]
        after = good[np.minimum(after, len(good) - 1)]
        near = np.where(np.abs(rows - before) <= np.abs(after - rows), before, after)
        joints[rows], values[rows] = joints[near], values[near]
        return
    places = positions[good].astype(np.float64)
    for vertex in rows:
        gaps = ((places - positions[vertex]) ** 2).sum(1)
        nearest = good[np.argmin(gaps)]
        joints[vertex], values[vertex] = joints[nearest], values[nearest]


def _merge_repeated(
    joints: NDArray[np.int64], values: NDArray[np.float64]
) -> NDArray[np.bool_]:
    """Give a repeated joint's weight to its first place; return the rows changed."""
    width = joints.shape[1]
    # Entries without weight repeat nothing: each gets a number of its own.
    spare = np.arange(1, width + 1) + int(joints.max(initial=0))
    named = np.where(values > 0, joints, spare)
    order = np.argsort(named, axis=1, kind="stable")
    ranked = np.take_along_axis(named, order, 1)
    first = np.ones(ranked.shape, bool)
    first[:, 1:] = ranked[:, 1:] != ranked[:, :-1]
    rows: NDArray[np.bool_] = ~np.asarray(first.all(1))
    if rows.any():
        order, first = order[rows], first[rows]
        parts = np.take_along_axis(values[rows], order, 1)
        starts = np.flatnonzero(first)
        merged = np.zeros(parts.shape)
        merged.flat[starts] = np.add.reduceat(parts.ravel(), starts)
        changed = np.empty(parts.shape)
        np.put_along_axis(changed, order, merged, 1)
        values[rows] = changed
    return rows


def mend_directions(vectors: Floats, spare: Floats) -> tuple[Floats, int, int]:
    """Unit vectors (V, 3); those without a direction are taken from `spare` (V, 3).

    Returns them with the number of rows that had no direction and the number that
    were off unit length by more than a quantisation step of one part in 100.
    """
    with np.errstate(invalid="ignore"):  # some kinds of NaN complain when widened
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
    """Finite key times (T,) that rise: repeated ones move up by the smallest step.

    Two keys at one time mean a jump; the step keeps it. Times that fall cannot be
    mended: ValueError.
    """
    before, after = times[:-1], times[1:]
    if (after > before).all():
        return times, 0
    if (after < before).any():
        key = int(np.argmax(after < before)) + 1
        raise ValueError(f"key {key} is earlier than the one before it")
    # The bits of a float, read as a whole number, rise by 1 from each float to the
    # next; below 0 they count down from the lowest whole number. Each key must be at
    # least 1 above the one before it.
    bits = (times + np.float32(0)).view(np.int32).astype(np.int64)  # no minus zero
    steps = np.where(bits < 0, -(1 << 31) - bits, bits)
    key_numbers = np.arange(len(times))
    steps = np.maximum.accumulate(steps - key_numbers) + key_numbers
    bits = np.where(steps < 0, -(1 << 31) - steps, steps)
    mended = bits.astype(np.int32).view(np.float32)
    if not np.isfinite(mended).all():
        raise ValueError("the last keys are at the largest number there is")
    return mended, int((after == before).sum())
