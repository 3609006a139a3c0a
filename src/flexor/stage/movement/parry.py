"""Parrying: the attacker recoils over some ticks while its own time runs slower, and is
open to an answer.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from flexor.arrays import Doubles, Ints
from flexor.maths import exact
from flexor.scene.stage.settings import ParrySettings
from flexor.stage.hashing import Hashed

__all__ = [
    "Recoil",
    "end_push",
    "init_recoil",
    "is_in_front",
    "open_up",
    "push_back",
    "step_recoil",
]


@dataclass(slots=True, eq=False)
class Recoil:
    """Who recoils: amounts: float64 (N, 2), metres along x and z in all; given: (N, 2),
    of them so far; ticks: int32 (N,), how many it takes; left: int32 (N,), how many are
    to come, 0 for who does not recoil; slow: int32 (N,), ticks in which its time still
    runs slower; usual: float64 (N,), how fast it ran before; opened: int32 (N,), ticks
    of the recoil in all, of who was parried; is_any: False if there is nothing to do
    for anybody.
    """

    amounts: Hashed[Doubles]
    given: Hashed[Doubles]
    ticks: Hashed[Ints]
    left: Hashed[Ints]
    slow: Hashed[Ints]
    usual: Hashed[Doubles]
    opened: Hashed[Ints]
    is_any: Hashed[bool] = False


def init_recoil(count: int) -> Recoil:
    """Nobody recoils."""
    return Recoil(
        np.zeros((count, 2)),
        np.zeros((count, 2)),
        np.zeros(count, np.int32),
        np.zeros(count, np.int32),
        np.zeros(count, np.int32),
        np.ones(count),
        np.zeros(count, np.int32),
    )


def is_in_front(
    places: Doubles, headings: Doubles, who: int, other: int, angle: float
) -> bool:
    """Whether `other` stands in front of `who`, within an angle to either side."""
    dx, dz = (places[other] - places[who])[[0, 2]]
    away = math.sqrt(dx * dx + dz * dz)
    if away == 0:
        return True
    ahead = (dx * exact.sin(headings[who]) + dz * exact.cos(headings[who])) / away
    return bool(ahead >= exact.cos(angle))


def open_up(
    recoil: Recoil,
    clocks: Doubles,
    who: int,
    way: tuple[float, float],
    settings: ParrySettings,
    ticks: int,
) -> None:
    """Let an attacker recoil along a unit way (x, z) over so many ticks, in which its
    clock runs slower and its trunk, head and arms are thrown back.
    """
    push_back(recoil, who, way, settings.amount, ticks)
    if not recoil.slow[who]:
        recoil.usual[who] = clocks[who]
    clocks[who] = settings.speed
    recoil.slow[who] = recoil.opened[who] = ticks


def push_back(
    recoil: Recoil, who: int, way: tuple[float, float], amount: float, ticks: int
) -> None:
    """Move somebody along a unit way (x, z) by metres, over some ticks; what is left of
    a push before comes with it.
    """
    recoil.amounts[who] -= recoil.given[who]
    recoil.amounts[who] += np.array(way) * amount
    recoil.given[who] = 0
    recoil.ticks[who] = recoil.left[who] = ticks
    recoil.is_any = True


def end_push(recoil: Recoil, who: int) -> None:
    """Let somebody be pushed no more: nothing of it comes with a later push."""
    recoil.amounts[who] = recoil.given[who] = 0
    recoil.left[who] = 0


def step_recoil(recoil: Recoil, clocks: Doubles, places: Doubles) -> None:
    """Move all who recoil on by a tick; who is done has its own time again."""
    if not recoil.is_any:
        return
    rows = np.flatnonzero(recoil.left)
    if len(rows):
        recoil.left[rows] -= 1
        share = 1 - recoil.left[rows] / recoil.ticks[rows]
        wanted = recoil.amounts[rows] * share[:, None]  # exact in the last tick
        places[rows[:, None], [0, 2]] += wanted - recoil.given[rows]
        recoil.given[rows] = wanted
    slow = np.flatnonzero(recoil.slow)
    if len(slow):
        recoil.slow[slow] -= 1
        done = slow[recoil.slow[slow] == 0]
        clocks[done] = recoil.usual[done]
    recoil.is_any = bool(recoil.left.any() or recoil.slow.any())
