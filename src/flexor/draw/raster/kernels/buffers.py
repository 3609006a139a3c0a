"""The buffers beside the colour: depth, normal, part and heat at pixel centres."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from flexor.draw.raster import layout as at
from flexor.draw.raster.kernels.place import (
    centre_place,
    is_face_flat,
    mix,
    mix_at,
    normal_at,
    rates_of,
)
from flexor.draw.raster.kernels.refs import (
    FIRST_OF,
    INSTANCE_OF,
    OF_ITEM,
    corner_rows,
    corners_of,
    element_of,
    find_row,
    nobody,
    own,
    tile_box,
)
from flexor.draw.raster.layout import Picture, Scene, Scratch, Space
from flexor.maths.kernels.borrow import floats_at
from flexor.maths.kernels.jit import inline, part
from flexor.maths.kernels.numbers import float32, int64

if TYPE_CHECKING:
    from flexor.arrays import Floats, Ints, Longs

F = float32


@inline
def _winner(spot: int, samples: int, depths: Floats, marks: Ints) -> int:
    """Who is nearest at any sample of a pixel; -1: nobody."""
    ref, nearest = marks[spot], depths[spot]
    for sample in range(1, samples):
        there = spot + sample * at.PLANE
        if marks[there] >= 0 and (ref < 0 or depths[there] > nearest):
            ref, nearest = marks[there], depths[there]
    return int64(ref)


@inline
def _part_of_line(element: int, frame: Longs, items: Longs, lines: Longs) -> int:
    number = element - frame[at.TRIANGLE_COUNT]
    if number < frame[at.EDGE_COUNT]:
        row = find_row(items, at.ITEM_INTS, at.FIRST_EDGE, number)
        return items[row * at.ITEM_INTS + at.PART]
    number -= frame[at.EDGE_COUNT]
    row = find_row(lines, at.LINE_INTS, at.FIRST_LINE, number)
    return lines[row * at.LINE_INTS + at.LINE_PART]


@part
def fill_buffers(
    tile: int, scene: Scene, space: Space, scratch: Scratch, picture: Picture
) -> None:
    """Fill a tile of the buffers that were asked for; the others have no length."""
    frame, items, pieces = scene.frame, scene.items, space.pieces
    depth_out, normal_out = picture.depth, picture.normal
    part_out, heat_out = picture.part, picture.heat
    left, top, right, bottom = tile_box(tile, frame)
    triangles = frame[at.TRIANGLE_COUNT]
    owner = nobody()
    for y in range(top, bottom):
        for x in range(left, right):
            to = y * frame[at.WIDTH] + x
            spot = (y - top) * at.STRIDE + x - left
            ref = _winner(spot, frame[at.SAMPLES], scratch.depths, scratch.marks)
            far, part, heat = F(np.inf), int64(-1), F(np.nan)
            nx, ny, nz = F(0), F(0), F(0)
            if ref >= 0:
                element = element_of(ref, triangles, space.sources)
                a, b, c = int64(0), int64(0), int64(0)
                if element < triangles:
                    owner = own(items, element, owner)
                    a, b, c = corners_of(items, element, owner)
                xs, ys, nears, deep = corner_rows(
                    ref, triangles, owner, a, b, c, space.screen, pieces
                )
                rates = rates_of(xs, ys)
                one, two, far, first, second = centre_place(
                    ref, triangles, pieces, xs, ys, nears, rates, x, y
                )
                if frame[at.IS_FLAT_VIEW]:
                    far = -mix(deep, first, second)
                if element >= triangles:
                    part = _part_of_line(element, frame, items, scene.lines)
                    if frame[at.IS_FLAT_VIEW]:
                        i = (ref - triangles) * at.PIECE_FLOATS + at.PIECE_SHARES
                        far = mix(
                            (pieces[i], pieces[i + 1], pieces[i + 2]), first, second
                        )
                else:
                    item = owner[OF_ITEM]
                    part = items[item + at.PART]
                    if items[item + at.HEAT]:
                        values = floats_at(
                            items[item + at.HEAT], items[item + at.VERTICES]
                        )
                        heat = mix_at(values, a, b, c, one, two)
                    if len(normal_out):
                        base = owner[INSTANCE_OF] * items[item + at.VERTICES]
                        is_flat = items[item + at.NORMALS] == 0 or is_face_flat(
                            items, item, element - owner[FIRST_OF]
                        )
                        nx, ny, nz = normal_at(
                            items, item, is_flat, F(-1) if rates[4] else F(1),
                            base + a, base + b, base + c, one, two,
                        )  # fmt: skip
            if len(depth_out):
                depth_out[to] = far
            if len(part_out):
                part_out[to] = part
            if len(heat_out):
                heat_out[to] = heat
            if len(normal_out):
                normal_out[3 * to], normal_out[3 * to + 1] = nx, ny
                normal_out[3 * to + 2] = nz
