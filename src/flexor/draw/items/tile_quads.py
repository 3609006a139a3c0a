"""Many quads that show tiles of one picture, drawn as one item.

Each item of a draw list costs as much as a hundred quads. Texture coordinates of a mesh
do not change, so it has room for some quads of each tile; what is not used has no area.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from flexor.arrays import Floats
from flexor.draw.backend import Backend
from flexor.draw.drawlist import DrawItem, DrawMesh, Look

__all__ = ["TileQuads", "build_tile_quads", "upload_tile_quads"]


@dataclass(frozen=True, slots=True)
class TileQuads:
    """Meshes in a backend with room for so many quads of each of T tiles."""

    meshes: tuple[int, ...]
    rooms: tuple[int, ...]
    tiles: int


def upload_tile_quads(
    backend: Backend, corners: Floats, rooms: Sequence[int]
) -> TileQuads:
    """Upload meshes; corners: texture coordinates (T, 4, 2), lower left, lower right,
    upper right, upper left; rooms: quads of each tile, the fewest first.
    """
    meshes = []
    for room in rooms:
        spots = np.repeat(corners, room, 0).reshape(-1, 2).astype(np.float32)
        faces = np.arange(len(spots), dtype=np.int32).reshape(-1, 4)
        meshes.append(backend.upload(DrawMesh(len(spots), faces, spots)))
    return TileQuads(tuple(meshes), tuple(rooms), len(corners))


def build_tile_quads(
    assets: TileQuads,
    tiles: NDArray[np.integer],
    quads: Floats,
    look: Look,
    tints: Floats | None = None,
) -> DrawItem:
    """Quads (n, 4, 3) that show tiles (n,); of one tile as many as there is room for.

    tints: float32 (n, 4), linear, or None.
    """
    counts = np.bincount(tiles, minlength=assets.tiles)
    most = int(counts.max(initial=0))
    number = next(
        (n for n, room in enumerate(assets.rooms) if room >= most),
        len(assets.rooms) - 1,
    )
    room = assets.rooms[number]
    order = np.argsort(tiles, kind="stable")
    own = tiles[order].astype(np.intp)
    rank = np.arange(len(order)) - (np.cumsum(counts) - counts)[own]
    fits = rank < room
    order, slots = order[fits], (own * room + rank)[fits]
    positions = np.zeros((assets.tiles * room, 4, 3), np.float32)
    positions[slots] = quads[order]
    colours = None
    if tints is not None:
        whole = np.zeros((assets.tiles * room, 4, 4), np.float32)
        whole[slots] = tints[order, None]
        colours = whole.reshape(-1, 4)
    mesh = assets.meshes[number]
    return DrawItem(mesh, positions.reshape(-1, 3), None, look, colours=colours)
