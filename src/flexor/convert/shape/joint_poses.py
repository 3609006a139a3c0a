"""Poses in which joints are tried: each alone, as far as it may turn, and all at once.

How far a joint may turn is told by the limits of human bodies, where it is a part of
one; else by how far the clips turn it, and a little more; else it is a guess.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from flexor.arrays import Doubles, Floats, Ints
from flexor.convert.shape.body import Body
from flexor.convert.shape.bones import Bones
from flexor.convert.shape.facts import SceneFacts
from flexor.maths import quaternions
from flexor.pose.ik.limit_angles import turn_joints
from flexor.pose.layout import ROWS, Layout
from flexor.scene.character.tree import top_down
from flexor.scene.scene import Scene

__all__ = ["JointPoses", "joined_poses", "plan_poses", "random_poses"]

LEAST = np.radians(20)  # a joint that turns less needs no trying
BEND, TWIST = np.radians(150), np.radians(170)  # nor does any need more than this
PARTS = (0.6, 1.0)  # of the way at which it is tried
# Where nothing tells: how far joints bend and twist, with clips at least so far.
GUESS, LEAST_SEEN = np.radians([75, 45]), np.radians([40, 25])
FURTHER = 1.25  # times what clips show
RANDOM = 16  # poses of everything at once, for files without clips
SHARE = 0.6  # of the way that joints of these turn at most


@dataclass(frozen=True, slots=True, eq=False)
class JointPoses:
    """N poses, in each of which one joint of a body is turned from the rest.

    rows: int32 (N,), the joint's; turns: float64 (N, 4), xyzw, in the axes of the
    joint's node; axes: int32 (N,), 0 for a twist about the bone, 1 and 2 for bends;
    angles: float64 (N,), radians.
    """

    rows: Ints
    turns: Doubles
    axes: Ints
    angles: Doubles

    def __len__(self) -> int:
        return len(self.rows)

    def local(self, layout: Layout, body: Body, part: slice) -> Floats:
        """Local transforms (N, 10 * L) of some of the poses; links do not follow."""
        rows = self.rows[part]
        local = np.tile(layout.rest, (len(rows), 1))
        lanes = local.reshape(-1, ROWS, layout.lane_count)
        nodes = body.joints[rows]
        rest = layout.skeleton.rotations[nodes].astype(np.float64)
        turned = quaternions.multiply(rest, self.turns[part])
        lanes[np.arange(len(rows)), 3:7, layout.lane_of_node[nodes]] = turned
        return local


def plan_poses(facts: SceneFacts, body: Body, bones: Bones, rows: Ints) -> JointPoses:
    """The poses in which some joints (rows of a body) are tried."""
    limits = facts.limits
    seen = _seen(facts)
    frames = _bone_frames(facts.scene, body, bones)
    found: list[tuple[int, Doubles, int, float]] = []
    for row in rows.tolist():
        node = int(body.joints[row])
        is_limited = bool(limits.limited[node])
        if is_limited:
            frame = limits.frames[node].astype(np.float64)
            ranges = [
                (limits.low[node, 2 - axis], limits.high[node, 2 - axis])
                for axis in range(3)
            ]
        else:
            frame = frames[row]
            bend, twist = GUESS if seen is None else _reach(seen[node])
            ranges = [(-twist, twist), (-bend, bend), (-bend, bend)]
        for axis, ends in enumerate(ranges):
            for angle in _angles(ends, TWIST if axis == 0 else BEND):
                found.append((row, _turn(frame, axis, angle), axis, angle))
    rows_, turns, axes, angles = zip(*found, strict=True) if found else ((),) * 4
    return JointPoses(
        np.array(rows_, np.int32),
        np.array(turns, np.float64).reshape(-1, 4),
        np.array(axes, np.int32),
        np.array(angles, np.float64),
    )


def random_poses(facts: SceneFacts, seed: int = 0) -> Floats:
    """Local transforms (16, 10 * L) of all nodes turned at random within their limits.

    For scenes without clips. Nodes that no skin hangs on, and those with nothing above
    them, stay as they are.
    """
    layout, skeleton = facts.layout, facts.scene.skeleton
    limits = facts.limits
    low = np.where(limits.limited[:, None], limits.low, -GUESS[0])
    high = np.where(limits.limited[:, None], limits.high, GUESS[0])
    # A generator for each node: links, which come last, change nothing for the others.
    draws = [np.random.default_rng([seed, node]) for node in range(len(skeleton))]
    parts = np.stack([draw.uniform(-1, 1, (RANDOM, 3)) for draw in draws], 1)
    angles = SHARE * np.where(parts < 0, -parts * low, parts * high)
    rotations = turn_joints(limits, skeleton, angles)
    joints = [own.body.joints for own in facts.bodies]
    moving = np.unique(np.concatenate([np.zeros(0, np.int32), *joints]))
    moving = moving[skeleton.parents[moving] >= 0]
    local = np.tile(layout.rest, (RANDOM, 1))
    lanes = local.reshape(RANDOM, ROWS, layout.lane_count)
    turned = rotations[:, moving].transpose(0, 2, 1)
    lanes[:, 3:7, layout.lane_of_node[moving]] = turned
    return local


def _seen(facts: SceneFacts) -> Doubles | None:
    """The largest angle (J,) by which clips turn each node from its rest."""
    poses, layout = facts.poses, facts.layout
    if not len(poses):
        return None
    lanes = poses.reshape(len(poses), ROWS, layout.lane_count)
    turned = lanes[:, 3:7, layout.lane_of_node].transpose(0, 2, 1).astype(np.float64)
    rest = layout.skeleton.rotations.astype(np.float64)
    dots = np.abs((turned * rest).sum(2))
    angles: Doubles = 2 * np.arccos(np.clip(dots.min(0), 0, 1))
    return angles


def _reach(angle: float) -> tuple[float, float]:
    """How far a joint bends and twists that clips turn so far."""
    bend = float(np.clip(FURTHER * angle, LEAST_SEEN[0], np.radians(120)))
    return bend, float(np.clip(FURTHER * angle, LEAST_SEEN[1], np.radians(90)))


def _angles(ends: tuple[float, float], most: float) -> list[float]:
    """The angles at which a joint with this range is tried."""
    return [
        part * sign * min(abs(float(end)), most)
        for sign, end in zip((-1, 1), ends, strict=True)
        for part in PARTS
        if abs(end) >= LEAST
    ]


def _turn(frame: Doubles, axis: int, angle: float) -> Doubles:
    """A turn about an axis of a bone's frame, in the axes of its node."""
    return quaternions.about(quaternions.to_matrix(frame)[:, axis], angle)


