"""All triangles of a character as one body, from which levels of detail are made."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from flexor.arrays import Floats, Ints, Words
from flexor.convert.envelope.parts import check_influences
from flexor.errors import ShapeError
from flexor.maths import transforms
from flexor.scene.character.mesh import Primitive
from flexor.scene.character.normals import vertex_normals
from flexor.scene.character.skeleton import rest_world
from flexor.scene.finding import Finding
from flexor.scene.scene import Scene

__all__ = ["LevelBody", "make_level_body", "skin_body", "tidy_influences"]

MOST_SLOTS = 0xFFFF
SAME_PLACE = 1e-5  # of the body's extent: what rounding may part vertices of a seam by


@dataclass(frozen=True, slots=True, eq=False)
class LevelBody:
    """Every vertex of a character that is in a triangle, joined.

    sources: int32 (V, 3), node, primitive and vertex in the scene; positions, normals:
    float32 (V, 3), in the space of the vertex's own mesh, morphs at their rest weights;
    rest: float32 (V, 3), places in the world at rest, vertices of a seam at exactly one
    place; texcoords: float32 (V, 2), of the base colour, zeros where there is none;
    materials: int32 (V,), -1 for none; faces: int32 (F, 3), rows of vertices; joints:
    uint16 (V, K), slots, weights: float32 (V, K), rows sum to 1, slots rising, those
    without weight behind and equal to the first; slots: int32 (S,), the node that each
    follows; binds: float32 (S, 3, 4), node_from_mesh; spaces: int32 (S,), the mesh
    space that each takes points from: a vertex has slots of one space.
    """

    sources: Ints
    positions: Floats
    normals: Floats
    rest: Floats
    texcoords: Floats
    materials: Ints
    faces: Ints
    joints: Words
    weights: Floats
    slots: Ints
    binds: Floats
    spaces: Ints

    def __len__(self) -> int:
        return len(self.sources)


class _Slots:
    """Slots by space, node and bind matrix, numbered as they come."""

    def __init__(self) -> None:
        self.slots: list[int] = []
        self.binds: list[Floats] = []
        self.spaces: list[int] = []
        self._rows: dict[tuple[int, int, bytes], int] = {}
        self._spaces: dict[Any, int] = {}

    def space(self, key: Any) -> int:
        """The number of a space."""
        return self._spaces.setdefault(key, len(self._spaces))

    def row(self, space: int, node: int, bind: Floats) -> int:
        """The slot of a node in a space."""
        key = (space, node, bind.tobytes())
        if key not in self._rows:
            self._rows[key] = len(self.slots)
            self.slots.append(node)
            self.binds.append(bind)
            self.spaces.append(space)
        return self._rows[key]


def make_level_body(scene: Scene) -> tuple[LevelBody, list[Finding]]:
    """Everything with triangles that is shown of a scene, and what was odd about it."""
    slots, findings = _Slots(), []
    parts: list[tuple[NDArray[Any], ...]] = []
    faces, first = [np.zeros((0, 3), np.int32)], 0
    for node in np.flatnonzero(scene.shown_nodes() & (scene.node_mesh >= 0)).tolist():
        mesh = scene.meshes[scene.node_mesh[node]]
        for row, primitive in enumerate(mesh.primitives):
            corners = primitive.triangles()
            if not len(corners):
                if len(primitive):
                    findings.append(_left_out(mesh.name, row))
                continue
            used, rows = np.unique(corners, return_inverse=True)
            part = _part(scene, node, row, primitive, used, slots, findings)
            parts.append(part)
            faces.append(rows.reshape(-1, 3).astype(np.int32) + np.int32(first))
            first += len(used)
    if len(slots.slots) > MOST_SLOTS:
        raise ShapeError(
            f"slots: {len(slots.slots)} pairs of a node and a bind matrix, "
            f"at most {MOST_SLOTS} can be told apart"
        )
    wide = max((part[-1].shape[1] for part in parts), default=1)
    nodes = np.array(slots.slots, np.int32)
    binds = np.array(slots.binds, np.float32).reshape(-1, 3, 4)
    joined = [_joined(column, wide) for column in zip(*parts, strict=True)] or _empty()
    sources, positions, normals, texcoords, materials, joints, weights = joined
    joints, weights = tidy_influences(joints, weights)
    world = rest_world(scene.skeleton).astype(np.float32)[None]
    rest = skin_body(world, nodes, binds, positions, joints, weights)[0]
    return LevelBody(
        sources,
        positions,
        normals,
        _closed_seams(positions, rest),
        texcoords,
        materials,
        np.concatenate(faces),
        joints,
        weights,
        nodes,
        binds,
        np.array(slots.spaces, np.int32),
    ), findings


def _left_out(name: str, row: int) -> Finding:
    return Finding(
        "info",
        "no-triangles",
        f"{name}/{row}",
        "points, lines and what has no whole triangle are in no level of detail",
    )


def _empty() -> list[NDArray[Any]]:
    shapes = (3, np.int32), (3, np.float32), (3, np.float32), (2, np.float32)
    rows: list[NDArray[Any]] = [np.zeros((0, width), kind) for width, kind in shapes]
    few = np.zeros((0, 1), np.int64), np.zeros((0, 1), np.float32)
    return [*rows, np.zeros(0, np.int32), *few]


def _joined(parts: tuple[NDArray[Any], ...], wide: int) -> NDArray[Any]:
    """Rows of all parts; those of influences filled up to the same width."""
    if any(part.ndim == 2 and part.shape[1] != parts[0].shape[1] for part in parts):
        filled = [np.pad(p, ((0, 0), (0, wide - p.shape[1]))) for p in parts]
        return np.concatenate(filled)
    return np.concatenate(parts)


def _part(
    scene: Scene,
    node: int,
    row: int,
    primitive: Primitive,
    used: NDArray[np.int32],
    slots: _Slots,
    findings: list[Finding],
) -> tuple[NDArray[Any], ...]:
    """The columns of one primitive, in the order of `make_level_body`.

    used: the vertices (U,) that are in a triangle.
    """
    mesh = scene.meshes[scene.node_mesh[node]].name
    joints, weights, found = _influences(scene, node, primitive, used, slots, mesh)
    findings += found
    positions = _morphed(scene, node, primitive)[used]
    is_wild = ~np.isfinite(positions).all(1)
    if is_wild.any():
        vertex = int(used[np.argmax(is_wild)])
        raise ShapeError(f"mesh {mesh!r}, primitive {row}: vertex {vertex}: not finite")
    sources = np.empty((len(used), 3), np.int32)
    sources[:] = node, row, 0
    sources[:, 2] = used
    material = -1 if primitive.material is None else primitive.material
    return (
        sources,
        positions,
        _normals(scene, node, primitive)[used],
        _texcoords(scene, primitive)[used],
        np.full(len(used), material, np.int32),
        joints,
        weights,
    )


def _influences(
    scene: Scene,
    node: int,
    primitive: Primitive,
    used: NDArray[np.int32],
    slots: _Slots,
    name: str,
) -> tuple[NDArray[np.int64], Floats, list[Finding]]:
    """Slots and weights (U, K) of vertices; weight 0 where there is none."""
    skin_row = int(scene.node_skin[node])
    if skin_row < 0 or primitive.skin is None:
        own = slots.row(slots.space(node), node, np.eye(3, 4, dtype=np.float32))
        joints = np.full((len(used), 1), own, np.int64)
        return joints, np.ones((len(used), 1), np.float32), []
    skin = scene.skins[skin_row]
    named = primitive.skin.joints.astype(np.int64)
    given = primitive.skin.weights.astype(np.float64)
    found, named, given = check_influences(named, given, len(skin.joints), 0, name)
    named, given = named[used], given[used]
    space = slots.space((skin.joints.tobytes(), skin.inverse_binds.tobytes()))
    row_of = np.zeros(len(skin.joints) + 1, np.int64)  # the last: none
    for joint in np.unique(named[named >= 0]).tolist():
        bind = skin.inverse_binds[joint]
        if not np.isfinite(bind).all():
            at = int(skin.joints[joint])
            raise ShapeError(f"skin {skin.name!r}: the bind of node {at} is not finite")
        row_of[joint] = slots.row(space, int(skin.joints[joint]), bind)
    return row_of[named], given.astype(np.float32), found


def _morphed(scene: Scene, node: int, primitive: Primitive) -> Floats:
    """Positions (V, 3) with the morphs that are on at rest."""
    positions = primitive.positions.copy()
    shares = scene.rest_weights(node).tolist()
    for share, target in zip(shares, primitive.targets, strict=True):
        if share and target.positions is not None:
            positions += np.float32(share) * target.positions
    return positions


def _normals(scene: Scene, node: int, primitive: Primitive) -> Floats:
    """Unit normals (V, 3) with the morphs that are on at rest."""
    normals = primitive.normals
    if normals is None:
        normals = vertex_normals(primitive)
    normals = normals.copy()
    shares = scene.rest_weights(node).tolist()
    for share, target in zip(shares, primitive.targets, strict=True):
        if share and target.normals is not None:
            normals += np.float32(share) * target.normals
    length = np.linalg.norm(normals, axis=1, keepdims=True)
    is_good = np.isfinite(length) & (length > 0)
    unit = np.where(is_good, normals, [0, 0, 1]) / np.where(is_good, length, 1)
    return unit.astype(np.float32)


def _texcoords(scene: Scene, primitive: Primitive) -> Floats:
    """Where the base colour's texture is read: (V, 2), zeros where it is not."""
    blank = np.zeros((len(primitive), 2), np.float32)
    if primitive.material is None:
        return blank
    texture = scene.materials[primitive.material].base_texture
    if texture is None or texture.texcoord >= len(primitive.texcoords):
        return blank
    given = primitive.texcoords[texture.texcoord]
    return np.where(np.isfinite(given), given, np.float32(0))


