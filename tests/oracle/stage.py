"""Slow twins of the kernels that a stage is played by: one character at a time.

Kernels: `read_pads`, `push_apart`, `hold_at_steps`, `stand`, `choose_roles`,
`put_places`.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from flexor.scene.stage.ground import Ground
from flexor.scene.stage.layout import ROLES
from flexor.scene.stage.plan import WalkSettings
from tests.oracle import movement

FACING = 0.6  # radians
HELD, TALL, DEEP = 0.12, 1.2, 0.15  # metres
DIRECTIONS = {"up": (0, 1), "down": (0, -1), "left": (-1, 0), "right": (1, 0)}


def between(heading: float, wanted: float) -> float:
    """The shorter way from one heading to another, -pi to pi."""
    return math.remainder(wanted - heading, 2 * math.pi)


def turned(heading: float, wanted: float, most: float) -> tuple[float, float]:
    """A heading turned by at most so much, and what is left of the way."""
    way = between(heading, wanted)
    if abs(way) <= most:
        return wanted, 0.0
    step = math.copysign(most, way)
    return heading + step, way - step


def read_pad(
    held: set[str],
    view: Any,
    most: float,
    settings: WalkSettings,
    control: str,
    can_walk: bool,
    place: Any,
    heading: float,
    enemy: Any | None,
    stick: tuple[float, float] = (0.0, 0.0),
) -> tuple[float, tuple[float, float], bool]:
    """One pad: the new heading, metres a second ahead and to the right, and whether it
    goes around its opponent; enemy: where that stands, None for none; stick: how far it
    is tilted to the right and up.
    """
    if not can_walk:
        return heading, (0.0, 0.0), False
    ahead = np.array([view[0], 0, view[1]])
    right = np.cross(ahead, (0, 1, 0))
    pad = np.sum([DIRECTIONS[name] for name in held & set(DIRECTIONS)] or [(0, 0)], 0)
    much = 1.0
    if any(stick):
        pad, much = np.array(stick), min(math.hypot(*stick), 1.0)
    way = pad[0] * right + pad[1] * ahead
    if way.any():
        way /= np.linalg.norm(way)
    fast = settings.run if "R" in held else settings.walk
    if enemy is not None and (control == "opponent" or "L" in held):
        line = (enemy - place) * (1, 0, 1)
        away = np.linalg.norm(line)
        if away > 1e-6:
            line = line / away
            heading, left = turned(heading, math.atan2(line[0], line[2]), most)
            if abs(left) > FACING:
                return heading, (0.0, 0.0), False
            toward, around = way @ line, way @ np.cross(line, (0, 1, 0))
            if abs(around) < abs(toward) / 2:
                around = 0.0
            elif abs(toward) < abs(around) / 2:
                toward = 0.0
            size = math.hypot(toward, around) or 1.0
            speed = fast if toward > 0 else settings.back
            speed, side = speed * much, settings.side * much
            asked = toward / size * speed, around / size * side
            return heading, asked, left == 0 and bool(way.any())
    if not way.any():
        return heading, (0.0, 0.0), False
    heading, left = turned(heading, math.atan2(way[0], way[2]), most)
    return heading, (fast * much if abs(left) <= FACING else 0.0, 0.0), False


def push_apart(radii: Any, is_solid: Any, order: Any, places: Any) -> tuple[Any, int]:
    """Places after one call, and how many pairs met; by x, as they stood before."""
    new, met = places.copy(), 0
    rows = sorted(order.tolist(), key=lambda row: places[row, 0])
    for rank, n in enumerate(rows):
        reach = new[n, 0] + radii[n] + max(radii)
        for m in rows[rank + 1 :]:
            if new[m, 0] > reach and is_solid[n]:
                break
            is_beside = abs(new[m, 1] - new[n, 1]) < TALL
            line = (new[m] - new[n]) * (1, 0, 1)
            away = np.linalg.norm(line)
            deep = radii[n] + radii[m] - away
            if not (is_solid[n] and is_solid[m] and is_beside and deep > 0):
                continue
            line = line / away if away > 1e-9 else np.array([1.0, 0, 0])
            new[n] -= line * deep / 2
            new[m] += line * deep / 2
            met += 1
    return new, met


def turn_way(way: Any, degrees: float) -> Any:
    """A way over the ground, (x, z), turned."""
    c, s = math.cos(math.radians(degrees)), math.sin(math.radians(degrees))
    return np.array([c * way[0] - s * way[1], s * way[0] + c * way[1]])


def free_way(
    ground: Ground, step: float, reach: float, spot: Any, high: float, way: Any
) -> tuple[float, Any]:
    """The part of a way that is free, and the first spot that is not, or its end."""
    size = np.hypot(*way)
    if size == 0:
        return 0.0, spot
    count = math.ceil(size / (ground.step / 2))
    for look in range(1, count + 1):
        at = spot + way * look / count
        floor = max(high, movement.look_down(ground, *at)[0])
        for degrees in (0, -45, 45):
            ahead = at + turn_way(way / size * reach, degrees)
            if movement.look_down(ground, *ahead)[0] > floor + step + 1e-9:
                return (look - 1) / count, at
    return 1.0, spot + way


def hold_at_steps(
    ground: Ground, step: float, reach: float, before: Any, place: Any
) -> tuple[Any, Any]:
    """One who goes from a place to another: where it gets to, and away from what is too
    steep, (x, z), 0 if nothing is.
    """
    spot, way = before[[0, 2]], (place - before)[[0, 2]]
    if not way.any():
        return place, np.zeros(2)
    high = max(place[1], movement.look_down(ground, *spot)[0])
    free, stop = free_way(ground, step, reach, spot, high, way)
    if free == 1:
        return place, np.zeros(2)
    spot, left = spot + free * way, (1 - free) * way
    up, ahead = np.zeros(2), left / np.hypot(*left)
    for degrees in range(0, 360, 45):
        to = turn_way(ahead, degrees)
        up += to * movement.look_down(ground, *(stop + reach * to))[0]
    up = up / np.hypot(*up) if np.hypot(*up) >= 1e-9 else ahead
    into = max(up @ left, 0.0)
    along = left - into * up
    away = [min(share * into, np.hypot(*along) / 2) * up for share in (0.1, 0.6)]
    for other in (along - away[0], along - away[1], left * (1, 0), left * (0, 1)):
        if np.hypot(*other) < 1e-12:
            continue
        free, _ = free_way(ground, step, reach, spot, high, other)
        if free > 0:
            spot = spot + free * other
            break
    return np.array([spot[0], place[1], spot[1]]), -up


def stand(
    seconds: float,
    gravity: float,
    climb: float,
    ground: float,
    is_flying: bool,
    height: float,
    fall: float,
    is_grounded: bool,
) -> tuple[float, float, bool, bool]:
    """One who stands: its height, its fall, whether it is grounded, and just landed."""
    if is_flying:
        return max(height, ground), 0.0, False, False
    if height <= ground:
        climbed = min(ground, max(height + climb * seconds, ground - DEEP))
        return climbed, 0.0, True, not is_grounded
    if is_grounded and height <= ground + HELD:
        return ground, 0.0, True, False
    fall += gravity * seconds
    height -= fall * seconds
    if height > ground:
        return height, fall, False, False
    return ground, 0.0, True, not is_grounded


def choose_role(
    walk: float,
    energy: float,
    stun: int,
    struck: int,
    has_won: bool,
    move: int,
    is_grounded: bool,
    fall: float,
    asked: Any,
    pace: float,
    own_speeds: Any,
    gone: float,
    down: str,
    side: str,
) -> tuple[int, float]:
    """The role of one character, and how fast it is played.

    gone: metres a second by its own clock that it really went, over the ground.
    """
    ahead, right = asked
    if down == "held":
        return ROLES.index("thrown"), 1.0
    if down == "collapsed":
        return ROLES.index(f"beaten {side}"), 1.0
    if down != "up":
        word = {"falling": "down", "lying": "lie", "rising": "rise"}[down]
        side = {"left": "back", "right": "front"}.get(side, side)
        return ROLES.index(f"{word} {side}"), 1.0
    if energy <= 0:
        return ROLES.index("beaten"), 1.0
    if stun > 0:
        name = {2: "guarded", 3: "recoil"}.get(struck, "hit")
        return ROLES.index(name), 1.0
    if move >= 0:
        return len(ROLES) + move, 1.0
    if has_won and not ahead and not right:
        return ROLES.index("won"), 1.0
    if not is_grounded and fall > 1.5:
        return ROLES.index("air"), 1.0
    speed = math.hypot(ahead, right) * pace
    if abs(gone - speed) > 0.05 * speed:
        speed = gone if gone >= 0.1 * speed else 0.0
    if speed == 0:
        ahead = right = 0
    if abs(right) > abs(ahead):
        name = "right" if right > 0 else "left"
    elif ahead > 0:
        name = "run" if ahead > 1.25 * walk else "walk"
    else:
        name = "back" if ahead < 0 else "stance"
    own = own_speeds[ROLES.index(name)]
    rate = float(np.clip(speed / own, 0.25, 2.5)) if own > 0 else 1.0
    return ROLES.index(name), rate


def put_place(place: Any, heading: float, sink: float) -> Any:
    """world_from_character (3, 4): z looks along the heading, y is up."""
    ahead = np.array([math.sin(heading), 0, math.cos(heading)])
    up = np.array([0.0, 1, 0])
    return np.stack([np.cross(up, ahead), up, ahead, place + sink * up], 1)
