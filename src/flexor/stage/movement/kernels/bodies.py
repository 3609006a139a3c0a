"""Bodies that keep apart, stop at steep ground, and stand on it or fall to it.

All float64. `hold_at_steps` takes 40 ns for each who walks, 150 ns for who is held.

Tried for steep ground: a look at the place gone to alone. Who goes up a cliff of one
cell bit by bit never sees it. So one looks ahead, and to either side, or who goes
nearly along a cliff would come up it.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

from flexor.maths.kernels.field import ground_height
from flexor.maths.kernels.jit import inline, jit
from flexor.maths.kernels.numbers import int64
from flexor.stage.movement.layout import TALL

if TYPE_CHECKING:
    from flexor.arrays import Bools, Doubles, Ints

HELD = 0.12  # metres: ground that falls away by less in a tick is gone down
DEEP = 0.15  # metres that one who comes up a step is below the ground, at most
SLANT = math.sqrt(0.5)  # of the two looks to either side of a way
MOST_LOOKS = 4096  # along a way
# Of a way into steep ground, what is turned round, so that one goes on along it.
AWAY, FAR_AWAY = 0.1, 0.6
LEAST = 1e-12  # metres: shorter ways are none
SLACK = 1e-9  # metres: a step that is as high as may be is not too high


@jit("i8(f8[::1], bool[::1], out i4[::1], out f8[:, ::1])")
def push_apart(radii: Doubles, is_solid: Bools, order: Ints, places: Doubles) -> int:
    """Push circles (N,) out of each other, each by half; gives how many pairs met.

    order: (N,), rows by x, as the last call has left them: nearly right, so that
    sorting them costs little.
    """
    count = len(places)
    for i in range(1, count):
        row = order[i]
        x = places[row, 0]
        j = i - 1
        while j >= 0 and places[order[j], 0] > x:
            order[j + 1] = order[j]
            j -= 1
        order[j + 1] = row
    widest = 0.0
    for n in range(count):
        widest = max(widest, radii[n])
    met = 0
    for i in range(count):
        n = int64(order[i])
        if not is_solid[n]:
            continue
        reach = places[n, 0] + radii[n] + widest
        for j in range(i + 1, count):
            m = int64(order[j])
            if places[m, 0] > reach:
                break
            if not is_solid[m] or abs(places[m, 1] - places[n, 1]) >= TALL:
                continue
            dx, dz = places[m, 0] - places[n, 0], places[m, 2] - places[n, 2]
            wanted = radii[n] + radii[m]
            square = dx * dx + dz * dz
            if square >= wanted * wanted:
                continue
            away = math.sqrt(square)
            if away > 1e-9:
                dx, dz = dx / away, dz / away
            else:
                dx, dz = 1.0, 0.0
            push = (wanted - away) / 2
            places[n, 0] -= dx * push
            places[n, 2] -= dz * push
            places[m, 0] += dx * push
            places[m, 2] += dz * push
            met += 1
    return met


@inline
def free_way(
    heights: Doubles,
    x0: float,
    z0: float,
    cell: float,
    step: float,
    reach: float,
    x: float,
    y: float,
    z: float,
    dx: float,
    dz: float,
) -> tuple[float, float, float]:
    """The part of a way (dx, dz), 0 to 1, up to where ground ahead is too high.

    Seen from a place on it: ahead and to either side, `reach` metres away, it is higher
    by more than `step` than that place, or than y. Gives that place too.
    """
    size = math.sqrt(dx * dx + dz * dz)
    px, pz = x + dx, z + dz
    if size < LEAST:
        return 0.0, px, pz
    ux, uz = reach * dx / size, reach * dz / size
    count = min(math.ceil(size / (0.5 * cell)), MOST_LOOKS)
    for look in range(1, count + 1):
        px, pz = x + dx * look / count, z + dz * look / count
        most = max(y, ground_height(heights, x0, z0, cell, px, pz)) + step + SLACK
        is_high = ground_height(heights, x0, z0, cell, px + ux, pz + uz) > most
        for side in (-SLANT, SLANT):
            qx, qz = px + SLANT * ux + side * uz, pz + SLANT * uz - side * ux
            is_high = is_high or ground_height(heights, x0, z0, cell, qx, qz) > most
        if is_high:
            return (look - 1.0) / count, px, pz
    return 1.0, px, pz


@inline
def uphill(
    heights: Doubles,
    x0: float,
    z0: float,
    cell: float,
    reach: float,
    x: float,
    z: float,
    dx: float,
    dz: float,
) -> tuple[float, float]:
    """The unit way up from a place, by a ring around it that begins at a way (dx, dz):
    cells have corners that a cliff has not. That way itself where all is level.
    """
    size = math.sqrt(dx * dx + dz * dz)
    dx, dz = dx / size, dz / size
    ux = uz = 0.0
    ex, ez = dx, dz
    for _ in range(8):
        high = ground_height(heights, x0, z0, cell, x + reach * ex, z + reach * ez)
        ux, uz = ux + high * ex, uz + high * ez
        ex, ez = SLANT * (ex - ez), SLANT * (ex + ez)
    size = math.sqrt(ux * ux + uz * uz)
    if size < SLACK:
        return dx, dz
    return ux / size, uz / size


@jit("i8(f8[:, ::1], f8, f8, f8, f8, f8, f8[:, ::1], out f8[:, ::1], out f8[:, ::1])")
def hold_at_steps(
    heights: Doubles,
    x0: float,
    z0: float,
    cell: float,
    step: float,
    reach: float,
    before: Doubles,
    places: Doubles,
    normals: Doubles,
) -> int:
    """Let nobody go from `before` (N, 3) up ground that is too steep; they go along it.

    normals: (N, 2), away from it, unit, 0 for who goes freely; gives how many were
    held. Heights of `places` are those of the last tick.
    """
    held = 0
    for n in range(len(places)):
        normals[n, 0] = normals[n, 1] = 0.0
        x, y, z = before[n, 0], places[n, 1], before[n, 2]
        dx, dz = places[n, 0] - x, places[n, 2] - z
        if dx * dx + dz * dz < LEAST * LEAST:
            continue
        # Who was put into a hill may walk on it.
        y = max(y, ground_height(heights, x0, z0, cell, x, z))
        free, bx, bz = free_way(heights, x0, z0, cell, step, reach, x, y, z, dx, dz)
        if free == 1.0:
            continue
        held += 1
        x, z = x + free * dx, z + free * dz
        dx, dz = (1.0 - free) * dx, (1.0 - free) * dz
        ux, uz = uphill(heights, x0, z0, cell, reach, bx, bz, dx, dz)
        normals[n, 0], normals[n, 1] = -ux, -uz
        into = max(ux * dx + uz * dz, 0.0)
        tx, tz = dx - into * ux, dz - into * uz
        most = 0.5 * math.sqrt(tx * tx + tz * tz)  # who goes straight at it stays
        for turn in range(4):
            # Along it, then more away from it, then along x or z alone.
            away = min(into * (AWAY if turn == 0 else FAR_AWAY), most)
            ex, ez = tx - away * ux, tz - away * uz
            if turn > 1:
                ex, ez = (dx, 0.0) if turn == 2 else (0.0, dz)
            free, _, _ = free_way(heights, x0, z0, cell, step, reach, x, y, z, ex, ez)
            if free > 0.0:
                x, z = x + free * ex, z + free * ez
                break
        places[n, 0], places[n, 2] = x, z
    return held


@jit(
    "void(f8, f8, f8, f8[::1], f8[::1], bool[::1], out f8[:, ::1], out f8[::1],"
    " out bool[::1], out bool[::1])"
)
def stand(
    dt: float,
    gravity: float,
    climb: float,
    clocks: Doubles,
    below: Doubles,
    flying: Bools,
    places: Doubles,
    falls: Doubles,
    grounded: Bools,
    landed: Bools,
) -> None:
    """Put characters on the ground, let them fall to it, or hold them in the air.

    below: (N,), heights of the ground; climb: metres a second that they come up a step,
    faster if they would be deep in it; flying: (N,), who is held by a jump; falls:
    (N,), metres a second downward; grounded, landed: (N,), who stands on the ground,
    and who came down to it now.
    """
    for n in range(len(places)):
        t = dt * clocks[n]
        y, ground = places[n, 1], below[n]
        was = grounded[n]
        landed[n] = False
        if flying[n]:
            places[n, 1] = max(y, ground)
            falls[n], grounded[n] = 0.0, False
            continue
        slack = HELD if was else 0.0
        if y > ground + slack:
            falls[n] += gravity * t
            y -= falls[n] * t
            if y > ground:
                places[n, 1], grounded[n] = y, False
                continue
            y = ground
        if y < ground:
            y = min(ground, max(y + climb * t, ground - DEEP))
        else:
            y = ground
        places[n, 1], falls[n], grounded[n], landed[n] = y, 0.0, True, not was
