"""Background, mask, blending, and the screen door."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from flexor.draw.backend import Backend
from flexor.draw.drawlist import DrawItem, DrawLines, Look
from tests.draw.shapes import (
    CLEAR,
    Shape,
    at_pixels,
    draw,
    floats,
    put,
    put_texture,
    rectangle,
)
from tests.oracle.raster.colour import decode, encode

SIZE = (16, 16)


def near(picture: Any, wanted: Any, most: int = 1) -> None:
    assert abs(picture.astype(int) - np.asarray(wanted).astype(int)).max() <= most


def paint(r: float, g: float, b: float, a: float, **more: Any) -> Look:
    return Look(colour=(r, g, b, a), shading="unlit", **more)


@pytest.mark.parametrize("samples", [1, 4])
@pytest.mark.parametrize(
    "background", [(255, 255, 255, 255), (1, 2, 3, 255), (10, 20, 30, 0), (9, 8, 7, 99)]
)
def test_background_comes_out_as_it_went_in(
    backend: Backend, background: Any, samples: int
) -> None:
    picture = draw(backend, SIZE, samples=samples, background=background).colour
    assert (picture == background).all()


@pytest.mark.parametrize("level", range(0, 256, 15))
def test_every_background_level(backend: Backend, level: int) -> None:
    """Also where something else is drawn beside it."""
    item = put(backend, rectangle(SIZE, (0, 0, 8, 16)))
    background = (level, 255 - level, level // 2, 255)
    picture = draw(backend, SIZE, item, background=background).colour
    assert (picture[:, 8:] == background).all()


def test_opaque_hides_the_alpha_of_colour(backend: Backend) -> None:
    item = put(backend, rectangle(SIZE), paint(1, 0, 0, 0.25))
    assert (draw(backend, SIZE, item).colour == [255, 0, 0, 255]).all()


def test_colours_are_cut_to_what_can_be_shown(backend: Backend) -> None:
    item = put(backend, rectangle(SIZE), paint(3, -1, 0.5, 1))
    near(draw(backend, SIZE, item).colour, np.full((16, 16, 4), [255, 0, 188, 255]))


def test_mask_drops_what_is_below_the_cutoff(backend: Backend) -> None:
    """Texels of alpha 0, 100, 101 and 255 with a cutoff between the middle ones."""
    pixels = np.full((1, 4, 4), 255, np.uint8)
    pixels[0, :, 3] = [0, 100, 101, 255]
    number = put_texture(backend, pixels, is_nearest=True)
    look = Look(shading="unlit", texture=number, alpha="mask", cutoff=100.5 / 255)
    behind = put(backend, rectangle(SIZE, z=-5), paint(0, 0, 1, 1), part=2)
    front = put(backend, rectangle(SIZE), look, part=1)
    for items in ([front, behind], [behind, front]):
        target = draw(backend, SIZE, items, buffers=("part", "depth"))
        assert (target.part[:, :8] == 2).all()
        assert (target.part[:, 8:] == 1).all()
        assert (target.depth[:, :8] == 105).all()
        assert (target.colour[:, :8] == [0, 0, 255, 255]).all()
        assert (target.colour[:, 8:] == 255).all()


def test_mask_at_the_cutoff_stays(backend: Backend) -> None:
    for alpha, is_seen in ((0.5, True), (0.4999, False)):
        look = paint(1, 1, 1, alpha, alpha="mask")
        picture = draw(backend, SIZE, put(backend, rectangle(SIZE), look)).colour
        assert (picture[..., 0] == (255 if is_seen else 0)).all()


def test_mask_takes_all_samples_of_a_pixel(backend: Backend) -> None:
    """Alpha falls from left to right: the edge is at a whole pixel."""
    alpha = floats([(1, 1, 1, 1), (1, 1, 1, 1), (1, 1, 1, 0), (1, 1, 1, 0)])
    look = Look(shading="unlit", alpha="mask")
    item = put(backend, rectangle(SIZE), look, colours=alpha)
    picture = draw(backend, SIZE, item, samples=4).colour[..., 0]
    assert (picture == np.where(np.arange(16) < 8, 255, 0)).all()


def test_blend_over_a_background(backend: Backend) -> None:
    """In linear light, with straight alpha in the result."""
    item = put(backend, rectangle(SIZE), paint(1, 0, 0, 0.25, alpha="blend"))
    opaque = draw(backend, SIZE, item, background=(0, 200, 0, 255)).colour
    wanted = [*encode([0.25, 0.75 * float(decode(200)), 0]), 255]
    near(opaque, np.full((16, 16, 4), wanted))
    clear = draw(backend, SIZE, item, background=CLEAR).colour
    near(clear, np.full((16, 16, 4), [255, 0, 0, 64]))
    half = draw(backend, SIZE, item, background=(0, 0, 255, 128)).colour
    a = 128 / 255
    whole = 0.25 + 0.75 * a
    wanted = [*encode([0.25 / whole, 0, 0.75 * a / whole]), round(whole * 255)]
    near(half, np.full((16, 16, 4), wanted))


def test_blend_of_no_alpha_changes_nothing(backend: Backend) -> None:
    item = put(backend, rectangle(SIZE), paint(1, 0, 0, 0, alpha="blend"))
    picture = draw(backend, SIZE, item, background=(20, 200, 60, 255)).colour
    assert (picture == [20, 200, 60, 255]).all()


def test_blended_faces_go_from_far_to_near(backend: Backend) -> None:
    """Whatever their order in the list, in one item or in several."""
    near_red = put(backend, rectangle(SIZE, z=4), paint(1, 0, 0, 0.5, alpha="blend"))
    middle = put(backend, rectangle(SIZE, z=2), paint(0, 1, 0, 0.5, alpha="blend"))
    far_blue = put(backend, rectangle(SIZE, z=0), paint(0, 0, 1, 0.5, alpha="blend"))
    wanted = np.full((16, 16, 4), [*encode([0.5, 0.25, 0.125]), 255])
    for items in (
        [near_red, middle, far_blue],
        [far_blue, middle, near_red],
        [middle, far_blue, near_red],
    ):
        near(draw(backend, SIZE, items).colour, wanted)
    shape = rectangle(SIZE)
    z = np.array([4, 0, 2], np.float32)
    places = shape.positions + np.stack([0 * z, 0 * z, z], -1)[:, None]
    tints = floats([(1, 0, 0, 0.5), (0, 0, 1, 0.5), (0, 1, 0, 0.5)])
    mesh = backend.upload(shape.mesh())
    one = DrawItem(
        mesh, floats(places), look=paint(1, 1, 1, 1, alpha="blend"), tints=tints
    )
    near(draw(backend, SIZE, one).colour, wanted)


def test_faces_of_several_items_mix(backend: Backend) -> None:
    """An item's faces may have another item's face between them."""

    def faces(depths: Any, look: Look) -> DrawItem:
        shapes = [rectangle(SIZE, z=z) for z in depths]
        positions = np.concatenate([s.positions for s in shapes])
        corners = np.concatenate([s.faces + 4 * n for n, s in enumerate(shapes)])
        return put(backend, Shape(positions, corners), look)

    outer = faces([6, 0], paint(1, 0, 0, 0.5, alpha="blend"))
    inner = faces([3], paint(0, 1, 0, 0.5, alpha="blend"))
    wanted = np.full((16, 16, 4), [*encode([0.5 + 0.125, 0.25, 0]), 255])
    near(draw(backend, SIZE, [outer, inner]).colour, wanted)
    near(draw(backend, SIZE, [inner, outer]).colour, wanted)


def test_blended_is_hidden_by_opaque_and_hides_nothing(backend: Backend) -> None:
    wall = put(backend, rectangle(SIZE, (0, 0, 8, 16), z=1), paint(0, 0, 1, 1))
    film = put(
        backend, rectangle(SIZE, z=0), paint(1, 1, 1, 0.5, alpha="blend"), part=5
    )
    late = put(backend, rectangle(SIZE, z=-3), paint(0, 1, 0, 1), part=6)
    target = draw(backend, SIZE, [film, wall, late], buffers=("part", "depth"))
    assert (target.colour[:, :8] == [0, 0, 255, 255]).all()
    near(target.colour[:, 8:], np.full((16, 8, 4), [188, 255, 188, 255]))
    assert (target.part[:, 8:] == 6).all()
    assert (target.depth[:, 8:] == 103).all()


def test_blend_on_the_same_depth_is_not_drawn(backend: Backend) -> None:
    """The earlier stays, and blended faces come last."""
    wall = put(backend, rectangle(SIZE), paint(0, 0, 1, 1))
    film = put(backend, rectangle(SIZE), paint(1, 1, 1, 0.5, alpha="blend"))
    assert (draw(backend, SIZE, [film, wall]).colour == [0, 0, 255, 255]).all()


def test_blend_counts_the_samples_it_has(backend: Backend) -> None:
    """Half of a pixel covered by half: a quarter."""
    look = paint(1, 1, 1, 0.5, alpha="blend")
    item = put(backend, rectangle(SIZE, (0, 0, 4.5, 16)), look)
    row = draw(backend, SIZE, item, samples=4).colour[8, :, 0]
    near(row[3:6], encode([0.5, 0.25, 0]))
    wall = put(backend, rectangle(SIZE, (0, 0, 4.5, 16), z=2), paint(0, 0, 0, 1))
    wide = put(backend, rectangle(SIZE), look)
    row = draw(backend, SIZE, [wide, wall], samples=4).colour[8, :, 0]
    near(row[3:6], encode([0, 0.25, 0.5]))


def test_thin_lines_blend_in_their_turn(backend: Backend) -> None:
    """A line that is seen through, between two panes."""
    far = put(backend, rectangle(SIZE, z=0), paint(1, 0, 0, 0.5, alpha="blend"))
    front = put(backend, rectangle(SIZE, z=4), paint(0, 0, 1, 0.5, alpha="blend"))
    points = at_pixels([[(0, 8), (16, 8)]], SIZE, 2.0)
    line = DrawLines(points, floats([0, 1, 0, 0.5]), 4)
    picture = draw(backend, SIZE, [front, far], lines=[line]).colour
    near(picture[8], np.full((16, 4), [*encode([0.125, 0.25, 0.5]), 255]))
    near(picture[2], np.full((16, 4), [*encode([0.25, 0, 0.5]), 255]))


@pytest.mark.parametrize("count", [0, 1, 7, 16, 32, 33, 63, 64])
def test_screen_door_draws_its_share(backend: Backend, count: int) -> None:
    """Of every 8 x 8 pixels, exactly as many as the opacity says."""
    look = Look(shading="unlit", opacity=count / 64)
    item = put(backend, rectangle(SIZE), look)
    target = draw(backend, SIZE, item, buffers=("part",))
    drawn = target.colour[..., 0] == 255
    assert (drawn | (target.colour[..., 0] == 0)).all()
    assert (drawn == (target.part == 0)).all()
    for row in (0, 8):
        for column in (0, 8):
            assert drawn[row : row + 8, column : column + 8].sum() == count


def test_screen_door_opens_evenly(backend: Backend) -> None:
    """Less opacity has a part of the same pixels; a quarter is every other one of every
    other row; and what is behind shows.
    """
    before = np.zeros(SIZE[::-1], bool)
    behind = put(backend, rectangle(SIZE, z=-1), paint(1, 0, 0, 1))
    for count in range(0, 65, 4):
        front = put(backend, rectangle(SIZE), Look(shading="unlit", opacity=count / 64))
        picture = draw(backend, SIZE, [front, behind]).colour
        drawn = picture[..., 1] == 255
        assert (drawn | ~before).all()
        assert (picture[~drawn] == [255, 0, 0, 255]).all()
        if count == 16:
            wanted = np.zeros_like(drawn)
            wanted[::2, ::2] = True
            assert (drawn == wanted).all()
        if count == 32:
            row, column = np.mgrid[:16, :16]
            assert (drawn == ((row + column) % 2 == 0)).all()
        before = drawn


def test_screen_door_order_is_the_usual_matrix(backend: Backend) -> None:
    """Each further 64th adds the next pixel of the 8 x 8 ordered-dither matrix."""
    size = (8, 8)
    order = np.full((8, 8), -1)
    for count in range(1, 65):
        look = Look(shading="unlit", opacity=count / 64)
        item = put(backend, rectangle(size), look)
        drawn = draw(backend, size, item).colour[..., 0] == 255
        order[drawn & (order < 0)] = count - 1
    assert order[0].tolist() == [0, 32, 8, 40, 2, 34, 10, 42]
    assert order[1].tolist() == [48, 16, 56, 24, 50, 18, 58, 26]
    assert order[7].tolist() == [63, 31, 55, 23, 61, 29, 53, 21]
    assert sorted(order.ravel()) == list(range(64))
