"""Reduced motion: never over the bound, the same bytes again, and all odd clips."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from flexor.api.character import Character
from flexor.convert.motion.error import measure_motion
from flexor.convert.motion.fit import fit_motion
from flexor.convert.motion.plan import find_grid, plan_motion
from flexor.convert.motion.reduce import (
    MotionSettings,
    reduce_clip,
    reduce_motion,
)
from flexor.errors import SettingError
from flexor.pose.clip_tables import pack_clip
from flexor.pose.layout import make_layout
from flexor.scene.character.clip import Clip, Track
from flexor.scene.character.skeleton import Link, Skeleton
from flexor.scene.runtime.packed_clip import PackedClip
from tests.oracle import packed as oracle
from tests.packed_clips import arm, wave
from tests.scenes import plain_scene, random_rotations

BOUND = 1e-4


def reduced(clip: Clip, skeleton: Skeleton | None = None, **more: float) -> Any:
    """The clip, its reduced form and the report; checked in many places between."""
    layout = make_layout(plain_scene(skeleton or arm()))
    settings = MotionSettings(**more)
    form, report = reduce_clip(layout, clip, settings)
    bound, shell = settings.error / settings.unit, settings.shell / settings.unit
    moments = np.unique(np.linspace(-0.1, clip.duration + 0.1, 997, dtype=np.float32))
    tables = pack_clip(clip, layout), pack_clip(form, layout)
    found = measure_motion(*tables, moments, shell)
    assert found.worst <= bound * 1.02
    assert found.weights == 0
    assert form.duration == clip.duration
    assert report.worst is not None
    assert report.worst <= settings.error
    assert report.bytes <= report.raw_bytes
    return form, report


@pytest.mark.slow
def test_smooth_motion_becomes_small(rng: Any) -> None:
    form, report = reduced(wave(rng))
    assert isinstance(form, PackedClip)
    assert report.ratio > 5
    assert report.p99 <= report.worst
    assert (report.packed, report.tracks) == (7, 7)


@pytest.mark.slow
def test_the_bound_is_what_is_asked_for(rng: Any) -> None:
    clip = wave(rng)
    sizes = [reduced(clip, error=error)[1].bytes for error in (1e-3, 1e-4, 1e-5)]
    assert sizes == sorted(sizes)
    assert sizes[0] < sizes[2]


@pytest.mark.slow
def test_units_of_the_file(rng: Any) -> None:
    """A skeleton in centimetres, told so, is as small as one in metres."""
    clip = wave(rng)
    *turns, place = clip.tracks
    large = Track(0, "translation", place.times, place.values * 100)
    _, metres = reduced(clip)
    _, cent = reduced(Clip("wave", (*turns, large)), arm(size=100.0), unit=0.01)
    assert cent.bytes == pytest.approx(metres.bytes, rel=0.1)
    _, strict = reduced(Clip("wave", (*turns, large)), arm(size=100.0))
    assert strict.bytes > metres.bytes


@pytest.mark.slow
def test_under_a_large_scale(rng: Any) -> None:
    skeleton = arm()
    scales = np.ones((6, 3), np.float32)
    scales[0] = 100
    places = skeleton.translations / np.float32(100)
    big = Skeleton(skeleton.names, skeleton.parents, places, skeleton.rotations, scales)
    form, _ = reduced(wave(rng), big)
    assert isinstance(form, PackedClip)
    uneven = scales * np.array([1, 0.5, 1], np.float32)
    reduced(
        wave(rng),
        Skeleton(skeleton.names, skeleton.parents, places, skeleton.rotations, uneven),
    )


@pytest.mark.slow
def test_the_same_bytes_again(rng: Any) -> None:
    clip = wave(rng)
    layout = make_layout(plain_scene(arm()))
    one, two = (reduce_clip(layout, clip)[0] for _ in range(2))
    assert isinstance(one, PackedClip)
    assert isinstance(two, PackedClip)
    assert one.words.tobytes() == two.words.tobytes()
    assert one.steps.tobytes() == two.steps.tobytes()


@pytest.mark.slow
def test_noise_is_kept_within_the_bound(rng: Any) -> None:
    clip = wave(rng)
    tracks = []
    for track in clip.tracks:
        values = track.values + rng.normal(size=track.values.shape) * 1e-3
        if track.path == "rotation":
            values /= np.linalg.norm(values, axis=1, keepdims=True)
        tracks.append(Track(track.node, track.path, track.times, values))
    form, report = reduced(Clip("noise", tuple(tracks)))
    assert isinstance(form, PackedClip)
    assert report.ratio > 2


@pytest.mark.slow
def test_errors_are_those_of_the_twin(rng: Any) -> None:
    """`fit_frames` says how far its frames are off; so does the slow twin."""
    clip = wave(rng, frames=9)
    skeleton = arm()
    layout = make_layout(plain_scene(skeleton))
    tables = pack_clip(clip, layout)
    grid = find_grid(list(clip.tracks))
    assert grid is not None
    plan = plan_motion(list(clip.tracks), grid, tables, BOUND, 0.03)
    fit = fit_motion(plan, BOUND, 0.03, "a", clip.duration)
    assert fit is not None
    for frame in range(9):
        time = float(grid.times[frame])
        one = plan.parts[frame]
        two = oracle.local_parts(skeleton, fit.clip, time)
        off = oracle.displacements(skeleton, one, two, 0.03)
        assert off.max() <= BOUND * 1.001
        assert off.max() > 0


def test_clips_that_need_no_packing(rng: Any) -> None:
    layout = make_layout(plain_scene(arm()))
    empty = Clip("empty", ())
    assert reduce_clip(layout, empty)[0] is empty
    pose = Clip(
        "pose", (Track(1, "rotation", np.array([2.0]), random_rotations(rng, 1)),)
    )
    form, report = reduced(pose)
    assert form.duration == 2.0
    assert report.worst == 0
    rest = Clip("rest", (Track(1, "scale", np.array([0.0, 3]), np.ones((2, 3))),))
    form, _ = reduced(rest)
    assert form.duration == 3.0


def test_nothing_changes_without_an_error(rng: Any) -> None:
    layout = make_layout(plain_scene(arm()))
    clip = wave(rng)
    form, report = reduce_clip(layout, clip, MotionSettings(error=0))
    assert form is clip
    assert report.ratio == 1


@pytest.mark.slow
def test_odd_interpolations_stay(rng: Any) -> None:
    clip = wave(rng)
    times = clip.tracks[0].times
    step = Track(2, "translation", times[::7], rng.normal(size=(9, 3)), "STEP")
    cubic = Track(3, "scale", times[::10], 1 + rng.random((7, 3, 3)), "CUBICSPLINE")
    late = wave(rng, start=0.5)
    form, _ = reduced(Clip("odd", (*clip.tracks, step, cubic)))
    assert isinstance(form, PackedClip)
    assert {t.interpolation for t in form.keyed} >= {"STEP", "CUBICSPLINE"}
    kept = next(t for t in form.keyed if t.interpolation == "STEP")
    assert kept.values.tobytes() == step.values.tobytes()
    form, _ = reduced(late)
    assert isinstance(form, PackedClip)
    assert form.start == 0.5


@pytest.mark.slow
def test_keys_without_order(rng: Any) -> None:
    """Keys at any times: those that others interpolate are dropped, nothing else."""
    times = np.sort(rng.uniform(0, 2, 120)).astype(np.float32)
    values = np.stack([np.interp(times, [0, 1, 2], [0, k, 1]) for k in (1, -1, 2)], 1)
    track = Track(1, "translation", times, values)
    form, report = reduced(Clip("line", (track,)))
    assert isinstance(form, PackedClip)
    assert len(form.keyed[0].times) < 20
    assert report.ratio > 5


@pytest.mark.slow
def test_jumps_and_whole_turns(rng: Any) -> None:
    times = np.arange(90) / 30
    angle = np.linspace(0, 20, 90)
    spin = np.stack([0 * angle, np.sin(angle / 2), 0 * angle, np.cos(angle / 2)], 1)
    wild = random_rotations(rng, 90)
    tracks = (Track(0, "rotation", times, spin), Track(3, "rotation", times, wild))
    layout = make_layout(plain_scene(arm()))
    clip = Clip("wild", tracks)
    _, report = reduce_clip(layout, clip)
    assert report.worst is not None
    assert report.worst <= BOUND


@pytest.mark.slow
def test_tracks_of_links_are_left_out(rng: Any) -> None:
    skeleton = arm(4)
    linked = Skeleton(
        (*skeleton.names, "link"),
        np.append(skeleton.parents, 0),
        np.concatenate([skeleton.translations, skeleton.translations[1:2]]),
        np.tile(np.array([0, 0, 0, 1], np.float32), (5, 1)),
        np.ones((5, 3)),
        links={4: Link(1, 0.5)},
    )
    clip = wave(rng, 4)
    half = Track(4, "rotation", clip.tracks[1].times, clip.tracks[1].values)
    scene = plain_scene(linked, Clip("wave", (*clip.tracks, half)))
    made, reports = reduce_motion(scene)
    assert 4 not in made.clips["wave"].nodes
    assert reports[0].worst is not None
    assert reports[0].worst <= BOUND
    moments = np.linspace(0, 1, 77)
    a = Character(scene).pose_many("wave", moments).world[:, 4, :, 3]
    b = Character(made).pose_many("wave", moments).world[:, 4, :, 3]
    assert np.linalg.norm(a - b, axis=1).max() <= BOUND * 1.05


def test_each_clip_is_told(rng: Any) -> None:
    told = []
    pose = Clip("a", (Track(1, "rotation", np.zeros(1), random_rotations(rng, 1)),))
    scene = plain_scene(arm(), pose, Clip("b", ()))
    made, reports = reduce_motion(scene, each=lambda: told.append(1))
    assert (len(told), [r.name for r in reports]) == (2, ["a", "b"])
    again, second = reduce_motion(made)
    assert again.clips["a"] is made.clips["a"]
    assert second[0].worst is None or isinstance(made.clips["a"], Clip)


@pytest.mark.parametrize(
    "wrong",
    [
        {"error": -1.0},
        {"error": np.nan},
        {"shell": 0.0},
        {"unit": 0.0},
        {"unit": np.inf},
    ],
)
def test_settings_refused(wrong: dict[str, float]) -> None:
    with pytest.raises(SettingError, match=next(iter(wrong))):
        MotionSettings(**wrong)
