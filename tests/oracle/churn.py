"""Slow twins of the kernels of churned sand and water: plain objects and loops."""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from flexor.scene.stage.effect_settings import ABOVE, RADII, ChurnSettings
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
    peak: float = -1.0
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


def chances(seed: int, number: int) -> list[float]:
    return [scramble(seed ^ scramble(4 * number + n)) / 2**32 for n in range(4)]


def spread_out(rules: ChurnSettings, one: float, two: float, speed: Any) -> Any:
    """A speed, turned by up to `spread` about an axis across it."""
    size = float(np.linalg.norm(speed))
    if rules.spread == 0 or size < 1e-9:
        return speed
    rise = math.asin(np.clip(speed[1] / size, -1, 1))
    rise = min(max(rise, rules.spread), math.pi / 2 - rules.spread)
    heading = math.atan2(speed[0], speed[2])
    if math.hypot(speed[0], speed[2]) / size <= 1e-9:
        heading = 2 * math.pi * two
    way = np.array(
        [
            math.cos(rise) * math.sin(heading),
            math.sin(rise),
            math.cos(rise) * math.cos(heading),
        ]
    )
    level = np.array([math.cos(heading), 0, -math.sin(heading)])
    around = 2 * math.pi * two
    side = math.cos(around) * level + math.sin(around) * np.cross(way, level)
    turn = rules.spread * math.sqrt(one)
    return size * (math.cos(turn) * way + math.sin(turn) * side)


def throw(stage: Stage, part: Part, radius: float) -> None:
    """A new drop of what a part began last."""
    what, origin, move, name, level = part.event
    rules = stage.settings
    turn, share, one, two = chances(stage.seed, stage.serial)
    basic = move * rules.scale * (rules.wet if name == "water" else 1)
    if what == "landing":
        size = math.hypot(basic[0], basic[2])
        heading = math.atan2(basic[0], basic[2])
        angle = heading + math.radians(135 if size > 0 else 180) * (2 * turn - 1)
        out = size + radius
        speed = np.array([out * math.sin(angle), abs(basic[1]), out * math.cos(angle)])
        speed = spread_out(rules, one, two, speed * share / 10)
        place = origin
    else:
        speed = spread_out(rules, one, two, basic * share / 10)
        place = origin + speed
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
            flat = math.hypot(move[0], move[2])
            if amount > rules.jump:
                part.left, part.peak = 0, -1.0
            elif is_down and was_aloft:
                what, origin = "landing", np.array([old[0], level, old[2]])
                count, part.peak = rules.base * amount, -1.0
            elif not is_down and not was_aloft:
                name, level = surface(ground, water, old[0], old[2])
                what, origin = "kick-up", old
                cosine = flat / amount if flat else 0.0
                count, part.peak = rules.base * amount * cosine, flat
            elif not is_down and part.peak >= 0:
                # Has left the surface; what it throws more is by how much faster it is.
                if now[1] - rules.touch * radius > level + rules.reach:
                    part.peak = -1.0
                elif flat > part.peak:
                    name, level = surface(ground, water, old[0], old[2])
                    what = "kick-up"
                    origin = np.array([old[0], min(old[1], level + radius), old[2]])
                    count = rules.base * (flat - part.peak) + part.left
                    part.peak = flat
            elif is_down and rules.plough and flat > 0.02:
                top = now[1] + max(rules.touch * radius, ABOVE.get(kind, 0.0))
                if top >= level:
                    what, origin = "ploughing", np.array([now[0], level, now[2]])
                    count = 2 * rules.plough * rules.base * flat
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
            if part.ticks == 0 or what == "ploughing":
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


def drop_size(row: int, age: int, size: float, life: int = 32) -> tuple[float, bool]:
    """Breadth of the drop in a row of the ring, and whether it is seen mirrored."""
    chance = scramble(row)
    share = (chance // 256) / 2**24
    grown = 1 - 0.6 * (1 - age / life) ** 4
    return size * (0.35 + 0.65 * share**2) * grown, chance % 2 == 1
