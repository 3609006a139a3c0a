"""How much light falls on a point of a surface."""

from __future__ import annotations

import math

import numpy as np

from flexor.draw.raster import kernel_layout as at
from flexor.maths.kernel import inline

F = np.float32


@inline
def light(lights, x, y, z, nx, ny, nz, bands):
    """Red, green and blue light at (x, y, z) with unit normal n.

    bands: 0, or the number of steps in which light grows (cel shading).
    """
    red, green, blue = F(0), F(0), F(0)
    for row in range(len(lights)):
        kind = lights[row, at.LIGHT_KIND]
        r, g, b = lights[row, 1], lights[row, 2], lights[row, 3]
        if kind == F(at.AMBIENT):
            up = F(0.5) + F(0.5) * ny
            low = at.LIGHT_GROUND
            red += lights[row, low] + (r - lights[row, low]) * up
            green += lights[row, low + 1] + (g - lights[row, low + 1]) * up
            blue += lights[row, low + 2] + (b - lights[row, low + 2]) * up
            continue
        # Toward the light: of unit length for directional lights.
        lx, ly, lz = lights[row, 4], lights[row, 5], lights[row, 6]
        fade = F(1)
        if kind == F(at.POINT):
            lx, ly, lz = lx - x, ly - y, lz - z
            square = lx * lx + ly * ly + lz * lz
            length = F(math.sqrt(max(square, F(1e-20))))
            reach = lights[row, at.LIGHT_REACH]
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
