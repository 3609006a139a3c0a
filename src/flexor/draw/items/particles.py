"""Leaves, flakes and drops as what a backend draws: small textured quads."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from flexor.arrays import Floats
from flexor.draw.backend import Backend
from flexor.draw.drawlist import RGB, DrawItem, DrawMesh, DrawTexture, Look
from flexor.draw.items.effect_textures import (
    LEAF_TILES,
    SPLASH_TILES,
    Stuff,
    leaf_atlas,
    snow_flake,
    splash_atlas,
    tile_corners,
)
from flexor.draw.items.mark_textures import soft_spot
from flexor.draw.items.tile_quads import (
    TileQuads,
    build_tile_quads,
    upload_tile_quads,
)
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
STUFFS: tuple[Stuff, ...] = ("water", "sand")
# Alpha that is not seen, and the part of a tile of which more must be seen to draw it.
FAINT, SEEN = 8, 0.02
ROOMS = (8, 32, 128)  # drops of one pattern that are drawn
LIFT = 0.012  # metres above the ground, of what lies on it
SHADE, SHADE_SIZE = 0.3, 0.55  # of drops of sand: how dark, and of their size
SHADED = 3  # so many drops have one shadow


@dataclass(frozen=True, slots=True)
class QuadAssets:
    """Quads in a backend: numbers of their mesh and of their texture."""

    mesh: int
    texture: int


@dataclass(frozen=True, slots=True)
class SplashAssets:
    """Patterns of water, then of sand, in a backend, and a soft spot for shadows.

    boxes: float32 (64, 4), what is seen of each pattern: from where to where it reaches
    to the right and up, parts of its tile; no box for those of which hardly anything is
    left.
    """

    quads: TileQuads
    texture: int
    shades: TileQuads
    spot: int
    boxes: Floats


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
    atlases = [splash_atlas(stuff) for stuff in STUFFS]
    boxes = np.concatenate([_pattern_boxes(atlas) for atlas in atlases])
    columns, rows = SPLASH_TILES
    # The part of each tile that is seen, in the picture of all.
    row, column = np.divmod(np.arange(len(boxes)), columns)
    left, right, low, high = boxes.T
    u = (column[:, None] + np.stack([left, right, right, left], 1)) / columns
    v = (row[:, None] + 1 - np.stack([low, low, high, high], 1)) / (len(STUFFS) * rows)
    corners = np.stack([u, v], -1).astype(np.float32)
    return SplashAssets(
        upload_tile_quads(backend, corners, ROOMS),
        _upload_atlas(backend, np.concatenate(atlases)),
        upload_tile_quads(backend, tile_corners(1, 1), ROOMS),
        _upload_atlas(backend, soft_spot()),
        boxes,
    )


def _pattern_boxes(atlas: NDArray[np.uint8]) -> Floats:
    """What is seen of each tile (32, 4): least and most to the right, then up."""
    columns, rows = SPLASH_TILES
    high, wide = atlas.shape[0] // rows, atlas.shape[1] // columns
    alpha = atlas[..., 3].reshape(rows, high, columns, wide).swapaxes(1, 2)
    boxes = np.zeros((rows * columns, 4), np.float32)
    for own, box in zip(alpha.reshape(-1, high, wide), boxes, strict=True):
        v, u = np.nonzero(own > FAINT)
        if len(v) > own.size * SEEN:
            box[:2] = u.min() / wide, (u.max() + 1) / wide
            box[2:] = 1 - (v.max() + 1) / high, 1 - v.min() / high
    return boxes


def build_splashes(
    assets: SplashAssets,
    quads: Floats,
    patterns: NDArray[np.uint8],
    is_water: NDArray[np.bool_],
    light: RGB = (1.0, 1.0, 1.0),
) -> DrawItem | None:
    """Drops at quads (n, 4, 3), in patterns (n,), of water (n,) or of sand; None if
    nothing is seen of them.

    light: that falls on them, linear.
    """
    columns, rows = SPLASH_TILES
    tiles = patterns + np.where(is_water, 0, columns * rows)
    boxes = assets.boxes[tiles]
    is_seen = boxes[:, 1] > boxes[:, 0]
    if not is_seen.any():
        return None
    tiles, boxes, quads = tiles[is_seen], boxes[is_seen], quads[is_seen]
    first, across = quads[:, :1], quads[:, 1:2] - quads[:, :1]
    upward = quads[:, 3:] - quads[:, :1]
    u, v = boxes[:, [0, 1, 1, 0], None], boxes[:, [2, 2, 3, 3], None]
    look = Look(
        colour=(*light, 1.0),
        texture=assets.texture,
        alpha="blend",
        cull="none",
        shading="unlit",
    )
    seen = first + u * across + v * upward
    return build_tile_quads(assets.quads, tiles, seen, look)


def build_cloud_shadows(
    assets: SplashAssets, places: Floats, floors: Floats, size: float, way: Vector
) -> DrawItem | None:
    """What drops at places (n, 3) darken on the ground below, at heights (n,).

    size: metres, of drops; way: along which light travels, from above.
    """
    if not len(places) or way[1] >= 0:
        return None
    places, floors = places[::SHADED], floors[::SHADED]
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
    tiles = np.zeros(len(quads), np.intp)
    return build_tile_quads(assets.shades, tiles, quads, look, tints)
