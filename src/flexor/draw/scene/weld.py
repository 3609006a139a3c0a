"""Which vertices of a surface always stand in the same place."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from flexor.arrays import Ints, first_same
from flexor.scene.character.mesh import Primitive

__all__ = ["weld_vertices"]

WEIGHT_STEPS = 1024  # weights that differ by less count as the same


def weld_vertices(primitive: Primitive) -> Ints | None:
    """For each vertex the first with the same rest position, weights and morphs.

    int32 (V,), or None where no two are the same. Files split vertices where normals
    or texture coordinates jump; the surface is whole there all the same.
    """
    rows = [_bits(primitive.positions)]
    if primitive.skin is not None:
        steps = np.rint(primitive.skin.weights * WEIGHT_STEPS).astype(np.int32)
        joints = np.where(steps > 0, primitive.skin.joints, 1 << 16).astype(np.int32)
        # The same joints may stand in another order.
        columns = np.argsort(joints, axis=1, kind="stable")
        rows += [np.take_along_axis(a, columns, 1) for a in (joints, steps)]
    first = first_same(np.concatenate(rows, 1))
    order = np.arange(len(first))
    shared = np.zeros(len(first), bool)
    shared[first[first != order]] = True
    alike = np.nonzero(shared[first])[0]
    if not len(alike):
        return None
    moves = [t.positions for t in primitive.targets if t.positions is not None]
    if moves:
        # Only those that share a place at rest can be parted by a morph.
        rows = [first[alike, None], *(_bits(move[alike]) for move in moves)]
        first[alike] = alike[first_same(np.concatenate(rows, 1))]
    return None if (first == order).all() else first


def _bits(values: NDArray[np.float32]) -> Ints:
    """The numbers as integers that are equal where the numbers are."""
    return np.ascontiguousarray(values + np.float32(0)).view(np.int32)
