"""Faces that share an edge: no pixel twice, none missing.

Faces are seen through by half: a pixel drawn once is 188, twice 225, never 0.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from flexor.draw.backend import Backend
from flexor.draw.drawlist import DrawItem, DrawMesh
from flexor.scene.character.camera import Camera
from tests.draw.raster.slow import SlowBackend
from tests.draw.shapes import (
    CLEAR,
    ONCE,
    SEEN_THROUGH,
    UNLIT,
    Shape,
    at_pixels,
    cube,
    draw,
    floats,
    pixel_rays,
    plane,
    put,
    rectangle,
    sphere,
)

SIZE = (48, 40)


def random_grid(
    rng: np.random.Generator, cells: int, steps: int, size: tuple[int, int] = SIZE
) -> Shape:
    """A net over the whole picture and a little more, each cell cut one way or the
    other; corners in steps of a pixel.
    """
    row, column = np.mgrid[: cells + 1, : cells + 1]
    places = np.stack([column, row], -1) * (np.array(size) + 8) / cells - 4
    places += rng.uniform(-0.2, 0.2, places.shape) * (np.array(size) / cells)
    places = np.round(places * steps) / steps
    faces = []
    for y in range(cells):
        for x in range(cells):
            a = y * (cells + 1) + x
            b, c, d = a + cells + 1, a + cells + 2, a + 1
            if rng.random() < 0.5:
                faces += [[a, b, c], [a, c, d]]
            else:
                faces += [[a, b, d], [b, c, d]]
    places[[0, -1]] = np.round(places[[0, -1]])
    border = [(0, slice(None), 1, -4), (-1, slice(None), 1, size[1] + 4)]
    border += [(slice(None), 0, 0, -4), (slice(None), -1, 0, size[0] + 4)]
    for y, x, axis, value in border:
        places[y, x, axis] = value
    return Shape(at_pixels(places.reshape(-1, 2), size), rng.permutation(faces))


def fan(centre: Any, around: Any) -> Shape:
    """Triangles from a centre (2,) to places (n, 2) around it, which begin again."""
    count = len(around)
    faces = [[0, 1 + (n + 1) % count, 1 + n] for n in range(count)]
    return Shape(at_pixels([centre, *around], SIZE), faces)


def circle(count: int, radius: float, centre: Any) -> Any:
    angle = np.arange(count) * 2 * np.pi / count
    ring = np.stack([np.cos(angle), np.sin(angle)], -1) * radius + np.array(centre)
    return np.round(ring * 256) / 256


def assert_once(backend: Backend, shape: Shape, **more: Any) -> None:
    look = replace(SEEN_THROUGH, cull=more.pop("cull", "back"))
    picture = draw(backend, SIZE, put(backend, shape, look), **more).colour
    levels, counts = np.unique(picture[..., 0], return_counts=True)
    assert levels.tolist() == [ONCE], dict(zip(levels, counts, strict=True))


@pytest.mark.parametrize("steps", [1, 2, 256])
@pytest.mark.parametrize("cells", [1, 5, 24, 70])
def test_random_nets(
    backend: Backend, rng: np.random.Generator, cells: int, steps: int
) -> None:
    """Also with corners on pixel centres, and with triangles smaller than pixels."""
    if isinstance(backend, SlowBackend):
        cells = min(cells, 20)
    if steps == 1 and cells > 24:
        steps = 16  # such cells would turn over when rounded to whole pixels
    assert_once(backend, random_grid(rng, cells, steps))


@pytest.mark.parametrize("centre", [(20.5, 17.5), (20.0, 17.0), (13.25, 8.75)])
@pytest.mark.parametrize("count", [3, 7, 64, 301])
def test_fans(backend: Backend, centre: Any, count: int) -> None:
    """Slivers that meet on a pixel's centre, on its corner, and elsewhere."""
    assert_once(backend, fan(centre, circle(count, 120, centre)))


def test_slivers_from_far_away(backend: Backend) -> None:
    """Three hundred triangles that are long and thinner than a pixel."""
    below = np.linspace(SIZE[0] + 20, -20, 301)
    below = np.stack([below, np.full(301, SIZE[1] + 1.0)], -1)
    places = np.round(np.concatenate([[[24.25, -300.5]], below]) * 256) / 256
    faces = [[0, 2 + n, 1 + n] for n in range(300)]
    assert_once(backend, Shape(at_pixels(places, SIZE), faces))


@pytest.mark.parametrize("radius", [1e3, 1e5, 1e6, 8e6])
def test_corners_far_outside(backend: Backend, radius: float) -> None:
    around = np.floor(circle(5, radius, (0, 0)))
    assert_once(backend, fan((20.5, 17.5), around))


@pytest.mark.parametrize("radius", [1e5, 1e6])
def test_small_triangles_beside_huge_ones(backend: Backend, radius: float) -> None:
    """Each face of a hexagon has a neighbour that reaches far outside."""
    inner, outer = circle(6, 11, (24, 20)), np.floor(circle(6, radius, (24, 20)))
    places = [(24.5, 20.5), *inner, *outer]
    faces = []
    for n in range(6):
        a, b = 1 + n, 1 + (n + 1) % 6
        faces += [[0, b, a], [a, b, b + 6], [a, b + 6, a + 6]]
    assert_once(backend, Shape(at_pixels(places, SIZE), faces))


