"""The goal game: shots, saves, the score, the keeper's body and the pictures."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
from numpy.typing import NDArray

from flexor.errors import SettingError, ShapeError
from flexor.games.game import Game
from flexor.games.goal import game as goal_game
from flexor.games.goal.game import GoalGame, make_goal_game
from flexor.games.goal.hud import Written, write_over
from flexor.games.goal.keeper import contact as keeper_contact
from flexor.games.goal.keeper.body import KeeperBody, load_keeper
from flexor.games.goal.keeper.contact import Capsules, find_contact, step_with_body
from flexor.games.goal.keeper.keeper import Keeper
from flexor.games.goal.keeper.mind import think
from flexor.games.goal.replay import Replay, Scene
from flexor.games.goal.shot import Shot, make_shot, predict
from flexor.pose.ik.limit_angles import measure_excess
from flexor.pose.layout import ROWS
from flexor.scene.stage.moves import InputLog, button_mask
from flexor.stage.goal.state import init_netting, shoot

pytestmark = pytest.mark.slow  # thousands of ticks

DT = 1 / 60
NOTHING = np.zeros(2, np.uint32)


@pytest.fixture(scope="module")
def body() -> KeeperBody:
    return KeeperBody(load_keeper(None))


@pytest.fixture
def game(body: KeeperBody) -> GoalGame:
    return GoalGame(body)


def hold(game: GoalGame, buttons: str, ticks: int = 1, pad: int = 0) -> list[str]:
    """Hold buttons for some ticks; gives what was heard."""
    held = NOTHING.copy()
    held[pad] = button_mask(buttons) if buttons else 0
    heard = []
    for _ in range(ticks):
        game.step(held)
        heard += game.sounds
    return heard


def start(game: GoalGame) -> None:
    hold(game, "")
    hold(game, "A")
    hold(game, "")


def take_shot(
    game: GoalGame, x: float, y: float, ticks: int = 20, spin: int = 0
) -> list[str]:
    """Shoot at a place, until it is said what became of it."""
    assert game.mode == "aim"
    game.aim[:] = [x, y]
    game.spin = spin
    heard = hold(game, "B", ticks) + hold(game, "")
    assert game.mode == "flight"
    while game.mode == "flight":
        heard += hold(game, "")
    return heard


def to_aim(game: GoalGame) -> None:
    while game.mode not in ("aim", "over"):
        hold(game, "A" if game.mode == "replay" else "")
    hold(game, "")


def play_log(game: GoalGame, log: InputLog) -> dict[str, list[int]]:
    """Play presses; gives the ticks at which each sound was heard."""
    heard: dict[str, list[int]] = {}
    held, row = NOTHING.copy(), 0
    for tick in range(log.length):
        while row < len(log) and log.ticks[row] == tick:
            held[log.who[row]] = log.states[row]
            row += 1
        game.step(held)
        for name in game.sounds:
            heard.setdefault(name, []).append(game.tick)
    return heard


def remove_keeper(game: GoalGame) -> None:
    """Nobody in the goal: balls meet nothing."""
    game._step_keeper = lambda held, pressed: None  # type: ignore[method-assign]
    for own in (game.keeper.before, game.keeper.capsules):
        own.ends[..., 2] += 100


def test_it_is_a_game(game: GoalGame) -> None:
    as_game: Game = game
    assert as_game.title == "Goal"
    assert as_game.tick == 0
    assert not as_game.is_paused
    assert as_game.help


def test_demo_has_a_goal_and_a_save(game: GoalGame) -> None:
    assert 500 <= game.demo.length <= 720
    heard = play_log(game, game.demo)
    assert (game.goals, game.saves, game.shots) == (1, 1, 2)
    assert heard["goal"][0] < heard["guard"][0]
    assert {"whistle", "ball", "net", "goal", "guard", "land"} <= set(heard)


def test_same_presses_same_game(body: KeeperBody) -> None:
    hashes = []
    game = GoalGame(body)
    for _ in range(2):
        game.restart()
        seen = []
        for part in range(4):
            play_part(game, part)
            seen.append(game.hash())
        hashes.append(seen)
    assert hashes[0] == hashes[1]
    assert len(set(hashes[0])) == 4


def play_part(game: GoalGame, part: int) -> None:
    rng = np.random.default_rng(part)
    for _ in range(25):
        held = rng.integers(0, 1 << 10, 2).astype(np.uint32)
        for _ in range(int(rng.integers(1, 9))):
            game.step(held)


def test_pictures_change_nothing(body: KeeperBody) -> None:
    one, other = GoalGame(body), GoalGame(KeeperBody(body.hero))
    for tick in range(300):
        for own in (one, other):
            held = NOTHING.copy()
            held[0] = button_mask("A") if tick == 5 else 0
            if 20 <= tick < 45:
                held[0] = button_mask("B")
            own.step(held)
        if tick % 20 == 0:
            one.draw((64, 48))
    assert one.hash() == other.hash()


SCRIPT = """
from flexor.games.goal.game import make_goal_game
from tests.games.goal.test_game import play_log
game = make_goal_game()
play_log(game, game.demo)
print(game.hash())
"""


def test_threads_make_no_difference() -> None:
    found = []
    for threads in ("1", "2", "2"):
        done = subprocess.run(
            [sys.executable, "-c", SCRIPT],
            cwd=Path(__file__).parent.parent.parent.parent,
            env={**os.environ, "FLEXOR_THREADS": threads},
            capture_output=True,
            text=True,
            check=True,
        )
        found.append(done.stdout.split()[-1])
    assert len(set(found)) == 1


def test_other_seeds_other_games(body: KeeperBody) -> None:
    hashes = set()
    for seed in range(2):
        game = GoalGame(body, seed)
        start(game)
        take_shot(game, 1.5, 1.0)
        hashes.add(game.hash())
    assert len(hashes) == 2


def test_empty_goal_post_and_wide(game: GoalGame) -> None:
    remove_keeper(game)
    start(game)
    heard = take_shot(game, 1.0, 1.0)
    assert game.outcome == "GOAL"
    assert heard.count("goal") == 1
    assert game.goals == 1
    to_aim(game)
    take_shot(game, 4.3, 1.0)
    assert game.outcome == "WIDE"
    to_aim(game)
    outcomes = set()
    for shot in range(12):
        heard = take_shot(game, 3.7 + 0.02 * (shot % 3), 0.9)
        outcomes.add(game.outcome)
        if game.outcome == "POST":
            assert "post" in heard
        to_aim(game)
    assert "POST" in outcomes
    assert game.saves == 0


def test_straight_at_the_keeper_is_saved(game: GoalGame) -> None:
    start(game)
    for shot in range(10):
        heard = take_shot(game, 0.0, 0.3 + 0.15 * shot, 24)
        assert "guard" in heard
        to_aim(game)
    assert game.saves >= 9  # one may be fumbled into the goal
    assert game.goals + game.saves == 10


def test_some_go_in_and_some_do_not(game: GoalGame) -> None:
    start(game)
    rng = np.random.default_rng(2)
    for _ in range(24):
        game.left = 3600
        x, y = float(rng.uniform(-3.3, 3.3)), float(rng.uniform(0.2, 2.1))
        take_shot(game, x, y, int(rng.integers(14, 36)), int(rng.integers(-1, 2)))
        to_aim(game)
    assert game.goals >= 5
    assert game.saves >= 5
    assert game.goals + game.saves <= game.shots == 24


def test_time_runs_out_and_it_begins_anew(game: GoalGame) -> None:
    start(game)
    assert game.left <= 60 * 60
    game.left = 3
    heard = hold(game, "", 5)
    assert game.mode == "over"
    assert heard == ["whistle"]
    game.draw((96, 72))
    hold(game, "A")
    assert game.mode == "title"
    hold(game, "")
    hold(game, "C")
    assert game.mode == "aim"
    assert (game.goals, game.saves, game.shots) == (0, 0, 0)
    assert game.left == 60 * 60


def test_a_shot_in_time_counts(game: GoalGame) -> None:
    remove_keeper(game)
    start(game)
    game.left = 25
    take_shot(game, 1.0, 1.0)
    assert game.goals == 1
    assert game.left < 0
    to_aim(game)
    assert game.mode == "over"


def test_a_whole_minute(game: GoalGame) -> None:
    start(game)
    ticks = 0
    while game.mode != "over":
        hold(game, "B" if ticks % 40 < 22 else "")
        ticks += 1
        assert ticks < 60 * 60 * 10
    assert game.shots > 10
    assert game.goals + game.saves > 0


def test_replay_is_slow_and_can_be_skipped(game: GoalGame) -> None:
    start(game)
    take_shot(game, 1.0, 1.0)
    hold(game, "", 60)
    assert game.mode == "replay"
    before = game.state.bodies.copy()
    pictures = [game.draw((64, 48)).copy()]
    ticks = 0
    while game.mode == "replay":
        hold(game, "")
        ticks += 1
        if ticks == 60:
            pictures.append(game.draw((64, 48)).copy())
            assert np.array_equal(game.state.bodies, before)  # nothing is made again
    assert 90 < ticks < 240
    assert (pictures[0] != pictures[1]).any()
    take_shot(game, 1.0, 1.0)
    hold(game, "", 61)
    hold(game, "A")
    assert game.mode == "aim"


def test_pause(game: GoalGame) -> None:
    start(game)
    game.pause(True)
    assert game.is_paused
    tick = game.tick
    hold(game, "left", 10)
    assert game.tick == tick
    game.draw((96, 72))
    game.pause(False)
    hold(game, "left", 10)
    assert game.tick == tick + 10
    assert game.aim[0] < 0


def test_aim_power_and_spin(game: GoalGame) -> None:
    start(game)
    hold(game, "right+up", 400)
    assert game.aim == [goal_game.AIM_X, goal_game.AIM_Y[1]]
    for _ in range(5):
        hold(game, "X")
        hold(game, "")
    assert game.spin == goal_game.MOST_SPIN
    hold(game, "Y")
    assert game.spin == goal_game.MOST_SPIN - 1
    powers = []
    for _ in range(120):
        hold(game, "B")
        powers.append(game.power)
    assert max(powers) == 1
    assert min(powers[60:]) < 0.1  # it falls again


def test_presses_are_checked(game: GoalGame) -> None:
    with pytest.raises(ShapeError, match="held"):
        game.step(np.zeros(3, np.uint32))


def test_second_pad_keeps_the_goal(game: GoalGame) -> None:
    start(game)
    x = game.keeper.hip[0]
    hold(game, "right", 30, pad=1)
    assert game.keeper.hip[0] > x + 0.3
    game.aim[:] = [-1.0, 1.0]
    hold(game, "B", 15)
    hold(game, "")
    assert game.mode == "flight"
    hold(game, "left+B", 2, pad=1)
    assert game.keeper.phase == "leap"
    assert game.keeper.side < 0
    hold(game, "", 40)
    for buttons, kind in (("up+B", "jump"), ("down+B", "low"), ("right+up+B", "dive")):
        to_aim(game)
        hold(game, "B", 15)
        hold(game, "")
        hold(game, buttons, 2, pad=1)
        assert game.keeper.kind == kind
        hold(game, "", 30)


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
            assert find_deepest(capsules, new) < 0.02
            if not hits:
                assert not is_crossed(old, new, capsules)
            if state.bodies[0, 0, 5] > 0 or new[2] < -0.5:
                break
        met += bool(rows)
    assert met > 300


def find_deepest(capsules: Capsules, place: NDArray[np.float64]) -> float:
    """How deep the middle of a ball is in the axes of a body, metres; its own way."""
    a, b = capsules.ends[:, 0], capsules.ends[:, 1]
    along = b - a
    square = np.maximum((along**2).sum(1), 1e-12)
    u = np.clip(((place - a) * along).sum(1) / square, 0, 1)
    away = np.linalg.norm(place - a - u[:, None] * along, axis=1)
    return float((capsules.radii + 0.11 - away).max())


def is_crossed(
    old: NDArray[np.float64], new: NDArray[np.float64], capsules: Capsules
) -> bool:
    """Whether a ball went through something on a way without a touch."""
    ways = old + np.linspace(0, 1, 60)[:, None] * (new - old)
    return max(find_deepest(capsules, place) for place in ways[::6]) > 0.04


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


# Replays and pictures.


def test_between_two_scenes(game: GoalGame) -> None:
    start(game)
    take_shot(game, 1.0, 1.0)
    one = game._replay.at(3.0)
    other = game._replay.at(4.0)
    half = game._replay.at(3.5)
    assert half.ball[:3] == pytest.approx((one.ball[:3] + other.ball[:3]) / 2)
    turns = half.local.reshape(ROWS, -1)[3:7]
    assert np.linalg.norm(turns, axis=0) == pytest.approx(1, abs=1e-4)
    assert game._replay.at(1e9) is game._replay.at(len(game._replay) - 1.0)


def test_a_ring_of_scenes(game: GoalGame) -> None:
    ring = Replay(3)
    for _ in range(5):
        ring.add(Scene.of(game.state, game.body.local, game.body.player.places[0]))
    assert len(ring) == 3
    ring.clear()
    assert len(ring) == 0


SIZES = [(320, 240), (200, 400), (640, 360)]


@pytest.mark.parametrize("size", SIZES)
def test_pictures_of_every_mode(game: GoalGame, size: tuple[int, int]) -> None:
    seen = {}
    play = [("", 2), ("A", 1), ("", 1), ("right", 20), ("B", 20), ("", 15)]
    for buttons, ticks in [*play, ("", 50), ("", 60)]:
        hold(game, buttons, ticks)
        picture = game.draw(size)
        assert picture.shape == (size[1], size[0], 4)
        assert picture.dtype == np.uint8
        seen[game.mode] = picture.copy()
    assert {"title", "aim", "flight", "result", "replay"} <= set(seen)
    assert (seen["aim"] != seen["flight"]).any()


@pytest.mark.parametrize("size", [(320, 240), (1920, 1080), (240, 400)])
def test_nothing_that_is_written_is_cut_off(size: tuple[int, int]) -> None:
    """No letter touches the edge of the picture."""
    for what in (
        Written(message="GOAL", below=("press A", *goal_game.HELP)),
        Written(message="FULL TIME", below=("10 goals, 10 saved, 20 shots", "press A")),
        Written(goals=88, saves=88, seconds=60, power=1.0, spin=-3),
        Written(goals=0, message="SAVED", flash=1.0, corner="REPLAY   A: skip"),
    ):
        picture = np.full((size[1], size[0], 4), 90, np.uint8)
        write_over(picture, what)
        bright = (picture[..., :3] > 150).any(-1)
        assert bright.any()
        assert not bright[:, 0].any()
        assert not bright[:, -1].any()
        assert not bright[-1].any()


def test_a_mark_beyond_the_picture_is_left_out() -> None:
    picture = np.full((48, 64, 4), 90, np.uint8)
    write_over(picture, Written(mark=(1000.0, 1000.0, 5.0)))
    assert (picture == 90).all()
    write_over(picture, Written(mark=(1.0, 20.0, 5.0)))
    assert (picture != 90).any()


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
