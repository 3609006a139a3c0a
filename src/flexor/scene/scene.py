"""The whole of a character file as frozen values."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, fields
from types import MappingProxyType
from typing import Any

import numpy as np
from numpy.typing import NDArray

from flexor.arrays import Floats, Ints, freeze
from flexor.errors import ShapeError
from flexor.scene.character.clip import Clip
from flexor.scene.character.material import Image, Material, Sampler, Texture
from flexor.scene.character.mesh import Mesh
from flexor.scene.character.skeleton import Skeleton
from flexor.scene.character.weights import Skin
from flexor.scene.finding import Finding
from flexor.scene.runtime.packed_clip import PackedClip
from flexor.scene.unchecked import filled

__all__ = ["RootSet", "Scene"]


@dataclass(frozen=True, slots=True)
class RootSet:
    """The root nodes of one of a file's scenes."""

    name: str
    nodes: tuple[int, ...]
    carried: dict[str, Any] | None = None


@dataclass(frozen=True, slots=True, eq=False)
class Scene:
    """Everything that a file says about its characters; all rows in file order.

    skeleton: the nodes; node_mesh, node_skin: int32 (J,), rows in `meshes` and `skins`
    or -1; node_weights: morph weights (M,) of nodes that have their own; clips: by
    name; root_sets: the file's scenes; default_set: the one shown, None where the file
    does not say; findings: what was odd or mended; carried: JSON of the file's top
    level, nodes and so on that is written back as it was read but not looked at.
    """

    skeleton: Skeleton
    node_mesh: Ints
    node_skin: Ints
    meshes: tuple[Mesh, ...] = ()
    skins: tuple[Skin, ...] = ()
    clips: Mapping[str, Clip | PackedClip] = field(default_factory=dict)
    materials: tuple[Material, ...] = ()
    textures: tuple[Texture, ...] = ()
    samplers: tuple[Sampler, ...] = ()
    images: tuple[Image, ...] = ()
    root_sets: tuple[RootSet, ...] = ()
    default_set: int | None = None
    node_weights: Mapping[int, Floats] = field(default_factory=dict)
    node_carried: Mapping[int, dict[str, Any]] = field(default_factory=dict)
    carried: dict[str, Any] = field(default_factory=dict)
    findings: tuple[Finding, ...] = ()

    def __post_init__(self) -> None:
        count = len(self.skeleton)
        for name, limit in (("node_mesh", self.meshes), ("node_skin", self.skins)):
            rows = freeze(getattr(self, name), np.int32, (count,), name)
            object.__setattr__(self, name, rows)
            if count and not (-1 <= rows.min() and rows.max() < len(limit)):
                raise ShapeError(f"{name}: must lie in -1..{len(limit) - 1}")
        weights = {
            node: freeze(own, np.float32, (None,), f"node_weights[{node}]")
            for node, own in self.node_weights.items()
        }
        object.__setattr__(self, "node_weights", weights)
        for name in ("clips", "node_weights", "node_carried"):
            frozen = MappingProxyType(dict(getattr(self, name)))
            object.__setattr__(self, name, frozen)
        self._check_nodes()
        self._check_morphs()
        self._check_joints()
        self._check_looks()

    @classmethod
    def unchecked(cls, **values: Any) -> Scene:
        """A scene of which everything was checked before.

        values: those of all fields; its mappings must not be changed afterwards, and
        clips may be one that makes them when they are asked for.
        """
        for name in ("node_weights", "node_carried"):
            values[name] = MappingProxyType(values[name])
        return filled(cls, *(values[name] for name in cls.__slots__))

    def __reduce__(self) -> tuple[Any, ...]:
        values = [getattr(self, field.name) for field in fields(self)]
        plain = [dict(v) if isinstance(v, Mapping) else v for v in values]
        return Scene, tuple(plain)

    def _check_nodes(self) -> None:
        """Refuse numbers of nodes that do not exist."""
        count = len(self.skeleton)
        for clip in self.clips.values():
            if any(not 0 <= node < count for node in clip.nodes):
                raise ShapeError(f"clip {clip.name!r}: a track names a missing node")
        for roots in self.root_sets:
            if any(not 0 <= node < count for node in roots.nodes):
                raise ShapeError(f"root_sets: {roots.name!r} names a missing node")
        if self.default_set is not None:
            if not 0 <= self.default_set < len(self.root_sets):
                have = len(self.root_sets)
                raise ShapeError(f"default_set: {self.default_set} of {have} root_sets")
        for skin in self.skins:
            low, high = skin.joints.min(initial=0), skin.joints.max(initial=-1)
            if low < 0 or high >= count:
                raise ShapeError(f"skin {skin.name!r}: names a missing node")
            if skin.root is not None and not 0 <= skin.root < count:
                raise ShapeError(f"skin {skin.name!r}: names a missing root")

    def _check_morphs(self) -> None:
        """Refuse morph weights that are not as many as the node's mesh has targets."""
        wanted = [
            0 if mesh < 0 else len(self.meshes[mesh].morph_weights)
            for mesh in self.node_mesh.tolist()
        ]
        for node, weights in self.node_weights.items():
            if not 0 <= node < len(wanted):
                raise ShapeError(f"node_weights: there is no node {node}")
            if len(weights) != wanted[node]:
                raise ShapeError(
                    f"node_weights: {len(weights)} weights at node {node}, "
                    f"expected {wanted[node]}"
                )
        for clip in self.clips.values():
            # Morph weights are never packed.
            for track in clip.keyed if isinstance(clip, PackedClip) else clip.tracks:
                width = track.values.shape[-1]
                if track.path == "weights" and width != wanted[track.node]:
                    raise ShapeError(
                        f"clip {clip.name!r}: {width} weights at node {track.node}, "
                        f"expected {wanted[track.node]}"
                    )

    def _check_joints(self) -> None:
        """Refuse weights on joints that a mesh's skin does not have."""
        pairs = zip(self.node_mesh.tolist(), self.node_skin.tolist(), strict=True)
        for mesh, skin in set(pairs):
            if mesh < 0 or skin < 0:
                continue
            for primitive in self.meshes[mesh].primitives:
                if primitive.skin is None:
                    continue
                used = primitive.skin.joints[primitive.skin.weights > 0]
                last = int(used.astype(np.int64).max(initial=-1))
                if last >= len(self.skins[skin].joints):
                    name = self.meshes[mesh].name
                    raise ShapeError(f"mesh {name!r}: hangs on missing joint {last}")

    def _check_looks(self) -> None:
        """Refuse materials, textures, images and samplers that do not exist."""
        rows: list[tuple[str, int | None, tuple[Any, ...]]] = [
            ("material", row, self.materials)
            for mesh in self.meshes
            for row in (p.material for p in mesh.primitives)
        ]
        for material in self.materials:
            refs = material.texture_refs()
            rows += [("texture", ref.texture, self.textures) for ref in refs]
        for texture in self.textures:
            rows += [("image", texture.image, self.images)]
            rows += [("sampler", texture.sampler, self.samplers)]
        for what, row, table in rows:
            if row is not None and not 0 <= row < len(table):
                raise ShapeError(f"{what} {row} does not exist; there are {len(table)}")

    def shown_nodes(self) -> NDArray[np.bool_]:
        """Nodes of the default scene, bool (J,); all where no scene is given."""
        if not self.root_sets:
            return np.ones(len(self.skeleton), bool)
        shown = np.zeros(len(self.skeleton), bool)
        shown[list(self.root_sets[self.default_set or 0].nodes)] = True
        for node in self.skeleton.order:
            parent = self.skeleton.parents[node]
            shown[node] |= parent >= 0 and shown[parent]
        return shown

    def rest_weights(self, node: int) -> Floats:
        """Morph weights (M,) of the node's mesh at rest."""
        own = self.node_weights.get(node)
        return self.meshes[self.node_mesh[node]].morph_weights if own is None else own
