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
from typing import Literal, get_args

import numpy as np
from numpy.typing import NDArray

from flexor.arrays import Ints, check_array, check_input, freeze
from flexor.errors import SettingError, ShapeError
from flexor.stage.movement import kernel_zones

__all__ = ["Keeps", "Zone", "ZoneTables", "keep_in_zones", "make_zones"]

Doubles = NDArray[np.float64]
Bools = NDArray[np.bool_]
Keeps = Literal["in", "out"]

FARTHEST = 1e4  # metres, of corners
MOST_CORNERS = 2000
SHORTEST = 1e-5  # metres of a side, and between sides that do not meet
NO_ROWS, NO_MARKS = np.zeros((0, 2)), np.zeros(0, np.bool_)


@dataclass(frozen=True, slots=True, eq=False)
class Zone:
    """A simple polygon of walls in the plane of x and z, convex or not.

    corners: float64 (V, 2), x and z of each, metres, either way around; keeps: "in",
    characters stay inside of it, or "out", they stay outside of it; name: for errors.
    Side n runs from corner n to the next.
    """

    corners: Doubles
    keeps: Keeps = "in"
    name: str = ""

    def __post_init__(self) -> None:
        corners = freeze(self.corners, np.float64, (None, 2), "corners")
        object.__setattr__(self, "corners", corners)
        if not isinstance(self.name, str):
            raise SettingError(f"name: {self.name!r}, expected a text")
        where = f"zone {self.name!r}: " if self.name else ""
        if self.keeps not in get_args(Keeps):
            raise SettingError(f"{where}keeps: {self.keeps!r}, expected 'in' or 'out'")
        if not 3 <= len(corners) <= MOST_CORNERS:
            raise SettingError(
                f"{where}{len(corners)} corners, expected 3 to {MOST_CORNERS}"
            )
        wrong = np.flatnonzero(~(np.abs(corners) <= FARTHEST).all(1))
        if len(wrong):
            raise SettingError(
                f"{where}corner {wrong[0]}: {corners[wrong[0]].tolist()}, expected "
                f"numbers of at most {FARTHEST:g} m"
            )
        _check_sides(corners, where)

    @property
    def area(self) -> float:
        """Square metres; negative if the corners go from +z toward +x."""
        return _area(self.corners)


def _area(corners: Doubles) -> float:
    x, z = (corners - corners[0]).T  # from a corner: far away nothing is lost
    return float((x * np.roll(z, -1) - np.roll(x, -1) * z).sum() / 2)


def _check_sides(corners: Doubles, where: str) -> None:
    """Refuse sides of no length, and those that meet where they should not."""
    count = len(corners)
    ends = np.roll(corners, -1, 0)
    ways = ends - corners
    sizes = np.hypot(*ways.T)
    if sizes.min() < SHORTEST:
        row = int(sizes.argmin())
        raise SettingError(f"{where}side {row} is {sizes[row]:g} m long, expected more")
    # Where corners (rows) are beside the lines of sides (columns).
    away = corners[:, None] - corners[None]
    beside = (ways[:, 0] * away[..., 1] - ways[:, 1] * away[..., 0]) / sizes
    is_left, is_right = beside > 0, beside < 0
    parts = (is_left & np.roll(is_right, -1, 0)) | (is_right & np.roll(is_left, -1, 0))
    crossing = np.argwhere(parts & parts.T)
    if len(crossing):
        one, two = sorted(crossing[0].tolist())
        raise SettingError(f"{where}sides {one} and {two} cross, expected none to")
    if abs(_area(corners)) < SHORTEST * sizes.max():
        raise SettingError(f"{where}no area, expected corners that are not in a line")
    along = np.clip((away * (ways / sizes[:, None])).sum(-1), 0, sizes)
    nearest = np.abs(away - along[..., None] * (ways / sizes[:, None]))
    distance = np.hypot(nearest[..., 0], nearest[..., 1])
    rows = np.arange(count)
    distance[rows, rows] = distance[(rows + 1) % count, rows] = np.inf
    corner, side = divmod(int(distance.argmin()), count)
    if distance[corner, side] < SHORTEST:
        # The side that has this corner and does not have one of the other's.
        before = (corner - 1) % count
        own = before if corner == (side - 1) % count else corner
        one, two = sorted((own, side))
        raise SettingError(
            f"{where}sides {one} and {two} touch at corner {corner}, expected none to"
        )


@dataclass(frozen=True, slots=True, eq=False)
class ZoneTables:
    """Zones that act at once, as the kernel takes them: made by `make_zones`.

    sides: float64 (S, 13); spans: int32 (Z, 3); crossings: float64 (K, 4), where sides
    of two zones cross and a direction into where characters may be; see `kernel_zones`.
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
        freeze(sides, np.float64, (None, 13), "sides"),
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
    sizes = np.hypot(*ways.T)[:, None]
    ways = ways / sizes
    normals = np.stack([-ways[:, 1], ways[:, 0]], 1)
    sums = normals + np.roll(normals, 1, 0)
    # A side that turns back has no such sum: it is entered along itself.
    lengths = np.hypot(*sums.T)[:, None]
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
            p, u, n = one[:, None, 0:2], one[:, None, 4:6], one[:, None, 7:9]
            q, v, m = two[None, :, 0:2], two[None, :, 4:6], two[None, :, 7:9]
            slope = (v * n).sum(-1)  # how fast the second leaves the first
            is_slant = np.abs(slope) > 1e-9
            second = ((p - q) * n).sum(-1) / np.where(is_slant, slope, 1.0)
            first = ((q + second[..., None] * v - p) * u).sum(-1)
            rows = np.nonzero(
                is_slant
                & (first >= 0)
                & (first <= one[:, None, 6])
                & (second >= 0)
                & (second <= two[None, :, 6])
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
            f"most {kernel_zones.FARTHEST:g} m, and a radius of 0 to "
            f"{kernel_zones.WIDEST:g} m"
        )
