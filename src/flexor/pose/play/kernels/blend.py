"""Poses mixed, laid over each other and added, eight lanes at a time.

A pose is ten rows of L lanes (translation, rotation, scale). Rotations are mixed as
weighted sums on the shortest arc, brought back to length: to 1 where all are unit, else
to the root of the mixed squares, so that a clip mixed with itself is that clip even
where its keys are not unit (keys are used as stored).

Weights of 0 and 1 are exact: no product or sum here changes a bit then, and the length
is left alone. So `a * (1 - w) + b * w` is written with `fma8`, which the compiler may
not turn into `a + (b - a) * w`.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from flexor.maths.kernels.jit import inline
from flexor.maths.kernels.lanes import (
    floor8,
    fma8,
    load8,
    max8,
    min8,
    put,
    splat8,
    sqrt8,
    store8,
    take,
)

if TYPE_CHECKING:
    from flexor.arrays import Eight, Floats, Real, Whole

# The row of a mix after the ten of a pose: squared lengths of rotations.
SQUARE = 10
MIX_ROWS = 11
# Large enough to make any weight that is not 0 more than 1.
HUGE = np.float32(1e20)


@inline
def side8(
    dot: Eight,
) -> Eight:
    """1, or -1 where a number is below 0."""
    zero, one = splat8(np.float32(0)), splat8(np.float32(1))
    return splat8(np.float32(2)) * max8(min8(floor8(dot) + one, one), zero) - one


@inline
def dot8(
    a: Floats,
    i: Whole,
    b: Floats,
    k: Whole,
    lanes: Whole,
) -> Eight:
    """Products of the rotations in rows 3 to 6 of two poses."""
    dot = load8(a, 3 * lanes + i) * load8(b, 3 * lanes + k)
    dot = fma8(load8(a, 4 * lanes + i), load8(b, 4 * lanes + k), dot)
    dot = fma8(load8(a, 5 * lanes + i), load8(b, 5 * lanes + k), dot)
    return fma8(load8(a, 6 * lanes + i), load8(b, 6 * lanes + k), dot)


@inline
def begin_mix(
    pose: Floats,
    weight: Real,
    mix: Floats,
    turns: Floats,
    is_known: bool,
    lanes: Whole,
) -> None:
    """The first pose of a mix (11 * L,); see `add_mix`."""
    against, shift = (turns, -3 * lanes) if is_known else (pose, 0)
    w = splat8(weight)
    for i in range(0, 3 * lanes, 8):
        store8(mix, i, load8(pose, i) * w)
        store8(mix, i + 7 * lanes, load8(pose, i + 7 * lanes) * w)
    for i in range(0, lanes, 8):
        side = side8(dot8(pose, i, against, i + shift, lanes))
        for c in range(3, 7):
            turned = load8(pose, c * lanes + i) * side
            store8(turns, (c - 3) * lanes + i, turned)
            store8(mix, c * lanes + i, turned * w)
        store8(mix, SQUARE * lanes + i, dot8(pose, i, pose, i, lanes) * w)


@inline
def add_mix(
    pose: Floats,
    weight: Real,
    mix: Floats,
    turns: Floats,
    is_known: bool,
    lanes: Whole,
) -> None:
    """One more pose, its rotations on the side of what is there.

    turns: (4 * L,), its rotations as they were added in the frame before, if is_known;
    then they stay on that side: two that come to be half a turn apart, and go on, would
    change it else, and the mix jump. Filled with those of this frame.
    """
    against, shift = (turns, -3 * lanes) if is_known else (mix, 0)
    w = splat8(weight)
    for i in range(0, 3 * lanes, 8):
        store8(mix, i, fma8(load8(pose, i), w, load8(mix, i)))
        k = i + 7 * lanes
        store8(mix, k, fma8(load8(pose, k), w, load8(mix, k)))
    for i in range(0, lanes, 8):
        side = side8(dot8(pose, i, against, i + shift, lanes))
        for c in range(3, 7):
            k = c * lanes + i
            turned = load8(pose, k) * side
            store8(turns, k - 3 * lanes, turned)
            store8(mix, k, fma8(turned, w, load8(mix, k)))
        k = SQUARE * lanes + i
        store8(mix, k, fma8(dot8(pose, i, pose, i, lanes), w, load8(mix, k)))


@inline
def end_mix(
    mix: Floats,
    pose: Floats,
    lanes: Whole,
) -> None:
    """The mix as a pose; its weights must have had a sum of 1."""
    least = splat8(np.float32(1e-30))
    for i in range(0, 3 * lanes, 8):
        store8(pose, i, load8(mix, i))
        store8(pose, 7 * lanes + i, load8(mix, 7 * lanes + i))
    for i in range(0, lanes, 8):
        square = max8(dot8(mix, i, mix, i, lanes), least)
        scale = sqrt8(load8(mix, SQUARE * lanes + i) / square)
        for c in range(3, 7):
            store8(pose, c * lanes + i, load8(mix, c * lanes + i) * scale)


@inline
def cover(
    pose: Floats,
    weight: Real,
    mask: Floats,
    first: Whole,
    out: Floats,
    lanes: Whole,
) -> None:
    """Lay a pose over another, by `weight` times the mask (L,) that begins at `first`.

    Where that is 1 the pose is taken as it is, where it is 0 nothing changes.
    """
    one, half = splat8(np.float32(1)), splat8(np.float32(0.5))
    huge, least = splat8(HUGE), splat8(np.float32(1e-30))
    for i in range(0, lanes, 8):
        w = load8(mask, first + i) * splat8(weight)
        v = one - w
        for row in range(3):
            for k in (row * lanes + i, (row + 7) * lanes + i):
                store8(out, k, fma8(load8(out, k), v, load8(pose, k) * w))
        # The lighter one changes its sign: what has all weight keeps it.
        side = side8(dot8(out, i, pose, i, lanes))
        is_lighter = side8(half - w)  # 1 where the pose is the lighter one, else -1
        is_lighter = fma8(is_lighter, half, half)
        w_signed = w * fma8(side - one, is_lighter, one)
        v_signed = v * fma8(side - one, one - is_lighter, one)
        square = fma8(dot8(out, i, out, i, lanes), v, dot8(pose, i, pose, i, lanes) * w)
        for c in range(3, 7):
            k = c * lanes + i
            store8(out, k, fma8(load8(out, k), v_signed, load8(pose, k) * w_signed))
        scale = sqrt8(square / max8(dot8(out, i, out, i, lanes), least))
        is_part = min8(w * v * huge, one)  # 0 where the weight is 0 or 1, else 1
        scale = fma8(scale - one, is_part, one)
        for c in range(3, 7):
            k = c * lanes + i
            store8(out, k, load8(out, k) * scale)


@inline
def _turn8(
    ax: Eight,
    ay: Eight,
    az: Eight,
    aw: Eight,
    bx: Eight,
    by: Eight,
    bz: Eight,
    bw: Eight,
) -> tuple[Eight, ...]:
    """Turns by b first, then by a."""
    x = fma8(aw, bx, fma8(ax, bw, ay * bz - az * by))
    y = fma8(aw, by, fma8(ay, bw, az * bx - ax * bz))
    z = fma8(aw, bz, fma8(az, bw, ax * by - ay * bx))
    w = fma8(aw, bw, splat8(np.float32(0)) - fma8(ax, bx, fma8(ay, by, az * bz)))
    return x, y, z, w


@inline
def subtract(
    pose: Floats,
    reference: Floats,
    lanes: Whole,
) -> None:
    """What a pose adds to a reference (10 * L,), in place.

    Translations are a difference, scales a quotient (1 where the reference is 0), and
    rotations what comes before the reference's own, unit, on the short way.
    """
    zero, one = splat8(np.float32(0)), splat8(np.float32(1))
    least, huge = splat8(np.float32(1e-30)), splat8(HUGE)
    for i in range(0, 3 * lanes, 8):
        store8(pose, i, load8(pose, i) - load8(reference, i))
        k = i + 7 * lanes
        base = load8(reference, k)
        # 0 where the base is nearly 0, else 1.
        is_some = min8(max8(base, zero - base) * huge, one)
        is_some = floor8(is_some)
        is_none = one - is_some
        # Not `base - one`: that would lose a small base.
        safe = fma8(base, is_some, is_none)
        store8(pose, k, fma8(load8(pose, k) / safe, is_some, is_none))
    for i in range(0, lanes, 8):
        bx, by = zero - load8(reference, 3 * lanes + i), load8(reference, 4 * lanes + i)
        bz, bw = load8(reference, 5 * lanes + i), load8(reference, 6 * lanes + i)
        by, bz = zero - by, zero - bz
        x, y, z, w = _turn8(
            bx,
            by,
            bz,
            bw,
            load8(pose, 3 * lanes + i),
            load8(pose, 4 * lanes + i),
            load8(pose, 5 * lanes + i),
            load8(pose, 6 * lanes + i),
        )
        square = fma8(x, x, fma8(y, y, fma8(z, z, w * w)))
        scale = side8(w) / sqrt8(max8(square, least))
        store8(pose, 3 * lanes + i, x * scale)
        store8(pose, 4 * lanes + i, y * scale)
        store8(pose, 5 * lanes + i, z * scale)
        store8(pose, 6 * lanes + i, w * scale)


@inline
def add_pose(
    pose: Floats,
    weight: Real,
    mask: Floats,
    first: Whole,
    out: Floats,
    lanes: Whole,
) -> None:
    """Add what `subtract` made, by `weight` times the mask (L,) that begins at `first`.

    Rotations turn before what is there, in the joint's own frame, on the short way.
    """
    one, least = splat8(np.float32(1)), splat8(np.float32(1e-30))
    for i in range(0, lanes, 8):
        part = load8(mask, first + i) * splat8(weight)
        for row in range(3):
            k = row * lanes + i
            store8(out, k, fma8(load8(pose, k), part, load8(out, k)))
            k += 7 * lanes
            store8(out, k, load8(out, k) * fma8(load8(pose, k), part, one - part))
        side = side8(load8(pose, 6 * lanes + i))  # a mix may be on the other
        turned = part * side
        x, y = load8(pose, 3 * lanes + i) * turned, load8(pose, 4 * lanes + i) * turned
        z = load8(pose, 5 * lanes + i) * turned
        w = fma8(load8(pose, 6 * lanes + i) * side - one, part, one)
        square = fma8(x, x, fma8(y, y, fma8(z, z, w * w)))
        scale = one / sqrt8(max8(square, least))
        x, y, z, w = _turn8(
            load8(out, 3 * lanes + i),
            load8(out, 4 * lanes + i),
            load8(out, 5 * lanes + i),
            load8(out, 6 * lanes + i),
            x * scale,
            y * scale,
            z * scale,
            w * scale,
        )
        store8(out, 3 * lanes + i, x)
        store8(out, 4 * lanes + i, y)
        store8(out, 5 * lanes + i, z)
        store8(out, 6 * lanes + i, w)


@inline
def scale_numbers(
    numbers: Floats,
    weight: Real,
) -> None:
    """Morph weights (W,) times a weight, in place."""
    for i in range(len(numbers)):
        put(numbers, i, take(numbers, i) * weight)


@inline
def add_numbers(
    numbers: Floats,
    weight: Real,
    mix: Floats,
) -> None:
    """Morph weights (W,) times a weight, added to others."""
    for i in range(len(numbers)):
        put(mix, i, take(mix, i) + take(numbers, i) * weight)


@inline
def cover_numbers(
    numbers: Floats,
    weight: Real,
    mask: Floats,
    first: Whole,
    out: Floats,
) -> None:
    """Lay morph weights (W,) over others, by `weight` times their mask."""
    for i in range(len(numbers)):
        w = take(mask, first + i) * weight
        if w == 1:
            put(out, i, take(numbers, i))
        elif w > 0:
            v = take(out, i)
            put(out, i, v + (take(numbers, i) - v) * w)


@inline
def add_masked_numbers(
    numbers: Floats,
    weight: Real,
    mask: Floats,
    first: Whole,
    out: Floats,
) -> None:
    """Add morph weights (W,), by `weight` times their mask."""
    for i in range(len(numbers)):
        put(out, i, take(out, i) + take(numbers, i) * (take(mask, first + i) * weight))
