"""One tile: who is nearest at each sample, and lists of pixels to be shaded.

Nothing is shaded here. Opaque triangles only leave their number where they are nearest;
then each pixel becomes an entry for every triangle that has samples of it, mostly one.
Entries of blended triangles follow in order.
"""

from __future__ import annotations

import numpy as np

from flexor.draw.raster import kernel_layout as at
from flexor.draw.raster.kernel_cover import cover, sample_offset, slopes
from flexor.draw.raster.kernel_refs import corners_of, nobody, own
from flexor.maths.kernel import inline, jit
from flexor.maths.kernel_lanes import put, take

F = np.float32


@inline
def clockwise(x0, y0, d0, x1, y1, d1, x2, y2, d2):
    """Corners and depths in the order that `cover` wants."""
    if (x1 - x0) * (y2 - y0) < (x2 - x0) * (y1 - y0):
        return (x0, y0, x2, y2, x1, y1), (d0, d2, d1)
    return (x0, y0, x1, y1, x2, y2), (d0, d1, d2)


@inline
def place_of(ref, frame, items, owner, screen, pieces, sources, ranks):
    """A ref's element, its owner, its corners and depths."""
    triangles = frame[at.TRIANGLE_COUNT]
    element = ref
    if ref >= triangles:
        element = np.int64(sources[ref - triangles])
    if element < triangles:
        owner = own(items, element, owner)
    if ref >= triangles:
        row = pieces[ref - triangles]
        spots, depths = clockwise(
            np.int64(row[0]), np.int64(row[1]), row[3],
            np.int64(row[4]), np.int64(row[5]), row[7],
            np.int64(row[8]), np.int64(row[9]), row[11],
        )  # fmt: skip
    else:
        a, b, c = corners_of(items, element, owner)
        i, j, k = 4 * (owner[3] + a), 4 * (owner[3] + b), 4 * (owner[3] + c)
        spots, depths = clockwise(
            np.int64(take(screen, i)), np.int64(take(screen, i + 1)),
            take(screen, i + 3),
            np.int64(take(screen, j)), np.int64(take(screen, j + 1)),
            take(screen, j + 3),
            np.int64(take(screen, k)), np.int64(take(screen, k + 1)),
            take(screen, k + 3),
        )  # fmt: skip
    if frame[at.IS_SORTED]:
        rank = ranks[element]
        depths = (rank, rank, rank)
    return element, owner, spots, depths


@jit(
    "i8(i8, i8, i8[::1], i8[:, ::1], i8[:, ::1], f4[::1], f4[:, ::1], i4[::1],"
    " f4[::1], i4[::1], i4[:, ::1], i4[:, ::1], out f4[::1], out i4[::1])"
)
def keep_nearest(
    tile,
    queue,
    frame,
    items,
    chunks,
    screen,
    pieces,
    sources,
    ranks,
    patterns,
    starts,
    lists,
    depths,
    marks,
):
    """Draw the opaque refs of a tile into `depths` and `marks`.

    Those whose alpha must be looked up are left out; gives their number.
    """
    samples = frame[at.SAMPLES]
    left = tile % frame[at.TILES_X] * at.TILE_W
    top = tile // frame[at.TILES_X] * at.TILE_H
    right = min(left + at.TILE_W, frame[at.WIDTH])
    bottom = min(top + at.TILE_H, frame[at.HEIGHT])
    triangles = frame[at.TRIANGLE_COUNT]
    owner = nobody()
    later = 0
    for chunk in range(len(chunks)):
        if chunks[chunk, at.CHUNK_QUEUE] != queue:
            continue
        for i in range(starts[chunk, tile], starts[chunk, tile + 1]):
            ref = np.int64(lists[chunk, i])
            element, owner, spots, near = place_of(
                ref, frame, items, owner, screen, pieces, sources, ranks
            )
            pattern = np.int64(-1)
            if element < triangles:
                if items[owner[0], at.ALPHA] == at.MASK:
                    later += 1
                    continue
                pattern = items[owner[0], at.PATTERN]
            cover(
                spots, near, left, top, right, bottom, samples, pattern, patterns,
                ref, depths, marks, True,
            )  # fmt: skip
    return later


