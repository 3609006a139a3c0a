"""Numbers that no surface should have: nothing stops, and nothing spreads to others."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from flexor.draw.backend import Backend
from flexor.draw.drawlist import DrawItem, DrawLines, Look
from flexor.scene.character.camera import Camera
from tests.draw.shapes import (
    UNLIT,
    Shape,
    checker,
    draw,
    floats,
    put,
    put_texture,
    rectangle,
    sphere,
)

SIZE = (80, 40)
STRANGE = [np.nan, np.inf, -np.inf, 1e20, -1e20, 3e38, 1e-40]
ALL = ("depth", "normal", "part", "heat")


def beside(raster: Backend, item: DrawItem, samples: int = 1, **more: Any) -> Any:
    """Draw an item beside a white one, which must come out as ever; gives the target.

    The item is in the left half; the white one covers the right half.
    """
    white = put(raster, rectangle(SIZE, (40, 0, 80, 40), z=1), part=7)
    target = draw(
        raster, SIZE, [item, white], samples=samples, buffers=ALL, lights=(), **more
    )
    assert (target.colour[:, 41:] == 255).all()
    assert (target.part[:, 41:] == 7).all()
    return target


def left() -> Shape:
    return rectangle(SIZE, (2, 2, 38, 38))


@pytest.mark.parametrize("samples", [1, 4])
@pytest.mark.parametrize("alpha", ["opaque", "mask", "blend"])
@pytest.mark.parametrize("wrap", ["repeat", "mirror", "clamp"])
@pytest.mark.parametrize("value", STRANGE)
def test_texture_coordinates(
    raster: Backend, value: float, wrap: Any, alpha: Any, samples: int
) -> None:
    for is_nearest in (False, True):
        number = put_texture(
            raster, checker(8), wrap_s=wrap, wrap_t=wrap, is_nearest=is_nearest
        )
        look = Look(shading="unlit", texture=number, alpha=alpha)
        for rows in ([0], [1, 2], [0, 1, 2, 3]):
            texcoords = left().texcoords.copy()
            texcoords[rows] = value
            item = put(raster, left(), look, texcoords=texcoords)
            beside(raster, item, samples)


@pytest.mark.parametrize("value", STRANGE)
def test_texture_transform(raster: Backend, value: float) -> None:
    number = put_texture(raster, checker(8))
    rows = ((value, 0.0, 0.0), (0.0, 1.0, value))
    look = Look(shading="unlit", texture=number, texture_transform=rows)
    beside(raster, put(raster, left(), look))


@pytest.mark.parametrize("samples", [1, 4])
@pytest.mark.parametrize("shading", ["pixel", "vertex", "cel", "flat"])
@pytest.mark.parametrize("value", STRANGE)
def test_normals(raster: Backend, value: float, shading: Any, samples: int) -> None:
    shape = left()
    shape.normals = floats(np.full((4, 3), value))
    beside(raster, put(raster, shape, Look(shading=shading)), samples)


@pytest.mark.parametrize("alpha", ["opaque", "mask", "blend"])
@pytest.mark.parametrize("value", STRANGE)
def test_colours_and_tints(raster: Backend, value: float, alpha: Any) -> None:
    strange = floats(np.full((4, 4), value))
    look = Look(shading="unlit", alpha=alpha)
    beside(raster, put(raster, left(), look, colours=strange), 4)
    beside(raster, put(raster, left(), look, tints=strange[:1].copy()), 4)
    look = Look(colour=(value,) * 4, shading="unlit", alpha=alpha)
    beside(raster, put(raster, left(), look))


@pytest.mark.parametrize("value", STRANGE)
def test_heat(raster: Backend, value: float) -> None:
    target = beside(raster, put(raster, left(), UNLIT, heat=floats([value] * 4)))
    assert np.isnan(target.heat[:, 41:]).all()


@pytest.mark.parametrize("order", ["depth", "sort"])
@pytest.mark.parametrize("look", [UNLIT, Look(alpha="blend"), Look(shading="vertex")])
@pytest.mark.parametrize("value", STRANGE)
def test_positions(raster: Backend, value: float, look: Look, order: Any) -> None:
    """One strange corner, or one strange number in it, at each place of a face."""
    for corner in range(4):
        for axis in (0, 1, 2, slice(None)):
            shape = left()
            shape.positions = shape.positions.copy()
            shape.positions[corner, axis] = value
            item = put(raster, shape, look)
            white = put(raster, rectangle(SIZE, z=99), part=7)
            target = draw(raster, SIZE, [item, white], order=order, buffers=ALL)
            bad = 2 if corner in (0, 2) else 1
            assert target.skipped == (0 if np.isfinite(value) else bad)
            if order == "depth" and not value > 99:
                assert (target.part == 7).all()


@pytest.mark.parametrize("value", STRANGE)
def test_positions_with_perspective(raster: Backend, value: float) -> None:
    ball = sphere(1, 8, 12)
    camera = Camera((0, 0, 4), (0, 0, 0))
    for row in range(0, len(ball.positions), 7):
        shape = Shape(ball.positions.copy(), ball.faces, ball.normals)
        shape.positions[row, row % 3] = value
        target = draw(
            raster, SIZE, put(raster, shape, Look()), camera=camera, buffers=ALL
        )
        faces = (ball.faces == row).any(1).sum()
        assert target.skipped == (0 if np.isfinite(value) else faces)
        assert not np.isnan(target.depth).any()


@pytest.mark.parametrize("value", STRANGE)
def test_lines(raster: Backend, value: float) -> None:
    points = np.zeros((6, 2, 3), np.float32)
    for n in range(6):
        points[n, n // 3, n % 3] = value
    for camera in (None, Camera((0.2, 0.1, 4), (0, 0, 0))):
        more = {} if camera is None else {"camera": camera}
        lines = [DrawLines(points, floats([1, 1, 1, 1]), 3)]
        target = draw(raster, SIZE, lines=lines, buffers=ALL, **more)
        assert not np.isnan(target.depth).any()
    colours = floats(np.full((6, 4), value))
    draw(raster, SIZE, lines=[DrawLines(floats(np.ones((6, 2, 3))), colours, 3)])


def test_extreme_cameras(raster: Backend) -> None:
    """Very near, very far, very wide, very narrow."""
    item = put(raster, sphere(1, 8, 12), Look())
    for eye in ((0, 0, 1.001), (0, 0, 1e6), (1e-5, 0, 1e-5), (3e5, 3e5, 3e5)):
        for fov in (1e-4, 0.5, 3.14):
            for near in (1e-6, 1e5):
                camera = Camera(eye, (0, 0, 0), fov=fov, near=near)
                draw(raster, SIZE, item, camera=camera, samples=4, buffers=ALL)
        for height in (1e-6, 1e6):
            camera = Camera(eye, (0, 0, 0), height=height)
            draw(raster, SIZE, item, camera=camera, samples=4, buffers=ALL)
