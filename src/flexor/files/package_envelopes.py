"""Envelopes in a package: their arrays as they are, read when they are asked for."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from flexor.arrays import Ints
from flexor.errors import ShapeError
from flexor.files.package_format import ENVELOPES
from flexor.files.tensors import TensorFile, Wanted, join_tensors
from flexor.scene.envelope import (
    BLOCK,
    END,
    MODEL,
    MORPH_NODE,
    NODE,
    OP,
    OWNER,
    PRIMITIVE,
    VERTICES,
    Envelope,
    Envelopes,
)
from flexor.scene.scene import Scene

__all__ = ["pack_envelopes", "read_envelopes"]

# Arrays of an envelope: type, and shape but for the first length.
ARRAYS: dict[str, tuple[str, tuple[int, ...]]] = {
    "steps": ("I32", (5,)),
    "table": ("I32", ()),
    "data": ("F32", ()),
    "parts": ("I32", (6,)),
    "order": ("I32", ()),
    "faces": ("I32", (3,)),
    "addresses": ("I32", ()),
    "morphs": ("I32", (5,)),
    "deltas": ("F32", ()),
}
PEAKS = "peaks"  # int32 (2,), places in the buffer: with all weights, and with one
WANTED = Wanted(
    {
        PEAKS: ("I32", ()),
        **{f"{t}.{n}": kind for t in ("multi", "one") for n, kind in ARRAYS.items()},
    }
)


def pack_envelopes(envelopes: Envelopes) -> NDArray[np.uint8]:
    """Both envelopes as one container; their empty arrays are left out."""
    both = {"multi": envelopes.multi, "one": envelopes.one}
    arrays: dict[str, NDArray[Any]] = {
        PEAKS: np.array([own.peak for own in both.values()], np.int32)
    }
    for title, own in both.items():
        for name in ARRAYS:
            array = getattr(own, name)
            # No addresses and addresses of nothing are not the same.
            if array is not None and (array.size or name == "addresses"):
                arrays[f"{title}.{name}"] = array
    return join_tensors(arrays)


def read_envelopes(file: TensorFile, scene: Scene) -> Envelopes:
    """Both envelopes of a file whose scene was read before."""
    inner = file.inner(ENVELOPES)
    arrays = inner.arrays(WANTED)
    peaks = arrays[PEAKS].tolist()
    if len(peaks) != 2:
        raise inner.error(PEAKS, f"{len(peaks)} numbers, expected 2")
    both = []
    for title, peak in zip(("multi", "one"), peaks, strict=True):
        own: dict[str, Any] = {name: arrays[f"{title}.{name}"] for name in ARRAYS}
        if f"{title}.addresses" not in inner.entries:
            own["addresses"] = None
        try:
            with np.errstate(all="ignore"):
                envelope = Envelope(**own, peak=peak)
                _check_scene(envelope, scene)
        except ShapeError as error:
            raise inner.error(title, str(error)) from None
        both.append(envelope)
    return Envelopes(*both)


def _check_scene(envelope: Envelope, scene: Scene) -> None:
    """Refuse what the scene does not have: nodes, primitives, vertices, targets."""
    if not (np.isfinite(envelope.data).all() and np.isfinite(envelope.deltas).all()):
        raise ShapeError("data, deltas: must be finite")
    count = len(scene.skeleton)
    # Every place in the buffer is of a part; a part's area may be filled up to blocks.
    if envelope.peak > BLOCK * (len(envelope.order) + len(envelope.parts)):
        raise ShapeError(f"peak: {envelope.peak} places for {len(envelope.order)}")
    lists = envelope.steps[envelope.steps[:, OP] <= END]
    _check_nodes("steps: model", lists[:, MODEL], count)
    _check_nodes("parts: owner", envelope.parts[:, OWNER], count)
    _check_nodes("parts: node", envelope.parts[:, NODE], count)
    _check_nodes("morphs: node", envelope.morphs[:, MORPH_NODE], count)
    shown = scene.shown_nodes()
    at = 0
    for row in envelope.parts.tolist():
        node, vertices = row[NODE], row[VERTICES]
        mesh = int(scene.node_mesh[node])
        primitives = scene.meshes[mesh].primitives if mesh >= 0 else ()
        if not shown[node] or row[PRIMITIVE] >= len(primitives):
            raise ShapeError(f"parts: primitive {row[PRIMITIVE]} at node {node}")
        order = envelope.order[at : at + vertices]
        at += vertices
        if order.size and int(order.max()) >= len(primitives[row[PRIMITIVE]]):
            raise ShapeError(f"order: a vertex that node {node} does not have")
    for node, target in set(map(tuple, envelope.morphs[:, :2].tolist())):
        mesh = int(scene.node_mesh[node])
        if mesh < 0 or target >= len(scene.meshes[mesh].morph_weights):
            raise ShapeError(f"morphs: node {node} has no target {target}")


def _check_nodes(name: str, rows: Ints, count: int) -> None:
    if rows.size and not (0 <= rows.min() and rows.max() < count):
        raise ShapeError(f"{name}: must lie in 0..{count - 1}")
