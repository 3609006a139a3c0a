"""Numbers of a given size. To the type checker they are plain numbers of Python, which
is how kernels use them.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

__all__ = ["float32", "float64", "int32", "int64", "uint32", "uint64"]

if TYPE_CHECKING:
    int32 = int64 = uint32 = uint64 = int
    float32 = float64 = float
else:
    from numpy import float32, float64, int32, int64, uint32, uint64
