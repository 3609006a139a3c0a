"""The buffers beside the colour: depth, normal, part and heat at pixel centres."""

from __future__ import annotations

import numpy as np

from flexor.draw.raster import kernel_layout as at
from flexor.draw.raster.kernel_refs import corners_of, find_row, nobody, own
from flexor.draw.raster.kernel_shade import (
    is_face_flat,
    mix3,
    normal_at,
    planes_of,
    screen_of,
    shares,
    uncut,
)
from flexor.maths.kernel import inline, jit
from flexor.maths.kernel_borrow import floats_at

F = np.float32


@inline
def _winner(spot, samples, depths, marks):
    """Who is nearest at any sample of a pixel; -1: nobody."""
    ref, nearest = marks[spot], depths[spot]
    for sample in range(1, samples):
        there = spot + sample * at.PLANE
        if marks[there] >= 0 and (ref < 0 or depths[there] > nearest):
            ref, nearest = marks[there], depths[there]
    return np.int64(ref)


@inline
def _part_of_line(element, frame, items, lines):
    number = element - frame[at.TRIANGLE_COUNT]
    if number < frame[at.EDGE_COUNT]:
        return items[find_row(items, at.FIRST_EDGE, number), at.PART]
    number -= frame[at.EDGE_COUNT]
    return lines[find_row(lines, at.FIRST_LINE, number), at.LINE_PART]


@inline
def _flat_distance(ref, frame, items, element, owner, screen, pieces, first, second):
    """Distance without perspective: depth is minus that."""
    triangles = frame[at.TRIANGLE_COUNT]
    if ref >= triangles:
        row = pieces[ref - triangles]
        d0, d1, d2 = row[3], row[7], row[11]
    else:
        a, b, c = corners_of(items, element, owner)
        d0 = screen[4 * (owner[3] + a) + 3]
        d1 = screen[4 * (owner[3] + b) + 3]
        d2 = screen[4 * (owner[3] + c) + 3]
    return -(d0 + (d1 - d0) * first + (d2 - d0) * second)


@jit(
    "void(i8, i8[::1], i8[:, ::1], i8[:, ::1], f4[::1], f4[:, ::1], i4[::1], f4[::1],"
    " i4[::1], out f4[::1], out f4[::1], out i4[::1], out f4[::1])"
)
def fill_buffers(
    tile,
    frame,
    items,
    lines,
    screen,
    pieces,
    sources,
    depths,
    marks,
    depth_out,
    normal_out,
    part_out,
    heat_out,
):
    """Fill a tile of the buffers that were asked for; the others have no length."""
    left = tile % frame[at.TILES_X] * at.TILE_W
    top = tile // frame[at.TILES_X] * at.TILE_H
    right = min(left + at.TILE_W, frame[at.WIDTH])
    bottom = min(top + at.TILE_H, frame[at.HEIGHT])
    triangles = frame[at.TRIANGLE_COUNT]
    owner = nobody()
    for y in range(top, bottom):
        for x in range(left, right):
            to = y * frame[at.WIDTH] + x
            spot = (y - top) * at.STRIDE + x - left
            ref = _winner(spot, frame[at.SAMPLES], depths, marks)
            far, part, heat = F(np.inf), np.int64(-1), F(np.nan)
            nx, ny, nz = F(0), F(0), F(0)
            if ref >= 0:
                element = (
                    np.int64(sources[ref - triangles]) if ref >= triangles else ref
                )
                is_line = element >= triangles
                if not is_line:
                    owner = own(items, element, owner)
                spots, near = screen_of(
                    ref, frame, items, element, owner, screen, pieces
                )
                rates = planes_of(spots)
                dx, dy = F(x * 256 + 128) - spots[0], F(y * 256 + 128) - spots[1]
                first = min(max(dx * rates[0] + dy * rates[1], F(0)), F(1))
                second = min(max(dx * rates[2] + dy * rates[3], F(0)), F(1) - first)
                one, two, far = shares(first, second, near)
                if frame[at.IS_FLAT_VIEW]:
                    far = _flat_distance(
                        ref, frame, items, element, owner, screen, pieces, first, second
                    )
                if is_line:
                    part = _part_of_line(element, frame, items, lines)
                else:
                    item = items[owner[0]]
                    part = item[at.PART]
                    a, b, c = corners_of(items, element, owner)
                    one, two = uncut(ref, triangles, pieces, one, two)
                    if item[at.HEAT]:
                        values = floats_at(item[at.HEAT], item[at.VERTICES])
                        heat = mix3(values, a, b, c, one, two)
                    if len(normal_out):
                        base = owner[4] * item[at.VERTICES]
                        is_flat = item[at.NORMALS] == 0 or is_face_flat(
                            item, element - owner[1]
                        )
                        nx, ny, nz = normal_at(
                            item, is_flat, F(-1) if rates[4] else F(1),
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
