"""A crowd that plays: clocks moved on, clips sampled, voices and layers laid together.

Tables are flat over N characters, K layers and V voices: row (n * K + k) * V + v is a
voice, row n * K + k its layer. Each layer fades from the shares its voices had when the
fade began to its target, a voice or nothing (-1): the target's weight rises to 1 along
a straight line and all others sink in proportion. So a fade that begins in the middle
of another starts from the weights that are there.

Many tables go to every stage; they go there as the records of `play.layout`. A stage
that is called is handed no more than it uses: every array costs it a few nanoseconds
(with all state in one record, a crowd of 256 took 9 % longer).
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from flexor.maths.kernels.jit import inline, jit, part
from flexor.maths.kernels.lanes import load8, put, store8, take
from flexor.pose.play.kernels.blend import (
    add_masked_numbers,
    add_mix,
    add_numbers,
    add_pose,
    begin_mix,
    cover,
    cover_numbers,
    end_mix,
    scale_numbers,
    subtract,
)
from flexor.pose.play.kernels.travel import move_place, travel_between
from flexor.pose.play.kernels.voice import (
    FREE,
    KEPT,
    KIND,
    ONCE,
    PACKED,
    PATH,
    clip_time,
    fill_rest,
    sample_bits,
    sample_morphs,
    sample_plain,
    step_clock,
)
from flexor.pose.play.layout import (
    Cast,
    Fades,
    Kept,
    Layers,
    Motion,
    Room,
    Travel,
    Voices,
)

if TYPE_CHECKING:
    from flexor.arrays import Doubles, Floats, Ints, Real, Whole

# Columns of the whole numbers of a voice, and of its other numbers. AGE: the number of
# the act that began it, of all acts of the player; KNOWN: whether its turns are those
# with which it was mixed in the frame before.
CLIP, MODE, SYNC, FRESH, AGE, KNOWN = range(6)
POSITION, SPEED, SHARE, LEAVE, WEIGHT = range(5)
# Columns of what a voice did in the last step; MEAN is its weight halfway.
BEFORE, DELTA, TURNS, MEAN = range(4)
# Columns of a layer of a character: seconds and length of its fade, the share of
# nothing when that began, and the layer's own weight.
ELAPSED, LENGTH, SILENT, AMOUNT = range(4)
# Columns of a layer's settings: whether it is added, to which reference (0: its clip's
# own), whether it has no mask.
ADDITIVE, REFERENCE, IS_WHOLE = range(3)
# Numbers of work space for packed clips, the last of `spots`.
PACK_WORK = 32
# This part of a fade is all of it: twelve sixtieths are a little less than 0.2.
NEARLY = 1 - 1e-9


@inline
def faded(fades: Doubles, row: Whole) -> Real:
    """How far a layer's fade has gone, 0 to 1."""
    if fades[row, ELAPSED] >= fades[row, LENGTH] * NEARLY:
        return 1.0
    return fades[row, ELAPSED] / fades[row, LENGTH]


@inline
def weight_now(share: Real, is_target: bool, done: Real) -> Real:
    """A voice's weight in a fade; exactly 1 or 0 when that is done."""
    if done >= 1.0:
        return 1.0 if is_target else 0.0
    if is_target:
        return share + (1.0 - share) * done
    return share * (1.0 - done)


@inline
def _shared_pace(
    row: Whole,
    target: Whole,
    done: Real,
    voices: Voices,
    durations: Doubles,
    count: Whole,
) -> Real:
    """The clips a second of the voices in step, or 0 if there are not several."""
    marks, numbers = voices.marks, voices.numbers
    pace, total, many = 0.0, 0.0, 0
    for v in range(count):
        r = row * count + v
        clip = marks[r, CLIP]
        if clip >= 0 and marks[r, SYNC] and durations[clip] > 0.0:
            weight = weight_now(numbers[r, SHARE], v == target, done)
            pace += weight * numbers[r, SPEED] / durations[clip]
            total += weight
            many += 1
    return pace / total if many > 1 and total > 0.0 else 0.0


