"""Where the camera of a stage goes."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest

from flexor.scene.stage.plan import CameraRule
from flexor.stage.camera import (
    CLEAR,
    RISE,
    SIGHT,
    CameraState,
    camera_of,
    follow_rule,
    init_camera,
    keep_above,
    look_over,
    sight_points,
    step_camera,
    view_of,
)

Rng = np.random.Generator
DT = 1 / 60
SIZE = (640, 480)
TALL, BROAD = 1.8, 0.35  # metres, of a body


def put(
    rule: CameraRule,
    places: Any,
    headings: Any = None,
    opponents: Any = None,
    *,
    row: int = 0,
    height: float = -99.0,
) -> CameraState:
    """A camera that has just been put where its rule says."""
    state = init_camera(rule, row)
    go(state, places, headings, opponents, height=height, at_once=True)
    return state


def go(
    state: CameraState,
    places: Any,
    headings: Any = None,
    opponents: Any = None,
    *,
    spans: Any = None,
    height: float = -99.0,
    at_once: bool = False,
) -> None:
    """A tick, over ground of a height."""
    count = len(places)
    spots = np.array(places, np.float64).reshape(-1, 3)
    step_camera(
        state,
        DT,
        spots,
        np.zeros(count) if headings is None else np.array(headings, np.float64),
        np.array([1, 0][:count] if opponents is None else opponents, np.int32),
        spans_of(spots) if spans is None else np.array(spans, np.float64),
        at_once=at_once,
    )
    keep_above(state, height)


def spans_of(places: Any) -> Any:
    """From where to where the nodes of those reach who stand there: (N, 6)."""
    low, high = (-BROAD, 0.1, -BROAD), (BROAD, TALL - 0.2, BROAD)
    return np.concatenate([np.add(places, low), np.add(places, high)], 1)


def body_points(place: Any) -> Any:
    """Corners of the box around one who stands there: (8, 3)."""
    sides = np.array(np.meshgrid([-BROAD, BROAD], [0, TALL], [-BROAD, BROAD]))
    return np.asarray(place) + sides.reshape(3, -1).T


def is_seen(state: CameraState, places: Any) -> bool:
    camera = camera_of(state)
    for place in places:
        x, y, distance = camera.project(body_points(place), SIZE).T
        if not (distance > 0).all():
            return False
        inside = (x >= 0) & (x <= SIZE[0]) & (y >= 0) & (y <= SIZE[1])
        if not inside.all():
            return False
    return True


def random_pair(rng: Rng, high: float = 0.0) -> Any:
    """Two who are up to some metres apart, and at heights that differ by `high`."""
    places = rng.uniform(-10, 10, (2, 3))
    way, apart = rng.uniform(0, 2 * math.pi), rng.choice([0.0, 0.6, 2.0, 8.0, 20.0])
    places[1] = places[0] + apart * np.array([math.sin(way), 0, math.cos(way)])
    places[1, 1] += rng.uniform(-high, high)
    return places


@pytest.mark.parametrize("high", [0.0, 0.5, 4.0])
def test_beside_two_both_are_in_the_picture(rng: Rng, high: float) -> None:
    for _ in range(200):
        places = random_pair(rng, high)
        rule = CameraRule(
            rule="side",
            eye=tuple(rng.uniform(-9, 9, 3)),
            fov=float(rng.uniform(0.5, 1.2)),
        )
        state = put(rule, places)
        assert is_seen(state, places)
        middle = places.mean(0)
        across = (state.eye - middle) @ ((places[1] - places[0]) * (1, 0, 1))
        assert across == pytest.approx(0, abs=1e-6), "square to the line between them"
        away = math.hypot(*(state.eye - middle)[[0, 2]])
        assert away >= rule.distance - 1e-9


def test_behind_one_both_are_in_the_picture(rng: Rng) -> None:
    for _ in range(200):
        places = random_pair(rng, 0.3)
        state = put(CameraRule(rule="behind"), places, rng.uniform(-3, 3, 2))
        assert is_seen(state, places)
        line = (places[1] - places[0])[[0, 2]]
        if np.hypot(*line) > 0.1:
            view = np.array(view_of(state))
            np.testing.assert_allclose(view, line / np.hypot(*line), atol=1e-9)


def test_a_fixed_camera_stays(rng: Rng) -> None:
    rule = CameraRule(rule="fixed", eye=(1, 2, 3), target=(4, 5, 6))
    state = put(rule, random_pair(rng))
    for _ in range(5):
        go(state, random_pair(rng), height=50.0)
        assert state.eye.tolist() == [1, 2, 3]
        assert state.target.tolist() == [4, 5, 6]
    camera = camera_of(state)
    assert (camera.eye, camera.target, camera.fov) == ((1, 2, 3), (4, 5, 6), rule.fov)


@pytest.mark.parametrize("rule", ["side", "behind"])
def test_never_below_the_ground(rng: Rng, rule: Any) -> None:
    state = put(CameraRule(rule=rule, height=-3.0), random_pair(rng))
    for _ in range(100):
        height = float(rng.uniform(-1, 4))
        go(state, random_pair(rng), height=height)
        assert state.eye[1] >= height + CLEAR


@pytest.mark.parametrize("rule", ["side", "behind"])
@pytest.mark.parametrize("speed", [0.5, 1.5, 3.0])
def test_no_jump_while_fighters_circle(rule: Any, speed: float) -> None:
    """Ten turns, `speed` in radians a second: it stays on its side of them."""
    apart = 1.2
    angles = np.arange(0, 20 * math.pi, speed * DT)
    state = None
    steps, sides = [], []
    for angle in angles:
        line = np.array([math.sin(angle), 0, math.cos(angle)]) * apart / 2
        places = np.array([-line, line])
        if state is None:
            state = put(CameraRule(rule=rule), places)
            continue
        before = state.eye.copy()
        go(state, places)
        steps.append(math.dist(state.eye, before))
        sides.append(np.cross(line, state.eye)[1])
        assert is_seen(state, places)
    assert max(steps) < speed * DT * 4.5 * 1.3, "no faster than its circle"
    if rule == "side":
        assert min(sides) > 0 or max(sides) < 0, "never on the other side"


def test_no_jump_when_fighters_pass_each_other() -> None:
    """They change places: it does not go to the other side for that."""
    state = put(CameraRule(), [[-2, 0, 0], [2, 0, 0.1]])
    side = np.sign(state.eye[2])
    largest = 0.0
    for x in np.linspace(-2, 2, 180):
        before = state.eye.copy()
        go(state, [[x, 0, 0], [-x, 0, 0.1]])
        largest = max(largest, math.dist(before, state.eye))
        assert np.isfinite(state.eye).all()
    assert np.sign(state.eye[2]) == side
    assert largest < 0.5


@pytest.mark.parametrize("rule", ["side", "behind"])
def test_opponents_on_one_spot(rule: Any) -> None:
    """No NaN, and the camera goes on looking the way it did."""
    state = put(CameraRule(rule=rule), [[0, 0, 0], [1, 0, 2]])
    view = view_of(state)
    for _ in range(300):
        go(state, [[0.5, 0, 1], [0.5, 0, 1]])
        assert np.isfinite(state.eye).all()
        assert np.isfinite(state.target).all()
    np.testing.assert_allclose(view_of(state), view, atol=1e-6)
    assert is_seen(state, [[0.5, 0, 1]])


@pytest.mark.parametrize("rule", ["side", "behind"])
def test_one_spot_at_once_from_straight_above(rule: Any) -> None:
    """The worst start: no line between them, and none of sight over the ground."""
    own = CameraRule(rule=rule, eye=(0, 5, 0), target=(0, 0, 0))
    state = put(own, [[0, 0, 0], [0, 0, 0]])
    assert np.isfinite(state.eye).all()
    assert is_seen(state, [[0, 0, 0]])


@pytest.mark.parametrize("rule", ["side", "behind"])
def test_one_without_an_opponent_is_seen(rule: Any) -> None:
    for turn in np.arange(0, 6, 0.5):
        state = put(CameraRule(rule=rule), [[3, 1, 2]], [turn], [-1], height=1.0)
        assert is_seen(state, [[3, 1, 2]])
        if rule == "behind":
            view = view_of(state)
            np.testing.assert_allclose(view, (math.sin(turn), math.cos(turn)))


@pytest.mark.parametrize("rule", ["side", "behind"])
def test_it_does_not_turn_with_one_who_turns(rule: Any) -> None:
    """Else who walks by directions of the picture would turn on the spot for ever."""
    state = put(CameraRule(rule=rule), [[0, 0, 0]], [0.3], [-1])
    view = np.array(view_of(state))
    go(state, [[0, 0, 0]], [1.9], [-1])
    assert np.array(view_of(state)) @ view > math.cos(0.03)
    for _ in range(600):
        go(state, [[0, 0, 0]], [1.9], [-1])
    if rule == "side":
        np.testing.assert_allclose(view_of(state), view, atol=1e-9)
    else:  # it comes behind in some seconds
        aim = (math.sin(1.9), math.cos(1.9))
        np.testing.assert_allclose(view_of(state), aim, atol=1e-3)


@pytest.mark.parametrize("rule", ["side", "behind"])
def test_another_rule_is_taken_from_where_one_looks(rule: Any) -> None:
    """Of one without an opponent; the side camera stays on the side it is on."""
    start = "behind" if rule == "side" else "side"
    state = put(CameraRule(rule=start), [[0, 0, 0]], [0.0], [-1])
    places, turn = np.array([[0.0, 0, 0]]), np.array([0.5])
    follow_rule(state, CameraRule(rule=rule), 0, places, turn, np.array([-1], np.int32))
    ahead = np.array([math.sin(0.5), math.cos(0.5)])
    for _ in range(300):
        go(state, places, turn, [-1])
    wanted = 1.0 if rule == "behind" else 0.0
    assert np.array(view_of(state)) @ ahead == pytest.approx(wanted, abs=1e-6)


@pytest.mark.parametrize("side", [1, -1])
def test_of_one_alone_it_stays_on_the_side_that_it_is_on(side: int) -> None:
    """Where another rule begins."""
    state = put(
        CameraRule(rule="fixed", eye=(side * 4, 2, 0)), [[0, 0, 0]], [0.0], [-1]
    )
    places, headings = np.zeros((1, 3)), np.zeros(1)
    opponents = np.array([-1], np.int32)
    follow_rule(state, CameraRule(rule="side"), 0, places, headings, opponents)
    assert view_of(state) == pytest.approx((-side, 0))


def test_ease_is_the_time_in_which_it_follows() -> None:
    rule = CameraRule(ease=0.5)
    state = put(rule, [[-1, 0, 0], [1, 0, 0]])
    start = state.eye.copy()
    for _ in range(30):  # half a second
        go(state, [[0, 0, 0], [2, 0, 0]])
    assert (state.eye - start)[0] == pytest.approx(1 - math.exp(-1), abs=0.1)
    state = put(CameraRule(ease=0), [[-1, 0, 0], [1, 0, 0]])
    go(state, [[9, 0, 0], [11, 0, 0]])
    np.testing.assert_allclose(state.eye - start, [10, 0, 0], atol=1e-9)


def test_it_is_about_the_row_it_is_told(rng: Rng) -> None:
    places = [[0, 0, 0], [50, 0, 0], [51, 0, 0]]
    state = put(CameraRule(rule="side"), places, opponents=[1, 2, 1], row=2)
    assert is_seen(state, places[1:])
    assert not is_seen(state, places[:1])


@pytest.mark.parametrize("rule", ["fixed", "side", "behind"])
def test_nobody_is_looked_at_from_where_the_rule_says(rule: Any) -> None:
    state = put(CameraRule(rule=rule, eye=(1, 2, 3)), np.zeros((0, 3)))
    assert state.eye.tolist() == [1, 2, 3]


def test_straight_down_has_a_way_up() -> None:
    rule = CameraRule(rule="fixed", eye=(1, 9, 2), target=(1, 0, 2))
    state = put(rule, [[1, 0, 2]], [0], [-1])
    assert view_of(state) == (0.0, -1.0)
    x, y, _ = camera_of(state).project([[1, 0, 1]], SIZE)[0]
    assert x == pytest.approx(SIZE[0] / 2)
    assert y < SIZE[1] / 2, "up on the pad is up in the picture"


# Hills between the camera and what it looks at.


def over(state: CameraState, hill: Any) -> float:
    """Metres by which the line from eye to target is above a hill, at its lowest."""
    share = np.linspace(0.02, 0.9, 200)[:, None]
    line = state.eye + share * (state.target - state.eye)
    return float((line[:, 1] - hill(line)).min())


def look(state: CameraState, hill: Any, *, at_once: bool = False) -> None:
    points = np.zeros((13, 3))
    sight_points(state, points)
    np.testing.assert_array_equal(points[0], state.eye)
    look_over(state, DT, hill(points)[1:], at_once=at_once)


def ridge(points: Any) -> Any:
    """Along x, 2.5 m before the camera's target and up to 2 m high."""
    return 2.0 * np.exp(-(((points[:, 2] - 2.5) / 0.8) ** 2))


