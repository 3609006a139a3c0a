"""The slow twin of `climb_parts`: light goes on in small steps until it is inside."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from flexor.scene.stage.structure import Structure


def is_under(corners: Any, x: float, z: float) -> bool:
    """Whether a place is in a polygon: by how far its corners go around it."""
    angles = [math.atan2(cz - z, cx - x) for cx, cz in corners]
    turns = (
        math.remainder(b - a, 2 * math.pi)
        for a, b in zip(angles, [*angles[1:], angles[0]], strict=True)
    )
    return abs(sum(turns)) > math.pi


def meet_slow(
    structures: list[Structure], slant: Any, place: Any, least: float, step: float
) -> tuple[int, float]:
    """Which structure light through a place meets within `least` metres down, and how
    far down, to a step; -1 for none. Structures stand on level ground at 0.
    """
    x, y, z = place
    for down in np.arange(0.0, least, step):
        px, py, pz = x + slant[0] * down, y - down, z + slant[1] * down
        for number, own in enumerate(structures):
            low = own.low if own.low > 0 else -math.inf
            if low <= py <= own.high and is_under(own.footprint, px, pz):
                return number, float(down)
    return -1, math.inf
