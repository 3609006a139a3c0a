"""Chains and trees of bones laid out for inverse kinematics."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from flexor.errors import FlexorError
from flexor.maths import quaternions
from flexor.pose.ik.ccd import CcdSettings, init_ccd, solve_ccd
from flexor.pose.ik.kernels import descent as kernel
from flexor.pose.ik.reach import (
    Effector,
    as_floats,
    as_turns,
    as_weights,
    bend_axis,
    bone_kinds,
    find_node,
    make_reach,
)
from flexor.scene.character import tree as walks
from tests.pose.ik.chains import (
    angles_between,
    box_limits,
    chain,
    posed,
    rotations_of,
    tree,
)
from tests.scenes import random_rotations

# A spine of two, on it two arms of two bones and a neck: hands b4, b7 and a head b9.
PARENTS = [-1, 0, 1, 2, 3, 1, 5, 6, 1, 8]
PLACES = np.array(
    [
        [0, 0, 0],
        [0, 0.4, 0],
        [0.1, 0.2, 0],
        [0.3, 0, 0.05],
        [0.3, 0, 0],
        [-0.1, 0.2, 0],
        [-0.3, 0, 0.05],
        [-0.3, 0, 0],
        [0, 0.3, 0],
        [0, 0.1, 0],
    ]
)
BODY = tree(PARENTS, PLACES)


def test_bones_come_before_what_hangs_on_them_with_the_points_they_move() -> None:
    """Effectors in any order; points go by the place of their bone in the tree."""
    ends = [Effector("b9", "b1"), Effector("b7", "b5", turn=0.5), Effector("b4", "b0")]
    reach = make_reach(BODY, ends)
    nodes = reach.nodes.tolist()
    assert sorted(nodes) == [0, 1, 2, 3, 5, 6, 7, 8]
    assert reach.base == -1
    assert not reach.is_chain
    points = reach.effector_table[:, :2].tolist()  # first point, count
    assert [count for _, count in points] == [1, 3, 1]
    assert sorted(k for at, n in points for k in range(at, at + n)) == list(range(5))
    for row, node in enumerate(nodes):
        lane, up, first, last, _ = reach.bones[row].tolist()
        assert lane == BODY.lane_of_node[node]
        assert up == (nodes.index(PARENTS[node]) if PARENTS[node] >= 0 else -1)
        assert up < row
        moved = {
            k
            for (one, count), end in zip(points, (9, 7, 4), strict=True)
            for k in range(one, one + count)
            # The node itself turns where its orientation counts.
            if walks.chain(BODY.skeleton.parents, node, end)
        }
        assert moved == set(range(first, last))
    np.testing.assert_array_equal(reach.effector_table[:, 2], [9, 7, 4])


def test_what_only_joins_chains_is_not_willing() -> None:
    ends = [Effector("b4", "b2"), Effector("b7", "b5")]
    reach = make_reach(BODY, ends, willing={"b6": 0.25})
    weights = dict(zip(reach.nodes.tolist(), reach.table[:, 0].tolist(), strict=True))
    assert weights == {1: 0, 2: 1, 3: 1, 5: 1, 6: 0.25}
    assert reach.base == 0


@pytest.mark.parametrize("scale", [0.01, 1.0, 20.0])
def test_points_beside_an_effector_tell_how_it_turns(scale: float) -> None:
    """A quarter of the chain away, on its axes X and Y, in its own units."""
    scales = np.ones((4, 3))
    scales[0] = scale
    places = np.array([[0, 0, 0], [0, 0, 0], [0.5, 0, 0], [0, 0.3, 0]]) / scale
    layout = tree(range(-1, 3), places, None, scales)
    offset = np.array([0.1, 0.2, 0.3]) / scale
    effector = Effector("b3", "b1", tuple(offset.tolist()), weight=2.0, turn=0.3)
    points = make_reach(layout, [effector]).points
    np.testing.assert_allclose(points[0], [*offset, 2], rtol=1e-6)
    beside = (points[1:, :3] - offset) * scale
    np.testing.assert_allclose(beside, 0.25 * 0.8 * np.eye(3)[:2], atol=1e-6)
    np.testing.assert_allclose(points[1:, 3], 0.6)


def test_an_orientation_and_an_offset_together() -> None:
    rng = np.random.default_rng(1)
    layout = chain([0.3, 0.3, 0.2])
    offset = (0.05, 0.1, -0.05)
    reach = make_reach(layout, [Effector("b3", "b0", offset, turn=1.0)])
    _, goal = posed(layout, random_rotations(rng, 20, 4))
    frames = goal.matrices[:, 3].astype(np.float64)
    targets, turns = frames @ [*offset, 1], quaternions.from_matrix(frames[:, :, :3])
    local, world = posed(layout, np.tile([0, 0, 0, 1.0], (20, 4, 1)))
    state = init_ccd(reach, 20)
    solve_ccd(
        state, local, world, targets[:, None], CcdSettings(100), turns=turns[:, None]
    )
    _, world = posed(layout, rotations_of(layout, local))
    now = world.matrices[:, 3].astype(np.float64)
    off = np.linalg.norm(now @ [*offset, 1] - targets, axis=1)
    np.testing.assert_allclose(off, state.off[:, 0], atol=1e-5)
    apart = angles_between(quaternions.from_matrix(now[:, :, :3]), turns)
    assert ((off < 1.1e-3) & (apart < np.radians(1))).mean() > 0.9


def test_joints_with_little_play_about_two_axes_are_hinges() -> None:
    low = np.radians([[-90, -3, -3], [-90, -3, -9], [-90, -9, -3], [-180, -90, -180]])
    limits = box_limits(4, (0, 0, 0), (0, 0, 0))
    limits = type(limits)(limits.frames, low, -low, limits.rates)
    kinds = [kernel.HINGE, kernel.LIMITED, kernel.LIMITED, kernel.FREE]
    np.testing.assert_array_equal(bone_kinds(range(4), limits), kinds)
    np.testing.assert_array_equal(bone_kinds(range(4), None), [kernel.FREE] * 4)
    layout = chain([0.3] * 3)
    reach = make_reach(layout, [Effector("b3", "b0")], limits=limits)
    np.testing.assert_array_equal(reach.bones[:, 4], kinds[:3])


@pytest.mark.parametrize(
    ("named", "wanted"),
    [
        ({}, True),
        ({"willing": {"b1": 0.1}}, True),
        ({"willing": {"b1": 0.0}}, True),
        ({"willing": {"b0": 0.0}}, False),
        ({"limits": box_limits(4, (-180, -90, -180), (180, 90, 180))}, True),
        ({"limits": box_limits(4, (-170, -90, -180), (180, 90, 180))}, False),
    ],
)
def test_what_is_one_free_chain(named: Any, wanted: bool) -> None:
    layout = chain([0.3] * 3)
    assert make_reach(layout, [Effector("b3", "b0")], **named).is_chain == wanted
    assert not make_reach(layout, [Effector("b3", "b0", turn=1.0)], **named).is_chain


def test_an_unwilling_bone_does_not_turn() -> None:
    rng = np.random.default_rng(2)
    layout = chain([0.3, 0.2, 0.3, 0.2])
    reach = make_reach(layout, [Effector("b4", "b0")], willing={"b1": 0.0})
    start = random_rotations(rng, 10, 4)
    for far in (0.5, 3.0):
        targets = rng.normal(size=(10, 1, 3))
        targets *= far / np.linalg.norm(targets, axis=2, keepdims=True)
        local, world = posed(layout, start)
        state = init_ccd(reach, 10)
        solve_ccd(state, local, world, targets, CcdSettings(60))
        assert angles_between(rotations_of(layout, local)[:, 1], start[:, 1]).max() < (
            1e-6
        )
        assert far > 1 or state.off.max() < 1e-3


def test_free_bones_bend_across_the_chain_as_it_is_at_rest() -> None:
    """Axes in the frames of their parents, below turned and scaled nodes too."""
    rng = np.random.default_rng(3)
    rest = random_rotations(rng, 4)
    scales = np.ones((4, 3))
    scales[0] = 3.0
    frame, places = np.eye(3), []
    for step, turn in zip(np.eye(4, 3) * 0.3, rest, strict=True):
        places.append(frame.T @ step)
        frame = frame @ quaternions.to_matrix(turn)
    layout = tree(range(-1, 3), places, rest, scales)
    reach = make_reach(layout, [Effector("b3", "b0")])
    _, world = posed(layout, rest[None])
    frames = np.concatenate([np.eye(3)[None], world.matrices[0, :2, :, :3] / 3])
    axes = np.einsum("bij,bj->bi", frames, reach.table[:, kernel.AXIS :][:, :3])
    wanted = bend_axis(world.matrices[0, :3, :, 3].astype(np.float64))
    np.testing.assert_allclose(axes, np.tile(wanted, (3, 1)), atol=1e-5)
    # Limited ones about Z of their own frames, in those of their parents.
    bones = random_rotations(rng, 4)
    limits = box_limits(4, (-50, -40, -30), (50, 40, 30), frames=bones)
    reach = make_reach(layout, [Effector("b3", "b0")], limits=limits)
    turned = quaternions.to_matrix(quaternions.multiply(rest, bones))[:3, :, 2]
    np.testing.assert_allclose(reach.table[:, kernel.AXIS :][:, :3], turned, atol=1e-6)


def test_the_axis_that_a_chain_bends_about() -> None:
    plane = np.array([[0, 0, 0], [1, 0, 0], [1, 1, 0], [0.5, 2, 0]])
    np.testing.assert_allclose(bend_axis(plane), [0, 0, 1])
    np.testing.assert_allclose(bend_axis(plane * [1, -1, 1]), [0, 0, -1])
    for line in ((1, 0, 0), (0, 2, 0), (0, 0, 3), (1, 2, -1.5)):
        axis = bend_axis(np.outer([0, 1, 3], line))
        assert abs(np.linalg.norm(axis) - 1) < 1e-12
        assert abs(axis @ line) < 1e-12
        # A bend that is only rounding counts for nothing.
        shaken = np.outer([0.0, 1, 3], line)
        shaken[1] += [1e-9, 1e-9, -2e-9]
        np.testing.assert_allclose(bend_axis(shaken), axis, atol=1e-6)
    np.testing.assert_allclose(np.linalg.norm(bend_axis(np.zeros((3, 3)))), 1)


def test_the_middle_of_a_limb() -> None:
    """Of the bones that move one effector alone, the one nearest to half its way."""
    layout = chain([0.1, 0.5, 0.2, 0.2])
    reach = make_reach(layout, [Effector("b4", "b0")])
    assert reach.nodes[reach.effector_table[0, 3:]].tolist() == [0, 2]
    layout = chain([0.1, 0.1, 0.1, 0.9])
    reach = make_reach(layout, [Effector("b4", "b0")])
    assert reach.nodes[reach.effector_table[0, 3:]].tolist() == [0, 3]
    reach = make_reach(BODY, [Effector("b4", "b0"), Effector("b7", "b0")])
    middles = reach.nodes[reach.effector_table[:, 3:]]
    np.testing.assert_array_equal(middles, [[2, 3], [5, 6]])
    reach = make_reach(BODY, [Effector("b9", "b1"), Effector("b4", "b1")])
    np.testing.assert_array_equal(reach.effector_table[0, 3:], [-1, -1])  # one bone


def test_nodes_by_name_and_row() -> None:
    assert find_node(BODY.skeleton, "b3") == find_node(BODY.skeleton, 3) == 3
    assert find_node(BODY.skeleton, np.int64(3)) == 3  # type: ignore[arg-type]
    for wrong in (-1, 10):
        with pytest.raises(FlexorError, match=r"must lie in 0\.\.9"):
            find_node(BODY.skeleton, wrong)


def test_what_cannot_be_laid_out_is_refused() -> None:
    two = tree([-1, 0, -1, 2], np.ones((4, 3)))
    for layout, ends, words in (
        (two, [Effector("b1", "b0"), Effector("b3", "b2")], "different roots"),
        (BODY, [Effector("b4", "b0", turn=-1.0)], "turn not below"),
        (BODY, [Effector("b4", "b0", offset=(1, 2))], "effector 'b4'"),  # type: ignore[arg-type]
        (BODY, [Effector("b4", "b0", turn=np.inf)], "finite"),
    ):
        with pytest.raises(FlexorError, match=words):
            make_reach(layout, ends)


def test_numbers_are_spread_and_checked() -> None:
    spread = as_floats((1, 2, 3), (4, 2, 3), "targets")
    assert spread.dtype == np.float32
    assert spread.flags.c_contiguous
    np.testing.assert_array_equal(spread[3, 1], [1, 2, 3])
    given = np.ones((2, 3), np.float32)
    assert as_floats(given, (2, 3), "targets") is given
    assert as_weights([0, 1], (2,)).tolist() == [0, 1]
    assert as_weights(np.zeros(0), (0,)).shape == (0,)
    for wrong in (-0.01, 1.01):
        with pytest.raises(FlexorError, match=r"0\.\.1"):
            as_weights(wrong, (2,))
    # A little off, they are put right; far off, they are no rotations.
    turns = as_turns([0, 0, 0.6 * 1.005, 0.8 * 1.005], (2,), "turns")
    np.testing.assert_allclose(np.linalg.norm(turns, axis=1), 1, atol=1e-6)
    for size in (0.98, 1.02):
        with pytest.raises(FlexorError, match="unit quaternions"):
            as_turns([0, 0, 0, size], (2,), "turns")