def level(points: Any) -> Any:
    return np.zeros(len(points))


PAIR = [[-0.5, 0, 0], [0.5, 0, 0]]


@pytest.mark.parametrize("rule", ["side", "behind"])
def test_it_looks_over_a_hill(rule: Any) -> None:
    pair = PAIR if rule == "side" else [[0, 0, 0.5], [0, 0, -0.5]]
    state = put(CameraRule(rule=rule), pair)
    assert over(state, ridge) < 0, "else there is nothing to see"
    seen = []
    for _ in range(240):
        go(state, pair)
        look(state, ridge)
        seen.append(state.eye.copy())
    assert over(state, ridge) > 0.15
    assert np.ptp(np.array(seen)[:, [0, 2]], axis=0).max() < 1e-6, "only up"
    steps = np.diff(np.array(seen)[:, 1])
    assert np.abs(steps).max() <= RISE * DT + 1e-9
    assert np.abs(steps[-30:]).max() < 1e-3, "and stays there"
    for _ in range(240):
        go(state, pair)
        look(state, level)
        seen.append(state.eye.copy())
    assert np.abs(np.diff(np.array(seen)[:, 1])).max() <= RISE * DT + 1e-9
    assert state.eye[1] == pytest.approx(CameraRule().height, abs=1e-3), (
        "and comes back"
    )


