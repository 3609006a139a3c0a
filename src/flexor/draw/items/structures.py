"""Structures of a stage as what a backend draws: pillars, walls and huts.

While one stands in the way of the camera it is drawn by its mode: hidden, every other
pixel, its edges alone, or faded. Of a wall only the part that is in the way is.
A polygon is drawn as it is, whatever stands for it where it may be in the way.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from flexor.arrays import Doubles, Floats
from flexor.draw.backend import Backend
from flexor.draw.drawlist import RGBA, DrawItem, DrawLines, DrawMesh, Look
from flexor.draw.items.footprints import prism_faces, prism_shape, turn_round
from flexor.draw.items.stonework import (
    BLOCKS,
    TILE,
    TONE,
    paint_stone,
    stone_colours,
    stone_coords,
)
from flexor.scene.stage.structure import Structure

__all__ = ["StructureAssets", "build_structures", "upload_structures"]

# Vertices and normals (V, 3), and edges (E, 2, 3).
Shape = tuple[Floats, Floats, Floats]
HeightAt = Callable[[Doubles], Doubles]  # of spots (n, 2), x and z: metres (n,)
ROUND = 32  # sides of a pillar
RINGS, ACROSS, ALONG = 8, 9, 256  # where the ground under a structure is looked at
MESHED = 0.5  # of the pixels that a mesh pattern shows
FADED = 0.2  # of a faded one that is left
EDGE: RGBA = (0.03, 0.03, 0.035, 1.0)
SHORTEST = 1e-3  # of a wall: shorter pieces are left out


@dataclass(frozen=True, slots=True, eq=False)
class StructureAssets:
    """Structures in a backend.

    spans: for each, metres from where to where it is drawn; shapes: for each, what it
    is made of while no part of it is in the way; meshes: for each, its number; stone:
    the number of their texture.
    """

    structures: tuple[Structure, ...]
    spans: tuple[tuple[float, float], ...]
    shapes: tuple[Shape, ...]
    meshes: tuple[int, ...]
    stone: int


def upload_structures(
    backend: Backend,
    structures: Sequence[Structure],
    height_at: HeightAt | None = None,
) -> StructureAssets:
    """Upload the shapes that structures are made of.

    height_at: how high the ground is at places (n, 2), x and z, None for 0 everywhere.
    Structures stand on the ground under their middle, and reach down to the lowest
    under them unless they begin above the ground.
    """
    spans = tuple(_span(own, height_at) for own in structures)
    shapes = tuple(
        _whole(own, span) for own, span in zip(structures, spans, strict=True)
    )
    stone = backend.upload(paint_stone()) if structures else -1
    return StructureAssets(
        tuple(structures),
        spans,
        shapes,
        tuple(
            _upload_shape(backend, own, shape, span[1])
            for own, shape, span in zip(structures, shapes, spans, strict=True)
        ),
        stone,
    )


def _upload_shape(backend: Backend, own: Structure, shape: Shape, top: float) -> int:
    """The mesh of a structure, with its stones."""
    positions, normals, _ = shape
    coords = stone_coords(positions, normals, top)
    if own.corners is not None:
        faces = prism_faces(turn_round(own.footprint))
    elif own.ends is not None:
        faces = np.arange(24, dtype=np.int32).reshape(-1, 4)
        # By metres from its begin, so that parts of it have the stones of the whole.
        (ax, az), (bx, bz) = own.ends
        way = np.array([bx - ax, bz - az]) / math.hypot(bx - ax, bz - az)
        along = (positions[:, [0, 2]] - (ax, az)) @ way / TILE
        is_side = np.abs(normals[:, [0, 2]] @ way) < 0.5
        coords[is_side, 0] = along[is_side]
        is_level = np.abs(normals[:, 1]) > 0.5
        across = positions[:, [0, 2]] @ np.array([-way[1], way[0]]) / TILE
        coords[is_level, 1] = across[is_level]
    else:
        faces = _pillar_faces()
        # Whole stones once around.
        stones = max(round(2 * math.pi * float(own.radius or 0) / TILE * BLOCKS), 1)
        around = np.linspace(0, stones / BLOCKS, ROUND + 1)
        coords[: 2 * (ROUND + 1), 0] = np.tile(around, 2)
    colours = stone_colours(positions)
    return backend.upload(DrawMesh(len(positions), faces, coords, colours))


def _pillar_faces() -> NDArray[np.int32]:
    """Triangles of a pillar, whose sides have a vertex more than its ends."""
    around = np.arange(ROUND, dtype=np.int32)
    after, more = around + 1, ROUND + 1
    sides = np.stack([around, after, more + after, more + around], 1)
    fan = np.stack([0 * around[2:], around[1:-1], around[2:]], 1)
    top, floor = 2 * more + fan, 2 * more + ROUND + fan[:, ::-1]
    faces = [sides[:, [0, 1, 2]], sides[:, [0, 2, 3]], top, floor]
    return np.concatenate(faces).astype(np.int32)


def _whole(own: Structure, span: tuple[float, float]) -> Shape:
    """What a structure is made of."""
    if own.corners is not None:
        return prism_shape(turn_round(own.footprint), *span)
    return _pillar(own, span) if own.ends is None else _box(own, span, 0.0, 1.0)


def _span(own: Structure, height_at: HeightAt | None) -> tuple[float, float]:
    """From where to where it is drawn, metres."""
    if height_at is None:
        return own.low, own.high
    below = height_at(_spots(own))  # under its middle first
    floor = float(below[0])
    low = floor + own.low
    if own.low <= 0:
        low = min(low, float(below.min()))
    return low, floor + own.high


def _spots(own: Structure) -> Doubles:
    """Spots under a structure, (n, 2), that of its middle first."""
    if own.corners is not None:
        corners = own.footprint
        centre = (corners.min(0) + corners.max(0)) / 2
        share = np.linspace(0, 1, ACROSS)[:, None, None]
        rims = corners + share * (np.roll(corners, -1, 0) - corners)
        away = np.linspace(0, 1, RINGS + 1)[:, None, None]
        inner = centre + away * (rims.reshape(-1, 2) - centre)
        return np.concatenate([centre[None], inner.reshape(-1, 2)])
    if own.ends is None:
        middle = np.array(own.middle)
        turn = np.arange(ROUND) * (2 * math.pi / ROUND)
        ring = np.stack([np.sin(turn), np.cos(turn)], 1)
        away = np.linspace(0, own.radius or 0.0, RINGS + 1)[:, None, None]
        found: Doubles = (middle + away * ring).reshape(-1, 2)
        return found
    a, b = (np.array(spot) for spot in own.ends)
    way = (b - a) / np.hypot(*(b - a))
    side = np.array([-way[1], way[0]]) * ((own.thickness or 0.0) / 2)
    along = a + np.linspace(0, 1, ALONG)[:, None] * (b - a)
    spots = along + np.linspace(-1, 1, ACROSS)[:, None, None] * side
    return np.concatenate([(a + b)[None] / 2, spots.reshape(-1, 2)])


def build_structures(
    assets: StructureAssets,
    shown: NDArray[np.float64],
    parts: NDArray[np.float64],
    width: float = 1.5,
) -> tuple[list[DrawItem], list[DrawLines]]:
    """Structures as they are seen now.

    shown: (S,), how much of the way from their mode (0) to as they are (1); parts:
    (S, 2), from where to where on a long one that holds; width: pixels, of edges.
    """
    items: list[DrawItem] = []
    lines: list[DrawLines] = []
    for row, (own, span) in enumerate(
        zip(assets.structures, assets.spans, strict=True)
    ):
        share, whole = float(shown[row]), assets.shapes[row]
        if own.ends is None or own.corners is not None or share >= 1:
            piece = _Piece(assets.meshes[row], assets.stone, share)
            _add(piece, own, whole, width, items, lines)
            continue
        first, last = parts[row].tolist()
        for start, end, part in (
            (0.0, first, 1.0),
            (first, last, share),
            (last, 1.0, 1.0),
        ):
            if end - start > SHORTEST:
                shape = _box(own, span, start, end)
                piece = _Piece(assets.meshes[row], assets.stone, part, start, end)
                _add(piece, own, shape, width, items, lines)
    return items, lines


@dataclass(frozen=True, slots=True)
class _Piece:
    """mesh, stone: numbers; share: how much of it is as it is; start, end: from where
    to where on a long one, 0 to 1.
    """

    mesh: int
    stone: int
    share: float
    start: float = 0.0
    end: float = 1.0


def _add(
    piece: _Piece,
    own: Structure,
    shape: Shape,
    width: float,
    items: list[DrawItem],
    lines: list[DrawLines],
) -> None:
    """Add a piece to what is drawn."""
    positions, normals, edges = shape
    alpha, opacity, share = 1.0, 1.0, piece.share
    if share < 1:
        if own.mode == "mesh":
            opacity = MESHED + (1 - MESHED) * share
        else:
            left = FADED if own.mode == "fade" else 0.0
            alpha = left + (1 - left) * share
        if own.mode == "lines":
            colour = np.array([*EDGE[:3], 1 - share], np.float32)
            lines.append(DrawLines(edges, colour, width))
    if alpha <= 0:
        return
    red, green, blue = (part / TONE for part in own.colour)
    across, offset = 1.0, 0.0
    if own.ends is not None:
        across = piece.end - piece.start
        offset = piece.start * math.dist(*own.ends) / TILE
    look = Look(
        colour=(red, green, blue, alpha),
        texture=piece.stone,
        texture_transform=((across, 0.0, offset), (0.0, 1.0, 0.0)),
        alpha="opaque" if alpha == 1 else "blend",
        opacity=opacity,
    )
    items.append(DrawItem(piece.mesh, positions, normals, look))


def _pillar(own: Structure, span: tuple[float, float]) -> Shape:
    """Vertices and normals (4 * ROUND + 2, 3) of a pillar, and its edges (E, 2, 3)."""
    assert own.middle is not None
    assert own.radius is not None
    turn = np.arange(ROUND + 1) * (2 * math.pi / ROUND)
    turn[-1] = 0.0  # once around: a vertex of its own, for the stones
    # From above counter-clockwise, so that fronts are outside.
    ring = np.stack([np.sin(turn), 0 * turn, np.cos(turn)], 1)
    middle = np.array([own.middle[0], 0.0, own.middle[1]])
    low = middle + own.radius * ring
    low[:, 1] = span[0]
    high = low.copy()
    high[:, 1] = span[1]
    ends = high[:-1], low[:-1]
    positions = np.concatenate([low, high, *ends]).astype(np.float32)
    up = np.broadcast_to([0.0, 1.0, 0.0], (ROUND, 3))
    normals = np.concatenate([ring, ring, up, -up]).astype(np.float32)
    uprights = np.stack([low[:-1], high[:-1]], 1)[:: ROUND // 8]
    rims = [np.stack([end, np.roll(end, -1, 0)], 1) for end in ends[::-1]]
    edges = np.concatenate([uprights, *rims]).astype(np.float32)
    return positions, normals, edges


def _box(own: Structure, span: tuple[float, float], start: float, end: float) -> Shape:
    """Vertices and normals (24, 3) of a part of a wall, and its edges (12, 2, 3)."""
    assert own.ends is not None
    assert own.thickness is not None
    a, b = (np.array(spot) for spot in own.ends)
    way = (b - a) / np.hypot(*(b - a))
    side = np.array([-way[1], way[0]]) * own.thickness / 2
    first, last = a + start * (b - a), a + end * (b - a)
    plan = np.array([first - side, last - side, last + side, first + side])
    corners = np.zeros((8, 3))
    corners[:, [0, 2]] = np.concatenate([plan, plan])
    corners[:4, 1], corners[4:, 1] = span
    quads = np.array(
        [
            (0, 4, 5, 1), (1, 5, 6, 2), (2, 6, 7, 3), (3, 7, 4, 0),
            (4, 7, 6, 5), (0, 1, 2, 3),
        ]
    )  # fmt: skip
    points = corners[quads]
    normals = np.cross(points[:, 1] - points[:, 0], points[:, 2] - points[:, 0])
    normals /= np.linalg.norm(normals, axis=1, keepdims=True)
    ends = [(i, (i + 1) % 4) for i in range(4)]
    ends += [(4 + i, 4 + (i + 1) % 4) for i in range(4)] + [
        (i, i + 4) for i in range(4)
    ]
    return (
        points.reshape(-1, 3).astype(np.float32),
        np.repeat(normals, 4, 0).astype(np.float32),
        corners[np.array(ends)].astype(np.float32),
    )
