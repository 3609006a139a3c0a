"""What lights a scene."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

import numpy as np

from flexor.errors import SettingError

__all__ = ["DAYLIGHT", "Light", "LightKind", "Vector", "as_vector"]

LightKind = Literal["ambient", "directional", "point"]
Vector = tuple[float, float, float]


@dataclass(frozen=True, slots=True)
class Light:
    """One light.

    kind: "ambient" comes from everywhere, "directional" from far away, "point" from
    `position`; colour: linear red, green, blue, times how bright it is (1: a white
    surface that faces the light is white); direction: the way directional light
    travels; position: metres; reach: metres from a point light to where it is half as
    bright; ground: what an ambient light is from below (None: the same as above).
    """

    kind: LightKind
    colour: Vector = (1.0, 1.0, 1.0)
    direction: Vector = (0.0, -1.0, 0.0)
    position: Vector = (0.0, 0.0, 0.0)
    reach: float = 1.0
    ground: Vector | None = None

    def __post_init__(self) -> None:
        if self.kind not in ("ambient", "directional", "point"):
            raise SettingError(
                f"light kind: {self.kind!r}, expected ambient, directional or point"
            )
        for name in ("colour", "direction", "position", "ground"):
            if name != "ground" or self.ground is not None:
                value = as_vector(getattr(self, name), f"light {name}")
                object.__setattr__(self, name, value)
        if self.kind == "directional" and not any(self.direction):
            raise SettingError("light direction: must not be zero")
        if not self.reach > 0:
            raise SettingError(f"light reach: {self.reach}, expected metres above 0")


def as_vector(value: object, name: str) -> Vector:
    """Three finite numbers as a tuple, or an error that calls them `name`."""
    try:
        array = np.asarray(value, np.float64)
    except (TypeError, ValueError):
        array = np.empty(0)
    if array.shape != (3,) or not np.isfinite(array).all():
        raise SettingError(f"{name}: {value!r}, expected three finite numbers")
    return float(array[0]), float(array[1]), float(array[2])


# A sun over the viewer's left shoulder, a weak one from behind, and the sky.
DAYLIGHT = (
    Light("ambient", (0.36, 0.39, 0.45), ground=(0.20, 0.18, 0.16)),
    Light("directional", (0.72, 0.69, 0.63), direction=(0.45, -0.75, -0.6)),
    Light("directional", (0.10, 0.12, 0.16), direction=(-0.6, -0.2, 0.8)),
)
