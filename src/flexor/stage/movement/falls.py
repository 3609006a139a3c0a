"""Going down and getting up: who is struck down falls the way it was hit, lies, and
gets up; who is beaten collapses to the side that it was hit toward, and stays.

    falls = init_falls(2)
    knock_down(falls, 1, (0.0, 1.0), heading=3.14)  # hit along z: it falls on its back
    step_falls(falls, tables, settings, rows)

Clips say how long each phase is and where it carries who plays it.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from flexor.arrays import Bools, Doubles, Ints, Masks
from flexor.maths import exact
from flexor.scene.stage.layout import ROLES
from flexor.scene.stage.settings import FightSettings
from flexor.stage.hashing import Hashed, Unhashed
from flexor.stage.movement.layout import (
    BACK,
    COLLAPSED,
    FALLING,
    FRONT,
    HELD,
    LEFT,
    LYING,
    RIGHT,
    RISING,
    UP,
    FallRows,
    FallTable,
)

__all__ = [
    "Falls",
    "collapse",
    "hold",
    "init_falls",
    "knock_down",
    "lay_out_falls",
    "lie_down",
    "side_of",
    "stand_up",
    "step_falls",
    "travelled",
]

RISE = 24  # ticks in which who has no clip for it gets up


@dataclass(slots=True, eq=False)
class Falls:
    """Who of N characters is down, and how.

    phase, side: uint8 (N,), numbers of `layout`; at: float64 (N,), ticks of its own
    clock in that phase; kept: uint32 (N,), what was pressed meanwhile, for when it is
    up; holder: int32 (N,), who holds it by a throw, -1 for nobody; ease: float64 (N,
    4), metres along x and z, and radians of it and of its holder, to where the clips of
    the throw begin; can_fall: bool (N,),
    who has clips for it; is_any: whether anybody is down.
    """

    phase: Hashed[NDArray[np.uint8]]
    side: Hashed[NDArray[np.uint8]]
    at: Hashed[Doubles]
    kept: Hashed[Masks]
    holder: Hashed[Ints]
    ease: Hashed[Doubles]
    can_fall: Unhashed[Bools]
    is_any: Hashed[bool] = False

    def __len__(self) -> int:
        return len(self.phase)


def init_falls(count: int) -> Falls:
    """All on their feet."""
    return Falls(
        np.zeros(count, np.uint8),
        np.zeros(count, np.uint8),
        np.zeros(count),
        np.zeros(count, np.uint32),
        np.full(count, -1, np.int32),
        np.zeros((count, 4)),
        np.ones(count, bool),
    )


def lay_out_falls(travels: Sequence[Mapping[str, Doubles]]) -> FallTable:
    """Tables of K kinds of bodies, by role: metres (T, 2) to the left and ahead that
    its clip carries it, a row for each tick from its start to its end.
    """
    spans = np.zeros((max(len(travels), 1), len(ROLES)))
    rows = np.full(spans.shape, -1, np.int32)
    found = [own for kind in travels for own in kind.values()]
    ways = np.zeros(
        (max(len(found), 1), max([len(own) for own in found], default=1), 2)
    )
    number = 0
    for kind, own in enumerate(travels):
        for role, way in own.items():
            column = ROLES.index(role)
            spans[kind, column], rows[kind, column] = len(way) - 1, number
            ways[number, : len(way)] = way
            ways[number, len(way) :] = way[-1]
            number += 1
    for column, role in enumerate(ROLES):
        if role.startswith("rise"):
            spans[:, column] = np.where(spans[:, column] > 0, spans[:, column], RISE)
    return FallTable(spans, rows, ways)


def side_of(way: tuple[float, float], heading: float) -> int:
    """To which side one falls that is pushed along a unit way (x, z)."""
    s, c = exact.sin(heading), exact.cos(heading)
    ahead, left = way[0] * s + way[1] * c, way[0] * c - way[1] * s
    if abs(left) > abs(ahead):
        return LEFT if left > 0 else RIGHT
    return FRONT if ahead > 0 else BACK


def knock_down(
    falls: Falls, who: int, way: tuple[float, float], heading: float
) -> bool:
    """Let one fall that is hit along a unit way (x, z); gives whether it does: who has
    no clip for it stays up, who is down already stays there.
    """
    if not falls.can_fall[who] or falls.phase[who] != UP:
        return False
    s, c = exact.sin(heading), exact.cos(heading)
    side = FRONT if way[0] * s + way[1] * c > 0 else BACK
    _put(falls, who, FALLING, side)
    return True


def collapse(falls: Falls, who: int, way: tuple[float, float], heading: float) -> None:
    """Let one that is beaten go down, pushed along a unit way (x, z)."""
    if falls.phase[who] == UP:
        _put(falls, who, COLLAPSED, side_of(way, heading))
    elif falls.phase[who] == RISING:
        lie_down(falls, who, int(falls.side[who]))


def lie_down(falls: Falls, who: int, side: int = BACK) -> None:
    """Let one lie, as after a fall."""
    _put(falls, who, LYING, side)
    falls.holder[who] = -1


def hold(falls: Falls, who: int, holder: int) -> None:
    """Let one be held by another, for a throw."""
    _put(falls, who, HELD, BACK)
    falls.holder[who] = holder


def stand_up(falls: Falls, who: int) -> None:
    """Let one be on its feet at once: who held it has let it go."""
    _put(falls, who, UP, BACK)
    falls.holder[who] = -1


def _put(falls: Falls, who: int, phase: int, side: int) -> None:
    falls.phase[who], falls.side[who] = phase, side
    falls.at[who] = 0.0
    falls.kept[who] = 0
    falls.is_any = True


def step_falls(
    falls: Falls, table: FallTable, settings: FightSettings, rows: FallRows
) -> None:
    """A tick of all who are down: places go where their clips carry them, and what was
    pressed meanwhile is pressed again when they are up.
    """
    if not falls.is_any:
        return
    from flexor.stage.movement.kernels import falls as kernel_falls

    down = kernel_falls.step_falls(table, settings.lie_ticks, settings.rise_after, rows)
    falls.is_any = down > 0


def travelled(way: Doubles, ticks: float) -> tuple[float, float]:
    """Metres to the left and ahead of a way (T, 2), a row a tick, between its rows."""
    last = len(way) - 1
    row = min(max(ticks, 0.0), float(last))
    low = min(int(row), max(last - 1, 0))
    part = row - low
    high = min(low + 1, last)
    x, z = (way[low] * (1 - part) + way[high] * part).tolist()
    return x, z
