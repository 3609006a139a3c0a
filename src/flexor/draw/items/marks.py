"""Footprints and rings on water as what a backend draws: quads on the ground."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from flexor.arrays import Floats
from flexor.draw.backend import Backend
from flexor.draw.drawlist import RGB, DrawItem, DrawMesh, DrawTexture, Look
from flexor.draw.items.mark_textures import PRINT_WAYS, footprint, water_ring
from flexor.draw.items.tile_quads import (
    TileQuads,
    build_tile_quads,
    upload_tile_quads,
)
from flexor.scene.character.light import Vector

__all__ = [
    "MarkAssets",
    "build_prints",
    "build_rings",
    "print_quads",
    "ring_corners",
    "upload_marks",
]

LONG = 0.38  # metres: the picture of a print, from edge to edge
ROOMS = (4, 24, 192)  # prints of one way that are drawn
MARGIN = 0.02  # of a picture, so that its neighbours do not shine in
LIFT = 0.004  # metres above the ground
# Metres that marks are seen nearer than they are, along the ray from the eye: they stay
# where they are in the picture, but neither bumps of the ground cover them nor water
# that is drawn in order of its distance.
NEARER_PRINT, NEARER_RING = 0.05, 0.18
PIECES = 6  # a ring is drawn in pieces each way, as each has a distance of its own
SHALLOW = 0.05  # metres of water in which a ring is seen as it is
RINGS = (2, 8, 32)  # how many are drawn at a time; of more, the newest
WIDER = 2.2  # how many times as wide as it began a ring gets
LEFT = 0.7  # of a ring's strength


@dataclass(frozen=True, slots=True, eq=False)
class MarkAssets:
    """Marks in a backend: prints by way, grids for rings, and pictures of both.

    grids: meshes of so many rings (RINGS); corners: float32 (V, 3), the vertices of one
    ring, -1 to 1.
    """

    prints: TileQuads
    sole: int
    grids: tuple[int, ...]
    ring: int
    corners: Floats


def upload_marks(backend: Backend, light: Vector) -> MarkAssets:
    """Upload marks as a light that travels so shows them."""
    soles = np.concatenate([footprint(n, light) for n in range(PRINT_WAYS)])
    top = np.arange(PRINT_WAYS)[:, None] + np.array([MARGIN, MARGIN, 1, 1])
    top[:, 2:] -= MARGIN
    side = np.broadcast_to([MARGIN, 1 - MARGIN, 1 - MARGIN, MARGIN], top.shape)
    unit = np.stack([side, top / PRINT_WAYS], -1).astype(np.float32)
    line = np.linspace(0, 1, PIECES + 1)
    v, u = (own.ravel() for own in np.meshgrid(line, line, indexing="ij"))
    row, column = np.divmod(np.arange(PIECES * PIECES), PIECES)
    first = row * (PIECES + 1) + column
    faces = first[:, None] + np.array([0, 1, PIECES + 2, PIECES + 1])
    spots = np.stack([u, v], 1).astype(np.float32)
    corners = np.stack([2 * u - 1, np.zeros_like(u), 2 * v - 1], 1).astype(np.float32)
    return MarkAssets(
        upload_tile_quads(backend, unit, ROOMS),
        backend.upload(DrawTexture(soles, "clamp", "clamp", has_mipmaps=False)),
        tuple(_upload_grids(backend, spots, faces, count) for count in RINGS),
        backend.upload(DrawTexture(water_ring().copy(), "clamp", "clamp")),
        corners,
    )


def _upload_grids(
    backend: Backend, spots: Floats, faces: NDArray[np.integer], count: int
) -> int:
    """A mesh of several rings; its number."""
    whole = faces + len(spots) * np.arange(count)[:, None, None]
    mesh = DrawMesh(
        len(spots) * count,
        np.ascontiguousarray(whole.reshape(-1, 4), np.int32),
        np.tile(spots, (count, 1)),
    )
    return backend.upload(mesh)


def _nearer(positions: Floats, eye: Vector, metres: float) -> Floats:
    """Moved toward the eye along its rays."""
    way = np.array(eye, np.float32) - positions
    away = np.sqrt(np.square(way).sum(-1, keepdims=True))
    way *= metres / np.maximum(away, np.float32(2 * metres))
    way += positions
    return way


def build_prints(
    assets: MarkAssets,
    corners: Floats,
    numbers: NDArray[np.integer],
    passed: Floats,
    eye: Vector,
) -> DrawItem:
    """Prints on quads `corners` (n, 4, 3), in pictures by `numbers` (n,).

    passed: (n,), how much of their time is over, 0 to 1.
    """
    tints = np.ones((len(passed), 4), np.float32)
    tints[:, 3] = np.minimum(1.0, 2.0 * (1 - passed))
    look = Look(texture=assets.sole, alpha="blend", cull="none", shading="unlit")
    quads = _nearer(corners, eye, NEARER_PRINT)
    return build_tile_quads(assets.prints, numbers, quads, look, tints)


def print_quads(places: Floats, ways: Floats) -> tuple[Floats, NDArray[np.intp]]:
    """Level quads (n, 4, 3) of prints at places (n, 3) that point along ways (n, 2), x
    and z; and the number of the picture of each. What is left between the way of the
    picture and its own, the quad is turned by.
    """
    angles = np.arctan2(ways[:, 0], ways[:, 1])
    numbers = np.rint(angles * (PRINT_WAYS / math.tau)).astype(np.intp)
    rest = angles - numbers * (math.tau / PRINT_WAYS)
    s, c = np.sin(rest)[:, None], np.cos(rest)[:, None]
    x = np.array([-1, 1, 1, -1], np.float32) * (LONG / 2)
    z = np.array([-1, -1, 1, 1], np.float32) * (LONG / 2)
    quads = np.empty((len(places), 4, 3), np.float32)
    quads[..., 0] = places[:, None, 0] + x * c + z * s
    quads[..., 1] = places[:, None, 1] + LIFT
    quads[..., 2] = places[:, None, 2] + z * c - x * s
    return quads, numbers % PRINT_WAYS


def ring_corners(
    assets: MarkAssets, places: Floats, sizes: Floats, passed: Floats
) -> Floats:
    """Vertices (n, V, 3) of rings around places (n, 3), of radii (n,) when they began:
    the newest of those that are drawn. passed: (n,), how much of their time is over.
    """
    most = RINGS[-1]
    places, sizes, passed = places[-most:], sizes[-most:], passed[-most:]
    grown = sizes * (1 + (WIDER - 1) * (1 - np.square(1 - passed)))
    corners = places[:, None] + assets.corners * grown[:, None, None]
    return corners.astype(np.float32)


def build_rings(
    assets: MarkAssets,
    corners: Floats,
    depths: Floats,
    passed: Floats,
    eye: Vector,
    light: RGB = (1.0, 1.0, 1.0),
) -> DrawItem:
    """Rings with vertices `corners` (n, V, 3), fainter with time and where water is
    shallow: depths (n, V), metres. passed: as in `ring_corners`; light: linear.
    """
    count, size = corners.shape[:2]
    number = next(n for n, most in enumerate(RINGS) if most >= count)
    positions = np.zeros((RINGS[number], size, 3), np.float32)
    colours = np.zeros((RINGS[number], size, 4), np.float32)
    positions[:count] = _nearer(corners, eye, NEARER_RING)
    positions[count:] = positions[0, 0]
    colours[:count, :, :3] = light
    strength = LEFT * (1 - passed[-count:])
    colours[:count, :, 3] = strength[:, None] * np.clip(depths / SHALLOW, 0, 1)
    look = Look(texture=assets.ring, alpha="blend", cull="none", shading="unlit")
    return DrawItem(
        assets.grids[number],
        positions.reshape(-1, 3),
        None,
        look,
        colours=colours.reshape(-1, 4),
    )
