"""A character made ready to be many: its motion, its levels and how far it reaches."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from flexor.arrays import Ints
from flexor.deform.level_bind import LevelBind, bind_level, rest_vertices
from flexor.errors import SettingError
from flexor.pose.layout import Layout
from flexor.pose.node_motion import DEFINED, NodeMotion, make_node_motion
from flexor.pose.root_motion import RootMotion
from flexor.scene.clip import Clip
from flexor.scene.levels import Levels
from flexor.scene.packed_clip import PackedClip
from flexor.scene.scene import Scene
from flexor.scene.skeleton import rest_world

__all__ = ["CrowdKind", "make_kind"]

Doubles = NDArray[np.float64]
CLOSE = 1e-4  # seconds that a way may end before or after its clip


@dataclass(frozen=True, slots=True, eq=False)
class CrowdKind:
    """One character of which there are many.

    levels: its levels of detail; motion: its clips; binds: by level, then by surface;
    centres: float64 (C + 1, 3) and reaches: float64 (C + 1,), a sphere around all that
    a clip shows, metres from the base point, the rest pose last; footprint: metres that
    it takes on the floor at rest, from its middle; ways: int32 (C + 1, 2)
    and paths: float64 (P, 5), how clips carry a character on, see the kernel.
    """

    levels: Levels
    motion: NodeMotion
    binds: tuple[tuple[LevelBind, ...], ...]
    centres: Doubles
    reaches: Doubles
    footprint: float
    ways: Ints
    paths: Doubles

    def matrix_count(self, level: int) -> int:
        """How many matrices a character has at a level."""
        return 8 * len(self.motion.lanes.groups[level])


def make_kind(
    scene: Scene,
    layout: Layout,
    levels: Levels,
    clips: Mapping[str, Clip | PackedClip],
    *,
    ways: Mapping[str, RootMotion] | None = None,
    expand: Collection[str] = (),
) -> CrowdKind:
    """Make a character ready; ways: by clip, how it carries the character on."""
    motion = make_node_motion(clips, layout, levels, expand=expand)
    binds = tuple(
        tuple(
            bind_level(scene, levels, surface, level, motion.lanes.rows[level])
            for surface in range(len(levels.surfaces))
        )
        for level in range(len(levels))
    )
    margin, footprint = _extent(scene, levels)
    spheres = np.array([_sphere(motion, row, margin) for row in range(len(clips) + 1)])
    table, paths = _paths(clips, ways or {})
    return CrowdKind(
        levels,
        motion,
        binds,
        spheres[:, :3],
        spheres[:, 3].copy(),
        footprint,
        table,
        paths,
    )


def _extent(scene: Scene, levels: Levels) -> tuple[float, float]:
    """At rest: how far skin is from the node that pulls it most, at most, and how far
    it reaches on the floor, between its length and its width; metres.
    """
    world = rest_world(scene.skeleton)[levels.slots]
    most, points = 0.0, [np.zeros((0, 3))]
    for surface in levels.surfaces:
        positions, _ = rest_vertices(scene, surface.sources)
        heaviest = surface.weights[0].argmax(1)[:, None]
        slots = np.take_along_axis(surface.joints[0], heaviest, 1)[:, 0]
        bound = levels.binds[slots].astype(np.float64)
        seen = (bound[..., :3] @ positions[..., None])[..., 0] + bound[..., 3]
        ways = (world[slots, :, :3] @ seen[..., None])[..., 0]
        ways = np.where(np.isfinite(ways), ways, 0.0)
        most = max(most, float(np.linalg.norm(ways, axis=1).max(initial=0.0)))
        points.append(ways + world[slots, :, 3])
    every = np.concatenate(points)
    if not len(every):
        return most, 0.0
    wide = np.ptp(every, axis=0)
    return most, float(wide[0] + wide[2]) / 4


def _sphere(motion: NodeMotion, row: int, margin: float) -> tuple[float, ...]:
    """A sphere around what a clip shows: its centre and radius."""
    first, count, form = motion.clips[row].tolist()
    table, column = (motion.frames, 3) if form == DEFINED else (motion.data, 9)
    places = table[first : first + count, :, column : column + 3]
    points = places.swapaxes(2, 3).reshape(-1, 3).astype(np.float64)
    points = points[np.isfinite(points).all(1)]
    if not len(points):
        return 0.0, 0.0, 0.0, margin
    low, high = points.min(0), points.max(0)
    centre = (low + high) / 2
    reach = float(np.linalg.norm(points - centre, axis=1).max()) + margin
    return float(centre[0]), float(centre[1]), float(centre[2]), reach


def _paths(
    clips: Mapping[str, Clip | PackedClip], ways: Mapping[str, RootMotion]
) -> tuple[Ints, Doubles]:
    for name, way in ways.items():
        if name not in clips:
            there = ", ".join(map(repr, clips)) or "none"
            raise SettingError(f"ways: no clip {name!r}; there are: {there}")
        if abs(way.times[-1] - clips[name].duration) > CLOSE:
            raise SettingError(
                f"ways[{name!r}]: {way.times[-1]:.6g} s long, expected the clip's "
                f"{clips[name].duration:.6g} s"
            )
    table = np.zeros((len(clips) + 1, 2), np.int32)
    parts: list[Doubles] = [np.zeros((0, 5))]
    end = 0
    for row, name in enumerate(clips):
        if name in ways:
            way = ways[name]
            rows = np.concatenate(
                [way.times[:, None], way.places, way.headings[:, None]], 1
            )
            table[row] = end, len(rows)
            parts.append(rows)
            end += len(rows)
    return table, np.concatenate(parts)
