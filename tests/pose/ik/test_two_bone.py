"""Limbs of two bones: closed form."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from flexor.errors import FlexorError
from flexor.maths import quaternions
from flexor.pose.ik.kernels import two_bone as kernel_two_bone
from flexor.pose.ik.kernels.turns import pole_turn
from flexor.pose.ik.two_bone import Limb, init_two_bone, solve_two_bone
from flexor.pose.model_space import init_world, world_from_local
from tests.pose.ik.chains import (
    angles_between,
    chain,
    places_of,
    posed,
    rotations_of,
    tree,
)
from tests.scenes import random_rotations

ARM = Limb("b0", "b1", "b2")


def bent(
    layout: Any, rotations: Any, targets: Any, limb: Limb = ARM, **named: Any
) -> tuple[Any, Any]:
    """Metres out of reach (N,), and local rows, after one solve."""
    local, world = posed(layout, rotations)
    state = init_two_bone(layout, [limb], len(local))
    solve_two_bone(state, local, world, targets, **named)
    return state.off[:, 0].astype(np.float64), local


@settings(max_examples=60)
@given(
    st.integers(0, 2**32 - 1),
    st.sampled_from([(0.5, 0.5), (0.3, 0.7), (0.9, 0.1)]),
    st.floats(0.01, 2.0),
)
def test_the_end_comes_to_the_target_or_points_at_it(
    seed: int, lengths: Any, far: float
) -> None:
    rng = np.random.default_rng(seed)
    layout = chain(lengths)
    targets = rng.normal(size=(5, 3))
    targets *= far / np.linalg.norm(targets, axis=1, keepdims=True)
    start = random_rotations(rng, 5, 2)
    off, local = bent(layout, start, targets[:, None])
    ends = places_of(layout, local)[:, 2]
    np.testing.assert_allclose(np.linalg.norm(ends - targets, axis=1), off, atol=2e-6)
    out = max(0.0, far - sum(lengths), abs(lengths[0] - lengths[1]) - far)
    np.testing.assert_allclose(off, out, atol=2e-6)
    # Straight or folded toward it: on the line to the target.
    ways = ends / np.linalg.norm(ends, axis=1, keepdims=True)
    np.testing.assert_allclose(ways, targets / far, atol=1e-4)
    assert kernel_two_bone.solve_two_bone is not None


@settings(max_examples=60)
@given(st.integers(0, 2**32 - 1))
def test_it_bends_in_the_plane_it_was_bent_in(seed: int) -> None:
    """Without a pole the elbow turns the shortest way: no twist about the line."""
    rng = np.random.default_rng(seed)
    layout = chain((0.5, 0.5))
    start = random_rotations(rng, 1, 2)
    before = places_of(layout, posed(layout, start)[0])[0]
    sine = np.linalg.norm(np.cross(before[1], before[2] - before[1])) / 0.25
    assume(sine > 0.11)  # a straighter one takes to its own axis
    # A target on the line that the end was on: the elbow stays in its plane.
    target = before[2] * rng.uniform(0.3, 1.5)
    _, local = bent(layout, start, target)
    after = places_of(layout, local)[0]
    normal = np.cross(before[1], before[2])
    assert abs(after[1] @ normal) < 1e-5
    side = before[1] - before[2] * (before[1] @ before[2]) / (before[2] @ before[2])
    assert after[1] @ side > -1e-6


@settings(max_examples=60)
@given(st.integers(0, 2**32 - 1), st.booleans())
def test_the_middle_points_to_the_pole(seed: int, is_straight: bool) -> None:
    rng = np.random.default_rng(seed)
    layout = chain((0.6, 0.4))
    start = random_rotations(rng, 1, 2)
    if is_straight:
        start[:, 1] = [0, 0, 0, 1]
    target = rng.normal(size=3)
    target *= rng.uniform(0.3, 0.95) / np.linalg.norm(target)
    pole = rng.normal(size=3)
    flat = pole - target * (pole @ target) / (target @ target)
    for way in (pole, -pole):
        off, local = bent(layout, start, target, poles=way)
        middle = places_of(layout, local)[0, 1]
        side = middle - target * (middle @ target) / (target @ target)
        wanted = flat if way is pole else -flat
        cosine = side @ wanted / (np.linalg.norm(side) * np.linalg.norm(wanted))
        assert off[0] < 1e-6
        assert cosine > 1 - 1e-4 or np.linalg.norm(flat) < 1e-2


@settings(max_examples=60)
@given(st.integers(0, 2**32 - 1), st.floats(0, 1))
def test_a_weighted_solve_turns_by_that_part_of_the_full_one(
    seed: int, weight: float
) -> None:
    rng = np.random.default_rng(seed)
    layout = chain((0.6, 0.4))
    start = random_rotations(rng, 3, 2)
    targets, poles = rng.normal(size=(2, 3, 1, 3)) * 0.5
    _, full = bent(layout, start, targets, poles=poles)
    _, part = bent(layout, start, targets, poles=poles, weights=weight)
    whole = angles_between(rotations_of(layout, full)[:, :2], start)
    turned = angles_between(rotations_of(layout, part)[:, :2], start)
    np.testing.assert_allclose(turned, whole * weight, atol=2e-5)
    if weight == 0:
        np.testing.assert_allclose(turned, 0, atol=1e-6)


def test_a_mirrored_limb_bends_as_its_image() -> None:
    """A limb below a mirror, with goals on the other side."""
    rng = np.random.default_rng(1)
    places = [[0, 0, 0], [0.2, 0, 0], [0.5, 0.05, 0], [0.4, 0, 0]]
    parents = [-1, 0, 1, 2]
    plain = tree(parents, places)
    flip = np.array([-1, 1, 1])
    scales = np.ones((4, 3))
    scales[0] = flip
    mirror = tree(parents, places, None, scales)
    limb = Limb("b1", "b2", "b3")
    start = random_rotations(rng, 20, 4)
    start[:, 0] = [0, 0, 0, 1]
    targets, poles = rng.normal(size=(20, 1, 3)) * 0.5, rng.normal(size=(20, 1, 3))
    _, one = bent(plain, start, targets, limb, poles=poles)
    _, other = bent(mirror, start, targets * flip, limb, poles=poles * flip)
    image = places_of(mirror, other) * flip
    np.testing.assert_allclose(places_of(plain, one), image, atol=2e-5)


def test_the_end_can_keep_its_orientation() -> None:
    rng = np.random.default_rng(2)
    layout = chain((0.5, 0.4, 0.1))
    limb = Limb("b0", "b1", "b2", keeps=True)
    start = random_rotations(rng, 10, 3)
    local, world = posed(layout, start)
    before = world.matrices[:, 2, :, :3].copy()
    state = init_two_bone(layout, [limb], 10)
    solve_two_bone(state, local, world, rng.normal(size=(10, 1, 3)) * 0.4)
    after = world_from_local(world, local).matrices[:, 2, :, :3].copy()
    np.testing.assert_allclose(after, before, atol=2e-6)
    # Or be tilted from it.
    tilts = random_rotations(rng, 10, 1)
    local, world = posed(layout, start)
    targets = rng.normal(size=(10, 1, 3)) * 0.4
    solve_two_bone(state, local, world, targets, tilts=tilts)
    after = world_from_local(world, local).matrices[:, 2, :, :3]
    wanted = quaternions.to_matrix(tilts[:, 0]) @ before
    np.testing.assert_allclose(after, wanted, atol=5e-6)
    with pytest.raises(FlexorError, match="tilts: must be unit"):
        solve_two_bone(state, local, world, targets, tilts=tilts * 2)


@pytest.mark.parametrize("scale", [0.01, 100.0])
def test_below_turned_and_scaled_nodes(scale: float) -> None:
    rng = np.random.default_rng(3)
    rest = random_rotations(rng, 5)
    scales = np.ones((5, 3))
    scales[0] = scale
    places = [[0, 1, 0], [0.1, 0, 0], [0.5, 0, 0], [0.1, 0, 0.1], [0.4, 0, 0]]
    places = np.array(places) / np.array([1, scale, scale, scale, scale])[:, None]
    layout = tree(range(-1, 4), places, rest, scales)
    limb = Limb("b1", "b2", "b4")  # with a node between
    start = np.concatenate(
        [np.tile(rest[:1], (9, 1, 1)), random_rotations(rng, 9, 4)], 1
    )
    targets = rng.normal(size=(9, 3)) * 0.3 + [0, 1, 0]
    off, local = bent(layout, start, targets[:, None], limb)
    ends = places_of(layout, local)[:, 4]
    np.testing.assert_allclose(np.linalg.norm(ends - targets, axis=1), off, atol=1e-5)
    assert (off == 0).any()


def test_several_limbs_at_once_are_as_one_after_another() -> None:
    rng = np.random.default_rng(4)
    places = [[0, 0, 0], [0.1, 0, 0], [0.4, 0, 0], [0.4, 0, 0]]
    places += [[-0.1, 0, 0], [-0.4, 0, 0], [-0.4, 0, 0]]
    layout = tree([-1, 0, 1, 2, 0, 4, 5], places)
    limbs = [Limb("b1", "b2", "b3"), Limb("b4", "b5", "b6")]
    local, world = posed(layout, random_rotations(rng, 6, 7))
    targets = rng.normal(size=(6, 2, 3)) * 0.5
    both = local.copy()
    solve_two_bone(init_two_bone(layout, limbs, 6), both, world, targets)
    for i, limb in enumerate(limbs):
        state = init_two_bone(layout, [limb], 6)
        solve_two_bone(state, local, world, targets[:, i : i + 1])
    np.testing.assert_array_equal(local, both)


@pytest.mark.parametrize("kind", ["zero", "base", "straight", "opposite", "flat"])
def test_degenerate_inputs_stay_finite(kind: str) -> None:
    lengths = (0.0, 0.0) if kind == "zero" else (0.5, 0.5)
    scales = np.ones((3, 3))
    if kind == "flat":
        scales[0, 1] = 0
    layout = tree(
        [-1, 0, 1], [[0, 0, 0], [lengths[0], 0, 0], [lengths[1], 0, 0]], None, scales
    )
    target = {"base": (0, 0, 0), "straight": (0.5, 0, 0), "opposite": (-0.6, 0, 0)}
    start = np.tile([0, 0, 0, 1.0], (1, 2, 1))
    for poles in (None, (1, 0, 0), (0, 1, 0)):
        off, local = bent(layout, start, target.get(kind, (0.1, 0.2, 0.3)), poles=poles)
        assert np.isfinite(local).all()
        assert np.isfinite(off).all()
        lengths_now = np.linalg.norm(rotations_of(layout, local), axis=2)
        np.testing.assert_allclose(lengths_now, 1, atol=1e-5)
        if kind in ("base", "straight", "opposite"):
            assert off[0] < 1e-6
            end = places_of(layout, local)[0, 2]
            np.testing.assert_allclose(end, target[kind], atol=1e-5)


def test_a_straight_limb_bends_as_it_is_made() -> None:
    """At rest bent a little one way: straight in the pose, it bends that way again."""
    layout = tree([-1, 0, 1], [[0, 0, 0], [0.5, 0, 0], [0.5, 0.1, 0]])
    straight = np.tile([0, 0, 0, 1.0], (1, 2, 1))
    angle = -np.arctan2(0.1, 0.5)
    straight[0, 1] = [0, 0, np.sin(angle / 2), np.cos(angle / 2)]
    _, local = bent(layout, straight, (0.6, 0, 0))
    assert places_of(layout, local)[0, 1, 1] < -0.1


@pytest.mark.parametrize("size", [3.0, 1.0004, 0.9997])
def test_rotations_that_are_not_of_unit_length_become_so(size: float) -> None:
    layout = chain((0.5, 0.5))
    local, world = posed(layout, np.tile([0, 0, 0, 1.0], (1, 2, 1)))
    local.reshape(1, 10, -1)[:, 3:7, 0] *= size
    state = init_two_bone(layout, [ARM], 1)
    solve_two_bone(state, local, world, (0.3, 0.4, 0))
    assert abs(np.linalg.norm(rotations_of(layout, local)[0, 0]) - 1) < 1e-6


def test_bad_limbs_and_goals_are_refused() -> None:
    layout = chain((0.5, 0.5, 0.5))
    with pytest.raises(FlexorError, match="is not above"):
        init_two_bone(layout, [Limb("b1", "b0", "b2")], 1)
    with pytest.raises(FlexorError, match="no node 'x'"):
        init_two_bone(layout, [Limb("x", "b0", "b2")], 1)
    with pytest.raises(FlexorError, match="share a node"):
        init_two_bone(layout, [Limb("b0", "b1", "b2"), Limb("b1", "b2", "b3")], 1)
    state = init_two_bone(layout, [Limb("b0", "b1", "b2")], 1)
    local, world = posed(layout, np.tile([0, 0, 0, 1.0], (1, 2, 1)))
    for named, words in (
        ({"targets": np.zeros((2, 1, 3))}, "targets: shape"),
        ({"targets": (np.inf, 0, 0)}, "targets: must be finite"),
        ({"targets": (0, 0, 0), "weights": -1}, "weights"),
        ({"targets": (0, 0, 0), "poles": (np.nan, 0, 0)}, "poles"),
    ):
        with pytest.raises(FlexorError, match=words):
            solve_two_bone(state, local, world, **named)
    with pytest.raises(FlexorError, match="world"):
        solve_two_bone(state, local, init_world(chain((1,)), 1), (0, 0, 0))


def about(axis: Any, angle: float) -> Any:
    """A quaternion by an angle about a unit axis."""
    return np.append(np.sin(angle / 2) * np.asarray(axis), np.cos(angle / 2))


@pytest.mark.parametrize("scale", [1.0, 0.01])
def test_a_straight_limb_bends_about_the_axis_it_is_told(scale: float) -> None:
    """In model space at rest, whatever its length, and wherever the limb is now."""
    rng = np.random.default_rng(5)
    rest = random_rotations(rng, 4)
    scales = np.ones((4, 3))
    scales[0] = scale
    # The limb lies along X at rest, its frames anyhow.
    places, frame = [np.zeros(3)], quaternions.to_matrix(rest[0])
    for step, turn in zip((0.1, 0.5, 0.4), rest[1:], strict=True):
        places.append(frame.T @ [step / scale, 0, 0])
        frame = frame @ quaternions.to_matrix(turn)
    layout = tree(range(-1, 3), places, rest, scales)
    moved = rest.copy()
    moved[0] = quaternions.multiply(random_rotations(rng), rest[0])
    turn = quaternions.multiply(moved[0], rest[0] * [-1, -1, -1, 1])
    model = quaternions.to_matrix(turn)
    for axis in ((0, 0, 1), (0, 0, 7.0), (0, -2, 1), (5, 0, 1)):
        limb = Limb("b1", "b2", "b3", axis=axis)
        across = np.array([0, *axis[1:]]) / np.linalg.norm(axis[1:])
        target = model @ [0.7, 0, 0]
        off, local = bent(layout, moved[None], target, limb)
        assert off[0] < 1e-6
        nodes = places_of(layout, local)[0] @ model
        np.testing.assert_allclose(nodes[3], [0.7, 0, 0], atol=1e-5)
        # The end has swung about the axis, so the middle stands out against it.
        side = np.cross(nodes[2] - nodes[1], nodes[3] - nodes[2])
        np.testing.assert_allclose(side / np.linalg.norm(side), across, atol=1e-3)
    with pytest.raises(FlexorError, match="axis: a direction"):
        init_two_bone(layout, [Limb("b1", "b2", "b3", axis=(0, 0, 0))], 1)


def test_a_bent_limb_keeps_its_plane_whatever_it_is_told() -> None:
    layout = chain((0.5, 0.5))
    for angle in (0.2, -0.2, 1.5, 3.0):
        start = np.array([[[0, 0, 0, 1], about((0, 1, 0), angle)]])
        found = []
        for axis in (None, (0, 0, 1), (0, -1, 0)):
            limb = Limb("b0", "b1", "b2", axis=axis)
            _, local = bent(layout, start, (0.3, 0.3, 0.2), limb)
            found.append(local)
        np.testing.assert_allclose(found[1], found[0], atol=1e-6)
        np.testing.assert_allclose(found[2], found[0], atol=1e-6)


def test_from_bent_to_straight_nothing_jumps() -> None:
    """Little by little the axis that it is told takes over from its plane."""
    layout = chain((0.5, 0.5))
    limb = Limb("b0", "b1", "b2", axis=(0, 0, 1))
    angles = np.linspace(0.2, 0, 201)
    start = np.tile([0, 0, 0, 1.0], (201, 2, 1))
    start[:, 1] = [about((0, 1, 0), angle) for angle in angles]
    _, local = bent(layout, start, (0.8, 0, 0), limb)
    nodes = places_of(layout, local)
    sides = np.arctan2(nodes[:, 1, 2], -nodes[:, 1, 1])  # 0: as it is told
    np.testing.assert_allclose(sides[[0, -1]], [np.pi / 2, 0], atol=1e-3)
    steps = np.diff(sides)
    assert (steps < 1e-3).all()
    assert steps.min() > -0.05
    # How long a direction is says nothing.
    _, other = bent(layout, start, (0.8, 0, 0), replace(limb, axis=(0, 0, 7)))
    np.testing.assert_allclose(other, local, atol=1e-6)


@pytest.mark.parametrize("way", [(1, 0, 0), (0, 1, 0), (0, 0, 1), (1, -2, 2)])
def test_a_limb_that_is_told_its_own_line_bends_anyhow(way: Any) -> None:
    line = np.array(way) / np.linalg.norm(way)
    layout = tree([-1, 0, 1], [np.zeros(3), line * 0.5, line * 0.4])
    limb = Limb("b0", "b1", "b2", axis=tuple(line))
    start = np.tile([0, 0, 0, 1.0], (1, 2, 1))
    target = line * 0.6
    pole = np.cross(line, [0.3, 0.5, -0.8])
    for poles in (None, line, pole):
        off, local = bent(layout, start, target, limb, poles=poles)
        nodes = places_of(layout, local)[0]
        np.testing.assert_allclose(nodes[2], target, atol=1e-5)
        assert off[0] < 1e-6
    side = nodes[1] - line * (nodes[1] @ line)
    assert side @ pole > 0.999 * np.linalg.norm(side) * np.linalg.norm(pole)


def test_an_end_that_keeps_its_orientation_turns_by_the_weight_too() -> None:
    rng = np.random.default_rng(6)
    layout = chain((0.5, 0.4, 0.1))
    limb = Limb("b0", "b1", "b2", keeps=True)
    start = random_rotations(rng, 6, 3)
    targets, tilts = rng.normal(size=(6, 1, 3)) * 0.4, random_rotations(rng, 6, 1)
    _, full = bent(layout, start, targets, limb, tilts=tilts)
    _, part = bent(layout, start, targets, limb, tilts=tilts, weights=0.3)
    whole = angles_between(rotations_of(layout, full)[:, :3], start)
    turned = angles_between(rotations_of(layout, part)[:, :3], start)
    np.testing.assert_allclose(turned, whole * 0.3, atol=2e-5)


def test_a_limb_of_no_length_says_how_far_its_target_is() -> None:
    layout = tree([-1, 0, 1], [[0.5, 0, 0], [0, 0, 0], [0.4, 0, 0]])
    start = np.tile([0, 0, 0, 1.0], (1, 2, 1))
    off, local = bent(layout, start, (0.5, 3, 4), ARM)
    np.testing.assert_allclose(off, 5, atol=1e-6)
    np.testing.assert_allclose(rotations_of(layout, local)[0, :2], start[0])


def test_frames_that_are_flat_stay_finite() -> None:
    """About the axis of the turn, or in all of them at the end."""
    upright = np.tile([0, 0, 0, 1.0], (1, 3, 1))
    start = upright.copy()
    start[0, 1] = about((0, 1, 0), 1.0)
    for flat, size in ((0, [1, 0, 1]), (2, [0, 0, 0])):
        scales = np.ones((3, 3))
        scales[flat] = size
        layout = tree([-1, 0, 1], [[0, 0, 0], [0.5, 0, 0], [0.4, 0, 0]], None, scales)
        limb = Limb("b0", "b1", "b2", keeps=True)
        _, local = bent(layout, start, (0.2, 0, 0.5), limb)
        assert np.isfinite(local).all()
        lengths = np.linalg.norm(rotations_of(layout, local), axis=2)
        np.testing.assert_allclose(lengths, 1, atol=1e-5)


def test_a_pole_on_the_line_says_nothing() -> None:
    rng = np.random.default_rng(7)
    layout = chain((0.5, 0.4))
    start = random_rotations(rng, 12, 2)
    targets = rng.normal(size=(12, 1, 3))
    targets *= 0.7 / np.linalg.norm(targets, axis=2, keepdims=True)
    targets = targets.astype(np.float32)
    _, plain = bent(layout, start, targets)
    for poles in (targets, -2 * targets):
        _, poled = bent(layout, start, targets, poles=poles)
        np.testing.assert_allclose(poled, plain, atol=1e-6)


def test_the_opposite_way_is_half_a_circle_in_its_plane() -> None:
    """A target opposite to where the end is: the limb turns about its own axis."""
    layout = chain((0.5, 0.4))
    axis = np.array([0.6, 0, 0.8])
    start = np.array([[about(axis, 0.4), about((0, 0, 1), 1.1)]])
    before = places_of(layout, posed(layout, start)[0])[0]
    off, local = bent(layout, start, -before[2])
    after = places_of(layout, local)[0]
    assert off[0] < 1e-6
    np.testing.assert_allclose(after, -before, atol=1e-5)


def test_no_weight_touches_nothing() -> None:
    rng = np.random.default_rng(8)
    layout = chain((0.5, 0.4, 0.1))
    limb = Limb("b0", "b1", "b2", keeps=True)
    local, world = posed(layout, random_rotations(rng, 3, 3) * 1.1)
    before = local.copy()
    state = init_two_bone(layout, [limb], 3)
    solve_two_bone(state, local, world, rng.normal(size=(3, 1, 3)), weights=0)
    np.testing.assert_array_equal(local, before)


def test_a_limb_out_of_reach_does_not_roll() -> None:
    """Straight, it has no bend to tell its side: the joint's own axis does."""
    layout = chain((0.5, 0.4))
    state = init_two_bone(layout, [ARM], 1)
    last = None
    for frame in range(100):
        angle = 0.3 + 0.001 * frame
        turns = np.zeros((1, 2, 4))
        turns[0, :, 2], turns[0, :, 3] = np.sin(angle / 2), np.cos(angle / 2)
        local, world = posed(layout, turns)
        solve_two_bone(state, local, world, (0.9, 0.9, 0.3), poles=(0, 0, 1))
        now = rotations_of(layout, local)
        if last is not None:
            assert angles_between(now, last).max() < np.radians(1)
        last = now


def test_nearly_opposite_directions_are_exact() -> None:
    layout = chain((0.5, 0.4))
    for tiny in 10.0 ** -np.arange(1, 9):
        target = np.array([-0.7, 0.7 * tiny, 0])
        start = np.tile([0, 0, 0, 1.0], (1, 2, 1))
        _, local = bent(layout, start, target)
        np.testing.assert_allclose(places_of(layout, local)[0, 2], target, atol=2e-6)


def test_a_pole_almost_on_the_line_turns_nothing() -> None:
    turn = pole_turn(0.0, 0.0, 1.0, 1.0, 0.0, 0.0, 0.0, 1e-11, 1.0)
    assert turn == (0, 0, 0, 1)
    turn = pole_turn(0.0, 0.0, 1.0, 1.0, 0.0, 0.0, 0.0, 1e-3, 1.0)
    np.testing.assert_allclose(turn, [0, 0, 0.5**0.5, 0.5**0.5], atol=1e-12)
