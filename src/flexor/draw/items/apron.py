"""What lies around a ground: it goes on beyond its edges, and fades into haze.

Rings lie around the ground, each farther out and of fewer and longer pieces than the
one within, to hundreds of metres: from any camera its rim is so near the horizon, and
so hazy, that it is not seen.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from itertools import pairwise

import numpy as np
from numpy.typing import NDArray

from flexor.arrays import Floats
from flexor.draw.backend import Backend
from flexor.draw.drawlist import RGB, DrawItem, DrawMesh, Look
from flexor.draw.items.ground.picture import COLOURS, Plain
from flexor.draw.scene.lighting import light_on
from flexor.scene.character.light import Light
from flexor.scene.stage.ground import Ground
from flexor.scene.stage.layout import SURFACES

__all__ = ["ApronAssets", "build_apron", "upload_apron"]

# Metres from the edge of a ground to the rings of its apron, within which what is at
# the edge gives way to plain ground, and over which plain ground gives way to the land.
RINGS = (1.0, 3.0, 6.0, 10.0, 16.0, 24.0, 36.0, 54.0, 80.0, 120.0, 190.0, 300.0, 500.0)
BLENDS = 6.0
LAND = (7.0, 40.0)
HAZY, SLOW = 130.0, 1.3  # metres after which haze hides all but 1 / e, and a power
FEWEST = 6  # pieces of a side of a ring, where the ground's own edge has as many


@dataclass(frozen=True, slots=True, eq=False)
class ApronAssets:
    """What lies around a ground, in a backend.

    mesh: its number; positions, normals: float32 (V, 3); colours: float32 (V, 3),
    linear; far: float32 (V,), how much of them gives way to the land far away; faded:
    float32 (V,), how much of them is gone, 0 at the ground's edge to 1.
    """

    mesh: int
    positions: Floats
    normals: Floats
    colours: Floats
    far: Floats
    faded: Floats


def upload_apron(
    backend: Backend,
    ground: Ground,
    plain: Plain = "grass",
    *,
    is_clear: bool = False,
) -> ApronAssets:
    """Upload the apron of a ground, as high as its edges; as upload_ground."""
    rows, columns = ground.heights.shape
    rings = [_ring(ground, 0.0, (rows - 1, columns - 1))]
    counts = [rows - 1, columns - 1]
    for beyond in RINGS:
        counts = [n if n <= FEWEST else max(-(-n // 2), FEWEST) for n in counts]
        rings.append(_ring(ground, beyond, (counts[0], counts[1])))
    faces, first = [], 0
    for (_, inner), (_, outer) in pairwise(rings):
        faces.append(_between(inner, outer) + first)
        first += len(inner)
    spots = np.concatenate([spots for spots, _ in rings])
    inside = spots.copy()
    for axis, count in enumerate((columns, rows)):
        low = ground.corner[axis]
        high = low + (count - 1) * ground.step
        np.clip(spots[:, axis], low, high, out=inside[:, axis])
    c, r = np.rint((inside - ground.corner) / ground.step).astype(np.intp).T
    places = np.stack([spots[:, 0], _heights(ground, inside), spots[:, 1]], 1)
    # Ground goes on level beyond an edge; along it, it is as there.
    is_beside, is_beyond = (c == 0) | (c == columns - 1), (r == 0) | (r == rows - 1)
    along_z = np.asarray(np.gradient(ground.heights, ground.step, axis=0))
    along_x = np.asarray(np.gradient(ground.heights, ground.step, axis=1))
    slope_z = np.where(is_beyond, 0.0, along_z[r, c])
    slope_x = np.where(is_beside, 0.0, along_x[r, c])
    normals = np.stack([-slope_x, np.ones(len(c)), -slope_z], 1)
    normals /= np.linalg.norm(normals, axis=1, keepdims=True)
    away = np.linalg.norm(spots - inside, axis=1)
    mean = np.array([np.mean(COLOURS[name], 0) for name in (plain, *SURFACES[1:])])
    if is_clear:
        mean[SURFACES.index("water")] = np.mean(COLOURS["floor"], 0)
    cells = ground.surfaces[np.minimum(r, rows - 2), np.minimum(c, columns - 2)]
    own = np.clip(1 - away / BLENDS, 0, 1)[:, None]
    colours = mean[0] + own * (mean[cells] - mean[0])
    far = np.clip((away - LAND[0]) / (LAND[1] - LAND[0]), 0, 1)
    faded = 1 - np.exp(-((away / HAZY) ** SLOW))
    faded /= 1 - np.exp(-((RINGS[-1] / HAZY) ** SLOW))
    return ApronAssets(
        backend.upload(DrawMesh(len(spots), np.concatenate(faces).astype(np.int32))),
        places.astype(np.float32),
        normals.astype(np.float32),
        colours.astype(np.float32),
        (far * far * (3 - 2 * far)).astype(np.float32),
        np.clip(faded, 0, 1).astype(np.float32),
    )


def _heights(ground: Ground, spots: NDArray[np.float64]) -> NDArray[np.float64]:
    """Heights at spots (n, 2) on the rim of a ground, straight between its points."""
    rows, columns = ground.heights.shape
    u, v = ((spots - ground.corner) / ground.step).T
    c = np.clip(np.floor(u), 0, columns - 2).astype(np.intp)
    r = np.clip(np.floor(v), 0, rows - 2).astype(np.intp)
    high, part_u, part_v = ground.heights, u - c, v - r
    top = high[r, c] + part_u * (high[r, c + 1] - high[r, c])
    low = high[r + 1, c] + part_u * (high[r + 1, c + 1] - high[r + 1, c])
    return np.asarray(top + part_v * (low - top))


def _ring(
    ground: Ground, beyond: float, counts: tuple[int, int]
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Spots (n, 2) once around a ground, and how far around each is, 0 to 4: a side
    each. counts: of pieces, along z and along x.
    """
    rows, columns = ground.heights.shape
    low = np.array(ground.corner) - beyond
    high = np.array(ground.corner) + beyond
    high += (np.array([columns, rows]) - 1) * ground.step
    a, b = low, np.array([low[0], high[1]])
    c, d = high, np.array([high[0], low[1]])
    spots, around = [], []
    for side, (start, end) in enumerate(((a, b), (b, c), (c, d), (d, a))):
        count = counts[side % 2]
        share = np.arange(count) / count
        spots.append(start + share[:, None] * (end - start))
        around.append(side + share)
    return np.concatenate(spots), np.concatenate(around)


