"""Eight points, or rows of matrices, from lanes to memory where they lie one by one.

Lanes hold one coordinate of eight things; arrays mostly hold all coordinates of one
thing and then of the next. Nothing here checks bounds; with NUMBA_DISABLE_JIT=1 the
same names work on NumPy arrays, and do.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from flexor.maths.kernels.lanes import window
from flexor.maths.machine.mode import mode

__all__ = ["points8", "rows8", "scatter8"]


def rows8(array: Any, at: Any, a: Any, b: Any, c: Any, d: Any) -> None:
    """Eight rows of four numbers, each row twelve numbers after the one before."""
    for lane in range(8):
        row = (a[lane], b[lane], c[lane], d[lane])
        window(array, at + 12 * lane, 4)[:] = row


def points8(array: Any, at: Any, x: Any, y: Any, z: Any) -> None:
    """Eight points one behind the other, three numbers each."""
    window(array, at, 24)[:] = np.stack([x, y, z], 1).ravel()


def scatter8(array: Any, rows: Any, at: Any, x: Any, y: Any, z: Any) -> None:
    """Put eight points into the rows of an array (V * 3,) that a table names."""
    places = window(rows, at, 8)
    array.reshape(-1, 3)[places] = np.stack([x, y, z], 1)


if mode.compiler is not None:  # machine code instead
    from flexor.maths.machine.llvm import points as _code

    globals().update({name: getattr(_code, name) for name in __all__})
