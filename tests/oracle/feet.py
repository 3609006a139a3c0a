"""Slow twins of the kernels by which feet stand: one character, one foot at a time.

Kernels: `lock_feet`, `plant_feet`.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from flexor.scene.stage.ground import Ground
from tests.oracle import movement

FREE, LOCKED, STEPPING = range(3)


def turn_about_y(angle: float) -> Any:
    """A matrix (3, 3): at a quarter turn z looks along x."""
    c, s = math.cos(angle), math.sin(angle)
    return np.array([[c, 0, s], [0, 1, 0], [-s, 0, c]])


@dataclass
class Foot:
    """phase; offset: (3,) and turn, from where the clip has it; spots: (K, 3), where
    its points were a tick ago; of a step: start (3,), turn, seconds, length, height.
    """

    phase: int
    offset: Any
    turn: float
    spots: Any
    start: Any = field(default_factory=lambda: np.zeros(3))
    start_turn: float = 0.0
    since: float = 0.0
    length: float = 0.0
    high: float = 0.0
    # What is found out in a tick.
    end: Any = None
    points: Any = None
    low: float = 0.0
    pivot: int = 0
    is_down: bool = True
    left: float = 1.0
    gone: float = 1.0
    score: float = 0.0

    def now(self) -> Any:
        """Where the points of the sole are, (K, 3)."""
        turned = (self.points - self.end) @ turn_about_y(self.turn).T
        return self.end + self.offset + turned

    def stay(self) -> None:
        way = self.spots[self.pivot] - self.now()[self.pivot]
        self.offset += way * (1, 0, 1)

    @property
    def off(self) -> float:
        return math.hypot(self.offset[0], self.offset[2])

    def begin(self, speed: float) -> None:
        self.phase, self.since = STEPPING, 0.0
        self.start = self.end + self.offset
        self.start[1], self.start_turn = self.offset[1], self.turn
        self.length = float(np.interp(speed, (0, 2), (0.25, 0.11)))
        self.high = min(0.04 + 0.12 * self.off, 0.08)


def within(way: Any, most: float) -> Any:
    size = np.linalg.norm(way)
    return way * most / size if size > most else way


def lock_feet(
    dt: float,
    feet: list[Foot],
    pace: Any,
    way: Any,
    clip_pace: float,
    holds: list[float],
    turn: float,
    rest: float,
    is_put: bool,
    stands: bool,
) -> None:
    """One character. Its feet know what the clip says of them, and are changed.

    pace: (3,), metres a second, smooth; way: (3,), that of the clip; clip_pace: how
    fast the clip is played; holds: seconds of contacts, by foot; turn: radians that it
    turned; rest: seconds since it moved.
    """
    speed, is_going = float(np.linalg.norm(pace)), bool(way.any())
    near, around = (0.04, 0.2) if rest > 0.35 else (0.1, 0.55)
    if is_going:
        near, around = 0.5, 1.0
    for foot in feet:
        if is_put:
            foot.phase, foot.offset, foot.turn = FREE, np.zeros(3), 0.0
        if foot.phase != FREE:
            foot.turn -= turn
            foot.start_turn -= turn
        if foot.phase == LOCKED:
            foot.stay()
        foot.score = 0.0
    offs = [foot.off for foot in feet]
    for own, foot in enumerate(feet):
        others = feet[:own] + feet[own + 1 :]
        if not stands:
            foot.phase = FREE
        elif not foot.is_down:
            waits = [
                -1.0 if o.phase == STEPPING else 0.0 if o.is_down else o.left
                for o in others
            ]
            soon = min(waits, default=math.inf)
            is_held = soon <= (0.1 if is_going else 0.2)
            if any(o.phase == LOCKED for o in others):
                is_held = False
            if foot.phase == LOCKED and is_held:
                foot.offset[1] = -max(foot.low, 0.0)
            else:
                foot.phase = FREE
        elif foot.phase == FREE:
            if foot.low + foot.offset[1] <= 0.03:
                foot.phase = LOCKED
                if not is_put:
                    foot.stay()
            elif not is_going and foot.low <= 0.12:
                foot.begin(speed)
        elif foot.phase == LOCKED:
            foot.offset[1] *= 0.85
        if foot.phase == LOCKED:
            foot.score = max(offs[own] / near, abs(foot.turn) / around)
    can = []
    for own, foot in enumerate(feet):
        others = feet[:own] + feet[own + 1 :]
        may = all(o.phase == LOCKED and o.left >= 0.11 for o in others)
        if foot.score >= 1 and (may or offs[own] > 0.6):
            can.append(foot)
    if can:
        max(can, key=lambda foot: foot.score).begin(speed)
    for foot, hold in zip(feet, holds, strict=True):
        if foot.phase == STEPPING:
            foot.since += dt
            part = min(foot.since / foot.length, 1.0)
            gone = part * part * (3 - 2 * part)
            lead = within(pace * (1.5 - part) * foot.length, 0.3)
            back = (foot.start - foot.end) * (1, 0, 1)
            foot.offset = back + (lead - back) * gone
            foot.offset[1] = foot.start[1] * (1 - gone)
            foot.offset[1] += 4 * foot.high * part * (1 - part)
            foot.turn = foot.start_turn * (1 - gone)
            if part >= 1:
                foot.phase, foot.offset[1] = LOCKED, 0.0
        elif foot.phase == FREE:
            aside, part = np.zeros(3), 0.15
            if is_going and stands:
                aside = within(
                    (pace - way) * 0.5 * hold / max(abs(clip_pace), 0.25), 0.28
                )
            if is_going and not foot.is_down:
                part = min(2 * dt / max(foot.left, dt), 1.0)
                part *= min(foot.gone / (0.25 * max(foot.left + foot.gone, dt)), 1.0)
            foot.offset += (aside - foot.offset) * part
            foot.turn *= 1 - part
        foot.spots = foot.now()


def plant_feet(
    ground: Ground,
    ends: Any,
    flats: Any,
    place: Any,
    planted: float,
    lifts: Any,
    sink: float,
    offsets: Any,
    locked: Any,
    soles: Any,
    starts: Any,
    lengths: Any,
) -> tuple[Any, Any, Any, float]:
    """One body: ends (M, 3), where the ends of its limbs are, sunk by `sink`; offsets:
    (M, 4) of feet; locked: bool (M,); soles: by limb, points (P, 3), where clips have
    them; starts: (M, 3), where limbs begin; lengths: (M,). Gives targets (M, 3), turns
    (M, 3, 3) of feet, weights (M,), and the new sink.
    """
    targets, turns, is_moved = ends.copy(), np.tile(np.eye(3), (len(ends), 1, 1)), []
    lowest = nearest = 0.0
    for m, (x, y, z) in enumerate(ends):
        lift, up, turn = lifts[m], np.array([0.0, 1, 0]), 0.0
        if len(soles[m]):
            x, z = x + offsets[m, 0], z + offsets[m, 2]
            lift += offsets[m, 1]
            turn = offsets[m, 3]
        if flats[m] >= 0 and planted > 0:
            height, normal, _ = movement.look_down(ground, x, z)
            over = y - sink - place[1] - flats[m]  # the sole above the floor
            share = np.interp(over, (0.25, 0.6), (1, 0))
            below = np.interp(height - place[1], (-0.8, -0.4, 0.4), (0, -0.4, 0.4))
            own = planted * share * below
            lowest = min(lowest, own)
            lift += own
            part = planted * np.interp(over, (0, 0.12), (1, 0))
            up = normal * (part, 1, part)
            up /= np.linalg.norm(up)
        turns[m] = lean(up) @ turn_about_y(turn)
        target = np.array([x, y - sink + lift, z])
        if flats[m] >= 0:
            under = 0.0
            for point in soles[m]:
                put = target + turns[m] @ (point - ends[m])
                floor = movement.look_down(ground, put[0], put[2])[0]
                under = max(under, floor - put[1])
            under = min(under, 0.4) * min(5 * planted, 1.0)
            lift += under
            target[1] += under
            if locked[m]:
                way = target - starts[m]
                far = math.hypot(way[0], way[2])
                tall = math.sqrt(max((0.985 * lengths[m]) ** 2 - far * far, 0))
                need = target[1] + tall - (starts[m][1] - sink)
                nearest = min(nearest, max(need, -0.18))
        targets[m] = target
        is_off = np.abs(target - ends[m])[[0, 2]].max() > 1e-4 or abs(turn) > 1e-4
        slope = np.abs(up[[0, 2]]).max() / up[1]
        is_moved.append(abs(lift) > 1e-4 or slope > 1e-4 or is_off)
    new = sink + 0.3 * (lowest - sink)
    if nearest < lowest:
        new = sink + 0.6 * (nearest - sink)
    if abs(new) < 1e-4:
        new = 0.0
    is_foot = np.array(flats) >= 0
    targets[~is_foot, 1] += new
    weights = np.array(is_moved) | (is_foot & (new != 0))
    return targets, turns, weights.astype(float), new


def lean(up: Any) -> Any:
    """The least turn (3, 3) that brings (0, 1, 0) to a unit direction."""
    x, y, z = up
    share = 1 / (1 + y)
    return np.array(
        [
            [1 - x * x * share, x, -x * z * share],
            [-x, y, -z],
            [-x * z * share, z, 1 - z * z * share],
        ]
    )
