"""Where characters of a kind stand, clip by clip, and where their bodies weigh."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from flexor.arrays import Doubles, Floats
from flexor.deform.level_bind import LevelBind, skin_level
from flexor.pose.crowd.layout import LANES
from flexor.pose.crowd.node_motion import NodeMotion, move_nodes
from flexor.scene.character.standing import bounds, find_floor, stands_at

__all__ = ["find_soles", "surface_shares"]

MOMENTS = 12  # of a clip, to see how low it reaches


def find_soles(motion: NodeMotion, binds: Sequence[LevelBind]) -> Doubles:
    """The height of the floor that each clip stands on, over the base point: (C + 1,).

    binds: the surfaces of the whole character; the rest pose is the last row.
    """
    count = len(motion.names)
    if not any(bind.place_count for bind in binds):
        return np.zeros(count + 1)

    def look(clip: int) -> Floats:
        seconds = float(motion.durations[clip])
        moments = MOMENTS if seconds > 0 else 1
        return np.concatenate(_vertices(motion, 0, binds, clip, seconds, moments), 1)

    rest = look(-1)
    lows, size = bounds(rest)
    stands = stands_at(rest[0], float(lows[0]), size)
    clips = [find_floor(stands, *bounds(look(clip))) for clip in range(count)]
    return np.array([*clips, stands])


def surface_shares(
    motion: NodeMotion, level: int, binds: Sequence[LevelBind]
) -> tuple[Floats, ...]:
    """How much of a body's surface each place (P,) stands for at a level: in all 1.

    The mean of places by these is the middle of a body, however fine its parts are.
    """
    found = [np.zeros(bind.place_count) for bind in binds]
    for bind, points, own in zip(
        binds, _vertices(motion, level, binds, -1, 0.0, 1), found, strict=True
    ):
        a, b, c = points[0][bind.faces].astype(np.float64).swapaxes(0, 1)
        with np.errstate(all="ignore"):  # what is not finite has no area
            across = np.cross(b - a, c - a)
            areas = np.sqrt((across * across).sum(1))
        areas = np.where(np.isfinite(areas), areas, 0.0)
        for corner in bind.faces.T:
            np.add.at(own, corner, areas)
    total = sum(float(own.sum()) for own in found)
    return tuple((own / (total or 1.0)).astype(np.float32) for own in found)


def _vertices(
    motion: NodeMotion,
    level: int,
    binds: Sequence[LevelBind],
    clip: int,
    seconds: float,
    count: int,
) -> list[Floats]:
    """The places (n, P, 3) of each surface at n moments that are spread over a clip."""
    matrices = np.empty((count, 12 * LANES * len(motion.lanes.groups[level])), "f4")
    move_nodes(
        motion,
        level,
        np.arange(count, dtype=np.int32),
        np.full(count, clip, np.int32),
        np.linspace(0, seconds, count),
        np.zeros((count, 3)),
        np.zeros(count),
        np.ones(count),
        out=matrices,
    )
    shapes = [np.empty((count, bind.place_count, 3), np.float32) for bind in binds]
    for bind, positions in zip(binds, shapes, strict=True):
        normals = np.empty_like(positions)
        skin_level(bind, matrices, positions=positions, normals=normals)
    return shapes
