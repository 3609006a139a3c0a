"""Textures: every level of sRGB, edges, filters, levels of detail."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from flexor.draw.backend import Backend
from flexor.draw.drawlist import DrawItem, Look
from flexor.scene.character.camera import Camera
from tests.draw.shapes import (
    Shape,
    checker,
    draw,
    floats,
    plane,
    put,
    put_texture,
    rectangle,
)
from tests.oracle.raster.colour import decode, encode


def unlit(texture: int, **more: Any) -> Look:
    return Look(shading="unlit", texture=texture, **more)


def over_picture(
    backend: Backend, pixels: Any, size: tuple[int, int], box: Any = None, **more: Any
) -> Any:
    """A picture filled by a texture, whose coordinates go through box (left, top,
    right, bottom), by default 0, 0, 1, 1.
    """
    left, top, right, bottom = box or (0, 0, 1, 1)
    shape = rectangle(size)
    corners = [(left, top), (left, bottom), (right, bottom), (right, top)]
    look = more.pop("look", {})
    number = put_texture(backend, pixels, **more)
    item = put(backend, shape, unlit(number, **look), texcoords=floats(corners))
    return draw(backend, size, item).colour


def shades(values: Any) -> Any:
    """Grey pixels (h, w, 4) from levels (h, w)."""
    grey = np.asarray(values)
    return np.stack([grey, grey, grey, np.full_like(grey, 255)], -1).astype(np.uint8)


def near(picture: Any, wanted: Any, most: int = 1) -> None:
    assert abs(picture.astype(int) - np.asarray(wanted).astype(int)).max() <= most


@pytest.mark.parametrize("is_nearest", [True, False])
@pytest.mark.parametrize("has_mipmaps", [True, False])
def test_all_256_levels_come_out_as_they_went_in(
    backend: Backend, is_nearest: bool, has_mipmaps: bool
) -> None:
    """Texel on pixel, unlit: not one level is off, in any channel."""
    level = np.arange(256, dtype=np.uint8).reshape(16, 16)
    pixels = np.stack([level, level[::-1], level.T, np.full_like(level, 255)], -1)
    picture = over_picture(
        backend, pixels, (16, 16), is_nearest=is_nearest, has_mipmaps=has_mipmaps
    )
    assert (picture == pixels).all()


def test_bilinear_at_and_between_texel_centres(backend: Backend) -> None:
    """Two texels over eight pixels: clamped, then an even way in linear light."""
    picture = over_picture(backend, shades([[0, 255]]), (8, 1), wrap_s="clamp")
    share = np.clip((np.arange(8) + 0.5) / 4 - 0.5, 0, 1)
    near(picture[0, :, 0], encode(share))


def test_bilinear_in_two_directions(backend: Backend) -> None:
    pixels = np.zeros((2, 2, 4), np.uint8)
    pixels[0, 0], pixels[0, 1] = (255, 0, 0, 255), (0, 255, 0, 255)
    pixels[1, 0], pixels[1, 1] = (0, 0, 255, 255), (255, 255, 255, 255)
    more = {"wrap_s": "clamp", "wrap_t": "clamp"}
    picture = over_picture(backend, pixels, (7, 7), **more)
    place = np.clip((np.arange(7) + 0.5) / 7 * 2 - 0.5, 0, 1)
    x, y = np.meshgrid(place, place)
    light = decode(pixels[..., :3])
    wanted = (
        light[0, 0] * ((1 - x) * (1 - y))[..., None]
        + light[0, 1] * (x * (1 - y))[..., None]
        + light[1, 0] * ((1 - x) * y)[..., None]
        + light[1, 1] * (x * y)[..., None]
    )
    near(picture[..., :3], encode(wanted))


def test_nearest_keeps_texels_square(backend: Backend) -> None:
    levels = np.array([[10, 200, 90], [250, 30, 170]])
    picture = over_picture(backend, shades(levels), (12, 8), is_nearest=True)
    assert (picture[..., 0] == levels.repeat(4, 0).repeat(4, 1)).all()


@pytest.mark.parametrize(
    ("wrap", "mode"), [("repeat", "wrap"), ("mirror", "symmetric"), ("clamp", "edge")]
)
@pytest.mark.parametrize("is_nearest", [True, False])
def test_beyond_the_edges(
    backend: Backend, wrap: Any, mode: Any, is_nearest: bool
) -> None:
    """Three times the texture each way, texel on pixel."""
    levels = np.array([[0, 60, 120, 180], [30, 90, 150, 210], [250, 5, 70, 99]])
    picture = over_picture(
        backend,
        shades(levels),
        (12, 9),
        (-1, -1, 2, 2),
        wrap_s=wrap,
        wrap_t=wrap,
        is_nearest=is_nearest,
    )
    near(picture[..., 0], np.pad(levels, ((3, 3), (4, 4)), mode=mode))


def test_each_direction_has_its_own_wrap(backend: Backend) -> None:
    levels = np.array([[0, 60], [120, 180]])
    more = {"wrap_s": "mirror", "wrap_t": "clamp", "is_nearest": True}
    picture = over_picture(backend, shades(levels), (6, 6), (-1, -1, 2, 2), **more)
    wide = np.pad(levels, ((0, 0), (2, 2)), mode="symmetric")
    assert (picture[..., 0] == np.pad(wide, ((2, 2), (0, 0)), mode="edge")).all()


@pytest.mark.parametrize("offset", [-1000, -7, 5, 4096])
def test_far_coordinates_repeat(backend: Backend, offset: int) -> None:
    levels = np.arange(64).reshape(8, 8) * 4
    box = (offset, offset, offset + 1, offset + 1)
    picture = over_picture(backend, shades(levels), (8, 8), box, is_nearest=True)
    assert (picture[..., 0] == levels).all()


def test_transform_moves_coordinates_first(backend: Backend) -> None:
    """A quarter turn, twice as dense, moved: as if the coordinates were so."""
    size = (16, 16)
    levels = np.arange(64).reshape(8, 8) * 4
    number = put_texture(backend, shades(levels), is_nearest=True)
    rows = ((0.0, -2.0, 0.25), (2.0, 0.0, 0.5))
    shape = rectangle(size)
    moved = shape.texcoords @ np.array(rows)[:, :2].T + np.array(rows)[:, 2]
    with_rows = put(backend, shape, unlit(number, texture_transform=rows))
    with_coordinates = put(backend, shape, unlit(number), texcoords=floats(moved))
    picture = draw(backend, size, with_rows).colour
    assert (picture == draw(backend, size, with_coordinates).colour).all()
    u = (np.arange(16) + 0.5) / 16
    column = np.floor((-2 * u + 0.25) * 8).astype(int) % 8
    row = np.floor((2 * u + 0.5) * 8).astype(int) % 8
    assert (picture[..., 0] == levels[row[None, :], column[:, None]]).all()


def test_distant_checker_is_grey(backend: Backend) -> None:
    """Half black, half white is half of the light: 188, not 128."""
    picture = over_picture(backend, checker(64), (8, 8))
    near(picture[..., :3], np.full((8, 8, 3), 188))


@pytest.mark.parametrize("pixels", [4, 8, 16])
def test_level_of_detail_fits_the_size(backend: Backend, pixels: int) -> None:
    """Squares of four texels stay sharp while they have a pixel, then turn grey."""
    picture = over_picture(backend, checker(32, 4), (pixels, pixels))[..., 0]
    if pixels == 4:
        near(picture, np.full((4, 4), 188))
    else:
        wanted = checker(pixels, pixels // 8)[..., 0]
        near(
            picture[:: pixels // 8, :: pixels // 8],
            wanted[:: pixels // 8, :: pixels // 8],
            70 if pixels == 16 else 1,
        )


def test_between_levels_is_a_mixture(backend: Backend) -> None:
    """At 1 1/2 texels a pixel: between the sharp picture and the grey one."""
    stripes = np.tile([[0, 255]], (24, 12))
    picture = over_picture(backend, shades(stripes), (16, 16))[..., 0]
    # Levels are blended in the middle of the way from one to the next.
    share = np.log2(1.5) * 2.5 - 0.75
    u = (np.arange(16) + 0.5) * 1.5 - 0.5
    fine = np.array([v % 1 if int(v) % 2 == 0 else 1 - v % 1 for v in u])
    near(picture, np.tile(encode(fine * (1 - share) + 0.5 * share), (16, 1)), 2)


def test_one_direction_is_enough_to_be_far(backend: Backend) -> None:
    """The longer of the two steps decides."""
    stripes = np.tile([[0], [255]], (32, 64))
    picture = over_picture(backend, shades(stripes), (64, 4))[..., 0]
    near(picture, np.full((4, 64), 188))


def test_without_mipmaps_texels_are_picked(backend: Backend) -> None:
    """Four texels a pixel: the two in its middle are black, whatever is around."""
    levels = np.tile([255, 0, 0, 255], (16, 4))
    more = {"has_mipmaps": False}
    picture = over_picture(backend, shades(levels), (4, 4), **more)[..., 0]
    assert not picture.any()
    mixed = over_picture(backend, shades(levels), (4, 4))[..., 0]
    near(mixed, np.full((4, 4), 188))


def test_odd_sizes_have_levels(backend: Backend) -> None:
    """Halves are rounded down: 5 x 3, 2 x 1, 1 x 1; the last column and row drop."""
    levels = np.array(
        [[0, 0, 255, 255, 9], [0, 0, 255, 255, 9], [7, 7, 7, 7, 7]], np.uint8
    )
    picture = over_picture(backend, shades(levels), (1, 1))
    near(picture[0, 0, :3], [188] * 3)


def test_alpha_is_averaged_as_it_is(backend: Backend) -> None:
    pixels = np.zeros((2, 2, 4), np.uint8)
    pixels[:, 0] = 255
    number = put_texture(backend, pixels)
    look = unlit(number, alpha="blend")
    item = put(backend, rectangle((1, 1)), look)
    picture = draw(backend, (1, 1), item, background=(0, 0, 0, 0)).colour
    near(picture[0, 0, 3], 128)


@pytest.mark.parametrize("samples", [1, 4])
def test_ground_to_the_horizon(backend: Backend, samples: int) -> None:
    """A checker ground: sharp in front, grey far away, never noise."""
    size = (64, 64)
    number = put_texture(backend, checker(64, 8))
    ground = plane(200.0)
    item = put(
        backend,
        ground,
        unlit(number),
        texcoords=floats(ground.positions[:, [0, 2]] / 2),
    )
    camera = Camera((0.1, 1.0, 0.0), (0.1, 0.6, -2.0), fov=0.9)
    picture = draw(backend, size, item, camera=camera, samples=samples).colour[..., 0]
    horizon = int(np.nonzero(picture.any(1))[0][0])
    far = picture[horizon + 2 : horizon + 5].astype(int)
    assert abs(far - 188).max() < 25
    close = picture[-16:]
    assert close.min() < 20
    assert close.max() > 235


def test_texture_times_colour_times_tint(backend: Backend) -> None:
    size = (4, 4)
    shape = rectangle(size)
    number = put_texture(backend, np.full((1, 1, 4), 255, np.uint8) // (1, 2, 1, 1))
    look = unlit(number, colour=(0.5, 1.0, 0.25, 1.0))
    mesh = backend.upload(shape.mesh())
    item = DrawItem(
        mesh,
        shape.positions,
        look=look,
        tints=floats([[0.5, 1, 1, 1]]),
        colours=floats(np.tile([1, 0.5, 1, 1], (4, 1))),
    )
    picture = draw(backend, size, item).colour
    wanted = encode([0.25, float(decode(127)) * 0.5, 0.25])
    near(picture[..., :3], np.broadcast_to(wanted, (4, 4, 3)))


def test_emissive_texture(backend: Backend) -> None:
    """Light of its own is added, also in the dark."""
    size = (8, 4)
    number = put_texture(backend, shades([[0, 255]]), is_nearest=True)
    look = Look(emissive=(0.5, 0.0, 1.0), emissive_texture=number)
    item = put(backend, rectangle(size), look)
    picture = draw(backend, size, item, lights=()).colour
    assert not picture[:, :4, :3].any()
    near(picture[:, 4:, :3], np.broadcast_to([188, 0, 255], (4, 4, 3)))


def test_perspective_keeps_texture_straight(backend: Backend) -> None:
    """A slanted wall: where the texture's middle is, is found by the ray."""
    size = (64, 48)
    number = put_texture(
        backend, shades([[0, 255]]), is_nearest=True, wrap_s="clamp", has_mipmaps=False
    )
    corners = floats([(-1, 1, 0), (-1, -1, 0), (2, -1, -6), (2, 1, -6)])
    texcoords = floats([(0, 0), (0, 1), (1, 1), (1, 0)])
    shape = Shape(corners, [[0, 1, 2], [0, 2, 3]])
    item = put(backend, shape, unlit(number), texcoords=texcoords)
    camera = Camera((0, 0, 3), (0, 0, 0), fov=0.8)
    target = draw(backend, size, item, camera=camera, buffers=("part",))
    middle = camera.project([0.5, 0, -3], size)[0]
    row = target.colour[24, :, 0]
    inside = target.part[24] == 0
    x = np.arange(64) + 0.5
    sure = inside & (abs(x - middle) > 0.1)
    assert (row[sure] == np.where(x > middle, 255, 0)[sure]).all()
