"""Scores and smoothing as plain loops over dense tables, float64."""

from __future__ import annotations

import math
from typing import Any

import numpy as np


def score(bones: Any, sections: Any, bone: int, point: Any, limit: float) -> float:
    """How well a point fits a bone; limit: the most that a radius counts."""
    frame = bones.frames[bone]
    x, y, z = frame[:, :3].T @ (np.asarray(point, float) - frame[:, 3])
    length = bones.lengths[bone]
    t = min(max(x / length, 0.0), 1.0) if length > 0 else 0.0
    radii = np.minimum(sections.radii[bone], limit)
    ry, rz = radii[0] + t * (radii[1] - radii[0])
    offsets = sections.offsets[bone]
    oy, oz = offsets[0] + t * (offsets[1] - offsets[0])
    away = math.hypot((y - oy) / ry, (z - oz) / rz)
    value = 1 - away**2 / 2 if away <= 1 else 0.5 / away
    if x < 0:
        return value / (1 + 4 * x**2 / (ry * rz))
    if x > length:
        fall = 0.25 if bones.tips[bone] < 0 else 4
        return value / (1 + fall * (x - length) ** 2 / (ry * rz))
    return value


def smooth_step(surface: Any, slopes: Any, weights: Any, most: int = 8) -> Any:
    """One step for dense weights (P, S)."""
    new = weights.copy()
    for p in range(len(weights)):
        around = range(surface.starts[p], surface.starts[p + 1])
        if slopes[p] <= 0 or not around or not weights[p].any():
            continue
        for e in around:
            q = surface.neighbours[e]
            if not weights[q].any():
                continue
            slope = slopes[q] if slopes[q] > 0 else slopes[p]
            limit = (slopes[p] + slope) / 2 * surface.lengths[e]
            degrees = np.diff(surface.starts)
            share = 0.5 / max(degrees[p], degrees[q])
            gap = weights[q] - weights[p]
            over = np.sign(gap) * np.maximum(np.abs(gap) - limit, 0)
            new[p] += share * over
        row = np.where(new[p] > 1e-5, new[p], 0)
        small = np.argsort(-row, kind="stable")[most:]
        row[small] = 0
        new[p] = row / row.sum()
    return new


def steepest(surface: Any, slopes: Any, weights: Any) -> float:
    """The largest change over an edge as a multiple of what is allowed; (P, S)."""
    first, last, lengths = surface.edges()
    gaps = np.abs(weights[first] - weights[last]).max(1)
    allowed = (slopes[first] + slopes[last]) / 2 * lengths
    return float((gaps / allowed).max(initial=0))
