"""Goals in the frame that a chain hangs in, and how far from them it ends."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import numpy as np

from flexor.maths.kernels.jit import inline
from flexor.maths.kernels.quaternions import turn_vector
from flexor.pose.ik.kernels.descent import NODE, PLACE, POINT, POINTS

if TYPE_CHECKING:
    from flexor.arrays import Doubles, Floats, Ints, Real, Whole

# Lengths of a chain beyond which a goal is as good as a direction.
FAR = 100.0


@inline
def bring_goals(
    m: Floats,
    targets: Floats,
    turns: Floats,
    effectors: Ints,
    pulls: Doubles,
    world: Floats,
    determinant: Real,
    goals: Doubles,
) -> None:
    """Goals in the base's frame; m: (12,) world_from_base."""
    # The inverse of the linear part, from its cofactors.
    scale = 1 / determinant
    c00 = (m[5] * m[10] - m[6] * m[9]) * scale
    c01 = (m[2] * m[9] - m[1] * m[10]) * scale
    c02 = (m[1] * m[6] - m[2] * m[5]) * scale
    c10 = (m[6] * m[8] - m[4] * m[10]) * scale
    c11 = (m[0] * m[10] - m[2] * m[8]) * scale
    c12 = (m[2] * m[4] - m[0] * m[6]) * scale
    c20 = (m[4] * m[9] - m[5] * m[8]) * scale
    c21 = (m[1] * m[8] - m[0] * m[9]) * scale
    c22 = (m[0] * m[5] - m[1] * m[4]) * scale
    for e in range(len(effectors)):
        first, count = effectors[e, POINT], effectors[e, POINTS]
        at = 12 * np.int64(effectors[e, NODE])
        x, y, z = world[at], world[at + 4], world[at + 8]
        size = math.sqrt(x * x + y * y + z * z)
        for i in range(count):
            k = first + i
            x = targets[3 * e] - m[3]
            y = targets[3 * e + 1] - m[7]
            z = targets[3 * e + 2] - m[11]
            if i > 0:  # a point beside the first, on one of the effector's axes
                dx = pulls[k, 0] - pulls[first, 0]
                dy = pulls[k, 1] - pulls[first, 1]
                dz = pulls[k, 2] - pulls[first, 2]
                dx, dy, dz = turn_vector(
                    turns[4 * e],
                    turns[4 * e + 1],
                    turns[4 * e + 2],
                    turns[4 * e + 3],
                    dx * size,
                    dy * size,
                    dz * size,
                )
                x, y, z = x + dx, y + dy, z + dz
            goals[k, 0] = c00 * x + c01 * y + c02 * z
            goals[k, 1] = c10 * x + c11 * y + c12 * z
            goals[k, 2] = c20 * x + c21 * y + c22 * z


@inline
def bring_near(
    effectors: Ints,
    work: Doubles,
    pulls: Doubles,
    goals: Doubles,
) -> None:
    """Goals that are very far are brought nearer, in the same direction: what a chain
    gains would be lost in the rounding of the distance.
    """
    length = 0.0
    for b in range(1, len(work)):
        x, y, z = work[b, PLACE], work[b, PLACE + 1], work[b, PLACE + 2]
        length += math.sqrt(x * x + y * y + z * z)
    for e in range(len(effectors)):
        k = effectors[e, POINT]
        x, y, z = pulls[k, 0], pulls[k, 1], pulls[k, 2]
        most = FAR * (length + math.sqrt(x * x + y * y + z * z))
        x = goals[k, 0] - work[0, PLACE]
        y = goals[k, 1] - work[0, PLACE + 1]
        z = goals[k, 2] - work[0, PLACE + 2]
        far = math.sqrt(x * x + y * y + z * z)
        if far > most:
            part_of = most / far
            nx = work[0, PLACE] + part_of * x
            ny = work[0, PLACE + 1] + part_of * y
            nz = work[0, PLACE + 2] + part_of * z
            for i in range(k + 1, k + effectors[e, POINTS]):
                goals[i, 0] = nx + (goals[i, 0] - goals[k, 0])
                goals[i, 1] = ny + (goals[i, 1] - goals[k, 1])
                goals[i, 2] = nz + (goals[i, 2] - goals[k, 2])
            goals[k, 0], goals[k, 1], goals[k, 2] = nx, ny, nz


@inline
def put_off(
    m: Floats,
    ends: Doubles,
    k: Whole,
    targets: Floats,
    e: Whole,
    off: Floats,
) -> None:
    """How far point k is from its target, in the world."""
    square = 0.0
    for i in range(3):
        at = (
            m[4 * i] * ends[k, 0]
            + m[4 * i + 1] * ends[k, 1]
            + m[4 * i + 2] * ends[k, 2]
        )
        at += m[4 * i + 3] - targets[3 * e + i]
        square += at * at
    off[e] = math.sqrt(square)