@part
def move_voices(
    dt: Real, row: Whole, durations: Doubles, layers: Fades, voices: Voices
) -> None:
    """Move one layer of one character on by `dt` seconds of its own."""
    fades, targets = layers.numbers, layers.targets
    marks, numbers = voices.marks, voices.numbers
    steps, played = voices.steps, voices.played
    count = len(numbers) // len(fades)
    target, done = np.int64(targets[row]), faded(fades, row)
    left, span = fades[row, LENGTH] - fades[row, ELAPSED], abs(dt)
    pace = 0.0
    if done < 1.0:
        pace = _shared_pace(row, target, done, voices, durations, count)
    fades[row, ELAPSED] += span
    now = faded(fades, row)
    for v in range(count):
        r = row * count + v
        clip, is_target = np.int64(marks[r, CLIP]), v == target
        played[r] = clip
        if clip == FREE:
            continue
        weight = weight_now(numbers[r, SHARE], is_target, now)
        mean = 0.5 * (weight_now(numbers[r, SHARE], is_target, done) + weight)
        numbers[r, WEIGHT], steps[r, MEAN] = weight, mean
        steps[r, DELTA], steps[r, TURNS] = 0.0, 0.0
        if clip >= 0:
            mode, length = marks[r, MODE], durations[clip]
            delta = numbers[r, SPEED] * dt
            if pace != 0.0 and marks[r, SYNC]:
                delta = pace * length * dt
            if not is_target and left < span:  # it is gone before the step is over
                delta *= left / span
            position, turns = step_clock(numbers[r, POSITION], delta, mode, length)
            steps[r, BEFORE], steps[r, DELTA] = numbers[r, POSITION], delta
            steps[r, TURNS], numbers[r, POSITION] = turns, position
        if now >= 1.0 and not is_target:
            marks[r, CLIP] = FREE
    if now >= 1.0:
        fades[row, ELAPSED], fades[row, LENGTH] = 0.0, 0.0
        fades[row, SILENT] = 1.0 if target < 0 else 0.0
    if target >= 0 and span > 0.0:
        _leave(row, target, span, durations, layers, voices)


@inline
def _leave(
    row: Whole,
    target: Whole,
    span: Real,
    durations: Doubles,
    layers: Fades,
    voices: Voices,
) -> None:
    """Begin to fade out a voice that is near its end and was told to leave.

    The fade is as long as it was told, or as what is left of the clip if that is
    shorter, so that it is over when the clip is; if it is over now, nothing is left.
    span: seconds of the step that was made.
    """
    fades, targets = layers.numbers, layers.targets
    marks, numbers, steps = voices.marks, voices.numbers, voices.steps
    count = len(numbers) // len(fades)
    r = row * count + target
    clip, leave, delta = marks[r, CLIP], numbers[r, LEAVE], steps[r, DELTA]
    if leave < 0.0 or clip < 0 or marks[r, MODE] != ONCE or delta == 0.0:
        return
    position = numbers[r, POSITION]
    ahead = durations[clip] - position if delta > 0.0 else position
    # Whole steps may end a hair before the clip.
    is_over = ahead <= durations[clip] * (1.0 - NEARLY)
    left = 0.0 if is_over else ahead / abs(delta) * span
    if left > leave and not is_over:
        return
    done = faded(fades, row)
    fades[row, SILENT] = weight_now(fades[row, SILENT], False, done)
    for v in range(count):
        if marks[row * count + v, CLIP] != FREE:
            numbers[row * count + v, SHARE] = numbers[row * count + v, WEIGHT]
            if is_over:
                marks[row * count + v, CLIP] = FREE
    if is_over:
        fades[row, SILENT] = 1.0
    fades[row, ELAPSED], fades[row, LENGTH] = 0.0, left
    targets[row] = -1


@inline
def copy8(source: Floats, to: Floats) -> None:
    """Eight numbers at a time."""
    for i in range(0, len(to), 8):
        store8(to, i, load8(source, i))


