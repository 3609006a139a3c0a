"""Clips laid out behind one another."""

from __future__ import annotations

import numpy as np
import pytest

from flexor.app.character import Character
from flexor.errors import SettingError
from flexor.pose.motion_set import make_motion_set
from flexor.pose.root_motion import steady_motion
from flexor.scene.clip import Clip
from tests.scenes import plain_scene, random_scene, random_skeleton

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
    way = {"b": steady_motion(1.0, (0, 0, 1))}
    with pytest.raises(SettingError, match="root_motion: no clip 'b'"):
        make_motion_set(clips[:1], hero.layout, way)
