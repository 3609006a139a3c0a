"""Zones, and what is asked of them, that are refused."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest

from flexor.errors import SettingError, ShapeError
from flexor.scene.stage.zone import Zone
from flexor.stage.movement.zones import keep_in_zones, make_zones

SQUARE = [(0, 0), (4, 0), (4, 4), (0, 4)]


# Refusals.


@pytest.mark.parametrize(
    ("corners", "text"),
    [
        (SQUARE[:2], "2 corners, expected 3 to 2000"),
        ([(0, 0), (1, math.nan), (1, 1)], "corner 1: .*nan.*, expected numbers"),
        ([(0, 0), (1, 0), (1, math.inf)], "corner 2: .*inf.*, expected numbers"),
        ([(0, 0), (2e4, 0), (1, 1)], "corner 1: .* at most 10000 m"),
        ([(0, 0), (1, 0), (1, 0), (0, 1)], "side 1 is 0 m long"),
        ([(0, 0), (1, 0), (0, 1), (0, 0)], "side 3 is 0 m long"),
        ([(0, 0), (2, 2), (2, 0), (0, 1)], "sides 0 and 2 cross"),
        ([(0, 0), (1, 1), (3, 3)], "no area"),
        ([(0, 0), (4, 0), (4, 4), (2, 0), (0, 4)], "sides 0 and [23] touch at corner"),
        ([(0, 0), (4, 0), (4, 4), (4, 2), (0, 4)], "sides 1 and [23] touch at corner"),
    ],
)
def test_refused_corners(corners: Any, text: str) -> None:
    with pytest.raises(SettingError, match=f"zone 'pit': {text}"):
        Zone(corners, name="pit")


def test_refused_shape_of_corners() -> None:
    with pytest.raises(ShapeError, match=r"corners: shape \(3, 3\)"):
        Zone(np.zeros((3, 3)))


def test_refused_keeps() -> None:
    with pytest.raises(SettingError, match="keeps: 'inside', expected 'in' or 'out'"):
        Zone(SQUARE, "inside")  # type: ignore[arg-type]


def test_refused_name() -> None:
    with pytest.raises(SettingError, match="name: 3, expected a text"):
        Zone(SQUARE, name=3)  # type: ignore[arg-type]


def test_refused_zones() -> None:
    with pytest.raises(SettingError, match=r"zones\[1\]: list, expected a Zone"):
        make_zones([Zone(SQUARE), SQUARE])  # type: ignore[list-item]


def call(**given: Any) -> None:
    values = {
        "before": np.ones((2, 2)),
        "places": np.ones((2, 2)),
        "radii": np.zeros(2),
        **given,
    }
    keep_in_zones(make_zones([Zone(SQUARE)]), **values)


@pytest.mark.parametrize(
    ("given", "text"),
    [
        ({"places": np.ones(2)}, r"places: \(2,\), expected shape \(N, 2\) or"),
        ({"places": np.ones((2, 4))}, r"places: \(2, 4\), expected"),
        ({"places": [[1, 1]]}, "places: list, expected"),
        ({"places": np.ones((2, 2), np.float32)}, "places: float32, expected float64"),
        ({"before": np.ones((2, 3))}, r"before: shape \(2, 3\), expected \(2, 2\)"),
        ({"radii": np.ones(3)}, r"radii: shape \(3,\), expected \(2,\)"),
        ({"out": np.ones((1, 2))}, r"out: shape \(1, 2\), expected \(2, 2\)"),
        ({"touched": np.ones(2)}, "touched: float64, expected bool"),
        ({"normals": np.ones((2, 3))}, r"normals: shape \(2, 3\), expected \(2, 2\)"),
        ({"radii": np.array([1, -0.1])}, "character 1: .* radius -0.1, expected"),
        ({"radii": np.array([math.nan, 1])}, "character 0: .* radius nan, expected"),
        ({"places": np.array([[1, 1], [1, math.nan]])}, "character 1: .*nan"),
        ({"before": np.array([[math.inf, 1], [1, 1]])}, "character 0: before .inf"),
    ],
)
def test_refused_arrays(given: Any, text: str) -> None:
    with pytest.raises(ShapeError, match=text):
        call(**given)


def test_refused_rows_change_nothing() -> None:
    places = np.array([[9.0, 9.0], [math.nan, 1.0]])
    with pytest.raises(ShapeError, match="character 1"):
        call(places=places)
    assert places[0].tolist() == [9, 9]
