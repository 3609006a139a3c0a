"""Slow twins of the movement kernels: plain loops, one character at a time."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from flexor.scene.stage.ground import Ground


def triangle(ground: Ground, x: float, z: float) -> Any:
    """The three corners (3, 3) of the triangle of ground under a place."""
    rows, columns = ground.heights.shape
    u = min(max((x - ground.corner[0]) / ground.step, 0), columns - 1)
    v = min(max((z - ground.corner[1]) / ground.step, 0), rows - 1)
    column, row = min(int(u), columns - 2), min(int(v), rows - 2)
    is_far = v - row >= u - column
    third = (row + 1, column) if is_far else (row, column + 1)
    corners = []
    for r, c in ((row, column), third, (row + 1, column + 1)):
        place = (
            ground.corner[0] + c * ground.step,
            ground.heights[r, c],
            ground.corner[1] + r * ground.step,
        )
        corners.append(place)
    return np.array(corners)


def look_down(ground: Ground, x: float, z: float) -> tuple[float, Any, int]:
    """The kernel `look_down`: height, unit normal and surface under a place."""
    rows, columns = ground.heights.shape
    wide, deep = (columns - 1) * ground.step, (rows - 1) * ground.step
    inside_x = min(max(x, ground.corner[0]), ground.corner[0] + wide)
    inside_z = min(max(z, ground.corner[1]), ground.corner[1] + deep)
    a, b, c = triangle(ground, inside_x, inside_z)
    normal = np.cross(b - a, c - a)
    normal *= np.sign(normal[1])
    slope = np.array([-normal[0], -normal[2]]) / normal[1]
    height = a[1] + slope @ (inside_x - a[0], inside_z - a[2])
    if x != inside_x:
        slope[0] = 0
    if z != inside_z:
        slope[1] = 0
    turned = np.array([-slope[0], 1, -slope[1]])
    column = min(int((inside_x - ground.corner[0]) / ground.step), columns - 2)
    row = min(int((inside_z - ground.corner[1]) / ground.step), rows - 2)
    kind = int(ground.surfaces[row, column])
    return float(height), turned / np.linalg.norm(turned), kind


def slip(
    dt: float,
    gravity: float,
    still: float,
    moving: float,
    factor: float,
    normal: Any,
    asked: Any,
    slide: Any,
    place: Any,
) -> tuple[Any, Any]:
    """The kernel `slip` for one who stands on the ground: its slide and place."""
    pull = gravity * np.array([normal[0], normal[2]])
    hold = gravity * normal[1] * factor
    if not np.any(slide) and not np.any(asked):
        if np.hypot(*pull) <= still * hold:
            return slide, place
    faster = slide + pull * dt
    speed = np.hypot(*faster)
    left = max(speed - moving * hold * dt, 0.0)
    new = faster * (left / speed) if speed > 0 else faster
    return new, place + np.array([new[0], 0, new[1]]) * dt


def walk(
    dt: float, place: Any, heading: float, enemy: Any | None, asked: Any
) -> tuple[Any, float]:
    """The kernel `walk` for one: enemy: whom it circles around, or None."""
    ahead, right = asked * dt
    if enemy is not None:
        away = math.hypot(place[0] - enemy[0], place[2] - enemy[2])
        if away > 1e-6:
            angle = math.atan2(place[0] - enemy[0], place[2] - enemy[2])
            angle += right / away
            new = max(away - ahead, 1e-6)
            moved = place.copy()
            moved[0] = enemy[0] + new * math.sin(angle)
            moved[2] = enemy[2] + new * math.cos(angle)
            return moved, math.atan2(enemy[0] - moved[0], enemy[2] - moved[2])
    forward = np.array([math.sin(heading), 0, math.cos(heading)])
    side = np.cross(forward, (0, 1, 0))
    return place + ahead * forward + right * side, heading
