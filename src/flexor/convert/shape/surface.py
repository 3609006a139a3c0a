"""The points of a skin and how they are joined along the surface."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from flexor.arrays import Floats, Ints, first_same

__all__ = ["Surface", "make_surface"]


@dataclass(frozen=True, slots=True, eq=False)
class Surface:
    """Points: vertices that stand in one place and hang on the same joints are one.

    Files split vertices where normals or texture coordinates jump; the surface is whole
    there all the same. Points in one place that hang on different joints are neighbours
    at distance 0.

    point_of_vertex: int32 (V,); vertex_of_point: int32 (P,), the first of each;
    positions: float32 (P, 3); normals: float32 (P, 3), the mean of its vertices', unit
    or zero; starts: int32 (P + 1,), neighbours: int32 (E,), lengths: float32 (E,): the
    neighbours of point p are neighbours[starts[p]:starts[p + 1]], in rising order;
    pieces: int32 (P,), the connected piece each is in, from 0.
    """

    point_of_vertex: Ints
    vertex_of_point: Ints
    positions: Floats
    normals: Floats
    starts: Ints
    neighbours: Ints
    lengths: Floats
    pieces: Ints

    def __len__(self) -> int:
        return len(self.positions)

    def edges(self) -> tuple[Ints, Ints, Floats]:
        """Both ends and the length of every edge once, (E / 2,) each."""
        first = np.repeat(np.arange(len(self), dtype=np.int32), np.diff(self.starts))
        once = first < self.neighbours
        return first[once], self.neighbours[once], self.lengths[once]


def make_surface(
    positions: NDArray[np.floating],
    normals: NDArray[np.floating],
    faces: Ints,
    rows: Ints | None = None,
) -> Surface:
    """The surface of vertices (V, 3) and triangles (F, 3).

    rows: int32 (V, C), numbers that vertices of one point must share; None: their place
    is enough.
    """
    # Adding 0 makes of -0 the 0 that it equals.
    bits = np.ascontiguousarray(positions, np.float32) + np.float32(0)
    places = first_same(bits.view(np.int32))
    if rows is None:
        firsts = places
    else:
        firsts = first_same(np.concatenate([places[:, None], rows], 1))
    kept, groups = np.unique(firsts, return_inverse=True)
    vertices, points = kept.astype(np.int32), groups.astype(np.int32)
    count = len(vertices)
    starts, neighbours = _join(points, faces, places, vertices, count)
    there = bits[vertices]
    first = np.repeat(np.arange(count), np.diff(starts))
    across = there[neighbours].astype(np.float64) - there[first]
    sums = np.zeros((count, 3))
    for axis in range(3):
        sums[:, axis] = np.bincount(points, normals[:, axis], count)
    lengths = np.linalg.norm(sums, axis=1, keepdims=True)
    unit = np.divide(sums, lengths, out=np.zeros_like(sums), where=lengths > 1e-9)
    return Surface(
        points,
        vertices,
        there,
        unit.astype(np.float32),
        starts,
        neighbours,
        np.linalg.norm(across, axis=1).astype(np.float32),
        _pieces(starts, neighbours),
    )


def _join(
    points: Ints,
    faces: Ints,
    places: Ints,
    vertices: Ints,
    count: int,
) -> tuple[Ints, Ints]:
    """Starts (P + 1,) and neighbours (E,) of points that share a face's side or place.

    places: int32 (V,), the first vertex in the same place; vertices: (P,), of points.
    """
    corners = points[faces].astype(np.int64)
    sides = [corners[:, [0, 1]], corners[:, [1, 2]], corners[:, [2, 0]]]
    # Points in one place: each is joined with the next.
    where = places[vertices]
    order = np.argsort(where, kind="stable")
    alike = where[order[1:]] == where[order[:-1]]
    sides.append(np.stack([order[:-1][alike], order[1:][alike]], 1))
    pairs = np.concatenate(sides)
    pairs = pairs[pairs[:, 0] != pairs[:, 1]]
    both = np.concatenate([pairs, pairs[:, ::-1]])
    # np.unique would hash them before it sorts, which takes several times as long.
    keys = np.sort(both[:, 0] * count + both[:, 1])
    is_new = np.ones(len(keys), bool)
    np.not_equal(keys[1:], keys[:-1], out=is_new[1:])
    keys = keys[is_new]
    starts = np.zeros(count + 1, np.int32)
    np.cumsum(np.bincount(keys // max(count, 1), minlength=count), out=starts[1:])
    return starts, (keys % max(count, 1)).astype(np.int32)


def _pieces(starts: Ints, neighbours: Ints) -> Ints:
    from scipy.sparse import csr_array
    from scipy.sparse.csgraph import connected_components

    count = len(starts) - 1
    if not count:
        return np.zeros(0, np.int32)
    joined = (np.ones(len(neighbours), np.int8), neighbours, starts)
    _, labels = connected_components(csr_array(joined, (count, count)), directed=False)
    pieces: Ints = labels.astype(np.int32)
    return pieces
