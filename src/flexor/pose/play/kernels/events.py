"""Events that voices passed in a step.

Positions of events lie on the same line as those of voices (see `kernels.voice`), and
are compared with the positions that are stored, before and after, and nothing else: so
what one step does not reach the next one does, and none twice. Forward a step passes
what is after its start up to and with its end; backward, what is before its start down
to and with its end. A voice that has not moved yet also passes where it starts.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from flexor.maths.kernels.jit import inline, jit
from flexor.pose.play.kernels.player import BEFORE, DELTA, FRESH, MODE, POSITION, TURNS
from flexor.pose.play.kernels.voice import clip_time

if TYPE_CHECKING:
    from flexor.arrays import Doubles, Ints, Real, Whole


@inline
def _note(
    row: Whole,
    event: Whole,
    found: Ints,
    count: Whole,
) -> Whole:
    """Write down an event of a voice, if there is room; count it in any case."""
    if count < len(found):
        found[count, 0] = row
        found[count, 1] = event
    return count + 1


@inline
def _pass(
    row: Whole,
    spots: Doubles,
    first: Whole,
    last: Whole,
    low: Real,
    high: Real,
    is_open_low: bool,
    is_forward: bool,
    found: Ints,
    count: Whole,
) -> Whole:
    """Events from `low` to `high`, one end of which is left out: the one it came from.

    first, last: the events' rows; forward the low end can be left out, backward the
    high one always is.
    """
    for k in range(last - first):
        event = first + k if is_forward else last - 1 - k
        at = spots[event]
        if is_forward:
            is_passed = (at > low or (at == low and not is_open_low)) and at <= high
        else:
            is_passed = low <= at < high
        if is_passed:
            count = _note(row, event, found, count)
    return count


@jit(
    "i8(i4[:, ::1], f8[::1], f8[::1], f8[::1], i4[::1], f8[:, ::1], f8[:, ::1],"
    " out i4[:, ::1], out i4[:, ::1])"
)
def find_events(
    ranges: Ints,
    spots: Doubles,
    times: Doubles,
    durations: Doubles,
    played: Ints,
    voices: Doubles,
    steps: Doubles,
    marks: Ints,
    found: Ints,
) -> int:
    """Write the events that voices passed into found (X, 2): voice and event.

    ranges: (C, 6) first event and number of events for each mode of a clip; spots,
    times: (E,) position and time in the clip of each, rising; played, voices, steps,
    marks: see `kernels.player`. Gives the number of events, which may be larger than X:
    then nothing else is changed, else voices that moved have done so from now on.
    """
    count: Whole = np.int64(0)
    beyond = np.inf
    for r in range(len(played)):
        clip, delta = np.int64(played[r]), steps[r, DELTA]
        if clip < 0 or delta == 0.0:
            continue
        mode = np.int64(marks[r, MODE])
        first = np.int64(ranges[clip, 2 * mode])
        last = first + np.int64(ranges[clip, 2 * mode + 1])
        if last == first:
            continue
        before, after = steps[r, BEFORE], voices[r, POSITION]
        if marks[r, FRESH]:
            start = clip_time(before, mode, durations[clip])
            if marks[r, FRESH] == 2:
                start = durations[clip]
            for event in range(first, last):
                if times[event] == start and spots[event] == before:
                    count = _note(r, event, found, count)
        forward = delta > 0.0
        turns = abs(np.int64(steps[r, TURNS]))
        low, high = (before, after) if forward else (after, before)
        if turns == 0:
            count = _pass(r, spots, first, last, low, high, True, forward, found, count)
            continue
        # To the seam, whole rounds, and from the seam on.
        start, end = (before, beyond) if forward else (0.0, before)
        count = _pass(r, spots, first, last, start, end, True, forward, found, count)
        for _ in range(turns - 1):
            count = _pass(
                r, spots, first, last, 0.0, beyond, False, forward, found, count
            )
        start, end = (0.0, after) if forward else (after, beyond)
        count = _pass(r, spots, first, last, start, end, False, forward, found, count)
    if count <= len(found):
        for r in range(len(played)):
            if steps[r, DELTA] != 0.0:
                marks[r, FRESH] = 0
    return count
