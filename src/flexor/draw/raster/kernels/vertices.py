"""World positions to screen positions, and light for each vertex."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from flexor.draw.raster import layout as at
from flexor.draw.raster.kernels.light import light
from flexor.draw.raster.kernels.refs import find_row
from flexor.draw.raster.kernels.texture import floor
from flexor.maths.kernels.borrow import floats_at
from flexor.maths.kernels.jit import inline, part
from flexor.maths.kernels.lanes import put, take
from flexor.maths.kernels.numbers import float32

if TYPE_CHECKING:
    from flexor.arrays import Doubles, Floats, Longs

F = float32


@inline
def _place(
    begin: int,
    end: int,
    view: Doubles,
    frame: Longs,
    items: Longs,
    item: int,
    screen: Floats,
) -> None:
    positions = floats_at(
        take(items, item + at.POSITIONS),
        take(items, item + at.VERTICES) * take(items, item + at.INSTANCES) * 3,
    )
    xx, xy, xz, xw = F(view[0]), F(view[1]), F(view[2]), F(view[3])
    yx, yy, yz, yw = F(view[4]), F(view[5]), F(view[6]), F(view[7])
    zx, zy, zz, zw = F(view[8]), F(view[9]), F(view[10]), F(view[11])
    scale, near = F(view[at.SCALE]), F(view[at.NEAR])
    centre_x, centre_y = F(view[at.CENTRE_X]), F(view[at.CENTRE_Y])
    guard, half = F(at.GUARD - 2 * at.SUB), F(0.5)
    wide, high = centre_x + F(at.ASIDE), centre_y + F(at.ASIDE)
    is_flat = frame[at.IS_FLAT_VIEW] != 0
    first = take(items, item + at.FIRST_VERTEX)
    for i in range(begin, end):
        x, y, z = (
            take(positions, 3 * i),
            take(positions, 3 * i + 1),
            take(positions, 3 * i + 2),
        )
        distance = zx * x + zy * y + zz * z + zw
        near_by = F(1) if is_flat else F(1) / distance
        right = (xx * x + xy * y + xz * z + xw) * scale
        up = (yx * x + yy * y + yz * z + yw) * scale
        across, down = right * near_by + centre_x, centre_y - up * near_by
        to = 4 * (first + i)
        is_inside = distance >= near and abs(across) < guard and abs(down) < guard
        if not is_inside:
            # Also so where anything is not a number: no comparison holds then.
            is_number = abs(x) < np.inf and abs(y) < np.inf and abs(z) < np.inf
            put(screen, to + 2, F(at.NEEDS_CUT) if is_number else F(np.nan))
            # On lines through the eye; so that it holds behind the camera too.
            unit = F(1) if is_flat else distance
            sides = at.TOO_NEAR if distance < F(0.999) * near else 0
            sides |= at.TOO_LEFT if right + wide * unit < F(0) else 0
            sides |= at.TOO_RIGHT if right - wide * unit > F(0) else 0
            sides |= at.TOO_HIGH if up - high * unit > F(0) else 0
            sides |= at.TOO_LOW if up + high * unit < F(0) else 0
            put(screen, to, F(sides))
            continue
        put(screen, to, floor(across + half))
        put(screen, to + 1, floor(down + half))
        put(screen, to + 2, near_by)
        put(screen, to + 3, -distance if is_flat else near_by)


@inline
def _light(
    begin: int, end: int, items: Longs, item: int, lights: Floats, lit: Floats
) -> None:
    """Light at each vertex: fronts, then, if two-sided, backs."""
    total = take(items, item + at.VERTICES) * take(items, item + at.INSTANCES)
    positions = floats_at(take(items, item + at.POSITIONS), total * 3)
    normals = floats_at(take(items, item + at.NORMALS), total * 3)
    sides = 2 if take(items, item + at.IS_TWO_SIDED) else 1
    for side in range(sides):
        sign = F(1) if side == 0 else F(-1)
        first = take(items, item + at.FIRST_LIT) + side * total
        for i in range(begin, end):
            red, green, blue = light(
                lights,
                take(positions, 3 * i),
                take(positions, 3 * i + 1),
                take(positions, 3 * i + 2),
                sign * take(normals, 3 * i),
                sign * take(normals, 3 * i + 1),
                sign * take(normals, 3 * i + 2),
                F(0),
            )
            to = 4 * (first + i)
            put(lit, to, red)
            put(lit, to + 1, green)
            put(lit, to + 2, blue)
            put(lit, to + 3, F(1))


@part
def place_vertices(
    first: int,
    last: int,
    view: Doubles,
    frame: Longs,
    items: Longs,
    lights: Floats,
    screen: Floats,
    lit: Floats,
) -> None:
    """Fill rows first to last of `screen` (V * 4) and, where wanted, of `lit`.

    A row of screen is x, y in 1/256 pixel, whole numbers; 1/distance, NEEDS_CUT if the
    vertex is not in front of the camera or too far aside (then x is what it is beyond),
    NaN if it is not finite; and depth, larger for what is nearer.
    """
    row = find_row(items, at.ITEM_INTS, at.FIRST_VERTEX, first)
    while first < last:
        item = row * at.ITEM_INTS
        count = take(items, item + at.VERTICES) * take(items, item + at.INSTANCES)
        begin = first - take(items, item + at.FIRST_VERTEX)
        end = min(last - take(items, item + at.FIRST_VERTEX), count)
        if end > begin:
            _place(begin, end, view, frame, items, item, screen)
            if take(items, item + at.FIRST_LIT) >= 0:
                _light(begin, end, items, item, lights, lit)
            first += end - begin
        row += 1
