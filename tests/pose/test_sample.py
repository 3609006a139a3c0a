"""Sampling against the slow twin: sizes, interpolations, times, signs, weights."""

from __future__ import annotations

import dataclasses
from typing import Any

import numpy as np
import pytest

from flexor.api.character import Character
from flexor.errors import ShapeError
from flexor.maths import quaternions
from flexor.pose.clip_tables import pack_clip
from flexor.pose.layout import make_layout
from flexor.pose.sample import init_sample, sample
from flexor.scene.character.clip import Clip, Track
from tests.oracle import pose as oracle
from tests.scenes import (
    INTERPOLATIONS,
    plain_scene,
    random_clip,
    random_scene,
    random_skeleton,
    random_times,
    random_track,
)

Rng = np.random.Generator


def moments_around(times: Any) -> Any:
    """Before, on, between and after the keys."""
    times = np.asarray(times, np.float32)
    middles = (times[1:] + times[:-1]) / 2
    close = np.concatenate([np.nextafter(times, -9), np.nextafter(times, 9)])
    ends = [-5, 0, times[0] - 0.01, times[-1] + 0.01, 1e6]
    return np.concatenate([times, middles, close, ends]).astype(np.float32)


def check(hero: Character, clip: Clip, moments: Any) -> None:
    """Local and world matrices and morph weights at `moments` are those of the twin."""
    poses = hero.pose_many(clip.name, moments)
    local = poses.local
    for n, moment in enumerate(moments):
        expected = oracle.local_matrices(hero.skeleton, clip, float(moment))
        np.testing.assert_allclose(local[n], expected, rtol=2e-5, atol=2e-5)
        world = oracle.world_matrices(hero.skeleton, expected)
        size = max(1, np.abs(world).max(initial=0))
        np.testing.assert_allclose(poses.world[n], world, atol=3e-6 * size)
        weights = oracle.morph_weights(hero.scene, clip, float(moment))
        np.testing.assert_allclose(poses.weights[n], weights, rtol=2e-5, atol=2e-5)


@pytest.mark.parametrize("count", [0, 1, 5, 8, 9, 17])
@pytest.mark.parametrize("kind", [*INTERPOLATIONS, None])
def test_any_number_of_nodes(count: int, kind: Any, rng: Rng) -> None:
    skeleton = random_skeleton(rng, count, roots=min(2, count), scale="uneven")
    clip = random_clip(rng, "clip", count, interpolation=kind)
    hero = Character(plain_scene(skeleton, clip))
    times = clip.tracks[0].times if clip.tracks else [1.0]
    check(hero, clip, moments_around(times)[::3])


@pytest.mark.parametrize("kind", INTERPOLATIONS)
@pytest.mark.parametrize("path", ["translation", "rotation", "scale"])
@pytest.mark.parametrize("keys", [1, 2, 3, 9])
def test_every_place_between_keys(kind: Any, path: Any, keys: int, rng: Rng) -> None:
    skeleton = random_skeleton(rng, 3)
    track = random_track(rng, 1, path, kind, random_times(rng, keys))
    clip = Clip("clip", (track,))
    check(Character(plain_scene(skeleton, clip)), clip, moments_around(track.times))


@pytest.mark.parametrize("name", ["linear", "step", "cubic", "mixed"])
def test_whole_scenes(name: str, rng: Rng) -> None:
    scene = random_scene(rng)
    check(
        Character(scene), scene.clips[name], np.linspace(-0.2, 3, 11, dtype=np.float32)
    )


@pytest.mark.parametrize("kind", INTERPOLATIONS)
@pytest.mark.parametrize("targets", [1, 3])
def test_morph_weights(kind: Any, targets: int, rng: Rng) -> None:
    """Two nodes with tracks of their own, one without; other columns stay at rest."""
    scene = random_scene(rng, targets=targets, nodes=5, vertices=3)
    tracks = [
        random_track(rng, node, "weights", kind, random_times(rng, 4), targets)
        for node in (4, 0)
    ]
    clip = Clip("face", tuple(tracks))
    hero = Character(dataclasses.replace(scene, clips={"face": clip}))
    check(hero, clip, moments_around(tracks[0].times))


