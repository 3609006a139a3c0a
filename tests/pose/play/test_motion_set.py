"""Clips laid out behind one another."""

from __future__ import annotations

import dataclasses

import numpy as np
import pytest

from flexor.api.character import Character
from flexor.convert.motion.reduce import MotionSettings, reduce_clip
from flexor.errors import SettingError
from flexor.pose.clip_tables import pack_clip
from flexor.pose.clips.root_motion import extract_root_motion, steady_motion
from flexor.pose.layout import make_layout
from flexor.pose.play.layers import Layer
from flexor.pose.play.motion_set import make_motion_set
from flexor.pose.play.player import advance, init_player
from flexor.pose.play.voices import play
from flexor.pose.sample import init_sample, sample
from flexor.scene.character.clip import Clip
from flexor.scene.runtime.packed_clip import PackedClip
from flexor.scene.scene import Scene
from tests.packed_clips import arm, packed_clip
from tests.pose.play.players import parts_of, positions, shown, smooth_scene
from tests.scenes import plain_scene, random_clip, random_scene, random_skeleton

Rng = np.random.Generator


def test_every_clip_keeps_its_tables(rng: Rng) -> None:
    """The part of a clip is its own tables, offsets moved on."""
    hero = Character(random_scene(rng))
    motions = make_motion_set(hero.clips.values(), hero.layout)
    assert motions.names == ("linear", "step", "cubic", "mixed")
    values = keys = 0
    for number, name in enumerate(motions.names):
        row, table = motions.clips[number], hero.clip_tables(name)
        assert motions.durations[number] == hero.clips[name].duration
        for column, whole, part, moved, by in (
            (1, motions.timelines, table.timelines, 0, keys),
            (3, motions.rotations, table.rotations, 4, values),
            (5, motions.vectors, table.vectors, 4, values),
            (7, motions.morphs, table.morphs, 4, values),
        ):
            mine = whole[row[column] : row[column] + row[column + 1]].copy()
            assert len(mine) == len(part)
            mine[:, moved] -= by
            np.testing.assert_array_equal(mine, part)
        end = values + len(table.values)
        np.testing.assert_array_equal(motions.values[values:end], table.values)
        values, keys = end, keys + len(table.times)
        start = hero.pose(name, 0.0)
        lanes = motions.starts[number].reshape(10, -1)[:, hero.layout.lane_of_node]
        np.testing.assert_array_equal(lanes[:3].T, start.translations)
        np.testing.assert_array_equal(motions.start_weights[number], start.weights)
    assert motions.line_count == max(
        len(hero.clip_tables(name).timelines) for name in motions.names
    )
    np.testing.assert_array_equal(motions.starts[-1], hero.layout.rest)


def test_no_clips(rng: Rng) -> None:
    hero = Character(plain_scene(random_skeleton(rng, 3)))
    motions = make_motion_set([], hero.layout)
    assert motions.names == ()
    with pytest.raises(SettingError, match="there are: none"):
        motions.index("walk")


def test_what_is_refused(rng: Rng) -> None:
    hero = Character(plain_scene(random_skeleton(rng, 3)))
    clips = [Clip("a", ()), Clip("a", ())]
    with pytest.raises(SettingError, match="two are called 'a'"):
        make_motion_set(clips, hero.layout)
    with pytest.raises(SettingError, match="clips: int, expected clips"):
        make_motion_set([5], hero.layout)  # type: ignore[list-item]
    with pytest.raises(SettingError, match=r"root_motion\['a'\]: int, expected Root"):
        make_motion_set(clips[:1], hero.layout, {"a": 5})  # type: ignore[dict-item]
    for name in (None, 0, np.zeros(2)):
        with pytest.raises(SettingError, match="no clip"):
            make_motion_set(clips[:1], hero.layout).index(name)  # type: ignore
    way = {"b": steady_motion(1.0, (0, 0, 1))}
    with pytest.raises(SettingError, match="root_motion: no clip 'b'"):
        make_motion_set(clips[:1], hero.layout, way)
    way = {"a": steady_motion(1.0, (0, 0, 1))}
    with pytest.raises(SettingError, match=r"root_motion\['a'\]: 1 s long, .* 0 s"):
        make_motion_set(clips[:1], hero.layout, way)


