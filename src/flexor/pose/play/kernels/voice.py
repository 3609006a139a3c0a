"""One voice of a character: a clip of a set, its clock, and the pose it gives.

A voice keeps a position in seconds, float64. For once and loop it is the time in the
clip; for ping-pong it runs from 0 to twice the duration, the second half being the way
back. Loop and ping-pong positions lie on a circle, from 0 up to but not including its
length: the end of a loop is its start.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import numpy as np

from flexor.maths.kernels.jit import inline
from flexor.maths.kernels.lanes import load8, put, splat8, store8, take
from flexor.pose.kernels.layout import CUBIC, LANE, LINEAR, OFFSET, ROW, TIMELINE
from flexor.pose.kernels.layout import KIND as TRACK_KIND
from flexor.pose.kernels.packed import sample_one
from flexor.pose.kernels.sample import (
    ANGLE,
    FRACTION,
    INVERSE,
    STILL_ANGLE,
    STILL_INVERSE,
    _gather_rotations,
    _hermite,
    _place,
    _sample_vectors,
    _slerp_lanes,
)

if TYPE_CHECKING:
    from flexor.arrays import Floats, Ints, Real, Whole
    from flexor.pose.play.layout import Motion, Packs

# Columns of the table of clips: the kind, then first row and number of rows in each
# of the other tables.
KIND, LINE, ROTATION, VECTOR, MORPH, PATH = 0, 1, 3, 5, 7, 9
COLUMNS = 11
PLAIN, PACKED = range(2)
# Columns of the table of packed clips: first and number of each of their arrays.
WHOLE, PARTS, CODES, WORDS, FLOATS = range(0, 10, 2)
PACK_COLUMNS = 10
# Columns of root motion: seconds, x, y, z, heading.
PATH_WIDTH = 5
# How a voice goes on at the end of its clip.
ONCE, LOOP, PING_PONG = range(3)
# Clips that are none: a voice that is free, and one that holds a kept pose.
FREE, KEPT = -1, -2


@inline
def step_clock(
    position: Real, delta: Real, mode: Whole, duration: Real
) -> tuple[Real, Whole]:
    """The position after `delta` seconds, and how often it went round (backward < 0).

    `fmod` is exact, so nothing adds up over hours but the rounding of one sum a step.
    """
    moved = position + delta
    if mode == ONCE:
        return min(max(moved, 0.0), duration), 0
    length = duration if mode == LOOP else 2 * duration
    if length <= 0.0:
        return 0.0, 0
    if 0.0 <= moved < length:
        return moved, 0
    rest = np.fmod(moved, length)
    turns = math.floor((moved - rest) / length + 0.5)
    if rest < 0.0:
        rest += length
        turns -= 1
        if rest >= length:  # so little before the start that it was lost
            rest = 0.0
            turns += 1
    return rest, np.int64(turns)


@inline
def clip_time(position: Real, mode: Whole, duration: Real) -> Real:
    """Seconds in the clip at a position."""
    if mode == PING_PONG and position > duration:
        return 2 * duration - position
    return position


@inline
def fill_rest(rest: Floats, scratch: Floats, lanes: Whole) -> None:
    """Make the slerp's scratch ready for a clip: every lane stands still at rest."""
    still, inverse = splat8(STILL_ANGLE), splat8(STILL_INVERSE)
    zero = splat8(np.float32(0))
    for i in range(0, lanes, 8):
        for c in range(4):
            store8(scratch, c * lanes + i, load8(rest, (3 + c) * lanes + i))
        store8(scratch, ANGLE * lanes + i, still)
        store8(scratch, INVERSE * lanes + i, inverse)
        store8(scratch, FRACTION * lanes + i, zero)


@inline
def sample_plain(
    row: Ints,
    moment: Real,
    motion: Motion,
    rest: Floats,
    cursor: Ints,
    spots: Floats,
    scratch: Floats,
    pose: Floats,
) -> None:
    """One clip at a moment into a pose (10 * L,); lanes without tracks are at rest.

    row: the clip's row in the table of clips. `scratch` must have been filled by
    `fill_rest` or by this clip.
    """
    values = motion.values
    lanes = len(pose) // 10
    first = np.int64(row[LINE])
    lines = motion.timelines[first : first + np.int64(row[LINE + 1])]
    for line in range(len(lines)):
        _, u, length = _place(motion.times, lines, line, cursor, moment)
        put(spots, 2 * line, u)
        put(spots, 2 * line + 1, length)
    # Rows of translation and scale; those of rotation too if no track writes them.
    count = np.int64(row[ROTATION + 1])
    for i in range(0, 3 * lanes, 8):
        store8(pose, i, load8(rest, i))
        store8(pose, 7 * lanes + i, load8(rest, 7 * lanes + i))
    if count:
        first = np.int64(row[ROTATION])
        tracks = motion.rotations[first : first + count]
        _gather_rotations(tracks, values, cursor, spots, scratch, lanes)
        _slerp_lanes(scratch, lanes, pose)
    else:
        for i in range(3 * lanes, 7 * lanes, 8):
            store8(pose, i, load8(rest, i))
    first = np.int64(row[VECTOR])
    tracks = motion.vectors[first : first + np.int64(row[VECTOR + 1])]
    _sample_vectors(tracks, values, cursor, spots, pose, lanes)


@inline
def sample_bits(
    clip: Whole, moment: Real, packed: Packs, held: Ints, work: Floats, pose: Floats
) -> None:
    """What of a clip is packed, at a moment, over a pose (10 * L,).

    held: (1 + 7 * width,), the block of frames that the voice is in, -1 at first, and
    its numbers; work: (32,).
    """
    both, mine = packed.both, packed.packs[clip]
    sample_one(
        packed.timing[2 * clip : 2 * clip + 2],
        packed.whole[mine[WHOLE] : mine[WHOLE] + mine[WHOLE + 1]],
        packed.parts[mine[PARTS] : mine[PARTS] + mine[PARTS + 1]],
        both[mine[CODES] : mine[CODES] + mine[CODES + 1]],
        both[mine[WORDS] : mine[WORDS] + mine[WORDS + 1]],
        packed.floats[mine[FLOATS] : mine[FLOATS] + mine[FLOATS + 1]],
        moment,
        held[:1],
        held[1:],
        work,
        pose,
    )


@inline
def sample_morphs(
    row: Ints,
    motion: Motion,
    rest_weights: Floats,
    cursor: Ints,
    spots: Floats,
    weights: Floats,
) -> None:
    """Morph weights (W,) of the clip that `spots` belongs to; others at rest."""
    for i in range(len(weights)):
        put(weights, i, take(rest_weights, i))
    morphs, values = motion.morphs, motion.values
    first = np.int64(row[MORPH])
    for t in range(first, first + np.int64(row[MORPH + 1])):
        line, to = np.int64(morphs[t, TIMELINE]), np.int64(morphs[t, ROW])
        width, kind = np.int64(morphs[t, LANE]), morphs[t, TRACK_KIND]
        key, u = np.int64(take(cursor, line)), take(spots, 2 * line)
        length, at = take(spots, 2 * line + 1), np.int64(morphs[t, OFFSET])
        at += (3 * width) * key + width if kind == CUBIC else width * key
        for c in range(width):
            v = take(values, at + c)
            if u > 0 and kind == LINEAR:
                v += (take(values, at + width + c) - v) * u
            elif u > 0 and kind == CUBIC:
                v = _hermite(values, at + c, width, length, u)
            put(weights, to + c, v)
