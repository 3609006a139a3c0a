"""Afterimages: what parts of bodies looked like a moment ago, kept as it was deformed.

A move names parts (a kick: thigh, shin, foot); while it runs, their deformed vertices
are copied into a ring, some ticks apart, and drawn with the frame, fainter with age. No
vertex is transformed again, and nothing is kept of who does not move so.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np

from flexor.arrays import Bools, Floats, Ints
from flexor.errors import SettingError
from flexor.scene.stage.effect_settings import AfterimageSettings

__all__ = [
    "Afterimage",
    "Afterimages",
    "PartGroup",
    "group_parts",
    "init_afterimages",
    "keep_afterimages",
    "strength_of",
]


@dataclass(frozen=True, slots=True, eq=False)
class PartGroup:
    """Parts of a body that are kept together.

    parts: their names; vertices: of each surface, int32 (P,), rows; faces: of each
    surface, int32 (F, 3), into those.
    """

    parts: tuple[str, ...]
    vertices: tuple[Ints, ...]
    faces: tuple[Ints, ...]


@dataclass(frozen=True, slots=True, eq=False)
class Afterimage:
    """What characters of one body looked like at a tick.

    group: number of the group of parts; who: int32 (n,), rows of the body; positions,
    normals: of each surface, float32 (n, P, 3).
    """

    tick: int
    group: int
    who: Ints
    positions: tuple[Floats, ...]
    normals: tuple[Floats, ...]


@dataclass(slots=True, eq=False)
class Afterimages:
    """The ring of a body's afterimages; kept: by group, the newest last."""

    settings: AfterimageSettings
    groups: tuple[PartGroup, ...]
    kept: list[deque[Afterimage]] = field(default_factory=list)

    def seen(self, tick: int) -> list[Afterimage]:
        """Those that are still seen at a tick, the oldest first; not of that tick."""
        oldest = tick - self.settings.count * self.settings.every
        return [own for ring in self.kept for own in ring if oldest <= own.tick < tick]


def group_parts(
    part_of_face: Sequence[Ints],
    faces: Sequence[Ints],
    names: Sequence[str],
    wanted: Sequence[str],
) -> PartGroup:
    """The vertices and faces of some parts.

    part_of_face: of each surface, (F,), numbers in `names`; faces: of each surface,
    (F, 3), vertices; wanted: names of parts; case does not matter.
    """
    known = {name.casefold(): row for row, name in enumerate(names)}
    rows = []
    for name in wanted:
        if name.casefold() not in known:
            there = ", ".join(names)
            raise SettingError(f"no part {name!r}; there are: {there}")
        rows.append(known[name.casefold()])
    vertices, corners = [], []
    for part, own in zip(part_of_face, faces, strict=True):
        chosen = own[np.isin(part, rows)]
        used, inside = np.unique(chosen, return_inverse=True)
        vertices.append(used.astype(np.int32))
        corners.append(inside.reshape(-1, 3).astype(np.int32))
    return PartGroup(tuple(wanted), tuple(vertices), tuple(corners))


def init_afterimages(
    settings: AfterimageSettings, groups: Sequence[PartGroup]
) -> Afterimages:
    """Nothing is kept yet."""
    most = settings.count + 1
    return Afterimages(settings, tuple(groups), [deque(maxlen=most) for _ in groups])


def keep_afterimages(
    state: Afterimages,
    tick: int,
    active: Mapping[int, Bools],
    positions: Sequence[Floats],
    normals: Sequence[Floats],
) -> None:
    """Keep what is seen now of those who have afterimages.

    active: by group, bool (n,), whose; positions, normals: of each surface, float32
    (n, V, 3), as they were deformed for this frame.
    """
    for number, is_active in active.items():
        ring = state.kept[number]
        if ring and 0 <= tick - ring[-1].tick < state.settings.every:
            continue
        who = np.flatnonzero(is_active).astype(np.int32)
        if not len(who):
            continue
        own = state.groups[number].vertices
        places, ways = (
            tuple(_take(part, who, rows) for part, rows in zip(parts, own, strict=True))
            for parts in (positions, normals)
        )
        ring.append(Afterimage(tick, number, who, places, ways))


def _take(part: Floats, who: Ints, rows: Ints) -> Floats:
    """Some vertices of some characters: float32 (n, P, 3) of (N, V, 3)."""
    at = who[:, None] * part.shape[1] + rows
    found: Floats = part.reshape(-1, 3).take(at, axis=0)
    return found


def strength_of(settings: AfterimageSettings, age: int) -> float:
    """How much is seen of an afterimage that is so many ticks old, 0 to 1."""
    whole = (settings.count + 1) * settings.every
    return settings.strength * min(max(1 - age / whole, 0.0), 1.0)
