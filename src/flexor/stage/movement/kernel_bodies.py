"""Bodies that keep apart, and stand on the ground or fall to it. All float64."""

import math

import numpy as np

from flexor.maths.kernel import jit

TALL = 1.2  # metres: who is higher by this is over the other, not beside it
HELD = 0.12  # metres: ground that falls away by less in a tick is gone down


@jit("i8(f8[::1], bool[::1], out i4[::1], out f8[:, ::1])")
def push_apart(radii, is_solid, order, places):
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
        n = np.int64(order[i])
        if not is_solid[n]:
            continue
        reach = places[n, 0] + radii[n] + widest
        for j in range(i + 1, count):
            m = np.int64(order[j])
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


@jit(
    "void(f8, f8, f8, f8[::1], f8[::1], bool[::1], out f8[:, ::1], out f8[::1],"
    " out bool[::1], out bool[::1])"
)
def stand(dt, gravity, climb, clocks, below, flying, places, falls, grounded, landed):
    """Put characters on the ground, let them fall to it, or hold them in the air.

    below: (N,), heights of the ground; climb: metres a second that they come up a step;
    flying: (N,), who is held by a jump; falls: (N,), metres a second downward;
    grounded, landed: (N,), who stands on the ground, and who came down to it now.
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
            y = min(ground, y + climb * t)
        else:
            y = ground
        places[n, 1], falls[n], grounded[n], landed[n] = y, 0.0, True, not was
