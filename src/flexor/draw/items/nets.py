"""Nets, such as those of goals, as what a backend draws.

A net moves as a coarse honeycomb of nodes. What is seen is a picture of a fine one, on
a surface of triangles between the nodes and the middles of their cells.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from flexor.arrays import Floats, Ints, check_array, check_input, first_same, freeze
from flexor.draw.backend import Backend
from flexor.draw.drawlist import (
    RGBA,
    DrawItem,
    DrawLines,
    DrawMesh,
    DrawTexture,
    Look,
)
from flexor.errors import SettingError, ShapeError

__all__ = [
    "SQUARE",
    "TILE",
    "NetAssets",
    "NetMesh",
    "border_edges",
    "build_net",
    "build_ropes",
    "drape_net",
    "make_net_mesh",
    "net_picture",
    "net_points",
    "square_picture",
    "upload_net",
]

TILE = (math.sqrt(3), 3.0)  # width and height of the picture, in edges of a hexagon
SQUARE = (1.0, 1.0)  # the same of that of squares, in their edges
CORD = 0.11  # thickness of cords, in edges
KNOT = 0.1  # half the thickness of knots, in edges
COLOUR = (0.84, 0.85, 0.87, 1.0)  # linear
CLEAR = 0.5  # of the gap to a ball: what is kept between vertices
PASSES = 4  # most steps in which triangles are brought out of a ball
CLOSE = 1e-6  # metres: a triangle as little inside is left there


@dataclass(frozen=True, slots=True, eq=False)
class NetMesh:
    """What is drawn of a net with M nodes and C cells.

    node_count: M; cells: int32 (C, 6), nodes around each, -1 behind the last; parents:
    int32 (P, 3), for each vertex the three it lies between, rows of nodes and then of
    the middles of cells; weights: float32 (P, 3), their shares; masks: int32 (P,), bit
    f is set if what it depends on belongs to face f; held: bool (P,), depends on
    nodes alone that do not move; texcoords: float32 (P, 2); triangles: int32 (T, 3).
    Neighbours share their vertices, so no cracks can show.
    """

    node_count: int
    cells: Ints
    parents: Ints
    weights: Floats
    masks: Ints
    held: NDArray[np.bool_]
    texcoords: Floats
    triangles: Ints

    def __post_init__(self) -> None:
        count = len(self.parents)
        for name, kind, shape in (
            ("cells", np.int32, (None, 6)),
            ("parents", np.int32, (count, 3)),
            ("weights", np.float32, (count, 3)),
            ("masks", np.int32, (count,)),
            ("held", np.bool_, (count,)),
            ("texcoords", np.float32, (count, 2)),
            ("triangles", np.int32, (None, 3)),
        ):
            value = freeze(getattr(self, name), kind, shape, name)
            object.__setattr__(self, name, value)


class NetAssets(NamedTuple):
    """A net in a backend: numbers of its mesh and of its texture."""

    mesh: int
    texture: int


def net_picture(
    side: int = 128, *, cord: float = CORD, knot: float = KNOT
) -> NDArray[np.uint8]:
    """Cords of a honeycomb, uint8 (2 side, side, 4): white, clear between them.

    With hexagons of edge 1 that stand on a corner it is sqrt(3) wide and 3 high (TILE)
    and can be laid beside itself on all sides. cord: thickness of cords; knot: radius
    of knots; both in edges. It is white where it is clear too, so that smaller levels
    of it are white.
    """
    if side < 4:
        raise SettingError(f"side: {side}, expected 4 pixels or more")
    width, height = TILE
    x = (np.arange(side) + 0.5) * (width / side)
    y = (np.arange(2 * side) + 0.5) * (height / (2 * side))
    there = np.stack(np.meshgrid(x, y), -1)
    middles = [(0, 0), (1, 0), (0, 1), (1, 1), (0.5, 0.5)]
    corners = [(0, 1 / 3), (0, 2 / 3), (1, 1 / 3), (1, 2 / 3), (0.5, 1 / 6)]
    ways = there[:, :, None] - np.array(middles) * TILE
    angles = np.arange(3) * (math.pi / 3)
    sides = np.abs(ways @ np.stack([np.cos(angles), np.sin(angles)])).max(-1)
    to_cord = width / 2 - sides.min(-1)
    ways = there[:, :, None] - np.array([*corners, (0.5, 5 / 6)]) * TILE
    to_knot = np.linalg.norm(ways, axis=-1).min(-1)
    inside = np.maximum(cord / 2 - to_cord, knot - to_knot)
    alpha = np.clip(inside / (width / side) + 0.5, 0, 1)
    pixels = np.full((2 * side, side, 4), 255, np.uint8)
    pixels[..., 3] = np.round(alpha * 255)
    return pixels


def square_picture(side: int = 64, *, cord: float = CORD) -> NDArray[np.uint8]:
    """Cords of squares, uint8 (side, side, 4): white, clear between them.

    With squares of edge 1 it is one of them (SQUARE), with a cord along each side.
    """
    if side < 4:
        raise SettingError(f"side: {side}, expected 4 pixels or more")
    at = (np.arange(side) + 0.5) / side
    to_edge = np.minimum(at, 1 - at)
    inside = cord / 2 - np.minimum(to_edge[:, None], to_edge)
    pixels = np.full((side, side, 4), 255, np.uint8)
    pixels[..., 3] = np.round(np.clip(inside * side + 0.5, 0, 1) * 255)
    return pixels


def make_net_mesh(
    cells: Ints,
    masks: Ints,
    places: Floats,
    held: NDArray[np.bool_] | None = None,
    *,
    pitch: float,
    fine: int = 2,
    tile: tuple[float, float] = TILE,
    bent: int = 0,
) -> NetMesh:
    """Lay out what is drawn of a net with M nodes.

    cells: int32 (C, 6), nodes around each, -1 behind the last; masks: int32 (M,), bit f
    is set for nodes of face f; places: float32 (M, 2), metres, nodes on the sheet
    spread out flat; held: bool (M,), nodes that do not move, None for none; pitch:
    metres, the edge of a hexagon in the picture; fine: triangles around the middle of a
    cell are cut into fine * fine each; tile: size of the picture, in edges; bent: bits
    of faces that meet within the sheet, so that cells lie on both: to these a vertex
    belongs if one of the nodes does on which it depends, to others if all do.
    """
    masks = np.asarray(masks)
    count = len(masks)
    if held is None:
        held = np.zeros(count, bool)
    if fine < 1 or not 0 < pitch < math.inf:
        raise SettingError(f"fine: {fine}, pitch: {pitch}, expected both above 0")
    if np.shape(places) != (count, 2) or np.shape(held) != (count,):
        text = f"places: shape {np.shape(places)}, held: {np.shape(held)}"
        raise ShapeError(f"{text}, expected ({count}, 2) and ({count},)")
    cells = freeze(np.array(cells), np.int32, (None, 6), "cells")
    is_node = cells >= 0
    sizes = is_node.sum(1)
    if (is_node != (np.arange(6) < sizes[:, None])).any() or (sizes < 3).any():
        raise ShapeError("cells: expected 3 to 6 nodes, and -1 behind them alone")
    if cells.size and cells.max() >= count:
        raise ShapeError(f"cells: node {cells.max()}, there are {count}")
    parents, shares, triangles = _cut(cells, sizes, count, fine)
    nodes = np.where(is_node, cells, cells[:, :1])
    middles = _middles(cells, np.asarray(places, np.float64)[None])[0]
    spread = np.concatenate([places, middles])
    weights = shares / fine
    flat = (spread[parents] * weights[..., None]).sum(1)
    cell_masks = _joint_masks(masks[nodes], bent)
    all_masks = np.concatenate([masks, cell_masks])
    all_held = np.concatenate([held, np.logical_and.reduce(held[nodes], axis=1)])
    return NetMesh(
        count,
        cells,
        parents,
        weights.astype(np.float32),
        _joint_masks(all_masks[parents], bent),
        np.logical_and.reduce(all_held[parents], axis=1),
        flat / (pitch * np.array([tile[0], -tile[1]])),
        triangles,
    )


def _joint_masks(masks: NDArray[Any], bent: int) -> NDArray[Any]:
    """Masks (n,) of what depends on several (n, k): bits that all have, and of those of
    `bent` that any has.
    """
    every, some = np.bitwise_and.reduce(masks, 1), np.bitwise_or.reduce(masks, 1)
    found: NDArray[Any] = every | (some & bent)
    return found


def net_points(mesh: NetMesh, nodes: NDArray[Any]) -> Floats:
    """Where vertices are: float32 (N, P, 3), of nodes (N, M, 3), metres."""
    nodes = np.asarray(nodes, np.float32)
    if nodes.ndim != 3 or nodes.shape[1:] != (mesh.node_count, 3):
        text = f"expected (N, {mesh.node_count}, 3)"
        raise ShapeError(f"nodes: shape {nodes.shape}, {text}")
    both = np.concatenate([nodes, _middles(mesh.cells, nodes)], 1)
    points: Floats = both.take(mesh.parents[:, 0], 1)
    points *= mesh.weights[:, :1]
    for parent in (1, 2):
        part = both.take(mesh.parents[:, parent], 1)
        part *= mesh.weights[:, parent, None]
        points += part
    return points


def drape_net(
    mesh: NetMesh,
    points: Floats,
    balls: NDArray[Any],
    pushes: NDArray[Any],
    faces: NDArray[Any],
    radius: float,
    *,
    gap: float = 0.015,
    slope: float = 1.2,
) -> None:
    """Lay vertices over the balls that push a net, so that no ball shows through it.

    points: float32 (N, P, 3), changed in place; balls: (N, B, 3), their middles;
    pushes: (N, B, 3), unit, the way each ball pushes, or zero for not at all; faces:
    int (N, B), bits of the faces that it pushes; radius: metres, of balls.

    Vertices of these faces go along the push, never back, until they are beyond the
    front of a ball larger by `gap` metres, and beyond the cone on it that falls by
    `slope` metres a metre outward. Triangles between them that are still within half
    the gap go on together. What is held does not move. Balls of one net are taken in
    turn: all is right if they push the same way or do not meet.
    """
    count, balls_each = len(points), np.shape(faces)[-1]
    check_array(points, np.float32, (count, len(mesh.parents), 3), "points")
    for name, given in (("balls", balls), ("pushes", pushes)):
        if np.shape(given) != (count, balls_each, 3):
            text = f"expected ({count}, {balls_each}, 3)"
            raise ShapeError(f"{name}: shape {np.shape(given)}, {text}")
    reach, near = radius + gap, radius + CLEAR * gap
    steep = math.sqrt(1 + slope * slope)
    for ball in range(balls_each):
        rows = np.flatnonzero(pushes[:, ball].any(-1))
        if not len(rows):
            continue
        push = np.asarray(pushes[rows, ball], np.float64)[:, None]
        rel = points[rows] - np.asarray(balls[rows, ball], np.float64)[:, None]
        high = _along(rel, push)
        flat = rel - high[..., None] * push
        aside = np.sqrt(_along(flat, flat))
        front = np.sqrt(np.maximum(reach * reach - aside * aside, 0))
        cone = reach * steep - slope * aside
        profile = np.where(aside < reach * slope / steep, front, cone)
        pushed = mesh.masks & faces[rows, ball].astype(np.int32)[:, None] != 0
        free = pushed & ~mesh.held
        ways = np.where(free, np.maximum(profile - high, 0), 0)
        _clear(mesh.triangles, rel, push, pushed, free, near, ways)
        row, vertex = np.nonzero(ways)
        moved = ways[row, vertex, None] * push[row, 0]
        points[rows[row], vertex] += moved.astype(np.float32)


def upload_net(
    backend: Backend, mesh: NetMesh, picture: NDArray[np.uint8] | None = None
) -> NetAssets:
    """Upload a net and its picture (None: that of `net_picture`)."""
    shape = DrawMesh(len(mesh.parents), mesh.triangles, mesh.texcoords)
    texture = DrawTexture(net_picture() if picture is None else picture)
    return NetAssets(backend.upload(shape), backend.upload(texture))


def build_net(assets: NetAssets, points: Floats, colour: RGBA = COLOUR) -> DrawItem:
    """Nets with vertices (N, P, 3), metres, of `net_points`; colour: linear."""
    check_input(points, np.float32, (None, None, 3), "points")
    look = Look(colour, assets.texture, alpha="blend", cull="none", shading="unlit")
    return DrawItem(assets.mesh, points, None, look)


def border_edges(mesh: NetMesh) -> Ints:
    """Edges of a net that one triangle has alone: int32 (L, 2), vertices."""
    sides = mesh.triangles[:, [0, 1, 1, 2, 2, 0]].reshape(-1, 2)
    edges, counts = np.unique(np.sort(sides, axis=1), axis=0, return_counts=True)
    return np.ascontiguousarray(edges[counts == 1], np.int32)


def build_ropes(
    edges: Ints, points: Floats, width: float, colour: RGBA = COLOUR
) -> DrawLines:
    """Ropes along edges (L, 2) of nets with vertices (N, P, 3); width: pixels."""
    ends = points[:, edges].reshape(-1, 2, 3)
    return DrawLines(ends, np.array(colour, np.float32), width)


def _middles(cells: Ints, nodes: NDArray[Any]) -> NDArray[Any]:
    """Means (N, C, 3) of the corners of cells; nodes: (N, M, 3)."""
    is_node = cells >= 0
    shares = (is_node / is_node.sum(1, keepdims=True)).astype(nodes.dtype)
    total = np.zeros((len(nodes), len(cells), nodes.shape[2]), nodes.dtype)
    for corner in range(cells.shape[1]):
        # One that is not there has no share, whichever node stands for it.
        rows = np.where(is_node[:, corner], cells[:, corner], cells[:, 0])
        total += nodes.take(rows, 1) * shares[:, corner, None]
    return total


def _cut(
    cells: Ints, sizes: NDArray[Any], node_count: int, fine: int
) -> tuple[Ints, NDArray[np.int64], Ints]:
    """Vertices and triangles of cells: parents (P, 3), shares (P, 3) that make `fine`
    together, triangles (T, 3). Vertices between the same parents are one.
    """
    cell, corner = np.nonzero(cells >= 0)
    after = cells[cell, (corner + 1) % sizes[cell]]
    wedges = np.stack([node_count + cell, cells[cell, corner], after], 1)
    grid = [(i, j) for i in range(fine + 1) for j in range(fine + 1 - i)]
    at = {place: row for row, place in enumerate(grid)}
    small = [(at[i, j], at[i + 1, j], at[i, j + 1]) for i, j in grid if i + j < fine]
    small += [
        (at[i + 1, j], at[i + 1, j + 1], at[i, j + 1])
        for i, j in grid
        if i + j < fine - 1
    ]
    parts = np.array([(fine - i - j, i, j) for i, j in grid])
    parents = np.repeat(wedges[:, None], len(grid), 1).reshape(-1, 3)
    shares = np.tile(parts, (len(wedges), 1))
    # In one order, and without parents that give nothing: so neighbours agree.
    parents[shares == 0] = -1
    order = parents.argsort(1)
    parents = np.take_along_axis(parents, order, 1)
    shares = np.take_along_axis(shares, order, 1)
    same = first_same(np.concatenate([parents, shares], 1).astype(np.int32))
    first, numbers = np.unique(same, return_inverse=True)
    firsts = np.arange(len(wedges))[:, None, None] * len(grid)
    triangles = numbers[(np.array(small) + firsts).reshape(-1, 3)]
    parents, shares = parents[first], shares[first]
    parents = np.where(shares > 0, parents, parents[:, 2:])
    return parents.astype(np.int32), shares, triangles.astype(np.int32)


def _clear(
    triangles: Ints,
    rel: NDArray[np.float64],
    push: NDArray[np.float64],
    pushed: NDArray[np.bool_],
    free: NDArray[np.bool_],
    radius: float,
    ways: NDArray[np.float64],
) -> None:
    """Let vertices go on until no triangle of theirs is in a ball: adds to ways (n, P).

    rel: (n, P, 3), from the ball to vertices that have not gone their ways yet; push:
    (n, 1, 3); pushed, free: bool (n, P), of the face, and not held either.
    """
    # Seen along the push, a triangle is far from the ball if all its corners are on one
    # side of the box around it: they have a bit in common. Going on changes no bit.
    flat = rel - _along(rel, push)[..., None] * push
    sides = (~free).astype(np.uint8)
    for axis in range(3):
        sides |= (flat[..., axis] > radius) * np.uint8(2 << 2 * axis)
        sides |= (flat[..., axis] < -radius) * np.uint8(4 << 2 * axis)
    a, b, c = triangles.T
    is_near = sides.take(a, 1) & sides.take(b, 1) & sides.take(c, 1) == 0
    is_near &= pushed.take(a, 1) & pushed.take(b, 1) & pushed.take(c, 1)
    row, which = np.nonzero(is_near)
    row, vertices = row[:, None], triangles[which]
    along = push[row, 0]
    # Where a corner is held the others could go on without end.
    is_tied = ~free[row, vertices].all(1)
    most = np.where(is_tied, radius / PASSES, np.inf)
    for _ in range(PASSES):
        corners = rel[row, vertices] + ways[row, vertices, None] * along
        short = np.minimum(_shortfall(corners, along[:, 0], radius), most)
        is_inside = short > CLOSE
        if not is_inside.any():
            return
        more = np.zeros_like(ways)
        inside = row[is_inside], vertices[is_inside]
        np.maximum.at(more, inside, short[is_inside, None])
        ways += np.where(free, more, 0)


def _shortfall(
    corners: NDArray[np.float64], push: NDArray[np.float64], radius: float
) -> NDArray[np.float64]:
    """How far triangles (Q, 3, 3) must go along push (Q, 3) to be before a ball at 0.

    The answer is exact: that of the plane if it touches the ball within the triangle,
    else the largest of those of its edges. Below 0 if the ball is not reached; minus
    infinity if it never will be.
    """
    best = np.full(len(corners), -np.inf)
    for corner in range(3):
        a, b = corners[:, corner], corners[:, (corner + 1) % 3]
        high = _along(a, push)
        rise = _along(b, push) - high
        start = a - high[:, None] * push
        way = (b - a) - rise[:, None] * push
        square = _along(way, way)
        is_long = square > 1e-18
        length = np.sqrt(np.where(is_long, square, 1))
        # Along the edge, seen along the push: from the place nearest to the middle.
        begin = _along(start, way) / length
        end = np.where(is_long, begin + length, begin)
        tilt = np.where(is_long, rise / length, 0)
        beside = _along(start, start) - begin * begin
        room = radius * radius - beside
        top = -np.sqrt(np.maximum(room, 0)) * tilt / np.sqrt(1 + tilt * tilt)
        top = np.clip(top, begin, end)
        left = room - top * top
        above = np.sqrt(np.maximum(left, 0)) - (high + tilt * (top - begin))
        best = np.maximum(best, np.where(left >= 0, above, -np.inf))
    a, b, c = corners.swapaxes(0, 1)
    normals = _cross(b - a, c - a)
    areas = np.linalg.norm(normals, axis=-1)
    facing = _along(normals, push)
    is_flat = np.abs(facing) > 1e-3 * areas  # else it is seen as a line: its edges
    scale = np.where(is_flat, areas * np.sign(facing), 1)
    normals /= scale[:, None]
    facing = np.where(is_flat, facing / scale, 1)
    above = (radius - _along(normals, a)) / facing
    touch = radius * normals - above[:, None] * push
    for first, second in ((a, b), (b, c), (c, a)):
        turn = _cross(second - first, touch - first)
        is_flat &= _along(turn, normals) * np.sign(scale) >= 0
    whole: NDArray[np.float64] = np.where(is_flat, above, -np.inf)
    np.maximum(best, whole, out=whole)
    return whole


def _along(ways: NDArray[np.float64], axis: NDArray[np.float64]) -> NDArray[np.float64]:
    """Products (...) of vectors (..., 3) with others."""
    product: NDArray[np.float64] = np.einsum("...i,...i->...", ways, axis)
    return product


def _cross(one: NDArray[np.float64], other: NDArray[np.float64]) -> NDArray[np.float64]:
    """What is across vectors (n, 3) and others; `np.cross` takes thrice as long."""
    (x, y, z), (a, b, c) = one.T, other.T
    found = np.empty(one.shape)
    found[:, 0] = y * c - z * b
    found[:, 1] = z * a - x * c
    found[:, 2] = x * b - y * a
    return found
