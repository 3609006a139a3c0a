"""Leaves, flakes and drops as what a backend draws: small textured quads."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from flexor.arrays import Floats
from flexor.draw.backend import Backend
from flexor.draw.drawlist import RGB, DrawItem, DrawMesh, DrawTexture, Look
from flexor.draw.items.effect_textures import (
    LEAF_TILES,
    SPLASH_TILES,
    leaf_atlas,
    snow_flake,
    splash_atlas,
    tile_corners,
)
from flexor.draw.items.mark_textures import soft_spot
from flexor.scene.character.light import Vector

__all__ = [
    "QuadAssets",
    "SplashAssets",
    "build_cloud_shadows",
    "build_leaves",
    "build_snow",
    "build_splashes",
    "upload_leaves",
    "upload_snow",
    "upload_splashes",
]

MARGIN = 0.02  # of a tile, so that its neighbours do not shine in
# Corners of a level quad around its middle, of half a metre each way.
FLAT = np.array([(-1, 0, 1), (1, 0, 1), (1, 0, -1), (-1, 0, -1)], np.float32)
LIFT = 0.012  # metres above the ground, of what lies on it
SHADE, SHADE_SIZE = 0.16, 0.4  # of one drop of sand: how dark, and of its size


@dataclass(frozen=True, slots=True)
class QuadAssets:
    """Quads in a backend: numbers of their mesh and of their texture."""

    mesh: int
    texture: int


@dataclass(frozen=True, slots=True)
class SplashAssets:
    """One quad in a backend, the patterns of water and of sand, and a soft spot."""

    mesh: int
    water: int
    sand: int
    spot: int


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
    """Upload the patterns of water and of sand, and the shadow of a cloud of sand."""
    return SplashAssets(
        _upload_quads(backend, tile_corners(1, 1)),
        _upload_atlas(backend, splash_atlas("water")),
        _upload_atlas(backend, splash_atlas("sand")),
        _upload_atlas(backend, soft_spot()),
    )


def build_splashes(
    assets: SplashAssets,
    quads: Floats,
    patterns: NDArray[np.uint8],
    is_water: NDArray[np.bool_],
    light: RGB = (1.0, 1.0, 1.0),
) -> Iterator[DrawItem]:
    """Drops at quads (n, 4, 3), in patterns (n,), of water (n,) or of sand: an item for
    each pattern that there is.

    light: that falls on them, linear.
    """
    if not len(patterns):
        return
    columns, rows = SPLASH_TILES
    inner = 1 - 2 * MARGIN
    number = patterns + np.where(is_water, 0, columns * rows)
    order = np.argsort(number, kind="stable")
    kinds, first = np.unique(number[order], return_index=True)
    for kind, own in zip(kinds.tolist(), np.split(order, first[1:]), strict=True):
        stuff, pattern = divmod(kind, columns * rows)
        row, column = divmod(pattern, columns)
        move = (
            (inner / columns, 0.0, (column + MARGIN) / columns),
            (0.0, inner / rows, (row + MARGIN) / rows),
        )
        look = Look(
            colour=(*light, 1.0),
            texture=assets.sand if stuff else assets.water,
            texture_transform=move,
            alpha="blend",
            cull="none",
            shading="unlit",
        )
        yield DrawItem(assets.mesh, quads[own], None, look)


def build_cloud_shadows(
    assets: SplashAssets, places: Floats, floors: Floats, size: float, way: Vector
) -> DrawItem | None:
    """What drops at places (n, 3) darken on the ground below, at heights (n,).

    size: metres, of drops; way: along which light travels, from above.
    """
    if not len(places) or way[1] >= 0:
        return None
    high = np.maximum(places[:, 1] - floors, 0)
    middles = places.copy()
    middles[:, 0] += high * np.float32(min(max(way[0] / -way[1], -3.0), 3.0))
    middles[:, 2] += high * np.float32(min(max(way[2] / -way[1], -3.0), 3.0))
    middles[:, 1] = floors + np.float32(LIFT)
    half = np.float32(SHADE_SIZE * size)
    quads = middles[:, None] + half * FLAT
    tints = np.ones((len(places), 4), np.float32)
    tints[:, 3] = SHADE / (1 + 3 * high)
    look = Look(
        colour=(0.0, 0.0, 0.0, 1.0),
        texture=assets.spot,
        alpha="blend",
        cull="none",
        shading="unlit",
    )
    return DrawItem(assets.mesh, quads, None, look, tints=tints)
