"""Depth, normal, part and heat beside the picture; what is not finite."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from flexor.draw.backend import Backend
from flexor.draw.drawlist import DrawItem, DrawList, Look
from flexor.scene.character.camera import Camera
from tests.draw.shapes import (
    UNLIT,
    Shape,
    at_pixels,
    draw,
    floats,
    pixel_camera,
    pixel_rays,
    put,
    rectangle,
    sphere,
)

SIZE = (40, 32)
ALL = ("depth", "normal", "part", "heat")


def test_only_what_was_asked_for(backend: Backend) -> None:
    item = put(backend, rectangle(SIZE))
    for name in ALL:
        target = draw(backend, SIZE, item, buffers=(name,))
        for other in ALL:
            assert (getattr(target, other) is not None) == (other == name)


@pytest.mark.parametrize("samples", [1, 4])
def test_empty_where_nothing_is(backend: Backend, samples: int) -> None:
    """Also what an earlier picture left in them is gone."""
    item = put(backend, rectangle(SIZE), heat=floats(np.ones(4)))
    target = draw(backend, SIZE, item, samples=samples, buffers=ALL)
    assert (target.heat == 1).all()
    backend.draw(DrawList(pixel_camera(SIZE), background=(1, 2, 3, 4)), target)
    assert (target.colour == [1, 2, 3, 4]).all()
    assert (target.depth == np.inf).all()
    assert (target.normal == 0).all()
    assert (target.part == -1).all()
    assert np.isnan(target.heat).all()
    assert target.skipped == 0


@pytest.mark.parametrize("samples", [1, 4])
@pytest.mark.parametrize("height", [None, 2.4], ids=["perspective", "flat"])
def test_ball(backend: Backend, height: float | None, samples: int) -> None:
    """Every buffer of a fine ball against the ray through the pixel."""
    ball = sphere(1, 32, 48)
    heat = floats(ball.positions[:, 1])
    camera = Camera((0, 0.7, 4), (0, 0, 0), height=height)
    item = put(backend, ball, Look(), heat=heat, part=11)
    target = draw(backend, SIZE, item, camera=camera, samples=samples, buffers=ALL)
    start, way = pixel_rays(camera, SIZE)
    a, b = (way**2).sum(-1), (start * way).sum(-1)
    inner = b * b - a * ((start**2).sum(-1) - 1)
    hit = inner > 0
    length = (-b - np.sqrt(np.maximum(inner, 0))) / a
    place = start + way * length[..., None]
    facing = -(place * way).sum(-1) / np.sqrt(a)
    sure = hit & (facing > 0.3)
    assert sure.sum() > 250
    assert (target.part[sure] == 11).all()
    assert (target.part == np.where(hit, 11, -1)).mean() > 0.95
    # With four samples: the nearest of those that share the pixel.
    wrong = 0.02 if samples == 1 else 0.12
    np.testing.assert_allclose(target.depth[sure], length[sure], atol=wrong)
    np.testing.assert_allclose(target.normal[sure], place[sure], atol=wrong + 0.03)
    np.testing.assert_allclose(
        np.linalg.norm(target.normal[target.part >= 0], axis=-1), 1, atol=1e-3
    )
    np.testing.assert_allclose(target.heat[sure], place[sure][:, 1], atol=wrong + 0.03)
    empty = target.part < 0
    assert np.isinf(target.depth[empty]).all()
    assert np.isnan(target.heat[empty]).all()
    assert not target.normal[empty].any()


def test_items_without_heat_are_nan(backend: Backend) -> None:
    left = rectangle(SIZE, (0, 0, 20, 32))
    right = rectangle(SIZE, (20, 0, 40, 32))
    items = [put(backend, left, heat=floats([1, 2, 2, 1])), put(backend, right)]
    target = draw(backend, SIZE, items, buffers=("heat",))
    assert np.isfinite(target.heat[:, :20]).all()
    assert np.isnan(target.heat[:, 20:]).all()


def test_heat_is_any_number(backend: Backend) -> None:
    for value in (-1e6, 0.0, 3e5):
        item = put(backend, rectangle(SIZE), heat=floats([value] * 4))
        target = draw(backend, SIZE, item, buffers=("heat",))
        np.testing.assert_allclose(target.heat, value, rtol=1e-5)


def test_unlit_surfaces_have_normals(backend: Backend) -> None:
    shape = rectangle(SIZE)
    shape.normals = floats(np.tile([0.6, 0, 0.8], (4, 1)))
    with_normals = draw(backend, SIZE, put(backend, shape), buffers=("normal",))
    np.testing.assert_allclose(
        with_normals.normal, np.full((32, 40, 3), [0.6, 0, 0.8]), atol=1e-5
    )
    without = put(backend, shape, normals=None)
    target = draw(backend, SIZE, without, buffers=("normal",))
    np.testing.assert_allclose(
        target.normal, np.full((32, 40, 3), [0, 0, 1]), atol=1e-5
    )


@pytest.mark.parametrize("bad", [np.nan, np.inf, -np.inf])
@pytest.mark.parametrize("axis", [0, 1, 2])
def test_faces_that_are_not_finite_are_left_out(
    backend: Backend, bad: float, axis: int
) -> None:
    """Two of three triangles use a broken corner; the third is drawn as ever."""
    places = [(2, 2), (2, 30), (38, 30), (38, 2), (20, 1)]
    positions = at_pixels(places, SIZE)
    faces = np.array([[0, 1, 2], [0, 2, 3], [0, 3, 4]])
    whole = put(backend, Shape(positions, faces[:1]))
    wanted = draw(backend, SIZE, whole, buffers=ALL)
    broken = positions.copy()
    broken[3, axis] = bad
    item = put(backend, Shape(broken, faces))
    target = draw(backend, SIZE, item, buffers=ALL)
    assert target.skipped == 2
    assert wanted.skipped == 0
    assert (target.colour == wanted.colour).all()
    assert (target.part == wanted.part).all()


def test_left_out_faces_of_all_items_are_counted(backend: Backend) -> None:
    shape = rectangle(SIZE)
    positions = floats(np.stack([shape.positions] * 3))
    positions[1, 0, 0] = np.nan
    positions[2, 1, 2] = np.inf
    item = DrawItem(backend.upload(shape.mesh()), positions, look=UNLIT)
    other = put(backend, rectangle(SIZE, (0, 0, 4, 4)))
    target = draw(backend, SIZE, [item, other, item])
    assert target.skipped == 2 * (2 + 1)
    assert (target.colour == 255).all()
    assert draw(backend, SIZE, other).skipped == 0


@pytest.mark.parametrize("order", ["depth", "sort"])
@pytest.mark.parametrize("look", [UNLIT, Look(alpha="blend"), Look(shading="vertex")])
def test_nothing_but_broken_corners(backend: Backend, look: Look, order: Any) -> None:
    shape = rectangle(SIZE)
    shape.positions = floats(np.full((4, 3), np.nan))
    shape.normals = floats(np.full((4, 3), np.nan))
    target = draw(backend, SIZE, put(backend, shape, look), order=order, buffers=ALL)
    assert target.skipped == 2
    assert (target.part == -1).all()
    assert (target.colour == [0, 0, 0, 255]).all()
