"""Those who look on: a crowd around a stage, at levels of detail."""

from __future__ import annotations

import math
from collections import deque
from collections.abc import Sequence

import numpy as np

from flexor import samples
from flexor.api.crowd import Crowd
from flexor.api.kept_levels import kept_levels
from flexor.api.pictures.crowd import CrowdPainter
from flexor.arrays import Doubles
from flexor.draw.backend import Backend
from flexor.draw.drawlist import DrawItem
from flexor.draw.scene.style import DrawStyle
from flexor.errors import BackendMissing
from flexor.maths import exact
from flexor.pose.crowd.level_choice import LevelRule
from flexor.scene.character.camera import Camera
from flexor.scene.runtime.level_settings import LevelSettings
from flexor.scene.stage.moves import RATE
from flexor.scene.stage.plan import StagePlan
from flexor.stage.movement.ground import find_footing, init_footing

__all__ = ["Spectators"]

FEW = 24  # there are at most, without levels of detail
BEHIND, ROOM = 2.6, 0.85  # metres from the walls, and from one row to the next
OPEN = 6.0  # metres from those who play, where there are no walls
ROWS = 3
CLIPS = ("idle", "cheer")
HEIGHTS = (150, 55)  # pixels tall, when each level takes over
CHEER = 2.4  # seconds of a cheer


class Spectators:
    """A crowd in rows around a stage, facing it; some cheer when there is a reason.

    tick: how many have passed for them; count: how many they are; has_levels: whether
    they are drawn at levels of detail, which needs the extra "codecs": without it there
    are fewer.
    """

    def __init__(self, backend: Backend, plan: StagePlan) -> None:
        hero = samples.mannequin()
        own = {name: hero.clips[name] for name in CLIPS}
        hero = hero.with_clips(own, only=True)
        self.has_levels = True
        try:
            settings = LevelSettings(heights=HEIGHTS)
            hero = hero.with_levels(kept_levels(hero.scene, settings))
        except BackendMissing:
            self.has_levels = False
        most = plan.game.spectators
        self.count = most if self.has_levels else min(most, FEW)
        self.crowd = Crowd(hero, self.count, levels=self.has_levels)
        self._painter = CrowdPainter(
            self.crowd.characters, self.crowd.state, backend=backend
        )
        self._chance = np.random.default_rng(plan.seed)
        self._cheers = np.zeros(self.count)
        self.tick = 0
        self._place(plan)

    def _place(self, plan: StagePlan) -> None:
        crowd, chance = self.crowd, self._chance
        middle, nearest = _ring(plan)
        row = np.arange(self.count) % ROWS
        number = np.arange(self.count) // ROWS
        columns = -(-self.count // ROWS)
        # All around, but for a gap where the camera mostly is.
        turn = 2 * math.pi * (number + 0.5 * (row % 2)) / columns
        turn += exact.normal(chance, 0.01, self.count)
        away = nearest + ROOM * row
        crowd.place[:, 0] = middle[0] + away * exact.sin_each(turn)
        crowd.place[:, 2] = middle[1] + away * exact.cos_each(turn)
        below = init_footing(self.count)
        places = np.ascontiguousarray(crowd.place)
        find_footing(plan.ground, places, plan.friction, out=below)
        crowd.place[:, 1] = below.heights
        crowd.heading[:] = turn + math.pi
        crowd.size[:] = chance.uniform(0.92, 1.08, self.count)
        crowd.colour[:, :3] = chance.uniform(0.35, 1.3, (self.count, 3))
        crowd.play("idle", time=chance.uniform(0, 4, self.count))

    def follow(self, tick: int, cheers: Sequence[tuple[int, float]]) -> None:
        """Catch up with a game; cheers: those since they were last seen, by tick, and
        the share of them that has a reason.

        They do the same whether they are looked at in every tick or only now.
        """
        told = deque(cheers)
        while self.tick < tick:
            self.tick += 1
            while told and told[0][0] <= self.tick:
                self.cheer(told.popleft()[1])
            self.step()

    def cheer(self, share: float) -> None:
        """Let a part of them cheer for a while, 0 to 1."""
        who = self._chance.random(self.count) < share
        fresh = who & (self._cheers <= 0)
        if fresh.any():
            times = self._chance.uniform(0, 0.4, int(fresh.sum()))
            self.crowd.play("cheer", who=np.flatnonzero(fresh), time=times)
        self._cheers[who] = CHEER

    def step(self) -> None:
        """Move on by a tick of 1/60 s."""
        was = self._cheers > 0
        self._cheers -= 1 / RATE
        over = was & (self._cheers <= 0)
        if over.any():
            self.crowd.play("idle", who=np.flatnonzero(over))
        self.crowd.advance(1 / RATE)

    def items(
        self, camera: Camera, size: tuple[int, int], style: DrawStyle
    ) -> list[DrawItem]:
        """Those who are in view, as things to draw."""
        self.crowd.select(camera, size, LevelRule())
        self.crowd.deform()
        return list(self._painter.draw_list(camera, style).items)


def _ring(plan: StagePlan) -> tuple[Doubles, float]:
    """The middle of those who play (2,), and how far from it one can look on."""
    places = np.array([actor.place for actor in plan.cast]).reshape(-1, 2)
    middle = places.mean(0) if len(places) else np.zeros(2)
    walls = [zone.corners for zone in plan.zones if zone.keeps == "in"]
    corners = np.concatenate(walls) if walls else places
    off = corners - middle
    wide = float(np.sqrt((off * off).sum(1)).max(initial=0.0))
    return middle, wide + (BEHIND if walls else OPEN)
