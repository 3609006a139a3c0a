"""A soft shadow on the floor, where a character comes near it.

Points spread evenly over the surface are dropped onto a small grid, those near the
floor count more; the grid is blurred and drawn as a black sheet that is seen through.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from flexor.arrays import Floats, Ints
from flexor.draw.backend import Backend
from flexor.draw.drawlist import DrawItem, DrawMesh, Look

__all__ = [
    "ShadowState",
    "SurfaceSamples",
    "cast_shadow",
    "init_shadow",
    "sample_points",
    "sample_surface",
    "shadow_reach",
    "upload_shadow",
]

SAMPLES = 2500
SIDE = 40  # vertices along each side of the grid
CELLS = 26  # along a thing's size
FAINTEST = 0.008  # what is fainter is not drawn
SEEN = 0.015  # where an edge through a shadow would be seen
LOOK = Look(colour=(0.0, 0.0, 0.0, 1.0), alpha="blend", shading="unlit")
# Two shadows: reach above the floor in sizes, blur in cells, gain, darkness at most.
LAYERS = ((0.07, 1.0, 3.0, 0.6), (0.7, 2.4, 2.4, 0.45))


@dataclass(frozen=True, slots=True, eq=False)
class SurfaceSamples:
    """Points on a surface. corners: int32 (3, S), vertices of all parts in a row;
    shares: float32 (3, S, 1), of each corner; area: square metres for each point.
    """

    corners: Ints
    shares: Floats
    area: float


@dataclass(slots=True, eq=False)
class ShadowState:
    """A shadow in a backend, made anew in every frame.

    mesh: number of the grid; size: metres, of what casts it; cell: metres between the
    grid's vertices; positions: float32 (G, 3); colours: float32 (G, 4).
    """

    mesh: int
    size: float
    cell: float
    positions: Floats
    colours: Floats
    _blurs: tuple[NDArray[np.float64], ...] = field(repr=False)
    _window: NDArray[np.float64] = field(repr=False)


def sample_surface(
    positions: Sequence[Floats], faces: Sequence[Ints], count: int = SAMPLES
) -> SurfaceSamples:
    """Spread points evenly over the surface of all parts.

    positions: (V, 3) of each part; faces: (F, 3) of each. The same surface gives the
    same points.
    """
    firsts = np.cumsum([0, *(len(part) for part in positions)])
    joined = [part + first for part, first in zip(faces, firsts, strict=False)]
    corners = np.concatenate([*joined, np.zeros((0, 3), np.int64)]).astype(np.int64)
    places = np.concatenate([*positions, np.zeros((0, 3))]).astype(np.float64)
    with np.errstate(all="ignore"):  # what is not finite has no area
        a, b, c = np.moveaxis(places[corners], 1, 0)
        areas = np.linalg.norm(np.cross(b - a, c - a), axis=1) / 2
    areas[~np.isfinite(areas)] = 0
    total = float(areas.sum())
    if not 0 < total < np.inf:
        return SurfaceSamples(
            np.zeros((3, 0), np.int32), np.zeros((3, 0, 1), np.float32), 0.0
        )
    steps = (np.arange(count) + 0.5) / count * total
    picked = np.minimum(np.searchsorted(np.cumsum(areas), steps), len(areas) - 1)
    # A sequence that fills the unit square evenly, folded into a triangle.
    u = np.arange(count) * 0.7548776662466927 % 1
    v = np.arange(count) * 0.5698402909980532 % 1
    over = u + v > 1
    u, v = np.where(over, 1 - u, u), np.where(over, 1 - v, v)
    shares = np.stack([1 - u - v, u, v])[..., None]
    rows = np.ascontiguousarray(corners[picked].T, np.int32)
    return SurfaceSamples(rows, shares.astype(np.float32), total / count)


def sample_points(samples: SurfaceSamples, positions: Sequence[Floats]) -> Floats:
    """Where the points of a surface are now: (S, 3)."""
    if not samples.corners.size:
        return np.zeros((0, 3), np.float32)
    whole = positions[0] if len(positions) == 1 else np.concatenate(positions)
    with np.errstate(all="ignore"):  # vertices that are not finite are left out later
        points = whole.take(samples.corners, 0)
        points *= samples.shares
        moved: Floats = points[0] + points[1] + points[2]
    return moved


def upload_shadow(backend: Backend) -> int:
    """Upload the grid that all shadows have; gives its number."""
    rows, columns = np.indices((SIDE - 1, SIDE - 1))
    first = (rows * SIDE + columns).ravel()
    quads = np.stack([first, first + 1, first + SIDE + 1, first + SIDE], 1)
    return backend.upload(DrawMesh(SIDE * SIDE, quads.astype(np.int32)))


def init_shadow(mesh: int, size: float) -> ShadowState:
    """Room for the shadow of a thing of `size` metres; mesh: from upload_shadow."""
    steps = np.arange(SIDE)
    gaps = steps[:, None] - steps
    blurs = []
    for _, width, _, _ in LAYERS:
        blur = np.exp(-0.5 * (gaps / width) ** 2)
        blurs.append(blur / (width * np.sqrt(2 * np.pi)))
    edge = np.clip(np.minimum(steps, SIDE - 1 - steps) / 4, 0, 1)
    return ShadowState(
        mesh,
        size,
        size / CELLS,
        np.zeros((SIDE * SIDE, 3), np.float32),
        np.zeros((SIDE * SIDE, 4), np.float32),
        tuple(blurs),
        np.outer(edge, edge),
    )


def cast_shadow(
    state: ShadowState, points: Floats, area: float, floor: float
) -> DrawItem | None:
    """The shadow of points (S, 3) that stand for `area` square metres each.

    floor: metres above 0. None where nothing is near the floor. The item uses the
    state's arrays: it holds until the next call.
    """
    reach = max(layer[0] for layer in LAYERS) * state.size
    with np.errstate(invalid="ignore"):
        low = points[points[:, 1] < floor + reach]
        low = low[np.isfinite(low).all(1)]
    if not len(low):
        return None
    x, y, z = low.T.astype(np.float64)
    cell = state.cell
    # On multiples of a cell, so that the shadow of a thing at rest does not swim.
    left = round(float(x.mean()) / cell) - SIDE // 2
    far = round(float(z.mean()) / cell) - SIDE // 2
    x, z = np.rint(x / cell) - left, np.rint(z / cell) - far
    inside = (x >= 0) & (x < SIDE) & (z >= 0) & (z < SIDE)
    places = np.where(inside, x * SIDE + z, 0).astype(np.intp)
    high = np.maximum(y - floor, 0) / state.size
    light = np.ones((SIDE, SIDE))
    for (layer, _, gain, darkness), blur in zip(LAYERS, state._blurs, strict=True):
        weights = np.maximum(1 - high / layer, 0)
        weights *= weights
        weights *= inside
        heap = np.bincount(places, weights, SIDE * SIDE).reshape(SIDE, SIDE)
        cover = 1 - np.exp(heap * (-area / cell**2))
        light *= 1 - darkness * (1 - np.exp(blur @ cover @ blur * -gain))
    dark = np.maximum((1 - light) * state._window - FAINTEST, 0)
    rows, columns = np.nonzero(dark)
    if not len(rows):
        return None
    grid = state.positions.reshape(SIDE, SIDE, 3)
    # What is around the visible part is folded onto its rim: it has no area there and
    # costs nothing.
    steps = np.arange(SIDE)
    across = np.clip(steps, rows.min() - 1, rows.max() + 1) + left
    along = np.clip(steps, columns.min() - 1, columns.max() + 1) + far
    grid[..., 0] = (across * cell)[:, None]
    # A little above the floor, so that it lies on what is drawn there.
    grid[..., 1] = floor + 0.001 * state.size
    grid[..., 2] = along * cell
    state.colours[:, 3] = dark.ravel()
    return DrawItem(state.mesh, state.positions, None, LOOK, colours=state.colours)


def shadow_reach(shadow: DrawItem | None) -> Floats:
    """How far a shadow is seen: points (P, 3) of its grid."""
    if shadow is None or shadow.colours is None:
        return np.zeros((0, 3), np.float32)
    seen: Floats = shadow.positions[shadow.colours[:, 3] > SEEN]
    return seen
