"""The bench of playing: its figures, and that what it measures is done."""

from __future__ import annotations

import numpy as np
import pytest

from flexor.bench import player
from flexor.bench.synthetic import make_character
from flexor.pose.clips.root_motion import steady_motion
from flexor.pose.play.kernels.player import CLIP, WEIGHT
from flexor.pose.play.layers import layer_mask
from flexor.pose.play.motion_set import MotionSet, make_motion_set
from flexor.pose.play.player import advance
from flexor.scene.character.clip import Clip


@pytest.mark.slow
def test_figures() -> None:
    results = list(player.run(rounds=1))
    names = {result.name for result in results}
    assert len(names) == len(results)
    for kind in ("single", "crowd256"):
        assert f"player/j65/{kind}/sample" in names
        for what in player.WHAT:
            assert f"player/j65/{kind}/{what}" in names
            assert f"player/j65/{kind}/{what}/ratio" in names
    assert all(result.value > 0 for result in results)
    assert {result.unit for result in results} == {"us", "x"}


@pytest.fixture(scope="module")
def motions() -> MotionSet:
    hero = make_character(8, 4)
    tracks = hero.clips["turns"].tracks
    clips = [Clip(name, tracks) for name in ("a", "b", "c", "d", "travel")]
    way = {"travel": steady_motion(2.0, (0, 0, 1.0))}
    return make_motion_set(clips, hero.layout, way)


def test_what_is_played(motions: MotionSet) -> None:
    """As many clips at work as the bench says, now and much later."""
    voices = {"layers2": 2, "additive": 2, "fade": 2}
    for name in player.WHAT:
        state = player._player(name, motions, 8)
        for dt in (0.01, 100.0):
            advance(state, dt)
            used = (state._marks[:, CLIP] >= 0) & (state._voices[:, WEIGHT] > 0)
            assert used.sum() == 8 * voices.get(name, 1), name
        clips = set(state._marks[used, CLIP].tolist())
        assert len(clips) == {"clips4": 4}.get(name, voices.get(name, 1))
        assert np.any(state.travel) == (name == "travel")


def test_the_mask_is_as_large_as_it_says(motions: MotionSet) -> None:
    state = player._player("layers2", motions, 1)
    masks = [layer_mask(one, motions.layout.skeleton) for one in state.layers]
    assert masks[0].sum() == 65
    assert f"{masks[1].sum():.0f} of the joints" in player.WHAT["layers2"]
