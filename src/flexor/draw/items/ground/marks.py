"""What lies on a ground's picture: painted borders of zones, shadows of structures.

Both stand still, so they are painted once: they follow the ground, are as smooth as
its picture, and cost nothing later. Where shadows lie over each other it is no darker.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

import numpy as np

from flexor.arrays import Doubles, Floats
from flexor.draw.drawlist import RGB
from flexor.draw.items.ground.picture import (
    BAND_ROWS,
    GroundPicture,
    levels_of,
    values_between,
)
from flexor.draw.items.sunlight import Shades, in_shade
from flexor.draw.scene.lighting import light_on
from flexor.scene.character.light import Light
from flexor.scene.stage.ground import Ground
from flexor.scene.stage.zone import Zone

__all__ = ["LEFT", "mark_ground"]

LEFT: RGB = (0.36, 0.39, 0.45)  # what daylight has in the shade
# A border is a bright band between two coloured ones: metres from the wall to where
# each ends, at least so many pixels, and linear colours by what the zone keeps.
BAND, EDGE, FEWEST = 0.05, 0.16, 1.2
BRIGHT: RGB = (0.8, 0.78, 0.72)
PAINTS: dict[str, RGB] = {"in": (0.42, 0.055, 0.035), "out": (0.5, 0.33, 0.03)}
COVERS = 0.9  # part of the ground's colour that paint hides
SOFT = 0.9  # pixels over which the edge of a shadow is soft
MOST = 4_000_000  # places looked at in one go


def mark_ground(
    picture: GroundPicture,
    ground: Ground,
    *,
    zones: Sequence[Zone] = (),
    shades: Shades | None = None,
    lights: Iterable[Light] = (),
) -> GroundPicture:
    """A ground's picture with borders of zones and shadows of structures.

    lights: that will shine on it. `light` of the picture has the borders, but not the
    shadows: it is what the ground is like, wherever the sun is.
    """
    light = picture.light
    if zones:
        light = light.copy()
        for zone in zones:
            _add_border(light, ground, zone)
    dark = None if shades is None else _shadow(light.shape[:2], ground, shades)
    if dark is None and light is picture.light:
        return picture
    up = np.array([[0.0, 1.0, 0.0]], np.float32)
    full = np.maximum(light_on(lights, 0 * up, up)[0], 1e-6)
    left = np.minimum(np.array(LEFT, np.float32) / full, 1)
    pixels = picture.pixels.copy()
    for first in range(0, len(light), BAND_ROWS):
        band = slice(first, first + BAND_ROWS)
        seen = light[band]
        if dark is not None:
            seen = seen * (1 + dark[band][..., None] * (left - 1))
        pixels[band, :, :3] = levels_of(np.clip(seen, 0, 1))
    return GroundPicture(pixels, np.ascontiguousarray(light, np.float32))


def _fine(shape: tuple[int, ...], ground: Ground) -> Doubles:
    """Pixels for each metre along z and x."""
    found: Doubles = np.array(shape[:2]) / (
        np.array(ground.surfaces.shape) * ground.step
    )
    return found


def _window(
    shape: tuple[int, ...],
    ground: Ground,
    low: Doubles,
    high: Doubles,
) -> tuple[slice, slice, Doubles, Doubles]:
    """The pixels between two places (x, z): rows, columns, and their x and z."""
    fine_z, fine_x = _fine(shape, ground)
    x0, z0 = ground.corner
    top, bottom = ((v - z0) * fine_z for v in (low[1], high[1]))
    left, right = ((v - x0) * fine_x for v in (low[0], high[0]))
    rows = slice(*np.clip([int(top), int(bottom) + 1], 0, shape[0]).tolist())
    columns = slice(*np.clip([int(left), int(right) + 1], 0, shape[1]).tolist())
    z = z0 + (np.arange(rows.start, rows.stop) + 0.5) / fine_z
    x = x0 + (np.arange(columns.start, columns.stop) + 0.5) / fine_x
    return rows, columns, x, z


def _add_border(light: Floats, ground: Ground, zone: Zone) -> None:
    """Paint the walls of a zone into light (H, W, 3)."""
    pixel = 1 / float(_fine(light.shape, ground).min())
    band, edge = max(BAND, FEWEST * pixel), max(EDGE, 2 * FEWEST * pixel)
    away = np.full(light.shape[:2], np.inf, np.float32)
    ends = np.roll(zone.corners, -1, 0)
    for a, b in zip(zone.corners, ends, strict=True):
        room = edge + 2 * pixel
        low, high = np.minimum(a, b) - room, np.maximum(a, b) + room
        rows, columns, x, z = _window(light.shape, ground, low, high)
        way = b - a
        px, pz = x[None] - a[0], z[:, None] - a[1]
        share = np.clip((px * way[0] + pz * way[1]) / max(way @ way, 1e-12), 0, 1)
        far = np.hypot(px - share * way[0], pz - share * way[1])
        np.minimum(away[rows, columns], far, out=away[rows, columns])
    z_rows, columns_used = np.nonzero(away < edge + pixel)
    if not len(z_rows):
        return
    own = away[z_rows, columns_used][:, None]
    cover = COVERS * np.clip((edge - own) / pixel + 0.5, 0, 1)
    is_bright = np.clip((band - own) / pixel + 0.5, 0, 1)
    paint = np.array(PAINTS[zone.keeps], np.float32)
    paint = paint + is_bright * (np.array(BRIGHT, np.float32) - paint)
    below = light[z_rows, columns_used]
    light[z_rows, columns_used] = below + cover * (paint - below)


def _shadow(shape: tuple[int, ...], ground: Ground, shades: Shades) -> Floats | None:
    """How much of the sun is kept off each pixel: float32 (H, W); None: nowhere."""
    dark = np.zeros(shape, np.float32)
    floor = float(ground.heights.min())
    heights = ground.heights.astype(np.float32)
    for row in range(len(shades.corners)):
        rows, columns, x, z = _window(shape, ground, *shades.reach(row, floor))
        at_once = max(MOST // max(len(x), 1), 1)
        for first in range(0, len(z), at_once):
            some = z[first : first + at_once]
            v = (some - ground.corner[1]) / ground.step
            u = (x - ground.corner[0]) / ground.step
            places = np.empty((len(some), len(x), 3))
            places[..., 0], places[..., 2] = x, some[:, None]
            places[..., 1] = values_between(heights, v, u)
            begin = rows.start + first
            part = dark[begin : begin + len(some), columns]
            found = in_shade(shades, row, places.reshape(-1, 3)).reshape(part.shape)
            part[found] = 1
    if not dark.any():
        return None
    from scipy import ndimage

    soft: Floats = ndimage.gaussian_filter(dark, SOFT, mode="nearest")
    return soft
