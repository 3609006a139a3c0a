"""Functions and products of matrices that have the same bits on every machine.

Those of the C library, of NumPy and of its BLAS differ in the last bit from one machine
to the next: by C library, by processor, by how sums are ordered. What becomes state
(games, stages, poses) is made of these, of plus, minus, times, divided by and of square
roots. Sines, angles and exponentials are within 4 units in the last place.

`sin`, `cos`, ... take one number; `sin_each`, ... take arrays, and give float32 for
float32, else float64. Products of matrices are added up in float64, first to last.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from flexor.arrays import Doubles
from flexor.maths.kernels import exact as _kernels
from flexor.maths.kernels.exact import acos, asin, atan2, cos, exp, sin, tan

__all__ = [
    "acos",
    "acos_each",
    "asin",
    "asin_each",
    "atan2",
    "atan2_each",
    "cos",
    "cos_each",
    "det",
    "dot",
    "exp",
    "hypot",
    "hypot_each",
    "invert",
    "multiply",
    "norm",
    "normal",
    "pseudo_invert",
    "sin",
    "sin_each",
    "solve",
    "svd",
    "tan",
]

TAIL = 3.6541528853610088  # where the table of NumPy's normal numbers ends


def _each(kernel: Callable[..., None], *given: ArrayLike) -> NDArray[Any]:
    """A kernel's values of all numbers."""
    arrays = [np.asarray(one) for one in given]
    shape = arrays[0].shape
    if any(one.shape != shape for one in arrays):
        shape = np.broadcast_shapes(*(one.shape for one in arrays))
        arrays = [np.broadcast_to(one, shape) for one in arrays]
    out = np.empty(shape)
    flat = [np.ascontiguousarray(one, np.float64).reshape(-1) for one in arrays]
    kernel(*flat, out.reshape(-1))
    is_single = all(one.dtype == np.float32 for one in arrays)
    return out.astype(np.float32) if is_single else out


def sin_each(angles: ArrayLike) -> NDArray[Any]:
    """The sine of each angle, radians."""
    return _each(_kernels.sines, angles)


def cos_each(angles: ArrayLike) -> NDArray[Any]:
    """The cosine of each angle, radians."""
    return _each(_kernels.cosines, angles)


def asin_each(sines: ArrayLike) -> NDArray[Any]:
    """The angle of each sine from -1 to 1."""
    return _each(_kernels.arc_sines, sines)


def acos_each(cosines: ArrayLike) -> NDArray[Any]:
    """The angle of each cosine from -1 to 1."""
    return _each(_kernels.arc_cosines, cosines)


def atan2_each(y: ArrayLike, x: ArrayLike) -> NDArray[Any]:
    """The angle of each point (x, y)."""
    return _each(_kernels.arc_tangents, y, x)


def normal(chance: np.random.Generator, spread: float, count: int) -> Doubles:
    """Random numbers (count,) about 0, most of them nearer than `spread`.

    Those of NumPy; but of what is further out than 3.65 spreads, 1 of 3900, it asks the
    C library for logarithms: that is brought back there.
    """
    found: Doubles = spread * np.clip(chance.standard_normal(count), -TAIL, TAIL)
    return found


def dot(one: ArrayLike, other: ArrayLike) -> Any:
    """Sums (...) of the products of vectors (..., K)."""
    return np.add.reduce(np.multiply(one, other), -1)


def norm(vectors: ArrayLike) -> float:
    """The length of one vector, whatever axes it has."""
    given = np.asarray(vectors)
    return math.sqrt(np.add.reduce(given * given, None, np.float64))


def hypot(x: float, y: float) -> float:
    """The length of (x, y)."""
    return math.sqrt(x * x + y * y)


def hypot_each(x: ArrayLike, y: ArrayLike) -> NDArray[Any]:
    """The length of each (x, y)."""
    a, b = np.asarray(x), np.asarray(y)
    lengths: NDArray[Any] = np.sqrt(a * a + b * b)
    return lengths


def multiply(one: ArrayLike, other: ArrayLike) -> Any:
    """Products (..., I, J) of matrices, as `one @ other`; either may be one vector."""
    a, b = np.asarray(one), np.asarray(other)
    is_double = a.dtype == b.dtype == np.float64
    if is_double and a.ndim == b.ndim == 1 and len(a) == len(b):
        return np.add.reduce(a * b)
    lefts = a[None] if a.ndim == 1 else a
    rights = b[:, None] if b.ndim == 1 else b
    if lefts.shape[-1] != rights.shape[-2]:
        raise ValueError(f"products of {a.shape} and {b.shape}")
    shape = lefts.shape[:-2]
    if is_double and a.ndim == b.ndim == 2:
        out = np.empty((len(a), b.shape[1]))
        _kernels.product(np.ascontiguousarray(a), np.ascontiguousarray(b), out)
        return out
    if rights.ndim > 2 and rights.shape[:-2] != shape:
        shape = np.broadcast_shapes(shape, rights.shape[:-2])
    out = np.empty((*shape, lefts.shape[-2], rights.shape[-1]))
    _kernels.products(
        _stacked(lefts, shape),
        _stacked(rights, shape),
        out.reshape(-1, *out.shape[-2:]) if out.size else out[:0].reshape(0, 0, 0),
    )
    if a.ndim == 1:
        out = out[..., 0, :]
    if b.ndim == 1:
        out = out[..., 0]
    if a.dtype == np.float64 or b.dtype == np.float64:
        return out
    return out.astype(np.result_type(a, b))


