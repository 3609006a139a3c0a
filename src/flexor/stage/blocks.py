"""What eyes keep clear of: structures as their footprints and heights.

blocks = make_blocks(plan.structures, heights_at)
eye = clear_eye(blocks, (6, 2, 0), [(0, 0), (1, 0)])
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np
from numpy.typing import ArrayLike

from flexor.arrays import Doubles
from flexor.errors import SettingError, ShapeError
from flexor.maths import exact
from flexor.scene.character.light import Vector
from flexor.scene.stage.camera_rule import vector_of
from flexor.scene.stage.layout import FARTHEST
from flexor.scene.stage.structure import Structure
from flexor.stage.layout import Blocks

__all__ = ["clear_eye", "make_blocks"]


def make_blocks(
    structures: Sequence[Structure], height_at: Callable[[Doubles], Doubles]
) -> Blocks:
    """Structures as the camera keeps clear of them.

    height_at: how high the ground is at places (n, 2), x and z.
    """
    prints = [own.footprint for own in structures]
    count = len(prints)
    rounds, heights = np.zeros((count, 3)), np.zeros((count, 2))
    for row, (own, corners) in enumerate(zip(structures, prints, strict=True)):
        middle = (corners.min(0) + corners.max(0)) / 2
        wide = float(exact.hypot_each(*(corners - middle).T).max())
        rounds[row] = *middle.tolist(), wide
        floor = float(height_at(middle[None])[0])
        heights[row] = floor + own.low, floor + own.high
    sides = [np.concatenate([own, np.roll(own, -1, 0)], 1) for own in prints]
    firsts = np.cumsum([0, *map(len, prints)])
    return Blocks(
        rounds,
        heights,
        firsts.astype(np.int32),
        np.concatenate([np.zeros((0, 4)), *sides]),
    )


def clear_eye(
    blocks: Blocks, eye: Vector, spots: ArrayLike, *, before: float = 0.0
) -> Vector:
    """An eye moved to where it is clear of structures, and none is before what it sees.

    eye: x, y and z, metres; spots: one or two places (n, 2), x and z, that are to be
    seen. It swings around the middle of them by as little as will do, up to 56 degrees;
    where all of that is taken, it is clear of structures at least. Over low ones it
    rises. before: radians that it swung aside in the picture before: the other side
    must be that much better.
    """
    found = np.array(vector_of(eye, "eye", FARTHEST))
    seen = np.array(spots, np.float64)
    if seen.ndim != 2 or seen.shape[1:] != (2,) or len(seen) not in (1, 2):
        raise ShapeError(f"spots: shape {seen.shape}, expected (1, 2) or (2, 2)")
    if not (np.abs(seen) <= FARTHEST).all():
        raise SettingError(f"spots: expected numbers within {FARTHEST:g} m")
    from flexor.stage.kernels import blocks as kernel_blocks

    two = np.ascontiguousarray(seen[[0, -1]])
    kernel_blocks.clear_eye(blocks, two, float(before), found)
    x, y, z = found.tolist()
    return x, y, z
