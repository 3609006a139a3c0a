"""Who is nearest at each sample of a tile. Nothing is shaded here."""

from __future__ import annotations

from typing import TYPE_CHECKING

from flexor.draw.raster import layout as at
from flexor.draw.raster.kernels.cover import (
    box_of,
    clockwise,
    cover,
    sample_offset,
    slopes,
)
from flexor.draw.raster.kernels.place import alpha_at
from flexor.draw.raster.kernels.refs import (
    OF_ITEM,
    OF_LOOK,
    Corners,
    Face,
    Spots,
    corner_rows,
    corners_of,
    element_of,
    nobody,
    own,
    tile_box,
)
from flexor.draw.raster.layout import Scene, Scratch, Space
from flexor.maths.kernels.jit import inline, part
from flexor.maths.kernels.lanes import put, take
from flexor.maths.kernels.numbers import float32, int32, int64

if TYPE_CHECKING:
    from flexor.arrays import Floats, Ints

F = float32


@inline
def _keep_pixel(
    ref: int,
    x: int,
    y: int,
    left: int,
    top: int,
    bits: int,
    samples: int,
    spots: Spots,
    near: Corners,
    area: int,
    depths: Floats,
    marks: Ints,
) -> None:
    """Put one pixel of a triangle among the nearest, at the samples in `bits`."""
    slope_x, slope_y = slopes(spots, near, area)
    least, most = (
        min(near[0], min(near[1], near[2])),
        max(near[0], max(near[1], near[2])),
    )
    for sample in range(samples):
        if bits >> sample & 1:
            move_x, move_y = sample_offset(sample, samples)
            across = F(x * 256 + 128 + move_x - spots[0])
            down = F(y * 256 + 128 + move_y - spots[1])
            depth = near[0] + (slope_x * across + slope_y * down) * F(1 / 256)
            depth = min(max(depth, least), most)
            spot = sample * at.PLANE + (y - top) * at.STRIDE + x - left
            if depth > take(depths, spot):
                put(depths, spot, depth)
                put(marks, spot, int32(ref))


@part
def keep_masked(
    ref: int, tile: int, scene: Scene, space: Space, scratch: Scratch
) -> None:
    """Put a triangle among the nearest where its alpha reaches the cutoff."""
    frame, items, looks, ranks = scene.frame, scene.items, scene.looks, scene.ranks
    pieces, depths, bits = space.pieces, scratch.depths, scratch.bits
    left, top, right, bottom = tile_box(tile, frame)
    triangles, samples = frame[at.TRIANGLE_COUNT], frame[at.SAMPLES]
    element = element_of(ref, triangles, space.sources)
    owner = own(items, element, nobody())
    a, b, c = corners_of(items, element, owner)
    xs, ys, nears, deep = corner_rows(
        ref, triangles, owner, a, b, c, space.screen, pieces
    )
    face = Face(ref, element, owner, a, b, c, xs, ys, nears)
    if frame[at.IS_SORTED]:
        deep = (ranks[element], ranks[element], ranks[element])
    spots, near, area = clockwise(xs, ys, deep)
    pattern = items[owner[OF_ITEM] + at.PATTERN]
    cover(
        spots, near, area, left, top, right, bottom, samples, pattern, scene.patterns,
        ref, depths, bits, False,
    )  # fmt: skip
    first_x, last_x, first_y, last_y = box_of(
        spots, left, top, right, bottom, at.SPREAD
    )
    for y in range(first_y, last_y + 1):
        for x in range(first_x, last_x + 1):
            spot = (y - top) * at.STRIDE + x - left
            here = int64(bits[spot])
            bits[spot] = 0
            if here:
                alpha = alpha_at(face, triangles, scene, pieces, x, y)
                if alpha >= looks[owner[OF_LOOK] + at.CUTOFF]:
                    _keep_pixel(
                        ref, x, y, left, top, here, samples, spots, near, area,
                        depths, scratch.marks,
                    )  # fmt: skip


@part
def keep_nearest(
    tile: int, queue: int, scene: Scene, space: Space, scratch: Scratch
) -> None:
    """Draw the opaque refs of a tile into `depths` and `marks`."""
    frame, items, chunks, ranks = scene.frame, scene.items, scene.chunks, scene.ranks
    screen, pieces, starts = space.screen, space.pieces, space.starts
    samples, triangles = frame[at.SAMPLES], frame[at.TRIANGLE_COUNT]
    left, top, right, bottom = tile_box(tile, frame)
    is_sorted = frame[at.IS_SORTED] != 0
    owner = nobody()
    for chunk in range(len(chunks)):
        if chunks[chunk, at.CHUNK_QUEUE] != queue:
            continue
        for i in range(starts[chunk, tile], starts[chunk, tile + 1]):
            ref = int64(space.lists[chunk, i])
            element = element_of(ref, triangles, space.sources)
            pattern, a, b, c = int64(-1), int64(0), int64(0), int64(0)
            if element < triangles:
                owner = own(items, element, owner)
                if take(items, owner[OF_ITEM] + at.ALPHA) == at.MASK:
                    keep_masked(ref, tile, scene, space, scratch)
                    continue
                pattern = take(items, owner[OF_ITEM] + at.PATTERN)
                a, b, c = corners_of(items, element, owner)
            xs, ys, _, deep = corner_rows(
                ref, triangles, owner, a, b, c, screen, pieces
            )
            if is_sorted:
                deep = (ranks[element], ranks[element], ranks[element])
            spots, near, area = clockwise(xs, ys, deep)
            cover(
                spots, near, area, left, top, right, bottom, samples, pattern,
                scene.patterns, ref, scratch.depths, scratch.marks, True,
            )  # fmt: skip


@part
def make_room(width: int, height: int, marks: Ints, colours: Floats) -> None:
    """Let each pixel keep the share of its four samples that nothing covers."""
    plane = at.PLANE
    for row in range(height):
        for column in range(width):
            spot = row * at.STRIDE + column
            a, b = take(marks, spot), take(marks, spot + plane)
            c, d = take(marks, spot + 2 * plane), take(marks, spot + 3 * plane)
            if (a & b & c & d) != (a | b | c | d):
                bare = int64(a < 0) + int64(b < 0)
                free = F(0.25) * F(bare + int64(c < 0) + int64(d < 0))
                to = 4 * (row * at.TILE_W + column)
                for k in range(4):
                    put(colours, to + k, take(colours, to + k) * free)
