"""Slow twins of the kernels by which who was parried is thrown back."""

from __future__ import annotations

import math
from typing import Any

import numpy as np


def step_lean(opened: int, stun: int, ticks: int, lean: float) -> float:
    """The kernel `step_leans` for one."""
    left = min(stun / max(ticks, 1), 1) if opened >= 0 else 0
    wanted = 3 * left**2 - 2 * left**3
    return lean + float(np.clip(wanted - lean, -0.12, 0.25))


def turned(world: Any, heading: float, angle: float) -> Any:
    """A frame (3, 3) turned back by an angle about the left of one who looks along a
    heading: what was up then points away from where it looks.
    """
    axis = np.array([math.cos(heading), 0, -math.sin(heading)])
    x, y, z = axis
    cross = np.array([[0, -z, y], [z, 0, -x], [-y, x, 0]])
    s, c = math.sin(-angle), math.cos(-angle)
    turn = np.eye(3) + s * cross + (1 - c) * cross @ cross
    return turn @ world