@inline
def add_entry(entries, count, ref, pixel, length, bits):
    put(entries, 4 * count, np.int32(ref))
    put(entries, 4 * count + 1, np.int32(pixel))
    put(entries, 4 * count + 2, np.int32(length))
    put(entries, 4 * count + 3, np.int32(bits))
    return count + 1


@inline
def _list_mixed(pixel, a, b, c, d, count, entries, colours):
    """Entries for a pixel whose four samples do not have the same winner."""
    free = (a < 0) + (b < 0) + (c < 0) + (d < 0)
    kept = F(0.25) * F(free)
    for k in range(4):
        put(colours, 4 * pixel + k, take(colours, 4 * pixel + k) * kept)
    if a >= 0:
        bits = 1 | (b == a) << 1 | (c == a) << 2 | (d == a) << 3
        count = add_entry(entries, count, a, pixel, 1, bits)
    if b >= 0 and b != a:
        bits = 2 | (c == b) << 2 | (d == b) << 3
        count = add_entry(entries, count, b, pixel, 1, bits)
    if c >= 0 and c != a and c != b:
        count = add_entry(entries, count, c, pixel, 1, 4 | (d == c) << 3)
    if d >= 0 and d != a and d != b and d != c:
        count = add_entry(entries, count, d, pixel, 1, 8)
    return count


@jit("i8(i8, i8, i8, i4[::1], out i4[::1], out f4[::1])")
def list_opaque(width, height, samples, marks, entries, colours):
    """Entries for the winners of a tile; gives their number.

    A pixel with several winners makes room for them in `colours` (pixels * 4): what
    was there keeps the share of the samples that nothing covers.
    """
    count = 0
    plane = at.PLANE
    for row in range(height):
        place = row * at.STRIDE
        column = 0
        while column < width:
            ref = take(marks, place + column)
            is_one = True
            if samples > 1:
                b = take(marks, plane + place + column)
                c = take(marks, 2 * plane + place + column)
                d = take(marks, 3 * plane + place + column)
                is_one = ref == b and ref == c and ref == d
                if not is_one:
                    count = _list_mixed(
                        row * at.TILE_W + column, ref, b, c, d, count, entries, colours
                    )
                    column += 1
                    continue
            begin = column
            column += 1
            if ref < 0:
                continue
            end = min(begin + at.LONGEST_ENTRY, width)
            while column < end:
                spot = place + column
                if take(marks, spot) != ref:
                    break
                if samples > 1 and not (
                    take(marks, plane + spot) == ref
                    and take(marks, 2 * plane + spot) == ref
                    and take(marks, 3 * plane + spot) == ref
                ):
                    break
                column += 1
            length = column - begin
            count = add_entry(entries, count, ref, row * at.TILE_W + begin, length, 15)
    return count


