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
from flexor.pose.ik.correct import (
    bend_end,
    bend_limbs,
    level_offset,
    lift_limbs,
    link_frames,
    link_part,
)
from flexor.pose.ik.two_bone import Limb, init_two_bone, limb_ends
from flexor.pose.sample import init_sample, sample
from flexor.scene.character.clip import Clip, Interpolation, Track
from tests.pose.ik.chains import (
    angles_between,
    chain,
    places_of,
    posed,
    rotations_of,
    tree,
)
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


@settings(max_examples=40)
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
    # Before the region nothing changes, but for rounding.
    times = np.linspace(0, start - 1e-4, 50)
    old, new = played(clip, times)[0], played(bent, times)[0]
    np.testing.assert_allclose(new, old, atol=2e-6)
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


@settings(max_examples=60)
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


def side(way: Any, places: Any) -> Any:
    """How well the middles of limbs (N, 3 joints, 3) point to a direction: cosines."""
    line, middle = places[:, 2] - places[:, 0], places[:, 1] - places[:, 0]
    line = line / np.linalg.norm(line, axis=1, keepdims=True)
    middle = middle - line * (middle * line).sum(1, keepdims=True)
    flat = way - line * (line @ way)[:, None]
    sizes = np.linalg.norm(middle, axis=1) * np.linalg.norm(flat, axis=1)
    return (middle * flat).sum(1) / sizes


def test_poles_are_for_limbs_that_are_moved() -> None:
    rng = np.random.default_rng(2)
    start = random_rotations(rng, 6, 3)
    start[:, 1] = [0, np.sin(0.6), 0, np.cos(0.6)]
    pole = np.array([0.3, 1, -0.4])
    parts = np.array([0, 0, 0.5, 0.5, 1, 1])[:, None]
    for is_lifted in (False, True):
        local, world = posed(ARM, start)
        before = local.copy()
        state = init_two_bone(ARM, [LIMB], 6)
        if is_lifted:
            lift_limbs(state, local, world, parts * 0.01, poles=pole)
        else:
            bend_limbs(state, local, world, (0.3, 0.2, 0.1), parts, poles=pole)
        np.testing.assert_array_equal(local[:2], before[:2])
        assert (side(pole, places_of(ARM, local))[2:] > 0.999).all()
    bent = bend_end(punch(), ARM, LIMB, (0.3, 0.2, 0.1), pole=pole)
    assert side(pole, played(bent, [1.0])[0])[0] > 0.999


def test_an_end_that_keeps_its_orientation_keeps_it_to_the_last_frame() -> None:
    clip = punch()
    limb = Limb("b0", "b1", "b2", keeps=True)
    bent = bend_end(clip, ARM, limb, (0.3, 0.2, 0.1))
    frames = np.arange(54, 61) / 60
    old, new = (
        posed(ARM, played(c, frames)[1])[1].matrices[:, 2, :, :3] for c in (clip, bent)
    )
    np.testing.assert_allclose(new, old, atol=1e-5)


@pytest.mark.parametrize("sign", [1, -1])
def test_a_bent_spline_runs_evenly_through_its_frames(sign: int) -> None:
    """Between two frames it is between them, and it does not stop at each."""
    clip = punch("CUBICSPLINE")
    tracks = [replace(t, values=t.values * sign) for t in clip.tracks]
    bent = bend_end(replace(clip, tracks=tuple(tracks)), ARM, LIMB, (0.45, 0.12, -0.2))
    fine = played(bent, 0.9 + np.linspace(0, 0.1, 61))[0][:, 2]
    steps = np.linalg.norm(np.diff(fine, axis=0), axis=1)
    whole = np.linalg.norm(np.diff(fine[::10], axis=0), axis=1)
    assert (steps.reshape(6, 10).sum(1) < 1.05 * whole).all()
    # Ten steps a frame: also those beside the frames are about a tenth of it.
    assert (steps.reshape(6, 10) > 0.05 * whole[:, None]).all()


