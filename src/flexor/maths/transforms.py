"""Affine transforms (..., 3, 4): rows that act on column vectors, plain NumPy.

A name `b_from_a` reads right to left: it takes points of space a to space b, so in
`multiply(c_from_b, b_from_a)` the neighbours cancel and the result is `c_from_a`.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from flexor.maths import exact, quaternions

__all__ = ["apply", "compose", "decompose", "invert", "multiply"]


def compose(
    translations: NDArray[Any], rotations: NDArray[Any], scales: NDArray[Any]
) -> NDArray[Any]:
    """Affine (..., 3, 4) that scales (..., 3), then rotates (..., 4), then moves."""
    shape = np.broadcast_shapes(
        translations.shape[:-1], rotations.shape[:-1], scales.shape[:-1]
    )
    dtype = np.result_type(translations, rotations, scales)
    m = np.empty((*shape, 3, 4), dtype)
    m[..., :3] = quaternions.to_matrix(rotations) * scales[..., None, :]
    m[..., 3] = translations
    return m


def decompose(
    m: NDArray[Any],
) -> tuple[NDArray[Any], NDArray[Any], NDArray[Any]]:
    """Translations (..., 3), rotations (..., 4), scales (..., 3) of m (..., 3, 4).

    A mirroring matrix gets a negative x scale. Shear cannot be expressed and is lost.
    """
    columns = m[..., :3]
    scales = np.linalg.norm(columns, axis=-2)
    mirrored = exact.det(columns.astype(np.float64)) < 0
    scales = scales * np.where(mirrored[..., None], [-1, 1, 1], [1, 1, 1])
    scales = scales.astype(m.dtype)
    safe = np.where(scales == 0, 1, scales)
    turned = columns / safe[..., None, :]
    for axis in range(3):  # a flattened axis stands across the other two
        across = np.cross(turned[..., axis - 2], turned[..., axis - 1])
        is_flat = scales[..., axis, None] == 0
        turned[..., axis] = np.where(is_flat, across, turned[..., axis])
    rotations = quaternions.from_matrix(turned)
    return m[..., 3].copy(), rotations.astype(m.dtype), scales


def multiply(c_from_b: NDArray[Any], b_from_a: NDArray[Any]) -> NDArray[Any]:
    """The transform c_from_a (..., 3, 4) that does b_from_a first."""
    c_from_a: NDArray[Any] = exact.multiply(c_from_b[..., :3], b_from_a)
    c_from_a[..., 3] += c_from_b[..., 3]
    return c_from_a


def invert(b_from_a: NDArray[Any]) -> NDArray[Any]:
    """The transform a_from_b (..., 3, 4); LinAlgError where there is none."""
    linear = exact.invert(b_from_a[..., :3])
    a_from_b = np.empty_like(b_from_a)
    a_from_b[..., :3] = linear
    a_from_b[..., 3] = -exact.multiply(linear, b_from_a[..., 3:])[..., 0]
    return a_from_b


def apply(b_from_a: NDArray[Any], points: NDArray[Any]) -> NDArray[Any]:
    """Points (..., P, 3) of space a in space b, for b_from_a (..., 3, 4)."""
    linear = np.swapaxes(b_from_a[..., :3], -1, -2)
    moved: NDArray[Any] = exact.multiply(points, linear) + b_from_a[..., None, :, 3]
    return moved
