"""Wind that comes and goes: for snow, the same for every tick of the same number."""

from __future__ import annotations

import math

from flexor.maths import exact
from flexor.scene.character.light import Vector
from flexor.scene.stage.effect_settings import GustSettings
from flexor.scene.stage.moves import RATE

__all__ = ["gust_at"]

TICK = 1 / RATE  # seconds


def gust_at(tick: int, settings: GustSettings) -> Vector:
    """The wind of a tick: metres a tick along x, y and z.

    It swells and falls between nothing and the whole speed, never twice in quite the
    same way: two swings whose lengths have no common measure.
    """
    if not settings.speed:
        return 0.0, 0.0, 0.0
    turn = 2 * math.pi * tick * TICK / settings.length
    swell = (1 - exact.cos(turn)) / 2 * (1 - exact.cos(turn * 0.6180339887)) / 2
    way = settings.heading + settings.sway * exact.sin(turn * 0.7320508)
    size = settings.speed * swell
    return size * exact.sin(way), 0.0, size * exact.cos(way)
