"""A crowd that plays: clocks moved on, clips sampled, voices and layers laid together.

Tables are flat over N characters, K layers and V voices: row (n * K + k) * V + v is a
voice, row n * K + k its layer. Each layer fades from the shares its voices had when the
fade began to its target, a voice or nothing (-1): the target's weight rises to 1 along
a straight line and all others sink in proportion. So a fade that begins in the middle
of another starts from the weights that are there.

Many tables go to every stage; they go there as tuples:
motion: clips, durations, times, timelines, rotations, vectors, morphs, values,
references (C + 1, 10 * L) and reference_weights (C + 1, W), of which the last rows are
the rest pose, and what is packed (see `kernels.voice`); room: cursors, held, turns,
spots, scratch, last.
"""

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
def faded(layers, row):
    """How far a layer's fade has gone, 0 to 1."""
    if layers[row, ELAPSED] >= layers[row, LENGTH] * NEARLY:
        return 1.0
    return layers[row, ELAPSED] / layers[row, LENGTH]


@inline
def weight_now(share, is_target, done):
    """A voice's weight in a fade; exactly 1 or 0 when that is done."""
    if done >= 1.0:
        return 1.0 if is_target else 0.0
    if is_target:
        return share + (1.0 - share) * done
    return share * (1.0 - done)


@inline
def _shared_pace(layers, row, target, done, voices, marks, durations, count):
    """The clips a second of the voices in step, or 0 if there are not several."""
    pace, total, many = 0.0, 0.0, 0
    for v in range(count):
        r = row * count + v
        clip = marks[r, CLIP]
        if clip >= 0 and marks[r, SYNC] and durations[clip] > 0.0:
            weight = weight_now(voices[r, SHARE], v == target, done)
            pace += weight * voices[r, SPEED] / durations[clip]
            total += weight
            many += 1
    return pace / total if many > 1 and total > 0.0 else 0.0


@part
def move_voices(dt, row, durations, targets, layers, marks, voices, steps, played):
    """Move one layer of one character on by `dt` seconds of its own."""
    count = len(voices) // len(layers)
    target, done = np.int64(targets[row]), faded(layers, row)
    left, span = layers[row, LENGTH] - layers[row, ELAPSED], abs(dt)
    pace = 0.0
    if done < 1.0:
        pace = _shared_pace(layers, row, target, done, voices, marks, durations, count)
    layers[row, ELAPSED] += span
    now = faded(layers, row)
    for v in range(count):
        r = row * count + v
        clip, is_target = np.int64(marks[r, CLIP]), v == target
        played[r] = clip
        if clip == FREE:
            continue
        weight = weight_now(voices[r, SHARE], is_target, now)
        mean = 0.5 * (weight_now(voices[r, SHARE], is_target, done) + weight)
        voices[r, WEIGHT], steps[r, MEAN] = weight, mean
        steps[r, DELTA], steps[r, TURNS] = 0.0, 0.0
        if clip >= 0:
            mode, length = marks[r, MODE], durations[clip]
            delta = voices[r, SPEED] * dt
            if pace != 0.0 and marks[r, SYNC]:
                delta = pace * length * dt
            if not is_target and left < span:  # it is gone before the step is over
                delta *= left / span
            position, turns = step_clock(voices[r, POSITION], delta, mode, length)
            steps[r, BEFORE], steps[r, DELTA] = voices[r, POSITION], delta
            steps[r, TURNS], voices[r, POSITION] = turns, position
        if now >= 1.0 and not is_target:
            marks[r, CLIP] = FREE
    if now >= 1.0:
        layers[row, ELAPSED], layers[row, LENGTH] = 0.0, 0.0
        layers[row, SILENT] = 1.0 if target < 0 else 0.0
    if target >= 0 and span > 0.0:
        _leave(row, target, span, durations, targets, layers, marks, voices, steps)


@inline
def _leave(row, target, span, durations, targets, layers, marks, voices, steps):
    """Begin to fade out a voice that is near its end and was told to leave.

    The fade is as long as it was told, or as what is left of the clip if that is
    shorter, so that it is over when the clip is; if it is over now, nothing is left.
    span: seconds of the step that was made.
    """
    count = len(voices) // len(layers)
    r = row * count + target
    clip, leave, delta = marks[r, CLIP], voices[r, LEAVE], steps[r, DELTA]
    if leave < 0.0 or clip < 0 or marks[r, MODE] != ONCE or delta == 0.0:
        return
    position = voices[r, POSITION]
    ahead = durations[clip] - position if delta > 0.0 else position
    # Whole steps may end a hair before the clip.
    is_over = ahead <= durations[clip] * (1.0 - NEARLY)
    left = 0.0 if is_over else ahead / abs(delta) * span
    if left > leave and not is_over:
        return
    done = faded(layers, row)
    layers[row, SILENT] = weight_now(layers[row, SILENT], False, done)
    for v in range(count):
        if marks[row * count + v, CLIP] != FREE:
            voices[row * count + v, SHARE] = voices[row * count + v, WEIGHT]
            if is_over:
                marks[row * count + v, CLIP] = FREE
    if is_over:
        layers[row, SILENT] = 1.0
    layers[row, ELAPSED], layers[row, LENGTH] = 0.0, left
    targets[row] = -1


