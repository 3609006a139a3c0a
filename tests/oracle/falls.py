"""Slow twin of the kernel `step_falls`: one character at a time."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

NEXT = {"falling": "lying", "rising": "up"}


def way_at(way: Any, ticks: float) -> Any:
    """Metres to the left and ahead after some ticks of a way (T, 2)."""
    rows = np.arange(len(way))
    return np.array(
        [np.interp(ticks, rows, way[:, 0]), np.interp(ticks, rows, way[:, 1])]
    )


def step_fall(
    phase: str,
    at: float,
    clock: float,
    energy: float,
    span: float,
    way: Any | None,
    pressed: int,
    held: int,
    kept: int,
    heading: float,
    place: Any,
    lie: int,
    least: int,
) -> tuple[str, float, int, int, Any]:
    """One tick of one who is down: its phase, ticks in it, what is kept, what is
    pressed, and its place.
    """
    if phase in ("up", "held"):
        return phase, at, kept, pressed, place
    buttons = pressed & 0xFF0
    if buttons:
        kept = (pressed | held) & 0xFF0
    elif pressed & 0xFFF and not kept:
        kept = pressed & 0xFFF
    after = at + clock
    if way is not None:
        left, ahead = way_at(way, after) - way_at(way, at)
        s, c = math.sin(heading), math.cos(heading)
        place = place + np.array([c * left + s * ahead, 0, c * ahead - s * left])
    is_over = after > span - 1e-6
    if phase == "rising" and energy <= 0:
        return "lying", 0.0, kept, pressed, place
    if phase in NEXT and is_over:
        if phase == "rising":
            return "up", 0.0, 0, pressed | (kept & 0xFF0), place
        return "lying", 0.0, kept, pressed, place
    if phase == "collapsed" and is_over and energy > 0:
        return "lying", 0.0, kept, pressed, place
    has_lain = after > lie - 1e-6 or (bool(kept) and after > least - 1e-6)
    if phase == "lying" and energy > 0 and has_lain:
        return "rising", 0.0, kept, pressed, place
    return phase, after, kept, pressed, place
