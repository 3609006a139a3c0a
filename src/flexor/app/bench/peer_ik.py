"""What peers of `flexor bench ik` are given and give."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from flexor.errors import ShapeError

__all__ = ["IkTask", "Solved"]

Doubles = NDArray[np.float64]


@dataclass(frozen=True, slots=True, eq=False)
class IkTask:
    """Chains of B bones with ball joints, all of one shape, and a target for each.

    lengths: float64 (B,), metres: bones lie along X, each begins where the one before
    it ends; starts: float64 (N, B, 4), local rotations to begin with; targets: float64
    (N, 3), metres from where the chain begins.
    """

    lengths: Doubles
    starts: Doubles
    targets: Doubles

    def __post_init__(self) -> None:
        for name in ("lengths", "starts", "targets"):
            value: Any = np.asarray(getattr(self, name), np.float64)
            object.__setattr__(self, name, value)
            if not np.isfinite(value).all():
                raise ShapeError(f"{name}: not finite")
        count, bones = len(self.starts), len(self.lengths)
        for name, shape in (
            ("lengths", (bones,)),
            ("starts", (count, bones, 4)),
            ("targets", (count, 3)),
        ):
            have = getattr(self, name).shape
            if have != shape or not bones:
                raise ShapeError(f"{name}: shape {have}, expected {shape}, one or more")


@dataclass(frozen=True, slots=True, eq=False)
class Solved:
    """How near a peer came, and how long it took.

    errors: float64 (N,), metres from the end of the chain to the target; seconds:
    float64 (N,), of each solve; note: which versions.
    """

    errors: Doubles
    seconds: Doubles
    note: str
