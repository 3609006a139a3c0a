"""Levels of detail in a package: a container of their own, read when asked for.

All surfaces and levels follow each other in few long arrays: faces, joints and weights
by surface, inside that by level. How many of each there are stands in small tables.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from itertools import accumulate
from typing import Any

import numpy as np
from numpy.typing import NDArray

from flexor.errors import AssetError, ShapeError
from flexor.files.package.format import LEVELS
from flexor.files.package.tensors import TensorFile, Wanted, join_tensors, parse_json
from flexor.scene.runtime.levels import Levels, LevelSurface, check_levels
from flexor.scene.runtime.node_table import NodeTable
from flexor.scene.scene import Scene

__all__ = ["pack_levels", "read_levels"]

Arrays = dict[str, NDArray[Any]]

WANTED = Wanted(
    {
        "names": ("U8", ()),  # of the nodes in the table: JSON, a list of texts
        "nodes": ("I32", ()),
        "parents": ("I32", ()),
        "lengths": ("F32", ()),
        "masks": ("U8", ()),  # level by level, 1 for a node that is selected
        "slots": ("I32", ()),
        "binds": ("F32", (3, 4)),
        "errors": ("F32", (2,)),
        "height": ("F64", ()),
        "materials": ("I32", ()),  # one of each surface
        # Vertices, faces and influences of each surface, level by level.
        "counts": ("I32", (3,)),
        "sources": ("I32", (3,)),
        "faces": ("I32", (3,)),
        "joints": ("U16", ()),
        "weights": ("F32", ()),
        # Positions and normals of levels that have their own, and which do.
        "shapes": ("F32", (6,)),
        "shaped": ("U8", ()),  # of each surface, level by level, 1 for those
    }
)


def pack_levels(levels: Levels) -> NDArray[np.uint8]:
    """Levels as one container; empty arrays are left out."""
    table, surfaces = levels.table, levels.surfaces
    counts = [
        (int(surface.counts[level]), len(faces), surface.joints[level].shape[1])
        for surface in surfaces
        for level, faces in enumerate(surface.faces)
    ]
    arrays: Arrays = {
        "names": np.frombuffer(json.dumps(table.names).encode(), np.uint8),
        "nodes": table.nodes,
        "parents": table.parents,
        "lengths": table.lengths,
        "masks": levels.masks.ravel().view(np.uint8),
        "slots": levels.slots,
        "binds": levels.binds,
        "errors": levels.errors,
        "height": np.array([levels.height], np.float64),
        "materials": np.array([one.material for one in surfaces], np.int32),
        "counts": np.array(counts, np.int32).reshape(-1, 3),
        "sources": _join("sources", [one.sources for one in surfaces]),
        "faces": _join("faces", [own for one in surfaces for own in one.faces]),
        "shapes": _join("shapes", [own for one in surfaces for own in one.shapes]),
        "shaped": np.array(
            [len(own) > 0 for one in surfaces for own in one.shapes], np.uint8
        ),
    }
    for name in ("joints", "weights"):
        parts = [own.ravel() for one in surfaces for own in getattr(one, name)]
        arrays[name] = _join(name, parts)
    return join_tensors({name: array for name, array in arrays.items() if array.size})


def _join(name: str, parts: list[NDArray[Any]]) -> NDArray[Any]:
    return np.concatenate([WANTED.empty[name], *parts])


def read_levels(file: TensorFile, scene: Scene) -> Levels:
    """The levels of a file that has some, and whose scene was read before."""
    inner = file.inner(LEVELS)
    arrays = inner.arrays(WANTED)
    try:
        # Numbers of the file may be of any size: what comes of them is checked.
        with np.errstate(all="ignore"):
            levels = _read(inner, arrays)
            check_levels(levels, scene)
    except ShapeError as error:
        raise AssetError(file.path, LEVELS, str(error)[:200]) from None
    return levels


def _read(inner: TensorFile, arrays: Arrays) -> Levels:
    level_count = len(arrays["errors"])
    table = NodeTable(
        _read_names(inner, arrays["names"]),
        arrays["nodes"],
        arrays["parents"],
        arrays["lengths"],
    )
    masks = arrays["masks"]
    if masks.size != level_count * len(table) or (masks > 1).any():
        nodes = f"{level_count} levels of {len(table)} nodes"
        raise inner.error("masks", f"expected a 0 or 1 for each of {nodes}")
    if len(arrays["height"]) != 1:
        found = len(arrays["height"])
        raise inner.error("height", f"{found} numbers, expected 1")
    return Levels(
        table,
        masks.reshape(level_count, len(table)).view(np.bool_),
        arrays["slots"],
        arrays["binds"],
        arrays["errors"],
        float(arrays["height"][0]),
        tuple(_read_surfaces(inner, arrays, level_count)),
    )


def _read_names(inner: TensorFile, data: NDArray[np.uint8]) -> tuple[str, ...]:
    try:
        names = parse_json(data.tobytes().decode() or "[]")
    except ValueError as error:
        raise inner.error("names", f"not JSON: {error}") from None
    if type(names) is not list or not all(type(name) is str for name in names):
        raise inner.error("names", "expected a list of texts")
    return tuple(names)


def _read_surfaces(
    inner: TensorFile, arrays: Arrays, level_count: int
) -> Iterator[LevelSurface]:
    materials, counts = arrays["materials"].tolist(), arrays["counts"].tolist()
    if len(counts) != len(materials) * level_count:
        wanted = f"{len(materials)} surfaces of {level_count} levels"
        raise inner.error("counts", f"{len(counts)} rows for {wanted}")
    if counts and arrays["counts"].min() < 0:
        raise inner.error("counts", "must be 0 or above")
    # In plain numbers, which grow as they must.
    vertices, faces, joints = (
        [0, *accumulate(sizes)]
        for sizes in (
            [row[0] for row in counts[::level_count]] if counts else [],
            [row[1] for row in counts],
            [row[0] * row[2] for row in counts],
        )
    )
    shaped = arrays["shaped"].tolist() or [0] * len(counts)
    if len(shaped) != len(counts) or max(shaped, default=0) > 1:
        raise inner.error("shaped", f"expected a 0 or 1 for each of {len(counts)}")
    sizes = [row[0] * is_own for row, is_own in zip(counts, shaped, strict=True)]
    shapes = [0, *accumulate(sizes)]
    ends = {"sources": vertices, "faces": faces, "joints": joints, "weights": joints}
    ends["shapes"] = shapes
    for name, places in ends.items():
        if places[-1] != len(arrays[name]):
            text = f"{len(arrays[name])} of them, counts say {places[-1]}"
            raise inner.error(name, text)
    for number, material in enumerate(materials):
        first, last = vertices[number], vertices[number + 1]
        rows = range(number * level_count, (number + 1) * level_count)
        influences = [
            tuple(
                arrays[name][joints[row] : joints[row + 1]].reshape(
                    counts[row][0], counts[row][2]
                )
                for row in rows
            )
            for name in ("joints", "weights")
        ]
        yield LevelSurface(
            material,
            arrays["sources"][first:last],
            arrays["counts"][rows.start : rows.stop, 0],
            tuple(arrays["faces"][faces[row] : faces[row + 1]] for row in rows),
            influences[0],
            influences[1],
            tuple(arrays["shapes"][shapes[row] : shapes[row + 1]] for row in rows),
        )
