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
from flexor.draw.raster.kernels.eight import mix8, places8, uncut8
from flexor.draw.raster.kernels.place import Skin, alpha_at, mix, skin_of
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
from flexor.draw.raster.kernels.texture import (
    FULL,
    prepare8,
    texel_alpha,
    wrapped8,
)
from flexor.draw.raster.layout import Scene, Scratch, Space
from flexor.maths.kernels.borrow import words_at
from flexor.maths.kernels.ints import equal8
from flexor.maths.kernels.jit import inline, part
from flexor.maths.kernels.lanes import fma8, put, ramp8, splat8, store8, take
from flexor.maths.kernels.numbers import float32, int32, int64

if TYPE_CHECKING:
    from flexor.arrays import Floats, Ints, Longs

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
    slope_x: float,
    slope_y: float,
    depths: Floats,
    marks: Ints,
) -> None:
    """Put one pixel of a triangle among the nearest, at the samples in `bits`."""
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


@inline
def _prepare(
    face: Face,
    skin: Skin,
    triangles: int,
    textures: Longs,
    pieces: Floats,
    x: int,
    y: int,
    scratch: Scratch,
) -> None:
    """Note for eight pixels to the right what their alpha is made of."""
    rates = skin.rates
    across = ramp8(F(x * 256 + 128) - face.xs[0], F(256))
    down = F(y * 256 + 128) - face.ys[0]
    one, two, _ = places8(
        fma8(across, splat8(rates[0]), splat8(down * rates[1])),
        fma8(across, splat8(rates[2]), splat8(down * rates[3])),
        face.nears,
    )
    one, two = uncut8(face.ref, triangles, pieces, one, two)
    store8(scratch.work, at.ONE, one)
    store8(scratch.work, at.TWO, two)
    row = skin.texture * at.TEXTURE_INTS
    wrap_s, wrap_t = take(textures, row + at.WRAP_S), take(textures, row + at.WRAP_T)
    u = wrapped8(mix8(skin.us, one, two), wrap_s)
    v = wrapped8(mix8(skin.vs, one, two), wrap_t)
    prepare8(u, v, skin.levels, wrap_s, wrap_t, scratch.places, scratch.work)


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
        spots, left, top, right, bottom, at.SPREAD if samples > 1 else 0
    )
    slope_x, slope_y = slopes(spots, near, area)
    skin = skin_of(face, triangles, scene, pieces)
    cutoff = take(looks, owner[OF_LOOK] + at.CUTOFF)
    is_quick = skin.texture >= 0 and not skin.has_detail
    row = max(skin.texture, 0) * at.TEXTURE_INTS
    texels = words_at(
        take(scene.textures, row + at.TEXELS),
        take(scene.textures, row + at.TEXEL_COUNT),
    )
    for y in range(first_y, last_y + 1):
        for x in range(first_x, last_x + 1, 8):
            spot = (y - top) * at.STRIDE + x - left
            if equal8(bits, spot, 0) == 255:
                continue
            if is_quick:
                _prepare(face, skin, triangles, scene.textures, pieces, x, y, scratch)
            for lane in range(min(last_x + 1 - x, 8)):
                here = int64(take(bits, spot + lane))
                if here == 0:
                    continue
                put(bits, spot + lane, int32(0))
                if is_quick:
                    alpha = skin.alpha * mix(
                        skin.alphas,
                        take(scratch.work, at.ONE + lane),
                        take(scratch.work, at.TWO + lane),
                    )
                    alpha *= F(FULL) * texel_alpha(
                        texels, scratch.places, scratch.work, lane
                    )
                else:
                    alpha = alpha_at(
                        face, skin, triangles, scene.textures, pieces, x + lane, y
                    )
                if alpha >= cutoff:
                    _keep_pixel(
                        ref, x + lane, y, left, top, here, samples, spots, near,
                        slope_x, slope_y, depths, scratch.marks,
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
