"""Slow twin of the kernel `choose_nearest`: one character."""

from __future__ import annotations

import math
from typing import Any


def choose_nearest(
    n: int, places: Any, can_be: Any, teams: Any, share: float, now: int
) -> int:
    """The opponent of character n, who has `now` so far, -1 for none."""
    found = {
        m: math.hypot(*(places[m] - places[n])[[0, 2]])
        for m in range(len(places))
        if m != n and can_be[m] and (teams[n] < 0 or teams[m] != teams[n])
    }
    if not found:
        return now
    best = min(found, key=lambda m: found[m])
    return best if found[best] < share * found.get(now, math.inf) else now
