"""Light: each kind by hand, each way of shading, fronts and backs."""

from __future__ import annotations

import math
from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from flexor.draw.backend import Backend
from flexor.draw.drawlist import DrawItem, Look
from flexor.scene.character.camera import Camera
from flexor.scene.character.light import Light
from tests.draw.shapes import Shape, draw, floats, put, rectangle, sphere
from tests.oracle.raster.colour import encode

SIZE = (16, 12)
SMOOTH = ("pixel", "vertex", "cel")
LIT = (*SMOOTH, "flat")


def near(picture: Any, wanted: Any, most: int = 1) -> None:
    assert abs(picture.astype(int) - np.asarray(wanted).astype(int)).max() <= most


def facing(normal: Any, **more: Any) -> Shape:
    """The whole picture with one normal for all its corners."""
    shape = rectangle(SIZE, **more)
    normal = np.asarray(normal, np.float64)
    shape.normals = floats(np.tile(normal / np.linalg.norm(normal), (4, 1)))
    return shape


def middle(backend: Backend, shape: Shape, look: Look, *lights: Light) -> Any:
    """Colour (3,) in the middle of the picture; it is the same everywhere but with
    point lights.
    """
    item = put(backend, shape, look)
    return draw(backend, SIZE, item, lights=lights).colour[6, 8, :3]


@pytest.mark.parametrize("shading", LIT)
@pytest.mark.parametrize(
    ("direction", "share"),
    [
        ((0, 0, -1), 1),
        ((0, 0, -7), 1),
        ((0, math.sqrt(3), -1), 0.5),
        ((1, 0, 0), 0),
        ((0, 0, 1), 0),
    ],
)
def test_directional_light(
    backend: Backend, shading: Any, direction: Any, share: float
) -> None:
    look = Look(colour=(1, 0.5, 1, 1), shading=shading, cel_bands=2)
    light = Light("directional", (1, 1, 0.5), direction=direction)
    colour = middle(backend, facing((0, 0, 1)), look, light)
    near(colour, encode(np.array([1, 0.5, 0.5]) * share))


@pytest.mark.parametrize("shading", LIT)
def test_ambient_light(backend: Backend, shading: Any) -> None:
    look = Look(shading=shading)
    even = Light("ambient", (0.2, 0.4, 0.6))
    near(middle(backend, facing((0, 0, 1)), look, even), encode([0.2, 0.4, 0.6]))
    # A wall has half of the sky and half of the ground.
    sky = Light("ambient", (0.2, 0.4, 0.6), ground=(0.1, 0.0, 0.2))
    near(middle(backend, facing((0, 0, 1)), look, sky), encode([0.15, 0.2, 0.4]))


@pytest.mark.parametrize(
    ("normal", "share"), [((0, 1, 0), 1), ((0, -1, 0), 0), ((0, 0.6, 0.8), 0.8)]
)
@pytest.mark.parametrize("shading", SMOOTH)
def test_sky_above_ground_below(
    backend: Backend, shading: Any, normal: Any, share: float
) -> None:
    sky = Light("ambient", (0.5, 0.5, 1.0), ground=(0.5, 0.0, 0.2))
    colour = middle(backend, facing(normal), Look(shading=shading), sky)
    near(colour, encode([0.5, 0.5 * share, 0.2 + 0.8 * share]))


@pytest.mark.parametrize("shading", ["pixel", "cel", "flat"])
def test_point_light_falls_off(backend: Backend, shading: Any) -> None:
    """Straight before the surface: half at its reach, a fifth at twice its reach."""
    size = (11, 11)
    for distance, share in ((0.001, 1), (1, 0.5), (2, 0.2)):
        light = Light("point", position=(0, 0, distance * 50), reach=50)
        look = Look(shading=shading)
        item = put(backend, rectangle(size), look)
        picture = draw(backend, size, item, lights=[light]).colour
        near(picture[5, 5, :3], encode([share] * 3))


