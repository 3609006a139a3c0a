"""Which pixels of masked surfaces are there at all."""

from __future__ import annotations

import numpy as np

from flexor.draw.raster import kernel_layout as at
from flexor.draw.raster.kernel_refs import corners_of, nobody, own
from flexor.draw.raster.kernel_shade import (
    details_of,
    planes_of,
    screen_of,
    shares,
    texcoords_of,
    uncut,
)
from flexor.draw.raster.kernel_texture import look_up
from flexor.maths.kernel import jit
from flexor.maths.kernel_borrow import floats_at, words_at
from flexor.maths.kernel_lanes import pick4, take

F = np.float32


@jit(
    "void(i4[::1], i8, i8, i8[::1], i8[:, ::1], f4[:, ::1], i8[:, ::1], f4[::1],"
    " f4[:, ::1], i4[::1], out u1[::1])"
)
def pass_alpha(
    entries,
    count,
    tile,
    frame,
    items,
    looks,
    textures,
    screen,
    pieces,
    sources,
    passed,
):
    """For each pixel of each entry, in order: 1 if its alpha reaches the cutoff."""
    left = tile % frame[at.TILES_X] * at.TILE_W
    top = tile // frame[at.TILES_X] * at.TILE_H
    triangles = frame[at.TRIANGLE_COUNT]
    owner = nobody()
    number = 0
    for entry in range(count):
        ref = np.int64(entries[4 * entry])
        pixel, length = np.int64(entries[4 * entry + 1]), entries[4 * entry + 2]
        element = np.int64(sources[ref - triangles]) if ref >= triangles else ref
        owner = own(items, element, owner)
        item, look = items[owner[0]], looks[owner[0]]
        spots, near = screen_of(ref, frame, items, element, owner, screen, pieces)
        rates = planes_of(spots)
        a, b, c = corners_of(items, element, owner)
        us, vs = texcoords_of(item, look, a, b, c)
        y = F((top + pixel // at.TILE_W) * 256 + 128) - spots[1]
        for k in range(length):
            x = F((left + pixel % at.TILE_W + k) * 256 + 128) - spots[0]
            # The centre may lie outside, if other samples are inside.
            first = min(max(x * rates[0] + y * rates[1], F(0)), F(1))
            second = min(max(x * rates[2] + y * rates[3], F(0)), F(1) - first)
            one, two, distance = shares(first, second, near)
            one, two = uncut(ref, triangles, pieces, one, two)
            alpha = look[at.COLOUR + 3]
            if item[at.TINTS]:
                tints = floats_at(item[at.TINTS], 4 * item[at.INSTANCES])
                alpha *= tints[4 * owner[4] + 3]
            if item[at.COLOURS]:
                values = floats_at(item[at.COLOURS], 4 * item[at.VERTICES])
                va = take(values, 4 * a + 3)
                vb, vc = take(values, 4 * b + 3), take(values, 4 * c + 3)
                alpha *= va + (vb - va) * one + (vc - va) * two
            if item[at.TEXTURE] >= 0:
                row = textures[item[at.TEXTURE]]
                u = us[0] + (us[1] - us[0]) * one + (us[2] - us[0]) * two
                v = vs[0] + (vs[1] - vs[0]) * one + (vs[2] - vs[0]) * two
                detail = details_of(
                    row, ref, triangles, pieces, us, vs, near, rates, u, v, distance
                )
                texels = words_at(row[at.TEXELS], row[at.TEXEL_COUNT])
                alpha *= pick4(look_up(texels, row, u, v, detail), 3)
            passed[number] = alpha >= look[at.CUTOFF]
            number += 1
