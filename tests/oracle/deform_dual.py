"""Slow twin of skinning by dual quaternions: float64, all joints of all vertices."""

from __future__ import annotations

from typing import Any

import numpy as np

from flexor.maths import quaternions
from flexor.scene.character.mesh import Primitive
from flexor.scene.character.weights import Skin
from tests.oracle import deform as linear


def split(matrices: Any) -> tuple[Any, Any]:
    """Each linear part as turn (S, 3, 3) times what is left (S, 3, 3).

    The turn is that of the polar decomposition; of the negative if the matrix mirrors;
    that of the joint before if two axes or all have no length. The kernels
    `split_palette` and `find_turn`.
    """
    turns, left = [np.eye(3)], []
    for matrix in matrices:
        m = matrix[:, :3].astype(np.float64)
        u, sizes, v = np.linalg.svd(m)
        turn = turns[-1]
        if sizes[1] > 1e-6 * sizes[0]:
            is_mirror = np.linalg.det(u @ v) < 0 and sizes[2] > 1e-5 * sizes[0]
            if is_mirror:
                u = -u
            turn = u @ np.diag([1, 1, np.linalg.det(u @ v)]) @ v
        turns.append(turn)
        left.append(turn.T @ m)
    return np.array(turns[1:]), np.array(left)


def multiply(p: Any, q: Any) -> Any:
    """Products of quaternions x y z w (..., 4)."""
    a, b = p[..., :3], q[..., :3]
    xyz = p[..., 3:] * b + q[..., 3:] * a + np.cross(a, b)
    w = p[..., 3:] * q[..., 3:] - (a * b).sum(-1, keepdims=True)
    return np.concatenate([xyz, w], -1)


def blend(turns: Any, places: Any, weights: Any) -> tuple[Any, Any]:
    """Turns (V, 3, 3) and places (V, 3) of K each with weights (V, K).

    turns: (V, K, 4), as quaternions, whose signs are made those of the first.
    """
    side = np.where((turns * turns[:, :1]).sum(-1) >= 0, 1, -1)
    shares = (weights * side)[..., None]
    halves = np.concatenate([places / 2, np.zeros((*places.shape[:2], 1))], -1)
    real = (shares * turns).sum(1)
    dual = (shares * multiply(halves, turns)).sum(1)
    length = np.linalg.norm(real, axis=1, keepdims=True)
    real, dual = real / length, dual / length
    conjugate = real * [-1, -1, -1, 1]
    return quaternions.to_matrix(real), 2 * multiply(dual, conjugate)[:, :3]


def deform(
    primitive: Primitive, skin: Skin | None, world: Any, node: int, weights: Any
) -> tuple[Any, Any]:
    """World-space positions and unit normals (V, 3) of one primitive of `node`.

    The kernels `skin_vertices_dual` and `skin_blocks_dual`.
    """
    if primitive.skin is None or skin is None:
        return linear.deform(primitive, skin, world, node, weights)
    positions, normals = linear.morph(primitive, weights)
    matrices = linear.palette(skin, world)
    turns, left = split(matrices)
    if not len(positions):
        return positions, normals
    upright = np.array([linear.normal_matrix(matrix) for matrix in left])
    # Joints of each vertex by number; those without weight last.
    own = primitive.skin.weights.astype(np.float64)
    joints = primitive.skin.joints.astype(np.int64)
    order = np.argsort(np.where(own > 0, joints, len(matrices)), axis=1, kind="stable")
    rows = np.take_along_axis(joints, order, 1)
    own = np.take_along_axis(np.maximum(own, 0), order, 1)
    own /= own.sum(1, keepdims=True)
    shape = np.einsum("vk,vkij->vij", own, left[rows])
    tilt = np.einsum("vk,vkij->vij", own, upright[rows])
    found = quaternions.from_matrix(turns)[rows]
    turn, place = blend(found, matrices[rows][..., 3], own)
    out = np.einsum("vij,vjk,vk->vi", turn, shape, positions) + place
    return out, linear.unit(np.einsum("vij,vjk,vk->vi", turn, tilt, normals))
