"""Slow twins of the kernels of the camera: footprints as lists of sides, plain vectors
of x and z, one rule after another.

Kernels: `span_bodies`, `step_camera`, `clear_eye`.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from flexor.stage.kernels import blocks as walls
from flexor.stage.kernels import camera as kernel
from flexor.stage.layout import Blocks, Shot


@dataclass
class Eye:
    """A camera: eye, target, speeds: (3,); view, look: (2,); swing: (3,)."""

    eye: Any
    target: Any
    view: Any
    look: Any
    speed: Any = field(default_factory=lambda: np.zeros(3))
    target_speed: Any = field(default_factory=lambda: np.zeros(3))
    swing: Any = field(default_factory=lambda: np.zeros(3))


def spans(world: Any) -> Any:
    """Lowest and highest x, y, z (n, 6) of nodes of world (n, J, 3, 4)."""
    at = world[..., 3].astype(np.float64)
    return np.concatenate([at.min(1), at.max(1)], 1)


def turned(way: Any, angle: float) -> Any:
    """x and z, turned as headings grow."""
    s, c = math.sin(angle), math.cos(angle)
    return np.array([c * way[0] + s * way[1], c * way[1] - s * way[0]])


def sides_of(blocks: Blocks, row: int) -> Any:
    """(n, 2, 2)."""
    return blocks.sides[blocks.firsts[row] : blocks.firsts[row + 1]].reshape(-1, 2, 2)


def nearest(side: Any, at: Any) -> Any:
    a, b = side
    way = b - a
    size = way @ way
    share = np.clip((at - a) @ way / size, 0, 1) if size else 0.0
    return a + share * way


def gap(blocks: Blocks, row: int, at: Any) -> tuple[float, Any]:
    """Metres to a structure, below 0 in it, and the way out."""
    sides = sides_of(blocks, row)
    point = min((nearest(side, at) for side in sides), key=lambda p: math.dist(p, at))
    crossed = 0
    for (ax, az), (bx, bz) in sides:
        if (az > at[1]) != (bz > at[1]):
            crossed += at[0] < ax + (bx - ax) * (at[1] - az) / (bz - az)
    far = math.dist(point, at)
    way = (at - point) / far
    return (-far, -way) if crossed % 2 else (far, way)


def tall(blocks: Blocks, y: float) -> list[int]:
    """Rows of structures that an eye at a height goes around."""
    low, high = blocks.heights.T
    keep = walls.KEPT
    is_tall = (low - keep < y) & (high + keep - y > walls.LIFT)
    return np.flatnonzero(is_tall).tolist()


def meet(side: Any, a: Any, b: Any) -> bool:
    def beside(p: Any, q: Any, at: Any) -> bool:
        return bool(np.cross([*(q - p), 0], [*(at - p), 0])[2] > 0)

    p, q = side
    return beside(a, b, p) != beside(a, b, q) and beside(p, q, a) != beside(p, q, b)


def how_clear(blocks: Blocks, eye: Any, y: float, spots: Any) -> int:
    best = 2
    for row in tall(blocks, y):
        if gap(blocks, row, eye)[0] < walls.PLANNED:
            return 0
        for spot in spots:
            for side in sides_of(blocks, row):
                near = math.dist(nearest(np.array([spot, eye]), side[0]), side[0])
                if near < walls.SIGHT or meet(side, spot, eye):
                    best = 1
    return best


def swing_aside(
    blocks: Blocks, middle: Any, base: Any, y: float, spots: Any, before: float
) -> float:
    """The turn of `base` (x and z from the middle) with the least cost."""
    turns = [0.0]
    for step in range(1, walls.STEPS + 1):
        turns += [step * walls.STEP, -step * walls.STEP]
    best, least = 0.0, math.inf
    for turn in turns:
        clear = how_clear(blocks, middle + turned(base, turn), y, spots)
        cost = abs(turn) + walls.STAYS * abs(turn - before) + 10 * (2 - clear)
        if cost < least - 1e-9:
            best, least = turn, cost
    return best


def push_out(blocks: Blocks, at: Any, y: float, room: float) -> Any:
    for _ in range(walls.PUSHES):
        before = at
        for row in tall(blocks, y):
            far, way = gap(blocks, row, at)
            if far < room - 1e-9:
                at = at + (room - far) * way
        if at is before:
            break
    return at


def lift_over(blocks: Blocks, spots: Any, y: float, level: float) -> float:
    """The height of an eye that is, or is to be, at some spots; level: that tells what
    is low.
    """
    found = y
    for row in range(len(blocks.rounds)):
        low, high = blocks.heights[row]
        need = high + walls.KEPT
        if row in tall(blocks, level) or low - walls.KEPT >= y or need <= y:
            continue
        near = min(gap(blocks, row, spot)[0] for spot in spots)
        share = (walls.LIFTS_FROM - near) / (walls.LIFTS_FROM - walls.LIFTED)
        found = max(found, y + np.clip(share, 0, 1) * (need - y))
    return found


def clear_eye(blocks: Blocks, spots: Any, before: float, eye: Any) -> Any:
    middle, flat = spots.mean(0), eye[[0, 2]]
    turn = swing_aside(blocks, middle, flat - middle, eye[1], spots, before)
    at = push_out(blocks, middle + turned(flat - middle, turn), eye[1], walls.KEPT)
    return np.array([at[0], lift_over(blocks, [at], eye[1], eye[1]), at[1]])


def step(
    own: Eye,
    dt: float,
    shot: Shot,
    row: int,
    blocks: Blocks,
    places: Any,
    headings: Any,
    opponents: Any,
    boxes: Any,
    at_once: bool = False,
) -> None:
    """The kernel `step_camera`, in place."""
    other = int(opponents[row])
    flat = places[:, [0, 2]]
    me = flat[row]
    if other >= 0:
        it, it_y = flat[other], places[other, 1]
    else:
        turn = headings[row]
        it = me + kernel.AHEAD * np.array([math.sin(turn), math.cos(turn)])
        it_y = places[row, 1]
    apart = math.dist(me, it)
    line = np.array([own.view[1], -own.view[0]]) if shot.is_side else own.view.copy()
    if other >= 0 and apart >= walls.NEAR:
        line = (it - me) / apart
    middle_y = (places[row, 1] + it_y) / 2
    away, base_y, centre = shot.distance, places[row, 1], me
    if shot.is_side:
        centre, base_y = (me + it) / 2, middle_y
        side = np.array([-line[1], line[0]])
        if side @ (own.eye[[0, 2]] - centre) < 0:
            side = -side
        own.view = -side
        away = max(
            away,
            (apart / 2 + kernel.BESIDE) / (kernel.SHAPE * shot.high),
            (abs(it_y - places[row, 1]) / 2 + kernel.ABOVE) / shot.high,
        )
    else:
        own.view = line
    most = math.pi if at_once or shot.is_side else kernel.TURNS * dt
    angle = math.atan2(
        own.look[0] * own.view[1] - own.look[1] * own.view[0], own.look @ own.view
    )
    own.look = own.view.copy() if abs(angle) <= most else swung(own.look, most, angle)
    y = level = base_y + shot.height
    given = shot, row, other, flat, boxes
    seen = middle_y + kernel.CHEST
    start = centre
    centre, far = step_back(*given, start, seen, own.look, away, y)
    if shot.is_side and other >= 0:
        rise = see_over(*given, places[:, 1], centre, own.look, far, y)
        y += rise
        if rise > 0:
            to = seen, own.look, away, y, kernel.TRIES
            centre, far = step_back(*given, centre, *to)
    away = far
    goal = centre if shot.is_side else me + own.look
    target = np.array([goal[0], seen, goal[1]])
    back = -away * own.look
    if len(blocks.rounds):
        own.swing[1] = swing_aside(
            blocks, centre, back, level, np.array([me, it]), own.swing[1]
        )
        way = (own.swing[1] - own.swing[0]) * min(dt / kernel.SWING_EASE, 1)
        own.swing[0] += np.clip(way, -kernel.SWINGS * dt, kernel.SWINGS * dt)
        if at_once or abs(own.swing[1] - own.swing[0]) < walls.NEAR:
            own.swing[0] = own.swing[1]
        at = push_out(blocks, centre + turned(back, own.swing[0]), level, walls.KEPT)
        y = lift_over(blocks, [at, own.eye[[0, 2]]], y, level)
        back = at - centre
    wanted = np.array([centre[0] + back[0], y, centre[1] + back[1]])
    if at_once or shot.ease <= 0:
        own.eye, own.target = wanted, target
        own.speed, own.target_speed = np.zeros(3), np.zeros(3)
        return
    to = hurry(shot.ease, kernel.FASTEST, own.target, target)
    own.target_speed = follow(dt, own.target_speed, to)
    own.target = own.target + own.target_speed * dt
    if abs(own.swing[1] - own.swing[0]) > kernel.SWUNG:
        own.swing[2] = 1
    elif math.dist(wanted, own.eye) < kernel.THERE:
        own.swing[2] = 0
    most = kernel.SLOW if own.swing[2] else kernel.FASTEST
    to = hurry(shot.ease, most, own.eye, wanted)
    to = go_around(blocks, own.eye, level, wanted, to)
    own.speed = follow(dt, own.speed, to)
    own.eye = own.eye + own.speed * dt
    out = push_out(blocks, own.eye[[0, 2]], level, walls.LEAST)
    way = out - own.eye[[0, 2]]
    if way.any():
        way = way / np.linalg.norm(way)
        into = min(own.speed[[0, 2]] @ way, 0)
        own.speed[[0, 2]] -= into * way
        own.eye[[0, 2]] = out


def swung(look: Any, most: float, angle: float) -> Any:
    """A way that is turned by so much, toward an angle."""
    turn = math.copysign(most, angle) if angle else most
    c, s = math.cos(turn), math.sin(turn)
    return np.array([c * look[0] - s * look[1], s * look[0] + c * look[1]])


def see_over(
    shot: Shot,
    row: int,
    other: int,
    flat: Any,
    boxes: Any,
    feet: Any,
    centre: Any,
    look: Any,
    away: float,
    y: float,
) -> float:
    right = np.array([-look[1], look[0]])
    rises = [0.0]
    for n, at in enumerate(flat):
        near = np.linalg.norm(at - centre) < kernel.REACH
        if n in (row, other) or not (shot.takes_all and near):
            continue
        ahead = away + (at - centre) @ look
        for m in (row, other):
            far = away + (flat[m] - centre) @ look
            if far - ahead <= kernel.BEFORE or ahead <= 0:
                continue
            sight = (flat[m] - centre) @ right * ahead / far
            off = abs((at - centre) @ right - sight)
            sure = np.clip((far - ahead - kernel.BEFORE) / kernel.SOFT, 0, 1)
            sure *= np.clip((kernel.HIDING + kernel.SOFT - off) / kernel.SOFT, 0, 1)
            chest = feet[m] + kernel.CHEST
            top = boxes[n, 4] + kernel.ROOM
            need = chest + (top - chest) * far / (far - ahead)
            rises.append(float(sure * np.clip(need - y, 0, kernel.RISES)))
    return max(rises)


def step_back(
    shot: Shot,
    row: int,
    other: int,
    flat: Any,
    boxes: Any,
    centre: Any,
    y: float,
    view: Any,
    away: float,
    eye_y: float,
    tries: int = 2,
) -> tuple[Any, float]:
    right = np.array([-view[1], view[0]])

    def framed() -> list[int]:
        near = np.linalg.norm(flat - centre, axis=1) < kernel.REACH
        return [
            n for n in range(len(flat)) if n in (row, other) or shot.takes_all & near[n]
        ]

    if shot.is_side:
        beside = [0.0, *((flat[framed()] - centre) @ right)]
        low, high = min(beside), max(beside)
        centre = centre + (low + high) / 2 * right
        away = max(
            away, ((high - low) / 2 + kernel.BESIDE) / (kernel.SHAPE * shot.high)
        )
    most = max(away, kernel.FARTHEST)
    for _ in range(tries):
        is_over = False
        forward = np.array([away + (not shot.is_side), y - eye_y])
        forward /= np.linalg.norm(forward)
        up = np.array([-forward[1], forward[0]])
        for n in framed():
            for x in boxes[n, [0, 3]]:
                for z in boxes[n, [2, 5]]:
                    off = np.array([x, z]) - centre
                    wide = abs(off @ right) + kernel.ROOM
                    for high in (boxes[n, 1] - kernel.ROOM, boxes[n, 4] + kernel.OVER):
                        need = fit(wide, high - eye_y, forward, up, shot.high)
                        ends = off @ view + away
                        is_over |= is_cut(ends, high - eye_y, forward, up, shot.high)
                        away = max(away, min(need - off @ view, most))
        if is_over:
            away = min(kernel.FARTHER * away, most)
    return centre, away


def is_cut(far: float, high: float, forward: Any, up: Any, slope: float) -> bool:
    """Whether a point is over the upper edge of a picture that looks steeply down."""
    if slope * forward[0] - up[0] > kernel.LEVEL:
        return False
    across, along = far * up[0] + high * up[1], far * forward[0] + high * forward[1]
    return bool(across > slope * along)


def fit(wide: float, high: float, forward: Any, up: Any, slope: float) -> Any:
    """How far over the ground a point must be from an eye to be in its picture; wide:
    metres aside; high: above the eye.
    """
    least = (wide / (kernel.SHAPE * slope) - high * forward[1]) / forward[0]
    # Below the upper edge, and above the lower one.
    over, under = slope * forward[0] - up[0], slope * forward[0] + up[0]
    if over > kernel.LEVEL:
        least = max(least, high * (up[1] - slope * forward[1]) / over)
    return max(least, -high * (up[1] + slope * forward[1]) / under)


def hurry(ease: float, most: float, at: Any, wanted: Any) -> Any:
    far = math.dist(at, wanted)
    rate = 1 / max(ease - kernel.SOON, kernel.SOON)
    rate = min(rate, most / (far + 1e-12))
    if far * rate**2 > 2 * kernel.BRAKE:
        rate = math.sqrt(2 * kernel.BRAKE / far)
    return (wanted - at) * rate


def follow(dt: float, speed: Any, to: Any) -> Any:
    change = (to - speed) * min(dt / kernel.SOON, 1)
    size = float(np.linalg.norm(change)) + 1e-12
    return speed + change * min(1, kernel.PULL * dt / size)


def go_around(blocks: Blocks, eye: Any, level: float, wanted: Any, speed: Any) -> Any:
    at, to = eye[[0, 2]], speed.copy()
    for row, (low, high) in enumerate(blocks.heights):
        is_tall = row in tall(blocks, level)
        if not (is_tall or low - walls.LEAST < eye[1] < high + walls.LEAST):
            continue
        x, z, wide = blocks.rounds[row]
        if math.dist(at, (x, z)) >= wide + kernel.ALERT:
            continue
        far, way = gap(blocks, row, at)
        most = math.sqrt(2 * kernel.SAFE * max(far - walls.KEPT, 0))
        most -= 4 * max(walls.KEPT - far, 0)
        into = -(to[[0, 2]] @ way)
        if into > most:
            if not is_tall:
                to[[0, 2]] += (into - most) * way
                continue
            tangent = np.array([-way[1], way[0]])
            along = to[[0, 2]] @ tangent
            if abs(along) < walls.NEAR:
                along = (wanted - eye)[[0, 2]] @ tangent
            less = into - most
            sign = 1 if along >= 0 else -1
            to[[0, 2]] += less * way + sign * kernel.AROUND * less * tangent
    return to
