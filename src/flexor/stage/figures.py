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

from flexor.arrays import Bools, Doubles, Floats, Ints, check_input
from flexor.deform.level_bind import LevelBind, bind_level, skin_level
from flexor.maths import transforms
from flexor.pose.crowd.level_choice import Figures, LevelRule, choose_levels, is_in_view
from flexor.pose.crowd.node_motion import lay_out_lanes
from flexor.scene.character.camera import Camera
from flexor.scene.runtime.levels import Levels
from flexor.scene.scene import Scene
from flexor.scene.stage.ground import Ground
from flexor.stage.crowd.kind import footprint_of, slot_reaches
from flexor.stage.crowd.standing import rest_places, rest_sole
from flexor.stage.effects.shadows import slant_of

__all__ = [
    "FigureKind",
    "FigureState",
    "ShownFigures",
    "Sun",
    "init_figures",
    "make_figure_kind",
    "make_sun",
    "see_figures",
    "see_whole",
    "skin_figures",
]

SHADOW_ROOM = 0.25  # metres that shadows may be farther than the ground lets expect


@dataclass(frozen=True, slots=True, eq=False)
class Sun:
    """Light that casts shadows on a ground; slant: metres that it goes along x and z
    for each metre down.
    """

    slant: tuple[float, float]
    ground: Ground


def make_sun(light: Sequence[float], ground: Ground) -> Sun | None:
    """Light (3,) that travels a way; None where it casts no shadows."""
    slant = slant_of(light)
    return None if slant is None else Sun(slant, ground)


@dataclass(frozen=True, slots=True, eq=False)
class FigureKind:
    """One character that is posed elsewhere.

    levels: its levels of detail; slots: by level int32 (P,), the slot whose matrix is
    in each row of a palette; nodes: by level, how many nodes that are; binds: by level,
    then by surface; reaches: float64 (S,), metres from the node of each slot to the
    skin farthest from it; footprint: metres that it takes on the floor, from its
    middle; sole: metres from its base point up to the floor that it stands on at rest.
    """

    levels: Levels
    slots: tuple[Ints, ...]
    nodes: tuple[int, ...]
    binds: tuple[tuple[LevelBind, ...], ...]
    reaches: Doubles
    footprint: float
    sole: float


@dataclass(slots=True, eq=False)
class ShownFigures:
    """Figures that are shown at one level.

    who: int32 (n,), their rows; is_seen: bool (n,), False for those of whom at most the
    shadow is in view; positions, normals: of each surface float32 (n, P, 3), by the
    places of its bind; none at level 0.
    """

    level: int
    who: Ints
    is_seen: Bools
    positions: list[Floats]
    normals: list[Floats]


@dataclass(slots=True, eq=False)
class FigureState:
    """N figures of a kind. level: int32 (N,), as they were seen last, -1 for not at
    all; is_seen: bool (N,), False for those of whom at most the shadow was; middles:
    float32 (N, 3) and reaches: float32 (N,), balls around them, of the last look;
    pace: float32 (N,), metres a second, for rules by speed, as who moves them says;
    shown: the finest level first; nodes, vertices, triangles: that were touched for
    levels above 0.
    """

    kind: FigureKind
    level: Ints
    is_seen: Bools
    middles: Floats
    reaches: Floats
    pace: Floats
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
    binds = tuple(
        tuple(
            bind_level(scene, levels, surface, level, lanes.rows[level])
            for surface in range(len(levels.surfaces))
        )
        for level in every
    )
    return FigureKind(
        levels,
        slots,
        tuple(len(np.unique(levels.slots[own])) for own in slots),
        binds,
        slot_reaches(scene, levels) + _morph_reaches(scene, levels),
        footprint_of(scene, levels),
        rest_sole(rest_places(scene, levels, slots[0], binds[0])),
    )


