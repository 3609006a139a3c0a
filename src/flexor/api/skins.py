"""Deformed skins as programs get them, and the words for how they are made."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal, get_args

import numpy as np

from flexor.arrays import Floats
from flexor.errors import SettingError

if TYPE_CHECKING:
    from flexor.deform.bind import Bind

__all__ = [
    "Method",
    "SkinnedPrimitive",
    "Weights",
    "check_method",
    "check_weights",
    "room_for",
    "skin_dual",
    "skin_linear",
]

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


def room_for(
    binds: Sequence[Bind], many: tuple[int, ...] = ()
) -> list[SkinnedPrimitive]:
    """New arrays for skins: (V, 3), or with axes in front."""
    return [
        SkinnedPrimitive(
            bind.node,
            bind.primitive,
            np.empty((*many, bind.vertex_count, 3), np.float32),
            np.empty((*many, bind.vertex_count, 3), np.float32),
        )
        for bind in binds
    ]


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


def skin_linear(
    bind: Bind, world: Floats, weights: Floats, positions: Floats, normals: Floats
) -> None:
    """Skin a primitive at N poses by matrices; world: (N, J, 3, 4); weights: (N, M)."""
    from flexor.deform.vertices import init_skin, skin_vertices

    state = init_skin(bind, len(world))
    skin_vertices(state, world, weights, positions=positions, normals=normals)


def skin_dual(
    bind: Bind, world: Floats, weights: Floats, positions: Floats, normals: Floats
) -> None:
    """The same by dual quaternions."""
    from flexor.deform.dual import init_dual, skin_vertices_dual

    state = init_dual(bind, len(world))
    skin_vertices_dual(state, world, weights, positions=positions, normals=normals)
