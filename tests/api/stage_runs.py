"""Runs over a stage, for tests of its rules."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from flexor.api.stage import Stage
from flexor.scene.stage.ground import Ground, flat_ground
from flexor.scene.stage.ground_shapes import Patch, shape_ground
from flexor.scene.stage.plan import Actor, CameraRule, StagePlan
from tests.api.stage_play import (
    play,
)


def runner(ground: Ground | None = None, **more: Any) -> Stage:
    """One alone without a pad, who looks along +x: it goes as it is told."""
    own = Actor(name="one", heading=math.pi / 2, control="none", opponent="none")
    rule = CameraRule(rule="fixed")
    ground = flat_ground() if ground is None else ground
    return play(StagePlan(cast=(own,), ground=ground, camera=rule, **more))


def go(stage: Stage, ahead: float, right: float, ticks: int) -> Any:
    """Where the first one was after each of some ticks, (ticks, 3): it has run up, and
    is as fast as it asks.
    """
    stage.asked[0] = ahead, right
    turn = float(stage.headings[0])
    x, z = math.sin(turn), math.cos(turn)
    stage.state.velocities[0] = ahead * x - right * z, ahead * z + right * x
    seen = []
    for _ in range(ticks):
        stage.step()
        seen.append(stage.places[0].copy())
    return np.array(seen)


def cliff(high: float, cell: float = 0.25, at: float = 2.0) -> Ground:
    """Ground that is higher from some metres along x on."""
    return shape_ground((24, 24), cell, [Patch(area=(at, -12, 12, 12), height=high)])
