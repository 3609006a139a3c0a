"""Skins for meshes that hang on nothing beside a skeleton, so that they can be bound.

Their weights are all of the first joint until a pass makes better ones.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from flexor.arrays import Bools, Ints
from flexor.maths import transforms
from flexor.scene.character.mesh import Mesh
from flexor.scene.character.skeleton import rest_world
from flexor.scene.character.tree import depths, descendants, upward
from flexor.scene.character.weights import Skin, SkinWeights
from flexor.scene.finding import Finding
from flexor.scene.scene import Scene

__all__ = ["bind_scene", "joint_nodes"]

LEAST = 2  # nodes of a tree that looks like a skeleton


def bind_scene(scene: Scene) -> tuple[Scene, list[Finding]]:
    """The scene with a skin for meshes that have none, and what was bound.

    A mesh whose node has a skin but no weights gets weights of that skin. If no mesh of
    the scene has weights, those that no joint carries get a skin too: of the joints of
    the file's skin if it has one, else of its nodes (see joint_nodes), bound at rest.
    Scenes of which nothing is to be bound come back as they are.
    """
    has_weights = any(
        primitive.skin is not None
        for mesh in scene.meshes
        for primitive in mesh.primitives
    )
    node_skin, skins = scene.node_skin.copy(), list(scene.skins)
    joints = joint_nodes(scene)
    if not has_weights and len(joints):
        world = rest_world(scene.skeleton)
        rows: dict[bytes, int] = {}
        for node in _free_meshes(scene, joints).tolist():
            key = world[node].tobytes()
            if key not in rows:
                rows[key] = len(skins)
                binds = transforms.multiply(
                    transforms.invert(world[joints]), world[node]
                )
                skins.append(Skin("bound", joints, binds.astype(np.float32)))
            node_skin[node] = rows[key]
    bound = np.flatnonzero((node_skin >= 0) & (scene.node_mesh >= 0))
    used = set(scene.node_mesh[bound].tolist())
    meshes = tuple(
        _with_weights(mesh) if row in used else mesh
        for row, mesh in enumerate(scene.meshes)
    )
    new = [row for row in sorted(used) if meshes[row] is not scene.meshes[row]]
    if not new:
        return scene, []
    found = [
        Finding(
            "info",
            "mesh-bound",
            scene.meshes[row].name or f"mesh {row}",
            "had no weights and was bound to the joints",
        )
        for row in new
    ]
    bound_scene = replace(scene, meshes=meshes, skins=tuple(skins), node_skin=node_skin)
    return bound_scene, found


def joint_nodes(scene: Scene) -> Ints:
    """Nodes that are joints, int32 (S,): those of the file's first skin, else those
    that clips turn or move, with all below these, else trees of nodes that carry
    nothing. Nodes of meshes are none.
    """
    if scene.skins:
        return scene.skins[0].joints
    skeleton = scene.skeleton
    is_plain = scene.node_mesh < 0
    moved = {node for clip in scene.clips.values() for node in clip.nodes}
    is_joint = np.zeros(len(skeleton), bool)
    for node in range(len(skeleton)):
        above = set(upward(skeleton.parents, node))
        is_joint[node] = is_plain[node] and bool(above & moved)
    if not is_joint.any():
        is_joint = _trees(skeleton.parents, is_plain)
    return np.flatnonzero(is_joint).astype(np.int32)


def _trees(parents: Ints, is_plain: Bools) -> Bools:
    """Nodes of trees of at least LEAST nodes that carry no mesh."""
    count = len(parents)
    own = np.where(is_plain, parents, -1)
    own = np.where((own >= 0) & is_plain[own], own, -1)
    sizes = descendants(own) + 1
    tops = [list(upward(own, node))[-1] for node in range(count)]
    return is_plain & (sizes[tops] >= LEAST)


def _free_meshes(scene: Scene, joints: Ints) -> Ints:
    """Nodes with meshes that no joint but a root carries: other ones are props, or
    parts that move as they are.
    """
    parents = scene.skeleton.parents
    is_joint = np.zeros(len(parents), bool)
    is_joint[joints] = True
    level = depths(parents)
    top = int(level[joints].min())
    moved = {node for clip in scene.clips.values() for node in clip.nodes}
    free = []
    for node in np.flatnonzero(scene.node_mesh >= 0).tolist():
        above = [one for one in upward(parents, node) if is_joint[one]]
        is_carried = any(level[one] > top or one in moved for one in above)
        if node not in moved and not is_carried:
            free.append(node)
    return np.array(free, np.int32)


def _with_weights(mesh: Mesh) -> Mesh:
    """The mesh, all of it on the first joint where it has no weights."""
    if all(primitive.skin is not None for primitive in mesh.primitives):
        return mesh
    primitives = []
    for primitive in mesh.primitives:
        if primitive.skin is None:
            weights = np.zeros((len(primitive), 4), np.float32)
            weights[:, 0] = 1
            tied = SkinWeights(np.zeros((len(primitive), 4), np.uint16), weights)
            primitive = replace(primitive, skin=tied)
        primitives.append(primitive)
    return replace(mesh, primitives=tuple(primitives))
