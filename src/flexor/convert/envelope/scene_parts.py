"""The surfaces of a scene as parts for the envelope converter."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from flexor.arrays import Ints, first_same
from flexor.convert.envelope.parts import EnvelopePart, check_influences
from flexor.errors import ShapeError
from flexor.scene.character.mesh import MorphTarget, Primitive
from flexor.scene.character.normals import vertex_normals
from flexor.scene.character.weights import Skin
from flexor.scene.finding import Finding
from flexor.scene.scene import Scene

__all__ = ["scene_parts", "take_vertices"]


def scene_parts(scene: Scene) -> tuple[list[EnvelopePart], list[Finding]]:
    """Every primitive of the default scene, owned by its node, by node and primitive.

    As in glTF, a skinned primitive goes with its joints alone and a rigid one with its
    node. Gives also what was odd about weights and bind matrices.
    """
    shown = np.nonzero(scene.shown_nodes() & (scene.node_mesh >= 0))[0].tolist()
    findings: list[Finding] = []
    parts = [
        _part(scene, node, row, primitive, findings)
        for node in shown
        for row, primitive in enumerate(scene.meshes[scene.node_mesh[node]].primitives)
    ]
    return parts, findings


def _part(
    scene: Scene,
    node: int,
    row: int,
    primitive: Primitive,
    findings: list[Finding],
) -> EnvelopePart:
    skin_row = int(scene.node_skin[node])
    if skin_row >= 0 and primitive.skin is not None:
        models, binds, row_of = _joints(scene.skins[skin_row])
        given = primitive.skin.weights.astype(np.float64)
        used = np.where(given > 0, primitive.skin.joints, 0)
        named = np.where(given > 0, row_of[used], -1).astype(np.int64)
        mesh = scene.meshes[scene.node_mesh[node]].name
        found, named, given = check_influences(named, given, len(models), 0, mesh)
        findings += found
        joints, weights = named.astype(np.int32), given.astype(np.float32)
    else:
        models, binds = np.array([node], np.int32), np.eye(3, 4)[None]
        joints = np.zeros((len(primitive), 1), np.int32)
        weights = np.ones((len(primitive), 1), np.float32)
    normals = primitive.normals
    if normals is None:
        normals = vertex_normals(primitive)
    return EnvelopePart(
        node,
        models,
        binds,
        primitive.positions,
        normals,
        joints,
        weights,
        primitive.triangles(),
        node,
        row,
        targets=primitive.targets,
    )


def _joints(skin: Skin) -> tuple[Ints, NDArray[np.float64], Ints]:
    """Models (S,), their binds, and for each joint of the skin its row among them.

    Some files name a joint twice: bound alike that is one row, else two of one model.
    """
    is_wild = ~np.isfinite(skin.inverse_binds).all((1, 2))
    if is_wild.any():
        node = int(skin.joints[np.argmax(is_wild)])
        raise ShapeError(f"skin {skin.name!r}: the bind of node {node} is not finite")
    bits = (skin.inverse_binds + np.float32(0)).view(np.int32).reshape(-1, 12)
    same = first_same(np.concatenate([skin.joints[:, None], bits], 1))
    first, row_of = np.unique(same, return_inverse=True)
    order = np.argsort(skin.joints[first], kind="stable")
    place = np.empty(len(order), np.int32)
    place[order] = np.arange(len(order), dtype=np.int32)
    first = first[order]
    binds = skin.inverse_binds[first].astype(np.float64)
    return skin.joints[first], binds, place[row_of]


def take_vertices(
    part: EnvelopePart,
    rows: NDArray[np.intp],
    faces: NDArray[np.int32],
    owner: int,
) -> EnvelopePart:
    """Vertices of a part, some of its faces (F, 3) in their old rows, and an owner."""
    place = np.full(len(part), -1, np.int32)
    place[rows] = np.arange(len(rows), dtype=np.int32)
    targets = tuple(
        MorphTarget(
            None if target.positions is None else target.positions[rows],
            None if target.normals is None else target.normals[rows],
        )
        for target in part.targets
    )
    return replace(
        part,
        owner=owner,
        positions=part.positions[rows],
        normals=part.normals[rows],
        joints=part.joints[rows],
        weights=part.weights[rows],
        faces=place[faces],
        vertices=part.vertices[rows],
        targets=targets,
    )
