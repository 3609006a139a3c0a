"""Motion: clips made of tracks, each with its own key times."""

from __future__ import annotations

import operator
from dataclasses import dataclass, field
from typing import Any, Literal, get_args

import numpy as np

from flexor.arrays import Floats, freeze
from flexor.errors import ShapeError
from flexor.scene.unchecked import filled

__all__ = ["Clip", "Interpolation", "Path", "Track"]

Path = Literal["translation", "rotation", "scale", "weights"]
Interpolation = Literal["LINEAR", "STEP", "CUBICSPLINE"]

WIDTH = {"translation": 3, "rotation": 4, "scale": 3}


@dataclass(frozen=True, slots=True, eq=False)
class Track:
    """The keys of one property of one node.

    node: row in the skeleton; path: which property; times: float32 (T,), seconds,
    rising; values: float32 (T, C), or (T, 3, C) for CUBICSPLINE with in-tangent, value
    and out-tangent. C is 3, or 4 for rotations (xyzw), or the number of morph targets.
    Takes ownership of the arrays.
    """

    node: int
    path: Path
    times: Floats
    values: Floats
    interpolation: Interpolation = "LINEAR"

    def __post_init__(self) -> None:
        object.__setattr__(self, "node", operator.index(self.node))
        if self.path not in get_args(Path):
            raise ShapeError(f"path: {self.path!r}, expected {get_args(Path)}")
        if self.interpolation not in get_args(Interpolation):
            known = get_args(Interpolation)
            raise ShapeError(f"interpolation: {self.interpolation!r}, expected {known}")
        times = freeze(self.times, np.float32, (None,), "times")
        object.__setattr__(self, "times", times)
        middle = (3,) if self.interpolation == "CUBICSPLINE" else ()
        shape = (len(times), *middle, WIDTH.get(self.path))
        object.__setattr__(
            self, "values", freeze(self.values, np.float32, shape, "values")
        )
        if not len(times):
            raise ShapeError("times: a track needs at least one key")
        if not (np.isfinite(times).all() and np.isfinite(self.values).all()):
            raise ShapeError("times, values: must be finite")
        if (np.diff(times) <= 0).any():
            raise ShapeError("times: must rise from key to key")

    @classmethod
    def unchecked(
        cls, node: int, path: str, times: Floats, values: Floats, interpolation: str
    ) -> Track:
        """A track of read-only arrays that were checked before.

        For readers of files with thousands of tracks: the checks take three times as
        long as all the rest.
        """
        return filled(cls, node, path, times, values, interpolation)


@dataclass(frozen=True, slots=True, eq=False)
class Clip:
    """A named motion. duration: seconds, the last key of all or 0 (made here)."""

    name: str
    tracks: tuple[Track, ...]
    carried: dict[str, Any] | None = None
    duration: float = field(init=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "tracks", tuple(self.tracks))
        ends = [float(track.times[-1]) for track in self.tracks]
        object.__setattr__(self, "duration", max(0.0, 0.0, *ends))

    @property
    def nodes(self) -> set[int]:
        """Nodes that it moves."""
        return {track.node for track in self.tracks}