def _between(
    inner: NDArray[np.float64], outer: NDArray[np.float64]
) -> NDArray[np.int64]:
    """Triangles (n, 3) between two rings whose vertices follow each other; each is
    given by how far around its spots are.
    """
    n, m = len(inner), len(outer)
    ends = [*inner[1:].tolist(), 4.0], [*outer[1:].tolist(), 4.0]
    i = j = 0
    faces = []
    while i < n or j < m:
        is_inner = i < n and (j == m or ends[0][i] <= ends[1][j])
        third = (i + 1) % n if is_inner else n + (j + 1) % m
        faces.append((i % n, n + j % m, third))
        i, j = i + is_inner, j + (not is_inner)
    return np.array(faces, np.int64)


def build_apron(
    assets: ApronAssets,
    lights: Iterable[Light],
    paper: RGB | None,
    land: RGB | None = None,
) -> DrawItem:
    """The apron, lit as the ground is, and fading into the paper: linear, None for
    nothing at all; land: linear colour of what is far away, None for plain ground as
    far as is seen.
    """
    own = assets.colours
    if land is not None:
        own = own + assets.far[:, None] * (np.array(land, np.float32) - own)
    lit = own * light_on(lights, assets.positions, assets.normals)
    faded = assets.faded[:, None]
    colours = np.ones((len(lit), 4), np.float32)
    if paper is None:
        colours[:, :3], colours[:, 3:] = lit, 1 - faded
    else:
        colours[:, :3] = lit + (np.array(paper, np.float32) - lit) * faded
    look = Look(alpha="blend" if paper is None else "opaque", shading="unlit")
    return DrawItem(assets.mesh, assets.positions, None, look, colours=colours)
