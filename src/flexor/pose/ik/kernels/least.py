"""Least turning: all bones at once close the gap, and go home where goals let them.

Gauss and Newton's step, damped: of all turnings that bring the points to their goals,
as far as straight lines tell, the one that turns bones least; three equations a point.
On top of it bones may turn toward where they are at home: of that turning only what
moves no point is done, for the rest would only be undone by the goals, or spoil them.
What limits cut off of a step is closed to the next one, so that other bones do it. Each
enters with arms and bases as `measure` leaves them for the present rotations, and
writes into the tried ones; whether they are kept is for the caller.

Tried: to turn all bones a part of the way home first and then to bring the points back
by a pass of descent. That pass leaves up to half of what the way home took, 10 to 150
mm on chains of a metre, in every frame.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

from flexor.maths.kernels.functions import atan2
from flexor.maths.kernels.jit import inline, part
from flexor.maths.kernels.quaternions import make_unit, turn_both
from flexor.maths.layout import ROUNDED
from flexor.pose.ik.kernels.descent import (
    ARM,
    AWAY,
    AXIS,
    BASE,
    FIRST,
    FREE,
    HINGE,
    HOME,
    KIND,
    LAST,
    NOW,
    SLOPE,
    TRIED,
    WEIGHT,
    clamp,
    column_times,
    row_times,
    try_turn,
)

if TYPE_CHECKING:
    from flexor.arrays import Doubles, Ints, Real, Whole


@inline
def _set_slopes(
    bones: Ints,
    table: Doubles,
    pulls: Doubles,
    work: Doubles,
    pairs: Doubles,
    count: Whole,
) -> None:
    """How each point moves with a turn of each bone above it, times its weights."""
    for b in range(len(bones)):
        weight = table[b, WEIGHT]
        for k in range(bones[b, FIRST], bones[b, LAST]):
            row = b * count + k
            scale = math.sqrt(weight * pulls[k, 3])
            ax, ay, az = pairs[row, ARM], pairs[row, ARM + 1], pairs[row, ARM + 2]
            for i in range(3):
                at = BASE + 3 * i
                u, v, w = work[b, at], work[b, at + 1], work[b, at + 2]
                # (u, v, w) . (turn x arm) = turn . (arm x (u, v, w))
                sx, sy, sz = ay * w - az * v, az * u - ax * w, ax * v - ay * u
                if bones[b, KIND] == HINGE:
                    nx, ny, nz = table[b, AXIS], table[b, AXIS + 1], table[b, AXIS + 2]
                    along = sx * nx + sy * ny + sz * nz
                    sx, sy, sz = along * nx, along * ny, along * nz
                pairs[row, SLOPE + 3 * i] = sx * scale
                pairs[row, SLOPE + 3 * i + 1] = sy * scale
                pairs[row, SLOPE + 3 * i + 2] = sz * scale


@inline
def _fill_system(
    bones: Ints,
    pairs: Doubles,
    count: Whole,
    system: Doubles,
) -> None:
    """The products of the points' slopes, lower half: system (3 K, 3 K)."""
    for i in range(3 * count):
        for j in range(i + 1):
            system[i, j] = 0.0
    for b in range(len(bones)):
        for k in range(bones[b, FIRST], bones[b, LAST]):
            for m in range(bones[b, FIRST], k + 1):
                one, other = b * count + k, b * count + m
                for i in range(3):
                    at = SLOPE + 3 * i
                    x, y, z = pairs[one, at], pairs[one, at + 1], pairs[one, at + 2]
                    for j in range(i + 1 if m == k else 3):
                        system[3 * k + i, 3 * m + j] += row_times(
                            pairs, other, SLOPE + 3 * j, x, y, z
                        )


