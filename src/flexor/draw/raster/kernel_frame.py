"""A whole picture in one call, which every thread of the team makes.

First all vertices are placed, in chunks; when the last is done, the stream is sorted
into tiles, in chunks; when the last is done, tiles are drawn. Whoever is free takes the
next; a thread that comes late finds what is left. No two write the same place, so the
picture does not depend on who did what.
"""

from __future__ import annotations

import numpy as np

from flexor.draw.raster import kernel_layout as at
from flexor.draw.raster.kernel_alpha import pass_alpha
from flexor.draw.raster.kernel_bin import fill_bins
from flexor.draw.raster.kernel_buffers import fill_buffers
from flexor.draw.raster.kernel_refs import nobody, own
from flexor.draw.raster.kernel_shade import shade
from flexor.draw.raster.kernel_tile import (
    keep_nearest,
    keep_passed,
    list_opaque,
    list_seen,
)
from flexor.draw.raster.kernel_vertices import place_vertices
from flexor.maths.kernel import inline, jit
from flexor.maths.kernel_lanes import make4, put, store4, take
from flexor.maths.kernel_team import claim, watch

F = np.float32
TOP = 4095.0  # last row of the table of sRGB bytes


@inline
def tile_count_of(tile, queue, chunks, starts):
    """How many refs a tile has in one queue, or in all (-1)."""
    count = 0
    for chunk in range(len(chunks)):
        if queue < 0 or chunks[chunk, at.CHUNK_QUEUE] == queue:
            count += starts[chunk, tile + 1] - starts[chunk, tile]
    return count


@jit("void(i8, i8[::1], i4[::1], u1[::1], f4[::1], i8, out u4[::1])")
def encode(tile, frame, rows, to_srgb, colours, is_empty, pixels):
    """Linear colours times alpha to sRGB bytes with straight alpha.

    rows: first and last column that was drawn in each row; the rest is background.
    """
    left = tile % frame[at.TILES_X] * at.TILE_W
    top = tile // frame[at.TILES_X] * at.TILE_H
    width = min(at.TILE_W, frame[at.WIDTH] - left)
    height = min(at.TILE_H, frame[at.HEIGHT] - top)
    background = np.uint32(frame[at.BACKGROUND])
    for row in range(height):
        begin = (top + row) * frame[at.WIDTH] + left
        pixels[begin : begin + width] = background
        if is_empty:
            continue
        for column in range(take(rows, 2 * row), take(rows, 2 * row + 1)):
            place = 4 * (row * at.TILE_W + column)
            red, green = take(colours, place), take(colours, place + 1)
            blue, alpha = take(colours, place + 2), take(colours, place + 3)
            opaque = np.uint32(255)
            if alpha < F(0.9999):
                opaque = np.uint32(alpha * F(255) + F(0.5))
                part = F(1) / max(alpha, F(1e-6))
                red, green, blue = (
                    min(red * part, F(1)), min(green * part, F(1)), min(blue * part, F(1))
                )  # fmt: skip
            r = np.uint32(take(to_srgb, np.int64(red * F(TOP) + F(0.5))))
            g = np.uint32(take(to_srgb, np.int64(green * F(TOP) + F(0.5))))
            b = np.uint32(take(to_srgb, np.int64(blue * F(TOP) + F(0.5))))
            put(
                pixels,
                begin + column,
                r | g << np.uint32(8) | b << np.uint32(16) | opaque << np.uint32(24),
            )


@inline
def widen_rows(entries, count, rows):
    """Note which columns of each row have been drawn."""
    for entry in range(count):
        pixel = np.int64(take(entries, 4 * entry + 1))
        row, column = pixel // at.TILE_W, pixel % at.TILE_W
        last = column + take(entries, 4 * entry + 2)
        put(rows, 2 * row, min(take(rows, 2 * row), np.int32(column)))
        put(rows, 2 * row + 1, max(take(rows, 2 * row + 1), np.int32(last)))