def _bone_frames(scene: Scene, body: Body, bones: Bones) -> Doubles:
    """The axes of bones in those of their nodes: (S, 4)."""
    flat = np.abs(np.linalg.det(body.frames[:, :, :3])) <= 1e-18
    own = np.where(flat[:, None, None], np.eye(3), body.frames[:, :, :3])
    turned = np.linalg.solve(own, bones.frames[:, :, :3])
    # A node is scaled before it is turned.
    scales = scene.skeleton.scales[body.joints].astype(np.float64)
    turned = turned * scales[:, :, None]
    turned /= np.maximum(np.linalg.norm(turned, axis=1, keepdims=True), 1e-30)
    return quaternions.from_matrix(turned)


def joined_poses(layout: Layout, body: Body, poses: JointPoses) -> Floats:
    """Fewer poses in which many joints are turned at once: (N, 10 * L).

    What a joint does to the skin is seen around it, so joints that are not next to each
    other share a pose: those at even depths of the tree, then those at odd ones.
    """
    depths = np.zeros(len(body.parents), np.int64)
    for row in top_down(body.parents).tolist():
        if body.parents[row] >= 0:
            depths[row] = depths[body.parents[row]] + 1
    order = np.argsort(poses.rows, kind="stable")
    starts = np.searchsorted(poses.rows[order], poses.rows[order])
    turn_of = np.empty(len(order), np.int64)
    turn_of[order] = np.arange(len(order)) - starts  # which of its joint's trials it is
    most = int(turn_of.max(initial=-1)) + 1
    local = np.tile(layout.rest, (2 * most, 1))
    lanes = local.reshape(-1, ROWS, layout.lane_count)
    nodes = body.joints[poses.rows]
    rest = layout.skeleton.rotations[nodes].astype(np.float64)
    turned = quaternions.multiply(rest, poses.turns)
    into = 2 * turn_of + depths[poses.rows] % 2
    lanes[into, 3:7, layout.lane_of_node[nodes]] = turned
    return local
