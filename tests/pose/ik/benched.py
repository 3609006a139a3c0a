"""Work space for single steps of reaching, and their slopes by plain algebra."""

from __future__ import annotations

from typing import Any

import numpy as np

from flexor.pose.ik.ccd import init_ccd
from flexor.pose.ik.kernels.descent import NOW, PLACE, SCALE, TRIED
from flexor.pose.ik.reach import Reach
from tests.oracle import ik as oracle
from tests.pose.ik import step_kernels as steps
from tests.pose.ik.chains import tree


class Bench:
    """The work space of one character, its bones at given rotations (B, 4)."""

    def __init__(self, reach: Reach, rotations: Any, goals: Any) -> None:
        skeleton = reach.layout.skeleton
        self.reach, self.goals = reach, np.array(goals, np.float64)
        work = init_ccd(reach, 1)._work
        self.pulls, self.work, self.pairs, self.ends = work[:4]
        self.system, self.right, self.homeward = work[6:]
        self.work[:, NOW : NOW + 4] = rotations
        self.work[:, TRIED : TRIED + 4] = rotations
        self.work[:, PLACE : PLACE + 3] = skeleton.translations[reach.nodes]
        self.work[:, SCALE : SCALE + 3] = skeleton.scales[reach.nodes]
        for k, lane in enumerate(reach.point_lanes):
            if lane >= 0:
                node = reach.layout.node_of_lane[lane]
                self.pulls[k, :3] = skeleton.translations[node]
        self.measure(NOW)

    def measure(self, at: int) -> float:
        """What is left of the squares at the rotations in a column."""
        left = steps.measure(
            self.reach.bones,
            self.pulls,
            at,
            self.work,
            self.pairs,
            self.ends,
            self.goals,
        )
        return float(left)

    def tried(self) -> Any:
        return self.work[:, TRIED : TRIED + 4].copy()


def arms() -> Any:
    """Two nodes and two arms of two bones on them: b4 and b7 are the hands."""
    right = [[0.1, 0.2, 0], [0.3, 0, 0], [0.3, 0, 0]]
    left = [[-x, y, z] for x, y, z in right]
    return tree([-1, 0, 1, 2, 3, 1, 5, 6], [[0, 0, 0], [0, 0.4, 0], *right, *left])


def slopes(skeleton: Any, bones: Any, ends: Any, rotations: Any) -> Any:
    """How ends move with turns of bones in their parents' frames: (3 M, B, 3)."""
    parents, places = skeleton.parents.tolist(), skeleton.translations
    frames, spots = oracle.frames_of(parents, places, rotations)
    made = np.zeros((len(ends), 3, len(bones), 3))
    for b, bone in enumerate(bones):
        above = np.eye(3) if parents[bone] < 0 else frames[parents[bone]]
        for m, end in enumerate(ends):
            if oracle.is_below(parents, end, bone):
                arm = spots[end] - spots[bone]
                made[m, :, b] = np.cross(above.T, arm).T
    return made.reshape(3 * len(ends), len(bones), 3), spots[list(ends)]
