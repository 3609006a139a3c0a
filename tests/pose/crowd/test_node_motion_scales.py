"""Motion of nodes where skeletons are scaled, mirrored, linked or out of bounds."""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping, Sequence

import numpy as np
import pytest

from flexor.api.character import Character
from flexor.errors import ShapeError
from flexor.maths import quaternions
from flexor.pose.crowd.layout import DEFINED, EXPANDED
from flexor.pose.crowd.node_motion import NodeMotion, frame_times, make_node_motion
from flexor.scene.character.clip import Clip, Track
from flexor.scene.character.skeleton import Link
from flexor.scene.runtime.levels import Levels
from flexor.scene.runtime.packed_clip import PackedClip
from flexor.scene.scene import Scene
from tests.level_bodies import make_hand_levels
from tests.pose.crowd.test_node_motion import bare, chain, moved


def root_scaled(scene: Scene, scale: Sequence[float]) -> Scene:
    """The scene with another scale of its first node."""
    scales = scene.skeleton.scales.copy()
    scales[0] = scale
    skeleton = dataclasses.replace(scene.skeleton, scales=scales)
    return dataclasses.replace(scene, skeleton=skeleton)


def check_frames(hero: Character, motion: NodeMotion, levels: Levels, row: int) -> None:
    """At its frames a clip has all nodes where the whole evaluation has them."""
    name = motion.names[row]
    times = np.linspace(0, motion.durations[row], motion.clips[row, 1])
    full = hero.pose_many(name, times.astype(np.float32)).world[:, levels.slots]
    made, _ = moved(motion, 0, row, times)
    size = float(np.abs(full).max())
    np.testing.assert_allclose(made / size, full / size, atol=5e-6)
    rest, _ = moved(motion, 0, -1, np.zeros(1))
    np.testing.assert_allclose(
        rest[0] / size, hero.pose().world[levels.slots] / size, atol=5e-6
    )


@pytest.mark.parametrize(
    ("scale", "root"),
    [
        (0.9, None),
        (1.0, (0.01, 0.01, 0.01)),
        (0.9, (100.0, 100.0, 100.0)),
        (1.0, (-1.0, 1.0, 1.0)),
        (1.1, (-0.5, -0.5, -0.5)),
        (1.0, (1.0, -2.0, -2.0)),
    ],
)
def test_scales_of_the_rest_pose_are_in_the_definition(
    scale: float, root: tuple[float, float, float] | None
) -> None:
    """A turn of something that is scaled, or mirrored, is a turn all the same."""
    scene = chain(5, scale=scale)
    if root is not None:
        scene = root_scaled(scene, root)
    hero = Character(scene)
    levels = bare(make_hand_levels(scene))
    motion = make_node_motion(hero.clips, hero.layout, levels)
    assert motion.clips[:, 2].tolist() == [DEFINED, DEFINED]
    check_frames(hero, motion, levels, 0)


def test_scales_come_before_bind_matrices() -> None:
    """What a matrix of the skin is: node times bind, stretch between them."""
    scene = root_scaled(chain(3, scale=0.9), (0.5, 0.5, 0.5))
    hero = Character(scene)
    plain = make_hand_levels(scene)
    binds = np.random.default_rng(5).normal(size=(3, 3, 4)).astype(np.float32)
    levels = dataclasses.replace(plain, binds=binds)
    motion = make_node_motion(hero.clips, hero.layout, levels)
    assert motion.clips[0, 2] == DEFINED
    times = frame_times(0.4)
    made, _ = moved(motion, 0, 0, times)
    full = hero.pose_many("bend", times).world
    wanted = full[..., :3] @ binds
    wanted[..., 3] += full[..., 3]
    np.testing.assert_allclose(made, wanted, atol=5e-6)


def test_a_clip_that_mirrors_what_was_not_is_kept_expanded() -> None:
    """Its nodes are at right angles and of unit length, and yet no turn leads there."""
    scene = chain(4)
    flip = np.array([[-1, 1, 1], [-1, 1, 1]], np.float32)
    track = Track(1, "scale", np.array([0, 0.4], np.float32), flip)
    clip = Clip("flip", (*scene.clips["bend"].tracks, track))
    hero = Character(scene).with_clips({"flip": clip}, only=True)
    levels = bare(make_hand_levels(scene))
    motion = make_node_motion(hero.clips, hero.layout, levels)
    assert motion.clips[:, 2].tolist() == [EXPANDED, DEFINED]
    check_frames(hero, motion, levels, 0)


def test_links_follow_their_joints() -> None:
    """A node that takes half of its neighbour's turn does so here as well."""
    scene = chain(4)
    skeleton = scene.skeleton
    parents = np.array([-1, 0, 1, 1], np.int32)
    skeleton = dataclasses.replace(skeleton, parents=parents, links={3: Link(2, 0.5)})
    scene = dataclasses.replace(scene, skeleton=skeleton)
    tracks = tuple(track for track in scene.clips["bend"].tracks if track.node == 2)
    hero = Character(scene).with_clips({"half": Clip("half", tracks)}, only=True)
    levels = bare(make_hand_levels(scene))
    motion = make_node_motion(hero.clips, hero.layout, levels)
    check_frames(hero, motion, levels, 0)
    made, _ = moved(motion, 0, 0, np.array([0.4]))
    turned = np.arccos((np.trace(made[0, [2, 3], :, :3], axis1=1, axis2=2) - 1) / 2)
    np.testing.assert_allclose(turned, [1.6, 0.8], atol=1e-3)


