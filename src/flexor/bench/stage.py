"""A stage: what a tick costs, rule by rule, and what rules cost that are not needed;
how matches of the arena go.
"""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Iterator
from dataclasses import replace

import numpy as np

from flexor import samples
from flexor.api.stage import Stage
from flexor.bench.played.figures import MASHED, SECONDS, SEEDS, run_matches
from flexor.bench.timing import Result, best_seconds, use_threads
from flexor.scene.stage.ground_shapes import Patch, shape_ground
from flexor.scene.stage.moves import Combination, Move, MoveTable, read_commands
from flexor.scene.stage.plan import Actor, StagePlan
from flexor.scene.stage.structure import Structure
from flexor.scene.stage.zone import Zone
from flexor.stage.frame import make_frame
from flexor.stage.state import StageState, hash_state
from flexor.stage.step import read_input, step_stage

__all__ = ["run"]

COUNTS = (2, 20, 200)
TICKS, ROUNDS = 240, 4
REPLAY = 10_000  # ticks
APART = 1.3  # metres between neighbours at the start
MOVES = MoveTable(
    (
        Move("punch", 14, 6, 30, parts=("rightHand",), damage=0.01, push=0.1),
        Move("kick", 24, 8, 34, parts=("rightFoot",), damage=0.01, push=0.2),
        Move("guard", 4, 8, 8, kind="guard"),
        Move("parry", 4, 12, 14, kind="parry"),
        Move("jump", 30, 30, 40, kind="jump"),
    ),
    (Combination("one two", "X", read_commands("B B C")),),
    {"A": "guard", "B": "punch", "C": "kick", "Y": "parry", "Z": "jump"},
)


