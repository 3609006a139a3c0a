"""Node tables: every joint that can ever be used, by number, and which are.

A level of detail selects nodes of one table. A selection is a mask, one bit for each
node, or the first so many of one ordered list. As motion is given from one point of the
character, not from each node's parent, any selection can be moved on its own.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from flexor.arrays import Floats, Ints, freeze
from flexor.errors import ShapeError

__all__ = ["NodeTable"]

Mask = NDArray[np.bool_]


@dataclass(frozen=True, slots=True, eq=False)
class NodeTable:
    """Nodes by number, each after its parent.

    names: T texts; nodes: int32 (T,), their rows in the skeleton; parents: int32 (T,),
    the number of each one's parent, -1 for none; lengths: float32 (T,), metres from the
    parent at rest, the standard length of the bone that ends here. Takes ownership of
    the arrays.
    """

    names: tuple[str, ...]
    nodes: Ints
    parents: Ints
    lengths: Floats

    def __post_init__(self) -> None:
        put = object.__setattr__
        put(self, "names", tuple(self.names))
        count = len(self.names)
        put(self, "nodes", freeze(self.nodes, np.int32, (count,), "nodes"))
        put(self, "parents", freeze(self.parents, np.int32, (count,), "parents"))
        put(self, "lengths", freeze(self.lengths, np.float32, (count,), "lengths"))
        if count and (self.nodes.min() < 0 or len(np.unique(self.nodes)) < count):
            raise ShapeError("nodes: must be rows of the skeleton, each once")
        if count and (self.parents < -1).any():
            raise ShapeError("parents: must be -1 or above")
        if (self.parents >= np.arange(count)).any():
            raise ShapeError("parents: must come before their children")
        if not np.isfinite(self.lengths).all() or (self.lengths < 0).any():
            raise ShapeError("lengths: must be finite and not negative")

    def __len__(self) -> int:
        return len(self.names)
