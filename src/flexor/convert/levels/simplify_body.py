"""Fewer triangles over the same vertices, by meshoptimizer.

Edges are collapsed onto one of their ends, so that a result names vertices there are,
and levels that are each made from the one before have nested sets of them. The
simplifier knows vertices at the same place as the sides of a seam and moves both
together; where three or more meet it moves none. `weld_corners` therefore makes one of
those that hardly differ first.

Attributes: the error of a collapse is the squared distance from the planes around, in
units of the mesh's extent, plus the squared change of the weighted attributes times the
area that the vertex stands for, in units of the extent's square (meshoptimizer 0.23,
quadricFromAttributes). So that a length counts like a distance its weight must be
1 / sqrt(area), with the area that a vertex stands for in the end.

The Python layer (0.2.30a0) declares no types of arguments for this function, so counts
and the error are handed over as what they are in C.
"""

from __future__ import annotations

import ctypes
import importlib
from typing import Any

import numpy as np
from numpy.typing import NDArray

from flexor.arrays import Floats, Ints, check_input
from flexor.errors import BackendMissing, ShapeError

__all__ = ["ANY_ERROR", "MOST_ATTRIBUTES", "library", "simplify", "weld_corners"]

MOST_ATTRIBUTES = 32
PRUNE = 8  # an option of the library
ANY_ERROR = 1e9  # of the extent: only the number of triangles counts


def simplify(
    faces: Ints,
    places: Floats,
    attributes: Floats,
    weights: Floats,
    target: int,
    locked: NDArray[np.bool_] | None = None,
    *,
    prune: bool = True,
) -> Ints:
    """At most about `target` triangles (F, 3) over the same vertices.

    faces: int32 (F, 3); places: float32 (V, 3), metres, vertices of a seam at exactly
    one place; attributes: float32 (V, A), A up to 32, that should be kept too; weights:
    float32 (A,), how many metres a change by 1 counts as, for lengths 1; locked: bool
    (V,), vertices that stay while their component does; prune: whether components may
    vanish that are no larger than the error made elsewhere. There are more triangles
    than asked for where that or the shape does not allow fewer, and the same ones come
    back where there are no more than `target`.
    """
    count = len(places)
    check_input(faces, np.int32, (None, 3), "faces")
    check_input(places, np.float32, (count, 3), "places")
    check_input(attributes, np.float32, (count, None), "attributes")
    wide = attributes.shape[1]
    check_input(weights, np.float32, (wide,), "weights")
    if wide > MOST_ATTRIBUTES:
        raise ShapeError(f"attributes: {wide}, at most {MOST_ATTRIBUTES}")
    if faces.size and not 0 <= faces.min() <= faces.max() < count:
        raise ShapeError(f"faces: must lie in 0..{count - 1}")
    if target < 0:
        raise ShapeError(f"target: {target} triangles, expected 0 or more")
    if len(faces) <= target:
        return faces
    used, corners = np.unique(faces, return_inverse=True)
    points, values = places[used], attributes[used]
    if not (np.isfinite(points).all() and np.isfinite(values).all()):
        raise ShapeError("places, attributes: must be finite")
    scales = weights * np.float32(_length_weight(places, faces, target))
    indices: NDArray[np.uint32] = corners.reshape(-1).astype(np.uint32)
    held = np.zeros(len(used), np.uint8)
    if locked is not None:
        check_input(locked, np.bool_, (count,), "locked")
        held[:] = locked[used]
    options = PRUNE if prune else 0
    left: Ints = used[_call(indices, points, values, scales, held, target, options)]
    return left


def _length_weight(places: Floats, faces: Ints, target: int) -> float:
    """The weight of an attribute that is a length: see the file's beginning."""
    ends = places.astype(np.float64)[faces]
    across = np.cross(ends[:, 1] - ends[:, 0], ends[:, 2] - ends[:, 0])
    area = float(np.linalg.norm(across, axis=1).sum()) / 2
    # Each triangle counts for its three corners, and there are half as many vertices.
    return float(np.sqrt(max(target, 1) / (6 * area))) if area > 0 else 0.0