def tidy_influences(
    joints: NDArray[np.integer[Any]], weights: Floats
) -> tuple[Words, Floats]:
    """Influences (V, K) in one form: each slot once, rising, none that has no weight.

    Places that are left over have weight 0 and the slot of the first. K becomes as
    small as it can be, at least 1.
    """
    last = np.int64(1) << 32
    names = np.where(weights > 0, joints, last)
    pulls = np.where(weights > 0, weights, np.float32(0))
    names, pulls = _by_name(names, pulls)
    for place in range(names.shape[1] - 1, 0, -1):
        is_same = (names[:, place] == names[:, place - 1]) & (names[:, place] < last)
        pulls[is_same, place - 1] += pulls[is_same, place]
        names[is_same, place] = last
    names, pulls = _by_name(names, np.where(names < last, pulls, np.float32(0)))
    most = max(int(np.count_nonzero(names < last, axis=1).max(initial=1)), 1)
    names, pulls = names[:, :most], pulls[:, :most]
    names = np.where(names < last, names, names[:, :1])
    return names.astype(np.uint16), np.ascontiguousarray(pulls)


def _by_name(
    names: NDArray[np.int64], pulls: Floats
) -> tuple[NDArray[np.int64], Floats]:
    columns = np.argsort(names, axis=1, kind="stable")
    return np.take_along_axis(names, columns, 1), np.take_along_axis(pulls, columns, 1)


