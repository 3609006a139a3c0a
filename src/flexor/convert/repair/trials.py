"""In which of its trials a joint is to be looked at, to see what a repair did to it."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from flexor.arrays import Doubles
from flexor.convert.shape.body import Body
from flexor.convert.shape.joint_poses import JointPoses

__all__ = ["JointTrial", "telling_trials"]

Vector = tuple[float, float, float]


@dataclass(frozen=True, slots=True)
class JointTrial:
    """A pose in which one joint is turned from the rest, and how its skin looks there.

    axis: 0 for a twist about the bone, 1 and 2 for bends; way: the axis of the turn,
    unit, in the axes of the joint's node; angle: radians; low, high: how far the joint
    is tried about this axis, radians, at most and at least 0; before, after: how bad
    the skin looks, see `judge_joints`.
    """

    axis: int
    way: Vector
    angle: float
    low: float
    high: float
    before: float
    after: float

    @property
    def telling(self) -> float:
        """The more, the more there is to see: how bad it looks, and what changed."""
        return max(self.before, self.after) + abs(self.before - self.after)


def telling_trials(
    body: Body, poses: JointPoses, before: Doubles, after: Doubles
) -> dict[int, JointTrial]:
    """The trial of each joint, by its node, that shows most.

    before, after: float64 (N,), how bad the skin looks in each pose. Where nothing
    looks bad in any, the widest bend; the first of equals.
    """
    found: dict[int, JointTrial] = {}
    best: dict[int, tuple[float, bool, float]] = {}
    sines = np.linalg.norm(poses.turns[:, :3], axis=1)
    for at, row in enumerate(poses.rows.tolist()):
        node, axis, angle = (
            int(body.joints[row]),
            int(poses.axes[at]),
            float(poses.angles[at]),
        )
        x, y, z = (poses.turns[at, :3] / sines[at] * np.sign(angle)).tolist()
        own = poses.angles[(poses.rows == row) & (poses.axes == axis)]
        trial = JointTrial(
            axis,
            (x, y, z),
            angle,
            min(float(own.min()), 0.0),
            max(float(own.max()), 0.0),
            float(before[at]),
            float(after[at]),
        )
        rank = trial.telling, axis > 0, abs(angle)
        if node not in best or rank > best[node]:
            found[node], best[node] = trial, rank
    return found
