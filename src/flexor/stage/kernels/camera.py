"""Where the camera of a stage goes, tick by tick: what it frames, what it keeps clear
of, and how it moves there.

All float64, in metres. What enters: places (N, 3) and spans (N, 6) of characters, who
is framed, the shot that its rule asks for (`Shot`), structures as `Blocks`. What
leaves: eye and target (3,), their speeds (2, 3), the way that the rule looks over the
ground (2,), the same on its way there (2,), and by how much the eye swings aside of it
for what stands there, now and soon, radians, and whether it is on its way (3,).

An eye is wanted where all who are framed are in the picture. If that is too near to a
structure that it cannot rise over, or one of the two fighters is behind such a one, it
swings around them by as little as will do. Which structures it can rise over is told by
the height that its rule says: if one who stands before the two, and lifts it, told it
too, the eye would bob up and down as that one breathes. It goes there as fast as the
distance asks for, with an acceleration that is bounded, and around structures on its
way.

A tick of two with the arena's four structures takes 1.5 us where nothing is near, 6 us
where it must swing; the same in Python took 25 us without structures.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

from flexor.maths.kernels.functions import cos, sin
from flexor.maths.kernels.jit import inline, jit, part
from flexor.maths.kernels.numbers import float64, int64
from flexor.stage.kernels.blocks import (
    KEPT,
    LEAST,
    NEAR,
    gap_to,
    is_tall,
    lift_over,
    push_out,
    swing_aside,
)
from flexor.stage.layout import Blocks, Shot

if TYPE_CHECKING:
    from flexor.arrays import Doubles, Floats, Ints

CHEST = 0.95  # metres: what the camera looks at
BESIDE = 1.1  # metres on either side of those who fight that are in the picture
ABOVE = 1.3  # metres above and below the chests of two who fight that are
SHAPE = 4 / 3  # width of a picture by its height; wider ones show more
AHEAD = 3.0  # metres before one without an opponent, which the camera looks at
ROOM, OVER = 0.2, 0.35  # metres around joints, and over them, that are in the picture
REACH = 12.0  # metres: who is farther from the two is not framed with them
# Metres: who stands nearer to the eye than one of the two by this and less than that
# beside the line to it hides it; over them it is not so yet; the eye rises so far.
BEFORE, HIDING, SOFT, RISES = 0.3, 0.3, 0.3, 2.5
TRIES, FARTHER = 12, 1.08  # where it looks so steeply that tops are cut off
LEVEL = 0.05  # of the upper edge of the picture, as a slope: below it, all is under it
FARTHEST = 30.0  # metres of the eye from what it frames, if its rule does not say more
TURNS = 4.0  # radians a second by which it comes round behind somebody, at most
SWINGS, SWING_EASE = 0.8, 0.3  # radians a second, and seconds
ALERT = 3.5  # metres from a structure from where on the eye goes around it
AROUND = 0.8  # of the speed toward a structure that becomes one along it
PULL = 45.0  # metres a second squared: the eye's acceleration, at most
BRAKE, SAFE = 30.0, 5.0  # metres a second squared, by which it comes to stand
# Metres a second: while it swings to another side of something, and else; and seconds
# in which it takes a speed.
SLOW, FASTEST, SOON = 4.0, 20.0, 0.08
SWUNG, THERE = 0.1, 0.4  # radians, and metres: with less to go, it does not swing


@jit("void(f4[:, :, :, ::1], i4[::1], out f8[:, ::1])")
def span_bodies(world: Floats, rows: Ints, spans: Doubles) -> None:
    """Lowest and highest x, y and z (N, 6) of the nodes of some characters."""
    for k in range(len(rows)):
        n = int64(rows[k])
        for axis in range(3):
            low = high = float64(world[k, 0, axis, 3])
            for j in range(1, world.shape[1]):
                at = float64(world[k, j, axis, 3])
                low, high = min(low, at), max(high, at)
            spans[n, axis], spans[n, 3 + axis] = low, high


@part
def go_around(
    blocks: Blocks, eye: Doubles, level: float, wanted: Doubles, speed: Doubles
) -> None:
    """Change the speed that an eye is to have, so that it comes to no structure too
    fast, and goes along what it cannot rise over; level: the height that tells.
    """
    for s in range(len(blocks.rounds)):
        dx, dz = eye[0] - blocks.rounds[s, 0], eye[2] - blocks.rounds[s, 1]
        far = blocks.rounds[s, 2] + ALERT
        low, high = blocks.heights[s, 0], blocks.heights[s, 1]
        is_high = is_tall(blocks, s, level)
        is_beside = is_high or low - LEAST < eye[1] < high + LEAST
        if dx * dx + dz * dz >= far * far or not is_beside:
            continue
        gap, nx, nz = gap_to(blocks, s, eye[0], eye[2])
        into = -(speed[0] * nx + speed[2] * nz)
        most = math.sqrt(2.0 * SAFE * max(gap - KEPT, 0.0)) - 4.0 * max(KEPT - gap, 0.0)
        if into <= most:
            continue
        less = into - most
        if not is_high:  # it waits until it has risen
            speed[0] += less * nx
            speed[2] += less * nz
            continue
        along = speed[2] * nx - speed[0] * nz
        if abs(along) < NEAR:
            along = (wanted[2] - eye[2]) * nx - (wanted[0] - eye[0]) * nz
        turn = AROUND * less if along >= 0.0 else -AROUND * less
        speed[0] += less * nx - turn * nz
        speed[2] += less * nz + turn * nx


@part
def follow(dt: float, at: Doubles, to: Doubles, speed: Doubles) -> None:
    """Come nearer to a speed, by a bounded acceleration, and go."""
    dx, dy, dz = to[0] - speed[0], to[1] - speed[1], to[2] - speed[2]
    much = math.sqrt(dx * dx + dy * dy + dz * dz)
    share = min(dt / SOON, 1.0)
    if much * share > PULL * dt:
        share = PULL * dt / much
    speed[0] += share * dx
    speed[1] += share * dy
    speed[2] += share * dz
    for axis in range(3):
        at[axis] += speed[axis] * dt


@inline
def hurry(ease: float, most: float, at: Doubles, wanted: Doubles, to: Doubles) -> None:
    """The speed at which to go somewhere, so that it can stop there."""
    dx, dy, dz = wanted[0] - at[0], wanted[1] - at[1], wanted[2] - at[2]
    far = math.sqrt(dx * dx + dy * dy + dz * dz)
    rate = 1.0 / max(ease - SOON, SOON)
    if far * rate > most:
        rate = most / far
    if far * rate * rate > 2.0 * BRAKE:
        rate = math.sqrt(2.0 * BRAKE / far)
    to[0], to[1], to[2] = dx * rate, dy * rate, dz * rate


@inline
def is_framed(shot: Shot, n: int, row: int, other: int, far: float) -> bool:
    """Whether one is to be in the picture; far: squared metres from the two."""
    return n == row or n == other or (shot.takes_all and far < REACH * REACH)


@part
def step_back(
    shot: Shot,
    row: int,
    other: int,
    places: Doubles,
    spans: Doubles,
    spot: Doubles,
    view: Doubles,
    away: float,
    eye_y: float,
    tries: int,
) -> float:
    """How far an eye is to be from a spot (3,), so that all who are framed are in the
    picture; view: where it looks over the ground; away: at least; eye_y: its height;
    tries: how often it is made sure.

    Where there are more than two, the spot is moved to the middle of them, beside the
    view.
    """
    fx, fz = view[0], view[1]
    low = high = 0.0
    for n in range(len(places)):
        dx, dz = places[n, 0] - spot[0], places[n, 2] - spot[2]
        if is_framed(shot, n, row, other, dx * dx + dz * dz):
            beside = dz * fx - dx * fz
            low, high = min(low, beside), max(high, beside)
    if shot.is_side:
        middle = (low + high) / 2.0
        spot[0] -= middle * fz
        spot[2] += middle * fx
        away = max(away, ((high - low) / 2.0 + BESIDE) / (SHAPE * shot.high))
    most = max(away, FARTHEST)
    for _ in range(tries):  # farther away, it looks less steeply down
        is_over = False
        lead = 0.0 if shot.is_side else 1.0
        drop = eye_y - spot[1]
        size = math.sqrt(drop * drop + (away + lead) * (away + lead))
        s, c = drop / size, (away + lead) / size
        slope = shot.high * c - s
        is_steep = slope <= LEVEL
        for n in range(len(places)):
            dx, dz = places[n, 0] - spot[0], places[n, 2] - spot[2]
            if not is_framed(shot, n, row, other, dx * dx + dz * dz):
                continue
            low, high = spans[n, 1] - ROOM - eye_y, spans[n, 4] + OVER - eye_y
            for k in range(4):
                dx = spans[n, 0 if k < 2 else 3] - spot[0]
                dz = spans[n, 2 if k % 2 == 0 else 5] - spot[2]
                beside, depth = abs(dz * fx - dx * fz) + ROOM, dx * fx + dz * fz
                need = (beside / (SHAPE * shot.high) + max(high * s, low * s)) / c
                need = max(need, -low * (c - shot.high * s) / (shot.high * c + s))
                if not is_steep:
                    need = max(need, high * (c + shot.high * s) / slope)
                elif -slope * (away + depth) > -high * (c + shot.high * s):
                    is_over = True
                away = max(away, min(need - depth, most))
        if is_over:
            away = min(FARTHER * away, most)
    return away


@part
def see_over(
    shot: Shot,
    row: int,
    other: int,
    places: Doubles,
    spans: Doubles,
    spot: Doubles,
    view: Doubles,
    away: float,
    eye_y: float,
) -> float:
    """Metres by which an eye is to rise, so that it sees the chests of the two over the
    heads of others who stand before them: at most RISES, and without jumps.
    """
    fx, fz = view[0], view[1]
    rise = float64(0.0)
    for n in range(len(places)):
        dx, dz = places[n, 0] - spot[0], places[n, 2] - spot[2]
        is_seen = is_framed(shot, n, row, other, dx * dx + dz * dz)
        if n == row or n == other or not is_seen:
            continue
        ahead, aside = away + dx * fx + dz * fz, dz * fx - dx * fz
        for m in (row, other):
            mx, mz = places[m, 0] - spot[0], places[m, 2] - spot[2]
            far, beside = away + mx * fx + mz * fz, mz * fx - mx * fz
            if far - ahead <= BEFORE or ahead <= 0.0:
                continue
            sure = min((far - ahead - BEFORE) / SOFT, 1.0)
            off = abs(aside - beside * ahead / far)
            sure *= min(max((HIDING + SOFT - off) / SOFT, 0.0), 1.0)
            chest = places[m, 1] + CHEST
            need = chest + (spans[n, 4] + ROOM - chest) * far / (far - ahead)
            rise = max(rise, sure * min(max(need - eye_y, 0.0), RISES))
    return rise


@inline
def turn_to(most: float, look: Doubles, view: Doubles) -> None:
    """Turn where it looks (2,) to a view (2,), by so many radians at most: where two
    change sides, it goes around them and not over their heads.
    """
    cross = look[0] * view[1] - look[1] * view[0]
    along = look[0] * view[0] + look[1] * view[1]
    c, s = cos(most), sin(most)
    if along >= c or look[0] * look[0] + look[1] * look[1] < NEAR:
        look[0], look[1] = view[0], view[1]
        return
    s = s if cross >= 0.0 else -s
    x, z = look[0], look[1]
    look[0], look[1] = c * x - s * z, s * x + c * z


@part
def plan_eye(
    dt: float,
    at_once: bool,
    shot: Shot,
    row: int,
    places: Doubles,
    headings: Doubles,
    opponents: Ints,
    spans: Doubles,
    blocks: Blocks,
    eye: Doubles,
    view: Doubles,
    look: Doubles,
    swing: Doubles,
    wanted: Doubles,
) -> float:
    """Fill wanted (3, 3): where eye and target are to be, and room to work in; and
    view, where it is to look over the ground, as it was if that cannot be said, and
    look, where it does on its way there. The height that the rule says for the eye.
    """
    x, y, z = places[row, 0], places[row, 1], places[row, 2]
    other = int64(opponents[row])
    if other >= 0:
        ox, oy, oz = places[other, 0], places[other, 1], places[other, 2]
    else:
        s, c = sin(headings[row]), cos(headings[row])
        ox, oy, oz = x + AHEAD * s, y, z + AHEAD * c
    dx, dz = ox - x, oz - z
    apart = math.sqrt(dx * dx + dz * dz)
    if apart < NEAR or other < 0:  # on one spot, or alone: as it was
        dx, dz = (view[1], -view[0]) if shot.is_side else (view[0], view[1])
    else:
        dx, dz = dx / apart, dz / apart
    spot, goal = wanted[2], wanted[1]
    away = shot.distance
    spots = wanted[3:, :2]
    spots[0, 0], spots[0, 1], spots[1, 0], spots[1, 1] = x, z, ox, oz
    if shot.is_side:
        spot[0], spot[1], spot[2] = (
            (x + ox) / 2.0,
            (y + oy) / 2.0 + CHEST,
            (z + oz) / 2.0,
        )
        nx, nz = -dz, dx
        if nx * (eye[0] - spot[0]) + nz * (eye[2] - spot[2]) < 0.0:
            nx, nz = -nx, -nz
        view[0], view[1] = -nx, -nz
        across, along = apart / 2.0 + BESIDE, abs(oy - y) / 2.0 + ABOVE
        away = max(away, max(across / (SHAPE * shot.high), along / shot.high))
        base = (y + oy) / 2.0
    else:
        spot[0], spot[1], spot[2] = x, (y + oy) / 2.0 + CHEST, z
        view[0], view[1] = dx, dz
        base = y
    turn_to(math.pi if at_once or shot.is_side else TURNS * dt, look, view)
    level = base + shot.height
    by = level
    far = step_back(shot, row, other, places, spans, spot, look, away, by, 2)
    if shot.is_side and other >= 0 and len(places) > 2:
        rise = see_over(shot, row, other, places, spans, spot, look, far, by)
        if rise > 0.0:
            by += rise
            far = step_back(
                shot, row, other, places, spans, spot, look, away, by, TRIES
            )
    away = far
    goal[0], goal[1], goal[2] = spot[0], spot[1], spot[2]
    if not shot.is_side:
        goal[0], goal[2] = x + look[0], z + look[1]
    bx, bz = -away * look[0], -away * look[1]
    px, pz = spot[0], spot[2]
    if len(blocks.rounds):
        swing[1] = swing_aside(blocks, px, pz, bx, level, bz, spots, swing[1])
        most = SWINGS * dt
        turn = (swing[1] - swing[0]) * min(dt / SWING_EASE, 1.0)
        swing[0] += min(max(turn, -most), most)
        if at_once or abs(swing[1] - swing[0]) < NEAR:
            swing[0] = swing[1]
        s, c = sin(swing[0]), cos(swing[0])
        bx, bz = c * bx + s * bz, c * bz - s * bx
        ex, ez = push_out(blocks, px + bx, level, pz + bz, KEPT)
        by = lift_over(blocks, ex, ez, eye[0], eye[2], by, level)
        bx, bz = ex - px, ez - pz
    wanted[0, 0], wanted[0, 1], wanted[0, 2] = px + bx, by, pz + bz
    return level


@jit(
    "void(f8, bool, Shot, i8, Blocks, f8[:, ::1], f8[::1], i4[::1], f8[:, ::1],"
    " out f8[::1], out f8[::1], out f8[:, ::1], out f8[::1], out f8[::1],"
    " out f8[::1], out f8[:, ::1])"
)
def step_camera(
    dt: float,
    at_once: bool,
    shot: Shot,
    row: int,
    blocks: Blocks,
    places: Doubles,
    headings: Doubles,
    opponents: Ints,
    spans: Doubles,
    eye: Doubles,
    target: Doubles,
    speeds: Doubles,
    view: Doubles,
    look: Doubles,
    swing: Doubles,
    wanted: Doubles,
) -> None:
    """A tick of `dt` seconds; at_once: without easing, as at the start. wanted: (5, 3),
    to work in.
    """
    level = plan_eye(
        dt,
        at_once,
        shot,
        row,
        places,
        headings,
        opponents,
        spans,
        blocks,
        eye,
        view,
        look,
        swing,
        wanted,
    )
    if at_once or shot.ease <= 0.0:
        for axis in range(3):
            eye[axis], target[axis] = wanted[0, axis], wanted[1, axis]
            speeds[0, axis], speeds[1, axis] = 0.0, 0.0
        return
    to = wanted[2]
    hurry(shot.ease, FASTEST, target, wanted[1], to)
    follow(dt, target, to, speeds[1])
    dx, dy, dz = wanted[0, 0] - eye[0], wanted[0, 1] - eye[1], wanted[0, 2] - eye[2]
    if abs(swing[1] - swing[0]) > SWUNG:
        swing[2] = 1.0
    elif dx * dx + dy * dy + dz * dz < THERE * THERE:
        swing[2] = 0.0
    most = SLOW if swing[2] > 0.0 else FASTEST
    hurry(shot.ease, most, eye, wanted[0], to)
    go_around(blocks, eye, level, wanted[0], to)
    follow(dt, eye, to, speeds[0])
    x, z = push_out(blocks, eye[0], level, eye[2], LEAST)
    nx, nz = x - eye[0], z - eye[2]
    size = math.sqrt(nx * nx + nz * nz)
    if size > 0.0:
        nx, nz = nx / size, nz / size
        into = min(speeds[0, 0] * nx + speeds[0, 2] * nz, 0.0)
        speeds[0, 0] -= into * nx
        speeds[0, 2] -= into * nz
        eye[0], eye[2] = x, z
