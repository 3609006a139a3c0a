"""The colour of pixels, from lists of who is seen where.

An entry is a run of pixels of one triangle in one row. What the run needs of the
triangle is fetched once; then each pixel finds its place in the triangle (the shares of
its second and third corner, with perspective) and everything else follows from that.
"""

from __future__ import annotations

import math

import numpy as np

from flexor.draw.raster import kernel_layout as at
from flexor.draw.raster.kernel_light import light
from flexor.draw.raster.kernel_refs import corners_of, find_row, nobody, own
from flexor.draw.raster.kernel_texture import half_log2, look_up
from flexor.maths.kernel import inline, jit
from flexor.maths.kernel_borrow import bytes_at, floats_at, words_at
from flexor.maths.kernel_lanes import (
    fma4,
    load4,
    make4,
    max4,
    min4,
    pick4,
    splat4,
    store4,
    take,
)

F = np.float32


@inline
def screen_of(ref, frame, items, element, owner, screen, pieces):
    """Corners of a ref: x and y, then 1/distance."""
    triangles = frame[at.TRIANGLE_COUNT]
    if ref >= triangles:
        row = pieces[ref - triangles]
        return (
            (row[0], row[1], row[4], row[5], row[8], row[9]),
            (row[2], row[6], row[10]),
        )
    a, b, c = corners_of(items, element, owner)
    i, j, k = 4 * (owner[3] + a), 4 * (owner[3] + b), 4 * (owner[3] + c)
    return (
        (
            take(screen, i), take(screen, i + 1), take(screen, j),
            take(screen, j + 1), take(screen, k), take(screen, k + 1),
        ),
        (take(screen, i + 2), take(screen, j + 2), take(screen, k + 2)),
    )  # fmt: skip


@inline
def planes_of(spots):
    """How the shares of the second and third corner grow, per 1/256 pixel."""
    x0, y0, x1, y1, x2, y2 = spots
    area = np.float64(x1 - x0) * np.float64(y2 - y0) - np.float64(x2 - x0) * np.float64(
        y1 - y0
    )
    unit = 1.0 / area
    return (
        F((y2 - y0) * unit), F((x0 - x2) * unit),
        F((y0 - y1) * unit), F((x1 - x0) * unit),
        area > 0,
    )  # fmt: skip


@inline
def middle_of(bits):
    """Mean place of samples from the pixel's centre, in 1/256 pixel."""
    if bits == 15:
        return F(0), F(0), F(1)
    x, y, n = 0, 0, 0
    if bits & 1:
        x, y, n = x - 32, y - 96, n + 1
    if bits & 2:
        x, y, n = x + 96, y - 32, n + 1
    if bits & 4:
        x, y, n = x - 96, y + 32, n + 1
    if bits & 8:
        x, y, n = x + 32, y + 96, n + 1
    return F(x) / F(n), F(y) / F(n), F(n) * F(0.25)


@inline
def shares(first, second, near):
    """Shares of the second and third corner with perspective, and the distance, from
    those on the screen.
    """
    distance = F(1) / (
        near[0] + first * (near[1] - near[0]) + second * (near[2] - near[0])
    )
    return first * near[1] * distance, second * near[2] * distance, distance


@inline
def uncut(ref, triangles, pieces, first, second):
    """Shares inside a piece as shares of the triangle that it was cut from."""
    if ref < triangles:
        return first, second
    row = pieces[ref - triangles]
    s = at.PIECE_SHARES
    zero = F(1) - first - second
    return (
        row[s] * zero + row[s + 2] * first + row[s + 4] * second,
        row[s + 1] * zero + row[s + 3] * first + row[s + 5] * second,
    )


@inline
def texcoords_of(item, look, a, b, c):
    """Texture coordinates of three vertices, moved by the look's transform."""
    if item[at.TEXCOORDS] == 0:
        zero = F(0)
        return (zero, zero, zero), (zero, zero, zero)
    coords = floats_at(item[at.TEXCOORDS], item[at.VERTICES] * 2)
    t = at.TRANSFORM
    ua, va = take(coords, 2 * a), take(coords, 2 * a + 1)
    ub, vb = take(coords, 2 * b), take(coords, 2 * b + 1)
    uc, vc = take(coords, 2 * c), take(coords, 2 * c + 1)
    return (
        (
            look[t] * ua + look[t + 1] * va + look[t + 2],
            look[t] * ub + look[t + 1] * vb + look[t + 2],
            look[t] * uc + look[t + 1] * vc + look[t + 2],
        ),
        (
            look[t + 3] * ua + look[t + 4] * va + look[t + 5],
            look[t + 3] * ub + look[t + 4] * vb + look[t + 5],
            look[t + 3] * uc + look[t + 4] * vc + look[t + 5],
        ),
    )