@inline
def _factor(
    system: Doubles,
    size: Whole,
) -> bool:
    """The root of a system in place, by Cholesky's method; False where it has none."""
    for i in range(size):
        for j in range(i + 1):
            total = system[i, j]
            for k in range(j):
                total -= system[i, k] * system[j, k]
            if i == j:
                if total <= 1e-300:
                    return False
                system[i, i] = math.sqrt(total)
            else:
                system[i, j] = total / system[j, j]
    return True


@inline
def _solve_factored(
    system: Doubles,
    size: Whole,
    right: Doubles,
) -> None:
    """Solve in place, with the root of the system."""
    for i in range(size):
        total = right[i]
        for k in range(i):
            total -= system[i, k] * right[k]
        right[i] = total / system[i, i]
    for i in range(size - 1, -1, -1):
        total = right[i]
        for k in range(i + 1, size):
            total -= system[k, i] * right[k]
        right[i] = total / system[i, i]


@inline
def _prepare(
    bones: Ints,
    pulls: Doubles,
    damping: Real,
    pairs: Doubles,
    ends: Doubles,
    goals: Doubles,
    system: Doubles,
    right: Doubles,
) -> bool:
    """The root of the system that slopes make, and what solves the gap; False where
    there is none.
    """
    count = len(ends)
    _fill_system(bones, pairs, count, system)
    trace = 0.0
    for k in range(count):
        pull = math.sqrt(pulls[k, 3])
        for i in range(3):
            trace += system[3 * k + i, 3 * k + i]
            right[3 * k + i] = pull * (goals[k, i] - ends[k, i])
    for i in range(3 * count):
        system[i, i] += damping * trace / (3 * count) + 1e-30
    if not _factor(system, 3 * count):
        return False
    _solve_factored(system, 3 * count, right)
    return True


@inline
def _turn_of(
    bones: Ints,
    pairs: Doubles,
    count: Whole,
    b: Whole,
    right: Doubles,
) -> tuple[Real, Real, Real]:
    """How bone b turns for what was solved, but for the root of its weight."""
    x, y, z = 0.0, 0.0, 0.0
    for k in range(bones[b, FIRST], bones[b, LAST]):
        row = b * count + k
        fx, fy, fz = right[3 * k], right[3 * k + 1], right[3 * k + 2]
        x += column_times(pairs, row, SLOPE, fx, fy, fz)
        y += column_times(pairs, row, SLOPE + 1, fx, fy, fz)
        z += column_times(pairs, row, SLOPE + 2, fx, fy, fz)
    return x, y, z


@part
def step_all(
    bones: Ints,
    table: Doubles,
    pulls: Doubles,
    damping: Real,
    work: Doubles,
    pairs: Doubles,
    ends: Doubles,
    goals: Doubles,
    system: Doubles,
    right: Doubles,
) -> bool:
    """Try the least turning of all bones that closes the gap; False where it cannot.

    damping: how much of the mean of the squares is added to each of them.
    """
    _set_slopes(bones, table, pulls, work, pairs, len(ends))
    if not _prepare(bones, pulls, damping, pairs, ends, goals, system, right):
        return False
    for b in range(len(bones)):
        x, y, z = _turn_of(bones, pairs, len(ends), b, right)
        scale = 0.5 * math.sqrt(table[b, WEIGHT])
        x, y, z = x * scale, y * scale, z * scale
        # Half the turn as a tangent: a large one stays below half a circle.
        try_turn(table, bones[b, KIND], work, b, x, y, z, 1.0)
    return True


