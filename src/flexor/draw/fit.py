"""Cameras that have everything in the picture."""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import ArrayLike, NDArray

from flexor.errors import SettingError
from flexor.scene.camera import Camera, Vector

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
) -> Camera:
    """The nearest camera in a direction that sees all points.

    points: (..., 3), metres; those that are not finite do not count. size: width and
    height of the picture; direction: from the points to the camera, of any length; up:
    in the picture, None for +y, or -z where the camera looks along y; fov: radians from
    bottom to top; is_flat: without perspective; margin: share of the picture left free
    on each side. For a motion, give the points of several moments. A single point, or
    none at all, is seen as if it were a metre large.
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
    room = 1 - 2 * margin
    tall = math.tan(fov / 2)
    tangents = np.array([tall * size[0] / size[1], tall]) * room
    low, high = seen.min(1), seen.max(1)
    middle = (low + high) / 2
    reach = np.maximum((high - low) / 2, floor)
    if is_flat:
        half = max(reach[1], reach[0] * size[1] / size[0]) / room
        place = np.array([middle[0], middle[1], middle[2] + reach[2] + 2 * half])
        height = float(2 * half)
    else:
        place = _perspective(seen, tangents)
        # What has no size, or none across the view, still needs room.
        place[2] = max(place[2], high[2] + floor / tangents.min())
        height = None
    distance, gap = place[2] - middle[2], place[2] - high[2]
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


def _perspective(
    seen: NDArray[np.float64], tangents: NDArray[np.float64]
) -> NDArray[np.float64]:
    """Where in camera axes the camera must stand to see points (3, P).

    A point is inside the left and right borders if |x - camera x| is at most the
    tangent times its distance; each border so gives one number, the largest of
    x + tangent z and of -x + tangent z, and where both hold with equality the camera
    can come no nearer. The same for the height.
    """
    lean = tangents[:, None] * seen[2]
    right = (lean + seen[:2]).max(1)
    left = (lean - seen[:2]).max(1)
    away = ((right + left) / (2 * tangents)).max()
    return np.array([(right[0] - left[0]) / 2, (right[1] - left[1]) / 2, away])


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
