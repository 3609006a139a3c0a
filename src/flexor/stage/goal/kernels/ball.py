"""A ball among reaction areas, rods and the ground: one step.

Columns of the tables are named in `layout`. Everything is float64 and in metres,
seconds and radians, in the space of the netting.

An area is a half-space behind a plane: depth = offset - normal . place. Inside areas
act all at once on balls that are inside, outside areas one at a time, from when a ball
enters their region until it has left it. An edge area acts with the area that owns it,
on balls that are beyond the sheet itself.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

from flexor.maths.kernels.jit import inline, part
from flexor.maths.kernels.numbers import int64
from flexor.stage.goal.layout import (
    BEFORE,
    BOUND_COUNT,
    FIRST_BOUND,
    FRONT,
    GROUP,
    HALF,
    INSIDE,
    K1,
    K2A,
    K2B,
    K3,
    K4,
    K5,
    LIMIT,
    MET_GROUND,
    MET_NET,
    MET_ROD,
    NX,
    NY,
    NZ,
    OFFSET,
    OUTSIDE,
    OWNER,
    SCORED,
    SIDE,
    BallTables,
)

if TYPE_CHECKING:
    from flexor.arrays import Doubles, Ints

Triple = tuple[float, float, float]

# Ball settings.
RADIUS, INERTIA, GRAVITY, DRAG, CURL, GROUND = range(6)
BOUNCE, GRIP, ROLLING, ROD_BOUNCE, ROD_GRIP, STEP = range(6, 12)

SLOW = 0.35  # metres a second: what comes down slower does not bounce
STILL = 0.02  # metres a second: what rolls slower stands still
# In one step: half a radius, and no more metres than this. Faster balls take smaller
# steps, so that none passes an edge in one.
LONGEST_MOVE, LONGEST_STEP = 0.5, 0.055
MOST_STEPS = 64
NOWHERE = 1e-9  # metres from the axis of a rod: no direction


@inline
def slide(
    vx: float,
    vy: float,
    vz: float,
    wx: float,
    wy: float,
    wz: float,
    nx: float,
    ny: float,
    nz: float,
    radius: float,
) -> tuple[float, float, float, float]:
    """S = r (R x N) - V along a face: against how a ball's skin slides; and |s|."""
    sx = radius * (wy * nz - wz * ny) - vx
    sy = radius * (wz * nx - wx * nz) - vy
    sz = radius * (wx * ny - wy * nx) - vz
    sn = sx * nx + sy * ny + sz * nz
    sx, sy, sz = sx - sn * nx, sy - sn * ny, sz - sn * nz
    return sx, sy, sz, math.sqrt(sx * sx + sy * sy + sz * sz)


@inline
def react(
    areas: Doubles,
    row: int,
    d: float,
    py: float,
    v: Triple,
    w: Triple,
    settings: Doubles,
    t: float,
) -> tuple[float, float, float, float, float, float]:
    """What an area does to a ball at depth `d`: acceleration, and that of its spin."""
    radius, inertia = settings[RADIUS], settings[INERTIA]
    vx, vy, vz = v
    wx, wy, wz = w
    nx, ny, nz = areas[row, NX], areas[row, NY], areas[row, NZ]
    vn = vx * nx + vy * ny + vz * nz
    square = d * d
    push = areas[row, K1] * square
    slow = areas[row, K2A] if vn >= 0.0 else areas[row, K2B]
    along = areas[row, K3] * square
    normal = push - (slow * square - along) * vn
    ax = normal * nx - along * vx
    ay = normal * ny - along * vy
    az = normal * nz - along * vz
    half, height = areas[row, HALF], py - settings[GROUND]
    if vn < 0.0 and height < half and half > 0.0:
        rest = 1.0 - height / half
        ay += areas[row, K4] * push * rest * rest
    sx, sy, sz, slip = slide(vx, vy, vz, wx, wy, wz, nx, ny, nz, radius)
    bx = by = bz = 0.0
    if slip > 0.0:
        # No more than what ends the sliding within the step.
        f = min(areas[row, K5] * push, slip / (t * (1.0 + 1.0 / inertia))) / slip
        ax, ay, az = ax + f * sx, ay + f * sy, az + f * sz
        f /= inertia * radius
        bx = (sy * nz - sz * ny) * f
        by = (sz * nx - sx * nz) * f
        bz = (sx * ny - sy * nx) * f
    return ax, ay, az, bx, by, bz


