"""What begins to play: by whom, with which settings, and what is refused."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from flexor.errors import SettingError
from flexor.pose.play.kernels.player import AMOUNT, LENGTH
from flexor.pose.play.layers import Layer
from flexor.pose.play.player import advance
from flexor.pose.play.voices import LAST_ACT, play, set_weight, stop
from tests.pose.play.players import player_of, positions, smooth_scene

Rng = np.random.Generator


def test_settings_are_in_the_order_of_who(rng: Rng) -> None:
    """Each character gets its own, also where the numbers do not rise."""
    state = player_of(smooth_scene(rng), 4, Layer("a"), Layer("b"))
    play(state, "a")
    play(state, "b", who=[3, 0, 2], speed=[2.0, 3.0, 5.0], start=[0.1, 0.2, 0.3])
    advance(state, 0.01)
    np.testing.assert_allclose(positions(state), [0.23, 0.01, 0.35, 0.12], atol=1e-12)
    set_weight(state, "b", [0.25, 0.75], who=[2, 1])
    assert state._fades[1::2, AMOUNT].tolist() == [1, 0.75, 0.25, 1]
    stop(state, who=[1, 0], fade=[0.5, 2.0])
    assert state._fades[:4:2, LENGTH].tolist() == [2.0, 0.5]
    play(state, "c", who=np.array([False, True, False, True]), fade=[0.125, 0.25])
    assert state._fades[2::4, LENGTH].tolist() == [0.125, 0.25]
    play(state, "a", who=slice(1, None, 2), fade=[0.75, 1.5])
    assert state._fades[2::4, LENGTH].tolist() == [0.75, 1.5]


def test_acts_are_never_all_counted(rng: Rng) -> None:
    """Voices note in 32 bits when they began; fades after the last number go on."""
    scene = smooth_scene(rng)
    state, other = player_of(scene), player_of(scene)
    state._acts = LAST_ACT - 2
    for clip in ("a", "b", "c", "a", "b"):
        for one in (state, other):
            play(one, clip, fade=0.3)
            advance(one, 0.1)
        np.testing.assert_array_equal(state.local, other.local)
    assert state._acts < 10
    acts = state._acts
    play(state, "b")  # nothing new
    assert state._acts == acts


@pytest.mark.parametrize(
    ("given", "text"),
    [
        ({"clip": "walk"}, "no clip 'walk'; there are: 'a', 'b', 'c'"),
        ({"layer": "arms"}, "no layer 'arms'; there are: 'base'"),
        ({"layer": 1}, "layer: 1, expected a name or 0 to 0"),
        ({"mode": "twice"}, "mode: 'twice'"),
        ({"fade": -1}, "fade"),
        ({"fade": np.nan}, "fade"),
        ({"speed": np.inf}, "speed"),
        ({"speed": "fast"}, "speed"),
        ({"speed": [1, 2, 3]}, "one for each of 2"),
        ({"start": -0.5}, "start"),
        ({"leave": 0.1}, "only with mode 'once'"),
        ({"who": [2]}, "who.*from 0 to 1"),
        ({"who": [-1]}, "who"),
        ({"who": [0.5]}, "who"),
        ({"who": [True]}, "a mask"),
        ({"who": [1, 0, 1]}, "each character once"),
        ({"who": [[0], [0, 1]]}, "expected numbers of characters"),
        ({"who": [2**64 - 1]}, "who.*from 0 to 1"),
        ({"layer": None}, "layer: None, expected a name"),
        ({"layer": np.nan}, "layer: nan"),
        ({"layer": 0.7}, "layer: 0.7"),
        ({"layer": False}, "layer: False"),
        ({"mode": np.zeros(2)}, "mode"),
        ({"speed": 10**400}, "speed"),
    ],
)
def test_what_cannot_be_played(given: dict[str, Any], text: str, rng: Rng) -> None:
    state = player_of(smooth_scene(rng), 2)
    clip = given.pop("clip", "a")
    with pytest.raises(SettingError, match=text):
        play(state, clip, **given)
    advance(state, 0.1)
    np.testing.assert_array_equal(state.local[0], state.motions.layout.rest)
