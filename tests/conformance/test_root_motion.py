"""Root motion of real files: the way and the clip on the spot make up the clip."""

from __future__ import annotations

import dataclasses
from pathlib import Path

import numpy as np
import pytest

import flexor
from flexor.api.character import Character
from flexor.maths import transforms
from flexor.pose.clips.root_motion import extract_root_motion
from tests.conftest import find_assets

pytestmark = pytest.mark.slow

FOLDER = find_assets()
NAMES = ("RobotExpressive.glb", "Fox.glb", "CesiumMan.glb", "Q_Wolf.glb", "Elf.glb")


def files() -> list[Path]:
    if FOLDER is None:
        return []
    captures = sorted((FOLDER / "bvh").glob("*.bvh"), key=lambda p: p.stat().st_size)
    return [*captures[:6], *(FOLDER / n for n in NAMES if (FOLDER / n).exists())]


@pytest.mark.skipif(FOLDER is None, reason="no assets folder: set FLEXOR_ASSETS")
@pytest.mark.parametrize("file", files(), ids=lambda file: file.name)
def test_parts_of_real_clips(file: Path) -> None:
    """Every clip's joints below the one that travels, and that it stays in place."""
    hero = flexor.load(file)
    travelled = 0.0
    for name, clip in list(hero.clips.items())[:8]:
        still, motion = extract_root_motion(clip, hero.skeleton)
        if still is clip:
            continue
        node = still.tracks[0].node
        below = np.zeros(len(hero.skeleton), bool)
        for one in hero.skeleton.order:
            parent = hero.skeleton.parents[one]
            below[one] = one == node or (parent >= 0 and below[parent])
        times = np.linspace(0, clip.duration, 97)
        scene = dataclasses.replace(hero.scene, clips={name: still})
        whole = hero.pose_many(name, times).world.astype(np.float64)
        part = Character(scene).pose_many(name, times).world.astype(np.float64)
        made = transforms.multiply(motion.at(times)[:, None], part)
        size = np.ptp(whole[:, below, :, 3].reshape(-1, 3), axis=0).max()
        off = np.abs(made - whole)[:, below, :, 3].max()
        assert off < 2e-4 * max(size, 1e-6), (name, off, size)
        place = part[:, node, :, 3]
        assert np.ptp(place[:, [0, 2]], axis=0).max() < 1e-3 * max(size, 1e-6)
        travelled = max(travelled, float(np.linalg.norm(motion.places[-1])))
    if file.name.startswith("cmu"):
        assert travelled > 0
