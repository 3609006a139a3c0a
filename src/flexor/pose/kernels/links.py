"""Links: nodes that take a part of a joint's movement.

Entering: local transforms (N, 10 * L) in which the joints stand right. Leaving: the
same with the lanes of links filled in. Each joint that has links is brought into a
column once, its rotation made unit and put into the hemisphere of its rest; then eight
links are blended at a time.

The weights of a slerp, sin(f a) / sin a and sin((1 - f) a) / sin a, have no corner as
functions of x = 1 - cos a, and each link's f is fixed: so they are polynomials in x of
degree 8, one pair a link, made when the skeleton is laid out (Eberly, A Fast and
Accurate Algorithm for Computing SLERP, with the coefficients of a fit between 0 and 90
degrees, off by 4e-8). No arc cosine, no sine, no division by a sine of nearly 0.

A twist link is its joint, turned back about an axis. Of d = conj(rest) * q, the turn
since the rest, the twist is (d.xyz along the axis, d.w) made unit; these two numbers
are products of q with two fixed quaternions, rest * axis and rest. The way back is the
slerp from no turn to the inverse of the twist, by the same polynomials. A swing of half
a turn has no twist: where both numbers are as small as FAINT, d.w is raised, and so the
twist goes to none, and to no noise (rounding makes numbers of 1e-7 there).

A swing link is between the rest and its joint without any of the twist; the cosine
between these two is the length of (d.xyz along the axis, d.w), but for what raises d.w.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from flexor.maths.kernels.jit import inline, jit
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
from flexor.pose.kernels.layout import AXIS_ROWS, BEND, DEGREES, TWIST

if TYPE_CHECKING:
    from flexor.arrays import Eight, Floats, Ints, Whole

# Columns of the table of blocks.
COLUMN, LANE, WIDTH, KIND, AXIS = range(5)
# The rows of eight that a block has: the fraction, then the coefficients of the
# polynomials for the joint and of those for its rest, each from the highest on. Of a
# twist link the fraction is what it gives back, its joint is the inverse of the twist,
# and its rest no turn.
BLOCK = 1 + 2 * DEGREES
# The least d.w of a twist; and of d.w and the size of d.xyz along the axis together.
FLOOR, FAINT = 1e-6, 2e-4
# The row of the work space after the ten of a transform: 1 - cosine.
COSINE = 10


@inline
def _gather_joints(
    local: Floats,
    lanes: Whole,
    joints: Ints,
    rest: Floats,
    work: Floats,
) -> None:
    """Joints into columns, rotations unit and on their rest's side."""
    columns = len(joints)
    for c in range(columns):
        lane = np.int64(take(joints, c))
        for row in range(10):
            put(work, row * columns + c, take(local, row * lanes + lane))
    zero, one, two = splat8(np.float32(0)), splat8(np.float32(1)), splat8(np.float32(2))
    for c in range(0, columns, 8):
        x, y = load8(work, 3 * columns + c), load8(work, 4 * columns + c)
        z, w = load8(work, 5 * columns + c), load8(work, 6 * columns + c)
        square = fma8(x, x, fma8(y, y, fma8(z, z, w * w)))
        inverse = one / sqrt8(max8(square, splat8(np.float32(1e-30))))
        x, y, z, w = x * inverse, y * inverse, z * inverse, w * inverse
        dot = x * load8(rest, 3 * columns + c)
        dot = fma8(y, load8(rest, 4 * columns + c), dot)
        dot = fma8(z, load8(rest, 5 * columns + c), dot)
        dot = fma8(w, load8(rest, 6 * columns + c), dot)
        # 1, or -1 where the cosine is below 0.
        side = two * max8(min8(floor8(dot) + one, one), zero) - one
        store8(work, 3 * columns + c, x * side)
        store8(work, 4 * columns + c, y * side)
        store8(work, 5 * columns + c, z * side)
        store8(work, 6 * columns + c, w * side)
        store8(work, COSINE * columns + c, one - dot * side)


@inline
def _weight8(
    curves: Floats,
    at: Whole,
    x: Eight,
) -> Eight:
    """One weight of the slerp of eight links."""
    weight = load8(curves, at)
    for k in range(1, DEGREES):
        weight = fma8(weight, x, load8(curves, at + 8 * k))
    return weight


