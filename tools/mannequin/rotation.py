"""Rotations for the maker: matrices (..., 3, 3) and quaternions (..., 4) as xyzw.

All float64 and right-handed, angles in radians. A matrix acts on column vectors, so
`a @ b` turns by `b` first.
"""

import numpy as np
from numpy.typing import ArrayLike

from flexor.arrays import Doubles


def normalize(vector: ArrayLike) -> Doubles:
    """Scale (..., 3) or (..., 4) to unit length along the last axis."""
    v = np.asarray(vector, np.float64)
    return np.asarray(v / np.linalg.norm(v, axis=-1, keepdims=True))


def frame(along: ArrayLike, toward: ArrayLike) -> Doubles:
    """Rotation whose x column is `along` and whose y column leans to `toward`.

    along, toward: (..., 3), any length, not parallel. Returns (..., 3, 3).
    """
    x = normalize(along)
    t = np.broadcast_to(np.asarray(toward, np.float64), x.shape)
    y = normalize(t - np.sum(t * x, axis=-1, keepdims=True) * x)
    return np.stack([x, y, np.cross(x, y)], axis=-1)


def turn(axis: str, angle: ArrayLike) -> Doubles:
    """Rotation about the coordinate axis "x", "y" or "z"; angle (...) radians."""
    a = np.asarray(angle, np.float64)
    c, s, o, i = np.cos(a), np.sin(a), np.zeros_like(a), np.ones_like(a)
    rows = {
        "x": [[i, o, o], [o, c, -s], [o, s, c]],
        "y": [[c, o, s], [o, i, o], [-s, o, c]],
        "z": [[c, -s, o], [s, c, o], [o, o, i]],
    }[axis]
    return np.stack([np.stack(r, axis=-1) for r in rows], axis=-2)


def transpose(matrix: Doubles) -> Doubles:
    """Inverse of rotation matrices (..., 3, 3)."""
    return np.swapaxes(matrix, -1, -2)


def quaternion_from_matrix(matrix: ArrayLike) -> Doubles:
    """Turn rotation matrices (..., 3, 3) into unit quaternions (..., 4) xyzw, w >= 0.

    Shepperd's choice of the largest component, so no case loses precision.
    """
    m = np.asarray(matrix, np.float64)
    d = np.diagonal(m, axis1=-2, axis2=-1)
    trace = d.sum(axis=-1)
    best = np.argmax(np.concatenate([d, trace[..., None]], axis=-1), axis=-1)
    q = np.empty((*m.shape[:-2], 4))
    for k in range(3):
        i, j = (k + 1) % 3, (k + 2) % 3
        pick = best == k
        n = m[pick]
        q[pick, k] = 1.0 + n[:, k, k] - n[:, i, i] - n[:, j, j]
        q[pick, i] = n[:, i, k] + n[:, k, i]
        q[pick, j] = n[:, j, k] + n[:, k, j]
        q[pick, 3] = n[:, j, i] - n[:, i, j]
    pick = best == 3
    n = m[pick]
    q[pick, 0] = n[:, 2, 1] - n[:, 1, 2]
    q[pick, 1] = n[:, 0, 2] - n[:, 2, 0]
    q[pick, 2] = n[:, 1, 0] - n[:, 0, 1]
    q[pick, 3] = 1.0 + trace[pick]
    q = normalize(q)
    return np.asarray(np.where(q[..., 3:] < 0.0, -q, q))


def matrix_from_quaternion(quaternion: ArrayLike) -> Doubles:
    """Rotation matrices (..., 3, 3) of unit quaternions (..., 4) xyzw."""
    q = np.asarray(quaternion, np.float64)
    x, y, z, w = (q[..., i] for i in range(4))
    rows = [
        [1 - 2 * (y * y + z * z), 2 * (x * y - z * w), 2 * (x * z + y * w)],
        [2 * (x * y + z * w), 1 - 2 * (x * x + z * z), 2 * (y * z - x * w)],
        [2 * (x * z - y * w), 2 * (y * z + x * w), 1 - 2 * (x * x + y * y)],
    ]
    return np.stack([np.stack(r, axis=-1) for r in rows], axis=-2)


def split_twist(matrix: Doubles) -> tuple[Doubles, Doubles]:
    """Split rotations (..., 3, 3) into a swing and an angle about their own x axis.

    Returns swing (..., 3, 3) and angle (...) with `matrix = swing @ turn("x", angle)`;
    the swing takes x to its new place by the shortest way.
    """
    q = quaternion_from_matrix(matrix)
    angle = 2.0 * np.arctan2(q[..., 0], q[..., 3])
    angle = (angle + np.pi) % (2.0 * np.pi) - np.pi
    return matrix @ transpose(turn("x", angle)), angle


def same_hemisphere(quaternion: Doubles) -> Doubles:
    """Flip signs along axis 0 of (T, 4) so that neighbours never point apart."""
    dots = np.sum(quaternion[1:] * quaternion[:-1], axis=-1)
    signs = np.cumprod(np.concatenate([[1.0], np.where(dots < 0.0, -1.0, 1.0)]))
    return np.asarray(quaternion * signs[:, None])


def mix(first: Doubles, second: Doubles, share: Doubles) -> Doubles:
    """Rotations (T, 3, 3) between two, by a share (T,)."""
    a, b = quaternion_from_matrix(first), quaternion_from_matrix(second)
    b = np.where(np.sum(a * b, axis=1, keepdims=True) < 0.0, -b, b)
    return matrix_from_quaternion(normalize(a + share[:, None] * (b - a)))
