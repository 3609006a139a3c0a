"""Where structures keep the sun off: of the ground, and of places above it.

A structure is its footprint, from one height to another. A place is in its shadow if
the way from there up to the sun goes through it: seen from above that way is a segment,
from where it reaches the structure's lower end to where it reaches the upper one.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from flexor.arrays import Bools, Doubles
from flexor.scene.stage.structure import Structure

__all__ = ["Shades", "in_shade", "make_shades"]

SOON = 1e-4  # metres of light's way that count as none
FLATTEST = 0.02  # light that falls flatter, in metres down a metre along, casts nothing
ROUND = 32  # corners of a round structure


@dataclass(frozen=True, slots=True, eq=False)
class Shades:
    """Structures that stand in the sun.

    slant: metres that light goes along x and z for each metre down; corners: (n, 2) of
    each footprint, x and z; spans: from where to where each reaches, metres.
    """

    slant: tuple[float, float]
    corners: tuple[Doubles, ...]
    spans: tuple[tuple[float, float], ...]

    def reach(self, row: int, floor: float) -> tuple[Doubles, Doubles]:
        """The least and greatest x and z of a structure and its shadow on ground that
        is nowhere lower than `floor`.
        """
        corners = self.corners[row]
        far = corners + np.array(self.slant) * max(self.spans[row][1] - floor, 0.0)
        both = np.concatenate([corners, far])
        return both.min(0), both.max(0)


def make_shades(
    structures: Sequence[Structure],
    spans: Sequence[tuple[float, float]],
    way: tuple[float, float, float],
) -> Shades:
    """Structures in light that travels a way; light from below has no shadows."""
    x, y, z = way
    if -y < FLATTEST * np.hypot(x, z):
        return Shades((0.0, 0.0), (), ())
    corners = tuple(_footprint(own) for own in structures)
    return Shades((x / -y, z / -y), corners, tuple(spans))


def _footprint(own: Structure) -> Doubles:
    """Corners of what is drawn of a structure."""
    if own.corners is not None or own.ends is not None:
        return own.footprint
    turn = np.arange(ROUND) * (2 * np.pi / ROUND)
    circle = np.stack([np.sin(turn), np.cos(turn)], 1)
    found: Doubles = np.array(own.middle) + float(own.radius or 0.0) * circle
    return found


def in_shade(shades: Shades, row: int, places: NDArray[np.floating]) -> Bools:
    """Which places (n, 3) are in the shadow of a structure: bool (n,)."""
    low, high = shades.spans[row]
    x, y, z = places.T
    start, end = np.maximum(low - y, 0.0), high - y
    found = end > start + SOON
    dx, dz = shades.slant
    ax, az = x - dx * start, z - dz * start
    bx, bz = x - dx * end, z - dz * end
    corners = shades.corners[row]
    after = np.roll(corners, -1, 0)
    is_inside = np.zeros(len(places), bool)
    is_crossed = np.zeros(len(places), bool)
    for (cx, cz), (ex, ez) in zip(corners.tolist(), after.tolist(), strict=True):
        # Whether a line from the segment's begin toward +x meets the side.
        is_across = (cz > az) != (ez > az)
        if cz != ez:
            at = cx + (az - cz) * ((ex - cx) / (ez - cz))
            is_inside ^= is_across & (ax < at)
        # Whether the ends of each are on both sides of the other.
        one = (ex - cx) * (az - cz) - (ez - cz) * (ax - cx)
        two = (ex - cx) * (bz - cz) - (ez - cz) * (bx - cx)
        three = (bx - ax) * (cz - az) - (bz - az) * (cx - ax)
        four = (bx - ax) * (ez - az) - (bz - az) * (ex - ax)
        is_crossed |= ((one > 0) != (two > 0)) & ((three > 0) != (four > 0))
    return np.asarray(found & (is_inside | is_crossed))