def test_at_the_start_it_looks_over_a_hill_at_once() -> None:
    state = put(CameraRule(), PAIR)
    look(state, ridge, at_once=True)
    assert over(state, ridge) > 0.15
    high = state.eye[1]
    go(state, PAIR)
    look(state, ridge)
    assert state.eye[1] == pytest.approx(high, abs=1e-6), "no jump in the next tick"


def test_level_ground_changes_nothing(rng: Rng) -> None:
    plain, other = put(CameraRule(), PAIR), put(CameraRule(), PAIR)
    for _ in range(50):
        pair = random_pair(rng) * (1, 0, 1)
        go(plain, pair)
        go(other, pair)
        look(other, level)
        np.testing.assert_array_equal(plain.eye, other.eye)


def test_a_fixed_camera_looks_into_hills() -> None:
    rule = CameraRule(rule="fixed", eye=(0, 1, 6), target=(0, 1, 0))
    state = put(rule, PAIR)
    look(state, ridge)
    assert state.eye.tolist() == [0, 1, 6]
    moving = put(CameraRule(), PAIR)
    look(moving, ridge, at_once=True)
    moving.rule = rule
    go(moving, PAIR)
    look(moving, ridge)
    assert moving.eye.tolist() == [0, 1, 6], "also one that was raised before"


def test_it_is_not_raised_without_end() -> None:
    """What stands higher than the target cannot be looked over."""
    state = put(CameraRule(), PAIR)
    for _ in range(600):
        go(state, PAIR)
        look(state, lambda points: np.full(len(points), 50.0))
    assert state.eye[1] < 10
    assert SIGHT.max() < 1
