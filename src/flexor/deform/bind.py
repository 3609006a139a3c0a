"""A primitive made ready for skinning: vertices sorted by the joints that pull them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from flexor.arrays import Floats, Ints
from flexor.scene.character.mesh import Primitive
from flexor.scene.character.normals import vertex_normals
from flexor.scene.scene import Scene

__all__ = ["Bind", "Blocks", "bind_primitive", "bind_scene", "block_vertices"]

BLOCK = 8


@dataclass(frozen=True, slots=True, eq=False)
class Bind:
    """One primitive of one node, laid out for the skinning kernels.

    node, mesh, primitive: where it comes from; nodes: uint32 (S,), the nodes whose
    matrices move it (one for a rigid primitive: its own); binds: float32 (S, 12),
    node_from_mesh; runs, joints, data (1, D): see the kernel; order: uint32 (B * 8,),
    the vertex in each place; deltas: float32 (M, B * 48), morphs; vertex_count: V;
    most_joints: K, of any run.
    """

    node: int
    mesh: int
    primitive: int
    nodes: NDArray[np.uint32]
    binds: Floats
    runs: Ints
    joints: Ints
    data: Floats
    order: NDArray[np.uint32]
    deltas: Floats
    vertex_count: int
    most_joints: int


def bind_scene(scene: Scene) -> list[Bind]:
    """Every primitive of the default scene, ordered by node, then primitive."""
    shown = np.nonzero(scene.shown_nodes() & (scene.node_mesh >= 0))[0]
    return [
        bind_primitive(scene, int(node), row)
        for node in shown
        for row in range(len(scene.meshes[scene.node_mesh[node]].primitives))
    ]


def pulling_nodes(scene: Scene) -> Ints:
    """The nodes, rising, that a surface of the default scene hangs on: (P,).

    Cameras, lights, helpers and joints without a weight are none of them.
    """
    is_pulling = np.zeros(len(scene.skeleton), bool)
    for node in np.flatnonzero(scene.shown_nodes() & (scene.node_mesh >= 0)).tolist():
        row = int(scene.node_skin[node])
        for primitive in scene.meshes[scene.node_mesh[node]].primitives:
            if row < 0 or primitive.skin is None:
                is_pulling[node] = True
                continue
            own = primitive.skin
            joints = np.unique(own.joints[own.weights > 0])
            is_pulling[scene.skins[row].joints[joints]] = True
    return np.flatnonzero(is_pulling).astype(np.int32)


def bind_primitive(scene: Scene, node: int, row: int) -> Bind:
    """One primitive of the mesh at `node`."""
    mesh = int(scene.node_mesh[node])
    primitive = scene.meshes[mesh].primitives[row]
    count = len(primitive)
    skin_row = int(scene.node_skin[node])
    if skin_row >= 0 and primitive.skin is not None:
        skin = scene.skins[skin_row]
        nodes, binds = skin.joints, skin.inverse_binds
        joints, weights = primitive.skin.joints, primitive.skin.weights
    else:
        nodes = np.array([node], np.int32)
        binds = np.eye(3, 4, dtype=np.float32)[None]
        joints = np.zeros((count, 1), np.uint16)
        weights = np.ones((count, 1), np.float32)
    normals = primitive.normals
    if normals is None:
        normals = vertex_normals(primitive)
    blocks = block_vertices(primitive.positions, normals, joints, weights)
    return Bind(
        node,
        mesh,
        row,
        nodes.astype(np.uint32),
        binds.reshape(-1, 12),
        blocks.runs,
        blocks.joints,
        blocks.data,
        blocks.order,
        _deltas(primitive, blocks.order),
        count,
        blocks.most_joints,
    )


@dataclass(frozen=True, slots=True, eq=False)
class Blocks:
    """Vertices sorted by the joints that pull them, in blocks of eight.

    runs, joints, data: float32 (1, D), see the kernel; order: uint32 (B * 8,), the
    vertex in each place; most_joints: K, of any run.
    """

    runs: Ints
    joints: Ints
    data: Floats
    order: NDArray[np.uint32]
    most_joints: int


def block_vertices(
    positions: Floats, normals: Floats, joints: NDArray[Any], weights: Floats
) -> Blocks:
    """Lay vertices out for the skinning kernels.

    positions, normals: (V, 3); joints, weights: (V, K), rows of the palette.
    """
    used, weights = _used_first(joints, weights)
    groups = _same_joints(used)
    rest = np.concatenate([positions, normals], 1)
    data: list[Floats] = [np.zeros(0, np.float32)]
    for number in np.unique(groups.joint_counts).tolist():
        mine = np.repeat(groups.joint_counts == number, groups.block_counts * BLOCK)
        places = groups.places[mine]
        further = weights[places, 1:number]
        data.append(_to_blocks(np.concatenate([rest[places], further], 1)))
    return Blocks(
        _runs(groups),
        groups.joints,
        np.concatenate(data)[None],
        groups.places.astype(np.uint32),
        int(groups.joint_counts.max(initial=1)),
    )


def _to_blocks(rows: Floats) -> Floats:
    """Rows (B * 8, C) as blocks of C times eight numbers, flat."""
    return np.ascontiguousarray(
        rows.reshape(-1, BLOCK, rows.shape[1]).transpose(0, 2, 1)
    ).ravel()


def _used_first(
    joints: NDArray[Any], weights: Floats
) -> tuple[NDArray[np.int64], Floats]:
    """Each vertex's joints in rising order, those without weight last as -1."""
    used = weights > 0
    rank = np.where(used, joints.astype(np.int64), 1 << 16)
    columns = np.argsort(rank, axis=1, kind="stable")
    names = np.take_along_axis(rank, columns, 1)
    return np.where(names < 1 << 16, names, -1), np.take_along_axis(weights, columns, 1)


