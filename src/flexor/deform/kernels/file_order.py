"""Skinning in the file's vertex order.

Finished blocks (see `vertices`) go to their places in the file. Tried, ns a vertex, 4
joints, V = 4,000, same run, run order 2.3: points one by one 4.6; eight that stand in a
row in the file at once, normals scaled on the way 3.0; the same with stores of eight
numbers instead of four 3.1.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from flexor.deform.kernels.layout import Skin, SkinRoom
from flexor.deform.kernels.vertices import (
    BLOCK,
    BLOCKS,
    DATA,
    JOINT_COUNT,
    fetch_run,
    normal_palette,
    skin_one,
    skin_two,
    unit_scale8,
)
from flexor.maths.kernels.affine import hang
from flexor.maths.kernels.jit import inline, jit, part
from flexor.maths.kernels.lanes import load8, take
from flexor.maths.kernels.points import points8, scatter8

if TYPE_CHECKING:
    from flexor.arrays import Eight, Floats, Ints, Masks, Whole


@inline
def put_points(
    array: Floats,
    order: Masks,
    place: Whole,
    x: Eight,
    y: Eight,
    z: Eight,
) -> None:
    """Put eight points into the rows of an array (V * 3,) that `order` names.

    The rows of a block rise, but for the last, which fills up what is left of it. Most
    blocks of real files are eight rows one after the other: these are written at once.
    """
    first = np.int64(take(order, place))
    is_full = np.int64(take(order, place + 6)) == first + 6
    if is_full and np.int64(take(order, place + 7)) == first + 7:
        points8(array, 3 * first, x, y, z)
    else:
        scatter8(array, order, place, x, y, z)


@inline
def hand_out(
    block: Floats,
    at: Whole,
    is_unit: bool,
    order: Masks,
    place: Whole,
    positions: Floats,
    normals: Floats,
) -> None:
    """Put a block of vertices into their places in the file.

    is_unit: whether its normals are still to be scaled to unit length.
    """
    x, y, z = load8(block, at), load8(block, at + 8), load8(block, at + 16)
    put_points(positions, order, place, x, y, z)
    u, v, t = load8(block, at + 24), load8(block, at + 32), load8(block, at + 40)
    if is_unit:
        scale = unit_scale8(u, v, t)
        u, v, t = u * scale, v * scale, t * scale
    put_points(normals, order, place, u, v, t)


@part
def _skin_in_order(
    matrices: Floats,
    runs: Ints,
    joints: Ints,
    data: Floats,
    order: Masks,
    is_unit: bool,
    turns: Floats,
    m: Floats,
    place: Floats,
    turn: Floats,
) -> None:
    """One character, in the file's vertex order; see `skin_vertices`."""
    work = m[len(m) - 96 :]
    is_uneven = normal_palette(matrices, turns)
    for r in range(len(runs)):
        count, blocks = np.int64(runs[r, JOINT_COUNT]), np.int64(runs[r, BLOCKS])
        at, first = np.int64(runs[r, DATA]), 8 * np.int64(runs[r, BLOCK])
        step = 40 + 8 * count
        n = fetch_run(runs, r, joints, matrices, turns, is_uneven, m)
        if n == 0:
            for _ in range(blocks >> 1):
                skin_two(m, count, data, at, False, work, 0)
                hand_out(work, 0, is_unit, order, first, place, turn)
                hand_out(work, 48, is_unit, order, first + 8, place, turn)
                at += 2 * step
                first += 16
            blocks &= 1
        for _ in range(blocks):
            skin_one(m, n, count, data, at, False, work, 0)
            hand_out(work, 0, is_unit, order, first, place, turn)
            at += step
            first += 8


@jit(
    "void(f4[:, ::1], i4[:, ::1], i4[::1], f4[:, ::1], u4[::1], bool,"
    " out f4[::1], out f4[::1], out f4[:, ::1], out f4[:, ::1])"
)
def skin_vertices(
    matrices: Floats,
    runs: Ints,
    joints: Ints,
    data: Floats,
    order: Masks,
    is_unit: bool,
    turns: Floats,
    m: Floats,
    positions: Floats,
    normals: Floats,
) -> None:
    """Skin N characters, results in the file's vertex order.

    As `skin_blocks`, but finished blocks go through the end of the work space m:
    (24 * K + 96,) to positions and normals (N, V * 3). order: (B * 8,), the vertex in
    each place of the blocks, rising in a run; places that fill up a block repeat one.
    """
    for c in range(len(matrices)):
        mine = data[c if len(data) > 1 else 0]
        place, turn = positions[c], normals[c]
        _skin_in_order(
            matrices[c], runs, joints, mine, order, is_unit, turns, m, place, turn
        )


@jit("void(f4[:, :, ::1], Skin, SkinRoom, out f4[:, ::1], out f4[:, ::1])")
def skin_character(
    world: Floats,
    skin: Skin,
    room: SkinRoom,
    positions: Floats,
    normals: Floats,
) -> None:
    """Palette and skin of one character without morphs, in one call.

    world: (J, 3, 4); positions, normals: (V, 3), in the file's vertex order.
    """
    hang(world.reshape(-1), skin.nodes, skin.binds, room.palette)
    _skin_in_order(
        room.palette,
        skin.runs,
        skin.joints,
        skin.data[0],
        skin.order,
        True,
        room.turns,
        room.work,
        positions.reshape(-1),
        normals.reshape(-1),
    )
