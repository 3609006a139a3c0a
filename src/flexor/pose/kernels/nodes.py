"""Poses from lanes, as kernels work on them, to nodes, as programs see them."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from flexor.maths.kernels.jit import jit
from flexor.maths.kernels.lanes import take

if TYPE_CHECKING:
    from flexor.arrays import Floats, Ints


@jit("void(f4[:, ::1], i4[::1], out f4[:, ::1], out f4[:, ::1], out f4[:, ::1])")
def nodes_from_lanes(
    local: Floats,
    lane_of_node: Ints,
    translations: Floats,
    rotations: Floats,
    scales: Floats,
) -> None:
    """Transforms of J nodes of N poses.

    local: (N, 10 * L); lane_of_node: (J,); translations: (N * J, 3), rotations:
    (N * J, 4), scales: (N * J, 3).
    """
    count = len(lane_of_node)
    lanes = local.shape[1] // 10
    for n in range(len(local)):
        mine = local[n]
        for node in range(count):
            lane, row = np.int64(lane_of_node[node]), n * count + node
            for c in range(3):
                translations[row, c] = take(mine, c * lanes + lane)
                scales[row, c] = take(mine, (7 + c) * lanes + lane)
            for c in range(4):
                rotations[row, c] = take(mine, (3 + c) * lanes + lane)
