"""What links add to a file, and what is seen where nobody knows of links."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

import flexor
from flexor.api.character import Character
from flexor.convert.links.export_tracks import SEEN
from tests.conformance.test_reference import height_of
from tests.conftest import find_assets

MOST = 1.3  # times as large as the file that was mended
MOMENTS = np.linspace(0, 1, 24)


def places(hero: Character, clip: str | None, time: float) -> np.ndarray:
    """All vertices of a pose (V, 3)."""
    pose = hero.pose() if clip is None else hero.pose(clip, time)
    return np.concatenate([part.positions for part in hero.deform(pose)])


@pytest.mark.slow
@pytest.mark.parametrize("name", ["M2M_snake", "M2M_spider", "RiggedFigure"])
def test_a_repair_does_not_blow_up_a_file(name: str, tmp_path: Path) -> None:
    """Many links, short clips: where they weigh most. By tracks alone the skin is where
    it was, as near as can be seen.
    """
    folder = find_assets()
    if folder is None or not (folder / f"{name}.glb").is_file():
        pytest.skip("no assets: set FLEXOR_ASSETS")
    given = folder / f"{name}.glb"
    hero = flexor.load(given)
    better, _ = flexor.repair(hero)
    assert better.skeleton.links
    linked = tmp_path / "linked.glb"
    flexor.save(better, linked)
    assert linked.stat().st_size <= MOST * given.stat().st_size
    read = flexor.load(linked).scene
    bare = replace(read, skeleton=replace(read.skeleton, links={}))
    seen = Character(bare)
    height = height_of(places(better, None, 0.0))
    for clip in better.clips:
        end = better.clips[clip].duration
        assert seen.clips[clip].duration == end
        for part in MOMENTS:
            here, there = (places(who, clip, end * part) for who in (better, seen))
            off = np.linalg.norm(here - there, axis=1).max()
            assert off <= SEEN * height