@inline
def detail_of(texture, us, vs, near, rates, u, v, distance):
    """Level of detail of a texture at a pixel of a whole triangle: how many texels of
    it one pixel takes, as a power of two.
    """
    first_x, first_y, second_x, second_y, _ = rates
    u1, u2 = us[1] * near[1] - us[0] * near[0], us[2] * near[2] - us[0] * near[0]
    v1, v2 = vs[1] * near[1] - vs[0] * near[0], vs[2] * near[2] - vs[0] * near[0]
    n1, n2 = near[1] - near[0], near[2] - near[0]
    width = F(texture[at.LEVEL_ROWS + 1]) * distance * F(at.SUB)
    height = F(texture[at.LEVEL_ROWS + 2]) * distance * F(at.SUB)
    near_x, near_y = first_x * n1 + second_x * n2, first_y * n1 + second_y * n2
    ux = (first_x * u1 + second_x * u2 - u * near_x) * width
    uy = (first_y * u1 + second_y * u2 - u * near_y) * width
    vx = (first_x * v1 + second_x * v2 - v * near_x) * height
    vy = (first_y * v1 + second_y * v2 - v * near_y) * height
    square = max(ux * ux + vx * vx, uy * uy + vy * vy)
    return half_log2(max(min(square, F(1e30)), F(1e-30)))


@inline
def details_of(
    texture, ref, triangles, pieces, us, vs, near, rates, u, v, distance
):  # fmt: skip
    """Level of detail of a texture at a pixel, also of a piece."""
    if ref < triangles:
        return detail_of(texture, us, vs, near, rates, u, v, distance)
    row = pieces[ref - triangles]
    s = at.PIECE_SHARES
    eu, fu, ev, fv = us[1] - us[0], us[2] - us[0], vs[1] - vs[0], vs[2] - vs[0]
    cut_us = (
        us[0] + eu * row[s] + fu * row[s + 1],
        us[0] + eu * row[s + 2] + fu * row[s + 3],
        us[0] + eu * row[s + 4] + fu * row[s + 5],
    )
    cut_vs = (
        vs[0] + ev * row[s] + fv * row[s + 1],
        vs[0] + ev * row[s + 2] + fv * row[s + 3],
        vs[0] + ev * row[s + 4] + fv * row[s + 5],
    )
    return detail_of(texture, cut_us, cut_vs, near, rates, u, v, distance)


@inline
def mix3(values, a, b, c, first, second):
    """One number of three, by shares of the second and third."""
    x = take(values, a)
    return x + (take(values, b) - x) * first + (take(values, c) - x) * second


@inline
def face_normal(p, a, b, c):
    ux, uy, uz = p[b] - p[a], p[b + 1] - p[a + 1], p[b + 2] - p[a + 2]
    vx, vy, vz = p[c] - p[a], p[c + 1] - p[a + 1], p[c + 2] - p[a + 2]
    return uy * vz - uz * vy, uz * vx - ux * vz, ux * vy - uy * vx


@inline
def normal_at(item, is_flat, sign, a, b, c, first, second):
    """The unit normal of an item's surface, turned by `sign`; a to c: rows of vertices
    among all instances.
    """
    total = item[at.VERTICES] * item[at.INSTANCES] * 3
    a, b, c = 3 * a, 3 * b, 3 * c
    if is_flat:
        positions = floats_at(item[at.POSITIONS], total)
        x, y, z = face_normal(positions, a, b, c)
    else:
        normals = floats_at(item[at.NORMALS], total)
        x = mix3(normals, a, b, c, first, second)
        y = mix3(normals, a + 1, b + 1, c + 1, first, second)
        z = mix3(normals, a + 2, b + 2, c + 2, first, second)
    square = x * x + y * y + z * z
    # Vertices that meet in a point have no normal.
    unit = sign / F(math.sqrt(square)) if square > F(1e-30) else F(0)
    return x * unit, y * unit, z * unit


