"""Random shots at goals: none goes wrong, and those that do are found."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from flexor.bench.goal_shots import Shots, count_wrong, random_shots
from flexor.stage.goal.areas import AreaTables
from flexor.stage.goal.layout import INSIDE, K1, K2A, K2B, K3, K4, K5, LIMIT, OUTSIDE
from flexor.stage.goal.netting import Netting
from flexor.stage.goal.plan import BallSettings
from flexor.stage.goal.soccer import GoalSettings, make_goal

pytestmark = pytest.mark.slow  # millions of steps of balls


@pytest.fixture(scope="module")
def goal() -> Netting:
    return make_goal()


def one_shot(place: Any, velocity: Any = (0, 0, 0)) -> Shots:
    numbers = (np.array([value], np.float64) for value in (place, velocity, (0, 0, 0)))
    return Shots(*numbers)


def test_no_shot_goes_wrong(goal: Netting) -> None:
    shots = random_shots(np.random.default_rng(2), 2000, goal)
    found = count_wrong(goal, shots)
    assert found.shots == len(shots) == 2000
    assert found.wrong == 0
    assert 700 < found.entered < 1400
    push = goal.faces[0].plan.push
    assert 0.3 < found.deepest <= push.limit - push.front + goal.ball.radius


@pytest.mark.parametrize(
    "settings",
    [GoalSettings(top_depth=1.0), GoalSettings(width=3, height=2, depth=1, pitch=0.25)],
    ids=["leaning", "small"],
)
def test_no_shot_at_other_goals_goes_wrong(settings: GoalSettings) -> None:
    goal = make_goal(settings)
    found = count_wrong(goal, random_shots(np.random.default_rng(3), 500, goal))
    assert found.wrong == 0
    assert found.entered > 100


@pytest.mark.parametrize(
    "settings",
    [GoalSettings(depth=0.8), GoalSettings(top_depth=0.5)],
    ids=["shallow", "shallow above"],
)
def test_no_shot_at_shallow_goals_goes_wrong(settings: GoalSettings) -> None:
    """From behind, a net is not pushed out of the mouth."""
    goal = make_goal(settings)
    found = count_wrong(goal, random_shots(np.random.default_rng(3), 1000, goal))
    assert found.wrong == 0


def test_shots_come_from_everywhere_and_go_at_the_goal(goal: Netting) -> None:
    shots = random_shots(np.random.default_rng(4), 3000, goal)
    speeds = np.linalg.norm(shots.velocities, axis=1)
    assert 1 <= speeds.min() < 2
    assert 59 < speeds.max() <= 60
    x, y, z = shots.places.T
    assert y.min() >= goal.ball.radius
    within = (np.abs(x) < 3.72) & (y < 2.5) & (z > -2) & (z < 0)
    behind = (z < -2.5) & (np.abs(x) < 10)
    before = z > 0.5
    for where in (within, behind, before, np.abs(x) > 5):
        assert where.mean() > 0.1
    # Straight on, each comes to a point of the goal.
    ways = shots.velocities / speeds[:, None]
    times = np.linspace(0, 40, 2001)[:, None, None]
    on = shots.places[:200] + times * ways[:200]
    is_hit = (np.abs(on[..., 0]) < 3.8) & (np.abs(on[..., 1] - 1.25) < 1.35)
    is_hit &= np.abs(on[..., 2] + 1) < 1.1
    assert is_hit.any(0).all()
    again = random_shots(np.random.default_rng(4), 3000, goal)
    np.testing.assert_array_equal(again.velocities, shots.velocities)


def test_a_shot_in_and_a_shot_beside_are_told_apart(goal: Netting) -> None:
    assert count_wrong(goal, one_shot((0, 1, 8), (0, 3, -20))).entered == 1
    assert count_wrong(goal, one_shot((6, 1, 8), (0, 3, -20))).entered == 0
    assert count_wrong(goal, one_shot((0, 1, -8), (0, 3, 20))).entered == 0
    assert count_wrong(goal, one_shot((0, 1, -1))).entered == 1


@pytest.mark.parametrize("side", [INSIDE, OUTSIDE])
def test_balls_that_forget_their_side_are_found(goal: Netting, side: int) -> None:
    """Whatever way they take, they believe to be on one side."""
    forgetful = replace(goal, rules=np.full_like(goal.rules, side))
    shots = random_shots(np.random.default_rng(5), 200, goal)
    found = count_wrong(forgetful, shots)
    assert found.confused > 20
    assert found.wrong >= found.confused


def test_balls_that_pass_through_a_net_are_found(goal: Netting) -> None:
    """One that does not act at all."""
    areas = goal.areas.areas.copy()
    areas[:, [K1, K2A, K2B, K3, K4, K5]] = 0
    areas[:, LIMIT] = 1e3
    tables = AreaTables(areas, goal.areas.marks, goal.areas.bounds)
    through = replace(goal, areas=tables)
    shots = random_shots(np.random.default_rng(6), 200, goal)
    found = count_wrong(through, shots)
    assert found.past > 50
    assert found.deepest > 5


def test_balls_that_are_no_numbers_any_more_are_found(goal: Netting) -> None:
    numbers = goal.ball_numbers.copy()
    numbers[2] = np.nan  # gravity
    found = count_wrong(replace(goal, ball_numbers=numbers), one_shot((0, 1, 8)))
    assert found.not_finite == found.wrong == 1


def test_balls_that_never_rest_are_found() -> None:
    goal = make_goal(ball=BallSettings(bounce=1.0))
    found = count_wrong(goal, one_shot((0, 3, 8)))
    assert found.lost == found.wrong == 1
