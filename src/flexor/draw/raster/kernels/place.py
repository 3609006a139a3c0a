"""Where a pixel lies in its triangle, and what the triangle's corners say there.

A place is the shares of the second and third corner, with perspective.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any, NamedTuple

from flexor.draw.raster import layout as at
from flexor.draw.raster.kernels.refs import (
    INSTANCE_OF,
    OF_ITEM,
    OF_LOOK,
    Corners,
    Face,
    Owner,
)
from flexor.draw.raster.kernels.texture import Levels, half_log2, levels_of, look_up
from flexor.draw.raster.layout import Scene
from flexor.maths.kernels.borrow import bytes_at, floats_at, words_at
from flexor.maths.kernels.jit import inline
from flexor.maths.kernels.lanes import pick4, take
from flexor.maths.kernels.numbers import float32, float64

if TYPE_CHECKING:
    from flexor.arrays import Floats, Longs

F = float32
Rates = tuple[float, float, float, float, bool]
Spread = tuple[float, float, float, float, float, float]


class Skin(NamedTuple):
    """What alpha of a triangle is made of, in a tile."""

    rates: Rates
    alpha: float  # of its look and tint
    alphas: Corners  # of its corners' colours
    us: Corners  # texture coordinates
    vs: Corners
    spread: Spread
    texture: int
    has_detail: bool  # whether levels differ from pixel to pixel
    levels: Levels


@inline
def rates_of(xs: Corners, ys: Corners) -> Rates:
    """How the shares of the second and third corner grow on the screen, to the right
    and down, per 1/256 pixel; and whether the triangle is seen from behind.
    """
    area = float64(xs[1] - xs[0]) * float64(ys[2] - ys[0]) - float64(
        xs[2] - xs[0]
    ) * float64(ys[1] - ys[0])
    unit = F(1.0 / area)
    return (
        (ys[2] - ys[0]) * unit, (xs[0] - xs[2]) * unit,
        (ys[0] - ys[1]) * unit, (xs[1] - xs[0]) * unit,
        area > 0,
    )  # fmt: skip


@inline
def place_at(first: float, second: float, nears: Corners) -> Corners:
    """From shares on the screen to those on the triangle, and the distance."""
    distance = F(1) / (
        nears[0] + first * (nears[1] - nears[0]) + second * (nears[2] - nears[0])
    )
    return first * nears[1] * distance, second * nears[2] * distance, distance


@inline
def uncut(
    ref: int, triangles: int, pieces: Floats, one: float, two: float
) -> tuple[float, float]:
    """A place in a piece as a place in the triangle that it was cut from."""
    if ref < triangles:
        return one, two
    i = (ref - triangles) * at.PIECE_FLOATS + at.PIECE_SHARES
    rest = F(1) - one - two
    return (
        take(pieces, i) * rest + take(pieces, i + 2) * one + take(pieces, i + 4) * two,
        take(pieces, i + 1) * rest
        + take(pieces, i + 3) * one
        + take(pieces, i + 5) * two,
    )


@inline
def centre_place(
    ref: int,
    triangles: int,
    pieces: Floats,
    xs: Corners,
    ys: Corners,
    nears: Corners,
    rates: Rates,
    x: int,
    y: int,
) -> tuple[float, float, float, float, float]:
    """Place and distance at a pixel's centre, or the nearest to it on the triangle; and
    the shares on the screen.
    """
    across, down = F(x * 256 + 128) - xs[0], F(y * 256 + 128) - ys[0]
    first = min(max(across * rates[0] + down * rates[1], F(0)), F(1))
    second = min(max(across * rates[2] + down * rates[3], F(0)), F(1) - first)
    one, two, distance = place_at(first, second, nears)
    one, two = uncut(ref, triangles, pieces, one, two)
    return one, two, distance, first, second


@inline
def mix(values: Corners, one: float, two: float) -> float:
    """What three corners say at a place."""
    return values[0] + (values[1] - values[0]) * one + (values[2] - values[0]) * two


@inline
def mix_at(array: Any, a: int, b: int, c: int, one: float, two: float) -> float:
    """The same for numbers of an array."""
    x = take(array, a)
    return x + (take(array, b) - x) * one + (take(array, c) - x) * two


@inline
def texcoords_of(
    items: Longs, looks: Floats, owner: Owner, a: int, b: int, c: int
) -> tuple[Corners, Corners]:
    """Texture coordinates of three vertices, moved by the look's transform."""
    item, t = owner[OF_ITEM], owner[OF_LOOK] + at.TRANSFORM
    where = take(items, item + at.TEXCOORDS)
    zero = F(0)
    if where == 0:
        return (zero, zero, zero), (zero, zero, zero)
    coords = floats_at(where, take(items, item + at.VERTICES) * 2)
    ua, va = take(coords, 2 * a), take(coords, 2 * a + 1)
    ub, vb = take(coords, 2 * b), take(coords, 2 * b + 1)
    uc, vc = take(coords, 2 * c), take(coords, 2 * c + 1)
    p, q, r = take(looks, t), take(looks, t + 1), take(looks, t + 2)
    us = (p * ua + q * va + r, p * ub + q * vb + r, p * uc + q * vc + r)
    p, q, r = take(looks, t + 3), take(looks, t + 4), take(looks, t + 5)
    return us, (p * ua + q * va + r, p * ub + q * vb + r, p * uc + q * vc + r)


