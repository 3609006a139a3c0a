"""When one weight a vertex will do: thresholds, their bands, many at once."""

from __future__ import annotations

import math
from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from flexor.deform.weight_choice import WeightRule, choose_weights
from flexor.errors import SettingError, ShapeError
from flexor.scene.character.camera import Camera

Rng = np.random.Generator
# Looks along -z; the picture is twice as wide as high. One metre in front of the eye
# it is two metres high, so at a distance d its edges are d above and 2 d beside.
SIZE = (400, 200)
EYE = Camera((0, 0, 0), (0, 0, -1), fov=math.pi / 2)
FLAT = replace(EYE, height=2.0)
# Small characters, so that only their middle counts; at 10 m they are 0.02 pixels high.
REACH, TEN_METRES = 0.001, 0.02
RULE = WeightRule(small=TEN_METRES, aside=0.8, band=0.1)


def choose(
    rule: WeightRule,
    places: Any,
    before: Any = False,
    *,
    behind: Any = False,
    camera: Camera = EYE,
    reach: float = REACH,
) -> list[bool]:
    """The choice for characters at places (N, 3) that were drawn as `before` says."""
    at = np.array(places, np.float32).reshape(-1, 3)
    is_one = np.zeros(len(at), bool)
    is_one[:] = before
    is_behind = np.zeros(len(at), bool)
    is_behind[:] = behind
    reaches = np.full(len(at), reach, np.float32)
    choose_weights(rule, camera, SIZE, at, reaches, is_behind, is_one=is_one)
    return is_one.tolist()  # type: ignore[no-any-return]


def walk(rule: WeightRule, places: Any, before: bool = False) -> list[bool]:
    """The choices for one character that goes from place to place."""
    made = []
    for place in places:
        (before,) = choose(rule, place, before)
        made.append(before)
    return made


def ahead(distance: float) -> tuple[float, float, float]:
    return 0.0, 0.0, -distance


def beside(share: float, distance: float = 5.0) -> tuple[float, float, float]:
    """At a share of the way from the middle of the picture to its right edge."""
    return 2 * share * distance, 0.0, -distance


# Rules


@pytest.mark.parametrize(
    ("settings", "text"),
    [
        ({"small": -1.0}, "small: -1.0, expected a number from 0 on"),
        ({"small": math.nan}, "small: nan, expected a number from 0 on"),
        ({"small": "few"}, "small: 'few', expected a number from 0 on"),
        ({"aside": -math.inf}, "aside: -inf, expected a number from 0 on"),
        ({"aside": None}, "aside: None, expected a number from 0 on"),
        ({"band": -0.01}, "band: -0.01, expected a number from 0 on"),
        ({"band": 1.0}, "band: 1.0, expected 0 to below 1"),
        ({"band": math.nan}, "band: nan, expected a number from 0 on"),
        ({"behind": "x"}, "behind: 'x', expected True or False"),
        ({"behind": 1}, "behind: 1, expected True or False"),
        ({"behind": None}, "behind: None, expected True or False"),
    ],
)
def test_rules_that_cannot_be(settings: Any, text: str) -> None:
    with pytest.raises(SettingError, match=text):
        WeightRule(**settings)


def test_rules_at_the_limits() -> None:
    rule = WeightRule(small=0, aside=math.inf, behind=False, band=0.0)
    assert (rule.small, rule.aside, rule.band) == (0, math.inf, 0.0)
    assert WeightRule(small=math.inf, band=0.999).small == math.inf


def test_a_rule_is_a_setting() -> None:
    assert WeightRule() == WeightRule(
        small=None, pixels=1.0, aside=0.9, behind=True, band=0.1
    )
    with pytest.raises(AttributeError):
        WeightRule().small = 3.0  # type: ignore[misc]


# Each threshold


def test_near_and_in_the_middle_has_all_weights() -> None:
    assert choose(RULE, [ahead(1), ahead(9.9), beside(0.79)]) == [False] * 3


def test_far() -> None:
    assert choose(RULE, [ahead(9.99), ahead(10.01)]) == [False, True]


