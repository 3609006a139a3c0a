"""Trunk, head and arms of who was parried are thrown back, and return.

Turns are about the level axis across each character, found in the world and brought
into the joints' own frames, as those of limbs are. One turn after the other about the
same axis adds up, so that poses are looked at once, before all of them.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import numpy as np

from flexor.maths.kernels.functions import cos, sin
from flexor.maths.kernels.jit import inline, jit
from flexor.maths.kernels.lanes import put, take
from flexor.maths.kernels.numbers import int64
from flexor.maths.kernels.quaternions import make_unit, turn_both

if TYPE_CHECKING:
    from flexor.arrays import Doubles, Floats, Ints

SOON, BACK = (
    0.25,
    0.12,
)  # of a lean, in a tick: how fast one comes into it and out of it


@inline
def into_frame(m: Floats, at: int, x: float, z: float) -> tuple[float, float, float]:
    """A unit vector (x, 0, z) about which the world turns, in the frame of the matrix
    at `at`: where that is a mirror image, turns go round the other way.
    """
    a, b, c = take(m, at), take(m, at + 1), take(m, at + 2)
    d, e, f = take(m, at + 4), take(m, at + 5), take(m, at + 6)
    g, h, i = take(m, at + 8), take(m, at + 9), take(m, at + 10)
    lx, ly, lz = a * x + g * z, b * x + h * z, c * x + i * z
    square = lx * lx + ly * ly + lz * lz
    scale = 1.0 / math.sqrt(square) if square > 1e-30 else 0.0
    if a * (e * i - f * h) - b * (d * i - f * g) + c * (d * h - e * g) < 0:
        scale = -scale
    return lx * scale, ly * scale, lz * scale


@jit("bool(i4[::1], i4[::1], i4[::1], out f8[::1])")
def step_leans(opened: Ints, stun: Ints, ticks: Ints, leans: Doubles) -> bool:
    """How far each of N characters leans, 0 to 1; gives whether any does.

    opened: (N,), who has parried each, -1 for nobody; stun, ticks: (N,), that are left
    of that, and that it takes.
    """
    is_any = False
    for n in range(len(leans)):
        wanted = 0.0
        if opened[n] >= 0 and stun[n] > 0:
            left = min(stun[n] / max(ticks[n], 1), 1.0)
            wanted = left * left * (3.0 - 2.0 * left)
        leans[n] += min(max(wanted - leans[n], -BACK), SOON)
        is_any = is_any or leans[n] > 0.0
    return is_any


@jit("void(i4[::1], f8[::1], f8[::1], i4[:, ::1], f8[::1], f4[:, ::1], out f4[:, ::1])")
def lean_back(
    rows: Ints,
    leans: Doubles,
    headings: Doubles,
    joints: Ints,
    angles: Doubles,
    world: Floats,
    local: Floats,
) -> None:
    """Turn joints of n characters of a kind back, by how far each leans.

    rows: (n,), in leans and headings (N,); joints: (P, 2), nodes and lanes; angles:
    (P,), radians at a whole lean, backward; world: (n, 12 J), before; local: (n, 10 L).
    """
    lanes = local.shape[1] // 10
    for k in range(len(rows)):
        n = int64(rows[k])
        if leans[n] <= 0.0:
            continue
        m, mine = world[k], local[k]
        s, c = sin(headings[n]), cos(headings[n])
        for p in range(len(joints)):
            half = -0.5 * angles[p] * leans[n]
            turn, w = sin(half), cos(half)
            x, y, z = into_frame(m, 12 * int64(joints[p, 0]), c, -s)
            to = 3 * lanes + int64(joints[p, 1])
            qx, qy, qz, qw = turn_both(
                np.float64(take(mine, to)),
                np.float64(take(mine, to + lanes)),
                np.float64(take(mine, to + 2 * lanes)),
                np.float64(take(mine, to + 3 * lanes)),
                x * turn,
                y * turn,
                z * turn,
                w,
            )
            qx, qy, qz, qw = make_unit(qx, qy, qz, qw)
            put(mine, to, np.float32(qx))
            put(mine, to + lanes, np.float32(qy))
            put(mine, to + 2 * lanes, np.float32(qz))
            put(mine, to + 3 * lanes, np.float32(qw))