@inline
def cut_values(ref: int, triangles: int, pieces: Floats, values: Corners) -> Corners:
    """What the corners of a ref say: those of a piece lie between the triangle's."""
    if ref < triangles:
        return values
    i = (ref - triangles) * at.PIECE_FLOATS + at.PIECE_SHARES
    return (
        mix(values, take(pieces, i), take(pieces, i + 1)),
        mix(values, take(pieces, i + 2), take(pieces, i + 3)),
        mix(values, take(pieces, i + 4), take(pieces, i + 5)),
    )


@inline
def spread_of(us: Corners, vs: Corners, nears: Corners, rates: Rates) -> Spread:
    """How texture coordinates times 1/distance, and 1/distance, grow per pixel: each to
    the right and down. us, vs: of the ref's own corners.
    """
    ax, ay, bx, by, _ = rates
    sub = F(at.SUB)
    ax, ay, bx, by = ax * sub, ay * sub, bx * sub, by * sub
    u1, u2 = us[1] * nears[1] - us[0] * nears[0], us[2] * nears[2] - us[0] * nears[0]
    v1, v2 = vs[1] * nears[1] - vs[0] * nears[0], vs[2] * nears[2] - vs[0] * nears[0]
    n1, n2 = nears[1] - nears[0], nears[2] - nears[0]
    return (
        ax * u1 + bx * u2, ay * u1 + by * u2,
        ax * v1 + bx * v2, ay * v1 + by * v2,
        ax * n1 + bx * n2, ay * n1 + by * n2,
    )  # fmt: skip


@inline
def detail_at(
    textures: Longs, texture: int, spread: Spread, u: float, v: float, distance: float
) -> float:
    """Level of detail at a pixel: how many texels it takes, as a power of two."""
    row = texture * at.TEXTURE_INTS + at.LEVEL_ROWS
    width = F(take(textures, row + 1)) * distance
    height = F(take(textures, row + 2)) * distance
    ux, uy = (spread[0] - u * spread[4]) * width, (spread[1] - u * spread[5]) * width
    vx, vy = (spread[2] - v * spread[4]) * height, (spread[3] - v * spread[5]) * height
    square = max(ux * ux + vx * vx, uy * uy + vy * vy)
    return half_log2(max(min(square, F(1e30)), F(1e-30)))


@inline
def is_face_flat(items: Longs, item: int, triangle: int) -> bool:
    """Whether a triangle is shaded by its face; triangle: counted in its mesh."""
    if take(items, item + at.SHADING) == at.BY_FACE:
        return True
    where = take(items, item + at.SMOOTH)
    if where == 0:
        return False
    return take(bytes_at(where, take(items, item + at.FACES)), triangle) == 0


