"""Uneven ground as what a backend draws, and its colours in the shade.

Around it lies an apron, as ground goes on beyond its edges, which fades away.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from flexor.arrays import Floats, first_same, freeze
from flexor.draw.backend import Backend
from flexor.draw.drawlist import RGB, DrawItem, DrawMesh, DrawTexture, Look
from flexor.draw.items.ground_picture import COLOURS, GroundPicture, Plain, paint_ground
from flexor.draw.scene.lighting import light_on
from flexor.scene.character.light import Light
from flexor.scene.stage.ground import Ground
from flexor.scene.stage.layout import SURFACES

__all__ = [
    "ApronAssets",
    "GroundAssets",
    "build_apron",
    "build_ground",
    "shade_colours",
    "upload_apron",
    "upload_ground",
]

LEFT: RGB = (0.36, 0.39, 0.45)  # what daylight has in the shade
# Metres from the edge of a ground to the rings of its apron, and within which what is
# at the edge gives way to plain ground.
RINGS = (1.0, 3.0, 6.0, 10.0, 16.0, 24.0, 34.0, 46.0, 60.0)
BLENDS = 6.0
CREASE = np.cos(np.radians(25))  # cells that meet at a sharper angle have an edge


@dataclass(frozen=True, slots=True, eq=False)
class GroundAssets:
    """A ground in a backend.

    mesh, texture: their numbers; positions, normals: float32 (V, 3), a vertex for each
    corner of the grid, more where cells meet in an edge; picture: what it looks like
    from above.
    """

    ground: Ground
    mesh: int
    texture: int
    positions: Floats
    normals: Floats
    picture: GroundPicture

    def __post_init__(self) -> None:
        for name in ("positions", "normals"):
            value = freeze(getattr(self, name), np.float32, (None, 3), name)
            object.__setattr__(self, name, value)


def upload_ground(
    backend: Backend,
    ground: Ground,
    plain: Plain = "grass",
    *,
    is_clear: bool = False,
) -> GroundAssets:
    """Upload a ground; plain: what its plain cells look like; is_clear: water is drawn
    over it, so that its floor is seen.
    """
    picture = paint_ground(ground, plain, is_clear=is_clear)
    places, triangles = ground.mesh()
    # The triangles of a cell, a c d and a d b, are the quad a c d b.
    corners = triangles.reshape(-1, 6)[:, [0, 1, 2, 5]].ravel()
    normals = _normals(ground).reshape(-1, 3).astype(np.float32)
    first = first_same(np.column_stack([corners, normals.view(np.int32)]))
    used, faces = np.unique(first, return_inverse=True)
    rows, columns = ground.surfaces.shape
    row, column = np.divmod(corners[used], columns + 1)
    texcoords = np.stack([column / columns, row / rows], 1).astype(np.float32)
    mesh = DrawMesh(len(used), faces.reshape(-1, 4).astype(np.int32), texcoords)
    texture = DrawTexture(picture.pixels.copy(), "clamp", "clamp")
    return GroundAssets(
        ground,
        backend.upload(mesh),
        backend.upload(texture),
        places[corners[used]].astype(np.float32),
        normals[used],
        picture,
    )


def _normals(ground: Ground) -> NDArray[np.float64]:
    """Normals (cells, 4, 3) of the corners of cells, a c d b: those of the cells around
    a corner together, but for what is beyond an edge.
    """
    high, step = ground.heights, ground.step
    across = (high[:-1, 1:] - high[:-1, :-1] + high[1:, 1:] - high[1:, :-1]) / 2
    along = (high[1:, :-1] - high[:-1, :-1] + high[1:, 1:] - high[:-1, 1:]) / 2
    own = np.stack([-across / step, np.ones_like(across), -along / step], -1)
    own /= np.linalg.norm(own, axis=-1, keepdims=True)
    rows, columns = own.shape[:2]
    around = np.pad(own, ((1, 1), (1, 1), (0, 0)), mode="edge")
    sums = np.zeros((rows, columns, 4, 3))
    for corner, (dz, dx) in enumerate(((0, 0), (1, 0), (1, 1), (0, 1))):
        for i in (dz, dz + 1):
            for j in (dx, dx + 1):
                other = around[i : i + rows, j : j + columns]
                is_near = (other * own).sum(-1, keepdims=True) >= CREASE
                sums[:, :, corner] += np.where(is_near, other, 0.0)
    sums /= np.linalg.norm(sums, axis=-1, keepdims=True)
    return sums.reshape(-1, 4, 3)


@dataclass(frozen=True, slots=True, eq=False)
class ApronAssets:
    """What lies around a ground, in a backend.

    mesh: its number; positions, normals: float32 (V, 3); colours: float32 (V, 3),
    linear; faded: float32 (V,), how much of them is gone, 0 at the ground's edge to 1.
    """

    mesh: int
    positions: Floats
    normals: Floats
    colours: Floats
    faded: Floats


def upload_apron(
    backend: Backend,
    ground: Ground,
    plain: Plain = "grass",
    *,
    is_clear: bool = False,
) -> ApronAssets:
    """Upload the apron of a ground, 60 m wide, as high as its edges; as upload_ground.

    Its quads are those of the ground's grid with lines added beyond its edges, but for
    the ground itself.
    """
    rows, columns = ground.heights.shape
    more = len(RINGS)
    z, row = _lines(ground.corner[1], ground.step, rows)
    x, column = _lines(ground.corner[0], ground.step, columns)
    number = np.arange(len(z) * len(x)).reshape(len(z), len(x))
    quads = np.stack(
        [number[:-1, :-1], number[1:, :-1], number[1:, 1:], number[:-1, 1:]], -1
    )
    is_own = np.zeros(quads.shape[:2], bool)
    is_own[more : more + rows - 1, more : more + columns - 1] = True
    used, faces = np.unique(quads[~is_own], return_inverse=True)
    i, j = np.divmod(used, len(x))
    r, c = row[i], column[j]
    places = np.stack([x[j], ground.heights[r, c], z[i]], 1)
    # Ground goes on level beyond an edge; along it, it is as there.
    is_beside, is_beyond = (c == 0) | (c == columns - 1), (r == 0) | (r == rows - 1)
    along_z = np.asarray(np.gradient(ground.heights, ground.step, axis=0))
    along_x = np.asarray(np.gradient(ground.heights, ground.step, axis=1))
    slope_z = np.where(is_beyond, 0.0, along_z[r, c])
    slope_x = np.where(is_beside, 0.0, along_x[r, c])
    normals = np.stack([-slope_x, np.ones(len(used)), -slope_z], 1)
    normals /= np.linalg.norm(normals, axis=1, keepdims=True)
    inside = ground.corner + np.stack([c, r], 1) * ground.step
    away = np.linalg.norm(places[:, [0, 2]] - inside, axis=1)
    mean = np.array([np.mean(COLOURS[name], 0) for name in (plain, *SURFACES[1:])])
    if is_clear:
        mean[SURFACES.index("water")] = np.mean(COLOURS["floor"], 0)
    cells = ground.surfaces[np.minimum(r, rows - 2), np.minimum(c, columns - 2)]
    own = np.clip(1 - away / BLENDS, 0, 1)[:, None]
    part = np.clip(away / RINGS[-1], 0, 1)
    return ApronAssets(
        backend.upload(DrawMesh(len(used), faces.reshape(-1, 4).astype(np.int32))),
        places.astype(np.float32),
        normals.astype(np.float32),
        (mean[0] + own * (mean[cells] - mean[0])).astype(np.float32),
        (part * part * (3 - 2 * part)).astype(np.float32),
    )


def _lines(
    first: float, step: float, count: int
) -> tuple[NDArray[np.float64], NDArray[np.intp]]:
    """Lines of a grid along one axis, with those of the apron, and which of the
    ground's own each goes on from.
    """
    more = len(RINGS)
    inside = first + step * np.arange(count)
    beyond = np.array(RINGS)
    whole = [inside[0] - beyond[::-1], inside, inside[-1] + beyond]
    return np.concatenate(whole), np.clip(np.arange(-more, count + more), 0, count - 1)


def build_apron(
    assets: ApronAssets, lights: Iterable[Light], paper: RGB | None
) -> DrawItem:
    """The apron, lit as the ground is, and fading into the paper: linear, None for
    nothing at all.
    """
    lit = assets.colours * light_on(lights, assets.positions, assets.normals)
    faded = assets.faded[:, None]
    colours = np.ones((len(lit), 4), np.float32)
    if paper is None:
        colours[:, :3], colours[:, 3:] = lit, 1 - faded
    else:
        colours[:, :3] = lit + (np.array(paper, np.float32) - lit) * faded
    look = Look(alpha="blend" if paper is None else "opaque", shading="unlit")
    return DrawItem(assets.mesh, assets.positions, None, look, colours=colours)


def build_ground(assets: GroundAssets) -> DrawItem:
    """The ground, lit; round but for its edges."""
    look = Look(texture=assets.texture)
    return DrawItem(assets.mesh, assets.positions, assets.normals, look)


def shade_colours(assets: GroundAssets, places: Floats, left: RGB = LEFT) -> Floats:
    """What colours a ground has in the shade, at places (..., 3): float32 (..., 4).

    left: the light that is left there, linear. For the tints of characters, or for the
    colours of all places of one shadow.
    """
    ground, light = assets.ground, assets.picture.light
    high, wide = light.shape[:2]
    rows, columns = ground.surfaces.shape
    scale = wide / (columns * ground.step), high / (rows * ground.step)
    x = ((places[..., 0] - ground.corner[0]) * scale[0]).clip(0, wide - 1)
    z = ((places[..., 2] - ground.corner[1]) * scale[1]).clip(0, high - 1)
    pixels = z.astype(np.int64) * wide + x.astype(np.int64)
    colours = np.ones((*x.shape, 4), np.float32)
    np.multiply(
        light.reshape(-1, 3).take(pixels, 0),
        np.array(left, np.float32),
        out=colours[..., :3],
    )
    return colours