@inline
def _set_away(
    bones: Ints,
    table: Doubles,
    part_of: Real,
    work: Doubles,
    pairs: Doubles,
    count: Whole,
    homeward: Doubles,
) -> None:
    """A part of each bone's turn home, and how that would move the points."""
    for i in range(3 * count):
        homeward[i] = 0.0
    for b in range(len(bones)):
        for i in range(3):
            work[b, AWAY + i] = 0.0
        if table[b, WEIGHT] <= 0:
            continue
        x, y, z, w = turn_both(
            work[b, HOME],
            work[b, HOME + 1],
            work[b, HOME + 2],
            work[b, HOME + 3],
            -work[b, NOW],
            -work[b, NOW + 1],
            -work[b, NOW + 2],
            work[b, NOW + 3],
        )
        sine = math.sqrt(x * x + y * y + z * z)
        scale = 2 * part_of
        if sine > 1e-12:
            scale *= atan2(sine, abs(w)) / sine
        if w < 0:
            scale = -scale
        x, y, z = x * scale, y * scale, z * scale
        if bones[b, KIND] == HINGE:
            nx, ny, nz = table[b, AXIS], table[b, AXIS + 1], table[b, AXIS + 2]
            along = x * nx + y * ny + z * nz
            x, y, z = along * nx, along * ny, along * nz
        work[b, AWAY], work[b, AWAY + 1], work[b, AWAY + 2] = x, y, z
        scale = 1 / math.sqrt(table[b, WEIGHT])  # slopes have the root of it
        x, y, z = x * scale, y * scale, z * scale
        for k in range(bones[b, FIRST], bones[b, LAST]):
            row = b * count + k
            for i in range(3):
                homeward[3 * k + i] += row_times(pairs, row, SLOPE + 3 * i, x, y, z)


@inline
def _block(
    work: Doubles,
    b: Whole,
    x: Real,
    y: Real,
    z: Real,
) -> None:
    """Close a direction, of unit length, to the turns of bone b.

    AWAY holds what is closed, by its length: none (0), a direction (1), all but a
    direction (2), or all (3).
    """
    fx, fy, fz = work[b, AWAY], work[b, AWAY + 1], work[b, AWAY + 2]
    square = fx * fx + fy * fy + fz * fz
    if square > 0.5:
        cx, cy, cz = y * fz - z * fy, z * fx - x * fz, x * fy - y * fx
        length = math.sqrt(cx * cx + cy * cy + cz * cz)
        if square > 2:
            x, y, z = 3.0, 0.0, 0.0
        elif length > 0.1:  # else it is the same once more
            x, y, z = 2 * cx / length, 2 * cy / length, 2 * cz / length
    work[b, AWAY], work[b, AWAY + 1], work[b, AWAY + 2] = x, y, z


@inline
def _try_within(
    table: Doubles,
    kind: Whole,
    work: Doubles,
    b: Whole,
    x: Real,
    y: Real,
    z: Real,
) -> bool:
    """Try a turn, given by half of it; whether limits cut some of it off.

    Then the direction in which they did is closed to the steps that follow.
    """
    ox, oy, oz, ow = work[b, NOW], work[b, NOW + 1], work[b, NOW + 2], work[b, NOW + 3]
    qx, qy, qz, qw = turn_both(x, y, z, 1.0, ox, oy, oz, ow)
    qx, qy, qz, qw = make_unit(qx, qy, qz, qw)
    is_cut = False
    if kind != FREE:
        cx, cy, cz, cw = clamp(table, b, qx, qy, qz, qw)
        dx, dy, dz, _ = turn_both(cx, cy, cz, cw, -qx, -qy, -qz, qw)
        length = math.sqrt(dx * dx + dy * dy + dz * dz)
        if length > ROUNDED:
            is_cut = True
            scale = 1 / length
            _block(work, b, dx * scale, dy * scale, dz * scale)
        qx, qy, qz, qw = cx, cy, cz, cw
    work[b, TRIED], work[b, TRIED + 1] = qx, qy
    work[b, TRIED + 2], work[b, TRIED + 3] = qz, qw
    return is_cut


