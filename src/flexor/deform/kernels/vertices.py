"""Palettes, morphs and skinning.

Skin data are blocks of eight vertices that share one set of joints: x y z nx ny nz and
then one weight for each joint but the first, eight numbers each; a run is a row of
blocks with the same joints. So a run's matrices are fetched once, every load and store
is a whole vector, and the data are read in one stream. The weights of a vertex sum to
1, so the first joint needs none: M = M0 + w1 (M1 - M0) + ..., twelve multiply-adds for
each further joint.

Rows of the blended matrix are worked one after the other for two blocks at a time: that
keeps all in 16 registers. Normals are stored before they are scaled to unit length and
read again, or LLVM would move their products behind the loop and spill every matrix.
Tried, ns a vertex, 4 joints, V = 20,000, same run: all twelve numbers of one block at
once 3.0; rows, one block 2.8; rows, two blocks, a weight for every joint 2.7; rows, two
blocks, normals kept in registers 2.3; as here 2.1.

Normals to unit length, tried on another machine (AVX-512), 4 joints, same run, ns a
vertex, V = 4,000 and 20,000: not at all 1.8 and 1.6; root and division, as here, 2.1
and 1.8; a table of 512 numbers by the bits of the squared length (error 1e-3), one
gather for eight normals 2.4 and 2.1, eight loads 2.7 and 2.4. With one joint the table
is level (1.2 beside 1.2 to 1.25, V = 20,000). So there is no table.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from flexor.maths.kernels.affine import hang
from flexor.maths.kernels.functions import cbrt
from flexor.maths.kernels.jit import inline, jit
from flexor.maths.kernels.lanes import (
    fma8,
    load4,
    load8,
    max8,
    splat8,
    spread8,
    sqrt8,
    store4,
    store8,
    take,
)

if TYPE_CHECKING:
    from flexor.arrays import Eight, Floats, Ints, Masks, Real, Whole

# Columns of the run table.
JOINT_COUNT, BLOCKS, DATA, BLOCK, FIRST_JOINT = range(5)


@jit("void(f4[:, ::1], u4[::1], f4[:, ::1], out f4[:, ::1])")
def palette(
    world: Floats,
    nodes: Masks,
    binds: Floats,
    out: Floats,
) -> None:
    """Matrices world_from_mesh = world_from_node * node_from_mesh.

    world: (N, J * 12); nodes: (S,); binds: (S, 12); out: (N, S * 12).
    """
    for n in range(len(world)):
        hang(world[n], nodes, binds, out[n])


@inline
def _is_even(
    matrices: Floats,
) -> bool:
    """Whether every matrix only turns and scales evenly, all by the same factor.

    Three rows at right angles and of one length say as much as three columns.
    """
    if len(matrices) == 0:
        return True
    first = np.float32(0)
    for i in range(3):
        first += take(matrices, i) * take(matrices, i)
    limit = np.float32(1e-4) * first
    worst: Real = np.float32(0)
    for at in range(0, len(matrices), 12):
        a, b = take(matrices, at), take(matrices, at + 1)
        c, d = take(matrices, at + 2), take(matrices, at + 4)
        e, f = take(matrices, at + 5), take(matrices, at + 6)
        g, h = take(matrices, at + 8), take(matrices, at + 9)
        i = take(matrices, at + 10)
        worst = max(worst, abs(a * a + b * b + c * c - first))
        worst = max(worst, abs(d * d + e * e + f * f - first))
        worst = max(worst, abs(g * g + h * h + i * i - first))
        worst = max(worst, abs(a * d + b * e + c * f))
        worst = max(worst, abs(a * g + b * h + c * i))
        worst = max(worst, abs(d * g + e * h + f * i))
    return worst <= limit


@inline
def normal_palette(
    matrices: Floats,
    out: Floats,
) -> bool:
    """Normal matrices of one character; False if the palette itself will do.

    matrices: (S * 12,); out: (S * 12,), the inverse transpose of each, scaled to
    determinant 1 or -1, so that for turns and even scales it is the turn; the last
    column is 0. The palette will do where it is even: normals are scaled to unit length
    anyway.
    """
    if _is_even(matrices):
        return False
    for s in range(len(matrices) // 12):
        m = matrices[12 * s : 12 * s + 12]
        n = out[12 * s : 12 * s + 12]
        n[0] = m[5] * m[10] - m[6] * m[9]
        n[1] = m[6] * m[8] - m[4] * m[10]
        n[2] = m[4] * m[9] - m[5] * m[8]
        n[4] = m[2] * m[9] - m[1] * m[10]
        n[5] = m[0] * m[10] - m[2] * m[8]
        n[6] = m[1] * m[8] - m[0] * m[9]
        n[8] = m[1] * m[6] - m[2] * m[5]
        n[9] = m[2] * m[4] - m[0] * m[6]
        n[10] = m[0] * m[5] - m[1] * m[4]
        n[3], n[7], n[11] = np.float32(0), np.float32(0), np.float32(0)
        det = m[0] * n[0] + m[1] * n[1] + m[2] * n[2]
        scale = np.float32(0)
        if det != 0:
            # Of the cofactors, which are det * inverse transpose, to |det| = 1.
            root = cbrt(np.float64(abs(det)))
            scale = np.float32(np.sign(det) / (root * root))
        for i in range(12):
            n[i] *= scale
    return True


@jit("void(i4[:, ::1], f4[::1], f4[:, ::1], f4[:, ::1], out f4[:, ::1])")
def morph_blocks(
    runs: Ints,
    data: Floats,
    deltas: Floats,
    weights: Floats,
    out: Floats,
) -> None:
    """Skin data of N characters with morphs added.

    data: (D,); deltas: (M, B * 48) in blocks of x y z nx ny nz; weights: (N, M);
    out: (N, D).
    """
    for n in range(len(weights)):
        mine = out[n]
        for i in range(len(data)):
            mine[i] = data[i]
        for m in range(len(deltas)):
            if weights[n, m] == 0:
                continue
            weight = splat8(weights[n, m])
            for r in range(len(runs)):
                step = 40 + 8 * np.int64(runs[r, JOINT_COUNT])
                at = np.int64(runs[r, DATA])
                start = 48 * np.int64(runs[r, BLOCK])
                for b in range(np.int64(runs[r, BLOCKS])):
                    for i in range(0, 48, 8):
                        moved = load8(deltas[m], start + 48 * b + i)
                        store8(mine, at + i, fma8(moved, weight, load8(mine, at + i)))
                    at += step


@inline
def _fetch(
    matrices: Floats,
    joints: Ints,
    first: Whole,
    count: Whole,
    to: Whole,
    out: Floats,
) -> None:
    """A run's first matrix, and what each further one differs from it by."""
    base = 12 * np.int64(take(joints, first))
    for i in range(0, 12, 4):
        store4(out, to + i, load4(matrices, base + i))
    for k in range(1, count):
        base = 12 * np.int64(take(joints, first + k))
        for i in range(0, 12, 4):
            store4(out, to + 12 * k + i, load4(matrices, base + i) - load4(out, to + i))


