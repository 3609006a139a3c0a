"""What is seen of the goal game: replays, pictures of every mode, words over them."""

from __future__ import annotations

import numpy as np
import pytest

from flexor.games.goal import game as goal_game
from flexor.games.goal.game import GoalGame
from flexor.games.goal.hud import Written, write_over
from flexor.games.goal.replay import Replay, Scene
from flexor.pose.layout import ROWS
from tests.games.goal.play import hold, start, take_shot

pytestmark = pytest.mark.slow  # thousands of ticks


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
