"""Eight places of a triangle at once: where they are, and the light there."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from flexor.draw.raster import layout as at
from flexor.draw.raster.kernels.light import light8
from flexor.draw.raster.kernels.place import normal_at
from flexor.draw.raster.kernels.refs import (
    INSTANCE_OF,
    OF_ITEM,
    OF_LOOK,
    Corners,
    Owner,
)
from flexor.maths.kernels.borrow import floats_at
from flexor.maths.kernels.jit import inline
from flexor.maths.kernels.lanes import (
    fma8,
    max8,
    min8,
    splat8,
    spread8,
    sqrt8,
    store8,
    take,
)
from flexor.maths.kernels.numbers import float32

if TYPE_CHECKING:
    from flexor.arrays import Floats, Longs

F = float32
UNLIT, LIT_BY_VERTEX, LIT_BY_PIXEL, LIT_BY_FACE = range(4)


@inline
def places8(first: Any, second: Any, nears: Corners) -> tuple[Any, Any, Any]:
    """Eight places, from shares on the screen, and distances."""
    none, whole = splat8(F(0)), splat8(F(1))
    first = min8(max8(first, none), whole)
    second = min8(max8(second, none), whole - first)
    near = fma8(first, splat8(nears[1] - nears[0]), splat8(nears[0]))
    distance = whole / fma8(second, splat8(nears[2] - nears[0]), near)
    one = first * splat8(nears[1]) * distance
    return one, second * splat8(nears[2]) * distance, distance


@inline
def uncut8(
    ref: int, triangles: int, pieces: Floats, one: Any, two: Any
) -> tuple[Any, Any]:
    """Eight places in a piece as places in the triangle it was cut from."""
    if ref < triangles:
        return one, two
    i = (ref - triangles) * at.PIECE_FLOATS + at.PIECE_SHARES
    rest = splat8(F(1)) - one - two
    return (
        fma8(
            spread8(pieces, i), rest,
            fma8(spread8(pieces, i + 2), one, spread8(pieces, i + 4) * two),
        ),
        fma8(
            spread8(pieces, i + 1), rest,
            fma8(spread8(pieces, i + 3), one, spread8(pieces, i + 5) * two),
        ),
    )  # fmt: skip


@inline
def mix8(values: Corners, one: Any, two: Any) -> Any:
    """What three corners say at eight places."""
    second = fma8(splat8(values[1] - values[0]), one, splat8(values[0]))
    return fma8(splat8(values[2] - values[0]), two, second)


@inline
def of_three(array: Any, a: int, b: int, c: int) -> Corners:
    return take(array, a), take(array, b), take(array, c)


@inline
def light_eight(
    items: Longs,
    looks: Floats,
    owner: Owner,
    lights: Floats,
    is_flat: bool,
    sign: float,
    has_lamps: bool,
    a: int,
    b: int,
    c: int,
    one: Any,
    two: Any,
    work: Floats,
) -> None:
    """Light at eight places of a triangle, into `work`; has_lamps: some lights stand
    somewhere, so that it matters where the places are.
    """
    item = owner[OF_ITEM]
    vertices = take(items, item + at.VERTICES)
    total = vertices * take(items, item + at.INSTANCES) * 3
    first = owner[INSTANCE_OF] * vertices
    i, j, k = 3 * (first + a), 3 * (first + b), 3 * (first + c)
    x8, y8, z8 = splat8(F(0)), splat8(F(0)), splat8(F(0))
    if has_lamps:
        p = floats_at(take(items, item + at.POSITIONS), total)
        x8 = mix8(of_three(p, i, j, k), one, two)
        y8 = mix8(of_three(p, i + 1, j + 1, k + 1), one, two)
        z8 = mix8(of_three(p, i + 2, j + 2, k + 2), one, two)
    if is_flat:
        x, y, z = normal_at(
            items, item, True, sign, first + a, first + b, first + c, F(0), F(0)
        )
        nx, ny, nz = splat8(x), splat8(y), splat8(z)
    else:
        n = floats_at(take(items, item + at.NORMALS), total)
        nx = mix8(of_three(n, i, j, k), one, two)
        ny = mix8(of_three(n, i + 1, j + 1, k + 1), one, two)
        nz = mix8(of_three(n, i + 2, j + 2, k + 2), one, two)
        square = fma8(nx, nx, fma8(ny, ny, nz * nz))
        unit = splat8(sign) / sqrt8(max8(square, splat8(F(1e-30))))
        nx, ny, nz = nx * unit, ny * unit, nz * unit
    is_cel = take(items, item + at.SHADING) == at.CEL
    red, green, blue = light8(
        lights, x8, y8, z8, nx, ny, nz,
        take(looks, owner[OF_LOOK] + at.BANDS) if is_cel else F(0),
    )  # fmt: skip
    store8(work, at.RED, red)
    store8(work, at.GREEN, green)
    store8(work, at.BLUE, blue)


@inline
def has_even_light(
    items: Longs, owner: Owner, mode: int, has_lamps: bool, a: int, b: int, c: int
) -> bool:
    """Whether light is the same all over a triangle: it is where its normals are, if no
    light stands near.
    """
    if has_lamps or mode == LIT_BY_FACE:
        return not has_lamps
    if mode != LIT_BY_PIXEL:
        return False
    item = owner[OF_ITEM]
    vertices = take(items, item + at.VERTICES)
    total = vertices * take(items, item + at.INSTANCES) * 3
    first = owner[INSTANCE_OF] * vertices
    n = floats_at(take(items, item + at.NORMALS), total)
    i, j, k = 3 * (first + a), 3 * (first + b), 3 * (first + c)
    is_even = True
    for axis in range(3):
        here = take(n, i + axis)
        is_even &= take(n, j + axis) == here and take(n, k + axis) == here
    return is_even
