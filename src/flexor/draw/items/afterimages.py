"""Afterimages as what a backend draws: parts of a body, fainter with age."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from flexor.arrays import Floats, Ints
from flexor.draw.drawlist import DrawItem, DrawLines, DrawMesh, Look
from flexor.draw.scene.upload import SceneAssets
from flexor.scene.stage.effect_settings import AfterimageStyle

__all__ = ["AfterimageAssets", "build_afterimage", "upload_afterimages"]

LINE = (0.03, 0.03, 0.04)  # linear colour of lines


@dataclass(frozen=True, slots=True, eq=False)
class AfterimageAssets:
    """A group of parts in a backend: of each surface, the number of its mesh, -1 where
    it has none of them, its look, and its edges, int32 (E, 2).
    """

    meshes: tuple[int, ...]
    looks: tuple[Look, ...]
    edges: tuple[Ints, ...]


def upload_afterimages(
    assets: SceneAssets, vertices: Sequence[Ints], faces: Sequence[Ints]
) -> AfterimageAssets:
    """Upload some parts of all surfaces of a scene.

    vertices: of each surface, (P,), rows; faces: of each, (F, 3), into those.
    """
    meshes, looks, edges = [], [], []
    for part, rows, own in zip(assets.parts, vertices, faces, strict=True):
        looks.append(part.look)
        pairs = np.sort(own[:, [[0, 1], [1, 2], [2, 0]]].reshape(-1, 2), axis=1)
        edges.append(np.unique(pairs, axis=0).astype(np.int32))
        mesh = part.mesh
        if mesh is None or not len(own):
            meshes.append(-1)
            continue
        small = DrawMesh(
            len(rows),
            own.copy(),
            None if mesh.texcoords is None else mesh.texcoords[rows],
            None if mesh.colours is None else mesh.colours[rows],
        )
        meshes.append(assets.backend.upload(small))
    return AfterimageAssets(tuple(meshes), tuple(looks), tuple(edges))


def build_afterimage(
    assets: AfterimageAssets,
    positions: Sequence[Floats],
    normals: Sequence[Floats],
    tints: Floats,
    strength: float,
    style: AfterimageStyle = "transparent",
    width: float = 1.0,
) -> tuple[list[DrawItem], list[DrawLines]]:
    """What n characters looked like.

    positions, normals: of each surface, float32 (n, P, 3); tints: float32 (n, 4);
    strength: how much is seen of it, 0 to 1; width: pixels, of lines.
    """
    items: list[DrawItem] = []
    lines: list[DrawLines] = []
    for row, number in enumerate(assets.meshes):
        if number < 0:
            continue
        if style == "lines":
            points = positions[row][:, assets.edges[row]].reshape(-1, 2, 3)
            colour = np.array([*LINE, strength], np.float32)
            lines.append(DrawLines(np.ascontiguousarray(points), colour, width))
            continue
        look = assets.looks[row]
        if style == "mesh":
            look = replace(look, opacity=strength)
        else:
            red, green, blue, alpha = look.colour
            look = replace(
                look, colour=(red, green, blue, alpha * strength), alpha="blend"
            )
        items.append(DrawItem(number, positions[row], normals[row], look, tints=tints))
    return items, lines
