"""Unit quaternions (x, y, z, w) over any leading axes, plain NumPy."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from flexor.maths import exact

__all__ = ["about", "from_matrix", "multiply", "normalise", "to_matrix"]


def about(axis: ArrayLike, angle: ArrayLike) -> NDArray[np.float64]:
    """Quaternions (..., 4) of turns by angles (...), radians, about axes (..., 3).

    Axes are of unit length. Either may have more leading axes than the other.
    """
    half = np.asarray(angle, np.float64)[..., None] / 2
    part = exact.sin_each(half) * np.asarray(axis, np.float64)
    rest = np.broadcast_to(exact.cos_each(half), (*part.shape[:-1], 1))
    return np.concatenate([part, rest], -1)


def normalise(q: NDArray[Any]) -> NDArray[Any]:
    """Scale q (..., 4) to unit length; zero becomes the identity."""
    length = np.sqrt(np.add.reduce(q * q, -1, keepdims=True))
    is_some = length > 0
    if is_some.all():
        return q / length
    unit = q / np.where(is_some, length, 1)
    identity = np.array([0, 0, 0, 1], q.dtype)
    return np.where(is_some, unit, identity)


def multiply(one: NDArray[Any], other: NDArray[Any]) -> NDArray[Any]:
    """Quaternions (..., 4) that turn by the other first, then by the one."""
    # By numbers, not by vectors: `np.cross` takes four times as long as all of this.
    x, y, z, w = one[..., 0], one[..., 1], one[..., 2], one[..., 3]
    a, b, c, d = other[..., 0], other[..., 1], other[..., 2], other[..., 3]
    last = w * d - (x * a + y * b + z * c)
    product = np.empty((*last.shape, 4), last.dtype)
    product[..., 0] = w * a + d * x + (y * c - z * b)
    product[..., 1] = w * b + d * y + (z * a - x * c)
    product[..., 2] = w * c + d * z + (x * b - y * a)
    product[..., 3] = last
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
    rows = np.empty((*m.shape[:-2], 4, 4), m.dtype)
    rows[..., 0, 0] = 1 + xx - yy - zz
    rows[..., 1, 1] = 1 - xx + yy - zz
    rows[..., 2, 2] = 1 - xx - yy + zz
    rows[..., 3, 3] = 1 + xx + yy + zz
    rows[..., 0, 1] = rows[..., 1, 0] = xy + yx
    rows[..., 0, 2] = rows[..., 2, 0] = xz + zx
    rows[..., 1, 2] = rows[..., 2, 1] = yz + zy
    rows[..., 0, 3] = rows[..., 3, 0] = zy - yz
    rows[..., 1, 3] = rows[..., 3, 1] = xz - zx
    rows[..., 2, 3] = rows[..., 3, 2] = yx - xy
    best = np.argmax(np.diagonal(rows, axis1=-2, axis2=-1), -1)
    row = np.take_along_axis(rows, best[..., None, None], -2)[..., 0, :]
    return normalise(row)
