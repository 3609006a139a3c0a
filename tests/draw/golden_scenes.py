"""One small scene for each feature of drawing; their pictures are in tests/golden."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np

from flexor.draw.backend import Backend
from flexor.draw.drawlist import DrawItem, DrawLines, DrawList, Look, Strokes
from flexor.draw.target import Target, init_target
from flexor.scene.character.camera import Camera
from flexor.scene.character.light import Light
from tests.draw.shapes import (
    Shape,
    checker,
    cube,
    floats,
    plane,
    put,
    put_texture,
    sphere,
    welded,
)

SIZE = (96, 96)
CAMERA = Camera((1.6, 1.9, 4.4), (0, 0.5, 0), fov=0.6)
SKY = (214, 224, 235, 255)
RED, BLUE = (0.75, 0.16, 0.1, 1.0), (0.12, 0.3, 0.7, 1.0)
GREEN, SAND = (0.2, 0.5, 0.16, 1.0), (0.62, 0.52, 0.36, 1.0)
BLACK = floats([0, 0, 0, 1])


def moved(shape: Shape, *way: float) -> Shape:
    positions = floats(shape.positions + np.array(way, np.float32))
    return Shape(positions, shape.faces, shape.normals, shape.texcoords)


def ball(x: float, z: float, radius: float = 0.6, rings: int = 24) -> Shape:
    """A ball that stands on the ground."""
    return moved(sphere(radius, rings, 2 * rings), x, radius, z)


def box(x: float, z: float, half: float = 0.5) -> Shape:
    return moved(cube(half), x, half, z)


def ground(backend: Backend, **more: Any) -> DrawItem:
    return put(backend, plane(2.2, 4), Look(colour=SAND, **more))


def three(backend: Backend, look: Look, **more: Any) -> list[DrawItem]:
    """A ball and a box on the ground."""
    one, two = ball(0.65, 0.3), box(-0.65, -0.1)
    if "strokes" in more:
        with_weld = [{**more, "welded": welded(s.positions)} for s in (one, two)]
    else:
        with_weld = [more, more]
    return [
        ground(backend, shading=look.shading),
        put(backend, one, replace(look, colour=RED), part=1, **with_weld[0]),
        put(backend, two, replace(look, colour=BLUE), part=2, **with_weld[1]),
    ]


def scene(items: Any, **more: Any) -> DrawList:
    given = {"camera": CAMERA, "background": SKY, **more}
    return DrawList(items=tuple(items), **given)


def by_pixel(backend: Backend) -> DrawList:
    return scene(three(backend, Look()))


def by_vertex(backend: Backend) -> DrawList:
    items = [ground(backend)]
    for x, rings in ((-0.65, 4), (0.65, 12)):
        shape = ball(x, 0, rings=rings)
        items.append(put(backend, shape, Look(colour=RED, shading="vertex")))
    return scene(items)


def flat(backend: Backend) -> DrawList:
    return scene(three(backend, Look(shading="flat")))


def partly_smooth(backend: Backend) -> DrawList:
    """The left half of the ball's faces is smooth."""
    shape = ball(0, 0, 0.9, 10)
    smooth = shape.positions[shape.faces][..., 0].mean(1) < 0
    return scene(
        [ground(backend), put(backend, shape, Look(colour=RED), smooth=smooth)]
    )


def cel(backend: Backend) -> DrawList:
    strokes = Strokes(width=2, silhouette=True, crease=0.9)
    items = three(backend, Look(shading="cel", cel_bands=3), strokes=strokes)
    return scene(items)


def unlit_colours(backend: Backend) -> DrawList:
    """Vertex colours over a ball, without light."""
    shape = ball(0, 0, 0.9)
    normals = shape.normals
    colours = floats(np.insert(0.5 + 0.5 * normals, 3, 1, axis=1))
    return scene([put(backend, shape, Look(shading="unlit"), colours=colours)])


