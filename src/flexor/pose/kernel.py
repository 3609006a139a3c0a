"""Sampling of clips and the walk from local transforms to world matrices.

Poses are kept as (N, 10, L) float32: for each character ten rows (tx ty tz, qx qy qz qw,
sx sy sz) of L lanes, one lane a node, parents before children, L a multiple of eight.
So slerp, the quaternion's matrix and later blending work on eight nodes at once, and
only the product with the parent's matrix goes node by node.

Tried for the slerp: acos and sin per node (28 ns), key pairs with their angle computed
when the clip is packed and a sine polynomial on eight lanes (2 ns).
"""

import numpy as np

from flexor.maths.kernel import inline, jit
from flexor.maths.kernel_lanes import fma8, load8, splat8, store8

# Columns of the track table.
TIMELINE, ROW, KIND, LANE, OFFSET = range(5)
LINEAR, STEP, CUBIC = range(3)
# Rows of the slerp scratch: q0 (4), q1 (4), angle, 1 / sin(angle), fraction.
ANGLE, INVERSE, FRACTION = 8, 9, 10
# The floats of one packed rotation key: the quaternion, and for the span that it
# starts the angle and 1 / sin(angle).
ROTATION_KEY = 6


@inline
def _find_key(times, start, count, cursor, time):
    """The last key not after `time`, from the cursor on if that is near."""
    if time < times[start + cursor]:
        cursor = 0
    steps = 0
    while cursor + 1 < count and times[start + cursor + 1] <= time:
        cursor += 1
        steps += 1
        if steps == 4:  # a jump: halve what is left instead of walking it
            low, high = cursor, count
            while high - low > 1:
                middle = (low + high) >> 1
                if times[start + middle] <= time:
                    low = middle
                else:
                    high = middle
            return low
    return cursor


@inline
def _sine8(x):
    """Sine on 0 to pi/2, off by at most 4e-9 before rounding."""
    y = x * x
    p = fma8(splat8(np.float32(2.59048836e-06)), y, splat8(np.float32(-1.98008977e-04)))
    p = fma8(p, y, splat8(np.float32(8.33289982e-03)))
    p = fma8(p, y, splat8(np.float32(-1.66666476e-01)))
    return fma8(p, y, splat8(np.float32(0.999999977))) * x


@inline
def _hermite(values, at, width, length, u):
    """One component of a cubic span; `at` is its value in the first key."""
    step = 3 * width
    p0, m0 = values[at], values[at + width] * length
    p1, m1 = values[at + step], values[at + step - width] * length
    v = u * u
    w = v * u
    return (
        (np.float32(2) * w - np.float32(3) * v + np.float32(1)) * p0
        + (w - np.float32(2) * v + u) * m0
        + (np.float32(3) * v - np.float32(2) * w) * p1
        + (w - v) * m1
    )


@inline
def _place(times, timelines, line, cursors, time):
    """Move a timeline's cursor; give the key, the fraction after it and the span."""
    start, count = timelines[line, 0], timelines[line, 1]
    key = _find_key(times, start, count, cursors[line], time)
    cursors[line] = key
    u, length = np.float32(0), np.float32(0)
    if key + 1 < count and time > times[start + key]:
        length = times[start + key + 1] - times[start + key]
        u = (time - times[start + key]) / length
    return key, u, length


@inline
def _slerp_lanes(scratch, lanes, local):
    """Interpolate eight rotations at a time into rows 3 to 6 of `local`."""
    one = splat8(np.float32(1))
    for i in range(0, lanes, 8):
        u = load8(scratch, FRACTION * lanes + i)
        angle = load8(scratch, ANGLE * lanes + i)
        inverse = load8(scratch, INVERSE * lanes + i)
        s0 = _sine8((one - u) * angle) * inverse
        s1 = _sine8(u * angle) * inverse
        for c in range(4):
            q0 = load8(scratch, c * lanes + i)
            q1 = load8(scratch, (4 + c) * lanes + i)
            store8(local, (3 + c) * lanes + i, fma8(q0, s0, q1 * s1))


