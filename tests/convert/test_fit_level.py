"""One level: its goals, the poses it is measured in, and what is missed."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from flexor.convert.fit_level import LevelGoals, _spread, _worst


@pytest.mark.parametrize(
    ("error", "share", "is_met"),
    [
        ((1.0, 3.0), 1.0, True),
        ((1.1, 3.0), 1.0, False),
        ((1.0, 3.1), 1.0, False),
        ((0.5, 1.5), 0.5, True),
        ((0.6, 1.5), 0.5, False),
    ],
)
def test_both_goals_count(error: Any, share: float, is_met: bool) -> None:
    assert LevelGoals(1.0, 3.0).is_met(error, share) == is_met


def test_poses_that_differ_most_come_first() -> None:
    places = np.zeros((5, 4, 3), np.float32)
    places[:, 0, 0] = 0, 1, 0, 10, 1
    assert _spread(places, 2).tolist() == [3, 0]
    assert sorted(_spread(places, 9).tolist()) == [0, 1, 2, 3, 4]  # each once
    assert _spread(places[:1], 8).tolist() == [0]


def test_missed_points_are_the_furthest_and_not_neighbours() -> None:
    places = np.zeros((6, 3), np.float32)
    places[:, 0] = 0, 0.1, 5, 5.1, 9, 20
    away = np.array([1.0, 2.0, 3.0, 2.5, 0.2, 1.5])
    assert _worst(places, away, 0.5).tolist() == [2, 1, 5]
    assert _worst(places, away, 9.0).tolist() == []
