"""Who hits whom: capsules of attacking parts against all who are in the way."""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from flexor.arrays import Bools, Doubles, Floats, Ints, check_input
from flexor.errors import ShapeError
from flexor.scene.stage.volumes import HitVolumes
from flexor.stage.movement.layout import Aims

__all__ = [
    "Hits",
    "find_hits",
    "find_near",
    "init_hits",
    "keep_strikes",
    "place_volumes",
]


@dataclass(slots=True, eq=False)
class Hits:
    """Capsules of N characters, at most H each, and what meets.

    ends: float64 (N, H, 2, 3), metres, world; radii: float64 (N, H), 0 for none;
    boxes: float64 (N, 6), around each; teams: int32 (N,), who has the same one is not
    met, -1: none; meets, shows: uint8 (N,), whom an attack meets, 0 for no attack, and
    how one shows itself to attacks; attacks, shields: bool (N, H), what attacks and
    what parries; is_near: bool (N,), whose capsules are in place; targets: int32 (N,),
    who is met first, -1 for nobody; gaps: float64 (N, 2), metres to its body and to
    what parries of it, 0 or less where they meet; pairs: int32 (N, 2), the capsules of
    attacker and target that are nearest, -1 for none; points: float64 (N, 3), where, on
    the target's surface; met: int32 (N,), to whose attack one who parries brings a
    hand, -1: to none, and shares: float64 (N,), how much of the way; before: float64
    (N, H, 2, 3), the ends a tick ago of those who attacked then, and swept: bool (N,),
    who that is: what they strike with also meets who is between there and here.
    """

    ends: Doubles
    radii: Doubles
    boxes: Doubles
    teams: Ints
    meets: NDArray[np.uint8]
    shows: NDArray[np.uint8]
    attacks: Bools
    shields: Bools
    is_near: Bools
    targets: Ints
    gaps: Doubles
    pairs: Ints
    points: Doubles
    met: Ints
    shares: Doubles
    before: Doubles
    swept: Bools
    _aims: Aims = field(init=False, repr=False)  # as kernels take them
    _along: Doubles = field(init=False, repr=False)  # for kernels to work in

    def __post_init__(self) -> None:
        self._along = np.zeros_like(self.ends)
        self._aims = Aims(
            self.meets,
            self.shows,
            self.teams,
            self.attacks,
            self.shields,
            self.radii > 0,
            self.before,
            self.swept,
        )

    def __len__(self) -> int:
        return len(self.radii)


def init_hits(volumes: list[HitVolumes], teams: Ints | None = None) -> Hits:
    """Room for the capsules of each of N characters; teams: int32 (N,), None: none."""
    count, most = len(volumes), max((len(own) for own in volumes), default=0)
    radii = np.zeros((count, most))
    for row, own in enumerate(volumes):
        radii[row, : len(own)] = own.radii
    return Hits(
        np.zeros((count, most, 2, 3)),
        radii,
        np.zeros((count, 6)),
        np.full(count, -1, np.int32) if teams is None else teams.astype(np.int32),
        np.zeros(count, np.uint8),
        np.ones(count, np.uint8),
        np.zeros((count, most), bool),
        np.zeros((count, most), bool),
        np.zeros(count, bool),
        np.full(count, -1, np.int32),
        np.full((count, 2), np.inf),
        np.full((count, 2), -1, np.int32),
        np.zeros((count, 3)),
        np.full(count, -1, np.int32),
        np.zeros(count),
        np.zeros((count, most, 2, 3)),
        np.zeros(count, bool),
    )


def find_near(hits: Hits, bodies: list[tuple[Ints, HitVolumes, Floats]]) -> bool:
    """Find who attacks with somebody near, and put the capsules of those in place.

    bodies: of each kind rows (n,), its capsules, and where its nodes are: float32 (n,
    J, 3, 4). Gives whether anybody is near.
    """
    from flexor.stage.movement.kernels import hits as kernel_hits

    for rows, volumes, world in bodies:
        _check(hits, rows, volumes, world)
        _put_box(hits, rows, volumes, world)
    if not kernel_hits.find_near(hits.boxes, hits._aims, hits.is_near):
        return False
    for rows, volumes, world in bodies:
        _put(hits, rows, volumes, world)
    return True


def place_volumes(hits: Hits, rows: Ints, volumes: HitVolumes, world: Floats) -> None:
    """Put the capsules of characters of one kind, on rows (n,), where their nodes are:
    world: float32 (n, J, 3, 4).
    """
    _check(hits, rows, volumes, world)
    _put_box(hits, rows, volumes, world)
    hits.is_near[rows] = True
    _put(hits, rows, volumes, world)


def _put_box(hits: Hits, rows: Ints, volumes: HitVolumes, world: Floats) -> None:
    from flexor.stage.movement.kernels import hits as kernel_hits

    kernel_hits.place_boxes(
        world, volumes.used, volumes.span, volumes.thickest, rows, hits.boxes
    )


def _put(hits: Hits, rows: Ints, volumes: HitVolumes, world: Floats) -> None:
    from flexor.stage.movement.kernels import hits as kernel_hits

    kernel_hits.place_volumes(
        world, volumes.nodes, volumes.ends, rows, hits.is_near, hits.ends
    )


def _check(hits: Hits, rows: Ints, volumes: HitVolumes, world: Floats) -> None:
    """Refuse rows, capsules and nodes that are not there."""
    check_input(rows, np.int32, (None,), "rows")
    check_input(world, np.float32, (len(rows), None, 3, 4), "world")
    if len(rows) and not 0 <= rows.min() <= rows.max() < len(hits):
        raise ShapeError(f"rows: expected 0 to {len(hits) - 1}")
    if len(volumes) > hits.radii.shape[1]:
        raise ShapeError(f"volumes: {len(volumes)}, room for {hits.radii.shape[1]}")
    if len(volumes) and volumes.last_node >= world.shape[1]:
        raise ShapeError(f"volumes: node {volumes.last_node} of {world.shape[1]}")


def find_hits(hits: Hits, reach: float = 0.0) -> None:
    """Fill targets, gaps, pairs and points, of attacks as `meets`, `shows`, `attacks`
    and `shields` say; reach: metres at which what parries meets what attacks.
    """
    from flexor.stage.movement.kernels import hits as kernel_hits

    kernel_hits.find_hits(
        hits.ends,
        hits.radii,
        hits.boxes,
        hits._aims,
        reach,
        hits._along,
        hits.targets,
        hits.gaps,
        hits.pairs,
        hits.points,
    )


def keep_strikes(hits: Hits) -> None:
    """Keep where attacks are now, for the next tick; after `find_hits`."""
    np.logical_and(hits.is_near, hits.meets, out=hits.swept)
    rows = np.flatnonzero(hits.swept)
    hits.before[rows] = hits.ends[rows]
