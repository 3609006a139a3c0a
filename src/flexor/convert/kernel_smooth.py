"""One step of smoothing weights along a surface.

Every point reads its neighbours' old weights and writes its own new ones, so points can
be worked in any order and by any number of threads with the same result.
"""

import numpy as np

from flexor.maths.kernel import inline, jit

TRACE = np.float32(1e-5)  # a weight that is not kept


@inline
def _keep_largest(own, met, count, joints, weights):
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
    first,
    last,
    starts,
    neighbours,
    lengths,
    slopes,
    joints,
    weights,
    own,
    marks,
    new_joints,
    new_weights,
    moved,
):
    """Smooth the points first..last - 1 of P by one step.

    starts: (P + 1,), neighbours, lengths: (E,), see Surface; slopes: (P,), the largest
    change of a weight a metre, 0 for a point that is not to be changed; joints: (P, K),
    used columns first, -1 for none; weights: (P, K); own: (2, S) zeros, work space;
    marks: (2, S), work space, the first row -1; new_joints, new_weights: results
    (P, K); moved: (1,), the largest change of any weight.

    Over an edge, a weight may differ by the mean slope times the length. The excess is
    given from the heavier to the lighter, in parts so small that no point gets more
    than it can take from all its neighbours.
    """
    most = joints.shape[1]
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
            for i in range(mine):  # joints that pull this point and not that one
                b = met[i]
                if seen[b] != e and old[b] > limit:
                    change[b] -= share * (old[b] - limit)
        for i in range(count):
            b = met[i]
            moved[0] = max(moved[0], abs(change[b]))
            old[b] += change[b]
            seen[b] = -1
        _keep_largest(old, met, count, new_joints[p], new_weights[p])