@jit(
    "void(i8, i8, i8[::1], i8[:, ::1], f4[:, ::1], i8[:, ::1], i8[:, ::1], i4[::1],"
    " f4[::1], i4[:, ::1], i4[:, ::1], f4[::1], f4[:, ::1], i4[::1], out f4[::1],"
    " out i4[::1], out i4[::1], out i4[::1], out u1[::1])"
)
def keep_masked(
    tile,
    queue,
    frame,
    items,
    looks,
    textures,
    chunks,
    patterns,
    ranks,
    starts,
    lists,
    screen,
    pieces,
    sources,
    depths,
    marks,
    bits,
    entries,
    passed,
):
    """Add the masked refs of a tile to the nearest, where their alpha is high enough."""
    triangles = frame[at.TRIANGLE_COUNT]
    count = 0
    owner = nobody()
    for chunk in range(len(chunks) + 1):
        is_end = chunk == len(chunks)
        if not is_end and chunks[chunk, at.CHUNK_QUEUE] != queue:
            continue
        first = 0 if is_end else starts[chunk, tile]
        last = 1 if is_end else starts[chunk, tile + 1]
        for i in range(first, last):
            if is_end or count + at.TILE_W * at.TILE_H > at.MOST_ENTRIES:
                pass_alpha(
                    entries, count, tile, frame, items, looks, textures, screen,
                    pieces, sources, passed,
                )  # fmt: skip
                keep_passed(
                    entries, count, tile, screen, pieces, sources, ranks, frame, items,
                    passed, depths, marks,
                )  # fmt: skip
                count = 0
            if is_end:
                break
            ref = np.int64(lists[chunk, i])
            element = np.int64(sources[ref - triangles]) if ref >= triangles else ref
            if element >= triangles:
                continue
            owner = own(items, element, owner)
            if items[owner[0], at.ALPHA] == at.MASK:
                count = list_seen(
                    ref, tile, frame, items, screen, pieces, sources, ranks, patterns,
                    depths, count, bits, entries,
                )  # fmt: skip


@jit(
    "void(i8, i8, i8[::1], i8[:, ::1], f4[:, ::1], i8[:, ::1], i8[:, ::1], f4[:, ::1],"
    " i8[:, ::1], i4[::1], f4[::1], i4[:, ::1], i4[:, ::1], f4[::1], f4[::1],"
    " f4[:, ::1], i4[::1], f4[::1], out i4[::1], out i4[::1], out i4[::1],"
    " out f4[::1])"
)
def blend(
    tile,
    queue,
    frame,
    items,
    looks,
    lines,
    textures,
    lights,
    chunks,
    patterns,
    ranks,
    starts,
    lists,
    screen,
    lit,
    pieces,
    sources,
    depths,
    bits,
    rows,
    entries,
    colours,
):
    """Draw the blended refs of a tile over its colours, in their order."""
    count = 0
    for chunk in range(len(chunks) + 1):
        is_end = chunk == len(chunks)
        if not is_end and chunks[chunk, at.CHUNK_QUEUE] != queue:
            continue
        first = 0 if is_end else starts[chunk, tile]
        last = 1 if is_end else starts[chunk, tile + 1]
        for i in range(first, last):
            if is_end or count + at.TILE_W * at.TILE_H > at.MOST_ENTRIES:
                widen_rows(entries, count, rows)
                shade(
                    entries, count, tile, 1, frame, items, looks, lines, textures,
                    lights, screen, lit, pieces, sources, colours,
                )  # fmt: skip
                count = 0
            if not is_end:
                count = list_seen(
                    np.int64(lists[chunk, i]), tile, frame, items, screen, pieces,
                    sources, ranks, patterns, depths, count, bits, entries,
                )  # fmt: skip


