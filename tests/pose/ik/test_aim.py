"""Looking at points."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from flexor.errors import FlexorError
from flexor.maths import quaternions
from flexor.pose.ik.aim import Aim, init_aim, solve_aim
from flexor.pose.ik.kernels import aim as kernel_aim
from tests.pose.ik.chains import angles_between, box_limits, posed, rotations_of, tree
from tests.scenes import random_rotations

# A spine, a neck and a head, upward, each turned in its own way at rest.
RNG = np.random.default_rng(1)
REST = random_rotations(RNG, 4)
UPWARD = [[0, 1, 0], [0, 0.3, 0], [0, 0.2, 0], [0, 0.1, 0]]


def _body() -> Any:
    places = []
    frame = np.eye(3)
    for place, rotation in zip(UPWARD, REST, strict=True):
        places.append(frame.T @ place)
        frame = frame @ quaternions.to_matrix(rotation)
    return tree([-1, 0, 1, 2], places, REST)


BODY = _body()
HEAD = Aim(["b1", "b2", "b3"])


def looks(aim: Aim, rotations: Any, targets: Any, **named: Any) -> tuple[Any, Any]:
    """The state and local rows after one solve."""
    local, world = posed(BODY, rotations)
    state = init_aim(BODY, aim, len(local), limits=named.pop("limits", None))
    solve_aim(state, local, world, targets, **named)
    return state, local


def sight(local: Any, aim: Aim) -> tuple[Any, Any, Any]:
    """Eye, direction and up (N, 3) of the head in the world."""
    _, rest = posed(BODY, REST[None])
    head = rest.matrices[0, 3, :, :3].astype(np.float64)
    _, world = posed(BODY, rotations_of(BODY, local))
    frames = world.matrices[:, 3].astype(np.float64)
    way, up = (frames[:, :, :3] @ (head.T @ v) for v in (aim.forward, aim.up))
    return frames @ [*aim.eye, 1], way, up


@settings(max_examples=60)
@given(
    st.integers(0, 2**32 - 1),
    st.sampled_from([None, (0.2, 0.5, 1.0), (0, 0, 1)]),
    st.booleans(),
)
def test_the_line_of_sight_meets_the_target(
    seed: int, shares: Any, has_eye: bool
) -> None:
    rng = np.random.default_rng(seed)
    eye = tuple(rng.normal(size=3) * 0.05) if has_eye else (0.0, 0.0, 0.0)
    aim = Aim(["b1", "b2", "b3"], shares, eye=eye)
    targets = rng.normal(size=(4, 3)) * 2 + [0, 1.6, 0]
    state, local = looks(aim, random_rotations(rng, 4, 4), targets)
    at, way, _ = sight(local, aim)
    to = targets - at
    far = np.linalg.norm(to, axis=1)
    angles = np.arccos(np.clip((way * to).sum(1) / far, -1, 1))
    assert (angles[far > 0.3] < 2e-3).all()
    np.testing.assert_allclose(state.off[far > 0.3], 0, atol=1e-3)
    assert kernel_aim.solve_aim is not None


def test_shares() -> None:
    """What a joint takes is its share of the turn that is left."""
    start = np.tile(REST, (1, 1, 1))
    target = (3.0, 1.6, 0.1)
    _, even = looks(HEAD, start, target)
    turned = angles_between(rotations_of(BODY, even)[0], REST)
    assert turned[0] < 1e-6
    assert turned[1:].min() > 0.6 * turned[1:].max()
    _, alone = looks(Aim(["b1", "b2", "b3"], (0, 0, 1)), start, target)
    turned = angles_between(rotations_of(BODY, alone)[0], REST)
    assert turned[:3].max() < 1e-6 < turned[3]


@settings(max_examples=40)
@given(st.integers(0, 2**32 - 1))
def test_up_is_kept_up(seed: int) -> None:
    rng = np.random.default_rng(seed)
    targets = rng.normal(size=(3, 3)) * 3 + [0, 1.6, 0]
    _, local = looks(HEAD, random_rotations(rng, 3, 4), targets, ups=(0, 1, 0))
    _, way, up = sight(local, HEAD)
    wanted = np.array([0, 1.0, 0]) - way * way[:, 1:2]
    size = np.linalg.norm(wanted, axis=1)
    cosine = (up * wanted).sum(1) / np.maximum(size, 1e-9)
    assert (cosine[size > 0.05] > 0.999).all()


@settings(max_examples=40)
@given(st.integers(0, 2**32 - 1), st.floats(0, 1))
def test_a_weighted_look_never_turns_further_than_the_full_one(
    seed: int, weight: float
) -> None:
    rng = np.random.default_rng(seed)
    aim = Aim(["b3"])
    start = random_rotations(rng, 3, 4)
    targets = rng.normal(size=(3, 3)) * 2
    _, full = looks(aim, start, targets)
    _, part = looks(aim, start, targets, weights=weight)
    whole = angles_between(rotations_of(BODY, full), start)
    turned = angles_between(rotations_of(BODY, part), start)
    np.testing.assert_allclose(turned, whole * weight, atol=2e-5)


def test_limits_stop_the_head() -> None:
    limits = box_limits(4, (-10, -15, -5), (10, 15, 5))
    behind = (0.3, 1.6, -5.0)
    state, local = looks(HEAD, REST[None], behind, limits=limits)
    turned = angles_between(rotations_of(BODY, local)[0], REST)
    assert turned[1:].max() < np.radians(20)
    at, way, _ = sight(local, HEAD)
    to = np.array(behind) - at
    cosine = (way * to).sum(1) / np.linalg.norm(to, axis=1)
    np.testing.assert_allclose(state.off, np.arccos(cosine), atol=1e-4)
    assert state.off[0] > 1


def test_many_are_as_one_and_degenerate_ones_finite() -> None:
    rng = np.random.default_rng(2)
    start = random_rotations(rng, 5, 4)
    _, world = posed(BODY, start)
    targets = rng.normal(size=(5, 3))
    targets[0] = world.matrices[0, 3, :, 3]  # on the eye
    targets[1] = world.matrices[1, 3, :, 3] + 1e-20
    state, many = looks(HEAD, start, targets)
    assert np.isfinite(many).all()
    assert np.isfinite(state.off).all()
    for n in range(5):
        _, one = looks(HEAD, start[n : n + 1], targets[n : n + 1])
        np.testing.assert_array_equal(one[0], many[n])


def test_straight_behind_it_turns_about_its_up() -> None:
    aim = Aim(["b3"])
    _, world = posed(BODY, REST[None])
    behind = world.matrices[0, 3, :, 3] + [0, 0, -2.0]
    _, local = looks(aim, REST[None], behind)
    _, way, up = sight(local, aim)
    np.testing.assert_allclose(way, [[0, 0, -1]], atol=1e-3)
    np.testing.assert_allclose(up, [[0, 1, 0]], atol=1e-3)


def test_bad_aims_are_refused() -> None:
    for aim, words in (
        (Aim([]), "no joints"),
        (Aim(["b3", "b1"]), "is not above"),
        (Aim(["b1", "b3"], (1,)), "shares: 1, expected one a joint: 2"),
        (Aim(["b1", "b3"], (0.5, 2)), "shares: must lie"),
        (Aim(["b3"], forward=(0, 0, 0)), "forward: a direction"),
        (Aim(["b3"], eye=(np.nan, 0, 0)), "eye: must be finite"),
    ):
        with pytest.raises(FlexorError, match=words):
            init_aim(BODY, aim, 1)
    local, world = posed(BODY, REST[None])
    state = init_aim(BODY, HEAD, 1)
    with pytest.raises(FlexorError, match="targets: shape"):
        solve_aim(state, local, world, np.zeros((2, 3)))
    with pytest.raises(FlexorError, match="weights"):
        solve_aim(state, local, world, (0, 0, 0), weights=2)
    with pytest.raises(FlexorError, match="world"):
        solve_aim(init_aim(BODY, HEAD, 2), np.tile(local, (2, 1)), world, (0, 0, 0))


@pytest.mark.parametrize("has_limits", [False, True])
@pytest.mark.parametrize("scale", [0.01, 50.0, (-1, 1, 1), (2, 2, -2)])
def test_below_a_scaled_or_mirrored_node_it_looks_alike(
    scale: Any, has_limits: bool
) -> None:
    """Rotations are the same, for targets that are scaled or mirrored too."""
    rng = np.random.default_rng(3)
    size = np.broadcast_to(scale, 3)
    rest = np.concatenate([[[0, 0, 0, 1.0]], REST])
    places = np.concatenate([np.zeros((1, 3)), BODY.skeleton.translations])
    scales = np.ones((5, 3))
    parents = range(-1, 4)
    plain = tree(parents, places, rest)
    scales[0] = size
    scaled = tree(parents, places, rest, scales)
    start = np.tile(rest, (8, 1, 1))
    start[:, 1:] = random_rotations(rng, 8, 4)
    limits = box_limits(5, (-50, -40, -20), (50, 40, 60)) if has_limits else None
    targets = rng.normal(size=(8, 3)) * 2 + [0, 1.6, 0]
    eye, up = (0.02, 0.05, 0.04), np.array([0.2, 1, 0.1])
    found = []
    for layout, factor in ((plain, np.ones(3)), (scaled, size)):
        # Directions at rest are told in the world: those of the image.
        forward = tuple(np.sign(factor) * (0.1, 0.2, 1))
        high = tuple(np.sign(factor) * (0, 1, -0.2))
        aim = Aim(["b2", "b3", "b4"], forward=forward, up=high, eye=eye)
        local, world = posed(layout, start)
        state = init_aim(layout, aim, 8, limits=limits)
        ups = up * np.sign(factor)
        solve_aim(state, local, world, targets * factor, ups=ups)
        found.append((rotations_of(layout, local), state.off.copy()))
    assert angles_between(found[0][0], found[1][0]).max() < 1e-4
    np.testing.assert_allclose(found[0][1], found[1][1], atol=1e-4)
    # And what is left is told as it is.
    local, world = posed(scaled, found[1][0])
    frames = world.matrices[:, 4].astype(np.float64)
    to = targets * size - frames @ [*eye, 1]
    head = posed(scaled, rest[None])[1].matrices[0, 4, :, :3].astype(np.float64)
    way = frames[:, :, :3] @ (np.linalg.inv(head) @ forward)
    cosine = (way * to).sum(1) / np.linalg.norm(way, axis=1)
    off = np.arccos(np.clip(cosine / np.linalg.norm(to, axis=1), -1, 1))
    np.testing.assert_allclose(found[1][1], off, atol=1e-3)
    assert (off.max() > 0.1) == has_limits


def test_a_joint_of_no_size_stays_finite() -> None:
    scales = np.ones((4, 3))
    scales[3] = 0
    for limits in (None, box_limits(4, (-5, -5, -5), (5, 5, 5))):
        layout = tree([-1, 0, 1, 2], UPWARD, REST, scales)
        local, world = posed(layout, REST[None])
        state = init_aim(layout, HEAD, 1, limits=limits)
        before = local.copy()
        solve_aim(state, local, world, (1, 2, 3), ups=(0, 1, 0))
        np.testing.assert_array_equal(local, before)  # it looks nowhere
        assert state.off[0] == 0
    # Flat along the axis that it is to turn about.
    scales[:] = 1
    scales[0] = [1, 0, 1]
    layout = tree([-1, 0, 1, 2], UPWARD, None, scales)
    for limits in (None, box_limits(4, (-5, -5, -5), (5, 5, 5))):
        local, world = posed(layout, np.tile([0, 0, 0, 1.0], (1, 4, 1)))
        state = init_aim(layout, HEAD, 1, limits=limits)
        solve_aim(state, local, world, (3, 1, 0))
        assert np.isfinite(local).all()
        assert np.isfinite(state.off).all()


def test_no_weight_touches_nothing() -> None:
    rng = np.random.default_rng(4)
    local, world = posed(BODY, random_rotations(rng, 3, 4) * 1.1)
    before = local.copy()
    state = init_aim(BODY, HEAD, 3)
    solve_aim(state, local, world, rng.normal(size=(3, 3)), weights=0)
    np.testing.assert_array_equal(local, before)


def test_the_length_of_rotations_does_not_matter() -> None:
    rng = np.random.default_rng(5)
    start, targets = random_rotations(rng, 4, 4), rng.normal(size=(4, 3)) * 3
    for limits in (None, box_limits(4, (-60, -40, -20), (60, 40, 20))):
        found = []
        for factor in (1, 3):
            local, world = posed(BODY, start)
            local.reshape(4, 10, -1)[:, 3:7] *= factor
            state = init_aim(BODY, HEAD, 4, limits=limits)
            solve_aim(state, local, world, targets)
            found.append(rotations_of(BODY, local)[:, 1:])
        assert angles_between(*found).max() < 1e-5


def test_a_target_nearer_than_the_eye_stays_finite() -> None:
    """The eye stands out so far that the line of sight passes the target by."""
    aim = Aim(["b2", "b3"], eye=(3.0, 1.0, -2.0))
    rng = np.random.default_rng(6)
    _, world = posed(BODY, REST[None])
    targets = world.matrices[0, 3, :, 3] + rng.normal(size=(10, 3)) * 0.1
    state, local = looks(aim, np.tile(REST, (10, 1, 1)), targets)
    assert np.isfinite(local).all()
    at, way, _ = sight(local, aim)
    to = targets - at
    cosine = (way * to).sum(1) / np.linalg.norm(to, axis=1)
    np.testing.assert_allclose(state.off, np.arccos(cosine), atol=1e-3)


def test_what_is_behind_is_not_looked_at() -> None:
    """Round the head once: it follows, gives up, and never jumps."""
    aim = Aim(["b1", "b2", "b3"], most=np.radians(90))
    _, world = posed(BODY, REST[None])
    eye = world.matrices[0, 3, :, 3].astype(np.float64)
    angles = np.radians(np.arange(0, 361))
    targets = eye + 3 * np.stack([np.sin(angles), 0 * angles, np.cos(angles)], 1)
    state, local = looks(aim, np.tile(REST, (361, 1, 1)), targets, ups=(0, 1, 0))
    turned = rotations_of(BODY, local)
    assert state.off[:80].max() < 2e-3
    assert angles_between(turned[135:226], REST).max() < 1e-6
    assert np.degrees(angles_between(turned[1:], turned[:-1]).max()) < 4
    with pytest.raises(FlexorError, match="most: 4"):
        init_aim(BODY, Aim(["b3"], most=4), 1)


@settings(max_examples=40)
@given(st.integers(0, 2**32 - 1), st.floats(0, 1), st.booleans())
def test_each_joint_of_a_weighted_look_turns_by_that_part(
    seed: int, weight: float, has_limits: bool
) -> None:
    rng = np.random.default_rng(seed)
    limits = box_limits(4, (-40, -30, -20), (40, 30, 20)) if has_limits else None
    start = np.tile(REST, (3, 1, 1))
    targets = rng.normal(size=(3, 3)) * 2 + [0, 1.6, 2]
    _, full = looks(HEAD, start, targets, limits=limits)
    _, part = looks(HEAD, start, targets, limits=limits, weights=weight)
    whole = angles_between(rotations_of(BODY, full), start)
    turned = angles_between(rotations_of(BODY, part), start)
    np.testing.assert_allclose(turned, whole * weight, atol=2e-5)


@pytest.mark.parametrize("up", [(0, 1, 1), (0, 0, 1), (1, 2, 3)])
def test_straight_behind_whatever_is_up(up: Any) -> None:
    aim = Aim(["b3"], up=up)
    _, world = posed(BODY, REST[None])
    behind = world.matrices[0, 3, :, 3] + [0, 0, -2.0]
    state, local = looks(aim, REST[None], behind)
    assert state.off[0] < 1e-3
    # About what of it is across the line of sight, which is z.
    np.testing.assert_allclose(
        sight(local, aim)[2], [np.array(up) * (1, 1, -1)], atol=1e-3
    )
