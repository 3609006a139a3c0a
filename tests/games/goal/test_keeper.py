"""Shots and the goalkeeper: what it thinks, meets, and how it moves."""

from __future__ import annotations

import os
from pathlib import Path

import numpy as np
import pytest
from numpy.typing import NDArray

from flexor.errors import SettingError
from flexor.games.goal.game import GoalGame, make_goal_game
from flexor.games.goal.keeper import contact as keeper_contact
from flexor.games.goal.keeper.body import KeeperBody
from flexor.games.goal.keeper.contact import Capsules, find_contact, step_with_body
from flexor.games.goal.keeper.keeper import Keeper
from flexor.games.goal.keeper.mind import think
from flexor.games.goal.shot import Shot, make_shot, predict
from flexor.pose.ik.limit_angles import measure_excess
from flexor.pose.layout import ROWS
from flexor.stage.goal.state import init_netting, shoot
from tests.games.goal.play import start, take_shot, to_aim

pytestmark = pytest.mark.slow  # thousands of ticks


DT = 1 / 60
SHARES = np.linspace(0, 1, 11)[:, None]  # of a ball's way in a tick


# The shot.


@pytest.mark.parametrize("aim", [(0.0, 1.2), (3.2, 2.0), (-3.0, 0.3)])
@pytest.mark.parametrize("power", [0.0, 0.5, 1.0])
@pytest.mark.parametrize("spin", [-3, 0, 2])
def test_shots_go_where_they_are_aimed(
    game: GoalGame, aim: tuple[float, float], power: float, spin: int
) -> None:
    netting = game.state.netting
    shot = make_shot(netting, aim, power, spin)
    found = predict(netting, shot, 0.2)
    assert found is not None
    assert abs(found.x - aim[0]) < 0.12
    assert abs(found.y - aim[1]) < 0.2  # slow and low ones bounce before the line
    plain = predict(netting, Shot(shot.velocity, (0.0, 0.0, 0.0)), 0.2)
    assert plain is not None
    assert np.sign(round(plain.x - found.x, 3)) == np.sign(spin)


def test_a_ball_that_never_comes(game: GoalGame) -> None:
    away = Shot((0.0, 1.0, 5.0), (0.0, 0.0, 0.0))
    assert predict(game.state.netting, away, 0.2) is None


def test_what_a_keeper_thinks(game: GoalGame) -> None:
    netting = game.state.netting
    true = predict(netting, make_shot(netting, (2.0, 1.0), 0.5, 0), 0.8)
    assert true is not None
    ways = []
    for seed in range(60):
        plan = think(true, true, np.random.default_rng(seed))
        assert 0 < plan.reaction < 0.3
        assert plan.guess(0.0) == plan.first
        assert plan.guess(true.seconds) == pytest.approx(plan.last)
        ways.append(plan.first[0] > 0)
    assert 40 < sum(ways) < 60  # now and then it goes the wrong way


# The body.


def arms_out(body: KeeperBody) -> tuple[Keeper, Capsules]:
    keeper = Keeper(body)
    keeper._ready_hands = lambda: np.array(  # type: ignore[method-assign]
        [[0.75, 0.45, 0.1], [-0.75, 0.45, 0.1]]
    )
    for _ in range(60):
        keeper.step(np.array([0.0, 1.0, 11.0]))
    return keeper, keeper.capsules


def test_no_ball_passes_through_the_keeper(body: KeeperBody, game: GoalGame) -> None:
    _, capsules = arms_out(body)
    netting = game.state.netting
    rng = np.random.default_rng(4)
    met = 0
    for _ in range(400):
        row = int(rng.integers(len(capsules.ends)))
        goal = capsules.ends[row, int(rng.integers(2))] + rng.normal(0, 0.03, 3)
        eye = np.array([*rng.uniform(-3, 3, 1), rng.uniform(0.2, 2.0), 8.0])
        state = init_netting(netting)
        way = goal - eye
        speed = float(rng.uniform(15, 45))
        seconds = float(np.linalg.norm(way)) / speed
        shoot(state, eye, way / seconds + [0, 9.81 * seconds / 2, 0])
        rows: list[int] = []
        for _ in range(70):
            old = state.bodies[0, 0, :3].copy()
            hits = step_with_body(state, capsules, capsules)
            rows += hits
            new = state.bodies[0, 0, :3]
            deep = find_depths(capsules, old + SHARES * (new - old))
            assert deep[-1] < 0.02
            # It did not go through something on a way without a touch.
            assert hits or deep.max() <= 0.04
            if state.bodies[0, 0, 5] > 0 or new[2] < -0.5:
                break
        met += bool(rows)
    assert met > 300


def find_depths(capsules: Capsules, places: NDArray[np.float64]) -> NDArray[np.float64]:
    """How deep the middle of a ball is in the axes of a body, metres, at each of places
    (n, 3); its own way.
    """
    a, b = capsules.ends[:, 0], capsules.ends[:, 1]
    along = b - a
    square = np.maximum((along**2).sum(1), 1e-12)
    way = places[:, None] - a
    u = np.clip((way * along).sum(-1) / square, 0, 1)
    away = np.linalg.norm(way - u[..., None] * along, axis=-1)
    found: NDArray[np.float64] = (capsules.radii + 0.11 - away).max(1)
    return found


def test_contact_moves_with_the_body() -> None:
    ends = np.array([[[0.0, 0.0, 0.0], [0.0, 1.0, 0.0]]])
    before, after = Capsules(ends, np.full(1, 0.1)), Capsules(ends + 1, np.full(1, 0.1))
    still = np.array([0.5, 1.0, 0.5])
    touch = find_contact(still, still, 0.11, before, after)
    assert touch is not None
    assert 0 < touch.moment < 0.6
    assert touch.speed == pytest.approx([1, 1, 1])
    assert find_contact(still + 9, still + 9, 0.11, before, after) is None
    inside = np.array([0.0, 0.5, 0.0])
    touch = find_contact(inside, inside, 0.11, before, before)
    assert touch is not None
    assert np.linalg.norm(touch.normal) == pytest.approx(1)