@pytest.mark.parametrize("frames", [10, 20, 30, 50, 70, 90])
def test_frames_are_counted_whatever_float32_makes_of_them(frames: int) -> None:
    clip = punch(frames=frames)
    bent = bend_end(clip, ARM, LIMB, (0.45, 0.12, -0.2))
    region = frames // 10
    for old, new in zip(clip.tracks[:2], bent.tracks[:2], strict=True):
        cut = np.float32(frames / 60 - region / 60) - 1e-6
        assert (new.times > cut).sum() == region + 1
        assert (new.times < cut).sum() == (old.times < cut).sum()


@pytest.mark.parametrize("interpolation", ["LINEAR", "STEP", "CUBICSPLINE"])
def test_keys_stay_in_order_where_one_is_at_the_start_of_the_region(
    interpolation: Any,
) -> None:
    clip = punch(interpolation)
    times = clip.tracks[0].times.copy()
    times[7] = np.float32(1 - 6 / 60)
    tracks = tuple(replace(track, times=times) for track in clip.tracks)
    clip = replace(clip, tracks=tracks)
    bent = bend_end(clip, ARM, LIMB, (0.45, 0.12, -0.2))
    for track in bent.tracks[:2]:
        assert len(track.times) == 7 + 7
        assert (np.diff(track.times) > 0).all()
    moments = np.linspace(0, 0.8999, 60)
    old, new = played(clip, moments)[0], played(bent, moments)[0]
    np.testing.assert_allclose(new, old, atol=2e-6)


def test_a_clip_shorter_than_a_frame_keeps_to_its_time() -> None:
    bent = bend_end(punch(frames=60), ARM, LIMB, (0.45, 0.12, -0.2), rate=0.5)
    for track in bent.tracks:
        assert track.times.min() >= 0
    assert bent.duration == 1


def test_a_limb_without_tracks_stays_at_rest_before_the_region() -> None:
    rest = random_rotations(np.random.default_rng(3), 4)
    layout = tree(range(-1, 3), np.tile([0.3, 0, 0], (4, 1)), rest)
    clip = Clip("nod", (replace(punch().tracks[2], node=3),))
    limb = Limb("b0", "b1", "b2")
    _, world = posed(layout, rest[None])
    end = world.matrices[0, 2, :, 3]
    bent = bend_end(clip, layout, limb, end * 0.8)
    moments = np.array([0, 0.5, 0.9, 1.0], np.float32)
    state = sample(init_sample(pack_clip(bent, layout), layout, 4), moments)
    places = places_of(layout, state.local)[:, 2]
    np.testing.assert_allclose(places[:3], np.tile(end, (3, 1)), atol=2e-6)
    np.testing.assert_allclose(places[3], end * 0.8, atol=1e-5)


def test_levels_of_odd_frames() -> None:
    np.testing.assert_array_equal(level_offset(0.1, [-3, 9], 2, 4), [0, 0])
    for words, call in (
        ("must be finite", lambda: level_offset(0.1, [1, np.nan], 2, 4)),
        ("0 <= impact", lambda: level_offset(0.1, 1, -1, 4)),
        ("impact < recovery", lambda: level_offset(0.1, 1, np.nan, 4)),
    ):
        with pytest.raises(FlexorError, match=words):
            call()


@pytest.mark.parametrize("seconds", [0.001, 0.01, 0.016])
@pytest.mark.parametrize("interpolation", ["LINEAR", "STEP", "CUBICSPLINE"])
def test_a_clip_shorter_than_a_frame_is_bent_too(
    seconds: float, interpolation: Any
) -> None:
    clip = punch(interpolation)
    short = replace(
        clip,
        tracks=tuple(
            replace(t, times=t.times * np.float32(seconds)) for t in clip.tracks
        ),
    )
    target = np.array([0.45, 0.12, -0.2])
    places, _ = played(bend_end(short, ARM, LIMB, target), [seconds])
    np.testing.assert_allclose(places[0, 2], target, atol=1e-5)