def _call(
    corners: NDArray[np.uint32],
    places: Floats,
    attributes: Floats,
    weights: Floats,
    held: NDArray[np.uint8],
    target: int,
    options: int,
) -> NDArray[np.uint32]:
    """The corners (F, 3) that meshoptimizer leaves."""
    result = np.empty_like(corners)
    size = ctypes.c_size_t
    left = library().simplify_with_attributes(
        result,
        corners,
        np.ascontiguousarray(places),
        np.ascontiguousarray(attributes),
        np.ascontiguousarray(weights),
        index_count=size(len(corners)),
        vertex_count=size(len(places)),
        vertex_positions_stride=size(12),
        vertex_attributes_stride=size(4 * attributes.shape[1]),
        attribute_count=size(attributes.shape[1]),
        vertex_lock=held,
        target_index_count=size(3 * target),
        target_error=ctypes.c_float(ANY_ERROR),
        options=ctypes.c_uint(options),
    )
    return result[:left].reshape(-1, 3)


def library() -> Any:
    """The package meshoptimizer."""
    try:
        return importlib.import_module("meshoptimizer")
    except (ImportError, OSError) as error:
        raise BackendMissing(
            "levels of detail need the package meshoptimizer: "
            "pip install 'flexor[codecs]'"
        ) from error


def weld_corners(
    faces: Ints,
    keys: NDArray[np.int32],
    normals: Floats,
    texcoords: Floats,
    *,
    angle: float,
    reach: float,
) -> Ints:
    """Faces (F, 3) in which vertices that hardly differ are one.

    keys: int32 (V, C), rows that must be the same; normals: float32 (V, 3), unit, that
    may be `angle` radians apart; texcoords: float32 (V, 2), that may be `reach` apart.
    Of vertices that become one the one stays whose normal is nearest to the mean of
    theirs. Faces that become a line vanish.
    """
    used, corners = np.unique(faces, return_inverse=True)
    if not len(used):
        return faces
    _, group = np.unique(keys[used], axis=0, return_inverse=True)
    looks = normals[used], texcoords[used]
    cluster = _clusters(group.reshape(-1), *looks, angle, reach)
    count = int(cluster.max()) + 1
    sums = np.zeros((count, 3))
    np.add.at(sums, cluster, normals[used])
    near = np.einsum("vi,vi->v", sums[cluster], normals[used].astype(np.float64))
    by_cluster = np.lexsort((used, -near, cluster))
    first = np.searchsorted(cluster[by_cluster], np.arange(count))
    stays = used[by_cluster[first]]
    welded: Ints = stays[cluster[corners.reshape(-1)]].reshape(-1, 3).astype(np.int32)
    a, b, c = welded.T
    whole: Ints = welded[(a != b) & (b != c) & (c != a)]
    return whole


def _clusters(
    group: NDArray[np.intp],
    normals: Floats,
    texcoords: Floats,
    angle: float,
    reach: float,
) -> NDArray[np.intp]:
    """Numbers (V,) of those of one group that look much like the first of them."""
    cluster = np.full(len(group), -1, np.intp)
    least, made = np.cos(min(angle, np.pi)) - 1e-6, 0
    left = np.arange(len(group))
    while len(left):
        _, first, own = np.unique(group[left], return_index=True, return_inverse=True)
        leads = left[first[own]]
        is_near = np.einsum("vi,vi->v", normals[leads], normals[left]) >= least
        apart = np.abs(texcoords[leads].astype(np.float64) - texcoords[left])
        is_near &= (apart <= reach).all(1)
        is_near[first] = True
        cluster[left[is_near]] = made + own[is_near]
        made += len(first)
        left = left[~is_near]
    number: NDArray[np.intp] = np.unique(cluster, return_inverse=True)[1]
    return number
