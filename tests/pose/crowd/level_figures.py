"""Characters before a camera, for tests of what level they get."""

from __future__ import annotations

import math
from dataclasses import replace
from typing import Any

import numpy as np

from flexor.pose.crowd.level_choice import Figures, LevelRule, choose_levels
from flexor.scene.character.camera import Camera

Rng = np.random.Generator
# Looks along -z; the picture is twice as wide as high. One metre in front of the eye
# it is two metres high, 100 pixels a metre.
SIZE = (400, 200)
EYE = Camera((0, 0, 0), (0, 0, -1), fov=math.pi / 2)
FLAT = replace(EYE, height=2.0)
FOUR = np.array([[0, 0], [0.01, 0.02], [0.02, 0.08], [0.04, 0.1]], np.float32)
BY_DISTANCE = LevelRule(by="distance", borders=(10, 20, 40))


def choose(
    rules: Any,
    places: Any,
    before: Any = -1,
    *,
    camera: Camera = EYE,
    errors: Any = FOUR,
    reach: Any = 0.001,
    kind: Any = np.int32,
    **more: Any,
) -> list[int]:
    """The levels of characters at places (N, 3) that had the levels `before`."""
    at = np.array(places, np.float32).reshape(-1, 3)
    levels = np.empty(len(at), kind)
    levels[:] = before
    reaches = np.empty(len(at), np.float32)
    reaches[:] = reach
    each = {
        name: np.broadcast_to(np.float32(more.pop(name)), len(at)).copy()
        for name in ("heights", "widths", "speeds")
        if name in more
    }
    figures = Figures(at, reaches, **each)
    choose_levels(rules, errors, camera, SIZE, figures, levels=levels, **more)
    return levels.tolist()  # type: ignore[no-any-return]


def ahead(*distances: float) -> Any:
    return [(0.0, 0.0, -distance) for distance in distances]
