"""A whole picture in one call, which every thread of the team makes.

First all vertices are placed, in chunks; when the last is done, the stream is sorted
into tiles, in chunks; when the last is done, tiles are drawn. Whoever is free takes the
next; a thread that comes late finds what is left. No two write the same place, so the
picture does not depend on who did what.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from flexor.draw.raster import layout as at
from flexor.draw.raster.kernels.backdrop import fill_backdrop
from flexor.draw.raster.kernels.bin import fill_bins
from flexor.draw.raster.kernels.buffers import fill_buffers
from flexor.draw.raster.kernels.pixels import join_samples
from flexor.draw.raster.kernels.refs import tile_box
from flexor.draw.raster.kernels.shade import shade
from flexor.draw.raster.kernels.tile import keep_nearest, make_room
from flexor.draw.raster.kernels.vertices import place_vertices
from flexor.draw.raster.layout import CUT_ROOM, Picture, Scene, Scratch, Space
from flexor.maths.kernels.jit import inline, jit, part
from flexor.maths.kernels.lanes import make4, put, store4, take
from flexor.maths.kernels.numbers import float32, int32, int64, uint32
from flexor.maths.kernels.team import claim, watch

if TYPE_CHECKING:
    from flexor.arrays import Bytes, Floats, Ints, Longs, Masks

F = float32
TOP = 4095.0  # last row of the table of sRGB bytes


@inline
def count_refs(tile: int, queue: int, chunks: Longs, starts: Ints) -> int:
    """How many refs a tile has in one queue, or in all (-1)."""
    count = 0
    for chunk in range(len(chunks)):
        if queue < 0 or chunks[chunk, at.CHUNK_QUEUE] == queue:
            count += starts[chunk, tile + 1] - starts[chunk, tile]
    return count


@part
def encode(
    tile: int,
    frame: Longs,
    rows: Ints,
    to_srgb: Bytes,
    colours: Floats,
    is_empty: bool,
    pixels: Masks,
) -> None:
    """Linear colours times alpha to sRGB bytes with straight alpha.

    rows: first and last column that was drawn in each row; the rest is background, or
    a backdrop that is there.
    """
    left, top, right, bottom = tile_box(tile, frame)
    width, height = right - left, bottom - top
    background = uint32(frame[at.BACKGROUND])
    for row in range(height):
        begin = (top + row) * frame[at.WIDTH] + left
        if frame[at.BACKDROP] == 0:
            pixels[begin : begin + width] = background
        if is_empty:
            continue
        for column in range(take(rows, 2 * row), take(rows, 2 * row + 1)):
            place = 4 * (row * at.TILE_W + column)
            red, green = take(colours, place), take(colours, place + 1)
            blue, alpha = take(colours, place + 2), take(colours, place + 3)
            opaque = uint32(255)
            if alpha < F(0.9999):
                opaque = uint32(alpha * F(255) + F(0.5))
                part = F(1) / max(alpha, F(1e-6))
                red, green = min(red * part, F(1)), min(green * part, F(1))
                blue = min(blue * part, F(1))
            r = uint32(take(to_srgb, int64(red * F(TOP) + F(0.5))))
            g = uint32(take(to_srgb, int64(green * F(TOP) + F(0.5))))
            b = uint32(take(to_srgb, int64(blue * F(TOP) + F(0.5))))
            put(
                pixels,
                begin + column,
                r | g << uint32(8) | b << uint32(16) | opaque << uint32(24),
            )


@part
def draw_tile(
    tile: int, scene: Scene, space: Space, floats: Floats, ints: Ints, picture: Picture
) -> None:
    """One tile from its refs to its pixels. floats, ints: the thread's scratch."""
    frame, chunks, starts = scene.frame, scene.chunks, space.starts
    behind, samples = scene.behind, scene.frame[at.SAMPLES]
    left, top, right, bottom = tile_box(tile, frame)
    depths = floats[: 4 * at.PLANE]
    colours = floats[4 * at.PLANE : -at.WORK_FLOATS]
    marks = ints[: 4 * at.PLANE]
    rows = ints[6 * at.PLANE : 6 * at.PLANE + 2 * at.TILE_H]
    split = ints[6 * at.PLANE + 2 * at.TILE_H : -at.LISTED - at.PLACES]
    scratch = Scratch(
        depths,
        colours,
        floats[-at.WORK_FLOATS :],
        marks,
        ints[4 * at.PLANE : 5 * at.PLANE],
        ints[5 * at.PLANE : 6 * at.PLANE],
        rows,
        split,
        ints[-at.LISTED - at.PLACES : -at.PLACES],
        ints[-at.PLACES :],
    )
    is_empty = count_refs(tile, -1, chunks, starts) == 0
    if not is_empty:
        back = make4(behind[0], behind[1], behind[2], behind[3])
        for pixel in range(at.TILE_W * at.TILE_H):
            store4(colours, 4 * pixel, back)
        for row in range(at.TILE_H):
            rows[2 * row], rows[2 * row + 1] = at.TILE_W, 0
    has_backdrop = frame[at.BACKDROP] != 0
    if is_empty and has_backdrop:
        fill_backdrop(tile, scene, True, False, marks, colours, picture)
    for layer in range(2):
        opaque = count_refs(tile, 2 * layer, chunks, starts)
        blended = count_refs(tile, 2 * layer + 1, chunks, starts)
        has_buffers = layer == 0 and frame[at.HAS_BUFFERS] != 0
        if opaque + blended > 0 or has_buffers:
            depths[: samples * at.PLANE] = F(-np.inf)
            marks[: samples * at.PLANE] = int32(-1)
        if opaque > 0:
            keep_nearest(tile, 2 * layer, scene, space, scratch)
        if layer == 0 and has_backdrop and not is_empty:
            fill_backdrop(tile, scene, False, opaque > 0, marks, colours, picture)
        if opaque > 0:
            if samples > 1:
                make_room(right - left, bottom - top, marks, colours)
        if has_buffers:
            fill_buffers(tile, scene, space, scratch, picture)
        for queue in range(2 * layer, 2 * layer + 2):
            if opaque > 0 if queue % 2 == 0 else blended > 0:
                shade(tile, queue, scene, space, scratch)
        if blended > 0 and samples > 1:
            join_samples(split, colours)
    encode(tile, frame, rows, scene.to_srgb, colours, is_empty, picture.pixels)


