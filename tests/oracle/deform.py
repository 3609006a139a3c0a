"""Slow twins of the deform kernels: float64, one influence after the other."""

from __future__ import annotations

from typing import Any

import numpy as np

from flexor.maths import transforms
from flexor.scene.character.mesh import Primitive
from flexor.scene.character.normals import vertex_normals
from flexor.scene.character.weights import Skin


def palette(skin: Skin, world: Any) -> Any:
    """The kernel `palette`: world_from_mesh (S, 3, 4) of each joint."""
    made = np.zeros((len(skin.joints), 3, 4))
    for s, joint in enumerate(skin.joints):
        left = np.vstack([world[joint], [0, 0, 0, 1]]).astype(np.float64)
        right = np.vstack([skin.inverse_binds[s], [0, 0, 0, 1]]).astype(np.float64)
        made[s] = (left @ right)[:3]
    return made


def normal_matrix(matrix: Any) -> Any:
    """Inverse transpose (3, 3) of an affine (3, 4), scaled to determinant 1 or -1."""
    linear = matrix[:, :3].astype(np.float64)
    det = np.linalg.det(linear)
    if det == 0:
        return np.zeros((3, 3))
    return np.linalg.inv(linear).T * abs(det) ** (1 / 3)


def morph(primitive: Primitive, weights: Any) -> tuple[Any, Any]:
    """Rest positions and normals (V, 3) with morph targets added; not normalised.

    The kernel `morph_blocks`.
    """
    positions = primitive.positions.astype(np.float64)
    rest = primitive.normals
    normals = (vertex_normals(primitive) if rest is None else rest).astype(np.float64)
    for weight, target in zip(weights, primitive.targets, strict=True):
        if target.positions is not None:
            positions = positions + float(weight) * target.positions
        if target.normals is not None:
            normals = normals + float(weight) * target.normals
    return positions, normals


def deform(
    primitive: Primitive, skin: Skin | None, world: Any, node: int, weights: Any
) -> tuple[Any, Any]:
    """World-space positions and unit normals (V, 3) of one primitive of `node`.

    The kernels `skin_vertices` and `skin_blocks`.
    """
    positions, normals = morph(primitive, weights)
    if primitive.skin is None or skin is None:
        positions = transforms.apply(world[node], positions)
        normals = normals @ normal_matrix(world[node]).T
        return positions, unit(normals)
    matrices = palette(skin, world)
    turned = np.array([normal_matrix(matrix) for matrix in matrices])
    turned = turned.reshape(-1, 3, 3)
    out, out_normals = np.zeros_like(positions), np.zeros_like(normals)
    for own, joints in zip(
        primitive.skin.weights.T, primitive.skin.joints.T, strict=True
    ):
        used = own != 0
        share, rows = own[used, None].astype(np.float64), joints[used]
        moved = _times(matrices[rows, :, :3], positions[used]) + matrices[rows, :, 3]
        out[used] += share * moved
        out_normals[used] += share * _times(turned[rows], normals[used])
    return out, unit(out_normals)


def _times(matrices: Any, vectors: Any) -> Any:
    """Matrices (n, 3, 3) times vectors (n, 3)."""
    return np.einsum("nij,nj->ni", matrices, vectors)


def unit(vectors: Any) -> Any:
    """Rows (V, 3) scaled to length 1; zero stays zero."""
    length = np.linalg.norm(vectors, axis=1, keepdims=True)
    return vectors / np.where(length > 0, length, 1)
