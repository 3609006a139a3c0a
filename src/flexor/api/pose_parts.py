"""Local transforms of a caller: what may be a pose, and how many."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
from numpy.typing import ArrayLike

from flexor.arrays import Floats
from flexor.errors import ShapeError

__all__ = ["check_parts"]


def check_parts(
    parts: Mapping[str, tuple[ArrayLike | None, Floats]],
) -> tuple[dict[str, Floats], int | None]:
    """The arrays of a pose by name, and how many poses they are; None: one, without an
    axis for it.

    parts: by name what the caller gave, None for nothing, and what holds at rest.
    """
    given: dict[str, Floats] = {}
    count: int | None = None
    for name, (value, at_rest) in parts.items():
        try:
            array = np.asarray(at_rest if value is None else value, np.float32)
        except (TypeError, ValueError) as error:
            raise ShapeError(f"{name}: {error}") from None
        if array.shape[array.ndim - at_rest.ndim :] != at_rest.shape or not (
            0 <= array.ndim - at_rest.ndim <= 1
        ):
            shape = ", ".join(str(n) for n in at_rest.shape)
            raise ShapeError(
                f"{name}: shape {array.shape}, expected ({shape}) or (N, {shape})"
            )
        if array.ndim > at_rest.ndim:
            if count not in (None, len(array)):
                raise ShapeError(f"{name}: {len(array)} poses, others have {count}")
            count = len(array)
        if not np.isfinite(array).all():
            raise ShapeError(f"{name}: must be finite")
        if name == "rotations" and value is not None:
            _check_unit(array)
        given[name] = array
    return given, count


def _check_unit(rotations: Floats) -> None:
    """Refuse rotations (..., J, 4) that are no unit quaternions, give or take 1 %."""
    off = np.abs(np.linalg.norm(rotations, axis=-1) - 1)
    if off.size and off.max() > 0.01:
        node = int(np.argmax(off) % rotations.shape[-2])
        length = np.linalg.norm(rotations.reshape(-1, 4)[np.argmax(off)])
        raise ShapeError(
            f"rotations: must be unit quaternions (x, y, z, w); at node {node} the "
            f"length is {length:.3g}"
        )
