"""What hangs on one set of joints, as one: the form in which weights are mended."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise

import numpy as np
from numpy.typing import NDArray

from flexor.arrays import Floats, Ints, first_same
from flexor.convert.shape.surface import Surface, make_surface
from flexor.maths import exact, transforms
from flexor.scene.character.mesh import Primitive
from flexor.scene.character.normals import vertex_normals
from flexor.scene.character.skeleton import Link, Skeleton, rest_world
from flexor.scene.character.tree import nearest
from flexor.scene.character.weights import Skin, SkinWeights
from flexor.scene.scene import Scene

__all__ = [
    "Body",
    "Pull",
    "body_surface",
    "gather_bodies",
    "joint_parents",
    "merge_same",
    "rows_of",
    "same_rows",
    "skin_weights",
    "with_pulls",
]


@dataclass(frozen=True, slots=True, eq=False)
class Pull:
    """Which joints pull each of R vertices or points, and how much.

    joints: int32 (R, K), rows among the body's joints, -1 for none; weights: float32
    (R, K), not negative, 0 where there is no joint; a row sums to 1, or to 0 where
    nothing pulls. No row names a joint twice.
    """

    joints: Ints
    weights: Floats

    def __len__(self) -> int:
        return len(self.joints)

    def take(self, rows: Ints) -> Pull:
        """Some of the rows."""
        return Pull(self.joints[rows], self.weights[rows])

    def widened(self, width: int) -> Pull:
        """A copy in `width` columns, at least as many as there are."""
        joints = np.full((len(self), width), -1, np.int32)
        weights = np.zeros((len(self), width), np.float32)
        joints[:, : self.joints.shape[1]] = self.joints
        weights[:, : self.joints.shape[1]] = self.weights
        return Pull(joints, weights)

    def dense(self, joint_count: int) -> NDArray[np.float64]:
        """Weights (R, S) of every joint: for tests and small bodies."""
        whole = np.zeros((len(self), joint_count))
        rows, columns = np.nonzero(self.joints >= 0)
        np.add.at(
            whole, (rows, self.joints[rows, columns]), self.weights[rows, columns]
        )
        return whole


@dataclass(frozen=True, slots=True, eq=False)
class Body:
    """All surfaces that hang on one set of joints, in the space of their bind pose.

    skins: rows in the scene's skins, alike in joints and binds; joints: int32 (S,),
    nodes; names: S texts; parents: int32 (S,), the row of the next joint above, or -1;
    frames: float64 (S, 3, 4), mesh_from_joint; places: (mesh, primitive) of each
    surface; starts: the first vertex of each, and the number of all; positions,
    normals: float64 (V, 3); faces: int32 (F, 3); pull: of the V vertices; rigid: bool
    (V,), vertices of meshes that are marked as rigid.
    """

    skins: tuple[int, ...]
    joints: Ints
    names: tuple[str, ...]
    parents: Ints
    frames: NDArray[np.float64]
    places: tuple[tuple[int, int], ...]
    starts: tuple[int, ...]
    positions: NDArray[np.float64]
    normals: NDArray[np.float64]
    faces: Ints
    pull: Pull
    rigid: NDArray[np.bool_]

    def __len__(self) -> int:
        return len(self.positions)

    @property
    def row_of(self) -> dict[int, int]:
        """The first row of each node."""
        rows = list(enumerate(self.joints.tolist()))
        return {node: row for row, node in reversed(rows)}

    def joint_rows(self, links: Mapping[int, Link]) -> Ints:
        """For each row that of the joint it is a link of, else its own: int32 (S,).

        links: of the skeleton, by node.
        """
        row_of = self.row_of
        rows = [
            row_of.get(links[node].joint, row) if node in links else row
            for row, node in enumerate(self.joints.tolist())
        ]
        return np.array(rows, np.int32)

    @property
    def size(self) -> float:
        """The longest side of the box around all vertices, at least 1e-6."""
        if not len(self):
            return 1e-6
        return max(float(np.ptp(self.positions, axis=0).max()), 1e-6)


def gather_bodies(
    scene: Scene,
    rigid: Sequence[bool] = (),
    world: NDArray[np.float64] | None = None,
) -> list[Body]:
    """Every body of a scene, in the order of its first skin.

    A mesh that is used with different skins belongs to the first. rigid: for each mesh
    whether it is marked as rigid; none: no mesh is. world: (J, 3, 4), world_from_node
    at rest, None to derive it.
    """
    if world is None and scene.skins:
        world = rest_world(scene.skeleton)
    groups: dict[tuple[bytes, bytes], list[int]] = {}
    for row, skin in enumerate(scene.skins):
        key = (skin.joints.tobytes(), skin.inverse_binds.tobytes())
        groups.setdefault(key, []).append(row)
    taken: set[int] = set()
    bodies = []
    for skins in groups.values():
        uses = np.isin(scene.node_skin, skins) & (scene.node_mesh >= 0)
        meshes = sorted(set(scene.node_mesh[uses].tolist()) - taken)
        taken.update(meshes)
        places = [
            (mesh, row)
            for mesh in meshes
            for row, primitive in enumerate(scene.meshes[mesh].primitives)
            if primitive.skin is not None and len(primitive)
        ]
        if places:
            marks = [bool(rigid) and rigid[mesh] for mesh, _ in places]
            assert world is not None
            bodies.append(_body(scene, skins, places, marks, world))
    return bodies


def _body(
    scene: Scene,
    skins: list[int],
    places: list[tuple[int, int]],
    marks: list[bool],
    world: NDArray[np.float64],
) -> Body:
    skin = scene.skins[skins[0]]
    primitives = [scene.meshes[mesh].primitives[row] for mesh, row in places]
    counts = [len(primitive) for primitive in primitives]
    starts = np.concatenate([[0], np.cumsum(counts)])
    faces = [
        p.triangles() + start for p, start in zip(primitives, starts, strict=False)
    ]
    normals = [
        vertex_normals(p) if p.normals is None else p.normals for p in primitives
    ]
    return Body(
        tuple(skins),
        skin.joints,
        tuple(scene.skeleton.names[node] for node in skin.joints),
        joint_parents(scene.skeleton, skin.joints),
        _frames(world, skin),
        tuple(places),
        tuple(starts.tolist()),
        np.concatenate([p.positions for p in primitives]).astype(np.float64),
        np.concatenate(normals).astype(np.float64),
        np.concatenate(faces).astype(np.int32),
        _gather_pull(primitives, skin),
        np.repeat(marks, counts),
    )


def joint_parents(skeleton: Skeleton, joints: Ints) -> Ints:
    """For each joint (S,) the row of the next one above it, or -1."""
    row_of = {int(node): row for row, node in reversed(list(enumerate(joints)))}
    rows = []
    for node in joints.tolist():
        above = nearest(skeleton.parents, int(skeleton.parents[node]), row_of)
        rows.append(row_of[above] if above >= 0 else -1)
    return np.array(rows, np.int32)


def _frames(world: NDArray[np.float64], skin: Skin) -> NDArray[np.float64]:
    """mesh_from_joint (S, 3, 4); where a bind has no inverse, the joint at rest, seen
    as the first joint that has one sees it. world: (J, 3, 4), world_from_node at rest.
    """
    frames = world[skin.joints]
    binds = skin.inverse_binds.astype(np.float64)
    has_bind, has_rest = _have_inverse(binds), _have_inverse(frames)
    guides = np.flatnonzero(has_bind & has_rest)
    if len(guides) and not has_bind.all():
        guide = guides[0]
        world_from_mesh = transforms.multiply(frames[guide], binds[guide])
        frames = transforms.multiply(transforms.invert(world_from_mesh), frames)
    frames[has_bind] = transforms.invert(binds[has_bind])
    return frames


def _have_inverse(matrices: NDArray[np.float64]) -> NDArray[np.bool_]:
    """Which of (S, 3, 4) can be inverted, (S,)."""
    with np.errstate(all="ignore"):
        sizes = np.abs(exact.det(matrices[:, :, :3]))
        is_finite = np.isfinite(matrices).all((1, 2)) & np.isfinite(sizes)
        good: NDArray[np.bool_] = is_finite & (sizes > 1e-18)
    return good


def _gather_pull(primitives: Sequence[Primitive], skin: Skin) -> Pull:
    """The pull of all vertices; a joint that the skin names twice is its first row,
    unless its binds differ.
    """
    bits = skin.inverse_binds.view(np.int32).reshape(-1, 12)
    row_of = first_same(np.concatenate([skin.joints[:, None], bits], 1))
    pulls = []
    for primitive in primitives:
        assert primitive.skin is not None
        weights = primitive.skin.weights
        rows = np.where(weights > 0, primitive.skin.joints, 0)
        pulls.append(merge_same(np.where(weights > 0, row_of[rows], -1), weights))
    width = max(pull.joints.shape[1] for pull in pulls)
    wide = [pull.widened(width) for pull in pulls]
    return Pull(
        np.concatenate([pull.joints for pull in wide]),
        np.concatenate([pull.weights for pull in wide]),
    )


def merge_same(joints: NDArray[np.integer], weights: NDArray[np.floating]) -> Pull:
    """A pull of rows that may name a joint twice or out of order.

    joints: (R, K), -1 for none; weights: (R, K), those of no joint are dropped. Rows
    come out with the largest weight first and, where anything pulls, sum to 1.
    """
    names = np.where(weights > 0, joints, -1).astype(np.int64)
    amounts = np.where(names >= 0, weights, 0).astype(np.float64)
    order = np.argsort(names, axis=1, kind="stable")
    names = np.take_along_axis(names, order, 1)
    amounts = np.take_along_axis(amounts, order, 1)
    for column in range(names.shape[1] - 1, 0, -1):
        same = (names[:, column] == names[:, column - 1]) & (names[:, column] >= 0)
        amounts[same, column - 1] += amounts[same, column]
        amounts[same, column] = 0
        names[same, column] = -1
    order = np.argsort(-amounts, axis=1, kind="stable")
    names = np.take_along_axis(names, order, 1)
    amounts = np.take_along_axis(amounts, order, 1)
    sums = amounts.sum(1, keepdims=True)
    amounts = np.divide(amounts, sums, out=np.zeros_like(amounts), where=sums > 0)
    return Pull(names.astype(np.int32), amounts.astype(np.float32))


def body_surface(body: Body, *, is_by_place: bool = False) -> Surface:
    """The surface of a body; is_by_place: as if vertices in one place hung alike."""
    rows = None
    if not is_by_place:
        order = np.argsort(body.pull.joints, axis=1, kind="stable")
        joints = np.take_along_axis(body.pull.joints, order, 1)
        weights = np.take_along_axis(body.pull.weights, order, 1)
        rows = np.concatenate([joints, np.rint(weights * 1024).astype(np.int32)], 1)
    return make_surface(body.positions, body.normals, body.faces, rows)


def with_pulls(scene: Scene, pulls: Mapping[int, Pull], bodies: list[Body]) -> Scene:
    """The scene with other weights for some bodies, by their place in `bodies`.

    Surfaces and vertices whose weights stay as they were are kept as they are.
    """
    new: dict[tuple[int, int], SkinWeights] = {}
    for number, pull in pulls.items():
        body = bodies[number]
        for place, (start, stop) in zip(
            body.places, pairwise(body.starts), strict=True
        ):
            rows = np.arange(start, stop, dtype=np.int32)
            same = same_rows(body.pull.take(rows), pull.take(rows))
            if not same.all():
                old = scene.meshes[place[0]].primitives[place[1]].skin
                assert old is not None
                new[place] = _kept(old, skin_weights(pull.take(rows)), same)
    meshes = []
    for row, mesh in enumerate(scene.meshes):
        primitives = tuple(
            replace(p, skin=new[row, i]) if (row, i) in new else p
            for i, p in enumerate(mesh.primitives)
        )
        is_new = any((row, i) in new for i in range(len(primitives)))
        meshes.append(replace(mesh, primitives=primitives) if is_new else mesh)
    return replace(scene, meshes=tuple(meshes))


def rows_of(new: Pull, old: Pull, rows: NDArray[np.bool_]) -> Pull:
    """New weights, but old ones in some rows (V,)."""
    if not rows.any():
        return new
    width = max(new.joints.shape[1], old.joints.shape[1])
    a, b = old.widened(width), new.widened(width)
    return Pull(
        np.where(rows[:, None], a.joints, b.joints),
        np.where(rows[:, None], a.weights, b.weights),
    )


def same_rows(one: Pull, other: Pull) -> NDArray[np.bool_]:
    """Which rows of two pulls differ by rounding alone, (R,)."""
    width = max(one.joints.shape[1], other.joints.shape[1])
    a, b = (merge_same(p.joints, p.weights).widened(width) for p in (one, other))
    close = np.abs(a.weights - b.weights) <= 1e-6
    same: NDArray[np.bool_] = ((a.joints == b.joints) & close).all(1)
    return same


def _kept(old: SkinWeights, new: SkinWeights, same: NDArray[np.bool_]) -> SkinWeights:
    """New weights, but those of some rows as they were, to the bit."""
    width = max(old.weights.shape[1] if same.any() else 0, new.weights.shape[1])
    joints = np.zeros((len(same), width), np.uint16)
    weights = np.zeros((len(same), width), np.float32)
    for rows, source in ((same, old), (~same, new)):
        if not rows.any():
            continue
        columns = source.weights.shape[1]
        joints[rows, :columns] = source.joints[rows]
        weights[rows, :columns] = source.weights[rows]
    used = 1 + int(np.flatnonzero(weights.any(0)).max(initial=0))
    columns = min(-(-used // 4) * 4, width)
    return SkinWeights(joints[:, :columns], weights[:, :columns])


def skin_weights(given: Pull) -> SkinWeights:
    """The largest weight first, in a multiple of four columns."""
    pull = merge_same(given.joints, given.weights)
    used = int(np.count_nonzero(pull.weights, axis=1).max(initial=1))
    width = -(-used // 4) * 4
    names = np.zeros((len(pull), width), np.uint16)
    amounts = np.zeros((len(pull), width), np.float32)
    names[:, :used] = np.maximum(pull.joints[:, :used], 0)
    amounts[:, :used] = pull.weights[:, :used]
    return SkinWeights(names, amounts)
