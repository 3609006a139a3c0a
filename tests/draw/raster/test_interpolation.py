"""What corners carry, between them: with perspective, as the surface has it."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from flexor.draw.backend import Backend
from flexor.draw.drawlist import DrawItem
from flexor.scene.character.camera import Camera
from tests.draw.shapes import UNLIT, Shape, draw, floats, pixel_rays, plane, put
from tests.oracle.raster.colour import encode

SIZE = (64, 48)
SLANTED = Camera((1.0, 1.2, 3.0), (0.2, 0.0, 0.0), fov=0.9)
FLAT = Camera((1.0, 1.2, 3.0), (0.2, 0.0, 0.0), height=2.5)


def on_ground(camera: Camera) -> tuple[Any, Any]:
    """Where the ray of each pixel meets the ground: x, z and distance (H, W)."""
    start, way = pixel_rays(camera, SIZE)
    with np.errstate(divide="ignore"):
        length = -start[..., 1] / way[..., 1]
    place = start + way * np.where(np.isfinite(length), length, -1)[..., None]
    return place, np.where(length > 0, length, np.inf)


def well_inside(place: Any, distance: Any, half: float = 0.97) -> Any:
    return (abs(place[..., [0, 2]]) < half).all(-1) & np.isfinite(distance)


@pytest.mark.parametrize("samples", [1, 4])
@pytest.mark.parametrize("camera", [SLANTED, FLAT], ids=["perspective", "flat"])
def test_heat_on_a_slanted_plane(
    backend: Backend, camera: Camera, samples: int
) -> None:
    ground = plane()
    heat = floats(3 + 2 * ground.positions[:, 0] - ground.positions[:, 2])
    item = put(backend, ground, heat=heat)
    target = draw(
        backend,
        SIZE,
        item,
        camera=camera,
        samples=samples,
        buffers=("heat", "depth", "normal"),
    )
    place, distance = on_ground(camera)
    inside = well_inside(place, distance)
    assert inside.sum() > 300
    wanted = (3 + 2 * place[..., 0] - place[..., 2])[inside]
    wrong = abs(target.heat[inside] - wanted)
    # With four samples, pixels on the edge of two triangles may show one of their
    # samples.
    assert wrong.max() < (2e-3 if samples == 1 else 0.1)
    assert (wrong < 2e-3).mean() > 0.9
    wrong = abs(target.depth[inside] - distance[inside])
    assert wrong.max() < (2e-3 if samples == 1 else 0.1)
    assert (wrong < 2e-3).mean() > 0.9
    np.testing.assert_allclose(
        target.normal[inside], np.tile([0, 1, 0], (inside.sum(), 1)), atol=1e-6
    )


@pytest.mark.parametrize("camera", [SLANTED, FLAT], ids=["perspective", "flat"])
def test_vertex_colours_on_a_slanted_plane(backend: Backend, camera: Camera) -> None:
    ground = plane()
    x, z = ground.positions[:, 0], ground.positions[:, 2]
    colours = floats(np.stack([(1 + x) / 2, (1 + z) / 2, 0 * x, 0 * x + 1], -1))
    picture = draw(
        backend, SIZE, put(backend, ground, colours=colours), camera=camera
    ).colour
    place, distance = on_ground(camera)
    inside = well_inside(place, distance)
    wanted = encode((1 + place[inside][:, [0, 2]]) / 2)
    assert abs(picture[inside][:, :2].astype(int) - wanted).max() <= 1
    assert not picture[inside][:, 2].any()


def test_colours_of_the_mesh_and_of_the_item(backend: Backend) -> None:
    """An item's own colours stand in place of the mesh's."""
    ground = plane()
    red = floats(np.tile([1, 0, 0, 1], (4, 1)))
    mesh = backend.upload(ground.mesh(colours=red))

    green = floats(np.tile([0, 1, 0, 1], (4, 1)))
    camera = Camera((0, 3, 0.01), (0, 0, 0))
    for colours, wanted in ((None, [255, 0, 0]), (green, [0, 255, 0])):
        item = DrawItem(mesh, ground.positions, look=UNLIT, colours=colours)
        picture = draw(backend, SIZE, item, camera=camera).colour
        assert picture[24, 32, :3].tolist() == wanted


def test_behind_the_near_plane(backend: Backend) -> None:
    """A plane from behind the camera to far before it is cut, and stays as it is."""
    camera = Camera((0.2, 1.0, 0.5), (0.3, 0.2, -3.0), fov=1.1, near=0.5)
    half = 40.0
    ground = plane(half)
    heat = floats(ground.positions[:, 0] + 10 * ground.positions[:, 2])
    target = draw(
        backend,
        SIZE,
        put(backend, ground, heat=heat),
        camera=camera,
        buffers=("heat", "depth"),
    )
    place, distance = on_ground(camera)
    inside = well_inside(place, distance, half * 0.9) & (distance > 0.52)
    assert inside.sum() > 1200
    wanted = (place[..., 0] + 10 * place[..., 2])[inside]
    # Far away a pixel spans metres: allow a hundredth of one.
    per_pixel = distance[inside] ** 2 / 60 * 10
    assert (abs(target.heat[inside] - wanted) < 0.02 * per_pixel + 0.01).all()
    near = abs(target.depth[inside] / distance[inside] - 1)
    assert near.max() < 0.01
    assert np.isinf(target.depth[(distance < 0.48)]).all()


def test_a_corner_keeps_its_value(backend: Backend) -> None:
    """Heat never leaves what the corners have, also at the edges with four samples."""
    shape = Shape(floats([(-1, -1, 0), (1.2, -0.3, -4), (0.1, 0.9, 1.5)]), [[0, 1, 2]])
    heat = floats([5, 6, 7])
    for samples in (1, 4):
        target = draw(
            backend,
            SIZE,
            put(backend, shape, heat=heat),
            camera=Camera((0, 0, 4), (0, 0, 0)),
            samples=samples,
            buffers=("heat",),
        )
        seen = target.heat[np.isfinite(target.heat)]
        assert seen.min() > 5 - 1e-3
        assert seen.max() < 7 + 1e-3
        assert np.ptp(seen) > 1.5
