"""The rasteriser against its slow twin, over random scenes of every feature.

The twin works in float64 and finds the level of detail at every pixel, so pixels at
edges and of small textures may differ: few, and the others by hardly a level.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from flexor.draw.backend import Backend
from flexor.draw.drawlist import DrawItem, DrawLines, Look, Strokes
from flexor.draw.target import Target
from flexor.scene.character.camera import Camera
from flexor.scene.character.light import DAYLIGHT, Light
from tests.draw.raster.slow import SlowBackend
from tests.draw.shapes import (
    Shape,
    checker,
    cube,
    draw,
    floats,
    plane,
    put,
    put_texture,
    sphere,
    welded,
)
from tests.oracle.raster.colour import unit

SIZE = (61, 47)
ALL = ("depth", "normal", "part", "heat")
SUN = Light("directional", (0.6, 0.6, 0.5), direction=(1, -2, -1))
LAMP = Light("point", (1.5, 1.0, 0.5), position=(0.5, 1.2, 1.0), reach=1.5)
LIGHTS = (*DAYLIGHT, SUN, LAMP)
EYE = Camera((1.3, 1.1, 3.4), (0, 0, 0), fov=0.8)
FLAT = Camera((1.3, 1.1, 3.4), (0, 0, 0), height=3.0)


def compare(
    raster: Backend,
    make: Any,
    share: float = 0.005,
    most: int = 2,
    size: tuple[int, int] = SIZE,
    **more: Any,
) -> None:
    """Draw what `make` puts on both backends.

    share: of the pixels that may differ by more than `most` levels.
    """
    given = {"camera": EYE, "lights": LIGHTS, "background": (30, 60, 90, 255), **more}
    targets: list[Target] = []
    for backend in (raster, SlowBackend()):
        made = make(backend)
        made = made if isinstance(made, dict) else {"items": made}
        targets.append(draw(backend, size, buffers=ALL, **{**given, **made}))
    have, wanted = targets
    wrong = abs(have.colour.astype(int) - wanted.colour.astype(int)).max(-1)
    assert wanted.colour[..., 0].std() > 1
    assert mean(wrong > most) <= share
    assert have.skipped == wanted.skipped
    part = have.part == wanted.part
    assert mean(~part) <= share
    same = part & (have.part >= 0)
    # With four samples a pixel of several faces may show any of them.
    loose = 3 if given.get("samples") == 4 else 1
    far = abs(have.depth[same] - wanted.depth[same]) > 0.03 * loose
    assert mean(far) <= 2 * loose * share
    turned = abs(have.normal[same] - wanted.normal[same]).max(-1) > 0.03 * loose
    assert mean(turned) <= 2 * loose * share
    has_heat, is_hot = np.isfinite(have.heat), np.isfinite(wanted.heat)
    assert mean((has_heat != is_hot)[part]) <= share
    both = has_heat & is_hot & part
    far = abs(have.heat[both] - wanted.heat[both]) > 0.03 * loose
    assert mean(far) <= 2 * loose * share


def mean(array: Any) -> float:
    return round(float(array.mean()), 4) if array.size else 0.0


def moved(shape: Shape, *way: float) -> Shape:
    positions = floats(shape.positions + np.array(way, np.float32))
    return Shape(positions, shape.faces, shape.normals, shape.texcoords)


def still_life(backend: Backend, look: Look, **more: Any) -> list[DrawItem]:
    """A ball and a box through each other over a ground, with heat."""
    box, ball = cube(0.6), sphere(0.8, 10, 16)
    items = []
    for part, shape in enumerate(
        (moved(box, -0.5, 0.1, 0.3), moved(ball, 0.4, 0, 0), plane(2.0, 3, -0.6))
    ):
        colours = 0.25 + 0.75 * abs(np.sin(np.arange(len(shape.positions) * 4)))
        colours = floats(colours.reshape(-1, 4))
        heat = floats(np.sin(3 * shape.positions[:, 0]))
        items.append(
            put(
                backend,
                shape,
                look,
                colours=colours,
                heat=heat if part else None,
                part=part,
                **more,
            )
        )
    return items


@pytest.mark.parametrize("samples", [1, 4])
@pytest.mark.parametrize("camera", [EYE, FLAT], ids=["eye", "flat"])
@pytest.mark.parametrize("cull", ["back", "none"])
@pytest.mark.parametrize("shading", ["pixel", "vertex", "flat", "unlit", "cel"])
def test_shading(
    raster: Backend, shading: Any, cull: Any, camera: Camera, samples: int
) -> None:
    look = Look(shading=shading, cull=cull, colour=(0.9, 0.7, 0.5, 1), cel_bands=4)
    compare(
        raster,
        lambda b: still_life(b, look),
        0.005,
        camera=camera,
        samples=samples,
    )


@pytest.mark.parametrize("samples", [1, 4])
@pytest.mark.parametrize("camera", [EYE, FLAT], ids=["eye", "flat"])
@pytest.mark.parametrize("wrap", ["repeat", "mirror", "clamp"])
@pytest.mark.parametrize("is_nearest", [False, True])
def test_textures(
    raster: Backend, is_nearest: bool, wrap: Any, camera: Camera, samples: int
) -> None:
    pixels = checker(24, 6, 60, 250)[:, :17]
    pixels[:8, :8, 1] //= 2
    turn = ((1.3, 0.4, -0.2), (-0.5, 1.1, 0.3))

    def make(backend: Backend) -> list[DrawItem]:
        number = put_texture(
            backend, pixels, wrap_s=wrap, wrap_t=wrap, is_nearest=is_nearest
        )
        look = Look(texture=number, texture_transform=turn, shading="unlit")
        return still_life(backend, look)

    compare(raster, make, 0.05, 12, camera=camera, samples=samples)


@pytest.mark.parametrize("has_mipmaps", [False, True])
def test_small_textures(raster: Backend, has_mipmaps: bool) -> None:
    """Many texels a pixel: the same level of detail."""

    def make(backend: Backend) -> list[DrawItem]:
        number = put_texture(backend, checker(128, 16), has_mipmaps=has_mipmaps)
        return [put(backend, plane(3.0), Look(texture=number, shading="unlit"))]

    compare(raster, make, 0.1, 12)


def test_emissive(raster: Backend) -> None:
    def make(backend: Backend) -> list[DrawItem]:
        glow = put_texture(backend, checker(8, 1, 20, 200))
        look = Look(emissive=(0.5, 0.2, 0.1), emissive_texture=glow)
        return still_life(backend, look)

    compare(raster, make, 0.03, 12)


@pytest.mark.parametrize("samples", [1, 4])
@pytest.mark.parametrize("order", ["depth", "sort"])
def test_mask(raster: Backend, order: Any, samples: int) -> None:
    pixels = checker(8, 1, 60, 250)
    pixels[..., 3] = pixels[..., 0]

    def make(backend: Backend) -> list[DrawItem]:
        number = put_texture(backend, pixels)
        look = Look(texture=number, alpha="mask", cutoff=0.55, cull="none")
        return still_life(backend, look)

    compare(raster, make, 0.02, samples=samples, order=order)


@pytest.mark.parametrize("wrap", ["repeat", "mirror", "clamp"])
@pytest.mark.parametrize("is_nearest", [False, True])
def test_mask_of_one_level(raster: Backend, is_nearest: bool, wrap: Any) -> None:
    """As of leaves: no level of detail to find; near enough to be cut too."""
    pixels = checker(8, 1, 60, 250)
    pixels[..., 3] = pixels[..., 0]
    camera = Camera((0.5, 0.5, 1.3), (0, 0, 0), fov=1.2, near=0.6)

    def make(backend: Backend) -> list[DrawItem]:
        more = {"wrap_s": wrap, "wrap_t": wrap, "is_nearest": is_nearest}
        number = put_texture(backend, pixels, has_mipmaps=False, **more)
        look = Look(texture=number, alpha="mask", cutoff=0.55, cull="none")
        return still_life(backend, look)

    compare(raster, make, 0.02, camera=camera)


@pytest.mark.parametrize("alpha", ["opaque", "blend"])
@pytest.mark.parametrize("shading", ["pixel", "flat", "cel"])
def test_even_light(raster: Backend, shading: Any, alpha: Any) -> None:
    """Where no lamp stands, and all corners of a face have one normal; or not."""

    def make(backend: Backend) -> list[DrawItem]:
        number = put_texture(backend, checker(4, 1, 90, 250))
        look = Look(texture=number, shading=shading, alpha=alpha, emissive=(0.1, 0, 0))
        shapes = plane(2.0, 3, -0.6), moved(cube(0.6), -0.5, 0.1, 0.3), sphere(0.7)
        return [put(backend, shape, look, part=n) for n, shape in enumerate(shapes)]

    compare(raster, make, 0.05, 12, lights=(*DAYLIGHT, SUN))


@pytest.mark.parametrize("height", [None, 2.0], ids=["eye", "flat"])
@pytest.mark.parametrize("turn", range(6))
def test_ground_all_around(raster: Backend, turn: int, height: float | None) -> None:
    """Most of it out of the picture, or behind the camera."""
    across, along = np.sin(turn), np.cos(turn)
    camera = Camera(
        (0.3, 0.4, 0.2), (0.3 + across, 0.1, 0.2 + along), fov=1.0, height=height
    )
    shape = plane(40.0, 16, 0.0)
    compare(raster, lambda b: [put(b, shape, Look(cull="none"))], 0.01, camera=camera)


@pytest.mark.parametrize("samples", [1, 4])
@pytest.mark.parametrize("order", ["depth", "sort"])
def test_blend(raster: Backend, order: Any, samples: int) -> None:
    def make(backend: Backend) -> list[DrawItem]:
        look = Look(colour=(0.3, 0.8, 1, 0.4), alpha="blend", cull="none")
        solid = put(backend, moved(cube(0.3), 0, 0.2, 0.6), Look(), part=7)
        return [*still_life(backend, look), solid]

    compare(raster, make, samples=samples, order=order)


@pytest.mark.parametrize("opacity", [0.2, 0.5, 0.9])
def test_screen_door(raster: Backend, opacity: float) -> None:
    compare(raster, lambda b: still_life(b, Look(opacity=opacity)))


def test_clear_background(raster: Backend) -> None:
    def make(backend: Backend) -> list[DrawItem]:
        film = Look(colour=(1, 0.5, 0.2, 0.5), alpha="blend")
        ball = put(backend, moved(sphere(0.5), 0, 0.3, 1), film)
        return [*still_life(backend, Look())[:2], ball]

    for background in ((0, 0, 0, 0), (200, 100, 50, 120)):
        compare(raster, make, samples=4, background=background)


@pytest.mark.parametrize("samples", [1, 4])
@pytest.mark.parametrize("camera", [EYE, FLAT], ids=["eye", "flat"])
def test_lines(raster: Backend, camera: Camera, samples: int) -> None:
    rng = np.random.default_rng(6)
    points = floats(rng.uniform(-1.5, 1.5, (40, 2, 3)))
    points[:6, 1, 2] = 9  # behind the camera
    colours = rng.uniform(0, 1, (40, 4))
    clear, solid = colours.copy(), colours.copy()
    solid[:, 3] = 1

    def make(backend: Backend) -> dict[str, Any]:
        lines = [
            DrawLines(points[:20], floats(solid[:20]), 1.6, part=4),
            DrawLines(points[20:30], floats(clear[20:30]), 3.0, part=5),
            DrawLines(points[30:], floats(solid[30:]), 2.0, layer=1),
        ]
        return {"items": still_life(backend, Look()), "lines": lines}

    compare(raster, make, 0.01, camera=camera, samples=samples)


@pytest.mark.parametrize("camera", [EYE, FLAT], ids=["eye", "flat"])
@pytest.mark.parametrize(
    "strokes",
    [
        Strokes(silhouette=True),
        Strokes(crease=0.7),
        Strokes(border=True),
        Strokes(wire=True, colour=(1, 0, 0, 0.5)),
    ],
    ids=["silhouette", "crease", "border", "wire"],
)
def test_strokes(raster: Backend, strokes: Strokes, camera: Camera) -> None:
    """Without a surface, so that the pull forward does not matter."""

    def make(backend: Backend) -> list[DrawItem]:
        shapes = (cube(0.9), sphere(0.8, 10, 16), plane(1.2, 3, -0.6))
        return [
            put(backend, s, None, strokes=strokes, part=n, welded=welded(s.positions))
            for n, s in enumerate(shapes)
        ]

    compare(raster, make, camera=camera)


@pytest.mark.parametrize("near", [0.5, 2.9, 3.4])
@pytest.mark.parametrize("height", [None, 3.0], ids=["eye", "flat"])
def test_near_plane(raster: Backend, height: float | None, near: float) -> None:
    camera = Camera((1.3, 1.1, 3.4), (0, 0, 0), fov=0.8, height=height, near=near)
    look = Look(cull="none")
    compare(raster, lambda b: still_life(b, look), 0.01, camera=camera, samples=4)


def test_camera_in_the_middle(raster: Backend) -> None:
    """Inside the ball, with corners on all sides."""
    camera = Camera((0.4, 0.1, 0.1), (-0.5, 0, 0.6), fov=1.4)
    look = Look(cull="none", shading="vertex")
    compare(raster, lambda b: still_life(b, look), camera=camera)


@pytest.mark.parametrize("order", ["depth", "sort"])
@pytest.mark.parametrize("seed", range(6))
def test_soups(raster: Backend, seed: int, order: Any) -> None:
    """Triangles and quads at random: sizes, looks, layers, broken corners."""
    rng = np.random.default_rng(seed)

    def make(backend: Backend) -> list[DrawItem]:
        rng = np.random.default_rng(seed)
        number = put_texture(backend, checker(8, 2, 90, 255))
        items = []
        for part in range(8):
            width = 3 + part % 2
            count = int(rng.integers(1, 12))
            middle = rng.uniform(-1.2, 1.2, (count, 1, 3))
            u, v = rng.normal(0, 0.5, (2, count, 1, 3))
            around = np.array([(0, 0), (1, 0), (1.2, 1), (0, 1)])[:width]
            corners = middle + around[:, :1] * u + around[:, 1:] * v
            corners = corners.reshape(-1, 3)
            if part == 2:
                corners[int(rng.integers(width)), 1] = np.nan
            shape = Shape(
                floats(corners),
                np.arange(count * width).reshape(-1, width),
                floats(unit(rng.normal(size=corners.shape))),
                floats(rng.uniform(-1, 2, (len(corners), 2))),
            )
            words = ["pixel", "vertex", "flat", "unlit"]
            look = Look(
                colour=tuple(rng.uniform(0.3, 1, 4)),
                shading=words[int(rng.integers(4))],
                alpha=["opaque", "opaque", "mask", "blend"][part % 4],
                cull="none" if part % 3 else "back",
                texture=number if part % 2 else -1,
                opacity=1.0 if part % 5 else 0.6,
                cutoff=0.3,
            )
            smooth = rng.random(count) < 0.5 if part % 2 else None
            items.append(
                put(backend, shape, look, smooth=smooth, part=part, layer=part == 7)
            )
        return items

    samples = int(rng.choice([1, 4]))
    compare(raster, make, 0.04, 12, (150, 75), samples=samples, order=order)
