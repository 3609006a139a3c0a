"""Functions of our own for Python code: of one number, of each of many; products of
matrices, and what turns and stretches they are made of.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

from flexor.maths.kernels import functions
from flexor.maths.kernels.jit import jit, part

if TYPE_CHECKING:
    from flexor.arrays import Doubles

SWEEPS = 30  # far more than any matrix needs


@jit("f8(f8)")
def sin(x: float) -> float:
    """The sine of an angle in radians."""
    return functions.sin(x)


@jit("f8(f8)")
def cos(x: float) -> float:
    """The cosine of an angle in radians."""
    return functions.cos(x)


@jit("f8(f8)")
def tan(x: float) -> float:
    """The tangent of an angle in radians."""
    return functions.tan(x)


@jit("f8(f8)")
def asin(x: float) -> float:
    """The angle of a sine from -1 to 1."""
    return functions.asin(x)


@jit("f8(f8)")
def acos(x: float) -> float:
    """The angle of a cosine from -1 to 1."""
    return functions.acos(x)


@jit("f8(f8, f8)")
def atan2(y: float, x: float) -> float:
    """The angle of the point (x, y)."""
    return functions.atan2(y, x)


@jit("f8(f8)")
def exp(x: float) -> float:
    """The exponential of a number."""
    return functions.exp(x)


@jit("void(f8[::1], out f8[::1])")
def sines(x: Doubles, out: Doubles) -> None:
    """The sine of each angle."""
    for i in range(len(x)):
        out[i] = functions.sin(x[i])


@jit("void(f8[::1], out f8[::1])")
def cosines(x: Doubles, out: Doubles) -> None:
    """The cosine of each angle."""
    for i in range(len(x)):
        out[i] = functions.cos(x[i])


@jit("void(f8[::1], out f8[::1])")
def arc_sines(x: Doubles, out: Doubles) -> None:
    """The angle of each sine."""
    for i in range(len(x)):
        out[i] = functions.asin(x[i])


@jit("void(f8[::1], out f8[::1])")
def arc_cosines(x: Doubles, out: Doubles) -> None:
    """The angle of each cosine."""
    for i in range(len(x)):
        out[i] = functions.acos(x[i])


@jit("void(f8[::1], f8[::1], out f8[::1])")
def arc_tangents(y: Doubles, x: Doubles, out: Doubles) -> None:
    """The angle of each point (x, y)."""
    for i in range(len(x)):
        out[i] = functions.atan2(y[i], x[i])


@jit("void(f8[:, ::1], f8[:, ::1], out f8[:, ::1])")
def product(a: Doubles, b: Doubles, out: Doubles) -> None:
    """The product (I, J) of two matrices (I, K) and (K, J)."""
    for i in range(out.shape[0]):
        for j in range(out.shape[1]):
            total = 0.0
            for k in range(a.shape[1]):
                total = total + a[i, k] * b[k, j]
            out[i, j] = total


@jit("void(f8[:, :, ::1], f8[:, :, ::1], out f8[:, :, ::1])")
def products(a: Doubles, b: Doubles, out: Doubles) -> None:
    """Products (N, I, J) of matrices (N or 1, I, K) and (N or 1, K, J)."""
    for n in range(len(out)):
        at, by = (n if len(a) > 1 else 0), (n if len(b) > 1 else 0)
        for i in range(out.shape[1]):
            for j in range(out.shape[2]):
                total = 0.0
                for k in range(a.shape[2]):
                    total = total + a[at, i, k] * b[by, k, j]
                out[n, i, j] = total


@part
def _square_up(left: Doubles, right: Doubles, p: int, q: int) -> bool:
    """Turn two columns so that they are square to each other; whether they were not."""
    a, b, c = 0.0, 0.0, 0.0
    for k in range(3):
        a += left[k, p] * left[k, p]
        b += left[k, q] * left[k, q]
        c += left[k, p] * left[k, q]
    if not abs(c) > 1e-17 * math.sqrt(a) * math.sqrt(b):
        return False
    slant = (b - a) / (2.0 * c)
    t = 1.0 / (abs(slant) + math.sqrt(1.0 + slant * slant))
    if slant < 0:
        t = -t
    cosine = 1.0 / math.sqrt(1.0 + t * t)
    sine = cosine * t
    for k in range(3):
        x, y = left[k, p], left[k, q]
        left[k, p], left[k, q] = cosine * x - sine * y, sine * x + cosine * y
        x, y = right[k, p], right[k, q]
        right[k, p], right[k, q] = cosine * x - sine * y, sine * x + cosine * y
    return abs(c) > 1e-15 * math.sqrt(a) * math.sqrt(b)


@part
def _swap(left: Doubles, right: Doubles, p: int, q: int) -> None:
    """Columns p and q, one for the other."""
    for k in range(3):
        left[k, p], left[k, q] = left[k, q], left[k, p]
        right[k, p], right[k, q] = right[k, q], right[k, p]


@part
def _fill(left: Doubles, sizes: Doubles, column: int) -> None:
    """A unit column square to those before it, where there is nothing to divide."""
    sizes[column] = 0.0
    if column == 0:
        left[0, 0], left[1, 0], left[2, 0] = 1.0, 0.0, 0.0
        return
    if column == 1:
        least = 0
        for k in range(1, 3):
            if abs(left[k, 0]) < abs(left[least, 0]):
                least = k
        length = 0.0
        for k in range(3):
            left[k, 1] = (1.0 if k == least else 0.0) - left[least, 0] * left[k, 0]
            length += left[k, 1] * left[k, 1]
        length = math.sqrt(length)
        for k in range(3):
            left[k, 1] /= length
        return
    for k in range(3):
        i, j = (k + 1) % 3, (k + 2) % 3
        left[k, 2] = left[i, 0] * left[j, 1] - left[j, 0] * left[i, 1]


@part
def _take_apart(left: Doubles, sizes: Doubles, right: Doubles) -> None:
    """One matrix, in `left` (3, 3): see `stretches`."""
    for i in range(3):
        for j in range(3):
            right[i, j] = 1.0 if i == j else 0.0
    for _ in range(SWEEPS):
        is_off = _square_up(left, right, 0, 1)
        is_off |= _square_up(left, right, 0, 2)
        is_off |= _square_up(left, right, 1, 2)
        if not is_off:
            break
    for column in range(3):
        sizes[column] = 0.0
        for k in range(3):
            sizes[column] += left[k, column] * left[k, column]
    for p, q in ((0, 1), (1, 2), (0, 1)):
        if sizes[p] < sizes[q]:
            sizes[p], sizes[q] = sizes[q], sizes[p]
            _swap(left, right, p, q)
    for column in range(3):
        sizes[column] = math.sqrt(sizes[column])
        if sizes[column] > 1e-16 * sizes[0]:
            for k in range(3):
                left[k, column] /= sizes[column]
        else:
            _fill(left, sizes, column)


@jit("void(out f8[:, :, ::1], out f8[:, ::1], out f8[:, :, ::1])")
def stretches(left: Doubles, sizes: Doubles, right: Doubles) -> None:
    """Take matrices (N, 3, 3), given in `left`, apart: left * sizes * right transposed.

    By turning columns until all are square to each other (Jacobi); largest size first.
    """
    for n in range(len(left)):
        _take_apart(left[n], sizes[n], right[n])
