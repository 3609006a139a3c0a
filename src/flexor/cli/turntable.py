"""A camera that keeps everything in the picture while it goes around."""

from __future__ import annotations

import math
from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from flexor.draw.scene.fit import direction_of, fit_camera
from flexor.scene.character.camera import Camera

__all__ = ["fit_turning"]

RINGS, CORNERS = 64, 32
STEEPEST = math.radians(89)  # straight from above there is no way around


def fit_turning(
    points: NDArray[np.floating],
    size: tuple[int, int],
    view: tuple[float, float],
    is_flat: bool = False,
    faint: NDArray[np.floating] | None = None,
) -> Camera:
    """A camera whose `turned(angle)` sees all points at every angle.

    points: (..., 3), metres; size: of the picture; view: radians around and above;
    faint: (..., 3), may reach into the margin.
    """
    around, above = view[0], max(min(view[1], STEEPEST), -STEEPEST)
    given = _finite(points)
    if not len(given):
        given = np.zeros((1, 3))
    middle = (given.min(0) + given.max(0)) / 2
    rim = None if faint is None else _finite(faint)
    camera = fit_camera(
        _swept(given, middle),
        size,
        direction=direction_of(around, above),
        up=(0.0, 1.0, 0.0),
        is_flat=is_flat,
        faint=None if rim is None or not len(rim) else _swept(rim, middle),
    )
    # It looks at the axis, but perhaps past it: the target must be on it to turn there.
    eye, back = np.array(camera.eye), camera.axes()[2]
    away = np.hypot(*(eye - middle)[[0, 2]]) / np.hypot(*back[[0, 2]])
    target = eye - back * away
    return replace(camera, target=(middle[0], float(target[1]), middle[2]))


def _finite(points: NDArray[np.floating]) -> NDArray[np.float64]:
    """Points as rows (P, 3), without those that are not finite."""
    rows = np.asarray(points, np.float64).reshape(-1, 3)
    finite: NDArray[np.float64] = rows[np.isfinite(rows).all(1)]
    return finite


def _swept(
    points: NDArray[np.float64], middle: NDArray[np.float64]
) -> NDArray[np.float64]:
    """Rings around what points (P, 3) sweep when turned about a vertical axis."""
    low, high = points[:, 1].min(), points[:, 1].max()
    radii = np.hypot(points[:, 0] - middle[0], points[:, 2] - middle[2])
    step = max((high - low) / RINGS, 1e-30)
    rows = np.minimum(((points[:, 1] - low) / step).astype(int), RINGS - 1)
    widest = np.zeros(RINGS)
    np.maximum.at(widest, rows, radii)
    filled = np.unique(rows)
    # A ring with corners must have the round one inside it.
    widest = widest[filled] / math.cos(math.pi / CORNERS)
    angles = np.arange(CORNERS) * math.tau / CORNERS
    rings = np.empty((2, len(filled), CORNERS, 3))
    rings[..., 0] = middle[0] + widest[:, None] * np.sin(angles)
    rings[..., 2] = middle[2] + widest[:, None] * np.cos(angles)
    rings[0, ..., 1] = (low + filled * step)[:, None]
    rings[1, ..., 1] = np.minimum(low + (filled + 1) * step, high)[:, None]
    return rings.reshape(-1, 3)
