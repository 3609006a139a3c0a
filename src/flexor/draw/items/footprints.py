"""Polygons on the ground that rise as prisms: walls, a roof and a floor.

What enters: corners (n, 2), x and z, of a simple polygon, convex or not, either way
around. What leaves: triangles, vertices with a normal of their own for each wall, and
edges.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from flexor.arrays import Doubles, Floats

__all__ = ["cut_ears", "prism_faces", "prism_shape", "turn_round"]


def turn_round(corners: Doubles) -> Doubles:
    """The same polygon, from above counter-clockwise: from +z toward +x."""
    x, z = (corners - corners[0]).T
    area = float((x * np.roll(z, -1) - np.roll(x, -1) * z).sum())
    return corners if area < 0 else corners[::-1]


def cut_ears(corners: Doubles) -> NDArray[np.int32]:
    """Triangles (n - 2, 3) of a polygon that is counter-clockwise from above.

    An ear, a corner that bends outward and whose triangle holds no other corner, is cut
    off until three are left; a simple polygon always has one.
    """
    left = list(range(len(corners)))
    found = []
    while len(left) > 3:
        for at in range(len(left)):
            before, own, after = left[at - 1], left[at], left[(at + 1) % len(left)]
            rest = [k for k in left if k not in (before, own, after)]
            if _is_ear(corners[[before, own, after]], corners[rest]):
                break
        found.append((before, own, after))
        left.pop(at)
    found.append((left[0], left[1], left[2]))
    return np.array(found, np.int32)


def _is_ear(triangle: Doubles, rest: Doubles) -> bool:
    """Whether a triangle bends outward, and none of the rest is in it."""
    ways = np.roll(triangle, -1, 0) - triangle

    def beside(points: Doubles) -> Doubles:
        """How far inside of each side, times its length: (n, 3)."""
        away = points[:, None] - triangle
        found: Doubles = ways[:, 1] * away[..., 0] - ways[:, 0] * away[..., 1]
        return found

    if beside(triangle[2:])[0, 0] <= 0:
        return False
    return not bool((beside(rest) >= 0).all(1).any())


def prism_faces(corners: Doubles) -> NDArray[np.int32]:
    """Triangles of the vertices of `prism_shape`; corners as `turn_round` has them."""
    count = len(corners)
    quads = np.arange(4 * count, dtype=np.int32).reshape(-1, 4)
    walls = np.concatenate([quads[:, [0, 1, 2]], quads[:, [0, 2, 3]]])
    roof = 4 * count + cut_ears(corners)
    floor = (roof + count)[:, ::-1]
    return np.concatenate([walls, roof, floor]).astype(np.int32)


def prism_shape(
    corners: Doubles, low: float, high: float
) -> tuple[Floats, Floats, Floats]:
    """Vertices and normals (6 n, 3), of n walls, the roof and the floor, and edges
    (3 n, 2, 3); corners as `turn_round` has them; low, high: metres.
    """
    below = np.zeros((len(corners), 3))
    below[:, [0, 2]], below[:, 1] = corners, low
    above = below.copy()
    above[:, 1] = high
    after, top = np.roll(below, -1, 0), np.roll(above, -1, 0)
    walls = np.stack([below, after, top, above], 1)
    way = after - below
    out = np.stack([-way[:, 2], 0 * way[:, 1], way[:, 0]], 1)
    out /= np.linalg.norm(out, axis=1, keepdims=True)
    up = np.broadcast_to([0.0, 1.0, 0.0], below.shape)
    positions = np.concatenate([walls.reshape(-1, 3), above, below])
    normals = np.concatenate([np.repeat(out, 4, 0), up, -up])
    ends = (below, after), (above, top), (below, above)
    edges = np.concatenate([np.stack(pair, 1) for pair in ends])
    return (
        positions.astype(np.float32),
        normals.astype(np.float32),
        edges.astype(np.float32),
    )
