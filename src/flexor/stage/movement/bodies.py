"""Bodies keep apart, and stand on the ground, fall to it or jump."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from flexor.arrays import Ints

__all__ = ["Standing", "init_standing", "push_apart", "stand"]

Doubles = NDArray[np.float64]
Bools = NDArray[np.bool_]


@dataclass(slots=True, eq=False)
class Standing:
    """How N characters stand.

    falls: float64 (N,), metres a second downward; grounded: bool (N,), who stands on
    the ground; landed: bool (N,), who came down to it in the last tick; order: int32
    (N,), rows by their x.
    """

    falls: Doubles
    grounded: Bools
    landed: Bools
    order: Ints


def init_standing(count: int) -> Standing:
    """All on the ground."""
    return Standing(
        np.zeros(count),
        np.ones(count, bool),
        np.zeros(count, bool),
        np.arange(count, dtype=np.int32),
    )


def push_apart(
    state: Standing, radii: Doubles, is_solid: Bools, places: Doubles
) -> int:
    """Push circles of radii (N,) out of each other, each by half, in places (N, 3).

    is_solid: (N,), False of who is in nobody's way. Who is over another by more than a
    body's height passes. Gives how many pairs met; three in a heap need some ticks.
    """
    if len(places) < 2:
        return 0
    from flexor.stage.movement import kernel_bodies

    met: int = kernel_bodies.push_apart(radii, is_solid, state.order, places)
    return met


def stand(
    state: Standing,
    dt: float,
    gravity: float,
    climb: float,
    clocks: Doubles,
    heights: Doubles,
    flying: Bools,
    places: Doubles,
) -> None:
    """Put characters on the ground of heights (N,), or let them fall; in place.

    clocks: (N,), factors of time; climb: metres a second that one comes up a step;
    flying: (N,), who jumps and is held in the air. Ground that falls away by less than
    12 cm in a tick is walked down, not fallen.
    """
    from flexor.stage.movement import kernel_bodies

    kernel_bodies.stand(
        dt,
        gravity,
        climb,
        clocks,
        heights,
        flying,
        places,
        state.falls,
        state.grounded,
        state.landed,
    )
