"""Levels as surfaces: one list of vertices for each material, coarse levels first."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from flexor.arrays import Floats, Ints
from flexor.convert.levels.body import LevelBody, tidy_influences
from flexor.scene.runtime.levels import LevelSurface

__all__ = ["LevelSkin", "make_surfaces"]


@dataclass(frozen=True, slots=True, eq=False)
class LevelSkin:
    """One level of a body.

    faces: int32 (F, 3), rows of the body's vertices; joints: uint16 (V, K) and weights:
    float32 (V, K), of all the body's vertices; positions, normals: float32 (V, 3),
    where the level's differ from those of the body, else None.
    """

    faces: Ints
    joints: NDArray[np.uint16]
    weights: Floats
    positions: Floats | None = None
    normals: Floats | None = None


def make_surfaces(
    body: LevelBody, levels: Sequence[LevelSkin]
) -> tuple[LevelSurface, ...]:
    """A surface for each material, in the order in which level 0's faces use them.

    A vertex stands before all that only finer levels use; among those that begin with
    the same level, vertices of the same joints stand together.
    """
    coarsest = np.full(len(body), -1, np.int64)
    for level, skin in enumerate(levels):
        coarsest[skin.faces] = level
    by_joints = _rank_joints(body.joints, body.weights)
    of_face = [body.materials[skin.faces[:, 0]] for skin in levels]
    used, first = np.unique(of_face[0], return_index=True)
    surfaces = []
    for material in used[np.argsort(first)].tolist():
        rows = np.flatnonzero((body.materials == material) & (coarsest >= 0))
        keys = (rows, by_joints[rows], -coarsest[rows])
        rows = rows[np.lexsort(keys)]
        place = np.full(len(body), -1, np.int32)
        place[rows] = np.arange(len(rows), dtype=np.int32)
        counts = [np.count_nonzero(coarsest[rows] >= n) for n in range(len(levels))]
        influences = [
            tidy_influences(skin.joints[rows[:count]], skin.weights[rows[:count]])
            for skin, count in zip(levels, counts, strict=True)
        ]
        surface = LevelSurface(
            material,
            body.sources[rows],
            np.array(counts, np.int32),
            tuple(
                place[skin.faces[own == material]]
                for skin, own in zip(levels, of_face, strict=True)
            ),
            tuple(joints for joints, _ in influences),
            tuple(weights for _, weights in influences),
            tuple(
                _shape(skin, rows[:count])
                for skin, count in zip(levels, counts, strict=True)
            ),
        )
        surfaces.append(surface)
    return tuple(surfaces)


def _shape(skin: LevelSkin, rows: NDArray[np.intp]) -> Floats:
    """Positions and normals of a level of its own (n, 6); none where it has none."""
    if skin.positions is None or skin.normals is None:
        return np.zeros((0, 6), np.float32)
    return np.concatenate([skin.positions[rows], skin.normals[rows]], 1)


def _rank_joints(joints: NDArray[np.uint16], weights: Floats) -> NDArray[np.int64]:
    """A number for each vertex (V,): equal for the same joints, few joints first."""
    if not len(joints):
        return np.zeros(0, np.int64)
    names = np.where(weights > 0, joints.astype(np.int64), -1)
    counts = np.count_nonzero(names >= 0, axis=1)
    _, rank = np.unique(np.column_stack([counts, names]), axis=0, return_inverse=True)
    return rank.reshape(-1).astype(np.int64)
