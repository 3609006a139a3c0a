"""Make frozen values without their checks.

For readers that have checked all of a file at once: one look at a large array takes as
long as one at a small one, and a file has thousands of small ones.
"""

from __future__ import annotations

from typing import Any, TypeVar

__all__ = ["filled"]

Asset = TypeVar("Asset")


def filled(kind: type[Asset], *values: Any) -> Asset:
    """A frozen dataclass with slots, its fields in their order."""
    made = object.__new__(kind)
    put = object.__setattr__
    for name, value in zip(kind.__slots__, values, strict=True):  # type: ignore[attr-defined]
        put(made, name, value)
    return made
