"""Motion of nodes from the base point, and selections of them."""

from __future__ import annotations

import dataclasses

import numpy as np
import pytest

from flexor.api.character import Character
from flexor.errors import SettingError, ShapeError
from flexor.pose.crowd import node_motion
from flexor.pose.crowd.layout import DEFINED, EXPANDED, LANES
from flexor.pose.crowd.node_motion import (
    NodeMotion,
    frame_times,
    lay_out_lanes,
    make_node_motion,
    move_nodes,
)
from flexor.samples import mannequin
from flexor.scene.character.clip import Clip, Track
from flexor.scene.character.mesh import Primitive
from flexor.scene.character.skeleton import Skeleton
from flexor.scene.character.weights import Skin, SkinWeights
from flexor.scene.runtime.levels import Levels
from flexor.scene.scene import Scene
from tests.level_bodies import make_hand_levels
from tests.oracle import nodes as oracle
from tests.scenes import one_mesh_scene, random_scene

Rng = np.random.Generator


def chain(joints: int = 4, *, scale: float = 1.0, side: float = 0.1) -> Scene:
    """A chain of joints along y, each turning; a triangle on each of them."""
    parents = np.arange(-1, joints - 1, dtype=np.int32)
    steps = np.tile(np.array([0.0, 0.5, 0.0], np.float32), (joints, 1))
    turns = np.tile(np.array([0, 0, 0, 1], np.float32), (joints, 1))
    skeleton = Skeleton(
        tuple(f"n{row}" for row in range(joints)),
        parents,
        steps,
        turns,
        np.full((joints, 3), scale, np.float32),
    )
    names = np.repeat(np.arange(joints, dtype=np.uint16), 3)[:, None]
    corners = np.tile(np.eye(3, dtype=np.float32) * side, (joints, 1))
    weights = SkinWeights(names, np.ones((3 * joints, 1), np.float32))
    primitive = Primitive(corners, skin=weights)
    binds = np.tile(np.eye(3, 4, dtype=np.float32), (joints, 1, 1))
    angles = np.linspace(0, 0.8, 7)
    keys = np.zeros((7, 4), np.float32)
    keys[:, 0], keys[:, 3] = np.sin(angles), np.cos(angles)
    times = np.linspace(0, 0.4, 7).astype(np.float32)
    tracks = tuple(Track(row, "rotation", times, keys.copy()) for row in range(joints))
    whole = one_mesh_scene(
        skeleton, primitive, Skin("s", np.arange(joints, dtype=np.int32), binds)
    )
    return dataclasses.replace(whole, clips={"bend": Clip("bend", tracks)})


def moved(
    motion: NodeMotion, level: int, clip: int, times: np.ndarray
) -> tuple[np.ndarray, int]:
    """Matrices (n, slots, 3, 4) of a level, NaN where a slot is not in it."""
    count = len(times)
    groups = motion.lanes.groups[level]
    out = np.full((count, 12 * LANES * len(groups)), np.nan, np.float32)
    touched = move_nodes(
        motion,
        level,
        np.arange(count, dtype=np.int32),
        np.full(count, clip, np.int32),
        np.asarray(times, np.float64),
        np.zeros((count, 3)),
        np.zeros(count),
        np.ones(count),
        out=out,
    )
    rows = motion.lanes.rows[level]
    made = np.full((count, len(rows), 3, 4), np.nan, np.float32)
    made[:, rows >= 0] = out.reshape(count, -1, 3, 4)[:, rows[rows >= 0]]
    return made, touched


def bare(levels: Levels) -> Levels:
    """The same levels with bind matrices that do nothing: matrices are of nodes."""
    binds = np.tile(np.eye(3, 4, dtype=np.float32), (len(levels.slots), 1, 1))
    return Levels(
        levels.table,
        levels.masks,
        levels.slots,
        binds,
        levels.errors,
        levels.height,
        levels.surfaces,
    )