@jit(
    "void(f4[::1], i4[:, ::1], i4[:, ::1], i4[:, ::1], f4[::1], f4[::1],"
    " out i4[:, ::1], out f4[:, ::1], out f4[::1], out f4[:, ::1])"
)
def sample(
    times,
    timelines,
    rotations,
    vectors,
    values,
    moments,
    cursors,
    spots,
    scratch,
    local,
):
    """Sample one clip for N characters.

    times: key times of all timelines; timelines: (G, 2) start and count; rotations,
    vectors: track tables; values: keys; moments: (N,) seconds; cursors: (N, G) last
    keys; spots: (G, 2) work space; scratch: (11 * L,) work space, filled with the rest
    rotations where no track writes; local: (N, 10 * L).
    """
    lanes = local.shape[1] // 10
    for n in range(len(moments)):
        mine = local[n]
        cursor = cursors[n]
        for line in range(len(timelines)):
            key, u, length = _place(times, timelines, line, cursor, moments[n])
            spots[line, 0] = u
            spots[line, 1] = length
        for t in range(len(rotations)):
            line, lane = rotations[t, TIMELINE], rotations[t, LANE]
            u, at = spots[line, 0], np.int64(rotations[t, OFFSET])
            if rotations[t, KIND] == CUBIC:
                at += 12 * np.int64(cursor[line]) + 4
                norm = np.float32(0)
                for c in range(4):
                    q = values[at + c]
                    if u > 0:
                        q = _hermite(values, at + c, 4, spots[line, 1], u)
                    scratch[c * lanes + lane] = q
                    norm += q * q
                norm = np.float32(1) / np.sqrt(max(norm, np.float32(1e-30)))
                for c in range(4):
                    scratch[c * lanes + lane] *= norm
                continue
            at += ROTATION_KEY * np.int64(cursor[line])
            if u == 0 or rotations[t, KIND] == STEP:
                # On a key, and after the last one, there is no second key to read.
                for c in range(4):
                    scratch[c * lanes + lane] = values[at + c]
                scratch[FRACTION * lanes + lane] = 0
                continue
            for c in range(4):
                scratch[c * lanes + lane] = values[at + c]
                scratch[(4 + c) * lanes + lane] = values[at + ROTATION_KEY + c]
            scratch[ANGLE * lanes + lane] = values[at + 4]
            scratch[INVERSE * lanes + lane] = values[at + 5]
            scratch[FRACTION * lanes + lane] = u
        if len(rotations):
            _slerp_lanes(scratch, lanes, mine)
        for t in range(len(vectors)):
            line, lane, row = vectors[t, TIMELINE], vectors[t, LANE], vectors[t, ROW]
            u, at = spots[line, 0], np.int64(vectors[t, OFFSET])
            if vectors[t, KIND] == CUBIC:
                at += 9 * np.int64(cursor[line]) + 3
                for c in range(3):
                    v = values[at + c]
                    if u > 0:
                        v = _hermite(values, at + c, 3, spots[line, 1], u)
                    mine[(row + c) * lanes + lane] = v
                continue
            at += 3 * np.int64(cursor[line])
            for c in range(3):
                v = values[at + c]
                if u > 0 and vectors[t, KIND] == LINEAR:
                    v += (values[at + 3 + c] - v) * u
                mine[(row + c) * lanes + lane] = v


