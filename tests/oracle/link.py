"""The slow twin of the kernel by which strikes follow what leaves their track.

Kernel: `bend_strikes`.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from tests.oracle.feet import turn_about_y


def take_aim(middles: Any, place: Any, heading: float, other: Any) -> Any:
    """Parts (P, 3) of an opponent at `other`, seen from one at a place."""
    away = middles - (place[0], other[1], place[2])
    return away @ turn_about_y(heading)


def bend_strike(
    tip: Any,
    marks: Any,
    middles: Any,
    place: Any,
    heading: float,
    other: Any,
    at: float,
    impact: int,
    height: str,
) -> Any:
    """Metres (3,) by which the end of a limb is bent, at a tick of a strike.

    marks: as `take_aim` gave them; middles: (P, 3), where those parts are now.
    """
    region = min(max(impact // 10, 1), 10)
    part = float(np.clip((at - (impact - region)) / region, 0, 1))
    were = marks @ turn_about_y(heading).T + (place[0], other[1], place[2])
    nearest = int(np.linalg.norm(were - tip, axis=1).argmin())
    way = middles[nearest] - were[nearest]
    ahead = turn_about_y(heading) @ (0.0, 0.0, 1.0)
    way -= min(way @ ahead, 0.0) * ahead
    if height in ("high", "jump"):
        way[1] = max(way[1], 0)
    if height == "low":
        way[1] = min(way[1], 0)
    size = float(np.linalg.norm(way))
    part *= float(np.interp(size, [0.03, 0.06], [0.0, 1.0]))
    return way * part * min(1.0, 0.25 / size if size > 0 else 1.0)