def test_far_is_along_the_view() -> None:
    """As the rasteriser measures depth: the corner of the picture is no farther."""
    rule = replace(RULE, aside=math.inf)
    assert choose(rule, [(19.0, 0, -9.9), (0, 0, -10.1)]) == [False, True]


@pytest.mark.parametrize("way", [(2, 0), (-2, 0), (0, 1), (0, -1)])
def test_aside_at_each_edge(way: Any) -> None:
    """Half of the picture's width is 2 at a distance of 1, half of its height 1."""
    x, y = np.array(way) * 5.0
    inside, outside = (0.79 * x, 0.79 * y, -5), (0.81 * x, 0.81 * y, -5)
    beyond = (3 * x, 3 * y, -5)
    assert choose(RULE, [inside, outside, beyond]) == [False, True, True]


@pytest.mark.parametrize("way", [(2, 1), (2, -1), (-2, 1), (-2, -1)])
def test_corners_are_as_far_aside_as_edges(way: Any) -> None:
    """The larger of both distances counts, not the way to the corner."""
    x, y = np.array(way) * 5.0
    places = [(0.79 * x, 0.79 * y, -5), (0.81 * x, 0.79 * y, -5)]
    assert choose(RULE, places) == [False, True]


def test_aside_beyond_the_edge() -> None:
    """A threshold above 1: only what is well outside of the picture."""
    rule = replace(RULE, aside=1.5)
    assert choose(rule, [beside(1.4), beside(1.6)]) == [False, True]


def test_behind_the_camera() -> None:
    assert choose(RULE, [(0, 0, 5), (0, 0, 0.001), (3, 2, 50)]) == [True] * 3


def test_nearer_than_is_drawn_counts_as_behind_the_camera() -> None:
    assert choose(RULE, [ahead(0.009), ahead(0.011)]) == [True, False]


def test_behind_something_transparent() -> None:
    places = [ahead(2), ahead(2)]
    assert choose(RULE, places, behind=[False, True]) == [False, True]
    calm = replace(RULE, behind=False)
    assert choose(calm, places, behind=[False, True]) == [False, False]
    # There is no band: out of the glass, and all weights are back.
    assert choose(RULE, places, [True, True], behind=[False, True]) == [False, True]


def test_thresholds_that_are_switched_off() -> None:
    places = [ahead(1e6), beside(7), (1e6, 0, -1e6)]
    off = WeightRule(small=0, aside=math.inf, behind=False)
    for before in (False, True):
        assert choose(off, places, before) == [False] * 3
    never_far = WeightRule(small=0)
    assert choose(never_far, places) == [False, True, False]
    never_aside = WeightRule(small=TEN_METRES, aside=math.inf)
    assert choose(never_aside, places) == [True, False, True]


def test_a_large_one_is_not_aside_while_some_of_it_is_near_the_middle() -> None:
    """A portrait: the middle of the body is below the picture, the head is not."""
    below = [(0, -1.3, -1), (0, -1.9, -1)]
    assert choose(RULE, below) == [True, True]
    assert choose(RULE, below, reach=1.0) == [False, True]


def test_small_is_how_high_it_is_in_the_picture() -> None:
    """A metre and a half is 150 pixels at 1 m here, 15 at 10 m."""
    rule = WeightRule(small=15)
    assert choose(rule, [ahead(9.9), ahead(10.1)], reach=0.75) == [False, True]
    assert choose(rule, [ahead(19.8), ahead(20.2)], reach=1.5) == [False, True]
    near = replace(EYE, fov=math.pi / 4)  # what is zoomed in on is not far
    assert choose(rule, ahead(20), reach=0.75, camera=near) == [False]
    whole = replace(FLAT, height=22.0)
    assert choose(rule, ahead(3), reach=0.75, camera=whole) == [True]


def test_without_perspective_nothing_is_far() -> None:
    """Things are as large at any distance; only their place in the picture counts."""
    places = [ahead(1e4), (1.5, 0, -1e4), (1.7, 0, -2), (0, 0.81, -2), (0, 0, 1)]
    assert choose(RULE, places, camera=FLAT) == [False, False, True, True, True]
    assert choose(RULE, ahead(1e4)) == [True]