def test_a_chain_keeps_its_end_whatever_is_dropped() -> None:
    """Node 3 is bit for bit the same with {0,1,2,3}, {0,1,3} and {0,3}."""
    scene = chain()
    hero = Character(scene)
    levels = bare(make_hand_levels(scene, [(0, 1, 3), (0, 3)], [1, 1], [0.1, 0.2]))
    motion = make_node_motion(hero.clips, hero.layout, levels)
    times = np.linspace(0, 0.4, 23)
    ends = [moved(motion, level, 0, times)[0][:, 3] for level in range(3)]
    assert ends[0].tobytes() == ends[1].tobytes() == ends[2].tobytes()
    full = hero.pose_many("bend", frame_times(0.4)).world
    at_frames, _ = moved(motion, 2, 0, frame_times(0.4))
    np.testing.assert_allclose(at_frames[:, 3], full[:, 3], atol=1e-6)


@pytest.mark.slow
def test_kept_nodes_are_where_the_whole_skeleton_has_them() -> None:
    """Every clip and level of the mannequin, at its frames and between them."""
    hero = mannequin()
    every = np.arange(len(hero.skeleton)).tolist()
    keep = [every[::2], every[::5], every[::9]]
    levels = bare(make_hand_levels(hero.scene, keep, [1, 1, 1], [1e-3, 2e-3, 4e-3]))
    for expand in ((), tuple(hero.clips)):
        motion = make_node_motion(hero.clips, hero.layout, levels, expand=expand)
        for row, (name, clip) in enumerate(hero.clips.items()):
            at = frame_times(clip.duration)
            full = hero.pose_many(name, at).world
            half = (at[1:] + at[:-1]) / 2
            between = hero.pose_many(name, half).world
            for level in range(4):
                seen, _ = moved(motion, level, row, at)
                is_in = motion.lanes.rows[level] >= 0
                nodes = levels.slots[is_in]
                close = 1e-5 * 1.8
                np.testing.assert_allclose(seen[:, is_in], full[:, nodes], atol=close)
                seen, _ = moved(motion, level, row, half)
                off = seen[:, is_in][..., 3] - between[:, nodes][..., 3]
                assert np.linalg.norm(off, axis=-1).max() < 2e-3


def test_work_is_that_of_the_selected_nodes() -> None:
    scene = chain(40)
    hero = Character(scene)
    levels = make_hand_levels(scene, [range(16), range(5)], [1, 1], [0.1, 0.2])
    motion = make_node_motion(hero.clips, hero.layout, levels)
    times = np.linspace(0, 0.4, 10)
    touched = [moved(motion, level, 0, times)[1] for level in range(3)]
    assert touched == [10 * 40, 10 * 16, 10 * 8]


def test_what_is_not_selected_is_not_written() -> None:
    scene = chain(24)
    hero = Character(scene)
    levels = make_hand_levels(scene, [range(8)], [1], [0.1])
    motion = make_node_motion(hero.clips, hero.layout, levels)
    assert len(motion.lanes.groups[1]) == 1
    made, _ = moved(motion, 1, 0, np.zeros(1))
    assert np.isfinite(made[:, :8]).all()
    assert np.isnan(made[:, 8:]).all()


def test_selections_need_not_be_nested(rng: Rng) -> None:
    scene = chain(20)
    hero = Character(scene)
    levels = bare(
        make_hand_levels(
            scene, [(0, 1, 5, 9, 12), (0, 2, 3, 17, 19)], [1, 1], [0.1, 0.2]
        )
    )
    motion = make_node_motion(hero.clips, hero.layout, levels)
    full = hero.pose_many("bend", frame_times(0.4)).world
    for level in (1, 2):
        seen, _ = moved(motion, level, 0, frame_times(0.4))
        is_in = motion.lanes.rows[level] >= 0
        assert is_in[levels.slots[np.unique(levels.surfaces[0].joints[level])]].all()
        np.testing.assert_allclose(seen[:, is_in], full[:, is_in], atol=2e-6)


def test_lanes_of_levels_that_are_nested_are_prefixes() -> None:
    scene = chain(30)
    levels = make_hand_levels(scene, [range(17), (0, 8, 16)], [1, 1], [0.1, 0.2])
    lanes = lay_out_lanes(levels)
    assert lanes.slots[:3].tolist() == [0, 8, 16]
    assert sorted(lanes.slots[:17].tolist()) == list(range(17))
    assert [len(own) for own in lanes.groups] == [4, 3, 1]
    assert lanes.slots[30:].tolist() == [lanes.slots[29]] * 2
    for rows in lanes.rows:
        named = rows[rows >= 0]
        assert len(np.unique(named)) == len(named)


