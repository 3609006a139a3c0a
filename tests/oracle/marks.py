"""Slow twins of the kernels of marks: plain objects and loops."""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from flexor.scene.stage.effect_settings import MarkSettings
from flexor.scene.stage.ground import Ground
from flexor.scene.stage.layout import SURFACES
from tests.oracle.movement import look_down


@dataclass
class Mark:
    kind: str
    place: Any
    way: tuple[float, float]
    size: float
    age: int = 0


@dataclass
class Foot:
    stands: bool = False
    last: Any = (0.0, 0.0)


@dataclass
class Stage:
    settings: MarkSettings
    feet: list[list[Foot]]
    waits: dict[tuple[int, int], int] = field(default_factory=dict)
    marks: list[Mark] = field(default_factory=list)


def place_parts(world: Any, nodes: Any, place: Any) -> Any:
    """Where the parts of one body are: (P, 3)."""
    return np.array(
        [
            np.add(place, (0, 1000.0, 0))
            if node < 0
            else world[node, :, 3].astype(float)
            for node in nodes
        ]
    )


def age_marks(stage: Stage) -> None:
    rules = stage.settings
    for mark in list(stage.marks):
        mark.age += 1
        if mark.age >= round(60 * getattr(rules, mark.kind)):
            stage.marks.remove(mark)


def leave_prints(
    stage: Stage, before: Any, now: Any, headings: Any, ground: Ground
) -> None:
    for row, feet in enumerate(stage.feet):
        for number, foot in enumerate(feet):
            ankle, toes = now[row, number], now[row, number + 6]
            x, _, z = (ankle + toes) / 2
            level, _, kind = look_down(ground, x, z)
            is_near = min(ankle[1], toes[1]) < level + 0.12
            move = (toes - before[row, number + 6])[[0, 2]]
            stands = is_near and np.linalg.norm(move) < 0.012
            stood = foot.stands
            foot.stands = stands or (stood and is_near)
            slid = math.dist((x, z), foot.last)
            if not stands or (stood and slid < 0.12):
                continue
            foot.last = x, z
            if SURFACES[kind] != "sand":
                continue
            way = (toes - ankle)[[0, 2]]
            long = float(np.linalg.norm(way))
            if long > 0.03:
                way = way / long
            else:
                way = math.sin(headings[row]), math.cos(headings[row])
            stage.marks.append(Mark("prints", (x, level, z), tuple(way), 1.0))


def leave_rings(stage: Stage, states: Any, moves: Any, places: Any) -> None:
    """states: (N, P), words; moves: (N, P, 5), as of churned water; places: (N, P)."""
    for row in range(len(states)):
        for part in range(6):
            wait = stage.waits.get((row, part), 0)
            if wait:
                stage.waits[row, part] = wait - 1
                continue
            is_new = states[row][part] in ("landing", "kick-up", "ploughing")
            x, y, z, level, is_water = moves[row, part]
            if not (is_new and is_water):
                continue
            stage.waits[row, part] = 12
            size = 0.12 + 3 * min(math.hypot(x, y, z), 0.15)
            px, _, pz = places[row, part]
            stage.marks.append(Mark("rings", (px, level, pz), (0, 0), size))
