"""World matrices to deformed vertices, for one character or many."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field

import numpy as np

from flexor.arrays import Floats, check_array, check_input
from flexor.deform.bind import Bind
from flexor.deform.kernels import file_order
from flexor.deform.kernels import vertices as kernel
from flexor.errors import ShapeError

__all__ = ["SkinState", "each_group", "init_skin", "skin_blocks", "skin_vertices"]

# Characters with morphs are worked in groups, so that their own vertices stay in cache.
GROUP = 4


@dataclass(slots=True, eq=False)
class SkinState:
    """Work space for skinning one primitive of N characters, for one thread.

    palette: float32 (N, S * 12), world_from_mesh of the last call.
    """

    bind: Bind
    palette: Floats
    _turns: Floats = field(repr=False)
    _morphed: Floats = field(repr=False)
    _work: Floats = field(repr=False)
    _node_count: int = field(repr=False)


def init_skin(bind: Bind, count: int) -> SkinState:
    """Work space for calls with `count` characters."""
    size = len(bind.nodes) * 12
    group = min(GROUP, count) if len(bind.deltas) else 0
    return SkinState(
        bind,
        np.zeros((count, size), np.float32),
        np.zeros(size, np.float32),
        np.zeros((group, bind.data.size), np.float32),
        np.zeros(24 * bind.most_joints + 96, np.float32),
        max(bind.nodes.tolist(), default=-1) + 1,
    )


def skin_vertices(
    state: SkinState,
    world: Floats,
    weights: Floats,
    *,
    positions: Floats,
    normals: Floats,
    unit_normals: bool = True,
) -> None:
    """Deform N characters into world space, vertices in the file's order.

    world: (N, J or more, 3, 4), world_from_node; weights: (N, M), morphs; positions,
    normals: results (N, V, 3); all float32. unit_normals: whether normals are scaled to
    unit length, or left as the blended matrices make them.
    """
    bind, count = state.bind, len(state.palette)
    shape, flat = (count, bind.vertex_count, 3), (count, bind.vertex_count * 3)
    check_array(positions, np.float32, shape, "positions")
    check_array(normals, np.float32, shape, "normals")
    flat_positions = positions.reshape(flat)
    flat_normals = normals.reshape(flat)
    for rows, data in each_group(state, world, weights):
        file_order.skin_vertices(
            state.palette[rows],
            bind.runs,
            bind.joints,
            data,
            bind.order,
            unit_normals,
            state._turns,
            state._work,
            flat_positions[rows],
            flat_normals[rows],
        )


def skin_blocks(
    state: SkinState,
    world: Floats,
    weights: Floats,
    *,
    out: Floats,
    unit_normals: bool = True,
) -> None:
    """Deform N characters into world space, vertices in the order of `bind.order`.

    As `skin_vertices`, but without the way back to the file's order: out: (N, B, 6, 8),
    blocks of eight vertices with x y z nx ny nz.
    """
    bind, count = state.bind, len(state.palette)
    check_array(out, np.float32, (count, len(bind.order) // 8, 6, 8), "out")
    flat = out.reshape(count, 6 * len(bind.order))
    for rows, data in each_group(state, world, weights):
        kernel.skin_blocks(
            state.palette[rows],
            bind.runs,
            bind.joints,
            data,
            unit_normals,
            state._turns,
            state._work,
            flat[rows],
        )


def each_group(
    state: SkinState, world: Floats, weights: Floats
) -> Iterator[tuple[slice, Floats]]:
    """Fill the palette; then characters with the vertices they start from.

    All characters at once, from the rest vertices, unless one has a morph.
    """
    bind, count = state.bind, len(state.palette)
    check_input(world, np.float32, (count, None, 3, 4), "world")
    if world.shape[1] < state._node_count:
        have, last = world.shape[1], state._node_count - 1
        raise ShapeError(f"world: {have} nodes, but the skin hangs on node {last}")
    check_input(weights, np.float32, (count, len(bind.deltas)), "weights")
    flat = world.reshape(count, 12 * world.shape[1])
    kernel.palette(flat, bind.nodes, bind.binds, state.palette)
    if not weights.any():
        yield slice(0, count), bind.data
        return
    for start in range(0, count, GROUP):
        rows = slice(start, min(start + GROUP, count))
        data = state._morphed[: rows.stop - start]
        kernel.morph_blocks(bind.runs, bind.data[0], bind.deltas, weights[rows], data)
        yield rows, data
