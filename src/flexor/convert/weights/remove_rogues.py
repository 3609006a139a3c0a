"""Rogue patches: skin tied to a bone that it does not belong to, and what mends it."""

from __future__ import annotations

import heapq
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from flexor.arrays import Floats, Ints
from flexor.convert.shape.body import Pull, merge_same
from flexor.convert.shape.surface import Surface

__all__ = ["Patch", "remove_rogues"]


@dataclass(frozen=True, slots=True, eq=False)
class Patch:
    """A rogue patch: points that hang on a bone they are cut off from.

    joint: the row of the bone; points: int32, rising; weight: the largest that a point
    gave to the bone; heirs: the rows of the joints that took it over, rising; score,
    best: of the patch's surest point, and of the bone's in this piece of the surface.
    """

    joint: int
    points: Ints
    weight: float
    heirs: tuple[int, ...]
    score: float
    best: float


@dataclass(frozen=True, slots=True, eq=False)
class _Ties:
    """Every tie of a point to a bone: point, column in its row, bone, and a label that
    is shared by those of one bone that are joined along the surface; (T,) each.

    score: of each label's surest tie, best: of the surest of its bone and piece, both
    float64 (labels,); is_rogue: bool (T,).
    """

    points: NDArray[np.intp]
    columns: NDArray[np.intp]
    bones: NDArray[np.int64]
    labels: NDArray[np.int64]
    score: NDArray[np.float64]
    best: NDArray[np.float64]
    is_rogue: NDArray[np.bool_]


def remove_rogues(
    surface: Surface,
    pull: Pull,
    scores: Floats,
    *,
    joints: Sequence[int] | None = None,
    spare: float | None = None,
) -> tuple[Pull, list[Patch]]:
    """Free a skin of patches that hang on a bone but are cut off from it.

    surface: P points; pull: of the points, (P, K); scores: float32 (P, K), how well
    each point fits the bone it is tied to, higher is surer; joints: rows of the bones
    to look at, None for all; spare: leave patches whose surest point has at least this
    share of the score of the bone's surest point (a bone that lies between two sides of
    a body may pull both); None: leave none. Only for scores that are not negative.

    In every connected piece of the surface, what hangs on a bone must be joined along
    the surface, by points that hang on it too, with the surest point of that bone (of
    equally sure ones the first). The rest are rogue patches. What they give to the bone
    goes to the other bones of the same point in proportion; where a point has no other
    that is sound, to those of the nearest point along the surface that has (of equally
    near ones the first). Rows without a rogue tie stay as they are, to the bit.

    Gives the mended pull and the patches, by joint, then by first point.
    """
    ties = _find_ties(surface, pull, scores)
    is_rogue = ties.is_rogue.copy()
    if joints is not None:
        is_rogue &= np.isin(ties.bones, np.asarray(joints, np.int64))
    if spare is not None:
        is_rogue &= (ties.score < spare * ties.best)[ties.labels]
    if not is_rogue.any():
        return pull, []
    sound = pull.weights > 0
    sound &= pull.joints >= 0
    sound[ties.points[is_rogue], ties.columns[is_rogue]] = False
    touched = np.unique(ties.points[is_rogue])
    is_sound: NDArray[np.bool_] = np.any(sound, axis=1)
    sources = _nearest_sound(surface, touched, is_sound)
    kept = np.where(sound[sources], pull.weights[sources], 0)
    mended = merge_same(np.where(kept > 0, pull.joints[sources], -1), kept)
    out = Pull(pull.joints.copy(), pull.weights.copy())
    out.joints[touched] = mended.joints
    out.weights[touched] = mended.weights
    return out, _patches(ties, is_rogue, pull, out)


def _find_ties(surface: Surface, pull: Pull, scores: Floats) -> _Ties:
    points, columns = np.nonzero((pull.weights > 0) & (pull.joints >= 0))
    bones = pull.joints[points, columns].astype(np.int64)
    labels = _join_ties(surface, pull, points, columns)
    score = scores[points, columns].astype(np.float64)
    score[np.isnan(score)] = -np.inf
    # All ties of a label are of one bone in one piece: its surest stands for it.
    count = int(labels.max(initial=-1)) + 1
    own, first = np.full(count, -np.inf), np.full(count, len(surface), np.intp)
    np.maximum.at(own, labels, score)
    is_own = score == own[labels]
    np.minimum.at(first, labels[is_own], points[is_own])
    group = np.empty(count, np.int64)
    pieces = surface.pieces[points].astype(np.int64)
    group[labels] = pieces * (int(bones.max(initial=0)) + 1) + bones
    # The surest of each group comes first in this order.
    order = np.lexsort((first, -own, group))
    is_first = np.ones(count, bool)
    is_first[1:] = group[order[1:]] != group[order[:-1]]
    is_sound, best = np.empty(count, bool), np.empty(count)
    is_sound[order] = is_first
    best[order] = own[order][is_first][np.cumsum(is_first) - 1]
    return _Ties(points, columns, bones, labels, own, best, ~is_sound[labels])


