"""Room: whether all who begin on a stage can stand beside each other between its walls.

Bodies are pushed apart and kept in zones, in turns, as ticks do it, but until all is
quiet. Two that still overlap have no room: in a tick they would shake, one in the
other.
"""

from __future__ import annotations

import numpy as np

from flexor.arrays import Doubles
from flexor.maths import exact
from flexor.stage.movement.bodies import init_standing, push_apart
from flexor.stage.movement.layout import TALL
from flexor.stage.movement.zones import ZoneTables, keep_in_zones

__all__ = ["find_crowded"]

ROUNDS = 500
SLACK = 0.02  # metres by which circles may overlap: a heap that is nearly settled
ASIDE = 1e-3  # metres: who stand on one spot are not all pushed along one line
TURN = 2.4  # radians from one to the next: no two alike


def find_crowded(
    zones: ZoneTables, places: Doubles, radii: Doubles
) -> tuple[int, int, float] | None:
    """Two who have no room beside each other: their rows, and metres that they overlap.

    places: float64 (N, 3), metres, not changed; radii: (N,). None: all have room.
    """
    if len(places) < 2 or not len(zones.sides):
        return None
    own = places.copy()
    for row, place in enumerate(own):
        place[0] += ASIDE * exact.cos(TURN * row)
        place[2] += ASIDE * exact.sin(TURN * row)
    standing, is_solid = init_standing(len(own)), np.ones(len(own), bool)
    keep_in_zones(zones, places, own, radii)
    for _ in range(ROUNDS):
        before = own.copy()
        if not push_apart(standing, radii, is_solid, own):
            return None
        keep_in_zones(zones, before, own, radii)
    return _find_worst(own, radii)


def _find_worst(places: Doubles, radii: Doubles) -> tuple[int, int, float] | None:
    """The two circles that overlap most, if any do."""
    worst, found = SLACK, None
    for row in range(len(places) - 1):
        rest = places[row + 1 :]
        apart = exact.hypot_each(*(rest - places[row])[:, [0, 2]].T)
        overlap = radii[row] + radii[row + 1 :] - apart
        overlap[np.abs(rest[:, 1] - places[row, 1]) >= TALL] = 0.0
        other = int(overlap.argmax())
        if overlap[other] > worst:
            worst, found = float(overlap[other]), (row, row + 1 + other)
    return None if found is None else (*found, worst)
