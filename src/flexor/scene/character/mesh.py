"""Surfaces: meshes made of primitives, each with its own vertices and material."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from flexor.arrays import Floats, freeze
from flexor.errors import ShapeError
from flexor.scene.character.weights import SkinWeights
from flexor.scene.unchecked import filled

__all__ = ["Mesh", "MorphTarget", "Primitive"]

POINTS, LINES, LINE_LOOP, LINE_STRIP, TRIANGLES, TRIANGLE_STRIP, TRIANGLE_FAN = range(7)


@dataclass(frozen=True, slots=True, eq=False)
class MorphTarget:
    """What a morph adds to the vertices at weight 1; None: nothing.

    positions, normals, tangents: float32 (V, 3). Takes ownership.
    """

    positions: Floats | None = None
    normals: Floats | None = None
    tangents: Floats | None = None

    def __post_init__(self) -> None:
        for name in ("positions", "normals", "tangents"):
            value = getattr(self, name)
            if value is not None:
                value = freeze(value, np.float32, (None, 3), name)
                object.__setattr__(self, name, value)

    @classmethod
    def unchecked(
        cls, positions: Floats | None, normals: Floats | None, tangents: Floats | None
    ) -> MorphTarget:
        """A target in read-only arrays that were checked before."""
        return filled(cls, positions, normals, tangents)


@dataclass(frozen=True, slots=True, eq=False)
class Primitive:
    """One surface with one material.

    positions: float32 (V, 3), metres; normals: float32 (V, 3), unit, or None;
    tangents: float32 (V, 4), or None; texcoords: tuple of float32 (V, 2);
    colours: tuple of float32 (V, 3 or 4), linear, 0 to 1; indices: uint32 (I,), or None
    for vertices in order; mode: 4 triangles, 5 strip, 6 fan, 0 points, 1-3 lines;
    material: row in the scene's materials, or None; skin: weights, or None;
    targets: morphs; custom: other arrays (V, ...) by attribute name, not looked at.
    Takes ownership of the arrays.
    """

    positions: Floats
    normals: Floats | None = None
    tangents: Floats | None = None
    texcoords: tuple[Floats, ...] = ()
    colours: tuple[Floats, ...] = ()
    indices: NDArray[np.uint32] | None = None
    mode: int = TRIANGLES
    material: int | None = None
    skin: SkinWeights | None = None
    targets: tuple[MorphTarget, ...] = ()
    custom: Mapping[str, NDArray[Any]] = field(default_factory=dict)
    carried: dict[str, Any] | None = None

    def __post_init__(self) -> None:
        put = object.__setattr__
        positions = freeze(self.positions, np.float32, (None, 3), "positions")
        put(self, "positions", positions)
        count = len(positions)
        if self.normals is not None:
            normals = freeze(self.normals, np.float32, (count, 3), "normals")
            put(self, "normals", normals)
        if self.tangents is not None:
            tangents = freeze(self.tangents, np.float32, (count, 4), "tangents")
            put(self, "tangents", tangents)
        shape = (count, 2)
        coords = (freeze(c, np.float32, shape, "texcoords") for c in self.texcoords)
        put(self, "texcoords", tuple(coords))
        put(self, "colours", tuple(self._colour(c, count) for c in self.colours))
        if self.indices is not None:
            indices = freeze(self.indices, np.uint32, (None,), "indices")
            put(self, "indices", indices)
            if len(indices) and int(indices.max()) >= count:
                last = int(indices.max())
                raise ShapeError(f"indices: {last} with {count} vertices")
        if self.mode not in range(7):
            raise ShapeError(f"mode: {self.mode}, expected 0 to 6")
        if self.skin is not None and len(self.skin.weights) != count:
            have = len(self.skin.weights)
            raise ShapeError(f"skin: {have} rows of weights for {count} vertices")
        for target in self.targets:
            for deltas in (target.positions, target.normals, target.tangents):
                if deltas is not None and len(deltas) != count:
                    raise ShapeError(f"targets: {len(deltas)} rows, {count} vertices")

    @classmethod
    def unchecked(cls, *values: Any) -> Primitive:
        """A primitive in read-only arrays that were checked before.

        values: those of all fields, in their order.
        """
        return filled(cls, *values)

    @staticmethod
    def _colour(value: Floats, count: int) -> Floats:
        width = value.shape[1] if value.ndim == 2 and value.shape[1] == 3 else 4
        return freeze(value, np.float32, (count, width), "colours")

    def __len__(self) -> int:
        return len(self.positions)

    def triangles(self) -> NDArray[np.int32]:
        """Corners (F, 3) of every triangle, strips and fans unrolled.

        Points and lines have none. Vertices that do not fill a whole triangle are left
        out, as when drawing.
        """
        if self.indices is None:
            corners = np.arange(len(self), dtype=np.int32)
        else:
            corners = self.indices.astype(np.int32)
        if self.mode == TRIANGLES:
            return corners[: len(corners) // 3 * 3].reshape(-1, 3)
        if self.mode not in (TRIANGLE_STRIP, TRIANGLE_FAN) or len(corners) < 3:
            return np.empty((0, 3), np.int32)
        second, third = corners[1:-1], corners[2:]
        if self.mode == TRIANGLE_FAN:
            first = np.full_like(second, corners[0])
            return np.stack([first, second, third], 1)
        faces = np.stack([corners[:-2], second, third], 1)
        faces[1::2, 1:] = faces[1::2, :0:-1]  # every other triangle turns the other way
        return faces


@dataclass(frozen=True, slots=True, eq=False)
class Mesh:
    """Primitives that move together, with the rest weights of their morphs.

    morph_weights: float32 (M,), M the number of targets of each primitive;
    target_names: M texts, or none at all.
    """

    name: str
    primitives: tuple[Primitive, ...]
    morph_weights: Floats = field(default_factory=lambda: np.zeros(0, np.float32))
    target_names: tuple[str, ...] = ()
    carried: dict[str, Any] | None = None

    def __post_init__(self) -> None:
        object.__setattr__(self, "primitives", tuple(self.primitives))
        count = len(self.primitives[0].targets) if self.primitives else 0
        if any(len(p.targets) != count for p in self.primitives):
            raise ShapeError(f"mesh {self.name!r}: primitives differ in morph targets")
        weights = freeze(self.morph_weights, np.float32, (count,), "morph_weights")
        object.__setattr__(self, "morph_weights", weights)

    @classmethod
    def unchecked(
        cls,
        name: str,
        primitives: tuple[Primitive, ...],
        morph_weights: Floats,
        target_names: tuple[str, ...],
        carried: dict[str, Any] | None,
    ) -> Mesh:
        """A mesh of which everything was checked before."""
        return filled(cls, name, primitives, morph_weights, target_names, carried)
