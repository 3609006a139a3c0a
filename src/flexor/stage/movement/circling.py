"""Walking, and circling around an opponent at a distance that does not drift.

Who stands is held by static friction: its legs come to push harder and harder, and as
they push harder than that holds, it goes. Then it becomes as fast as it asks, by what
legs can do beyond dynamic friction, which also brakes who asks no more. Both are more
on sand and in water, so one starts later there and stops sooner. Slopes hold back who
walks up, and help who walks down. In the air nothing holds and nothing pushes.
"""

from __future__ import annotations

import numpy as np

from flexor.scene.stage.settings import FrictionSettings
from flexor.stage.movement.layout import Gait, Walkers

__all__ = ["gait_of", "walk"]


def gait_of(settings: FrictionSettings) -> Gait:
    """How legs and ground get on, as the kernel takes it."""
    return Gait(
        settings.gravity,
        settings.still,
        settings.moving,
        settings.push,
        settings.effort,
        settings.brake,
        settings.uphill,
        np.array(settings.factors, np.float64),
    )


def walk(rows: Walkers, gait: Gait, dt: float) -> None:
    """Move characters for `dt` seconds as they ask, in place.

    Who circles faces its opponent and goes around it; who stands on the spot of its
    opponent keeps its heading and walks straight.
    """
    from flexor.stage.movement.kernels import ground as kernel_movement

    kernel_movement.walk(dt, gait, rows)
