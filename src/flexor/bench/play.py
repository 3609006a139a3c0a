"""Games: where the time of a frame goes, and how many there are in a second."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator

import numpy as np

from flexor.bench.timing import Result
from flexor.games.game import Game
from flexor.games.goal.game import make_goal_game
from flexor.games.match.match import Match, make_match
from flexor.maths import threads
from flexor.scene.stage.moves import InputLog
from flexor.stage.movement.buttons import buttons_at, init_replay

__all__ = ["run"]

SIZES = ((640, 480), (1280, 720))
SECONDS = 12
RATE = 60


def _play(game: Game, log: InputLog, ticks: int) -> Iterator[int]:
    """Ticks of a game by a log."""
    replay, held = init_replay(log, 2), np.zeros(2, np.uint32)
    for tick in range(ticks):
        buttons_at(replay, min(tick, log.length), out=held)
        game.step(held)
        yield tick


def _frames(
    name: str, make: Callable[[], tuple[Game, InputLog]], seconds: int
) -> Iterator[Result]:
    """A tick and a picture in each frame, all threads; the median counts."""
    for size in SIZES:
        game, log = make()
        game.draw(size)
        steps, draws = [], []
        started = time.perf_counter()
        for _ in _play(game, log, seconds * RATE):
            stepped = time.perf_counter()
            game.draw(size)
            ended = time.perf_counter()
            steps.append(stepped - started)
            draws.append(ended - stepped)
            started = ended
        tick, draw = float(np.median(steps)), float(np.median(draws))
        slow = float(np.percentile(np.add(steps, draws), 99))
        shape = f"{size[0]}x{size[1]}"
        note = (
            f"{threads.thread_count()} threads; tick {tick * 1e3:.2f} ms, draw "
            f"{draw * 1e3:.2f} ms; of 100 frames the slowest takes {slow * 1e3:.1f} ms"
        )
        yield Result(f"play/{name}/{shape}", 1 / (tick + draw), "fps", note)
        yield Result(f"play/{name}/{shape}/draw", draw * 1e3, "ms", "a picture")
    yield Result(f"play/{name}/tick", tick * 1e3, "ms", "without a picture")


def _budget(game: Match, log: InputLog, seconds: int) -> Iterator[Result]:
    """What a frame of the arena is made of, each part timed where it is done."""
    spent = dict.fromkeys(("rules", "motion", "effects", "skin", "picture"), 0.0)
    clock, state = time.perf_counter, game.stage.state

    def timed(name: str, rule: Callable[..., None]) -> Callable[..., None]:
        part = name if name in spent else "rules"

        def call(state: object) -> None:
            started = clock()
            rule(state)
            spent[part] += clock() - started

        return call

    state.rules = tuple((name, timed(name, rule)) for name, rule in state.rules)
    game.draw(SIZES[0])
    for _ in _play(game, log, seconds * RATE):
        started = clock()
        _ = game.stage.frame  # the picture uses it again
        framed = clock()
        game.draw(SIZES[0])
        spent["skin"] += framed - started
        spent["picture"] += clock() - framed
    for name, total in spent.items():
        note = "of a frame at 640x480; skin: with shadows; picture: with spectators"
        yield Result(f"play/arena/{name}", total / (seconds * RATE) * 1e3, "ms", note)


def run(seconds: int = SECONDS) -> Iterator[Result]:
    """Both games, by their own demos."""

    def arena() -> tuple[Game, InputLog]:
        game = make_match(seed=2, versus="watch")
        return game, game.demo

    def goal() -> tuple[Game, InputLog]:
        game = make_goal_game()
        return game, game.demo

    yield from _frames("arena", arena, seconds)
    yield from _budget(make_match(seed=2, versus="watch"), arena()[1], seconds)
    yield from _frames("goal", goal, seconds)