@inline
def depth_in(areas: Doubles, row: int, x: float, y: float, z: float) -> float:
    """How deep a place is behind the plane of an area."""
    return areas[row, OFFSET] - (
        areas[row, NX] * x + areas[row, NY] * y + areas[row, NZ] * z
    )


@part
def acting(
    areas: Doubles,
    marks: Ints,
    row: int,
    side: int,
    face: int,
    x: float,
    y: float,
    z: float,
) -> float:
    """The depth at which an area acts on a ball; 0 if it does not."""
    if marks[row, SIDE] == INSIDE:
        if side != INSIDE:
            return 0.0
    else:
        active = marks[row, OWNER] if marks[row, OWNER] >= 0 else row
        if side == INSIDE or face != active:
            return 0.0
    owner = marks[row, OWNER]
    if owner >= 0 and depth_in(areas, owner, x, y, z) <= areas[owner, FRONT]:
        return 0.0
    return max(depth_in(areas, row, x, y, z), 0.0)


@inline
def bounce(
    v: Triple,
    w: Triple,
    nx: float,
    ny: float,
    nz: float,
    settings: Doubles,
    restitution: float,
    grip: float,
) -> tuple[Triple, Triple]:
    """Velocity and spin after a rigid thing with normal n was met."""
    vx, vy, vz = v
    wx, wy, wz = w
    vn = vx * nx + vy * ny + vz * nz
    if vn < 0.0:
        radius, inertia = settings[RADIUS], settings[INERTIA]
        back = -vn * (1.0 + (restitution if -vn > SLOW else 0.0))
        vx, vy, vz = vx + back * nx, vy + back * ny, vz + back * nz
        sx, sy, sz, slip = slide(vx, vy, vz, wx, wy, wz, nx, ny, nz, radius)
        if slip > 0.0:
            f = min(grip * back, slip / (1.0 + 1.0 / inertia)) / slip
            vx, vy, vz = vx + f * sx, vy + f * sy, vz + f * sz
            f /= inertia * radius
            wx += (sy * nz - sz * ny) * f
            wy += (sz * nx - sx * nz) * f
            wz += (sx * ny - sy * nx) * f
    return (vx, vy, vz), (wx, wy, wz)


@inline
def nearest_on_rod(
    rods: Doubles, row: int, x: float, y: float, z: float
) -> tuple[float, float, float]:
    """The point of a rod's axis that is nearest to a place."""
    ax, ay, az = rods[row, 0], rods[row, 1], rods[row, 2]
    bx, by, bz = rods[row, 3] - ax, rods[row, 4] - ay, rods[row, 5] - az
    square = bx * bx + by * by + bz * bz
    u = 0.0
    if square > 0.0:
        u = ((x - ax) * bx + (y - ay) * by + (z - az) * bz) / square
        u = min(max(u, 0.0), 1.0)
    return ax + u * bx, ay + u * by, az + u * bz