@jit(
    "void(f4[::1], i4[:, ::1], i4[:, ::1], f4[::1], f4[::1],"
    " out i4[:, ::1], out f4[:, ::1])"
)
def sample_weights(times, timelines, tracks, values, moments, cursors, weights):
    """Sample the morph weights of one clip for N characters.

    tracks: rows of timeline, first column in `weights`, kind, number of targets, offset
    of the keys; weights: (N, W), untouched where no track writes.
    """
    for n in range(len(moments)):
        for t in range(len(tracks)):
            line, first, width = tracks[t, TIMELINE], tracks[t, ROW], tracks[t, LANE]
            key, u, length = _place(times, timelines, line, cursors[n], moments[n])
            at = np.int64(tracks[t, OFFSET])
            if tracks[t, KIND] == CUBIC:
                at += np.int64(3 * width) * key + width
            else:
                at += np.int64(width) * key
            for c in range(width):
                v = values[at + c]
                if u > 0 and tracks[t, KIND] == LINEAR:
                    v += (values[at + width + c] - v) * u
                elif u > 0 and tracks[t, KIND] == CUBIC:
                    v = _hermite(values, at + c, width, length, u)
                weights[n, first + c] = v


@inline
def _matrix_lanes(local, lanes, scratch):
    """Rows m00..m22 (9 * L,) of the matrices of eight lanes at a time."""
    one, two = splat8(np.float32(1)), splat8(np.float32(2))
    for i in range(0, lanes, 8):
        x, y = load8(local, 3 * lanes + i), load8(local, 4 * lanes + i)
        z, w = load8(local, 5 * lanes + i), load8(local, 6 * lanes + i)
        x2, y2, z2 = x * two, y * two, z * two
        xx, yy, zz = x * x2, y * y2, z * z2
        xy, xz, yz = x * y2, x * z2, y * z2
        wx, wy, wz = w * x2, w * y2, w * z2
        sx, sy = load8(local, 7 * lanes + i), load8(local, 8 * lanes + i)
        sz = load8(local, 9 * lanes + i)
        store8(scratch, i, (one - yy - zz) * sx)
        store8(scratch, lanes + i, (xy - wz) * sy)
        store8(scratch, 2 * lanes + i, (xz + wy) * sz)
        store8(scratch, 3 * lanes + i, (xy + wz) * sx)
        store8(scratch, 4 * lanes + i, (one - xx - zz) * sy)
        store8(scratch, 5 * lanes + i, (yz - wx) * sz)
        store8(scratch, 6 * lanes + i, (xz - wy) * sx)
        store8(scratch, 7 * lanes + i, (yz + wx) * sy)
        store8(scratch, 8 * lanes + i, (one - xx - yy) * sz)


@jit("void(f4[:, ::1], u4[:, ::1], out f4[::1], out f4[:, ::1])")
def world_from_local(local, nodes, scratch, world):
    """Matrices of every node in world space.

    local: (N, 10 * L); nodes: (J, 2) node and parent of each lane, the parent being J
    for roots; scratch: (9 * L,); world: (N, (J + 1) * 12), of which the last matrix is
    the identity that roots hang on.
    """
    lanes = local.shape[1] // 10
    for n in range(len(local)):
        mine, moved = local[n], world[n]
        _matrix_lanes(mine, lanes, scratch)
        for lane in range(len(nodes)):
            to = np.uint64(nodes[lane, 0]) * np.uint64(12)
            up = np.uint64(nodes[lane, 1]) * np.uint64(12)
            i = np.uint64(lane)
            step = np.uint64(lanes)
            m00, m01 = scratch[i], scratch[i + step]
            m02, m10 = scratch[i + step * 2], scratch[i + step * 3]
            m11, m12 = scratch[i + step * 4], scratch[i + step * 5]
            m20, m21 = scratch[i + step * 6], scratch[i + step * 7]
            m22 = scratch[i + step * 8]
            x, y, z = mine[i], mine[i + step], mine[i + step * 2]
            for row in range(3):
                r = np.uint64(4 * row)
                a, b = moved[up + r], moved[up + r + np.uint64(1)]
                c, d = moved[up + r + np.uint64(2)], moved[up + r + np.uint64(3)]
                moved[to + r] = a * m00 + b * m10 + c * m20
                moved[to + r + np.uint64(1)] = a * m01 + b * m11 + c * m21
                moved[to + r + np.uint64(2)] = a * m02 + b * m12 + c * m22
                moved[to + r + np.uint64(3)] = a * x + b * y + c * z + d
