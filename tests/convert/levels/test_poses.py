"""Poses that levels are measured in."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from flexor.convert.levels.poses import (
    LevelPoses,
    level_poses,
    share_moments,
    swing_turns,
)
from flexor.errors import ShapeError
from flexor.maths import quaternions, transforms
from flexor.pose.layout import make_layout
from flexor.scene.character.clip import Clip, Track
from flexor.scene.character.skeleton import Link, Skeleton
from flexor.scene.runtime.packed_clip import unpacked
from tests.oracle import pose as oracle
from tests.packed_clips import arm, packed_clip
from tests.scenes import bound_skin, plain_scene, random_scene, rest_world


@given(st.lists(st.floats(0, 100), max_size=60), st.integers(1, 40))
def test_moments_are_shared_out(durations: list[float], most: int) -> None:
    counts = share_moments(durations, most)
    assert len(counts) == len(durations)
    if len(durations) > most:
        assert counts.sum() == most
        assert counts.max() == 1
        gaps = np.diff(np.flatnonzero(counts))
        assert gaps.size == 0 or gaps.max() - gaps.min() <= 1
        return
    assert (counts >= 1).all()
    is_long = np.array(durations) > 0
    assert (counts[~is_long] == 1).all()
    if is_long.any():
        assert counts.sum() == most
        order = np.argsort(durations, kind="stable")
        assert (np.diff(counts[order]) >= 0).all() or len(set(durations)) < len(order)
    else:
        assert (counts == 1).all()


def test_long_clips_get_more_moments() -> None:
    assert share_moments([1.0, 3.0], 10).tolist() == [3, 7]
    assert share_moments([0.0, 2.0, 2.0], 7).tolist() == [1, 3, 3]
    assert share_moments([], 7).tolist() == []


def test_clips_are_sampled_in_the_middle_of_equal_parts(rng: Any) -> None:
    scene = random_scene(rng)
    poses = level_poses(scene, make_layout(scene))
    clips = list(scene.clips.values())
    counts = share_moments([clip.duration for clip in clips], 32)
    assert poses.clips.shape == (32, len(scene.skeleton), 3, 4)
    row = 0
    for clip, count in zip(clips, counts.tolist(), strict=True):
        for part in range(count):
            moment = np.float32((part + 0.5) * clip.duration / count)
            local = oracle.local_matrices(scene.skeleton, unpacked(clip), moment)
            wanted = oracle.world_matrices(scene.skeleton, local)
            np.testing.assert_allclose(poses.clips[row], wanted, atol=2e-4)
            row += 1
    assert row == 32


def test_packed_clips_are_sampled_as_what_they_hold(rng: Any) -> None:
    packed = packed_clip(rng)
    plain = replace(unpacked(packed), name="plain")
    poses = []
    for clip in (packed, plain):
        scene = plain_scene(arm(4), clip)
        poses.append(level_poses(scene, make_layout(scene)).clips)
    assert len(poses[0]) == 32
    assert np.ptp(poses[0], axis=0).max() > 0.01
    np.testing.assert_allclose(poses[0], poses[1], atol=1e-4)


def test_without_clips_there_are_swings_alone() -> None:
    scene = plain_scene(arm(4))
    poses = level_poses(scene, make_layout(scene))
    assert poses.clips.shape == (0, 4, 3, 4)
    assert poses.swings.shape == (12, 4, 3, 4)


def test_joints_are_turned_and_nothing_else(rng: Any) -> None:
    """Of a scene with skins and rigid meshes, in each node's own axes."""
    scene = random_scene(rng, nodes=17)
    skeleton = scene.skeleton
    turned = {*scene.skins[0].joints.tolist()}
    turned |= set(np.flatnonzero(scene.node_mesh >= 0).tolist())
    assert 2 < len(turned) < 17
    swings = level_poses(scene, make_layout(scene)).swings
    for pose in (0, 5, 11):
        rotations = skeleton.rotations.astype(np.float64)
        for node in turned:
            turn = swing_turns(node)[pose]
            rotations[node] = quaternions.multiply(rotations[node], turn)
        other = Skeleton(
            skeleton.names,
            skeleton.parents,
            skeleton.translations,
            rotations,
            skeleton.scales,
        )
        np.testing.assert_allclose(swings[pose], rest_world(other), atol=1e-5)


def test_links_follow_their_joints(rng: Any) -> None:
    """A link goes half of the way of its joint, in clips and in swings."""
    base = arm(3)
    parents = np.array([-1, 0, 1, 0])
    skeleton = Skeleton(
        ("a", "b", "c", "link"),
        parents,
        np.concatenate([base.translations, base.translations[1:2]]),
        np.tile([0.0, 0, 0, 1], (4, 1)),
        np.ones((4, 3)),
        links={3: Link(1, 0.5)},
    )
    angle = 1.0
    turn = np.array([[0, 0, np.sin(angle / 2), np.cos(angle / 2)]])
    clip = Clip("turn", (Track(1, "rotation", np.zeros(1), turn),))
    scene = plain_scene(skeleton, clip)
    scene = replace(scene, skins=(bound_skin(skeleton, [0, 1, 2, 3]),))
    poses = level_poses(scene, make_layout(scene))
    half = np.array([np.cos(angle / 2), -np.sin(angle / 2)])
    np.testing.assert_allclose(poses.clips[0, 3, 0, :2], half, atol=1e-6)
    for pose in poses.swings:
        local = transforms.multiply(transforms.invert(pose[0]), pose[[1, 3]])
        angles = np.arccos((np.trace(local[:, :, :3], axis1=1, axis2=2) - 1) / 2)
        assert angles[0] == pytest.approx(2 * angles[1], rel=1e-3)
        assert angles[0] == pytest.approx(np.deg2rad(20), rel=1e-3)


def test_turns_are_repeatable_and_of_one_set() -> None:
    """Each node has its own order, of a set that looks alike along all axes."""
    np.testing.assert_array_equal(swing_turns(3), swing_turns(3))
    assert (swing_turns(3) != swing_turns(4)).any()

    def rows(turns: Any) -> set[tuple[float, ...]]:
        return {tuple(row) for row in (np.rint(turns * 1e6) + 0.0).tolist()}

    whole = rows(swing_turns(0))
    assert len(whole) == 12
    np.testing.assert_allclose(np.linalg.norm(swing_turns(0), axis=1), 1)
    for node in range(1, 30):
        assert rows(swing_turns(node)) == whole
    for mirror in ([-1, 1, 1, 1], [1, -1, -1, 1], [1, 1, -1, 1]):
        assert rows(swing_turns(0) * mirror) == whole
    assert rows(swing_turns(0)[:, [2, 0, 1, 3]]) == whole


def test_poses_that_do_not_fit_are_refused() -> None:
    good = np.zeros((2, 5, 3, 4), np.float32)
    with pytest.raises(ShapeError, match="swings: 4 nodes, clips has 5"):
        LevelPoses(good.copy(), np.zeros((2, 4, 3, 4)))
    with pytest.raises(ShapeError, match="clips: shape"):
        LevelPoses(good[0].copy(), good.copy())
    with pytest.raises(ShapeError, match="swings: must be finite"):
        LevelPoses(good.copy(), np.full((1, 5, 3, 4), np.nan))
