"""The surface of water on a stage: seen through, with light that plays on it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from flexor.arrays import Floats
from flexor.draw.backend import Backend
from flexor.draw.drawlist import RGBA, DrawItem, DrawMesh, DrawTexture, Look
from flexor.scene.stage.ground import Ground
from flexor.scene.stage.layout import SURFACES

__all__ = ["WaterAssets", "build_water", "upload_water", "water_cells"]

TILE = 2.0  # metres that a picture of water shows
COLOUR: RGBA = (0.8, 1.05, 1.15, 0.55)
AROUND = 2  # cells around water that its surface reaches under, or over, the shore


@dataclass(frozen=True, slots=True, eq=False)
class WaterAssets:
    """Water in a backend: number of its mesh, its vertices, float32 (V, 3), and the
    numbers of its pictures, in the order in which they are shown.
    """

    mesh: int
    positions: Floats
    textures: tuple[int, ...]


def water_cells(ground: Ground, level: float) -> NDArray[np.bool_]:
    """Cells (R, C) that the surface of water lies over: water, and what is around it
    and lower than the surface somewhere.
    """
    wet = ground.surfaces == SURFACES.index("water")
    reach = np.pad(wet, AROUND)
    near = np.zeros_like(wet)
    rows, columns = wet.shape
    for i in range(2 * AROUND + 1):
        for j in range(2 * AROUND + 1):
            near |= reach[i : i + rows, j : j + columns]
    high = ground.heights
    lowest = np.minimum.reduce(
        [high[:-1, :-1], high[:-1, 1:], high[1:, :-1], high[1:, 1:]]
    )
    found: NDArray[np.bool_] = near & (lowest < level)
    return found


def upload_water(
    backend: Backend,
    ground: Ground,
    level: float,
    pictures: Sequence[NDArray[np.uint8]],
) -> WaterAssets | None:
    """Upload the water of a ground, with its surface at a height; None: there is none.

    pictures: uint8 (H, W, 4), shown in turn; copies of them fit side by side.
    """
    rows, columns = np.nonzero(water_cells(ground, level))
    if not len(rows):
        return None
    corners = np.array([(0, 0), (1, 0), (1, 1), (0, 1)])  # rows and columns, from above
    z = ground.corner[1] + (rows[:, None] + corners[:, 0]) * ground.step
    x = ground.corner[0] + (columns[:, None] + corners[:, 1]) * ground.step
    positions = np.stack([x, np.full(x.shape, level), z], -1).reshape(-1, 3)
    texcoords = np.stack([x, z], -1).reshape(-1, 2) / TILE
    faces = np.arange(len(positions), dtype=np.int32).reshape(-1, 4)
    mesh = DrawMesh(len(positions), faces, texcoords.astype(np.float32))
    return WaterAssets(
        backend.upload(mesh),
        positions.astype(np.float32),
        tuple(backend.upload(DrawTexture(own.copy())) for own in pictures),
    )


def build_water(assets: WaterAssets, frame: int) -> DrawItem:
    """The water, in one of its pictures."""
    look = Look(
        colour=COLOUR,
        texture=assets.textures[frame],
        alpha="blend",
        cull="none",
        shading="unlit",
    )
    return DrawItem(assets.mesh, assets.positions, None, look)
