"""How a skin hangs on its joints: weights per vertex, bind matrices per joint."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from flexor.arrays import Floats, Ints, freeze
from flexor.errors import ShapeError
from flexor.scene.unchecked import filled

__all__ = ["Skin", "SkinWeights"]


@dataclass(frozen=True, slots=True, eq=False)
class SkinWeights:
    """Which joints pull each vertex.

    joints: uint16 (V, K), row in the skin's joint list, 0 where the weight is 0;
    weights: float32 (V, K), rows sum to 1. K is a multiple of 4 when read from glTF.
    Takes ownership of the arrays.
    """

    joints: NDArray[np.uint16]
    weights: Floats

    def __post_init__(self) -> None:
        joints = freeze(self.joints, np.uint16, (None, None), "joints")
        weights = freeze(self.weights, np.float32, joints.shape, "weights")
        object.__setattr__(self, "joints", joints)
        object.__setattr__(self, "weights", weights)
        if not np.isfinite(weights).all() or (weights < 0).any():
            raise ShapeError("weights: must be finite and not negative")
        worst = np.abs(weights.sum(1, dtype=np.float64) - 1).max(initial=0)
        if worst > 1e-3:
            raise ShapeError(f"weights: a row's sum is off 1 by {worst:.3g}")

    @classmethod
    def unchecked(cls, joints: NDArray[np.uint16], weights: Floats) -> SkinWeights:
        """Weights in read-only arrays that were checked before."""
        return filled(cls, joints, weights)

    def influence_counts(self) -> NDArray[np.intp]:
        """Number of non-zero weights of each vertex, (V,)."""
        counts: NDArray[np.intp] = np.count_nonzero(self.weights, axis=1)
        return counts


@dataclass(frozen=True, slots=True, eq=False)
class Skin:
    """A set of joints that a mesh can be tied to.

    joints: int32 (S,), nodes of the skeleton; inverse_binds: float32 (S, 3, 4),
    joint_from_mesh in the bind pose; root: the node the file names as the skeleton's
    root, or None; has_inverse_binds: False where the file left them out (identity).
    Takes ownership of the arrays.
    """

    name: str
    joints: Ints
    inverse_binds: Floats
    root: int | None = None
    has_inverse_binds: bool = True
    carried: dict[str, Any] | None = None

    def __post_init__(self) -> None:
        joints = freeze(self.joints, np.int32, (None,), "joints")
        shape = (len(joints), 3, 4)
        binds = freeze(self.inverse_binds, np.float32, shape, "inverse_binds")
        object.__setattr__(self, "joints", joints)
        object.__setattr__(self, "inverse_binds", binds)

    @classmethod
    def unchecked(
        cls,
        name: str,
        joints: Ints,
        inverse_binds: Floats,
        root: int | None,
        has_inverse_binds: bool,
        carried: dict[str, Any] | None,
    ) -> Skin:
        """A skin in read-only arrays that were checked before."""
        return filled(
            cls, name, joints, inverse_binds, root, has_inverse_binds, carried
        )
