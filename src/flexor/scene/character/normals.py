"""Normals made from a surface, for files that bring none."""

from __future__ import annotations

import numpy as np

from flexor.arrays import Floats
from flexor.scene.character.mesh import Primitive

__all__ = ["vertex_normals"]


def vertex_normals(primitive: Primitive) -> Floats:
    """Unit normals (V, 3): the mean of the faces around each vertex, by area.

    Vertices used by one face get that face's normal, so an unindexed surface is flat.
    Vertices without a face of any area get +z.
    """
    faces = primitive.triangles()
    corners = primitive.positions.astype(np.float64)[faces]
    across = np.cross(corners[:, 1] - corners[:, 0], corners[:, 2] - corners[:, 0])
    sums = np.zeros((len(primitive), 3))
    for corner in range(3):
        np.add.at(sums, faces[:, corner], across)
    length = np.linalg.norm(sums, axis=1, keepdims=True)
    unit = np.where(length > 0, sums / np.where(length > 0, length, 1), [0, 0, 1])
    return unit.astype(np.float32)
