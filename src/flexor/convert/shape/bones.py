"""Bones of joints: joints are places; a bone has a way and a length."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from flexor.arrays import Ints
from flexor.convert.shape.body import Body, Pull
from flexor.maths import exact
from flexor.scene.character.tree import descendants, top_down

__all__ = ["Bones", "derive_bones", "descendants", "ties"]

ARC = np.radians(4)  # children no further apart than this go on as straight
REACH = 0.95  # of the vertices of a leaf lie before its tip


@dataclass(frozen=True, slots=True, eq=False)
class Bones:
    """A bone for each of a body's S joints, from its base along its own X axis.

    frames: float64 (S, 3, 4), mesh_from_bone, turned and moved but not scaled; lengths:
    float64 (S,), metres, 0 where a bone has none; tips: int32 (S,), the joint that
    continues the chain, or -1 for a leaf. The joints' own frames are in the body.
    """

    frames: NDArray[np.float64]
    lengths: NDArray[np.float64]
    tips: Ints

    @property
    def bases(self) -> NDArray[np.float64]:
        """Where each bone begins, (S, 3)."""
        return self.frames[:, :, 3]

    @property
    def axes(self) -> NDArray[np.float64]:
        """The way each bone runs, (S, 3), of unit length."""
        return self.frames[:, :, 0]

    def local(self, bone: int, points: NDArray[np.floating]) -> NDArray[np.float64]:
        """Points (P, 3) of mesh space in the frame of a bone."""
        frame = self.frames[bone]
        turned: NDArray[np.float64] = exact.multiply(points - frame[:, 3], frame[:, :3])
        return turned


def derive_bones(
    body: Body, positions: NDArray[np.floating], pull: Pull | None
) -> Bones:
    """The bones of a body.

    A bone's tip is the child that continues the chain. A leaf points at what hangs on
    it, else as its parent does, and then has no length; positions: (R, 3), pull: of
    those R, or None where it is not known.
    """
    bases = body.frames[:, :, 3]
    count = len(bases)
    near = 1e-4 * body.size
    sizes = descendants(body.parents)
    axes, lengths = np.zeros((count, 3)), np.zeros(count)
    frames = np.zeros((count, 3, 4))
    tips = np.full(count, -1, np.int32)
    hanging = {} if pull is None else _leaf_ways(body, positions, pull)
    for bone in top_down(body.parents).tolist():
        above = int(body.parents[bone])
        came = np.zeros(3) if above < 0 else _unit(bases[bone] - bases[above], near)
        children = np.flatnonzero(body.parents == bone)
        tip = _continues(bases, bone, children, came, sizes, near)
        if tip >= 0:
            axes[bone] = _unit(bases[tip] - bases[bone], near)
            lengths[bone] = exact.norm(bases[tip] - bases[bone])
        elif bone in hanging:
            axes[bone], lengths[bone] = hanging[bone]
        if not axes[bone].any():
            if above >= 0 and axes[above].any():
                axes[bone] = axes[above]
            else:
                axes[bone] = came if came.any() else [0, 1, 0]
        tips[bone] = tip
        sides = np.eye(3) if above < 0 else frames[above, :, :3]
        frames[bone, :, :3] = _carry(sides, axes[bone])
        frames[bone, :, 3] = bases[bone]
    return Bones(frames, lengths, tips)


def ties(pull: Pull, joint_count: int) -> list[NDArray[np.intp]]:
    """For each joint the rows that it pulls, in rising order."""
    rows, columns = np.nonzero(pull.weights > 0)
    names = pull.joints[rows, columns]
    order = np.argsort(names, kind="stable")
    ends = np.cumsum(np.bincount(names, minlength=joint_count))
    return np.split(rows[order], ends[:-1]) if joint_count else []


def _continues(
    bases: NDArray[np.float64],
    bone: int,
    children: NDArray[np.intp],
    came: NDArray[np.float64],
    sizes: NDArray[np.int64],
    near: float,
) -> int:
    """The child that goes on in the way the chain came, or -1.

    Of those that go on about as straight (a roll bone halfway, say), and of the
    children of a root, the one with the most joints below it; then the furthest.
    """
    ways = bases[children] - bases[bone]
    reach = np.linalg.norm(ways, axis=1)
    there = np.flatnonzero(reach > near)
    if not len(there):
        return -1
    if came.any():
        straight = exact.multiply(ways[there] / reach[there, None], came)
        angles = exact.acos_each(np.clip(straight, -1, 1))
        there = there[angles <= angles.min() + ARC]
    best = max(there, key=lambda i: (sizes[children[i]], reach[i], -i))
    return int(children[best])


def _leaf_ways(
    body: Body, positions: NDArray[np.floating], pull: Pull
) -> dict[int, tuple[NDArray[np.float64], float]]:
    """Way and length of each leaf that something hangs on, by what hangs on it."""
    near = 1e-4 * body.size
    leaves = np.setdiff1d(np.arange(len(body.parents)), body.parents)
    tied = ties(pull, len(body.parents))
    ways = {}
    for leaf in leaves.tolist():
        rows = tied[leaf]
        weights = np.where(pull.joints[rows] == leaf, pull.weights[rows], 0).sum(1)
        rows, weights = rows[weights > 0.3], weights[weights > 0.3]
        if not len(rows):
            continue
        across = positions[rows] - body.frames[leaf, :, 3]
        middle = np.average(across, axis=0, weights=weights)
        way = _unit(middle, near)
        if way.any():
            ways[leaf] = (
                way,
                max(float(np.quantile(exact.multiply(across, way), REACH)), 0.0),
            )
    return ways


def _unit(vector: NDArray[np.float64], least: float) -> NDArray[np.float64]:
    """The vector at length 1; zero where it is not longer than `least`."""
    length = exact.norm(vector)
    return vector / length if length > least else np.zeros(3)


def _carry(
    sides: NDArray[np.float64], axis: NDArray[np.float64]
) -> NDArray[np.float64]:
    """Columns X Y Z with X along `axis`, the others turned as little as can be.

    sides: (3, 3), the frame above, whose Y and Z are carried over.
    """
    best = int(np.argmin(np.abs(exact.multiply(axis, sides[:, 1:])))) + 1
    across = sides[:, best] - axis * exact.multiply(axis, sides[:, best])
    across /= exact.norm(across)
    if best == 1:
        return np.stack([axis, across, _cross(axis, across)], 1)
    return np.stack([axis, _cross(across, axis), across], 1)


def _cross(a: NDArray[np.float64], b: NDArray[np.float64]) -> NDArray[np.float64]:
    # NumPy's own takes ten times as long for two vectors.
    return np.array(
        [
            a[1] * b[2] - a[2] * b[1],
            a[2] * b[0] - a[0] * b[2],
            a[0] * b[1] - a[1] * b[0],
        ]
    )
