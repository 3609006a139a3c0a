"""Movement over the ground, character by character: circling, slopes and friction.

All float64; places (N, 3), headings (N,), radians about Y, 0 looks along +z.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

from flexor.maths.kernels.functions import atan2, cos, sin
from flexor.maths.kernels.jit import jit
from flexor.maths.kernels.numbers import int64
from flexor.stage.kernels.field import find_cell, ground_height, ground_slope
from flexor.stage.movement.layout import NEAR_SPOT as NEAR

if TYPE_CHECKING:
    from flexor.arrays import Bools, Bytes, Doubles, Ints


@jit(
    "void(f8[:, ::1], u1[:, ::1], f8, f8, f8, f8[:, ::1],"
    " out f8[::1], out f8[:, ::1], out u1[::1])"
)
def look_down(
    heights: Doubles,
    surfaces: Bytes,
    x0: float,
    z0: float,
    step: float,
    places: Doubles,
    below: Doubles,
    normals: Doubles,
    kinds: Bytes,
) -> None:
    """What is under places: heights (N,), unit normals (N, 3), surfaces (N,)."""
    for n in range(len(places)):
        x, z = places[n, 0], places[n, 2]
        below[n] = ground_height(heights, x0, z0, step, x, z)
        gx, gz = ground_slope(heights, x0, z0, step, x, z)
        scale = 1.0 / math.sqrt(gx * gx + 1.0 + gz * gz)
        normals[n, 0], normals[n, 1], normals[n, 2] = -gx * scale, scale, -gz * scale
        r, c, _, _ = find_cell(heights, x0, z0, step, x, z)
        kinds[n] = surfaces[r, c]


@jit(
    "void(f8, f8, f8, f8, f8[::1], f8[::1], f8[:, ::1], u1[::1], bool[::1],"
    " f8[:, ::1], out f8[:, ::1], out f8[:, ::1])"
)
def slip(
    dt: float,
    gravity: float,
    still: float,
    moving: float,
    factors: Doubles,
    clocks: Doubles,
    normals: Doubles,
    kinds: Bytes,
    grounded: Bools,
    asked: Doubles,
    slides: Doubles,
    places: Doubles,
) -> None:
    """Let characters slide down slopes, held by friction.

    still, moving: coefficients of friction; factors: (S,), of each surface; clocks:
    (N,); normals: (N, 3), of the ground; kinds: (N,), surfaces; asked: (N, 2), the
    movement that is asked for; slides: (N, 2), velocities along x and z.
    """
    for n in range(len(places)):
        if not grounded[n]:
            continue
        t = dt * clocks[n]
        px, pz = gravity * normals[n, 0], gravity * normals[n, 2]
        hold = gravity * normals[n, 1] * factors[kinds[n]]
        u, w = slides[n, 0], slides[n, 1]
        is_still = u == 0.0 and w == 0.0 and asked[n, 0] == 0.0 and asked[n, 1] == 0.0
        if is_still and px * px + pz * pz <= (still * hold) * (still * hold):
            continue
        u, w = u + px * t, w + pz * t
        speed, less = math.sqrt(u * u + w * w), moving * hold * t
        # Friction slows, it never turns round.
        keep = 1.0 - less / speed if speed > less else 0.0
        u, w = u * keep, w * keep
        slides[n, 0], slides[n, 1] = u, w
        places[n, 0] += u * t
        places[n, 2] += w * t


@jit(
    "void(f8, f8[::1], i4[::1], bool[::1], f8[:, ::1], f8[::1],"
    " out f8[:, ::1], out f8[::1])"
)
def walk(
    dt: float,
    clocks: Doubles,
    opponents: Ints,
    circling: Bools,
    asked: Doubles,
    paces: Doubles,
    places: Doubles,
    headings: Doubles,
) -> None:
    """Move characters as is asked: forward and to their right, metres a second.

    clocks: (N,), factors of time; opponents: (N,), rows, -1 for none; circling: (N,),
    who keeps its distance to its opponent; paces: (N,), factors of the ground.
    """
    for n in range(len(places)):
        t = dt * clocks[n] * paces[n]
        ahead, right = asked[n, 0] * t, asked[n, 1] * t
        enemy = int64(opponents[n])
        if circling[n] and enemy >= 0:
            dx = places[n, 0] - places[enemy, 0]
            dz = places[n, 2] - places[enemy, 2]
            away = math.sqrt(dx * dx + dz * dz)
            if away > NEAR:
                # What a force toward the other does that bends a straight way into a
                # circle, in one step: the distance cannot drift.
                angle = right / away
                c, s = cos(angle), sin(angle)
                new = max(away - ahead, NEAR) / away
                # Right of who looks at the middle is the way in which headings grow.
                ex, ez = (c * dx + s * dz) * new, (c * dz - s * dx) * new
                places[n, 0] = places[enemy, 0] + ex
                places[n, 2] = places[enemy, 2] + ez
                headings[n] = atan2(-ex, -ez)
                continue
        s, c = sin(headings[n]), cos(headings[n])
        places[n, 0] += ahead * s - right * c
        places[n, 2] += ahead * c + right * s
