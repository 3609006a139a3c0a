"""The wind that moving parts of characters make."""

from __future__ import annotations

import dataclasses
import math
from typing import Any

import numpy as np
import pytest

from flexor.errors import SettingError, ShapeError
from flexor.scene.stage.effect_settings import WindSettings
from flexor.stage.effects.wind import Wind, find_wind
from tests.oracle import leaves as plain

Rng = np.random.Generator
PLACE = np.array([1.0, 0.5, -2.0])


def wind_of(*moves: Any, settings: WindSettings | None = None) -> Wind | None:
    """The wind of parts that move so, all to one place."""
    now = np.tile(PLACE, (1, len(moves), 1))
    before = now - np.array(moves, np.float64)[None]
    if settings is None:
        return find_wind(before, now)
    return find_wind(before, now, settings)


def test_a_fast_foot_makes_wind() -> None:
    wind = wind_of((0.3, 0.1, 0.4))
    assert wind is not None
    assert wind.place == (1.0, 0.5, -2.0)
    assert wind.speed == pytest.approx((0.18, 0.5, 0.24))


@pytest.mark.parametrize(
    ("move", "up"),
    [
        ((0.199, 0.0, 0.0), None),
        ((0.201, 0.0, 0.0), 0.201),
        ((0.0, 0.0, -0.201), 0.201),
        ((0.14, 0.5, 0.14), None),  # height does not count
        ((0.15, 0.5, 0.15), math.hypot(0.15, 0.15)),
        ((0.3, -0.79, 0.0), 0.3),
        ((0.3, -0.81, 0.0), None),  # straight down
        ((1.7, 0.0, 0.0), 1.0),  # at most
        ((2.1, 0.0, 0.0), None),  # put elsewhere
    ],
)
def test_what_makes_wind(move: Any, up: float | None) -> None:
    wind = wind_of(move)
    if up is None:
        assert wind is None
    else:
        assert wind is not None
        assert wind.speed == pytest.approx((0.6 * move[0], up, 0.6 * move[2]))


def test_the_strongest_counts_and_of_equals_the_first() -> None:
    wind = wind_of((0.3, 0, 0), (0, 0, 0.5), (-0.4, 0, 0))
    assert wind is not None
    assert wind.speed == pytest.approx((0, 0.5, 0.3))
    same = wind_of((0.5, 0, 0), (0, 0, 0.5))
    assert same is not None
    assert same.speed == pytest.approx((0.3, 0.5, 0))
    # One that goes straight down does not hide a weaker one.
    other = wind_of((0.9, -0.9, 0), (0.3, 0, 0))
    assert other is not None
    assert other.speed[1] == pytest.approx(0.3)


def test_a_weak_wind_has_the_least_speed() -> None:
    wind = wind_of((0.05, 0, 0), settings=WindSettings(least=0.01))
    assert wind is not None
    assert wind.speed == pytest.approx((0.03, 0.12, 0))


def test_a_scale_makes_real_feet_blow() -> None:
    move = (0.08, -0.02, 0.06)
    assert wind_of(move) is None
    wind = wind_of(move, settings=WindSettings(scale=4.0))
    assert wind is not None
    assert wind.speed == pytest.approx((0.6 * 0.32, 0.4, 0.6 * 0.24))
    assert wind_of((0.08, -0.21, 0), settings=WindSettings(scale=4.0)) is None


@pytest.mark.parametrize("scale", [1.0, 3.0])
def test_winds_are_those_of_the_twin(rng: Rng, scale: float) -> None:
    """The kernel `find_strongest`."""
    hits = 0
    for _ in range(300):
        before = rng.normal(size=(rng.integers(0, 4), 3, 3))
        now = before + rng.normal(size=before.shape) * rng.choice([0.05, 0.2, 1.0])
        wanted = plain.find_strongest(before, now, scale)
        wind = find_wind(before, now, WindSettings(scale=scale))
        assert (wind is None) == (wanted is None)
        if wind is not None and wanted is not None:
            hits += 1
            assert wind.place == pytest.approx(wanted[0])
            assert wind.speed == pytest.approx(wanted[1])
    assert 50 < hits < 290


def test_nobody_makes_no_wind() -> None:
    none = np.zeros((0, 3, 3))
    assert find_wind(none, none) is None
    assert find_wind(np.zeros((2, 0, 3)), np.zeros((2, 0, 3))) is None


def test_places_that_are_refused() -> None:
    good = np.zeros((2, 3, 3))
    for bad in (good[:1], good.astype(np.float32), good[..., :2], [0, 0, 0], None):
        with pytest.raises(ShapeError):
            find_wind(bad, good)  # type: ignore[arg-type]
        with pytest.raises(ShapeError):
            find_wind(good, bad)  # type: ignore[arg-type]
    for value in (math.nan, math.inf, 2e5):
        bad = good.copy()
        bad[1, 2, 0] = value
        with pytest.raises(SettingError, match="now: expected numbers within"):
            find_wind(good, bad)
        with pytest.raises(SettingError, match="before: expected numbers within"):
            find_wind(bad, good)
    with pytest.raises(SettingError, match="settings: int, expected WindSettings"):
        find_wind(good, good, 3)  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("change", "text"),
    [
        ({"scale": -1}, "scale: -1, expected 0 to 1000"),
        ({"least": math.nan}, "least: nan"),
        ({"lowest": "low"}, "lowest: 'low'"),
        ({"weakest": 0}, "weakest: 0"),
        ({"strongest": 0.1}, "strongest: 0.1, expected at least weakest, 0.12"),
        ({"sideways": True}, "sideways: True"),
        ({"jump": -1}, "jump: -1"),
    ],
)
def test_settings_that_are_refused(change: dict[str, Any], text: str) -> None:
    with pytest.raises(SettingError, match=text):
        dataclasses.replace(WindSettings(), **change)


@pytest.mark.parametrize(
    ("place", "speed", "text"),
    [
        ((0, 0), (0, 1, 0), "place"),
        ((0, 0, math.nan), (0, 1, 0), "place"),
        ((0, 2e5, 0), (0, 1, 0), "place"),
        ((0, 0, 0), (0, 0, 0), "speed: up 0, expected above 0"),
        ((0, 0, 0), (0, -1, 0), "speed: up -1"),
        ((0, 0, 0), (0, 101, 0), "speed: up 101"),
    ],
)
def test_winds_that_are_refused(place: Any, speed: Any, text: str) -> None:
    with pytest.raises(SettingError, match=text):
        Wind(place, speed)
