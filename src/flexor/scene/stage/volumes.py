"""Hit volumes: a body as capsules that go with its nodes."""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import dataclass, field

import numpy as np

from flexor.arrays import Doubles, Ints, freeze
from flexor.errors import SettingError, ShapeError

__all__ = ["HitVolumes"]


@dataclass(frozen=True, slots=True, eq=False)
class HitVolumes:
    """Capsules of a body.

    nodes: int32 (H,), the node that each goes with; ends: float64 (H, 2, 3), metres, in
    the node's own space; radii: float64 (H,), metres; parts: names, of parts of a human
    body or of nodes. Takes ownership of the arrays.
    """

    nodes: Ints
    ends: Doubles
    radii: Doubles
    parts: tuple[str, ...]
    # What follows from these: nodes that are used, each once; the last of them; how far
    # capsules reach from theirs, in their own space; metres of the largest radius.
    used: Ints = field(init=False, repr=False)
    last_node: int = field(init=False, repr=False)
    span: float = field(init=False, repr=False)
    thickest: float = field(init=False, repr=False)

    def __post_init__(self) -> None:
        put, count = object.__setattr__, len(self.parts)
        put(self, "nodes", freeze(self.nodes, np.int32, (count,), "nodes"))
        put(self, "ends", freeze(self.ends, np.float64, (count, 2, 3), "ends"))
        put(self, "radii", freeze(self.radii, np.float64, (count,), "radii"))
        if count and (self.nodes.min() < 0 or not (self.radii > 0).all()):
            raise ShapeError("volumes: expected nodes from 0 on and radii above 0")
        if not np.isfinite(self.ends).all() or not np.isfinite(self.radii).all():
            raise ShapeError("volumes: expected finite ends and radii")
        used = np.unique(self.nodes)
        put(self, "used", freeze(used, np.int32, (None,), "nodes"))
        put(self, "last_node", int(used[-1]) if count else -1)
        square = (self.ends * self.ends).sum(-1).max(initial=0.0)
        put(self, "span", math.sqrt(float(square)))
        put(self, "thickest", float(self.radii.max(initial=0.0)))

    def __len__(self) -> int:
        return len(self.parts)

    def rows(self, parts: Iterable[str]) -> Ints:
        """Rows of the capsules of some parts, by name; case does not matter."""
        known = [part.casefold() for part in self.parts]
        found: list[int] = []
        for part in parts:
            own = [row for row, name in enumerate(known) if name == part.casefold()]
            if not own:
                there = ", ".join(dict.fromkeys(self.parts)) or "none"
                raise SettingError(f"no part {part!r}; there are: {there}")
            found += own
        return np.array(sorted(set(found)), np.int32)
