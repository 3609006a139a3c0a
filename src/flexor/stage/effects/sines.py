"""Sines from a table, for the turns of leaves and flakes."""

from __future__ import annotations

from functools import cache

import numpy as np

from flexor.arrays import Floats
from flexor.maths import exact

__all__ = ["sine_table"]

SINES = 4096  # of a turn


@cache
def sine_table() -> Floats:
    """Sines of a whole turn: float32 (4096,), read-only."""
    sines: Floats = exact.sin_each(np.arange(SINES) * (2 * np.pi / SINES)).astype(
        np.float32
    )
    sines.flags.writeable = False
    return sines
