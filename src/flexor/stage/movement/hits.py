"""Who hits whom: capsules of attacking parts against those of the opponent."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from flexor.arrays import Doubles, Floats, Ints, check_array, check_input
from flexor.errors import ShapeError
from flexor.scene.stage.volumes import HitVolumes

__all__ = ["Hits", "find_hits", "init_hits", "place_volumes"]


@dataclass(slots=True, eq=False)
class Hits:
    """Capsules of N characters, at most H each, and what meets.

    ends: float64 (N, H, 2, 3), metres, world; radii: float64 (N, H), 0 for none;
    gaps: float64 (N,), metres between what attacks and its target, 0 or less where they
    meet; pairs: int32 (N, 2), the capsules that are nearest, -1 for none; points:
    float64 (N, 3), where, on the target's surface.
    """

    ends: Doubles
    radii: Doubles
    gaps: Doubles
    pairs: Ints
    points: Doubles

    def __len__(self) -> int:
        return len(self.radii)


def init_hits(volumes: list[HitVolumes]) -> Hits:
    """Room for the capsules of each of N characters."""
    count, most = len(volumes), max((len(own) for own in volumes), default=0)
    radii = np.zeros((count, most))
    for row, own in enumerate(volumes):
        radii[row, : len(own)] = own.radii
    return Hits(
        np.zeros((count, most, 2, 3)),
        radii,
        np.full(count, np.inf),
        np.full((count, 2), -1, np.int32),
        np.zeros((count, 3)),
    )


def place_volumes(hits: Hits, rows: Ints, volumes: HitVolumes, world: Floats) -> None:
    """Put the capsules of characters of one kind, on rows (n,), where their nodes are:
    world: float32 (n, J, 3, 4).
    """
    from flexor.stage.movement.kernels import hits as kernel_hits

    check_input(rows, np.int32, (None,), "rows")
    check_input(world, np.float32, (len(rows), None, 3, 4), "world")
    if len(rows) and not 0 <= rows.min() <= rows.max() < len(hits):
        raise ShapeError(f"rows: expected 0 to {len(hits) - 1}")
    if len(volumes) > hits.radii.shape[1]:
        raise ShapeError(f"volumes: {len(volumes)}, room for {hits.radii.shape[1]}")
    if len(volumes) and int(volumes.nodes.max()) >= world.shape[1]:
        raise ShapeError(f"volumes: node {volumes.nodes.max()} of {world.shape[1]}")
    kernel_hits.place_volumes(world, volumes.nodes, volumes.ends, rows, hits.ends)


def find_hits(hits: Hits, attacks: NDArray[np.bool_], targets: Ints) -> None:
    """Fill gaps, pairs and points.

    attacks: bool (N, H), which capsules attack; targets: int32 (N,), whom, -1: nobody.
    """
    from flexor.stage.movement.kernels import hits as kernel_hits

    count, most = hits.radii.shape
    check_array(attacks, np.bool_, (count, most), "attacks")
    check_input(targets, np.int32, (count,), "targets")
    if count and not -1 <= targets.min() <= targets.max() < count:
        raise ShapeError(f"targets: expected -1 to {count - 1}")
    kernel_hits.find_hits(
        hits.ends, hits.radii, attacks, targets, hits.gaps, hits.pairs, hits.points
    )
