"""Rotations as three angles: about Z, then about the turned Y, then about the twice
turned X. Plain NumPy; the slow truth for the kernels.

Angles are in radians and in this order: `rotation = Rz(a) Ry(b) Rx(c)`. With X along a
bone, a and b say where the bone points and c how it is twisted. The middle angle lies
in -90..90 degrees; at its ends Z and X turn about the same axis, and all of that turn
is counted as the first angle.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from flexor.maths import exact
from flexor.maths.layout import ROUNDED, TINY

__all__ = ["clamp_angles", "clamp_rotation", "from_euler", "to_euler"]


def from_euler(angles: NDArray[Any]) -> NDArray[Any]:
    """Unit quaternions (..., 4) of angles (..., 3) about Z, Y and X."""
    half = np.asarray(angles) / 2
    sine, cosine = exact.sin_each(half), exact.cos_each(half)
    sz, sy, sx = sine[..., 0], sine[..., 1], sine[..., 2]
    cz, cy, cx = cosine[..., 0], cosine[..., 1], cosine[..., 2]
    q = np.empty((*half.shape[:-1], 4), half.dtype)
    q[..., 0] = cz * cy * sx - sz * sy * cx
    q[..., 1] = cz * sy * cx + sz * cy * sx
    q[..., 2] = sz * cy * cx - cz * sy * sx
    q[..., 3] = cz * cy * cx + sz * sy * sx
    return q


def to_euler(rotation: NDArray[Any]) -> NDArray[Any]:
    """Angles (..., 3) about Z, Y and X of quaternions (..., 4) of any length.

    Z and X in -pi..pi, Y in -pi/2..pi/2; a quaternion of zeros has no angles: zeros.

    The sums and differences of the components are products of one factor of the
    middle angle and one of the sum or the difference of the others, so that no inverse
    sine is taken and nothing is lost near 90 degrees.
    """
    q = np.asarray(rotation)
    x, y, z, w = q[..., 0], q[..., 1], q[..., 2], q[..., 3]
    near, far = exact.hypot_each(w - y, z + x), exact.hypot_each(w + y, z - x)
    total = exact.atan2_each(z + x, w - y)  # half of Z and X together
    apart = exact.atan2_each(z - x, w + y)  # half of Z without X
    tiny = TINY * (near + far)
    total = np.where(near > tiny, total, apart)
    apart = np.where(far > tiny, apart, total)
    angles = np.empty((*q.shape[:-1], 3), q.dtype)
    angles[..., 0] = _wrap(total + apart)
    angles[..., 1] = 2 * exact.atan2_each(far, near) - np.where(
        near + far > 0, np.pi / 2, 0
    )
    angles[..., 2] = _wrap(total - apart)
    return angles


def clamp_angles(
    angles: NDArray[Any], low: NDArray[Any], high: NDArray[Any]
) -> NDArray[Any]:
    """Angles (..., 3) brought into low..high (..., 3), by the shorter way round.

    An angle of 175 degrees is nearer to -170 than to 100: it becomes -170.
    """
    given = np.asarray(angles)
    clamped = np.clip(given, low, high)
    turn = 2 * np.pi
    to_low, to_high = np.mod(low - given, turn), np.mod(given - high, turn)
    # An end that is half a circle, rounded up, is met from the other side.
    to_low = np.where(to_low > turn - ROUNDED, 0, to_low)
    to_high = np.where(to_high > turn - ROUNDED, 0, to_high)
    nearest = np.where(to_low < to_high, low, high)
    is_out = clamped != given
    is_round = np.array([True, False, True])  # the middle one has ends, no way round
    return np.where(is_out & is_round, nearest, clamped).astype(given.dtype)


def clamp_rotation(
    rotation: NDArray[Any], low: NDArray[Any], high: NDArray[Any]
) -> NDArray[Any]:
    """Rotations (..., 4) whose angles lie in low..high (..., 3).

    Those that are inside already are given back as they are, bit by bit.
    """
    q = np.asarray(rotation)
    angles = to_euler(q)
    clamped = clamp_angles(angles, low, high)
    is_out = (clamped != angles).any(axis=-1, keepdims=True)
    return np.where(is_out, from_euler(clamped), q)


def _wrap(angle: NDArray[Any]) -> NDArray[Any]:
    """Angles of -2 pi..2 pi in -pi..pi."""
    turn = 2 * np.pi
    down = np.where(angle > np.pi, angle - turn, angle)
    return np.where(angle < -np.pi, angle + turn, down)