def _morph_reaches(scene: Scene, levels: Levels) -> Doubles:
    """How much farther from the node of a slot morphs may move skin: (S,), metres, if
    none is farther from its rest than by a whole.
    """
    most = 0.0
    for node in np.flatnonzero(scene.shown_nodes() & (scene.node_mesh >= 0)).tolist():
        for primitive in scene.meshes[scene.node_mesh[node]].primitives:
            moves = [
                np.sqrt(np.square(target.positions.astype(np.float64)).sum(1))
                for target in primitive.targets
                if target.positions is not None
            ]
            most = max(most, float(np.sum(moves, 0).max(initial=0.0)) if moves else 0)
    # As long as the matrix of a slot could make them.
    sizes: Doubles = np.sqrt(np.square(levels.binds[..., :3]).sum((1, 2)))
    return most * sizes.astype(np.float64)


def init_figures(kind: FigureKind, count: int) -> FigureState:
    """`count` figures, none seen yet."""
    return FigureState(
        kind,
        np.full(count, -1, np.int32),
        np.zeros(count, np.bool_),
        np.zeros((count, 3), np.float32),
        np.zeros(count, np.float32),
        np.zeros(count, np.float32),
    )


def see_figures(
    state: FigureState,
    world: Floats,
    camera: Camera,
    size: tuple[int, int],
    rules: LevelRule | Sequence[LevelRule] | None = None,
    *,
    sun: Sun | None = None,
) -> None:
    """Find out who is in view, and at which level each is to be drawn.

    world: float32 (N, J, 3, 4); size: of the picture, pixels; rules: None: the coarsest
    level that is off by no more than a pixel in the mean and three at worst; sun: who
    is out of view is shown all the same if the shadow may be in view, None: there are
    no shadows.
    """
    kind, count = state.kind, len(state)
    check_input(world, np.float32, (count, None, 3, 4), "world")
    with np.errstate(all="ignore"):  # what is not finite is not seen anyway
        frames = world[:, kind.levels.slots]
        # A ball in the space of a node is as wide as the node's rows make it.
        away = np.sqrt(np.square(frames[..., :3]).sum(-1))
        away *= kind.reaches.astype(np.float32)[:, None]
        places = frames[..., 3]
        low, high = (places - away).min(1), (places + away).max(1)
        state.middles[:] = (low + high) / 2
        state.reaches[:] = np.sqrt(np.square(high - low).sum(1)) / 2
    is_odd = ~np.isfinite(state.reaches)
    state.middles[is_odd], state.reaches[is_odd] = np.nan, 0
    state.is_seen[:] = is_in_view(camera, size, state.middles, state.reaches)
    is_shown = state.is_seen
    if sun is not None and not is_shown.all():
        is_there = np.isfinite(state.middles).all(1)
        around = _with_shadows(state, sun)
        is_shown = is_shown | (is_there & is_in_view(camera, size, *around))
    level, rows = state.level.copy(), np.flatnonzero(is_shown)
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
                speeds=state.pace[rows],
            ),
            levels=own,
        )
        state.level[rows] = own
    _show(state)


def see_whole(state: FigureState) -> None:
    """Show all, wherever they are, at level 0."""
    state.level[:], state.is_seen[:] = 0, True
    _show(state)


def _show(state: FigureState) -> None:
    found = np.unique(state.level[state.level >= 0]).tolist()
    state.shown = [_make_room(state, number) for number in found]


def _with_shadows(state: FigureState, sun: Sun) -> tuple[Floats, Floats]:
    """Balls around figures and the way of light from them to the ground.

    The ground counts where they stand and where the shadow of what is highest falls.
    """
    middles, reaches = state.middles.astype(np.float64), state.reaches
    middles[~np.isfinite(middles).all(1)] = 0
    (x, y, z), (dx, dz) = middles.T, sun.slant
    lowest, top = sun.ground.height(x, z), y + reaches
    for _ in range(2):
        drop = np.maximum(top - lowest, 0.0)
        far = sun.ground.height(x + dx * drop, z + dz * drop)
        lowest = np.minimum(lowest, far)
    half = np.maximum(top - lowest, 0.0)[:, None] / 2
    way = half * np.array((dx, -1.0, dz))
    around = reaches + np.sqrt(np.square(way).sum(1)) + SHADOW_ROOM
    with np.errstate(over="ignore"):
        return (middles + way).astype(np.float32), around.astype(np.float32)


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
    return ShownFigures(level, who, state.is_seen[who], *found)
