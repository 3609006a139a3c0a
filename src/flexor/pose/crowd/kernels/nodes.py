"""Motion of nodes from the character's base point, eight nodes at a time.

No node needs its parent: what a level does not select is not touched. Nodes lie in
groups of eight lanes. A clip is rows of frames, evenly spaced, and of each frame and
group eight numbers of each of six kinds (its definition: the turn as axis times the
tangent of a quarter of its angle, and the place) or of twelve (expanded: three rows of
a matrix and place). Between frames turns go the short way, evenly; expanded matrices
and places go straight.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from flexor.maths.kernels.functions import cos, sin
from flexor.maths.kernels.jit import inline, jit
from flexor.maths.kernels.lanes import (
    fma8,
    load8,
    max8,
    min8,
    splat8,
    take,
)
from flexor.maths.kernels.points import rows8
from flexor.pose.crowd.layout import (
    BIND_FLOATS,
    DEFINED,
    DEFINED_FLOATS,
    EXPANDED_FLOATS,
    FIRST,
    FORM,
    FRAMES,
)

if TYPE_CHECKING:
    from flexor.arrays import Doubles, Eight, Floats, Ints, Real, Whole


@inline
def _turn(
    frames: Floats,
    at: Whole,
    after: Whole,
    u: Real,
) -> tuple[Eight, ...]:
    """Rotation matrices of eight lanes between two frames: nine numbers each."""
    one, two = splat8(np.float32(1)), splat8(np.float32(2))
    ax, ay, az = load8(frames, at), load8(frames, at + 8), load8(frames, at + 16)
    bx, by = load8(frames, after), load8(frames, after + 8)
    bz = load8(frames, after + 16)
    s = fma8(ax, ax, fma8(ay, ay, az * az))
    t = fma8(bx, bx, fma8(by, by, bz * bz))
    # Quaternions are (2 v, 1 - |v|^2) / (1 + |v|^2); what both are divided by is left
    # out. The sign of the second is chosen so that the way is short.
    aw, bw = one - s, one - t
    dot = fma8(ax, bx, fma8(ay, by, az * bz))
    dot = fma8(two + two, dot, aw * bw)
    sign = fma8(dot, splat8(np.float32(1e30)), splat8(np.float32(0.5)))
    sign = max8(min8(sign, one), splat8(np.float32(-1)))
    a = (one + t) * splat8(np.float32(1) - u)
    b = (one + s) * splat8(u) * sign
    w = fma8(aw, a, bw * b)
    a, b = a * two, b * two
    x, y, z = fma8(ax, a, bx * b), fma8(ay, a, by * b), fma8(az, a, bz * b)
    unit = two / fma8(x, x, fma8(y, y, fma8(z, z, w * w)))
    x2, y2, z2 = x * unit, y * unit, z * unit
    xx, yy, zz = x * x2, y * y2, z * z2
    xy, xz, yz = x * y2, x * z2, y * z2
    wx, wy, wz = w * x2, w * y2, w * z2
    return (
        one - yy - zz, xy - wz, xz + wy,
        xy + wz, one - xx - zz, yz - wx,
        xz - wy, yz + wx, one - xx - yy,
    )  # fmt: skip


@inline
def _between(
    numbers: Floats,
    at: Whole,
    after: Whole,
    u: Real,
) -> Eight:
    """Eight numbers, straight between two frames."""
    a = load8(numbers, at)
    return fma8(load8(numbers, after) - a, splat8(u), a)


@inline
def _bound_row(
    a: Eight,
    b: Eight,
    c: Eight,
    d: Eight,
    binds: Floats,
    at: Whole,
) -> tuple[Eight, ...]:
    """A row of a matrix times the bind matrices of eight lanes."""
    p, q = load8(binds, at), load8(binds, at + 8)
    r, s = load8(binds, at + 16), load8(binds, at + 24)
    e, f = load8(binds, at + 32), load8(binds, at + 40)
    g, h = load8(binds, at + 48), load8(binds, at + 56)
    i, j = load8(binds, at + 64), load8(binds, at + 72)
    k, o = load8(binds, at + 80), load8(binds, at + 88)
    return (
        fma8(a, p, fma8(b, e, c * i)),
        fma8(a, q, fma8(b, f, c * j)),
        fma8(a, r, fma8(b, g, c * k)),
        fma8(a, s, fma8(b, h, fma8(c, o, d))),
    )


@inline
def _put(
    m: tuple[Eight, ...],
    p: tuple[Eight, Eight, Eight],
    binds: Floats,
    bind: Whole,
    place: tuple[Real, ...],
    out: Floats,
    to: Whole,
) -> None:
    """Eight matrices, bound, at a place in the world.

    m: nine numbers, p: three, of eight lanes; place: cosine and sine of the heading
    times the size, the size, x, y, z.
    """
    c, s, size = splat8(place[0]), splat8(place[1]), splat8(place[2])
    a, b, d, e = _bound_row(m[3], m[4], m[5], p[1], binds, bind)
    rows8(out, to + 4, a * size, b * size, d * size, fma8(e, size, splat8(place[4])))
    a, b, d, e = _bound_row(m[0], m[1], m[2], p[0], binds, bind)
    f, g, h, i = _bound_row(m[6], m[7], m[8], p[2], binds, bind)
    rows8(
        out, to,
        fma8(c, a, s * f), fma8(c, b, s * g), fma8(c, d, s * h),
        fma8(c, e, fma8(s, i, splat8(place[3]))),
    )  # fmt: skip
    rows8(
        out, to + 8,
        c * f - s * a, c * g - s * b, c * h - s * d,
        fma8(c, i, splat8(place[5])) - s * e,
    )  # fmt: skip


@inline
def _frame_at(
    time: Real,
    duration: Real,
    frames: Whole,
) -> tuple[Whole, Real]:
    """The frame before a time in a clip, and how far the next is gone to."""
    if frames < 2 or not duration > 0.0:
        return 0, np.float32(0)
    share = time / duration
    if not share > 0.0:
        share = 0.0  # also where it is no number
    spot = min(share, 1.0) * (frames - 1)
    frame = min(np.int64(spot), frames - 2)
    return frame, np.float32(spot - frame)


@jit(
    "i8(i4[::1], i4[::1], f8[::1], f8[:, ::1], f8[::1], f8[::1], i4[:, ::1],"
    " f8[::1], i4[::1], i8, f4[::1], f4[::1], f4[::1], f4[::1], out f4[:, ::1])"
)
def move_nodes(
    who: Ints,
    clip: Ints,
    time: Doubles,
    place: Doubles,
    heading: Doubles,
    size: Doubles,
    clips: Ints,
    durations: Doubles,
    groups: Ints,
    group_count: int,
    frames: Floats,
    data: Floats,
    bound: Floats,
    binds: Floats,
    out: Floats,
) -> int:
    """Matrices world_from_mesh of a level's nodes for n characters; gives how many
    nodes were touched.

    who: (n,), rows of the crowd's clip, time (seconds, in the clip), place (N, 3),
    heading and size; clip: -1 for the rest pose, the last row of `clips` (C + 1, 3);
    groups: (g,), which groups of eight lanes are moved; group_count: G, of all; frames,
    data: the tables of both forms; bound, binds: (G * 96,), what defined and expanded
    matrices are multiplied by; out: (n, g * 96).
    """
    touched = 0
    for row in range(len(who)):
        n = np.int64(who[row])
        number: Whole = np.int64(clip[n])
        if number < 0:
            number = len(clips) - 1
        first, count = np.int64(clips[number, FIRST]), np.int64(clips[number, FRAMES])
        frame, u = _frame_at(time[n], durations[number], count)
        step = 1 if count > 1 else 0
        wide = np.float32(size[n])
        c = np.float32(cos(heading[n])) * wide
        s = np.float32(sin(heading[n])) * wide
        spot = (
            c, s, wide,
            np.float32(place[n, 0]), np.float32(place[n, 1]), np.float32(place[n, 2]),
        )  # fmt: skip
        mine = out[row]
        for g in range(len(groups)):
            group = np.int64(take(groups, g))
            bind, to = group * BIND_FLOATS, g * BIND_FLOATS
            if clips[number, FORM] == DEFINED:
                at = ((first + frame) * group_count + group) * DEFINED_FLOATS
                after = at + step * group_count * DEFINED_FLOATS
                m = _turn(frames, at, after, u)
                p = (
                    _between(frames, at + 24, after + 24, u),
                    _between(frames, at + 32, after + 32, u),
                    _between(frames, at + 40, after + 40, u),
                )
                _put(m, p, bound, bind, spot, mine, to)
            else:
                at = ((first + frame) * group_count + group) * EXPANDED_FLOATS
                after = at + step * group_count * EXPANDED_FLOATS
                m = (
                    _between(data, at, after, u),
                    _between(data, at + 8, after + 8, u),
                    _between(data, at + 16, after + 16, u),
                    _between(data, at + 24, after + 24, u),
                    _between(data, at + 32, after + 32, u),
                    _between(data, at + 40, after + 40, u),
                    _between(data, at + 48, after + 48, u),
                    _between(data, at + 56, after + 56, u),
                    _between(data, at + 64, after + 64, u),
                )
                p = (
                    _between(data, at + 72, after + 72, u),
                    _between(data, at + 80, after + 80, u),
                    _between(data, at + 88, after + 88, u),
                )
                _put(m, p, binds, bind, spot, mine, to)
            touched += 8
    return touched