def _stacked(matrices: NDArray[Any], shape: tuple[int, ...]) -> Doubles:
    """Matrices (N, I, J), one for each place of the shape, or one for all."""
    if matrices.ndim == 2:
        return np.ascontiguousarray(matrices, np.float64)[None]
    ends = matrices.shape[-2:]
    if matrices.shape[:-2] != shape:
        matrices = np.broadcast_to(matrices, (*shape, *ends))
    whole = np.ascontiguousarray(matrices, np.float64)
    return whole.reshape(math.prod(shape), *ends)


def det(matrices: ArrayLike) -> Any:
    """Determinants (...) of matrices (..., 3, 3)."""
    m = np.asarray(matrices)
    (a, b, c), (d, e, f), (g, h, i) = _numbers(m)
    return a * (e * i - f * h) - b * (d * i - f * g) + c * (d * h - e * g)


def _numbers(m: NDArray[Any]) -> list[list[Any]]:
    return [[m[..., row, column] for column in range(3)] for row in range(3)]


def invert(matrices: ArrayLike) -> NDArray[Any]:
    """Inverse matrices (..., 3, 3); LinAlgError where there is none."""
    given = np.asarray(matrices)
    # Large or small as they may be: products of three are neither nothing nor infinite.
    size = np.abs(given).max((-2, -1), initial=0.0).astype(np.float64)
    if (size == 0).any():
        raise np.linalg.LinAlgError("a matrix has no inverse")
    m = given / size[..., None, None]
    (a, b, c), (d, e, f), (g, h, i) = _numbers(m)
    first, second, third = e * i - f * h, f * g - d * i, d * h - e * g
    whole = a * first + b * second + c * third
    if (whole == 0).any():
        raise np.linalg.LinAlgError("a matrix has no inverse")
    out = np.empty(m.shape)
    out[..., 0, 0], out[..., 1, 0], out[..., 2, 0] = first, second, third
    out[..., 0, 1] = c * h - b * i
    out[..., 1, 1] = a * i - c * g
    out[..., 2, 1] = b * g - a * h
    out[..., 0, 2] = b * f - c * e
    out[..., 1, 2] = c * d - a * f
    out[..., 2, 2] = a * e - b * d
    out /= whole[..., None, None]
    out /= size[..., None, None]
    return out.astype(np.float32) if given.dtype == np.float32 else out


def svd(matrices: ArrayLike) -> tuple[Doubles, Doubles, Doubles]:
    """Matrices (..., 3, 3) as left * sizes * right: turns, sizes (..., 3) from the
    largest to the least, turns, as `np.linalg.svd` has them.
    """
    given = np.asarray(matrices, np.float64)
    largest = np.abs(given).max((-2, -1), initial=0.0)
    unit = np.where(largest > 0, largest, 1.0)[..., None]
    left = np.ascontiguousarray(given / unit[..., None]).reshape(-1, 3, 3)
    sizes, right = np.empty((len(left), 3)), np.empty(left.shape)
    _kernels.stretches(left, sizes, right)
    return (
        left.reshape(given.shape),
        sizes.reshape(given.shape[:-1]) * unit,
        np.swapaxes(right, 1, 2).reshape(given.shape),
    )


def pseudo_invert(matrices: ArrayLike) -> Doubles:
    """Inverses of matrices (..., 3, 3) in what they do not flatten, nothing in the
    rest; LinAlgError for what is no number.
    """
    given = np.asarray(matrices, np.float64)
    if not np.isfinite(given).all():
        raise np.linalg.LinAlgError("a matrix that is no number")
    left, sizes, right = svd(given)
    is_some = sizes > 1e-15 * sizes[..., :1]
    parts = np.where(is_some, 1 / np.where(is_some, sizes, 1), 0.0)
    back = np.swapaxes(right, -1, -2) * parts[..., None, :]
    found: Doubles = multiply(back, np.swapaxes(left, -1, -2))
    return found


def solve(matrix: ArrayLike, values: ArrayLike) -> Doubles:
    """What the matrix (K, K) takes to values (K, M), by elimination."""
    left, right = np.array(matrix, np.float64), np.array(values, np.float64)
    count = len(left)
    for k in range(count):
        best = k + int(np.argmax(np.abs(left[k:, k])))
        if left[best, k] == 0:
            raise np.linalg.LinAlgError("a matrix has no inverse")
        left[[k, best]], right[[k, best]] = left[[best, k]], right[[best, k]]
        parts = left[k + 1 :, k, None] / left[k, k]
        left[k + 1 :] -= parts * left[k]
        right[k + 1 :] -= parts * right[k]
    for k in reversed(range(count)):
        for row in range(k + 1, count):
            right[k] -= left[k, row] * right[row]
        right[k] /= left[k, k]
    return right
