"""A scene in a backend: what does not change from frame to frame, uploaded once."""

from __future__ import annotations

import threading
from dataclasses import dataclass, field, replace

import numpy as np
from numpy.typing import NDArray

from flexor.arrays import Floats, Ints
from flexor.draw.backend import Backend
from flexor.draw.drawlist import DrawMesh, Look
from flexor.draw.scene.looks import look_of
from flexor.draw.scene.textures import read_texture
from flexor.draw.scene.weld import weld_vertices
from flexor.scene.character.material import Material
from flexor.scene.character.mesh import LINE_LOOP, LINE_STRIP, LINES, POINTS, Primitive
from flexor.scene.finding import Finding
from flexor.scene.scene import Scene

__all__ = ["Part", "SceneAssets", "upload_scene"]


@dataclass(frozen=True, slots=True, eq=False)
class Part:
    """A primitive at a node, as it was uploaded.

    node, primitive: where it stands in the file; number: of its mesh in the backend, -1
    if it has no triangles; mesh: what was uploaded; look: of its material; guide: the
    node that pulls it most; is_mirrored: whether the bind matrix of that node mirrors;
    has_normals: whether the file gives any; ends: int32 (L, 2), vertices at the ends of
    lines, both the same for points; end_colours: float32 (L, 4).
    """

    node: int
    primitive: int
    number: int
    mesh: DrawMesh | None
    look: Look
    guide: int = 0
    is_mirrored: bool = False
    has_normals: bool = True
    ends: Ints | None = None
    end_colours: Floats | None = None


@dataclass(slots=True, eq=False)
class SceneAssets:
    """A scene in a backend. parts: in the order in which a character is deformed."""

    scene: Scene
    backend: Backend
    parts: tuple[Part, ...]
    _turned: dict[int, int] = field(default_factory=dict, repr=False)
    _lock: threading.Lock = field(default_factory=threading.Lock, repr=False)

    def turned(self, number: int, mesh: DrawMesh) -> int:
        """The number of a mesh whose faces go the other way around.

        Uploaded when first asked for: few characters ever need it.
        """
        with self._lock:
            if number not in self._turned:
                turned = replace(mesh, faces=mesh.faces[:, ::-1].copy())
                self._turned[number] = self.backend.upload(turned)
            return self._turned[number]


def upload_scene(
    backend: Backend, scene: Scene
) -> tuple[SceneAssets, tuple[Finding, ...]]:
    """Upload what is shown of a scene; gives it by parts, and what was wrong with it.

    A mesh at several nodes, and a texture in several materials, is uploaded once.
    """
    findings: list[Finding] = []
    textures: dict[int, int] = {}
    pictures: dict[int, NDArray[np.uint8]] = {}
    surfaces: dict[tuple[int, int], Part] = {}

    def upload_texture(row: int) -> int:
        if row not in textures:
            texture, found = read_texture(scene, row, pictures)
            findings.extend(found)
            textures[row] = backend.upload(texture)
        return textures[row]

    parts = []
    for node in np.nonzero(scene.shown_nodes() & (scene.node_mesh >= 0))[0].tolist():
        mesh_row = int(scene.node_mesh[node])
        for row, primitive in enumerate(scene.meshes[mesh_row].primitives):
            place = mesh_row, row
            if place not in surfaces:
                where = f"/meshes/{mesh_row}/primitives/{row}"
                material = Material()
                if primitive.material is not None:
                    material = scene.materials[primitive.material]
                look, texcoord, found = look_of(
                    material, primitive, where, upload_texture
                )
                findings += found
                surfaces[place] = _upload(backend, primitive, look, texcoord)
            guide, is_mirrored = _guide(scene, node, primitive)
            parts.append(
                replace(
                    surfaces[place],
                    node=node,
                    primitive=row,
                    guide=guide,
                    is_mirrored=is_mirrored,
                )
            )
    return SceneAssets(scene, backend, tuple(parts)), tuple(findings)


def _upload(backend: Backend, primitive: Primitive, look: Look, texcoord: int) -> Part:
    """A primitive, not yet at a node."""
    colours = None
    if primitive.colours:
        given = primitive.colours[0]
        colours = np.ones((len(primitive), 4), np.float32)
        colours[:, : given.shape[1]] = given
    ends = _ends(primitive)
    if len(ends):
        tints = np.tile(np.array(look.colour, np.float32), (len(ends), 1))
        if colours is not None:
            tints *= (colours[ends[:, 0]] + colours[ends[:, 1]]) / 2
        return Part(0, 0, -1, None, look, ends=ends, end_colours=tints)
    faces = primitive.triangles()
    if not len(faces):
        return Part(0, 0, -1, None, look)
    has_texcoords = texcoord < len(primitive.texcoords)
    mesh = DrawMesh(
        len(primitive),
        faces,
        texcoords=primitive.texcoords[texcoord] if has_texcoords else None,
        colours=colours,
        welded=weld_vertices(primitive),
    )
    number = backend.upload(mesh)
    return Part(0, 0, number, mesh, look, has_normals=primitive.normals is not None)


def _ends(primitive: Primitive) -> Ints:
    """Vertices (L, 2) at the ends of lines; a point is a line of no length."""
    if primitive.indices is None:
        row = np.arange(len(primitive), dtype=np.int32)
    else:
        row = primitive.indices.astype(np.int32)
    if primitive.mode == POINTS:
        return np.stack([row, row], 1)
    if primitive.mode == LINES:
        return row[: len(row) // 2 * 2].reshape(-1, 2)
    if primitive.mode == LINE_STRIP:
        return np.stack([row[:-1], row[1:]], 1)
    if primitive.mode == LINE_LOOP:
        return np.stack([row, np.roll(row, -1)], 1)
    return np.zeros((0, 2), np.int32)


def _guide(scene: Scene, node: int, primitive: Primitive) -> tuple[int, bool]:
    """The node that pulls a primitive most, and whether its bind matrix mirrors."""
    skin_row = int(scene.node_skin[node])
    if skin_row < 0 or primitive.skin is None or not len(primitive):
        return node, False
    skin = scene.skins[skin_row]
    pulls = np.bincount(primitive.skin.joints.ravel(), primitive.skin.weights.ravel())
    joint = int(np.argmax(pulls))
    with np.errstate(all="ignore"):  # a hostile matrix mirrors or does not
        is_mirrored = np.linalg.det(skin.inverse_binds[joint, :, :3].astype(float)) < 0
    return int(skin.joints[joint]), bool(is_mirrored)
