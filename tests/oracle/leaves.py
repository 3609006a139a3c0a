"""Slow twins of the kernels of wind and leaves: one part, one leaf at a time."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import numpy as np

from flexor.scene.stage.ground import Ground
from tests.oracle.movement import look_down


@dataclass
class Leaf:
    place: Any
    speed: Any
    step: int
    angle: int  # 65536 a turn
    spin: int
    is_aloft: bool
    is_moving: bool


def lay_down(ground: Ground, x: float, z: float) -> float:
    """The kernel `lay_down` for one place, and what `ground_height` gives."""
    return look_down(ground, x, z)[0]


def find_strongest(before: Any, now: Any, scale: float = 1.0) -> tuple[Any, Any] | None:
    """The kernel `find_strongest`, and the wind that it leads to: place and speed."""
    best, found = 0.0, None
    for a, b in zip(before.reshape(-1, 3), now.reshape(-1, 3), strict=True):
        move = (b - a) * scale
        amount = math.hypot(move[0], move[2])
        if np.linalg.norm(b - a) > 2.0:
            continue
        if amount > 0.2 and move[1] > -0.8 and amount > best:
            best = amount
            up = min(max(amount, 0.12), 1.0)
            found = b.copy(), np.array([0.6 * move[0], up, 0.6 * move[2]])
    return found


def blow(leaf: Leaf, ground: Ground, place: Any, speed: Any, lift: float = 1.0) -> None:
    """What a wind does to a leaf."""
    reach = speed[1]
    away = math.hypot(leaf.place[0] - place[0], leaf.place[2] - place[2])
    height = leaf.place[1] - lay_down(ground, leaf.place[0], leaf.place[2])
    c1 = min(1.0 - height, 1.0)
    if c1 <= 0 or away >= reach:
        return
    c2 = (reach - away) / reach
    leaf.speed[0] = speed[0] * c1 * c2
    leaf.speed[1] += lift * reach * c1 * c2
    leaf.speed[2] = speed[2] * c1 * c2
    leaf.is_aloft = leaf.is_moving = True


def step_blocks(leaf: Leaf, ground: Ground) -> None:
    """A tick of a leaf after the wind."""
    if not leaf.is_moving:
        return
    if leaf.is_aloft:
        leaf.speed[0] *= 0.87
        leaf.speed[2] *= 0.87
        leaf.speed[1] = max(leaf.speed[1] - 0.002, -0.006)
    else:
        leaf.speed[0] *= 0.5
        leaf.speed[2] *= 0.5
        leaf.speed[1] = 0.0
    leaf.place += leaf.speed
    leaf.step = (leaf.step + 1) % 32
    leaf.angle = (leaf.angle + leaf.spin) % 65536
    below = lay_down(ground, leaf.place[0], leaf.place[2])
    if not leaf.is_aloft or leaf.place[1] <= below:
        leaf.is_aloft = False
        leaf.place[1] = below
        leaf.speed[1] = 0.0
        if leaf.step == 0:
            leaf.speed[:] = 0.0
            leaf.is_moving = False


def make_quads(leaf: Leaf, size: float, clear: float) -> Any:
    """The corners (4, 3) of a leaf: turned about X, then about Y."""
    a, b = leaf.step * 2 * math.pi / 32, leaf.angle * 2 * math.pi / 65536
    about_x = np.array(
        [[1, 0, 0], [0, math.cos(a), -math.sin(a)], [0, math.sin(a), math.cos(a)]]
    )
    about_y = np.array(
        [[math.cos(b), 0, math.sin(b)], [0, 1, 0], [-math.sin(b), 0, math.cos(b)]]
    )
    flat = np.array([(-1, 0, 1), (1, 0, 1), (1, 0, -1), (-1, 0, -1)]) * size / 2
    return flat @ (about_y @ about_x).T + leaf.place + (0, clear, 0)
