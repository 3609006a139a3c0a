"""A plan and its parts as the arrays that the drawing library runs."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise
from typing import Literal, get_args

import numpy as np
from numpy.typing import NDArray

from flexor.arrays import Doubles, Floats, Rows
from flexor.convert.envelope.parts import EnvelopePart
from flexor.convert.envelope.plan import Chunk, EnvelopePlan
from flexor.errors import SettingError
from flexor.maths import quaternions
from flexor.scene.runtime.envelope import Envelope
from flexor.scene.runtime.layout import BLOCK, DRAW, DRAW_DEFERRED, NATIVE, NO_DRAW

__all__ = ["Ids", "build_envelope"]

Ids = Literal["places", "consistent"]

COMMANDS = {"DRAWCP": NO_DRAW, "DRAW": DRAW, "DRAWDP": DRAW_DEFERRED}


def build_envelope(
    parts: Sequence[EnvelopePart], plan: EnvelopePlan, *, ids: Ids = "places"
) -> Envelope:
    """Distribute the vertices of `parts` as `plan` says.

    ids: what polygons name their vertices by: "places" in the common buffer, or
    numbers "consistent" over all parts, with a table from each to its place.
    """
    if ids not in get_args(Ids):
        raise SettingError(f"ids: {ids!r}, expected one of {get_args(Ids)}")
    work = _Work(parts)
    steps: list[tuple[int, ...]] = []
    for visit in plan.lists:
        for chunk in visit.chunks:
            offset = plan.areas[chunk.part].offset
            steps += work.add(chunk, visit.model, offset)
        steps += [(COMMANDS[word], row, 0, 0, 0) for word, row in visit.commands]
    rows, order, faces, places = [], [], [], []
    begin = 0
    for part, area in zip(parts, plan.areas, strict=True):
        entry = np.empty(len(part), np.int32)
        entry[area.vertices] = np.arange(len(part), dtype=np.int32)
        first = area.offset if ids == "places" else begin
        rows.append(
            (
                part.node,
                part.primitive,
                part.owner,
                area.offset,
                len(part),
                len(part.faces),
            )
        )
        order.append(part.vertices[area.vertices])
        faces.append(entry[part.faces] + np.int32(first))
        places.append(area.offset + np.arange(len(part), dtype=np.int32))
        begin += len(part)
    no_ints = np.zeros(0, np.int32)
    return Envelope(
        np.array(steps, np.int32).reshape(-1, 5),
        np.array(plan.table, np.int32),
        np.concatenate([np.zeros(0, np.float32), *work.data]),
        np.array(rows, np.int32).reshape(-1, 6),
        np.concatenate([no_ints, *order]),
        np.concatenate([no_ints.reshape(0, 3), *faces]),
        np.concatenate([no_ints, *places]) if ids == "consistent" else None,
        np.array(work.morphs, np.int32).reshape(-1, 5),
        np.concatenate([np.zeros(0, np.float32), *work.deltas]),
        plan.peak,
    )


class _Work:
    """Grows the data of an envelope, chunk by chunk."""

    def __init__(self, parts: Sequence[EnvelopePart]) -> None:
        self.parts = parts
        self.rows = [
            {int(model): np.flatnonzero(part.models == model) for model in part.models}
            for part in parts
        ]
        self.targets = [_targets(part) for part in parts]
        self.data: list[Floats] = []
        self.morphs: list[tuple[int, ...]] = []
        self.deltas: list[Floats] = []
        self._at = self._deltas_at = 0

    def add(self, chunk: Chunk, model: int, offset: int) -> list[tuple[int, ...]]:
        """A chunk as steps, one for each run of places that follow each other."""
        part = self.parts[chunk.part]
        bind, turn = _mean_bind(part, self.rows[chunk.part][model], chunk.rows)
        own = _distribute(bind, turn, part.positions, part.normals, chunk)
        only_turned = bind.copy()
        only_turned[..., 3] = 0
        moved = [
            _distribute(only_turned, turn, *both, chunk, 0.0)
            for both in self.targets[chunk.part]
        ]
        steps: list[tuple[int, ...]] = []
        for begin, end in _runs(chunk.entries):
            packed = _to_blocks(own[begin:end])
            entry = offset + int(chunk.entries[begin])
            steps.append((chunk.group, model, entry, end - begin, self._at))
            for row, deltas in enumerate(moved):
                self._morph(part.node, row, _to_blocks(deltas[begin:end]))
            self.data.append(packed)
            self._at += len(packed)
        return steps

    def _morph(self, node: int, target: int, deltas: Floats) -> None:
        """What a morph adds to the data that come next; nothing if it is nothing."""
        if deltas.any():
            place = (node, target, self._at, len(deltas), self._deltas_at)
            self.morphs.append(place)
            self.deltas.append(deltas)
            self._deltas_at += len(deltas)


def _targets(part: EnvelopePart) -> list[tuple[Floats, Floats]]:
    """Positions and normals of every morph; zeros where a morph has none."""
    none = np.zeros_like(part.positions)
    return [
        (
            none if target.positions is None else target.positions,
            none if target.normals is None else target.normals,
        )
        for target in part.targets
    ]


def _mean_bind(
    part: EnvelopePart, rows: Rows, vertices: Rows
) -> tuple[Doubles, Doubles]:
    """How a model is bound, and its matrix for normals: (3, 4) and (3, 3).

    rows: those of the model in the part. Where they are several, the means by weight
    for each vertex, (C, 3, 4) and (C, 3, 3): its pulls by one model come to the same.
    """
    turns = [_normal_matrix(part.binds[row]) for row in rows]
    if len(rows) == 1:
        return part.binds[rows[0]], turns[0]
    joints, weights = part.joints[vertices], part.weights[vertices].astype(np.float64)
    shares = np.stack([np.where(joints == row, weights, 0.0).sum(1) for row in rows], 1)
    shares /= shares.sum(1, keepdims=True)
    bind = np.einsum("cr,rij->cij", shares, part.binds[rows])
    return bind, np.einsum("cr,rij->cij", shares, np.stack(turns))


def _distribute(
    bind: Doubles,
    turn: Doubles,
    positions: Floats,
    normals: Floats,
    chunk: Chunk,
    one: float = 1.0,
) -> Doubles:
    """Rows x y z nx ny nz of a chunk in the space of a model.

    bind: (3, 4), turn: (3, 3), for normals, or one of each for every vertex.

    Of a chunk with weights, times them, and then the weight itself times `one`.
    """
    points = positions[chunk.rows].astype(np.float64)
    ways = normals[chunk.rows].astype(np.float64)
    if bind.ndim == 2:
        places, turns = points @ bind[:, :3].T + bind[:, 3], ways @ turn.T
    else:
        places = (bind[..., :3] @ points[..., None])[..., 0] + bind[..., 3]
        turns = (turn @ ways[..., None])[..., 0]
    rows = np.concatenate([places, turns], 1)
    if chunk.group == NATIVE:
        return rows
    weights = chunk.weights.astype(np.float64)[:, None]
    return np.concatenate([rows * weights, weights * one], 1)


def _normal_matrix(matrix: Doubles) -> Doubles:
    """The inverse transpose (3, 3), scaled to determinant 1 or -1; 0 if there is none.

    As when skinning vertex by vertex: for turns and even scales it is the turn.
    """
    turn = matrix[:, :3]
    cofactors: Doubles = quaternions.cross(turn[[1, 2, 0]], turn[[2, 0, 1]])
    volume = float(turn[0] @ cofactors[0])
    if volume == 0:
        return np.zeros((3, 3))
    cofactors *= np.sign(volume) / abs(volume) ** (2 / 3)
    return cofactors


def _runs(entries: NDArray[np.intp]) -> list[tuple[int, int]]:
    """Where entries follow each other without a gap: begin and end of each run."""
    cuts = np.flatnonzero(np.diff(entries) != 1) + 1
    ends = [0, *cuts.tolist(), len(entries)]
    return list(pairwise(ends)) if len(entries) else []


def _to_blocks(rows: Doubles) -> Floats:
    """Rows (C, W) as blocks of W times eight numbers, flat, filled up with zeros."""
    blocks = -(-len(rows) // BLOCK)
    full = np.zeros((blocks * BLOCK, rows.shape[1]), np.float32)
    full[: len(rows)] = rows
    return np.ascontiguousarray(
        full.reshape(blocks, BLOCK, -1).transpose(0, 2, 1)
    ).ravel()