@pytest.mark.parametrize("kind", ["LINEAR", "STEP"])
def test_signs_of_keys_do_not_matter(kind: Any, rng: Rng) -> None:
    """q and -q are the same turn: always the shortest arc."""
    skeleton = random_skeleton(rng, 2)
    times = random_times(rng, 12)
    track = random_track(rng, 0, "rotation", kind, times)
    signs = rng.choice([-1, 1], (12, 1))
    flipped = Track(0, "rotation", times.copy(), track.values * signs, kind)
    clips = Clip("a", (track,)), Clip("b", (flipped,))
    hero = Character(plain_scene(skeleton, *clips))
    moments = moments_around(times)
    one, two = hero.pose_many("a", moments), hero.pose_many("b", moments)
    np.testing.assert_allclose(one.local, two.local, atol=1e-6)
    np.testing.assert_allclose(
        np.abs((one.rotations * two.rotations).sum(-1)), 1, atol=1e-6
    )


def test_shortest_arc_of_a_known_turn() -> None:
    """From 0 to 60 degrees about y, the second key with the other sign."""
    half = np.radians(30)
    keys = np.array([[0, 0, 0, 1], [0, -np.sin(half), 0, -np.cos(half)]])
    clip = Clip("turn", (Track(0, "rotation", np.array([0, 1.0]), keys),))
    skeleton = random_skeleton(np.random.default_rng(1), 1, roots=1)
    hero = Character(plain_scene(skeleton, clip))
    for u in (0.0, 0.25, 0.5, 1.0):
        made = quaternions.to_matrix(hero.pose("turn", u).rotations[0])
        angle = np.radians(60) * u
        assert abs(made[0, 2] - np.sin(angle)) < 1e-6
        assert abs(made[0, 0] - np.cos(angle)) < 1e-6


@pytest.mark.parametrize("angle", [0, 1e-7, 1e-5, 1e-4, 2e-4, 1e-2, 1.5, 3.0, np.pi])
def test_small_and_large_angles(angle: float) -> None:
    axis = np.array([0.6, 0, 0.8])
    last = np.append(np.sin(angle / 2) * axis, np.cos(angle / 2))
    track = Track(0, "rotation", np.array([0, 1.0]), np.array([[0, 0, 0, 1], last]))
    clip = Clip("turn", (track,))
    skeleton = random_skeleton(np.random.default_rng(1), 1, roots=1)
    hero = Character(plain_scene(skeleton, clip))
    for u in np.linspace(0, 1, 9, dtype=np.float32):
        q = hero.pose("turn", float(u)).rotations[0]
        expected = np.append(np.sin(u * angle / 2) * axis, np.cos(u * angle / 2))
        np.testing.assert_allclose(q, expected, atol=4e-7)
        assert abs(np.linalg.norm(q) - 1) < 4e-7


@pytest.mark.parametrize("kind", ["LINEAR", "STEP"])
def test_keys_that_are_not_unit_are_kept(kind: Any) -> None:
    """As the file says, so that writing back gives the same."""
    keys = np.array([[0, 0, 0, 1.25], [0, 0.5, 0, 0.5]])
    clip = Clip("odd", (Track(0, "rotation", np.array([1.0, 2]), keys, kind),))
    skeleton = random_skeleton(np.random.default_rng(1), 1, roots=1)
    hero = Character(plain_scene(skeleton, clip))
    for moment, key in ((0.5, 0), (1.0, 0), (2.0, 1), (3.0, 1)):
        np.testing.assert_array_equal(
            hero.pose("odd", moment).rotations[0], keys[key].astype(np.float32)
        )


def test_step_keys_are_kept_with_their_signs(rng: Rng) -> None:
    times = random_times(rng, 12)
    track = random_track(rng, 0, "rotation", "STEP", times)
    hero = Character(plain_scene(random_skeleton(rng, 2), Clip("c", (track,))))
    made = hero.pose_many("c", times + np.float32(0.001)).rotations[:, 0]
    np.testing.assert_array_equal(made, track.values)


def test_long_keys_are_interpolated_in_a_line() -> None:
    """Where the product of two keys is above 1 there is no angle between them."""
    keys = np.array([[0, 0, 0, 1.25], [0, 0, 0.125, 1.25], [0, 0, 0.125, 1.25]])
    clip = Clip("long", (Track(0, "rotation", np.array([0.0, 1, 2]), keys),))
    skeleton = random_skeleton(np.random.default_rng(1), 1, roots=1)
    hero = Character(plain_scene(skeleton, clip))
    made = hero.pose_many("long", [0.5, 1.5]).rotations[:, 0]
    expected = [[0, 0, 0.0625, 1.25], [0, 0, 0.125, 1.25]]
    np.testing.assert_allclose(made, expected, atol=1e-6)


