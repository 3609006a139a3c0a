"""Mirrored clips: twice is once, and the picture in the mirror is right."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import flexor
from flexor.errors import SettingError
from flexor.maths import quaternions
from flexor.pose.clips.mirror import mirror_clip
from flexor.scene.character.clip import Clip
from flexor.scene.character.mirror_pairs import find_mirror
from flexor.scene.character.skeleton import Skeleton
from tests.oracle import pose as oracle
from tests.pose.ik.turned_rigs import places_at
from tests.scenes import INTERPOLATIONS, random_clip, random_rotations, rest_world

SEEDS = st.integers(0, 2**32 - 1)
TWINS = [0, 1, 3, 2, 5, 4, 6]
NAMES = ("root", "spine", "arm.L", "arm.R", "hand.L", "hand.R", "head")


def even_rig(rng: Any, sizes: Any = None) -> Skeleton:
    """Symmetric in place across x = 0, with any local axes on each side."""
    parents = [-1, 0, 1, 1, 2, 3, 1]
    arm, hand = rng.normal(size=(2, 3))
    places = rng.normal(size=(7, 3))
    places[[0, 1, 6], 0] = 0
    flip = np.array([-1, 1, 1])
    arm[0] += 2
    hand[0] += 3
    places[2], places[3] = arm, arm * flip
    places[4], places[5] = hand, hand * flip
    scales = np.ones((7, 3), "f4") if sizes is None else sizes
    turns = quaternions.to_matrix(random_rotations(rng, 7))
    for node, parent in enumerate(parents):  # what mirrors is passed on
        above = 1 if parent < 0 else np.linalg.det(turns[parent])
        turns[node, :, 0] *= np.sign(above * scales[node].prod())
    world = np.concatenate([turns, places[..., None]], 2)
    moves, rotations = np.zeros((7, 3), "f4"), np.zeros((7, 4), "f4")
    for node, parent in enumerate(parents):
        above = world[parent] if parent >= 0 else np.eye(3, 4)
        moves[node] = above[:, :3].T @ (world[node, :, 3] - above[:, 3])
        inner = above[:, :3].T @ turns[node] * np.sign(scales[node])
        rotations[node] = quaternions.from_matrix(inner)
    return Skeleton(NAMES, np.array(parents), moves, rotations, scales)


def matrices_at(skeleton: Skeleton, clip: Clip, time: float) -> Any:
    return oracle.world_matrices(skeleton, oracle.local_matrices(skeleton, clip, time))


@settings(max_examples=40)
@given(SEEDS, st.sampled_from([*INTERPOLATIONS, None]), st.booleans())
def test_joints_go_where_their_twins_image_went(
    seed: int, kind: Any, has_mirrors: bool
) -> None:
    rng = np.random.default_rng(seed)
    sizes = np.ones((7, 3))
    if has_mirrors:
        sizes[[3, 6]] = [-1, 1, 1]
    skeleton = even_rig(rng, sizes)
    clip = random_clip(rng, "c", 7, interpolation=kind)
    clip = replace(clip, tracks=tuple(t for t in clip.tracks if t.path != "scale"))
    other = mirror_clip(clip, skeleton)
    if not clip.tracks:
        return
    for moment in np.linspace(0, clip.duration, 13).tolist():
        expected = places_at(skeleton, clip, moment)[TWINS] * [-1, 1, 1]
        got = places_at(skeleton, other, moment)
        np.testing.assert_allclose(got, expected, atol=2e-4)


@settings(max_examples=40)
@given(SEEDS, st.sampled_from([*INTERPOLATIONS, None]), st.booleans())
def test_twice_is_the_clip(seed: int, kind: Any, has_mirrors: bool) -> None:
    rng = np.random.default_rng(seed)
    sizes = np.ones((7, 3))
    if has_mirrors:  # of pairs one side
        sizes[[3, 6]] = [-1, 1, 1]
    skeleton = even_rig(rng, sizes)
    clip = random_clip(rng, "c", 7, interpolation=kind)
    again = mirror_clip(mirror_clip(clip, skeleton), skeleton)
    assert [t.node for t in again.tracks] == [t.node for t in clip.tracks]
    for track, original in zip(again.tracks, clip.tracks, strict=True):
        assert track.interpolation == original.interpolation
        np.testing.assert_array_equal(track.times, original.times)
        size = max(1.0, float(np.abs(original.values).max()))
        if track.path == "scale":
            continue  # blended where axes do not fit
        values, wanted = track.values, original.values
        if track.path == "rotation" and (values.ravel() @ wanted.ravel()) < 0:
            values = -values
        np.testing.assert_allclose(values, wanted, atol=5e-6 * size)


def test_orientations_are_reflected(rng: np.random.Generator) -> None:
    skeleton = even_rig(rng)
    clip = random_clip(rng, "c", 7, interpolation="LINEAR")
    clip = replace(clip, tracks=tuple(t for t in clip.tracks if t.path == "rotation"))
    other = mirror_clip(clip, skeleton)
    flip = np.diag([-1.0, 1, 1])
    rest = rest_world(skeleton)[..., :3]
    for moment in (0.3, 0.9):
        before = matrices_at(skeleton, clip, moment)[..., :3] @ rest.swapaxes(1, 2)
        after = matrices_at(skeleton, other, moment)[..., :3] @ rest.swapaxes(1, 2)
        np.testing.assert_allclose(after, flip @ before[TWINS] @ flip, atol=1e-5)


@pytest.mark.slow
def test_the_mannequin() -> None:
    hero = flexor.samples.mannequin()
    skeleton = hero.skeleton
    mirror = find_mirror(skeleton.names, rest_world(skeleton))
    clip = hero.clips["kick"]
    other = mirror_clip(clip, skeleton)
    assert len(other.tracks) == len(clip.tracks)
    for moment in np.linspace(0, clip.duration, 9).tolist():
        expected = mirror.reflect(places_at(skeleton, clip, moment)[mirror.twins])
        got = places_at(skeleton, other, moment)
        np.testing.assert_allclose(got, expected, atol=2e-3)


def test_trees_that_differ_from_side_to_side(rng: np.random.Generator) -> None:
    skeleton = even_rig(rng)
    world = rest_world(skeleton)
    parents = skeleton.parents.copy()
    parents[5] = 1  # the right hand hangs on the spine
    above = world[1]
    moves, turns = skeleton.translations.copy(), skeleton.rotations.copy()
    moves[5] = above[:, :3].T @ (world[5, :, 3] - above[:, 3])
    turns[5] = quaternions.from_matrix(above[:, :3].T @ world[5, :, :3])
    uneven = replace(skeleton, parents=parents, translations=moves, rotations=turns)
    clip = random_clip(rng, "c", 7, interpolation="LINEAR")
    clip = replace(clip, tracks=tuple(t for t in clip.tracks if t.path == "rotation"))
    other = mirror_clip(clip, uneven)
    rest = rest_world(uneven)[..., :3]
    flip = np.diag([-1.0, 1, 1])
    for moment in clip.tracks[0].times.tolist():
        before = matrices_at(uneven, clip, moment)[..., :3] @ rest.swapaxes(1, 2)
        after = matrices_at(uneven, other, moment)[..., :3] @ rest.swapaxes(1, 2)
        np.testing.assert_allclose(after, flip @ before[TWINS] @ flip, atol=1e-4)


def test_a_sword_stays_in_its_hand(rng: np.random.Generator) -> None:
    plain = even_rig(rng)
    skeleton = Skeleton(
        (*NAMES, "sword", "tip"),
        np.array([*plain.parents, 4, 7], np.int32),
        np.concatenate([plain.translations, rng.normal(size=(2, 3))]),
        np.concatenate([plain.rotations, random_rotations(rng, 2)]),
        np.ones((9, 3), "f4"),
    )
    clip = random_clip(rng, "c", 9, interpolation="LINEAR")
    other = mirror_clip(clip, skeleton)
    for track, made in zip(clip.tracks, other.tracks, strict=True):
        if track.node > 6:
            assert made is track
        else:
            assert made.node == TWINS[track.node]


def test_twins_in_another_pose_are_found_by_the_tree(rng: np.random.Generator) -> None:
    skeleton = even_rig(rng)
    moves = skeleton.translations.copy()
    moves[5] *= 3  # the right hand is elsewhere
    posed = replace(skeleton, translations=moves)
    assert find_mirror(NAMES, rest_world(posed)).twins[5] == 5
    clip = random_clip(rng, "c", 7, interpolation="LINEAR")
    other = mirror_clip(clip, posed)
    nodes = [TWINS[track.node] for track in clip.tracks]
    assert [track.node for track in other.tracks] == nodes
    again = mirror_clip(other, posed)
    for track, original in zip(again.tracks, clip.tracks, strict=True):
        if track.path == "translation":
            np.testing.assert_allclose(track.values, original.values, atol=1e-4)


def test_what_cannot_be_mirrored_is_refused(rng: np.random.Generator) -> None:
    skeleton = even_rig(rng)
    clip = random_clip(rng, "c", 7)
    plain = replace(skeleton, names=tuple("abcdefg"))
    with pytest.raises(SettingError, match="no left and right"):
        mirror_clip(clip, plain)
    with pytest.raises(SettingError, match="no node 'x'"):
        mirror_clip(clip, plain, {"c": "x"})
    with pytest.raises(SettingError, match="comes twice"):
        mirror_clip(clip, plain, {"c": "d", "e": "d"})
    given_pairs = mirror_clip(clip, plain, {"c": "d", "e": "f"})
    found = mirror_clip(clip, skeleton)
    for one, two in zip(given_pairs.tracks, found.tracks, strict=True):
        assert one.node == two.node
        np.testing.assert_array_equal(one.values, two.values)
    with pytest.raises(SettingError, match="lacks"):
        mirror_clip(random_clip(rng, "c", 12), skeleton)
