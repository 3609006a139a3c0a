"""Sampling of clips and the walk from local transforms to world matrices.

Poses are kept as (N, 10, L) float32: for each character ten rows (tx ty tz, qx qy qz
qw, sx sy sz) of L lanes, one lane a node, parents before children, L a multiple of 8.
So slerp, the quaternion's matrix and later blending work on eight nodes at once, and
only the product with the parent's matrix goes node by node.

Tried for the slerp: acos and sin per node (28 ns), key pairs with their angle computed
when the clip is packed and a sine polynomial on eight lanes (2 ns).
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from flexor.maths.kernels.affine import hang, multiply_affine
from flexor.maths.kernels.jit import inline, jit
from flexor.maths.kernels.lanes import (
    fma8,
    load8,
    put,
    splat8,
    store8,
    take,
)
from flexor.maths.kernels.points import rows8
from flexor.pose.kernels.layout import (
    CUBIC,
    KIND,
    LANE,
    LINEAR,
    OFFSET,
    ROTATION_KEY,
    ROW,
    SMALLEST_ANGLE,
    STEP,
    TIMELINE,
    Hung,
    Moves,
    Sampled,
    Tracks,
    Walked,
)

if TYPE_CHECKING:
    from flexor.arrays import Eight, Floats, Ints, Real, Whole

# Rows of the slerp scratch: q0 (4), q1 (4), angle, 1 / sin(angle), fraction.
ANGLE, INVERSE, FRACTION = 8, 9, 10
# A span that stands still: sine of the angle times the inverse is 1 to the last bit.
STILL_ANGLE = np.float32(SMALLEST_ANGLE)
STILL_INVERSE = np.float32(1 / SMALLEST_ANGLE)


@inline
def _find_key(
    times: Floats,
    start: Whole,
    count: Whole,
    cursor: Whole,
    time: Real,
) -> Whole:
    """The last key not after `time`, from the cursor on if that is near."""
    if time < take(times, start + cursor):
        cursor = 0
    steps = 0
    while cursor + 1 < count and take(times, start + cursor + 1) <= time:
        cursor += 1
        steps += 1
        if steps == 4:  # a jump: halve what is left instead of walking it
            low, high = cursor, count
            while high - low > 1:
                middle = (low + high) >> 1
                if take(times, start + middle) <= time:
                    low = middle
                else:
                    high = middle
            return low
    return cursor


@inline
def _sine8(
    x: Eight,
) -> Eight:
    """Sine on 0 to pi/2, off by at most 4e-9 before rounding."""
    y = x * x
    p = fma8(splat8(np.float32(2.59048836e-06)), y, splat8(np.float32(-1.98008977e-04)))
    p = fma8(p, y, splat8(np.float32(8.33289982e-03)))
    p = fma8(p, y, splat8(np.float32(-1.66666476e-01)))
    return fma8(p, y, splat8(np.float32(0.999999977))) * x


@inline
def _hermite(
    values: Floats,
    at: Whole,
    width: Whole,
    length: Real,
    u: Real,
) -> Real:
    """One component of a cubic span; `at` is its value in the first key."""
    p0, m0 = take(values, at), take(values, at + width) * length
    p1, m1 = take(values, at + 3 * width), take(values, at + 2 * width) * length
    v = u * u
    w = v * u
    return (
        (np.float32(2) * w - np.float32(3) * v + np.float32(1)) * p0
        + (w - np.float32(2) * v + u) * m0
        + (np.float32(3) * v - np.float32(2) * w) * p1
        + (w - v) * m1
    )


@inline
def _place(
    times: Floats,
    timelines: Ints,
    line: Whole,
    cursors: Ints,
    time: Real,
) -> tuple[Whole, Real, Real]:
    """Move a timeline's cursor; give the key, the fraction after it and the span."""
    start, count = np.int64(timelines[line, 0]), np.int64(timelines[line, 1])
    key = _find_key(times, start, count, np.int64(take(cursors, line)), time)
    put(cursors, line, np.int32(key))
    u, length = np.float32(0), np.float32(0)
    before = take(times, start + key)
    if key + 1 < count and time > before:
        length = take(times, start + key + 1) - before
        u = (time - before) / length
    return key, u, length


