"""A pose: where every node of a character is, at one moment or at many."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import ArrayLike

from flexor.arrays import Floats, check_input
from flexor.errors import ShapeError
from flexor.maths import transforms
from flexor.pose.layout import Layout

__all__ = ["Pose"]


@dataclass(frozen=True, slots=True, eq=False)
class Pose:
    """Transforms of every node, in the file's node order; all float32.

    translations: (J, 3), metres; rotations: (J, 4), xyzw; scales: (J, 3): relative to
    the parent; world: (J, 3, 4), world_from_node; weights: (W,), morph weights of all
    nodes that have any. A pose of N moments has an axis N before these.
    """

    translations: Floats
    rotations: Floats
    scales: Floats
    world: Floats
    weights: Floats

    @property
    def local(self) -> Floats:
        """parent_from_node of every node: (J, 3, 4), or (N, J, 3, 4)."""
        return transforms.compose(self.translations, self.rotations, self.scales)

    @property
    def is_many(self) -> bool:
        """Whether the pose holds N moments."""
        return self.world.ndim == 4

    def __len__(self) -> int:
        """Number of moments; 1 for a single pose."""
        return len(self.world) if self.is_many else 1

    def __getitem__(self, moment: int) -> Pose:
        """One of the moments."""
        if not self.is_many:
            raise TypeError("this pose is of one moment; it has no others to pick")
        return Pose(
            self.translations[moment],
            self.rotations[moment],
            self.scales[moment],
            self.world[moment],
            self.weights[moment],
        )

    def moved(self, place: ArrayLike) -> Pose:
        """The pose at another place of the world; place: (3, 4), or (N, 3, 4).

        Only `world` changes, and with it what `deform` and `draw` give; what is
        relative to parents stays.
        """
        where = np.asarray(place, np.float32)
        wanted = ((3, 4), (len(self), 3, 4)) if self.is_many else ((3, 4),)
        if where.shape not in wanted:
            raise ShapeError(f"place: {where.shape}, expected {wanted[-1]}")
        if where.ndim == 3:
            where = where[:, None]
        return replace(self, world=transforms.multiply(where, self.world))

    @staticmethod
    def from_lanes(
        local: Floats, layout: Layout, world: Floats, weights: Floats
    ) -> Pose:
        """A pose of N moments of transforms by lanes: local: (N, 10 * L)."""
        from flexor.pose.kernels.nodes import nodes_from_lanes

        shape = (len(local), len(layout.skeleton))
        check_input(local, np.float32, (shape[0], len(layout.rest)), "local")
        places, turns, sizes = (
            np.empty((*shape, width), np.float32) for width in (3, 4, 3)
        )
        nodes_from_lanes(
            local,
            layout.lane_of_node,
            places.reshape(-1, 3),
            turns.reshape(-1, 4),
            sizes.reshape(-1, 3),
        )
        return Pose(places, turns, sizes, world, weights)
