"""Movement over the ground, character by character: walking, circling, slopes and
friction.

All float64; places (N, 3), headings (N,), radians about Y, 0 looks along +z.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

from flexor.maths.kernels.functions import atan2, cos, sin
from flexor.maths.kernels.jit import inline, jit
from flexor.maths.kernels.numbers import int64
from flexor.stage.movement.layout import NEAR_SPOT as NEAR
from flexor.stage.movement.layout import Gait, Walkers

if TYPE_CHECKING:
    from flexor.arrays import Bools, Bytes, Doubles

STEEP = 0.5  # metres that ground rises a metre along it: steeper is a step, and climbed
SLOWEST, FASTEST = 0.3, 1.5  # factors of walking up and down


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


@inline
def slow(u: float, w: float, less: float) -> tuple[float, float]:
    """A velocity that loses so much, and does not turn round."""
    speed = math.sqrt(u * u + w * w)
    keep = 1.0 - less / speed if speed > less else 0.0
    return u * keep, w * keep


@inline
def push_off(
    gait: Gait, t: float, hold: float, rise: float, effort: float
) -> tuple[float, bool]:
    """How hard legs push of who stands and wants to go, and whether that is enough:
    static friction holds, and ground that rises pulls back; rise: metres a metre along
    the ground.
    """
    more = gait.push * t / gait.effort if gait.effort > t else gait.push
    effort = min(effort + more, gait.push)
    return effort, effort > gait.still * hold + gait.gravity * rise


@inline
def speed_up(
    gait: Gait, t: float, hold: float, u: float, w: float, to_u: float, to_w: float
) -> tuple[float, float]:
    """A velocity that comes nearer to another by what legs can do in `t` seconds."""
    du, dw = to_u - u, to_w - w
    much = gait.push - gait.moving * hold
    if du * u + dw * w < 0.0:
        much = max(much, gait.brake * gait.moving * hold)
    if much < 0.0:
        return slow(u, w, -much * t)
    far = math.sqrt(du * du + dw * dw)
    if far <= much * t:
        return to_u, to_w
    share = much * t / far
    return u + share * du, w + share * dw


@inline
def go_by_ground(
    gait: Gait,
    rows: Walkers,
    n: int,
    t: float,
    fx: float,
    fz: float,
    u: float,
    w: float,
) -> tuple[float, float]:
    """The velocity of who stands on the ground after `t` seconds, ahead and right.

    fx, fz: the way ahead, unit; u, w: the velocity before.
    """
    ahead, right = rows.asked[n, 0], rows.asked[n, 1]
    hold = gait.gravity * rows.normals[n, 1] * gait.factors[rows.surfaces[n]]
    if not rows.can_walk[n] or (ahead == 0.0 and right == 0.0):
        rows.efforts[n] = 0.0
        return slow(u, w, gait.brake * gait.moving * hold * t)
    size = math.sqrt(ahead * ahead + right * right)
    wx, wz = (ahead * fx - right * fz) / size, (ahead * fz + right * fx) / size
    nx, nz = rows.normals[n, 0], rows.normals[n, 2]
    rise = -(nx * wx + nz * wz)
    if u == 0.0 and w == 0.0:
        effort, is_off = push_off(gait, t, hold, rise, rows.efforts[n])
        rows.efforts[n] = effort
        if not is_off:
            return 0.0, 0.0
    pace = rows.paces[n]
    if abs(rise) <= STEEP:
        pace *= min(max(1.0 - gait.uphill * rise, SLOWEST), FASTEST)
    rows.efforts[n] = gait.push
    return speed_up(gait, t, hold, u, w, ahead * pace, right * pace)


@jit("void(f8, Gait, Walkers)")
def walk(dt: float, gait: Gait, rows: Walkers) -> None:
    """Move characters as they ask, as far as legs and ground let them: those who can
    walk, and those who glide on.
    """
    places, headings, opponents = rows.places, rows.headings, rows.opponents
    for n in range(len(places)):
        t = dt * rows.clocks[n]
        fx, fz, away = sin(headings[n]), cos(headings[n]), 0.0
        enemy = int64(opponents[n])
        if rows.circling[n] and enemy >= 0:
            dx = places[enemy, 0] - places[n, 0]
            dz = places[enemy, 2] - places[n, 2]
            away = math.sqrt(dx * dx + dz * dz)
            if away > NEAR:
                fx, fz = dx / away, dz / away
        vx, vz = rows.velocities[n, 0], rows.velocities[n, 1]
        # Right of who looks along (x, z) is (-z, x).
        u, w = vx * fx + vz * fz, vz * fx - vx * fz
        if rows.grounded[n]:
            u, w = go_by_ground(gait, rows, n, t, fx, fz, u, w)
        pace = rows.paces[n]
        if rows.can_walk[n] and (rows.asked[n, 0] != 0.0 or rows.asked[n, 1] != 0.0):
            rows.going[n, 0], rows.going[n, 1] = rows.asked[n, 0], rows.asked[n, 1]
        elif pace > 0.0:
            rows.going[n, 0], rows.going[n, 1] = u / pace, w / pace
        else:
            rows.going[n, 0], rows.going[n, 1] = 0.0, 0.0
        if u == 0.0 and w == 0.0:
            rows.velocities[n, 0], rows.velocities[n, 1] = 0.0, 0.0
            if away > NEAR:
                headings[n] = atan2(fx, fz)
            continue
        if away > NEAR:
            # What a force toward the other does that bends a straight way into a
            # circle, in one step: the distance cannot drift.
            angle = w * t / away
            c, s = cos(angle), sin(angle)
            new = max(away - u * t, NEAR)
            fx, fz = c * fx + s * fz, c * fz - s * fx
            places[n, 0] = places[enemy, 0] - new * fx
            places[n, 2] = places[enemy, 2] - new * fz
            headings[n] = atan2(fx, fz)
        else:
            places[n, 0] += (u * fx - w * fz) * t
            places[n, 2] += (u * fz + w * fx) * t
        rows.velocities[n, 0], rows.velocities[n, 1] = u * fx - w * fz, u * fz + w * fx
