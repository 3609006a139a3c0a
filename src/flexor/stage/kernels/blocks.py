"""Structures as what an eye keeps clear of, seen from above, and how it gets out of
their way: it swings aside, is pushed out, or rises over them.

All float64, in metres. What enters: `Blocks`, eyes and places as x and z; what leaves:
gaps, and where an eye can be. A gap to a round one, 16 sides, takes 60 ns; where
nothing is near, circles around them tell.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

from flexor.maths.kernels.functions import cos, sin
from flexor.maths.kernels.jit import inline, jit, part
from flexor.maths.kernels.numbers import int64
from flexor.stage.layout import Blocks

if TYPE_CHECKING:
    from flexor.arrays import Doubles

# Metres that the eye is to keep from structures: as it is planned, as it is approached,
# and at least; and the line of sight to the two.
PLANNED, KEPT, LEAST, SIGHT = 1.55, 1.38, 1.22, 0.4
# Metres that the eye rises over low ones, at most; from where on it does, and where it
# has.
LIFT, LIFTS_FROM, LIFTED = 1.6, 3.4, 1.7
STEP, STEPS = math.radians(4.0), 14  # of swinging aside
STAYS = 0.35  # what swinging to the other side costs, for each radian
PUSHES = 4  # times that an eye is pushed out of structures
NEAR = 1e-6


@inline
def gap_to_side(
    blocks: Blocks, k: int, x: float, z: float
) -> tuple[float, float, float]:
    """Squared metres from a place to a side of a footprint, and the nearest of it."""
    ax, az = blocks.sides[k, 0], blocks.sides[k, 1]
    wx, wz = blocks.sides[k, 2] - ax, blocks.sides[k, 3] - az
    size = wx * wx + wz * wz
    foot = ((x - ax) * wx + (z - az) * wz) / size if size > 0.0 else 0.0
    foot = min(max(foot, 0.0), 1.0)
    px, pz = ax + foot * wx, az + foot * wz
    return (x - px) * (x - px) + (z - pz) * (z - pz), px, pz


@part
def gap_to(blocks: Blocks, s: int, x: float, z: float) -> tuple[float, float, float]:
    """Metres from a place to what a structure covers, below 0 in it, and the unit way
    out of it.
    """
    least, px, pz, is_in = math.inf, 0.0, 0.0, False
    for k in range(int64(blocks.firsts[s]), int64(blocks.firsts[s + 1])):
        square, qx, qz = gap_to_side(blocks, k, x, z)
        if square < least:
            least, px, pz = square, qx, qz
        az, bz = blocks.sides[k, 1], blocks.sides[k, 3]
        if (az > z) != (bz > z):
            ax, bx = blocks.sides[k, 0], blocks.sides[k, 2]
            if x < ax + (bx - ax) * (z - az) / (bz - az):
                is_in = not is_in
    gap = math.sqrt(least)
    if gap < NEAR:
        # On its edge: away from its middle.
        nx, nz = x - blocks.rounds[s, 0], z - blocks.rounds[s, 1]
        size = math.sqrt(nx * nx + nz * nz)
        return 0.0, nx / size if size > 0.0 else 1.0, nz / size if size > 0.0 else 0.0
    nx, nz = (x - px) / gap, (z - pz) / gap
    return (-gap, -nx, -nz) if is_in else (gap, nx, nz)


@inline
def is_tall(blocks: Blocks, s: int, y: float) -> bool:
    """Whether an eye at a height must go around a structure, not over or under it."""
    low, high = blocks.heights[s, 0], blocks.heights[s, 1]
    return low - KEPT < y and high + KEPT - y > LIFT


@inline
def crosses(blocks: Blocks, k: int, x: float, z: float, ex: float, ez: float) -> bool:
    """Whether a line of sight crosses a side."""
    ax, az = blocks.sides[k, 0], blocks.sides[k, 1]
    bx, bz = blocks.sides[k, 2], blocks.sides[k, 3]
    wx, wz = ex - x, ez - z
    one = wx * (az - z) - wz * (ax - x)
    two = wx * (bz - z) - wz * (bx - x)
    if (one > 0.0) == (two > 0.0):
        return False
    wx, wz = bx - ax, bz - az
    one = wx * (z - az) - wz * (x - ax)
    two = wx * (ez - az) - wz * (ex - ax)
    return (one > 0.0) != (two > 0.0)


@part
def is_hidden(blocks: Blocks, s: int, x: float, z: float, ex: float, ez: float) -> bool:
    """Whether a structure is within `SIGHT` of the line from an eye to a place."""
    wx, wz = ex - x, ez - z
    size = wx * wx + wz * wz
    for k in range(int64(blocks.firsts[s]), int64(blocks.firsts[s + 1])):
        if crosses(blocks, k, x, z, ex, ez):
            return True
        ax, az = blocks.sides[k, 0], blocks.sides[k, 1]
        foot = ((ax - x) * wx + (az - z) * wz) / size if size > 0.0 else 0.0
        foot = min(max(foot, 0.0), 1.0)
        dx, dz = ax - x - foot * wx, az - z - foot * wz
        if dx * dx + dz * dz < SIGHT * SIGHT:
            return True
    return False


@part
def how_clear(
    blocks: Blocks,
    ex: float,
    ey: float,
    ez: float,
    spots: Doubles,
) -> int:
    """2: an eye is clear of structures and sees two spots (2, 2); 1: it is clear; 0."""
    best = 2
    for s in range(len(blocks.rounds)):
        if not is_tall(blocks, s, ey):
            continue
        mx, mz, wide = blocks.rounds[s, 0], blocks.rounds[s, 1], blocks.rounds[s, 2]
        dx, dz = ex - mx, ez - mz
        far = wide + PLANNED
        if dx * dx + dz * dz < far * far and gap_to(blocks, s, ex, ez)[0] < PLANNED:
            return 0
        if best == 1:
            continue
        for one in range(2):
            x, z = spots[one, 0], spots[one, 1]
            wx, wz = ex - x, ez - z
            size = wx * wx + wz * wz
            foot = ((mx - x) * wx + (mz - z) * wz) / size if size > 0.0 else 0.0
            foot = min(max(foot, 0.0), 1.0)
            dx, dz = mx - x - foot * wx, mz - z - foot * wz
            far = wide + SIGHT
            if dx * dx + dz * dz < far * far and is_hidden(blocks, s, x, z, ex, ez):
                best = 1
    return best


@part
def swing_aside(
    blocks: Blocks,
    px: float,
    pz: float,
    bx: float,
    by: float,
    bz: float,
    spots: Doubles,
    before: float,
) -> float:
    """By how much an eye is to swing around (px, pz) to be clear and to see two spots.

    bx, by, bz: the eye, seen from (px, 0, pz); before: how much it swung before: the
    other side must be that much better.
    """
    best, least = 0.0, math.inf
    for k in range(2 * STEPS + 1):
        turn = STEP * ((k + 1) // 2) * (1.0 if k % 2 == 1 else -1.0)
        s, c = sin(turn), cos(turn)
        clear = how_clear(blocks, px + c * bx + s * bz, by, pz + c * bz - s * bx, spots)
        if clear == 2 and k == 0 and before == 0.0:
            return 0.0
        cost = abs(turn) + STAYS * abs(turn - before) + 10.0 * (2 - clear)
        if cost < least - 1e-9:
            best, least = turn, cost
    return best


@part
def push_out(
    blocks: Blocks, x: float, y: float, z: float, room: float
) -> tuple[float, float]:
    """A place that is so far from all structures that an eye must go around."""
    for _ in range(PUSHES):
        is_out = True
        for s in range(len(blocks.rounds)):
            dx, dz = x - blocks.rounds[s, 0], z - blocks.rounds[s, 1]
            far = blocks.rounds[s, 2] + room
            if dx * dx + dz * dz >= far * far or not is_tall(blocks, s, y):
                continue
            gap, nx, nz = gap_to(blocks, s, x, z)
            if gap < room - 1e-9:
                x, z = x + (room - gap) * nx, z + (room - gap) * nz
                is_out = False
        if is_out:
            break
    return x, z


@part
def lift_over(
    blocks: Blocks,
    x: float,
    z: float,
    ex: float,
    ez: float,
    height: float,
    level: float,
) -> float:
    """How high an eye is to be, for low structures near it or where it goes.

    level: the height that tells which are low; of an eye that is higher for other
    reasons, below its own.
    """
    found = height
    for s in range(len(blocks.rounds)):
        need = blocks.heights[s, 1] + KEPT
        if need <= found or is_tall(blocks, s, level):
            continue
        if blocks.heights[s, 0] - KEPT >= height:
            continue
        gap = min(gap_to(blocks, s, x, z)[0], gap_to(blocks, s, ex, ez)[0])
        share = min(max((LIFTS_FROM - gap) / (LIFTS_FROM - LIFTED), 0.0), 1.0)
        found = max(found, height + share * (need - height))
    return found


@jit("void(Blocks, f8[:, ::1], f8, out f8[::1])")
def clear_eye(blocks: Blocks, spots: Doubles, before: float, eye: Doubles) -> None:
    """Move an eye (3,) to where it is clear of structures and sees two spots (2, 2): by
    swinging around the middle of them, as little as will do.
    """
    px, pz = (spots[0, 0] + spots[1, 0]) / 2.0, (spots[0, 1] + spots[1, 1]) / 2.0
    bx, bz = eye[0] - px, eye[2] - pz
    turn = swing_aside(blocks, px, pz, bx, eye[1], bz, spots, before)
    s, c = sin(turn), cos(turn)
    x, z = px + c * bx + s * bz, pz + c * bz - s * bx
    eye[0], eye[2] = push_out(blocks, x, eye[1], z, KEPT)
    eye[1] = lift_over(blocks, eye[0], eye[2], eye[0], eye[2], eye[1], eye[1])
