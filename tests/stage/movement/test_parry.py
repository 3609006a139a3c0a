"""Parries: how far attackers recoil, and whose time runs slower."""

from __future__ import annotations

import math

import numpy as np
import pytest

from flexor.errors import SettingError
from flexor.scene.stage.settings import ParrySettings
from flexor.stage.movement.parry import (
    end_push,
    init_recoil,
    is_in_front,
    open_up,
    push_back,
    step_recoil,
)


@pytest.mark.parametrize("ticks", [1, 3, 7, 40, 59])
@pytest.mark.parametrize("amount", [0.1, 0.6, 1.7])
def test_the_sum_is_exact_and_the_defender_is_untouched(
    ticks: int, amount: float
) -> None:
    settings = ParrySettings(amount=amount, ticks=ticks)
    recoil, clocks, places = init_recoil(2), np.ones(2), np.zeros((2, 3))
    way = (0.6, -0.8)
    open_up(recoil, clocks, 0, way, settings, ticks)
    before = places[0].copy()
    for tick in range(ticks):
        assert clocks.tolist() == [0.5, 1.0]
        step_recoil(recoil, clocks, places)
        moved = np.hypot(*(places[0] - before)[[0, 2]])
        assert moved == pytest.approx(amount / ticks, rel=1e-9)
        before = places[0].copy()
        assert recoil.left[0] == ticks - 1 - tick
    np.testing.assert_allclose(
        places, [[0.6 * amount, 0, -0.8 * amount], [0, 0, 0]], atol=1e-15
    )
    assert recoil.given[0].tolist() == (np.array(way) * amount).tolist()
    assert clocks.tolist() == [1.0, 1.0]
    step_recoil(recoil, clocks, places)
    assert (places[0] == before).all(), "and then it is over"


def test_others_may_move_meanwhile() -> None:
    recoil, clocks, places = init_recoil(1), np.ones(1), np.zeros((1, 3))
    open_up(recoil, clocks, 0, (1.0, 0.0), ParrySettings(amount=1), 10)
    for _ in range(10):
        places[0, 2] += 0.1
        step_recoil(recoil, clocks, places)
    np.testing.assert_allclose(places, [[1, 0, 1]], atol=1e-12)


def test_who_is_parried_again_has_its_own_time_afterwards() -> None:
    recoil, clocks, places = init_recoil(1), np.full(1, 0.8), np.zeros((1, 3))
    settings = ParrySettings(amount=1, ticks=4)
    open_up(recoil, clocks, 0, (1.0, 0.0), settings, 4)
    step_recoil(recoil, clocks, places)
    open_up(recoil, clocks, 0, (1.0, 0.0), settings, 4)
    for _ in range(4):
        assert clocks[0] == settings.speed
        step_recoil(recoil, clocks, places)
    assert clocks[0] == 0.8


def test_what_is_left_of_a_push_comes_with_the_next() -> None:
    for is_ended, expected in ((False, 1.0 + 0.5), (True, 0.4 + 0.5)):
        recoil, clocks, places = init_recoil(2), np.ones(2), np.zeros((2, 3))
        push_back(recoil, 0, (1.0, 0.0), 1.0, 10)
        for _ in range(4):
            step_recoil(recoil, clocks, places)
        if is_ended:
            end_push(recoil, 0)
            before = places.copy()
            step_recoil(recoil, clocks, places)
            np.testing.assert_array_equal(places, before)
        push_back(recoil, 0, (1.0, 0.0), 0.5, 5)
        for _ in range(6):
            step_recoil(recoil, clocks, places)
        np.testing.assert_allclose(places, [[expected, 0, 0], [0, 0, 0]], atol=1e-12)


def test_in_front() -> None:
    places = np.array([[0.0, 0, 0], [0, 5, 2], [2, 0, 0.1], [0, 0, -1], [0, 0, 0]])
    headings = np.zeros(5)
    found = [
        is_in_front(places, headings, 0, n, math.radians(75)) for n in (1, 2, 3, 4)
    ]
    assert found == [True, False, False, True]
    headings[0] = math.pi / 2
    assert is_in_front(places, headings, 0, 2, math.radians(75))


@pytest.mark.parametrize(
    ("change", "text"),
    [
        ({"amount": -1}, "amount"),
        ({"ticks": 0}, "ticks: 0, expected 1 to 10000"),
        ({"ticks": 2.5}, "ticks"),
        ({"rest": 0}, "rest: 0, expected 1 to 600"),
        ({"rest": 2.5}, "rest"),
        ({"reach": -1}, "reach: -1, expected 0 to 10"),
        ({"trunk": 2}, "trunk: 2, expected -1.57"),
        ({"head": math.nan}, "head: nan"),
        ({"arms": "x"}, "arms: 'x'"),
        ({"step": -1}, "step: -1, expected 0 to 100"),
        ({"speed": 0}, "speed: 0, expected above 0 to 1"),
        ({"angle": 4}, "angle"),
        ({"angle": 0}, "angle: 0, expected above 0 to 3.14"),
        ({"amount": "x"}, "amount: 'x', expected 0 to 100"),
        ({"amount": math.nan}, "amount: nan, expected 0 to 100"),
        ({"ticks": True}, "ticks: True, expected 1 to 10000"),
        ({"ticks": "9"}, "ticks: str, expected Integral"),
        ({"speed": None}, "speed: None, expected above 0 to 1"),
        ({"angle": [1]}, r"angle: \[1\], expected above 0"),
    ],
)
def test_settings_that_are_refused(change: dict[str, float], text: str) -> None:
    with pytest.raises(SettingError, match=text):
        ParrySettings(**change)  # type: ignore[arg-type]
