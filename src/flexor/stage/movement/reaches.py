"""How far attacks reach: the distance at which they still meet one who stands."""

from __future__ import annotations

import numpy as np

from flexor.arrays import Doubles, Floats, Ints
from flexor.scene.stage.volumes import HitVolumes
from flexor.stage.movement.hits import find_hits, init_hits, place_volumes
from flexor.stage.movement.layout import STANDS

__all__ = ["find_reach"]

STEP = 0.04  # metres from one try to the next
# What comes toward the other, and is not what one strikes at.
ARMS = ("hand", "arm")
BEYOND = 0.6  # metres that a body is met before its middle, at most


def find_reach(
    volumes: HitVolumes, rows: Ints, strikes: Floats, stance: Floats
) -> float:
    """Metres within which a strike meets one of the same body who stands and faces it,
    in any part but the arms; 0 for nowhere.

    rows: of the capsules that strike; strikes: float32 (T, J, 3, 4), where nodes are
    while they can, of one who looks along z from the origin; stance: (J, 3, 4), of one
    who stands there.
    """
    if not len(rows) or not len(strikes):
        return 0.0
    count = len(strikes)
    hits = init_hits([volumes] * (count + 1))
    who = np.arange(count + 1, dtype=np.int32)
    world = np.concatenate([strikes, stance[None]], dtype=np.float32)
    place_volumes(hits, who, volumes, world)
    hits.boxes[:] = np.tile([-np.inf] * 3 + [np.inf] * 3, (count + 1, 1))
    names = [part.casefold() for part in volumes.parts]
    is_arm = np.array([any(word in one for word in ARMS) for one in names], bool)
    if not is_arm.all():
        hits._aims.bodies[count] = ~is_arm
    hits.attacks[:count, rows] = True
    hits.meets[:count] = STANDS
    hits.shows[:count] = 0
    other: Doubles = hits.ends[count] * [-1, 1, -1]  # it looks back
    away = float(hits.ends[:count, rows, :, 2].max()) + BEYOND
    while away > 0:
        hits.ends[count] = other
        hits.ends[count, :, :, 2] += away
        find_hits(hits)
        if (hits.gaps[:count, 0] <= 0).any():
            return away
        away -= STEP
    return 0.0
