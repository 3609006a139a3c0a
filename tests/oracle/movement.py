"""Slow twins of the movement kernels: plain loops, one character at a time."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import numpy as np

from flexor.scene.stage.ground import Ground
from flexor.scene.stage.settings import FrictionSettings

STEEP = 0.5  # steeper ground is climbed


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


@dataclass(frozen=True)
class Walker:
    """One who walks: enemy: whom it circles around, or None; velocity: (3,)."""

    place: Any
    heading: float
    velocity: Any
    asked: Any = (0.0, 0.0)
    enemy: Any = None
    effort: float = 0.0
    can_walk: bool = True
    grounded: bool = True
    pace: float = 1.0
    normal: Any = (0.0, 1.0, 0.0)
    factor: float = 1.0


def push(own: Walker, way: Any, settings: FrictionSettings, dt: float) -> Any:
    """The velocity of who stands on the ground, and how hard its legs push then; way:
    (3,), what it asks for, metres a second.
    """
    weight = settings.gravity * own.normal[1] * own.factor
    brakes = settings.brake * settings.moving * weight
    speed = np.linalg.norm(own.velocity)
    wanted = np.linalg.norm(way)
    if not wanted or not own.can_walk:
        return own.velocity * max(1 - brakes * dt / max(speed, 1e-12), 0), 0.0
    rise = -np.dot(np.array(own.normal) * (1, 0, 1), way) / wanted
    effort = settings.push
    if not own.velocity.any():
        if settings.effort > dt:
            more = settings.push * dt / settings.effort
            effort = min(own.effort + more, settings.push)
        if effort <= settings.still * weight + settings.gravity * rise:
            return own.velocity, effort
    pace = own.pace
    if abs(rise) <= STEEP:
        pace *= np.clip(1 - settings.uphill * rise, 0.3, 1.5)
    change = way * pace - own.velocity
    force = settings.push - settings.moving * weight
    if np.dot(change, own.velocity) < 0:
        force = max(force, brakes)
    if force < 0:
        keep = max(1 + force * dt / max(speed, 1e-12), 0)
        return own.velocity * keep, settings.push
    share = min(force * dt / max(np.linalg.norm(change), 1e-12), 1)
    return own.velocity + share * change, settings.push


def walk(own: Walker, settings: FrictionSettings, dt: float) -> dict[str, Any]:
    """The kernel `walk` for one."""
    forward = np.array([math.sin(own.heading), 0, math.cos(own.heading)])
    line, away = np.zeros(3), 0.0
    if own.enemy is not None:
        line = (own.enemy - own.place) * (1, 0, 1)
        away = float(np.linalg.norm(line))
        if away > 1e-6:
            forward = line / away
    side = np.cross(forward, (0, 1, 0))
    way = own.asked[0] * forward + own.asked[1] * side
    velocity, effort = own.velocity, own.effort
    if own.grounded:
        velocity, effort = push(own, way, settings, dt)
    ahead, right = velocity @ forward, velocity @ side
    going = np.array([ahead, right]) / own.pace if own.pace else np.zeros(2)
    if own.can_walk and any(own.asked):
        going = np.array(own.asked)
    found = {"effort": effort, "going": going, "heading": own.heading}
    if away > 1e-6:
        angle = math.atan2(-line[0], -line[2]) + right * dt / away
        out = np.array([math.sin(angle), 0, math.cos(angle)])
        place = own.place * (0, 1, 0) + own.enemy * (1, 0, 1)
        place = place + max(away - ahead * dt, 1e-6) * out
        velocity = -ahead * out + right * np.cross(-out, (0, 1, 0))
        found["heading"] = math.atan2(-out[0], -out[2])
        return found | {"place": place, "velocity": velocity}
    return found | {"place": own.place + velocity * dt, "velocity": velocity}
