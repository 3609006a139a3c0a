"""Afterimages: what parts of bodies looked like a moment ago.

A move names parts (a kick: thigh, shin, foot); while it runs, the poses of those who do
it are kept in a ring, some ticks apart. Who looks at a frame sees the parts as they
were, fainter with age. Their skin is made when it is first looked at, or taken from the
frame of their own tick if that was looked at, and never again; so what is seen does not
depend on who looked before, and what nobody looks at costs no skin.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from flexor.arrays import Bools, Floats, Ints
from flexor.errors import SettingError
from flexor.scene.stage.effect_settings import AfterimageSettings

__all__ = [
    "Afterimage",
    "Afterimages",
    "Moments",
    "PartGroup",
    "Skin",
    "group_parts",
    "init_afterimages",
    "keep_afterimages",
    "see_afterimages",
    "strength_of",
]

# Positions and normals of each surface, float32 (n, V, 3).
Skin = tuple[Sequence[Floats], Sequence[Floats]]
Parts = tuple[tuple[Floats, ...], tuple[Floats, ...]]
FIRST = np.zeros(1, np.int32)  # the row of who is deformed alone


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
class Moments:
    """The last S moments that are kept of one group of parts, for n characters.

    ticks: of each, -1 for none yet; newest: its row; counts: of how many characters;
    who: int32 (S, n), their rows of the body; worlds: float32 (S, n, J, 3, 4), and
    weights: float32 (S, n, M), what their skin is made of; skins: of those moments that
    were looked at; pieces: of the others, by row of the body, of whom was looked at.
    """

    ticks: list[int]
    counts: list[int]
    who: Ints
    worlds: Floats
    weights: Floats
    skins: list[Afterimage | None]
    pieces: list[dict[int, Parts]]
    newest: int = -1

    def since(self, oldest: int, tick: int) -> list[int]:
        """Rows of moments from `oldest` on and before `tick`, the oldest first."""
        size, first = len(self.ticks), self.newest + 1
        order = ((first + step) % size for step in range(size))
        return [row for row in order if max(oldest, 0) <= self.ticks[row] < tick]


@dataclass(slots=True, eq=False)
class Afterimages:
    """Afterimages of characters of one body; kept: of each group."""

    settings: AfterimageSettings
    groups: tuple[PartGroup, ...]
    kept: list[Moments]


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
    settings: AfterimageSettings,
    groups: Sequence[PartGroup],
    world: Floats,
    morphs: int,
) -> Afterimages:
    """Nothing is kept yet; world: (n, J, 3, 4), only its shape counts; morphs: M."""
    size = settings.count + 1  # the newest is of the tick itself, and not seen yet
    kept = [
        Moments(
            [-1] * size,
            [0] * size,
            np.zeros((size, len(world)), np.int32),
            np.zeros((size, *world.shape), np.float32),
            np.zeros((size, len(world), morphs), np.float32),
            [None] * size,
            [{} for _ in range(size)],
        )
        for _ in groups
    ]
    return Afterimages(settings, tuple(groups), kept)


def keep_afterimages(
    state: Afterimages,
    tick: int,
    active: Mapping[int, Bools],
    world: Floats,
    weights: Floats,
) -> None:
    """Keep how those are posed who leave afterimages; to be called in every tick.

    active: by group, bool (n,), whose; world: float32 (n, J, 3, 4), of nodes; weights:
    float32 (n, M), of morphs.
    """
    for number, is_active in active.items():
        own = state.kept[number]
        last = own.ticks[own.newest]
        if last >= 0 and 0 <= tick - last < state.settings.every:
            continue
        who = np.flatnonzero(is_active)
        count = len(who)
        if not count:
            continue
        row = own.newest = (own.newest + 1) % len(own.ticks)
        own.ticks[row], own.counts[row], own.skins[row] = tick, count, None
        own.pieces[row] = {}
        own.who[row, :count] = who
        own.worlds[row, :count] = world[who]
        own.weights[row, :count] = weights[who]


def see_afterimages(
    state: Afterimages,
    tick: int,
    now: Skin,
    deform: Callable[[Floats, Floats], Skin],
    *,
    wanted: Bools | None = None,
) -> list[Afterimage]:
    """Those that are seen at a tick, the oldest first; not those of that tick.

    now: the skin of all n characters at the tick, of which those moments are made that
    begin now; deform: gives the skin (1, V, 3) of one, of its world (1, J, 3, 4) and
    weights (1, M), and is asked once for each character and moment at most; wanted:
    bool (n,), whose afterimages are asked for, and who has a skin in `now`, None:
    everybody.
    """
    found: list[Afterimage] = []
    asked: dict[tuple[int, int], Skin] = {}  # groups may keep the same moment
    oldest = tick - state.settings.count * state.settings.every
    for number, own in enumerate(state.kept):
        vertices = state.groups[number].vertices
        for row in own.since(oldest, tick + 1):
            then, image = own.ticks[row], own.skins[row]
            who = own.who[row, : own.counts[row]].copy()
            needed = who if wanted is None else who[wanted[who]]
            if not len(needed):
                continue
            if image is None:
                skin = now if then == tick else None
                parts = _make_parts(own, row, needed, vertices, skin, deform, asked)
                image = Afterimage(then, number, needed, *parts)
                if len(needed) == len(who):
                    own.skins[row], own.pieces[row] = image, {}
            elif len(needed) < len(who):
                image = _only(image, np.isin(who, needed))
            if then < tick:
                found.append(image)
    return found


def _make_parts(
    own: Moments,
    row: int,
    needed: Ints,
    vertices: Sequence[Ints],
    now: Skin | None,
    deform: Callable[[Floats, Floats], Skin],
    asked: dict[tuple[int, int], Skin],
) -> Parts:
    """Parts of some characters at a moment; now: of all of them, if it is that moment;
    asked: skins that were made already.
    """
    pieces, then = own.pieces[row], own.ticks[row]
    if now is not None and not pieces and len(needed) == own.counts[row]:
        return _take(now, needed, vertices)
    for at, one in enumerate(own.who[row, : own.counts[row]].tolist()):
        if one in pieces or one not in needed:
            continue
        if now is not None:
            pieces[one] = _take(now, np.array([one], np.int32), vertices)
            continue
        key, alone = (then, one), slice(at, at + 1)
        if key not in asked:
            asked[key] = deform(own.worlds[row, alone], own.weights[row, alone])
        pieces[one] = _take(asked[key], FIRST, vertices)
    return _join([pieces[one] for one in needed.tolist()])


def _only(image: Afterimage, rows: Bools) -> Afterimage:
    """An afterimage of some of those that it is of."""
    return Afterimage(
        image.tick,
        image.group,
        image.who[rows],
        tuple(part[rows] for part in image.positions),
        tuple(part[rows] for part in image.normals),
    )


def _take(skin: Skin, who: Ints, vertices: Sequence[Ints]) -> Parts:
    """Some vertices of some characters: float32 (n, P, 3) of each surface."""
    places, ways = (
        tuple(
            part.reshape(-1, 3).take(who[:, None] * part.shape[1] + rows, axis=0)
            for part, rows in zip(parts, vertices, strict=True)
        )
        for parts in skin
    )
    return places, ways


def _join(found: Sequence[Parts]) -> Parts:
    """The same parts of several characters as one."""
    places, ways = (
        tuple(np.concatenate(own) for own in zip(*kind, strict=True))
        for kind in zip(*found, strict=True)
    )
    return places, ways


def strength_of(settings: AfterimageSettings, age: int) -> float:
    """How much is seen of an afterimage that is so many ticks old, 0 to 1."""
    whole = (settings.count + 1) * settings.every
    return settings.strength * min(max(1 - age / whole, 0.0), 1.0)