def test_the_camera_may_stand_anywhere() -> None:
    camera = Camera((3, 1, 7), (3, 1, 0), fov=math.pi / 2)
    assert choose(RULE, [(3, 1, -2.9), (3, 1, -3.1)], camera=camera) == [False, True]


def test_the_size_of_the_picture_gives_its_shape() -> None:
    """The same place is at the edge of a narrow picture, well inside of a wide one."""
    is_one = np.zeros(1, bool)
    at, free = np.array([[4.5, 0, -5]], np.float32), np.zeros(1, bool)
    reach = np.array([REACH], np.float32)
    choose_weights(RULE, EYE, (200, 200), at, reach, free, is_one=is_one)
    assert is_one.tolist() == [True]
    choose_weights(RULE, EYE, (400, 200), at, reach, free, is_one=is_one)
    assert is_one.tolist() == [False]


@pytest.mark.parametrize("place", [(np.nan, 0, -2), (0, 0, np.nan), (np.inf, 0, -2)])
def test_places_that_are_no_places(place: Any) -> None:
    """What is not finite is not seen: one weight, no warning, and no other is hurt."""
    assert choose(RULE, [ahead(2), place, ahead(2)]) == [False, True, False]


# Bands


def test_walking_out_and_in_switches_once_each_way() -> None:
    distances = np.arange(8.0, 12.0, 0.01)
    out = walk(RULE, [ahead(d) for d in distances])
    assert out == sorted(out), "one switch"
    left = distances[out.index(True)]
    assert left == pytest.approx(10, abs=0.011)
    back = distances[::-1]
    home = walk(RULE, [ahead(d) for d in back], before=True)
    assert home == sorted(home, reverse=True), "one switch"
    returned = back[home.index(False)]
    assert returned == pytest.approx(9, abs=0.011)


def test_stepping_aside_and_back_switches_once_each_way() -> None:
    shares = np.arange(0.6, 1.0, 0.002)
    out = walk(RULE, [beside(s) for s in shares])
    assert out == sorted(out)
    assert shares[out.index(True)] == pytest.approx(0.8, abs=0.003)
    back = shares[::-1]
    home = walk(RULE, [beside(s) for s in back], before=True)
    assert home == sorted(home, reverse=True)
    assert back[home.index(False)] == pytest.approx(0.72, abs=0.003)


@pytest.mark.parametrize("before", [False, True])
def test_jitter_inside_the_band_does_not_flicker(before: bool, rng: Rng) -> None:
    steps = rng.uniform(9.05, 9.95, 200)
    assert walk(RULE, [ahead(d) for d in steps], before) == [before] * 200
    steps = rng.uniform(0.725, 0.795, 200)
    assert walk(RULE, [beside(s) for s in steps], before) == [before] * 200


def test_without_a_band_the_border_is_sharp() -> None:
    """The same jitter, which the band is there against."""
    sharp = replace(RULE, band=0.0)
    steps = [9.9, 10.1, 9.9, 10.1]
    assert walk(sharp, [ahead(d) for d in steps]) == [False, True, False, True]


def test_all_reasons_have_to_be_gone() -> None:
    """Back in the middle, but not yet near enough."""
    assert walk(RULE, [beside(0.9, 9.5), ahead(9.5), ahead(8.9)]) == [True, True, False]


# Many at once


@pytest.mark.parametrize("camera", [EYE, FLAT])
def test_many_at_once_are_as_each_alone(camera: Camera, rng: Rng) -> None:
    places = rng.uniform((-20, -10, -14), (20, 10, 2), (300, 3))
    before, behind = rng.random((2, 300)) < 0.3
    together = choose(RULE, places, before, behind=behind, camera=camera)
    alone = [
        choose(RULE, places[n], before[n], behind=behind[n], camera=camera)[0]
        for n in range(300)
    ]
    assert together == alone
    assert 50 < sum(together) < 299


def test_none_at_all() -> None:
    assert choose(RULE, np.zeros((0, 3))) == []


