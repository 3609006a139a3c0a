"""Bits at any place of an array of bytes."""

from __future__ import annotations

from typing import Any

import numpy as np

from flexor.maths.machine.mode import mode

__all__ = ["load_bytes"]


def load_bytes(array: Any, at: Any) -> Any:
    """Eight bytes from `at` on as one number, the first being the lowest."""
    assert 0 <= at <= len(array) - 8
    return np.int64(int.from_bytes(array[at : at + 8].tobytes(), "little", signed=True))


if mode.compiler is not None:  # machine code instead
    from flexor.maths.machine.llvm import bits as _code

    globals().update({name: getattr(_code, name) for name in __all__})