@part
def step_home(
    bones: Ints,
    table: Doubles,
    pulls: Doubles,
    part_of: Real,
    slack: Real,
    damping: Real,
    work: Doubles,
    pairs: Doubles,
    ends: Doubles,
    goals: Doubles,
    system: Doubles,
    right: Doubles,
    homeward: Doubles,
) -> Whole:
    """Try the least turning that closes the gap, and a part of the way home where that
    moves no point; 0 where it cannot, 2 where limits cut off some of it, else 1.

    slack: how far points may be moved by the way home after all, as it is no straight
    line: it is cut to that.
    """
    count = len(ends)
    _set_slopes(bones, table, pulls, work, pairs, count)
    if not _prepare(bones, pulls, damping, pairs, ends, goals, system, right):
        return 0
    _set_away(bones, table, part_of, work, pairs, count, homeward)
    _solve_factored(system, 3 * count, homeward)
    # Turns by the angles s, each with an arm a, move a point off the straight line by
    # no more than half of (the sum of s sqrt(a)) squared, or thereabouts.
    bow = 0.0
    for b in range(len(bones)):
        x, y, z = _turn_of(bones, pairs, count, b, homeward)
        scale = math.sqrt(table[b, WEIGHT])
        longest = 0.0
        for k in range(bones[b, FIRST], bones[b, LAST]):
            row = b * count + k
            square = pairs[row, ARM] ** 2 + pairs[row, ARM + 1] ** 2
            longest = max(longest, square + pairs[row, ARM + 2] ** 2)
        x = work[b, AWAY] - x * scale
        y = work[b, AWAY + 1] - y * scale
        z = work[b, AWAY + 2] - z * scale
        work[b, AWAY], work[b, AWAY + 1], work[b, AWAY + 2] = x, y, z
        bow += math.sqrt((x * x + y * y + z * z) * math.sqrt(longest))
    share, found = 1.0, 1
    if bow * bow > 2 * slack:
        share = math.sqrt(2 * slack) / bow
    for b in range(len(bones)):
        x, y, z = _turn_of(bones, pairs, count, b, right)
        scale = math.sqrt(table[b, WEIGHT])
        x = 0.5 * (x * scale + share * work[b, AWAY])
        y = 0.5 * (y * scale + share * work[b, AWAY + 1])
        z = 0.5 * (z * scale + share * work[b, AWAY + 2])
        work[b, AWAY], work[b, AWAY + 1], work[b, AWAY + 2] = 0.0, 0.0, 0.0
        if _try_within(table, bones[b, KIND], work, b, x, y, z):
            found = 2
    return found


@part
def step_within(
    bones: Ints,
    table: Doubles,
    pulls: Doubles,
    damping: Real,
    work: Doubles,
    pairs: Doubles,
    ends: Doubles,
    goals: Doubles,
    system: Doubles,
    right: Doubles,
) -> Whole:
    """Try the least turning that closes the gap, but not to where limits cut it off in
    a step before; gives what `step_home` does.
    """
    count = len(ends)
    _set_slopes(bones, table, pulls, work, pairs, count)
    for b in range(len(bones)):
        nx, ny, nz = work[b, AWAY], work[b, AWAY + 1], work[b, AWAY + 2]
        square = nx * nx + ny * ny + nz * nz
        if square < 0.5:
            continue
        # Slopes times what is left of a turn: s, less along or only along n.
        keeps, along = 1.0, -1.0
        if square > 2:
            keeps, along = 0.0, 0.25 if square < 6 else 0.0
        for k in range(bones[b, FIRST], bones[b, LAST]):
            row = b * count + k
            for i in range(SLOPE, SLOPE + 9, 3):
                of = along * row_times(pairs, row, i, nx, ny, nz)
                pairs[row, i] = keeps * pairs[row, i] + of * nx
                pairs[row, i + 1] = keeps * pairs[row, i + 1] + of * ny
                pairs[row, i + 2] = keeps * pairs[row, i + 2] + of * nz
    if not _prepare(bones, pulls, damping, pairs, ends, goals, system, right):
        return 0
    found = 1
    for b in range(len(bones)):
        x, y, z = _turn_of(bones, pairs, count, b, right)
        scale = 0.5 * math.sqrt(table[b, WEIGHT])
        x, y, z = x * scale, y * scale, z * scale
        if _try_within(table, bones[b, KIND], work, b, x, y, z):
            found = 2
    return found
