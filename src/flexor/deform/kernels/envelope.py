"""The drawing library's loops: pull vertices into the common buffer, hand areas out.

The common buffer is six rows of `stride` numbers: x y z nx ny nz of every place. A step
of an envelope is one model and a run of places: its matrix is fetched once while blocks
of eight vertices go by, and nothing is gathered or scattered. Weights are multiplied
into the data, so a weighted vertex costs one more load.

The last block of a run is worked whole. What is added beyond the run's end is zero;
what is stored there is stored again later, or the step is marked and the end of its
last block takes the way over the work space. So does all that is added if a matrix is
not finite: zero times that would spoil the vertices of others.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from flexor.deform.kernels.vertices import normal_palette, unit_scale8
from flexor.maths.kernels.borrow import floats_to
from flexor.maths.kernels.jit import inline, jit
from flexor.maths.kernels.lanes import (
    fma8,
    load4,
    load8,
    put,
    splat8,
    spread8,
    store4,
    store8,
    take,
)
from flexor.maths.kernels.points import scatter8
from flexor.scene.runtime.layout import (
    COUNT,
    DATA,
    DRAW,
    ENTRY,
    MODEL,
    NATIVE,
    NO_DRAW,
    OP,
    START,
)

if TYPE_CHECKING:
    from flexor.arrays import Eight, Floats, Ints, Longs, Masks, Whole

# One more column of steps, behind those of the layout: it marks a run that must not be
# stored beyond its end. The model is a row of the models that are used, and a command
# names its part.
IS_EXACT = DATA + 1
# Columns of the table of parts: its area, how many vertices, where its rows of `order`
# begin, and its surface.
PART_AREA, PART_COUNT, PART_FIRST, PART_SURFACE = range(4)
# Columns of the table of surfaces: addresses of positions and normals of the first
# character, and how many numbers each character has.
POSITIONS, NORMALS, LENGTH = range(3)


@jit("void(i4[:, ::1], i4[::1], f4[::1], f4[::1], f4[::1], out f4[::1])")
def morph_data(
    morphs: Ints,
    columns: Ints,
    weights: Floats,
    data: Floats,
    deltas: Floats,
    out: Floats,
) -> None:
    """Data of an envelope with morphs added.

    morphs: (R, 5), see scene/runtime/envelope.py; columns: (R,), of `weights` (W,);
    data, out: (D,).
    """
    for i in range(len(data)):
        out[i] = data[i]
    for r in range(len(morphs)):
        weight = weights[columns[r]]
        if weight != 0:
            at, begin = np.int64(morphs[r, 2]), np.int64(morphs[r, 4])
            for i in range(0, np.int64(morphs[r, 3]), 8):
                moved = fma8(
                    load8(deltas, begin + i), splat8(weight), load8(out, at + i)
                )
                store8(out, at + i, moved)


@inline
def _fetch_models(
    world: Floats,
    models: Masks,
    matrices: Floats,
    turns: Floats,
) -> bool:
    for s in range(len(models)):
        at = 12 * np.int64(take(models, s))
        for i in range(0, 12, 4):
            store4(matrices, 12 * s + i, load4(world, at + i))
    return normal_palette(matrices, turns)


@jit("bool(f4[::1], u4[::1], out f4[::1], out f4[::1])")
def fetch_models(
    world: Floats,
    models: Masks,
    matrices: Floats,
    turns: Floats,
) -> bool:
    """Matrices (S * 12,) of the models that are used, and those for their normals.

    Gives whether the second differ from the first and are filled in.
    """
    return _fetch_models(world, models, matrices, turns)


@inline
def _put_three(
    p: Eight,
    q: Eight,
    r: Eight,
    out: Floats,
    to: Whole,
    stride: Whole,
    is_added: bool,
) -> None:
    """Eight numbers to each of three rows, stored or added."""
    if is_added:
        p, q = p + load8(out, to), q + load8(out, to + stride)
        r = r + load8(out, to + 2 * stride)
    store8(out, to, p)
    store8(out, to + stride, q)
    store8(out, to + 2 * stride, r)


@inline
def _place(
    m: Floats,
    base: Whole,
    data: Floats,
    at: Whole,
    step: Whole,
    blocks: Whole,
    out: Floats,
    to: Whole,
    stride: Whole,
    is_added: bool,
) -> None:
    """Positions of a run of blocks: one matrix, held in registers."""
    a, b, c, d = (
        spread8(m, base),
        spread8(m, base + 1),
        spread8(m, base + 2),
        spread8(m, base + 3),
    )
    e, f, g, h = (
        spread8(m, base + 4),
        spread8(m, base + 5),
        spread8(m, base + 6),
        spread8(m, base + 7),
    )
    i, j, k, o = (
        spread8(m, base + 8),
        spread8(m, base + 9),
        spread8(m, base + 10),
        spread8(m, base + 11),
    )
    for _ in range(blocks):
        x, y, z = load8(data, at), load8(data, at + 8), load8(data, at + 16)
        p, q, r = d, h, o
        if step > 48:
            w = load8(data, at + 48)
            p, q, r = w * d, w * h, w * o
        p = fma8(a, x, fma8(b, y, fma8(c, z, p)))
        q = fma8(e, x, fma8(f, y, fma8(g, z, q)))
        r = fma8(i, x, fma8(j, y, fma8(k, z, r)))
        _put_three(p, q, r, out, to, stride, is_added)
        at += step
        to += 8


@inline
def _turn(
    n: Floats,
    base: Whole,
    data: Floats,
    at: Whole,
    step: Whole,
    blocks: Whole,
    out: Floats,
    to: Whole,
    stride: Whole,
    is_added: bool,
) -> None:
    """Normals of a run of blocks."""
    a, b, c = spread8(n, base), spread8(n, base + 1), spread8(n, base + 2)
    e, f, g = spread8(n, base + 4), spread8(n, base + 5), spread8(n, base + 6)
    i, j, k = spread8(n, base + 8), spread8(n, base + 9), spread8(n, base + 10)
    to += 3 * stride
    for _ in range(blocks):
        u, v, t = load8(data, at + 24), load8(data, at + 32), load8(data, at + 40)
        p = fma8(a, u, fma8(b, v, c * t))
        q = fma8(e, u, fma8(f, v, g * t))
        r = fma8(i, u, fma8(j, v, k * t))
        _put_three(p, q, r, out, to, stride, is_added)
        at += step
        to += 8


@inline
def _store(
    m: Floats,
    n: Floats,
    base: Whole,
    data: Floats,
    at: Whole,
    step: Whole,
    blocks: Whole,
    out: Floats,
    to: Whole,
    stride: Whole,
) -> None:
    _place(m, base, data, at, step, blocks, out, to, stride, False)
    _turn(n, base, data, at, step, blocks, out, to, stride, False)


@inline
def _is_wild(
    matrices: Floats,
) -> bool:
    """Whether a number is not finite."""
    total = np.float32(0)
    for i in range(len(matrices)):
        total += abs(take(matrices, i))
    return not (total < np.inf)


@inline
def _pull(
    steps: Ints,
    s: Whole,
    m: Floats,
    n: Floats,
    is_wild: bool,
    data: Floats,
    buffer: Floats,
    stride: Whole,
    work: Floats,
) -> None:
    """One run of vertices that a model pulls."""
    op, base = steps[s, OP], 12 * np.int64(steps[s, MODEL])
    to, at = np.int64(steps[s, ENTRY]), np.int64(steps[s, DATA])
    count = np.int64(steps[s, COUNT])
    whole = (count + 7) >> 3
    if steps[s, IS_EXACT] or (is_wild and op > START):
        whole = count >> 3
    if op == NATIVE:
        _store(m, n, base, data, at, 48, whole, buffer, to, stride)
    elif op == START:
        _store(m, n, base, data, at, 56, whole, buffer, to, stride)
    else:
        _place(m, base, data, at, 56, whole, buffer, to, stride, True)
        _turn(n, base, data, at, 56, whole, buffer, to, stride, True)
    if 8 * whole < count:
        if op == NATIVE:
            _store(m, n, base, data, at + 48 * whole, 48, 1, work, 0, 8)
        else:
            _store(m, n, base, data, at + 56 * whole, 56, 1, work, 0, 8)
        for row in range(6):
            for i in range(count & 7):
                place = to + 8 * whole + row * stride + i
                value = take(work, 8 * row + i)
                if op > START:
                    value += take(buffer, place)
                put(buffer, place, value)


@inline
def _hand_out_block(
    buffer: Floats,
    place: Whole,
    stride: Whole,
    order: Masks,
    row: Whole,
    positions: Floats,
    normals: Floats,
) -> None:
    """Eight places as vertices of the file, normals of unit length."""
    x, y = load8(buffer, place), load8(buffer, place + stride)
    scatter8(positions, order, row, x, y, load8(buffer, place + 2 * stride))
    u, v = load8(buffer, place + 3 * stride), load8(buffer, place + 4 * stride)
    t = load8(buffer, place + 5 * stride)
    scale = unit_scale8(u, v, t)
    scatter8(normals, order, row, u * scale, v * scale, t * scale)


@inline
def _hand_out(
    buffer: Floats,
    place: Whole,
    stride: Whole,
    order: Masks,
    row: Whole,
    count: Whole,
    work: Floats,
    positions: Floats,
    normals: Floats,
) -> None:
    """A finished area as vertices of the file."""
    for i in range(0, count - 7, 8):
        _hand_out_block(buffer, place + i, stride, order, row + i, positions, normals)
    if count >= 8 and count & 7:
        # Again some that are done: the same numbers.
        i = count - 8
        _hand_out_block(buffer, place + i, stride, order, row + i, positions, normals)
    elif count & 7:
        u, v = load8(buffer, place + 3 * stride), load8(buffer, place + 4 * stride)
        t = load8(buffer, place + 5 * stride)
        scale = unit_scale8(u, v, t)
        store8(work, 0, u * scale)
        store8(work, 8, v * scale)
        store8(work, 16, t * scale)
        for i in range(count):
            to = 3 * np.int64(take(order, row + i))
            for axis in range(3):
                put(positions, to + axis, take(buffer, place + axis * stride + i))
                put(normals, to + axis, take(work, 8 * axis + i))


@jit(
    "void(f4[:, ::1], u4[::1], i4[:, ::1], f4[::1], i4[:, ::1], u4[::1],"
    " i8[:, ::1], i8, i8, out f4[::1], out f4[::1], out f4[::1], out f4[::1])"
)
def skin_envelope(
    world: Floats,
    models: Masks,
    steps: Ints,
    data: Floats,
    parts: Ints,
    order: Masks,
    surfaces: Longs,
    first: int,
    stride: int,
    matrices: Floats,
    turns: Floats,
    work: Floats,
    buffer: Floats,
) -> None:
    """Work N characters, results in the file's vertex order.

    world: (N, J * 12); models: (S,); steps: (S, 6), see the module; data: (D,); parts,
    order, surfaces: see the module; first: which character of the surfaces' arrays is
    the first of these; matrices, turns: (S * 12,), work: (48,), buffer: (6 * stride,)
    work space.
    """
    for c in range(len(world)):
        is_uneven = _fetch_models(world[c], models, matrices, turns)
        n = turns if is_uneven else matrices
        is_wild = _is_wild(matrices) or _is_wild(n)
        for s in range(len(steps)):
            op = steps[s, OP]
            if op < NO_DRAW:
                _pull(steps, s, matrices, n, is_wild, data, buffer, stride, work)
            elif op == DRAW:
                p = steps[s, MODEL]
                surface = np.int64(parts[p, PART_SURFACE])
                length = surfaces[surface, LENGTH]
                skip = 4 * (first + c) * length
                _hand_out(
                    buffer,
                    np.int64(parts[p, PART_AREA]),
                    stride,
                    order,
                    np.int64(parts[p, PART_FIRST]),
                    np.int64(parts[p, PART_COUNT]),
                    work,
                    floats_to(surfaces[surface, POSITIONS] + skip, length),
                    floats_to(surfaces[surface, NORMALS] + skip, length),
                )


@jit("i8(i8, i4[:, ::1], f4[::1], f4[::1], f4[::1], i8, out f4[::1], out f4[::1])")
def run_to_draw(
    first: int,
    steps: Ints,
    matrices: Floats,
    turns: Floats,
    data: Floats,
    stride: int,
    work: Floats,
    buffer: Floats,
) -> int:
    """Do steps from `first` on up to the next that draws; gives its number.

    turns: for normals; the matrices themselves if they will do.
    """
    is_wild = _is_wild(matrices) or _is_wild(turns)
    for s in range(first, len(steps)):
        if steps[s, OP] < NO_DRAW:
            _pull(steps, s, matrices, turns, is_wild, data, buffer, stride, work)
        elif steps[s, OP] == DRAW:
            return s
    return len(steps)


@jit("void(i8, i8, i8, out f4[::1])")
def make_units(
    place: int,
    count: int,
    stride: int,
    buffer: Floats,
) -> None:
    """Scale normals of `count` places to unit length."""
    for i in range(place, place + count):
        u, v = take(buffer, i + 3 * stride), take(buffer, i + 4 * stride)
        t = take(buffer, i + 5 * stride)
        square = max(u * u + v * v + t * t, np.float32(1e-30))
        scale = np.float32(1) / np.sqrt(square)
        put(buffer, i + 3 * stride, u * scale)
        put(buffer, i + 4 * stride, v * scale)
        put(buffer, i + 5 * stride, t * scale)
