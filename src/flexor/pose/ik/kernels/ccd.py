"""Inverse kinematics of chains and trees of bones, one character after another.

Cyclic coordinate descent is sure but slow near a straight chain. So between its passes
other steps are tried, and kept only where they leave less: Gauss and Newton's, damped
(all bones at once, the least turning that closes the gap; three equations a point), and
for a single free chain that is not long enough yet, stretching: all bones turn toward
the goal by one part, found so that the chain becomes exactly as long as it must be.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import numpy as np

from flexor.maths.kernels.functions import cbrt
from flexor.maths.kernels.jit import inline, jit, part
from flexor.maths.kernels.quaternions import (
    make_unit,
    turn_vector,
)
from flexor.pose.ik.kernels.descent import (
    EARLIER,
    FREE,
    KEPT,
    KIND,
    LANE,
    NODE,
    NOW,
    PLACE,
    POINT,
    POINTS,
    SCALE,
    TRIED,
    WEIGHT,
    clamp,
    descend,
    measure,
)
from flexor.pose.ik.kernels.pace import store_turns, toward
from flexor.pose.ik.kernels.steps import (
    bend,
    centre,
    is_balanced,
    step_all,
    stretch,
    swing,
)
from flexor.pose.ik.layout import Chains, Memory, Work

if TYPE_CHECKING:
    from flexor.arrays import Doubles, Floats, Ints, Real, Whole

# A step is worth going on with when it leaves less than this of the squares.
GOOD = 0.25
# A pass that leaves more than this of them has done nothing, and is taken back.
STILL = 1 - 1e-5
# How strongly Gauss and Newton's step is damped at first.
DAMPING = 1e-4
# A bend must leave less than this of the squares, or it is taken back; so must a
# restart, which changes much.
WORTH, RESTART_WORTH = 0.99, 0.1
# Lengths of a chain beyond which a goal is as good as a direction.
FAR = 100.0
# How far a chain is bent that does not know where to, radians.
BEND = 0.5


@inline
def _off(
    ends: Doubles,
    goals: Doubles,
) -> Real:
    """The largest square of a distance that is left."""
    most = 0.0
    for k in range(len(goals)):
        x = ends[k, 0] - goals[k, 0]
        y = ends[k, 1] - goals[k, 1]
        z = ends[k, 2] - goals[k, 2]
        most = max(most, x * x + y * y + z * z)
    return most


@inline
def _copy(
    work: Doubles,
    one: Whole,
    other: Whole,
) -> None:
    """Copy rotations from column `one` to column `other`."""
    for b in range(len(work)):
        for i in range(4):
            work[b, other + i] = work[b, one + i]


@part
def _reach(chains: Chains, most: Whole, square: Real, room: Work) -> Whole:
    """Turn the bones until all points are near their goals; give the passes made.

    most: passes; square: how near, as the square of a distance in the base's frame.
    """
    bones, table, is_chain = chains.bones, chains.table, chains.is_chain
    pulls, work, pairs = room.pulls, room.bones, room.pairs
    ends, goals = room.ends, room.goals
    left = measure(bones, pulls, NOW, work, pairs, ends, goals)
    damping, passes, still = DAMPING, 0, 0
    is_fresh, wants_descent, wants_stretch, is_straight = True, True, False, False
    # What the rotations leave that were kept before a bend or a restart; none yet.
    kept, worth = -1.0, WORTH
    while passes < most and _off(ends, goals) > square:
        passes += 1
        if wants_descent:
            _copy(work, NOW, EARLIER)
            new = descend(bones, table, pulls, work, pairs, ends, goals)
            is_fresh, wants_descent = False, False
            if new > left * STILL:
                # Hardly anything: not worth crawling for, frame after frame.
                _copy(work, EARLIER, NOW)
                still += 1
            else:
                left, still = new, 0
            if still > 1:
                measure(bones, pulls, NOW, work, pairs, ends, goals)
                if is_chain and stretch(bones, table, work, pairs, goals) == 2:
                    break  # straight, and too short
                if kept >= 0:
                    break
                kept = left
                _copy(work, NOW, KEPT)
                if is_balanced(bones, table, pulls, work, pairs, ends, goals):
                    # All in one line: no pass would ever leave it.
                    bend(bones, table, BEND, work)
                elif centre(bones, table, work):
                    worth = RESTART_WORTH
                else:
                    break
                left = measure(bones, pulls, NOW, work, pairs, ends, goals)
                still, is_fresh, wants_descent = 0, True, True
            continue
        if not is_fresh:
            left = measure(bones, pulls, NOW, work, pairs, ends, goals)
        found = 0
        if wants_stretch:
            found = stretch(bones, table, work, pairs, goals)
            is_straight, wants_stretch = found == 2, False
        if found == 0:
            is_there = step_all(
                bones,
                table,
                pulls,
                damping,
                work,
                pairs,
                ends,
                goals,
                room.system,
                room.right,
            )
            found = 1 if is_there else 0
        new = left
        if found > 0:
            new = measure(bones, pulls, TRIED, work, pairs, ends, goals)
        is_fresh = new < left * STILL
        is_good = new < left * GOOD
        if is_fresh:
            _copy(work, TRIED, NOW)
        damping = damping * 0.25 if is_good else damping * 4
        wants_descent = not is_good
        wants_stretch = is_chain and not is_good and not is_straight
        left = new if is_fresh else left
    if kept >= 0 and left > kept * worth:
        _copy(work, KEPT, NOW)
    return passes


@inline
def _bring_goals(
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
def _load(
    bones: Ints,
    table: Doubles,
    point_lanes: Ints,
    local: Floats,
    last: Floats,
    keeps: Real,
    pulls: Doubles,
    work: Doubles,
) -> None:
    """Bones as they stand in the pose; those that turn a part of the way, `keeps`, to
    how they were left.
    """
    lanes = len(local) // 10
    for k in range(len(point_lanes)):
        if point_lanes[k] >= 0:
            for i in range(3):
                pulls[k, i] = local[i * lanes + point_lanes[k]]
    for b in range(len(bones)):
        lane = np.int64(bones[b, LANE])
        for i in range(3):
            work[b, PLACE + i] = local[i * lanes + lane]
            work[b, SCALE + i] = local[(7 + i) * lanes + lane]
        x, y = np.float64(local[3 * lanes + lane]), np.float64(local[4 * lanes + lane])
        z, w = np.float64(local[5 * lanes + lane]), local[6 * lanes + lane]
        x, y, z, w = make_unit(x, y, z, w)
        if table[b, WEIGHT] > 0 and keeps > 0:
            lx, ly = np.float64(last[4 * b]), np.float64(last[4 * b + 1])
            lz, lw = np.float64(last[4 * b + 2]), last[4 * b + 3]
            lx, ly, lz, lw = make_unit(lx, ly, lz, lw)
            x, y, z, w = toward(x, y, z, w, lx, ly, lz, lw, keeps)
        if table[b, WEIGHT] > 0 and bones[b, KIND] != FREE:
            x, y, z, w = clamp(table, b, x, y, z, w)
        work[b, NOW], work[b, NOW + 1] = x, y
        work[b, NOW + 2], work[b, NOW + 3] = z, w


@inline
def _bring_near(
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
def _put_off(
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


@part
def _swing_all(chains: Chains, near: Real, room: Work) -> None:
    """Swing the limbs toward their poles, where that does not lose their goals."""
    bones, table, effectors = chains.bones, chains.table, chains.effectors
    pulls, work, pairs = room.pulls, room.bones, room.pairs
    ends, goals, ways = room.ends, room.goals, room.ways
    for e in range(len(effectors)):
        if ways[e, 0] == 0 and ways[e, 1] == 0 and ways[e, 2] == 0:
            continue
        left = measure(bones, pulls, NOW, work, pairs, ends, goals)
        if swing(bones, table, effectors, e, ways, len(goals), work, pairs):
            new = measure(bones, pulls, TRIED, work, pairs, ends, goals)
            # A rounding error may be paid for the pole.
            if new <= left * (1 + 1e-9) + 1e-6 * near:
                _copy(work, TRIED, NOW)


@jit(
    "void(Chains, i8, f8, f8, f8, f4[:, ::1], f4[:, ::1], f4[:, ::1], f4[:, ::1],"
    " f4[:, ::1], f4[::1], Work, Memory, out f4[:, ::1])",
)
def solve_reach(
    chains: Chains,
    most: int,
    tolerance: float,
    seconds: float,
    keeps: float,
    world: Floats,
    places: Floats,
    targets: Floats,
    turns: Floats,
    poles: Floats,
    weights: Floats,
    room: Work,
    memory: Memory,
    local: Floats,
) -> None:
    """Bring the effectors of N characters to their targets.

    most: passes; tolerance: metres; seconds: since the last call; keeps: how much of
    the last solution bones start from, 0 for the pose alone; world: (N, 12 J) before
    the call; places: (N, 12); targets: (N, 3 M) and turns: (N, 4 M), world space;
    poles: (N, 3 M) world directions, 0 for none; weights: (N,) how much of it is done;
    local: (N, 10 L).
    """
    bones, table, effectors = chains.bones, chains.table, chains.effectors
    base, pulls, work, pairs = chains.base, room.pulls, room.bones, room.pairs
    ends, goals, ways = room.ends, room.goals, room.ways
    started, passes = memory.started, memory.passes
    for n in range(len(local)):
        mine, before = local[n], memory.last[n]
        m = places[n] if base < 0 else world[n, 12 * base : 12 * base + 12]
        has_last = started[n] != 0
        was = keeps if has_last else 0.0
        _load(bones, table, chains.point_lanes, mine, before, was, pulls, work)
        determinant = np.float64(m[0]) * (m[5] * m[10] - m[6] * m[9])
        determinant -= np.float64(m[1]) * (m[4] * m[10] - m[6] * m[8])
        determinant += np.float64(m[2]) * (m[4] * m[9] - m[5] * m[8])
        passes[n] = 0
        if abs(determinant) > 1e-30:
            _bring_goals(
                m,
                targets[n],
                turns[n],
                effectors,
                pulls,
                world[n],
                determinant,
                goals,
            )
            _bring_near(effectors, work, pulls, goals)
            root = cbrt(abs(determinant))
            near = tolerance * tolerance / (root * root)
            for e in range(len(effectors)):
                for i in range(3):  # the transpose is the inverse up to size
                    ways[e, i] = m[i] * poles[n, 3 * e]
                    ways[e, i] += m[4 + i] * poles[n, 3 * e + 1]
                    ways[e, i] += m[8 + i] * poles[n, 3 * e + 2]
            passes[n] = _reach(chains, most, near, room)
            _swing_all(chains, near, room)
            store_turns(bones, table, weights[n], seconds, has_last, work, before, mine)
            started[n] = 1
        measure(bones, pulls, NOW, work, pairs, ends, goals)
        for e in range(len(effectors)):
            _put_off(m, ends, effectors[e, POINT], targets[n], e, memory.off[n])
