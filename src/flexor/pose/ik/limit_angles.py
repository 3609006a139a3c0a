"""The angles of a pose in the terms of limits, and poses brought inside them.

Plain NumPy, for any number of poses at once: for looking at motions, and what the
kernels are compared with.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from flexor.errors import ShapeError
from flexor.maths import quaternions
from flexor.maths.euler import clamp_angles, from_euler, to_euler
from flexor.scene.character.limits import Limits
from flexor.scene.character.skeleton import Skeleton

__all__ = ["clamp_pose", "measure_angles", "measure_excess", "turn_joints"]


def measure_angles(
    limits: Limits, skeleton: Skeleton, rotations: NDArray[Any]
) -> NDArray[np.float64]:
    """Radians (..., J, 3) about Z, Y and X of each joint's bone, from its rest.

    rotations: (..., J, 4), local.
    """
    _check(limits, skeleton, rotations)
    return _angles(limits, _frames_at_rest(limits, skeleton), rotations)


def measure_excess(
    limits: Limits, skeleton: Skeleton, rotations: NDArray[Any]
) -> NDArray[np.float64]:
    """Radians (..., J, 3) by which each angle is outside its limits, 0 inside."""
    angles = measure_angles(limits, skeleton, rotations)
    nearest = clamp_angles(angles, limits.low, limits.high)
    apart = np.abs(angles - nearest)
    excess = np.minimum(apart, 2 * np.pi - apart)
    return np.where(limits.limited[:, None], excess, 0.0)


def turn_joints(
    limits: Limits, skeleton: Skeleton, angles: NDArray[Any]
) -> NDArray[np.float64]:
    """Local rotations (..., J, 4) of joints turned by angles (..., J, 3) from rest."""
    if angles.shape[-2:] != (len(skeleton), 3):
        wanted = f"(..., {len(skeleton)}, 3)"
        raise ShapeError(f"angles: shape {angles.shape}, expected {wanted}")
    return _turned(limits, _frames_at_rest(limits, skeleton), angles)


def clamp_pose(
    limits: Limits, skeleton: Skeleton, rotations: NDArray[Any]
) -> NDArray[np.float64]:
    """Local rotations (..., J, 4) inside the limits, by the angles that were outside.

    Joints that are inside already keep the rotations that were given.
    """
    _check(limits, skeleton, rotations)
    frames = _frames_at_rest(limits, skeleton)
    angles = _angles(limits, frames, rotations)
    nearest = clamp_angles(angles, limits.low, limits.high)
    is_out = (nearest != angles).any(axis=-1) & limits.limited
    turned = _turned(limits, frames, nearest)
    return np.where(is_out[..., None], turned, rotations)


def _angles(
    limits: Limits, frames: NDArray[np.float64], rotations: NDArray[Any]
) -> NDArray[np.float64]:
    """See `measure_angles`; frames: (J, 4), at rest."""
    away = quaternions.multiply(_inverse(frames), rotations)
    turns = quaternions.multiply(away, limits.frames.astype(np.float64))
    return to_euler(turns)


def _turned(
    limits: Limits, frames: NDArray[np.float64], angles: NDArray[Any]
) -> NDArray[np.float64]:
    """See `turn_joints`; frames: (J, 4), at rest."""
    turned = quaternions.multiply(frames, from_euler(np.asarray(angles, np.float64)))
    return quaternions.multiply(turned, _inverse(limits.frames.astype(np.float64)))


def _frames_at_rest(limits: Limits, skeleton: Skeleton) -> NDArray[np.float64]:
    """parent_from_bone (J, 4) of every bone at rest."""
    rest = quaternions.normalise(skeleton.rotations.astype(np.float64))
    frames: NDArray[np.float64] = quaternions.multiply(rest, limits.frames)
    return frames


def _inverse(rotations: NDArray[Any]) -> NDArray[np.float64]:
    backward: NDArray[np.float64] = rotations * np.array([-1.0, -1, -1, 1])
    return backward


def _check(limits: Limits, skeleton: Skeleton, rotations: NDArray[Any]) -> None:
    count = len(skeleton)
    if len(limits) != count:
        raise ShapeError(f"limits: of {len(limits)} joints, the skeleton has {count}")
    if rotations.shape[-2:] != (count, 4):
        raise ShapeError(
            f"rotations: shape {rotations.shape}, expected (..., {count}, 4)"
        )
