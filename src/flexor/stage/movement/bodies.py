"""Bodies keep apart, stop at steep ground, and stand, fall or jump."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from flexor.arrays import Bools, Doubles, Ints
from flexor.maths import exact
from flexor.scene.stage.ground import Ground
from flexor.stage.hashing import Hashed

__all__ = [
    "Standing",
    "has_steps",
    "hold_at_steps",
    "init_standing",
    "push_apart",
    "stand",
]

REACH = 0.25  # metres over which ground may rise by a step, and no more


@dataclass(slots=True, eq=False)
class Standing:
    """How N characters stand.

    falls: float64 (N,), metres a second downward; grounded: bool (N,), who stands on
    the ground; landed: bool (N,), who came down to it in the last tick; order: int32
    (N,), rows by their x.
    """

    falls: Hashed[Doubles]
    grounded: Hashed[Bools]
    landed: Hashed[Bools]
    order: Hashed[Ints]


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
    from flexor.stage.movement.kernels import bodies as kernel_bodies

    met: int = kernel_bodies.push_apart(radii, is_solid, state.order, places)
    return met


def has_steps(ground: Ground, step: float) -> bool:
    """Whether a ground rises anywhere by more than a step; may say so of one where it
    is just not enough, never the other way.
    """
    high = ground.heights
    if high.max() - high.min() <= step:
        return False
    across, along = np.diff(high, axis=1), np.diff(high, axis=0)
    # Of the two triangles of each cell, how much higher they get along x and along z.
    upper = exact.hypot_each(across[:-1], along[:, 1:]).max()
    lower = exact.hypot_each(across[1:], along[:, :-1]).max()
    return bool(max(upper, lower) * REACH > step * ground.step)


def hold_at_steps(
    ground: Ground, step: float, before: Doubles, places: Doubles, *, normals: Doubles
) -> int:
    """Let nobody go up ground that rises by more than `step` metres within 25 cm.

    before: (N, 3), where characters were; places: (N, 3), where they are to go, changed
    in place: up to steep ground and on along it, at any speed. normals: (N, 2), filled
    with unit ways out of it, 0 for who goes freely. Gives how many were held.
    """
    from flexor.stage.movement.kernels import bodies as kernel_bodies

    held: int = kernel_bodies.hold_at_steps(
        ground.heights,
        *ground.corner,
        ground.step,
        step,
        REACH,
        before,
        places,
        normals,
    )
    return held


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

    clocks: (N,), factors of time; climb: metres a second that one comes up a step, but
    nobody is more than 15 cm in it; flying: (N,), who jumps and is held in the air.
    Ground that falls away by less than 12 cm in a tick is walked down, not fallen.
    """
    from flexor.stage.movement.kernels import bodies as kernel_bodies

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
