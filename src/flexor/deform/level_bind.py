"""Surfaces of levels of detail made ready for skinning crowds."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from flexor.arrays import Floats, Ints, check_array, check_input
from flexor.deform.bind import BLOCK, Blocks, block_vertices
from flexor.errors import ShapeError
from flexor.maths import exact
from flexor.scene.character.mesh import Primitive
from flexor.scene.character.normals import vertex_normals
from flexor.scene.character.skeleton import rest_world
from flexor.scene.runtime.levels import Levels
from flexor.scene.scene import Scene

__all__ = ["LevelBind", "bind_level", "rest_vertices", "skin_level"]


@dataclass(frozen=True, slots=True, eq=False)
class LevelBind:
    """One surface at one level.

    blocks: its vertices, filled up to P places; blocks.order names the vertex of the
    surface in each; faces: int32 (F, 3), places; counter-clockwise from the front when
    it stands in the world; palette: how many matrices a character has at this level.
    """

    blocks: Blocks
    faces: Ints
    palette: int

    @property
    def place_count(self) -> int:
        """P, a multiple of eight."""
        return len(self.blocks.order)


def bind_level(
    scene: Scene, levels: Levels, surface: int, level: int, rows: Ints
) -> LevelBind:
    """Lay a surface out; rows: int32 (S,), where a slot's matrix is in a palette."""
    own = levels.surfaces[surface]
    count = int(own.counts[level])
    if len(own.shapes[level]):
        positions, normals = np.split(own.shapes[level], 2, axis=1)
    else:
        positions, normals = rest_vertices(scene, own.sources[:count])
    joints = rows[own.joints[level]]
    weights = own.weights[level]
    if (joints[weights > 0] < 0).any():
        raise ShapeError(f"rows: level {level} uses a slot that has no matrix")
    blocks = block_vertices(positions, normals, np.maximum(joints, 0), weights)
    place = np.zeros(count, np.int32)
    place[blocks.order[::-1]] = np.arange(len(blocks.order) - 1, -1, -1)
    faces = place[own.faces[level]]
    heaviest = weights.argmax(1)[:, None]
    first = np.take_along_axis(own.joints[level], heaviest, 1)[:, 0]
    is_turned = _is_mirrored(scene, levels)[first]
    if is_turned.any():
        turn = is_turned[own.faces[level][:, 0]]
        faces[turn] = faces[turn][:, ::-1]
    return LevelBind(blocks, faces, -(-int(rows.max(initial=0) + 1) // BLOCK) * BLOCK)


def rest_vertices(scene: Scene, sources: Ints) -> tuple[Floats, Floats]:
    """Positions and normals (V, 3) in the space of their meshes, morphs at rest.

    sources: (V, 3), node, primitive and vertex of each.
    """
    positions = np.empty((len(sources), 3), np.float32)
    normals = np.empty_like(positions)
    for node, row in dict.fromkeys(map(tuple, sources[:, :2].tolist())):
        is_own = (sources[:, :2] == (node, row)).all(1)
        primitive = scene.meshes[scene.node_mesh[node]].primitives[row]
        place, turn = _at_rest(primitive, scene.rest_weights(node))
        positions[is_own] = place[sources[is_own, 2]]
        normals[is_own] = turn[sources[is_own, 2]]
    return positions, normals


def _at_rest(primitive: Primitive, weights: Floats) -> tuple[Floats, Floats]:
    """A primitive with its morphs added as they are at rest."""
    positions = primitive.positions
    normals = primitive.normals
    if normals is None:
        normals = vertex_normals(primitive)
    for weight, target in zip(weights, primitive.targets, strict=False):
        if weight and target.positions is not None:
            positions = positions + weight * target.positions
        if weight and target.normals is not None:
            normals = normals + weight * target.normals
    return positions, normals


def _is_mirrored(scene: Scene, levels: Levels) -> NDArray[np.bool_]:
    """Slots (S,) whose matrix turns a surface inside out at rest."""
    world = rest_world(scene.skeleton)[levels.slots, :, :3]
    with np.errstate(all="ignore"):  # what is not finite is not drawn anyway
        mirrored: NDArray[np.bool_] = (
            exact.det(exact.multiply(world, levels.binds[:, :, :3].astype(np.float64)))
            < 0
        )
    return mirrored


def skin_level(
    bind: LevelBind, matrices: Floats, *, positions: Floats, normals: Floats
) -> int:
    """Deform n characters; gives how many vertices were touched.

    matrices: float32 (n, S * 12), world_from_mesh; positions, normals: results
    (n, P, 3), in the order of places; all float32.
    """
    from flexor.deform.kernels import crowd as kernel

    count, places = len(matrices), bind.place_count
    check_input(matrices, np.float32, (count, None), "matrices")
    if matrices.shape[1] < 12 * bind.palette and places:
        have = matrices.shape[1] // 12
        raise ShapeError(f"matrices: {have} a character, expected {bind.palette}")
    check_array(positions, np.float32, (count, places, 3), "positions")
    check_array(normals, np.float32, (count, places, 3), "normals")
    blocks = bind.blocks
    return int(
        kernel.skin_places(
            matrices,
            blocks.runs,
            blocks.joints,
            blocks.data[0],
            np.empty(matrices.shape[1], np.float32),
            np.empty(24 * blocks.most_joints + 96, np.float32),
            positions.reshape(count, 3 * places),
            normals.reshape(count, 3 * places),
        )
    )
