"""Circles of footprints; structures, views and looks that are refused."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from flexor.errors import SettingError, ShapeError
from flexor.scene.stage.settings import ViewSettings
from flexor.scene.stage.structure import Structure, circle_of
from flexor.stage.effects.view import make_view, obstructs
from tests.stage.effects.view_scenes import EYE, PAIR, Rng, pillar

# Circles of footprints.

SQUARE = ((-1, -1), (1, -1), (1, 1), (-1, 1))


@pytest.mark.parametrize(
    ("points", "inner", "outer"),
    [
        (SQUARE, ((0, 0), 1), ((0, 0), np.sqrt(2))),
        (SQUARE[::-1], ((0, 0), 1), ((0, 0), np.sqrt(2))),
        (((0, 0), (9, 0), (9, 2), (0, 2)), ((4.5, 1), 1), ((4.5, 1), np.sqrt(85) / 2)),
        (((0, 0), (3, 0), (0, 4)), ((1, 1), 1), ((1.5, 2), 2.5)),
        # An L, of which the inner corner is at (2, 2).
        (
            ((0, 0), (6, 0), (6, 2), (2, 2), (2, 6), (0, 6)),
            ((4 - 2 * np.sqrt(2),) * 2, 4 - 2 * np.sqrt(2)),
            ((3, 3), 3 * np.sqrt(2)),
        ),
        # A corner said twice, and one on a side.
        ((*SQUARE, (-1, 1), (-1, 0)), ((0, 0), 1), ((0, 0), np.sqrt(2))),
    ],
)
@pytest.mark.parametrize("angle", [0.0, 0.4])
def test_circles_of_footprints(
    points: Any, inner: Any, outer: Any, angle: float
) -> None:
    s, c = np.sin(angle), np.cos(angle)
    turn = np.array([[c, s], [-s, c]])
    placed = np.array(points, float) @ turn.T + (40, -70)
    for fit, (middle, radius) in (("inscribed", inner), ("circumscribed", outer)):
        found, size = circle_of(placed, fit)  # type: ignore[arg-type]
        assert placed.flags.writeable
        wanted = turn @ middle + (40, -70)
        assert size == pytest.approx(radius, rel=1e-3)
        assert size <= radius * (1 + 1e-9) or fit == "circumscribed"
        assert found == pytest.approx(wanted, abs=2e-2 * radius)
        pillar(*found, size)


def test_footprints_with_many_places_that_are_as_good() -> None:
    assert circle_of(((0, 0), (1000, 0), (1000, 1), (0, 1))) == ((500, 0.5), 0.5)
    k = np.arange(100)
    teeth = np.stack([k, k % 2 / 2], -1)
    saw = np.concatenate([teeth, np.add(teeth, (0, 3))[::-1]])
    _, radius = circle_of(saw)
    # Above a tip at (1, 0.5), below the slopes that rise by 0.5 to (1, 3.5).
    largest = 3 / (1 + np.sqrt(1.25))
    assert radius == pytest.approx(largest, rel=1e-3)
    assert radius <= largest * (1 + 1e-9)


def test_inscribed_is_the_usual_circle() -> None:
    assert circle_of(SQUARE) == circle_of(SQUARE, "inscribed") == ((0, 0), 1)


def test_smallest_circle_around_points(rng: Rng) -> None:
    """All lie in it, and those on it are not all on one half of it."""
    for count in (3, 4, 5, 20, 100):
        points = rng.normal(0, 3, (count, 2))
        middle, radius = circle_of(points, "circumscribed")
        away = points - middle
        far = np.linalg.norm(away, axis=1)
        assert far.max() == pytest.approx(radius)
        angles = np.sort(np.arctan2(*away[far > radius * (1 - 1e-9)].T))
        assert len(angles) >= 2
        gaps = np.diff([*angles, angles[0] + 2 * np.pi])
        assert gaps.max() <= np.pi + 1e-6


# What is refused.


@pytest.mark.parametrize(
    ("fields", "text"),
    [
        ({"name": ""}, "name: '', expected a text"),
        ({"name": 3}, "name: 3, expected a text"),
        ({"mode": "gone"}, "structure 'it': mode: 'gone', expected one of"),
        ({"middle": None}, "'it': radius, expected middle and radius, or ends"),
        ({"middle": None, "radius": None}, "'it': nothing, expected middle"),
        ({"thickness": 1}, "'it': middle, radius, thickness, expected middle"),
        ({"middle": (1, 2, 3)}, r"middle: \(1, 2, 3\), expected x and z"),
        ({"middle": 4}, "middle: 4, expected x and z in metres"),
        ({"middle": (1, np.nan)}, "middle: nan, expected -10000 to 10000"),
        ({"radius": 0}, "radius: 0, expected 0.001 to 10000"),
        ({"low": "x"}, "low: 'x', expected"),
        ({"high": np.inf}, "high: inf, expected"),
        ({"low": 2, "high": 1}, "high: 1, expected more than low, 2"),
    ],
)
def test_round_structures_that_are_refused(fields: Any, text: str) -> None:
    good = {"name": "it", "middle": (1.0, 2.0), "radius": 1.0}
    assert not Structure(**good).is_long  # type: ignore[arg-type]
    with pytest.raises(SettingError, match=text):
        Structure(**{**good, **fields})


@pytest.mark.parametrize(
    ("fields", "text"),
    [
        ({"ends": None}, "'it': thickness, expected middle and radius, or ends"),
        ({"ends": 4}, "ends: 4, expected two places"),
        ({"ends": ((1, 2),)}, r"ends: \(\(1, 2\),\), expected two places"),
        ({"ends": ((1, 2), (3, 4, 5))}, r"ends: \(3, 4, 5\), expected x and z"),
        ({"ends": ((1, 2), (1, 2))}, "expected 0.001 m or more between them"),
        ({"thickness": -1}, "thickness: -1, expected 0.001 to 10000"),
    ],
)
def test_long_structures_that_are_refused(fields: Any, text: str) -> None:
    good = {"name": "it", "ends": ((1, 2), (3, 4)), "thickness": 0.2}
    assert Structure(**good).is_long  # type: ignore[arg-type]
    with pytest.raises(SettingError, match=text):
        Structure(**{**good, **fields})


def test_views_that_are_refused() -> None:
    with pytest.raises(SettingError, match="structure 1: str, expected a Structure"):
        make_view([pillar(0, 0, 1), "wall"])  # type: ignore[list-item]
    with pytest.raises(SettingError, match="1: name 'pillar', expected one of its own"):
        make_view([pillar(0, 0, 1), pillar(4, 0, 1)])


@pytest.mark.parametrize(
    ("fields", "error", "text"),
    [
        ({"camera": (1, 2, 3)}, ShapeError, r"camera: int64 \(3,\), expected numbers"),
        ({"camera": "ab"}, ShapeError, "camera: "),
        ({"camera": (np.nan, 0)}, SettingError, "camera: expected numbers within 1"),
        ({"characters": [1, 2]}, ShapeError, r"characters: int64 \(2,\), expected"),
        ({"characters": [[1, 2, 3]]}, ShapeError, r"characters: int64 \(1, 3\)"),
        ({"characters": [["a", "b"]]}, ShapeError, "characters: "),
        ({"characters": [[0, np.inf]]}, SettingError, "characters: expected numbers"),
        ({"characters": [[0, 2e5]]}, SettingError, "characters: expected numbers"),
        ({"margin": -1}, SettingError, "margin: -1, expected 0 to 100 m"),
        ({"margin": np.nan}, SettingError, "margin: nan, expected 0 to 100 m"),
        ({"out": np.zeros(2, bool)}, ShapeError, r"out: shape \(2,\), expected \(1,\)"),
        ({"out": np.zeros(1)}, ShapeError, "out: float64, expected bool"),
        ({"parts": np.zeros((1, 3))}, ShapeError, r"parts: shape \(1, 3\), expected"),
    ],
)
def test_looks_that_are_refused(fields: Any, error: Any, text: str) -> None:
    good: dict[str, Any] = {
        "camera": EYE,
        "characters": PAIR,
        "out": np.zeros(1, bool),
    }
    tables = make_view([pillar(0, 5, 1)])
    assert obstructs(tables, **good)[0]
    with pytest.raises(error, match=text):
        obstructs(tables, **{**good, **fields})


@pytest.mark.parametrize(
    ("points", "fit", "error", "text"),
    [
        ([[0, 0], [1]], "inscribed", ShapeError, "points: cannot be made numbers"),
        ([[0, 0, 0]] * 3, "inscribed", ShapeError, r"points: shape \(3, 3\), expected"),
        (SQUARE[:2], "inscribed", ShapeError, "points: 2, expected 3 to 200"),
        (((0, 0), (1, 1), (2, 2)), "inscribed", SettingError, "points: an area of 0"),
        (((0, 0), (1, 1), (0, np.nan)), "inscribed", SettingError, "within 100000 m"),
        (SQUARE, "tight", SettingError, "fit: 'tight', expected one of"),
    ],
)
def test_footprints_that_are_refused(
    points: Any, fit: Any, error: Any, text: str
) -> None:
    with pytest.raises(error, match=text):
        circle_of(points, fit)


@pytest.mark.parametrize(
    ("fields", "text"),
    [
        ({"fade": -1}, "fade: -1, expected 0 to 60"),
        ({"fade": np.nan}, "fade: nan, expected 0 to 60"),
        ({"margin": 1e3}, "margin: 1000.0, expected 0 to 100"),
        ({"keep": -0.1}, "keep: -0.1, expected 0 to 100"),
    ],
)
def test_settings_that_are_refused(fields: Any, text: str) -> None:
    with pytest.raises(SettingError, match=text):
        ViewSettings(**fields)