@inline
def _gather_cubic(
    values: Floats,
    at: Whole,
    u: Real,
    length: Real,
    scratch: Floats,
    lanes: Whole,
    lane: Whole,
) -> None:
    """A cubic rotation, at unit length, as a key that stands still."""
    norm = np.float32(0)
    for c in range(4):
        q = take(values, at + c)
        if u > 0:
            q = _hermite(values, at + c, 4, length, u)
        put(scratch, c * lanes + lane, q)
        norm += q * q
    norm = np.float32(1) / np.sqrt(max(norm, np.float32(1e-30)))
    for c in range(4):
        put(scratch, c * lanes + lane, take(scratch, c * lanes + lane) * norm)


@inline
def _gather_rotations(
    rotations: Ints,
    values: Floats,
    cursor: Ints,
    spots: Floats,
    scratch: Floats,
    lanes: Whole,
) -> None:
    """Bring the keys around the moment into the slerp scratch."""
    for t in range(len(rotations)):
        line, lane = np.int64(rotations[t, TIMELINE]), np.int64(rotations[t, LANE])
        u, at = take(spots, 2 * line), np.int64(rotations[t, OFFSET])
        key = np.int64(take(cursor, line))
        if rotations[t, KIND] == CUBIC:
            length = take(spots, 2 * line + 1)
            _gather_cubic(values, at + 12 * key + 4, u, length, scratch, lanes, lane)
            continue
        at += ROTATION_KEY * key
        angle, inverse, further = STILL_ANGLE, STILL_INVERSE, 0
        if u == 0 or rotations[t, KIND] == STEP:
            # On a key, and after the last one, there is no second key to read: the
            # first stands for it. Nothing of an earlier span may be left, or the last
            # bit would depend on it.
            u = np.float32(0)
        else:
            angle, inverse = take(values, at + 4), take(values, at + 5)
            further = ROTATION_KEY
        for c in range(4):
            put(scratch, c * lanes + lane, take(values, at + c))
            put(scratch, (4 + c) * lanes + lane, take(values, at + further + c))
        put(scratch, ANGLE * lanes + lane, angle)
        put(scratch, INVERSE * lanes + lane, inverse)
        put(scratch, FRACTION * lanes + lane, u)


@inline
def _sample_vectors(
    vectors: Ints,
    values: Floats,
    cursor: Ints,
    spots: Floats,
    local: Floats,
    lanes: Whole,
) -> None:
    """Translations and scales, straight into their rows."""
    for t in range(len(vectors)):
        line, lane = np.int64(vectors[t, TIMELINE]), np.int64(vectors[t, LANE])
        u, at = take(spots, 2 * line), np.int64(vectors[t, OFFSET])
        to = np.int64(vectors[t, ROW]) * lanes + lane
        key = np.int64(take(cursor, line))
        if vectors[t, KIND] == CUBIC:
            at += 9 * key + 3
            length = take(spots, 2 * line + 1)
            for c in range(3):
                v = take(values, at + c)
                if u > 0:
                    v = _hermite(values, at + c, 3, length, u)
                put(local, to + c * lanes, v)
            continue
        at += 3 * key
        # Without a second key, or for STEP, the second is the first.
        further = 3 if u > 0 and vectors[t, KIND] == LINEAR else 0
        for c in range(3):
            v = take(values, at + c)
            v += (take(values, at + further + c) - v) * u
            put(local, to + c * lanes, v)


@inline
def _slerp_lanes(
    scratch: Floats,
    lanes: Whole,
    local: Floats,
) -> None:
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