@dataclass(frozen=True, slots=True, eq=False)
class _Groups:
    """Vertices by the joints that pull them, those with few joints first.

    joint_counts, block_counts: (G,); joints: int32, of all groups; places: (B * 8,),
    the vertex in each place.
    """

    joint_counts: NDArray[np.intp]
    block_counts: NDArray[np.intp]
    joints: Ints
    places: NDArray[np.intp]


def _same_joints(joints: NDArray[np.int64]) -> _Groups:
    """Sort vertices by their joints (V, K), -1 for none."""
    counts = np.count_nonzero(joints >= 0, axis=1)
    by_group = np.lexsort((*joints.T[::-1], counts))
    is_first = np.ones(len(joints), bool)
    is_first[1:] = (np.diff(joints[by_group], axis=0) != 0).any(1)
    first = np.flatnonzero(is_first)
    sizes = np.diff(np.append(first, len(joints)))
    blocks = -(-sizes // BLOCK)
    # Fill the last block up with its last vertex: the same result, written twice.
    begin = np.cumsum(blocks * BLOCK) - blocks * BLOCK
    inside = np.arange(BLOCK * int(blocks.sum())) - np.repeat(begin, blocks * BLOCK)
    inside = np.minimum(inside, np.repeat(sizes - 1, blocks * BLOCK))
    names = joints[by_group[first]]
    return _Groups(
        counts[by_group[first]],
        blocks,
        names[names >= 0].astype(np.int32),
        by_group[np.repeat(first, blocks * BLOCK) + inside],
    )


def _runs(groups: _Groups) -> Ints:
    """The table of runs (G, 5): see the kernel."""
    numbers, blocks = groups.joint_counts, groups.block_counts
    floats = blocks * (5 + numbers) * BLOCK  # of a run; the first joint has no weight
    columns = (
        numbers,
        blocks,
        np.cumsum(floats) - floats,
        np.cumsum(blocks) - blocks,
        np.cumsum(numbers) - numbers,
    )
    return np.stack(columns, 1).astype(np.int32)


def _deltas(primitive: Primitive, places: NDArray[np.uint32]) -> Floats:
    """Morph targets in block order: float32 (M, B * 48)."""
    rows = []
    empty = np.zeros_like(primitive.positions)
    for target in primitive.targets:
        moved = empty if target.positions is None else target.positions
        turned = empty if target.normals is None else target.normals
        rows.append(_to_blocks(np.concatenate([moved, turned], 1)[places]))
    return np.array(rows, np.float32).reshape(len(rows), 6 * len(places))