def make_plan(count: int) -> StagePlan:
    """Characters in rows on uneven ground with walls, pillars, sand and a pool."""
    side = math.ceil(math.sqrt(count))
    half = APART * (side - 1) / 2
    reach = half + 4.0
    cast = tuple(
        Actor(
            name=f"c{row}",
            place=(APART * (row % side) - half, APART * (row // side) - half),
            heading=0.7 * row,
        )
        for row in range(count)
    )
    patches = (
        Patch(area=(-reach, -reach, 0, 0), surface="sand"),
        Patch(middle=(reach / 2, 0), radius=reach / 3, height=0.25, edge=1.0),
        Patch(middle=(-reach / 2, reach / 2), radius=reach / 4, surface="water"),
    )
    corners = [(-reach, -reach), (reach, -reach), (reach, reach), (-reach, reach)]
    return StagePlan(
        cast=cast,
        ground=shape_ground((2 * reach, 2 * reach), 0.25, patches, rough=0.04),
        zones=(Zone(np.array(corners), name="ring"),),
        structures=tuple(
            Structure(name=f"pillar {x:g}", middle=(x, reach - 1.0), radius=0.3)
            for x in (-2.0, 0.0, 2.0)
        ),
        moves=MOVES,
    )


def make_input(count: int, ticks: int, seed: int = 0) -> np.ndarray:
    """Buttons (ticks, N), held for a third of a second each, at random."""
    chance = np.random.default_rng(seed)
    bits = chance.integers(0, 10, (-(-ticks // 20), count))
    return np.repeat(np.left_shift(1, bits).astype(np.uint32), 20, axis=0)[:ticks]


def _tick_costs(state: StageState, held: np.ndarray) -> dict[str, float]:
    """Microseconds a tick that each rule takes, over all ticks of an input."""
    spent = dict.fromkeys(("input", *(name for name, _ in state.rules)), 0.0)
    clock = time.perf_counter
    for buttons in held:
        started = clock()
        read_input(state, buttons)
        ended = clock()
        spent["input"] += ended - started
        state.tick += 1
        for name, rule in state.rules:
            rule(state)
            started, ended = ended, clock()
            spent[name] += ended - started
    return {name: seconds / len(held) * 1e6 for name, seconds in spent.items()}


def _ticks(stage: Stage) -> Iterator[Result]:
    """Rule by rule: of each the best of some rounds."""
    best: dict[str, float] = {}
    count = len(stage)
    for number in range(ROUNDS):
        held = make_input(count, TICKS, number)
        for name, value in _tick_costs(stage.state, held).items():
            best[name] = min(best.get(name, math.inf), value)
    total = sum(best.values())
    note = f"{count} mannequins that walk, fight and jump at random; no picture"
    yield Result(f"stage/tick/{count}", total, "us", f"a tick of all rules; {note}")
    for name, value in best.items():
        yield Result(f"stage/tick/{count}/{name}", value, "us", "a tick of this rule")

    def frame(shadows: bool) -> None:
        for body in stage.state.bodies:
            body.skinned_at[:] = -1  # as if the tick were a new one
            body.shaded_at[:] = -1
        make_frame(stage.state, shadows=shadows)

    skins, both = best_seconds(lambda: frame(False), lambda: frame(True), rounds=5)
    yield Result(f"stage/frame/{count}/skins", skins * 1e6, "us", "of all, deformed")
    yield Result(
        f"stage/frame/{count}/shadows", (both - skins) * 1e6, "us", "of all, cast"
    )


def _not_needed(make: Callable[[StagePlan], Stage]) -> Iterator[Result]:
    """A tick of two who stand, with and without what other rules are about."""
    plan = make_plan(2)
    bare = replace(plan, zones=(), structures=(), ground=shape_ground((20, 20), 20.0))
    held = np.zeros((TICKS, 2), np.uint32)
    moving = np.where(np.arange(TICKS)[:, None] // 30 % 2, 1, 8).astype(np.uint32)
    moving = np.repeat(moving, 2, axis=1)
    for name, own in (("rest", held), ("walk", moving)):
        few, many = make(bare).state, make(plan).state
        rules = {
            title: sum(
                value
                for rule, value in costs.items()
                if rule in ("slopes", "zones", "view", "attack", "recoil")
            )
            for title, costs in (
                ("without", _best(few, own)),
                ("with", _best(many, own)),
            )
        }
        yield Result(
            f"stage/not_needed/{name}",
            rules["without"],
            "us",
            "slopes, zones, view, attack and recoil, where there are none; where "
            f"there are: {rules['with']:.1f} us",
        )


def _best(state: StageState, held: np.ndarray) -> dict[str, float]:
    best: dict[str, float] = {}
    for _ in range(ROUNDS):
        for name, value in _tick_costs(state, held).items():
            best[name] = min(best.get(name, math.inf), value)
    return best


def _replays(make: Callable[[StagePlan], Stage], ticks: int) -> Iterator[Result]:
    """Whether the same input ends in the same state, on one thread and on two."""
    found = []
    held = make_input(20, ticks, 7)
    for threads in (1, 2, 2):
        with use_threads(threads):
            state = make(make_plan(20)).state
            for buttons in held:
                step_stage(state, buttons)
        found.append(hash_state(state))
    note = f"of three runs of {ticks:,} ticks of 20, on 1, 2 and 2 threads: {found[0]}"
    yield Result("stage/replay_differs", len(set(found)) - 1, "", note)


def run(
    counts: tuple[int, ...] = COUNTS,
    replay: int = REPLAY,
    seeds: int = SEEDS,
    seconds: float = SECONDS,
    mashed: int = MASHED,
) -> Iterator[Result]:
    """All of it, from fixed seeds; seeds, seconds: of matches; mashed: of those
    where one mashes a button.
    """
    hero = samples.fighter()

    def make(plan: StagePlan) -> Stage:
        return Stage(plan, characters={"mannequin": hero})

    for count in counts:
        yield from _ticks(make(make_plan(count)))
    yield from _not_needed(make)
    yield from _replays(make, replay)
    yield from run_matches(hero, seeds, seconds, mashed)
