"""A grid on the floor."""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import ArrayLike

from flexor.draw.drawlist import RGB, DrawLines

__all__ = ["grid_spacing", "ground_grid"]

REACH = 1.6  # sizes of the thing from the middle outward


def grid_spacing(size: float) -> float:
    """Metres between lines for a thing of `size` metres: 1, 2 or 5 times a power of 10.

    Four to ten of them are as long as the thing.
    """
    if not (math.isfinite(size) and size > 0):
        return 1.0
    aim = min(max(size, 1e-30), 1e30) / 4
    power = 10.0 ** math.floor(math.log10(aim))
    return next(step * power for step in (5, 2, 1) if step * power <= aim * 1.0000001)


def ground_grid(
    centre: ArrayLike,
    size: float,
    floor: float = 0.0,
    *,
    colour: RGB = (0.2, 0.22, 0.25),
) -> DrawLines:
    """Lines at height `floor` around `centre` (3,), for a thing of `size` metres.

    They lie on multiples of the spacing, so a thing that moves passes over them, and
    fade outward: each is cut where it meets others, and the pieces grow fainter.
    """
    step = grid_spacing(size)
    steps = size / step if math.isfinite(size) else 4.0
    count = math.ceil(REACH * min(max(steps, 4.0), 10.0))
    x, _, z = np.nan_to_num(np.asarray(centre, np.float64), posinf=0, neginf=0)
    middle = np.round(np.array([x, z]) / step)
    marks = np.arange(-count, count + 1)
    along, line = np.meshgrid(marks[:-1], marks)
    starts = np.stack([along.ravel(), line.ravel()], 1)
    points = np.zeros((2, len(starts), 2, 3))
    points[..., 1] = floor
    for axis in range(2):  # lines along x, then along z
        for end in range(2):
            place = starts + np.array([end, 0])
            place = (place if axis == 0 else place[:, ::-1]) + middle
            points[axis, :, end, 0] = place[:, 0] * step
            points[axis, :, end, 2] = place[:, 1] * step
    flat = points.reshape(-1, 2, 3)
    halves = flat.mean(1)[:, [0, 2]] / step - np.array([x, z]) / step
    away = np.hypot(halves[:, 0], halves[:, 1]) / count
    fade = np.clip(1 - away, 0, 1) ** 1.5
    is_seen = fade > 0.01
    colours = np.empty((int(is_seen.sum()), 4), np.float32)
    colours[:, :3] = colour
    colours[:, 3] = fade[is_seen] * 0.7
    return DrawLines(flat[is_seen].astype(np.float32), colours, 1.0)