@part
def pass_gates(
    gates: Doubles,
    rules: Ints,
    side: int,
    x: float,
    y: float,
    z: float,
    p: float,
    q: float,
    r: float,
) -> int:
    """What a ball remembers after it went from (x, y, z) to (p, q, r).

    rules: (G, 12), by case (against the normal through the opening, against it beside,
    along it through the opening, along it beside) and by what it remembered.
    """
    for g in range(len(gates)):
        nx, ny, nz = gates[g, 0], gates[g, 1], gates[g, 2]
        before = nx * x + ny * y + nz * z - gates[g, 3]
        after = nx * p + ny * q + nz * r - gates[g, 3]
        if (before > 0.0) == (after > 0.0):
            continue
        u = before / (before - after)
        mx = x + u * (p - x) - gates[g, 4]
        my = y + u * (q - y) - gates[g, 5]
        mz = z + u * (r - z) - gates[g, 6]
        across = mx * gates[g, 7] + my * gates[g, 8] + mz * gates[g, 9]
        up = mx * gates[g, 11] + my * gates[g, 12] + mz * gates[g, 13]
        case = 0 if after <= 0.0 else 2
        if abs(across) > gates[g, 10] or abs(up) > gates[g, 14]:
            case += 1
        side = int64(rules[g, 3 * case + side])
    return side


@inline
def _sides(
    marks: Ints, bounds: Doubles, row: int, x: float, y: float, z: float
) -> float:
    """How far a place is within the sides of the region of an outside area."""
    least = math.inf
    first = marks[row, FIRST_BOUND]
    for b in range(first, first + marks[row, BOUND_COUNT]):
        least = min(
            least,
            bounds[b, 3] - (bounds[b, 0] * x + bounds[b, 1] * y + bounds[b, 2] * z),
        )
    return least


@part
def find_face(
    areas: Doubles,
    marks: Ints,
    bounds: Doubles,
    face: int,
    x: float,
    y: float,
    z: float,
    p: float,
    q: float,
    r: float,
) -> int:
    """The outside area that acts on a ball that went from (x, y, z) to (p, q, r).

    The one that acted, until its region is left, and then the next of its sheet if the
    ball went on to that; else the one whose plane was passed within its sides, first;
    else one whose region was entered from the side, in front of its sheet.
    """
    slid = False
    if face >= 0 and depth_in(areas, face, p, q, r) > 0.0:
        if _sides(marks, bounds, face, p, q, r) > 0.0:
            return face
        slid = True
    best, earliest = int64(-1), 2.0
    for row in range(len(areas)):
        if marks[row, SIDE] != OUTSIDE or marks[row, OWNER] >= 0:
            continue
        after = depth_in(areas, row, p, q, r)
        if after <= 0.0 or _sides(marks, bounds, row, p, q, r) <= 0.0:
            continue
        before = depth_in(areas, row, x, y, z)
        moment = 2.0
        if before <= 0.0:
            u = before / (before - after)
            a, b, c = x + u * (p - x), y + u * (q - y), z + u * (r - z)
            if _sides(marks, bounds, row, a, b, c) >= 0.0:
                moment = u
        if slid and marks[row, GROUP] == marks[face, GROUP]:
            moment = -1.0
        elif moment > 1.0 and after <= areas[row, FRONT]:
            moment = 1.0 + after / areas[row, FRONT] / 2.0
        if moment < earliest:
            best, earliest = int64(row), moment
    return best


@inline
def _beside(rods: Doubles, row: int) -> tuple[float, float, float]:
    """A direction at a right angle to a rod."""
    x, y = rods[row, 3] - rods[row, 0], rods[row, 4] - rods[row, 1]
    z = rods[row, 5] - rods[row, 2]
    square = x * x + y * y + z * z
    if square == 0.0 or z * z < 0.5 * square:
        u, v, w = 0.0, 0.0, 1.0
    else:
        u, v, w = 1.0, 0.0, 0.0
    if square > 0.0:
        along = (u * x + v * y + w * z) / square
        u, v, w = u - along * x, v - along * y, w - along * z
    size = math.sqrt(u * u + v * v + w * w)
    return u / size, v / size, w / size


