"""A draw list as the tables that the kernels read; see `layout`."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache

import numpy as np
from numpy.typing import NDArray

from flexor.arrays import Floats, Ints, address
from flexor.draw.drawlist import (
    DrawBackdrop,
    DrawItem,
    DrawLines,
    DrawList,
    Look,
    Strokes,
)
from flexor.draw.raster import layout as at
from flexor.draw.raster.assets import KeptMesh
from flexor.draw.raster.stream import make_stream
from flexor.draw.target import Target
from flexor.errors import SettingError
from flexor.maths.colour import linear_from_srgb
from flexor.scene.character.camera import Camera
from flexor.scene.character.light import Light

__all__ = ["Tables", "make_tables"]

SHADINGS = {
    "unlit": at.UNLIT,
    "vertex": at.BY_VERTEX,
    "pixel": at.BY_PIXEL,
    "flat": at.BY_FACE,
    "cel": at.CEL,
}
ALPHAS = {"opaque": at.OPAQUE, "mask": at.MASK, "blend": at.BLEND}
KINDS = {"ambient": at.AMBIENT, "directional": at.DIRECTIONAL, "point": at.POINT}
# Strokes are pulled toward the camera so that they win against the surface they lie on:
# by so many times their width, as surfaces do not rise more steeply but at their edge.
# Not by more than a share of the distance, or lines would come through thin parts.
PULL, MOST_PULL = 2.5, 0.01
VERTICES_A_CHUNK = 512
MOST_ELEMENTS = 1 << 30

Row = tuple[int, ...]

BAYER = np.array([[0]])
for _ in range(3):
    BAYER = np.block([[4 * BAYER, 4 * BAYER + 2], [4 * BAYER + 3, 4 * BAYER + 1]])


@dataclass(slots=True, eq=False)
class Tables:
    """All inputs of a frame. Rows name the arrays of the draw list by their address, so
    they serve as long as the list is held.
    """

    view: NDArray[np.float64]
    frame: NDArray[np.int64]
    items: NDArray[np.int64]
    looks: Floats
    lines: NDArray[np.int64]
    widths: Floats
    lights: Floats
    segments: NDArray[np.int64]
    chunks: NDArray[np.int64]
    order: Ints
    patterns: Ints
    ranks: Floats
    behind: Floats
    vertex_count: int
    lit_rows: int
    has_lines: bool
    chunk_size: int


def make_tables(
    draw_list: DrawList, target: Target, meshes: Sequence[KeptMesh]
) -> Tables:
    """Lay out a draw list whose numbers have been checked."""
    # Rows are plain tuples until all is known: NumPy is slow at single numbers, and
    # this is done for every picture.
    items, looks, counts, patterns = _item_rows(draw_list.items, meshes)
    lines, widths, line_count = _line_rows(draw_list.lines)
    vertices, triangles, edges, lit = counts
    if triangles + edges + line_count > MOST_ELEMENTS:
        raise SettingError(f"too much to draw: more than {MOST_ELEMENTS} elements")
    width, height = target.size
    r, g, b, a = draw_list.background
    backdrop = _backdrop_level(draw_list, (width, height))
    buffers = (target.depth, target.normal, target.part, target.heat)
    has_buffers = any(buffer is not None for buffer in buffers)
    frame = {
        at.IS_FLAT_VIEW: draw_list.camera.height is not None,
        at.WIDTH: width,
        at.HEIGHT: height,
        at.TILES_X: -(-width // at.TILE_W),
        at.TILES_Y: -(-height // at.TILE_H),
        at.SAMPLES: target.samples,
        at.IS_SORTED: draw_list.order == "sort",
        at.VERTEX_COUNT: vertices,
        at.TRIANGLE_COUNT: triangles,
        at.EDGE_COUNT: edges,
        at.VERTEX_CHUNKS: -(-vertices // VERTICES_A_CHUNK),
        at.BACKGROUND: int(r) | int(g) << 8 | int(b) << 16 | int(a) << 24,
        at.HAS_BUFFERS: has_buffers,
    }
    view = _view(draw_list.camera, (width, height))
    if backdrop is not None:
        own, level = backdrop
        rows, columns = level.shape
        frame |= {
            at.BACKDROP: address(level),
            at.BACKDROP_W: columns,
            at.BACKDROP_H: rows,
        }
        view = view.copy()
        view[at.BACKDROP_HIGH] = own.high
        view[at.BACKDROP_FINE] = rows / (own.high - own.low)
    sums = (triangles, edges, line_count)
    stream = make_stream(draw_list, items, lines, meshes, sums)
    return Tables(
        view,
        np.array([frame.get(i, 0) for i in range(at.FRAME_INTS)], np.int64),
        np.array(items or [(0,) * at.ITEM_INTS], np.int64).reshape(-1),
        np.array(looks or [(0,) * at.ITEM_FLOATS], np.float32).reshape(-1),
        np.array(lines or [(0,) * at.LINE_INTS], np.int64).reshape(-1),
        np.array(widths or [0], np.float32),
        _light_rows(draw_list.lights),
        stream.segments.reshape(-1),
        stream.chunks,
        stream.order,
        np.concatenate(patterns) if patterns else _NO_PATTERN,
        stream.ranks,
        _linear(draw_list.background),
        vertices,
        lit,
        edges + line_count > 0,
        stream.chunk_size,
    )


def _backdrop_level(
    draw_list: DrawList, size: tuple[int, int]
) -> tuple[DrawBackdrop, NDArray[np.uint32]] | None:
    """The backdrop and the one of its levels whose pixels are about as large as those
    of a picture.
    """
    own, camera = draw_list.backdrop, draw_list.camera
    if own is None or camera.height is not None:
        return None if own is None else (own, own.levels[-1])
    wide = own.levels[0].shape[1] / (2 * math.pi) / camera.scale(size)
    row = math.floor(math.log2(max(wide, 1e-9)) + 0.5)
    return own, own.levels[min(max(row, 0), len(own.levels) - 1)]


@lru_cache(maxsize=16)
def _linear(background: tuple[int, int, int, int]) -> Floats:
    """Linear colour times alpha."""
    alpha = background[3] / 255
    colour = linear_from_srgb(background[:3]) * alpha
    return np.array([*colour, alpha], np.float32)


@lru_cache(maxsize=16)
def _view(camera: Camera, size: tuple[int, int]) -> NDArray[np.float64]:
    """The camera's row; it looks along a third axis on which distance grows."""
    right, up, back = camera.view().tolist()
    scale = camera.scale(size)
    view = np.zeros(at.FRAME_SIZE)
    view[: at.SCALE] = [*right, *up, *(-number for number in back)]
    view[at.SCALE] = scale * at.SUB
    view[at.CENTRE_X], view[at.CENTRE_Y] = size[0] * at.SUB / 2, size[1] * at.SUB / 2
    view[at.NEAR] = camera.near
    view[at.EYE : at.EYE + 3] = camera.eye if camera.height is None else back[:3]
    view[at.PULL] = PULL / scale
    view[at.MOST_PULL] = MOST_PULL * (1 if camera.height is None else camera.height)
    return view