@inline
def _blend8(
    curves: Floats,
    at: Whole,
    rest: Floats,
    work: Floats,
    columns: Whole,
    c: Whole,
    to: Floats,
    step: Whole,
    first: Whole,
) -> None:
    """Blend the joints of eight columns; row by row `step` apart from to[first] on."""
    fraction, x = load8(curves, at), load8(work, COSINE * columns + c)
    joint = _weight8(curves, at + 8, x)
    still = _weight8(curves, at + 8 * (1 + DEGREES), x)
    for row in range(3, 7):
        here, there = row * columns + c, first + row * step
        q = fma8(load8(work, here), joint, load8(rest, here) * still)
        store8(to, there, q)
    _move8(fraction, rest, work, columns, c, to, step, first)


@inline
def _move8(
    fraction: Eight,
    rest: Floats,
    work: Floats,
    columns: Whole,
    c: Whole,
    to: Floats,
    step: Whole,
    first: Whole,
) -> None:
    """Places and scales of eight columns that fraction of the way from the rest."""
    for row in range(3):
        for part in (row, row + 7):
            here, there = part * columns + c, first + part * step
            v = load8(rest, here)
            store8(to, there, fma8(load8(work, here) - v, fraction, v))


@inline
def _dot8(
    numbers: Floats,
    at: Whole,
    step: Whole,
    x: Eight,
    y: Eight,
    z: Eight,
    w: Eight,
) -> Eight:
    """Eight rotations by eight of a table, whose rows are `step` apart."""
    dot = x * load8(numbers, at)
    dot = fma8(y, load8(numbers, at + step), dot)
    dot = fma8(z, load8(numbers, at + 2 * step), dot)
    return fma8(w, load8(numbers, at + 3 * step), dot)


@inline
def _unwound8(
    x: Eight,
    y: Eight,
    z: Eight,
    w: Eight,
    axes: Floats,
    axis: Whole,
    u: Eight,
    v: Eight,
) -> tuple[Eight, Eight, Eight, Eight]:
    """Eight rotations times (axis * v, u), v turned round."""
    zero = splat8(np.float32(0))
    a, b = load8(axes, axis) * v, load8(axes, axis + 8) * v
    d = load8(axes, axis + 16) * v
    return (
        fma8(x, u, fma8(z, b, zero - fma8(w, a, y * d))),
        fma8(y, u, fma8(x, d, zero - fma8(w, b, z * a))),
        fma8(z, u, fma8(y, a, zero - fma8(w, d, x * b))),
        fma8(w, u, fma8(x, a, fma8(y, b, z * d))),
    )


@inline
def _least8(sine: Eight) -> Eight:
    """The least d.w of eight twists, by what they have along their axes."""
    size = max8(sine, splat8(np.float32(0)) - sine)
    return max8(splat8(np.float32(FLOOR)), splat8(np.float32(FAINT)) - size)


@inline
def _twist8(
    curves: Floats,
    at: Whole,
    axes: Floats,
    axis: Whole,
    rest: Floats,
    work: Floats,
    columns: Whole,
    c: Whole,
    to: Floats,
    step: Whole,
    first: Whole,
) -> None:
    """Turn joints of eight columns back about axes[axis:]; the rest as `_blend8`."""
    x, y = load8(work, 3 * columns + c), load8(work, 4 * columns + c)
    z, w = load8(work, 5 * columns + c), load8(work, 6 * columns + c)
    cosine = _dot8(rest, 3 * columns + c, columns, x, y, z, w)
    sine = _dot8(axes, axis + 24, 8, x, y, z, w)
    cosine = max8(cosine, _least8(sine))
    one = splat8(np.float32(1))
    inverse = one / sqrt8(fma8(sine, sine, cosine * cosine))
    cosine, sine = cosine * inverse, sine * inverse
    back = _weight8(curves, at + 8, one - cosine)
    still = _weight8(curves, at + 8 * (1 + DEGREES), one - cosine)
    i, j, k, r = _unwound8(
        x, y, z, w, axes, axis, fma8(back, cosine, still), back * sine
    )
    store8(to, first + 3 * step, i)
    store8(to, first + 4 * step, j)
    store8(to, first + 5 * step, k)
    store8(to, first + 6 * step, r)
    for row in range(3):
        for part in (row, row + 7):
            store8(to, first + part * step, load8(work, part * columns + c))


