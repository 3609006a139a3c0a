"""Levels by rules: each condition, what cannot be a rule, and refusals."""

from __future__ import annotations

import math
from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from flexor.errors import SettingError, ShapeError
from flexor.pose.crowd.level_choice import (
    Figures,
    LevelRule,
    LevelView,
    choose_levels,
    is_in_view,
)
from tests.pose.crowd.level_figures import (
    BY_DISTANCE,
    EYE,
    FLAT,
    FOUR,
    SIZE,
    ahead,
    choose,
)

# Rules


def test_a_rule_is_a_setting() -> None:
    rule = LevelRule()
    assert (rule.by, rule.borders, rule.pixels, rule.band) == ("error", (), 1.0, 0.1)
    assert rule == LevelRule(by="error")
    assert LevelRule(by="speed", borders=[1, 2]).borders == (1.0, 2.0)  # type: ignore[arg-type]
    with pytest.raises(AttributeError):
        rule.band = 3.0  # type: ignore[misc]


@pytest.mark.parametrize(
    ("changes", "text"),
    [
        ({"by": "size"}, "by: 'size', expected a function or one of error, distance"),
        ({"by": None}, "by: None, expected a function"),
        ({"band": -0.1}, "band: -0.1, expected 0 to below 1"),
        ({"band": 1.0}, "band: 1.0, expected 0 to below 1"),
        ({"band": math.nan}, "band: nan, expected a number"),
        ({"band": "wide"}, "band: 'wide', expected a number"),
        ({"pixels": 0.0}, "pixels: 0.0, expected above 0"),
        ({"pixels": math.inf}, "pixels: inf, expected a number"),
        ({"borders": (1.0,)}, "borders: a rule by error has none"),
        ({"by": "distance"}, "borders: a rule by distance needs at least one"),
        ({"by": "distance", "borders": (3, 2)}, "expected finite and rising"),
        ({"by": "distance", "borders": (2, 2)}, "expected finite and rising"),
        ({"by": "distance", "borders": (-1, 2)}, "expected 0 or above"),
        ({"by": "distance", "borders": (1, math.inf)}, "expected finite and rising"),
        ({"by": "distance", "borders": (math.nan,)}, "expected finite and rising"),
        ({"by": "speed", "borders": (2, 1)}, "expected finite and rising"),
        ({"by": "height", "borders": (0.1, 0.2)}, "expected finite and falling"),
        ({"by": "width", "borders": (0.1, 0.1)}, "expected finite and falling"),
        ({"by": "area", "borders": ()}, "borders: a rule by area needs at least one"),
        ({"by": len, "borders": (2, 1)}, "expected finite and rising"),
        ({"by": "speed", "borders": 3.0}, "borders: 3.0, expected numbers"),
        ({"by": "speed", "borders": ("a",)}, "borders: .*, expected numbers"),
    ],
)
def test_rules_that_cannot_be(changes: Any, text: str) -> None:
    with pytest.raises(SettingError, match=text):
        LevelRule(**changes)


# Each condition


def test_by_error() -> None:
    """A pixel is a centimetre at 1 m here. Level 1 needs one pixel for its mean, level
    2 a third of 8 cm for its worst, level 3 one for its mean of 4 cm.
    """
    places = ahead(0.5, 0.99, 1.01, 2.6, 2.7, 3.9, 4.1, 1e6)
    assert choose(LevelRule(), places) == [0, 0, 1, 1, 2, 2, 3, 3]


def test_by_error_with_other_goals() -> None:
    strict, loose = LevelRule(pixels=0.5), LevelRule(pixels=2)
    assert choose(strict, ahead(1.9, 2.1)) == [0, 1]
    assert choose(loose, ahead(0.4, 0.6)) == [0, 1]
    assert choose(LevelRule(pixels=1e-320), ahead(1e30)) == [0]


def test_by_error_is_measured_at_the_nearest_of_a_character() -> None:
    assert choose(LevelRule(), ahead(1.9, 2.1), reach=1.0) == [0, 1]
    # The camera stands inside of it, and then it reaches in from behind.
    assert choose(LevelRule(), ahead(0.5, -0.5), reach=1.0) == [0, 0]


