"""Characters whose poses come from elsewhere (players, solvers, rules), seen at levels.

    kind = make_figure_kind(hero.scene, hero.levels)
    state = init_figures(kind, 50)
    see_figures(state, world, camera, (1280, 720))     # who is in view, and how well
    skin_figures(state, world)                         # those of coarser levels

`world` is world_from_node of all of them, float32 (N, J, 3, 4). Level 0 is the whole
character, deformed by its own binds, as who has the poses does; all other levels are
deformed here. What is out of view costs the look alone.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np

from flexor.arrays import Doubles, Floats, Ints, check_input
from flexor.deform.level_bind import LevelBind, bind_level, skin_level
from flexor.maths import transforms
from flexor.pose.crowd.level_choice import Figures, LevelRule, choose_levels, is_in_view
from flexor.pose.crowd.node_motion import lay_out_lanes
from flexor.scene.character.camera import Camera
from flexor.scene.runtime.levels import Levels
from flexor.scene.scene import Scene
from flexor.stage.crowd.kind import footprint_of, slot_reaches

__all__ = [
    "FigureKind",
    "FigureState",
    "ShownFigures",
    "init_figures",
    "make_figure_kind",
    "see_figures",
    "skin_figures",
]


@dataclass(frozen=True, slots=True, eq=False)
class FigureKind:
    """One character that is posed elsewhere.

    levels: its levels of detail; slots: by level int32 (P,), the slot whose matrix is
    in each row of a palette; nodes: by level, how many nodes that are; binds: by level,
    then by surface; reaches: float64 (S,), metres from the node of each slot to the
    skin farthest from it; footprint: metres that it takes on the floor, from its
    middle.
    """

    levels: Levels
    slots: tuple[Ints, ...]
    nodes: tuple[int, ...]
    binds: tuple[tuple[LevelBind, ...], ...]
    reaches: Doubles
    footprint: float


@dataclass(slots=True, eq=False)
class ShownFigures:
    """Figures that are shown at one level.

    who: int32 (n,), their rows; positions, normals: of each surface float32 (n, P, 3),
    by the places of its bind; none at level 0.
    """

    level: int
    who: Ints
    positions: list[Floats]
    normals: list[Floats]


@dataclass(slots=True, eq=False)
class FigureState:
    """N figures of a kind. level: int32 (N,), as they were seen last, -1 for not at
    all; middles: float32 (N, 3) and reaches: float32 (N,), balls around them, of the
    last look; shown: the finest level first; nodes, vertices, triangles: that were
    touched for levels above 0.
    """

    kind: FigureKind
    level: Ints
    middles: Floats
    reaches: Floats
    shown: list[ShownFigures] = field(default_factory=list)
    nodes: int = 0
    vertices: int = 0
    triangles: int = 0
    _rooms: dict[tuple[int, int, int], Floats] = field(default_factory=dict, repr=False)

    def __len__(self) -> int:
        return len(self.level)


def make_figure_kind(scene: Scene, levels: Levels) -> FigureKind:
    """Make a character ready to be seen at its levels."""
    lanes = lay_out_lanes(levels)
    every = range(len(levels))
    slots = tuple(
        lanes.slots.reshape(-1, 8)[lanes.groups[level]].ravel() for level in every
    )
    return FigureKind(
        levels,
        slots,
        tuple(len(np.unique(levels.slots[own])) for own in slots),
        tuple(
            tuple(
                bind_level(scene, levels, surface, level, lanes.rows[level])
                for surface in range(len(levels.surfaces))
            )
            for level in every
        ),
        slot_reaches(scene, levels),
        footprint_of(scene, levels),
    )


def init_figures(kind: FigureKind, count: int) -> FigureState:
    """`count` figures, none seen yet."""
    return FigureState(
        kind,
        np.full(count, -1, np.int32),
        np.zeros((count, 3), np.float32),
        np.zeros(count, np.float32),
    )


def see_figures(
    state: FigureState,
    world: Floats,
    camera: Camera,
    size: tuple[int, int],
    rules: LevelRule | Sequence[LevelRule] | None = None,
) -> None:
    """Find out who is in view, and at which level each is to be drawn.

    world: float32 (N, J, 3, 4); size: of the picture, pixels; rules: None: the coarsest
    level that is off by no more than a pixel in the mean and three at worst.
    """
    kind, count = state.kind, len(state)
    check_input(world, np.float32, (count, None, 3, 4), "world")
    places = world[..., 3][:, kind.levels.slots]
    away = kind.reaches.astype(np.float32)[None, :, None]
    low, high = (places - away).min(1), (places + away).max(1)
    state.middles[:] = (low + high) / 2
    state.reaches[:] = np.sqrt(np.square(high - low).sum(1)) / 2
    is_seen = is_in_view(camera, size, state.middles, state.reaches)
    level, rows = state.level.copy(), np.flatnonzero(is_seen)
    state.level[:] = -1
    if len(rows):
        own = level[rows]
        choose_levels(
            LevelRule() if rules is None else rules,
            kind.levels.errors,
            camera,
            size,
            Figures(
                state.middles[rows],
                state.reaches[rows],
                heights=(high - low)[rows, 1],
                widths=np.full(len(rows), 2 * kind.footprint, np.float32),
            ),
            levels=own,
        )
        state.level[rows] = own
    found = np.unique(state.level[state.level >= 0]).tolist()
    state.shown = [_make_room(state, number) for number in found]


def skin_figures(state: FigureState, world: Floats) -> None:
    """Vertices of all who are shown at a level above 0; world: float32 (N, J, 3, 4)."""
    kind = state.kind
    state.nodes = state.vertices = state.triangles = 0
    for own in state.shown:
        if own.level == 0:
            continue
        slots = kind.slots[own.level]
        frames = world[own.who][:, kind.levels.slots[slots]]
        matrices = transforms.multiply(frames, kind.levels.binds[slots])
        flat = np.ascontiguousarray(matrices, np.float32).reshape(len(own.who), -1)
        for row, bind in enumerate(kind.binds[own.level]):
            state.vertices += skin_level(
                bind, flat, positions=own.positions[row], normals=own.normals[row]
            )
        state.nodes += len(own.who) * kind.nodes[own.level]
        state.triangles += len(own.who) * kind.levels.totals(own.level)[2]


def _make_room(state: FigureState, level: int) -> ShownFigures:
    """Arrays for those of a level; those of the last frame, where they are enough."""
    who = np.flatnonzero(state.level == level).astype(np.int32)
    found: tuple[list[Floats], list[Floats]] = ([], [])
    if level:
        for row, bind in enumerate(state.kind.binds[level]):
            for which, rooms in enumerate(found):
                key = level, row, which
                room = state._rooms.get(key)
                if room is None or len(room) < len(who):
                    shape = len(who) + len(who) // 4, bind.place_count, 3
                    room = state._rooms[key] = np.empty(shape, np.float32)
                rooms.append(room[: len(who)])
    return ShownFigures(level, who, *found)
