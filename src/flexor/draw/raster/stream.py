"""In which order things are drawn, and how the work is divided.

Elements are numbered: triangles of all items, then edges of all items, then lines.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache
from itertools import pairwise

import numpy as np
from numpy.typing import NDArray

from flexor.arrays import Doubles, Floats, Ints
from flexor.draw.drawlist import DrawItem, DrawLines, DrawList
from flexor.draw.raster import layout as at
from flexor.draw.raster.assets import KeptMesh
from flexor.scene.character.camera import Camera

__all__ = ["Stream", "make_stream", "polygon_distances"]

ELEMENTS_A_CHUNK, MOST_CHUNKS = 512, 64


@dataclass(frozen=True, slots=True, eq=False)
class Stream:
    """segments, chunks: see `layout`; order: int32, elements of sorted segments;
    ranks: float32, for each element its place from far to near if all are sorted;
    chunk_size: how many elements a chunk has at most.
    """

    segments: NDArray[np.int64]
    chunks: NDArray[np.int64]
    order: Ints
    ranks: Floats
    chunk_size: int


@dataclass(frozen=True, slots=True, eq=False)
class _Run:
    """Elements that follow each other; source: row among the list's items or lines;
    skip: how many lines of the source come before.
    """

    kind: str
    source: int
    first: int
    count: int
    skip: int = 0


def make_stream(
    draw_list: DrawList,
    items: Sequence[tuple[int, ...]],
    lines: Sequence[tuple[int, ...]],
    meshes: Sequence[KeptMesh],
    counts: tuple[int, int, int],
) -> Stream:
    """Lay out the stream; counts: of triangles, edges and lines."""
    queues = _queues(draw_list, items, lines, counts)
    is_sorted = draw_list.order == "sort"
    ranks = np.zeros(sum(counts) if is_sorted else 1, np.float32)
    orders: list[Ints] = []
    segments: list[tuple[int, int, int]] = []
    ends = [0]
    for layer in range(2):
        pair = queues[2 * layer : 2 * layer + 2]
        sorted_runs = [*pair[0], *pair[1]] if is_sorted else pair[1]
        elements = _far_to_near(draw_list, meshes, sorted_runs)
        if is_sorted:
            ranks[elements] = np.arange(1, len(elements) + 1)
        for number, runs in enumerate(pair):
            place = ends[-1]
            if not (is_sorted or number):
                for run in runs:
                    segments.append((place, run.first, -1))
                    place += run.count
            elif runs:
                own = elements
                if is_sorted:
                    own = elements[_is_in(elements, runs)]
                segments.append((place, 0, sum(len(order) for order in orders)))
                orders.append(own)
                place += len(own)
            ends.append(place)
    table = np.array(segments or [(0, 0, -1)], np.int64)
    return Stream(
        table,
        _chunks(tuple(ends)),
        np.concatenate(orders) if orders else np.zeros(1, np.int32),
        ranks,
        _chunk_size(ends[-1]),
    )


def _queues(
    draw_list: DrawList,
    items: Sequence[tuple[int, ...]],
    lines: Sequence[tuple[int, ...]],
    counts: tuple[int, int, int],
) -> list[list[_Run]]:
    """Opaque and blended runs of each layer, in the order of the list."""
    queues: list[list[_Run]] = [[] for _ in range(at.QUEUES)]
    strokes: list[tuple[int, _Run]] = []
    for source, item in enumerate(draw_list.items):
        row = items[source]
        first, count = row[at.FIRST_TRIANGLE], row[at.FACES] * row[at.INSTANCES]
        if item.look is not None and count:
            queue = 2 * item.layer + (item.look.alpha == "blend")
            queues[queue].append(_Run("triangles", source, first, count))
        first, count = row[at.FIRST_EDGE], row[at.EDGES_EACH] * row[at.INSTANCES]
        if item.strokes is not None and count:
            queue = 2 * item.layer + (item.strokes.colour[3] < 1)
            run = _Run("edges", source, counts[0] + first, count)
            strokes.append((queue, run))
    for source, group in enumerate(draw_list.lines):
        base = sum(counts[:2]) + lines[source][at.FIRST_LINE]
        for first, last, is_clear in _line_runs(group):
            run = _Run("lines", source, base + first, last - first, first)
            strokes.append((2 * group.layer + is_clear, run))
    for queue, run in strokes:
        queues[queue].append(run)
    return queues


def _line_runs(group: DrawLines) -> list[tuple[int, int, bool]]:
    """Lines that follow each other and are all opaque, or all not: first, end, not."""
    if not len(group.points):
        return []
    if group.colours.ndim == 1:
        return [(0, len(group.points), bool(group.colours[3] < 1))]
    is_clear = group.colours[:, 3] < 1
    ends = [0, *(np.flatnonzero(np.diff(is_clear)) + 1).tolist(), len(is_clear)]
    return [(a, b, bool(is_clear[a])) for a, b in pairwise(ends)]


def _is_in(elements: Ints, runs: Sequence[_Run]) -> NDArray[np.bool_]:
    is_in = np.zeros(int(elements.max(initial=-1)) + 1, bool)
    for run in runs:
        is_in[run.first : run.first + run.count] = True
    return is_in[elements]


def _far_to_near(
    draw_list: DrawList, meshes: Sequence[KeptMesh], runs: Sequence[_Run]
) -> Ints:
    """The elements of runs, by the distance of one point of each."""
    if not runs:
        return np.zeros(0, np.int32)
    camera = draw_list.camera
    distances = []
    for run in runs:
        if run.kind == "lines":
            points = draw_list.lines[run.source].points
            points = points[run.skip : run.skip + run.count]
            distances.append(_distances(camera, points).mean(-1))
            continue
        item = draw_list.items[run.source]
        kept = meshes[item.mesh]
        if run.kind == "triangles":
            far = polygon_distances(camera, item, kept)
            distances.append(np.repeat(far, kept.corners - 2, -1).reshape(-1))
        else:
            of_vertices = _distances(camera, item.positions)
            distances.append(of_vertices[..., kept.edges[:, :2]].mean(-1).reshape(-1))
    keys = np.nan_to_num(np.concatenate(distances), posinf=0, neginf=0)
    elements = [np.arange(r.first, r.first + r.count, dtype=np.int32) for r in runs]
    return np.concatenate(elements)[np.argsort(-keys, kind="stable")]


def _distances(camera: Camera, points: Floats) -> Doubles:
    """Distance along the view of points (..., 3); NaN where they are not finite."""
    row = -camera.view()[2]
    with np.errstate(invalid="ignore", over="ignore"):
        far: Doubles = points.astype(np.float64) @ row[:3] + row[3]
    return far


def polygon_distances(camera: Camera, item: DrawItem, kept: KeptMesh) -> Doubles:
    """Distance (F,) or (N, F) of one point of each face: the crossing of the diagonals
    of a quad, the centroid of a triangle.
    """
    faces = kept.mesh.faces
    far = _distances(camera, item.positions)[..., faces]
    if faces.shape[1] == 3:
        return np.asarray(far.mean(-1))
    with np.errstate(invalid="ignore", over="ignore", divide="ignore"):
        a, b, c, d = (
            item.positions[..., faces[:, i], :].astype(np.float64) for i in range(4)
        )
        # a + share * (c - a) = b + ... * (d - b)
        across, other = c - a, d - b
        normal = np.cross(across, other)
        square = (normal * normal).sum(-1)
        share = (np.cross(b - a, other) * normal).sum(-1) / square
        crossing = far[..., 0] + share * (far[..., 2] - far[..., 0])
    is_flat = ~np.isfinite(crossing) | (square <= 1e-24)
    return np.asarray(np.where(is_flat, far.mean(-1), crossing))


def _chunk_size(count: int) -> int:
    return max(ELEMENTS_A_CHUNK, -(-count // MOST_CHUNKS))


@lru_cache(maxsize=16)
def _chunks(ends: tuple[int, ...]) -> NDArray[np.int64]:
    """Divide each queue into chunks; their number does not depend on the threads."""
    size = _chunk_size(ends[-1])
    rows = [
        (begin, min(begin + size, ends[queue + 1]), queue)
        for queue in range(at.QUEUES)
        for begin in range(ends[queue], ends[queue + 1], size)
    ]
    return np.array(rows, np.int64).reshape(-1, at.CHUNK_INTS)