@inline
def _blend_row(
    m: Floats,
    row: Whole,
    count: Whole,
    data: Floats,
    at: Whole,
) -> tuple[Eight, ...]:
    """Four numbers of a row of the blended matrices of one block."""
    a, b = spread8(m, row), spread8(m, row + 1)
    c, d = spread8(m, row + 2), spread8(m, row + 3)
    for k in range(count - 1):
        row += 12
        w = load8(data, at + 8 * k)
        a, b = fma8(spread8(m, row), w, a), fma8(spread8(m, row + 1), w, b)
        c, d = fma8(spread8(m, row + 2), w, c), fma8(spread8(m, row + 3), w, d)
    return a, b, c, d


@inline
def _blend_row_twice(
    m: Floats,
    row: Whole,
    count: Whole,
    data: Floats,
    at: Whole,
    step: Whole,
) -> tuple[Eight, ...]:
    """The same for two blocks, the second `step` floats after the first."""
    a, b = spread8(m, row), spread8(m, row + 1)
    c, d = spread8(m, row + 2), spread8(m, row + 3)
    a2, b2, c2, d2 = a, b, c, d
    for k in range(count - 1):
        row += 12
        w, w2 = load8(data, at + 8 * k), load8(data, at + step + 8 * k)
        x = spread8(m, row)
        a, a2 = fma8(x, w, a), fma8(x, w2, a2)
        x = spread8(m, row + 1)
        b, b2 = fma8(x, w, b), fma8(x, w2, b2)
        x = spread8(m, row + 2)
        c, c2 = fma8(x, w, c), fma8(x, w2, c2)
        x = spread8(m, row + 3)
        d, d2 = fma8(x, w, d), fma8(x, w2, d2)
    return a, b, c, d, a2, b2, c2, d2


@inline
def _apply_row(
    a: Eight,
    b: Eight,
    c: Eight,
    d: Eight,
    data: Floats,
    at: Whole,
    out: Floats,
    to: Whole,
) -> None:
    """One coordinate of eight positions, and of their normals, not of unit length."""
    z = fma8(c, load8(data, at + 16), d)
    z = fma8(a, load8(data, at), fma8(b, load8(data, at + 8), z))
    store8(out, to, z)
    _turn_row(a, b, c, data, at, out, to)


