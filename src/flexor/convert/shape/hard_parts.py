"""Hard parts: skin that is cut where joints meet, as that of machines and dolls is.

Where no point between two bones hangs on both, the cut is meant: a piston, a vent, a
robot's limb. And what clips move along without turning it, as a visor or an eyebrow,
is meant to slide. Such joints are not to be softened.
"""

from __future__ import annotations

import numpy as np

from flexor.arrays import Bools
from flexor.convert.shape.body import Body, Pull
from flexor.convert.shape.facts import SceneFacts
from flexor.convert.shape.surface import Surface
from flexor.pose.layout import ROWS

__all__ = ["hard_joints", "machine_joints", "points_near", "sliding_joints"]

WHOLE = 0.95  # of a point's weight: it hangs on that joint alone
BLENDED = 0.15  # of the points along a cut: if so many are blended, it is no cut

MACHINE = 0.95  # of the points on one joint alone: all of the body is made so

SLIDES, TURNS = 0.01, np.radians(10)  # of the size: a joint slides that moves so far
# and does not turn more
GROWS = 0.1  # of its size: a joint that shrinks or grows so much blinks, as an eye does


def hard_joints(pull: Pull, surface: Surface, count: int) -> Bools:
    """Which of `count` joints meet all others in cuts, (S,); pull: of the points.

    Joints that hold nothing, or that no other skin touches, are not hard.
    """
    first, second, _ = surface.edges()
    top = pull.joints[np.arange(len(pull)), np.argmax(pull.weights, axis=1)]
    is_whole = pull.weights.max(1, initial=0) >= WHOLE
    is_cut = (top[first] != top[second]) & is_whole[first] & is_whole[second]
    ends = np.concatenate([first[is_cut], second[is_cut]])
    along = np.unique(ends)
    cuts = np.bincount(top[along], minlength=count)
    rows, columns = np.nonzero((pull.weights > 1 - WHOLE) & (pull.weights < WHOLE))
    blends = np.bincount(pull.joints[rows, columns], minlength=count)
    return (cuts > 0) & (blends <= BLENDED * cuts)


def machine_joints(pull: Pull, surface: Surface, count: int) -> Bools:
    """Hard joints of a body nearly all of whose points hang on one joint alone, (S,).

    A low-poly animal may have a cut or two that nobody meant; a machine has no blends.
    """
    held = pull.weights.sum(1) > 0
    whole = pull.weights.max(1, initial=0)[held] >= WHOLE
    if not len(whole) or whole.mean() < MACHINE:
        return np.zeros(count, bool)
    return hard_joints(pull, surface, count)


def sliding_joints(facts: SceneFacts, body: Body) -> Bools:
    """Which joints of a body clips move along or resize, seen from the joint above,
    and do not turn, (S,).
    """
    poses, layout = facts.poses, facts.layout
    if not len(poses):
        return np.zeros(len(body.joints), bool)
    lanes = poses.reshape(len(poses), ROWS, layout.lane_count)
    own = lanes[:, :, layout.lane_of_node[body.joints]].astype(np.float64)
    moved = np.linalg.norm(own[:, :3] - own[:1, :3], axis=1).max(0)
    dots = np.abs((own[:, 3:7] * own[:1, 3:7]).sum(1)).min(0)
    above = layout.skeleton.parents[body.joints]
    linear = np.where((above >= 0)[:, None, None], facts.world[above, :, :3], np.eye(3))
    moved *= np.cbrt(np.abs(np.linalg.det(linear)))
    corners = facts.world[body.joints, :, 3]
    size = max(float(np.ptp(corners, axis=0).max()), 1e-30)
    sizes = np.abs(own[:, 7:10])
    resized = (np.ptp(sizes, axis=0) > GROWS * sizes.max(0)).any(0)
    slides: Bools = (moved > SLIDES * size) | resized
    slides &= dots > np.cos(TURNS / 2)
    slides &= body.parents >= 0
    return slides


def points_near(pull: Pull, surface: Surface, joints: Bools) -> Bools:
    """Which points (P,) hang on some of the joints (S,), or next to ones that do."""
    held = (pull.weights > 1 - WHOLE) & (pull.joints >= 0)
    on_them: Bools = np.any(held & joints[np.maximum(pull.joints, 0)], axis=1)
    first = np.repeat(np.arange(len(surface)), np.diff(surface.starts))
    near = on_them.copy()
    near[surface.neighbours[on_them[first]]] = True
    return near
