"""Slow twins of the kernels of snow: one flake at a time."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from flexor.scene.stage.ground import Ground
from tests.oracle.movement import look_down


def scramble(number: int) -> int:
    """Bits of 32, mixed."""
    h = number % 2**32
    h ^= h >> 16
    h = h * 0x21F0AAAD % 2**32
    h ^= h >> 15
    h = h * 0x735A2D97 % 2**32
    return h ^ h >> 15


def step_flakes(
    place: Any, roll: int, move: Any, low: Any, high: Any, top: float, ground: Ground
) -> tuple[Any, int, bool]:
    """Place and roll of a flake after a tick, and whether it came again elsewhere."""
    x, y, z = place + move
    x, z = (
        v if a <= v <= b else a + (v - a) % (b - a)
        for v, a, b in zip((x, z), low, high, strict=True)
    )
    height = look_down(ground, x, z)[0]
    if height < y <= top:
        return np.array([x, y, z]), roll, False
    room = max(top - height, 0.0)
    y = y + room if y <= height else y - room
    if y < height or y > top:
        y = top
    roll = (roll + 0x9E3779B9) % 2**32
    first, second = divmod(scramble(roll), 65536)
    x = low[0] + (high[0] - low[0]) * first / 65536
    z = low[1] + (high[1] - low[1]) * second / 65536
    return np.array([x, y, z]), roll, True


def find_stirs(before: Any, now: Any, rules: Any, much: float) -> list[Any]:
    """Place, reach and speed of the wind of each part that is fast enough."""
    found = []
    for a, b in zip(before.reshape(-1, 3), now.reshape(-1, 3), strict=True):
        move = b - a
        size = float(np.linalg.norm(move))
        if size * rules.scale > rules.least and size <= rules.jump:
            reach = 0.6 * min(max(size * rules.scale, rules.weakest), rules.strongest)
            found.append((b, reach, much * move))
    return found


def stir(place: Any, drift: Any, stirs: list[Any]) -> Any:
    """The drift of a flake among winds."""
    for middle, reach, speed in stirs:
        apart = place - middle
        away = float(np.linalg.norm(apart))
        if away < reach:
            c = 1 - away / reach
            aside = 0.5 * np.linalg.norm(speed) * apart / away if away else 0.0
            drift = drift + c * (speed + aside - drift)
    return drift


def make_quads(
    place: Any, phase: int, circle: float, size: float, right: Any, up: Any
) -> Any:
    """The corners (4, 3) of a flake."""
    q = phase * 2 * math.pi / 65536
    middle = place + circle * np.array([math.sin(q), 0, math.cos(q)])
    ways = ((-1, -1), (1, -1), (1, 1), (-1, 1))
    right, up = np.asarray(right, float), np.asarray(up, float)
    return np.array([middle + size / 2 * (a * right + b * up) for a, b in ways])
