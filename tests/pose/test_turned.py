"""Joints turned from their rest."""

from __future__ import annotations

import numpy as np

from flexor.maths import quaternions
from flexor.pose.layout import ROWS, make_layout
from flexor.pose.turned import turn_from_rest
from tests.scenes import random_scene


def test_one_joint_turns_about_its_own_axes_and_no_other_moves(
    rng: np.random.Generator,
) -> None:
    layout = make_layout(random_scene(rng))
    node = 2
    turns = quaternions.about(np.eye(3), [0.3, -1.2, 3.0])
    local = np.tile(layout.rest, (3, 1))
    turn_from_rest(layout, local, node, turns)
    rows = local.reshape(3, ROWS, -1)
    lane = layout.lane_of_node[node]
    expected = np.tile(layout.rest, (3, 1)).reshape(3, ROWS, -1)
    rest = layout.skeleton.rotations[node].astype(np.float64)
    expected[:, 3:7, lane] = [quaternions.multiply(rest, turn) for turn in turns]
    np.testing.assert_array_equal(rows, expected)
    assert np.abs(rows[:, 3:7, lane] - rest).max(1).min() > 0.01
    # The turn comes before the rest: a point of the axis stays where it was.
    still = quaternions.to_matrix(quaternions.normalise(rest))
    for row in range(3):
        unit = quaternions.normalise(rows[row, 3:7, lane].astype(np.float64))
        matrices = quaternions.to_matrix(unit)
        np.testing.assert_allclose(matrices[:, row], still[:, row], atol=1e-6)


def test_a_single_pose_may_be_a_plain_row(rng: np.random.Generator) -> None:
    layout = make_layout(random_scene(rng))
    turn = quaternions.about([0, 1, 0], 0.5)
    one, many = layout.rest.copy(), layout.rest[None].copy()
    turn_from_rest(layout, one, 1, turn)
    turn_from_rest(layout, many, 1, turn[None])
    np.testing.assert_array_equal(one, many[0])
