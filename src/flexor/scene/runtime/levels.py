"""Levels of detail of a character: which nodes move it, and which polygons show it.

Level 0 is the whole character. Each further level has fewer nodes, fewer influences a
vertex and fewer triangles; all share one table of nodes, one motion, and one list of
vertices for each surface, of which a level uses the first so many.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from flexor.arrays import Floats, Ints, freeze
from flexor.errors import ShapeError
from flexor.scene.runtime.node_table import NodeTable
from flexor.scene.scene import Scene

__all__ = ["LevelSurface", "Levels", "check_levels"]


@dataclass(frozen=True, slots=True, eq=False)
class LevelSurface:
    """All triangles of one material, at every level.

    material: its row in the scene, -1 for none; sources: int32 (V, 3), node, primitive
    and vertex in the scene of each vertex, ordered so that level l uses the first
    counts[l], int32 (L,); faces: L times int32 (F, 3), counter-clockwise from the
    front; joints: L times uint16 (counts[l], K), slots of `Levels`; weights: L times
    float32 of the same shape, rows sum to 1; K may differ from level to level; shapes:
    L times float32 (counts[l], 6), positions and normals in the space of each vertex's
    mesh, where a level's differ from the file's, or (0, 6) where they do not. Takes
    ownership of the arrays.
    """

    material: int
    sources: Ints
    counts: Ints
    faces: tuple[Ints, ...]
    joints: tuple[NDArray[np.uint16], ...]
    weights: tuple[Floats, ...]
    shapes: tuple[Floats, ...] = ()

    def __post_init__(self) -> None:
        put = object.__setattr__
        put(self, "sources", freeze(self.sources, np.int32, (None, 3), "sources"))
        put(self, "counts", freeze(self.counts, np.int32, (None,), "counts"))
        levels = len(self.counts)
        if not self.shapes:
            put(self, "shapes", (np.zeros((0, 6), np.float32),) * levels)
        for name in ("faces", "joints", "weights", "shapes"):
            if len(getattr(self, name)) != levels:
                have = len(getattr(self, name))
                raise ShapeError(f"{name}: {have} levels, counts has {levels}")
        if not levels or self.counts[0] != len(self.sources):
            raise ShapeError("counts: level 0 must use all vertices")
        if (np.diff(self.counts) > 0).any() or self.counts.min() < 0:
            raise ShapeError("counts: must not grow from level to level")
        if len(self.sources) and self.sources.min() < 0:
            raise ShapeError("sources: must be 0 or above")
        put(self, "faces", self._each("faces", np.int32, None, 3))
        put(self, "joints", self._each("joints", np.uint16, self.counts, None))
        put(self, "weights", self._each("weights", np.float32, self.counts, None))
        put(self, "shapes", self._each("shapes", np.float32, None, 6))
        for level, count in enumerate(self.counts.tolist()):
            faces, weights = self.faces[level], self.weights[level]
            if faces.size and not 0 <= faces.min() <= faces.max() < count:
                raise ShapeError(f"faces[{level}]: must lie in 0..{count - 1}")
            if weights.shape != self.joints[level].shape:
                raise ShapeError(f"weights[{level}]: not of the shape of joints")
            if count and not weights.shape[1]:
                raise ShapeError(f"weights[{level}]: at least one a vertex")
            if not (np.isfinite(weights).all() and (weights >= 0).all()):
                raise ShapeError(f"weights[{level}]: must be finite, not negative")
            if (np.abs(weights.sum(1, dtype=np.float64) - 1) > 1e-3).any():
                raise ShapeError(f"weights[{level}]: rows must sum to 1")
            shape = self.shapes[level]
            if len(shape) not in (0, count):
                raise ShapeError(f"shapes[{level}]: {len(shape)} rows for {count}")
            if not np.isfinite(shape).all():
                raise ShapeError(f"shapes[{level}]: must be finite")

    def _each(
        self, name: str, kind: Any, counts: Ints | None, width: int | None
    ) -> tuple[Any, ...]:
        parts = getattr(self, name)
        return tuple(
            freeze(
                part,
                kind,
                (None if counts is None else int(counts[level]), width),
                f"{name}[{level}]",
            )
            for level, part in enumerate(parts)
        )


@dataclass(frozen=True, slots=True, eq=False)
class Levels:
    """The levels of a character.

    table: the nodes; masks: bool (L, T), which of them each level selects; slots: int32
    (S,), the skeleton's row of the node that each slot follows, and binds: float32
    (S, 3, 4), node_from_mesh of it: what `LevelSurface.joints` name; errors: float32
    (L, 2), how far the skin of a level is from that of level 0, metres, in the mean and
    at worst, over the poses it was measured in; height: metres at rest; surfaces: what
    is drawn. Takes ownership of the arrays.
    """

    table: NodeTable
    masks: NDArray[np.bool_]
    slots: Ints
    binds: Floats
    errors: Floats
    height: float
    surfaces: tuple[LevelSurface, ...]

    def __post_init__(self) -> None:
        put = object.__setattr__
        wide = len(self.table)
        put(self, "masks", freeze(self.masks, np.bool_, (None, wide), "masks"))
        put(self, "slots", freeze(self.slots, np.int32, (None,), "slots"))
        shape = (len(self.slots), 3, 4)
        put(self, "binds", freeze(self.binds, np.float32, shape, "binds"))
        levels = len(self.masks)
        put(self, "errors", freeze(self.errors, np.float32, (levels, 2), "errors"))
        put(self, "surfaces", tuple(self.surfaces))
        if not levels:
            raise ShapeError("masks: at least one level")
        if not np.isfinite(self.binds).all():
            raise ShapeError("binds: must be finite")
        errors = self.errors
        if not np.isfinite(errors).all() or (errors < 0).any() or errors[0].any():
            raise ShapeError("errors: must be finite, not negative, 0 at level 0")
        if not 0 <= self.height < np.inf:
            raise ShapeError(f"height: {self.height}, expected metres")
        number = {node: row for row, node in enumerate(self.table.nodes.tolist())}
        if not set(self.slots.tolist()) <= set(number):
            raise ShapeError("slots: a node that is not in the table")
        of_slot = np.array([number[node] for node in self.slots.tolist()], np.int64)
        for surface in self.surfaces:
            if len(surface.counts) != levels:
                have = len(surface.counts)
                raise ShapeError(f"surfaces: {have} levels, expected {levels}")
            for level in range(levels):
                self._check_selected(surface, level, of_slot)

    def _check_selected(
        self, surface: LevelSurface, level: int, of_slot: NDArray[np.int64]
    ) -> None:
        used = np.unique(surface.joints[level])
        if used.size and int(used[-1]) >= len(of_slot):
            raise ShapeError(f"joints[{level}]: must lie in 0..{len(of_slot) - 1}")
        is_missing = ~self.masks[level][of_slot[used]]
        if is_missing.any():
            name = self.table.names[of_slot[used[is_missing][0]]]
            raise ShapeError(f"masks: level {level} needs node {name!r}")

    def __len__(self) -> int:
        return len(self.masks)

    def totals(self, level: int) -> tuple[int, int, int]:
        """How many nodes, vertices and triangles a level has."""
        return (
            int(np.count_nonzero(self.masks[level])),
            sum(int(surface.counts[level]) for surface in self.surfaces),
            sum(len(surface.faces[level]) for surface in self.surfaces),
        )


def check_levels(levels: Levels, scene: Scene) -> None:
    """Refuse levels that name what a scene does not have."""
    nodes = len(scene.skeleton)
    for name, rows in (("table", levels.table.nodes), ("slots", levels.slots)):
        if rows.size and int(rows.max()) >= nodes:
            raise ShapeError(f"{name}: node {int(rows.max())}, there are {nodes}")
    sizes = _sizes(scene)
    for surface in levels.surfaces:
        if not -1 <= surface.material < len(scene.materials):
            raise ShapeError(f"material: {surface.material} is not in the scene")
        pairs, group = np.unique(surface.sources[:, :2], axis=0, return_inverse=True)
        most = np.full(len(pairs), -1, np.int64)
        np.maximum.at(most, group.ravel(), surface.sources[:, 2])
        for (node, row), last in zip(pairs.tolist(), most.tolist(), strict=True):
            if last >= sizes.get((node, row), 0):
                raise ShapeError(
                    f"sources: no vertex {last} in primitive {row} at node {node}"
                )


def _sizes(scene: Scene) -> dict[tuple[int, int], int]:
    """Vertices of each primitive that is shown, by node and row."""
    shown: Sequence[int] = np.flatnonzero(
        scene.shown_nodes() & (scene.node_mesh >= 0)
    ).tolist()
    return {
        (node, row): len(primitive)
        for node in shown
        for row, primitive in enumerate(scene.meshes[scene.node_mesh[node]].primitives)
    }