@inline
def _turn_row(
    a: Eight,
    b: Eight,
    c: Eight,
    data: Floats,
    at: Whole,
    out: Floats,
    to: Whole,
) -> None:
    """One coordinate of eight normals, not of unit length."""
    z = c * load8(data, at + 40)
    z = fma8(a, load8(data, at + 24), fma8(b, load8(data, at + 32), z))
    store8(out, to + 24, z)


@inline
def unit_scale8(
    u: Eight,
    v: Eight,
    t: Eight,
) -> Eight:
    """What to multiply eight normals by; one without a direction stays zero."""
    square = fma8(u, u, fma8(v, v, t * t))
    return splat8(np.float32(1)) / sqrt8(max8(square, splat8(np.float32(1e-30))))


@inline
def unit_block(
    out: Floats,
    to: Whole,
) -> None:
    """Scale eight normals to unit length."""
    u, v, t = load8(out, to + 24), load8(out, to + 32), load8(out, to + 40)
    scale = unit_scale8(u, v, t)
    store8(out, to + 24, u * scale)
    store8(out, to + 32, v * scale)
    store8(out, to + 40, t * scale)


@inline
def skin_two(
    m: Floats,
    count: Whole,
    data: Floats,
    at: Whole,
    is_unit: bool,
    out: Floats,
    to: Whole,
) -> None:
    """Two blocks with the matrices of their run, m: (K * 12,)."""
    step = 40 + 8 * count
    for row in range(3):
        a, b, c, d, a2, b2, c2, d2 = _blend_row_twice(
            m, 4 * row, count, data, at + 48, step
        )
        _apply_row(a, b, c, d, data, at, out, to + 8 * row)
        _apply_row(a2, b2, c2, d2, data, at + step, out, to + 48 + 8 * row)
    if is_unit:
        unit_block(out, to)
        unit_block(out, to + 48)


@inline
def skin_one(
    m: Floats,
    turns: Whole,
    count: Whole,
    data: Floats,
    at: Whole,
    is_unit: bool,
    out: Floats,
    to: Whole,
) -> None:
    """One block; the matrices for normals start at `turns` in m, 0 for the same."""
    for row in range(3):
        a, b, c, d = _blend_row(m, 4 * row, count, data, at + 48)
        _apply_row(a, b, c, d, data, at, out, to + 8 * row)
        if turns:
            a, b, c, d = _blend_row(m, turns + 4 * row, count, data, at + 48)
            _turn_row(a, b, c, data, at, out, to + 8 * row)
    if is_unit:
        unit_block(out, to)


@inline
def fetch_run(
    runs: Ints,
    r: Whole,
    joints: Ints,
    matrices: Floats,
    normals: Floats,
    is_uneven: bool,
    m: Floats,
) -> Whole:
    """Fill `m` for a run; give where its normal matrices start, 0 for none."""
    count, first = np.int64(runs[r, JOINT_COUNT]), np.int64(runs[r, FIRST_JOINT])
    _fetch(matrices, joints, first, count, 0, m)
    if not is_uneven:
        return 0
    _fetch(normals, joints, first, count, 12 * count, m)
    return 12 * count


@jit(
    "void(f4[:, ::1], i4[:, ::1], i4[::1], f4[:, ::1], bool,"
    " out f4[::1], out f4[::1], out f4[:, ::1])"
)
def skin_blocks(
    matrices: Floats,
    runs: Ints,
    joints: Ints,
    data: Floats,
    is_unit: bool,
    turns: Floats,
    m: Floats,
    out: Floats,
) -> None:
    """Skin N characters, results in blocks of x y z nx ny nz.

    matrices: palettes (N, S * 12); runs, joints: see the module; data: (N or 1, D),
    each character's own or one for all; is_unit: whether normals are scaled to unit
    length; turns: (S * 12,) and m: (24 * K,) work space; out: (N, B * 48).
    """
    for c in range(len(matrices)):
        mine, result = data[c if len(data) > 1 else 0], out[c]
        is_uneven = normal_palette(matrices[c], turns)
        for r in range(len(runs)):
            count, blocks = np.int64(runs[r, JOINT_COUNT]), np.int64(runs[r, BLOCKS])
            at, to = np.int64(runs[r, DATA]), 48 * np.int64(runs[r, BLOCK])
            step = 40 + 8 * count
            n = fetch_run(runs, r, joints, matrices[c], turns, is_uneven, m)
            if n == 0:
                for _ in range(blocks >> 1):
                    skin_two(m, count, mine, at, is_unit, result, to)
                    at += 2 * step
                    to += 96
                blocks &= 1
            for _ in range(blocks):
                skin_one(m, n, count, mine, at, is_unit, result, to)
                at += step
                to += 48