@inline
def lit_pixel(item, look, lights, is_flat, sign, a, b, c, first, second):
    """Light at a pixel, for shading by pixel, by face and cel."""
    x, y, z = normal_at(item, is_flat, sign, a, b, c, first, second)
    p = floats_at(item[at.POSITIONS], item[at.VERTICES] * item[at.INSTANCES] * 3)
    bands = look[at.BANDS] if item[at.SHADING] == at.CEL else F(0)
    red, green, blue = light(
        lights,
        mix3(p, 3 * a, 3 * b, 3 * c, first, second),
        mix3(p, 3 * a + 1, 3 * b + 1, 3 * c + 1, first, second),
        mix3(p, 3 * a + 2, 3 * b + 2, 3 * c + 2, first, second),
        x, y, z, bands,
    )  # fmt: skip
    return make4(red, green, blue, F(1))


@inline
def is_face_flat(item, triangle):
    """Whether a triangle is shaded by its face."""
    if item[at.SHADING] == at.BY_FACE:
        return True
    if item[at.SMOOTH] == 0:
        return False
    return bytes_at(item[at.SMOOTH], item[at.FACES])[triangle] == 0


@inline
def put_colour(colours, to, colour, weight, is_blend):
    """Write a pixel: in place of what was there, added to it, or over it."""
    if is_blend:
        alpha = pick4(colour, 3) * weight
        colour = colour * splat4(alpha)
        kept = load4(colours, to) * splat4(F(1) - alpha)
        red, green, blue = pick4(colour, 0), pick4(colour, 1), pick4(colour, 2)
        store4(colours, to, kept + make4(red, green, blue, alpha))
    else:
        red, green, blue = pick4(colour, 0), pick4(colour, 1), pick4(colour, 2)
        colour = make4(red, green, blue, F(1))
        if weight < F(1):
            store4(colours, to, fma4(colour, splat4(weight), load4(colours, to)))
        else:
            store4(colours, to, colour)


@inline
def line_colour(element, frame, looks, items, lines):
    """Colour of an edge or line."""
    number = element - frame[at.TRIANGLE_COUNT]
    if number < frame[at.EDGE_COUNT]:
        row = find_row(items, at.FIRST_EDGE, number)
        k = at.STROKE_COLOUR
        return make4(
            looks[row, k], looks[row, k + 1], looks[row, k + 2], looks[row, k + 3]
        )
    number -= frame[at.EDGE_COUNT]
    row = find_row(lines, at.FIRST_LINE, number)
    step = lines[row, at.LINE_STEP]
    values = floats_at(lines[row, at.LINE_COLOURS], 4 * lines[row, at.LINES])
    return load4(values, step * (number - lines[row, at.FIRST_LINE]))


