"""Characters on uneven ground: what is below them, how slopes pull and friction holds.

A slope pulls with gravity times the horizontal part of its normal, so a steeper one
pulls more; friction is a coefficient times gravity times the cosine of the slope, so a
steeper one holds less. Who stands still and asks for no movement is held by static
friction, others by the smaller dynamic one; sand doubles it, water makes it three times
as much. It never turns movement round.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from flexor.arrays import Doubles
from flexor.scene.stage.ground import Ground
from flexor.scene.stage.settings import FrictionSettings
from flexor.stage.hashing import Hashed

__all__ = ["Footing", "find_footing", "init_footing", "slide_down"]


@dataclass(slots=True, eq=False)
class Footing:
    """What is under N characters.

    heights: float64 (N,), metres; normals: float64 (N, 3), unit; surfaces: uint8 (N,),
    numbers in SURFACES; paces: float64 (N,), how fast one walks there, in parts.
    """

    heights: Hashed[Doubles]
    normals: Hashed[Doubles]
    surfaces: Hashed[NDArray[np.uint8]]
    paces: Hashed[Doubles]


def init_footing(count: int) -> Footing:
    """Flat, plain ground under `count` characters."""
    normals = np.zeros((count, 3))
    normals[:, 1] = 1
    return Footing(np.zeros(count), normals, np.zeros(count, np.uint8), np.ones(count))


def find_footing(
    ground: Ground, places: Doubles, settings: FrictionSettings, *, out: Footing
) -> None:
    """Look at what is under places (N, 3)."""
    from flexor.maths.kernels import field as kernel_field

    kernel_field.look_down(
        ground.heights,
        ground.surfaces,
        *ground.corner,
        ground.step,
        places,
        out.heights,
        out.normals,
        out.surfaces,
    )
    np.take(np.array(settings.paces), out.surfaces, out=out.paces)


def slide_down(
    footing: Footing,
    settings: FrictionSettings,
    dt: float,
    clocks: Doubles,
    grounded: NDArray[np.bool_],
    asked: Doubles,
    slides: Doubles,
    places: Doubles,
) -> None:
    """Let slopes pull characters for `dt` seconds, in place.

    clocks: (N,), factors of time; grounded: (N,), who stands on the ground; asked:
    (N, 2), what movement is asked for; slides: (N, 2), velocities along x and z that
    slopes have given them; places: (N, 3).
    """
    from flexor.stage.movement.kernels import ground as kernel_movement

    kernel_movement.slip(
        dt,
        settings.gravity,
        settings.still,
        settings.moving,
        np.array(settings.factors),
        clocks,
        footing.normals,
        footing.surfaces,
        grounded,
        asked,
        slides,
        places,
    )
