"""The wind that moving characters make: for one tick, at one place, from one part.

    settings = WindSettings(scale=4.0)
    while playing:
        wind = find_wind(before, now, settings)

Speeds are in metres a tick: a part that moves by more than 0.2 m in a sixtieth of
a second makes wind. Feet of people hardly move as fast, 12 metres a second; `scale`
says how many times as far parts are taken to have moved.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from flexor.arrays import Doubles, check_input
from flexor.errors import SettingError, ShapeError
from flexor.scene.character.light import Vector, as_vector
from flexor.scene.checks import check_kind
from flexor.scene.stage.effect_settings import STRONGEST, WindSettings
from flexor.scene.stage.layout import FARTHEST

__all__ = ["Wind", "find_wind"]


@dataclass(frozen=True, slots=True)
class Wind:
    """A wind that blows for one tick.

    place: (x, y, z), metres; speed: along x, up and along z, metres a tick; the upward
    speed is also the radius of what it reaches, in metres.
    """

    place: Vector
    speed: Vector

    def __post_init__(self) -> None:
        for name, most in (("place", FARTHEST), ("speed", FARTHEST)):
            value = as_vector(getattr(self, name), name)
            if max(abs(number) for number in value) > most:
                raise SettingError(f"{name}: {value}, expected {most:g} at most")
            object.__setattr__(self, name, value)
        if not 0 < self.speed[1] <= STRONGEST:
            up = self.speed[1]
            raise SettingError(f"speed: up {up:g}, expected above 0 to {STRONGEST:g}")


SEED = WindSettings()


def find_wind(
    before: Doubles, now: Doubles, settings: WindSettings = SEED
) -> Wind | None:
    """The strongest wind that parts of characters make in a tick; None: there is none.

    before, now: float64 (N, P, 3), places of P parts (feet, head) of N characters a
    tick ago and now. Of winds that are equally strong, that of the first part.
    """
    if not isinstance(now, np.ndarray) or now.ndim != 3:
        have = getattr(now, "shape", type(now).__name__)
        raise ShapeError(f"now: {have}, expected (N, P, 3)")
    check_input(now, np.float64, (None, None, 3), "now")
    check_input(before, np.float64, now.shape, "before")
    check_kind(settings, WindSettings, "settings")
    from flexor.stage.effects.kernels.leaves import find_strongest

    row = find_strongest(
        before,
        now,
        settings.scale,
        settings.least,
        settings.lowest,
        settings.jump,
        FARTHEST,
    )
    if row == -2:
        is_now = not (np.abs(now) <= FARTHEST).all()
        name = "now" if is_now else "before"
        raise SettingError(f"{name}: expected numbers within {FARTHEST:g} m")
    if row < 0:
        return None
    n, p = divmod(row, now.shape[1])
    x, y, z = (float(value) for value in now[n, p])
    dx = settings.scale * (x - float(before[n, p, 0]))
    dz = settings.scale * (z - float(before[n, p, 2]))
    up = min(max(math.sqrt(dx * dx + dz * dz), settings.weakest), settings.strongest)
    return Wind((x, y, z), (settings.sideways * dx, up, settings.sideways * dz))
