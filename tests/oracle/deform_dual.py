"""Slow twin of skinning by dual quaternions: float64, one vertex at a time."""

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
    """The product of two quaternions x y z w."""
    a, b = p[:3], q[:3]
    xyz = p[3] * b + q[3] * a + np.cross(a, b)
    return np.append(xyz, p[3] * q[3] - a @ b)


def blend(turns: Any, places: Any, weights: Any) -> tuple[Any, Any]:
    """A turn (3, 3) and a place (3,) of several with weights; signs by the first."""
    real, dual = np.zeros(4), np.zeros(4)
    first = quaternions.from_matrix(turns[0])
    for turn, place, weight in zip(turns, places, weights, strict=True):
        q = quaternions.from_matrix(turn)
        q = q if q @ first >= 0 else -q
        real += weight * q
        dual += weight * multiply(np.append(place, 0) / 2, q)
    length = np.linalg.norm(real)
    real, dual = real / length, dual / length
    conjugate = real * [-1, -1, -1, 1]
    return quaternions.to_matrix(real), 2 * multiply(dual, conjugate)[:3]


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
    upright = [linear.normal_matrix(matrix) for matrix in left]
    out, out_normals = np.zeros_like(positions), np.zeros_like(normals)
    for v in range(len(positions)):
        own = primitive.skin.weights[v].astype(np.float64)
        used = [k for k in range(len(own)) if own[k] > 0]
        used.sort(key=lambda k: int(primitive.skin.joints[v, k]))
        rows = [int(primitive.skin.joints[v, k]) for k in used]
        own = own[used] / own[used].sum()
        shape = sum(w * left[row] for w, row in zip(own, rows, strict=True))
        tilt = sum(w * upright[row] for w, row in zip(own, rows, strict=True))
        turn, place = blend(turns[rows], matrices[rows][:, :, 3], own)
        out[v] = turn @ (shape @ positions[v]) + place
        out_normals[v] = turn @ (tilt @ normals[v])
    return out, linear.unit(out_normals)
