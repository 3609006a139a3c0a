"""Meshes in a package: the arrays of all primitives, kind by kind.

primitives: int32 (n, 9), a row each: vertices, attributes, mode, material (-1: none),
first of `indices` (-1: none), how many, influences K (-1: no skin), first of `joints`
and `weights`, morph targets. attributes: int32 (m, 3), those of each primitive in turn:
kind, number of its morph target, first row in the array of its kind. Arrays may be
shared. Custom attributes have arrays of their own.
"""

from __future__ import annotations

from collections.abc import Iterable
from functools import lru_cache
from typing import Any

import numpy as np
from numpy.typing import NDArray

from flexor.arrays import Floats
from flexor.errors import AssetError
from flexor.files.gltf.accessors import MOST_RATIO, SPARE_BYTES
from flexor.files.package.records import (
    Checks,
    carried,
    read_records,
    text,
    texts,
    whole,
)
from flexor.files.package.tensors import TensorFile
from flexor.scene.character.mesh import Mesh, MorphTarget, Primitive
from flexor.scene.character.weights import Skin, SkinWeights

__all__ = ["KINDS", "check_joints", "read_meshes"]

# Kind of attribute: the array that holds it, and the numbers of a vertex.
KINDS = (
    ("positions", 3),
    ("normals", 3),
    ("tangents", 4),
    ("texcoords", 2),
    ("colours_rgb", 3),
    ("colours_rgba", 4),
    ("morph_positions", 3),
    ("morph_normals", 3),
    ("morph_tangents", 3),
)
TEXCOORDS, FIRST_MORPH = 3, 6
MESH: Checks = {
    "name": text,
    "primitives": whole,
    "target_names": texts,
    "carried": carried,
}
# Rows that sum to 1 within this are right without a second, slower look.
CLOSE, ALLOWED = 9e-4, 1e-3
# Bytes that a morph target takes although it may move nothing.
SPARE_TARGET = 200


def _custom(value: Any) -> dict[str, str]:
    """Names of arrays, by those of the attributes."""
    if type(value) is not dict or not set(map(type, value.values())) <= {str}:
        raise ValueError("expected an object of texts")
    return value


EXTRA: Checks = {"row": whole, "custom": _custom, "carried": carried}
NO_EXTRA: dict[str, Any] = {}


def read_meshes(
    file: TensorFile,
    json: dict[str, Any],
    arrays: dict[str, Any],
    material_count: int,
) -> tuple[Mesh, ...]:
    """The meshes of a file."""
    path = file.path
    reader = _PrimitiveReader(file, json, arrays, material_count)
    weights = arrays["morph_weights"]
    meshes, at = [], 0
    for item in read_records(path, json, "meshes", MESH):
        count = item.get("primitives", 0)
        if count > reader.left:
            raise AssetError(path, "/meshes", "more primitives than there are")
        primitives = tuple([reader.read() for _ in range(count)])
        targets = len(primitives[0].targets) if count else 0
        for primitive in primitives:
            if len(primitive.targets) != targets:
                raise AssetError(path, "/meshes", "primitives differ in morph targets")
        titles = item.get("target_names", ())
        if titles and len(titles) != targets:
            reason = f"{len(titles)} names of {targets} targets"
            raise AssetError(path, "/meshes", reason)
        own = weights[at : at + targets]
        at += targets
        mesh = Mesh.unchecked(
            item.get("name", ""), primitives, own, titles, item.get("carried")
        )
        meshes.append(mesh)
    if reader.left or at != len(weights):
        reason = "other primitives or morph weights than there are"
        raise AssetError(path, "/meshes", reason)
    reader.check_weights()
    return tuple(meshes)


