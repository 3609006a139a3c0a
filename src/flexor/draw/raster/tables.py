"""A draw list as the tables that the kernels read; see kernel_layout."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache

import numpy as np
from numpy.typing import NDArray

from flexor.arrays import Floats, Ints
from flexor.draw.drawlist import DrawItem, DrawLines, DrawList, Look, Strokes
from flexor.draw.raster import kernel_layout as at
from flexor.draw.raster.assets import KeptMesh, address
from flexor.draw.raster.stream import make_stream
from flexor.draw.target import Target
from flexor.errors import SettingError
from flexor.scene.camera import Camera
from flexor.scene.light import Light

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
    lit_rows: int


def make_tables(
    draw_list: DrawList,
    target: Target,
    meshes: Sequence[KeptMesh],
) -> Tables:
    """Lay out a draw list whose numbers have been checked."""
    items, looks, lit_rows, patterns = _item_rows(draw_list.items, meshes)
    lines, widths = _line_rows(draw_list.lines)
    last = items[-1]
    triangles = int(last[at.FIRST_TRIANGLE] + last[at.FACES] * last[at.INSTANCES])
    edges = int(last[at.FIRST_EDGE] + last[at.EDGES_EACH] * last[at.INSTANCES])
    vertices = int(last[at.FIRST_VERTEX] + last[at.VERTICES] * last[at.INSTANCES])
    line_count = int(lines[-1, at.FIRST_LINE] + lines[-1, at.LINES])
    if triangles + edges + line_count > MOST_ELEMENTS:
        raise SettingError(f"too much to draw: more than {MOST_ELEMENTS} elements")
    size = target.size
    frame = np.zeros(at.FRAME_INTS, np.int64)
    camera = draw_list.camera
    frame[at.IS_FLAT_VIEW] = camera.height is not None
    frame[at.WIDTH], frame[at.HEIGHT] = size
    frame[at.TILES_X] = -(-size[0] // at.TILE_W)
    frame[at.TILES_Y] = -(-size[1] // at.TILE_H)
    frame[at.SAMPLES] = target.samples
    frame[at.IS_SORTED] = draw_list.order == "sort"
    frame[at.VERTEX_COUNT], frame[at.TRIANGLE_COUNT] = vertices, triangles
    frame[at.EDGE_COUNT], frame[at.LINE_COUNT] = edges, line_count
    frame[at.VERTEX_CHUNKS] = -(-vertices // VERTICES_A_CHUNK)
    r, g, b, a = (int(level) for level in draw_list.background)
    frame[at.BACKGROUND] = r | g << 8 | b << 16 | a << 24
    buffers = (target.depth, target.normal, target.part, target.heat)
    frame[at.HAS_BUFFERS] = any(buffer is not None for buffer in buffers)
    counts = (triangles, edges, line_count)
    stream = make_stream(draw_list, items, lines, meshes, counts)
    return Tables(
        _view(camera, size),
        frame,
        items,
        looks,
        lines,
        widths,
        _light_rows(draw_list.lights),
        stream.segments,
        stream.chunks,
        stream.order,
        patterns,
        stream.ranks,
        _linear(draw_list.background),
        lit_rows,
    )


@lru_cache(maxsize=16)
def _linear(background: tuple[int, int, int, int]) -> Floats:
    """Linear colour times alpha."""
    level = np.array(background) / 255
    linear = np.where(level <= 0.04045, level / 12.92, ((level + 0.055) / 1.055) ** 2.4)
    linear[3] = level[3]
    linear[:3] *= level[3]
    return linear.astype(np.float32)


def _view(camera: Camera, size: tuple[int, int]) -> NDArray[np.float64]:
    view = np.zeros(at.FRAME_SIZE)
    matrix = camera.view()
    matrix[2] *= -1  # distance grows away from the camera
    view[: at.SCALE] = matrix.reshape(-1)
    view[at.SCALE] = camera.scale(size) * at.SUB
    view[at.CENTRE_X], view[at.CENTRE_Y] = size[0] * at.SUB / 2, size[1] * at.SUB / 2
    view[at.NEAR] = camera.near
    view[at.EYE : at.EYE + 3] = (
        camera.eye if camera.height is None else camera.axes()[2]
    )
    view[at.PULL] = PULL / camera.scale(size)
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


def _line_rows(groups: Sequence[DrawLines]) -> tuple[NDArray[np.int64], Floats]:
    if not groups:
        return np.zeros((1, at.LINE_INTS), np.int64), np.zeros(1, np.float32)
    rows, first = [], 0
    for group in groups:
        step = 0 if group.colours.ndim == 1 else 4
        rows.append(
            (
                address(group.points),
                address(group.colours),
                step,
                len(group.points),
                first,
                group.part,
            )
        )
        first += len(group.points)
    widths = np.array([group.width for group in groups], np.float32)
    return np.array(rows, np.int64), widths


_NO_LOOK = Look(shading="unlit")
_NO_STROKES = Strokes()


def _item_rows(
    items: Sequence[DrawItem], meshes: Sequence[KeptMesh]
) -> tuple[NDArray[np.int64], Floats, int, Ints]:
    if not items:
        none = np.zeros((1, at.ITEM_FLOATS), np.float32)
        return np.zeros((1, at.ITEM_INTS), np.int64), none, 0, np.zeros(8, np.int32)
    rows: list[tuple[int, ...]] = []
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
                np.cos(strokes.crease) if strokes.crease is not None else -2,
            )
        )
        vertex += vertices * count
        triangle += len(kept.triangles) * count
        if has_edges:
            edge += len(kept.edges) * count
        if is_lit:
            lit += vertices * count * (2 if is_two_sided else 1)
    flat = np.concatenate(patterns) if patterns else np.zeros(8, np.int32)
    return np.array(rows, np.int64), np.array(looks, np.float32), lit, flat


def _pattern(opacity: float) -> Ints:
    """Rows of 8 for a screen door, each 16 wide: -1 where a pixel is left out."""
    is_out = np.tile(BAYER >= opacity * 64, (1, 2))
    return np.where(is_out, -1, 0).astype(np.int32).reshape(-1)