def test_what_is_given_is_only_read() -> None:
    places, behind = np.zeros((2, 3), np.float32), np.zeros(2, bool)
    places[:, 2] = -20
    reaches = np.full(2, REACH, np.float32)
    for given in (places, reaches, behind):
        given.flags.writeable = False
    is_one = np.zeros(2, bool)
    choose_weights(RULE, EYE, SIZE, places, reaches, behind, is_one=is_one)
    assert is_one.tolist() == [True, True]


@pytest.mark.parametrize(
    ("changes", "text"),
    [
        ({"places": np.zeros((2, 3), np.float32)}, "places: shape"),
        ({"places": np.zeros((3, 2), np.float32)}, "places: shape"),
        ({"places": np.zeros(9, np.float32)}, "places: shape"),
        ({"places": np.zeros((3, 3))}, "places: float64"),
        ({"reaches": np.zeros(2, np.float32)}, "reaches: shape"),
        ({"reaches": np.zeros(3)}, "reaches: float64"),
        ({"is_behind": np.zeros(2, bool)}, "is_behind: shape"),
        ({"is_behind": np.zeros(3, np.uint8)}, "is_behind: uint8"),
        ({"is_one": np.zeros((3, 1), bool)}, "is_one: shape"),
        ({"is_one": np.zeros(3, np.int32)}, "is_one: int32"),
    ],
)
def test_shapes_are_checked(changes: Any, text: str) -> None:
    given = {
        "places": np.zeros((3, 3), np.float32),
        "reaches": np.zeros(3, np.float32),
        "is_behind": np.zeros(3, bool),
        "is_one": np.zeros(3, bool),
        **changes,
    }
    with pytest.raises(ShapeError, match=text):
        choose_weights(RULE, EYE, SIZE, **given)


def test_a_choice_that_cannot_be_written_is_refused() -> None:
    is_one = np.zeros(1, bool)
    is_one.flags.writeable = False
    places, reach = np.zeros((1, 3), np.float32), np.zeros(1, np.float32)
    with pytest.raises(ShapeError, match="is_one: must be"):
        choose_weights(RULE, EYE, SIZE, places, reach, np.zeros(1, bool), is_one=is_one)


# By what was measured


@pytest.mark.parametrize("camera", [EYE, FLAT])
@pytest.mark.parametrize(
    ("errors", "off"),
    [((0.02, 0.03), 0.02), ((0.01, 0.09), 0.03), ((0.0, 0.0), 0.0)],
)
@pytest.mark.parametrize("pixels", [1.0, 3.0])
def test_one_weight_where_it_is_not_seen(
    errors: tuple[float, float], off: float, camera: Camera, pixels: float
) -> None:
    """A pixel in the mean, three at worst, at what is nearest of each character."""
    rule = WeightRule(pixels=pixels, aside=math.inf)
    distances = np.linspace(1.5, 12, 40)
    at = np.array([ahead(metres) for metres in distances], np.float32)
    reaches = np.full(40, 0.5, np.float32)
    free, is_one = np.zeros(40, bool), np.zeros(40, bool)
    many = np.tile(np.array(errors), (40, 1))
    choose_weights(rule, camera, SIZE, at, reaches, free, is_one=is_one, errors=many)
    close = np.ones(40) if camera.height else distances - 0.5
    seen = off * camera.scale(SIZE) / close
    np.testing.assert_array_equal(is_one, seen <= pixels)
    # One that is drawn so stays so within the band.
    held = np.ones(40, bool)
    choose_weights(rule, camera, SIZE, at, reaches, free, is_one=held, errors=many)
    np.testing.assert_array_equal(held, 0.9 * seen <= pixels)


def test_a_rule_without_a_size_needs_errors() -> None:
    with pytest.raises(SettingError, match="errors: needed by a rule"):
        choose(WeightRule(), ahead(3))
    is_one, free = np.zeros(1, bool), np.zeros(1, bool)
    at, reach = np.zeros((1, 3), np.float32), np.ones(1, np.float32)
    with pytest.raises(ShapeError, match="errors: shape"):
        choose_weights(
            WeightRule(),
            EYE,
            SIZE,
            at,
            reach,
            free,
            is_one=is_one,
            errors=np.zeros((2, 2)),
        )
