"""Walls and roofs of structures that shadows of characters fall on."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from flexor.arrays import Doubles, Ints, freeze
from flexor.scene.stage.ground import Ground
from flexor.scene.stage.settings import FrictionSettings
from flexor.scene.stage.structure import Structure
from flexor.stage.movement.ground import find_footing, init_footing

__all__ = ["ShadowWalls", "make_walls"]

DEEPEST = 1e6  # metres that what stands on the ground reaches down


@dataclass(frozen=True, slots=True, eq=False)
class ShadowWalls:
    """S structures as what shadows fall on.

    boxes: float64 (S, 6), of each the least and greatest x and z, and from where to
    where it reaches, metres; rows: int32 (S, 2), its first edge and the one after its
    last; edges: float64 (E, 6), x and z of both ends, and of the outward normal.
    """

    boxes: Doubles
    rows: Ints
    edges: Doubles

    def __post_init__(self) -> None:
        put = object.__setattr__
        put(self, "boxes", freeze(self.boxes, np.float64, (None, 6), "boxes"))
        put(self, "rows", freeze(self.rows, np.int32, (len(self.boxes), 2), "rows"))
        put(self, "edges", freeze(self.edges, np.float64, (None, 6), "edges"))

    def __len__(self) -> int:
        return len(self.boxes)


def make_walls(structures: Sequence[Structure], ground: Ground) -> ShadowWalls:
    """Structures as they stand on a ground."""
    places = np.zeros((len(structures), 3))
    boxes, rows, edges, first = np.zeros((len(structures), 6)), [], [], 0
    for number, own in enumerate(structures):
        corners = own.footprint
        x, z = (corners - corners[0]).T
        if float((x * np.roll(z, -1) - np.roll(x, -1) * z).sum()) < 0:
            corners = corners[::-1]
        after = np.roll(corners, -1, 0)
        way = after - corners
        way /= np.sqrt((way * way).sum(1))[:, None]
        edges.append(np.column_stack([corners, after, way[:, 1], -way[:, 0]]))
        rows.append((first, first + len(corners)))
        first += len(corners)
        low, high = corners.min(0), corners.max(0)
        places[number, [0, 2]] = (low + high) / 2
        boxes[number, :4] = low[0], high[0], low[1], high[1]
    below = init_footing(len(places))
    find_footing(ground, places, FrictionSettings(), out=below)
    floors = below.heights.tolist()
    for number, (own, floor) in enumerate(zip(structures, floors, strict=True)):
        low_end = floor + own.low if own.low > 0 else -DEEPEST
        boxes[number, 4:] = low_end, floor + own.high
    return ShadowWalls(
        boxes,
        np.array(rows, np.int32).reshape(-1, 2),
        np.concatenate([np.zeros((0, 6)), *edges]),
    )
