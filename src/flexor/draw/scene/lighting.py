"""Light that stays with the camera, and how much of it falls on places."""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import replace

import numpy as np

from flexor.arrays import Floats
from flexor.draw.scene.style import DrawStyle
from flexor.scene.character.camera import Camera
from flexor.scene.character.light import DAYLIGHT, Light, Vector

__all__ = ["light_on", "lights_of", "lights_with_camera"]

# Steps of light are clear only where one light makes them.
CEL_LIGHT = (
    Light("ambient", (0.50, 0.52, 0.56)),
    Light("directional", (0.62, 0.60, 0.55), direction=(0.45, -0.75, -0.6)),
)


def lights_of(style: DrawStyle, camera: Camera) -> tuple[Light, ...]:
    """The lights of a style: as set, or its own, which stay with the camera."""
    if style.lights is not None:
        return style.lights
    own = CEL_LIGHT if style.style == "cel" else DAYLIGHT
    return lights_with_camera(own, camera)


def lights_with_camera(lights: Iterable[Light], camera: Camera) -> tuple[Light, ...]:
    """Lights made for a camera that looks along -z, turned about the vertical to stand
    the same way to another. Points of light are turned about the camera's target.
    """
    right = camera.axes()[0]
    angle = math.atan2(-right[2], right[0])
    cos, sin = math.cos(angle), math.sin(angle)

    def turn(way: Vector, about: Vector = (0.0, 0.0, 0.0)) -> Vector:
        x, z = way[0] - about[0], way[2] - about[2]
        return x * cos + z * sin + about[0], way[1], z * cos - x * sin + about[2]

    return tuple(
        replace(
            light,
            direction=turn(light.direction),
            position=turn(light.position, camera.target),
        )
        for light in lights
    )


def light_on(lights: Iterable[Light], places: Floats, normals: Floats) -> Floats:
    """The light at places (n, 3) with unit normals (n, 3): float32 (n, 3).

    What backends compute too; for colours that are mixed with something unlit.
    """
    found = np.zeros(places.shape, np.float64)
    for light in lights:
        colour = np.array(light.colour)
        if light.kind == "ambient":
            below = colour if light.ground is None else np.array(light.ground)
            found += below + (colour - below) * (0.5 + 0.5 * normals[:, 1:2])
            continue
        if light.kind == "directional":
            way, fade = -np.array([light.direction]), np.ones(1)
        else:
            way = np.array(light.position) - places
            fade = 1 / (1 + (way * way).sum(1) / light.reach**2)
        size = np.maximum(np.linalg.norm(way, axis=1), 1e-10)
        facing = np.maximum((normals * way).sum(1) / size, 0) * fade
        found += facing[:, None] * colour
    return found.astype(np.float32)
