"""Slow twins of the kernels of churned sand and water: plain objects and loops."""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from flexor.scene.stage.effect_settings import RADII, ChurnSettings
from flexor.scene.stage.ground import Ground
from flexor.scene.stage.layout import SURFACES
from tests.oracle.movement import look_down
from tests.oracle.snow import scramble


@dataclass
class Drop:
    place: Any
    speed: Any
    floor: float
    is_water: bool
    age: int = 0


@dataclass
class Part:
    last: Any = None
    is_aloft: bool = False
    state: str = ""
    left: int = 0
    ticks: int = 0
    event: tuple[Any, ...] = ()


@dataclass
class Stage:
    settings: ChurnSettings
    seed: int
    parts: list[list[Part]]
    drops: dict[int, Drop] = field(default_factory=dict)  # by their number
    serial: int = 0


def surface(ground: Ground, water: float | None, x: float, z: float) -> Any:
    height, _, kind = look_down(ground, x, z)
    name = SURFACES[kind]
    if name == "water" and water is not None:
        height = max(height, water)
    return name, height


def chances(seed: int, number: int) -> tuple[float, float]:
    a = scramble(seed ^ scramble(2 * number))
    b = scramble(seed ^ scramble(2 * number + 1))
    return a / 2**32, b / 2**32


def throw(stage: Stage, part: Part, radius: float) -> None:
    """A new drop of what a part began last."""
    what, origin, move, name, level = part.event
    turn, share = chances(stage.seed, stage.serial)
    basic = move * stage.settings.scale
    if what == "kick-up":
        speed = basic * share / 10
        place = origin + speed
    else:
        size = math.hypot(basic[0], basic[2])
        heading = math.atan2(basic[0], basic[2])
        angle = heading + math.radians(135 if size > 0 else 180) * (2 * turn - 1)
        out = size + radius
        speed = np.array([out * math.sin(angle), abs(basic[1]), out * math.cos(angle)])
        speed *= share / 10
        place = origin
    drop = Drop(place.copy(), speed, level, name == "water")
    stage.drops[stage.serial] = drop
    stage.serial += 1


def check_parts(stage: Stage, places: Any, ground: Ground, water: float | None) -> None:
    rules = stage.settings
    for row, own in zip(stage.parts, places, strict=True):
        for part, now, kind in zip(row, own, rules.parts, strict=True):
            radius = RADII[kind]
            name, level = surface(ground, water, now[0], now[2])
            is_down = now[1] - rules.touch * radius <= level
            was_aloft, old = part.is_aloft, part.last
            part.is_aloft, part.last = not is_down, now.copy()
            if old is None:
                continue
            move = now - old
            amount = float(np.linalg.norm(move))
            what = ""
            if amount > rules.jump:
                part.left = 0
            elif is_down and was_aloft:
                what, origin = "landing", np.array([old[0], level, old[2]])
                count = rules.base * amount
            elif not is_down and not was_aloft:
                name, level = surface(ground, water, old[0], old[2])
                what, origin = "kick-up", old
                flat = np.array([move[0], 0, move[2]])
                size = np.linalg.norm(flat)
                cosine = move @ flat / (amount * size) if size else 0.0
                count = rules.base * amount * cosine
            if what:
                part.event = what, origin, move, name, level
                part.left = int(min(count, rules.most) + 0.5)
                if name == "plain":
                    what, part.left = "", 0
                part.ticks = rules.ticks
                part.state = what
            else:
                part.state = "continuing" if part.left else ""
            for _ in range(math.ceil(part.left / 2)):
                throw(stage, part, radius)
            part.left //= 2
            part.ticks -= 1
            if part.ticks == 0:
                part.left = 0


def fly(stage: Stage) -> None:
    rules = stage.settings
    for number, drop in list(stage.drops.items()):
        drop.place += drop.speed - np.array([0, rules.gravity / 2, 0])
        drop.speed[1] -= rules.gravity
        drop.age += 1
        is_under = drop.place[1] < drop.floor and drop.speed[1] < 0
        if drop.age >= rules.life or is_under:
            del stage.drops[number]


def step(stage: Stage, places: Any, ground: Ground, water: float | None = None) -> None:
    """A tick: drops fly on, then parts throw new ones."""
    fly(stage)
    check_parts(stage, places, ground, water)
