"""Layers of a player, and masks: which joints a layer moves, by patterns of names."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from fnmatch import fnmatchcase
from typing import Any, Literal, get_args

import numpy as np

from flexor.arrays import Floats
from flexor.errors import SettingError, ShapeError
from flexor.scene.character.skeleton import Skeleton

__all__ = ["Layer", "Mask", "Reference", "layer_mask", "mask_nodes"]

Reference = Literal["first", "rest"]
Mask = str | Sequence[str] | Mapping[str, float] | Floats | None


@dataclass(frozen=True, slots=True, eq=False)
class Layer:
    """One layer of a player; each lies over those before it.

    name: what `play` calls it; mask: how much of each joint it moves: patterns of node
    names (with all that hangs below them, see `mask_nodes`), weights by pattern, or an
    array (J,) from 0 to 1; None: all of it; weight: of the whole layer, 0 to 1, to
    start with; additive: add what its clips differ from a reference, to what is below,
    instead of covering it; reference: "first", each clip's own first frame, or "rest",
    the rest pose.
    """

    name: str
    mask: Mask = None
    weight: float = 1.0
    additive: bool = False
    reference: Reference = "first"

    def __post_init__(self) -> None:
        if not isinstance(self.name, str) or not self.name:
            raise SettingError(f"layer: name {self.name!r}, expected a text")
        check_weight(self.weight, f"layer {self.name!r}: weight")
        if not isinstance(self.additive, bool | np.bool_):
            raise SettingError(
                f"layer {self.name!r}: additive {self.additive!r}, expected True or "
                "False"
            )
        known = get_args(Reference)
        if not isinstance(self.reference, str) or self.reference not in known:
            raise SettingError(
                f"layer {self.name!r}: reference {self.reference!r}, expected one of "
                f"{known}"
            )


def check_weight(weight: Any, name: str) -> None:
    """Refuse what is no number from 0 to 1."""
    is_number = isinstance(weight, int | float | np.floating | np.integer)
    if not (is_number and 0 <= weight <= 1):  # also where it is NaN
        raise SettingError(f"{name}: {weight!r}, expected a number from 0 to 1")


def mask_nodes(
    skeleton: Skeleton, *patterns: str | Mapping[str, float], below: bool = True
) -> Floats:
    """Weights of nodes by patterns of their names: float32 (J,), 0 where none fits.

    patterns: such as "spine*", or weights by pattern, {"spine*": 0.5, "head": 1}; `*`
    and `?` stand for letters; a later pattern overrides earlier ones, so that {"arm*":
    1, "*hand": 0} leaves hands out; below: whether all nodes below one that fits take
    its weight too. The mask of all others is `1 - mask`; the sum of both is exactly 1.
    """
    mask = np.zeros(len(skeleton), np.float32)
    if not patterns:
        raise SettingError("mask: no pattern given")
    for given in patterns:
        wanted = {given: 1.0} if isinstance(given, str) else given
        if not isinstance(wanted, Mapping):
            raise SettingError(f"mask: {given!r}, expected a pattern or weights by it")
        for pattern, weight in wanted.items():
            if not isinstance(pattern, str):
                raise SettingError(f"mask: {pattern!r}, expected a pattern of names")
            check_weight(weight, f"mask {pattern!r}")
            mask[_fitting(skeleton, pattern, below)] = weight
    return mask


def _fitting(skeleton: Skeleton, pattern: str, below: bool) -> Any:
    """Which nodes a pattern names: bool (J,)."""
    fits = np.array([fnmatchcase(name, pattern) for name in skeleton.names], bool)
    if not fits.any():
        some = ", ".join(repr(name) for name in skeleton.names[:40])
        more = f" and {len(skeleton) - 40} more" if len(skeleton) > 40 else ""
        raise SettingError(
            f"mask: no node fits {pattern!r}; there are: {some or 'none'}{more}"
        )
    if below:
        for node in skeleton.order:
            parent = skeleton.parents[node]
            fits[node] |= parent >= 0 and fits[parent]
    return fits


def layer_mask(layer: Layer, skeleton: Skeleton) -> Floats:
    """The weights of nodes that a layer asks for: float32 (J,)."""
    mask = layer.mask
    if mask is None:
        return np.ones(len(skeleton), np.float32)
    if isinstance(mask, str | Mapping):
        return mask_nodes(skeleton, mask)
    if isinstance(mask, Sequence) and all(isinstance(part, str) for part in mask):
        return mask_nodes(skeleton, *mask)
    where = f"layer {layer.name!r}: mask"
    try:
        weights = np.array(mask, np.float32)
    except (TypeError, ValueError, OverflowError):
        raise SettingError(f"{where}: expected patterns of names or numbers") from None
    if weights.shape != (len(skeleton),):
        raise ShapeError(f"{where}: shape {weights.shape}, expected ({len(skeleton)},)")
    if not ((weights >= 0) & (weights <= 1)).all():  # also where one is NaN
        raise SettingError(f"{where}: weights must lie from 0 to 1")
    return weights