@inline
def _swing8(
    curves: Floats,
    at: Whole,
    axes: Floats,
    axis: Whole,
    rest: Floats,
    work: Floats,
    columns: Whole,
    c: Whole,
    to: Floats,
    step: Whole,
    first: Whole,
) -> None:
    """Blend joints of eight columns that are turned back about axes[axis:] before."""
    x, y = load8(work, 3 * columns + c), load8(work, 4 * columns + c)
    z, w = load8(work, 5 * columns + c), load8(work, 6 * columns + c)
    cosine = _dot8(rest, 3 * columns + c, columns, x, y, z, w)
    sine = _dot8(axes, axis + 24, 8, x, y, z, w)
    raised = max8(cosine, _least8(sine))
    zero, one = splat8(np.float32(0)), splat8(np.float32(1))
    length = sqrt8(fma8(sine, sine, raised * raised))
    inverse = one / length
    i, j, k, r = _unwound8(x, y, z, w, axes, axis, raised * inverse, sine * inverse)
    length = length - (raised - cosine) * (raised * inverse)
    away = max8(one - length, zero)
    joint = _weight8(curves, at + 8, away)
    still = _weight8(curves, at + 8 * (1 + DEGREES), away)
    at_rest = 3 * columns + c
    store8(to, first + 3 * step, fma8(i, joint, load8(rest, at_rest) * still))
    at_rest += columns
    store8(to, first + 4 * step, fma8(j, joint, load8(rest, at_rest) * still))
    at_rest += columns
    store8(to, first + 5 * step, fma8(k, joint, load8(rest, at_rest) * still))
    at_rest += columns
    store8(to, first + 6 * step, fma8(r, joint, load8(rest, at_rest) * still))
    _move8(load8(curves, at), rest, work, columns, c, to, step, first)


@jit(
    "void(i4[::1], i4[:, ::1], f4[::1], f4[::1], f4[::1], out f4[::1], out f4[:, ::1])",
)
def follow_links(
    joints: Ints,
    blocks: Ints,
    rest: Floats,
    curves: Floats,
    axes: Floats,
    work: Floats,
    local: Floats,
) -> None:
    """Put the links of N characters between their joints' rest and their joints.

    joints: (C,) lane of the joint in each column, C a multiple of 8; blocks: (B, 5)
    first column, first lane and number of lanes of up to eight links, their kind, and
    which of the links with axes the first is; rest: (10 * C,) transforms of the columns
    at rest, rotations unit; curves: (B * BLOCK * 8,); axes: of the links that have
    some, (7 * 8) a block; work: (11 * C + 80,) work space; local: (N, 10 * L).
    """
    lanes, columns = local.shape[1] // 10, len(joints)
    aside = (COSINE + 1) * columns
    for n in range(len(local)):
        mine = local[n]
        _gather_joints(mine, lanes, joints, rest, work)
        for b in range(len(blocks)):
            c, lane = np.int64(blocks[b, COLUMN]), np.int64(blocks[b, LANE])
            width, at = np.int64(blocks[b, WIDTH]), 8 * BLOCK * b
            kind = np.int64(blocks[b, KIND])
            axis = AXIS_ROWS * np.int64(blocks[b, AXIS])
            # Behind fewer than eight are lanes of others.
            is_whole = width == 8
            to, step = (mine, lanes) if is_whole else (work, 8)
            first = lane if is_whole else aside
            if kind == BEND:
                _blend8(curves, at, rest, work, columns, c, to, step, first)
            elif kind == TWIST:
                _twist8(curves, at, axes, axis, rest, work, columns, c, to, step, first)
            else:
                _swing8(curves, at, axes, axis, rest, work, columns, c, to, step, first)
            if not is_whole:
                for row in range(10):
                    for i in range(width):
                        got = take(work, aside + 8 * row + i)
                        put(mine, row * lanes + lane + i, got)