class _PrimitiveReader:
    """Makes primitives, one after another; the whole tables are at hand."""

    def __init__(
        self,
        file: TensorFile,
        json: dict[str, Any],
        arrays: dict[str, Any],
        material_count: int,
    ) -> None:
        self._file = file
        self._materials = material_count
        self._rows: list[list[int]] = arrays["primitives"].tolist()
        self._attributes: list[list[int]] = arrays["attributes"].tolist()
        self._pools: list[Floats] = [arrays[name] for name, _ in KINDS]
        self._indices: NDArray[np.uint32] = arrays["indices"]
        self._joints: NDArray[np.uint16] = arrays["joints"]
        self._weights: Floats = arrays["weights"]
        if len(self._joints) != len(self._weights):
            raise file.error("joints", "not as many as weights")
        self._number, self._attribute = 0, 0
        # Arrays may be shared, so what all uses need is not what the file holds.
        self._spare = SPARE_BYTES + MOST_RATIO * file.end
        # A mesh has a weight for each target; primitives of one mesh share them.
        self._targets = len(arrays["morph_weights"])
        self._skins: dict[tuple[int, int, int], SkinWeights] = {}
        self._extras = {
            item.get("row", -1): item
            for item in read_records(file.path, json, "primitives", EXTRA)
        }

    @property
    def left(self) -> int:
        """How many primitives are still to be read."""
        return len(self._rows) - self._number

    def _error(self, reason: str) -> AssetError:
        reason = f"primitive {self._number}: {reason}"
        return self._file.error("primitives", reason)

    def _charge(self, size: int) -> None:
        self._spare -= size
        if self._spare < 0:
            raise self._error("needs more memory than the size of the file justifies")

    def read(self) -> Primitive:
        """The next primitive."""
        row = self._rows[self._number]
        count, attributes, mode, material, index_at, indices, wide, at, morphs = row
        if count < 0 or not 0 <= mode < 7:
            raise self._error(f"{count} vertices, mode {mode}")
        if not -1 <= material < self._materials:
            raise self._error(f"material {material} does not exist")
        if not 0 <= morphs <= self._targets:
            raise self._error(f"{morphs} morph targets")
        self._charge(SPARE_TARGET * morphs)
        single, texcoords, colours, targets = self._read_attributes(
            count, attributes, morphs
        )
        if single[0] is None:
            raise self._error("has no positions")
        extra = self._extras.get(self._number, NO_EXTRA)
        custom = extra.get("custom")
        made = Primitive.unchecked(
            *single,
            tuple(texcoords),
            tuple(colours),
            None if index_at == -1 else self._read_indices(count, index_at, indices),
            mode,
            None if material < 0 else material,
            None if wide == -1 else self._read_skin(count, at, wide),
            tuple([MorphTarget.unchecked(*target) for target in targets]),
            {} if custom is None else self._read_custom(custom, count),
            extra.get("carried"),
        )
        self._number += 1
        return made

    def _read_attributes(
        self, count: int, attributes: int, morphs: int
    ) -> tuple[list[Any], ...]:
        first, end = self._attribute, self._attribute + attributes
        if attributes < 0 or end > len(self._attributes):
            raise self._error("more attributes than there are")
        self._attribute = end
        single: list[Floats | None] = [None, None, None]
        texcoords, colours = [], []
        targets: list[list[Floats | None]] = [[None] * 3 for _ in range(morphs)]
        for kind, number, at in self._attributes[first:end]:
            if not 0 <= kind < len(KINDS):
                raise self._error(f"attribute of kind {kind}")
            pool = self._pools[kind]
            if not 0 <= at <= len(pool) - count:
                raise self._error(f"{KINDS[kind][0]} {at} to {at + count} do not exist")
            part = pool[at : at + count]
            self._charge(part.nbytes)
            if kind == TEXCOORDS:
                texcoords.append(part)
                continue
            if TEXCOORDS < kind < FIRST_MORPH:
                colours.append(part)
                continue
            place, slot = single, kind
            if kind >= FIRST_MORPH:
                if not 0 <= number < morphs:
                    raise self._error(f"there is no morph target {number}")
                place, slot = targets[number], kind - FIRST_MORPH
            if place[slot] is not None:
                raise self._error(f"has {KINDS[kind][0]} twice")
            place[slot] = part
        return single, texcoords, colours, targets

    def _read_indices(self, vertices: int, at: int, count: int) -> NDArray[np.uint32]:
        if not 0 <= at <= len(self._indices) - count or count < 0:
            raise self._error("indices that do not exist")
        indices = self._indices[at : at + count]
        self._charge(indices.nbytes)
        last = int(indices.max()) if count else -1
        if last >= vertices:
            raise self._error(f"index {last} with {vertices} vertices")
        return indices

    def _read_skin(self, vertices: int, at: int, wide: int) -> SkinWeights:
        size = vertices * wide
        if wide < 0 or not 0 <= at <= len(self._weights) - size:
            raise self._error("weights that do not exist")
        key = at, vertices, wide
        self._charge(6 * size)
        skin = self._skins.get(key)
        if skin is None:
            shape, part = key[1:], slice(at, at + size)
            joints = self._joints[part].reshape(shape)
            weights = self._weights[part].reshape(shape)
            skin = self._skins[key] = SkinWeights.unchecked(joints, weights)
        return skin

    def _read_custom(
        self, names: dict[str, str], count: int
    ) -> dict[str, NDArray[Any]]:
        custom = {}
        for title, name in names.items():
            custom[title] = array = self._file.any_array(name)
            if not array.ndim or len(array) != count:
                raise self._error(f"{list(array.shape)} for {title[:40]!r}")
            self._charge(array.nbytes)
        return custom

    def check_weights(self) -> None:
        """Refuse weights that are negative or do not sum to 1; they are finite."""
        blocks = [skin.weights for skin in self._skins.values()]
        widths = {wide for _, _, wide in self._skins}
        wide = max(widths, default=0)
        if len(widths) == 1 and wide and not any(at % wide for at, *_ in self._skins):
            if not len(self._weights) % wide:
                blocks = [self._weights.reshape(-1, wide)]  # all of them at once
        for block in blocks:
            worst = _off_one(block)
            if worst is not None:
                reason = f"negative, or off a sum of 1 by {worst:.3g}"
                raise self._file.error("weights", reason)


