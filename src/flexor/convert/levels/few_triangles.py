"""No more triangles than an author allows, whatever that does to the shape.

The simplifier keeps seams, rims and parts, so it may leave more triangles than it was
asked for. Then corners at one place become one vertex however they differ, then
vertices near each other are taken together by a grid, surface by surface, and in the
end the smallest triangles go.
"""

from __future__ import annotations

import ctypes

import numpy as np

from flexor.arrays import Doubles, Floats, Ints
from flexor.convert.levels.simplify_body import (
    ANY_ERROR,
    library,
    simplify,
    weld_corners,
)

__all__ = ["few_triangles"]

LEAST = 0.6  # of the triangles that are allowed: what has fewer has lost too much


def few_triangles(
    faces: Ints,
    places: Floats,
    attributes: Floats,
    weights: Floats,
    target: int,
    kinds: Ints,
) -> Ints:
    """At most `target` triangles (F, 3) over the same vertices; the rest as `simplify`.

    kinds: int32 (V,), the surface of each vertex: a triangle is of one.
    """
    if len(faces) <= target:
        return faces
    left = tried = faces
    for weld in (False, True):
        if weld:
            left = _welded(faces, places, kinds)
        # Where all parts are small, none of them is left unless they must stay.
        for prune in (True, False):
            tried = simplify(left, places, attributes, weights, target, prune=prune)
            if LEAST * target <= len(tried) <= target:
                return tried
    if len(tried) > target:
        left = tried
    kind = kinds[left[:, 0]]
    areas = _areas(left, places)
    found = [np.zeros((0, 3), np.int32)]
    for number in np.unique(kind).tolist():
        own = left[kind == number]
        share = areas[kind == number].sum() / (areas.sum() or 1.0)
        found.append(_by_grid(own, places, int(target * share)))
    left = np.concatenate(found)
    largest = np.argsort(-_areas(left, places), kind="stable")[:target]
    return left[np.sort(largest)]


def _welded(faces: Ints, places: Floats, kinds: Ints) -> Ints:
    """The faces with one vertex for all corners of a surface that are at one place."""
    same = (places + np.float32(0)).view(np.int32)
    keys = np.concatenate([same, kinds[:, None]], 1)
    looks = np.zeros((len(places), 3), np.float32)
    return weld_corners(faces, keys, looks, looks[:, :2], angle=np.pi, reach=np.inf)


def _areas(faces: Ints, places: Floats) -> Doubles:
    a, b, c = places.astype(np.float64)[faces].swapaxes(0, 1)
    areas: Doubles = np.linalg.norm(np.cross(b - a, c - a), axis=1)
    return areas


def _by_grid(faces: Ints, places: Floats, target: int) -> Ints:
    """At most about `target` of triangles (F, 3): a vertex for each cell of a grid."""
    if len(faces) <= target or not target:
        return faces[:target]
    used, corners = np.unique(faces, return_inverse=True)
    indices = corners.reshape(-1).astype(np.uint32)
    result = np.empty_like(indices)
    size = ctypes.c_size_t
    count = library().simplify_sloppy(
        result,
        indices,
        np.ascontiguousarray(places[used]),
        index_count=size(len(indices)),
        vertex_count=size(len(used)),
        vertex_positions_stride=size(12),
        target_index_count=size(3 * target),
        target_error=ANY_ERROR,
    )
    left: Ints = used[result[:count].reshape(-1, 3)].astype(np.int32)
    return left
