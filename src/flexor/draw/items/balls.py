"""Footballs as what a backend draws: one item for any number of them."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from flexor.arrays import Floats, freeze
from flexor.draw.backend import Backend
from flexor.draw.drawlist import RGBA, DrawItem, DrawMesh, DrawTexture, Look
from flexor.errors import SettingError, ShapeError
from flexor.maths.colour import srgb_from_linear
from flexor.maths.quaternions import normalise, to_matrix

__all__ = ["BallAssets", "ball_picture", "build_balls", "upload_ball"]

AROUND, DOWN = 24, 16  # quads of the sphere
GOLDEN = (1 + math.sqrt(5)) / 2
# From the middle of a truncated icosahedron to its faces, in lengths of its edge.
TO_PENTAGON = math.sqrt((125 + 41 * math.sqrt(5)) / 10) / 2
TO_HEXAGON = math.sqrt(3) / 2 * GOLDEN**2
SEAM = 0.011  # radians: half the width of a seam
# Linear light of leather and seams.
WHITE, GREY, DARK = 0.86, 0.34, 0.012


@dataclass(frozen=True, slots=True, eq=False)
class BallAssets:
    """A ball in a backend.

    mesh, texture: their numbers; sphere: float32 (V, 3), vertices on the unit sphere,
    which are their normals too.
    """

    mesh: int
    texture: int
    sphere: Floats

    def __post_init__(self) -> None:
        sphere = freeze(self.sphere, np.float32, (None, 3), "sphere")
        object.__setattr__(self, "sphere", sphere)


def ball_picture(side: int = 256) -> NDArray[np.uint8]:
    """A football of 12 dark pentagons and 20 white hexagons: uint8 (side, 2 side, 4).

    Longitude goes from left to right, once around; latitude from the top (+y) down.
    """
    if side < 2:
        raise SettingError(f"side: {side}, expected 2 pixels or more")
    u = (np.arange(2 * side) + 0.5) / (2 * side)
    v = (np.arange(side) + 0.5) / side
    panels = _panels()
    # A ray leaves the solid through the face whose plane it meets first. Two faces
    # meet in a plane through the middle: angles to seams are measured from that.
    reached = (_directions(*np.meshgrid(u, v)) @ panels.T).astype(np.float32)
    own = reached.argmax(-1)
    between = np.linalg.norm(panels[:, None] - panels, axis=-1).astype(np.float32)
    np.fill_diagonal(between, 1)
    ways = (reached.max(-1, keepdims=True) - reached) / between[own]
    np.put_along_axis(ways, own[..., None], 1, -1)
    to_pentagon, to_hexagon = ways[..., :12].min(-1), ways[..., 12:].min(-1)
    texel = math.pi / side
    rim = np.where(own < 12, to_hexagon, -to_pentagon)
    dark = np.clip(rim / texel + 0.5, 0, 1)
    seam = np.clip((SEAM - to_hexagon) / texel + 0.5, 0, 1)
    light = WHITE + (GREY - WHITE) * seam
    light += (DARK - light) * dark
    pixels = np.full((side, 2 * side, 4), 255, np.uint8)
    pixels[..., :3] = np.round(srgb_from_linear(light))[..., None]
    return pixels


def upload_ball(backend: Backend) -> BallAssets:
    """Upload a ball: a sphere of meridians and parallels, and its picture.

    The first meridian is there twice, and the poles once for each face, so that all of
    them have their own texture coordinates.
    """
    rows, columns = np.indices((DOWN + 1, AROUND + 1))
    u, v = columns / AROUND, rows / DOWN
    sphere = _directions(u, v)
    sphere[:, -1] = sphere[:, 0]
    # Faces at a pole have its vertex of their left side above, of their right below.
    u = u + ((rows == 0) * 0.5 - (rows == DOWN) * 0.5) / AROUND
    numbers = rows * (AROUND + 1) + columns
    a, b = numbers[:-1, :-1], numbers[1:, :-1]
    c, d = numbers[1:, 1:], numbers[:-1, 1:]
    upper, lower = np.stack([a, b, c], -1)[:-1], np.stack([a, c, d], -1)[1:]
    faces = np.concatenate([upper.reshape(-1, 3), lower.reshape(-1, 3)])
    welded = numbers.copy()
    welded[:, -1] = welded[:, 0]
    welded[0], welded[-1] = numbers[0, 0], numbers[-1, 0]
    mesh = DrawMesh(
        numbers.size,
        faces.astype(np.int32),
        np.stack([u, v], -1).reshape(-1, 2).astype(np.float32),
        welded=welded.ravel().astype(np.int32),
    )
    texture = DrawTexture(ball_picture(), "repeat", "clamp")
    return BallAssets(
        backend.upload(mesh),
        backend.upload(texture),
        sphere.reshape(-1, 3).astype(np.float32),
    )


def build_balls(
    assets: BallAssets,
    places: Floats,
    rotations: Floats,
    radii: Floats | float,
    tint: RGBA | Floats | None = None,
) -> DrawItem:
    """Balls, lit: places (n, 3), of their middles, metres; rotations (n, 4).

    radii: metres, (n,) or one for all; tint: linear RGBA (n, 4), or (4,) for all, that
    multiplies the picture.
    """
    count = len(places)
    if np.shape(rotations) != (count, 4):
        have = np.shape(rotations)
        raise ShapeError(f"rotations: shape {have}, expected ({count}, 4)")
    turns = to_matrix(normalise(np.asarray(rotations, np.float32)))
    normals = np.ascontiguousarray(assets.sphere @ turns.swapaxes(1, 2))
    reaches = np.broadcast_to(np.asarray(radii, np.float32), count)
    positions = normals * reaches[:, None, None]
    positions += np.asarray(places, np.float32)[:, None]
    tints = None
    if tint is not None:
        tints = np.empty((count, 4), np.float32)
        tints[:] = tint
    return DrawItem(
        assets.mesh, positions, normals, Look(texture=assets.texture), tints=tints
    )


def _directions(u: NDArray[Any], v: NDArray[Any]) -> NDArray[np.float64]:
    """Unit vectors (..., 3) of places in the picture, 0 to 1 from its left and top."""
    around, down = 2 * math.pi * u, math.pi * v
    flat = np.sin(down)
    return np.stack([flat * np.sin(around), np.cos(down), flat * np.cos(around)], -1)


def _panels() -> NDArray[np.float64]:
    """Faces (32, 3) of the ball, 12 pentagons first: outward, 1 / distance long."""
    signs = np.array([(a, b) for a in (-1, 1) for b in (-GOLDEN, GOLDEN)])
    corners = np.zeros((3, 4, 3))  # of an icosahedron with edges of 2
    for axis in range(3):
        corners[axis][:, [(axis + 1) % 3, (axis + 2) % 3]] = signs
    pentagons = corners.reshape(-1, 3)
    ways = np.linalg.norm(pentagons[:, None] - pentagons, axis=-1)
    near = np.abs(ways - 2) < 1e-9
    hexagons = np.array(
        [
            pentagons[[a, b, c]].sum(0)
            for a in range(12)
            for b in range(a + 1, 12)
            for c in range(b + 1, 12)
            if near[a, b] and near[b, c] and near[a, c]
        ]
    )
    pentagons /= np.linalg.norm(pentagons, axis=1, keepdims=True) * TO_PENTAGON
    hexagons /= np.linalg.norm(hexagons, axis=1, keepdims=True) * TO_HEXAGON
    return np.concatenate([pentagons, hexagons])