@lru_cache(4)
def _ones(count: int) -> Floats:
    return np.ones(count, np.float32)


def _off_one(weights: Floats) -> float | None:
    """How far the sum of a row (n, K) is off 1, if that is too far, or if negative."""
    if not weights.size:
        return 1.0 if len(weights) else None
    # A product is ten times as fast as a sum of short rows.
    sums = weights @ _ones(weights.shape[1])
    if weights.min() < 0:
        return 1.0
    if 1 - CLOSE <= sums.min() and sums.max() <= 1 + CLOSE:
        return None
    worst = float(np.abs(weights.sum(1, dtype=np.float64) - 1).max())
    return worst if worst > ALLOWED else None


def check_joints(
    file: TensorFile,
    joints: NDArray[np.uint16],
    tables: tuple[tuple[Mesh, ...], tuple[Skin, ...]],
    pairs: Iterable[tuple[int, int]],
) -> None:
    """Refuse weights on joints that a mesh's skin does not have.

    joints: all of the file; pairs: mesh and skin of each node, -1 for none.
    """
    meshes, skins = tables
    largest = int(joints.max()) if len(joints) else 0
    # A mesh may hang on many skins; the smallest decides, so each is looked at once.
    fewest: dict[int, int] = {}
    for mesh, skin in set(pairs):
        if mesh >= 0 and skin >= 0:
            count = len(skins[skin].joints)
            fewest[mesh] = min(count, fewest.get(mesh, count))
    for mesh, count in fewest.items():
        if largest < count:
            continue
        for primitive in meshes[mesh].primitives:
            own = primitive.skin
            if own is not None:
                used = own.joints[own.weights > 0].astype(np.int64)
                last = int(used.max(initial=-1))
                if last >= count:
                    reason = f"mesh {mesh} hangs on missing joint {last}"
                    raise file.error("joints", reason)