def textured(backend: Backend) -> DrawList:
    """A checker to the horizon, and around a ball and a box."""
    number = put_texture(backend, checker(64, 8, 90, 250))
    small = put_texture(backend, checker(8, 1, 90, 250), is_nearest=True)
    wide = plane(40.0, 2)
    wide.texcoords = floats(wide.positions[:, [0, 2]] / 2)
    return scene(
        [
            put(backend, wide, Look(texture=number)),
            put(backend, ball(0.65, 0.3), Look(colour=RED, texture=number)),
            put(backend, box(-0.65, -0.1), Look(colour=SAND, texture=small)),
        ]
    )


def wrapped(backend: Backend) -> DrawList:
    """An arrow repeated, mirrored and clamped; below, turned by a transform."""
    arrow = np.full((8, 8, 4), 255, np.uint8)
    for row, text in enumerate(
        (
            "........",
            "...#....",
            "..###...",
            ".#####..",
            "...#....",
            "...#..#.",
            "...#....",
            "........",
        )
    ):
        for column, mark in enumerate(text):
            if mark == "#":
                arrow[row, column] = (200, 40, 30, 255)
    camera = Camera((0, 0, 5), (0, 0, 0), height=4)
    turned = ((0.8, 0.6, 0.2), (-0.6, 0.8, 0.2))
    items = []
    for column, wrap in enumerate(("repeat", "mirror", "clamp")):
        number = put_texture(backend, arrow, wrap_s=wrap, wrap_t=wrap)
        for row, rows in enumerate((((1, 0, 0), (0, 1, 0)), turned)):
            x, y = -1.32 + 1.32 * column, 0.9 - 1.8 * row
            corners = [(-0.6, 0.8), (-0.6, -0.8), (0.6, -0.8), (0.6, 0.8)]
            shape = Shape(
                floats([(x + a, y + b, 0) for a, b in corners]),
                [[0, 1, 2, 3]],
                texcoords=floats([(-1, -1), (-1, 2), (2, 2), (2, -1)]),
            )
            look = Look(texture=number, texture_transform=rows, shading="unlit")
            items.append(put(backend, shape, look))
    return scene(items, camera=camera)


def masked(backend: Backend) -> DrawList:
    """A box of holes, through which its far side and a ball are seen."""
    pixels = np.full((32, 32, 4), 255, np.uint8)
    y, x = (np.mgrid[:32, :32] % 8) - 3.5
    pixels[..., 3] = np.clip(255 * (np.hypot(x, y) - 1.9), 0, 255)
    number = put_texture(backend, pixels)
    look = Look(colour=BLUE, texture=number, alpha="mask", cull="none")
    inner = put(backend, ball(0, 0, 0.4), Look(colour=RED))
    return scene([ground(backend), inner, put(backend, box(0, 0, 0.8), look)])


def blended(backend: Backend) -> DrawList:
    """Glass through glass, in an order that must be found."""
    items = [ground(backend)]
    for n, colour in enumerate((RED, GREEN, BLUE)):
        look = Look(colour=(*colour[:3], 0.45), alpha="blend", cull="none")
        items.append(put(backend, ball(-0.7 + 0.7 * n, 0.8 - 0.8 * n), look))
    return scene(items)


def screen_door(backend: Backend) -> DrawList:
    items = [ground(backend), put(backend, box(0, -1), Look(colour=RED))]
    for n, opacity in enumerate((0.2, 0.45, 0.7)):
        look = Look(colour=BLUE, opacity=opacity)
        items.append(put(backend, ball(-1 + n, 0.4, 0.45), look))
    return scene(items)


def lines(backend: Backend) -> DrawList:
    """Widths 1, 2, 4 and 7, through a ball, and some that are seen through."""
    points, widths = [], (1.0, 2.0, 4.0, 7.0)
    for n in range(4):
        z = 1.2 - 0.8 * n
        points.append(floats([[(-1.4, 0.15, z), (1.4, 1.1, z)]]))
    made = [DrawLines(p, BLACK, w) for p, w in zip(points, widths, strict=True)]
    thin = floats([[(-1.4, 1.4, z), (1.4, 0.1, z)] for z in (0.8, 0.0, -0.8)])
    made.append(DrawLines(thin, floats([0.7, 0.1, 0.1, 0.5]), 5))
    items = [ground(backend), put(backend, ball(0, 0), Look(colour=GREEN))]
    return scene(items, lines=tuple(made))