def test_by_error_depends_on_lens_and_picture() -> None:
    near = replace(EYE, fov=2 * math.atan(0.5))  # everything is twice as large
    assert choose(LevelRule(), ahead(1.9, 2.1), camera=near) == [0, 1]
    whole = replace(FLAT, height=3.9)  # 1.95 cm a pixel, at any distance
    assert choose(LevelRule(), ahead(0.1, 99), camera=whole) == [1, 1]
    far = replace(FLAT, height=8.1)
    assert choose(LevelRule(), ahead(0.1, 99), camera=far) == [3, 3]


def test_by_error_takes_the_coarsest_that_will_do() -> None:
    """Level 2 is better than level 1: where 1 would do, 2 does already."""
    odd = np.array([[0, 0], [0.03, 0.03], [0.01, 0.01], [0.05, 0.05]], np.float32)
    assert choose(LevelRule(), ahead(0.9, 1.1, 3.5, 5.1), errors=odd) == [0, 2, 2, 3]
    same = np.zeros((3, 2), np.float32)
    assert choose(LevelRule(), ahead(0.1, 9), errors=same) == [2, 2]


@settings(max_examples=60)
@given(st.integers(1, 8), st.floats(0.1, 10), st.integers(0, 2**32 - 1))
def test_by_error_against_each_level(count: int, pixels: float, seed: int) -> None:
    """Levels whose errors rise and fall: the last of all that will do."""
    rng = np.random.default_rng(seed)
    errors = rng.uniform(0, 0.1, (count, 2)).astype(np.float32)
    errors[0] = 0
    distances = rng.uniform(0.1, 20, 30)
    got = choose(LevelRule(pixels=pixels), ahead(*distances), errors=errors, reach=0)
    for distance, level in zip(distances.astype(np.float32), got, strict=True):
        mean, worst = errors.T.astype(float) * 100 / float(distance)
        will_do = np.maximum(mean, worst / 3) <= pixels
        assert level == np.flatnonzero(will_do)[-1]


def test_by_distance() -> None:
    places = ahead(0.1, 9.99, 10, 19.99, 20.01, 39.9, 40.1, 1e5)
    assert choose(BY_DISTANCE, places) == [0, 0, 1, 1, 2, 2, 3, 3]
    beside = [(9.0, 0, -5), (0, 9.0, -4)]  # 10.3 and 9.8 m from the eye
    assert choose(BY_DISTANCE, beside) == [1, 0]
    moved = replace(EYE, eye=(0, 0, 15), target=(0, 0, 0))
    assert choose(BY_DISTANCE, ahead(0, 4, 6), camera=moved) == [1, 1, 2]
    assert choose(BY_DISTANCE, ahead(15), camera=FLAT) == [1]


@pytest.mark.parametrize("by", ["height", "width", "area"])
def test_by_share_of_the_picture(by: str) -> None:
    """A ball of 1 m across is half as high as the picture at 1 m, a quarter as wide."""
    unit = {"height": 0.5, "width": 0.25, "area": 0.5 * 0.25 * math.pi / 4}[by]
    power = 2 if by == "area" else 1
    rule = LevelRule(by=by, borders=(unit / 2**power, unit / 8**power))
    places = ahead(1, 1.99, 2.01, 7.99, 8.01, 1e4)
    assert choose(rule, places, reach=0.5) == [0, 0, 1, 1, 2, 2]


def test_shares_of_given_bounds() -> None:
    """2 m high and half a metre wide: all of the height, an eighth of the width."""
    size = {"heights": 2.0, "widths": 0.5}
    for by, share in (("height", 1.0), ("width", 0.125), ("area", 0.125)):
        above = LevelRule(by=by, borders=(share * 1.01,))
        below = LevelRule(by=by, borders=(share * 0.99,))
        for camera in (EYE, FLAT):
            assert choose(above, ahead(1), camera=camera, **size) == [1]
            assert choose(below, ahead(1), camera=camera, **size) == [0]
    wide = LevelRule(by="area", borders=(0.26,))
    # One of both alone: the other is that of the ball.
    assert choose(wide, ahead(1), reach=0.5, heights=2.0) == [1]
    assert choose(wide, ahead(1), reach=0.55, heights=2.0) == [0]


def test_shares_without_perspective() -> None:
    rule = LevelRule(by="height", borders=(0.4, 0.1))
    places = ahead(1, 100)
    assert choose(rule, places, camera=FLAT, reach=0.5) == [0, 0]
    assert choose(rule, places, camera=replace(FLAT, height=4), reach=0.5) == [1, 1]


