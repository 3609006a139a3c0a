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

from flexor.arrays import Bools, Doubles, Floats
from flexor.draw.drawlist import RGB
from flexor.draw.items.stonework import FOOT
from flexor.scene.stage.structure import Structure

__all__ = ["Shades", "in_shade", "make_shades", "sunless", "wall_colours"]

SOON = 1e-4  # metres of light's way that count as none
FLATTEST = 0.02  # light that falls flatter, in metres down a metre along, casts nothing
ROUND = 32  # corners of a round structure
WIDE = 0.2  # metres from the middle of a body to its sides
# Points of a body, metres from where it stands.
BODY = np.array(
    [
        (x, y, z)
        for y in (0.3, 0.9, 1.5)
        for x in (-WIDE, 0, WIDE)
        for z in (-WIDE, WIDE)
    ]
)
ON_ROOF = 0.002  # metres below a roof that are still on it
UPRIGHT = 0.75  # of the light that is left on what is level, on walls


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


def sunless(shades: Shades, places: NDArray[np.floating]) -> Doubles:
    """How much of the sun is kept off who stands at places (n, 3): float64 (n,), 0 to
    1, by some points of a body, from the feet to the head.
    """
    share: Doubles = np.zeros(len(places))
    if not shades.corners or not len(places):
        return share
    floor = float(places[:, 1].min())
    low, high = places.min(0)[[0, 2]] - WIDE, places.max(0)[[0, 2]] + WIDE
    points: NDArray[np.float64] | None = None
    for row in range(len(shades.corners)):
        least, most = shades.reach(row, floor)
        if (low > most).any() or (high < least).any():
            continue
        if points is None:
            points = (places[:, None] + BODY).reshape(-1, 3)
            dark = np.zeros(len(points), bool)
        dark |= in_shade(shades, row, points)
    if points is not None:
        share = dark.reshape(len(places), -1).mean(1)
    return share


def wall_colours(
    structures: Sequence[Structure],
    spans: Sequence[tuple[float, float]],
    met: NDArray[np.int32],
    places: Floats,
    left: RGB,
) -> Floats:
    """What colours structures have in the shade: float32 (n, 3), linear.

    met: (n,), the structure at each of places (n, 3), none below 0; left: the light
    that is left on what is level.
    """
    colours = np.array([own.colour for own in structures], np.float32)[met]
    ends = np.array(spans, np.float32)[met]
    y = places[:, 1]
    rise = np.clip((y - ends[:, 0]) / np.maximum(ends[:, 1] - ends[:, 0], 1e-6), 0, 1)
    # Walls see half of the sky.
    is_roof = y > ends[:, 1] - ON_ROOF
    sky = np.where(is_roof, 1.0, UPRIGHT * (FOOT + (1 - FOOT) * rise))
    found: Floats = colours * (sky[:, None] * np.array(left)).astype(np.float32)
    return found
