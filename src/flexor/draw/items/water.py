"""The surface of water on a stage: seen through, with light that plays on it.

It is drawn patch by patch, so that each shows the picture that its distance asks for.
At the shore, where it is shallow, it is clear; deep water is darker and hides more, and
so does water that is seen from the side, as it mirrors the sky.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray

from flexor.arrays import Floats, Ints
from flexor.draw.backend import Backend
from flexor.draw.drawlist import RGB, DrawItem, DrawMesh, DrawTexture, Look
from flexor.scene.stage.ground import Ground
from flexor.scene.stage.layout import SURFACES

__all__ = ["WaterAssets", "WaterPatch", "build_water", "upload_water", "water_cells"]

TILE = 2.0  # metres that a picture of water shows
AROUND = 2  # cells around water that its surface reaches under, or over, the shore
PATCH, MOST_PATCHES = 6.0, 64  # metres of a patch's sides at least, and how many
PARTS = 2  # a cell at the shore is cut into so many each way, so that it is smooth
SHALLOW: RGB = (0.78, 1.02, 1.02)
DEEP: RGB = (0.5, 0.84, 1.02)
CLEAR, DEEP_AT = 0.012, 0.5  # metres: shallower is not seen, deeper is all the same
SHORE = 0.09  # metres from there to where it hides as much as it does
HIDES, HIDES_MORE = 0.5, 0.26  # how much shallow water hides, and more when deep
MIRRORS = 0.55  # how much of the sky it shows when it is seen along its surface


@dataclass(frozen=True, slots=True, eq=False)
class WaterPatch:
    """A piece of water in a backend.

    mesh: its number; positions: float32 (V, 3); colours: float32 (V, 4), linear, as
    seen from straight above; middle: (3,).
    """

    mesh: int
    positions: Floats
    colours: Floats
    middle: Floats


@dataclass(frozen=True, slots=True, eq=False)
class WaterAssets:
    """Water in a backend: its P patches, and the numbers of its pictures, in the order
    in which they are shown.
    """

    patches: tuple[WaterPatch, ...]
    textures: tuple[int, ...]

    @property
    def middles(self) -> Floats:
        """Of patches: (P, 3)."""
        return np.stack([patch.middle for patch in self.patches])


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
    side = PATCH
    while True:
        number = _patch_numbers(rows, columns, ground.step, side)
        if number.max() < MOST_PATCHES:
            break
        side *= 1.5
    textures = tuple(backend.upload(DrawTexture(own.copy())) for own in pictures)
    patches = tuple(
        _upload_patch(backend, ground, level, rows[own], columns[own])
        for own in (number == n for n in range(number.max() + 1))
        if own.any()
    )
    return WaterAssets(patches, textures)


def _patch_numbers(
    row: NDArray[np.intp], column: NDArray[np.intp], step: float, side: float
) -> NDArray[np.intp]:
    """Which patch each cell is in: squares from where the water begins."""
    i = ((row - row.min()) * step // side).astype(np.intp)
    j = ((column - column.min()) * step // side).astype(np.intp)
    number: NDArray[np.intp] = i * (int(j.max()) + 1) + j
    return number


def _upload_patch(
    backend: Backend,
    ground: Ground,
    level: float,
    rows: NDArray[np.intp],
    columns: NDArray[np.intp],
) -> WaterPatch:
    """Cells by their rows and columns; those at the shore are cut finer."""
    high = ground.heights
    corners = [high[rows + i, columns + j] for i in (0, 1) for j in (0, 1)]
    is_shore = np.maximum.reduce(corners) > level - CLEAR - SHORE
    row, column = rows[is_shore], columns[is_shore]
    step = np.arange(PARTS)
    pieces = (
        (PARTS * rows[~is_shore], PARTS * columns[~is_shore], PARTS),
        (
            (row[:, None, None] * PARTS + step[:, None]).repeat(PARTS, 2).ravel(),
            (column[:, None, None] * PARTS + step).repeat(PARTS, 1).ravel(),
            1,
        ),
    )
    wide = high.shape[1] * PARTS
    # Corners go round as those of cells of the ground, so that both are cut alike.
    around = np.array([(0, 0), (1, 0), (1, 1), (0, 1)])
    spots = np.concatenate(
        [
            (i[:, None] + size * around[:, 0]) * wide + j[:, None] + size * around[:, 1]
            for i, j, size in pieces
        ]
    )
    used, faces = np.unique(spots, return_inverse=True)
    v, u = (own / PARTS for own in np.divmod(used, wide))
    x, z = ground.corner[0] + u * ground.step, ground.corner[1] + v * ground.step
    positions = np.stack([x, np.full(x.shape, level), z], -1).astype(np.float32)
    texcoords = np.stack([x, z], -1).astype(np.float32) / np.float32(TILE)
    mesh = DrawMesh(len(used), faces.reshape(-1, 4).astype(np.int32), texcoords)
    depth = level - _heights(ground, v, u)
    deep = np.clip(depth / DEEP_AT, 0, 1)[:, None]
    colours = np.ones((len(used), 4), np.float32)
    colours[:, :3] = np.array(SHALLOW) * (1 - deep) + np.array(DEEP) * deep
    shore = np.clip((depth - CLEAR) / SHORE, 0, 1)
    colours[:, 3] = shore * (HIDES + HIDES_MORE * deep[:, 0])
    return WaterPatch(backend.upload(mesh), positions, colours, positions.mean(0))


def _heights(ground: Ground, v: ArrayLike, u: ArrayLike) -> NDArray[np.float64]:
    """Of the ground at rows v and columns u of its grid, parts of which count: of the
    triangle that a place is in.
    """
    high = ground.heights
    r = np.minimum(np.asarray(v, int), high.shape[0] - 2)
    c = np.minimum(np.asarray(u, int), high.shape[1] - 2)
    p, q = v - r, u - c
    a, d = high[r, c], high[r + 1, c + 1]
    is_near = p >= q
    b = np.where(is_near, high[r + 1, c], high[r, c + 1])
    found: NDArray[np.float64] = np.where(
        is_near, a + (b - a) * p + (d - b) * q, a + (b - a) * q + (d - b) * p
    )
    return found


def build_water(
    assets: WaterAssets, frames: Ints, eye: ArrayLike, sky: RGB, light: RGB
) -> Iterator[DrawItem]:
    """The water, each patch in one of the pictures: frames (P,).

    eye: (3,), who looks; sky: linear, what is mirrored; light: that falls on it.
    """
    for patch, frame in zip(assets.patches, frames.tolist(), strict=True):
        way = np.asarray(eye, np.float32) - patch.positions
        away = np.sqrt(np.square(way).sum(1))
        level = 1 - np.abs(way[:, 1]) / np.maximum(away, np.float32(1e-6))
        seen = np.float32(MIRRORS) * np.square(np.square(level))[:, None]
        colours = patch.colours.copy()
        colours[:, :3] *= np.array(light, np.float32)
        # What is mirrored is as bright in all of a picture of waves, on the average.
        colours[:, :3] += seen * (2 * np.array(sky, np.float32) - colours[:, :3])
        colours[:, 3:] += seen * (1 - colours[:, 3:]) * (colours[:, 3:] > 0)
        look = Look(
            texture=assets.textures[frame],
            alpha="blend",
            cull="none",
            shading="unlit",
        )
        yield DrawItem(patch.mesh, patch.positions, None, look, colours=colours)