@pytest.mark.parametrize("expand", [(), ("bend",)])
def test_move_nodes_does_as_its_twin(rng: Rng, expand: tuple[str, ...]) -> None:
    scene = chain(11, scale=1.02)
    hero = Character(scene)
    motion = make_node_motion(
        hero.clips, hero.layout, make_hand_levels(scene), expand=expand
    )
    assert motion.clips[0, 2] == (EXPANDED if expand else DEFINED)
    count = 9
    clip = rng.integers(-1, 1, count).astype(np.int32)
    time = rng.uniform(-0.1, 0.6, count)
    place, heading = rng.normal(size=(count, 3)), rng.normal(size=count)
    size = rng.uniform(0.5, 2, count)
    who = rng.permutation(count).astype(np.int32)
    out = np.empty((count, 12 * LANES * 2), np.float32)
    move_nodes(motion, 0, who, clip, time, place, heading, size, out=out)
    for row, n in enumerate(who.tolist()):
        wanted = oracle.move_node(
            motion, int(clip[n]), time[n], place[n], heading[n], size[n]
        )
        np.testing.assert_allclose(out[row].reshape(-1, 3, 4), wanted, atol=2e-5)


def test_turns_go_the_short_way_past_half_a_turn() -> None:
    """Frames on either side of 180 degrees are neighbours."""
    scene = chain(1)
    angles = np.radians([170, 190]) / 2
    keys = np.stack([np.sin(angles), 0 * angles, 0 * angles, np.cos(angles)], 1)
    track = Track(
        0, "rotation", np.array([0, 1 / 60], np.float32), keys.astype(np.float32)
    )
    hero = Character(scene)
    clip = Clip("over", (track,))
    levels = bare(make_hand_levels(scene))
    motion = make_node_motion({"over": clip}, hero.layout, levels)
    made, _ = moved(motion, 0, 0, np.array([1 / 120]))
    np.testing.assert_allclose(made[0, 0, 1:, 1:3], -np.eye(2), atol=1e-3)


def test_stretching_nodes_are_kept_expanded(rng: Rng) -> None:
    scene = chain(5)
    scales = np.array([[1, 1, 1], [1, 2, 1], [3, 1, 1]], np.float32)
    track = Track(2, "scale", np.array([0, 0.5, 1], np.float32), scales)
    clip = Clip("grow", (*scene.clips["bend"].tracks, track))
    hero = Character(scene)
    levels = bare(make_hand_levels(scene))
    motion = make_node_motion({"grow": clip, **hero.clips}, hero.layout, levels)
    assert motion.clips[:, 2].tolist() == [EXPANDED, DEFINED, DEFINED]
    times = frame_times(1.0)
    full = hero.with_clips({"grow": clip}).pose_many("grow", times).world
    made, _ = moved(motion, 0, 0, times)
    np.testing.assert_allclose(made[0::1], full, atol=2e-5)


def test_frames_are_finer_where_nodes_swing_fast() -> None:
    scene = chain(3)
    hero = Character(scene)
    levels = make_hand_levels(scene)
    slow = make_node_motion(hero.clips, hero.layout, levels)
    angles = np.linspace(0, 12, 25)
    keys = np.zeros((25, 4), np.float32)
    keys[:, 0], keys[:, 3] = np.sin(angles), np.cos(angles)
    times = np.linspace(0, 0.4, 25).astype(np.float32)
    tracks = tuple(Track(row, "rotation", times, keys.copy()) for row in range(3))
    fast = make_node_motion({"spin": Clip("spin", tracks)}, hero.layout, levels)
    assert slow.clips[0, 1] == 25
    assert fast.clips[0, 1] > 4 * 24


def test_a_scene_without_clips_stands_at_rest(rng: Rng) -> None:
    scene = chain(3)
    hero = Character(scene)
    levels = bare(make_hand_levels(scene))
    motion = make_node_motion({}, hero.layout, levels)
    assert motion.clips.tolist() == [[0, 1, DEFINED]]
    made, _ = moved(motion, 0, -1, np.array([0.0, 5.0]))
    np.testing.assert_allclose(made[1], hero.pose().world, atol=1e-6)


