"""Inverse kinematics of chains and trees of bones, one character after another.

Cyclic coordinate descent is sure but slow near a straight chain. So between its passes
other steps are tried, and kept only where they leave less: Gauss and Newton's, damped
(all bones at once, the least turning that closes the gap; three equations a point), and
for a single free chain that is not long enough yet, stretching: all bones turn toward
the goal by one part, found so that the chain becomes exactly as long as it must be.

What goes on from its last solution is nearly there: first comes one step of all bones
that follows the goal and goes home where it may; mostly it is all there is to do. For
several goals that step bends trunks where arms would do. So where there is time for
passes, all bones go home by a part, and passes bring the ends back, the last bones
first; one pass alone would leave half of that.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import numpy as np

from flexor.maths.kernels.functions import cbrt
from flexor.maths.kernels.jit import inline, jit, part
from flexor.maths.kernels.quaternions import make_unit
from flexor.pose.ik.kernels.descent import (
    EARLIER,
    FREE,
    HOME,
    KEPT,
    KIND,
    LANE,
    NOW,
    PLACE,
    POINT,
    SCALE,
    TRIED,
    WEIGHT,
    clamp,
    descend,
    measure,
)
from flexor.pose.ik.kernels.goals import bring_goals, bring_near, put_off
from flexor.pose.ik.kernels.least import step_all, step_home, step_within
from flexor.pose.ik.kernels.pace import store_turns, toward
from flexor.pose.ik.kernels.steps import (
    bend,
    centre,
    is_balanced,
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
# The part of the tolerance by which the way home may move a point.
HOME_SLACK = 0.5
# How often what limits cut off a step is done by other bones.
ROUNDS = 4
# A step that follows must leave less than this of the square, or passes do it anew.
FOLLOWED = 0.9
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


@part
def _follow(chains: Chains, home: Real, near: Real, room: Work) -> tuple[Whole, bool]:
    """Follow goals that have moved a little; give the passes made, 1 or 0, and whether
    there is nothing left to do.

    home: the part of the way home that bones take where that moves no point; near: as
    in `_reach`.
    """
    bones, table = chains.bones, chains.table
    pulls, work, pairs = room.pulls, room.bones, room.pairs
    ends, goals, system, right = room.ends, room.goals, room.system, room.right
    homeward, slack = room.homeward, HOME_SLACK * math.sqrt(near)
    measure(bones, pulls, NOW, work, pairs, ends, goals)
    before = _off(ends, goals)
    found = step_home(
        bones,
        table,
        pulls,
        home,
        slack,
        DAMPING,
        work,
        pairs,
        ends,
        goals,
        system,
        right,
        homeward,
    )
    if found == 0:
        return 0, False
    left = measure(bones, pulls, TRIED, work, pairs, ends, goals)
    off = _off(ends, goals)
    _copy(work, NOW, KEPT)
    _copy(work, TRIED, NOW)
    # What limits cut off is for the other bones to do.
    for _ in range(ROUNDS):
        if found < 2 or off <= near:
            break
        found = step_within(
            bones, table, pulls, DAMPING, work, pairs, ends, goals, system, right
        )
        if found == 0:
            break
        new = measure(bones, pulls, TRIED, work, pairs, ends, goals)
        if new >= left:
            break
        _copy(work, TRIED, NOW)
        left, off = new, _off(ends, goals)
    is_nearer = off <= near or off < FOLLOWED * before
    if off > near and chains.is_chain:
        if not is_nearer:
            # Only the way home, so that bones do not roll about a straight chain.
            _copy(work, KEPT, NOW)
            measure(bones, pulls, NOW, work, pairs, ends, goals)
            step_home(
                bones,
                table,
                pulls,
                home,
                slack,
                DAMPING,
                work,
                pairs,
                ends,
                ends,
                system,
                right,
                homeward,
            )
            _copy(work, TRIED, NOW)
        measure(bones, pulls, NOW, work, pairs, ends, goals)
        if stretch(bones, table, work, pairs, goals) == 2:
            _copy(work, TRIED, NOW)
            return 1, True  # straight, and too short
    if not is_nearer:
        _copy(work, KEPT, NOW)
        return 0, False
    return 1, off <= near


@inline
def _load(
    bones: Ints,
    table: Doubles,
    point_lanes: Ints,
    local: Floats,
    last: Floats,
    keeps: Real,
    has_home: bool,
    pulls: Doubles,
    work: Doubles,
) -> None:
    """Bones as they stand in the pose; those that turn a part of the way, `keeps`, to
    how they were left; or, if the pose is their home, as they were left.
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
        if has_home and table[b, WEIGHT] > 0:
            if bones[b, KIND] != FREE:
                x, y, z, w = clamp(table, b, x, y, z, w)
            work[b, HOME], work[b, HOME + 1] = x, y
            work[b, HOME + 2], work[b, HOME + 3] = z, w
            x, y = np.float64(last[4 * b]), np.float64(last[4 * b + 1])
            z, w = np.float64(last[4 * b + 2]), last[4 * b + 3]
            x, y, z, w = make_unit(x, y, z, w)
        elif table[b, WEIGHT] > 0 and keeps > 0:
            lx, ly = np.float64(last[4 * b]), np.float64(last[4 * b + 1])
            lz, lw = np.float64(last[4 * b + 2]), last[4 * b + 3]
            lx, ly, lz, lw = make_unit(lx, ly, lz, lw)
            x, y, z, w = toward(x, y, z, w, lx, ly, lz, lw, keeps)
        if table[b, WEIGHT] > 0 and bones[b, KIND] != FREE:
            x, y, z, w = clamp(table, b, x, y, z, w)
        work[b, NOW], work[b, NOW + 1] = x, y
        work[b, NOW + 2], work[b, NOW + 3] = z, w


