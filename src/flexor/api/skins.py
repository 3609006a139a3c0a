"""Deformed skins as programs get them, and the words for how they are made."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Literal, get_args

from flexor.arrays import Floats
from flexor.errors import SettingError

__all__ = ["Method", "SkinnedPrimitive", "Weights", "check_method", "check_weights"]

Method = Literal["linear", "dual"]
Weights = Literal["multi", "one"]


@dataclass(frozen=True, slots=True, eq=False)
class SkinnedPrimitive:
    """A deformed primitive in world space, vertices in the file's order.

    node, primitive: where it stands in the file; positions: float32 (V, 3), metres;
    normals: float32 (V, 3), unit. From `deform_many` both have an axis N in front.
    """

    node: int
    primitive: int
    positions: Floats
    normals: Floats


def check_method(method: Any) -> None:
    """Refuse a word that is not one of `Method`."""
    known = get_args(Method)
    if not isinstance(method, str) or method not in known:
        raise SettingError(f"method: {method!r}, expected one of {known}")


def check_weights(weights: Any) -> None:
    """Refuse a word that is not one of `Weights`."""
    known = get_args(Weights)
    if not isinstance(weights, str) or weights not in known:
        raise SettingError(f"weights: {weights!r}, expected one of {known}")