def test_one_larger_than_the_picture_is_near() -> None:
    rule = LevelRule(by="height", borders=(1.5, 0.5))
    assert choose(rule, ahead(1.0, 0.5, 0.001, -0.5), reach=1.0) == [1, 0, 0, 0]


def test_by_speed() -> None:
    rule = LevelRule(by="speed", borders=(2, 6))
    places = ahead(1, 1, 1, 1)
    assert choose(rule, places, speeds=[0, 1.9, 2.1, 99]) == [0, 0, 1, 2]


def test_by_a_function_with_borders() -> None:
    def importance(view: LevelView) -> Any:
        return view.distances * view.extra + view.time

    rule = LevelRule(by=importance, borders=(-1, 0, 5))
    got = choose(rule, ahead(1, 2, 3, 9), extra=np.array([1, -1, 1, 1]), time=-2.0)
    assert got == [1, 0, 2, 3]


def test_by_a_function_that_gives_levels() -> None:
    def fixed(view: LevelView) -> Any:
        return np.array([-3, 0, 2, 200])

    assert choose(LevelRule(by=fixed), ahead(1, 2, 3, 4)) == [0, 0, 2, 3]
    stay = LevelRule(by=lambda view: view.levels)
    assert choose(stay, ahead(1, 1), [2, 1], kind=np.int8) == [2, 1]


def test_what_a_function_is_told() -> None:
    told: list[LevelView] = []

    def listen(view: LevelView) -> Any:
        told.append(view)
        with pytest.raises(ValueError, match="read-only"):
            view.levels[:] = 0
        assert view.levels.tolist() == [1, 3], "so far"
        return np.zeros(2, int)

    choose(
        LevelRule(by=listen),
        [(0, 0, -2), (3, 0, -4)],
        [1, 3],
        reach=0.5,
        speeds=[1, 2],
        time=4.5,
        extra="player",
    )
    (view,) = told
    assert view.places.tolist() == [[0, 0, -2], [3, 0, -4]]
    assert view.distances.tolist() == [2, 5]
    np.testing.assert_allclose(view.heights, [1 / 4, 1 / 8])
    np.testing.assert_allclose(view.widths, [1 / 8, 1 / 16])
    np.testing.assert_allclose(view.areas, np.pi / 4 / np.array([32, 128]))
    np.testing.assert_allclose(view.pixel_sizes, [0.015, 0.035])
    assert view.speeds.tolist() == [1, 2]
    assert (view.time, view.extra) == (4.5, "player")
    choose(LevelRule(by=lambda v: told.append(v) or v.levels), ahead(1))
    assert told[1].speeds.tolist() == [0]
    assert (told[1].time, told[1].extra) == (0.0, None)


def test_the_arithmetic_of_functions_is_theirs() -> None:
    """Warnings are only held back for what is measured here."""
    rule = LevelRule(by=lambda view: 1 / (view.distances - 1), borders=(1,))
    with pytest.raises(FloatingPointError):
        choose(rule, ahead(1))


@pytest.mark.parametrize(
    ("gives", "borders", "text"),
    [
        (np.zeros(2), (), "expected whole numbers: the rule has no borders"),
        (np.zeros(3, int), (), r"gave shape \(3,\), expected \(2,\)"),
        (np.zeros((2, 1)), (1,), r"gave shape \(2, 1\), expected \(2,\)"),
        (np.array(["a", "b"]), (1,), "gave <U1, expected numbers"),
        (None, (1,), r"gave shape \(\), expected \(2,\)"),
    ],
)
def test_functions_that_give_something_else(
    gives: Any, borders: Any, text: str
) -> None:
    def mine(view: LevelView) -> Any:
        return gives

    with pytest.raises(ShapeError, match=f"mine: .*{text}"):
        choose(LevelRule(by=mine, borders=borders), ahead(1, 1))


# Refusals


def test_what_is_given_is_only_read() -> None:
    arrays: Any = [FOUR.copy(), np.ones((2, 3), np.float32), np.ones(2, np.float32)]
    for array in arrays:
        array.flags.writeable = False
    errors, places, reaches = arrays
    levels = np.full(2, -1, np.int32)
    figures = Figures(places, reaches)
    choose_levels(BY_DISTANCE, errors, EYE, SIZE, figures, levels=levels)
    assert (levels >= 0).all()


