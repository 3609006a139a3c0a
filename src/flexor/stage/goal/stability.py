"""Which coefficients are stable at the rate of a net, and at that of balls.

Of a node that swings with w radians a second and is slowed by c in a second, one step
is a matrix with trace 2 - (1 + k14) h^2 - c t and determinant 1 - c t - k14 h^2, where
h = w t. Its powers stay bounded if (1 + 2 k14) h^2 + 2 c t < 4. The fastest swing of a
net is at most that of the same net with all strings taut and as stiff across as along.
Strings that become slack and taut again feed it, so h is kept below 1 beside that;
and air slows the fastest node by k13 * fastest / mass. A ball at the depth d in a sheet
swings with w^2 = 2 k1 d and is slowed by k2 d^2, or by k3 d^2 along the sheet; where
three faces meet, by one k2 and two k3.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any, cast

import numpy as np

from flexor.arrays import Doubles, Longs
from flexor.errors import SettingError
from flexor.maths import exact
from flexor.stage.goal.layout import FIXED, SPRUNG
from flexor.stage.goal.plan import NetSettings, Push
from flexor.stage.goal.sheet import Sheet

__all__ = ["check_push", "check_stable", "fastest_swing", "strain", "suit_net"]

BOUND = 4.0
SAFE = 3.9  # of what is chosen here
NEAR = 1e-3  # how close a largest value is found, in parts of it
MOST_STEPS = 1000  # of Lanczos; a net takes a hundred


def fastest_swing(sheet: Sheet, settings: NetSettings) -> float:
    """The square of the highest frequency, 1 / seconds squared: a bound from above."""
    free = np.flatnonzero(sheet.holds != FIXED)
    if not len(free):
        return 0.0
    rows = np.full(len(sheet.holds), -1)
    rows[free] = np.arange(len(free))
    stiff = settings.k11 / sheet.lengths
    a, b = rows[sheet.strings[:, 0]], rows[sheet.strings[:, 1]]
    diagonal = np.where(sheet.holds[free] == SPRUNG, settings.k12, 0.0)
    for end in (a, b):
        np.add.at(diagonal, end[end >= 0], stiff[end >= 0])
    both = (a >= 0) & (b >= 0)
    largest = _largest_value(diagonal, a[both], b[both], stiff[both])
    return max(largest, 0.0) / settings.mass


def _largest_value(diagonal: Doubles, a: Longs, b: Longs, stiff: Doubles) -> float:
    """The largest eigenvalue of the matrix (n, n) with this diagonal, and less `stiff`
    in rows a, columns b and the other way round: by Lanczos (1950).

    Not by a library: which k11 is stable is state, and must be the same everywhere.
    """
    count = len(diagonal)
    # Any start will do, but the same each time: same input, same bits.
    now = exact.cos_each(np.arange(count) * 2.0)
    now, before, beta = now / exact.norm(now), np.zeros(count), 0.0
    along: list[float] = []
    beside: list[float] = []
    found = 0.0
    for step in range(1, MOST_STEPS + 1):
        new = diagonal * now - beta * before
        new -= np.bincount(a, stiff * now[b], count)
        new -= np.bincount(b, stiff * now[a], count)
        along.append(float(exact.dot(now, new)))
        new -= along[-1] * now
        beta = exact.norm(new)
        is_last = beta <= 1e-12 * max(map(abs, along))
        if is_last or step % 10 == 0:
            last, found = found, _top(along, beside)
            if is_last or abs(found - last) <= 1e-8 * found:
                break
        beside.append(beta)
        before, now = now, new / beta
    return found


def _top(along: list[float], beside: list[float]) -> float:
    """The largest eigenvalue of a matrix with this diagonal and this beside it."""
    sides = [0.0, *beside[: len(along) - 1], 0.0]
    low = max(along)
    high = max(own + sides[k] + sides[k + 1] for k, own in enumerate(along))
    while high - low > 1e-13 * max(abs(high), abs(low)):
        middle, pivot = (low + high) / 2, 1.0
        for own, side in zip(along, sides, strict=False):
            pivot = own - middle - side * side / pivot
            if pivot >= 0:  # some value is larger
                break
        low, high = (middle, high) if pivot >= 0 else (low, middle)
    return high


def strain(sheet: Sheet, settings: NetSettings) -> float:
    """What must be below 4 for a net to be stable."""
    t = 1 / settings.rate
    calm = settings.k13 * settings.fastest / settings.mass
    swing = fastest_swing(sheet, settings) * t * t
    return max((1 + 2 * settings.k14) * swing + 2 * calm * t, BOUND * swing)


def check_stable(sheet: Sheet, settings: NetSettings) -> None:
    """Refuse coefficients with which the net would fly apart; say what would not."""
    if strain(sheet, settings) < BOUND:
        return
    words = []
    for name in ("k11", "k12", "k13"):
        largest = _largest(sheet, settings, name)
        if largest is not None and getattr(settings, name) > 0:
            words.append(f"{name} at most {_below(largest):.4g}")
    raise SettingError(
        f"net: unstable at {settings.rate} steps a second with k11 = {settings.k11:g}, "
        f"k12 = {settings.k12:g}, k13 = {settings.k13:g}; "
        + _advice(words, "more mass")
    )


def check_push(name: str, push: Push, depth: float, rate: int) -> None:
    """Refuse a push that would throw balls about at the greatest depth, metres."""
    t = 1 / rate
    swing, slow = 2 * depth * t * t, 2 * depth * depth * t
    slowest = max(push.k2a, push.k2b)
    have = swing * push.k1 + slow * (slowest + 2 * push.k3)
    if have < BOUND:
        return
    left = (BOUND - swing * push.k1) / slow  # for k2 + 2 k3
    most = (
        ("k1", push.k1, (BOUND - slow * (slowest + 2 * push.k3)) / swing),
        ("k2a and k2b", slowest, left - 2 * push.k3),
        ("k3", push.k3, (left - slowest) / 2),
    )
    words = [
        f"{key} at most {_below(value):.4g}"
        for key, own, value in most
        if 0 < value < own
    ]
    raise SettingError(
        f"{name}: unstable at {rate} steps a second and a depth of {depth:g} m; "
        + _advice(words, "a smaller limit")
    )


def _advice(words: list[str], other: str) -> str:
    """What would be stable."""
    if not words:
        return f"no one coefficient is enough: try a higher rate or {other}"
    return f"stable would be, with the others as they are, {' or '.join(words)}"


def _below(value: float) -> float:
    """A little less, so that what four digits say is still stable."""
    return value * (1 - NEAR)


def suit_net(sheet: Sheet) -> NetSettings:
    """The usual settings, with weaker strings where those would not be stable."""
    usual = NetSettings()
    if strain(sheet, usual) <= SAFE:
        return usual
    k11 = _largest(sheet, usual, "k11", SAFE)
    if k11 is None:
        raise SettingError("net: no strings are stable here; say net=NetSettings(...)")
    return replace(usual, k11=k11)


def _largest(
    sheet: Sheet, settings: NetSettings, name: str, bound: float = BOUND
) -> float | None:
    """The largest stable value of one coefficient, the others as they are; None if
    there is none.
    """

    def measure(value: float) -> float:
        return strain(sheet, replace(settings, **cast(Any, {name: value})))

    low, high = 0.0, getattr(settings, name)
    if measure(low) >= bound:
        return None
    while high - low > NEAR * high:
        middle = (low + high) / 2
        low, high = (middle, high) if measure(middle) < bound else (low, middle)
    return low
