"""Balls, rods, gates and shots that cannot be."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest

from flexor.errors import SettingError, ShapeError
from flexor.stage.goal.plan import BallSettings, Gate, Push, Rod
from flexor.stage.goal.soccer import GoalSettings, make_goal
from flexor.stage.goal.state import (
    init_netting,
    shoot,
    step_balls,
    step_netting,
)
from tests.stage.goal.balls import field

# Refusals

NAN, INF = math.nan, math.inf


@pytest.mark.parametrize(
    ("words", "text"),
    [
        *(
            ({name: value}, rf"{name}: .*, expected 0 to 1e\+09")
            for name in ("k1", "k2a", "k2b", "k3")
            for value in (-1, NAN, INF, 1e10, "1", None, True)
        ),
        *(
            ({name: value}, f"{name}: .*, expected 0 to 10$")
            for name in ("k4", "k5", "front", "limit")
            for value in (-1, NAN, INF, 10.1, "1", None, True)
        ),
        ({"front": 0}, "front: 0.*, expected 0.001 to 10"),
        ({"front": 2.0}, "limit: 1.35 m, expected more than front, 2 m"),
        ({"limit": 0.15}, "limit: 0.15 m, expected more than front, 0.15 m"),
    ],
)
def test_pushes_that_cannot_be_are_refused(words: Any, text: str) -> None:
    with pytest.raises(SettingError, match=text):
        Push(**words)


@pytest.mark.parametrize(
    ("name", "bounds", "text"),
    [
        ("radius", (1e-3, 10), "0.001 to 10"),
        ("inertia", (1e-3, 1), "0.001 to 1"),
        ("gravity", (0, 100), "0 to 100"),
        ("drag", (0, 1), "0 to 1"),
        ("curl", (-1, 1), "-1 to 1"),
        ("ground", (-1e3, 1e3), "-1000 to 1000"),
        ("bounce", (0, 1), "0 to 1"),
        ("rod_bounce", (0, 1), "0 to 1"),
        ("grip", (0, 10), "0 to 10"),
        ("rolling", (0, 10), "0 to 10"),
        ("rod_grip", (0, 10), "0 to 10"),
    ],
)
def test_balls_that_cannot_be_are_refused(name: str, bounds: Any, text: str) -> None:
    low, high = bounds
    for value in (low, high):
        assert getattr(BallSettings(**{name: value}), name) == value
    size = 1e-6 * (high - low)
    for bad in (low - size, high + size, NAN, INF, -INF, "1", None, True):
        with pytest.raises(SettingError, match=f"^{name}: .*, expected {text}$"):
            BallSettings(**{name: bad})


@pytest.mark.parametrize("rate", [0, -240, 240.0, 10_001, NAN, "240", None, True])
def test_rates_that_cannot_be_are_refused(rate: Any) -> None:
    with pytest.raises(
        SettingError, match=r"^rate: .*, expected whole steps a second, 1 to"
    ):
        BallSettings(rate=rate)
    assert BallSettings(rate=np.int64(480)).rate == 480


def test_numbers_of_any_kind_become_floats() -> None:
    push = Push(k1=np.float32(300), k3=np.int64(7))
    assert (type(push.k1), push.k1) == (float, 300.0)
    assert (type(push.k3), push.k3) == (float, 7.0)
    assert type(BallSettings(radius=1).radius) is float
    rod = Rod([0, 1, 2], np.array([3, 4, 5]), 1)
    assert (rod.start, rod.end, rod.radius) == ((0, 1, 2), (3, 4, 5), 1)
    assert type(rod.start) is tuple
    assert type(rod.end[0]) is float


BAD_POINTS = [(0, 0), (0, 0, 0, 0), (0, NAN, 0), (0, 0, INF), (0, 0, 2e4), 5, "abc"]


@pytest.mark.parametrize("point", [*BAD_POINTS, None, (0, 0, "x")])
def test_points_that_cannot_be_are_refused(point: Any) -> None:
    good = (0, 0, 0)
    words = "expected x, y and z, metres of at most 10000"
    with pytest.raises(SettingError, match=f"^start: .*{words}"):
        Rod(point, good, 0.1)
    with pytest.raises(SettingError, match=f"^end: .*{words}"):
        Rod(good, point, 0.1)
    gate: Any = {
        "middle": good,
        "normal": (0, 0, 1),
        "across": (1, 0, 0),
        "up": (0, 1, 0),
    }
    for name in gate:
        with pytest.raises(SettingError, match=f"^{name}: .*{words}"):
            Gate(**{**gate, name: point})


@pytest.mark.parametrize("radius", [0, 1e-5, -1, 101, NAN, INF, "1", None])
def test_rods_that_cannot_be_are_refused(radius: Any) -> None:
    with pytest.raises(SettingError, match=r"^radius: .*, expected 0.0001 to 100$"):
        Rod((0, 0, 0), (0, 1, 0), radius)


@pytest.mark.parametrize("name", ["normal", "across", "up"])
def test_gates_without_a_size_are_refused(name: str) -> None:
    gate: Any = {
        "middle": (0, 0, 0),
        "normal": (0, 0, 1),
        "across": (1, 0, 0),
        "up": (0, 1, 0),
    }
    for way in ((0, 0, 0), (0, 1e-7, 0)):
        with pytest.raises(SettingError, match=rf"^{name}: \(.*, expected a length"):
            Gate(**{**gate, name: way})


def test_gates_that_are_askew_are_refused() -> None:
    text = "normal, across, up: expected each at right angles to the others"
    ways: Any = {"normal": (0, 0, 1), "across": (1, 0, 0), "up": (0, 1, 0)}
    for name, way in (("normal", (0.1, 0, 1)), ("up", (0, 1, 0.1)), ("up", (1, 1, 0))):
        with pytest.raises(SettingError, match=text):
            Gate(middle=(0, 0, 0), **{**ways, name: way})
    assert Gate(middle=(0, 0, 0), **{**ways, "up": (0, 1, 1e-5)}).up == (0, 1, 1e-5)


def test_hollows_without_room_for_a_ball_are_refused() -> None:
    text = "face 'D': there is no room for a ball of 0.3 m behind it; a deeper hollow"
    with pytest.raises(SettingError, match=text):
        make_goal(GoalSettings(depth=0.3), ball=BallSettings(radius=0.3))
    make_goal(GoalSettings(depth=0.3))


@pytest.mark.parametrize("name", ["count", "balls"])
@pytest.mark.parametrize("value", [-1, 1.0, NAN, "1", None, True])
def test_states_that_cannot_be_are_refused(name: str, value: Any) -> None:
    own = field(BallSettings())
    with pytest.raises(SettingError, match=f"^{name}: .*, expected 0 or more"):
        init_netting(own, **{name: value})


def test_states_that_are_too_large_are_refused() -> None:
    own = field(BallSettings())
    nodes = len(own.hang)
    for words, text in (
        ({"count": 10**7}, f"count: 10000000 times {nodes} nodes, expected 10,000,000"),
        ({"balls": 10**7 + 1}, "count: 1 times 10000001 balls, expected 10,000,000"),
    ):
        with pytest.raises(SettingError, match=text):
            init_netting(own, **words)


# What is shot, a value that cannot be, and the error.
BAD_SHOTS = [
    *(
        (name, value, rf"^{name}: \[.*\], expected a length of at most {most}$")
        for name, most in (("place", 10000), ("velocity", 200), ("spin", 2000))
        for value in (
            (0, NAN, 0),
            (INF, 0, 0),
            (0, 0, -INF),
            (1e200, 0, 0),
            (0.8 * most, 0.8 * most, 0),
            (0, most * (1 + 1e-9), 0),
        )
    ),
    *(
        (name, value, rf"^{name}: expected numbers, \(3,\) or .* \(2, 3, 3\)$")
        for name in ("place", "velocity", "spin")
        for value in (
            (0, 0),
            (0, 0, 0, 0),
            np.zeros((3, 3, 3)),
            np.zeros((2, 4)),
            "abc",
            [[1, 2], [3]],
        )
    ),
]


@pytest.mark.parametrize(("name", "value", "text"), BAD_SHOTS)
def test_shots_that_cannot_be_are_refused(name: str, value: Any, text: str) -> None:
    """And nothing has changed then."""
    state = init_netting(field(BallSettings()), 2, 3)
    good: Any = {"place": (0, 1, 2), "velocity": (0, 0, -9), "spin": (0, 1, 0)}
    start = state.bodies.copy()
    with pytest.raises(ShapeError, match=text):
        shoot(state, **{**good, name: value})
    np.testing.assert_array_equal(state.bodies, start)


@pytest.mark.parametrize(
    "who",
    [(0, 3), (2, 0), (-3, 0), 5, (0, 0, 0), "x", 0.5, np.ones((3, 3), bool), [[9]]],
)
def test_balls_that_are_not_there_cannot_be_shot(who: Any) -> None:
    state = init_netting(field(BallSettings()), 2, 3)
    start = state.bodies.copy()
    with pytest.raises(ShapeError, match=r"^who: no such balls: "):
        shoot(state, (0, 1, 2), who=who)
    np.testing.assert_array_equal(state.bodies, start)


def test_shots_must_be_as_many_as_those_shot() -> None:
    state = init_netting(field(BallSettings()), 2, 3)
    with pytest.raises(ShapeError, match=r"place: .*, \(3,\) or .*, \(2, 3\)"):
        shoot(state, np.zeros((3, 3)), who=(slice(None), 0))
    with pytest.raises(ShapeError, match=r"velocity: .*, \(3,\) or .*, \(3,\)"):
        shoot(state, (0, 0, 0), np.zeros((2, 3)), who=(0, 0))


@pytest.mark.parametrize("steps", [-1, 1.0, NAN, "1", None, True, 10_000_001])
def test_steps_that_cannot_be_are_refused(steps: Any) -> None:
    state = init_netting(field(BallSettings()))
    with pytest.raises(SettingError, match=r"^steps: .*, expected 0 to 10,000,000"):
        step_balls(state, steps)
    with pytest.raises(SettingError, match=r"^frames: .*, expected 0 to 10,000,000"):
        step_netting(state, steps)


def test_rates_must_fit_that_of_the_net() -> None:
    with pytest.raises(SettingError, match=r"of balls 250, expected n times .* 120"):
        make_goal(ball=BallSettings(rate=250))
