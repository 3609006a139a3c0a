"""How much a joint collapses, by plain loops: one pose, one vertex, one face at a time.

For skins with one primitive whose faces share vertices.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from flexor.convert.shape.body import Body
from flexor.convert.shape.joint_regions import Region
from flexor.convert.shape.surface import Surface
from flexor.scene.character.mesh import Primitive
from flexor.scene.character.weights import SkinWeights
from flexor.scene.scene import Scene
from tests.oracle import deform
from tests.oracle import pose as poses


def turn_matrix(axis: Any, angle: float) -> Any:
    """A rotation (3, 3) about a unit axis, by the formula of Rodrigues."""
    x, y, z = axis
    skew = np.array([[0, -z, y], [z, 0, -x], [-y, x, 0]])
    return np.eye(3) + math.sin(angle) * skew + (1 - math.cos(angle)) * skew @ skew


def posed(
    scene: Scene, body: Body, row: int, axis: Any, angle: float, wanted: Any = None
) -> Any:
    """Vertices (V, 3) with a joint turned about an axis of mesh space.

    wanted: rows of those that are needed, None for all; the others are NaN.
    The turn is put between the joint's world matrix and its bind, for it and for all
    nodes below: no local transforms are needed. Links are not known here.
    """
    skeleton = scene.skeleton
    world = poses.world_matrices(skeleton, poses.local_matrices(skeleton, None, 0))
    node = int(body.joints[row])
    skin = scene.skins[body.skins[0]]
    mesh, number = body.places[0]
    linear = world[node][:, :3] @ np.asarray(skin.inverse_binds[row], float)[:, :3]
    way = linear @ axis
    turn = turn_matrix(way / np.linalg.norm(way), angle)
    pivot = world[node][:, 3].copy()
    for other in range(len(skeleton)):
        above = other
        while above >= 0 and above != node:
            above = int(skeleton.parents[above])
        if above == node:
            world[other][:, :3] = turn @ world[other][:, :3]
            world[other][:, 3] = pivot + turn @ (world[other][:, 3] - pivot)
    primitive = scene.meshes[mesh].primitives[number]
    assert primitive.skin is not None
    rows = np.arange(len(primitive)) if wanted is None else wanted
    tied = SkinWeights(primitive.skin.joints[rows], primitive.skin.weights[rows])
    some = Primitive(primitive.positions[rows], skin=tied)
    positions = np.full((len(primitive), 3), np.nan)
    positions[rows], _ = deform.deform(some, skin, world, 0, [])
    return positions


def volume(region: Region, surface: Surface, vertices: Any) -> float:
    """Of a region, in tetrahedra from its first point; rims close on their mean."""
    places = [
        np.asarray(vertices[surface.vertex_of_point[point]], float)
        for point in region.points
    ]
    faces = [tuple(face) for face in region.faces[: region.open_faces].tolist()]
    sides = {(face[i], face[(i + 1) % 3]) for face in faces for i in range(3)}
    follows = {a: b for a, b in sides if (b, a) not in sides}
    corners = [[places[i] for i in face] for face in faces]
    while follows:
        loop = [next(iter(follows))]
        while loop[-1] in follows:
            loop.append(follows.pop(loop[-1]))
        loop.pop()
        middle = sum(places[i] for i in loop) / len(loop)
        for i, a in enumerate(loop):
            corners.append([places[loop[(i + 1) % len(loop)]], places[a], middle])
    total = 0.0
    for a, b, c in corners:
        total += float(np.dot(np.cross(a - places[0], b - places[0]), c - places[0]))
    return total / 6