@jit(
    "void(i8, i8[::1], i8[:, ::1], f4[:, ::1], i8[:, ::1], i8[:, ::1], f4[:, ::1],"
    " i8[:, ::1], i4[::1], f4[::1], i4[:, ::1], i4[:, ::1], f4[::1], f4[::1],"
    " f4[::1], f4[:, ::1], i4[::1], u1[::1], out f4[::1], out i4[::1], out u1[::1],"
    " out u4[::1], out f4[::1], out f4[::1], out i4[::1], out f4[::1])"
)
def draw_tile(
    tile,
    frame,
    items,
    looks,
    lines,
    textures,
    lights,
    chunks,
    patterns,
    ranks,
    starts,
    lists,
    behind,
    screen,
    lit,
    pieces,
    sources,
    to_srgb,
    floats,
    ints,
    passed,
    pixels,
    depth_out,
    normal_out,
    part_out,
    heat_out,
):
    """One tile from its refs to its pixels. floats, ints, passed: the thread's scratch."""
    samples = frame[at.SAMPLES]
    depths = floats[: 4 * at.PLANE]
    colours = floats[4 * at.PLANE : 4 * at.PLANE + 4 * at.TILE_W * at.TILE_H]
    marks = ints[: 4 * at.PLANE]
    bits = ints[4 * at.PLANE : 5 * at.PLANE]
    rows = ints[5 * at.PLANE : 5 * at.PLANE + 2 * at.TILE_H]
    entries = ints[5 * at.PLANE + 2 * at.TILE_H :]
    is_empty = tile_count_of(tile, -1, chunks, starts) == 0
    if not is_empty:
        back = make4(behind[0], behind[1], behind[2], behind[3])
        for pixel in range(at.TILE_W * at.TILE_H):
            store4(colours, 4 * pixel, back)
        for row in range(at.TILE_H):
            rows[2 * row], rows[2 * row + 1] = at.TILE_W, 0
    width = min(at.TILE_W, frame[at.WIDTH] - tile % frame[at.TILES_X] * at.TILE_W)
    height = min(at.TILE_H, frame[at.HEIGHT] - tile // frame[at.TILES_X] * at.TILE_H)
    for layer in range(2):
        opaque = tile_count_of(tile, 2 * layer, chunks, starts)
        blended = tile_count_of(tile, 2 * layer + 1, chunks, starts)
        has_buffers = layer == 0 and frame[at.HAS_BUFFERS] != 0
        if opaque + blended > 0 or has_buffers:
            depths[: samples * at.PLANE] = F(-np.inf)
            marks[: samples * at.PLANE] = np.int32(-1)
        if opaque > 0:
            later = keep_nearest(
                tile, 2 * layer, frame, items, chunks, screen, pieces, sources, ranks,
                patterns, starts, lists, depths, marks,
            )  # fmt: skip
            if later:
                keep_masked(
                    tile, 2 * layer, frame, items, looks, textures, chunks, patterns,
                    ranks, starts, lists, screen, pieces, sources, depths, marks, bits,
                    entries, passed,
                )  # fmt: skip
            count = list_opaque(width, height, samples, marks, entries, colours)
            widen_rows(entries, count, rows)
            shade(
                entries, count, tile, 0, frame, items, looks, lines, textures, lights,
                screen, lit, pieces, sources, colours,
            )  # fmt: skip
        if has_buffers:
            fill_buffers(
                tile, frame, items, lines, screen, pieces, sources, depths, marks,
                depth_out, normal_out, part_out, heat_out,
            )  # fmt: skip
        if blended > 0:
            blend(
                tile, 2 * layer + 1, frame, items, looks, lines, textures, lights,
                chunks, patterns, ranks, starts, lists, screen, lit, pieces, sources,
                depths, bits, rows, entries, colours,
            )  # fmt: skip
    encode(tile, frame, rows, to_srgb, colours, is_empty, pixels)


@jit(
    "i8(f8[::1], i8[::1], i8[:, ::1], f4[:, ::1], i8[:, ::1], f4[::1], i8[:, ::1],"
    " f4[:, ::1], i8[:, ::1], i8[:, ::1], i4[::1], i4[::1], f4[::1], f4[::1], u1[::1],"
    " out i8[::1], out f4[::1], out f4[::1], out f4[:, ::1], out i4[::1],"
    " out i4[:, ::1], out i4[:, ::1], out i4[:, ::1], out i8[:, ::1],"
    " out f4[:, ::1], out i4[:, ::1], out u1[:, ::1], out u4[::1], out f4[::1],"
    " out f4[::1], out i4[::1], out f4[::1])"
)
def draw_frame(
    view,
    frame,
    items,
    looks,
    lines,
    widths,
    textures,
    lights,
    segments,
    chunks,
    order,
    patterns,
    ranks,
    behind,
    to_srgb,
    team,
    screen,
    lit,
    pieces,
    sources,
    refs,
    starts,
    lists,
    found,
    floats,
    ints,
    passed,
    pixels,
    depth_out,
    normal_out,
    part_out,
    heat_out,
):
    """Take part in drawing one picture; gives 1 if there was too little room.

    Then `found` tells what is needed, and nothing has been drawn.
    """
    step = at.TEAM_STEP
    total = frame[at.VERTEX_COUNT]
    pieces_of_work = frame[at.VERTEX_CHUNKS]
    while True:
        work = claim(team, at.NEXT_VERTEX * step)
        if work >= pieces_of_work:
            break
        place_vertices(
            work * total // pieces_of_work, (work + 1) * total // pieces_of_work,
            view, frame, items, looks, lights, screen, lit,
        )  # fmt: skip
        claim(team, at.DONE_VERTEX * step)
    while watch(team, at.DONE_VERTEX * step) < pieces_of_work:
        pass
    while True:
        work = claim(team, at.NEXT_CHUNK * step)
        if work >= len(chunks):
            break
        fill_bins(
            work, view, frame, items, looks, lines, widths, segments, chunks, order,
            screen, pieces, sources, refs, starts, lists, found,
        )  # fmt: skip
        claim(team, at.DONE_CHUNK * step)
    while watch(team, at.DONE_CHUNK * step) < len(chunks):
        pass
    for chunk in range(len(chunks)):
        if (
            found[chunk, at.FOUND_REFS] > frame[at.REF_ROOM]
            or found[chunk, at.FOUND_LIST] > frame[at.LIST_ROOM]
            or found[chunk, at.FOUND_PIECES] > frame[at.PIECE_ROOM]
        ):
            return 1
    thread = claim(team, at.NEXT_THREAD * step)
    while True:
        tile = claim(team, at.NEXT_TILE * step)
        if tile >= frame[at.TILES_X] * frame[at.TILES_Y]:
            break
        draw_tile(
            tile, frame, items, looks, lines, textures, lights, chunks, patterns, ranks,
            starts, lists, behind, screen, lit, pieces, sources, to_srgb,
            floats[thread], ints[thread], passed[thread], pixels, depth_out, normal_out,
            part_out, heat_out,
        )  # fmt: skip
    return 0
