"""Which tracks are packed: regular timelines, what changes nothing, what cannot be."""

from __future__ import annotations

from typing import Any

import numpy as np

from flexor.convert.motion.plan import find_grid, plan_motion, trim_tracks
from flexor.pose.clip_tables import pack_clip
from flexor.pose.layout import make_layout
from flexor.scene.character.clip import Clip, Track
from tests.packed_clips import arm, wave
from tests.scenes import plain_scene, random_rotations


def moving(times: Any, node: int = 0) -> Track:
    times = np.asarray(times, np.float32)
    return Track(node, "translation", times, np.outer(times, [1, 2, 3]))


def test_a_regular_timeline_is_found() -> None:
    grid = find_grid([moving(0.5 + np.arange(40) / 24)])
    assert grid is not None
    assert grid.frames == 40
    assert abs(grid.rate - 24) < 1e-4
    assert grid.start == 0.5


def test_keys_here_and_there_on_a_regular_timeline() -> None:
    sparse = [moving(np.array([0, 3, 4, 9]) / 30), moving(np.array([1, 9]) / 30, 1)]
    grid = find_grid(sparse)
    assert grid is not None
    assert (grid.frames, round(grid.rate)) == (10, 30)


def test_no_regular_timeline(rng: Any) -> None:
    assert find_grid([moving(np.sort(rng.random(30)))]) is None
    assert find_grid([]) is None
    assert find_grid([moving([0.0])]) is None
    # One key far away would take millions of frames.
    assert find_grid([moving([0, 1e-3, 5e3])]) is None


def test_the_longest_timeline_if_not_all_fit(rng: Any) -> None:
    odd = moving(np.sort(rng.random(5)), 1)
    grid = find_grid([moving(np.arange(61) / 60), odd])
    assert grid is not None
    assert grid.frames == 61
    assert not grid.holds(odd.times)


def test_what_changes_nothing_is_dropped(rng: Any) -> None:
    layout = make_layout(plain_scene(arm(3)))
    times = np.arange(5.0)
    values = np.array([0, 1, 1, 1, 0])[:, None] * np.ones((5, 3))
    clip = Clip(
        "a",
        (
            Track(0, "scale", times, np.ones((5, 3))),
            Track(1, "scale", times, np.full((5, 3), 2.0)),
            Track(2, "translation", times, values),
            Track(2, "scale", times, values, "STEP"),
            Track(
                0,
                "rotation",
                times,
                np.zeros((5, 3, 4)) + np.array([[[0], [1], [0]]]),
                "CUBICSPLINE",
            ),
        ),
    )
    kept = {(t.node, t.path): t for t in trim_tracks(clip, layout)}
    assert set(kept) == {
        (1, "scale"),
        (2, "translation"),
        (2, "scale"),
        (0, "rotation"),
    }
    assert len(kept[1, "scale"].times) == 1
    assert kept[2, "translation"].times.tolist() == [0, 1, 3, 4]
    assert kept[2, "scale"].times.tolist() == [0, 1, 4]
    assert len(kept[0, "rotation"].times) == 1
    np.testing.assert_allclose(kept[0, "rotation"].values, 0.5)


def test_two_tracks_for_one_property_are_left_alone() -> None:
    layout = make_layout(plain_scene(arm(2)))
    track = Track(0, "scale", np.arange(2.0), np.ones((2, 3)))
    assert trim_tracks(Clip("a", (track, track)), layout) == [track, track]


def test_tracks_that_cannot_be_packed_keep_their_keys(rng: Any) -> None:
    clip = wave(rng, 3)
    times = clip.tracks[0].times
    long = random_rotations(rng, len(times))
    long = (
        np.repeat(long[:1], len(times), 0) * np.linspace(1, 1.01, len(times))[:, None]
    )
    step = Track(1, "rotation", times, clip.tracks[1].values, "STEP")
    tracks = [clip.tracks[0], step, Track(2, "rotation", times, long)]
    layout = make_layout(plain_scene(arm(3)))
    tables = pack_clip(Clip("a", tuple(tracks)), layout)
    grid = find_grid(tracks)
    assert grid is not None
    plan = plan_motion(tracks, grid, tables, 1e-4, 0.03)
    assert [track.node for track in plan.rotations] == [0]
    assert {track.node for track in plan.keyed} == {1, 2}


def test_a_cut_is_seen(rng: Any) -> None:
    clip = wave(rng, 2)
    values = clip.tracks[0].values.copy()
    values[30:, 2] += 2
    values /= np.linalg.norm(values, axis=1, keepdims=True)
    tracks = [Track(0, "rotation", clip.tracks[0].times, values)]
    layout = make_layout(plain_scene(arm(2)))
    grid = find_grid(tracks)
    assert grid is not None
    tables = pack_clip(Clip("a", tuple(tracks)), layout)
    plan = plan_motion(tracks, grid, tables, 1e-4, 0.03)
    assert np.flatnonzero(plan.cuts).tolist() == [29]