def test_cubic_rotations_are_unit(rng: Rng) -> None:
    times = random_times(rng, 5)
    track = random_track(rng, 0, "rotation", "CUBICSPLINE", times)
    doubled = Track(0, "rotation", times.copy(), track.values * 3, "CUBICSPLINE")
    hero = Character(plain_scene(random_skeleton(rng, 2), Clip("c", (doubled,))))
    q = hero.pose_many("c", moments_around(times)).rotations[:, 0]
    np.testing.assert_allclose(np.linalg.norm(q, axis=1), 1, atol=1e-6)


def test_cubic_rotation_of_zeros_is_finite() -> None:
    track = Track(0, "rotation", np.array([0, 1.0]), np.zeros((2, 3, 4)), "CUBICSPLINE")
    skeleton = random_skeleton(np.random.default_rng(1), 1, roots=1)
    hero = Character(plain_scene(skeleton, Clip("c", (track,))))
    assert np.isfinite(hero.pose_many("c", [0, 0.5, 1]).world).all()


def test_keys_are_met_exactly(rng: Rng) -> None:
    """On a key the value is the key, to the last bit."""
    times = random_times(rng, 6)
    for kind in INTERPOLATIONS:
        for path in ("translation", "scale"):
            track = random_track(rng, 1, path, kind, times)  # type: ignore[arg-type]
            hero = Character(plain_scene(random_skeleton(rng, 2), Clip("c", (track,))))
            poses = hero.pose_many("c", times)
            made = poses.translations if path == "translation" else poses.scales
            keys = track.values[:, 1] if kind == "CUBICSPLINE" else track.values
            np.testing.assert_array_equal(made[:, 1], keys)


def test_rotation_keys_are_met_exactly(rng: Rng) -> None:
    """Wherever the character was before: in one state and in a crowd."""
    times = random_times(rng, 40)
    track = random_track(rng, 1, "rotation", "LINEAR", times)
    hero = Character(plain_scene(random_skeleton(rng, 2), Clip("c", (track,))))
    moments = moments_around(times[:-1])
    both = np.stack(
        [moments[: len(times) - 1], moments[len(times) - 2 :][: len(times) - 1]]
    )
    poses = hero.pose_many("c", both.T.ravel())
    on_keys = poses.rotations[::2, 1]
    dots = (on_keys * track.values[:-1]).sum(1)
    np.testing.assert_array_equal(on_keys * np.sign(dots)[:, None], track.values[:-1])


def test_nodes_without_tracks_stay_at_rest(rng: Rng) -> None:
    skeleton = random_skeleton(rng, 10, scale="uneven")
    track = random_track(rng, 4, "rotation", "LINEAR", random_times(rng, 3))
    hero = Character(plain_scene(skeleton, Clip("c", (track,))))
    pose = hero.pose("c", 0.7)
    others = np.arange(10) != 4
    np.testing.assert_array_equal(pose.translations, skeleton.translations)
    np.testing.assert_array_equal(pose.scales, skeleton.scales)
    np.testing.assert_array_equal(pose.rotations[others], skeleton.rotations[others])
    assert not np.allclose(pose.rotations[4], skeleton.rotations[4])


def test_an_empty_clip_is_the_rest_pose(rng: Rng) -> None:
    hero = Character(plain_scene(random_skeleton(rng, 5), Clip("still", ())))
    np.testing.assert_array_equal(hero.pose("still", 3).world, hero.pose().world)


def test_shared_timelines_are_found_once(rng: Rng) -> None:
    times = random_times(rng, 4)
    paths: Any = ("translation", "rotation", "scale")
    tracks = [
        random_track(rng, i, path, "LINEAR", times) for i, path in enumerate(paths)
    ]
    tracks.append(random_track(rng, 3, "scale", "STEP", random_times(rng, 5)))
    clip = Clip("c", tuple(tracks))
    tables = pack_clip(clip, make_layout(plain_scene(random_skeleton(rng, 4))))
    assert tables.timelines.tolist() == [[0, 4], [4, 5]]
    assert len(tables.times) == 9
    assert tables.duration == clip.duration


def test_sample_refuses_other_moments(rng: Rng) -> None:
    scene = plain_scene(random_skeleton(rng, 3), random_clip(rng, "c", 3))
    layout = make_layout(scene)
    state = init_sample(pack_clip(scene.clips["c"], layout), layout, 2)
    with pytest.raises(ShapeError, match="moments: shape"):
        sample(state, np.zeros(3, np.float32))
    with pytest.raises(ShapeError, match="moments: float64"):
        sample(state, np.zeros(2))


def test_a_clip_of_another_character_is_refused(rng: Rng) -> None:
    first, second = (Character(random_scene(rng)) for _ in range(2))
    with pytest.raises(ShapeError, match="another character"):
        init_sample(first.clip_tables("mixed"), second.layout, 1)
