"""The numbers of a level."""

from __future__ import annotations

import math

import numpy as np
import pytest

from flexor.convert.levels.report import border_distance, report_level
from flexor.scene.runtime.level_settings import LevelSettings
from tests.level_bodies import make_hand_levels
from tests.pose.crowd.test_node_motion import chain


def test_a_character_is_so_tall_at_the_border() -> None:
    away = border_distance(1.8, 160)
    seen = 2 * math.tan(math.radians(35) / 2) * away  # metres that the picture shows
    assert 1.8 / seen == pytest.approx(160 / 720)


def test_numbers_of_levels() -> None:
    levels = make_hand_levels(chain(4), [(0, 2)], [0.5], [0.1])
    goals = LevelSettings(mean=1.0, worst=3.0)
    whole = report_level(levels, 0, "", 720, goals)
    assert (whole.level, whole.distance, whole.mean, whole.worst) == (0, 0, 0, 0)
    assert whole.is_met
    far = report_level(levels, 1, "far", 64, goals)
    assert (far.name, far.nodes, far.vertices, far.triangles) == (
        "far",
        *levels.totals(1),
    )
    pixels = 64 / levels.height
    assert far.mean == pytest.approx(levels.errors[1, 0] * pixels)
    assert far.worst == pytest.approx(levels.errors[1, 1] * pixels)
    assert far.is_met == (far.mean <= 1 and far.worst <= 3)
    assert far.distance == pytest.approx(border_distance(levels.height, 64))
    own = [
        part[1]
        for surface in levels.surfaces
        for part in (surface.faces, surface.joints, surface.weights)
    ]
    assert far.bytes == sum(part.size * part.itemsize for part in own)
    assert far.influences == max(s.joints[1].shape[1] for s in levels.surfaces)


@pytest.mark.parametrize(("mean", "worst"), [(1e-9, 1e9), (1e9, 1e-9)])
def test_both_goals_must_be_met(mean: float, worst: float) -> None:
    levels = make_hand_levels(chain(4), [(0, 2)], [0.5], [0.1])
    assert np.all(levels.errors[1] > 0)
    tight = LevelSettings(mean=mean, worst=worst)
    assert not report_level(levels, 1, "", 64, tight).is_met
