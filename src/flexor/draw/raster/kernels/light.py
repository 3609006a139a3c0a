"""How much light falls on a point of a surface."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

from flexor.draw.raster import layout as at
from flexor.maths.kernels.jit import inline
from flexor.maths.kernels.lanes import (
    floor8,
    fma8,
    max8,
    splat8,
    spread8,
    sqrt8,
    take,
)
from flexor.maths.kernels.numbers import float32

if TYPE_CHECKING:
    from flexor.arrays import Floats

F = float32
Corners = tuple[float, float, float]


@inline
def light(
    lights: Floats,
    x: float,
    y: float,
    z: float,
    nx: float,
    ny: float,
    nz: float,
    bands: float,
) -> Corners:
    """Red, green and blue light at (x, y, z) with unit normal n.

    bands: 0, or the number of steps in which light grows (cel shading).
    """
    red, green, blue = F(0), F(0), F(0)
    for row in range(0, len(lights), at.LIGHT_FLOATS):
        kind = take(lights, row + at.LIGHT_KIND)
        i = row + at.LIGHT_COLOUR
        r, g, b = take(lights, i), take(lights, i + 1), take(lights, i + 2)
        if kind == F(at.AMBIENT):
            up, i = F(0.5) + F(0.5) * ny, row + at.LIGHT_GROUND
            red += take(lights, i) + (r - take(lights, i)) * up
            green += take(lights, i + 1) + (g - take(lights, i + 1)) * up
            blue += take(lights, i + 2) + (b - take(lights, i + 2)) * up
            continue
        # Toward the light: of unit length for directional lights.
        i = row + at.LIGHT_PLACE
        lx, ly, lz = take(lights, i), take(lights, i + 1), take(lights, i + 2)
        fade = F(1)
        if kind == F(at.POINT):
            lx, ly, lz = lx - x, ly - y, lz - z
            square = lx * lx + ly * ly + lz * lz
            length = F(math.sqrt(max(square, F(1e-20))))
            reach = take(lights, row + at.LIGHT_REACH)
            fade = F(1) / (F(1) + square / (reach * reach))
            lx, ly, lz = lx / length, ly / length, lz / length
        facing = max(nx * lx + ny * ly + nz * lz, F(0))
        if bands > F(0):
            facing = F(math.floor(facing * bands + F(0.5))) / bands
        facing *= fade
        red += facing * r
        green += facing * g
        blue += facing * b
    return red, green, blue


@inline
def light8(
    lights: Floats, x: Any, y: Any, z: Any, nx: Any, ny: Any, nz: Any, bands: float
) -> tuple[Any, Any, Any]:
    """The same for eight points at once."""
    red, green, blue = splat8(F(0)), splat8(F(0)), splat8(F(0))
    zero, one, half = splat8(F(0)), splat8(F(1)), splat8(F(0.5))
    for row in range(0, len(lights), at.LIGHT_FLOATS):
        kind = take(lights, row + at.LIGHT_KIND)
        i = row + at.LIGHT_COLOUR
        r, g, b = spread8(lights, i), spread8(lights, i + 1), spread8(lights, i + 2)
        if kind == F(at.AMBIENT):
            up, i = fma8(ny, half, half), row + at.LIGHT_GROUND
            low_r, low_g = spread8(lights, i), spread8(lights, i + 1)
            low_b = spread8(lights, i + 2)
            red = red + fma8(r - low_r, up, low_r)
            green = green + fma8(g - low_g, up, low_g)
            blue = blue + fma8(b - low_b, up, low_b)
            continue
        i = row + at.LIGHT_PLACE
        lx, ly = spread8(lights, i), spread8(lights, i + 1)
        lz = spread8(lights, i + 2)
        fade = one
        if kind == F(at.POINT):
            lx, ly, lz = lx - x, ly - y, lz - z
            square = fma8(lx, lx, fma8(ly, ly, lz * lz))
            reach = take(lights, row + at.LIGHT_REACH)
            fade = one / fma8(square, splat8(F(1) / (reach * reach)), one)
            fade = fade / sqrt8(max8(square, splat8(F(1e-20))))
        facing = max8(fma8(nx, lx, fma8(ny, ly, nz * lz)), zero)
        if bands > F(0):
            # The steps are of the angle alone: the distance comes after.
            length = one
            if kind == F(at.POINT):
                length = one / sqrt8(
                    max8(fma8(lx, lx, fma8(ly, ly, lz * lz)), splat8(F(1e-20)))
                )
            steps = floor8(fma8(facing * length, splat8(bands), half))
            facing = steps / splat8(bands) / length
        facing = facing * fade
        red = fma8(facing, r, red)
        green = fma8(facing, g, green)
        blue = fma8(facing, b, blue)
    return red, green, blue