@inline
def _begin(
    bones: Ints,
    local: Floats,
    last: Floats,
) -> None:
    """Nothing was done before: bones come from the pose that is given."""
    lanes = len(local) // 10
    for b in range(len(bones)):
        for i in range(4):
            last[4 * b + i] = local[(3 + i) * lanes + bones[b, LANE]]


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
    home: float,
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

    most: passes; tolerance: metres; seconds: since the last call, or the pose that the
    first is given; home: below 0 bones start from the pose, else as they were left, and
    go that part of the way back to the pose where it moves no effector; world:
    (N, 12 J) before the call; places: (N, 12); targets: (N, 3 M) and turns: (N, 4 M),
    world space; poles: (N, 3 M) world directions, 0 for none; weights: (N,) how much of
    it is done; local: (N, 10 L).
    """
    bones, table, effectors = chains.bones, chains.table, chains.effectors
    base, pulls, work, pairs = chains.base, room.pulls, room.bones, room.pairs
    ends, goals, ways = room.ends, room.goals, room.ways
    started, passes = memory.started, memory.passes
    for n in range(len(local)):
        mine, before = local[n], memory.last[n]
        m = places[n] if base < 0 else world[n, 12 * base : 12 * base + 12]
        goes_on = started[n] != 0 and home >= 0
        follows = goes_on and (most == 1 or len(goals) == 1)
        keeps = 1 - home if goes_on and not follows else 0.0
        if started[n] == 0:
            _begin(bones, mine, before)
        lanes = chains.point_lanes
        _load(bones, table, lanes, mine, before, keeps, follows, pulls, work)
        determinant = np.float64(m[0]) * (m[5] * m[10] - m[6] * m[9])
        determinant -= np.float64(m[1]) * (m[4] * m[10] - m[6] * m[8])
        determinant += np.float64(m[2]) * (m[4] * m[9] - m[5] * m[8])
        passes[n] = 0
        if abs(determinant) > 1e-30:
            bring_goals(
                m,
                targets[n],
                turns[n],
                effectors,
                pulls,
                world[n],
                determinant,
                goals,
            )
            bring_near(effectors, work, pulls, goals)
            root = cbrt(abs(determinant))
            near = tolerance * tolerance / (root * root)
            for e in range(len(effectors)):
                for i in range(3):  # the transpose is the inverse up to size
                    ways[e, i] = m[i] * poles[n, 3 * e]
                    ways[e, i] += m[4 + i] * poles[n, 3 * e + 1]
                    ways[e, i] += m[8 + i] * poles[n, 3 * e + 2]
            made, is_done = 0, False
            if follows:
                made, is_done = _follow(chains, home, near, room)
            if not is_done:
                made += _reach(chains, most - made, near, room)
            passes[n] = made
            _swing_all(chains, near, room)
            store_turns(bones, table, weights[n], seconds, work, before, mine)
            started[n] = 1
        measure(bones, pulls, NOW, work, pairs, ends, goals)
        for e in range(len(effectors)):
            put_off(m, ends, effectors[e, POINT], targets[n], e, memory.off[n])