@pytest.mark.parametrize("shading", ["pixel", "flat"])
def test_point_light_everywhere(backend: Backend, shading: Any) -> None:
    """Every pixel of a wall against the formula."""
    light = Light("point", (1, 0.8, 0.6), position=(2, 1, 3), reach=4)
    item = put(backend, facing((0, 0, 1)), Look(shading=shading))
    picture = draw(backend, SIZE, item, lights=[light]).colour
    x, y = np.arange(16) + 0.5 - 8, 6 - (np.arange(12) + 0.5)
    square = (x[None] - 2) ** 2 + (y[:, None] - 1) ** 2 + 9
    share = 3 / np.sqrt(square) / (1 + square / 16)
    near(picture[..., :3], encode(share[..., None] * np.array([1, 0.8, 0.6])))


@pytest.mark.parametrize("shading", LIT)
def test_lights_add_up_and_are_cut_at_white(backend: Backend, shading: Any) -> None:
    lights = [
        Light("ambient", (0.1, 0.2, 0.9)),
        Light("directional", (0.3, 0.1, 0.9), direction=(0, 0, -1)),
    ]
    look = Look(shading=shading, cel_bands=1, emissive=(0.1, 0.0, 0.0))
    colour = middle(backend, facing((0, 0, 1)), look, *lights)
    near(colour, encode([0.5, 0.3, 1]))


def test_no_light_is_black(backend: Backend) -> None:
    assert not middle(backend, facing((0, 0, 1)), Look()).any()


def test_unlit_needs_no_light(backend: Backend) -> None:
    look = Look(shading="unlit", colour=(0.2, 0.4, 0.6, 1))
    near(middle(backend, facing((0, 0, -1)), look), encode([0.2, 0.4, 0.6]))


def turning(angles: Any) -> Shape:
    """The whole picture; the normal's angle from the view on its left and right."""
    shape = rectangle(SIZE)
    left, right = angles
    shape.normals = floats(
        [(math.sin(a), 0, math.cos(a)) for a in (left, left, right, right)]
    )
    return shape


HEAD_ON = Light("directional", direction=(0, 0, -1))


def test_pixel_shading_turns_the_normal(backend: Backend) -> None:
    """The normal between two corners is made unit again."""
    item = put(backend, turning((-1.2, 1.2)), Look(shading="pixel"))
    target = draw(backend, SIZE, item, lights=[HEAD_ON], buffers=("normal",))
    share = (np.arange(16) + 0.5) / 16
    x = (2 * share - 1) * math.sin(1.2)
    z = np.full(16, math.cos(1.2))
    wanted = z / np.hypot(x, z)
    near(target.colour[..., 0], np.tile(encode(wanted), (12, 1)))
    np.testing.assert_allclose(
        target.normal[5], np.stack([x / np.hypot(x, z), 0 * x, wanted], -1), atol=1e-3
    )


def test_vertex_shading_turns_the_light(backend: Backend) -> None:
    """Light is found at the corners and goes evenly between them (Gouraud)."""
    item = put(backend, turning((0.0, 1.3)), Look(shading="vertex"))
    picture = draw(backend, SIZE, item, lights=[HEAD_ON]).colour
    share = (np.arange(16) + 0.5) / 16
    wanted = 1 - share + share * math.cos(1.3)
    near(picture[..., 0], np.tile(encode(wanted), (12, 1)))
    # A highlight between corners is missed.
    item = put(backend, turning((-1.3, 1.3)), Look(shading="vertex"))
    picture = draw(backend, SIZE, item, lights=[HEAD_ON]).colour
    near(picture[..., 0], np.full((12, 16), encode(math.cos(1.3))))


def test_vertex_shading_multiplies_colours_per_pixel(backend: Backend) -> None:
    """Light and vertex colours go between the corners each on their own."""
    colours = floats([(1, 0, 1, 1), (1, 0, 1, 1), (0, 1, 1, 1), (0, 1, 1, 1)])
    item = put(backend, turning((0.0, 1.3)), Look(shading="vertex"), colours=colours)
    picture = draw(backend, SIZE, item, lights=[HEAD_ON]).colour
    share = (np.arange(16) + 0.5) / 16
    light = 1 - share + share * math.cos(1.3)
    wanted = encode(np.stack([light * (1 - share), light * share, light], -1))
    near(picture[5, :, :3], wanted)


