"""Baked tracks: what other engines make of them is what links do here."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from flexor.convert.links.bake_links import TOLERANCE, bake_links
from flexor.pose.clips.track_values import angles_between
from flexor.scene.character.clip import Clip, Interpolation, Path, Track
from flexor.scene.character.skeleton import Link, Skeleton
from tests.convert.shape.tubes import turn
from tests.oracle import pose as oracle
from tests.scenes import INTERPOLATIONS, random_rotations, random_times, random_track

PATHS: tuple[Path, ...] = ("translation", "rotation", "scale")
FRACTIONS = (0.25, 0.5, 0.75)


def linked_skeleton(rng: np.random.Generator, **rest: Any) -> Skeleton:
    """A root, a joint (1) and its three links."""
    links = {2 + i: Link(1, fraction) for i, fraction in enumerate(FRACTIONS)}
    rows = np.array([0, 1, 1, 1, 1])
    parts = {
        "translations": rng.normal(size=(2, 3)),
        "rotations": random_rotations(rng, 2),
        "scales": rng.uniform(0.5, 2, (2, 3)),
        **rest,
    }
    return Skeleton(
        ("root", "joint", "a", "b", "c"),
        [-1, 0, 0, 0, 0],
        *(np.asarray(part)[rows] for part in parts.values()),
        links=links,
    )


def small_turns(rng: np.random.Generator, start: Any, keys: int) -> Any:
    """Rotations (keys, 4) of up to 140 degrees away from `start`."""
    rows = []
    for _ in range(keys):
        way = turn(rng.normal(size=3), float(rng.uniform(0, 140)))
        x, y, z, w = way
        left = np.array([[w, -z, y, x], [z, w, -x, y], [-y, x, w, z], [-x, -y, -z, w]])
        rows.append(left @ start)
    return np.array(rows)


def twisted(skeleton: Skeleton, axis: Any = (0.0, 0.6, 0.8)) -> Skeleton:
    """The same with twist links, of which the first takes nothing of the twist."""
    links = {
        node: Link(link.joint, link.fraction - 0.25, axis)
        for node, link in skeleton.links.items()
    }
    return replace(skeleton, links=links)


def errors_of(skeleton: Skeleton, baked: Clip, times: Any) -> dict[str, float]:
    """The largest difference of baked tracks from links, by path; turns in radians."""
    worst = dict.fromkeys(PATHS, 0.0)
    own = Clip("own", tuple(t for t in baked.tracks if t.node == 1))
    for time in times:
        parts: dict[str, Any] = {
            "translation": skeleton.translations.astype(np.float64),
            "rotation": skeleton.rotations.astype(np.float64),
            "scale": skeleton.scales.astype(np.float64),
        }
        for track in own.tracks:
            parts[track.path][1] = oracle.sample_track(track, time)
        oracle.follow_links(skeleton, *parts.values())
        for track in baked.tracks:
            if track.node == 1:
                continue
            got, want = oracle.sample_track(track, time), parts[track.path][track.node]
            if track.path == "rotation":
                gap = float(angles_between(got / np.linalg.norm(got), want))
            else:
                gap = float(np.abs(got - want).max())
            worst[track.path] = max(worst[track.path], gap)
    return worst


@pytest.mark.parametrize("interpolation", INTERPOLATIONS)
@pytest.mark.parametrize("path", PATHS)
@pytest.mark.parametrize("kind", ["bend", "twist", "swing"])
def test_baked_tracks_move_as_links_do(
    rng: np.random.Generator, path: Path, interpolation: Interpolation, kind: str
) -> None:
    skeleton = linked_skeleton(rng)
    if kind == "twist":
        skeleton = twisted(skeleton)
    if kind == "swing":
        links = {
            node: replace(link, axis=(0.0, 0.6, 0.8), is_swing=True)
            for node, link in skeleton.links.items()
        }
        skeleton = replace(skeleton, links=links)
    times = random_times(rng, 6)
    if path == "rotation":
        keys = small_turns(rng, skeleton.rotations[1].astype(np.float64), 6)
        values = keys
        if interpolation == "CUBICSPLINE":
            keys *= np.where((keys @ skeleton.rotations[1]) < 0, -1, 1)[:, None]
            slopes = rng.normal(size=(6, 2, 4)) * 0.5
            values = np.stack([slopes[:, 0], keys, slopes[:, 1]], 1)
        track = Track(1, "rotation", times, values.astype(np.float32), interpolation)
    else:
        track = random_track(rng, 1, path, interpolation, times)
    baked = bake_links(Clip("clip", (track,)), skeleton, skeleton.links)
    assert [t.node for t in baked.tracks] == [1, 2, 3, 4]
    assert baked.tracks[0] is track
    assert all(t.path == path for t in baked.tracks)
    moments = np.linspace(0, float(times[-1]) + 0.2, 997)
    if interpolation == "STEP":
        moments = moments[np.abs(moments[:, None] - times).min(1) > 1e-5]
    worst = errors_of(skeleton, baked, moments)[path]
    assert worst < (1.5 * TOLERANCE if path == "rotation" else 1e-5)


def test_turns_about_one_axis_need_no_more_keys(rng: np.random.Generator) -> None:
    skeleton = linked_skeleton(rng, rotations=np.array([[0.0, 0, 0, 1]] * 2))
    keys = np.array([turn([0, 0, 1], a) for a in (0, 120, -30, 90)], np.float32)
    track = Track(1, "rotation", np.arange(4, dtype=np.float32), keys)
    baked = bake_links(Clip("clip", (track,)), skeleton, skeleton.links)
    for own in baked.tracks[1:]:
        np.testing.assert_array_equal(own.times, track.times)


def test_other_turns_get_keys_between_where_they_need_them(
    rng: np.random.Generator,
) -> None:
    skeleton = linked_skeleton(rng, rotations=np.array([[0.0, 0, 0, 1]] * 2))
    keys = [turn([1, 0, 0], 100), turn([0, 1, 0], 100), turn([0, 1, 0], 50)]
    track = Track(1, "rotation", np.arange(3, dtype=np.float32), np.array(keys, "f4"))
    baked = bake_links(Clip("clip", (track,)), skeleton, skeleton.links)
    times = baked.tracks[1].times
    assert np.isin(track.times, times).all()
    assert np.count_nonzero(times < 1) > 8
    assert np.count_nonzero(times > 1) == 1
    assert all(np.array_equal(t.times, times) for t in baked.tracks[1:])
    rough = bake_links(Clip("c", (track,)), skeleton, skeleton.links, tolerance=1e-2)
    assert len(rough.tracks[1].times) < len(times) / 3
    worst = errors_of(skeleton, rough, np.linspace(0, 2, 501))["rotation"]
    assert 1e-3 < worst < 1.5e-2


def test_signs_go_on_from_key_to_key(rng: np.random.Generator) -> None:
    skeleton = linked_skeleton(rng)
    keys = small_turns(rng, skeleton.rotations[1].astype(np.float64), 12)
    keys *= rng.choice([-1, 1], (12, 1))
    for word in ("LINEAR", "STEP"):
        track = Track(1, "rotation", random_times(rng, 12), keys.astype("f4"), word)
        baked = bake_links(Clip("clip", (track,)), skeleton, skeleton.links)
        for own in baked.tracks[1:]:
            assert ((own.values[1:] * own.values[:-1]).sum(1) >= 0).all()
            lengths = np.linalg.norm(own.values, axis=1)
            np.testing.assert_allclose(lengths, 1, atol=1e-6)


@pytest.mark.parametrize("word", ["LINEAR", "STEP"])
def test_signs_go_on_through_half_turns(
    rng: np.random.Generator, word: Interpolation
) -> None:
    """There and back again: links jump to the other side twice."""
    skeleton = linked_skeleton(rng, rotations=np.array([[0.0, 0, 0, 1]] * 2))
    angles = (100, 170, 190, 260, 250, 185, 175, 90)
    keys = np.array([turn([0, 0, 1], angle) for angle in angles], np.float32)
    track = Track(1, "rotation", np.arange(8, dtype=np.float32), keys, word)
    baked = bake_links(Clip("clip", (track,)), skeleton, skeleton.links)
    for own in baked.tracks[1:]:
        assert ((own.values[1:] * own.values[:-1]).sum(1) >= 0).all()
        ends = own.values[np.searchsorted(own.times, track.times)]
        fraction = skeleton.links[own.node].fraction
        for angle, end in zip(angles, ends, strict=True):
            way = angle if angle < 180 else angle - 360
            want = turn([0, 0, 1], fraction * way)
            assert abs(float(want @ end)) == pytest.approx(1, abs=1e-6)


def test_spans_that_are_right_in_the_middle_alone_get_more_keys(
    rng: np.random.Generator,
) -> None:
    """A joint that starts and stops gently is early, then late, in the middle right."""
    skeleton = linked_skeleton(rng, rotations=np.array([[0.0, 0, 0, 1]] * 2))
    values = np.zeros((2, 3, 4), np.float32)
    values[:, 1] = turn([0, 0, 1], 0), turn([0, 0, 1], 90)
    times = np.array([0, 1], np.float32)
    track = Track(1, "rotation", times, values, "CUBICSPLINE")
    baked = bake_links(Clip("clip", (track,)), skeleton, skeleton.links)
    worst = errors_of(skeleton, baked, np.linspace(0, 1, 401))["rotation"]
    assert worst < 1.5 * TOLERANCE


def test_a_joint_that_goes_through_half_a_turn_ends(rng: np.random.Generator) -> None:
    """Links jump there: keys get close to the place, but not without end."""
    skeleton = linked_skeleton(rng, rotations=np.array([[0.0, 0, 0, 1]] * 2))
    keys = np.array([turn([0, 0, 1], a) for a in (100, 250)], np.float32)
    track = Track(1, "rotation", np.array([0, 1], np.float32), keys)
    baked = bake_links(Clip("clip", (track,)), skeleton, skeleton.links)
    assert len(baked.tracks[1].times) < 20
    moments = np.linspace(0, 1, 2001)
    moments = moments[np.abs(moments - 80 / 150) > 1e-3]
    assert errors_of(skeleton, baked, moments)["rotation"] < 1.5 * TOLERANCE


def test_the_number_of_keys_is_bounded(rng: np.random.Generator) -> None:
    skeleton = linked_skeleton(rng)
    track = random_track(rng, 1, "rotation", "CUBICSPLINE", random_times(rng, 4))
    baked = bake_links(Clip("c", (track,)), skeleton, skeleton.links, tolerance=1e-12)
    assert len(baked.tracks[1].times) <= 256 * 4


def test_one_key_and_keys_too_close_to_part(rng: np.random.Generator) -> None:
    skeleton = linked_skeleton(rng)
    times = np.array([1, np.nextafter(np.float32(1), np.float32(2))], np.float32)
    keys = small_turns(rng, skeleton.rotations[1].astype(np.float64), 2).astype("f4")
    for count in (1, 2):
        track = Track(1, "rotation", times[:count], keys[:count])
        baked = bake_links(Clip("clip", (track,)), skeleton, skeleton.links)
        assert all(len(own.times) == count for own in baked.tracks)


def test_clips_that_do_not_move_the_joint_stay(rng: np.random.Generator) -> None:
    skeleton = linked_skeleton(rng)
    track = random_track(rng, 0, "rotation", "LINEAR", random_times(rng, 4))
    clip = Clip("clip", (track,))
    assert bake_links(clip, skeleton, skeleton.links) is clip


def test_tracks_that_stay_at_rest_are_left_out(rng: np.random.Generator) -> None:
    """Many files have tracks for places and scales that never change."""
    skeleton = linked_skeleton(rng)
    times = np.arange(5, dtype=np.float32)
    rests = {
        "translation": np.tile(skeleton.translations[1], (5, 1)),
        "rotation": np.tile(-skeleton.rotations[1], (5, 1)),
        "scale": np.tile(skeleton.scales[1], (5, 1)),
    }
    still = tuple(Track(1, path, times, rests[path]) for path in PATHS)
    for own in (skeleton, twisted(skeleton)):
        clip = Clip("clip", still)
        assert bake_links(clip, own, own.links) is clip
    moved = rests["translation"].copy()
    moved[3] += 1e-3
    track = Track(1, "translation", times, moved)
    baked = bake_links(Clip("clip", (*still, track)), skeleton, skeleton.links)
    assert [t.node for t in baked.tracks[4:]] == [2, 3, 4]
    # A spline that is at rest at its keys may leave it between them.
    slopes = np.stack([np.ones((5, 3)), rests["scale"], np.zeros((5, 3))], 1)
    for factor, count in ((1, 4), (0, 1)):
        slopes[:, 0] = factor
        spline = Track(1, "scale", times, slopes.astype("f4"), "CUBICSPLINE")
        baked = bake_links(Clip("clip", (spline,)), skeleton, skeleton.links)
        assert len(baked.tracks) == count


def test_keys_that_are_not_needed_are_left_out(rng: np.random.Generator) -> None:
    """Sixty keys of a turn at an even speed, a rest, and a turn back."""
    skeleton = linked_skeleton(rng, rotations=np.array([[0.0, 0, 0, 1]] * 2))
    angles = np.concatenate([np.linspace(0, 60, 30), [60] * 20, np.linspace(60, 0, 10)])
    keys = np.array([turn([0, 0, 1], a) for a in angles], np.float32)
    track = Track(1, "rotation", np.arange(60, dtype=np.float32), keys)
    baked = bake_links(Clip("clip", (track,)), skeleton, skeleton.links)
    for own in baked.tracks[1:]:
        assert own.times.tolist() == [0, 29, 50, 59]
    moments = np.linspace(0, 59, 999)
    assert errors_of(skeleton, baked, moments)["rotation"] <= TOLERANCE
