"""Shadows of characters that are seen at levels of detail, cast by their coarse forms.

    state = init_figure_shadows(scene, kind)
    for own in figures.shown:
        if own.level:
            found = cast_figures(state, own, light, ground)   # on uneven ground

As `effects.shadows`, with the vertices of a level in place of the whole body's; the
coarser a level, the larger are the parts that its shadow is cut into.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np

from flexor.arrays import Floats, Ints
from flexor.deform.level_bind import rest_vertices
from flexor.maths import transforms
from flexor.scene.character.skeleton import rest_world
from flexor.scene.runtime.levels import LevelSurface
from flexor.scene.scene import Scene
from flexor.scene.stage.ground import Ground
from flexor.stage.effects.shadow_walls import ShadowWalls
from flexor.stage.effects.shadows import (
    LONGEST,
    ShadowParts,
    Shadows,
    body_parts,
    cast_shadows,
    init_shadows,
    make_parts,
)
from flexor.stage.figures import FigureKind, ShownFigures

__all__ = ["FigureShadows", "cast_figures", "init_figure_shadows"]


@dataclass(slots=True, eq=False)
class FigureShadows:
    """Shadows of figures of one kind.

    parts: by level, of its shadow, None for level 0 and where nothing is to be seen;
    walls: of structures that shadows fall on, None for none.
    """

    parts: tuple[ShadowParts | None, ...]
    walls: ShadowWalls | None = None
    _rooms: dict[int, Shadows] = field(default_factory=dict, repr=False)


def init_figure_shadows(
    scene: Scene, kind: FigureKind, walls: ShadowWalls | None = None
) -> FigureShadows:
    """Room for shadows of all levels above 0."""
    every = range(1, len(kind.levels))
    return FigureShadows((None, *(_level_parts(scene, kind, n) for n in every)), walls)


def cast_figures(
    state: FigureShadows, own: ShownFigures, light: Sequence[float], ground: Ground
) -> Shadows | None:
    """Cast the shadows of all who are shown at a level above 0; None: it has none.

    The arrays are used again by the next call for that level.
    """
    parts, count = state.parts[own.level], len(own.who)
    if parts is None:
        return None
    room = state._rooms.get(own.level)
    if room is None or len(room.positions) < count:
        room = state._rooms[own.level] = init_shadows(parts, count + count // 4)
        room.walls = state.walls
    found = room.rows(slice(0, count))
    positions = own.positions
    joined = positions[0] if len(positions) == 1 else np.concatenate(positions, 1)
    cast_shadows(found, light, joined, ground)
    return found


def _level_parts(scene: Scene, kind: FigureKind, level: int) -> ShadowParts | None:
    """The parts of a level's surfaces, whose places stand one behind the other."""
    levels, first = kind.levels, 0
    part_of_node, names = body_parts(scene)
    faces, nodes = [np.zeros((0, 3), np.int32)], [np.zeros(0, np.int32)]
    points: list[Floats] = [np.zeros((0, 3), np.float32)]
    for surface, bind in zip(levels.surfaces, kind.binds[level], strict=True):
        slots, places = _at_rest(scene, kind, surface, level)
        order = bind.blocks.order
        faces.append(bind.faces + np.int32(first))
        nodes.append(levels.slots[slots[order]])
        points.append(places[order])
        first += bind.place_count
    corners = np.concatenate(faces)
    if not len(corners):
        return None
    return make_parts(
        corners,
        np.concatenate(nodes),
        part_of_node,
        names,
        places=np.concatenate(points),
        longest=LONGEST * 2**level,
    )


def _at_rest(
    scene: Scene, kind: FigureKind, surface: LevelSurface, level: int
) -> tuple[Ints, Floats]:
    """Of each vertex of a surface the slot that pulls it most, and its place (V, 3)."""
    levels, shape = kind.levels, surface.shapes[level]
    sources = surface.sources[: int(surface.counts[level])]
    own = shape[:, :3] if len(shape) else rest_vertices(scene, sources)[0]
    most = surface.weights[level].argmax(1)[:, None]
    slots = np.take_along_axis(surface.joints[level], most, 1)[:, 0].astype(np.int32)
    world = rest_world(scene.skeleton)[levels.slots]
    moves = transforms.multiply(world, levels.binds)[slots]
    places: Floats = transforms.apply(moves, own[:, None])[:, 0].astype(np.float32)
    return slots, places
