"""A body as a solid: what lies in it, however open or tangled its surface is."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from flexor.arrays import Ints
from flexor.convert.shape.kernels import solid as kernel
from flexor.maths import threads

__all__ = ["Solid", "list_faces", "make_solid", "winding_numbers"]

CELLS = 64  # along the longest side; finer ones bind no better
MARGIN = 2  # cells around the body
VOTES = 4  # of six half lines must be inside: a hole costs one or two
# Parts of a cell by which lines pass beside the middles, so that none meets a corner.
ASIDE = (1.37e-4, 2.11e-4, 3.03e-4)


@dataclass(frozen=True, slots=True, eq=False)
class Solid:
    """A grid around a body: low: float64 (3,), its least corner; step: the side of a
    cell, metres; filled: bool (X, Y, Z), cells of the surface or inside.
    """

    low: NDArray[np.float64]
    step: float
    filled: NDArray[np.bool_]


def make_solid(positions: NDArray[np.floating], faces: Ints) -> Solid:
    """The solid inside the triangles (F, 3) of points (P, 3), of which there are some.

    A cell is filled if the surface passes through it, or if most of six half lines
    from it cross the surface outward more often than inward, or the other way.
    """
    places = np.asarray(positions, np.float64)
    extent = np.ptp(places, axis=0)
    step = max(float(extent.max()) / CELLS, 1e-8)
    low = places.min(0) - MARGIN * step
    shape = tuple((np.ceil(extent / step) + 2 * MARGIN + 1).astype(int).tolist())
    cells = np.ascontiguousarray((places - low) / step)
    faces = np.ascontiguousarray(faces, np.int32)
    filled = np.zeros(shape, bool)
    kernel.mark_surface(cells, faces, filled)
    votes = np.zeros(shape, np.int8)
    for axis in range(3):
        order = [(axis + k) % 3 for k in range(3)]
        moved = np.ascontiguousarray((cells + np.array(ASIDE) - 0.5)[:, order])
        turns = np.zeros([shape[k] for k in order], np.int32)
        kernel.mark_crossings(moved, faces, turns)
        before = np.cumsum(turns, axis=0, dtype=np.int32)
        is_in = (before != 0).astype(np.int8) + (before != before[-1])
        votes += is_in.transpose(np.argsort(order))
    return Solid(low, step, np.ascontiguousarray(filled | (votes >= VOTES)))


def list_faces(
    solid: Solid, positions: NDArray[np.floating], faces: Ints
) -> tuple[Ints, Ints]:
    """Which of the triangles (F, 3) of points (P, 3) pass through each cell of a solid.

    Where those of each cell begin, int32 (cells + 1,), and their numbers, int32 (N,).
    """
    places = np.asarray(positions, np.float64)
    cells = np.ascontiguousarray((places - solid.low) / solid.step)
    faces = np.ascontiguousarray(faces, np.int32)
    shape = np.array(solid.filled.shape, np.int32)
    starts = np.zeros(solid.filled.size + 1, np.int32)
    kernel.list_faces(cells, faces, shape, True, starts, np.zeros(0, np.int32))
    np.cumsum(starts, out=starts)
    listed = np.empty(starts[-1], np.int32)
    kernel.list_faces(cells, faces, shape, False, starts.copy(), listed)
    return starts, listed


def winding_numbers(
    places: NDArray[np.floating], triangles: NDArray[np.floating]
) -> NDArray[np.float64]:
    """How often a surface goes around places (N, 3): float64 (N,), 1 inside.

    triangles: (F, 3, 3), corners. Within 0.01 of the truth.
    """
    corners = np.ascontiguousarray(triangles, np.float64)
    at = np.ascontiguousarray(places, np.float64)
    middles = corners.mean(1)
    dipoles = np.empty((len(corners), 7))
    dipoles[:, :3] = middles
    first, second = corners[:, 1] - corners[:, 0], corners[:, 2] - corners[:, 0]
    dipoles[:, 3:6] = np.cross(first, second) / 2
    ways = corners - middles[:, None]
    dipoles[:, 6] = (ways * ways).sum(2).max(1, initial=0)
    turns = np.empty(len(at))

    def work(part: slice) -> None:
        kernel.winding_numbers(at[part], corners, dipoles, turns[part])

    threads.run_slices(work, len(at))
    return turns
