"""Sine, arc tangent, cube root, exponential and their like: the same bits everywhere.

Those of C libraries differ in the last bit from one to the next, and so would replays.
All take and give float64. Within 4 units in the last place of the exact value; angles
beyond a million radians are first brought into one turn, which loses what their last
bit is worth.
"""

from __future__ import annotations

import math

import numpy as np

from flexor.arrays import Real
from flexor.maths.kernels.jit import inline

__all__ = ["acos", "asin", "atan2", "cbrt", "cos", "exp", "sin", "tan"]

# A quarter turn in three parts. The first two have 33 bits, so that so many quarters
# times one of them are exact.
QUARTER, QUARTER_MORE, QUARTER_LAST = (
    1.5707963267341256,
    6.077100506303966e-11,
    2.0222662487959506e-21,
)
QUARTERS = 0.6366197723675814  # in a radian
FAR = 1e6
TURN = 6.283185307179586
# Arc tangents of 0, 1/8, 2/8, ... 1.
ATAN0, ATAN1, ATAN2, ATAN3 = (
    0.0,
    0.12435499454676144,
    0.24497866312686414,
    0.35877067027057225,
)
ATAN4, ATAN5, ATAN6, ATAN7 = (
    0.4636476090008061,
    0.5585993153435624,
    0.6435011087932844,
    0.7188299996216245,
)
ATAN8 = 0.7853981633974483
HALF_TURN_LAST = 1.2246467991473532e-16  # what float64 leaves of half a turn
# The logarithm of two in two parts. The first has 32 bits.
LOG_TWO, LOG_TWO_LAST = 0.6931471803691238, 1.9082149292705877e-10
DOUBLINGS = 1.4426950408889634  # in what makes a number e times as large
MOST_EXP, LEAST_EXP = 709.782712893384, -745.2


@inline
def _rest(x: Real) -> tuple[Real, int]:
    """An angle less its whole quarter turns, and their number, 0 to 3."""
    angle = np.float64(x)
    if not abs(angle) < FAR:
        if not abs(angle) < math.inf:
            return np.float64(math.nan), 0
        angle = angle % TURN
    count = math.floor(angle * QUARTERS + 0.5)
    angle = angle - count * QUARTER
    angle = angle - count * QUARTER_MORE
    return angle - count * QUARTER_LAST, count & 3


@inline
def _near_sin(x: Real) -> Real:
    """Of an eighth of a turn or less: the series, to the 17th power."""
    s = x * x
    more = 1 / 355687428096000.0 * s - 1 / 1307674368000.0
    more = more * s + 1 / 6227020800.0
    more = more * s - 1 / 39916800.0
    more = more * s + 1 / 362880.0
    more = more * s - 1 / 5040.0
    more = more * s + 1 / 120.0
    more = more * s - 1 / 6.0
    return x + x * s * more


@inline
def _near_cos(x: Real) -> Real:
    """Of an eighth of a turn or less: the series, to the 18th power."""
    s = x * x
    more = 1 / 20922789888000.0 - 1 / 6402373705728000.0 * s
    more = more * s - 1 / 87178291200.0
    more = more * s + 1 / 479001600.0
    more = more * s - 1 / 3628800.0
    more = more * s + 1 / 40320.0
    more = more * s - 1 / 720.0
    more = more * s + 1 / 24.0
    half = 0.5 * s
    first = 1.0 - half
    # What was lost of a half in the subtraction comes back.
    return first + ((1.0 - first) - half + s * s * more)


@inline
def sin(x: Real) -> Real:
    """The sine of an angle in radians; NaN of infinity."""
    rest, quarter = _rest(x)
    value = _near_cos(rest) if quarter & 1 else _near_sin(rest)
    return -value if quarter & 2 else value


@inline
def cos(x: Real) -> Real:
    """The cosine of an angle in radians; NaN of infinity."""
    rest, quarter = _rest(x)
    value = _near_sin(rest) if quarter & 1 else _near_cos(rest)
    return -value if quarter in (1, 2) else value


@inline
def tan(x: Real) -> Real:
    """The tangent of an angle in radians; NaN of infinity."""
    rest, quarter = _rest(x)
    sine, cosine = _near_sin(rest), _near_cos(rest)
    return -cosine / sine if quarter & 1 else sine / cosine


