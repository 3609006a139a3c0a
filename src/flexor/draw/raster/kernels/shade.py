"""The colour of pixels, triangle by triangle.

What a triangle needs is fetched once; then each of its pixels that is seen finds its
place in the triangle, and everything else follows from that.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from flexor.draw.raster import layout as at
from flexor.draw.raster.kernels.cover import box_of, clockwise, cover
from flexor.draw.raster.kernels.eight import (
    LIT_BY_FACE,
    LIT_BY_PIXEL,
    LIT_BY_VERTEX,
    UNLIT,
    has_even_light,
    light_eight,
    mix8,
    places8,
    uncut8,
)
from flexor.draw.raster.kernels.pixels import (
    list_pixels,
    note_moves,
    put_colour,
    put_pixel,
    spot_of,
)
from flexor.draw.raster.kernels.place import (
    Spread,
    cut_values,
    detail_at,
    is_face_flat,
    mix,
    rates_of,
    spread_of,
    texcoords_of,
)
from flexor.draw.raster.kernels.refs import (
    FIRST_OF,
    INSTANCE_OF,
    OF_ITEM,
    OF_LOOK,
    Corners,
    Face,
    Owner,
    corner_rows,
    corners_of,
    element_of,
    find_row,
    nobody,
    own,
    tile_box,
)
from flexor.draw.raster.kernels.texture import (
    FULL,
    Levels,
    levels_of,
    look_up,
    prepare8,
    texel_colour,
    wrapped8,
)
from flexor.draw.raster.layout import Scene, Scratch, Space
from flexor.maths.kernels.borrow import floats_at, words_at
from flexor.maths.kernels.ints import (
    as_floats8,
    load_ints8,
    splat_ints8,
)
from flexor.maths.kernels.jit import inline, part
from flexor.maths.kernels.lanes import (
    fma4,
    fma8,
    load4,
    load8,
    make4,
    splat4,
    splat8,
    spread4,
    store8,
    take,
)
from flexor.maths.kernels.numbers import float32, int64

if TYPE_CHECKING:
    from flexor.arrays import Floats, Ints, Longs, Words

F = float32
# Level of detail is looked at again after so many pixels.
DETAIL_STEP = 16


@inline
def line_colour(
    element: int, frame: Longs, looks: Floats, items: Longs, lines: Longs
) -> Any:
    """Colour of an edge or line."""
    number = element - frame[at.TRIANGLE_COUNT]
    if number < frame[at.EDGE_COUNT]:
        row = find_row(items, at.ITEM_INTS, at.FIRST_EDGE, number)
        return load4(looks, row * at.ITEM_FLOATS + at.STROKE_COLOUR)
    number -= frame[at.EDGE_COUNT]
    row = find_row(lines, at.LINE_INTS, at.FIRST_LINE, number) * at.LINE_INTS
    step = take(lines, row + at.LINE_STEP)
    values = floats_at(
        take(lines, row + at.LINE_COLOURS), 4 * take(lines, row + at.LINES)
    )
    return load4(values, step * (number - take(lines, row + at.FIRST_LINE)))


@inline
def tint_of(items: Longs, looks: Floats, owner: Owner) -> Any:
    """The colour that all of an instance is multiplied by."""
    base = load4(looks, owner[OF_LOOK] + at.COLOUR)
    where = take(items, owner[OF_ITEM] + at.TINTS)
    if where:
        tints = floats_at(where, 4 * take(items, owner[OF_ITEM] + at.INSTANCES))
        base = base * load4(tints, 4 * owner[INSTANCE_OF])
    return base


@inline
def three(values: Floats, a: int, b: int, c: int) -> tuple[Any, Any, Any]:
    """Four numbers at the first corner, and how those of the others differ."""
    at_a = load4(values, 4 * a)
    return at_a, load4(values, 4 * b) - at_a, load4(values, 4 * c) - at_a


@inline
def colours_of(items: Longs, item: int, a: int, b: int, c: int) -> tuple[Any, Any, Any]:
    """Vertex colours of three corners; white if there are none."""
    where = take(items, item + at.COLOURS)
    if where == 0:
        return splat4(F(1)), splat4(F(0)), splat4(F(0))
    return three(floats_at(where, 4 * take(items, item + at.VERTICES)), a, b, c)


@inline
def lit_of(
    items: Longs, owner: Owner, is_back: bool, lit: Floats, a: int, b: int, c: int
) -> tuple[Any, Any, Any]:
    """Light that was found at three vertices."""
    item = owner[OF_ITEM]
    vertices = take(items, item + at.VERTICES)
    row = take(items, item + at.FIRST_LIT) + owner[INSTANCE_OF] * vertices
    if is_back:
        row += vertices * take(items, item + at.INSTANCES)
    return three(lit, row + a, row + b, row + c)


@inline
def light_mode(items: Longs, owner: Owner, element: int) -> int:
    """How a triangle is lit."""
    shading = take(items, owner[OF_ITEM] + at.SHADING)
    if shading == at.UNLIT:
        return UNLIT
    if is_face_flat(items, owner[OF_ITEM], element - owner[FIRST_OF]):
        return LIT_BY_FACE
    return LIT_BY_VERTEX if shading == at.BY_VERTEX else LIT_BY_PIXEL


@inline
def texture_colour(
    textures: Longs, texture: int, levels: Levels, u: float, v: float
) -> Any:
    """The colour of a texture at one place: see `look_up`."""
    row = texture * at.TEXTURE_INTS
    texels = words_at(
        take(textures, row + at.TEXELS), take(textures, row + at.TEXEL_COUNT)
    )
    wrap_s, wrap_t = take(textures, row + at.WRAP_S), take(textures, row + at.WRAP_T)
    return look_up(texels, levels, wrap_s, wrap_t, u, v)


@inline
def is_far(pixel: int, other: int, rows: int) -> bool:
    """Whether two pixels of a tile are so far apart that detail may differ."""
    across = abs((pixel & (at.TILE_W - 1)) - (other & (at.TILE_W - 1)))
    down = abs((pixel >> at.TILE_BITS) - (other >> at.TILE_BITS))
    return across > DETAIL_STEP or down > rows


@inline
def with_glow(
    colour: Any,
    shine: Any,
    textures: Longs,
    texture: int,
    spread: Spread,
    us: Corners,
    vs: Corners,
    work: Floats,
    lane: int,
) -> Any:
    """A colour and the light of its own that one of eight places has, times that of a
    texture, level of detail and all; texture: -1 for none.
    """
    if texture < 0:
        return colour + shine
    one, two = take(work, at.ONE + lane), take(work, at.TWO + lane)
    u, v = mix(us, one, two), mix(vs, one, two)
    distance = take(work, at.DISTANCE + lane)
    detail = detail_at(textures, texture, spread, u, v, distance)
    levels = levels_of(textures, texture, detail)
    return fma4(shine, texture_colour(textures, texture, levels, u, v), colour)


@inline
def lane_light(work: Floats, lane: int) -> Any:
    """The light at one of eight places."""
    return make4(
        take(work, at.RED + lane), take(work, at.GREEN + lane),
        take(work, at.BLUE + lane), F(1),
    )  # fmt: skip


@inline
def offsets8(
    group: int,
    count: int,
    is_whole: bool,
    off_x: float,
    off_y: float,
    listed: Ints,
    bits: Ints,
    work: Floats,
) -> tuple[Any, Any]:
    """How far eight listed pixels, or their samples, are from a triangle's first
    corner, in 1/256 pixel; off_x, off_y: how far the tile's first pixel is.
    """
    pixels = load_ints8(listed, group)
    columns = pixels & splat_ints8(at.TILE_W - 1)
    across = fma8(as_floats8(columns), splat8(F(256)), splat8(off_x))
    lines = as_floats8(pixels - columns)
    down = fma8(lines, splat8(F(256 / at.TILE_W)), splat8(off_y))
    if not is_whole:
        note_moves(group, count, listed, bits, work)
        across = across + load8(work, at.MOVE_X)
        down = down + load8(work, at.MOVE_Y)
    return across, down


@inline
def put_plain(
    group: int,
    count: int,
    base: Any,
    shine: Any,
    has_lanes: bool,
    texels: Words,
    levels: Levels,
    listed: Ints,
    places: Ints,
    work: Floats,
    colours: Floats,
) -> None:
    """Write pixels of a texture in one tone; has_lanes: each has light of its own."""
    for lane in range(count):
        colour = base * texel_colour(texels, levels, places, work, lane)
        if has_lanes:
            colour = colour * lane_light(work, lane)
        to = 4 * int64(take(listed, group + lane))
        put_colour(colours, to, colour + shine, F(1))


@inline
def shade_triangle(
    face: Face,
    total: int,
    is_whole: bool,
    tile_x: int,
    tile_y: int,
    is_blend: bool,
    full: int,
    has_lamps: bool,
    scene: Scene,
    space: Space,
    bits: Ints,
    scratch: Scratch,
) -> None:
    """Shade the listed pixels of one triangle, eight at a time."""
    ref, element, owner, nears = face.ref, face.element, face.owner, face.nears
    a, b, c, xs, ys = face.a, face.b, face.c, face.xs, face.ys
    items, looks, textures = scene.items, scene.looks, scene.textures
    pieces, triangles = space.pieces, scene.frame[at.TRIANGLE_COUNT]
    work, listed, places = scratch.work, scratch.listed, scratch.places
    split, colours = scratch.split, scratch.colours
    item, rates = owner[OF_ITEM], rates_of(xs, ys)
    base, mode = tint_of(items, looks, owner), light_mode(items, owner, element)
    has_colours = take(items, item + at.COLOURS) != 0
    ca, cb, cc = colours_of(items, item, a, b, c)
    la, lb, lc = ca, cb, cc
    if mode == LIT_BY_VERTEX:
        la, lb, lc = lit_of(items, owner, rates[4], space.lit, a, b, c)
    i = owner[OF_LOOK] + at.GLOW
    shine = make4(take(looks, i), take(looks, i + 1), take(looks, i + 2), F(0))
    texture, glow = take(items, item + at.TEXTURE), take(items, item + at.GLOW_TEXTURE)
    if texture >= 0:
        base = base * splat4(F(FULL))
    row = max(texture, 0) * at.TEXTURE_INTS
    texels = words_at(
        take(textures, row + at.TEXELS), take(textures, row + at.TEXEL_COUNT)
    )
    wrap_s, wrap_t = take(textures, row + at.WRAP_S), take(textures, row + at.WRAP_T)
    none = int64(0)
    levels = (none, none, none, none, none, none, F(0), False)
    us, vs = texcoords_of(items, looks, owner, a, b, c)
    spread = spread_of(
        cut_values(ref, triangles, pieces, us),
        cut_values(ref, triangles, pieces, vs),
        nears,
        rates,
    )
    is_even = has_even_light(items, owner, mode, has_lamps, a, b, c)
    has_lanes = mode >= LIT_BY_PIXEL and not is_even
    # What most pixels are: all of it is seen, and no corner says anything of colour.
    is_plain = (
        texture >= 0 and glow < 0 and is_whole and not is_blend and not has_colours
        and mode != LIT_BY_VERTEX
    )  # fmt: skip
    detail_from = int64(-1000000)  # the pixel where level of detail was taken
    # It changes most from row to row, on large triangles toward a horizon.
    tall = max(ys[0], max(ys[1], ys[2])) - min(ys[0], min(ys[1], ys[2]))
    detail_rows = 1 if tall > F(DETAIL_STEP * at.SUB) else DETAIL_STEP
    off_x = F(tile_x * 256 + 128) - xs[0]
    off_y = F(tile_y * 256 + 128) - ys[0]
    for group in range(0, total, 8):
        count = min(total - group, 8)
        across, down = offsets8(
            group, count, is_whole, off_x, off_y, listed, bits, work
        )
        first = fma8(across, splat8(rates[0]), down * splat8(rates[1]))
        second = fma8(across, splat8(rates[2]), down * splat8(rates[3]))
        one, two, distance = places8(first, second, nears)
        one, two = uncut8(ref, triangles, pieces, one, two)
        store8(work, at.ONE, one)
        store8(work, at.TWO, two)
        store8(work, at.DISTANCE, distance)
        if texture >= 0:
            pixel = int64(take(listed, group))
            if is_far(pixel, detail_from, detail_rows):
                detail_from = pixel
                l_one, l_two = take(work, at.ONE), take(work, at.TWO)
                detail = detail_at(
                    textures, texture, spread, mix(us, l_one, l_two),
                    mix(vs, l_one, l_two), take(work, at.DISTANCE),
                )  # fmt: skip
                levels = levels_of(textures, texture, detail)
            u = wrapped8(mix8(us, one, two), wrap_s)
            v = wrapped8(mix8(vs, one, two), wrap_t)
            prepare8(u, v, levels, wrap_s, wrap_t, places, work)
        if mode >= LIT_BY_PIXEL and (group == 0 or not is_even):
            sign = F(-1) if rates[4] else F(1)
            light_eight(
                items, looks, owner, scene.lights, mode == LIT_BY_FACE, sign, has_lamps,
                a, b, c, one, two, work,
            )  # fmt: skip
            if is_even:
                base = base * lane_light(work, 0)
        if is_plain:
            put_plain(
                group, count, base, shine, has_lanes, texels, levels, listed, places,
                work, colours,
            )  # fmt: skip
            continue
        for lane in range(count):
            colour = base
            one4, two4 = spread4(work, at.ONE + lane), spread4(work, at.TWO + lane)
            if has_colours:
                colour = colour * fma4(cc, two4, fma4(cb, one4, ca))
            if texture >= 0:
                colour = colour * texel_colour(texels, levels, places, work, lane)
            if mode == LIT_BY_VERTEX:
                colour = colour * fma4(lc, two4, fma4(lb, one4, la))
            elif has_lanes:
                colour = colour * lane_light(work, lane)
            colour = with_glow(
                colour, shine, textures, glow, spread, us, vs, work, lane
            )
            pixel = int64(take(listed, group + lane))
            spot = spot_of(pixel)
            put_pixel(
                spot, pixel, colour, is_whole, is_blend, full, bits, split, colours
            )


@inline
def shade_line(
    total: int,
    is_whole: bool,
    colour: Any,
    is_blend: bool,
    full: int,
    bits: Ints,
    split: Ints,
    listed: Ints,
    colours: Floats,
) -> None:
    """Colour the listed pixels of a line."""
    for i in range(total):
        pixel = int64(take(listed, i))
        spot = spot_of(pixel)
        put_pixel(spot, pixel, colour, is_whole, is_blend, full, bits, split, colours)


@part
def shade(tile: int, queue: int, scene: Scene, space: Space, scratch: Scratch) -> None:
    """Shade the refs of one queue of a tile into `colours`: linear, times alpha.

    Of opaque refs the pixels that `marks` gives them; of blended ones, in their order,
    what no opaque one hides.
    """
    frame, items, chunks, ranks = scene.frame, scene.items, scene.chunks, scene.ranks
    starts, bits = space.starts, scratch.bits
    tile_x, tile_y, right, bottom = tile_box(tile, frame)
    samples, triangles = frame[at.SAMPLES], frame[at.TRIANGLE_COUNT]
    is_blend = queue % 2 == 1
    full = int64(1) if samples == 1 else int64(15)
    here = bits if is_blend else scratch.hits
    spread = 0 if samples == 1 else at.SPREAD
    has_lamps = False
    for row in range(0, len(scene.lights), at.LIGHT_FLOATS):
        has_lamps |= take(scene.lights, row + at.LIGHT_KIND) == F(at.POINT)
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
                pattern = take(items, owner[OF_ITEM] + at.PATTERN)
                a, b, c = corners_of(items, element, owner)
            xs, ys, nears, deep = corner_rows(
                ref, triangles, owner, a, b, c, space.screen, space.pieces
            )
            if is_blend and frame[at.IS_SORTED]:
                deep = (ranks[element], ranks[element], ranks[element])
            spots, near, area = clockwise(xs, ys, deep)
            box = box_of(spots, tile_x, tile_y, right, bottom, spread)
            if is_blend:
                cover(
                    spots, near, area, tile_x, tile_y, right, bottom, samples, pattern,
                    scene.patterns, ref, scratch.depths, bits, False,
                )  # fmt: skip
            total, is_whole = list_pixels(
                ref, box, tile_x, tile_y, samples, is_blend, scratch.marks, here,
                scratch.rows, scratch.listed,
            )  # fmt: skip
            if total == 0:
                continue
            if element < triangles:
                shade_triangle(
                    Face(ref, element, owner, a, b, c, xs, ys, nears), total, is_whole,
                    tile_x, tile_y, is_blend, full, has_lamps, scene, space, here,
                    scratch,
                )  # fmt: skip
            else:
                colour = line_colour(element, frame, scene.looks, items, scene.lines)
                shade_line(
                    total, is_whole, colour, is_blend, full, here, scratch.split,
                    scratch.listed, scratch.colours,
                )  # fmt: skip
