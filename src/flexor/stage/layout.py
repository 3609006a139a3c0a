"""What kernels of several rooms of the stage take together, as records."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, NamedTuple

from flexor.arrays import Bytes, Doubles, Ints

if TYPE_CHECKING:
    from flexor.scene.stage.ground import Ground

__all__ = ["Blocks", "GroundTable", "Shot", "ground_table"]


class Blocks(NamedTuple):
    """S structures as the camera keeps clear of them, seen from above. Metres."""

    rounds: Annotated[Doubles, "[:, ::1]"]  # (S, 3), x and z of a circle, its radius
    heights: Annotated[Doubles, "[:, ::1]"]  # (S, 2), from where to where it reaches
    firsts: Annotated[Ints, "[::1]"]  # (S + 1,), rows of the sides of each
    sides: Annotated[Doubles, "[:, ::1]"]  # (K, 4), x and z of both ends


class Shot(NamedTuple):
    """What a camera's rule asks for: see `CameraRule`. Metres, seconds."""

    is_side: bool  # beside the two, else behind one
    takes_all: bool  # who are near, else the two alone
    distance: float
    height: float
    ease: float
    high: float  # of half the picture, by the distance to it


class GroundTable(NamedTuple):
    """A ground: see `maths.kernels.field`. Lengths in metres."""

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
