"""Strikes that follow a target which leaves their track, in the link region.

When an attack begins, it is noted where each part of the opponent's trunk is, seen from
the attacker. In the last tenth of the way to the impact, 1 to 10 ticks, the limb that
strikes is moved by as much as the part that it was about to meet has moved since, up to
25 cm: what was going to meet it meets it, and what was going to miss it misses it by as
much. Nobody leaves the track of a strike by less than 3 cm, as one does who breathes,
or by coming nearer: the strike still meets that one, and is not drawn back. Once it has
met, it stays bent as it was then: what moves afterwards moves because of the blow, and
is not followed. The way over the ground's height is left to level difference.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

from flexor.maths.kernels.functions import cos, sin
from flexor.maths.kernels.jit import inline, jit
from flexor.maths.kernels.numbers import int64
from flexor.scene.stage.layout import ATTACK
from flexor.stage.motion.layout import TRUNK, Aims, Strikes, Touch

if TYPE_CHECKING:
    from flexor.arrays import Bools, Doubles, Floats, Ints

PART, MOST = 10, 10  # a tenth of the way, and at most so many ticks
FARTHEST = 0.25  # metres that a strike is bent, at most
ON_TRACK, OFF_TRACK = 0.03, 0.06  # metres: less is not followed, more is in full
RETURN = 0.8  # of a bend that is kept in a tick, after the strike
LEAST = 1e-3  # metres that count
# Heights of attacks: see `scene.stage.moves.HEIGHTS`.
HIGH, MID, LOW, JUMP = range(4)


@inline
def _middle(touch: Touch, m: int, h: int, row: int) -> float:
    return 0.5 * (touch.ends[m, h, 0, row] + touch.ends[m, h, 1, row])


@inline
def _take_aim(
    n: int, m: int, places: Doubles, headings: Doubles, touch: Touch, aims: Aims
) -> None:
    """Note where parts of the opponent's trunk are, seen from the attacker."""
    s, c = sin(headings[n]), cos(headings[n])
    for h in range(touch.parts.shape[1]):
        if touch.parts[m, h] != TRUNK:
            continue
        x = _middle(touch, m, h, 0) - places[n, 0]
        z = _middle(touch, m, h, 2) - places[n, 2]
        aims.marks[n, h, 0] = c * x - s * z
        aims.marks[n, h, 1] = _middle(touch, m, h, 1) - places[m, 1]
        aims.marks[n, h, 2] = s * x + c * z


@inline
def _mark(
    n: int, m: int, h: int, places: Doubles, headings: Doubles, aims: Aims
) -> tuple[float, float, float]:
    """Where a part would be, if the opponent had not moved."""
    s, c = sin(headings[n]), cos(headings[n])
    x, y, z = aims.marks[n, h, 0], aims.marks[n, h, 1], aims.marks[n, h, 2]
    return places[n, 0] + c * x + s * z, places[m, 1] + y, places[n, 2] - s * x + c * z


@inline
def _find_part(
    k: int,
    n: int,
    m: int,
    limb: int,
    places: Doubles,
    headings: Doubles,
    tips: Floats,
    touch: Touch,
    aims: Aims,
) -> int:
    """The part of the trunk that a limb is about to meet where it was."""
    best, nearest = -1, math.inf
    for h in range(touch.parts.shape[1]):
        if touch.parts[m, h] != TRUNK:
            continue
        x, y, z = _mark(n, m, h, places, headings, aims)
        x, y, z = x - tips[k, limb, 0], y - tips[k, limb, 1], z - tips[k, limb, 2]
        far = x * x + y * y + z * z
        if far < nearest:
            best, nearest = h, far
    return best


@inline
def _bend(
    n: int,
    m: int,
    h: int,
    limb: int,
    part: float,
    height: int,
    places: Doubles,
    headings: Doubles,
    touch: Touch,
    aims: Aims,
) -> None:
    """Bend a limb by a part of what its target has moved."""
    x, y, z = _mark(n, m, h, places, headings, aims)
    x, y = _middle(touch, m, h, 0) - x, _middle(touch, m, h, 1) - y
    z = _middle(touch, m, h, 2) - z
    s, c = sin(headings[n]), cos(headings[n])
    nearer = min(s * x + c * z, 0.0)
    x, z = x - nearer * s, z - nearer * c
    if height == HIGH or height == JUMP:  # they pass over who crouches
        y = max(y, 0.0)
    elif height == LOW:
        y = min(y, 0.0)
    size = math.sqrt(x * x + y * y + z * z)
    part *= min(max((size - ON_TRACK) / (OFF_TRACK - ON_TRACK), 0.0), 1.0)
    if size > FARTHEST:
        part *= FARTHEST / size
    aims.bends[n, limb, 0] = part * x
    aims.bends[n, limb, 1] = part * y
    aims.bends[n, limb, 2] = part * z


@jit(
    "bool(i4[::1], f8[:, ::1], f8[:, ::1], f8[::1], bool[::1], f4[:, :, ::1],"
    " Strikes, Touch, Aims)"
)
def bend_strikes(
    rows: Ints,
    lifted: Doubles,
    places: Doubles,
    headings: Doubles,
    near: Bools,
    tips: Floats,
    strikes: Strikes,
    touch: Touch,
    aims: Aims,
) -> bool:
    """How far limbs that strike are bent; gives whether any is.

    rows: (n,), characters of a kind; lifted: (M + 1, L), which limbs each move strikes
    with; places: (N, 3), headings: (N,), metres and radians; near: (N,), who was near
    somebody in the last tick; tips: (n, L, 3), where ends of limbs are to be.
    """
    is_any = False
    for k in range(len(rows)):
        n = int64(rows[k])
        move, m = int64(strikes.moves[n]), int64(strikes.opponents[n])
        is_attack = move >= 0 and strikes.kinds[move] == ATTACK
        if strikes.started[n] >= 0:
            aims.whom[n] = -1
            if is_attack and m >= 0 and near[n] and near[m]:
                aims.whom[n] = m
                _take_aim(n, m, places, headings, touch, aims)
        part = 0.0
        m = int64(aims.whom[n])
        if is_attack and m >= 0 and near[m]:
            impact = strikes.phases[move, 0]
            region = min(max(impact // PART, 1), MOST)
            if strikes.at[n] < strikes.phases[move, 1]:
                part = (strikes.at[n] - (impact - region)) / region
                part = min(max(part, 0.0), 1.0)
        # In the tick in which it meets, parts are still where it has met them.
        is_kept = strikes.has_met[n] and strikes.outcomes[n] == 0
        for limb in range(tips.shape[1]):
            does_strike = part > 0.0 and lifted[move, limb] > 0.0
            if does_strike and not is_kept:
                h = _find_part(k, n, m, limb, places, headings, tips, touch, aims)
                if h >= 0:
                    height = strikes.heights[move]
                    _bend(n, m, h, limb, part, height, places, headings, touch, aims)
            elif not does_strike:
                size = 0.0
                for row in range(3):
                    aims.bends[n, limb, row] *= RETURN
                    size += abs(aims.bends[n, limb, row])
                if size < LEAST:
                    for row in range(3):
                        aims.bends[n, limb, row] = 0.0
            for row in range(3):
                is_any = is_any or aims.bends[n, limb, row] != 0.0
    return is_any
