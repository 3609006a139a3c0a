"""The goal game: shots, outcomes, replays, pauses, two players."""

from __future__ import annotations

import numpy as np
import pytest

from flexor.errors import ShapeError
from flexor.games.game import Game
from flexor.games.goal import game as goal_game
from flexor.games.goal.game import GoalGame
from flexor.games.goal.keeper.body import KeeperBody
from flexor.maths.threads import thread_count
from flexor.scene.stage.moves import InputLog, button_mask
from tests.games.goal.play import NOTHING, hold, start, take_shot, to_aim

pytestmark = pytest.mark.slow  # thousands of ticks


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
    for _ in range(15):
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


def test_threads_make_no_difference(
    body: KeeperBody, monkeypatch: pytest.MonkeyPatch
) -> None:
    found = []
    for threads in ("1", "2", "2"):
        monkeypatch.setenv("FLEXOR_THREADS", threads)
        assert thread_count() == int(threads)
        game = GoalGame(KeeperBody(body.hero))
        play_log(game, game.demo)
        found.append(game.hash())
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


@pytest.fixture
def short_results(monkeypatch: pytest.MonkeyPatch) -> None:
    """For tests of shots alone: what is looked at after them changes nothing."""
    monkeypatch.setattr(goal_game, "RESULT", 2)


@pytest.mark.usefixtures("short_results")
def test_straight_at_the_keeper_is_saved(game: GoalGame) -> None:
    start(game)
    for shot in range(10):
        heard = take_shot(game, 0.0, 0.3 + 0.15 * shot, 24)
        assert "guard" in heard
        to_aim(game)
    assert game.saves >= 9  # one may be fumbled into the goal
    assert game.goals + game.saves == 10


@pytest.mark.usefixtures("short_results")
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


@pytest.mark.usefixtures("short_results")
def test_played_until_time_is_over(game: GoalGame) -> None:
    start(game)
    game.left = 25 * 60
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
