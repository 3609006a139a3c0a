"""Irregular zones: walls that keep characters inside of a polygon, or outside of it.

    ring = Zone([(-4, -3), (4, -3), (5, 2), (0, 4), (-5, 2)])
    pillar = Zone([(1, 0), (1.5, 0.3), (1, 0.6)], keeps="out")
    tables = make_zones([ring, pillar])
    while playing:
        before[:] = places
        ...  # move places
        keep_in_zones(tables, before, places, radii)

A character is a circle in the plane of x and z. Its limbs may reach over a wall.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from flexor.arrays import Bools, Doubles, Ints, check_array, check_input, freeze
from flexor.errors import SettingError, ShapeError
from flexor.maths import exact
from flexor.scene.stage.zone import Zone
from flexor.stage.movement.kernels import zones as kernel_zones
from flexor.stage.movement.layout import (
    AX,
    LENGTH,
    NX,
    SIDE_NUMBERS,
    TX,
    ZONE_FARTHEST,
    ZONE_WIDEST,
)

__all__ = ["ZoneTables", "keep_in_zones", "make_zones"]

NO_ROWS, NO_MARKS = np.zeros((0, 2)), np.zeros(0, np.bool_)


@dataclass(frozen=True, slots=True, eq=False)
class ZoneTables:
    """Zones that act at once, as the kernel takes them: made by `make_zones`.

    sides: float64 (S, 13); spans: int32 (Z, 3); crossings: float64 (K, 4), where sides
    of two zones cross and a direction into where they may be; see `kernels.zones`.
    """

    zones: tuple[Zone, ...]
    sides: Doubles
    spans: Ints
    crossings: Doubles


def make_zones(zones: Sequence[Zone]) -> ZoneTables:
    """Tables of any number of zones, such as one ring and the obstacles in it.

    Characters may be where all zones allow it; zones may overlap. There should be such
    a place.
    """
    tables, spans, first = [], [], 0
    for row, zone in enumerate(zones):
        if not isinstance(zone, Zone):
            raise SettingError(f"zones[{row}]: {type(zone).__name__}, expected a Zone")
        tables.append(_sides_of(zone))
        spans.append((first, first + len(zone.corners), int(zone.keeps == "in")))
        first += len(zone.corners)
    sides = np.concatenate([np.zeros((0, 13)), *tables])
    return ZoneTables(
        tuple(zones),
        freeze(sides, np.float64, (None, SIDE_NUMBERS), "sides"),
        freeze(np.array(spans).reshape(-1, 3), np.int32, (None, 3), "spans"),
        freeze(_find_crossings(tables), np.float64, (None, 4), "crossings"),
    )


def _sides_of(zone: Zone) -> Doubles:
    """The rows of a zone; where characters may be lies left of its sides."""
    starts = zone.corners
    if (zone.area > 0) != (zone.keeps == "in"):
        starts = starts[::-1]
    ends = np.roll(starts, -1, 0)
    ways = ends - starts
    sizes = exact.hypot_each(*ways.T)[:, None]
    ways = ways / sizes
    normals = np.stack([-ways[:, 1], ways[:, 0]], 1)
    sums = normals + np.roll(normals, 1, 0)
    # A side that turns back has no such sum: it is entered along itself.
    lengths = exact.hypot_each(*sums.T)[:, None]
    is_back = lengths < 1e-6
    sums = np.where(is_back, -ways, sums / np.where(is_back, 1.0, lengths))
    return np.concatenate(
        [starts, ends, ways, sizes, normals, sums, np.roll(sums, -1, 0)], 1
    )


def _find_crossings(tables: Sequence[Doubles]) -> Doubles:
    """Where sides of different zones cross, and the sum of their normals: (K, 4)."""
    found = [np.zeros((0, 4))]
    for number, one in enumerate(tables):
        for two in tables[number + 1 :]:
            p, u, n = (one[:, None, at : at + 2] for at in (AX, TX, NX))
            q, v, m = (two[None, :, at : at + 2] for at in (AX, TX, NX))
            slope = (v * n).sum(-1)  # how fast the second leaves the first
            is_slant = np.abs(slope) > 1e-9
            second = ((p - q) * n).sum(-1) / np.where(is_slant, slope, 1.0)
            first = ((q + second[..., None] * v - p) * u).sum(-1)
            rows = np.nonzero(
                is_slant
                & (first >= 0)
                & (first <= one[:, None, LENGTH])
                & (second >= 0)
                & (second <= two[None, :, LENGTH])
            )
            places = (p + first[..., None] * u)[rows]
            into = (n + m)[rows]
            found.append(np.concatenate([places, into], 1))
    return np.concatenate(found)


def keep_in_zones(
    tables: ZoneTables,
    before: Doubles,
    places: Doubles,
    radii: Doubles,
    *,
    out: Doubles | None = None,
    touched: Bools | None = None,
    normals: Doubles | None = None,
) -> None:
    """Keep N characters that moved where their zones allow them to be.

    before, places: float64 (N, 2), x and z, or (N, 3), x, y and z, metres: where each
    was, and where it wants to be; radii: (N,), metres. Fills `out`, like places; None:
    changes places. y is left as it is.

    Each goes straight to its place; at a wall it slides along with what is left of its
    movement. Who touches nothing is not changed by a bit. Who was beyond a wall before
    is put at the nearest place first. Where there is no room for the circle, its
    distances to the walls are evened out, and its middle stays inside all the same.

    touched: bool (N,), filled: a wall was in the way, or is touched now; normals:
    float64 (N, 2), filled: x and z, unit, from the last of these walls to the
    character; 0 for those that touch none.
    """
    count, width = places.shape if getattr(places, "ndim", 0) == 2 else (None, 0)
    if width not in (2, 3):
        have = getattr(places, "shape", type(places).__name__)
        raise ShapeError(f"places: {have}, expected shape (N, 2) or (N, 3)")
    if out is None:
        out = places
        check_array(places, np.float64, (count, width), "places")
    else:
        check_input(places, np.float64, (count, width), "places")
        check_array(out, np.float64, (count, width), "out")
    check_input(before, np.float64, (count, width), "before")
    check_input(radii, np.float64, (count,), "radii")
    if touched is not None:
        check_array(touched, np.bool_, (count,), "touched")
    if normals is not None:
        check_array(normals, np.float64, (count, 2), "normals")
    if not len(tables.sides):
        if out is not places:
            out[:] = places
        if touched is not None:
            touched[:] = False
        if normals is not None:
            normals[:] = 0.0
        return
    wrong = kernel_zones.keep(
        tables.sides,
        tables.spans,
        tables.crossings,
        before,
        places,
        radii,
        out,
        NO_MARKS if touched is None else touched,
        NO_ROWS if normals is None else normals,
    )
    if wrong >= 0:
        raise ShapeError(
            f"character {wrong}: before {before[wrong].tolist()}, places "
            f"{places[wrong].tolist()}, radius {radii[wrong]}, expected numbers of at "
            f"most {ZONE_FARTHEST:g} m, and a radius of 0 to "
            f"{ZONE_WIDEST:g} m"
        )