@jit(
    "i8(i8, i8, i8[::1], i8[:, ::1], f4[::1], f4[:, ::1], i4[::1], f4[::1], i4[::1],"
    " f4[::1], i8, out i4[::1], out i4[::1])"
)
def list_seen(
    ref,
    tile,
    frame,
    items,
    screen,
    pieces,
    sources,
    ranks,
    patterns,
    depths,
    count,
    bits,
    entries,
):
    """Add entries for the pixels of one ref that nothing opaque hides.

    `bits` (a plane) is zero before and after. Gives the new number of entries, of which
    there must be room for a whole tile more.
    """
    samples = frame[at.SAMPLES]
    left = tile % frame[at.TILES_X] * at.TILE_W
    top = tile // frame[at.TILES_X] * at.TILE_H
    right = min(left + at.TILE_W, frame[at.WIDTH])
    bottom = min(top + at.TILE_H, frame[at.HEIGHT])
    element, owner, spots, near = place_of(
        ref, frame, items, nobody(), screen, pieces, sources, ranks
    )
    pattern = np.int64(-1)
    if element < frame[at.TRIANGLE_COUNT]:
        pattern = items[owner[0], at.PATTERN]
    cover(
        spots, near, left, top, right, bottom, samples, pattern, patterns, ref,
        depths, bits, False,
    )  # fmt: skip
    full = 15 if samples > 1 else 1
    x0, y0, x1, y1, x2, y2 = spots
    first_x = max((min(x0, min(x1, x2)) >> 8) - 1, left)
    last_x = min((max(x0, max(x1, x2)) >> 8) + 1, right - 1)
    first_y = max((min(y0, min(y1, y2)) >> 8) - 1, top)
    last_y = min((max(y0, max(y1, y2)) >> 8) + 1, bottom - 1)
    for y in range(first_y, last_y + 1):
        place = (y - top) * at.STRIDE - left
        pixel = (y - top) * at.TILE_W - left
        run = 0
        for x in range(first_x, last_x + 1):
            here = bits[place + x]
            bits[place + x] = 0
            if run and (here != full or run == at.LONGEST_ENTRY):
                count = add_entry(entries, count, ref, pixel + x - run, run, 15)
                run = 0
            if here == full:
                run += 1
            elif here:
                count = add_entry(entries, count, ref, pixel + x, 1, here)
        if run:
            count = add_entry(entries, count, ref, pixel + last_x + 1 - run, run, 15)
    # Eight pixels at a time may have run over the end of the last row's part.
    for y in range(first_y, last_y + 1):
        place = (y - top) * at.STRIDE - left
        for x in range(last_x + 1, min(last_x + 9, left + at.STRIDE)):
            bits[place + x] = 0
    return count


@inline
def _keep_one(
    ref, x, y, left, top, sample, samples, spots, near, depths, marks
):  # fmt: skip
    """One pixel of a triangle at one sample, which it is known to cover."""
    x0, y0, x1, y1, x2, y2 = spots
    d0, d1, d2 = near
    slope_x, slope_y = slopes(spots, near)
    move_x, move_y = sample_offset(sample, samples)
    depth = (
        d0
        + slope_x * F(x * 256 + 128 + move_x - x0) * F(1 / 256)
        + slope_y * F(y * 256 + 128 + move_y - y0) * F(1 / 256)
    )
    depth = min(max(depth, min(d0, min(d1, d2))), max(d0, max(d1, d2)))
    spot = sample * at.PLANE + (y - top) * at.STRIDE + x - left
    if depth > depths[spot]:
        depths[spot] = depth
        marks[spot] = np.int32(ref)


@jit(
    "void(i4[::1], i8, i8, f4[::1], f4[:, ::1], i4[::1], f4[::1], i8[::1],"
    " i8[:, ::1], u1[::1], out f4[::1], out i4[::1])"
)
def keep_passed(
    entries,
    count,
    tile,
    screen,
    pieces,
    sources,
    ranks,
    frame,
    items,
    passed,
    depths,
    marks,
):
    """Put the entries' pixels whose alpha is high enough among the nearest.

    passed: one for each pixel of each entry, in order.
    """
    samples = frame[at.SAMPLES]
    left = tile % frame[at.TILES_X] * at.TILE_W
    top = tile // frame[at.TILES_X] * at.TILE_H
    number = 0
    owner = nobody()
    for i in range(count):
        ref, pixel = np.int64(entries[4 * i]), np.int64(entries[4 * i + 1])
        length, bits = entries[4 * i + 2], entries[4 * i + 3]
        element, owner, spots, near = place_of(
            ref, frame, items, owner, screen, pieces, sources, ranks
        )
        x = left + pixel % at.TILE_W
        y = top + pixel // at.TILE_W
        for k in range(length):
            if passed[number]:
                for sample in range(samples):
                    if bits >> sample & 1:
                        _keep_one(
                            ref, x + k, y, left, top, sample, samples, spots, near,
                            depths, marks,
                        )  # fmt: skip
            number += 1
