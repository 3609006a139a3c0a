"""Walking, and circling around an opponent at a distance that does not drift."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from flexor.arrays import Doubles, Ints

__all__ = ["walk"]


def walk(
    dt: float,
    clocks: Doubles,
    opponents: Ints,
    circling: NDArray[np.bool_],
    asked: Doubles,
    paces: Doubles,
    places: Doubles,
    headings: Doubles,
) -> None:
    """Move characters for `dt` seconds as is asked, in place.

    clocks: (N,), factors of time; opponents: int32 (N,), rows, -1 for none; circling:
    (N,), who faces its opponent and goes around it; asked: (N, 2), metres a second
    forward and to the right; paces: (N,), factors of the ground; places: (N, 3);
    headings: (N,), radians, 0 looks along +z. Who stands on the spot of its opponent
    keeps its heading and walks straight.
    """
    from flexor.stage.movement.kernels import ground as kernel_movement

    kernel_movement.walk(
        dt, clocks, opponents, circling, asked, paces, places, headings
    )
