"""Places for many who stand in loose rows."""

from __future__ import annotations

import math

import numpy as np

from flexor.arrays import Doubles
from flexor.errors import SettingError

__all__ = ["place_in_rows"]

BROAD = 1.6  # how wide the field is for its depth
NEATLY = 0.5  # of the room to a neighbour: who strays less than this meets nobody


def place_in_rows(
    count: int,
    room: tuple[float, float],
    rng: np.random.Generator,
    *,
    stray: float = 0.0,
) -> Doubles:
    """Places (count, 3) on the floor, in rows along x, the first row in front at z = 0.

    room: metres from one to the next, along x and along z; every second row stands in
    the gaps of the one before; stray: share of the room, below 0.5, by which each may
    stand elsewhere to any side. The last row may be shorter; its places are spread.
    """
    if count < 0:
        raise SettingError(f"count: {count}, expected 0 or more")
    if not (min(room) > 0 and math.isfinite(sum(room))):
        raise SettingError(f"room: {room}, expected metres above 0")
    if not 0 <= stray < NEATLY:
        raise SettingError(f"stray: {stray}, expected 0 to below {NEATLY}")
    columns = max(1, round(math.sqrt(count * BROAD * room[1] / room[0])))
    rows = -(-count // columns)
    columns = -(-count // max(rows, 1))  # as even as can be
    row, column = np.divmod(np.arange(count), max(columns, 1))
    inside = np.minimum(count - row * columns, columns)  # of the row
    places = np.zeros((count, 3))
    places[:, 0] = column - (inside - 1) / 2 + np.where(row % 2, 0.25, -0.25)
    places[:, 2] = -row
    places[:, ::2] += rng.uniform(-stray, stray, (count, 2))
    if count == 1:
        places[:, 0] = 0.0
    places[:, 0] *= room[0]
    places[:, 2] *= room[1]
    return places
