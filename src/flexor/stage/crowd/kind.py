"""A character made ready to be many: its motion, its levels and how far it reaches."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass

import numpy as np

from flexor.arrays import Doubles, Floats, Ints
from flexor.deform.level_bind import LevelBind, bind_level, rest_vertices
from flexor.errors import SettingError
from flexor.maths import exact, transforms
from flexor.pose.clips.root_motion import RootMotion
from flexor.pose.crowd.layout import DEFINED, LANES
from flexor.pose.crowd.node_motion import NodeMotion, make_node_motion
from flexor.pose.layout import Layout
from flexor.scene.character.clip import Clip
from flexor.scene.character.skeleton import rest_world
from flexor.scene.runtime.levels import Levels
from flexor.scene.runtime.packed_clip import PackedClip
from flexor.scene.scene import Scene
from flexor.stage.crowd.standing import find_soles, rest_places, surface_shares

__all__ = ["CrowdKind", "footprint_of", "make_kind", "slot_reaches"]

CLOSE = 1e-4  # seconds that a way may end before or after its clip


@dataclass(frozen=True, slots=True, eq=False)
class CrowdKind:
    """One character of which there are many.

    levels: its levels of detail; motion: its clips; binds: by level, then by surface;
    centres: float64 (C + 1, 3) and reaches: float64 (C + 1,), a ball around all that
    a clip shows, metres from the base point, the rest pose last; footprint: metres that
    it takes on the floor at rest, from its middle; soles: float64 (C + 1,), metres from
    the base point up to the floor that a clip stands on; shares: by level, then by
    surface, float32 (P,), the part of the body's surface at each place; ways: int32
    (C + 1, 2), paths: float64 (P, 5), how clips carry a character on, see the kernel.
    """

    levels: Levels
    motion: NodeMotion
    binds: tuple[tuple[LevelBind, ...], ...]
    centres: Doubles
    reaches: Doubles
    footprint: float
    soles: Doubles
    shares: tuple[tuple[Floats, ...], ...]
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
    lanes = motion.lanes.slots
    rest = rest_world(scene.skeleton)[levels.slots[lanes], :, :3]
    sizes = exact.svd(rest)[1][:, 0]
    reaches = slot_reaches(scene, levels)[lanes]
    balls = np.array(
        [_ball(motion, row, reaches, sizes) for row in range(len(clips) + 1)]
    )
    places = [
        rest_places(scene, levels, lanes.reshape(-1, LANES)[groups].ravel(), own)
        for groups, own in zip(motion.lanes.groups, binds, strict=True)
    ]
    table, paths = _paths(clips, ways or {})
    return CrowdKind(
        levels,
        motion,
        binds,
        balls[:, :3].copy(),
        balls[:, 3].copy(),
        footprint_of(scene, levels),
        find_soles(motion, binds[0], places[0]),
        tuple(map(surface_shares, places, binds)),
        table,
        paths,
    )


def slot_reaches(scene: Scene, levels: Levels) -> Doubles:
    """How far from its node a slot pulls skin at any level: (S,), in node space."""
    found = np.zeros(len(levels.slots))
    for surface in levels.surfaces:
        rest, _ = rest_vertices(scene, surface.sources)
        for level, count in enumerate(surface.counts.tolist()):
            shape = surface.shapes[level]
            positions = (shape[:, :3] if len(shape) else rest[:count]).astype(float)
            for joints, weights in zip(
                surface.joints[level].T, surface.weights[level].T, strict=True
            ):
                bound = levels.binds[joints].astype(np.float64)
                seen = exact.multiply(bound[..., :3], positions[..., None])[..., 0]
                away = np.linalg.norm(seen + bound[..., 3], axis=1)
                away = np.where(np.isfinite(away) & (weights > 0), away, 0.0)
                np.maximum.at(found, joints, away)
    return found


def footprint_of(scene: Scene, levels: Levels) -> float:
    """Metres that the skin takes on the floor at rest, between length and width."""
    world = rest_world(scene.skeleton)[levels.slots]
    points = [np.zeros((0, 3))]
    for surface in levels.surfaces:
        positions, _ = rest_vertices(scene, surface.sources)
        heaviest = surface.weights[0].argmax(1)[:, None]
        slots = np.take_along_axis(surface.joints[0], heaviest, 1)[:, 0]
        whole = transforms.multiply(world[slots], levels.binds[slots])
        points.append(transforms.apply(whole, positions[:, None])[:, 0])
    every = np.concatenate(points)
    every = every[np.isfinite(every).all(1)]
    if not len(every):
        return 0.0
    wide = np.ptp(every, axis=0)
    return float(wide[0] + wide[2]) / 4


def _ball(motion: NodeMotion, row: int, reaches: Doubles, sizes: Doubles) -> Doubles:
    """A ball around what a clip shows: its middle and radius (4,).

    reaches: (lanes,), in node space; sizes: (lanes,), the most that nodes at rest make
    lengths longer. Skin is a mixture of points, each no further from its node than that
    node's reach.
    """
    first, count, form = motion.clips[row].tolist()
    table, column = (motion.frames, 3) if form == DEFINED else (motion.data, 9)
    rows = table[first : first + count].astype(np.float64).swapaxes(2, 3)
    rows = rows.reshape(count, len(reaches), rows.shape[3])
    places = rows[..., column : column + 3]
    if form != DEFINED:
        matrices = np.where(np.isfinite(rows[..., :9]), rows[..., :9], 0.0)
        shape = (count, len(reaches), 3, 3)
        sizes = exact.svd(matrices.reshape(shape))[1][..., 0]
    is_there = np.isfinite(places).all(2)
    if not is_there.any():
        return np.zeros(4)
    low, high = places[is_there].min(0), places[is_there].max(0)
    middle = (low + high) / 2
    away = np.linalg.norm(places - middle, axis=2) + reaches * sizes
    return np.array([*middle, away[is_there].max()])


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