@inline
def copy8(source, to):
    """Eight numbers at a time."""
    for i in range(0, len(to), 8):
        store8(to, i, load8(source, i))


@inline
def sample_voice(r, clip, time, motion, room, pose, numbers):
    """One clip at a time in seconds: the pose (10 * L,) and the morph weights (W,)."""
    clips, _, times, timelines, rotations, vectors, morphs, values = motion[:8]
    rest, rest_weights = motion[8][len(clips)], motion[9][len(clips)]
    cursors, held, _, spots, scratch, last = room
    cursor = cursors[r]
    row, moment = clips[clip], np.float32(time)
    if last[0] != clip:
        fill_rest(rest, scratch, len(pose) // 10)
        last[0] = clip
    sample_plain(
        row,
        moment,
        times,
        timelines,
        rotations,
        vectors,
        values,
        rest,
        cursor,
        spots,
        scratch,
        pose,
    )
    if row[KIND] == PACKED:
        work = spots[len(spots) - PACK_WORK :]
        sample_bits(clip, moment, motion[10], held[r], work, pose)
    if len(numbers):
        sample_morphs(row, morphs, values, rest_weights, cursor, spots, numbers)


@inline
def pose_voice(r, row, setting, motion, marks, voices, kept, room, to, more):
    """What one voice gives, in an added layer what it adds: pose and morph weights.

    kept: kept poses and kept morph weights.
    """
    clips, durations, references, numbers = motion[0], motion[1], motion[8], motion[9]
    if marks[r, CLIP] == KEPT:
        copy8(kept[0][row], to)
        for i in range(len(more)):
            put(more, i, kept[1][row, i])
        return
    clip = np.int64(marks[r, CLIP])
    time = clip_time(voices[r, POSITION], marks[r, MODE], durations[clip])
    sample_voice(r, clip, time, motion, room, to, more)
    if setting[ADDITIVE]:
        at = len(clips) if setting[REFERENCE] else clip
        subtract(to, references[at], len(to) // 10)
        add_numbers(numbers[at], np.float32(-1), more)


@inline
def next_voice(first, count, age, marks):
    """The row of the oldest voice that is younger than `age`, or -1."""
    found, best = -1, 0
    for r in range(first, first + count):
        mine = marks[r, AGE]
        if marks[r, CLIP] != FREE and mine > age and (found < 0 or mine < best):
            found, best = r, mine
    return found


@part
def mix_voices(
    row, whole, setting, motion, marks, voices, kept, room, work, pose, numbers
):
    """The pose (10 * L,) and morph weights (W,) of one layer of one character.

    whole: the sum of its voices' weights; setting: the layer's; work: room for a pose,
    a mix and morph weights. The oldest voice comes first, and on which side rotations
    are added is settled when a voice is first mixed with others, and kept until it is
    alone.
    """
    lanes, count = len(pose) // 10, len(voices) // len(kept[0])
    other, mix = work[: 10 * lanes], work[10 * lanes : 21 * lanes]
    others = work[21 * lanes : 21 * lanes + len(numbers)]
    turns = room[2]
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
def forget_turns(row, count, marks):
    """What is not shown may come back on another side."""
    for r in range(row * count, row * count + count):
        marks[r, KNOWN] = 0


@inline
def sum_weights(row, count, marks, voices):
    """The weights of a layer's voices: what it is there by."""
    whole = 0.0
    for r in range(row * count, row * count + count):
        if marks[r, CLIP] != FREE:
            whole += voices[r, WEIGHT]
    return whole


@part
def keep_layers(rows, settings, motion, marks, voices, kept, room, work):
    """Write the poses that layers of characters have now into kept poses and weights.

    rows: (R,), which layers of characters.
    """
    lanes, width = kept[0].shape[1] // 10, kept[1].shape[1]
    pose, numbers = work[: 10 * lanes], work[10 * lanes : 10 * lanes + width]
    more = work[10 * lanes + width :]
    for i in range(len(rows)):
        row = np.int64(rows[i])
        whole = sum_weights(row, len(voices) // len(kept[0]), marks, voices)
        if whole <= 0.0:
            continue
        setting = settings[row % len(settings)]
        mix_voices(
            row, whole, setting, motion, marks, voices, kept, room, more, pose, numbers
        )
        copy8(pose, kept[0][row])
        for k in range(width):
            kept[1][row, k] = take(numbers, k)


@part
def travel_layer(
    row, count, motion, paths, marks, voices, steps, played, travel, place
):
    """Move a place (12,) by a layer's voices, mixed; the movement into travel (4,)."""
    clips, durations = motion[0], motion[1]
    for i in range(4):
        travel[i] = 0.0
    for r in range(row * count, row * count + count):
        clip = np.int64(played[r])
        if clip < 0 or clips[clip, PATH + 1] == 0:
            continue
        movement = travel_between(
            clips[clip],
            paths,
            steps[r, BEFORE],
            voices[r, POSITION],
            np.int64(steps[r, TURNS]),
            marks[r, MODE],
            durations[clip],
        )
        for i in range(4):
            travel[i] += movement[i] * steps[r, MEAN]
    move_place(place, travel[0], travel[1], travel[2], travel[3])


@jit(
    "void(f8, i4[::1], f8[::1], i4[:, ::1], f8[::1], f4[::1], i4[:, ::1], i4[:, ::1],"
    " i4[:, ::1], i4[:, ::1], f4[::1], f4[:, ::1], f4[:, ::1], i8[:, ::1], f8[::1],"
    " i4[::1], i8[::1], u1[::1], f4[::1], f8[:, ::1],"
    " i4[:, ::1], f4[::1], f4[::1], out i4[::1], out f8[:, ::1], out i4[:, ::1],"
    " out f8[:, ::1], out f8[:, ::1], out i4[::1], out f4[:, ::1], out f4[:, ::1],"
    " out i4[:, ::1], out i4[:, ::1], out f4[:, ::1],"
    " out f4[::1], out f4[::1], out i4[::1],"
    " out f4[::1],"
    " out f8[:, ::1], out f8[:, ::1], out f4[:, ::1], out f4[:, ::1])"
)
def play_on(
    dt,
    rows,
    speeds,
    clips,
    durations,
    times,
    timelines,
    rotations,
    vectors,
    morphs,
    values,
    references,
    reference_weights,
    packs,
    pack_timing,
    pack_whole,
    pack_parts,
    pack_bytes,
    pack_floats,
    paths,
    settings,
    masks,
    morph_masks,
    targets,
    layers,
    marks,
    voices,
    steps,
    played,
    kept,
    kept_weights,
    cursors,
    held,
    turns,
    spots,
    scratch,
    last,
    work,
    places,
    travel,
    local,
    weights,
):
    """Move N characters on by `dt` seconds and pose them.

    rows: if there are any, nothing of this is done: the poses that these layers of
    characters (n * K + k) have now are written into kept, kept_weights; speeds: (N,)
    factor of each one's clock; clips to values, packs to paths: a motion set;
    references, reference_weights: what added layers take off; settings: (K, 3); masks:
    (K * L,); morph_masks: (K * W,); targets: (N * K,); layers: (N * K, 4); marks,
    voices, steps, played, cursors, held, turns: of each voice; kept, kept_weights:
    (N * K, ...) poses that voices hold; spots, scratch, last, work: work space; places:
    (N, 12); travel: (N, 4), of this step; local: (N, 10 * L); weights: (N, W).
    """
    tables = (clips, durations, times, timelines, rotations, vectors, morphs, values)
    packed = (packs, pack_timing, pack_whole, pack_parts, pack_bytes, pack_floats)
    motion = (*tables, references, reference_weights, packed)
    room = (cursors, held, turns, spots, scratch, last)
    keeps = (kept, kept_weights)
    lanes, width = local.shape[1] // 10, weights.shape[1]
    levels, count = len(settings), len(voices) // len(layers)
    pose, numbers = work[: 10 * lanes], work[10 * lanes : 10 * lanes + width]
    more = work[10 * lanes + width :]
    if len(rows):
        keep_layers(rows, settings, motion, marks, voices, keeps, room, work)
        return
    for row in range(len(layers)):
        n, k = row // levels, row % levels
        mine, own = local[n], weights[n]
        own_dt = dt * speeds[n]
        move_voices(
            own_dt, row, durations, targets, layers, marks, voices, steps, played
        )
        whole = sum_weights(row, count, marks, voices)
        amount = np.float32(layers[row, AMOUNT] * whole)
        setting = settings[k]
        is_added = setting[ADDITIVE] != 0
        is_all = amount == 1 and setting[IS_WHOLE] != 0 and not is_added
        if k == 0:
            if len(paths):
                travel_layer(
                    row,
                    count,
                    motion,
                    paths,
                    marks,
                    voices,
                    steps,
                    played,
                    travel[n],
                    places[n],
                )
            if not is_all:
                copy8(references[len(clips)], mine)
                for i in range(width):
                    put(own, i, reference_weights[len(clips), i])
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
            voices,
            keeps,
            room,
            more,
            to,
            to_numbers,
        )
        if is_added:
            add_pose(pose, amount, masks, k * lanes, mine, lanes)
            add_masked_numbers(numbers, amount, morph_masks, k * width, own)
        elif not is_all:
            cover(pose, amount, masks, k * lanes, mine, lanes)
            cover_numbers(numbers, amount, morph_masks, k * width, own)
