"""World matrices to deformed vertices by dual quaternions: twists keep their volume."""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np

from flexor.arrays import Floats, check_array
from flexor.deform.bind import Bind
from flexor.deform.kernels import dual as kernel_dual
from flexor.deform.vertices import SkinState, each_group, init_skin

__all__ = ["DualState", "init_dual", "skin_blocks_dual", "skin_vertices_dual"]


@dataclass(slots=True, eq=False)
class DualState:
    """Work space for skinning one primitive of N characters, for one thread.

    skin: that of linear skinning, with the palette of the last call.
    """

    skin: SkinState
    _space: Floats = field(repr=False)
    _work: Floats = field(repr=False)


def init_dual(bind: Bind, count: int) -> DualState:
    """Work space for calls with `count` characters."""
    return DualState(
        init_skin(bind, count),
        np.zeros(40 * len(bind.nodes), np.float32),
        np.zeros(32 * bind.most_joints + 96, np.float32),
    )


def skin_vertices_dual(
    state: DualState,
    world: Floats,
    weights: Floats,
    *,
    positions: Floats,
    normals: Floats,
    unit_normals: bool = True,
) -> None:
    """Deform N characters into world space, vertices in the file's order.

    Arguments and results are those of `skin_vertices`.
    """
    bind, count = state.skin.bind, len(state.skin.palette)
    shape, flat = (count, bind.vertex_count, 3), (count, bind.vertex_count * 3)
    check_array(positions, np.float32, shape, "positions")
    check_array(normals, np.float32, shape, "normals")
    flat_positions = positions.reshape(flat)
    flat_normals = normals.reshape(flat)
    for rows, data in each_group(state.skin, world, weights):
        kernel_dual.skin_vertices_dual(
            state.skin.palette[rows],
            bind.runs,
            bind.joints,
            data,
            bind.order,
            unit_normals,
            state._space,
            state._work,
            flat_positions[rows],
            flat_normals[rows],
        )


def skin_blocks_dual(
    state: DualState,
    world: Floats,
    weights: Floats,
    *,
    out: Floats,
    unit_normals: bool = True,
) -> None:
    """Deform N characters into world space, vertices in the order of `bind.order`.

    Arguments and results are those of `skin_blocks`.
    """
    bind, count = state.skin.bind, len(state.skin.palette)
    check_array(out, np.float32, (count, len(bind.order) // 8, 6, 8), "out")
    flat = out.reshape(count, 6 * len(bind.order))
    for rows, data in each_group(state.skin, world, weights):
        kernel_dual.skin_blocks_dual(
            state.skin.palette[rows],
            bind.runs,
            bind.joints,
            data,
            unit_normals,
            state._space,
            state._work,
            flat[rows],
        )
