"""Real characters in crowds: at frames of their clips all is where it belongs."""

from __future__ import annotations

from dataclasses import replace
from itertools import islice

import numpy as np
import pytest

import flexor
from flexor.api.character import Character
from flexor.api.crowd import Crowd
from flexor.pose.crowd.node_motion import frame_times
from flexor.pose.pose import Pose
from tests.conftest import asset_files

pytestmark = [
    pytest.mark.skipif(not asset_files(), reason="no assets: set FLEXOR_ASSETS"),
    pytest.mark.slow,
]
MOMENTS, MOST_CLIPS = 7, 5


@pytest.fixture(scope="module", params=asset_files(), ids=lambda file: file.stem)
def hero(request: pytest.FixtureRequest) -> Character:
    """A character with the clips that are looked at: a crowd prepares all it has."""
    whole = flexor.load(request.param)
    some = dict(islice(whole.clips.items(), MOST_CLIPS))
    return whole.with_clips(some, only=True) if some else whole


def skins(hero: Character, poses: Pose) -> dict[tuple[int, int], np.ndarray]:
    """Positions of every primitive, morphs as they are at rest."""
    count = len(poses)
    still = np.tile(hero.layout.rest_weights, (count, 1))
    return {
        (skin.node, skin.primitive): skin.positions
        for skin in hero.deform_many(replace(poses, weights=still))
    }


def test_whole_characters_stand_as_they_are_posed(hero: Character) -> None:
    names = list(hero.clips) or [None]
    with np.errstate(all="ignore"):
        crowd = Crowd(hero, MOMENTS, levels=False)
        for name in names:
            times = np.zeros(MOMENTS)
            if name is not None:
                all_times = frame_times(hero.clips[name].duration).astype(float)
                rows = np.linspace(0, len(all_times) - 1, MOMENTS).astype(int)
                times = all_times[rows]
            wanted = skins(hero, hero.pose_many(name, times))
            crowd.play(name, time=times)
            crowd.level[:] = 0
            crowd.deform()
            kind = crowd.state.kinds[0]
            for row, surface in enumerate(kind.levels.surfaces):
                sources = surface.sources[kind.binds[0][row].blocks.order]
                got = crowd.state.shown[0].positions[row]
                for node, primitive in set(map(tuple, sources[:, :2].tolist())):
                    own = (sources[:, :2] == (node, primitive)).all(1)
                    there = wanted[node, primitive][:, sources[own, 2]]
                    is_finite = np.isfinite(there).all()
                    assert is_finite == np.isfinite(got[:, own]).all()
                    if is_finite:
                        size = max(float(np.ptp(there)), 1e-6)
                        off = np.abs(got[:, own] - there).max() / size
                        assert off < 3e-5, (name, node, primitive)
