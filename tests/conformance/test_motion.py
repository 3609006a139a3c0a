"""Reduced motion of all files: never over the bound, wherever one looks.

It is made once for each state of our source: see `made_once`.
"""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

import flexor
from flexor.convert.motion import reduce
from flexor.convert.motion.error import motion_errors
from flexor.pose.clip_tables import pack_clip
from flexor.scene.character.clip import Clip
from tests.conftest import asset_files, find_assets

pytestmark = [pytest.mark.slow, pytest.mark.usefixtures("made_once")]
MOST_CLIPS = 3
CMU = 0.0254 / 0.45  # metres in a unit of CMU's captures


def captures() -> list[Path]:
    folder = find_assets()
    return sorted((folder / "bvh").glob("*.bvh")) if folder else []


def check(file: Path, unit: float) -> list[float]:
    """Reduce some clips of a file; their ratios."""
    hero = flexor.load(file)
    rule = reduce.MotionSettings(unit=unit)
    ratios = []
    for clip in list(hero.clips.values())[:MOST_CLIPS]:
        assert isinstance(clip, Clip)
        if not clip.tracks:
            continue
        form, report = reduce.reduce_clip(hero.layout, clip, rule)
        assert report.worst is not None
        assert report.worst <= rule.error
        keys = np.unique(np.concatenate([track.times for track in clip.tracks]))
        tables = pack_clip(clip, hero.layout), pack_clip(form, hero.layout)
        off = motion_errors(*tables, keys, rule.shell / unit).max(initial=0)
        assert off * unit <= rule.error
        ratios.append(report.ratio)
    return ratios


@pytest.mark.parametrize("file", asset_files(), ids=lambda file: file.name)
def test_files(file: Path) -> None:
    check(file, 1.0)


@pytest.mark.parametrize("file", captures(), ids=lambda file: file.name)
def test_captures(file: Path) -> None:
    is_cmu = file.name.startswith("cmu")
    ratios = check(file, CMU if is_cmu else 1.0)
    if is_cmu:
        assert min(ratios) > 8