def wire(backend: Backend) -> DrawList:
    """Every edge of a ball, the creases of a box, the border of the ground."""
    one, two = ball(0.65, 0.3, rings=8), box(-0.65, -0.1)
    border = Strokes(width=3, border=True, colour=BLUE)
    items = [
        replace(ground(backend), strokes=border),
        put(
            backend,
            one,
            Look(colour=SAND),
            strokes=Strokes(width=1, wire=True),
            welded=welded(one.positions),
        ),
        put(
            backend,
            two,
            Look(colour=SAND),
            strokes=Strokes(width=2.5, crease=0.5, colour=RED),
            welded=welded(two.positions),
        ),
    ]
    return scene(items)


def outline(backend: Backend) -> DrawList:
    """Silhouettes alone, without surfaces."""
    items = []
    for shape in (ball(0.65, 0.3), box(-0.65, -0.1)):
        join = welded(shape.positions)
        strokes = Strokes(width=2, silhouette=True)
        items.append(put(backend, shape, None, strokes=strokes, welded=join))
    return scene(items)


def layers(backend: Backend) -> DrawList:
    """Bones inside a ball and a small box behind it, over everything."""
    bones = floats([[(0, 0, 0), (0, 0.7, 0)], [(0, 0.7, 0), (0.7, 1.2, 0)]])
    inner = put(backend, box(-0.9, -1.2, 0.3), Look(colour=RED), layer=1)
    items = [inner, ground(backend), put(backend, ball(0, 0, 0.8), Look(colour=BLUE))]
    return scene(items, lines=(DrawLines(bones, floats([1, 1, 0, 1]), 4, layer=1),))


def crossing(backend: Backend) -> list[DrawItem]:
    """Three large quads through each other."""
    corners = np.array([(-1, -1), (1, -1), (1, 1), (-1, 1)]) * 0.9
    items = []
    for n, colour in enumerate((RED, GREEN, BLUE)):
        positions = np.insert(corners, n, 0, axis=1) + np.array([0, 0.5, 0])
        shape = Shape(floats(positions), [[0, 1, 2, 3]])
        items.append(put(backend, shape, Look(colour=colour, cull="none")))
    return items


def by_depth(backend: Backend) -> DrawList:
    return scene(crossing(backend))


def by_sorting(backend: Backend) -> DrawList:
    return scene(crossing(backend), order="sort")


def orthographic(backend: Backend) -> DrawList:
    camera = replace(CAMERA, height=3.2)
    return scene(three(backend, Look()), camera=camera)


def inside(backend: Backend) -> DrawList:
    """From inside a checkered box, its near part cut away."""
    number = put_texture(backend, checker(16, 2, 120, 250))
    room = moved(cube(2.0, is_quad=False), 0, 1.5, 0)
    look = Look(texture=number, cull="none")
    camera = Camera((1.2, 1.6, 1.7), (-0.4, 0.9, 0), fov=1.5, near=0.4)
    items = [put(backend, room, look), put(backend, ball(0, 0), Look(colour=RED))]
    return scene(items, camera=camera)


def lamps(backend: Backend) -> DrawList:
    """Coloured point lights in the dark, and a box that glows by itself."""
    lights = (
        Light("ambient", (0.02, 0.02, 0.04)),
        Light("point", (2.0, 0.5, 0.2), position=(-0.9, 0.5, 1.1), reach=0.7),
        Light("point", (0.3, 0.6, 2.5), position=(1.2, 0.9, -0.6), reach=0.8),
    )
    glow = Look(emissive=(0.3, 0.9, 0.2), colour=(0.1, 0.1, 0.1, 1))
    items = [ground(backend), put(backend, ball(0, 0.1), Look())]
    items.append(put(backend, box(-0.9, -0.9, 0.25), glow))
    return scene(items, lights=lights, background=(0, 0, 0, 255))


