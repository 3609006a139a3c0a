"""Sampling of packed clips straight from their bits.

A character keeps seven rows of whole numbers: four stored frames (one before its block
of four frames, its first, the first of the next, one more), and the three in between.
Going forward, a block costs four rows of bits; a jump costs seven. Rotations lie in a
row as three runs, so that eight are made at once.

Where most lanes of a skeleton turn, rotations lie in a row as they do in a pose, and go
there eight at a time; else only those that turn do, and go one by one.

Tried: rows as float32 (predictions of large numbers are not exact); the same bits for
eight columns, so that those can be spread at once (a fifth more bits).
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from flexor.maths.kernels.bits import load_bytes
from flexor.maths.kernels.ints import as_floats8, load_ints8
from flexor.maths.kernels.jit import inline, jit
from flexor.maths.kernels.lanes import fma8, load8, put, splat8, store8, take
from flexor.pose.kernels.layout import (
    AS_LANES,
    BITS,
    FRAMES,
    MASKS,
    MIDDLES,
    MOVING,
    PAIRS,
    RUN,
    SEGMENT,
    SLOTS,
    STILL,
    TURNING,
    TURNS,
    WIDTH,
)

if TYPE_CHECKING:
    from flexor.arrays import Bytes, Doubles, Eight, Floats, Ints, Longs, Real, Whole

# Rows that a character keeps: four stored frames, each at its number modulo four, then
# those in between.
MIDDLE, EARLY, LATE = 4, 5, 6
ROWS = 7
# Numbers of a segment: its first bit, bits of a row of each level, bits of a block, and
# whether its frames and the next are close.
PART = 6


@inline
def _read_row(
    words: Bytes,
    bit: Whole,
    codes: Bytes,
    at: Whole,
    whole: Ints,
    pairs: Whole,
    rows: Ints,
    to: Whole,
) -> None:
    """Spread the numbers of one row, two columns at a time."""
    for pair in range(pairs):
        both = np.int64(take(codes, at + pair))
        one, other = both & 15, both >> 4
        # Both fit into the 57 bits that are there at least.
        bits = load_bytes(words, bit >> 3) >> (bit & 7)
        number = np.int32(bits) & take(whole, MASKS + one)
        to_one = to + np.int64(take(whole, SLOTS + 2 * pair))
        put(rows, to_one, np.int32(number - take(whole, MIDDLES + one)))
        wide = np.int64(take(whole, BITS + one))
        number = np.int32(bits >> wide) & take(whole, MASKS + other)
        to_other = to + np.int64(take(whole, SLOTS + 2 * pair + 1))
        put(rows, to_other, np.int32(number - take(whole, MIDDLES + other)))
        bit += wide + np.int64(take(whole, BITS + other))


@inline
def _read_both(
    words: Bytes,
    bit: Whole,
    more: Whole,
    codes: Bytes,
    at: Whole,
    whole: Ints,
    pairs: Whole,
    rows: Ints,
    to: Whole,
    apart: Whole,
) -> None:
    """The same for two rows of one level and segment, the second `more` bits behind,
    written `apart` numbers behind.
    """
    for pair in range(pairs):
        both = np.int64(take(codes, at + pair))
        one, other = both & 15, both >> 4
        early = load_bytes(words, bit >> 3) >> (bit & 7)
        late = load_bytes(words, (bit + more) >> 3) >> ((bit + more) & 7)
        mask, middle = take(whole, MASKS + one), take(whole, MIDDLES + one)
        slot = to + np.int64(take(whole, SLOTS + 2 * pair))
        put(rows, slot, np.int32((np.int32(early) & mask) - middle))
        put(rows, slot + apart, np.int32((np.int32(late) & mask) - middle))
        wide = np.int64(take(whole, BITS + one))
        mask, middle = take(whole, MASKS + other), take(whole, MIDDLES + other)
        slot = to + np.int64(take(whole, SLOTS + 2 * pair + 1))
        put(rows, slot, np.int32((np.int32(early >> wide) & mask) - middle))
        put(rows, slot + apart, np.int32((np.int32(late >> wide) & mask) - middle))
        bit += wide + np.int64(take(whole, BITS + other))


@inline
def _first_bit(
    parts: Longs,
    part: Whole,
    inside: Whole,
) -> Whole:
    """Where a block begins, which is the given one of its segment."""
    return take(parts, PART * part) + inside * take(parts, PART * part + 4)


@inline
def _read_inner(
    whole: Ints,
    parts: Longs,
    codes: Bytes,
    words: Bytes,
    block: Whole,
    rows: Ints,
) -> None:
    """The three frames inside a block whose stored ones are there."""
    pairs, width = np.int64(take(whole, PAIRS)), np.int64(take(whole, WIDTH))
    segment = np.int64(take(whole, SEGMENT))
    part = block >> segment
    bit = _first_bit(parts, part, block - (part << segment))
    at = part * 3 * pairs + pairs
    bit += take(parts, PART * part + 1)
    _read_row(words, bit, codes, at, whole, pairs, rows, MIDDLE * width)
    bit += take(parts, PART * part + 2)
    at += pairs
    more = take(parts, PART * part + 3)
    _read_both(words, bit, more, codes, at, whole, pairs, rows, EARLY * width, width)
    one, two = (block & 3) * width, ((block + 1) & 3) * width
    zero, three = ((block - 1) & 3) * width, ((block + 2) & 3) * width
    for i in range(width):
        first, after = take(rows, one + i), take(rows, two + i)
        far = take(rows, zero + i) + take(rows, three + i)
        middle = take(rows, MIDDLE * width + i)
        middle += (np.int32(9) * (first + after) - far + np.int32(8)) >> np.int32(4)
        put(rows, MIDDLE * width + i, middle)
        early, late = take(rows, EARLY * width + i), take(rows, LATE * width + i)
        put(rows, EARLY * width + i, early + ((first + middle) >> np.int32(1)))
        put(rows, LATE * width + i, late + ((middle + after) >> np.int32(1)))


@inline
def _enter_block(
    whole: Ints,
    parts: Longs,
    codes: Bytes,
    words: Bytes,
    block: Whole,
    last: Whole,
    spot: Ints,
    rows: Ints,
) -> None:
    """Bring the rows of a block; spot: (1,), the block that is there, or -1."""
    pairs, width = np.int64(take(whole, PAIRS)), np.int64(take(whole, WIDTH))
    segment = np.int64(take(whole, SEGMENT))
    there = np.int64(take(spot, 0))
    # Going on to the next block, three of its stored frames are there.
    first = block + 2 if there >= 0 and block == there + 1 else block - 1
    stored = first
    while stored < block + 3:
        wanted = min(max(stored, 0), last)
        part = wanted >> segment
        bit = _first_bit(parts, part, wanted - (part << segment))
        at, to = part * 3 * pairs, (stored & 3) * width
        after = min(max(stored + 1, 0), last)
        if stored < block + 2 and after >> segment == part:
            more = (after - wanted) * take(parts, PART * part + 4)
            apart = ((stored + 1) & 3) * width - to
            _read_both(words, bit, more, codes, at, whole, pairs, rows, to, apart)
            stored += 2
        else:
            _read_row(words, bit, codes, at, whole, pairs, rows, to)
            stored += 1
    if block < last:
        _read_inner(whole, parts, codes, words, block, rows)
    put(spot, 0, np.int32(block))


@inline
def _row_of(
    block: Whole,
    inside: Whole,
) -> Whole:
    """The row of a frame of the block, 0 to 4."""
    row = block & 3
    if inside == 1:
        row = EARLY
    elif inside == 2:
        row = MIDDLE
    elif inside == 3:
        row = LATE
    elif inside == 4:
        row = (block + 1) & 3
    return row


@inline
def _slerp_term8(
    v: Eight,
    x: Eight,
    p: Eight,
    j: Whole,
) -> Eight:
    """One more term of the series, before those that are there."""
    a, b = np.float32(1 / (j * (2 * j + 1))), np.float32(-j / (2 * j + 1))
    return fma8(fma8(v, splat8(a), splat8(b)) * x, p, splat8(np.float32(1)))


@inline
def _slerp_weight8(
    u: Eight,
    x: Eight,
    is_close: bool,
) -> Eight:
    """sin(u a) / sin(a), with x = cos(a) - 1: its series, the last term made larger for
    those left out. Off by at most 2e-7 for close frames (a below 20 degrees), else by
    4e-5 at 90 degrees and 3e-7 below 60.
    """
    v = u * u
    p = splat8(np.float32(1))
    if is_close:
        p = _slerp_term8(v, x * splat8(np.float32(1.03)), p, 3)
    else:
        p = _slerp_term8(v, x * splat8(np.float32(1.807)), p, 7)
        p = _slerp_term8(v, x, p, 6)
        p = _slerp_term8(v, x, p, 5)
        p = _slerp_term8(v, x, p, 4)
        p = _slerp_term8(v, x, p, 3)
    p = _slerp_term8(v, x, p, 2)
    return _slerp_term8(v, x, p, 1) * u


@inline
def _turn_eight(
    rows: Ints,
    one: Whole,
    other: Whole,
    u: Real,
    floats: Floats,
    at: Whole,
    run: Whole,
    i: Whole,
    is_close: bool,
    work: Floats,
) -> None:
    """Eight rotations between two rows, the i-th and those behind it, into work (32,).

    at: where the turns are: a matrix for the axis, and what is multiplied from the
    left; run: how many of each component there are.
    """
    unit, two = splat8(np.float32(1)), splat8(np.float32(2))
    u8, left8 = splat8(u), splat8(np.float32(1) - u)
    sx, sy = load8(floats, i), load8(floats, run + i)
    sz = load8(floats, 2 * run + i)
    x = as_floats8(load_ints8(rows, one + i)) * sx
    y = as_floats8(load_ints8(rows, one + run + i)) * sy
    z = as_floats8(load_ints8(rows, one + 2 * run + i)) * sz
    a = as_floats8(load_ints8(rows, other + i)) * sx
    b = as_floats8(load_ints8(rows, other + run + i)) * sy
    c = as_floats8(load_ints8(rows, other + 2 * run + i)) * sz
    n, m = fma8(x, x, fma8(y, y, z * z)), fma8(a, a, fma8(b, b, c * c))
    p, q = unit + n, unit + m
    both = unit / (p * q)
    f, g = both * q, both * p
    w, d = (unit - n) * f, (unit - m) * g
    f, g = f * two, g * two
    # The cosine between both; they are near, or the packer had not taken them.
    dot = fma8(fma8(x, a, fma8(y, b, z * c)), f * g, w * d) - unit
    p, q = _slerp_weight8(left8, dot, is_close), _slerp_weight8(u8, dot, is_close)
    f, g = f * p, g * q
    x, y, z = fma8(x, f, a * g), fma8(y, f, b * g), fma8(z, f, c * g)
    w = fma8(w, p, d * q)
    k = at + TURNS * i
    a = fma8(
        load8(floats, k), x, fma8(load8(floats, k + 8), y, load8(floats, k + 16) * z)
    )
    b = fma8(
        load8(floats, k + 24),
        x,
        fma8(load8(floats, k + 32), y, load8(floats, k + 40) * z),
    )
    c = fma8(
        load8(floats, k + 48),
        x,
        fma8(load8(floats, k + 56), y, load8(floats, k + 64) * z),
    )
    x, y = load8(floats, k + 72), load8(floats, k + 80)
    z, d = load8(floats, k + 88), load8(floats, k + 96)
    store8(work, 0, fma8(d, a, fma8(x, w, fma8(y, c, splat8(np.float32(-1)) * z * b))))
    store8(work, 8, fma8(d, b, fma8(y, w, fma8(z, a, splat8(np.float32(-1)) * x * c))))
    store8(work, 16, fma8(d, c, fma8(z, w, fma8(x, b, splat8(np.float32(-1)) * y * a))))
    store8(work, 24, d * w - x * a - y * b - z * c)


@inline
def sample_one(
    timing: Doubles,
    whole: Ints,
    parts: Longs,
    codes: Bytes,
    words: Bytes,
    floats: Floats,
    time: Real,
    spot: Ints,
    rows: Ints,
    work: Floats,
    local: Floats,
) -> None:
    """Sample a packed clip for one character; all arrays are flat.

    timing, whole, parts, codes, words, floats: of `PackedTables`; time: seconds; spot:
    (1,), rows: (7 * width,), what the character keeps, spot -1 at first; work: (32,),
    work space; local: (10 * L,), of which is written what the clip moves or holds.
    """
    width = np.int64(take(whole, WIDTH))
    last = np.int64(take(whole, FRAMES)) - 1
    at = (np.float64(time) - take(timing, 0)) * take(timing, 1)
    # So written that NaN gives the first frame.
    frame, u = np.int64(0), np.float32(0)
    if at >= last:
        frame = last
    elif at > 0:
        frame = np.int64(at)
        u = np.float32(at - np.float64(frame))
    block, most = frame >> 2, (last + 3) >> 2
    if block != np.int64(take(spot, 0)):
        _enter_block(whole, parts, codes, words, block, most, spot, rows)
    inside = frame & 3
    one = _row_of(block, inside) * width
    other = _row_of(block, inside + 1) * width if u > 0 else one
    is_close = take(parts, PART * (block >> np.int64(take(whole, SEGMENT))) + 5) != 0
    lanes, run = len(local) // 10, np.int64(take(whole, RUN))
    turning: Whole = np.int64(take(whole, TURNING))
    to = SLOTS + 2 * np.int64(take(whole, PAIRS))
    for i in range(0, run, 8):
        _turn_eight(rows, one, other, u, floats, width, run, i, is_close, work)
        if turning == AS_LANES:
            lane = 3 * lanes + np.int64(take(whole, to + (i >> 3)))
            for c in range(4):
                store8(local, lane + c * lanes, load8(work, 8 * c))
            continue
        for k in range(min(8, turning - i)):
            lane = 3 * lanes + np.int64(take(whole, to + i + k))
            put(local, lane, take(work, k))
            put(local, lane + lanes, take(work, 8 + k))
            put(local, lane + 2 * lanes, take(work, 16 + k))
            put(local, lane + 3 * lanes, take(work, 24 + k))
    to += run >> 3 if turning == AS_LANES else turning
    first, bases = 3 * run, width + TURNS * run
    moving = 3 * np.int64(take(whole, MOVING))
    for i in range(moving):
        number = take(rows, one + first + i)
        more = np.float32(take(rows, other + first + i) - number) * u
        more = (np.float32(number) + more) * take(floats, first + i)
        put(local, np.int64(take(whole, to + i)), take(floats, bases + i) + more)
    for i in range(moving, moving + np.int64(take(whole, STILL))):
        put(local, np.int64(take(whole, to + i)), take(floats, bases + i))


@jit(
    "void(f8[::1], i4[::1], i8[::1], u1[::1], u1[::1], f4[::1], f4[::1],"
    " out i4[:, ::1], out i4[:, ::1], out f4[::1], out f4[:, ::1])"
)
def sample_packed(
    timing: Doubles,
    whole: Ints,
    parts: Longs,
    codes: Bytes,
    words: Bytes,
    floats: Floats,
    moments: Floats,
    spots: Ints,
    rows: Ints,
    work: Floats,
    local: Floats,
) -> None:
    """Sample one packed clip for N characters.

    moments: (N,) seconds; spots: (N, 1), rows: (N, 7 * width), what they keep; work:
    (32,); local: (N, 10 * L); the others as for one.
    """
    for n in range(len(moments)):
        sample_one(
            timing,
            whole,
            parts,
            codes,
            words,
            floats,
            moments[n],
            spots[n],
            rows[n],
            work,
            local[n],
        )
