"""Slow twins of the kernels of solids: one place, one triangle, one cell at a time."""

from __future__ import annotations

import math
from typing import Any

import numpy as np


def winding(place: Any, triangles: Any) -> float:
    """How often triangles (F, 3, 3) go around a place, by solid angles."""
    total = 0.0
    for corners in np.asarray(triangles, float):
        a, b, c = corners - place
        la, lb, lc = (float(np.linalg.norm(way)) for way in (a, b, c))
        rest = la * lb * lc + a @ b * lc + b @ c * la + c @ a * lb
        total += 2 * math.atan2(float(a @ np.cross(b, c)), float(rest))
    return total / (4 * math.pi)


def sees(point: Any, place: Any, filled: Any) -> bool:
    """Whether a line between two places, in cells, misses at most one of a grid."""
    point, place = np.asarray(point, float), np.asarray(place, float)
    steps = int(np.linalg.norm(place - point) * 2) + 1
    missed = 0
    for i in range(steps + 1):
        at = np.floor(point + (place - point) * i / steps).astype(int)
        is_in = (at >= 0).all() and (at < filled.shape).all()
        missed += not (is_in and filled[tuple(at)])
    return missed <= 1


def is_free(p: int, place: Any, points: Any, faces: Any, pieces: Any) -> bool:
    """Whether the way from point p to a place enters no face of p's piece from outside.

    Faces at p itself are left out.
    """
    way = np.asarray(place, float) - points[p]
    for face in np.asarray(faces):
        a, b, c = np.asarray(points, float)[face]
        normal = np.cross(b - a, c - a)
        if p in face or pieces[face[0]] != pieces[p] or way @ normal >= 0:
            continue
        share = (a - points[p]) @ normal / (way @ normal)
        met = points[p] + share * way
        sides = [
            np.cross(end - start, met - start) @ normal >= 0
            for start, end in ((a, b), (b, c), (c, a))
        ]
        if all(sides) and 1e-5 < share < 1 - 1e-5:
            return False
    return True


def faces_near(cell: Any, points: Any, faces: Any) -> set[int]:
    """Faces with a place in a cell, found by trying many on each."""
    found = set()
    for f, face in enumerate(np.asarray(faces)):
        a, b, c = np.asarray(points, float)[face]
        for u in np.linspace(0, 1, 25):
            for v in np.linspace(0, 1 - u, 25):
                at = a + u * (b - a) + v * (c - a)
                if (np.floor(at) == cell).all():
                    found.add(f)
    return found


def bone_distance(point: Any, normal: Any, start: Any, axis: Any) -> tuple[float, Any]:
    """How far a bone counts from a point that faces a way, and its nearest place."""
    square = float(np.dot(axis, axis))
    share = min(max(float(np.dot(point - start, axis)) / square, 0), 1) if square else 0
    place = start + share * axis
    far = float(np.linalg.norm(point - place))
    if far > 0:
        far /= 0.5 * (float(np.dot(point - place, normal)) / far + 1.001)
    return far, place


def crossings(cells: Any, faces: Any, shape: Any) -> Any:
    """What lines along x through cells' middles cross: 1 or -1 behind each crossing."""
    grid = np.zeros(shape, int)
    for corners in np.asarray(cells, float)[faces]:
        flat = corners[:, 1:]
        area = _turn(*flat)
        for j, k in np.ndindex(*shape[1:]):
            parts = [
                _turn(np.array([j, k]), flat[i - 2], flat[i - 1]) for i in range(3)
            ]
            if area and all(part / area >= 0 for part in parts):
                depth = sum(p * x for p, x in zip(parts, corners[:, 0], strict=True))
                grid[math.ceil(depth / area), j, k] += 1 if area > 0 else -1
    return grid


def _turn(a: Any, b: Any, c: Any) -> float:
    """Twice the signed area of a triangle in the plane."""
    return float((b[0] - a[0]) * (c[1] - a[1]) - (b[1] - a[1]) * (c[0] - a[0]))
