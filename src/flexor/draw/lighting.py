"""Light that stays with the camera."""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import replace

from flexor.scene.camera import Camera
from flexor.scene.light import Light, Vector

__all__ = ["lights_with_camera"]


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
