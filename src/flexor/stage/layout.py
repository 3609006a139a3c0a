"""What kernels of several rooms of the stage take together, as records."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, NamedTuple

from flexor.arrays import Bytes, Doubles

if TYPE_CHECKING:
    from flexor.scene.stage.ground import Ground

__all__ = ["GroundTable", "ground_table"]


class GroundTable(NamedTuple):
    """A ground: see `kernels.field`. Lengths in metres."""

    heights: Annotated[Doubles, "[:, ::1]"]  # (R, C)
    surfaces: Annotated[Bytes, "[:, ::1]"]  # (R - 1, C - 1)
    x0: float  # of the first point
    z0: float
    step: float  # from point to point
    inverse: float  # 1 / step


def ground_table(ground: Ground) -> GroundTable:
    """A ground as kernels take it; its arrays have been checked when it was made."""
    step = float(ground.step)
    return GroundTable(ground.heights, ground.surfaces, *ground.corner, step, 1 / step)
