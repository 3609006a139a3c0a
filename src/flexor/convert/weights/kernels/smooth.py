"""Smoothing weights along a surface, and coarser surfaces to do it on.

Every point reads its neighbours' old weights and writes its own new ones, so points can
be worked in any order and by any number of threads with the same result.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from flexor.maths.kernels.jit import inline, jit

if TYPE_CHECKING:
    from flexor.arrays import Floats, Ints, Real, Whole

TRACE = np.float32(1e-5)  # a weight that is not kept
LEAST = np.float32(1e-3)  # differences are not compared with less than this


@inline
def _keep_largest(
    own: Floats,
    met: Ints,
    count: Whole,
    joints: Ints,
    weights: Floats,
) -> None:
    """Write the largest of `count` weights as a row that sums to 1, the largest first.

    own: weights by joint; met: the joints, in the order in which they were met.
    """
    most = len(joints)
    used = 0
    for i in range(count):
        value = own[met[i]]
        if not value > TRACE:
            continue
        k = used
        while k > 0 and (
            value > weights[k - 1]
            or (value == weights[k - 1] and met[i] < joints[k - 1])
        ):
            k -= 1
        if k == most:
            continue
        used = min(used + 1, most)
        for j in range(used - 1, k, -1):
            weights[j], joints[j] = weights[j - 1], joints[j - 1]
        weights[k], joints[k] = value, met[i]
    total = np.float32(0)
    for k in range(used):
        total += weights[k]
    for k in range(used):
        weights[k] /= total
    for k in range(used, most):
        weights[k], joints[k] = np.float32(0), -1


@jit(
    "void(i8, i8, i4[::1], i4[::1], f4[::1], f4[::1], i4[:, ::1], f4[:, ::1],"
    " out f4[:, ::1], out i4[:, ::1], out i4[:, ::1], out f4[:, ::1], out f4[::1])"
)
def smooth_step(
    first: int,
    last: int,
    starts: Ints,
    neighbours: Ints,
    lengths: Floats,
    slopes: Floats,
    joints: Ints,
    weights: Floats,
    own: Floats,
    marks: Ints,
    new_joints: Ints,
    new_weights: Floats,
    over: Floats,
) -> None:
    """Smooth the points first..last - 1 of P by one step.

    starts: (P + 1,), neighbours, lengths: (E,), see Surface; slopes: (P,), the largest
    change of a weight a metre, 0 for a point that is not to be changed; joints: (P, K),
    used columns first, -1 for none; weights: (P, K); own: (2, S) zeros, work space;
    marks: (2, S), work space, the first row -1; new_joints, new_weights: results
    (P, K); over: (1,), by how much a weight differs too much, as a part of what it may.

    Over an edge, a weight may differ by the mean slope times the length. The excess is
    given from the heavier to the lighter, in parts so small that no point gets more
    than it can take from all its neighbours.
    """
    most = joints.shape[1]
    worst = np.float32(0)
    old, change, seen, met = own[0], own[1], marks[0], marks[1]
    for p in range(first, last):
        if not slopes[p] > 0 or starts[p + 1] == starts[p] or joints[p, 0] < 0:
            for k in range(most):
                new_joints[p, k], new_weights[p, k] = joints[p, k], weights[p, k]
            continue
        count = 0
        for k in range(most):
            b = joints[p, k]
            if b < 0:
                break
            old[b], met[count] = weights[p, k], b
            change[b], seen[b] = np.float32(0), -2
            count += 1
        mine = count
        degree = starts[p + 1] - starts[p]
        for e in range(starts[p], starts[p + 1]):
            q = neighbours[e]
            if joints[q, 0] < 0:
                continue
            slope = slopes[q] if slopes[q] > 0 else slopes[p]
            limit = np.float32(0.5) * (slopes[p] + slope) * lengths[e]
            share = np.float32(0.5) / np.float32(max(degree, starts[q + 1] - starts[q]))
            for k in range(most):
                b = joints[q, k]
                if b < 0:
                    break
                if seen[b] == -1:  # not met at this point so far
                    met[count] = b
                    count += 1
                    old[b], change[b] = np.float32(0), np.float32(0)
                seen[b] = e
                gap = weights[q, k] - old[b]
                if gap > limit:
                    change[b] += share * (gap - limit)
                elif gap < -limit:
                    change[b] += share * (gap + limit)
                worst = max(worst, (abs(gap) - limit) / max(limit, LEAST))
            for i in range(mine):  # joints that pull this point and not that one
                b = met[i]
                if seen[b] != e and old[b] > limit:
                    change[b] -= share * (old[b] - limit)
                    worst = max(worst, (old[b] - limit) / max(limit, LEAST))
        for i in range(count):
            b = met[i]
            old[b] += change[b]
            seen[b] = -1
        _keep_largest(old, met, count, new_joints[p], new_weights[p])
    over[0] = worst


@jit("i8(i4[::1], i4[::1], out i4[::1])")
def gather_clusters(
    starts: Ints,
    neighbours: Ints,
    clusters: Ints,
) -> int:
    """Group points with their neighbours; gives the number of clusters.

    clusters: (P,), the cluster of each point, from 0. A point that is in none takes its
    neighbours that are in none; one without such neighbours joins the cluster of its
    first neighbour.
    """
    count = 0
    for p in range(len(clusters)):
        clusters[p] = -1
    for p in range(len(clusters)):
        if clusters[p] >= 0:
            continue
        free = 0
        for e in range(starts[p], starts[p + 1]):
            free += clusters[neighbours[e]] < 0
        if free == 0 and starts[p + 1] > starts[p]:
            clusters[p] = clusters[neighbours[starts[p]]]
            continue
        clusters[p] = count
        for e in range(starts[p], starts[p + 1]):
            if clusters[neighbours[e]] < 0:
                clusters[neighbours[e]] = count
        count += 1
    return count


@jit(
    "void(i4[::1], i4[::1], i4[:, ::1], f4[:, ::1], out f4[::1], out i4[:, ::1],"
    " out i4[:, ::1], out f4[:, ::1])"
)
def mean_weights(
    starts: Ints,
    members: Ints,
    joints: Ints,
    weights: Floats,
    own: Floats,
    marks: Ints,
    new_joints: Ints,
    new_weights: Floats,
) -> None:
    """The mean weights of each cluster's members.

    starts: (C + 1,), members: (P,), points by cluster; joints, weights: (P, K); own:
    (S,) zeros, marks: (2, S), the first row -1: work space; results: (C, K).
    """
    seen, met = marks[0], marks[1]
    for c in range(len(new_joints)):
        count = 0
        for i in range(starts[c], starts[c + 1]):
            for k in range(joints.shape[1]):
                b = joints[members[i], k]
                if b < 0:
                    break
                if seen[b] < 0:
                    seen[b], met[count], own[b] = 1, b, np.float32(0)
                    count += 1
                own[b] += weights[members[i], k]
        for i in range(count):
            seen[met[i]] = -1
        _keep_largest(own, met, count, new_joints[c], new_weights[c])


@inline
def _add_row(
    joints: Ints,
    weights: Floats,
    factor: Real,
    own: Floats,
    seen: Ints,
    met: Ints,
    count: Whole,
) -> Whole:
    """Add a row of weights to `own`; gives the number of joints met so far."""
    for k in range(len(joints)):
        b = joints[k]
        if b < 0:
            break
        if seen[b] < 0:
            seen[b], met[count], own[b] = 1, b, np.float32(0)
            count += 1
        own[b] += factor * weights[k]
    return count


@jit(
    "void(i8, i8, i4[::1], f4[::1], f4[::1], i4[:, ::1], f4[:, ::1], i4[:, ::1],"
    " f4[:, ::1], out f4[::1], out i4[:, ::1], out i4[:, ::1], out f4[:, ::1])"
)
def add_change(
    first: int,
    last: int,
    clusters: Ints,
    slopes: Floats,
    reaches: Floats,
    old_joints: Ints,
    old_weights: Floats,
    now_joints: Ints,
    now_weights: Floats,
    own: Floats,
    marks: Ints,
    joints: Ints,
    weights: Floats,
) -> None:
    """Change points first..last - 1 as their clusters were changed.

    clusters, slopes: (P,); reaches: (P,), how far each is from its cluster's middle;
    old_..., now_...: (C, K), of the clusters before and after; own: (S,) zeros, marks:
    (2, S), the first row -1: work space; joints, weights: (P, K), changed in place, but
    not where the slope is 0. By how much a point differed from its cluster it still
    does, as far as slope and reach allow.
    """
    seen, met = marks[0], marks[1]
    for p in range(first, last):
        if not slopes[p] > 0 or joints[p, 0] < 0:
            continue
        c = clusters[p]
        one = np.float32(1)
        limit = slopes[p] * reaches[p]
        count = _add_row(joints[p], weights[p], one, own, seen, met, 0)
        count = _add_row(old_joints[c], old_weights[c], -one, own, seen, met, count)
        for i in range(count):
            own[met[i]] = min(max(own[met[i]], -limit), limit)
        count = _add_row(now_joints[c], now_weights[c], one, own, seen, met, count)
        for i in range(count):
            seen[met[i]] = -1
        _keep_largest(own, met, count, joints[p], weights[p])
