"""Cameras that have everything in the picture."""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import ArrayLike, NDArray

from flexor.errors import SettingError
from flexor.scene.character.camera import Camera
from flexor.scene.character.light import Vector

__all__ = ["THREE_QUARTER", "direction_of", "fit_camera"]

FOV = math.radians(30)
MARGIN = 0.08


def direction_of(turn: float, rise: float) -> Vector:
    """The unit way from a thing to the camera.

    turn: radians about the vertical, 0 in front (+z), positive to the thing's left
    (+x); rise: radians above the horizon.
    """
    flat = math.cos(rise)
    return flat * math.sin(turn), math.sin(rise), flat * math.cos(turn)


# From the front, a little from the side and from above.
THREE_QUARTER = direction_of(math.radians(32), math.radians(12))


def fit_camera(
    points: ArrayLike,
    size: tuple[int, int] = (640, 480),
    *,
    direction: ArrayLike = THREE_QUARTER,
    up: Vector | None = None,
    fov: float = FOV,
    is_flat: bool = False,
    margin: float = MARGIN,
    faint: ArrayLike | None = None,
) -> Camera:
    """The nearest camera in a direction that sees all points.

    points: (..., 3), metres; those that are not finite do not count. size: width and
    height of the picture; direction: from the points to the camera, of any length; up:
    in the picture, None for +y, or -z where the camera looks along y; fov: radians from
    bottom to top; is_flat: without perspective; margin: share of the picture left free
    on each side; faint: (..., 3), such as of a shadow, may reach into the margin but
    not out of the picture. For a motion, give the points of several moments. A single
    point, or none at all, is seen as if it were a metre large.
    """
    if not 0 <= margin < 0.5:
        raise SettingError(f"margin: {margin}, expected 0 to 0.5")
    if min(size) < 1:
        raise SettingError(f"size: {size!r}, expected pixels above 0")
    back = _unit(direction)
    if up is None:
        up = (0.0, 1.0, 0.0) if abs(back[1]) < 0.999 else (0.0, 0.0, -1.0)
    eye = (float(back[0]), float(back[1]), float(back[2]))
    axes = Camera(eye=eye, target=(0.0, 0.0, 0.0), up=up, fov=fov).axes()
    seen, floor = _seen(points, axes)
    sets, rooms = [seen], np.array([1 - 2 * margin])
    if faint is not None and len(rows := _finite(faint)):
        sets, rooms = [seen, axes @ rows.T], np.array([1 - 2 * margin, 1.0])
    tall = math.tan(fov / 2)
    borders = np.array([size[0] / size[1], 1.0])[:, None] * rooms
    low, high = seen.min(1), seen.max(1)
    nearest = max(float(one[2].max()) for one in sets)
    middle = (low + high) / 2
    reach = np.maximum((high - low) / 2, floor)
    if is_flat:
        across, half = _place(sets, borders, 0.0)
        half = max(half, float((reach[:2] / borders[:, 0]).max()))
        away = max(middle[2] + reach[2], nearest) + 2 * half
        height = 2 * half
    else:
        across, away = _place(sets, borders * tall, 1.0)
        # What has no size, or none across the view, still needs room.
        away = max(away, nearest + floor / float(borders.min() * tall))
        height = None
    place = np.array([*across, away])
    distance, gap = place[2] - middle[2], place[2] - nearest
    target = place - [0, 0, distance]
    where, target = place @ axes, target @ axes
    return Camera(
        eye=(float(where[0]), float(where[1]), float(where[2])),
        target=(float(target[0]), float(target[1]), float(target[2])),
        up=up,
        fov=fov,
        height=height,
        near=float(np.clip(min(distance * 0.005, gap / 2), 1e-30, 1e30)),
    )


def _place(
    sets: list[NDArray[np.float64]], tangents: NDArray[np.float64], depth: float
) -> tuple[NDArray[np.float64], float]:
    """Where in camera axes the camera must stand to see sets of points (3, P).

    tangents: (2, K), of each set, across and up; depth: 1, or 0 without perspective.
    Gives the place (2,) across and up, and how far away, or half the height.

    A point is inside the left and right borders if |x - camera x| is at most the
    tangent times its distance; each border so gives one number for each set, the
    largest of x + tangent z and of -x + tangent z. Where a right and a left one hold
    with equality the camera can come no nearer. The same for the height.
    """
    right, left = np.empty_like(tangents), np.empty_like(tangents)
    for row, seen in enumerate(sets):
        lean = tangents[:, row, None] * (seen[2] * depth)
        right[:, row] = (lean + seen[:2]).max(1)
        left[:, row] = (lean - seen[:2]).max(1)
    pairs = right[:, :, None] + left[:, None, :]
    away = (pairs / (tangents[:, :, None] + tangents[:, None, :])).max()
    least = (right - tangents * away).max(1)
    most = (tangents * away - left).min(1)
    return (least + most) / 2, float(away)


def _seen(
    points: ArrayLike, axes: NDArray[np.float64]
) -> tuple[NDArray[np.float64], float]:
    """Finite points (3, P) in camera axes, and the least reach they are given."""
    finite = _finite(points)
    if not len(finite):
        return np.zeros((3, 1)), 0.5
    seen = np.ascontiguousarray(axes @ finite.T)  # rows are quick to compare
    extent = float((seen.max(1) - seen.min(1)).max())
    largest = float(np.abs(seen).max())
    if not extent > 1e-14 * largest:
        return seen, 0.5
    # Below this the numbers of the vertices themselves are no longer exact.
    return seen, max(extent * 1e-3, largest * 1e-6)


def _finite(points: ArrayLike) -> NDArray[np.float64]:
    """Points as rows (P, 3), without those that are not finite."""
    rows = np.asarray(points, np.float64).reshape(-1, 3)
    is_finite = np.isfinite(rows)
    return rows if is_finite.all() else rows[is_finite.all(1)]


def _unit(direction: ArrayLike) -> NDArray[np.float64]:
    way = np.asarray(direction, np.float64)
    if way.shape != (3,) or not np.isfinite(way).all() or not way.any():
        raise SettingError(
            f"direction: {direction!r}, expected three numbers, not all 0"
        )
    way = way / np.abs(way).max()
    unit: NDArray[np.float64] = way / np.linalg.norm(way)
    return unit


def fit_shape(points: ArrayLike, direction: ArrayLike = THREE_QUARTER) -> float:
    """How wide points (..., 3) are for their height, seen from a direction; 1 if they
    are no larger than a point.
    """
    camera = fit_camera(points, (100, 100), direction=direction, is_flat=True, margin=0)
    finite = _finite(points)
    if not len(finite):
        return 1.0
    seen = camera.axes()[:2] @ finite.T
    wide, tall = seen.max(1) - seen.min(1)
    return float(wide / tall) if wide > 0 and tall > 0 else 1.0