def test_a_touch_takes_speed() -> None:
    normal, still = np.array([0.0, 0.0, 1.0]), np.zeros(3)
    fast = np.array([3.0, 0.0, -30.0])
    new = keeper_contact.bounce_off(fast, normal, still)
    assert 0 < new[2] < 15
    assert 0 < new[0] < 3
    assert np.array_equal(keeper_contact.bounce_off(-fast, normal, still), -fast)


def test_touched_behind_the_line(body: KeeperBody, game: GoalGame) -> None:
    """What is hit out of the mouth has not scored, and knows where it is."""
    state = init_netting(game.state.netting)
    shoot(state, (0.0, 1.0, 0.05), (0.0, 0.0, -20.0))
    ends = np.array([[[-0.5, 1.0, -0.3], [0.5, 1.0, -0.3]]])
    wall = Capsules(ends, np.full(1, 0.1))
    for _ in range(6):
        step_with_body(state, wall, wall)
    assert state.bodies[0, 0, 2] > 0
    assert not state.is_inside[0, 0]
    assert not state.events[0, 0] & 1


MOVES = [
    (2.4, 0.4, 0.4),
    (-2.2, 1.9, 0.5),
    (1.2, 1.0, 0.3),
    (0.2, 2.3, 0.5),
    (0.3, 0.15, 0.4),
    (-0.4, 1.2, 0.35),
]


@pytest.mark.parametrize(("x", "y", "seconds"), MOVES)
def test_the_body_keeps_its_limits(
    body: KeeperBody, x: float, y: float, seconds: float
) -> None:
    """Joints turn no faster and no further than they may, nothing is in the ground,
    standing feet stay, and the hands are there when the ball is.
    """
    keeper = Keeper(body)
    ball = np.array([x, y, 8.0])
    for _ in range(20):
        keeper.step(ball)
    keeper.save(x, y, seconds)
    limits, layout = body.limits, body.hero.layout
    assert limits is not None
    old, nearest = turns_of(body), np.inf
    for tick in range(200):
        feet = body.points("leftFoot", "rightFoot")
        is_standing = keeper.phase == "crouch"
        ball[2] = max(8 - 8 * tick / (60 * seconds), 0.86)
        keeper.step(ball)
        new = turns_of(body)
        dot = np.clip(np.abs((old * new).sum(1)), 0, 1)
        # float32 rounds an angle by half a degree where it is small
        assert (2 * np.arccos(dot) <= limits.rates * DT + 0.01).all()
        excess = measure_excess(limits, body.hero.skeleton, new)
        assert np.degrees(excess).max() < 4
        old = new
        ends, radii = keeper.capsules.ends, keeper.capsules.radii
        is_body = [not p.endswith(("Hand", "LowerArm")) for p in body.parts]
        lows = (ends[:, :, 1].min(1) - radii)[is_body]
        assert lows.min() > -0.04
        if is_standing and keeper.phase == "crouch":
            moved = body.points("leftFoot", "rightFoot") - feet
            assert np.abs(moved).max() < 0.03
        if tick in (round(60 * seconds) - 1, round(60 * seconds)):
            hands = body.points("leftHand", "rightHand")
            away = np.linalg.norm(hands - [x, y, 0.75], axis=1)
            nearest = min(nearest, float(away.max()))
    assert nearest < 0.3
    assert keeper.phase == "ready"
    assert layout.lane_count >= len(limits)


def turns_of(body: KeeperBody) -> NDArray[np.float64]:
    layout = body.hero.layout
    rows = body.local.reshape(ROWS, layout.lane_count)[3:7]
    found: NDArray[np.float64] = rows[:, layout.lane_of_node].T.astype(np.float64)
    return found


def test_walking_feet_do_not_slide(body: KeeperBody) -> None:
    keeper = Keeper(body)
    keeper.go_home(1.5)
    ball = np.array([0.0, 0.1, 11.0])
    slid = []
    for _ in range(120):
        stands = keeper._swing < 0
        old = body.points("leftFoot", "rightFoot")
        keeper.step(ball)
        stands &= keeper._swing < 0
        moved = np.abs(body.points("leftFoot", "rightFoot") - old).max(1)
        slid += moved[stands].tolist()
    assert keeper.hip[0] > 1.3
    assert np.percentile(slid, 95) < 0.012


# Other characters.


def assets() -> Path:
    given = os.environ.get("FLEXOR_ASSETS")
    default = Path(__file__).parent.parent.parent.parent.parent / "shared" / "assets"
    return Path(given) if given else default


@pytest.mark.parametrize("name", ["CesiumMan.glb", "KayKit_Knight.glb"])
def test_others_keep_the_goal(name: str) -> None:
    path = assets() / name
    if not path.exists():
        pytest.skip("no such character here")
    game = make_goal_game(path)
    start(game)
    for x in (0.0, 0.2, 1.5):
        take_shot(game, x, 1.0, 15)
        to_aim(game)
    assert game.saves >= 1
    assert game.draw((96, 72)).shape == (72, 96, 4)
    assert np.isfinite(game.body.local).all()


def test_a_fox_keeps_no_goal() -> None:
    path = assets() / "Fox.glb"
    if not path.exists():
        pytest.skip("no such character here")
    with pytest.raises(SettingError, match="goalkeeper"):
        make_goal_game(path)
