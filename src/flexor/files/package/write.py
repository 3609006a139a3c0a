"""A package as a .flexor file.

What is an array becomes one; the rest is JSON under ``scene``, see `read`. The
file is read again before it gets its name: what was written can be read.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from flexor.arrays import Floats
from flexor.errors import AssetError
from flexor.files.gltf.material_looks import give_looks
from flexor.files.package.clips import pack_clips
from flexor.files.package.envelopes import pack_envelopes
from flexor.files.package.format import (
    ENVELOPES,
    FORMAT,
    LEVELS,
    OLDEST,
    PACKED,
    VERSION,
    seal,
)
from flexor.files.package.levels import pack_levels
from flexor.files.package.meshes import FIRST_MORPH, KINDS, TEXCOORDS
from flexor.files.package.read import FLOATS, WANTED, read_package
from flexor.files.package.records import record
from flexor.files.package.tensors import layout_tensors
from flexor.files.replace import new_file, writing
from flexor.scene.character.mesh import Mesh, Primitive
from flexor.scene.character.tree import depths
from flexor.scene.runtime.package import Package
from flexor.scene.scene import Scene

__all__ = ["write_package"]

Arrays = dict[str, NDArray[Any]]


def write_package(package: Package, path: Path) -> None:
    """Write a .flexor file. It appears under its name only when it is complete."""
    try:
        head, parts = _layout(package)
    except (TypeError, ValueError, OverflowError, RecursionError) as error:
        raise AssetError(path, "", f"cannot be written: {error}") from None
    with new_file(path) as temporary:
        with writing(path), open(temporary, "wb") as file:
            file.write(head)
            file.writelines(parts)
        _check_written(temporary, path)


def _check_written(temporary: Path, path: Path) -> None:
    """Refuse what cannot be read again, such as numbers that are not finite."""
    try:
        package = read_package(temporary)
        _ = package.envelopes, package.levels
    except AssetError as error:
        text = f"cannot be written, it could not be read again: {error.text}"
        raise AssetError(path, error.pointer, text) from None


def _layout(package: Package) -> tuple[bytes, list[memoryview]]:
    """The header of a file, and its data."""
    text, arrays = _pack_scene(package.scene)
    inner = {}
    given = package.envelopes
    if given is not None and (given.multi is not None or given.one is not None):
        inner[ENVELOPES] = pack_envelopes(given)
    if package.levels is not None:
        inner[LEVELS] = pack_levels(package.levels)
    metadata = {
        "checksum": "0" * 16,
        "format": FORMAT,
        "version": str(_version(arrays)),
        "scene": text,
    }
    # Floats that are looked at are neighbours, so that one look is enough: the layout
    # keeps this order among arrays of one element size.
    first = {name: arrays[name] for name in FLOATS if name in arrays}
    every = {**inner, **first, **arrays}
    head, parts = layout_tensors(metadata, every)
    return seal(head, parts), parts


def _version(arrays: Arrays) -> int:
    """The first whose releases can read this: it is theirs to read."""
    if "link_axes" in arrays:
        return VERSION
    return PACKED if "packed" in arrays else OLDEST


def _plain(value: Any) -> Any:
    """NumPy's numbers as Python's, for JSON."""
    if isinstance(value, np.generic):
        return value.item()
    raise TypeError(f"{type(value).__name__} cannot be stored")


def _pack_scene(scene: Scene) -> tuple[str, Arrays]:
    """The JSON of a scene, and its arrays by name."""
    arrays: Arrays = {}
    primitives = _PrimitiveWriter(arrays)
    tables: dict[str, Any] = {
        "names": list(scene.skeleton.names),
        "meshes": [_pack_mesh(mesh, primitives) for mesh in scene.meshes],
        "primitives": primitives.extras,
        "skins": [
            record(skin, "joints", "inverse_binds") | {"joints": len(skin.joints)}
            for skin in scene.skins
        ],
        "clips": pack_clips(scene.clips, arrays),
        "materials": [record(give_looks(item)) for item in scene.materials],
        "textures": [record(item) for item in scene.textures],
        "samplers": [record(item) for item in scene.samplers],
        "images": [
            record(image, "data") | {"size": len(image.data)} for image in scene.images
        ],
        "root_sets": [record(item) for item in scene.root_sets],
        "default_set": scene.default_set,
        "node_carried": [
            {"node": node, "carried": carried}
            for node, carried in scene.node_carried.items()
        ],
        "carried": scene.carried,
        "findings": [record(item) for item in scene.findings],
    }
    _pack_nodes(scene, arrays)
    primitives.finish()
    kept = {
        key: value
        for key, value in tables.items()
        if key == "names" or (value is not None and value != [] and value != {})
    }
    known = {n: a for n, a in arrays.items() if a.size or n not in WANTED.kinds}
    return json.dumps(kept, separators=(",", ":"), default=_plain), known


def _pack_nodes(scene: Scene, arrays: Arrays) -> None:
    skeleton = scene.skeleton
    parents = skeleton.parents
    columns = (parents, depths(parents), scene.node_mesh, scene.node_skin)
    arrays["nodes"] = np.concatenate(columns).astype(np.int32)
    for name in ("translations", "rotations", "scales"):
        arrays[name] = getattr(skeleton, name)
    links = skeleton.links
    pairs = [(node, link.joint) for node, link in links.items()]
    arrays["links"] = np.array(pairs, np.int32).reshape(-1, 2)
    arrays["link_fractions"] = np.array([link.fraction for link in links.values()])
    if any(link.axis for link in links.values()):
        axes = [link.axis or (0.0, 0.0, 0.0) for link in links.values()]
        arrays["link_axes"] = np.array(axes, np.float64)
    swings = [node for node, link in links.items() if link.is_swing]
    if swings:
        arrays["link_swings"] = np.array(swings, np.int32)
    for name, rows, values, shape in (
        ("matrices", "matrix_nodes", skeleton.matrices, (-1, 3, 4)),
        ("node_weights", "weight_nodes", scene.node_weights, (-1,)),
    ):
        arrays[rows] = np.array(list(values), np.int32)
        flat = [value.ravel() for value in values.values()]
        arrays[name] = np.concatenate([*flat, np.zeros(0, np.float32)]).reshape(shape)
    none = np.zeros(0, np.int32)
    skins = scene.skins
    arrays["skin_joints"] = np.concatenate([*(s.joints for s in skins), none])
    binds = [skin.inverse_binds for skin in skins]
    arrays["inverse_binds"] = np.concatenate([*binds, np.zeros((0, 3, 4), np.float32)])
    weights = [mesh.morph_weights for mesh in scene.meshes]
    arrays["morph_weights"] = np.concatenate([*weights, np.zeros(0, np.float32)])
    images = b"".join(image.data for image in scene.images)
    arrays["images"] = np.frombuffer(images, np.uint8)


def _pack_mesh(mesh: Mesh, primitives: _PrimitiveWriter) -> dict[str, Any]:
    for primitive in mesh.primitives:
        primitives.add(primitive)
    out = record(mesh, "primitives", "morph_weights")
    return out | {"primitives": len(mesh.primitives)}


def _attributes(primitive: Primitive) -> Iterator[tuple[int, int, Floats]]:
    """Kind, number of the morph target (or 0) and array of every attribute."""
    single = primitive.positions, primitive.normals, primitive.tangents
    for kind, array in enumerate(single):
        if array is not None:
            yield kind, 0, array
    for array in primitive.texcoords:
        yield TEXCOORDS, 0, array
    for array in primitive.colours:
        yield TEXCOORDS + array.shape[1] - 2, 0, array  # three numbers, or four
    for number, target in enumerate(primitive.targets):
        deltas = target.positions, target.normals, target.tangents
        for kind, array in enumerate(deltas, FIRST_MORPH):
            if array is not None:
                yield kind, number, array


class _Pool:
    """Rows of arrays, one after another; the same array is stored once."""

    def __init__(self, width: int, kind: type[np.generic]) -> None:
        self._chunks = [np.zeros((0, width) if width else 0, kind)]
        self._known: dict[tuple[Any, ...], int] = {}
        self._size = 0

    def add(self, array: NDArray[Any]) -> int:
        """Where the rows of `array` begin."""
        place = array.__array_interface__["data"][0], array.shape, array.strides
        at = self._known.get(place)
        if at is None:
            at = self._known[place] = self.append(array)
        return at

    def append(self, array: NDArray[Any]) -> int:
        """The same, also for an array that is known."""
        self._chunks.append(array)  # lives on, so its place stays its own
        self._size += len(array)
        return self._size - len(array)

    def joined(self) -> NDArray[Any]:
        """All rows."""
        return np.concatenate(self._chunks)


class _PrimitiveWriter:
    """Collects primitives; extras: what of them is no number."""

    def __init__(self, arrays: Arrays) -> None:
        self.extras: list[dict[str, Any]] = []
        self._arrays = arrays
        self._pools = [_Pool(wide, np.float32) for _, wide in KINDS]
        self._indices = _Pool(0, np.uint32)
        self._skins: dict[int, int] = {}
        self._joints, self._weights = _Pool(0, np.uint16), _Pool(0, np.float32)
        self._rows: list[tuple[int, ...]] = []
        self._attributes: list[tuple[int, int, int]] = []

    def add(self, primitive: Primitive) -> None:
        """The next primitive."""
        parts = list(_attributes(primitive))
        for kind, number, array in parts:
            self._attributes.append((kind, number, self._pools[kind].add(array)))
        indices, skin = primitive.indices, primitive.skin
        influences, skin_at = -1, 0
        if skin is not None:
            influences = skin.joints.shape[1]
            if id(skin) not in self._skins:
                self._joints.append(skin.joints.ravel())
                self._skins[id(skin)] = self._weights.append(skin.weights.ravel())
            skin_at = self._skins[id(skin)]
        self._rows.append(
            (
                len(primitive),
                len(parts),
                primitive.mode,
                -1 if primitive.material is None else primitive.material,
                -1 if indices is None else self._indices.add(indices),
                0 if indices is None else len(indices),
                influences,
                skin_at,
                len(primitive.targets),
            )
        )
        self._add_extras(primitive)

    def _add_extras(self, primitive: Primitive) -> None:
        extra: dict[str, Any] = {}
        if primitive.custom:
            names: dict[str, str] = {}
            for name, array in primitive.custom.items():
                names[name] = f"custom.{len(self._rows) - 1}.{len(names)}"
                self._arrays[names[name]] = array
            extra["custom"] = names
        if primitive.carried is not None:
            extra["carried"] = primitive.carried
        if extra:
            self.extras.append({"row": len(self._rows) - 1, **extra})

    def finish(self) -> None:
        """Put the tables into the arrays of the file."""
        for (name, _), pool in zip(KINDS, self._pools, strict=True):
            self._arrays[name] = pool.joined()
        self._arrays["indices"] = self._indices.joined()
        self._arrays["joints"] = self._joints.joined()
        self._arrays["weights"] = self._weights.joined()
        self._arrays["primitives"] = np.array(self._rows, np.int32).reshape(-1, 9)
        attributes = np.array(self._attributes, np.int32).reshape(-1, 3)
        self._arrays["attributes"] = attributes
