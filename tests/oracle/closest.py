"""The nearest point of a triangle by trying its inside, its sides and its corners."""

from __future__ import annotations

from typing import Any

import numpy as np


def closest_point(triangles: Any, point: Any) -> tuple[int, float]:
    """The nearest of triangles (F, 3, 3) to a point (3,), and its distance."""
    away = [triangle_distance(triangle, point) for triangle in np.asarray(triangles)]
    best = int(np.argmin(away))
    return best, away[best]


def triangle_distance(triangle: Any, point: Any) -> float:
    a, b, c = (np.asarray(corner, float) for corner in triangle)
    away = [
        segment_distance(a, b, point),
        segment_distance(b, c, point),
        segment_distance(c, a, point),
    ]
    normal = np.cross(b - a, c - a)
    length = np.linalg.norm(normal)
    if length > 1e-9 * np.linalg.norm(b - a) * np.linalg.norm(c - a):
        unit = normal / length
        height = (point - a) @ unit
        foot = point - height * unit
        sides = [np.cross(q - p, foot - p) @ unit for p, q in ((a, b), (b, c), (c, a))]
        if min(sides) >= 0:
            away.append(abs(height))
    return float(min(away))


def segment_distance(a: Any, b: Any, point: Any) -> float:
    square = (b - a) @ (b - a)
    t = 0.0 if square == 0 else min(max((point - a) @ (b - a) / square, 0.0), 1.0)
    return float(np.linalg.norm(point - a - t * (b - a)))
