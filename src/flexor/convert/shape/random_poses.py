"""Poses to try a skin in where a file brings no clips."""

from __future__ import annotations

import numpy as np

from flexor.arrays import Doubles, Floats
from flexor.maths import quaternions
from flexor.pose.ik.human_limits import human_limits
from flexor.pose.ik.limit_angles import clamp_pose
from flexor.pose.layout import ROWS, Layout
from flexor.scene.character.skeleton import Skeleton

__all__ = ["lay_out_rotations", "random_rotations"]

ANGLE = np.radians(25)  # of a joint's turn, as a deviation from rest


def random_rotations(
    skeleton: Skeleton, count: int, rng: np.random.Generator
) -> Doubles:
    """Local rotations (count, J, 4) of every node: turns about any axis from rest.

    Joints of a human body stay inside what these can do; others turn moderately.
    """
    rest = skeleton.rotations.astype(np.float64)
    limits = human_limits(skeleton)
    poses = np.empty((count, len(rest), 4))
    for number in range(count):
        axes = rng.standard_normal((len(rest), 3))
        axes /= np.maximum(np.linalg.norm(axes, axis=1, keepdims=True), 1e-30)
        angles = np.clip(rng.standard_normal(len(rest)), -2, 2) * ANGLE
        turns = quaternions.multiply(rest, quaternions.about(axes, angles))
        poses[number] = clamp_pose(limits, skeleton, turns)
    return poses


def lay_out_rotations(layout: Layout, rotations: Doubles) -> Floats:
    """Local transforms (N, 10 * L) at rest but for rotations (N, J, 4) of the first J
    nodes; those after them, such as links, stay at rest.
    """
    local = np.tile(layout.rest, (len(rotations), 1))
    rows = local.reshape(len(local), ROWS, layout.lane_count)
    lanes = layout.lane_of_node[: rotations.shape[1]]
    rows[:, 3:7, lanes] = np.swapaxes(rotations, 1, 2)
    return local
