"""Which attack each one who parries brings a hand to, and how much of the way."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

from flexor.maths.kernels.functions import cos, sin
from flexor.maths.kernels.jit import inline, jit
from flexor.maths.kernels.numbers import float64, int64
from flexor.scene.stage.layout import ATTACK, PARRY
from flexor.stage.movement.layout import HITTING, START_UP, UP, Meeting

if TYPE_CHECKING:
    from flexor.arrays import Bools, Codes, Doubles, Ints

EARLY = 8.0  # ticks before an attack can hit from which hands come to meet it
FAR = 1.8  # metres: who attacks from farther away is let be


@inline
def share_of(
    kinds: Codes,
    phases: Ints,
    can_be: Bools,
    who: Meeting,
    n: int,
    m: int,
    rest: float,
    ahead: float,
) -> float:
    """How much of the way to an attack of m a hand of n is to go, 0 to 1."""
    dx, dz = who.places[m, 0] - who.places[n, 0], who.places[m, 2] - who.places[n, 2]
    square = dx * dx + dz * dz
    if m == n or square > FAR * FAR:
        return 0.0
    if who.opened[m] == n and who.has_parried[n]:  # it has met: the hand comes back
        left = float64(phases[int64(who.move[n]), 1]) - who.at[n]
        return min(max(left / rest, 0.0), 1.0)
    move = int64(who.move[m])
    if move < 0 or kinds[move] != ATTACK or not can_be[move] or who.has_met[m]:
        return 0.0
    if who.phase[m] != START_UP and who.phase[m] != HITTING:
        return 0.0
    s, c = sin(who.headings[n]), cos(who.headings[n])
    if dx * s + dz * c < ahead * math.sqrt(square):
        return 0.0
    return min(max(1.0 - (float64(phases[move, 0]) - who.at[m]) / EARLY, 0.0), 1.0)


@jit("bool(i1[::1], i4[:, ::1], bool[::1], Meeting, f8, f8, out i4[::1], out f8[::1])")
def find_meeting(
    kinds: Codes,
    phases: Ints,
    can_be: Bools,
    who: Meeting,
    rest: float,
    ahead: float,
    others: Ints,
    shares: Doubles,
) -> bool:
    """Whose attack each who parries meets: others (N,), -1 for nobody's, and shares
    (N,), 0 to 1; gives whether there is any.

    kinds, can_be: (M,), of moves, and whether they can be parried; phases: (M, 4);
    rest: ticks in which a hand comes back; ahead: cosine of the angle to either side
    within which one can be met.
    """
    is_any = False
    for n in range(len(others)):
        others[n], shares[n] = -1, 0.0
        move = int64(who.move[n])
        if move < 0 or kinds[move] != PARRY or who.down[n] != UP:
            continue
        if who.phase[n] != START_UP and who.phase[n] != HITTING:
            continue
        for m in range(len(others)):
            share = share_of(kinds, phases, can_be, who, n, m, rest, ahead)
            if share > shares[n]:
                others[n], shares[n] = m, share
                is_any = True
    return is_any
