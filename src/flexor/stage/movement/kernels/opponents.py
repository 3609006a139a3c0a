"""Who is the nearest opponent: looked for again every so often, by a part of all who
look for one in each tick, so that no tick costs more than others.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

from flexor.maths.kernels.jit import jit
from flexor.maths.kernels.numbers import int64

if TYPE_CHECKING:
    from flexor.arrays import Bools, Doubles, Ints


@jit(
    "i8(f8[:, ::1], bool[::1], bool[::1], i4[::1], f8, i8, i8, out i4[::1])",
)
def choose_nearest(
    places: Doubles,
    looks: Bools,
    can_be: Bools,
    teams: Ints,
    share: float,
    first: int,
    every: int,
    opponents: Ints,
) -> int:
    """Give the nearest opponent to each `every`-th of N characters, from `first` on;
    gives how many have another one than before.

    looks: (N,), who looks for one; can_be: (N,), who can be one; teams: (N,), who has
    the same is none, -1: in no team. Another is chosen only if it is nearer than this
    share of the distance to the present one, over the ground.
    """
    changed = 0
    for n in range(first, len(places), every):
        if not looks[n]:
            continue
        now = int64(opponents[n])
        best, least, present = int64(-1), math.inf, math.inf
        for m in range(len(places)):
            if m == n or not can_be[m] or (teams[n] >= 0 and teams[n] == teams[m]):
                continue
            dx = places[m, 0] - places[n, 0]
            dz = places[m, 2] - places[n, 2]
            square = dx * dx + dz * dz
            if m == now:
                present = square
            if square < least:
                best, least = m, square
        if best >= 0 and best != now and least < share * share * present:
            opponents[n] = best
            changed += 1
    return changed