@jit("i8(Scene, Space, Picture)")
def draw_frame(scene: Scene, space: Space, picture: Picture) -> int:
    """Take part in drawing one picture; gives 1 if there was too little room.

    Then `found` tells what is needed, and nothing has been drawn.
    """
    frame, team, found = scene.frame, space.team, space.found
    step = at.TEAM_STEP
    total = frame[at.VERTEX_COUNT]
    pieces_of_work = frame[at.VERTEX_CHUNKS]
    while True:
        work = claim(team, at.NEXT_VERTEX * step)
        if work >= pieces_of_work:
            break
        place_vertices(
            work * total // pieces_of_work, (work + 1) * total // pieces_of_work,
            scene.camera, frame, scene.items, scene.lights, space.screen, space.lit,
        )  # fmt: skip
        claim(team, at.DONE_VERTEX * step)
    while watch(team, at.DONE_VERTEX * step) < pieces_of_work:
        pass
    chunks = len(scene.chunks)
    while True:
        work = claim(team, at.NEXT_CHUNK * step)
        if work >= chunks:
            break
        room = space.cuts[work * CUT_ROOM : (work + 1) * CUT_ROOM]
        fill_bins(work, scene, space, room)
        claim(team, at.DONE_CHUNK * step)
    while watch(team, at.DONE_CHUNK * step) < chunks:
        pass
    for chunk in range(chunks):
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
        draw_tile(tile, scene, space, space.floats[thread], space.ints[thread], picture)
    return 0
