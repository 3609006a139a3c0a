"""Clips of real files: played alone, they are what sampling gives, to the bit."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

import flexor
from tests.conftest import asset_files

pytestmark = pytest.mark.slow


@pytest.mark.skipif(not asset_files(), reason="no assets folder: set FLEXOR_ASSETS")
@pytest.mark.parametrize("file", asset_files(), ids=lambda file: file.name)
def test_played_as_sampled(file: Path) -> None:
    hero = flexor.load(file)
    if not hero.clips:
        pytest.skip("no clips")
    player = flexor.Player(hero, 2, layers=["base", "above"])
    cubic = {
        name
        for name, clip in hero.clips.items()
        if any(track.interpolation == "CUBICSPLINE" for track in clip.tracks)
    }
    for name in list(hero.clips)[:12]:
        player.play(name, start=[0.0, 0.3], mode="once")
        for steps in range(1, 4):
            player.advance(0.25)
            ends = np.array([0.0, 0.3]) + 0.25 * steps
            wanted = hero.pose_many(name, np.minimum(ends, hero.clips[name].duration))
            made, most = player.pose, 1e-6 if name in cubic else 0
            for part in ("translations", "rotations", "scales", "weights"):
                want = getattr(wanted, part)
                np.testing.assert_allclose(
                    getattr(made, part), want, rtol=most, atol=most
                )
