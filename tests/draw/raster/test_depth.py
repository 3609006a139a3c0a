"""What is nearest is seen: against rays through every pixel, and in special places."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from flexor.draw.backend import Backend
from flexor.draw.drawlist import DrawItem, Look
from flexor.scene.character.camera import Camera
from tests.draw.shapes import (
    UNLIT,
    Shape,
    draw,
    floats,
    pixel_rays,
    put,
    rectangle,
    sphere,
)
from tests.oracle.raster.colour import encode

SIZE = (48, 40)
BOTH_SIDES = Look(shading="unlit", cull="none")


def cast(triangles: Any, camera: Camera, size: tuple[int, int]) -> tuple[Any, Any, Any]:
    """Nearest of triangles (n, 3, 3) for every pixel: its number or -1, distance, and
    whether both are sure: no edge within 1/32 pixel, no other triangle as near.
    """
    start, way = pixel_rays(camera, size)
    shape = start.shape[:2]
    first, second = np.full(shape, np.inf), np.full(shape, np.inf)
    number, sure = np.full(shape, -1), np.ones(shape, bool)
    pixel = 1 / 32 / camera.scale(size)
    for n, (a, b, c) in enumerate(triangles.astype(np.float64)):
        normal = np.cross(b - a, c - a)
        with np.errstate(divide="ignore"):
            length = (a - start) @ normal / (way @ normal)
        length = np.where(np.isfinite(length), length, -1)
        spot = start + way * length[..., None]
        inner = np.full(shape, np.inf)
        for p, q in ((a, b), (b, c), (c, a)):
            inward = np.cross(normal, q - p)
            inner = np.minimum(inner, (spot - p) @ inward / np.linalg.norm(inward))
        # Metres on the plane for a pixel there, more where it is slanted.
        slant = abs(way @ normal) / np.linalg.norm(normal)
        spread = pixel * (length if camera.height is None else 1) / slant
        hit = length >= camera.near
        sure &= ~(hit & (abs(inner) < spread))
        length = np.where(hit & (inner > 0), length, np.inf)
        number[length < first] = n
        second = np.minimum(second, np.maximum(length, first))
        first = np.minimum(first, length)
    with np.errstate(invalid="ignore"):
        sure &= ~(second - first < 1e-3 * first)
    return number, first, sure


@pytest.mark.parametrize("samples", [1, 4])
@pytest.mark.parametrize("height", [None, 4.0], ids=["perspective", "flat"])
@pytest.mark.parametrize("seed", range(4))
def test_soup_of_triangles(
    backend: Backend, seed: int, height: float | None, samples: int
) -> None:
    """Many triangles through each other: every sure pixel has the right one."""
    rng = np.random.default_rng(seed)
    middle = rng.uniform(-1.5, 1.5, (24, 1, 3))
    triangles = floats(middle + rng.normal(0, 0.8, (24, 3, 3)))
    camera = Camera((0.3, 0.5, 3.2), (0, 0, 0), fov=1.0, height=height, near=0.5)
    items = [
        put(backend, Shape(corners, [[0, 1, 2]]), BOTH_SIDES, part=n)
        for n, corners in enumerate(triangles)
    ]
    target = draw(
        backend, SIZE, items, camera=camera, samples=samples, buffers=("part", "depth")
    )
    number, distance, sure = cast(triangles, camera, SIZE)
    if samples == 4:
        # Buffers then show what is nearest anywhere in the pixel: also tips and slivers
        # that no centre of a pixel meets.
        sure &= same_around(number)
    assert sure.mean() > (0.5 if samples == 1 else 0.15)
    right = target.part == number
    assert right[sure].mean() >= (1 if samples == 1 else 0.98)
    hit = sure & right & (number >= 0)
    np.testing.assert_allclose(target.depth[hit], distance[hit], rtol=0.02)
    assert np.isinf(target.depth[target.part < 0]).all()


def same_around(number: Any) -> Any:
    """Pixels whose eight neighbours have the same number."""
    wide = np.pad(number, 1, mode="edge")
    result = np.ones(number.shape, bool)
    for dy in range(3):
        for dx in range(3):
            rows = slice(dy, dy + number.shape[0])
            columns = slice(dx, dx + number.shape[1])
            result &= wide[rows, columns] == number
    return result


def test_one_mesh_of_many_triangles(backend: Backend) -> None:
    """The same soup as one mesh, through colours instead of parts."""
    rng = np.random.default_rng(9)
    middle = rng.uniform(-1.5, 1.5, (60, 1, 3))
    triangles = floats(middle + rng.normal(0, 0.6, (60, 3, 3)))
    camera = Camera((0.3, 0.5, 3.2), (0, 0, 0), fov=1.0)
    levels = np.arange(60) / 59
    colours = np.ones((180, 4))
    colours[:, 0] = np.repeat(levels, 3)
    shape = Shape(triangles.reshape(-1, 3), np.arange(180).reshape(-1, 3))
    item = put(backend, shape, BOTH_SIDES, colours=floats(colours))
    target = draw(backend, SIZE, item, camera=camera, buffers=("part",))
    number, _, sure = cast(triangles, camera, SIZE)
    hit = sure & (number >= 0)
    wanted = encode(levels[number[hit]])
    assert abs(target.colour[hit][:, 0].astype(int) - wanted).max() <= 1
    assert (target.part[sure] == np.where(number >= 0, 0, -1)[sure]).all()


def test_equal_depth_keeps_the_first(backend: Backend) -> None:
    shape = rectangle(SIZE)
    items = [put(backend, shape, part=n) for n in (3, 1, 2)]
    assert (draw(backend, SIZE, items, buffers=("part",)).part == 3).all()


def test_many_of_one_item(backend: Backend) -> None:
    """N positions, each with its own tint; the nearest wins in any order."""
    size = (8, 8)
    shape = rectangle(size)
    z = np.array([1, 5, 3, -2], np.float32)
    positions = shape.positions[None] + np.stack([0 * z, 0 * z, z], -1)[:, None]
    tints = floats([(1, 0, 0, 1), (0, 1, 0, 1), (0, 0, 1, 1), (1, 1, 1, 1)])
    mesh = backend.upload(shape.mesh())
    item = DrawItem(mesh, floats(positions), look=UNLIT, tints=tints)
    target = draw(backend, size, item, buffers=("depth",))
    assert (target.colour == [0, 255, 0, 255]).all()
    assert (target.depth == 95).all()


def test_camera_inside_a_sphere(backend: Backend) -> None:
    """All around is surface; with its back faces left out there is nothing."""
    ball = sphere(2, 24, 36)
    camera = Camera((0.2, 0.1, -0.3), (0, 0, 1), fov=1.3, near=0.05)
    item = put(backend, ball, BOTH_SIDES)
    target = draw(backend, SIZE, item, camera=camera, buffers=("depth", "part"))
    assert (target.part == 0).all()
    start, way = pixel_rays(camera, SIZE)
    a, b = (way**2).sum(-1), (start * way).sum(-1)
    c = (start**2).sum(-1) - 4
    exact = (-b + np.sqrt(b * b - a * c)) / a
    np.testing.assert_allclose(target.depth, exact, rtol=0.01)
    inside = put(backend, ball, UNLIT)
    target = draw(backend, SIZE, inside, camera=camera, buffers=("part",))
    assert (target.part == -1).all()


def test_nearer_than_near_is_not_drawn(backend: Backend) -> None:
    """Also without perspective, to the exact distance."""
    for z, is_seen in ((89.5, True), (90.0, True), (90.5, False), (101.0, False)):
        item = put(backend, rectangle(SIZE, z=z))
        camera = Camera((0, 0, 100), (0, 0, 0), height=40, near=10)
        target = draw(backend, SIZE, item, camera=camera, buffers=("depth",))
        assert (target.depth == (100 - z if is_seen else np.inf)).all()


def test_near_cuts_a_triangle_where_it_is(backend: Backend) -> None:
    """A triangle leaning toward the camera ends where its distance is `near`."""
    size = (40, 40)
    corners = floats([(-20, -20, 80), (20, -20, 80), (0, 20, 100)])
    item = put(backend, Shape(corners, [[0, 1, 2]]))
    camera = Camera((0, 0, 100), (0, 0, 0), height=40, near=10)
    filled = draw(backend, size, item, camera=camera).colour[..., 0] > 0
    # Halfway up it is at a distance of 10.
    assert not filled[:20].any()
    assert filled[20:, 20].all()


def test_layer_1_is_over_all(backend: Backend) -> None:
    """Far things on layer 1 hide near ones on layer 0, and hide each other rightly."""
    size = (8, 8)
    white = put(backend, rectangle(size, z=50))
    red = Look(shading="unlit", colour=(1, 0, 0, 1))
    blue = Look(shading="unlit", colour=(0, 0, 1, 1))
    left = put(backend, rectangle(size, (0, 0, 4, 8), z=-10), red, layer=1, part=7)
    all_over = put(backend, rectangle(size, (0, 0, 6, 8), z=-20), blue, layer=1)
    for items in ([left, white, all_over], [all_over, left, white]):
        target = draw(backend, size, items, buffers=("part", "depth"))
        row = target.colour[4, :, :3].tolist()
        assert row == [[255, 0, 0]] * 4 + [[0, 0, 255]] * 2 + [[255] * 3] * 2
        assert (target.part == 0).all()
        assert (target.depth == 50).all()


@pytest.mark.parametrize("samples", [1, 4])
def test_order_of_items_does_not_matter(backend: Backend, samples: int) -> None:
    rng = np.random.default_rng(5)
    ball = sphere(0.6, 8, 12)
    items = []
    for n in range(6):
        move = rng.uniform(-1, 1, 3).astype(np.float32)
        moved = Shape(floats(ball.positions + move), ball.faces, ball.normals)
        items.append(put(backend, moved, Look(colour=(n / 5, 0.5, 1, 1)), part=n))
    camera = Camera((0, 0, 4), (0, 0, 0))
    more = {"camera": camera, "samples": samples, "buffers": ("part",)}
    one = draw(backend, SIZE, items, **more)
    other = draw(backend, SIZE, items[::-1], **more)
    same = (one.colour == other.colour).all(-1) & (one.part == other.part)
    assert same.mean() > 0.999
