"""The camera of a title: to and fro around those who play, clear of pillars."""

from __future__ import annotations

import math

import numpy as np

from flexor.api.stage import Stage
from flexor.arrays import Doubles
from flexor.games.game import RATE
from flexor.maths import exact
from flexor.scene.character.camera import Camera
from flexor.scene.stage.structure import Structure

__all__ = ["TitleView"]

DIRECTIONS = 72  # that are tried around the middle
TURN = 2 * math.pi / DIRECTIONS
CLEAR, NARROW = 1.2, 0.3  # metres that eye and line of sight stay clear of things
NEAREST, ROOM = 5.6, 2.6  # metres: to the middle, and beside those who stand outermost
WIDEST = math.radians(70)  # to either side
SWING = 0.22  # radians a second, at most
HIGH, LOOK, FOV = 1.7, 0.95, math.radians(42)


class TitleView:
    """Where the eye can go around a stage without anything before it."""

    def __init__(self, stage: Stage) -> None:
        places = np.array([actor.place for actor in stage.plan.cast]).reshape(-1, 2)
        self.middle = places.mean(0) if len(places) else np.zeros(2)
        off = places - self.middle
        wide = float(np.sqrt((off * off).sum(1)).max(initial=0.0))
        self.high = float(stage.places[:, 1].mean()) if len(places) else 0.0
        self.away = max(NEAREST, wide + ROOM + 0.8 * wide)
        self._things = stage.plan.structures
        first = self._facing(stage)
        turns = np.array([first + TURN * number for number in range(DIRECTIONS)])
        free = [self._is_clear(float(turn)) for turn in turns]
        self.first, self.width = _widest(turns, free, first)

    def _facing(self, stage: Stage) -> float:
        """The direction, from the middle, in which the stage's own camera is."""
        x, _, z = stage.camera.eye
        return exact.atan2(x - float(self.middle[0]), z - float(self.middle[1]))

    def _eye(self, turn: float) -> tuple[float, float]:
        x, z = self.middle.tolist()
        return x + self.away * exact.sin(turn), z + self.away * exact.cos(turn)

    def _is_clear(self, turn: float) -> bool:
        """Whether nothing stands near the eye, and in its way."""
        eye = np.array(self._eye(turn))
        line = eye + np.linspace(0.0, 1.0, 24)[:, None] * (self.middle - eye)
        room = np.full(len(line), NARROW)
        room[0] = CLEAR
        return all(bool((_gaps(own, line) > room).all()) for own in self._things)

    def camera(self, tick: int) -> Camera:
        """Where it is after so many ticks."""
        pace = SWING / max(self.width, SWING)
        turn = self.first + self.width * exact.sin(tick / RATE * pace)
        x, z = self._eye(turn)
        mx, mz = self.middle.tolist()
        eye = x, self.high + HIGH, z
        return Camera(eye=eye, target=(mx, self.high + LOOK, mz), fov=FOV)


def _gaps(own: Structure, line: Doubles) -> Doubles:
    """Metres from places (n, 2) to what a structure covers, seen from above."""
    if own.ends is not None and own.thickness is not None:
        first, last = np.array(own.ends)
        along = last - first
        foot = ((line - first) * along).sum(1) / max(float((along * along).sum()), 1e-9)
        off = line - first - np.clip(foot, 0, 1)[:, None] * along
        wide = own.thickness / 2
    else:
        off, wide = line - np.array(own.middle), own.radius or 0.0
    gaps: Doubles = np.sqrt((off * off).sum(1)) - wide
    return gaps


def _widest(turns: Doubles, free: list[bool], first: float) -> tuple[float, float]:
    """The middle of the free directions next to the first, and how far to either side
    they go; nowhere to go: the first alone.
    """
    count = len(free)
    order = sorted(range(count), key=lambda one: min(one, count - one))
    start = next((one for one in order if free[one]), None)
    if start is None:
        return first, 0.0
    if all(free):
        return first, WIDEST
    low = high = start
    while free[(low - 1) % count] and high - low < count:
        low -= 1
    while free[(high + 1) % count] and high - low < count:
        high += 1
    step = 2 * math.pi / count
    return first + (low + high) / 2 * step, min((high - low) / 2 * step, WIDEST)
