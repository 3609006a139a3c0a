"""How far and how fast the joints of a skeleton may turn."""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from flexor.arrays import Floats, freeze
from flexor.errors import ShapeError

__all__ = ["FREE", "Limits", "free_limits"]

# Radians about Z, Y and X that hold every rotation.
FREE = (math.pi, math.pi / 2, math.pi)
SLACK = 1e-6  # radians that float32 takes from or adds to an angle


@dataclass(frozen=True, slots=True, eq=False)
class Limits:
    """The turns that each joint may make, as differences from its rest.

    frames: float32 (J, 4), joint_from_bone: the bone's own axes in those of its node,
    X along the bone at rest, Z the axis about which it mainly bends; low, high:
    float32 (J, 3), radians about Z, Y and X; rates: float32 (J,), radians a second,
    inf where there is no limit; limited: bool (J,), the joints whose low and high are
    not those of FREE (made here).

    A joint's rotation is `rest * frame * d * inverse(frame)`, where d turns by
    three angles about Z, the turned Y and the twice turned X (`maths.euler`): the first
    two say where the bone points, the third how it is twisted. Each lies in low..high.
    The rest pose is always allowed: low is at most 0, high at least 0. The middle angle
    lies in -90..90 degrees, the others in -180..180, at which they are free.
    Takes ownership of the arrays.
    """

    frames: Floats
    low: Floats
    high: Floats
    rates: Floats
    limited: NDArray[np.bool_] = field(init=False)

    def __post_init__(self) -> None:
        put = object.__setattr__
        put(self, "rates", freeze(self.rates, np.float32, (None,), "rates"))
        count = len(self.rates)
        for name, width in (("frames", 4), ("low", 3), ("high", 3)):
            value = freeze(getattr(self, name), np.float32, (count, width), name)
            put(self, name, value)
            _refuse(~np.isfinite(value).all(axis=1), name, "not finite")
        lengths = np.linalg.norm(self.frames.astype(np.float64), axis=1)
        _refuse(np.abs(lengths - 1) > 1e-3, "frames", "not of unit length")
        _refuse((self.low > 0).any(axis=1), "low", "above 0: the rest is not allowed")
        _refuse((self.high < 0).any(axis=1), "high", "below 0: the rest is not allowed")
        most = np.array(FREE) + SLACK
        _refuse((self.low < -most).any(axis=1), "low", "below -180, -90, -180 degrees")
        _refuse((self.high > most).any(axis=1), "high", "above 180, 90, 180 degrees")
        _refuse(~(self.rates > 0), "rates", "must be above 0")
        free = np.array(FREE) - SLACK
        limited = ~((self.low <= -free) & (self.high >= free)).all(axis=1)
        put(self, "limited", freeze(limited, np.bool_, (count,), "limited"))

    def __reduce__(self) -> tuple[Any, ...]:
        return Limits, (self.frames, self.low, self.high, self.rates)

    def __len__(self) -> int:
        return len(self.rates)


def free_limits(count: int) -> Limits:
    """Limits of `count` joints that allow everything."""
    most = np.tile(np.array(FREE, np.float32), (count, 1))
    return Limits(
        np.tile(np.array([0, 0, 0, 1], np.float32), (count, 1)),
        -most,
        most,
        np.full(count, np.inf, np.float32),
    )


def _refuse(is_bad: Any, name: str, text: str) -> None:
    """An error that names the first bad joint, if there is one."""
    bad = np.nonzero(is_bad)[0]
    if len(bad):
        raise ShapeError(f"{name}[{bad[0]}]: {text}")