def packed_scene(rng: Rng) -> tuple[Scene, Scene]:
    """Clips as they are, and reduced; "part" also has tracks that stay keyed."""
    nodes = 6
    scene = smooth_scene(rng, nodes)
    clips = dict(scene.clips)
    odd = random_clip(rng, "odd", nodes, interpolation="STEP", keys=3)
    taken = {(track.node, track.path) for track in odd.tracks}
    rest = [t for t in clips["b"].tracks if (t.node, t.path) not in taken]
    clips["part"] = Clip("part", (*odd.tracks, *rest))
    plain = dataclasses.replace(scene, clips=clips)
    layout = make_layout(plain)
    reduced = {}
    for name, clip in clips.items():
        form, _ = reduce_clip(layout, clip, MotionSettings(error=1e-4))
        reduced[name] = form if isinstance(form, PackedClip) else clip
    return plain, dataclasses.replace(plain, clips=reduced)


@pytest.mark.slow
def test_packed_clips_are_played(rng: Rng) -> None:
    """Beside plain ones, by characters in turns, forward, backward and in jumps: to
    the bit what sampling gives.
    """
    plain, scene = packed_scene(rng)
    assert any(isinstance(clip, PackedClip) for clip in scene.clips.values())
    clips = [*scene.clips.values(), Clip("plain", plain.clips["c"].tracks)]
    hero = Character(dataclasses.replace(scene, clips={c.name: c for c in clips}))
    motions = make_motion_set(clips, hero.layout)
    state = init_player(motions, 3)
    for act in range(12):
        for n in range(3):
            play(
                state, motions.names[(act + n) % len(clips)], who=n, speed=1.5 - act / 4
            )
        for _ in range(4):
            advance(state, 0.11)
            for n, time in enumerate(positions(state)):
                name = motions.names[(act + n) % len(clips)]
                pose = hero.pose(name, time)
                made = [part[n] for part in parts_of(state)]
                wanted = (pose.translations, pose.rotations, pose.scales)
                for part, want in zip(made, wanted, strict=True):
                    np.testing.assert_array_equal(part, want)


def test_two_packed_clips_are_played_as_they_are_sampled(rng: Rng) -> None:
    """Quick without the compiler too, where what is read is checked."""
    clips = [
        dataclasses.replace(packed_clip(rng, frames), name=name, rate=rate)
        for name, frames, rate in (("a", 9, 30.0), ("b", 14, 24.0))
    ]
    layout = make_layout(plain_scene(arm(4)))
    state = init_player(make_motion_set(clips, layout), 2)
    for n, clip in enumerate(clips):
        play(state, clip.name, who=n)
    for _ in range(3):
        advance(state, 0.17)
        for n, time in enumerate(positions(state)):
            alone = init_sample(pack_clip(clips[n], layout), layout, 1)
            sample(alone, np.array([time], np.float32))
            np.testing.assert_array_equal(state.local[n], alone.local[0])


@pytest.mark.slow
def test_packed_clips_fade(rng: Rng) -> None:
    """Mixed and added they are near what the clips they were made of give."""
    plain, scene = packed_scene(rng)
    made = []
    for one in (plain, scene):
        hero = Character(one)
        motions = make_motion_set(one.clips.values(), hero.layout)
        layers = [Layer("a"), Layer("b", additive=True)]
        state = init_player(motions, 1, layers)
        play(state, "a")
        play(state, "part", layer="b")
        advance(state, 0.2)
        play(state, "b", fade=0.5)
        advance(state, 0.3)
        made.append(shown(state))
    np.testing.assert_allclose(made[0], made[1], atol=1e-2)


@pytest.mark.slow
def test_root_motion_of_packed_clips(rng: Rng) -> None:
    plain, scene = packed_scene(rng)
    ways = [
        extract_root_motion(one.clips["a"], one.skeleton)[1] for one in (plain, scene)
    ]
    times = np.linspace(0, 1, 20)
    np.testing.assert_allclose(ways[0].at(times), ways[1].at(times), atol=5e-3)
