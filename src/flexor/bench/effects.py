"""Effects: what a tick of leaves, snow and churned sand costs."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
from numpy.typing import NDArray

from flexor.bench import afterimages
from flexor.bench.timing import Result, best_seconds, use_threads
from flexor.maths import threads
from flexor.scene.character.light import Vector
from flexor.scene.stage.effect_settings import LeafSettings
from flexor.scene.stage.ground import Ground, make_ground
from flexor.stage.effects.churn import churn_quads, init_churn, step_churn
from flexor.stage.effects.kernels.leaves import lay_down
from flexor.stage.effects.leaves import Leaves, init_leaves, leaf_quads, step_leaves
from flexor.stage.effects.snow import Snow, init_snow, snow_quads, step_snow
from flexor.stage.effects.wind import Wind

__all__ = ["run"]

COUNTS = (1000, 10_000, 100_000)
TICKS = 20  # all leaves move for so long
FIGHTERS = 20
RIGHT, UP = (1.0, 0.0, 0.0), (0.0, 1.0, 0.0)


def _hills(rng: np.random.Generator) -> Ground:
    """Uneven ground, 40 m each way in cells of half a metre."""
    return make_ground(rng.normal(size=(81, 81)) * 0.1, (-20.0, -20.0), 0.5, "sand")


def _stirred(count: int, ground: Ground) -> tuple[Leaves, Callable[[], None]]:
    """Leaves, and a call that plays some ticks in which all of them move.

    Half a metre above the ground and lower, as leaves are after a kick; some land.
    """
    rng = np.random.default_rng(3)
    spots = rng.uniform(-0.9, 0.9, (count, 2))
    state = init_leaves(ground, spots, rng, LeafSettings(lift=0.05))
    step_leaves(state, Wind((0.0, 0.0, 0.0), (0.3, 3.0, 0.2)), ground)
    # Apart from each other, as leaves of a whole stage are: near ones share memory.
    state.places[:, ::2] = rng.uniform(-20, 20, (count, 2))
    lay_down(ground.heights, *ground.corner, 1 / ground.step, state.places)
    state.places[:, 1] += rng.uniform(0, 0.5, count).astype(np.float32)
    state.speeds[:, 1] = rng.uniform(-0.006, 0.0, count)
    state.steps[:] = rng.integers(0, 32 - TICKS - 5, count)
    for _ in range(4):
        step_leaves(state, None, ground)
    arrays: tuple[NDArray[Any], ...] = (
        state.places,
        state.speeds,
        state.steps,
        state.angles,
        state.is_aloft,
        state.is_moving,
        state._counts,
        state._listed,
    )
    start = [array.copy() for array in arrays]

    def play() -> None:
        for array, own in zip(arrays, start, strict=True):
            array[...] = own
        for _ in range(TICKS):
            step_leaves(state, None, ground)

    return state, play


def _leaves(rounds: int) -> Iterator[Result]:
    ground = _hills(np.random.default_rng(1))
    cores = threads.thread_count()
    for count in COUNTS:
        state, play = _stirred(count, ground)
        took = best_seconds(play, rounds=rounds)[0] / TICKS * 1e3
        moved = state.moving_count
        aloft = int(state.is_aloft.sum())
        note = f"a tick, {cores} threads; {moved} move, {aloft} of them in the air"
        yield Result(f"effects/leaves{count}", took, "ms", note)
    with use_threads(1):
        single = best_seconds(play, rounds=rounds)[0] / TICKS * 1e3
    yield Result(f"effects/leaves{count}/threads1", single, "ms", "one thread")
    quads = np.empty((count, 4, 3), np.float32)
    drawn = best_seconds(lambda: leaf_quads(state, quads), rounds=rounds)[0] * 1e3
    yield Result(f"effects/leaves{count}/quads", drawn, "ms", "corners for drawing")
    rng = np.random.default_rng(2)
    resting = init_leaves(ground, rng.uniform(-20, 20, (count, 2)), rng)
    far = Wind((0.0, 0.0, 0.0), (0.0, 1e-6, 0.0))  # reaches blocks, but no leaf
    calls = (
        lambda: step_leaves(resting, None, ground),
        lambda: step_leaves(resting, far, ground),
    )
    still, blown = (took * 1e3 for took in best_seconds(*calls, rounds=rounds))
    yield Result(f"effects/leaves{count}/resting", still, "ms", "all at rest, no wind")
    note = "all at rest, a wind among them that reaches none"
    yield Result(f"effects/leaves{count}/resting/wind", blown, "ms", note)


def _snow(rounds: int) -> Iterator[Result]:
    rng = np.random.default_rng(1)
    ground, wind = _hills(rng), (0.02, 0.0, 0.01)
    note = f"a tick with wind, {threads.thread_count()} threads"
    for count in COUNTS:
        state = init_snow(ground, count, rng)
        call = _step_snow(state, ground, wind)
        took = best_seconds(call, rounds=rounds)[0] * 1e3
        yield Result(f"effects/snow{count}", took, "ms", note)
    with use_threads(1):
        single = best_seconds(call, rounds=rounds)[0] * 1e3
    yield Result(f"effects/snow{count}/threads1", single, "ms", "one thread")
    quads = np.empty((count, 4, 3), np.float32)
    drawn = best_seconds(lambda: snow_quads(state, RIGHT, UP, quads), rounds=rounds)
    note = "corners for drawing"
    yield Result(f"effects/snow{count}/quads", drawn[0] * 1e3, "ms", note)


def _step_snow(state: Snow, ground: Ground, wind: Vector) -> Callable[[], None]:
    return lambda: step_snow(state, ground, wind)


def _churn(rounds: int) -> Iterator[Result]:
    """Fighters whose parts go in and out of the sand all the time."""
    rng = np.random.default_rng(1)
    ground, state = _hills(rng), init_churn(FIGHTERS, rng, capacity=16_384)
    ways = [rng.uniform(-0.3, 0.3, (FIGHTERS, 4, 3)) for _ in range(60)]

    def play() -> None:
        for places in ways:
            step_churn(state, places, ground)

    took = best_seconds(play, rounds=rounds)[0] / len(ways) * 1e3
    note = f"a tick of {FIGHTERS} who stamp, one thread; {state.live_count} drops"
    yield Result(f"effects/churn{FIGHTERS}", took, "ms", note)
    quads = np.empty((len(state.ages), 4, 3), np.float32)
    rows = np.empty(len(state.ages), np.int32)
    drawn = best_seconds(lambda: churn_quads(state, RIGHT, UP, quads, rows))[0] * 1e3
    yield Result(f"effects/churn{FIGHTERS}/quads", drawn, "ms", "corners for drawing")


def run(rounds: int = 20) -> Iterator[Result]:
    """All of it, from fixed seeds."""
    yield from _leaves(rounds)
    yield from _snow(rounds)
    yield from _churn(rounds)
    yield from afterimages.run(rounds)
