"""Lights that stay with the camera."""

from __future__ import annotations

import math

import numpy as np
import pytest

from flexor.draw.scene.fit import direction_of
from flexor.draw.scene.lighting import light_on, lights_of, lights_with_camera
from flexor.draw.scene.style import DrawStyle
from flexor.scene.character.camera import Camera
from flexor.scene.character.light import DAYLIGHT, Light
from tests.oracle.raster.colour import light_sum


def test_camera_in_front_changes_nothing() -> None:
    for light, same in zip(
        DAYLIGHT, lights_with_camera(DAYLIGHT, Camera()), strict=True
    ):
        np.testing.assert_allclose(same.direction, light.direction)
        assert (same.colour, same.ground) == (light.colour, light.ground)


@pytest.mark.parametrize("turn", [0.5, 2, -3])
def test_the_same_seen_from_the_camera(turn: float) -> None:
    lights = (*DAYLIGHT, Light("point", position=(1, 3, 2)))
    front = Camera((1, 1, 9), (1, 1, 0))
    way = np.array(direction_of(turn, 0.4)) * 9
    other = Camera(tuple(np.array((1, 1, 0)) + way), (1, 1, 0))
    for a, b in zip(
        lights_with_camera(lights, front),
        lights_with_camera(lights, other),
        strict=True,
    ):
        # As far to the right, and as high.
        for of in ("direction", "position"):
            one, two = np.array(getattr(a, of)), np.array(getattr(b, of))
            if of == "position":
                one, two = one - front.target, two - other.target
            assert one @ front.axes()[0] == pytest.approx(two @ other.axes()[0])
            assert one[1] == pytest.approx(two[1])


def test_from_above() -> None:
    camera = Camera((0, 5, 0), (0, 0, 0), up=(0, 0, -1))
    (light,) = lights_with_camera((Light("directional", direction=(1, -1, 0)),), camera)
    np.testing.assert_allclose(light.direction, (1, -1, 0), atol=1e-12)
    assert math.isclose(light.reach, 1)


def test_styles_have_their_own() -> None:
    camera = Camera()
    assert len(lights_of(DrawStyle(), camera)) == len(DAYLIGHT)
    suns = [light.kind for light in lights_of(DrawStyle(style="cel"), camera)]
    assert suns == ["ambient", "directional"]
    own = (Light("ambient"),)
    assert lights_of(DrawStyle(style="cel", lights=own), camera) == own


def test_light_on_places_is_that_of_the_twin(rng: np.random.Generator) -> None:
    lights = (
        *DAYLIGHT,
        Light("ambient", (0.1, 0.2, 0.3)),
        Light("point", (2.0, 1.0, 0.5), position=(1, 2, 3), reach=2.5),
    )
    places = rng.normal(0, 3, (40, 3)).astype(np.float32)
    normals = rng.normal(size=(40, 3))
    normals /= np.linalg.norm(normals, axis=1, keepdims=True)
    found = light_on(lights, places, normals.astype(np.float32))
    assert found.dtype == np.float32
    wanted = light_sum(lights, places, normals)
    np.testing.assert_allclose(found, wanted, rtol=1e-4, atol=1e-5)
