"""Cyclic coordinate descent, slow and plain: in the world, with matrices."""

from __future__ import annotations

from typing import Any

import numpy as np

from flexor.maths import quaternions


def arc(one: Any, other: Any) -> Any:
    """The matrix of the shortest rotation from the direction of one to the other's."""
    a, b = one / np.linalg.norm(one), other / np.linalg.norm(other)
    axis, cosine = np.cross(a, b), float(a @ b)
    sine = np.linalg.norm(axis)
    if sine < 1e-12:
        return np.eye(3)
    return about(axis / sine, np.arctan2(sine, cosine))


def about(axis: Any, angle: float) -> Any:
    """The matrix of a rotation by an angle about a unit axis."""
    x, y, z = axis
    cross = np.array([[0, -z, y], [z, 0, -x], [-y, x, 0]])
    return np.eye(3) + np.sin(angle) * cross + (1 - np.cos(angle)) * cross @ cross


def ends(lengths: Any, rotations: Any) -> Any:
    """Joints and end (B + 1, 3) of a chain along X, and the frames (B, 3, 3)."""
    places, frames = [np.zeros(3)], []
    frame = np.eye(3)
    for length, rotation in zip(lengths, rotations, strict=True):
        frame = frame @ quaternions.to_matrix(rotation)
        frames.append(frame)
        places.append(places[-1] + frame[:, 0] * length)
    return np.array(places), np.array(frames)


def descend(lengths: Any, rotations: Any, target: Any, weights: Any) -> Any:
    """Rotations (B, 4) after one pass over a chain along X, from its last bone on."""
    turned = np.array(rotations, np.float64)
    for bone in reversed(range(len(lengths))):
        places, frames = ends(lengths, turned)
        turn = arc(places[-1] - places[bone], target - places[bone])
        above = np.eye(3) if bone == 0 else frames[bone - 1]
        angle = np.arccos(np.clip((np.trace(turn) - 1) / 2, -1, 1))
        if angle > 1e-9:
            part = turn - turn.T
            axis = np.array([part[2, 1], part[0, 2], part[1, 0]])
            turn = about(axis / np.linalg.norm(axis), angle * weights[bone])
        local = above.T @ turn @ frames[bone]
        turned[bone] = quaternions.from_matrix(local)
    return turned