def _join_ties(
    surface: Surface,
    pull: Pull,
    points: NDArray[np.intp],
    columns: NDArray[np.intp],
) -> NDArray[np.int64]:
    """A label (T,) for each tie, the same for all of one bone that hang together."""
    from scipy.sparse import coo_array
    from scipy.sparse.csgraph import connected_components

    count = len(points)
    if not count:
        return np.zeros(0, np.int64)
    number = np.full(pull.joints.shape, -1, np.int32)
    number[points, columns] = np.arange(count, dtype=np.int32)
    # By column, so that each comparison below reads its numbers in order.
    bones = np.where(number >= 0, pull.joints, -1).T.copy()
    first, second, _ = surface.edges()
    before, after = bones[:, first], bones[:, second]
    ends: list[list[NDArray[np.int32]]] = [[], []]
    for i in range(len(bones)):
        for j in range(len(bones)):
            edge = np.flatnonzero((before[i] == after[j]) & (before[i] >= 0))
            ends[0].append(number[first[edge], i])
            ends[1].append(number[second[edge], j])
    one, other = (np.concatenate(end) for end in ends)
    joined = (np.ones(len(one), np.int8), (one, other))
    graph = coo_array(joined, (count, count)).tocsr()
    labels: NDArray[np.int64] = connected_components(graph, directed=False)[1]
    return labels.astype(np.int64)


def _nearest_sound(
    surface: Surface, points: NDArray[np.intp], is_sound: NDArray[np.bool_]
) -> NDArray[np.intp]:
    """For each of some points the nearest sound one along the surface, itself if it is.

    is_sound: bool (P,). A search from the rims of all patches inwards: it visits only
    points that are not sound, and of equally near ones the lowest number wins.
    """
    if is_sound[points].all():
        return points
    starts, neighbours, lengths = surface.starts, surface.neighbours, surface.lengths
    found = np.where(is_sound, np.arange(len(surface)), -1)
    best: dict[int, tuple[float, int]] = {}
    heap: list[tuple[float, int, int]] = []

    def spread(point: int, away: float, source: int) -> None:
        span = slice(starts[point], starts[point + 1])
        ways = zip(neighbours[span].tolist(), lengths[span].tolist(), strict=True)
        for beside, length in ways:
            if found[beside] >= 0:
                continue
            reached = away + length, source
            if beside not in best or reached < best[beside]:
                best[beside] = reached
                heapq.heappush(heap, (*reached, beside))

    first, second, _ = surface.edges()
    rims = [
        np.unique(one[is_sound[one] & ~is_sound[other]])
        for one, other in ((first, second), (second, first))
    ]
    for point in np.unique(np.concatenate(rims)).tolist():
        spread(point, 0.0, point)
    while heap:
        away, source, point = heapq.heappop(heap)
        if found[point] < 0:
            found[point] = source
            spread(point, away, source)
    return found[points]


def _patches(
    ties: _Ties, is_rogue: NDArray[np.bool_], before: Pull, after: Pull
) -> list[Patch]:
    rows = np.flatnonzero(is_rogue)
    rows = rows[np.argsort(ties.labels[rows], kind="stable")]
    cuts = np.flatnonzero(np.diff(ties.labels[rows])) + 1
    patches = []
    for patch in np.split(rows, cuts):
        points = ties.points[patch]
        label = ties.labels[patch[0]]
        names = after.joints[points][after.weights[points] > 0]
        patches.append(
            Patch(
                int(ties.bones[patch[0]]),
                points.astype(np.int32),
                float(before.weights[points, ties.columns[patch]].max()),
                tuple(np.unique(names).tolist()),
                float(ties.score[label]),
                float(ties.best[label]),
            )
        )
    return sorted(patches, key=lambda patch: (patch.joint, int(patch.points[0])))