@inline
def sample_voice(
    r: Whole,
    clip: Whole,
    time: Real,
    motion: Motion,
    room: Room,
    pose: Floats,
    numbers: Floats,
) -> None:
    """One clip at a time in seconds: the pose (10 * L,) and the morph weights (W,)."""
    clips, spots, last = motion.clips, room.spots, room.last
    rest, rest_weights = motion.references[len(clips)], motion.reference_weights
    cursor = room.cursors[r]
    row, moment = clips[clip], np.float32(time)
    if last[0] != clip:
        fill_rest(rest, room.scratch, len(pose) // 10)
        last[0] = clip
    sample_plain(row, moment, motion, rest, cursor, spots, room.scratch, pose)
    if row[KIND] == PACKED:
        work = spots[len(spots) - PACK_WORK :]
        sample_bits(clip, moment, motion.packed, room.held[r], work, pose)
    if len(numbers):
        sample_morphs(row, motion, rest_weights[len(clips)], cursor, spots, numbers)


@inline
def pose_voice(
    r: Whole,
    row: Whole,
    setting: Ints,
    motion: Motion,
    marks: Ints,
    voices: Doubles,
    kept: Kept,
    room: Room,
    to: Floats,
    more: Floats,
) -> None:
    """What one voice gives, in an added layer what it adds: pose and morph weights."""
    if marks[r, CLIP] == KEPT:
        copy8(kept.poses[row], to)
        for i in range(len(more)):
            put(more, i, kept.weights[row, i])
        return
    clip = np.int64(marks[r, CLIP])
    length = motion.durations[clip]
    time = clip_time(voices[r, POSITION], marks[r, MODE], length)
    sample_voice(r, clip, time, motion, room, to, more)
    if setting[ADDITIVE]:
        at = len(motion.clips) if setting[REFERENCE] else clip
        subtract(to, motion.references[at], len(to) // 10)
        add_numbers(motion.reference_weights[at], np.float32(-1), more)


@inline
def next_voice(first: Whole, count: Whole, age: Whole, marks: Ints) -> Whole:
    """The row of the oldest voice that is younger than `age`, or -1."""
    found, best = -1, 0
    for r in range(first, first + count):
        mine = marks[r, AGE]
        if marks[r, CLIP] != FREE and mine > age and (found < 0 or mine < best):
            found, best = r, mine
    return found


@part
def mix_voices(
    row: Whole,
    whole: Real,
    setting: Ints,
    motion: Motion,
    marks: Ints,
    voices: Doubles,
    kept: Kept,
    room: Room,
    work: Floats,
    pose: Floats,
    numbers: Floats,
) -> None:
    """The pose (10 * L,) and morph weights (W,) of one layer of one character.

    whole: the sum of its voices' weights; setting: the layer's; work: room for a pose,
    a mix and morph weights. The oldest voice comes first, and on which side rotations
    are added is settled when a voice is first mixed with others, and kept until it is
    alone.
    """
    lanes, count = len(pose) // 10, len(voices) // len(kept.poses)
    other, mix = work[: 10 * lanes], work[10 * lanes : 21 * lanes]
    others = work[21 * lanes : 21 * lanes + len(numbers)]
    turns = room.turns
    found, first, age, alone = 0, np.float32(1), -1, -1
    for _ in range(count):
        r = next_voice(row * count, count, age, marks)
        if r < 0:
            break
        age = marks[r, AGE]
        share = np.float32(voices[r, WEIGHT] / whole)
        if share <= 0:
            continue
        found += 1
        to, more = (pose, numbers) if found == 1 else (other, others)
        pose_voice(r, row, setting, motion, marks, voices, kept, room, to, more)
        if found == 1:
            first, alone = share, r
            continue
        if found == 2:
            begin_mix(pose, first, mix, turns[alone], marks[alone, KNOWN] != 0, lanes)
            scale_numbers(numbers, first)
            marks[alone, KNOWN] = 1
        add_mix(other, share, mix, turns[r], marks[r, KNOWN] != 0, lanes)
        add_numbers(others, share, numbers)
        marks[r, KNOWN] = 1
    if found > 1:
        end_mix(mix, pose, lanes)
    elif found == 1:
        marks[alone, KNOWN] = 0


@inline
def forget_turns(row: Whole, count: Whole, marks: Ints) -> None:
    """What is not shown may come back on another side."""
    for r in range(row * count, row * count + count):
        marks[r, KNOWN] = 0


@inline
def sum_weights(row: Whole, count: Whole, marks: Ints, voices: Doubles) -> Real:
    """The weights of a layer's voices: what it is there by."""
    whole = 0.0
    for r in range(row * count, row * count + count):
        if marks[r, CLIP] != FREE:
            whole += voices[r, WEIGHT]
    return whole


@part
def keep_layers(
    rows: Ints,
    settings: Ints,
    motion: Motion,
    marks: Ints,
    voices: Doubles,
    kept: Kept,
    room: Room,
    work: Floats,
) -> None:
    """Write the poses that layers of characters have now into kept poses and weights.

    rows: (R,), which layers of characters.
    """
    lanes, width = kept.poses.shape[1] // 10, kept.weights.shape[1]
    pose, numbers = work[: 10 * lanes], work[10 * lanes : 10 * lanes + width]
    more = work[10 * lanes + width :]
    for i in range(len(rows)):
        row = np.int64(rows[i])
        whole = sum_weights(row, len(voices) // len(kept.poses), marks, voices)
        if whole <= 0.0:
            continue
        setting = settings[row % len(settings)]
        mix_voices(
            row, whole, setting, motion, marks, voices, kept, room, more, pose, numbers
        )
        copy8(pose, kept.poses[row])
        for k in range(width):
            kept.weights[row, k] = take(numbers, k)


@part
def travel_layer(
    row: Whole,
    count: Whole,
    clips: Ints,
    durations: Doubles,
    paths: Doubles,
    voices: Voices,
    travel: Doubles,
    place: Doubles,
) -> None:
    """Move a place (12,) by a layer's voices, mixed; the movement into travel (4,)."""
    steps = voices.steps
    for i in range(4):
        travel[i] = 0.0
    for r in range(row * count, row * count + count):
        clip = np.int64(voices.played[r])
        if clip < 0 or clips[clip, PATH + 1] == 0:
            continue
        movement = travel_between(
            clips[clip],
            paths,
            steps[r, BEFORE],
            voices.numbers[r, POSITION],
            np.int64(steps[r, TURNS]),
            voices.marks[r, MODE],
            durations[clip],
        )
        for i in range(4):
            travel[i] += movement[i] * steps[r, MEAN]
    move_place(place, travel[0], travel[1], travel[2], travel[3])


@jit(
    "void(f8, i4[::1], Motion, Layers, Fades, Voices, Kept, Room, Travel, Cast)",
)
def play_on(
    dt: float,
    rows: Ints,
    motion: Motion,
    layers: Layers,
    fades: Fades,
    voices: Voices,
    kept: Kept,
    room: Room,
    travel: Travel,
    cast: Cast,
) -> None:
    """Move N characters on by `dt` seconds and pose them.

    rows: if there are any, nothing of this is done: the poses that these layers of
    characters (n * K + k) have now are written into the kept ones.
    """
    settings, work = layers.settings, cast.work
    marks, numbers_of = voices.marks, voices.numbers
    lanes, width = cast.local.shape[1] // 10, cast.weights.shape[1]
    levels, count = len(settings), len(numbers_of) // len(fades.numbers)
    pose, numbers = work[: 10 * lanes], work[10 * lanes : 10 * lanes + width]
    more = work[10 * lanes + width :]
    if len(rows):
        keep_layers(rows, settings, motion, marks, numbers_of, kept, room, work)
        return
    for row in range(len(fades.numbers)):
        n, k = row // levels, row % levels
        mine, own = cast.local[n], cast.weights[n]
        move_voices(dt * cast.speeds[n], row, motion.durations, fades, voices)
        whole = sum_weights(row, count, marks, numbers_of)
        amount = np.float32(fades.numbers[row, AMOUNT] * whole)
        setting = settings[k]
        is_added = setting[ADDITIVE] != 0
        is_all = amount == 1 and setting[IS_WHOLE] != 0 and not is_added
        if k == 0:
            if len(travel.paths):
                travel_layer(
                    row,
                    count,
                    motion.clips,
                    motion.durations,
                    travel.paths,
                    voices,
                    travel.steps[n],
                    travel.places[n],
                )
            if not is_all:
                at = len(motion.clips)
                copy8(motion.references[at], mine)
                for i in range(width):
                    put(own, i, motion.reference_weights[at, i])
        if amount <= 0:
            forget_turns(row, count, marks)
            continue
        to, to_numbers = (mine, own) if is_all else (pose, numbers)
        mix_voices(
            row,
            whole,
            setting,
            motion,
            marks,
            numbers_of,
            kept,
            room,
            more,
            to,
            to_numbers,
        )
        if is_added:
            add_pose(pose, amount, layers.masks, k * lanes, mine, lanes)
            add_masked_numbers(numbers, amount, layers.morph_masks, k * width, own)
        elif not is_all:
            cover(pose, amount, layers.masks, k * lanes, mine, lanes)
            cover_numbers(numbers, amount, layers.morph_masks, k * width, own)
