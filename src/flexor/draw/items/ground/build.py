"""Uneven ground as what a backend draws, and its colours in the shade."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from flexor.arrays import Doubles, Floats, first_same, freeze
from flexor.draw.backend import Backend
from flexor.draw.drawlist import RGB, DrawItem, DrawMesh, DrawTexture, Look
from flexor.draw.items.ground.marks import LEFT
from flexor.draw.items.ground.mesh import flat_within, ground_faces
from flexor.draw.items.ground.picture import GroundPicture, Plain, paint_ground
from flexor.scene.stage.ground import Ground

__all__ = [
    "GroundAssets",
    "build_ground",
    "shade_colours",
    "upload_ground",
]

# Which row and column of points the corners a, c, d and b of a cell are in.
ROW_OF, COLUMN_OF = np.array([0, 1, 1, 0]), np.array([0, 0, 1, 1])
CREASE = np.cos(np.radians(25))  # cells that meet at a sharper angle have an edge


@dataclass(frozen=True, slots=True, eq=False)
class GroundAssets:
    """A ground in a backend.

    mesh, texture: their numbers; positions, normals: float32 (V, 3), a vertex for each
    corner of a block of cells, more where cells meet in an edge; picture: what it looks
    like from above.
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
    mark: Callable[[GroundPicture], GroundPicture] | None = None,
    within: Doubles | None = None,
) -> GroundAssets:
    """Upload a ground; plain: what its plain cells look like; is_clear: water is drawn
    over it, so that its floor is seen; mark: what else is painted on its picture;
    within: metres (R - 1, C - 1) that each cell may be drawn from where it is, None:
    as `flat_within` says.
    """
    picture = paint_ground(ground, plain, is_clear=is_clear)
    if mark is not None:
        picture = mark(picture)
    if within is None:
        within = flat_within(ground, ())
    cells, which = ground_faces(ground.heights, within)
    rows, columns = ground.surfaces.shape
    row, column = np.divmod(cells, columns)
    row, column = row + ROW_OF[which], column + COLUMN_OF[which]
    places, corners = ground.mesh()[0], (row * (columns + 1) + column).ravel()
    normals = _normals(ground)[cells, which].reshape(-1, 3).astype(np.float32)
    first = first_same(np.column_stack([corners, normals.view(np.int32)]))
    used, faces = np.unique(first, return_inverse=True)
    row, column = row.ravel()[used], column.ravel()[used]
    texcoords = np.stack([column / columns, row / rows], 1).astype(np.float32)
    mesh = DrawMesh(len(used), faces.reshape(-1, 3).astype(np.int32), texcoords)
    texture = DrawTexture(picture.pixels, "clamp", "clamp")
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
