"""A closed tube along x, which bones fit into."""

from __future__ import annotations

from typing import Any

import numpy as np

SIDES = 10


def closed_tube(length: float = 6.0, rings: int = 19) -> tuple[Any, Any]:
    """Positions (V, 3) and faces (F, 3) from x = -0.5 on, of radius 0.5, outwards."""
    angles = 2 * np.pi * np.arange(SIDES) / SIDES
    circle = np.stack([np.zeros(SIDES), np.cos(angles), np.sin(angles)], 1) / 2
    along = np.linspace(-0.5, length - 0.5, rings)
    positions = [circle + np.array([x, 0, 0]) for x in along]
    positions.append(np.array([[along[0], 0, 0], [along[-1], 0, 0]]))
    first, last = rings * SIDES, rings * SIDES + 1
    faces = []
    for side in range(SIDES):
        beside = (side + 1) % SIDES
        for ring in range(rings - 1):
            a, b = ring * SIDES + side, ring * SIDES + beside
            faces += [(a, b, a + SIDES), (b, b + SIDES, a + SIDES)]
        end = (rings - 1) * SIDES
        faces += [(first, beside, side), (last, end + side, end + beside)]
    return np.concatenate(positions), np.array(faces, np.int32)
