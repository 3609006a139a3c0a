"""Small edits of weights; rows that need no change stay as they are, to the bit."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from flexor.convert.repair.task import BodyTask, Mended
from flexor.convert.shape.body import Pull
from flexor.errors import SettingError

__all__ = [
    "limit_influences",
    "limit_pass",
    "most_joints",
    "normalise_weights",
    "prune_pass",
    "prune_weights",
]

SLACK = 1e-6  # a sum no further from 1 than this is 1 but for rounding
USUAL = 4  # influences that every engine takes


def prune_pass(task: BodyTask, *, prune: float) -> Mended:
    """Weights without those below `prune`."""
    return Mended(prune_weights(task.body.pull, prune))


def limit_pass(task: BodyTask, *, max_influences: int | None) -> Mended:
    """At most so many joints a vertex; 0: any number; None: as many as there were when
    the scene came, but at least four.
    """
    pull = task.body.pull
    if max_influences == 0:
        return Mended(pull)
    return Mended(limit_influences(pull, most_joints(max_influences, task.influences)))


def most_joints(max_influences: int | None, influences: int) -> int:
    """How many joints may pull a vertex, of what is asked for and what there were."""
    return max_influences or max(USUAL, influences)


def limit_influences(pull: Pull, most: int) -> Pull:
    """At most `most` joints a row: the largest weights, of equal ones the lower joint.

    Rows that lose some are scaled to sum to 1 again.
    """
    if most < 1:
        raise SettingError(f"most: {most}, expected at least 1")
    rank = _ranks(pull)
    drop = (pull.weights > 0) & (rank >= most)
    return _without(pull, drop)


def prune_weights(pull: Pull, least: float) -> Pull:
    """Drop weights below `least`, but never the largest of a row.

    Rows that lose some are scaled to sum to 1 again.
    """
    if not 0 <= least <= 1:
        raise SettingError(f"least: {least}, expected 0 to 1")
    drop = (pull.weights > 0) & (pull.weights < least) & (_ranks(pull) > 0)
    return _without(pull, drop)


def normalise_weights(pull: Pull) -> Pull:
    """Rows that sum to 1; those in which nothing pulls stay with nothing.

    Weights that are negative or no number, and those of no joint, are dropped.
    """
    with np.errstate(invalid="ignore"):
        is_good = (pull.joints >= 0) & (pull.weights > 0) & np.isfinite(pull.weights)
    weights = np.where(is_good, pull.weights, 0)
    sums = weights.sum(1, dtype=np.float64)
    is_odd = ~is_good & (pull.weights != 0)
    rows = is_odd.any(1) | ((sums > 0) & (np.abs(sums - 1) > SLACK))
    if not rows.any():
        return pull
    return _scaled(pull, rows, is_good)


def _ranks(pull: Pull) -> NDArray[np.intp]:
    """The place (R, K) of each column in its row: largest weight first, then joint."""
    order = np.lexsort((pull.joints, -pull.weights), axis=1)
    ranks = np.empty_like(order)
    columns = np.broadcast_to(np.arange(order.shape[1]), order.shape)
    np.put_along_axis(ranks, order, columns, 1)
    return ranks


def _without(pull: Pull, drop: NDArray[np.bool_]) -> Pull:
    rows: NDArray[np.bool_] = np.any(drop, axis=1)
    return _scaled(pull, rows, (pull.weights > 0) & ~drop) if rows.any() else pull


def _scaled(pull: Pull, rows: NDArray[np.bool_], keep: NDArray[np.bool_]) -> Pull:
    """The pull with only the columns to keep in some rows, which then sum to 1."""
    out = Pull(pull.joints.copy(), pull.weights.copy())
    kept = np.where(keep[rows], pull.weights[rows], 0).astype(np.float64)
    sums = kept.sum(1, keepdims=True)
    kept = np.divide(kept, sums, out=np.zeros_like(kept), where=sums > 0)
    out.joints[rows] = np.where(keep[rows], pull.joints[rows], -1)
    out.weights[rows] = kept
    return out
