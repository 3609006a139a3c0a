"""Levels by rules: borders and their bands, several rules, many at once."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from flexor.pose.crowd.level_choice import Figures, LevelRule, choose_levels, is_in_view
from flexor.scene.character.camera import Camera
from tests.pose.crowd.level_figures import (
    BY_DISTANCE,
    EYE,
    FLAT,
    FOUR,
    SIZE,
    Rng,
    ahead,
    choose,
)


def walk(rule: LevelRule, distances: Any, before: int = -1) -> list[int]:
    """The levels of one character that goes from distance to distance."""
    made = []
    for distance in distances:
        (before,) = choose(rule, ahead(distance), before)
        made.append(before)
    return made


# Borders


def test_levels_that_are_not_there() -> None:
    """Three borders, but two levels, or one; and one border for four levels."""
    places = ahead(5, 15, 25, 45)
    assert choose(BY_DISTANCE, places, errors=FOUR[:2]) == [0, 1, 1, 1]
    assert choose(BY_DISTANCE, places, errors=FOUR[:1]) == [0, 0, 0, 0]
    assert choose(LevelRule(), places, errors=FOUR[:1]) == [0, 0, 0, 0]
    few = LevelRule(by="distance", borders=(10,))
    assert choose(few, places) == [0, 1, 1, 1]


def test_walking_away_and_back_switches_beyond_each_border() -> None:
    distances = np.arange(5.0, 50.0, 0.01)
    out = np.array(walk(BY_DISTANCE, distances))
    assert (np.diff(out) >= 0).all()
    np.testing.assert_allclose(distances[1:][np.diff(out) > 0], [11, 22, 44], atol=0.02)
    home = np.array(walk(BY_DISTANCE, distances[::-1], before=3))
    assert (np.diff(home) <= 0).all()
    back = distances[::-1][1:][np.diff(home) < 0]
    np.testing.assert_allclose(back, [36, 18, 9], atol=0.02)


@pytest.mark.parametrize("by", ["error", "height"])
def test_bands_of_other_conditions(by: str) -> None:
    borders = () if by == "error" else (0.5, 0.05)
    rule = LevelRule(by=by, borders=borders)
    errors = np.array([[0, 0], [0.02, 0], [0.2, 0]], np.float32)
    kept = {"errors": errors, "reach": 0.001 if by == "error" else 1.0}

    def at(distance: float, before: int) -> int:
        return choose(rule, ahead(distance), before, **kept)[0]

    # Both have borders at 2 m and 20 m; by height a share of 10 % makes 1 / 1.1 of it.
    assert [at(2.15, 0), at(2.3, 0)] == [0, 1]
    assert [at(1.85, 1), at(1.75, 1)] == [1, 0]
    assert [at(21.5, 1), at(23, 1), at(18.5, 2), at(17.5, 2)] == [1, 2, 2, 1]


def test_several_borders_at_once() -> None:
    assert walk(BY_DISTANCE, [5, 100, 5, 30, 5]) == [0, 3, 0, 2, 0]
    # Past two borders, but within the band of the second: to the nearest that fits.
    assert walk(BY_DISTANCE, [5, 21, 21, 5]) == [0, 1, 1, 0]
    assert walk(BY_DISTANCE, [100, 19, 19, 100]) == [3, 2, 2, 3]


def test_close_borders_hold_one_level_only() -> None:
    """Bands overlap: what is three borders away is not held."""
    rule = LevelRule(by="distance", borders=(10, 10.2, 10.4), band=0.5)
    assert choose(rule, ahead(10.5, 9.9), [0, 3]) == [2, 1]
    assert choose(rule, ahead(10.5, 9.9), [2, 1]) == [2, 1]
    assert choose(rule, ahead(16, 4.9), [0, 3]) == [3, 0]


def test_the_first_choice_has_no_band() -> None:
    assert choose(BY_DISTANCE, ahead(10.1, 9.9), [-1, -1]) == [1, 0]
    assert choose(BY_DISTANCE, ahead(10.1, 9.9), [0, 1]) == [0, 1]


def test_levels_so_far_that_are_too_coarse() -> None:
    assert choose(BY_DISTANCE, ahead(5, 100), [77, 77]) == [0, 3]


def test_without_a_band_the_border_is_sharp() -> None:
    sharp = replace(BY_DISTANCE, band=0.0)
    assert walk(sharp, [9.9, 10.1, 9.9, 10.1]) == [0, 1, 0, 1]


def test_bands_of_borders_below_zero() -> None:
    rule = LevelRule(by=lambda view: view.extra, borders=(-10, 0, 10))
    values = np.array([-10.5, -9.5, -8.9, -11.1, 0.01, -0.01])
    before = [0, 0, 0, 1, 1, 2]
    assert choose(rule, ahead(*[1] * 6), before, extra=values) == [0, 0, 1, 0, 2, 1]


@settings(max_examples=60)
@given(
    st.lists(st.floats(1, 100), min_size=1, max_size=5, unique=True),
    st.floats(0.01, 0.4),
    st.integers(0, 4),
    st.integers(0, 2**32 - 1),
)
def test_noise_within_a_band_does_not_flicker(
    borders: list[float], band: float, which: int, seed: int
) -> None:
    """Around one border, the others well away or not: at most one change, at first."""
    rng = np.random.default_rng(seed)
    marks = sorted(borders)
    rule = LevelRule(by=lambda view: view.extra, borders=tuple(marks), band=band)
    border = marks[which % len(marks)]
    others = [abs(mark - border) for mark in marks if mark != border]
    reach = min([band * border * 0.99, *(gap * 0.99 for gap in others)])
    levels = np.full(1, rng.integers(-1, 6), np.int32)
    errors = np.zeros((6, 2), np.float32)
    place, far = np.array([[0, 0, -1.0]], np.float32), np.zeros(1, np.float32)
    made = []
    for step in rng.uniform(-reach, reach, 60):
        value = np.array([border + step])
        figures = Figures(place, far)
        choose_levels(rule, errors, EYE, SIZE, figures, levels=levels, extra=value)
        made.append(int(levels[0]))
        assert abs(made[-1] - np.searchsorted(marks, value[0], "right")) <= 1
    changes = np.count_nonzero(np.diff(made))
    assert changes <= 1, made


@settings(max_examples=60)
@given(
    st.lists(st.floats(0, 50), min_size=1, max_size=6, unique=True),
    st.floats(0, 0.6),
    st.integers(0, 2**32 - 1),
)
def test_a_level_is_held_only_within_its_band(
    borders: list[float], band: float, seed: int
) -> None:
    """Against a loop over borders that says which levels a value allows."""
    rng = np.random.default_rng(seed)
    marks = sorted(borders)
    rule = LevelRule(by=lambda view: view.extra, borders=tuple(marks), band=band)
    values = np.concatenate([rng.uniform(0, 60, 20), marks])
    before = rng.integers(-1, len(marks) + 1, len(values))
    errors = np.zeros((len(marks) + 1, 2), np.float32)
    got = choose(rule, ahead(*[1] * len(values)), before, errors=errors, extra=values)
    for value, old, new in zip(values, before, got, strict=True):
        plain = sum(value >= mark for mark in marks)
        allowed = [plain]
        if plain and value < marks[plain - 1] * (1 + band):
            allowed.append(plain - 1)
        if plain < len(marks) and value >= marks[plain] * (1 - band):
            allowed.append(plain + 1)
        if old < 0:
            assert new == plain
        else:
            assert new == min(allowed, key=lambda level, old=old: abs(level - old))


# Several rules


def test_of_several_rules_the_coarsest_counts() -> None:
    fast = LevelRule(by="speed", borders=(5,))
    places, speeds = ahead(5, 5, 15, 25), [0, 9, 9, 9]
    for rules in ((BY_DISTANCE, fast), [fast, BY_DISTANCE]):
        assert choose(rules, places, speeds=speeds) == [0, 1, 1, 2]
    assert choose([BY_DISTANCE], places) == [0, 0, 1, 2]


def test_several_rules_do_not_flicker(rng: Rng) -> None:
    rules = (BY_DISTANCE, LevelRule(by="speed", borders=(5, 8)))
    for start in (0, 1, 2):
        level, made = start, []
        for step, speed in rng.uniform((9.1, 4.6), (10.9, 5.4), (100, 2)):
            (level,) = choose(rules, ahead(step), level, speeds=speed)
            made.append(level)
        assert np.count_nonzero(np.diff(made)) == 0, made
        assert made[0] == min(start, 1)


# Many at once, and what is no place


@pytest.mark.parametrize("camera", [EYE, FLAT])
def test_many_at_once_are_as_each_alone(camera: Camera, rng: Rng) -> None:
    count = 1000
    places = rng.uniform((-20, -10, -50), (20, 10, 3), (count, 3))
    before, reach = rng.integers(-1, 4, count), rng.uniform(0, 2, count)
    speeds = rng.uniform(0, 9, count)
    rules = (
        LevelRule(pixels=0.1),
        LevelRule(by="height", borders=(0.4, 0.01)),
        LevelRule(by="speed", borders=(8,)),
    )

    def some(rows: Any) -> list[int]:
        return choose(
            rules,
            places[rows],
            before[rows],
            reach=reach[rows],
            speeds=speeds[rows],
            camera=camera,
        )

    together = some(slice(None))
    assert together[:200] == [some(slice(n, n + 1))[0] for n in range(200)]
    if camera is EYE:
        assert set(together) == {0, 1, 2, 3}


def test_none_at_all() -> None:
    rules = [LevelRule(), BY_DISTANCE, LevelRule(by=lambda view: view.levels)]
    assert choose(rules, np.zeros((0, 3))) == []
    nobody = np.zeros((0, 3), np.float32)
    assert is_in_view(EYE, SIZE, nobody, np.zeros(0, np.float32)).shape == (0,)


@pytest.mark.parametrize("kind", [np.int8, np.int32])
def test_kinds_of_levels(kind: Any) -> None:
    assert choose(BY_DISTANCE, ahead(5, 45), kind=kind) == [0, 3]


RULES = [
    LevelRule(),
    BY_DISTANCE,
    LevelRule(by="distance", borders=(1e9,)),
    LevelRule(by="height", borders=(0.1,)),
    LevelRule(by="area", borders=(0.1,)),
    LevelRule(by="speed", borders=(1,)),
    LevelRule(by=lambda view: np.zeros(3, int)),
]


@pytest.mark.parametrize("rule", RULES)
@pytest.mark.parametrize("camera", [EYE, FLAT])
@pytest.mark.parametrize(
    "place",
    [
        (np.nan, 0, -2),
        (0, 0, np.nan),
        (np.inf, 0, -2),
        (0, 0, -np.inf),
        (0, 0, np.inf),
        (0, 0, 5),
        (0, 0, 0.0),
    ],
)
def test_what_cannot_be_seen_gets_the_coarsest(
    rule: LevelRule, camera: Camera, place: Any
) -> None:
    """No warning, and no other is hurt."""
    near = (0, 0, -0.02)
    whole = replace(camera, height=0.1) if camera is FLAT else camera
    sizes = {"speeds": 0.0, "heights": 2.0, "camera": whole}
    for before in (-1, 0, 3):
        got = choose(rule, [near, place, near], before, **sizes)
        assert got == [0, 3, 0]


def test_numbers_that_are_none() -> None:
    nan = [np.nan, 0.5]
    tall = LevelRule(by="height", borders=(0.01,))
    fast = LevelRule(by="speed", borders=(1,))
    wild = LevelRule(by=lambda view: np.array(nan), borders=(1,))
    assert choose(tall, ahead(1, 1), heights=nan) == [3, 0]
    assert choose(fast, ahead(1, 1), speeds=nan) == [3, 0]
    assert choose(wild, ahead(1, 1)) == [3, 0]
    assert choose(LevelRule(), ahead(0.1, 0.1), reach=nan) == [3, 0]
    assert choose(LevelRule(), ahead(9, 9), reach=[np.inf, 0]) == [0, 3]
    assert choose(BY_DISTANCE, ahead(3e38), reach=3e38, heights=3e38) == [3]
