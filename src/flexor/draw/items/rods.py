"""Round rods, such as the posts of goals, as what a backend draws."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from flexor.arrays import Floats, freeze
from flexor.draw.backend import Backend
from flexor.draw.drawlist import RGBA, DrawItem, DrawMesh, Look
from flexor.errors import ShapeError

__all__ = ["PAINT", "RodAssets", "build_rods", "upload_rods"]

SIDES = 16
RINGS = 4  # of each end, the one around its middle included
PAINT = (0.86, 0.87, 0.88, 1.0)  # linear: white, as posts are


@dataclass(frozen=True, slots=True, eq=False)
class RodAssets:
    """Rods in a backend.

    mesh: number of the one mesh that they are; positions: float32 (V, 3), metres, and
    normals: float32 (V, 3), unit, both as they are at heading 0 and place 0.
    """

    mesh: int
    positions: Floats
    normals: Floats

    def __post_init__(self) -> None:
        put = object.__setattr__
        put(self, "positions", freeze(self.positions, np.float32, (None, 3), "rods"))
        shape = self.positions.shape
        put(self, "normals", freeze(self.normals, np.float32, shape, "normals"))


def upload_rods(
    backend: Backend, ends: NDArray[np.floating], radii: NDArray[np.floating]
) -> RodAssets:
    """Upload rods with ends (R, 2, 3) and radii (R,), metres.

    Ends are half spheres, which reach a radius beyond: rods of one thickness that have
    an end in common are joined there, whatever their angle.
    """
    ends = np.asarray(ends, np.float64)
    radii = np.asarray(radii, np.float64)
    count = len(ends)
    if ends.shape != (count, 2, 3) or radii.shape != (count,):
        text = f"ends: shape {ends.shape}, radii: {radii.shape}"
        raise ShapeError(f"{text}, expected (R, 2, 3) and (R,)")
    if not np.isfinite(ends).all() or not (radii > 0).all():
        raise ShapeError("rods: expected ends that are finite and radii above 0")
    directions, at_end, faces = _capsule()
    axes = _frames(ends[:, 1] - ends[:, 0])
    normals = directions @ axes
    positions = ends[:, at_end] + normals * radii[:, None, None]
    firsts = np.arange(count)[:, None, None] * len(directions)
    mesh = DrawMesh(
        count * len(directions), (faces + firsts).reshape(-1, 3).astype(np.int32)
    )
    shape = positions.reshape(-1, 3).astype(np.float32)
    return RodAssets(
        backend.upload(mesh), shape, normals.reshape(-1, 3).astype(np.float32)
    )


def build_rods(
    assets: RodAssets,
    places: Floats,
    headings: Floats,
    colour: RGBA = PAINT,
) -> DrawItem:
    """The rods at n places (n, 3), turned about y by headings (n,), radians; lit.

    A heading turns +z toward +x.
    """
    count = len(places)
    if np.shape(headings) != (count,):
        raise ShapeError(f"headings: shape {np.shape(headings)}, expected ({count},)")
    c, s = np.cos(headings)[:, None], np.sin(headings)[:, None]

    def turned(ways: Floats) -> Floats:
        x, y, z = ways.T
        result = np.empty((count, len(ways), 3), np.float32)
        result[..., 0], result[..., 1] = c * x + s * z, y
        result[..., 2] = c * z - s * x
        return result

    positions = turned(assets.positions)
    positions += np.asarray(places, np.float32)[:, None]
    return DrawItem(assets.mesh, positions, turned(assets.normals), Look(colour))


def _capsule() -> tuple[NDArray[np.float64], NDArray[np.intp], NDArray[np.intp]]:
    """One rod along z: directions (V, 3) from the end that a vertex belongs to, which
    end that is (V,), and triangles (F, 3), counter-clockwise from outside.
    """
    steps = np.arange(1, RINGS + 1) * (math.pi / 2 / RINGS)
    out = np.concatenate([np.sin(steps), np.sin(steps)[::-1]])
    along = np.concatenate([-np.cos(steps), np.cos(steps)[::-1]])
    angles = np.arange(SIDES) * (2 * math.pi / SIDES)
    rings = np.empty((2 * RINGS, SIDES, 3))
    rings[..., 0] = out[:, None] * np.cos(angles)
    rings[..., 1] = out[:, None] * np.sin(angles)
    rings[..., 2] = along[:, None]
    tips = np.array([[0.0, 0.0, -1.0], [0.0, 0.0, 1.0]])
    directions = np.concatenate([rings.reshape(-1, 3), tips])
    at_end = np.append(np.repeat([0, 1], RINGS * SIDES), [0, 1])
    numbers = np.arange(2 * RINGS * SIDES).reshape(2 * RINGS, SIDES)
    following = np.roll(numbers, -1, 1)
    a, b = numbers[:-1].ravel(), following[:-1].ravel()
    c, d = following[1:].ravel(), numbers[1:].ravel()
    first, last = np.full(SIDES, numbers.size), np.full(SIDES, numbers.size + 1)
    faces = np.concatenate(
        [
            np.stack([a, b, c], 1),
            np.stack([a, c, d], 1),
            np.stack([first, following[0], numbers[0]], 1),
            np.stack([last, numbers[-1], following[-1]], 1),
        ]
    )
    return directions, at_end, faces


def _frames(ways: NDArray[np.float64]) -> NDArray[np.float64]:
    """Three axes, rows of (R, 3, 3), right-handed: the third along ways (R, 3)."""
    lengths = np.linalg.norm(ways, axis=1, keepdims=True)
    up = np.array([0.0, 1.0, 0.0])  # a rod without length is a ball, however it lies
    along = np.where(lengths > 0, ways / np.where(lengths > 0, lengths, 1), up)
    # Across from the axis that it is farthest from.
    aside = np.eye(3)[np.abs(along).argmin(1)]
    first = np.cross(aside, along)
    first /= np.linalg.norm(first, axis=1, keepdims=True)
    return np.stack([first, np.cross(along, first), along], 1)
