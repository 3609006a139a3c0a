"""Uploaded meshes and textures as the kernels read them."""

from __future__ import annotations

import math
from dataclasses import dataclass
from threading import Lock

import numpy as np
from numpy.typing import NDArray

from flexor.arrays import Ints, address
from flexor.draw.drawlist import DrawMesh, DrawTexture
from flexor.draw.raster import layout as at
from flexor.maths.colour import linear_from_srgb, srgb_from_linear

__all__ = [
    "KeptMesh",
    "KeptTexture",
    "encode_table",
    "find_edges",
    "keep_texture",
]

BAND = 128  # rows of a texture that are worked on at a time
WRAPS = {"repeat": at.REPEAT, "mirror": at.MIRROR, "clamp": at.CLAMP}


class KeptMesh:
    """A mesh; its edges are found when strokes first need them.

    triangles: int32 (T, 3); smooth: uint8 (T,), or None.
    """

    def __init__(self, mesh: DrawMesh) -> None:
        self.mesh = mesh
        self.triangles = np.ascontiguousarray(mesh.triangles)
        self.corners = mesh.faces.shape[1]
        self.smooth: NDArray[np.uint8] | None = None
        if mesh.smooth is not None:
            per_face = self.corners - 2
            self.smooth = np.repeat(mesh.smooth.astype(np.uint8), per_face)
        self._edges: Ints | None = None
        self._lock = Lock()

    @property
    def edges(self) -> Ints:
        """Each edge once, (E, 4): its ends, and the third corners of the faces on both
        sides, such that (a, b, c) and (b, a, d) go around as the faces do; d is -1 at a
        border. The diagonals of quads are no edges.
        """
        # Found once and kept: tables name them by their address.
        with self._lock:
            if self._edges is None:
                self._edges = find_edges(self.mesh)
            return self._edges


def find_edges(mesh: DrawMesh) -> Ints:
    """See KeptMesh.edges. Where more than two faces meet, each pairs with the next."""
    faces = mesh.faces
    if mesh.welded is not None:
        faces = mesh.welded[faces]
    if not len(faces):
        return np.empty((0, 4), np.int32)
    a = faces.reshape(-1)
    b = np.roll(faces, -1, 1).reshape(-1)
    c = np.roll(faces, -2, 1).reshape(-1)
    is_edge = a != b
    a, b, c = a[is_edge], b[is_edge], c[is_edge]
    low, high = np.minimum(a, b), np.maximum(a, b)
    order = np.lexsort((high, low))
    a, b, c, low, high = (values[order] for values in (a, b, c, low, high))
    is_new = np.ones(len(a), bool)
    is_new[1:] = (low[1:] != low[:-1]) | (high[1:] != high[:-1])
    first = np.flatnonzero(is_new)
    count = np.diff(np.append(first, len(a)))
    edges = np.full((len(first), 4), -1, np.int32)
    edges[:, 0], edges[:, 1], edges[:, 2] = a[first], b[first], c[first]
    has_other = count > 1
    edges[has_other, 3] = c[first[has_other] + 1]
    return np.ascontiguousarray(edges)


def encode_table(rows: int) -> NDArray[np.uint8]:
    """SRGB bytes of linear light, in `rows` equal steps from 0 to 1."""
    levels = srgb_from_linear(np.arange(rows) / (rows - 1))
    return np.round(levels).astype(np.uint8)


@dataclass(frozen=True, slots=True, eq=False)
class KeptTexture:
    """texels: uint16, linear RGBA of all levels; row: int64, its table row."""

    texels: NDArray[np.uint16]
    row: NDArray[np.int64]


def keep_texture(texture: DrawTexture) -> KeptTexture:
    """Decode a texture and make its smaller levels: means of 2 x 2 in linear light."""
    decode = np.round(linear_from_srgb(np.arange(256)) * 65535).astype(np.uint16)
    sizes = [texture.pixels.shape[:2]]
    while texture.has_mipmaps and max(sizes[-1]) > 1 and len(sizes) < at.MOST_LEVELS:
        sizes.append((max(sizes[-1][0] // 2, 1), max(sizes[-1][1] // 2, 1)))
    row = np.zeros(at.TEXTURE_INTS, np.int64)
    texels = np.empty(4 * sum(math.prod(size) for size in sizes), np.uint16)
    begin, above = 0, np.zeros((0, 0, 4), np.uint16)
    for number, (height, width) in enumerate(sizes):
        first = at.LEVEL_ROWS + 3 * number
        row[first : first + 3] = begin, width, height
        end = begin + width * height
        level = texels[4 * begin : 4 * end].reshape(height, width, 4)
        # In bands: what is in between takes several times the room of a texture.
        for low in range(0, height, BAND):
            band = slice(low, min(low + BAND, height))
            if number:
                level[band] = _halve(above[2 * band.start : 2 * band.stop])
            else:
                own = texture.pixels[band]
                level[band, :, :3] = decode[own[..., :3]]
                level[band, :, 3] = own[..., 3].astype(np.uint16) * 257
        begin, above = end, level
    row[at.TEXELS], row[at.TEXEL_COUNT] = address(texels), len(texels)
    row[at.LEVELS], row[at.IS_NEAREST] = len(sizes), texture.is_nearest
    row[at.WRAP_S], row[at.WRAP_T] = WRAPS[texture.wrap_s], WRAPS[texture.wrap_t]
    return KeptTexture(texels, row)


def _halve(level: NDArray[np.uint16]) -> NDArray[np.uint16]:
    """Half as wide and high, rounded down, at least 1."""
    height, width = max(level.shape[0] // 2, 1), max(level.shape[1] // 2, 1)
    rows = level[: 2 * height].astype(np.uint32)
    rows = rows[0::2] + rows[1::2] if level.shape[0] > 1 else rows * 2
    columns = rows[:, : 2 * width]
    both = columns[:, 0::2] + columns[:, 1::2] if level.shape[1] > 1 else columns * 2
    return ((both + 2) // 4).astype(np.uint16)