def turned_cameras(rng: np.random.Generator, **more: Any) -> list[Camera]:
    ways = rng.normal(size=(12, 3))
    return [Camera((0.1, 0.2, 0.3), tuple(way), fov=1.2, **more) for way in ways]


def test_inside_a_sphere(backend: Backend, rng: np.random.Generator) -> None:
    """A closed surface around the camera is before every pixel once."""
    shape = sphere(2, 9, 14)
    for camera in turned_cameras(rng):
        assert_once(backend, shape, camera=camera, cull="none")


def test_near_plane_through_a_surface(
    backend: Backend, rng: np.random.Generator
) -> None:
    """Triangles cut by the near plane fit those beside them that are not."""
    around = cube(1.0, is_quad=False)
    for camera in turned_cameras(rng, near=0.55):
        picture = draw(
            backend,
            SIZE,
            put(backend, around, replace(SEEN_THROUGH, cull="none")),
            camera=camera,
        ).colour[..., 0]
        assert set(np.unique(picture)) <= {0, ONCE}
        drawn = picture > 0
        # What is missing is what is too near, and that is convex on each wall.
        at_walls = wall_distance(camera)
        sure = abs(at_walls - camera.near) > 0.02
        assert (drawn == (at_walls >= camera.near))[sure].all()


def wall_distance(camera: Camera) -> Any:
    """Distance (H, W) along the view to the cube of half width 1 around the eye."""
    start, way = pixel_rays(camera, SIZE)
    with np.errstate(divide="ignore"):
        return np.min((np.sign(way) - start) / way, axis=-1, initial=1e9)


def test_ground_below_the_camera(backend: Backend, rng: np.random.Generator) -> None:
    """A net of triangles that goes from behind the camera to the horizon."""
    for cells in (1, 3, 10, 40):
        ground = plane(60.0, cells)
        way = (rng.uniform(-1, 1), 0.3, rng.uniform(-1, 1))
        camera = Camera((0.3, 0.7, 0.2), way, near=0.6)
        picture = draw(
            backend, SIZE, put(backend, ground, SEEN_THROUGH), camera=camera
        ).colour[..., 0]
        assert set(np.unique(picture)) <= {0, ONCE}
        assert (picture == ONCE).mean() > 0.2


@pytest.mark.parametrize("is_behind", [True, False], ids=["behind", "beside"])
def test_cut_beside_uncut(
    backend: Backend, rng: np.random.Generator, is_behind: bool
) -> None:
    """Two triangles with an edge across the picture; one is whole, the other reaches
    behind the camera or far outside: their common corners must be the same.
    """
    size = (800, 40)
    camera = Camera((0.3, -0.2, 0.1), (1.7, 0.4, -2.2), fov=0.1, near=0.2)
    right, up, back = camera.axes()
    faces = np.array([[0, 2, 1], [1, 3, 0]])
    mesh = backend.upload(DrawMesh(4, faces))
    broken = []
    for number in range(10 if isinstance(backend, SlowBackend) else 500):
        low, high = [(-30, 0), (790, 0), (0, 80)], [(10, 40), (830, 40), (800, 160)]
        places = rng.uniform(low, high)
        distance = rng.uniform(0.5, 6, (3, 1))
        pixel = distance / camera.scale(size)
        across, down = (places - (400, 20)).T[..., None] * pixel
        near = camera.eye + across * right - down * up - distance * back
        if is_behind:
            way = (rng.uniform(-1, 1), rng.uniform(4, 9), rng.uniform(0.1, 1))
        else:
            way = (rng.uniform(-90, 90), rng.uniform(90, 900), -2)
        far = camera.eye + np.array(way) @ [right, up, back]
        item = DrawItem(mesh, floats([*near, far]), look=SEEN_THROUGH)
        picture = draw(backend, size, item, camera=camera).colour[..., 0]
        filled = picture > 0
        missing = filled[:-2] & ~filled[1:-1] & filled[2:]
        if missing.any() or (picture > ONCE).any():
            broken.append(number)
    assert not broken


@pytest.mark.parametrize("samples", [1, 4])
def test_each_sample_belongs_to_one_triangle(
    backend: Backend, rng: np.random.Generator, samples: int
) -> None:
    """Each triangle drawn alone: the samples add up to all of them."""
    size = (16, 16)
    shape = random_grid(rng, 5, 16, size)
    total = np.zeros(size[::-1], int)
    for face in shape.faces:
        item = put(backend, Shape(shape.positions, [face]))
        picture = draw(backend, size, item, samples=samples, background=CLEAR).colour
        total += np.round(picture[..., 3] / 255 * samples).astype(int)
    assert (total == samples).all()


@pytest.mark.parametrize("samples", [1, 4])
def test_no_background_between_opaque_faces(
    backend: Backend, rng: np.random.Generator, samples: int
) -> None:
    item = put(backend, random_grid(rng, 9, 256), UNLIT)
    assert (draw(backend, SIZE, item, samples=samples).colour == 255).all()


def test_a_quad_is_its_two_triangles(backend: Backend) -> None:
    places = (3.25, 2.5, 40.5, 30.75)
    quad = put(backend, rectangle(SIZE, places, is_quad=True), SEEN_THROUGH)
    pair = put(backend, rectangle(SIZE, places), SEEN_THROUGH)
    picture = draw(backend, SIZE, quad).colour
    assert (picture == draw(backend, SIZE, pair).colour).all()
    assert set(np.unique(picture[..., 0])) == {0, ONCE}