@inline
def _near_tangent(t: Real) -> Real:
    """The arc tangent of 0 to 1: from the nearest of nine that are known."""
    place = math.floor(t * 8.0 + 0.5)
    known = place * 0.125
    x = (t - known) / (1.0 + t * known)
    s = x * x
    more = 1 / 13.0 - 1 / 15.0 * s
    more = more * s - 1 / 11.0
    more = more * s + 1 / 9.0
    more = more * s - 1 / 7.0
    more = more * s + 1 / 5.0
    more = more * s - 1 / 3.0
    angle = x + x * s * more
    if place < 4:
        if place < 2:
            return angle + (ATAN0 if place < 1 else ATAN1)
        return angle + (ATAN2 if place < 3 else ATAN3)
    if place < 6:
        return angle + (ATAN4 if place < 5 else ATAN5)
    if place < 8:
        return angle + (ATAN6 if place < 7 else ATAN7)
    return angle + ATAN8


@inline
def atan2(y: Real, x: Real) -> Real:
    """The angle of the point (x, y), radians from -pi to pi, as `math.atan2`."""
    a, b = np.float64(abs(x)), np.float64(abs(y))
    if a != a or b != b:
        return a + b
    if a == 0 and b == 0:
        angle = 0.0
    elif a == b:  # also of two infinities
        angle = ATAN8
    elif b < a:
        angle = _near_tangent(b / a)
    else:
        angle = math.pi / 2 - (_near_tangent(a / b) - HALF_TURN_LAST / 2)
    if x < 0 or (b == 0 and math.copysign(1.0, x) < 0):
        angle = math.pi - (angle - HALF_TURN_LAST)
    return math.copysign(angle, y)


@inline
def acos(x: Real) -> Real:
    """The angle of a cosine from -1 to 1, radians from 0 to pi."""
    return atan2(math.sqrt((1.0 - x) * (1.0 + x)), x)


@inline
def asin(x: Real) -> Real:
    """The angle of a sine from -1 to 1, radians from -pi / 2 to pi / 2."""
    return atan2(x, math.sqrt((1.0 - x) * (1.0 + x)))


@inline
def _power_of_two(count: int) -> Real:
    """Of a whole number from -1022 to 1023: exact."""
    left, base, power = abs(count), 2.0 if count > 0 else 0.5, 1.0
    while left > 0:
        if left & 1:
            power = power * base
        left = left >> 1
        if left > 0:
            base = base * base
    return power


@inline
def exp(x: Real) -> Real:
    """The exponential: 0 of what is too small, infinity of too large."""
    value = np.float64(x)
    if value != value:
        return value
    if value > MOST_EXP:
        return np.float64(math.inf)
    if value < LEAST_EXP:
        return np.float64(0.0)
    count = math.floor(value * DOUBLINGS + 0.5)
    rest = value - count * LOG_TWO
    rest = rest - count * LOG_TWO_LAST
    more = 1 / 6227020800.0 * rest + 1 / 479001600.0
    more = more * rest + 1 / 39916800.0
    more = more * rest + 1 / 3628800.0
    more = more * rest + 1 / 362880.0
    more = more * rest + 1 / 40320.0
    more = more * rest + 1 / 5040.0
    more = more * rest + 1 / 720.0
    more = more * rest + 1 / 120.0
    more = more * rest + 1 / 24.0
    more = more * rest + 1 / 6.0
    more = more * rest + 0.5
    power = 1.0 + (rest + rest * rest * more)
    half = count >> 1  # in two steps: a factor beyond all float64 is none
    return power * _power_of_two(half) * _power_of_two(count - half)


@inline
def cbrt(x: Real) -> Real:
    """The cube root of a number that is not negative; 0 of less, infinity of it."""
    left, scale = np.float64(x), 1.0
    if not left > 0.0:
        return left * 0.0
    if left == math.inf:
        return left
    while left >= 8.0:
        left, scale = left * 0.125, scale * 2.0
    while left < 1.0:
        left, scale = left * 8.0, scale * 0.5
    root = 0.6 + 0.2 * left
    for _ in range(6):
        root = root - (root - left / (root * root)) / 3.0
    return root * scale
