"""Levels of detail of real characters: within their goals, nested, and whole.

They are made once for each state of our source: the same source makes the same levels,
which `convert/levels` tests.
"""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

import flexor
from flexor.convert.levels import make
from tests.level_checks import check_made

pytestmark = [pytest.mark.slow, pytest.mark.usefixtures("made_once")]
# Skinned with clips, without clips and flat shaded, of rigid parts, a hand, a morph.
FEW = (
    "CesiumMan.glb",
    "Q_men_Casual.glb",
    "Kenney_character.glb",
    "Hand_left.glb",
    "AnimatedMorphCube.glb",
    "VRM_Mint.vrm",
)


@pytest.mark.parametrize("name", FEW)
def test_levels_of_a_character(assets: Path, name: str) -> None:
    scene = flexor.load(assets / name).scene
    levels, reports, findings = make.make_levels(scene)
    check_made(scene, levels, reports)
    assert not findings
    for report in reports:
        assert report.is_met, report
    assert reports[-1].triangles <= reports[0].triangles
    if reports[0].triangles > 1000:
        assert reports[-1].triangles < reports[0].triangles / 4
        assert reports[-1].influences <= reports[0].influences


def test_the_mannequin_loses_its_fingers_before_its_limbs() -> None:
    scene = flexor.samples.mannequin().scene
    levels, reports, _ = make.make_levels(scene)
    check_made(scene, levels, reports)
    assert all(report.is_met for report in reports)
    assert reports[-1].nodes <= reports[0].nodes / 2
    assert reports[-1].triangles <= reports[0].triangles / 10
    kept = {levels.table.names[row] for row in np.flatnonzero(levels.masks[-1])}
    assert {"l-hip", "r-hip", "l-knee", "r-knee", "l-arm", "r-elbow"} <= kept
