"""Angles of poses against the definition of limits, written out with matrices."""

from __future__ import annotations

import numpy as np
import pytest

from flexor.errors import ShapeError
from flexor.maths import quaternions
from flexor.pose.ik.limit_angles import (
    clamp_pose,
    measure_angles,
    measure_excess,
    turn_joints,
)
from flexor.scene.character.limits import Limits, free_limits
from flexor.scene.character.skeleton import Skeleton
from tests.scenes import random_rotations, random_skeleton

COUNT = 6


def random_limits(rng: np.random.Generator, count: int = COUNT) -> Limits:
    most = np.array([3.0, 1.5, 3.0])
    low = -rng.uniform(0.1, 1, (count, 3)) * most
    high = rng.uniform(0.1, 1, (count, 3)) * most
    low[0], high[0] = -np.array([np.pi, np.pi / 2, np.pi]), [np.pi, np.pi / 2, np.pi]
    return Limits(random_rotations(rng, count), low, high, np.full(count, 5.0))


def random_angles(rng: np.random.Generator, *shape: int) -> np.ndarray:
    return rng.uniform(-1, 1, (*shape, 3)) * [3.1, 1.5, 3.1]


def about(axis: int, angle: float) -> np.ndarray:
    one, two = (axis + 1) % 3, (axis + 2) % 3
    matrix = np.eye(3)
    matrix[one, one] = matrix[two, two] = np.cos(angle)
    matrix[two, one] = np.sin(angle)
    matrix[one, two] = -np.sin(angle)
    return matrix


def test_turns_are_as_defined(rng: np.random.Generator) -> None:
    skeleton, limits = random_skeleton(rng, COUNT), random_limits(rng)
    angles = random_angles(rng, COUNT)
    made = quaternions.to_matrix(turn_joints(limits, skeleton, angles))
    for node in range(COUNT):
        rest = quaternions.to_matrix(skeleton.rotations[node].astype(float))
        frame = quaternions.to_matrix(limits.frames[node].astype(float))
        a, b, c = angles[node]
        turn = about(2, a) @ about(1, b) @ about(0, c)
        np.testing.assert_allclose(made[node], rest @ frame @ turn @ frame.T, atol=1e-6)


def test_angles_come_back(rng: np.random.Generator) -> None:
    skeleton, limits = random_skeleton(rng, COUNT), random_limits(rng)
    angles = random_angles(rng, 7, COUNT)
    rotations = turn_joints(limits, skeleton, angles)
    found = measure_angles(limits, skeleton, rotations)
    np.testing.assert_allclose(found, angles, atol=1e-5)
    rest = np.zeros((COUNT, 3))
    found = measure_angles(limits, skeleton, skeleton.rotations)
    np.testing.assert_allclose(found, rest, atol=1e-6)


def test_clamped_poses_are_inside(rng: np.random.Generator) -> None:
    skeleton, limits = random_skeleton(rng, COUNT), random_limits(rng)
    rotations = turn_joints(limits, skeleton, random_angles(rng, 50, COUNT))
    assert measure_excess(limits, skeleton, rotations).max() > 0.5
    clamped = clamp_pose(limits, skeleton, rotations)
    assert measure_excess(limits, skeleton, clamped).max() < 1e-6
    was_in = measure_excess(limits, skeleton, rotations).max(axis=-1) == 0
    assert was_in[:, 0].all()  # the first is free
    np.testing.assert_array_equal(clamped[was_in], rotations[was_in])
    angles = measure_angles(limits, skeleton, clamped)
    assert (angles >= limits.low - 1e-6).all()
    assert (angles <= limits.high + 1e-6).all()


def test_excess_goes_the_shorter_way(rng: np.random.Generator) -> None:
    skeleton = random_skeleton(rng, 1)
    low, high = np.radians([[-170, -10, -10.0]]), np.radians([[100, 10, 10.0]])
    frames = random_rotations(rng, 1)
    limits = Limits(frames, low, high, np.full(1, np.inf))
    rotations = turn_joints(limits, skeleton, np.radians([[175, 0, 12.0]]))
    found = np.degrees(measure_excess(limits, skeleton, rotations))
    np.testing.assert_allclose(found, [[15, 0, 2]], atol=1e-4)


def test_wrong_shapes_are_refused(rng: np.random.Generator) -> None:
    skeleton, limits = random_skeleton(rng, COUNT), random_limits(rng)
    with pytest.raises(ShapeError, match="rotations: shape"):
        measure_angles(limits, skeleton, np.zeros((COUNT, 3)))
    with pytest.raises(ShapeError, match="the skeleton has 6"):
        measure_excess(free_limits(5), skeleton, np.zeros((COUNT, 4)))
    with pytest.raises(ShapeError, match="angles: shape"):
        turn_joints(limits, skeleton, np.zeros((COUNT, 4)))


def test_no_joints() -> None:
    none = np.zeros((0, 3))
    skeleton = Skeleton((), np.zeros(0), none, np.zeros((0, 4)), none)
    found = measure_angles(free_limits(0), skeleton, np.zeros((3, 0, 4)))
    assert found.shape == (3, 0, 3)
