"""Worlds: what a frame of many characters of all kinds costs, and what it is made of.

Fifty who fight on uneven ground, their feet on it, with a thousand who look on; and a
game: a hero of two layers among fifty others. With detail and without.
"""

from __future__ import annotations

import math
import time
import tracemalloc
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from flexor import samples
from flexor.api.character import Character
from flexor.api.crowd import Crowd
from flexor.api.detail import levels_of
from flexor.api.playing import Player
from flexor.api.stage import Stage
from flexor.api.world import World
from flexor.bench.stage import make_input, make_plan
from flexor.bench.timing import Result
from flexor.maths import threads
from flexor.pose.crowd.level_choice import LevelRule
from flexor.pose.play.layers import Layer
from flexor.scene.character.camera import Camera
from flexor.scene.stage.ground_shapes import shape_ground
from flexor.scene.stage.plan import StagePlan

__all__ = ["run"]

STEP = 1 / 60
FIGHTERS, SPECTATORS, OTHERS = 50, 1000, 50
FRAMES = 60  # that are measured; the median counts
WHOLE_FRAMES = 8  # without detail
FIRST = 20  # frames that are not
WIDE, GAME = (1280, 720), (960, 540)
OVER = Camera(eye=(0.0, 4.2, 17.0), target=(0.0, 0.6, 0.0))
BEHIND = Camera(eye=(0.0, 2.4, 4.6), target=(0.0, 1.0, -1.0))
NEAREST, ROW, APART = 9.0, 0.95, 0.8  # metres: of spectators
ARC = math.radians(80)  # to either side of what is behind the fighters
PARTS = ("ticks", "crowd", "drawing")


class TimedCrowd(Crowd):
    """A crowd that knows how many seconds it took: clocks, levels, motion and skin."""

    spent = 0.0

    def advance(self, dt: float) -> None:
        started = time.perf_counter()
        super().advance(dt)
        self.spent += time.perf_counter() - started

    def select(
        self,
        camera: Camera,
        size: tuple[int, int] = WIDE,
        rules: LevelRule | Sequence[LevelRule] | None = None,
        **more: Any,
    ) -> None:
        started = time.perf_counter()
        super().select(camera, size, rules, **more)
        self.spent += time.perf_counter() - started

    def deform(self) -> None:
        started = time.perf_counter()
        super().deform()
        self.spent += time.perf_counter() - started


@dataclass(slots=True)
class Shot:
    """A world that is measured: what is to be drawn, and what pads hold by tick."""

    world: World
    crowd: TimedCrowd
    size: tuple[int, int]
    camera: Camera
    held: np.ndarray

    def frame(self, number: int, detail: bool) -> tuple[float, float, float]:
        """A frame; gives the seconds of the ticks of stage and players, of the crowd,
        and of all else: who is seen, skins, shadows and the picture.
        """
        world, crowd, clock = self.world, self.crowd, time.perf_counter
        style = world.stage.style(samples=1)
        buttons = self.held[number] if len(world.stage) else None
        crowd.spent, started = 0.0, clock()
        world.advance(STEP, buttons)
        ticked, early = clock(), crowd.spent
        world.draw(self.size, self.camera, style, detail=detail)
        drawn = clock()
        late = crowd.spent - early
        return ticked - started - early, crowd.spent, drawn - ticked - late


def _seat(crowd: Crowd, world: World) -> None:
    """Put all in rows around the far side of a stage, each at its own time."""
    rng = np.random.default_rng(5)
    count, row, first = len(crowd), 0, 0
    while first < count:
        away = NEAREST + ROW * row
        seats = min(int(2 * ARC * away / APART), count - first)
        turn = np.linspace(-ARC, ARC, seats)
        own = slice(first, first + seats)
        crowd.place[own, 0], crowd.place[own, 2] = (
            away * np.sin(turn),
            -away * np.cos(turn),
        )
        crowd.heading[own] = -turn
        first, row = first + seats, row + 1
    x, z = crowd.place[:, 0], crowd.place[:, 2]
    crowd.place[:, 1] = world.ground.height(x, z)
    crowd.colour[:, :3] = rng.uniform(0.5, 1, (count, 3))
    cheers = rng.random(count) < 0.5
    crowd.play("idle", time=rng.uniform(0, 4, count))
    crowd.play(
        "cheer", who=np.flatnonzero(cheers), time=rng.uniform(0, 2, cheers.sum())
    )