@lru_cache(maxsize=16)
def _light_rows(lights: tuple[Light, ...]) -> Floats:
    rows = np.zeros((len(lights), at.LIGHT_FLOATS), np.float32)
    for row, light in zip(rows, lights, strict=True):
        row[at.LIGHT_KIND] = KINDS[light.kind]
        row[1:4] = light.colour
        if light.kind == "directional":
            toward = -np.array(light.direction, np.float64)
            row[4:7] = toward / np.linalg.norm(toward)
        elif light.kind == "point":
            row[4:7] = light.position
        row[at.LIGHT_REACH] = light.reach
        row[8:11] = light.colour if light.ground is None else light.ground
    return rows.reshape(-1)


def _line_rows(groups: Sequence[DrawLines]) -> tuple[list[Row], list[float], int]:
    """Rows, widths and the number of lines in all."""
    rows: list[Row] = []
    first = 0
    for group in groups:
        step = 0 if group.colours.ndim == 1 else 4
        count = len(group.points)
        where = address(group.points), address(group.colours)
        rows.append((*where, step, count, first, group.part))
        first += count
    return rows, [group.width for group in groups], first


_NO_LOOK = Look(shading="unlit")
_NO_STROKES = Strokes()
_NO_PATTERN = np.zeros(8, np.int32)


def _item_rows(
    items: Sequence[DrawItem], meshes: Sequence[KeptMesh]
) -> tuple[list[Row], list[tuple[float, ...]], tuple[int, int, int, int], list[Ints]]:
    """Rows of numbers and of looks; how many vertices, triangles, edges and lit rows
    there are in all; patterns.
    """
    rows: list[Row] = []
    looks: list[tuple[float, ...]] = []
    patterns: list[Ints] = []
    vertex = triangle = edge = lit = 0
    for item in items:
        kept, look = meshes[item.mesh], item.look or _NO_LOOK
        strokes = item.strokes or _NO_STROKES
        count = len(item.positions) if item.positions.ndim == 3 else 1
        vertices = item.positions.shape[-2]
        shading = SHADINGS[look.shading]
        if item.normals is None and shading != at.UNLIT:
            shading = at.BY_FACE
        has_edges = item.strokes is not None
        pattern = -1
        if look.opacity < 1:
            pattern = len(patterns)
            patterns.append(_pattern(look.opacity))
        is_lit = shading == at.BY_VERTEX and item.look is not None
        is_two_sided = look.cull == "none"
        rows.append(
            (
                address(item.positions),
                address(item.normals),
                address(kept.triangles),
                address(kept.mesh.texcoords),
                address(kept.mesh.colours if item.colours is None else item.colours),
                address(kept.smooth),
                address(item.tints),
                address(item.heat),
                address(kept.edges) if has_edges else 0,
                vertices,
                count,
                len(kept.triangles),
                vertex,
                triangle,
                lit if is_lit else -1,
                len(kept.edges) if has_edges else 0,
                edge,
                shading,
                is_two_sided,
                ALPHAS[look.alpha],
                look.texture,
                look.emissive_texture,
                pattern,
                item.part,
                at.AT_SILHOUETTE * strokes.silhouette
                | at.AT_BORDER * strokes.border
                | at.AT_CREASE * (strokes.crease is not None)
                | at.AT_ALL * strokes.wire,
            )
        )
        looks.append(
            (
                *look.colour,
                *look.texture_transform[0],
                *look.texture_transform[1],
                look.cutoff,
                *look.emissive,
                look.cel_bands,
                *strokes.colour,
                strokes.width,
                math.cos(strokes.crease) if strokes.crease is not None else -2,
            )
        )
        vertex += vertices * count
        triangle += len(kept.triangles) * count
        if has_edges:
            edge += len(kept.edges) * count
        if is_lit:
            lit += vertices * count * (2 if is_two_sided else 1)
    return rows, looks, (vertex, triangle, edge, lit), patterns


def _pattern(opacity: float) -> Ints:
    """Rows of 8 for a screen door, each 16 wide: -1 where a pixel is left out."""
    is_out = np.tile(BAYER >= opacity * 64, (1, 2))
    return np.where(is_out, -1, 0).astype(np.int32).reshape(-1)
