"""Which edges of a surface get a stroke: the slow twin."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from flexor.draw.drawlist import DrawMesh, Strokes
from tests.oracle.raster.colour import unit
from tests.oracle.raster.pieces import View


def stroke_edges(
    mesh: DrawMesh, positions: Any, view: View, strokes: Strokes
) -> list[tuple[int, int]]:
    """Edges as pairs of vertices, each once, in the order of the faces."""
    welded = np.arange(mesh.vertex_count) if mesh.welded is None else mesh.welded
    around: dict[tuple[int, int], list[int]] = {}
    ends: dict[tuple[int, int], tuple[int, int]] = {}
    for number, face in enumerate(mesh.faces):
        if not np.isfinite(positions[face]).all():
            continue
        for n in range(len(face)):
            a, b = int(face[n]), int(face[(n + 1) % len(face)])
            edge = (int(min(welded[a], welded[b])), int(max(welded[a], welded[b])))
            if edge[0] != edge[1]:
                around.setdefault(edge, []).append(number)
                ends.setdefault(edge, (a, b))
    normals = [face_normal(positions[face]) for face in mesh.faces]
    fronts = [
        float(normal @ view.toward(positions[face[0]])) > 0
        for normal, face in zip(normals, mesh.faces, strict=True)
    ]
    kept = []
    for edge, faces in around.items():
        sides = {fronts[number] for number in faces}
        if (
            strokes.wire
            or (strokes.silhouette and len(sides) == 2)
            or (strokes.border and len(faces) == 1)
            or (strokes.crease is not None and bend(normals, faces) > strokes.crease)
        ):
            kept.append(ends[edge])
    return kept


def face_normal(corners: Any) -> Any:
    """Unit normal of a triangle or a quad; zero if it has no area or is not finite."""
    if not np.isfinite(corners).all():
        return np.zeros(3)
    if len(corners) == 3:
        return unit(np.cross(corners[1] - corners[0], corners[2] - corners[0]))
    return unit(np.cross(corners[2] - corners[0], corners[3] - corners[1]))


def bend(normals: list[Any], faces: list[int]) -> float:
    """The largest angle between two of the faces, radians; below 0 if there is one."""
    angles = [
        math.acos(min(1.0, max(-1.0, float(normals[a] @ normals[b]))))
        for a in faces
        for b in faces
        if a < b
    ]
    return max(angles, default=-1.0)