@pytest.mark.slow
@pytest.mark.parametrize("kind", ["even", "uneven", "mirror", "zero"])
def test_odd_scales_are_where_they_belong(rng: Rng, kind: str) -> None:
    """At frames all of any skeleton is as the whole evaluation has it."""
    scene = random_scene(rng, scale=kind)  # type: ignore[arg-type]
    hero = Character(scene)
    levels = bare(make_hand_levels(scene))
    motion = make_node_motion(hero.clips, hero.layout, levels)
    is_in = motion.lanes.rows[0] >= 0
    for row, (name, clip) in enumerate(hero.clips.items()):
        times = frame_times(clip.duration)
        full = hero.pose_many(name, times).world[:, levels.slots[is_in]]
        made, _ = moved(motion, 0, row, times)
        size = max(1.0, float(np.abs(full).max()))
        np.testing.assert_allclose(made[:, is_in] / size, full / size, atol=2e-5)


def test_times_that_are_no_numbers_stay_in_the_clip() -> None:
    scene = chain(3)
    hero = Character(scene)
    motion = make_node_motion(hero.clips, hero.layout, make_hand_levels(scene))
    made, _ = moved(motion, 0, 0, np.array([np.nan, np.inf, -np.inf, 1e300]))
    assert np.isfinite(made[[0, 2, 3]]).all()


@pytest.mark.parametrize(
    ("change", "text"),
    [
        ({"who": np.array([0, 7], np.int32)}, "who: must lie in 0..2"),
        ({"who": np.array([-1, 0], np.int32)}, "who: must lie in 0..2"),
        ({"clip": np.array([0, 1, 0], np.int32)}, "clip: 1, expected -1 to 0"),
        ({"time": np.zeros(2)}, "time"),
        ({"place": np.zeros((3, 2))}, "place"),
        ({"out": np.zeros((2, 96), np.float64)}, "out"),
        ({"out": np.zeros((2, 95), np.float32)}, "out"),
    ],
)
def test_move_nodes_refuses(change: dict[str, np.ndarray], text: str) -> None:
    scene = chain(3)
    hero = Character(scene)
    motion = make_node_motion(hero.clips, hero.layout, make_hand_levels(scene))
    given = {
        "who": np.array([0, 1], np.int32),
        "clip": np.zeros(3, np.int32),
        "time": np.zeros(3),
        "place": np.zeros((3, 3)),
        "heading": np.zeros(3),
        "size": np.ones(3),
        "out": np.zeros((2, 96), np.float32),
        **change,
    }
    with pytest.raises(ShapeError, match=text):
        move_nodes(motion, 0, **given)  # type: ignore[arg-type]


def test_names_are_checked() -> None:
    scene = chain(3)
    hero = Character(scene)
    levels = make_hand_levels(scene)
    with pytest.raises(SettingError, match="expand: no clip 'jump'; there are: 'bend'"):
        make_node_motion(hero.clips, hero.layout, levels, expand=["jump"])
    with pytest.raises(SettingError, match="expected names of clips"):
        make_node_motion(hero.clips, hero.layout, levels, expand="bend")
    motion = make_node_motion(hero.clips, hero.layout, levels)
    assert motion.index("bend") == 0
    with pytest.raises(SettingError, match="no clip 'x'; there are: 'bend'"):
        motion.index("x")


def test_frame_times_have_both_ends() -> None:
    assert frame_times(0.0).tolist() == [0.0]
    assert len(frame_times(1.0)) == 61
    assert len(frame_times(1.0, 2)) == 121
    assert frame_times(0.733)[-1] == np.float32(0.733)
    assert np.diff(frame_times(0.733)).max() <= 1 / 60 + 1e-6
    with pytest.raises(ShapeError, match="1000000 s long, expected 1092 s or"):
        frame_times(1e6)


def test_long_clips_are_not_looked_at_more_often_than_there_is_room(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(node_motion, "MOST_FRAMES", 90)
    scene = chain(3)
    hero = Character(scene)
    angles = np.linspace(0, 12, 25)
    keys = np.zeros((25, 4), np.float32)
    keys[:, 0], keys[:, 3] = np.sin(angles), np.cos(angles)
    times = np.linspace(0, 0.4, 25).astype(np.float32)
    clip = Clip("spin", (Track(0, "rotation", times, keys),))
    motion = make_node_motion({"spin": clip}, hero.layout, make_hand_levels(scene))
    assert motion.clips[0, 1] <= 90