@part
def _meet_rods(
    rods: Doubles, settings: Doubles, place: Triple, v: Triple, w: Triple
) -> tuple[Triple, Triple, Triple]:
    """Push a ball out of rods, and let it bounce; v, w: velocity and spin."""
    radius = settings[RADIUS]
    for row in range(len(rods)):
        x, y, z = place
        cx, cy, cz = nearest_on_rod(rods, row, x, y, z)
        dx, dy, dz = x - cx, y - cy, z - cz
        away = math.sqrt(dx * dx + dy * dy + dz * dz)
        apart = radius + rods[row, 6]
        if away >= apart:
            continue
        if away > NOWHERE:
            nx, ny, nz = dx / away, dy / away, dz / away
        else:
            nx, ny, nz = _beside(rods, row)
        more = apart - away
        place = (x + more * nx, y + more * ny, z + more * nz)
        v, w = bounce(
            v, w, nx, ny, nz, settings, settings[ROD_BOUNCE], settings[ROD_GRIP]
        )
    return place, v, w


@part
def _meet_ground(
    settings: Doubles, place: Triple, v: Triple, w: Triple, t: float
) -> tuple[Triple, Triple, Triple]:
    """Keep a ball above the ground: it bounces, slides, rolls and comes to rest."""
    radius = settings[RADIUS]
    x, y, z = place
    if y >= settings[GROUND] + radius:
        return place, v, w
    lands = v[1] < -SLOW
    v, w = bounce(v, w, 0.0, 1.0, 0.0, settings, settings[BOUNCE], settings[GRIP])
    a, b, c = v
    d, e, f = w
    if not lands:
        speed = math.sqrt(a * a + c * c)
        less = settings[ROLLING] * settings[GRAVITY] * t
        turning = radius * math.sqrt(d * d + e * e + f * f)
        if speed <= max(less, STILL) and turning <= max(less, STILL) * 2.0:
            a = c = d = e = f = 0.0
        else:
            keep = max(1.0 - less / speed, 0.0) if speed > 0.0 else 1.0
            a, c, d, f = a * keep, c * keep, d * keep, f * keep
            # Spin on the spot ends by the same friction.
            twist = radius * abs(e)
            e = e * max(1.0 - less / twist, 0.0) if twist > 0.0 else e
    return (x, settings[GROUND] + radius, z), (a, b, c), (d, e, f)


@part
def _stop(
    areas: Doubles, marks: Ints, side: int, face: int, place: Triple, v: Triple
) -> tuple[Triple, Triple]:
    """No deeper than what a sheet can stretch: there it is tight."""
    x, y, z = place
    a, b, c = v
    for row in range(len(areas)):
        d = acting(areas, marks, row, side, face, x, y, z)
        more = d - areas[row, LIMIT]
        if more > 0.0:
            nx, ny, nz = areas[row, NX], areas[row, NY], areas[row, NZ]
            x, y, z = x + more * nx, y + more * ny, z + more * nz
            vn = a * nx + b * ny + c * nz
            if vn < 0.0:
                a, b, c = a - vn * nx, b - vn * ny, c - vn * nz
    return (x, y, z), (a, b, c)


@inline
def _fly(
    settings: Doubles, v: Triple, w: Triple, t: float
) -> tuple[float, float, float]:
    """Velocity after air has bent and slowed the way of a ball."""
    x, y, z = v
    curl = settings[CURL] * t
    a = x + curl * (w[1] * z - w[2] * y)
    b = y + curl * (w[2] * x - w[0] * z)
    c = z + curl * (w[0] * y - w[1] * x)
    before = math.sqrt(x * x + y * y + z * z)
    after = math.sqrt(a * a + b * b + c * c)
    # Bending makes nothing faster; drag does not turn round.
    scale = before / after if after > 0.0 else 1.0
    scale /= 1.0 + settings[DRAG] * before * t
    return a * scale, b * scale, c * scale


