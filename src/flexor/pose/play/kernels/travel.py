"""Root motion: how far a clip carries a character between two positions in it.

A movement is four numbers (x, y, z, heading): turn by the heading about Y, then move.
A path is rows of seconds and such movements from a place of its own, straight between
rows. Going round the end of a loop adds once what leads from its first row to its last.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from flexor.maths.kernels.functions import cos, sin
from flexor.maths.kernels.jit import inline, jit
from flexor.pose.play.kernels.voice import LOOP, PATH, clip_time

if TYPE_CHECKING:
    from flexor.arrays import Doubles, Ints, Real, Whole

# What `top_speed` gives where there is none.
NO_SPEED, NO_PLACE = -1.0, -2.0


@inline
def then(
    ax: Real,
    ay: Real,
    az: Real,
    ah: Real,
    bx: Real,
    by: Real,
    bz: Real,
    bh: Real,
) -> tuple[Real, ...]:
    """The movement a, and b from where that leads to."""
    c, s = cos(ah), sin(ah)
    return ax + c * bx + s * bz, ay + by, az - s * bx + c * bz, ah + bh


@inline
def back(
    x: Real,
    y: Real,
    z: Real,
    h: Real,
) -> tuple[Real, ...]:
    """The movement that undoes one."""
    c, s = cos(h), sin(h)
    return s * z - c * x, -y, -(s * x + c * z), -h


@inline
def path_at(
    paths: Doubles,
    first: Whole,
    count: Whole,
    time: Real,
) -> tuple[Real, ...]:
    """The movement of a path at a time in the clip."""
    low, high = np.int64(0), count - 1
    while high - low > 1:
        middle = (low + high) >> 1
        if paths[first + middle, 0] <= time:
            low = middle
        else:
            high = middle
    i, k = first + low, first + high
    length = paths[k, 0] - paths[i, 0]
    u = 0.0
    if length > 0.0:
        u = min(max((time - paths[i, 0]) / length, 0.0), 1.0)
    v = 1.0 - u
    return (
        paths[i, 1] * v + paths[k, 1] * u,
        paths[i, 2] * v + paths[k, 2] * u,
        paths[i, 3] * v + paths[k, 3] * u,
        paths[i, 4] * v + paths[k, 4] * u,
    )


@inline
def rounds(
    x: Real,
    y: Real,
    z: Real,
    h: Real,
    count: Whole,
) -> tuple[Real, ...]:
    """A movement made `count` times; backward if that is below 0."""
    if count < 0:
        x, y, z, h = back(x, y, z, h)
        count = -count
    ax, ay, az, ah = 0.0, 0.0, 0.0, 0.0
    while count > 0:
        if count & 1:
            ax, ay, az, ah = then(ax, ay, az, ah, x, y, z, h)
        x, y, z, h = then(x, y, z, h, x, y, z, h)
        count >>= 1
    return ax, ay, az, ah


@inline
def travel_between(
    row: Ints,
    paths: Doubles,
    before: Real,
    after: Real,
    turns: Whole,
    mode: Whole,
    duration: Real,
) -> tuple[Real, ...]:
    """The movement from one position of a voice to another, in the character's frame.

    row: the clip's row in the table of clips; turns: how often it went round.
    """
    first, count = np.int64(row[PATH]), np.int64(row[PATH + 1])
    start, end = clip_time(before, mode, duration), clip_time(after, mode, duration)
    x, y, z, h = path_at(paths, first, count, start)
    x, y, z, h = back(x, y, z, h)
    if turns != 0 and mode == LOOP:
        last = first + count - 1
        a, b, c, d = paths[last, 1], paths[last, 2], paths[last, 3], paths[last, 4]
        e, f, g, i = paths[first, 1], paths[first, 2], paths[first, 3], paths[first, 4]
        e, f, g, i = back(e, f, g, i)
        a, b, c, d = then(a, b, c, d, e, f, g, i)
        a, b, c, d = rounds(a, b, c, d, turns)
        x, y, z, h = then(x, y, z, h, a, b, c, d)
    a, b, c, d = path_at(paths, first, count, end)
    return then(x, y, z, h, a, b, c, d)


@inline
def move_place(
    place: Doubles,
    x: Real,
    y: Real,
    z: Real,
    h: Real,
) -> None:
    """Move a place (12,), a matrix of three rows, in its own frame."""
    c, s = cos(h), sin(h)
    for row in range(0, 12, 4):
        a, b = place[row], place[row + 2]
        place[row + 3] += a * x + place[row + 1] * y + b * z
        place[row] = a * c - b * s
        place[row + 2] = a * s + b * c


@jit("f8(f8[::1], f8[:, ::1])")
def top_speed(
    speeds: Doubles,
    places: Doubles,
) -> float:
    """The largest of N factors of clocks, whatever its sign: NO_SPEED if one is NaN.

    places: (N, 12); NO_PLACE if a number of theirs is not finite.
    """
    top = 0.0
    for n in range(len(speeds)):
        speed = abs(speeds[n])
        if not speed <= np.inf:
            return NO_SPEED
        top = max(top, speed)
        for i in range(12):
            if not abs(places[n, i]) < np.inf:
                return NO_PLACE
    return top
