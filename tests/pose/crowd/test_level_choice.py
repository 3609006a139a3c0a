"""Levels by rules: each condition, borders and their bands, many at once; what is in
the picture.
"""

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
from flexor.scene.character.camera import Camera

Rng = np.random.Generator
# Looks along -z; the picture is twice as wide as high. One metre in front of the eye
# it is two metres high, 100 pixels a metre.
SIZE = (400, 200)
EYE = Camera((0, 0, 0), (0, 0, -1), fov=math.pi / 2)
FLAT = replace(EYE, height=2.0)
FOUR = np.array([[0, 0], [0.01, 0.02], [0.02, 0.08], [0.04, 0.1]], np.float32)
BY_DISTANCE = LevelRule(by="distance", borders=(10, 20, 40))


def choose(
    rules: Any,
    places: Any,
    before: Any = -1,
    *,
    camera: Camera = EYE,
    errors: Any = FOUR,
    reach: Any = 0.001,
    kind: Any = np.int32,
    **more: Any,
) -> list[int]:
    """The levels of characters at places (N, 3) that had the levels `before`."""
    at = np.array(places, np.float32).reshape(-1, 3)
    levels = np.empty(len(at), kind)
    levels[:] = before
    reaches = np.empty(len(at), np.float32)
    reaches[:] = reach
    each = {
        name: np.broadcast_to(np.float32(more.pop(name)), len(at)).copy()
        for name in ("heights", "widths", "speeds")
        if name in more
    }
    figures = Figures(at, reaches, **each)
    choose_levels(rules, errors, camera, SIZE, figures, levels=levels, **more)
    return levels.tolist()  # type: ignore[no-any-return]


def ahead(*distances: float) -> Any:
    return [(0.0, 0.0, -distance) for distance in distances]


def walk(rule: LevelRule, distances: Any, before: int = -1) -> list[int]:
    """The levels of one character that goes from distance to distance."""
    made = []
    for distance in distances:
        (before,) = choose(rule, ahead(distance), before)
        made.append(before)
    return made


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


@settings(max_examples=60, deadline=None)
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


@settings(max_examples=60, deadline=None)
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


@settings(max_examples=60, deadline=None)
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


# In the picture


def in_view(places: Any, reach: Any = 0.0, camera: Camera = EYE) -> list[bool]:
    at = np.array(places, np.float32).reshape(-1, 3)
    reaches = np.empty(len(at), np.float32)
    reaches[:] = reach
    return is_in_view(camera, SIZE, at, reaches).tolist()  # type: ignore[no-any-return]


@pytest.mark.parametrize("way", [(2, 0), (-2, 0), (0, 1), (0, -1)])
def test_points_at_each_side(way: Any) -> None:
    x, y = way
    for depth in (0.5, 5.0, 500.0):
        edge = np.array([x * depth, y * depth, -depth])
        places = [edge * [s, s, 1] for s in (0, 0.99, 1.01)]
        assert in_view(places) == [True, True, False]
    assert in_view([[s * x / 1, s * y, -7] for s in (0.99, 1.01)], camera=FLAT) == [
        True,
        False,
    ]


def test_balls_that_reach_in() -> None:
    """The side is a plane at 45 degrees: 1 m beyond is 0.71 m from it."""
    above = [(0, 6, -5)] * 2
    assert in_view(above, [0.70, 0.72]) == [False, True]
    assert in_view(above, [4.9, 5.1], FLAT) == [False, True]
    behind = [(0, 0, 1)] * 2
    for camera in (EYE, FLAT):
        assert in_view(behind, [1.005, 1.015], camera) == [False, True]


def test_nothing_is_nearer_than_near() -> None:
    for camera in (EYE, FLAT):
        assert in_view(ahead(0.009, 0.011, 1e9), camera=camera) == [False, True, True]


@pytest.mark.parametrize("camera", [EYE, FLAT])
@pytest.mark.parametrize("bad", [np.nan, np.inf, -np.inf])
def test_places_that_are_no_places(camera: Camera, bad: float) -> None:
    for row in range(3):
        place = [0.0, 0.0, -2.0]
        place[row] = bad
        got = in_view([(0, 0, -2), place, (0, 0, -2)], 1.0, camera)
        assert got == [True, False, True]
        aslant = replace(camera, eye=(1, 2, 3), target=(-2, 1, 0))
        assert in_view([place], np.inf, aslant) == [False]
    assert in_view(ahead(2, 2), [np.nan, np.inf], camera) == [False, True]


@pytest.mark.parametrize("height", [None, 3.0])
def test_what_can_be_seen_is_never_left_out(height: float | None, rng: Rng) -> None:
    """Points all over balls, projected: one in the picture, and the ball is in view.
    And what is taken for seen is not far outside.
    """
    camera = Camera((1, 2, 3), (-2, 1, 0), fov=0.9, height=height, near=0.2)
    places = rng.uniform(-9, 9, (400, 3)).astype(np.float32)
    reaches = rng.uniform(0, 2, 400).astype(np.float32)
    got = is_in_view(camera, SIZE, places, reaches)
    ways = rng.normal(size=(3000, 3))
    ways /= np.linalg.norm(ways, axis=1)[:, None]
    ways *= rng.choice([0.5, 1.0], (3000, 1))

    def can_see(scale: float) -> Any:
        points = places[:, None] + ways * (scale * reaches)[:, None, None]
        pixels = camera.project(points, SIZE)
        with np.errstate(invalid="ignore"):
            inside = (pixels[..., :2] >= 0) & (pixels[..., :2] <= SIZE)
        return inside.all(-1).any(1)

    seen = can_see(1.0)
    assert not (seen & ~got).any()
    assert 30 < seen.sum() < 370
    # Corners are where a plane at a time is not exact.
    assert not (got & ~can_see(1.6)).any()


def test_reading_rules_for_pictures() -> None:
    place = np.zeros((1, 3), np.float32)
    with pytest.raises(ShapeError, match="reaches: shape"):
        is_in_view(EYE, SIZE, place, np.zeros(2, np.float32))
    with pytest.raises(ShapeError, match="reaches: must be 0 or above"):
        is_in_view(EYE, SIZE, place, np.full(1, -1, np.float32))
    with pytest.raises(ShapeError, match="places: shape"):
        is_in_view(EYE, SIZE, place[0], np.zeros(3, np.float32))