@jit(
    "void(i4[::1], i8, i8, i8, i8[::1], i8[:, ::1], f4[:, ::1], i8[:, ::1],"
    " i8[:, ::1], f4[:, ::1], f4[::1], f4[::1], f4[:, ::1], i4[::1], out f4[::1])"
)
def shade(
    entries,
    count,
    tile,
    is_blend,
    frame,
    items,
    looks,
    lines,
    textures,
    lights,
    screen,
    lit,
    pieces,
    sources,
    colours,
):
    """Shade entries into `colours` (pixels of the tile * 4, linear, times alpha)."""
    left = tile % frame[at.TILES_X] * at.TILE_W
    top = tile // frame[at.TILES_X] * at.TILE_H
    triangles = frame[at.TRIANGLE_COUNT]
    owner = nobody()
    for entry in range(count):
        ref = np.int64(take(entries, 4 * entry))
        pixel = np.int64(take(entries, 4 * entry + 1))
        length = np.int64(take(entries, 4 * entry + 2))
        move_x, move_y, weight = middle_of(take(entries, 4 * entry + 3))
        element = ref
        if ref >= triangles:
            element = np.int64(take(sources, ref - triangles))
        if element >= triangles:
            colour = line_colour(element, frame, looks, items, lines)
            for k in range(length):
                put_colour(colours, 4 * (pixel + k), colour, weight, is_blend)
            continue
        owner = own(items, element, owner)
        item, look = items[owner[0]], looks[owner[0]]
        spots, near = screen_of(ref, frame, items, element, owner, screen, pieces)
        rates = planes_of(spots)
        first_x, first_y, second_x, second_y, is_back = rates
        a, b, c = corners_of(items, element, owner)
        x = F((left + pixel % at.TILE_W) * 256 + 128) + move_x - spots[0]
        y = F((top + pixel // at.TILE_W) * 256 + 128) + move_y - spots[1]
        first, second = x * first_x + y * first_y, x * second_x + y * second_y
        step_first, step_second = first_x * F(at.SUB), second_x * F(at.SUB)

        base = load4(look, at.COLOUR)
        if item[at.TINTS]:
            tints = floats_at(item[at.TINTS], 4 * item[at.INSTANCES])
            base = base * load4(tints, 4 * owner[4])
        texture, glow = item[at.TEXTURE], item[at.GLOW_TEXTURE]
        detail, glow_detail = F(0), F(0)
        us, vs = texcoords_of(item, look, a, b, c)
        if texture >= 0 or glow >= 0:
            half = F(0.5) * F(length - 1)
            one, two, distance = shares(
                first + half * step_first, second + half * step_second, near
            )
            one, two = uncut(ref, triangles, pieces, one, two)
            u = us[0] + (us[1] - us[0]) * one + (us[2] - us[0]) * two
            v = vs[0] + (vs[1] - vs[0]) * one + (vs[2] - vs[0]) * two
            if texture >= 0:
                detail = details_of(
                    textures[texture], ref, triangles, pieces, us, vs, near, rates,
                    u, v, distance,
                )  # fmt: skip
            if glow >= 0:
                glow_detail = details_of(
                    textures[glow], ref, triangles, pieces, us, vs, near, rates,
                    u, v, distance,
                )  # fmt: skip
        shading = item[at.SHADING]
        is_flat = is_face_flat(item, element - owner[1])
        sign = F(-1) if is_back else F(1)
        total = item[at.VERTICES] * item[at.INSTANCES]
        glowing = make4(look[at.GLOW], look[at.GLOW + 1], look[at.GLOW + 2], F(0))
        colours_of = floats_at(item[at.COLOURS], 4 * item[at.VERTICES])
        in_all = owner[4] * item[at.VERTICES]  # of the instance's first vertex
        la, lb, lc = splat4(F(1)), splat4(F(0)), splat4(F(0))
        if shading == at.BY_VERTEX and not is_flat:
            lit_row = item[at.FIRST_LIT] + in_all + (total if is_back else 0)
            la = load4(lit, 4 * (lit_row + a))
            lb = load4(lit, 4 * (lit_row + b)) - la
            lc = load4(lit, 4 * (lit_row + c)) - la
        for k in range(length):
            one, two, distance = shares(
                first + F(k) * step_first, second + F(k) * step_second, near
            )
            one, two = uncut(ref, triangles, pieces, one, two)
            colour = base
            if item[at.COLOURS]:
                ca = load4(colours_of, 4 * a)
                cb = load4(colours_of, 4 * b) - ca
                cc = load4(colours_of, 4 * c) - ca
                mixed = fma4(cc, splat4(two), fma4(cb, splat4(one), ca))
                colour = colour * mixed
            u = us[0] + (us[1] - us[0]) * one + (us[2] - us[0]) * two
            v = vs[0] + (vs[1] - vs[0]) * one + (vs[2] - vs[0]) * two
            if texture >= 0:
                row = textures[texture]
                texels = words_at(row[at.TEXELS], row[at.TEXEL_COUNT])
                colour = colour * look_up(texels, row, u, v, detail)
            if is_flat or shading == at.BY_PIXEL or shading == at.CEL:
                if shading != at.UNLIT:
                    colour = colour * lit_pixel(
                        item, look, lights, is_flat, sign,
                        in_all + a, in_all + b, in_all + c, one, two,
                    )  # fmt: skip
            elif shading == at.BY_VERTEX:
                colour = colour * fma4(lc, splat4(two), fma4(lb, splat4(one), la))
            if glow >= 0:
                row = textures[glow]
                texels = words_at(row[at.TEXELS], row[at.TEXEL_COUNT])
                colour = fma4(glowing, look_up(texels, row, u, v, glow_detail), colour)
            else:
                colour = colour + glowing
            colour = min4(max4(colour, splat4(F(0))), splat4(F(1)))
            put_colour(colours, 4 * (pixel + k), colour, weight, is_blend)