def test_flat_shading_has_no_use_for_normals(backend: Backend) -> None:
    for shape in (facing((0, 0, 1)), facing((1, 0, 0)), turning((-1, 1))):
        near(middle(backend, shape, Look(shading="flat"), HEAD_ON), [255] * 3)


def test_flat_shading_of_a_slanted_face(backend: Backend) -> None:
    """The face's normal is found from where its corners are."""
    size = (16, 16)
    shape = rectangle(size)
    shape.positions = shape.positions + floats(
        np.stack([0 * shape.positions[:, 0]] * 2 + [shape.positions[:, 0]], -1)
    )
    for look in (Look(shading="flat"), Look(shading="pixel")):
        item = put(backend, shape, look, normals=None)
        target = draw(backend, size, item, lights=[HEAD_ON], buffers=("normal",))
        near(target.colour[..., 0], np.full((16, 16), encode(math.sqrt(0.5))))
        half = math.sqrt(0.5)
        np.testing.assert_allclose(
            target.normal, np.full((16, 16, 3), [-half, 0, half]), atol=1e-5
        )


@pytest.mark.parametrize("shading", ["pixel", "vertex", "cel"])
def test_chosen_faces_are_smooth(backend: Backend, shading: Any) -> None:
    """One of two triangles smooth: each is as if both were shaded its way."""
    smooth = np.array([True, False])
    look = Look(shading=shading)
    mixed = put(backend, turning((-1.2, 0.3)), look, smooth=smooth)
    all_smooth = put(backend, turning((-1.2, 0.3)), look)
    all_flat = put(backend, turning((-1.2, 0.3)), replace(look, shading="flat"))
    pictures = [
        draw(backend, SIZE, item, lights=[HEAD_ON], buffers=("normal",))
        for item in (mixed, all_smooth, all_flat)
    ]
    row, column = np.mgrid[:12, :16]
    lower = (row + 0.5) / 12 > (column + 0.5) / 16
    on_edge = abs((row + 0.5) / 12 - (column + 0.5) / 16) < 0.02
    assert (pictures[0].colour == pictures[1].colour)[lower & ~on_edge].all()
    upper = ~lower & ~on_edge
    near(
        pictures[0].colour[upper],
        pictures[2].colour[upper],
        0 if shading != "cel" else 1,
    )
    assert (pictures[0].normal[upper] == [0, 0, 1]).all()
    assert (pictures[1].colour != pictures[2].colour).any()


def test_smooth_rows_of_quads(backend: Backend) -> None:
    """One row of `smooth` for each quad, not for each triangle."""
    size = (16, 8)
    left = rectangle(size, (0, 0, 8, 8), is_quad=True)
    right = rectangle(size, (8, 0, 16, 8), is_quad=True)
    aside = floats(np.tile([1, 0, 0], (8, 1)))
    shape = Shape(
        np.concatenate([left.positions, right.positions]),
        np.concatenate([left.faces, right.faces + 4]),
        aside,
    )
    item = put(backend, shape, Look(), smooth=np.array([True, False]))
    picture = draw(backend, size, item, lights=[HEAD_ON]).colour[..., 0]
    assert not picture[:, :8].any()
    assert (picture[:, 8:] == 255).all()


@pytest.mark.parametrize("bands", [1, 2, 3, 5, 16])
def test_cel_shading_has_steps(backend: Backend, bands: int) -> None:
    """Rounded to the nearest step, with a whole step at both ends."""
    look = Look(shading="cel", cel_bands=bands)
    for angle in np.linspace(0, 1.56, 25):
        share = math.cos(angle) * bands + 0.5
        if abs(share - round(share)) < 1e-3:
            continue  # on the edge of a step
        colour = middle(
            backend, facing((math.sin(angle), 0, math.cos(angle))), look, HEAD_ON
        )
        near(colour, encode([math.floor(share) / bands] * 3))


def test_cel_ball_has_few_shades(backend: Backend) -> None:
    ball = sphere(1, 24, 48)
    camera = Camera((0, 0, 4), (0, 0, 0))
    item = put(backend, ball, Look(shading="cel", cel_bands=3))
    light = Light("directional", direction=(-1, -1, -1))
    picture = draw(
        backend,
        (48, 48),
        item,
        camera=camera,
        lights=[light],
        background=(0, 0, 255, 255),
    ).colour
    shades = {tuple(colour) for colour in picture.reshape(-1, 4)[:, :3]}
    assert shades <= {
        (0, 0, 255),
        *((int(n),) * 3 for n in encode(np.array([0, 1, 2, 3]) / 3)),
    }
    assert len(shades) == 5


