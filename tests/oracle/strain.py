"""Strain of triangles and edges one by one: singular values and angles, float64."""

from __future__ import annotations

import math
from typing import Any

import numpy as np


def stretches(bound: Any, posed: Any) -> tuple[float, float]:
    """Largest and least stretch of a triangle; bound, posed: its corners, (3, 3)."""
    u, v = bound[1] - bound[0], bound[2] - bound[0]
    x = u / np.linalg.norm(u)
    y = v - (v @ x) * x
    y /= np.linalg.norm(y)
    flat = np.array([[u @ x, v @ x], [u @ y, v @ y]])
    sides = np.stack([posed[1] - posed[0], posed[2] - posed[0]], 1)
    values = np.linalg.svd(sides @ np.linalg.inv(flat), compute_uv=False)
    return float(values[0]), float(values[1])


def normal(corners: Any) -> Any:
    """The unit normal of a triangle; nothing where it has no area."""
    across = np.cross(corners[1] - corners[0], corners[2] - corners[0])
    length = np.linalg.norm(across)
    return across / length if length > 1e-30 else np.zeros(3)


def edges(faces: Any) -> dict[tuple[int, int], tuple[int, int, int]]:
    """By both ends, the two triangles at an edge and 1, or -1 if they go the same way
    along it; edges of one triangle, or of more than two, are left out.
    """
    uses: dict[tuple[int, int], list[tuple[int, bool]]] = {}
    for row, corners in enumerate(np.asarray(faces).tolist()):
        for a, b in zip(corners, [*corners[1:], corners[0]], strict=True):
            uses.setdefault((min(a, b), max(a, b)), []).append((row, a < b))
    return {
        ends: (two[0][0], two[1][0], -1 if two[0][1] == two[1][1] else 1)
        for ends, two in uses.items()
        if len(two) == 2
    }


def cosine(places: Any, faces: Any, side: tuple[int, int, int]) -> float:
    """Of the angle between the outsides of two triangles, 1 where they go on flat."""
    one, other, sign = side
    return float(normal(places[faces[one]]) @ normal(places[faces[other]])) * sign


def ramp(value: float, low: float, high: float) -> float:
    return min(max((value - low) / (high - low), 0.0), 1.0)


def bad_faces(bound: Any, faces: Any, posed: Any) -> Any:
    """How bad each triangle looks, (F,); bound, posed: all points, (P, 3)."""
    found = np.zeros(len(faces))
    for row, corners in enumerate(faces):
        largest, least = stretches(bound[corners], posed[corners])
        found[row] = max(ramp(largest, 1.6, 2.4), 0.5 * ramp(least, 0.6, 0.3))
    for side in edges(faces).values():
        before, now = cosine(bound, faces, side), cosine(posed, faces, side)
        # 104 and 139 degrees; and turned away clearly further than it was.
        if before - now > 0.5:
            for row in side[:2]:
                found[row] = max(found[row], ramp(now, -0.25, -0.75))
    return found


def folded(bound: Any, faces: Any, posed: Any) -> set[tuple[int, int]]:
    """Ends of the edges that are folded by more than 120 degrees."""
    found = set()
    for ends, side in edges(faces).items():
        before, now = cosine(bound, faces, side), cosine(posed, faces, side)
        if math.degrees(math.acos(max(min(now, 1), -1))) > 120 and before - now > 0.5:
            found.add(ends)
    return found
