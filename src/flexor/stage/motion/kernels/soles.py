"""Points of soles in the world."""

from __future__ import annotations

from typing import TYPE_CHECKING

from flexor.maths.kernels.jit import inline
from flexor.maths.kernels.numbers import int64
from flexor.stage.motion.layout import Soles

if TYPE_CHECKING:
    from flexor.arrays import Floats


@inline
def sole_point(
    world: Floats, k: int, soles: Soles, m: int, p: int
) -> tuple[float, float, float]:
    """Where a point of a sole is by the clip, metres in the world."""
    j = int64(soles.nodes[m, p])
    x, y, z = soles.points[m, p, 0], soles.points[m, p, 1], soles.points[m, p, 2]
    return (
        world[k, j, 0, 0] * x
        + world[k, j, 0, 1] * y
        + world[k, j, 0, 2] * z
        + world[k, j, 0, 3],
        world[k, j, 1, 0] * x
        + world[k, j, 1, 1] * y
        + world[k, j, 1, 2] * z
        + world[k, j, 1, 3],
        world[k, j, 2, 0] * x
        + world[k, j, 2, 1] * y
        + world[k, j, 2, 2] * z
        + world[k, j, 2, 3],
    )
