"""Keys that others interpolate are dropped, within a bound of what is seen."""

from __future__ import annotations

from typing import Any

import numpy as np

from flexor.convert.motion.drop_keys import drop_keys
from flexor.convert.motion.error import measure_motion
from flexor.pose.clip_tables import lay_out_tracks, pack_clip
from flexor.pose.layout import make_layout
from flexor.scene.character.clip import Clip, Track
from tests.packed_clips import arm, wave
from tests.scenes import plain_scene


def test_fewer_keys_within_the_bound(rng: Any) -> None:
    layout = make_layout(plain_scene(arm()))
    clip = wave(rng, frames=121)
    tables = pack_clip(clip, layout)
    fewer = drop_keys(list(clip.tracks), tables, 2e-2, 0.03)
    assert sum(len(t.times) for t in fewer) < 7 * 121 / 2
    made = lay_out_tracks(tuple(fewer), clip.duration, layout)
    moments = np.linspace(0, 2, 701, dtype=np.float32)
    assert measure_motion(tables, made, moments, 0.03).worst <= 2e-2 * 1.02


def test_a_straight_line_keeps_its_ends() -> None:
    layout = make_layout(plain_scene(arm()))
    times = np.arange(50) / 10
    line = Track(1, "translation", times, np.outer(times, [1, 2, 3]))
    step = Track(2, "translation", times, np.outer(times, [1, 2, 3]), "STEP")
    tables = pack_clip(Clip("a", (line, step)), layout)
    fewer = drop_keys([line, step], tables, 1e-4, 0.03)
    assert len(fewer[0].times) == 2
    assert fewer[1] is step


def test_what_cannot_be_dropped_is_left(rng: Any) -> None:
    layout = make_layout(plain_scene(arm()))
    noise = Track(1, "translation", np.arange(20.0), rng.normal(size=(20, 3)))
    tables = pack_clip(Clip("a", (noise,)), layout)
    assert drop_keys([noise], tables, 1e-4, 0.03) == [noise]
    assert drop_keys([], tables, 1e-4, 0.03) == []