@pytest.mark.parametrize(
    ("changes", "text"),
    [
        ({"places": np.zeros((2, 3), np.float32)}, "places: shape"),
        ({"places": np.zeros((3, 3))}, "places: float64"),
        ({"reaches": np.zeros(2, np.float32)}, "reaches: shape"),
        ({"reaches": np.full(3, -1, np.float32)}, "reaches: must be 0 or above"),
        ({"heights": np.zeros(2, np.float32)}, "heights: shape"),
        ({"heights": np.full(3, -1, np.float32)}, "heights: must be 0 or above"),
        ({"widths": np.zeros(3)}, "widths: float64"),
        ({"speeds": np.zeros((3, 3), np.float32)}, "speeds: shape"),
        ({"speeds": np.full(3, -1, np.float32)}, "speeds: must be 0 or above"),
        ({"errors": np.zeros((0, 2), np.float32)}, "errors: must be of at least one"),
        ({"errors": np.zeros((2, 3), np.float32)}, "errors: shape"),
        ({"errors": np.full((2, 2), -1, np.float32)}, "errors: .* not negative"),
        ({"errors": np.full((2, 2), np.nan, np.float32)}, "errors: .* finite"),
        ({"levels": np.zeros(3, np.int64)}, "levels: int64, expected int32"),
        ({"levels": np.zeros((3, 1), np.int8)}, "levels: shape"),
        ({"levels": [0, 0, 0]}, "levels: list, expected int32"),
        (
            {
                "levels": np.zeros(3, np.int8),
                "errors": np.zeros((129, 2), np.float32),
            },
            "levels: 129 do not fit int8",
        ),
    ],
)
def test_shapes_are_checked(changes: Any, text: str) -> None:
    sound: Any = {
        "errors": FOUR,
        "levels": np.zeros(3, np.int32),
        "places": np.zeros((3, 3), np.float32),
        "reaches": np.zeros(3, np.float32),
    }

    def choose_with(errors: Any, levels: Any, **each: Any) -> None:
        figures = Figures(**each)
        choose_levels(BY_DISTANCE, errors, EYE, SIZE, figures, levels=levels)

    choose_with(**sound)
    with pytest.raises(ShapeError, match=text):
        choose_with(**{**sound, **changes})


def test_levels_that_cannot_be_written() -> None:
    levels = np.zeros(1, np.int32)
    levels.flags.writeable = False
    place, reach = np.zeros((1, 3), np.float32), np.zeros(1, np.float32)
    with pytest.raises(ShapeError, match="levels: must be a plain"):
        choose_levels(
            BY_DISTANCE, FOUR, EYE, SIZE, Figures(place, reach), levels=levels
        )


@pytest.mark.parametrize("rules", [(), ["distance"], [BY_DISTANCE, None]])
def test_rules_that_are_none(rules: Any) -> None:
    with pytest.raises(SettingError, match="rules: expected a LevelRule, or several"):
        choose(rules, ahead(1))


def test_speeds_that_are_missing() -> None:
    with pytest.raises(SettingError, match="speeds: needed by a rule by speed"):
        choose([BY_DISTANCE, LevelRule(by="speed", borders=(1,))], ahead(1))


@pytest.mark.parametrize("size", [(0, 200), (400, -1), (400,)])
def test_pictures_without_a_size(size: Any) -> None:
    place, reach = np.zeros((1, 3), np.float32), np.zeros(1, np.float32)
    levels = np.zeros(1, np.int32)
    with pytest.raises(SettingError, match=r"size: .*, expected width and height"):
        is_in_view(EYE, size, place, reach)
    with pytest.raises(SettingError, match=r"size: .*, expected width and height"):
        choose_levels(
            LevelRule(), FOUR, EYE, size, Figures(place, reach), levels=levels
        )


def test_reading_rules_for_pictures() -> None:
    place = np.zeros((1, 3), np.float32)
    with pytest.raises(ShapeError, match="reaches: shape"):
        is_in_view(EYE, SIZE, place, np.zeros(2, np.float32))
    with pytest.raises(ShapeError, match="reaches: must be 0 or above"):
        is_in_view(EYE, SIZE, place, np.full(1, -1, np.float32))
    with pytest.raises(ShapeError, match="places: shape"):
        is_in_view(EYE, SIZE, place[0], np.zeros(3, np.float32))