def overflowing(scene: Scene) -> Clip:
    """The end of the chain is at infinity in the second half of the clip."""
    times = np.array([0, 0.05, 0.1], np.float32)
    far = np.array([[0, 0.5, 0], [0, 0.5, 0], [0, 3e38, 0]], np.float32)
    tracks = tuple(Track(node, "translation", times, far.copy()) for node in (1, 2))
    return Clip("far", tracks)


@pytest.mark.jit
def test_nodes_at_infinity_leave_the_rest_where_it_is() -> None:
    """A clip with numbers that are none is kept as it is; other frames are right."""
    scene = chain(3)
    clips: Mapping[str, Clip | PackedClip] = {"far": overflowing(scene), **scene.clips}
    hero = Character(scene).with_clips(clips, only=True)
    levels = bare(make_hand_levels(scene))
    motion = make_node_motion(hero.clips, hero.layout, levels)
    assert motion.clips[:, 2].tolist() == [EXPANDED, DEFINED, DEFINED]
    first, count, _ = motion.clips[0].tolist()
    assert not np.isfinite(motion.data[first : first + count]).all()
    times = np.array([0, 0.02, 0.04])
    made, _ = moved(motion, 0, 0, times)
    full = hero.pose_many("far", times.astype(np.float32)).world
    np.testing.assert_allclose(made, full, atol=1e-6)
    check_frames(hero, motion, levels, 1)


@pytest.mark.jit
def test_the_end_of_a_clip_does_not_touch_the_next() -> None:
    """At the end of an expanded clip the one behind it, whose first frame is at
    infinity, is not looked at.
    """
    scene = chain(3)
    far = np.array([[0, 3e38, 0]], np.float32)
    start = np.zeros(1, np.float32)
    tracks = tuple(Track(node, "translation", start, far.copy()) for node in (1, 2))
    clips = {**scene.clips, "lost": Clip("lost", tracks)}
    hero = Character(scene).with_clips(clips, only=True)
    levels = bare(make_hand_levels(scene))
    motion = make_node_motion(hero.clips, hero.layout, levels, expand=["bend"])
    assert motion.clips[:2, 2].tolist() == [EXPANDED, EXPANDED]
    assert motion.clips[1, 0] == motion.clips[0, 1]  # one behind the other
    assert not np.isfinite(motion.data[motion.clips[1, 0]]).all()
    made, _ = moved(motion, 0, 0, np.array([0.4, motion.durations[0], 9.0]))
    full = hero.pose_many("bend", np.array([0.4], np.float32)).world
    np.testing.assert_allclose(made, np.repeat(full, 3, axis=0), atol=1e-6)


def test_the_last_clip_ends_where_its_frames_do() -> None:
    scene = chain(3)
    hero = Character(scene)
    levels = bare(make_hand_levels(scene))
    motion = make_node_motion(hero.clips, hero.layout, levels, expand=["bend"])
    assert motion.clips[0].tolist() == [0, len(motion.data), EXPANDED]
    made, _ = moved(motion, 0, 0, np.array([motion.durations[0]]))
    full = hero.pose_many("bend", np.array([0.4], np.float32)).world
    np.testing.assert_allclose(made, full, atol=1e-6)


@pytest.mark.jit
def test_a_rest_pose_at_infinity_is_refused() -> None:
    scene = chain(4)
    levels = make_hand_levels(scene)
    huge = chain(4, scale=1e20)
    with pytest.raises(ShapeError, match="the rest pose is not finite"):
        make_node_motion({}, Character(huge).layout, levels)


@pytest.mark.parametrize(
    ("before", "after"),
    [(170, 190), (100, 260), (115, 240), (95, 265), (-80, 80), (10, 175), (200, 345)],
)
@pytest.mark.parametrize("axis", [(1, 0, 0), (0, 0.6, -0.8), (0.48, 0.64, 0.6)])
def test_turns_go_the_short_way(
    before: float, after: float, axis: tuple[float, float, float]
) -> None:
    """Half way between two frames is half the angle, on the short side."""
    scene = chain(1)
    halves = np.radians([before, after]) / 2
    keys = np.empty((2, 4))
    keys[:, :3], keys[:, 3] = np.sin(halves)[:, None] * axis, np.cos(halves)
    times = np.array([0, 1 / 60], np.float32)
    clip = Clip("go", (Track(0, "rotation", times, keys.astype(np.float32)),))
    layout, levels = Character(scene).layout, bare(make_hand_levels(scene))
    motion = make_node_motion({"go": clip}, layout, levels)
    assert motion.clips[0].tolist() == [0, 2, DEFINED]
    made, _ = moved(motion, 0, 0, np.array([motion.durations[0] / 2]))
    middle = np.radians((before + after) / 4)
    wanted = quaternions.to_matrix(
        np.array([*(np.sin(middle) * np.array(axis)), np.cos(middle)])
    )
    np.testing.assert_allclose(made[0, 0, :, :3], wanted, atol=1e-5)
