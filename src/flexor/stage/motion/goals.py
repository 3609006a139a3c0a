"""Limbs that are asked to be somewhere in this tick: a grip, a hand on a rail.

    ask(body.goals, 0, "rightHand", (0.3, 1.2, 0.4))  # a point in the world
    ask_on(body.goals, 0, "rightHand", other=1, node=17)  # on somebody

Any rule that runs before the motion of a tick may ask; limbs are solved when all who
play are posed, so that a hand that holds somebody is where that one is now. What was
asked for is forgotten at the end of the motion: who wants to hold on asks in each tick.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from flexor.arrays import Doubles, Ints
from flexor.errors import SettingError
from flexor.stage.hashing import Unhashed

__all__ = ["Goals", "ask", "ask_on", "forget", "init_goals"]


@dataclass(slots=True, eq=False)
class Goals:
    """Where limbs of n characters of a body, L each, are asked to be.

    columns: by the part that ends a limb, its column; points: float64 (n, L, 3),
    metres; weights: float64 (n, L), how much of the way from
    where the clip has the limb's end, 0 for none; leashes: float64 (n, L), metres from
    there at which a limb lets go, infinite for never: from half of it on it goes less
    and less of the way; others: int32 (n, L), the row of the
    character on whose node the point is, in that node's frame, and nodes: int32 (n, L),
    which node; -1: the point is in the world. is_any: whether anything was asked for.
    Empty between ticks, so that no hash needs them.
    """

    columns: Unhashed[dict[str, int]]
    points: Unhashed[Doubles]
    weights: Unhashed[Doubles]
    leashes: Unhashed[Doubles]
    others: Unhashed[Ints]
    nodes: Unhashed[Ints]
    is_any: Unhashed[bool] = False


def init_goals(count: int, parts: Sequence[str]) -> Goals:
    """Room for goals of `count` characters, none asked for; parts: that end limbs."""
    limbs = len(parts)
    return Goals(
        {part: column for column, part in enumerate(parts)},
        np.zeros((count, limbs, 3)),
        np.zeros((count, limbs)),
        np.full((count, limbs), np.inf),
        np.full((count, limbs), -1, np.int32),
        np.full((count, limbs), -1, np.int32),
    )


def ask(
    goals: Goals, row: int, part: str, point: Sequence[float], weight: float = 1.0
) -> bool:
    """Ask that a limb's end is at a point of the world in this tick.

    row: of the character among those of its body; part: that ends the limb, such as
    "rightHand"; weight: 0 to 1, how much of the way there. Gives whether it has that
    limb: who has none is not moved.
    """
    return _put(goals, row, part, point, weight, math.inf, -1, -1)


def ask_on(
    goals: Goals,
    row: int,
    part: str,
    *,
    other: int,
    node: int,
    point: Sequence[float] = (0.0, 0.0, 0.0),
    weight: float = 1.0,
    leash: float = math.inf,
) -> bool:
    """Ask that a limb's end is at a point of somebody, in the frame of a node.

    other: row on the stage of whom it is on; node: of that one's skeleton; leash:
    metres from where the clip has the limb's end, at which it lets go.
    """
    return _put(goals, row, part, point, weight, leash, other, node)


def _put(
    goals: Goals,
    row: int,
    part: str,
    point: Sequence[float],
    weight: float,
    leash: float,
    other: int,
    node: int,
) -> bool:
    if not 0.0 <= weight <= 1.0:
        raise SettingError(f"weight: {weight!r}, expected 0 to 1")
    if not leash > 0.0:
        raise SettingError(f"leash: {leash!r}, expected metres above 0")
    if not np.isfinite(point).all():
        raise SettingError(f"point: {point!r}, expected finite metres")
    column = goals.columns.get(part, -1)
    if column < 0:
        return False
    goals.points[row, column] = point
    goals.weights[row, column] = weight
    goals.leashes[row, column] = leash
    goals.others[row, column], goals.nodes[row, column] = other, node
    goals.is_any = True
    return True


def forget(goals: Goals) -> None:
    """The tick is over: nothing is asked for."""
    if goals.is_any:
        goals.weights[:] = 0.0
        goals.others[:] = -1
        goals.is_any = False
