"""The nearest points of a surface to other points."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from flexor.arrays import Ints
from flexor.errors import ShapeError
from flexor.maths import threads

__all__ = ["SurfaceTree", "closest_points", "surface_tree"]

LEAF = 4  # triangles


@dataclass(frozen=True, slots=True, eq=False)
class SurfaceTree:
    """Triangles in a tree of boxes, to look for near ones more than once.

    triangles: float64 (F, 9), in the order of the leaves; faces, starts, boxes: see
    `kernels.closest`.
    """

    triangles: NDArray[np.float64]
    faces: Ints
    starts: Ints
    boxes: NDArray[np.float64]


def surface_tree(triangles: NDArray[np.floating]) -> SurfaceTree:
    """The tree of triangles (F, 3, 3), at least one."""
    corners = np.ascontiguousarray(triangles, np.float64)
    if corners.ndim != 3 or corners.shape[1:] != (3, 3) or not len(corners):
        raise ShapeError(
            f"triangles: shape {corners.shape}, expected (1 or more, 3, 3)"
        )
    if not np.isfinite(corners).all():
        raise ShapeError("triangles: must be finite")
    faces, starts, boxes = _tree(corners)
    return SurfaceTree(corners[faces].reshape(-1, 9), faces, starts, boxes)


def closest_points(
    triangles: NDArray[np.floating] | SurfaceTree, points: NDArray[np.floating]
) -> tuple[Ints, NDArray[np.float64], NDArray[np.float64]]:
    """The nearest point of a surface to each point.

    triangles: (F, 3, 3), corners, or the tree of them; at least one, and those that are
    a line or a point count as such; points: (P, 3). Gives the triangle, int32 (P,), of
    equally near ones the first; barycentric weights of its corners there, float64
    (P, 3), not negative, that sum to 1; and the distance, float64 (P,).
    """
    from flexor.convert.shape.kernels import closest as kernel

    tree = triangles if isinstance(triangles, SurfaceTree) else surface_tree(triangles)
    there = np.ascontiguousarray(points, np.float64)
    if there.ndim != 2 or there.shape[1] != 3:
        raise ShapeError(f"points: shape {there.shape}, expected (any, 3)")
    if not np.isfinite(there).all():
        raise ShapeError("points: must be finite")
    count = len(there)
    face, weights, squares = (
        np.empty(count, np.int32),
        np.empty((count, 3)),
        np.empty(count),
    )

    def work(part: slice) -> None:
        stack, room = np.empty(kernel.DEPTH, np.int32), np.empty(kernel.ROOM)
        out = face[part], weights[part], squares[part]
        kernel.closest_points(
            there[part],
            tree.triangles,
            tree.faces,
            tree.starts,
            tree.boxes,
            *out,
            stack,
            room,
        )

    threads.run_slices(work, count)
    return face, weights, np.sqrt(squares)


def _tree(
    corners: NDArray[np.float64],
) -> tuple[Ints, Ints, NDArray[np.float64]]:
    """A tree of boxes around triangles (F, 3, 3), each level cut in the middle.

    Gives the triangles in the order of the leaves (F,), where each leaf starts, and the
    boxes (2 L - 1, 6) of all nodes, level by level; see `kernels.closest`.
    """
    count = len(corners)
    levels = max(int(np.ceil(np.log2(count / LEAF))), 0) if count > LEAF else 0
    first, second, third = corners[:, 0], corners[:, 1], corners[:, 2]
    middles = (first + second + third) / 3
    ranks = np.stack([np.unique(row, return_inverse=True)[1] for row in middles.T], 1)
    order = np.arange(count)
    for level in range(levels):
        starts = _starts(count, level)
        ordered = middles[order]
        low = np.minimum.reduceat(ordered, starts[:-1])
        high = np.maximum.reduceat(ordered, starts[:-1])
        node = np.repeat(np.arange(2**level), np.diff(starts))
        axis = np.argmax(high - low, axis=1)[node]
        order = order[_sorted_places(node, ranks[order, axis])]
    starts = _starts(count, levels)
    low = np.minimum(np.minimum(first, second), third)[order]
    high = np.maximum(np.maximum(first, second), third)[order]
    low = np.minimum.reduceat(low, starts[:-1])
    high = np.maximum.reduceat(high, starts[:-1])
    boxes = [np.concatenate([low, high], 1)]
    while len(boxes[0]) > 1:
        low = np.minimum(boxes[0][0::2, :3], boxes[0][1::2, :3])
        high = np.maximum(boxes[0][0::2, 3:], boxes[0][1::2, 3:])
        boxes.insert(0, np.concatenate([low, high], 1))
    return order.astype(np.int32), starts.astype(np.int32), np.concatenate(boxes)


def _sorted_places(
    node: NDArray[np.int64], rank: NDArray[np.int64]
) -> NDArray[np.int64]:
    """Places (F,) sorted by node, then by rank, then as they are; both below F."""
    count = len(node)
    bits = int(count).bit_length()
    if 3 * bits > 62:
        return np.lexsort((rank, node))
    # Whole numbers that hold all three: to sort these is several times as quick as to
    # sort places by two keys.
    keys = (node << 2 * bits) | (rank << bits) | np.arange(count)
    keys.sort()
    return keys & ((1 << bits) - 1)


def _starts(count: int, level: int) -> NDArray[np.int64]:
    """Where the 2^level nodes of a level begin, and the end of the last."""
    starts: NDArray[np.int64] = np.arange(2**level + 1) * count // 2**level
    return starts
