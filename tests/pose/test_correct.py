"""Motions corrected: link regions and differences of level."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from flexor.errors import FlexorError
from flexor.pose.clip_tables import pack_clip
from flexor.pose.correct import (
    bend_end,
    bend_limbs,
    level_offset,
    lift_limbs,
    link_frames,
    link_part,
)
from flexor.pose.ik_two_bone import Limb, init_two_bone, limb_ends
from flexor.pose.sample import init_sample, sample
from flexor.scene.clip import Clip, Interpolation, Track
from tests.pose.chains import angles_between, chain, places_of, posed, rotations_of
from tests.scenes import random_rotations

ARM = chain([0.3, 0.3, 0.1])
LIMB = Limb("b0", "b1", "b2")


def punch(interpolation: Interpolation = "LINEAR", frames: int = 60) -> Clip:
    """The arm unfolds in a second."""
    times = np.linspace(0, frames / 60, 9)
    tracks = []
    for node, first, last in ((0, -1.0, 0.2), (1, 2.0, 0.3), (2, 0.0, 0.4)):
        angles = first + (last - first) * np.linspace(0, 1, 9) ** 2
        half = angles / 2
        keys = np.stack([0 * half, np.sin(half), 0 * half, np.cos(half)], 1)
        if interpolation == "CUBICSPLINE":
            ways = np.gradient(keys, times, axis=0)
            keys = np.stack([ways, keys, ways], 1)
        tracks.append(Track(node, "rotation", times.copy(), keys, interpolation))
    return Clip("punch", tuple(tracks))


def played(clip: Clip, times: Any) -> tuple[Any, Any]:
    """Places (T, J, 3) and rotations (T, J, 4) of a clip."""
    moments = np.asarray(times, np.float32)
    state = sample(init_sample(pack_clip(clip, ARM), ARM, len(moments)), moments)
    return places_of(ARM, state.local), rotations_of(ARM, state.local)


@pytest.mark.parametrize(
    ("frames", "region"),
    [(1, 1), (9, 1), (19, 1), (20, 2), (55, 5), (99, 9), (100, 10), (1000, 10)],
)
def test_the_link_region_is_a_tenth_one_to_ten(frames: int, region: int) -> None:
    assert link_frames(frames) == region
    parts = link_part(np.arange(1, frames + 1), frames)
    inside = np.arange(1, region + 1) / region
    np.testing.assert_array_equal(parts[-region:], inside)
    assert not parts[:-region].any()


@settings(max_examples=40, deadline=None)
@given(st.integers(0, 2**32 - 1), st.floats(0, 1))
def test_limbs_go_their_part_of_the_way(seed: int, part: float) -> None:
    """p - (p - target) * part, to the end of the limb; the bones keep their lengths."""
    rng = np.random.default_rng(seed)
    local, world = posed(ARM, random_rotations(rng, 4, 3))
    before = local.copy()
    state = init_two_bone(ARM, [LIMB], 4)
    ends = limb_ends(state, world).astype(np.float64)
    targets = ends + rng.normal(size=(4, 1, 3)) * 0.02
    bend_limbs(state, local, world, targets, part)
    wanted = ends - (ends - targets) * part
    now = places_of(ARM, local)
    reached = state.off[:, 0] == 0
    np.testing.assert_allclose(now[reached, 2], wanted[reached, 0], atol=2e-6)
    if np.float32(part) == 0:
        np.testing.assert_array_equal(local, before)
    lengths = np.linalg.norm(np.diff(now, axis=1), axis=2)
    np.testing.assert_allclose(lengths, [[0.3, 0.3, 0.1]] * 4, atol=1e-5)


@pytest.mark.parametrize("interpolation", ["LINEAR", "STEP", "CUBICSPLINE"])
@pytest.mark.parametrize("frames", [5, 60, 300])
def test_a_clip_ends_on_its_target(interpolation: Any, frames: int) -> None:
    clip = punch(interpolation, frames)
    target = np.array([0.45, 0.12, -0.2])
    bent = bend_end(clip, ARM, LIMB, target)
    last = frames / 60
    assert bent.duration == clip.duration
    assert [t.interpolation for t in bent.tracks] == [interpolation] * 3
    places, _ = played(bent, [last])
    np.testing.assert_allclose(places[0, 2], target, atol=1e-5)
    region = link_frames(frames)
    start = last - region / 60
    # Before the region nothing changes, but for where a cut spline is rounded.
    times = np.linspace(0, start - 1e-4, 50)
    if interpolation != "STEP":
        old, new = played(clip, times)[0], played(bent, times)[0]
        np.testing.assert_allclose(new, old, atol=5e-5 if frames > 9 else 5e-3)
    # In it the end goes its part of the way at each frame.
    ticks = np.arange(1, region + 1)
    moments = start + ticks / 60
    old, new = played(clip, moments)[0][:, 2], played(bent, moments)[0][:, 2]
    wanted = old - (old - target) * (ticks / region)[:, None]
    np.testing.assert_allclose(new, wanted, atol=2e-5)
    # And the elbow follows.
    assert (
        np.abs(played(bent, [last])[0][0, 1] - played(clip, [last])[0][0, 1]).max()
        > 1e-3
    )


@pytest.mark.parametrize("interpolation", ["LINEAR", "CUBICSPLINE"])
def test_the_start_of_the_region_is_smooth(interpolation: Any) -> None:
    clip = punch(interpolation)
    target = played(clip, [1.0])[0][0, 2] + [0.0, 0.05, -0.05]
    bent = bend_end(clip, ARM, LIMB, target)
    start = 1 - link_frames(60) / 60
    around = start + np.array([-1e-3, 0, 1e-3])
    steps = np.linalg.norm(np.diff(played(bent, around)[0][:, 2], axis=0), axis=1)
    assert steps.max() < 2e-3  # in a thousandth of a second
    # The first step is the motion's own and its share of the way to the target.
    frames = np.arange(61) / 60
    old, new = played(clip, frames)[0][:, 2], played(bent, frames)[0][:, 2]
    own, now = (
        np.linalg.norm(np.diff(p, axis=0), axis=1).max() for p in (old, new[:56])
    )
    share = np.linalg.norm(old[54:] - target, axis=1).max() / link_frames(60)
    assert now <= own + share + 1e-5


def test_a_limb_without_tracks_gets_some() -> None:
    clip = replace(punch(), tracks=punch().tracks[2:])
    bent = bend_end(clip, ARM, LIMB, (0.3, 0.2, 0.1))
    places, _ = played(bent, [0.5, 1.0])
    np.testing.assert_allclose(places[1, 2], (0.3, 0.2, 0.1), atol=1e-5)
    np.testing.assert_allclose(places[0, 2], (0.6, 0, 0), atol=1e-5)


def test_the_seeds_level_difference() -> None:
    """Impact at frame 2, recovery at 4: half, whole, half, nothing."""
    got = level_offset(0.1, np.arange(6), 2, 4)
    np.testing.assert_array_equal(got, [0, 0.05, 0.1, 0.05, 0, 0])
    got = level_offset([-0.4, 0.4], 2, 2, 4)
    np.testing.assert_array_equal(got, [-0.15, 0.15])
    got = level_offset(0.1, [1, 1], 2, 4, [True, False])
    np.testing.assert_array_equal(got, [0.05, 0])
    np.testing.assert_array_equal(level_offset(0.1, [0, 2], 0, 4), [0.1, 0.05])


@settings(max_examples=60, deadline=None)
@given(st.floats(-1, 1), st.integers(1, 60), st.integers(1, 60), st.booleans())
def test_levels_rise_to_the_impact_and_fall_to_nothing(
    difference: float, impact: int, after: int, is_grounded: bool
) -> None:
    recovery = impact + after
    frames = np.arange(recovery + 3)
    got = level_offset(difference, frames, impact, recovery, is_grounded)
    most = np.clip(difference, -0.15, 0.15) * is_grounded
    assert got[impact] == most
    assert got[0] == 0
    assert not got[recovery:].any()
    size = np.abs(got)
    assert (np.diff(size[: impact + 1]) >= 0).all()
    assert (np.diff(size[impact:]) <= 0).all()


def test_a_lifted_limb_follows_and_is_exactly_back() -> None:
    rng = np.random.default_rng(1)
    local, world = posed(ARM, random_rotations(rng, 1, 3))
    state = init_two_bone(ARM, [LIMB], 1)
    before, end = local.copy(), limb_ends(state, world)[0, 0].astype(np.float64)
    for frame in range(5):
        high = level_offset(0.02, frame, 2, 4)
        now = before.copy()
        lift_limbs(state, now, world, high)
        place = places_of(ARM, now)[0, 2]
        np.testing.assert_allclose(place, end + np.array([0, high, 0]), atol=2e-6)
        if frame in (0, 4):
            np.testing.assert_array_equal(now, before)
        elif frame == 2:
            turned = angles_between(rotations_of(ARM, now), rotations_of(ARM, before))
            assert (turned[0, :2] > 1e-3).all()


def test_bad_corrections_are_refused() -> None:
    for words, call in (
        ("frames: 0", lambda: link_frames(0)),
        ("impact < recovery", lambda: level_offset(0.1, 1, 4, 4)),
        ("must be finite", lambda: level_offset(np.nan, 1, 2, 4)),
        ("rate", lambda: bend_end(punch(), ARM, LIMB, (0, 0, 0), rate=0)),
        ("target", lambda: bend_end(punch(), ARM, LIMB, (np.nan, 0, 0))),
        ("target: shape", lambda: bend_end(punch(), ARM, LIMB, np.zeros((2, 3)))),
    ):
        with pytest.raises(FlexorError, match=words):
            call()
