"""Pictures of marks on the ground, made by code: footprints, rings on water, spots.

All are uint8 (H, W, 4), sRGB with straight alpha.
"""

from __future__ import annotations

import math
from functools import cache

import numpy as np

from flexor.arrays import Doubles, Pixels
from flexor.scene.character.light import Vector

__all__ = ["PRINT_WAYS", "footprint", "soft_spot", "water_ring"]

PRINT_WAYS = 8  # pictures of a print, for ways that are 45 degrees apart
STEEP = 0.13  # how much the sides of a print are lit and shaded
DENT = 0.24  # how dark its floor is


def _grid(side: int) -> tuple[Doubles, Doubles]:
    """X and z (side, side) of pixels, -1 to 1; the first row has the least z."""
    middle = (np.arange(side) + 0.5) / side * 2 - 1
    shape = side, side
    return np.broadcast_to(middle, shape), np.broadcast_to(middle[:, None], shape)


def _finish(colour: Doubles, alpha: Doubles) -> Pixels:
    whole = np.concatenate([255 * colour, 255 * alpha[..., None]], -1)
    pixels: Pixels = np.rint(np.clip(whole, 0, 255)).astype(np.uint8)
    pixels.flags.writeable = False
    return pixels


def _sole(along: Doubles, across: Doubles) -> Doubles:
    """How far inside a sole places are, that points along +1; negative outside."""
    ball = 0.36 - np.hypot((along - 0.36) / 1.25, across)
    heel = 0.27 - np.hypot((along + 0.56) / 1.1, across)
    t = np.clip((along + 0.56) / 0.92, 0, 1)
    waist = 0.21 + 0.06 * t - np.abs(across)
    waist = np.where((along > -0.56) & (along < 0.36), waist, -1.0)
    sole: Doubles = np.maximum(np.maximum(ball, heel), waist)
    return sole


@cache
def footprint(number: int, light: Vector, side: int = 48) -> Pixels:
    """A dent of a foot in something soft, seen from above: of `PRINT_WAYS` ways.

    number: 0 points along +z, each next one is turned on toward +x; light: the way it
    travels. The side of the dent that faces the light is bright, that in front of it
    dark; around it what was pushed out stands a little higher.
    """
    x, z = _grid(side)
    angle = math.tau * number / PRINT_WAYS
    s, c = math.sin(angle), math.cos(angle)
    depth = _sole(x * s + z * c, x * c - z * s)
    # Heights: a floor with soft sides, and a rim.
    t = np.clip(depth / 0.16 + 0.5, 0, 1)
    height = -t * t * (3 - 2 * t) + 0.35 * np.exp(-(((depth + 0.11) / 0.07) ** 2))
    dz, dx = np.gradient(height, 2 / side)
    flat = math.hypot(light[0], light[2]) or 1.0
    slope = np.asarray((dx * light[0] + dz * light[2]) * (STEEP / flat))
    slope = np.clip(np.where(slope > 0, slope, 1.2 * slope), -0.5, 0.45)
    # In front of the light it rises away from it; there it is bright.
    lit = slope - DENT * np.clip(-height, 0, 1)
    alpha = np.abs(lit)
    colour = np.where(lit[..., None] > 0, (1.0, 0.96, 0.86), (0.10, 0.07, 0.035))
    edge = np.clip((1 - np.maximum(np.abs(x), np.abs(z))) / 0.1, 0, 1)
    return _finish(colour, np.clip(alpha * edge, 0, 1))


@cache
def soft_spot(side: int = 32) -> Pixels:
    """A white spot that fades toward its edge."""
    x, z = _grid(side)
    away = np.hypot(x, z)
    t = np.clip(1 - away, 0, 1)
    return _finish(np.ones((side, side, 3)), t * t * (3 - 2 * t))


@cache
def water_ring(side: int = 96) -> Pixels:
    """A ring of foam with a smaller one inside, as what falls in makes them."""
    rng = np.random.default_rng(5)
    x, z = _grid(side)
    away, angle = np.hypot(x, z), np.arctan2(z, x)
    wave = sum(
        rng.uniform(0.3, 1.0) * np.sin(n * angle + rng.uniform(0, math.tau)) / n
        for n in (3, 5, 8, 13, 21)
    )
    outer = np.exp(-(((away - 0.86 - 0.02 * wave) / 0.055) ** 2))
    inner = 0.5 * np.exp(-(((away - 0.56 - 0.02 * wave) / 0.06) ** 2))
    dark = 0.35 * np.exp(-(((away - 0.73) / 0.06) ** 2))
    light = (outer + inner) * (0.7 + 0.3 * np.clip(wave, -1, 1))
    alpha = np.clip(light + dark, 0, 1) * np.clip((1 - away) / 0.06, 0, 1)
    mix = (light / np.maximum(light + dark, 1e-6))[..., None]
    colour = np.array((0.1, 0.25, 0.34)) * (1 - mix) + np.array((0.95, 0.99, 1.0)) * mix
    return _finish(colour, alpha * 0.85)