@inline
def _sample_one(
    tracks: Tracks, cursor: Ints, time: Real, to: Sampled, n: Whole
) -> None:
    """Character `n` at a moment."""
    spots, scratch, mine = to.spots, to.scratch, to.local[n]
    lanes = len(mine) // 10
    for line in range(len(tracks.timelines)):
        _, u, length = _place(tracks.times, tracks.timelines, line, cursor, time)
        put(spots, 2 * line, u)
        put(spots, 2 * line + 1, length)
    if len(tracks.rotations):
        _gather_rotations(
            tracks.rotations, tracks.values, cursor, spots, scratch, lanes
        )
        _slerp_lanes(scratch, lanes, mine)
    _sample_vectors(tracks.vectors, tracks.values, cursor, spots, mine, lanes)


@jit("void(Tracks, f4[::1], Sampled)")
def sample(tracks: Tracks, moments: Floats, to: Sampled) -> None:
    """Sample one clip for N characters; moments: (N,), seconds."""
    for n in range(len(moments)):
        _sample_one(tracks, to.cursors[n], moments[n], to, n)


@jit(
    "void(f4[::1], i4[:, ::1], i4[:, ::1], f4[::1], f4[::1],"
    " out i4[:, ::1], out f4[:, ::1])"
)
def sample_weights(
    times: Floats,
    timelines: Ints,
    tracks: Ints,
    values: Floats,
    moments: Floats,
    cursors: Ints,
    weights: Floats,
) -> None:
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
def _matrix_lanes(
    local: Floats,
    lanes: Whole,
    matrices: Floats,
) -> None:
    """Matrices parent_from_node (L * 12,) of all lanes, eight at a time."""
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
        t = load8(local, i)
        a, b, c = (one - yy - zz) * sx, (xy - wz) * sy, (xz + wy) * sz
        rows8(matrices, 12 * i, a, b, c, t)
        t = load8(local, lanes + i)
        a, b, c = (xy + wz) * sx, (one - xx - zz) * sy, (yz - wx) * sz
        rows8(matrices, 12 * i + 4, a, b, c, t)
        t = load8(local, 2 * lanes + i)
        a, b, c = (xz - wy) * sx, (yz + wx) * sy, (one - xx - yy) * sz
        rows8(matrices, 12 * i + 8, a, b, c, t)


@inline
def _walk_one(local: Floats, to: Walked, n: Whole) -> None:
    """World matrices of character `n`, from its transforms (10 * L,)."""
    nodes, matrices, mine = to.nodes, to.matrices, to.world[n]
    _matrix_lanes(local, len(local) // 10, matrices)
    for lane in range(len(nodes)):
        at, up = np.int64(nodes[lane, 0]) * 12, np.int64(nodes[lane, 1]) * 12
        if up == 12 * len(nodes):
            multiply_affine(to.places[n], 0, matrices, 12 * lane, mine, at)
        else:
            multiply_affine(mine, up, matrices, 12 * lane, mine, at)


@jit("void(f4[:, ::1], Walked)")
def world_from_local(local: Floats, to: Walked) -> None:
    """Matrices of every node in world space; local: (N, 10 * L)."""
    for n in range(len(local)):
        _walk_one(local[n], to, n)


@jit("void(f4[:, ::1], Hung)")
def hang_all(world: Floats, hung: Hung) -> None:
    """Matrices of what hangs on nodes; world: (N, J * 12)."""
    for n in range(len(world)):
        hang(world[n], hung.nodes, hung.offsets, hung.matrices[n])


@jit("void(f4[::1], Moves)")
def move(moments: Floats, moves: Moves) -> None:
    """All three steps for N characters: sample, walk to the world, and hang on nodes
    what hangs there; moments: (N,), seconds.

    One call instead of three: for a single character calls are half of the time.
    """
    to, walked, hung = moves.sampled, moves.walked, moves.hung
    for n in range(len(moments)):
        _sample_one(moves.tracks, to.cursors[n], moments[n], to, n)
        _walk_one(to.local[n], walked, n)
        hang(walked.world[n], hung.nodes, hung.offsets, hung.matrices[n])
