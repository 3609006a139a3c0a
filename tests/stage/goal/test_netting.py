"""Other nettings than goals, each a few lines of data, and what no netting can be."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from flexor.errors import SettingError
from flexor.stage.goal.energy import kinetic_energy
from flexor.stage.goal.layout import BEFORE, FIXED, INSIDE, OUTSIDE, SPRUNG
from flexor.stage.goal.netting import Netting, make_netting
from flexor.stage.goal.plan import (
    BallSettings,
    Gate,
    NetSettings,
    Push,
    Rod,
    SheetPlan,
)
from flexor.stage.goal.soccer import GoalSettings, make_goal
from flexor.stage.goal.state import (
    NettingState,
    init_netting,
    shoot,
    step_balls,
    step_netting,
)
from tests.oracle import net as oracle

Rng = np.random.Generator
VOLLEYBALL = SheetPlan(
    lower=((-4.75, 1.43, 0), (4.75, 1.43, 0)),
    upper=((-4.75, 2.43, 0), (4.75, 2.43, 0)),
    pitch=0.25,
    weave="squares",
    left="fixed",
    right="fixed",
    top="fixed",
    slack=1.0,
)
CURTAIN = SheetPlan(
    lower=((-1.5, 0.1, 0), (1.5, 0.1, 0)),
    upper=((-1.5, 2.6, 0), (1.5, 2.6, 0)),
    pitch=0.2,
    weave="squares",
    top="fixed",
    slack=1.0,
    push=Push(k1=60, k2a=30, k2b=30),
)
CURVE = ((-1.4, 1.3), (-0.9, 0.9), (-0.35, 0.7), (0.35, 0.7), (0.9, 0.9), (1.4, 1.3))
HAMMOCK = SheetPlan(
    lower=tuple((x, y, 0.45) for x, y in CURVE),
    upper=tuple((x, y, -0.45) for x, y in CURVE),
    pitch=0.15,
    weave="squares",
    left="fixed",
    right="fixed",
    slack=1.0,
    push=Push(k1=500, k2a=150, k2b=60, front=0.1),
)


@pytest.fixture(scope="module")
def volleyball() -> Netting:
    posts = [Rod((x, 0, 0), (x, 2.5, 0), 0.05) for x in (-4.85, 4.85)]
    return make_netting(VOLLEYBALL, rods=posts)


@pytest.fixture(scope="module")
def curtain() -> Netting:
    return make_netting(CURTAIN)


@pytest.fixture(scope="module")
def hammock() -> Netting:
    return make_netting(
        HAMMOCK, ball=BallSettings(rate=480), net=NetSettings(rate=480, k11=120)
    )


@pytest.fixture(scope="module")
def goal() -> Netting:
    return make_goal()


Shots = tuple[Any, Any, Any]


def aimed(rng: Rng, count: int, low: Any, high: Any, steep: float) -> Shots:
    """Places and velocities (count, 3) of shots from both sides of the plane z = 0 at
    points between low and high, 6 to 40 m/s, and the sides (count,) they come from;
    steep: how much they go along the sheet.
    """
    targets = np.zeros((count, 3))
    targets[:, :2] = rng.uniform(low, high, (count, 2))
    sides = rng.choice([-1, 1], count)
    away = rng.uniform(0.5, 1.5, count)
    ways = np.stack([*rng.uniform(-steep, steep, (2, count)), -sides], 1)
    speeds = rng.uniform(6, 40, count)
    # So that gravity brings it there at the right time.
    velocities = ways * speeds[:, None]
    times = away / speeds
    places = targets - velocities * times[:, None]
    velocities[:, 1] += 9.81 / 2 * times
    return places, velocities, sides


def fly(netting: Netting, shots: Shots, frames: int) -> NettingState:
    """One ball at each of many nettings."""
    state = init_netting(netting, len(shots[0]))
    shoot(state, shots[0][:, None], shots[1][:, None])
    step_netting(state, frames)
    return state


def test_what_comes_straight_goes_back_to_its_side(
    volleyball: Netting, curtain: Netting, rng: Rng
) -> None:
    for netting, low, high in (
        (volleyball, (-4, 1.75), (4, 2.2)),
        (curtain, (-0.8, 1.0), (0.8, 2.3)),
    ):
        shots = aimed(rng, 200, low, high, 0.1)
        state = init_netting(netting, 200)
        shoot(state, shots[0][:, None], shots[1][:, None])
        deepest = np.zeros(200)
        for _ in range(60):
            step_netting(state, 4)
            deepest = np.maximum(deepest, -shots[2] * state.places[:, 0, 2])
        assert (np.sign(state.places[:, 0, 2]) == shots[2]).all()
        # All have been in the sheet, and some of them deep, but not too deep.
        assert (deepest > -0.15).all()
        assert deepest.max() > 0.2
        limit = netting.faces[0].plan.push
        assert deepest.max() <= limit.limit - limit.front + 1e-9


def test_within_its_outline_a_sheet_pushes_balls_to_their_side(
    volleyball: Netting, curtain: Netting, rng: Rng
) -> None:
    """Those that come slantwise may slip out below or beside it, but not through it."""
    for netting, low, high in (
        (volleyball, (-4.5, 1.45), (4.5, 2.4)),
        (curtain, (-1.4, 0.2), (1.4, 2.5)),
    ):
        shots = aimed(rng, 300, low, high, 1.0)
        state = init_netting(netting, 300)
        shoot(state, shots[0][:, None], shots[1][:, None])
        corners = netting.faces[0].corners
        rows = [row for row, m in enumerate(netting.areas.marks) if m[1] < 0]
        own = np.where(shots[2] > 0, rows[0], rows[1])
        is_there = np.ones(300, bool)
        seen = 0
        for _ in range(60):
            step_netting(state)
            x, y, z = state.places[:, 0].T
            beyond = shots[2] * z < 0
            within = (x > corners[:, 0].min()) & (x < corners[:, 0].max())
            within &= (y > corners[:, 1].min()) & (y < corners[:, 1].max())
            is_there &= within | ~beyond
            held = is_there & beyond
            assert (state.sides[held, 0, 1] == own[held]).all()
            seen += held.sum()
        assert seen > 500


@pytest.mark.parametrize("height", [0.5, 2.75])
def test_over_and_under_the_volleyball_net_is_free(
    volleyball: Netting, height: float, rng: Rng
) -> None:
    """As if nothing were there: a hundred metres beside it there is nothing."""
    shots = aimed(rng, 50, (-4, height), (4, height + 0.2), 0.05)
    state = fly(volleyball, shots, 30)
    beside = fly(volleyball, (shots[0] + (100, 0, 0), *shots[1:]), 30)
    np.testing.assert_allclose(
        state.places, beside.places - (100, 0, 0), rtol=0, atol=1e-9
    )
    passed = np.sign(state.places[:, 0, 2]) == -shots[2]
    assert passed.sum() > 25
    np.testing.assert_allclose(state.nodes, beside.nodes, rtol=0, atol=1e-12)


def test_both_sides_of_a_sheet_are_alike(curtain: Netting) -> None:
    state = init_netting(curtain, 2)
    shoot(state, [[[0.1, 1.5, 1.0]], [[0.1, 1.5, -1.0]]], [[[0, 1, -9]], [[0, 1, 9.0]]])
    for _ in range(40):
        step_netting(state)
        mirrored = state.places[1] * (1, 1, -1)
        np.testing.assert_allclose(state.places[0], mirrored, atol=1e-9)
        nodes = state.nodes[1] * (1, 1, -1)
        np.testing.assert_allclose(state.nodes[0], nodes, atol=1e-6)
    assert np.abs(state.nodes[0] - curtain.hang).max() > 0.2


def test_a_curtain_gives_way(curtain: Netting) -> None:
    """It moves where the ball is, and hangs as before some time after, but for what
    lies on the ground.
    """
    state = init_netting(curtain)
    shoot(state, (0, 1.2, 1.0), (0, 1, -10))
    step_netting(state, 14)
    moved = state.nodes[0, :, 2]
    lowest = int(np.argmin(moved))
    assert moved[lowest] < -0.3
    assert np.abs(curtain.hang[lowest, :2] - state.places[0, 0, :2]).max() < 0.4
    shoot(state, (50, 0.11, 50))
    step_netting(state, 60 * 60)
    hangs = curtain.hang[:, 1] > 0.5
    assert np.abs(state.nodes[0] - curtain.hang)[hangs].max() < 0.05


def drop(rng: Rng, count: int, widest: float) -> Any:
    """Places (count, 3) above the hammock."""
    low, high = (-widest, 1.4, -0.2), (widest, 3.5, 0.2)
    return rng.uniform(low, high, (count, 3))


def test_a_ball_comes_to_rest_on_a_hammock(hammock: Netting, rng: Rng) -> None:
    """And the hammock hangs lower for it."""
    assert len(hammock.faces) == 5
    state = fly(hammock, (drop(rng, 40, 0.15), np.zeros((40, 3)), None), 10 * 60)
    assert np.linalg.norm(state.velocities[:, 0], axis=1).max() < 0.05
    _, y, z = state.places[:, 0].T
    assert (y > 0.45).all()
    assert (y < 0.75).all()
    assert (np.abs(z) < 0.45).all()
    lowest = hammock.hang[:, 1].min() - state.nodes[..., 1].min(1)
    assert (lowest > 0.02).all()


def test_no_ball_falls_through_the_folds_of_a_hammock(
    hammock: Netting, rng: Rng
) -> None:
    """They roll to and fro across them until they lie still."""
    state = init_netting(hammock, 1, 200)
    shoot(state, drop(rng, 200, 0.6)[None])
    lowest, rows = np.inf, set()
    for _ in range(120):
        step_balls(state, 240)
        lowest = min(lowest, float(state.places[0, :, 1].min()))
        rows |= set(state.sides[0, :, 1].tolist())
    assert lowest > 0.2
    assert np.linalg.norm(state.velocities[0], axis=1).max() < 0.02
    assert len(rows - {-1}) >= 3  # on the middle face, and both beside it


def test_a_hundred_at_once_are_each_as_one_alone(
    volleyball: Netting, rng: Rng, monkeypatch: pytest.MonkeyPatch
) -> None:
    shots = aimed(rng, 100, (-4, 1.5), (4, 2.4), 0.5)
    monkeypatch.setenv("FLEXOR_THREADS", "2")
    many = fly(volleyball, shots, 60)
    for row in (0, 1, 49, 50, 99):
        part = tuple(array[row : row + 1] for array in shots)
        one = fly(volleyball, part, 60)
        for name in ("bodies", "sides", "nodes", "speeds"):
            found, wanted = getattr(many, name)[row], getattr(one, name)[0]
            assert found.tobytes() == wanted.tobytes()
    assert len({nodes.tobytes() for nodes in many.nodes}) == 100


# Nets hang at rest.

NAMES = ["volleyball", "curtain", "hammock", "goal"]


@pytest.mark.parametrize("name", NAMES)
def test_nothing_moves_without_a_ball(
    name: str, request: pytest.FixtureRequest
) -> None:
    netting: Netting = request.getfixturevalue(name)
    state = init_netting(netting)
    shoot(state, (30, netting.ball.radius, 30))
    most = 0.0
    for _ in range(120):
        step_netting(state)
        most = max(most, float(kinetic_energy(state)[0]))
    assert np.linalg.norm(state.nodes[0] - netting.hang, axis=1).max() < 0.01
    weight = netting.net.mass * netting.net.gravity
    assert most < 1e-4 * weight * len(netting.hang)


@pytest.mark.parametrize("name", NAMES)
def test_forces_on_a_net_at_rest_are_balanced(
    name: str, request: pytest.FixtureRequest
) -> None:
    """Strings and anchors carry what every node weighs, but for those on the ground."""
    netting: Netting = request.getfixturevalue(name)
    net = oracle.net_of(netting)
    forces = oracle.string_pulls(net, netting.hang)
    is_sprung = net.holds == SPRUNG
    forces[is_sprung] += net.settings.k12 * (net.anchors - netting.hang)[is_sprung]
    weight = net.settings.mass * net.settings.gravity
    forces[:, 1] -= weight
    is_free = (net.holds != FIXED) & (netting.hang[:, 1] > net.ground)
    assert is_free.sum() > 50
    assert np.linalg.norm(forces[is_free], axis=1).max() < 0.02 * weight
    # They do hang: what can move is lower than it was woven.
    lower = netting.sheet.places[is_free, 1] - netting.hang[is_free, 1]
    assert lower.mean() > 0.005


@pytest.mark.parametrize("name", NAMES)
def test_what_is_fixed_hangs_where_it_was_put(
    name: str, request: pytest.FixtureRequest
) -> None:
    netting: Netting = request.getfixturevalue(name)
    is_fixed = netting.sheet.holds == FIXED
    assert is_fixed.any()
    wanted = netting.sheet.places[is_fixed]
    np.testing.assert_array_equal(netting.hang[is_fixed], wanted)
    with pytest.raises(ValueError, match="read-only"):
        netting.hang[0] = 0


def test_the_ground_may_be_anywhere(goal: Netting) -> None:
    low = make_goal(ball=BallSettings(ground=-1.5))
    np.testing.assert_allclose(low.hang, goal.hang - (0, 1.5, 0), atol=1e-6)
    assert low.hang[:, 1].min() == -1.5
    np.testing.assert_allclose(low.rods, goal.rods - (0, 1.5, 0, 0, 1.5, 0, 0))
    one, other = init_netting(goal), init_netting(low)
    shoot(one, (1, 1, 8), (0, 3, -25))
    shoot(other, (1, -0.5, 8), (0, 3, -25))
    for _ in range(90):
        step_netting(one)
        step_netting(other)
        np.testing.assert_allclose(
            other.places, one.places - (0, 1.5, 0), rtol=0, atol=1e-6
        )
    assert one.is_inside.all()
    assert other.is_inside.all()


def test_a_netting_knows_its_nodes_and_settings(goal: Netting) -> None:
    sheet = goal.sheet
    assert len(goal.firsts) == len(goal.faces) + 1
    for face in range(len(goal.faces)):
        own = goal.members[goal.firsts[face] : goal.firsts[face + 1]]
        np.testing.assert_array_equal(own, sheet.nodes_of(face))
    for node in (0, 100, 300):
        near = goal.near[goal.near_firsts[node] : goal.near_firsts[node + 1]]
        joined = sheet.strings[(sheet.strings == node).any(1)]
        assert sorted(near) == sorted(joined.sum(1) - node)
    assert goal.rods.shape == (3, 7)
    np.testing.assert_allclose(goal.rods[2], [-3.72, 2.5, 0, 3.72, 2.5, 0, 0.06])
    assert (goal.net_steps, goal.ball_steps) == (2, 2)


def test_a_ball_that_is_put_somewhere_knows_its_side(goal: Netting) -> None:
    state = init_netting(goal, 1, 4)
    places = [(0, 1, 1), (0, 1, -1), (0, 1, -2.5), (5, 1, -1)]
    shoot(state, np.array(places)[None])
    assert state.sides[0, :, 0].tolist() == [BEFORE, INSIDE, OUTSIDE, OUTSIDE]
    assert state.is_inside.tolist() == [[False, True, False, False]]


# What cannot be.

GATE = Gate(middle=(0, 1, 1), normal=(0, 0, 1), across=(2, 0, 0), up=(0, 1, 0))


def make_face(*corners: Any, **words: Any) -> SheetPlan:
    """One face between four corners that go around it counter-clockwise."""
    a, b, c, d = corners
    return SheetPlan(lower=(a, b), upper=(d, c), **words)


WALL = make_face((-2, 0, 0), (2, 0, 0), (2, 2, 0), (-2, 2, 0), names=("wall",))
AWAY = make_face((2, 0, -1), (-2, 0, -1), (-2, 2, -1), (2, 2, -1), names=("away",))


def test_nettings_that_cannot_be_are_refused() -> None:
    make_netting(WALL, gates=[GATE])
    with pytest.raises(SettingError, match="plans: expected one sheet or more"):
        make_netting([])
    text = "face 'away' is behind face 'wall'; with a gate all fronts must look into"
    with pytest.raises(SettingError, match=text):
        make_netting([WALL, AWAY], gates=[GATE])
    make_netting([WALL, AWAY])
    with pytest.raises(SettingError, match="face 'wall' reaches out of the gate"):
        make_netting(WALL, gates=[replace(GATE, middle=(0, 1, -0.5))])
    bent = replace(WALL, upper=((-2, 2, 0), (2, 2, 0.5)))
    text = r"face 'wall': corners are 0.12\d* m beside a plane, expected 0.02 m or less"
    with pytest.raises(SettingError, match=text):
        make_netting(bent)
    crossed = replace(WALL, upper=WALL.upper[::-1], columns=(3,), rows=2)
    with pytest.raises(SettingError, match="face 'wall' has no area"):
        make_netting(crossed)
    thin = replace(WALL, upper=((0, 0, 0), (4, 0, 0)), columns=(3,), rows=2)
    with pytest.raises(SettingError, match="face 'wall' has no area"):
        make_netting(thin)


@pytest.mark.parametrize(
    ("make", "text"),
    [
        (lambda: Rod((0, 0), (0, 1, 0), 0.1), r"start: \(0, 0\), expected x, y and z"),
        (lambda: Rod((0, 0, 0), (0, 1, 0), 0), "radius: 0, expected 0.0001 to 100"),
        (lambda: replace(GATE, normal=(0, 0, 0)), "normal: .*expected a length"),
        (lambda: replace(GATE, up=(0, 1e-9, 0)), "up: .*expected a length"),
        (lambda: replace(GATE, across="xyz"), "across: 'xyz', expected x, y and z"),
        (lambda: Push(k1=-1), "k1: -1, expected 0 to 1e"),
        (lambda: Push(front=0.5, limit=0.4), "limit: 0.4 m, expected more than front"),
        (lambda: NetSettings(mass=0), "mass: 0, expected 1e-06 to"),
        (lambda: NetSettings(k14=1.5), "k14: 1.5, expected 0 to 1"),
        (lambda: NetSettings(k11=float("nan")), "k11: nan, expected"),
        (lambda: NetSettings(k12=True), "k12: True, expected"),
        (lambda: BallSettings(radius="1"), "radius: '1', expected"),
        (lambda: GoalSettings(width=0.1), "width: 0.1, expected 0.5 to 100"),
        (lambda: GoalSettings(top_depth=2.5), "top_depth: 2.5, expected 0.3 to 2"),
        (lambda: GoalSettings(sag=2), "sag: 2, expected 0 to 1.22"),
    ],
)
def test_settings_that_cannot_be_are_refused(make: Any, text: str) -> None:
    with pytest.raises(SettingError, match=text):
        make()


@pytest.mark.parametrize("words", [{"count": -1}, {"balls": 1.5}, {"count": True}])
def test_counts_that_cannot_be_are_refused(goal: Netting, words: Any) -> None:
    with pytest.raises(SettingError, match=f"{next(iter(words))}: .*expected 0 or"):
        init_netting(goal, **words)


def test_too_many_balls_or_frames_are_refused(goal: Netting) -> None:
    with pytest.raises(SettingError, match="count: 100000 times 338 nodes"):
        init_netting(goal, 100_000)
    state = init_netting(goal)
    for frames in (-1, 1.0, True, "2"):
        with pytest.raises(SettingError, match=r"frames: .*expected 0 to 10,000,000"):
            step_netting(state, frames)  # type: ignore[arg-type]
