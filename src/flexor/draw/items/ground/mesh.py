"""Which triangles a ground is drawn with: few where it is flat.

Square blocks of cells, of 2, 4, 8 or 16 each way, are drawn as one where no height in
them is farther from the plane between their corners than it may be. A block is a fan
around its middle, whose rim has all the corners of the smaller blocks beside it: so
there are no gaps between large and small ones.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from flexor.arrays import Doubles, Longs
from flexor.scene.stage.ground import Ground
from flexor.scene.stage.zone import Zone

__all__ = ["flat_within", "ground_faces"]

LARGEST = 16  # cells, of a block
EXACT = 5e-4  # metres that nobody sees
# Beyond the walls that keep characters in: metres more for each metre away, at most.
LOOSE, LOOSEST = 0.004, 0.012


def flat_within(ground: Ground, zones: tuple[Zone, ...]) -> Doubles:
    """How far each cell may be drawn from where it is: metres (R - 1, C - 1).

    Where nobody can come, beyond all zones that keep characters in, it may be the more
    the farther away it is.
    """
    rows, columns = ground.surfaces.shape
    within: Doubles = np.full((rows, columns), EXACT)
    keeping = [zone.corners for zone in zones if zone.keeps == "in"]
    if not keeping:
        return within
    corners = np.concatenate(keeping)
    low, high = corners.min(0), corners.max(0)
    z = ground.corner[1] + (np.arange(rows)[:, None] + 0.5) * ground.step
    x = ground.corner[0] + (np.arange(columns) + 0.5) * ground.step
    away_x = np.maximum(np.maximum(low[0] - x, x - high[0]), 0)
    away_z = np.maximum(np.maximum(low[1] - z, z - high[1]), 0)
    away = np.maximum(np.hypot(away_x, away_z) - 2 * ground.step, 0)
    found: Doubles = within + np.minimum(LOOSE * away, LOOSEST)
    return found


def ground_faces(heights: Doubles, within: Doubles) -> tuple[Longs, Longs]:
    """Triangles (F, 3), each corner as a cell and which of its corners.

    heights: (R, C); within: (R - 1, C - 1), metres. Gives numbers of cells, and 0 to 3
    for the corners of a cell in the order a c d b: at the least z and x, at the least x
    alone, at the greatest of both, at the least z alone.
    """
    sizes = _block_sizes(heights, within)
    columns = within.shape[1]
    # What goes on beyond the edges meets every point there.
    is_used = np.ones(heights.shape, bool)
    is_used[1:-1, 1:-1] = False
    blocks: list[tuple[int, int, int]] = []
    size = LARGEST
    while size > 1:
        found = np.argwhere(sizes[::size, ::size] == size) * size
        blocks += [(r, c, size) for r, c in found.tolist()]
        size //= 2
    small = np.argwhere(sizes == 1)
    for r, c, size in blocks:
        is_used[r : r + size + 1 : size, c : c + size + 1 : size] = True
    for dr in (0, 1):
        for dc in (0, 1):
            is_used[small[:, 0] + dr, small[:, 1] + dc] = True
    number = (small[:, 0] * columns + small[:, 1])[:, None]
    cells = [np.broadcast_to(number, (len(small), 6)).reshape(-1, 3)]
    corners = [np.tile([[0, 1, 2], [0, 2, 3]], (len(small), 1))]
    for r, c, size in blocks:
        own_cells, own_corners = _fan(is_used, columns, r, c, size)
        cells.append(own_cells)
        corners.append(own_corners)
    return np.concatenate(cells), np.concatenate(corners)


def _block_sizes(heights: Doubles, within: Doubles) -> Longs:
    """The size of the block that each cell is in: (R - 1, C - 1), 1 for itself."""
    rows, columns = within.shape
    sizes = np.ones((rows, columns), np.int64)
    size = 2
    while size <= LARGEST and min(rows, columns) >= size:
        down, along = rows // size, columns // size
        corners = heights[: down * size + 1 : size, : along * size + 1 : size]
        a, b = corners[:-1, :-1], corners[:-1, 1:]
        c, d = corners[1:, :-1], corners[1:, 1:]
        part = sizes[: down * size, : along * size]
        halves = part.reshape(down, size, along, size).transpose(0, 2, 1, 3)
        is_flat = (halves == size // 2).all((2, 3))
        most = within[: down * size, : along * size]
        most = most.reshape(down, size, along, size).min((1, 3))
        far = np.zeros((down, along))
        for i in range(size + 1):
            left, right = a + (c - a) * (i / size), b + (d - b) * (i / size)
            own = heights[i : i + down * size : size]
            for j in range(size + 1):
                plane = left + (right - left) * (j / size)
                off = np.abs(own[:, j : j + along * size : size] - plane)
                np.maximum(far, off, out=far)
        is_flat &= far <= most
        blocks = np.repeat(np.repeat(is_flat, size, 0), size, 1)
        part[blocks] = size
        size *= 2
    return sizes


def _fan(
    is_used: NDArray[np.bool_], columns: int, r: int, c: int, size: int
) -> tuple[Longs, Longs]:
    """The triangles of a block, around its middle."""
    last = size - 1
    rim: list[tuple[int, int]] = []  # cell and corner, counter-clockwise from above
    # Each side is seen from the cells of the block that lie along it; what begins the
    # next side ends this one.
    for k in range(size):
        if is_used[r + k, c]:
            rim.append(((r + k) * columns + c, 0))
    for k in range(size):
        if is_used[r + size, c + k]:
            rim.append(((r + last) * columns + c + k, 1))
    for k in range(size):
        if is_used[r + size - k, c + size]:
            rim.append(((r + last - k) * columns + c + last, 2))
    for k in range(size):
        if is_used[r, c + size - k]:
            rim.append((r * columns + c + last - k, 3))
    half = size // 2
    middle = ((r + half) * columns + c + half, 0)
    faces = [(middle, rim[n], rim[(n + 1) % len(rim)]) for n in range(len(rim))]
    both = np.array(faces, np.int64)
    return both[..., 0], both[..., 1]
