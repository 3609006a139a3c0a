"""Leaves, flakes and drops as what a backend draws: small textured quads."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from flexor.arrays import Floats
from flexor.draw.backend import Backend
from flexor.draw.drawlist import DrawItem, DrawMesh, DrawTexture, Look
from flexor.draw.items.effect_textures import (
    LEAF_TILES,
    SPLASH_TILES,
    leaf_atlas,
    snow_flake,
    splash_atlas,
    tile_corners,
)

__all__ = [
    "QuadAssets",
    "SplashAssets",
    "build_leaves",
    "build_snow",
    "build_splashes",
    "upload_leaves",
    "upload_snow",
    "upload_splashes",
]

MARGIN = 0.02  # of a tile, so that its neighbours do not shine in


@dataclass(frozen=True, slots=True)
class QuadAssets:
    """Quads in a backend: numbers of their mesh and of their texture."""

    mesh: int
    texture: int


@dataclass(frozen=True, slots=True)
class SplashAssets:
    """One quad in a backend, and the patterns of water and of sand."""

    mesh: int
    water: int
    sand: int


def _upload_quads(backend: Backend, texcoords: Floats) -> int:
    """A mesh of Q quads with texture coordinates (Q, 4, 2); its number."""
    count = len(texcoords)
    faces = np.arange(4 * count, dtype=np.int32).reshape(-1, 4)
    corners = np.ascontiguousarray(texcoords.reshape(-1, 2), np.float32)
    return backend.upload(DrawMesh(4 * count, faces, corners))


def _upload_atlas(backend: Backend, pixels: NDArray[np.uint8]) -> int:
    # Smaller versions of an atlas would mix its tiles.
    return backend.upload(
        DrawTexture(pixels.copy(), "clamp", "clamp", has_mipmaps=False)
    )


def upload_leaves(backend: Backend, kinds: NDArray[np.uint8]) -> QuadAssets:
    """Upload leaves of kinds (L,), tiles of the atlas."""
    tiles = tile_corners(*LEAF_TILES, MARGIN)
    mesh = _upload_quads(backend, tiles[kinds % len(tiles)])
    return QuadAssets(mesh, _upload_atlas(backend, leaf_atlas()))


def build_leaves(assets: QuadAssets, quads: Floats) -> DrawItem:
    """Leaves at quads (L, 4, 3), lit from either side."""
    look = Look(texture=assets.texture, alpha="mask", cull="none", shading="flat")
    return DrawItem(assets.mesh, quads.reshape(-1, 3), None, look)


def upload_snow(backend: Backend, count: int) -> QuadAssets:
    """Upload so many flakes."""
    corners = np.tile(tile_corners(1, 1), (count, 1, 1))
    return QuadAssets(
        _upload_quads(backend, corners),
        backend.upload(DrawTexture(snow_flake().copy(), "clamp", "clamp")),
    )


def build_snow(assets: QuadAssets, quads: Floats) -> DrawItem:
    """Flakes at quads (F, 4, 3)."""
    look = Look(texture=assets.texture, alpha="blend", cull="none", shading="unlit")
    return DrawItem(assets.mesh, quads.reshape(-1, 3), None, look)


def upload_splashes(backend: Backend) -> SplashAssets:
    """Upload the patterns of water and of sand."""
    return SplashAssets(
        _upload_quads(backend, tile_corners(1, 1)),
        _upload_atlas(backend, splash_atlas("water")),
        _upload_atlas(backend, splash_atlas("sand")),
    )


def build_splashes(
    assets: SplashAssets,
    quads: Floats,
    patterns: NDArray[np.uint8],
    is_water: NDArray[np.bool_],
) -> Iterator[DrawItem]:
    """Drops at quads (n, 4, 3), in patterns (n,), of water (n,) or of sand: an item for
    each pattern that there is.
    """
    columns, rows = SPLASH_TILES
    for stuff, texture in ((True, assets.water), (False, assets.sand)):
        own = is_water == stuff
        for pattern in np.unique(patterns[own]).tolist():
            row, column = divmod(pattern, columns)
            inner = 1 - 2 * MARGIN
            move = (
                (inner / columns, 0.0, (column + MARGIN) / columns),
                (0.0, inner / rows, (row + MARGIN) / rows),
            )
            look = Look(
                texture=texture,
                texture_transform=move,
                alpha="blend",
                cull="none",
                shading="unlit",
            )
            chosen = quads[own & (patterns == pattern)]
            yield DrawItem(assets.mesh, np.ascontiguousarray(chosen), None, look)