def skin_body(
    world: Floats,
    slots: Ints,
    binds: Floats,
    positions: Floats,
    joints: Words,
    weights: Floats,
) -> Floats:
    """Vertices in poses: float32 (N, V, 3).

    world: (N, J, 3, 4), world_from_node; the rest as in `LevelBody`.
    """
    placed = np.empty((len(world), len(positions), 3), np.float32)
    for pose, nodes in enumerate(world):
        matrices = transforms.multiply(nodes[slots], binds)
        blended = np.zeros((len(positions), 3, 4), np.float32)
        for place in range(joints.shape[1]):
            pulled = matrices[joints[:, place]]
            pulled *= weights[:, place, None, None]
            blended += pulled
        turned = np.einsum("vij,vj->vi", blended[:, :, :3], positions)
        placed[pose] = turned + blended[:, :, 3]
    return placed


def _closed_seams(positions: Floats, rest: Floats) -> Floats:
    """Places at rest (V, 3) where vertices that stand together do so exactly.

    Vertices at the same place of their meshes are put at the place of the first of
    them, if they only lie apart by rounding: what is closed must be seen to be closed.
    """
    if not len(rest):
        return rest
    bits = np.ascontiguousarray(positions + np.float32(0)).view(np.int32)  # no -0
    _, first, group = np.unique(bits, axis=0, return_index=True, return_inverse=True)
    leader = rest[first[group.reshape(-1)]]
    extent = float(np.ptp(rest, axis=0).max())
    is_near = np.abs(leader - rest).max(1) <= SAME_PLACE * extent
    return np.where(is_near[:, None], leader, rest)
