"""How a skeleton is laid out in memory while it moves."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from flexor.arrays import Floats, Ints
from flexor.pose.kernels.layout import LANES
from flexor.pose.link_tables import LinkTables, order_lanes, pack_links
from flexor.scene.character.skeleton import Skeleton
from flexor.scene.scene import Scene

__all__ = ["Layout", "make_layout"]

ROWS = 10


@dataclass(frozen=True, slots=True, eq=False)
class Layout:
    """Lanes of a skeleton: one a node, parents first, filled up to a multiple of eight.

    node_of_lane, lane_of_node: int32 (J,); nodes: uint32 (J, 2), node and parent of
    each lane, J standing for "no parent"; rest: float32 (10 * L,), the rest pose,
    identity in lanes without a node; morph_columns: first column and count of each
    node's morph weights; rest_weights: float32 (W,), all of them at rest; links: what
    `follow_links` wants, None without links.
    """

    skeleton: Skeleton
    node_of_lane: Ints
    lane_of_node: Ints
    nodes: NDArray[np.uint32]
    rest: Floats
    morph_columns: Mapping[int, tuple[int, int]]
    rest_weights: Floats
    links: LinkTables | None

    @property
    def lane_count(self) -> int:
        """Number of lanes, a multiple of eight."""
        return len(self.rest) // ROWS


def make_layout(scene: Scene) -> Layout:
    """Lay out the skeleton of a scene."""
    skeleton = scene.skeleton
    count = len(skeleton)
    lanes = -(-count // LANES) * LANES
    order, groups = order_lanes(skeleton)
    lane_of_node = np.empty(count, np.int32)
    lane_of_node[order] = np.arange(count, dtype=np.int32)
    parents = skeleton.parents[order]
    nodes = np.stack([order, np.where(parents < 0, count, parents)], 1)
    rest = np.zeros((ROWS, lanes), np.float32)
    rest[6:] = 1
    rest[0:3, :count] = skeleton.translations[order].T
    rest[3:7, :count] = skeleton.rotations[order].T
    rest[7:10, :count] = skeleton.scales[order].T
    columns: dict[int, tuple[int, int]] = {}
    weights: list[Floats] = [np.zeros(0, np.float32)]
    first = 0
    for node in np.nonzero(scene.node_mesh >= 0)[0].tolist():
        own = scene.rest_weights(node)
        if len(own):
            columns[node] = (first, len(own))
            weights.append(own)
            first += len(own)
    return Layout(
        skeleton,
        order,
        lane_of_node,
        np.ascontiguousarray(nodes, np.uint32),
        rest.ravel(),
        columns,
        np.concatenate(weights),
        pack_links(skeleton, lane_of_node, groups) if groups else None,
    )
