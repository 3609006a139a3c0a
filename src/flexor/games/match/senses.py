"""What an opponent sees: others as they were some ticks ago, and walls in its way."""

from __future__ import annotations

import math
from collections import deque
from dataclasses import dataclass

from flexor.api.stage import Stage
from flexor.arrays import Bools, Doubles, Ints
from flexor.maths import exact
from flexor.scene.stage.sticks import stick_mask
from flexor.stage.camera import view_of
from flexor.stage.movement.layout import AX, AZ, BX, BZ

__all__ = ["Senses", "Sight", "distance", "is_blocked", "is_facing", "stick_toward"]


AHEAD = 0.64  # the cosine of the angle within which one looks to a place


@dataclass(frozen=True, slots=True, eq=False)
class Sight:
    """All characters at one tick.

    places: float64 (N, 3); headings: (N,); moves: int32 (N,), -1 for none; at: (N,),
    ticks since it began; can_act, alive, grounded: bool (N,).
    """

    places: Doubles
    headings: Doubles
    moves: Ints
    at: Doubles
    can_act: Bools
    alive: Bools
    grounded: Bools


class Senses:
    """Remembers what is seen for as long as it takes to react to it.

    delay: ticks from what happens until it is known.
    """

    def __init__(self, delay: int) -> None:
        self.delay = delay
        self._sights: deque[Sight] = deque(maxlen=delay + 1)
        self._tick = -1

    def look(self, stage: Stage) -> None:
        """Take in a tick; a stage that was set back is looked at anew."""
        state = stage.state
        if stage.tick <= self._tick:
            self._sights.clear()
        self._tick = stage.tick
        self._sights.append(
            Sight(
                state.places.copy(),
                state.headings.copy(),
                state.moves.move.copy(),
                state.moves.at.copy(),
                state.can_act.copy(),
                state.fight.energy > 0,
                state.standing.grounded.copy(),
            )
        )

    @property
    def known(self) -> Sight:
        """What is known now: it was so `age` ticks ago."""
        return self._sights[0]

    @property
    def age(self) -> int:
        """Ticks ago of what is known."""
        return len(self._sights) - 1

    def speeds(self, row: int) -> tuple[float, float]:
        """Metres a tick, x and z, at which one was seen to go."""
        if len(self._sights) < 3:
            return 0.0, 0.0
        before = self._sights[0].places[row]
        # Only what is known counts: from the oldest to the one after it.
        after = self._sights[1].places[row]
        return float(after[0] - before[0]), float(after[2] - before[2])


def is_blocked(stage: Stage, row: int, x: float, z: float) -> bool:
    """Whether a wall is in the straight way of a character to a place."""
    sides = stage.state.zones.sides
    if not len(sides):
        return False
    px, _, pz = stage.places[row].tolist()
    ax, az, bx, bz = (sides[:, column] for column in (AX, AZ, BX, BZ))
    dx, dz = x - px, z - pz
    ex, ez = bx - ax, bz - az
    one = (ax - px) * dz - (az - pz) * dx
    other = (bx - px) * dz - (bz - pz) * dx
    here = (px - ax) * ez - (pz - az) * ex
    there = (x - ax) * ez - (z - az) * ex
    return bool(((one * other < 0) & (here * there < 0)).any())


def stick_toward(stage: Stage, x: float, z: float, much: float = 1.0) -> int:
    """The stick that goes along a way of the world, as the camera sees it."""
    size = math.sqrt(x * x + z * z)
    if size < 1e-9:
        return 0
    vx, vz = view_of(stage.state.camera)
    ahead = (x * vx + z * vz) / size
    right = (z * vx - x * vz) / size
    right, ahead = (min(max(way * much, -1.0), 1.0) for way in (right, ahead))
    return stick_mask(right, ahead)


def distance(one: Doubles, other: Doubles) -> float:
    """Metres between two places, seen from above."""
    dx, _, dz = (other - one).tolist()
    return math.sqrt(dx * dx + dz * dz)


def is_facing(sight: Sight, who: int, place: Doubles) -> bool:
    """Whether somebody looks to a place, within about 50 degrees."""
    dx, _, dz = (place - sight.places[who]).tolist()
    size = math.sqrt(dx * dx + dz * dz)
    if size < 1e-6:
        return True
    turn = float(sight.headings[who])
    ahead = (dx * exact.sin(turn) + dz * exact.cos(turn)) / size
    return bool(ahead > AHEAD)
