"""Simple shapes and pictures for the tests of drawing.

Most tests look straight at the plane z = 0 with a camera without perspective, one metre
a pixel, so that every place in the picture is exact in float32.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from flexor.draw.backend import Backend
from flexor.draw.drawlist import DrawItem, DrawList, DrawMesh, DrawTexture, Look
from flexor.draw.target import Target, init_target
from flexor.scene.character.camera import Camera

CLEAR = (0, 0, 0, 0)
BLACK = (0, 0, 0, 255)
UNLIT = Look(shading="unlit")
SEEN_THROUGH = Look(shading="unlit", alpha="blend", colour=(1.0, 1.0, 1.0, 0.5))
ONCE, TWICE = 188, 225  # white over black at alpha 1/2, once and twice, as sRGB


@dataclass
class Shape:
    """A surface: vertices (V, 3), faces, unit normals (V, 3), texcoords (V, 2)."""

    positions: Any
    faces: Any
    normals: Any = None
    texcoords: Any = None

    def mesh(self, **more: Any) -> DrawMesh:
        texcoords = None if self.texcoords is None else np.array(self.texcoords)
        given = {"texcoords": texcoords, **more}
        return DrawMesh(len(self.positions), np.array(self.faces), **given)


def floats(values: Any) -> Any:
    """Plain float32, as draw lists take it."""
    return np.ascontiguousarray(values, np.float32)


def pixel_camera(size: tuple[int, int]) -> Camera:
    """No perspective, one metre a pixel, from z = 100."""
    return Camera((0, 0, 100), (0, 0, 0), height=size[1])


def at_pixels(places: Any, size: tuple[int, int], z: Any = 0.0) -> Any:
    """Where in the world places (..., 2) of such a picture are, float32 (..., 3)."""
    places = np.asarray(places, np.float64)
    x, y = places[..., 0] - size[0] / 2, size[1] / 2 - places[..., 1]
    return floats(np.stack([x, y, np.broadcast_to(z, x.shape)], -1))


def rectangle(
    size: tuple[int, int], box: Any = None, z: float = 0.0, is_quad: bool = False
) -> Shape:
    """A rectangle (left, top, right, bottom) in pixels, by default the whole picture;
    its texture coordinates go from 0, 0 at the top left to 1, 1.
    """
    left, top, right, bottom = box or (0, 0, *size)
    corners = [(left, top), (left, bottom), (right, bottom), (right, top)]
    return Shape(
        at_pixels(corners, size, z),
        np.array([[0, 1, 2, 3]] if is_quad else [[0, 1, 2], [0, 2, 3]]),
        floats(np.tile([0, 0, 1], (4, 1))),
        floats([(0, 0), (0, 1), (1, 1), (1, 0)]),
    )


def cube(half: float = 1.0, is_quad: bool = True) -> Shape:
    """A cube of 24 vertices, so that its normals and textures have edges."""
    positions, normals, texcoords, faces = [], [], [], []
    for axis in range(3):
        for sign in (1, -1):
            out = np.zeros(3)
            out[axis] = sign
            u = np.roll(out, 1) * sign
            v = np.cross(out, u)
            first = len(positions)
            for s, t in ((-1, -1), (1, -1), (1, 1), (-1, 1)):
                positions.append((out + u * s + v * t) * half)
                normals.append(out)
                texcoords.append(((1 + s) / 2, (1 - t) / 2))
            faces.append([first, first + 1, first + 2, first + 3])
    quads = np.array(faces)
    triangles = quads[:, [0, 1, 2, 0, 2, 3]].reshape(-1, 3)
    faces_of = quads if is_quad else triangles
    return Shape(floats(positions), faces_of, floats(normals), floats(texcoords))


def sphere(radius: float = 1.0, rings: int = 12, around: int = 24) -> Shape:
    """A sphere of triangles; its seam has two vertices in each place."""
    down, turn = np.mgrid[0 : rings + 1, 0 : around + 1]
    polar, angle = down * np.pi / rings, turn % around * 2 * np.pi / around
    ring = np.where((down == 0) | (down == rings), 0.0, np.sin(polar))
    normals = np.stack(
        [ring * np.sin(angle), np.cos(polar), ring * np.cos(angle)], -1
    ).reshape(-1, 3)
    faces = []
    for row in range(rings):
        for column in range(around):
            a = row * (around + 1) + column
            b = a + around + 1
            if row < rings - 1:
                faces.append([a, b, b + 1])
            if row > 0:
                faces.append([a, b + 1, a + 1])
    texcoords = np.stack([turn / around, down / rings], -1).reshape(-1, 2)
    return Shape(
        floats(normals * radius), np.array(faces), floats(normals), floats(texcoords)
    )


def plane(half: float = 1.0, cells: int = 1, y: float = 0.0) -> Shape:
    """A square on the ground, seen from above, of cells x cells quads as triangles."""
    steps = np.linspace(-half, half, cells + 1)
    z, x = np.meshgrid(steps, steps, indexing="ij")
    positions = np.stack([x, np.full_like(x, y), z], -1).reshape(-1, 3)
    faces = []
    for row in range(cells):
        for column in range(cells):
            a = row * (cells + 1) + column
            b = a + cells + 1
            faces += [[a, b, b + 1], [a, b + 1, a + 1]]
    texcoords = (positions[:, [0, 2]] / half + 1) / 2
    normals = np.tile([0, 1, 0], (len(positions), 1))
    return Shape(floats(positions), np.array(faces), floats(normals), floats(texcoords))


def welded(positions: Any) -> Any:
    """For each vertex the first one in the same place."""
    first: dict[bytes, int] = {}
    places = np.round(np.asarray(positions, np.float64), 5) + 0.0
    return np.array([first.setdefault(p.tobytes(), n) for n, p in enumerate(places)])


def checker(size: int, cell: int = 1, low: int = 0, high: int = 255) -> Any:
    """Pixels (size, size, 4) of squares, the top left one high."""
    y, x = np.mgrid[:size, :size] // cell
    grey = np.where((x + y) % 2 == 0, high, low)
    return np.stack([grey, grey, grey, np.full_like(grey, 255)], -1).astype(np.uint8)


def put(backend: Backend, shape: Shape, look: Look = UNLIT, **more: Any) -> DrawItem:
    """Upload a shape and make an item of it."""
    to_mesh = ("smooth", "welded", "texcoords")
    mesh = shape.mesh(**{k: more.pop(k) for k in to_mesh if k in more})
    given = {"normals": shape.normals, "look": look, **more}
    return DrawItem(backend.upload(mesh), shape.positions, **given)


def put_texture(backend: Backend, pixels: Any, **more: Any) -> int:
    """Upload a texture; gives its number."""
    return backend.upload(DrawTexture(np.array(pixels, np.uint8), **more))


def draw(
    backend: Backend,
    size: tuple[int, int],
    items: Any = (),
    *,
    samples: int = 1,
    buffers: Any = (),
    **more: Any,
) -> Target:
    """Draw items, by default with the camera above over black; gives the target."""
    if isinstance(items, DrawItem):
        items = (items,)
    given = {"camera": pixel_camera(size), "background": BLACK, **more}
    target = init_target(size, samples, buffers)
    result = backend.draw(DrawList(items=tuple(items), **given), target)
    assert result is target.colour
    return target


def pixel_rays(camera: Camera, size: tuple[int, int]) -> tuple[Any, Any]:
    """Start and way (H, W, 3) of the ray through every pixel centre; the way goes one
    metre along the view.
    """
    width, height = size
    right, up, back = camera.axes()
    scale = camera.scale(size)
    x = (np.arange(width) + 0.5 - width / 2) / scale
    y = (height / 2 - np.arange(height) - 0.5) / scale
    across = x[None, :, None] * right + y[:, None, None] * up
    eye = np.array(camera.eye)
    if camera.height is None:
        return np.broadcast_to(eye, across.shape), across - back
    return eye + across, np.broadcast_to(-back, across.shape)