def make_fight(hero: Character, fighters: int, spectators: int) -> Shot:
    """Those who fight, on a stage, and those who look on."""
    stage = Stage(make_plan(fighters), characters={"mannequin": hero})
    world = World(stage)
    crowd = TimedCrowd(hero, spectators)
    world.add(crowd)
    _seat(crowd, world)
    held = make_input(fighters, FIRST + FRAMES + WHOLE_FRAMES, 3)
    return Shot(world, crowd, WIDE, OVER, held)


def make_game(hero: Character, others: int) -> Shot:
    """A hero who walks and punches, in two layers, among others on uneven ground."""
    world = World(StagePlan(ground=shape_ground((30, 30), 0.25, rough=0.06, seed=2)))
    player = Player(hero, layers=["base", Layer("upper", mask="spine*")])
    player.play("walk")
    player.play("punch", layer="upper")
    world.add(player, feet=True)
    crowd = TimedCrowd(hero, others)
    world.add(crowd)
    rng = np.random.default_rng(4)
    crowd.place[:, 0] = rng.uniform(-6, 6, others)
    crowd.place[:, 2] = rng.uniform(-12, -1.5, others)
    crowd.heading[:] = rng.uniform(-math.pi, math.pi, others)
    for number, clip in enumerate(("idle", "walk", "stance", "cheer")):
        who = np.arange(number, others, 4)
        crowd.play(clip, who=who, time=rng.uniform(0, 1, len(who)))
    world.advance(0.0)
    return Shot(world, crowd, GAME, BEHIND, np.zeros((0, 0), np.uint32))


def _measure(name: str, make: Callable[[], Shot], what: str) -> Iterator[Result]:
    shot = make()
    for number in range(FIRST):
        shot.frame(number, True)
    for kind, detail, count in (("", True, FRAMES), ("/whole", False, WHOLE_FRAMES)):
        first = FIRST if detail else FIRST + FRAMES
        if not detail:
            shot.frame(first, detail)  # makes room
        taken = [shot.frame(first + n, detail) for n in range(count)]
        whole = [sum(parts) for parts in taken]
        seen = shot.world.counts
        note = (
            f"a frame, {threads.thread_count()} threads; {what}; {seen.shown} shown: "
            f"{seen.nodes:,} nodes, {seen.vertices:,} vertices, {seen.triangles:,} "
            f"triangles; the quickest took {min(whole) * 1e3:.1f} ms"
        )
        yield Result(f"{name}{kind}", float(np.median(whole)) * 1e3, "ms", note)
        for row, part in enumerate(PARTS):
            median = float(np.median([parts[row] for parts in taken]))
            yield Result(f"{name}{kind}/{part}", median * 1e3, "ms", "of the frame")


def _memory(name: str, make: Callable[[], Shot]) -> Iterator[Result]:
    """What a world holds after some frames with detail."""
    tracemalloc.start()
    try:
        shot = make()
        for number in range(3):
            shot.frame(number, True)
        held = tracemalloc.get_traced_memory()[0]
        note = f"of {shot.world!r}, its pictures and work space"
    finally:
        tracemalloc.stop()
    yield Result(name, held / 1e6, "MB", note)


def run(
    fighters: int = FIGHTERS, spectators: int = SPECTATORS, others: int = OTHERS
) -> Iterator[Result]:
    """Both worlds, from fixed seeds."""
    hero = samples.fighter()
    hero = hero.with_levels(levels_of(hero, make=True))

    def fight() -> Shot:
        return make_fight(hero, fighters, spectators)

    def game() -> Shot:
        return make_game(hero, others)

    base = f"world/{fighters}x{spectators}"
    what = "who fight on uneven ground, and who look on, with shadows"
    yield from _measure(f"{base}/frame720", fight, what)
    yield from _memory(f"{base}/memory", fight)
    what = "a hero of two layers whose feet are put on the ground, and a crowd"
    yield from _measure("world/game960x540", game, what)
    yield from _memory("world/game/memory", game)