def crowd(backend: Backend) -> DrawList:
    """Many of one item, each with its tint."""
    shape = sphere(0.2, 8, 16)
    x, z = np.meshgrid(np.linspace(-1.5, 1.5, 7), np.linspace(-2.4, 1, 7))
    places = np.stack([x, 0 * x + 0.2, z], -1).reshape(-1, 1, 3)
    positions = floats(shape.positions + places)
    normals = floats(np.broadcast_to(shape.normals, positions.shape))
    tints = np.ones((49, 4))
    tints[:, 0], tints[:, 1] = (x.ravel() + 1.5) / 3, (z.ravel() + 2.4) / 3.4
    mesh = backend.upload(shape.mesh())
    many = DrawItem(mesh, positions, normals, Look(), tints=floats(tints))
    return scene([ground(backend), many])


def clear(backend: Backend) -> DrawList:
    """Over nothing: the edges and the glass keep their alpha."""
    film = Look(colour=(*BLUE[:3], 0.5), alpha="blend")
    items = [put(backend, ball(-0.4, 0), Look(colour=RED))]
    items.append(put(backend, ball(0.5, 0.6), film))
    return scene(items, background=(0, 0, 0, 0))


SCENES: dict[str, tuple[Callable[[Backend], DrawList], int]] = {
    "by_pixel": (by_pixel, 4),
    "one_sample": (by_pixel, 1),
    "by_vertex": (by_vertex, 4),
    "flat": (flat, 4),
    "partly_smooth": (partly_smooth, 4),
    "cel": (cel, 4),
    "unlit_colours": (unlit_colours, 4),
    "textured": (textured, 4),
    "wrapped": (wrapped, 1),
    "masked": (masked, 4),
    "blended": (blended, 4),
    "screen_door": (screen_door, 1),
    "lines": (lines, 4),
    "wire": (wire, 4),
    "outline": (outline, 4),
    "layers": (layers, 4),
    "by_depth": (by_depth, 4),
    "by_sorting": (by_sorting, 4),
    "orthographic": (orthographic, 4),
    "inside": (inside, 4),
    "lamps": (lamps, 4),
    "crowd": (crowd, 4),
    "clear": (clear, 4),
}


def draw_scene(backend: Backend, name: str) -> Any:
    """The picture (H, W, 4) of a scene."""
    make, samples = SCENES[name]
    target = init_target(SIZE, samples)
    return backend.draw(make(backend), target)


def draw_buffers(backend: Backend) -> Any:
    """Depth, normal, part and heat of one scene as a picture of four (H, W, 4)."""
    items = three(backend, Look())
    heat = [floats(np.sin(4 * item.positions[..., 1])) for item in items]
    items = [
        replace(item, heat=warm if item.part else None)
        for item, warm in zip(items, heat, strict=True)
    ]
    target = init_target(SIZE, 1, ("depth", "normal", "part", "heat"))
    backend.draw(scene(items, camera=replace(CAMERA, eye=(1.2, 1.6, 3.6))), target)
    return np.concatenate(
        [np.concatenate(pair, 1) for pair in _shown(target)], 0
    ).astype(np.uint8)


def _shown(target: Target) -> list[list[Any]]:
    assert target.depth is not None
    assert target.normal is not None
    assert target.part is not None
    assert target.heat is not None
    grey = np.where(np.isfinite(target.depth), 320 - 50 * target.depth, 0)
    parts = np.array([(0, 0, 0), (160, 130, 90), (190, 40, 30), (30, 80, 180)])
    warm = np.nan_to_num(target.heat)
    hot = np.stack([128 + 127 * warm, 0 * warm + 60, 128 - 127 * warm], -1)
    hot[np.isnan(target.heat)] = 0
    pictures = [
        np.repeat(np.clip(grey, 0, 255)[..., None], 3, -1),
        127.5 + 127.5 * target.normal,
        parts[target.part + 1],
        hot,
    ]
    full = [np.insert(np.floor(p), 3, 255, axis=-1) for p in pictures]
    return [full[:2], full[2:]]
