"""Skinning by dual quaternions: turns are blended, not matrices.

Every matrix of a palette is a turn and a place, and what is left: M = turn * left. The
vertex first goes through the blend of what is left (scale, shear, mirror), then through
the blend of turns and places, scaled to unit length: a turn and a place again, so that
nothing shrinks where joints are far apart in angle. See Kavan, Collins, Zara and
O'Sullivan, "Geometric Skinning with Approximate Dual Quaternion Blending" (2008).

The same runs of blocks as in vertices.py go in. Of the two quaternions of a turn, each
joint of a run takes that nearer to the first joint's: once for the run, so it costs
nothing a vertex, and the blend cannot vanish. Places are kept relative to the first
joint's, which keeps the figures of a character far from the origin. So a further joint
costs eight multiply-adds, four fewer than a matrix, and the rest of a vertex some
thirty more: 2.5 ns a vertex beside 1.8 (V = 20,000, 4 joints, AVX-512, same run).

Where all matrices only turn and scale by one factor, what is left is that factor, and
the first blend is saved; runs with one joint are those of vertices.py.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from flexor.deform.kernels.file_order import hand_out
from flexor.deform.kernels.vertices import (
    BLOCK,
    BLOCKS,
    DATA,
    FIRST_JOINT,
    JOINT_COUNT,
    fetch_run,
    normal_palette,
    skin_one,
    unit_block,
)
from flexor.maths.kernels.jit import inline, jit
from flexor.maths.kernels.lanes import (
    fma8,
    load8,
    max8,
    put,
    splat8,
    spread8,
    store8,
    take,
)

if TYPE_CHECKING:
    from flexor.arrays import Floats, Ints, Masks, Real, Whole

STEPS = 16  # at most, of finding a turn; 1 to 8 are taken
FLAT = 1e-6  # share of the longest axis below which there is no second one
MIRROR = 1e-5  # share of it by which a third one must point backwards to be a mirror


@inline
def _cofactors(
    m: tuple[Real, ...],
) -> tuple[Real, ...]:
    """Cofactors of a matrix of nine numbers."""
    a, b, c, d, e, f, g, h, i = m
    x, y, z = e * i - f * h, f * g - d * i, d * h - e * g
    u, v, w = c * h - b * i, a * i - c * g, b * g - a * h
    return x, y, z, u, v, w, b * f - c * e, c * d - a * f, a * e - b * d


@inline
def _dot(
    m: tuple[Real, ...],
    n: tuple[Real, ...],
) -> Real:
    """Sum of the products of nine numbers."""
    first = m[0] * n[0] + m[1] * n[1] + m[2] * n[2]
    second = m[3] * n[3] + m[4] * n[4] + m[5] * n[5]
    return first + second + m[6] * n[6] + m[7] * n[7] + m[8] * n[8]


@inline
def _sum(
    m: tuple[Real, ...],
    u: Real,
    n: tuple[Real, ...],
    v: Real,
) -> tuple[Real, ...]:
    """The sum u * m + v * n of nine numbers each."""
    a, b, c = u * m[0] + v * n[0], u * m[1] + v * n[1], u * m[2] + v * n[2]
    d, e, f = u * m[3] + v * n[3], u * m[4] + v * n[4], u * m[5] + v * n[5]
    g, h, i = u * m[6] + v * n[6], u * m[7] + v * n[7], u * m[8] + v * n[8]
    return a, b, c, d, e, f, g, h, i


@inline
def _linear(
    matrices: Floats,
    at: Whole,
) -> tuple[Real, ...]:
    """The nine numbers beside the place of the matrix at `at`, float64."""
    a, b, c = take(matrices, at), take(matrices, at + 1), take(matrices, at + 2)
    d, e, f = take(matrices, at + 4), take(matrices, at + 5), take(matrices, at + 6)
    g, h, i = take(matrices, at + 8), take(matrices, at + 9), take(matrices, at + 10)
    a, b, c = np.float64(a), np.float64(b), np.float64(c)
    d, e, f = np.float64(d), np.float64(e), np.float64(f)
    return a, b, c, d, e, f, np.float64(g), np.float64(h), np.float64(i)


@inline
def find_turn(
    m: tuple[Real, ...],
    other: tuple[Real, ...],
) -> tuple[Real, ...]:
    """The turn nearest to a matrix, to its negative if it mirrors; else `other`.

    A matrix and its cofactors share the turn and differ in scale, so their sum, each
    brought to one length, has it too and is less uneven; it soon is the turn (Newton's
    iteration, with no division by the determinant). One axis of no length is made up
    so; of two, nothing is known.
    """
    k = _cofactors(m)
    size, area = np.sqrt(_dot(m, m)), np.sqrt(_dot(k, k))
    if not area > FLAT * size * size:
        return other
    det = m[0] * k[0] + m[1] * k[1] + m[2] * k[2]
    if det < -MIRROR * size * area:
        m = _sum(m, -1.0, m, 0.0)
    for _ in range(STEPS):
        is_near = _dot(m, k) > (1 - 1e-10) * size * area
        m = _sum(m, 1 / size, k, 1 / area)
        k = _cofactors(m)
        size, area = np.sqrt(_dot(m, m)), np.sqrt(_dot(k, k))
        if is_near:
            break
    return _sum(m, np.sqrt(3.0) / size, k, 0.0)


@inline
def _put_quaternion(
    m: tuple[Real, ...],
    out: Floats,
    to: Whole,
) -> None:
    """The quaternion of a turn, x y z w of unit length."""
    a, b, c, d, e, f, g, h, i = m
    # Four times one of the four times each: the largest, which no rounding spoils.
    if a + e + i > 0:
        x, y, z, w = h - f, c - g, d - b, 1 + a + e + i
    elif a > e and a > i:
        x, y, z, w = 1 + a - e - i, b + d, c + g, h - f
    elif e > i:
        x, y, z, w = b + d, 1 + e - a - i, f + h, c - g
    else:
        x, y, z, w = c + g, f + h, 1 + i - a - e, d - b
    scale = 1 / np.sqrt(x * x + y * y + z * z + w * w)
    put(out, to, np.float32(x * scale))
    put(out, to + 1, np.float32(y * scale))
    put(out, to + 2, np.float32(z * scale))
    put(out, to + 3, np.float32(w * scale))


@inline
def _one_factor(
    matrices: Floats,
) -> Real:
    """The factor of an even palette, below zero if all of it mirrors; else NaN."""
    factor = 1.0
    for at in range(0, len(matrices), 12):
        m = _linear(matrices, at)
        size = np.sqrt(m[0] * m[0] + m[1] * m[1] + m[2] * m[2])
        k = _cofactors(m)
        if m[0] * k[0] + m[1] * k[1] + m[2] * k[2] < 0:
            size = -size
        if at == 0:
            factor = size
        elif (size < 0) != (factor < 0):
            return np.nan
    return factor


@inline
def split_palette(
    matrices: Floats,
    is_uneven: bool,
    left: Floats,
    quaternions: Floats,
) -> Real:
    """Turns of one character, and the factor that is left, or NaN if that is more.

    matrices: (S * 12,); quaternions: (S * 4,); left: (S * 12,), filled if it is more,
    the last column is 0. A joint without a turn of its own, scaled to nothing, takes
    that of the joint before it.
    """
    factor = np.nan if is_uneven else _one_factor(matrices)
    m = 1.0, 0.0, 0.0, 0.0, 1.0, 0.0, 0.0, 0.0, 1.0
    for s in range(len(matrices) // 12):
        given = _linear(matrices, 12 * s)
        if np.isnan(factor):
            m = find_turn(given, m)
            for column in range(3):
                for row in range(3):
                    value = m[row] * given[column]
                    value += m[row + 3] * given[column + 3]
                    value += m[row + 6] * given[column + 6]
                    left[12 * s + 4 * row + column] = np.float32(value)
            for row in range(3):
                left[12 * s + 4 * row + 3] = np.float32(0)
        elif abs(factor) > 1e-15:
            m = _sum(given, 1 / factor, given, 0.0)
        _put_quaternion(m, quaternions, 4 * s)
    return np.float32(factor)


@inline
def fetch_duals(
    matrices: Floats,
    quaternions: Floats,
    joints: Ints,
    first: Whole,
    count: Whole,
    out: Floats,
) -> None:
    """A run's first quaternion and place, and eight numbers for each further joint.

    out: x y z w of the first, its place, 0; then what the quaternion of each further
    one differs by, and half its place from the first's times its quaternion.
    """
    row = np.int64(take(joints, first))
    at, base = 4 * row, 12 * row
    x, y = take(quaternions, at), take(quaternions, at + 1)
    z, w = take(quaternions, at + 2), take(quaternions, at + 3)
    u, v = take(matrices, base + 3), take(matrices, base + 7)
    t = take(matrices, base + 11)
    put(out, 0, x)
    put(out, 1, y)
    put(out, 2, z)
    put(out, 3, w)
    put(out, 4, u)
    put(out, 5, v)
    put(out, 6, t)
    for k in range(1, count):
        row = np.int64(take(joints, first + k))
        at, base, to = 4 * row, 12 * row, 8 * k
        e, f = take(quaternions, at), take(quaternions, at + 1)
        g, h = take(quaternions, at + 2), take(quaternions, at + 3)
        half = np.float32(0.5)
        if e * x + f * y + g * z + h * w < 0:
            e, f, g, h = -e, -f, -g, -h
        a = half * (take(matrices, base + 3) - u)
        b = half * (take(matrices, base + 7) - v)
        c = half * (take(matrices, base + 11) - t)
        put(out, to, e - x)
        put(out, to + 1, f - y)
        put(out, to + 2, g - z)
        put(out, to + 3, h - w)
        put(out, to + 4, h * a + b * g - c * f)
        put(out, to + 5, h * b + c * e - a * g)
        put(out, to + 6, h * c + a * f - b * e)
        put(out, to + 7, -(a * e + b * f + c * g))


@inline
def _move(
    duals: Floats,
    count: Whole,
    weights: Floats,
    place: Whole,
    data: Floats,
    at: Whole,
    factor: Real,
    is_unit: bool,
    out: Floats,
    to: Whole,
) -> None:
    """Eight positions and normals; their weights are at `place`."""
    x, y = spread8(duals, 0), spread8(duals, 1)
    z, w = spread8(duals, 2), spread8(duals, 3)
    i = j = k = s = splat8(np.float32(0))
    for n in range(1, count):
        u, row = load8(weights, place + 8 * n - 8), 8 * n
        x, y = fma8(spread8(duals, row), u, x), fma8(spread8(duals, row + 1), u, y)
        z, w = fma8(spread8(duals, row + 2), u, z), fma8(spread8(duals, row + 3), u, w)
        i, j = fma8(spread8(duals, row + 4), u, i), fma8(spread8(duals, row + 5), u, j)
        k, s = fma8(spread8(duals, row + 6), u, k), fma8(spread8(duals, row + 7), u, s)
    square = fma8(x, x, fma8(y, y, fma8(z, z, w * w)))
    two = splat8(np.float32(2)) / max8(square, splat8(np.float32(1e-30)))
    scale = splat8(factor)
    a, b, c = load8(data, at), load8(data, at + 8), load8(data, at + 16)
    a, b, c = a * scale, b * scale, c * scale
    # r is x y z, e is i j k: v + two (cross(r, cross(r, v) + w v + e) + w e - s r).
    d, e = fma8(w, a, y * c - z * b) + i, fma8(w, b, z * a - x * c) + j
    f = fma8(w, c, x * b - y * a) + k
    g = (y * f - z * e) + (w * i - s * x)
    h = (z * d - x * f) + (w * j - s * y)
    f = (x * e - y * d) + (w * k - s * z)
    store8(out, to, fma8(two, g, a) + spread8(duals, 4))
    store8(out, to + 8, fma8(two, h, b) + spread8(duals, 5))
    store8(out, to + 16, fma8(two, f, c) + spread8(duals, 6))
    a, b, c = load8(data, at + 24), load8(data, at + 32), load8(data, at + 40)
    a, b, c = a * scale, b * scale, c * scale
    d, e = fma8(w, a, y * c - z * b), fma8(w, b, z * a - x * c)
    f = fma8(w, c, x * b - y * a)
    store8(out, to + 24, fma8(two, y * f - z * e, a))
    store8(out, to + 32, fma8(two, z * d - x * f, b))
    store8(out, to + 40, fma8(two, x * e - y * d, c))
    if is_unit:
        unit_block(out, to)


@inline
def _fetch(
    runs: Ints,
    r: Whole,
    joints: Ints,
    matrices: Floats,
    space: Floats,
    is_uneven: bool,
    is_left_uneven: bool,
    factor: Real,
    m: Floats,
) -> Whole:
    """Fill `m` for a run; give where its normal matrices start, 0 for none.

    m: matrices at the front; duals from 96 and 8 * K floats before the end on.
    """
    size = len(matrices)
    count, first = np.int64(runs[r, JOINT_COUNT]), np.int64(runs[r, FIRST_JOINT])
    if count == 1:
        return fetch_run(runs, r, joints, matrices, space[:size], is_uneven, m)
    duals = m[3 * (len(m) - 96) // 4 : len(m) - 96]
    fetch_duals(matrices, space[3 * size :], joints, first, count, duals)
    if not np.isnan(factor):
        return 0
    left, turns = space[size : 2 * size], space[2 * size : 3 * size]
    return fetch_run(runs, r, joints, left, turns, is_left_uneven, m)


@inline
def _prepare(
    matrices: Floats,
    space: Floats,
) -> tuple[bool, bool, Real]:
    """Split a palette; whether it is uneven, whether what is left is, its factor."""
    size = len(matrices)
    left, quaternions = space[size : 2 * size], space[3 * size :]
    is_uneven = normal_palette(matrices, space[:size])
    factor = split_palette(matrices, is_uneven, left, quaternions)
    is_left_uneven = False
    if np.isnan(factor):
        is_left_uneven = normal_palette(left, space[2 * size : 3 * size])
    return is_uneven, is_left_uneven, factor


@inline
def _skin_block(
    m: Floats,
    n: Whole,
    count: Whole,
    data: Floats,
    at: Whole,
    factor: Real,
    is_unit: bool,
    out: Floats,
    to: Whole,
) -> None:
    """One block, with what was fetched for its run."""
    end = len(m) - 96
    duals, work = m[3 * end // 4 : end], m[end:]
    if count == 1:
        skin_one(m, n, count, data, at, is_unit, out, to)
    elif np.isnan(factor):
        skin_one(m, n, count, data, at, False, work, 0)
        one = np.float32(1)
        _move(duals, count, data, at + 48, work, 0, one, is_unit, out, to)
    else:
        _move(duals, count, data, at + 48, data, at, factor, is_unit, out, to)


@jit(
    "void(f4[:, ::1], i4[:, ::1], i4[::1], f4[:, ::1], bool,"
    " out f4[::1], out f4[::1], out f4[:, ::1])"
)
def skin_blocks_dual(
    matrices: Floats,
    runs: Ints,
    joints: Ints,
    data: Floats,
    is_unit: bool,
    space: Floats,
    m: Floats,
    out: Floats,
) -> None:
    """Skin N characters, results in blocks of x y z nx ny nz.

    As `skin_blocks` of vertices.py, with other work space: space: (S * 40,) for
    palettes, m: (32 * K + 96,) for a run.
    """
    for c in range(len(matrices)):
        mine, result, own = data[c if len(data) > 1 else 0], out[c], matrices[c]
        is_uneven, is_left_uneven, factor = _prepare(own, space)
        for r in range(len(runs)):
            count, blocks = np.int64(runs[r, JOINT_COUNT]), np.int64(runs[r, BLOCKS])
            at, to = np.int64(runs[r, DATA]), 48 * np.int64(runs[r, BLOCK])
            n = _fetch(
                runs, r, joints, own, space, is_uneven, is_left_uneven, factor, m
            )
            for _ in range(blocks):
                _skin_block(m, n, count, mine, at, factor, is_unit, result, to)
                at += 40 + 8 * count
                to += 48


@jit(
    "void(f4[:, ::1], i4[:, ::1], i4[::1], f4[:, ::1], u4[::1], bool,"
    " out f4[::1], out f4[::1], out f4[:, ::1], out f4[:, ::1])"
)
def skin_vertices_dual(
    matrices: Floats,
    runs: Ints,
    joints: Ints,
    data: Floats,
    order: Masks,
    is_unit: bool,
    space: Floats,
    m: Floats,
    positions: Floats,
    normals: Floats,
) -> None:
    """Skin N characters, results in the file's vertex order.

    As `skin_vertices` of vertices.py, with the work space of `skin_blocks_dual`.
    """
    work = m[len(m) - 48 :]
    for c in range(len(matrices)):
        mine, own = data[c if len(data) > 1 else 0], matrices[c]
        is_uneven, is_left_uneven, factor = _prepare(own, space)
        for r in range(len(runs)):
            count, blocks = np.int64(runs[r, JOINT_COUNT]), np.int64(runs[r, BLOCKS])
            at, first = np.int64(runs[r, DATA]), 8 * np.int64(runs[r, BLOCK])
            n = _fetch(
                runs, r, joints, own, space, is_uneven, is_left_uneven, factor, m
            )
            for _ in range(blocks):
                _skin_block(m, n, count, mine, at, factor, is_unit, work, 0)
                hand_out(work, 0, False, order, first, positions[c], normals[c])
                at += 40 + 8 * count
                first += 8
