"""Parts of an envelope as things to draw, taken one by one as they are finished."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from flexor.arrays import Floats, Ints
from flexor.draw.drawlist import DrawItem, DrawLines, DrawMesh
from flexor.draw.scene.build import Dress, DressedPart, build_items
from flexor.errors import SettingError, ShapeError
from flexor.scene.runtime.envelope import Envelope
from flexor.scene.runtime.layout import NODE, PRIMITIVE

__all__ = ["EnvelopeDraw"]


class EnvelopeDraw:
    """Draws a character part by part, with the polygons of its envelope.

    Call it with each finished part: its number, and float32 (6, V), x y z nx ny nz of
    its vertices, which may be overwritten afterwards. When all have come, `items` gives
    what to draw. Strokes are refused: every cut between parts would be drawn as a
    border.
    """

    def __init__(self, dress: Dress, envelope: Envelope) -> None:
        rows = {
            (dressed.part.node, dressed.part.primitive): row
            for row, dressed in enumerate(dress.parts)
        }
        places = envelope.parts[:, [NODE, PRIMITIVE]].tolist()
        missing = [place for place in map(tuple, places) if place not in rows]
        if missing:
            node, primitive = missing[0]
            raise ShapeError(f"envelope: no primitive {primitive} at node {node}")
        order = [rows[node, primitive] for node, primitive in places]
        parts = tuple(
            _take(dress, dress.parts[row], envelope, part)
            for part, row in enumerate(order)
        )
        self._dress = replace(
            dress,
            parts=parts,
            guides=dress.guides[order],
            mirrors=dress.mirrors[order],
        )
        counts = [len(envelope.part_order(part)) for part in range(len(parts))]
        self._positions = [np.zeros((count, 3), np.float32) for count in counts]
        self._normals = [np.zeros((count, 3), np.float32) for count in counts]

    def __call__(self, part: int, area: Floats) -> None:
        """Take a part that is finished."""
        self._positions[part][:] = area[:3].T
        self._normals[part][:] = area[3:].T

    def items(
        self, world: Floats
    ) -> tuple[tuple[DrawItem, ...], tuple[DrawLines, ...]]:
        """Surfaces and lines of all parts as they came last; world: (J, 3, 4)."""
        return build_items(self._dress, self._positions, self._normals, world)


def _take(
    dress: Dress, whole: DressedPart, envelope: Envelope, part: int
) -> DressedPart:
    """One part of a surface, uploaded."""
    if whole.strokes is not None:
        raise SettingError("strokes: parts of an envelope are drawn without")
    order = envelope.part_order(part)
    heat = None if whole.heat is None else whole.heat[order]
    colours = None if whole.colours is None else whole.colours[order]
    own = whole.part
    if own.ends is not None:
        entry = np.zeros(int(order.max(initial=-1)) + 1, np.int32)
        entry[order] = np.arange(len(order), dtype=np.int32)
        own = replace(own, ends=entry[own.ends])
    if whole.mesh is None:
        return replace(whole, part=own, heat=heat, colours=colours)
    mesh = _take_mesh(whole.mesh, order, envelope.part_faces(part))
    number = dress.assets.backend.upload(mesh)
    own = replace(own, number=number, mesh=mesh)
    return DressedPart(own, number, mesh, whole.look, None, heat, colours)


def _take_mesh(mesh: DrawMesh, order: Ints, faces: Ints) -> DrawMesh:
    if mesh.smooth is not None:
        raise SettingError("smooth: parts of an envelope are smooth, or flat, whole")
    return DrawMesh(
        len(order),
        faces.copy(),
        texcoords=None if mesh.texcoords is None else mesh.texcoords[order],
        colours=None if mesh.colours is None else mesh.colours[order],
    )
