"""The axes of bones in those of their nodes, from directions of model space at rest."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from flexor.arrays import Doubles
from flexor.maths import exact, quaternions
from flexor.scene.character.skeleton import Skeleton, rest_world

__all__ = ["bone_frame", "node_axes", "square", "usual_along"]

SHORT = 1e-6  # of a skeleton's size: nodes nearer to each other stand in one place


def node_axes(skeleton: Skeleton) -> NDArray[np.float64]:
    """model_from_node (J, 3, 3) at rest, without what a node's own scale does.

    A bone is scaled before it is turned, so these are the axes in which it turns.
    """
    axes: NDArray[np.float64] = rest_world(skeleton)[:, :, :3]
    scales = np.where(skeleton.scales == 0, 1, skeleton.scales).astype(np.float64)
    for node in np.nonzero((skeleton.scales == 0).any(axis=1))[0]:
        turn = quaternions.to_matrix(skeleton.rotations[node].astype(np.float64))
        parent = skeleton.parents[node]
        above = rest_world(skeleton)[parent, :, :3] if parent >= 0 else np.eye(3)
        axes[node], scales[node] = exact.multiply(above, turn), 1
    return axes / scales[:, None, :]


def bone_frame(axes: NDArray[np.float64], along: Doubles, toward: Doubles) -> Doubles:
    """joint_from_bone (4,): X along a bone, Z such that it turns `toward` another way.

    axes: (3, 3), model_from_node, not flat; along, toward: (3,), of model space.
    """
    back = exact.invert(axes).astype(np.float64)
    unit = along / float(exact.norm(along))
    x_axis: Doubles = exact.multiply(back, unit)
    x_axis /= exact.norm(x_axis)
    y_axis = square(exact.multiply(back, square(toward, unit)), x_axis)
    frame = np.stack([x_axis, y_axis, np.cross(x_axis, y_axis)], axis=1)
    made: Doubles = quaternions.from_matrix(frame)
    return made


def square(vector: Doubles, axis: Doubles) -> Doubles:
    """The part of a vector across a unit axis, of unit length; any, if it has none."""
    across: Doubles = vector
    for one in (vector, *np.eye(3)):
        across = one - exact.multiply(one, axis) * axis
        length = float(exact.norm(across))
        if length > 1e-3 * float(exact.norm(one)):
            across = across / length
            break
    return across  # three axes cannot all lie along one


def usual_along(skeleton: Skeleton, node: int, places: NDArray[np.float64]) -> Doubles:
    """Where a bone points that nothing else is said about, a unit vector (3,).

    To the child that goes on longest; from its parent on, where it has none that stands
    elsewhere; up, where it has no parent either. places: (J, 3), of nodes at rest.
    """
    size = float(exact.norm(np.ptp(places, axis=0))) if len(places) else 0.0
    below = np.zeros(len(skeleton), np.int64)
    for one in skeleton.order[::-1]:
        parent = skeleton.parents[one]
        if parent >= 0:
            below[parent] = max(below[parent], below[one] + 1)
    children = sorted(skeleton.children(node), key=lambda one: (-below[one], one))
    parent = int(skeleton.parents[node])
    ways = [places[child] - places[node] for child in children]
    ways += [places[node] - places[parent]] if parent >= 0 else []
    for way in ways:
        length = float(exact.norm(way))
        if length > SHORT * size:
            unit: Doubles = way / length
            return unit
    return np.array([0.0, 1, 0])
