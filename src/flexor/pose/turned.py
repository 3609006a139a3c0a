"""The rest pose with joints turned."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from flexor.arrays import Floats
from flexor.maths import quaternions
from flexor.pose.layout import ROWS, Layout

__all__ = ["turn_from_rest"]


def turn_from_rest(
    layout: Layout, local: Floats, node: int, turns: NDArray[np.float64]
) -> None:
    """Turn a node of N poses from its rest, about axes of its own.

    local: float32 (N, 10 * L), changed in place; turns: (N, 4) or (4,), xyzw. Links of
    the node do not follow yet.
    """
    rows = local.reshape(-1, ROWS, layout.lane_count)
    rest = layout.skeleton.rotations[node].astype(np.float64)
    rows[:, 3:7, layout.lane_of_node[node]] = quaternions.multiply(rest, turns)