@part
def move_ball(tables: BallTables, body: Doubles, sides: Ints) -> int:
    """Move one ball on by a step, in smaller steps if it is fast; gives what happened.

    body: (13,), place, velocity, spin and rotation (xyzw); sides: (2,), what it
    remembers, and the row of the outside area that acts, or -1.
    """
    areas, marks, bounds = tables.areas, tables.marks, tables.bounds
    rods, gates, settings = tables.rods, tables.gates, tables.settings
    met = int64(0)
    v = (body[3], body[4], body[5])
    speed = math.sqrt(v[0] * v[0] + v[1] * v[1] + v[2] * v[2])
    most = min(LONGEST_MOVE * settings[RADIUS], LONGEST_STEP)
    whole = speed * settings[STEP] / most
    count = int64(min(max(math.ceil(whole), 1.0), MOST_STEPS))
    t = settings[STEP] / count
    place = (body[0], body[1], body[2])
    w = (body[6], body[7], body[8])
    side, face = int64(sides[0]), int64(sides[1])
    # Arrays may have been written to: no row that is not there.
    if side < BEFORE or side > OUTSIDE:
        side = int64(BEFORE)
    if face >= len(areas):
        face = int64(-1)
    for _ in range(count):
        x, y, z = place
        ax, ay, az = 0.0, -settings[GRAVITY], 0.0
        bx = by = bz = 0.0
        for row in range(len(areas)):
            d = acting(areas, marks, row, side, face, x, y, z)
            if d > 0.0:
                met |= MET_NET
                a, b, c, e, f, g = react(areas, row, d, y, v, w, settings, t)
                ax, ay, az = ax + a, ay + b, az + c
                bx, by, bz = bx + e, by + f, bz + g
        if settings[DRAG] != 0.0 or settings[CURL] != 0.0:
            v = _fly(settings, v, w, t)
        v = (v[0] + ax * t, v[1] + ay * t, v[2] + az * t)
        w = (w[0] + bx * t, w[1] + by * t, w[2] + bz * t)
        new = (x + v[0] * t, y + v[1] * t, z + v[2] * t)
        free = new
        new, v, w = _meet_rods(rods, settings, new, v, w)
        if new != free:
            met |= MET_ROD
        free = new
        new, v, w = _meet_ground(settings, new, v, w, t)
        if new != free:
            met |= MET_GROUND
        side = pass_gates(gates, tables.rules, side, x, y, z, new[0], new[1], new[2])
        if side == INSIDE:
            face = int64(-1)
        else:
            face = find_face(
                areas, marks, bounds, face, x, y, z, new[0], new[1], new[2]
            )
        place, v = _stop(areas, marks, side, face, new, v)
    body[0], body[1], body[2] = place
    body[3], body[4], body[5] = v
    body[6], body[7], body[8] = w
    sides[0], sides[1] = side, face
    turn(body, settings[STEP])
    if side == INSIDE and is_past(gates, settings[RADIUS], body):
        met |= SCORED
    return met


@inline
def is_past(gates: Doubles, radius: float, body: Doubles) -> bool:
    """Whether all of a ball is behind the planes of all gates."""
    for g in range(len(gates)):
        before = gates[g, 0] * body[0] + gates[g, 1] * body[1] + gates[g, 2] * body[2]
        if before - gates[g, 3] > -radius:
            return False
    return True


@inline
def turn(body: Doubles, t: float) -> None:
    """Turn a ball by its spin: rotation' = rotation + t / 2 spin * rotation."""
    wx, wy, wz = body[6] * t / 2.0, body[7] * t / 2.0, body[8] * t / 2.0
    x, y, z, w = body[9], body[10], body[11], body[12]
    a = x + wx * w + wy * z - wz * y
    b = y + wy * w + wz * x - wx * z
    c = z + wz * w + wx * y - wy * x
    d = w - wx * x - wy * y - wz * z
    scale = 1.0 / math.sqrt(a * a + b * b + c * c + d * d)
    body[9], body[10], body[11], body[12] = a * scale, b * scale, c * scale, d * scale
