"""Where characters stand, clip by clip, and where their bodies weigh."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from flexor.arrays import Doubles, Floats, Ints
from flexor.deform.level_bind import LevelBind, skin_level
from flexor.maths import transforms
from flexor.pose.crowd.layout import LANES
from flexor.pose.crowd.node_motion import NodeMotion, move_nodes
from flexor.scene.character.skeleton import rest_world
from flexor.scene.character.standing import bounds, find_floor, stands_at
from flexor.scene.runtime.levels import Levels
from flexor.scene.scene import Scene

__all__ = [
    "find_soles",
    "middles_of",
    "rest_places",
    "rest_sole",
    "surface_shares",
]

MOMENTS = 12  # of a clip, to see how low it reaches


def rest_places(
    scene: Scene, levels: Levels, slots: Ints, binds: Sequence[LevelBind]
) -> list[Floats]:
    """The places (P, 3) of each surface at rest; slots: of the matrices of a level."""
    frames = rest_world(scene.skeleton)[levels.slots[slots]]
    matrices = transforms.multiply(frames, levels.binds[slots].astype(np.float64))
    return [own[0] for own in _skin(binds, matrices.astype(np.float32).reshape(1, -1))]


def rest_sole(places: Sequence[Floats]) -> float:
    """The height of the floor that a body stands on at rest, over its base point."""
    every = np.concatenate([np.zeros((0, 3), np.float32), *places])
    if not len(every):
        return 0.0
    lows, size = bounds(every)
    return stands_at(every, float(lows[0]), size)


def find_soles(
    motion: NodeMotion, binds: Sequence[LevelBind], places: Sequence[Floats]
) -> Doubles:
    """The height of the floor that each clip stands on, over the base point: (C + 1,).

    binds: the surfaces of the whole character; places: theirs at rest. The rest pose is
    the last row.
    """
    rest, count = rest_sole(places), len(motion.names)
    if not any(bind.place_count for bind in binds):
        return np.zeros(count + 1)
    clips = [find_floor(rest, *bounds(_look(motion, binds, c))) for c in range(count)]
    return np.array([*clips, rest])


def surface_shares(
    places: Sequence[Floats], binds: Sequence[LevelBind]
) -> tuple[Floats, ...]:
    """How much of a body's surface each place (P,) stands for at a level: in all 1.

    places: of each surface at rest. The mean of places by these is the middle of a
    body, however fine its parts are.
    """
    found = [np.zeros(bind.place_count) for bind in binds]
    for bind, points, own in zip(binds, places, found, strict=True):
        a, b, c = points[bind.faces].astype(np.float64).swapaxes(0, 1)
        with np.errstate(all="ignore"):  # what is not finite has no area
            across = np.cross(b - a, c - a)
            areas = np.sqrt((across * across).sum(1))
        areas = np.where(np.isfinite(areas), areas, 0.0)
        for corner in bind.faces.T:
            np.add.at(own, corner, areas)
    total = sum(float(own.sum()) for own in found)
    return tuple((own / (total or 1.0)).astype(np.float32) for own in found)


def middles_of(positions: Sequence[Floats], shares: Sequence[Floats]) -> Floats:
    """The middles (n, 3) of n bodies as they are posed.

    positions: of each surface (n, P, 3); shares: (P,), of `surface_shares`.
    """
    with np.errstate(all="ignore"):  # what is not finite is not drawn
        parts = [
            (points * own[:, None]).sum(1)
            for points, own in zip(positions, shares, strict=True)
        ]
    found: Floats = np.sum(parts, axis=0, dtype=np.float32)
    return found


def _look(motion: NodeMotion, binds: Sequence[LevelBind], clip: int) -> Floats:
    """All places (n, P, 3) at n moments that are spread over a clip."""
    seconds = float(motion.durations[clip])
    count = MOMENTS if seconds > 0 else 1
    matrices = np.empty((count, 12 * LANES * len(motion.lanes.groups[0])), np.float32)
    move_nodes(
        motion,
        0,
        np.arange(count, dtype=np.int32),
        np.full(count, clip, np.int32),
        np.linspace(0, seconds, count),
        np.zeros((count, 3)),
        np.zeros(count),
        np.ones(count),
        out=matrices,
    )
    return np.concatenate(_skin(binds, matrices), 1)


def _skin(binds: Sequence[LevelBind], matrices: Floats) -> list[Floats]:
    """The places (n, P, 3) of each surface; matrices: (n, S * 12)."""
    count = len(matrices)
    shapes = [np.empty((count, bind.place_count, 3), np.float32) for bind in binds]
    for bind, positions in zip(binds, shapes, strict=True):
        normals = np.empty_like(positions)
        skin_level(bind, matrices, positions=positions, normals=normals)
    return shapes
