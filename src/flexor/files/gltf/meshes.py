"""Meshes and skins out of glTF."""

from __future__ import annotations

import re
from typing import Any

import numpy as np
from numpy.typing import NDArray

from flexor.arrays import Floats
from flexor.files import mend
from flexor.files.gltf.accessors import Accessors
from flexor.files.gltf.carried import carried_of
from flexor.files.gltf.checked import Checked
from flexor.files.gltf.extensions import khr_draco_mesh_compression as draco
from flexor.scene.character.mesh import (
    TRIANGLES,
    Mesh,
    MorphTarget,
    Primitive,
)
from flexor.scene.character.normals import vertex_normals
from flexor.scene.character.weights import SkinWeights
from flexor.scene.finding import Finding

__all__ = ["MeshReader"]

KNOWN = re.compile(
    r"POSITION|NORMAL|TANGENT|(TEXCOORD|COLOR|JOINTS|WEIGHTS)_(0|[1-9][0-9]{0,2})"
)


class MeshReader:
    """Reads meshes; keeps the file's tables and the list of findings at hand."""

    def __init__(
        self,
        accessors: Accessors,
        findings: list[Finding],
        material_count: int,
        joint_counts: dict[int, int],
    ) -> None:
        self._accessors = accessors
        self._findings = findings
        self._material_count = material_count
        # Fewest joints of the skins that a mesh (by row) is used with.
        self._joint_counts = joint_counts
        # By joint count and the arrays it was made of, which are kept to stay the same.
        self._skins: dict[tuple[int, ...], tuple[SkinWeights, list[NDArray[Any]]]] = {}

    def read(self, item: Checked, row: int) -> Mesh:
        """One mesh."""
        joint_count = self._joint_counts.get(row)
        parts = item.items("primitives")
        if not parts:
            raise item.error("a mesh needs at least one primitive", "primitives")
        primitives = tuple(self._primitive(part, joint_count) for part in parts)
        target_count = len(primitives[0].targets)
        for part, primitive in zip(parts, primitives, strict=True):
            if len(primitive.targets) != target_count:
                have = len(primitive.targets)
                raise part.error(f"{have} targets, the first primitive {target_count}")
        weights = item.vector("weights", (0.0,) * target_count)
        carried = carried_of(item, "extensions", "extras")
        names = _target_names(carried, target_count)
        return Mesh(
            item.text("name"),
            primitives,
            np.array(weights, np.float32),
            names,
            carried,
        )

    def _note(self, code: str, item: Checked, text: str) -> None:
        self._findings.append(Finding("warning", code, item.pointer, text))

    def _primitive(self, item: Checked, joint_count: int | None) -> Primitive:
        accessors = self._accessors
        attributes = item.child("attributes")
        rows = {
            name: attributes.row(name, len(accessors), "accessor")
            for name in attributes.names()
        }
        if "POSITION" not in rows:
            raise attributes.error("'POSITION' is missing")
        mode = item.integer("mode", TRIANGLES, 0, 6)
        corners = self._corners(item, rows, mode)
        positions = accessors.finite(attributes, "POSITION", rows["POSITION"], 3)
        for name, row in rows.items():
            if accessors.count(row) != len(positions):
                raise attributes.error(
                    f"{accessors.count(row)} elements, POSITION has {len(positions)}",
                    name,
                )
        if corners is not None and corners.max(initial=0) >= len(positions):
            raise item.error(
                f"vertex {int(corners.max())} of {len(positions)}", "indices"
            )
        return Primitive(
            positions,
            self._normals(
                attributes, rows, Primitive(positions, indices=corners, mode=mode)
            ),
            self._tangents(attributes, rows),
            self._filled(attributes, rows, "TEXCOORD", (2,)),
            self._filled(attributes, rows, "COLOR", (3, 4)),
            corners,
            mode,
            item.index("material", self._material_count, "material"),
            self._skin(attributes, rows, joint_count, positions),
            tuple(self._target(part, len(positions)) for part in item.items("targets")),
            {
                name: self._custom(attributes, name, row)
                for name, row in rows.items()
                if not KNOWN.fullmatch(name)
            },
            carried_of(item, "extensions", "extras", without=(draco.NAME,)),
        )

    def _custom(self, attributes: Checked, name: str, row: int) -> NDArray[Any]:
        """An attribute of the file's own; 32-bit integers are not valid: narrowed."""
        values = self._accessors.raw(row)
        if values.dtype == np.uint32:
            is_small = int(values.max(initial=0)) < 1 << 16
            values = values.astype(np.uint16 if is_small else np.float32)
            text = (
                f"{name} is 32 bits wide, which glTF forbids; now {values.dtype.name}"
            )
            self._note("attribute-wide", attributes, text)
        return values

    def _corners(
        self, item: Checked, rows: dict[str, int], mode: int
    ) -> NDArray[np.uint32] | None:
        """The primitive's indices; where it is compressed, all of it is unpacked."""
        row = item.index("indices", len(self._accessors), "accessor")
        packed = draco.draco_of(item)
        if packed is not None:
            return draco.unpack_draco(item, packed, rows, row, mode, self._accessors)
        if row is None:
            return None
        return self._accessors.integers(row, 1)[:, 0].astype(np.uint32)

    def _normals(
        self, attributes: Checked, rows: dict[str, int], made: Primitive
    ) -> Floats | None:
        if "NORMAL" not in rows:
            return None
        raw = self._accessors.floats(rows["NORMAL"], 3)
        spare = raw if _all_directed(raw) else vertex_normals(made)
        normals, none, off = mend.mend_directions(raw, spare)
        if none:
            text = f"{none} normals without a direction were made from the surface"
            self._note("normals-empty", attributes, text)
        if off:
            text = f"{off} normals were not of unit length; they were scaled to it"
            self._note("normals-length", attributes, text)
        return normals

    def _tangents(self, attributes: Checked, rows: dict[str, int]) -> Floats | None:
        if "TANGENT" not in rows:
            return None
        raw = self._accessors.floats(rows["TANGENT"], 4)
        axis = np.zeros((len(raw), 3), np.float32)
        axis[:, 0] = 1
        unit, none, _ = mend.mend_directions(raw[:, :3], axis)
        if none:
            text = f"{none} tangents without a direction now point along x"
            self._note("tangents-empty", attributes, text)
        sign = np.where(raw[:, 3:] < 0, np.float32(-1), np.float32(1))
        return np.concatenate([unit, sign], 1)

    def _filled(
        self,
        attributes: Checked,
        rows: dict[str, int],
        name: str,
        widths: tuple[int, ...],
    ) -> tuple[Floats, ...]:
        """The sets NAME_0, NAME_1, ...; elements that are not finite become 0."""
        found = []
        for row in _numbered(rows, name, attributes):
            values = self._accessors.floats(row, *widths)
            broken = np.asarray(~np.isfinite(values).all(1))
            if broken.any():
                values = np.where(broken[:, None], np.float32(0), values)
                text = f"{int(broken.sum())} elements of {name} not finite, now 0"
                self._note(f"{name.lower()}-broken", attributes, text)
            found.append(values)
        return tuple(found)

    def _skin(
        self,
        attributes: Checked,
        rows: dict[str, int],
        joint_count: int | None,
        positions: Floats,
    ) -> SkinWeights | None:
        joint_rows = _numbered(rows, "JOINTS", attributes)
        weight_rows = _numbered(rows, "WEIGHTS", attributes)
        if len(joint_rows) != len(weight_rows):
            raise attributes.error(
                f"{len(joint_rows)} sets of JOINTS, {len(weight_rows)} of WEIGHTS"
            )
        if not joint_rows:
            return None
        joints = [self._accessors.integers(row, 4) for row in joint_rows]
        weights = [self._accessors.floats(row, 4) for row in weight_rows]
        count = 1 << 16 if joint_count is None else joint_count
        key = (count, *(id(array) for array in [positions, *joints, *weights]))
        if key in self._skins:
            return self._skins[key][0]
        for array in joints:
            if array.dtype == np.uint32:
                raise attributes.error("joints must be 8 or 16 bits wide", "JOINTS_0")
        try:
            skin, report = mend.mend_weights(
                np.hstack(joints), np.hstack(weights), count, positions
            )
        except IndexError as error:
            raise attributes.error(str(error), "JOINTS_0") from None
        for what, vertices in report.items():
            extra = f", by {report.worst:.2g} at worst" if what == "sum not 1" else ""
            self._note(
                "weights-mended", attributes, f"{vertices} vertices: {what}{extra}"
            )
        self._skins[key] = skin, [positions, *joints, *weights]
        return skin

    def _target(self, item: Checked, count: int) -> MorphTarget:
        """One morph target. Only positions, normals and tangents are kept."""
        deltas: dict[str, Floats | None] = {}
        for name in ("POSITION", "NORMAL", "TANGENT"):
            row = item.index(name, len(self._accessors), "accessor")
            deltas[name] = None
            if row is None:
                continue
            values = self._accessors.finite(item, name, row, 3)
            if len(values) != count:
                raise item.error(f"{len(values)} elements, POSITION has {count}", name)
            deltas[name] = values
        return MorphTarget(deltas["POSITION"], deltas["NORMAL"], deltas["TANGENT"])


def _all_directed(vectors: Floats) -> bool:
    """Whether every vector (V, 3) has a direction."""
    if not np.isfinite(vectors).all():
        return False
    return bool((np.linalg.norm(vectors.astype(np.float64), axis=1) >= 1e-6).all())


def _numbered(rows: dict[str, int], name: str, attributes: Checked) -> list[int]:
    """Accessors of NAME_0, NAME_1, ...; a gap in the numbers is an error."""
    numbers = sorted(
        int(key[len(name) + 1 :])
        for key in rows
        if KNOWN.fullmatch(key) and key.startswith(name + "_")
    )
    if numbers != list(range(len(numbers))):
        have = ", ".join(f"{name}_{n}" for n in numbers)
        raise attributes.error(f"{have}: the numbers must start at 0 without a gap")
    return [rows[f"{name}_{n}"] for n in numbers]


def _target_names(carried: dict[str, Any] | None, count: int) -> tuple[str, ...]:
    """Names of morph targets from the customary place in `extras`, if they fit."""
    extras = (carried or {}).get("extras")
    names = extras.get("targetNames") if isinstance(extras, dict) else None
    if isinstance(names, list) and len(names) == count:
        return tuple(str(name) for name in names)
    return ()
