"""The clocks of a crowd, and how far its clips carry it."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import numpy as np

from flexor.maths.kernels.functions import cos, sin
from flexor.maths.kernels.jit import inline, jit
from flexor.pose.play.kernels.travel import back, path_at, rounds, then

if TYPE_CHECKING:
    from flexor.arrays import Bools, Doubles, Ints, Real, Whole


@inline
def _travel(
    paths: Doubles,
    first: Whole,
    count: Whole,
    before: Real,
    after: Real,
    turns: Whole,
) -> tuple[Real, ...]:
    """The movement from one time in a clip to another, `turns` ends on."""
    x, y, z, h = path_at(paths, first, count, before)
    x, y, z, h = back(x, y, z, h)
    if turns != 0:
        last = first + count - 1
        a, b, c, d = paths[first, 1], paths[first, 2], paths[first, 3], paths[first, 4]
        a, b, c, d = back(a, b, c, d)
        a, b, c, d = then(
            paths[last, 1], paths[last, 2], paths[last, 3], paths[last, 4], a, b, c, d
        )
        a, b, c, d = rounds(a, b, c, d, turns)
        x, y, z, h = then(x, y, z, h, a, b, c, d)
    a, b, c, d = path_at(paths, first, count, after)
    return then(x, y, z, h, a, b, c, d)


@jit(
    "void(f8, i4[::1], f8[::1], bool[::1], f8[::1], f8[::1], i4[:, ::1],"
    " f8[:, ::1], out f8[::1], out f8[:, ::1], out f8[::1])"
)
def advance_crowd(
    dt: float,
    clip: Ints,
    speed: Doubles,
    loops: Bools,
    size: Doubles,
    durations: Doubles,
    ways: Ints,
    paths: Doubles,
    time: Doubles,
    place: Doubles,
    heading: Doubles,
) -> None:
    """Move the clocks of N characters on by `dt` seconds, and them with their clips.

    clip: (N,), below 0 for none; speed: (N,), factors of time; loops: (N,), whether a
    clip begins again at its end; durations: (C + 1,); ways: (C + 1, 2), first row and
    number of rows in paths (P, 5), seconds and movement, 0 rows for none; time: (N,);
    place: (N, 3); heading: (N,).
    """
    for n in range(len(clip)):
        number = np.int64(clip[n])
        if number < 0:
            continue
        duration, before = durations[number], time[n]
        # Times may have been written: first into the clip with them.
        if loops[n] and duration > 0.0:
            before -= math.floor(before / duration) * duration
        before = min(max(before, 0.0), duration)
        turns: Whole = 0
        after = before + dt * speed[n]
        if loops[n] and duration > 0.0:
            spot = math.floor(after / duration)
            turns = np.int64(spot)
            after = min(max(after - spot * duration, 0.0), duration)
        else:
            after = min(max(after, 0.0), duration)
        time[n] = after
        if ways[number, 1] > 0:
            x, y, z, h = _travel(
                paths,
                np.int64(ways[number, 0]),
                np.int64(ways[number, 1]),
                before,
                after,
                turns,
            )
            c, s = cos(heading[n]), sin(heading[n])
            place[n, 0] += (c * x + s * z) * size[n]
            place[n, 1] += y * size[n]
            place[n, 2] += (c * z - s * x) * size[n]
            heading[n] += h
