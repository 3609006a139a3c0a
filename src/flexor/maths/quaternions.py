"""Unit quaternions (x, y, z, w) over any leading axes, plain NumPy."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

__all__ = ["about", "from_matrix", "multiply", "normalise", "to_matrix"]


def about(axis: ArrayLike, angle: ArrayLike) -> NDArray[np.float64]:
    """Quaternions (..., 4) of turns by angles (...), radians, about axes (..., 3).

    Axes are of unit length. Either may have more leading axes than the other.
    """
    half = np.asarray(angle, np.float64)[..., None] / 2
    part = np.sin(half) * np.asarray(axis, np.float64)
    rest = np.broadcast_to(np.cos(half), (*part.shape[:-1], 1))
    return np.concatenate([part, rest], -1)


def normalise(q: NDArray[Any]) -> NDArray[Any]:
    """Scale q (..., 4) to unit length; zero becomes the identity."""
    length = np.linalg.norm(q, axis=-1, keepdims=True)
    unit = q / np.where(length > 0, length, 1)
    identity = np.array([0, 0, 0, 1], q.dtype)
    return np.where(length > 0, unit, identity)


def multiply(one: NDArray[Any], other: NDArray[Any]) -> NDArray[Any]:
    """Quaternions (..., 4) that turn by the other first, then by the one."""
    a, b = np.broadcast_arrays(one, other)
    v, w = a[..., :3], b[..., :3]
    s, t = a[..., 3:], b[..., 3:]
    product = np.empty(a.shape, np.result_type(a, b))
    product[..., :3] = s * w + t * v + cross(v, w)
    product[..., 3] = s[..., 0] * t[..., 0] - (v * w).sum(-1)
    return product


def cross(one: NDArray[Any], other: NDArray[Any]) -> NDArray[Any]:
    """Cross products (..., 3), as np.cross has them, which takes long for few."""
    a, b = np.broadcast_arrays(one, other)
    product = np.empty(a.shape, np.result_type(a, b))
    for k, (i, j) in enumerate(((1, 2), (2, 0), (0, 1))):
        product[..., k] = a[..., i] * b[..., j] - a[..., j] * b[..., i]
    return product


def to_matrix(q: NDArray[Any]) -> NDArray[Any]:
    """Rotation matrices (..., 3, 3) of q (..., 4), which is taken as it is."""
    x, y, z, w = q[..., 0], q[..., 1], q[..., 2], q[..., 3]
    m = np.empty((*q.shape[:-1], 3, 3), q.dtype)
    m[..., 0, 0] = 1 - 2 * (y * y + z * z)
    m[..., 0, 1] = 2 * (x * y - z * w)
    m[..., 0, 2] = 2 * (x * z + y * w)
    m[..., 1, 0] = 2 * (x * y + z * w)
    m[..., 1, 1] = 1 - 2 * (x * x + z * z)
    m[..., 1, 2] = 2 * (y * z - x * w)
    m[..., 2, 0] = 2 * (x * z - y * w)
    m[..., 2, 1] = 2 * (y * z + x * w)
    m[..., 2, 2] = 1 - 2 * (x * x + y * y)
    return m


def from_matrix(m: NDArray[Any]) -> NDArray[Any]:
    """Quaternions (..., 4) of rotation matrices m (..., 3, 3).

    Of the four equivalent formulas the one with the largest divisor is taken, so no
    rotation loses precision.
    """
    xx, yy, zz = m[..., 0, 0], m[..., 1, 1], m[..., 2, 2]
    xy, yx = m[..., 0, 1], m[..., 1, 0]
    xz, zx = m[..., 0, 2], m[..., 2, 0]
    yz, zy = m[..., 1, 2], m[..., 2, 1]
    # Row k holds 4 * q[k] * q: the squares pick the row that is best conditioned.
    rows = np.stack(
        [
            np.stack([1 + xx - yy - zz, xy + yx, xz + zx, zy - yz], -1),
            np.stack([xy + yx, 1 - xx + yy - zz, yz + zy, xz - zx], -1),
            np.stack([xz + zx, yz + zy, 1 - xx - yy + zz, yx - xy], -1),
            np.stack([zy - yz, xz - zx, yx - xy, 1 + xx + yy + zz], -1),
        ],
        -2,
    )
    best = np.argmax(np.diagonal(rows, axis1=-2, axis2=-1), -1)
    row = np.take_along_axis(rows, best[..., None, None], -2)[..., 0, :]
    return normalise(row)
