"""Made scenes for `flexor bench draw`: the same arrays for us and for the peers."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from flexor.arrays import Doubles, Floats, Ints
from flexor.draw.drawlist import DrawItem, DrawList, DrawMesh, DrawTexture, Look
from flexor.errors import SettingError
from flexor.scene.character.camera import Camera
from flexor.scene.character.light import Light
from flexor.scene.character.mesh import Primitive
from flexor.scene.character.normals import vertex_normals

__all__ = [
    "AMBIENT",
    "BACKGROUND",
    "CAMERA",
    "DIFFUSE",
    "FAR",
    "KINDS",
    "TO_LIGHT",
    "DrawScene",
    "assets",
    "clip_from_world",
    "list_for_frame",
    "make_scene",
]

Grid = tuple[Doubles, Doubles, Doubles, Ints]  # positions, normals, texcoords, faces

CAMERA = Camera(eye=(0.0, 0.0, 3.0), target=(0.0, 0.0, 0.0), fov=0.698132, near=0.1)
FAR = 20.0  # metres; the peers need one
TO_LIGHT = tuple(float(x) for x in np.array([0.4, 0.6, 0.7]) / math.sqrt(1.01))
AMBIENT, DIFFUSE = 0.25, 0.75
BACKGROUND = (26, 31, 41, 255)  # sRGB and alpha
FRAMES = 64

# Capsules of the figure: the middles of both ends (x, y, z) and the radius, metres.
# Those with x > 0 are there a second time on the other side.
BONES = (
    ((0.0, 1.58, 0.0), (0.0, 1.68, 0.0), 0.12),
    ((0.0, 0.95, 0.0), (0.0, 1.32, 0.0), 0.17),
    ((0.24, 1.38, 0.0), (0.42, 1.12, 0.0), 0.065),
    ((0.43, 1.10, 0.0), (0.55, 0.86, 0.1), 0.05),
    ((0.11, 0.86, 0.0), (0.13, 0.50, 0.02), 0.09),
    ((0.13, 0.45, 0.02), (0.14, 0.08, 0.0), 0.065),
)
HIPS = 0.93  # metres above the ground; the origin of the scene


@dataclass(frozen=True, slots=True, eq=False)
class DrawScene:
    """A surface that changes in every frame.

    faces: int32 (F, 3), counter-clockwise from the front; texcoords: float32 (V, 2);
    texture: uint8 (512, 512, 4), sRGB; positions, normals: float32 (N, V, 3), those of
    N frames that follow each other in a circle.
    """

    faces: Ints
    texcoords: Floats
    texture: NDArray[np.uint8]
    positions: Floats
    normals: Floats


def make_scene(kind: str, frames: int | None = None) -> DrawScene:
    """One of KINDS; `frames`: how many to make, 64 (small triangles: 4) unless said."""
    if kind not in KINDS:
        raise SettingError(f"no scene {kind!r}; there are: {', '.join(KINDS)}")
    make, move, usual = KINDS[kind]
    rest, out, texcoords, faces = make()
    count = frames or usual
    angles = [2 * math.pi * frame / count for frame in range(count)]
    positions = [move(rest, out, angle).astype(np.float32) for angle in angles]
    corners = faces.ravel().astype(np.uint32)
    normals = [vertex_normals(Primitive(p, indices=corners)) for p in positions]
    return DrawScene(
        faces,
        np.ascontiguousarray(texcoords, np.float32),
        _texture(512),
        np.stack(positions),
        np.stack(normals),
    )


def list_for_frame(scene: DrawScene, frame: int, mesh: int, texture: int) -> DrawList:
    """What is drawn at one frame, given the numbers of the uploaded assets."""
    look = Look(texture=texture, shading="vertex", cull="back")
    row = frame % len(scene.positions)
    item = DrawItem(mesh, scene.positions[row], scene.normals[row], look)
    return DrawList(CAMERA, (item,), lights=LIGHTS, background=BACKGROUND)


LIGHTS = (
    Light("ambient", (AMBIENT,) * 3),
    Light(
        "directional",
        (DIFFUSE,) * 3,
        direction=(-TO_LIGHT[0], -TO_LIGHT[1], -TO_LIGHT[2]),
    ),
)


def assets(scene: DrawScene) -> tuple[DrawMesh, DrawTexture]:
    """What is uploaded once."""
    vertices = len(scene.texcoords)
    mesh = DrawMesh(vertices, scene.faces.copy(), scene.texcoords.copy())
    return mesh, DrawTexture(scene.texture.copy())


def clip_from_world(size: tuple[int, int]) -> Floats:
    """What CAMERA sees, as OpenGL wants it: float32 (4, 4), for column vectors."""
    tall = 1 / math.tan(CAMERA.fov / 2)
    near = CAMERA.near
    project = np.zeros((4, 4))
    project[0, 0], project[1, 1] = tall * size[1] / size[0], tall
    project[2, 2] = (FAR + near) / (near - FAR)
    project[2, 3] = 2 * FAR * near / (near - FAR)
    project[3, 2] = -1
    view = np.eye(4)
    view[:3] = CAMERA.view()
    return (project @ view).astype(np.float32)


def _grid_faces(rows: int, columns: int) -> Ints:
    """Triangles of a grid of rows x columns quads; vertices row by row."""
    first = np.arange(rows)[:, None] * (columns + 1) + np.arange(columns)
    right, up = first + 1, first + columns + 1
    lower = np.stack([first, right, up + 1], -1)
    upper = np.stack([first, up + 1, up], -1)
    return np.stack([lower, upper], -2).reshape(-1, 3).astype(np.int32)


def _grid_texcoords(rows: int, columns: int) -> Doubles:
    u, v = np.meshgrid(np.linspace(0, 1, columns + 1), np.linspace(0, 1, rows + 1))
    return np.stack([u, v], -1).reshape(-1, 2)


def _capsule(start: Doubles, end: Doubles, radius: float) -> Grid:
    """550 vertices in 22 rings of 25 from one pole to the other, 1,008 triangles."""
    columns, half = 24, 11
    axis = end - start
    length = np.linalg.norm(axis)
    axis = axis / length
    side = np.cross(axis, (0.0, 0.0, 1.0))
    side /= np.linalg.norm(side)
    round_ = 2 * np.pi * np.linspace(0, 1, columns + 1)
    ring = np.cos(round_)[:, None] * side
    ring += np.sin(round_)[:, None] * np.cross(axis, side)
    climb = np.linspace(-np.pi / 2, 0, half)
    climb = np.concatenate([climb, -climb[::-1]])[:, None, None]
    out = np.cos(climb) * ring + np.sin(climb) * axis
    along = np.repeat([0.0, length], half)[:, None, None] * axis
    positions = start + radius * out + along
    rows = 2 * half - 1
    return (
        positions.reshape(-1, 3),
        out.reshape(-1, 3),
        _grid_texcoords(rows, columns),
        _grid_faces(rows, columns),
    )


def _make_humanoid() -> Grid:
    """A figure of ten capsules: 5,500 vertices, 10,080 triangles."""
    parts = []
    for start, end, radius in BONES:
        for side in (1, -1) if start[0] else (1,):
            ends = np.array([start, end]) * (side, 1, 1)
            parts.append(_capsule(ends[0], ends[1], radius))
    firsts = np.cumsum([0, *(len(part[0]) for part in parts[:-1])])
    faces = [part[3] + first for part, first in zip(parts, firsts, strict=True)]
    positions, out, texcoords = (
        np.concatenate([part[column] for part in parts]) for column in range(3)
    )
    positions[:, 1] -= HIPS
    return positions, out, texcoords, np.concatenate(faces).astype(np.int32)


def _move_humanoid(rest: Doubles, out: Doubles, angle: float) -> Doubles:
    """Sways, breathes and turns."""
    x, y, _ = rest.T
    moved = rest.copy()
    moved[:, 0] += 0.09 * math.sin(angle) * (y + HIPS) ** 1.5
    moved[:, 2] += 0.1 * np.sin(angle + 3 * y)
    moved += out * 0.012 * np.sin(2 * angle + 18 * y + 6 * x)[:, None]
    return _turned(moved, angle)


def _make_sphere() -> Grid:
    """5,151 vertices, 10,000 triangles."""
    rows, columns = 50, 100
    around = 2 * np.pi * np.linspace(0, 1, columns + 1)
    climb = np.pi * np.linspace(-0.5, 0.5, rows + 1)[:, None]
    x, y = np.cos(climb) * np.cos(around), np.sin(climb) + 0 * around
    z = -np.cos(climb) * np.sin(around)
    out = np.stack([x, y, z], -1).reshape(-1, 3)
    texcoords = _grid_texcoords(rows, columns)
    return 0.85 * out, out, texcoords, _grid_faces(rows, columns)


def _move_sphere(rest: Doubles, out: Doubles, angle: float) -> Doubles:
    """Dents wander over it while it turns."""
    x, y, _ = rest.T
    dent = 0.08 * np.sin(angle + 9 * y) * np.cos(2 * angle + 5 * x)
    return _turned(rest + out * dent[:, None], angle)


def _make_sheet() -> Grid:
    """A sheet that faces the camera: 200,000 triangles."""
    rows, columns = 250, 400
    texcoords = _grid_texcoords(rows, columns)
    # 1000 x 600 pixels of a picture of 1280 x 720: three pixels a triangle.
    tall = 2 * math.tan(CAMERA.fov / 2) * CAMERA.eye[2] / 720
    flat = (texcoords - 0.5) * (1000 * tall, 600 * tall)
    positions = np.concatenate([flat, np.zeros((len(flat), 1))], 1)
    out = np.tile([0.0, 0.0, 1.0], (len(flat), 1))
    return positions, out, texcoords, _grid_faces(rows, columns)


def _move_sheet(rest: Doubles, out: Doubles, angle: float) -> Doubles:
    """Waves run over it."""
    x, y, _ = rest.T
    wave: Doubles = 0.02 * np.sin(angle + 9 * x + 7 * y)
    return rest + out * wave[:, None]


def _turned(points: Doubles, angle: float) -> Doubles:
    """Turned about the vertical axis."""
    cos, sin = math.cos(angle), math.sin(angle)
    turned: Doubles = points @ np.array([[cos, 0, -sin], [0, 1, 0], [sin, 0, cos]])
    return turned


def _texture(size: int) -> NDArray[np.uint8]:
    """A checkerboard with noise, its colours changing over both sides."""
    y, x = np.mgrid[:size, :size]
    check = ((x // 32 + y // 32) & 1).astype(np.float64)
    noise = np.random.default_rng(0).random((size, size)) * 0.15
    red = 0.55 + 0.4 * check - noise
    green = 0.35 + 0.5 * x / size - noise
    blue = 0.3 + 0.5 * y / size * (1 - 0.5 * check) + noise
    picture = np.stack([red, green, blue, np.ones_like(red)], -1)
    return (picture.clip(0, 1) * 255).astype(np.uint8)


Maker = Callable[[], Grid]
Mover = Callable[[Doubles, Doubles, float], Doubles]
KINDS: dict[str, tuple[Maker, Mover, int]] = {
    "humanoid": (_make_humanoid, _move_humanoid, FRAMES),
    "sphere": (_make_sphere, _move_sphere, FRAMES),
    "small_triangles": (_make_sheet, _move_sheet, 4),
}