@inline
def normal_at(
    items: Longs,
    item: int,
    is_flat: bool,
    sign: float,
    a: int,
    b: int,
    c: int,
    one: float,
    two: float,
) -> Corners:
    """The unit normal of a surface at a place, times `sign`.

    a to c: vertices among all instances of the item.
    """
    total = take(items, item + at.VERTICES) * take(items, item + at.INSTANCES) * 3
    a, b, c = 3 * a, 3 * b, 3 * c
    if is_flat:
        p = floats_at(take(items, item + at.POSITIONS), total)
        ux, uy = take(p, b) - take(p, a), take(p, b + 1) - take(p, a + 1)
        vx, vy = take(p, c) - take(p, a), take(p, c + 1) - take(p, a + 1)
        uz, vz = take(p, b + 2) - take(p, a + 2), take(p, c + 2) - take(p, a + 2)
        x, y, z = uy * vz - uz * vy, uz * vx - ux * vz, ux * vy - uy * vx
    else:
        n = floats_at(take(items, item + at.NORMALS), total)
        x = mix_at(n, a, b, c, one, two)
        y = mix_at(n, a + 1, b + 1, c + 1, one, two)
        z = mix_at(n, a + 2, b + 2, c + 2, one, two)
    square = x * x + y * y + z * z
    # Vertices that meet in a point have no normal.
    unit = sign / F(math.sqrt(square)) if square > F(1e-30) else F(0)
    return x * unit, y * unit, z * unit


@inline
def skin_of(face: Face, triangles: int, scene: Scene, pieces: Floats) -> Skin:
    """What alpha of a triangle is made of, the same for all of its pixels."""
    ref, owner, nears = face.ref, face.owner, face.nears
    a, b, c = face.a, face.b, face.c
    items, looks, textures = scene.items, scene.looks, scene.textures
    item, rates = owner[OF_ITEM], rates_of(face.xs, face.ys)
    alpha = take(looks, owner[OF_LOOK] + at.COLOUR + 3)
    where = take(items, item + at.TINTS)
    if where:
        tints = floats_at(where, 4 * take(items, item + at.INSTANCES))
        alpha *= take(tints, 4 * owner[INSTANCE_OF] + 3)
    alphas = (F(1), F(1), F(1))
    where = take(items, item + at.COLOURS)
    if where:
        values = floats_at(where, 4 * take(items, item + at.VERTICES))
        alphas = (
            take(values, 4 * a + 3), take(values, 4 * b + 3), take(values, 4 * c + 3)
        )  # fmt: skip
    us, vs = texcoords_of(items, looks, owner, a, b, c)
    spread = spread_of(
        cut_values(ref, triangles, pieces, us),
        cut_values(ref, triangles, pieces, vs),
        nears,
        rates,
    )
    texture = take(items, item + at.TEXTURE)
    levels = levels_of(textures, max(texture, 0), F(1))
    row = max(texture, 0) * at.TEXTURE_INTS
    has_detail = texture >= 0 and (
        take(textures, row + at.LEVELS) > 1 or take(textures, row + at.IS_NEAREST) != 0
    )
    return Skin(rates, alpha, alphas, us, vs, spread, texture, has_detail, levels)


@inline
def alpha_at(
    face: Face, skin: Skin, triangles: int, textures: Longs, pieces: Floats,
    x: int, y: int,
) -> float:  # fmt: skip
    """Alpha of a triangle at a pixel's centre."""
    one, two, distance, _, _ = centre_place(
        face.ref, triangles, pieces, face.xs, face.ys, face.nears, skin.rates, x, y
    )
    alpha = skin.alpha * mix(skin.alphas, one, two)
    if skin.texture >= 0:
        u, v = mix(skin.us, one, two), mix(skin.vs, one, two)
        levels = skin.levels
        if skin.has_detail:
            detail = detail_at(textures, skin.texture, skin.spread, u, v, distance)
            levels = levels_of(textures, skin.texture, detail)
        row = skin.texture * at.TEXTURE_INTS
        texels = words_at(
            take(textures, row + at.TEXELS), take(textures, row + at.TEXEL_COUNT)
        )
        wrap_s, wrap_t = (
            take(textures, row + at.WRAP_S),
            take(textures, row + at.WRAP_T),
        )
        alpha *= pick4(look_up(texels, levels, wrap_s, wrap_t, u, v), 3)
    return alpha