@pytest.mark.parametrize("shading", LIT)
def test_backs_are_lit_from_their_own_side(backend: Backend, shading: Any) -> None:
    """A face seen from behind uses its normal turned round."""
    shape = rectangle(SIZE)
    shape.faces = shape.faces[:, ::-1].copy()
    shape.normals = floats(np.tile([0, 0, -1], (4, 1)))
    look = Look(shading=shading, cull="none", cel_bands=1)
    item = put(backend, shape, look)
    from_here = draw(backend, SIZE, item, lights=[HEAD_ON], buffers=("normal",))
    assert (from_here.colour == 255).all()
    assert (from_here.normal == [0, 0, 1]).all()
    behind = Light("directional", direction=(0, 0, 1))
    from_there = draw(backend, SIZE, item, lights=[behind]).colour
    assert not from_there[..., :3].any()
    fronts_only = put(backend, shape, replace(look, cull="back"))
    hidden = draw(backend, SIZE, fronts_only, buffers=("part",))
    assert (hidden.part == -1).all()


@pytest.mark.parametrize("shading", LIT)
def test_two_sided_fronts_are_as_ever(backend: Backend, shading: Any) -> None:
    look = Look(shading=shading)
    both = replace(look, cull="none")
    ball = sphere(1, 8, 12)
    camera = Camera((0, 0, 4), (0, 0, 0))
    pictures = [
        draw(backend, (32, 32), put(backend, ball, how), camera=camera).colour
        for how in (look, both)
    ]
    assert (pictures[0] == pictures[1]).mean() > 0.995


@pytest.mark.parametrize("shading", LIT)
def test_light_does_not_move_with_the_camera(backend: Backend, shading: Any) -> None:
    """Lights and normals are in the world: from the other side it is dark."""
    ball = sphere(1, 16, 32)
    light = Light("directional", direction=(0, 0, -1))
    look = Look(shading=shading, cel_bands=2)
    item = put(backend, ball, look)
    more = {"lights": [light], "background": (0, 0, 255, 255)}
    front = draw(backend, (33, 33), item, camera=Camera((0, 0, 4), (0, 0, 0)), **more)
    back = draw(backend, (33, 33), item, camera=Camera((0, 0, -4), (0, 0, 0)), **more)
    assert front.colour[16, 16, 0] > 240
    assert not back.colour[10:23, 10:23, :3].any()


def test_many_lights(backend: Backend) -> None:
    """As many as there are."""
    lights = [Light("directional", (0.02,) * 3, direction=(0, 0, -1))] * 25
    near(middle(backend, facing((0, 0, 1)), Look(), *lights), encode([0.5] * 3))


def test_normals_of_no_length(backend: Backend) -> None:
    """Lit by what comes from everywhere; nothing that is not a number."""
    shape = rectangle(SIZE)
    shape.normals = floats(np.zeros((4, 3)))
    item = put(backend, shape, Look())
    lights = [HEAD_ON, Light("ambient", (0.5,) * 3)]
    target = draw(backend, SIZE, item, lights=lights, buffers=("normal",))
    near(target.colour[..., :3], np.full((12, 16, 3), 188))
    assert np.isfinite(target.normal).all()


def test_many_of_one_item_have_their_own_normals(backend: Backend) -> None:
    size = (16, 8)
    left = rectangle(size, (0, 0, 8, 8))
    move = np.array([8, 0, 0], np.float32)
    positions = floats(np.stack([left.positions, left.positions + move]))
    normals = floats(np.stack([left.normals, np.tile([1, 0, 0], (4, 1))]))
    mesh = backend.upload(left.mesh())
    for shading in SMOOTH:
        look = Look(shading=shading)
        item = DrawItem(mesh, positions, normals, look)
        picture = draw(backend, size, item, lights=[HEAD_ON]).colour[..., 0]
        assert (picture[:, :8] == 255).all()
        assert not picture[:, 8:].any()
