"""Weights carried over from one character's surface to another's."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from flexor.arrays import Ints
from flexor.convert.shape.body import Body, Pull, merge_same, skin_weights
from flexor.convert.shape.closest_points import closest_points
from flexor.convert.shape.facts import SceneFacts
from flexor.convert.weights.edit_weights import limit_influences
from flexor.errors import SettingError
from flexor.maths import transforms
from flexor.scene.character.weights import Skin
from flexor.scene.finding import Finding
from flexor.scene.scene import Scene

__all__ = ["transfer_pull", "transfer_weights"]

MOST = 8  # influences of a vertex
FAR = 0.05  # of the size: vertices further away than this are told of


@dataclass(frozen=True, slots=True, eq=False)
class _Source:
    """A surface at rest in the world: positions (V, 3), faces (F, 3), and the pull of
    its vertices by the joints called `names`.
    """

    positions: NDArray[np.float64]
    faces: Ints
    pull: Pull
    names: tuple[str, ...]

    @property
    def size(self) -> float:
        return max(float(np.ptp(self.positions, axis=0).max()), 1e-6)


def transfer_pull(
    positions: NDArray[np.floating],
    faces: Ints,
    pull: Pull,
    targets: NDArray[np.floating],
) -> tuple[Pull, NDArray[np.float64]]:
    """The pull of points by the surface that is nearest to each.

    positions: (V, 3), faces: (F, 3), pull: of the V vertices; targets: (R, 3). The
    weights of the corners of the nearest triangle, mixed by where the nearest point
    lies in it; the largest 8 are kept, and rows sum to 1. Also gives the distances,
    float64 (R,).
    """
    face, shares, away = closest_points(positions[faces], targets)
    corners = faces[face]
    joints = pull.joints[corners].reshape(len(targets), -1)
    weights = pull.weights[corners] * shares[:, :, None]
    mixed = merge_same(joints, weights.reshape(len(targets), -1))
    limited = limit_influences(mixed, MOST)
    return Pull(limited.joints[:, :MOST], limited.weights[:, :MOST]), away


def transfer_weights(
    source: SceneFacts, target: SceneFacts
) -> tuple[SceneFacts, list[Finding]]:
    """The target with the weights of the source's skin, and what was odd.

    Both must have the same skeleton, by the names of its nodes, and stand alike in the
    world at rest. Where the target has skinned surfaces, these get other weights; a
    target without any gets a skin for every mesh. Vertices further than 5 % of the
    source's size from it, and joints that stand elsewhere, are told of.
    """
    given = _gather_source(source)
    findings = _compare_joints(source, target, given)
    scene = target.scene
    if target.bodies:
        pulls = {}
        for number, own in enumerate(target.bodies):
            body, places = own.body, _at_rest(target, own.body)
            pull, away = transfer_pull(given.positions, given.faces, given.pull, places)
            pulls[number] = _rename(given, pull, body.names, _skin_name(scene, body))
            where = scene.meshes[body.places[0][0]].name
            findings += _tell_far(where, away, given.size)
        return target.with_pulls(pulls), findings
    skinned, findings = _give_skins(target, given, findings)
    return target.with_scene(skinned), findings


def _gather_source(facts: SceneFacts) -> _Source:
    bodies = [own.body for own in facts.bodies]
    if not any(len(body.faces) for body in bodies):
        raise SettingError(
            "weights from: the character that gives them has no skinned triangles"
        )
    names: dict[str, int] = {}  # the node of each name
    for body in bodies:
        for name, node in zip(body.names, body.joints.tolist(), strict=True):
            if names.setdefault(name, node) != node:
                raise SettingError(
                    "weights from: the character that gives them has two joints called "
                    f"{name!r}; names must tell joints apart"
                )
    rows = {name: row for row, name in enumerate(names)}
    width = max(body.pull.joints.shape[1] for body in bodies)
    joints, weights, faces, start = [], [], [], 0
    for body in bodies:
        row_of = np.array([rows[name] for name in body.names], np.int32)
        wide = body.pull.widened(width)
        joints.append(np.where(wide.joints >= 0, row_of[wide.joints], -1))
        weights.append(wide.weights)
        faces.append(body.faces + np.int32(start))
        start += len(body)
    return _Source(
        np.concatenate([_at_rest(facts, body) for body in bodies]),
        np.concatenate(faces),
        Pull(np.concatenate(joints), np.concatenate(weights)),
        tuple(names),
    )


def _at_rest(facts: SceneFacts, body: Body) -> NDArray[np.float64]:
    """The vertices of a body (V, 3) in the world when the skeleton is at rest."""
    binds = facts.scene.skins[body.skins[0]].inverse_binds.astype(np.float64)
    palette = transforms.multiply(facts.world[body.joints], binds)
    out = np.zeros((len(body), 3))
    for column in range(body.pull.joints.shape[1]):
        rows = np.maximum(body.pull.joints[:, column], 0)
        moved = transforms.apply(palette[rows], body.positions[:, None])[:, 0]
        out += body.pull.weights[:, column, None] * moved
    return out


def _compare_joints(
    source: SceneFacts, target: SceneFacts, given: _Source
) -> list[Finding]:
    """Refuse a target without the joints that pull; tell of those that stand elsewhere.

    Joints are compared at rest in the world.
    """
    used = np.unique(given.pull.joints[given.pull.weights > 0]).tolist()
    names = [given.names[row] for row in used]
    theirs_named = target.scene.skeleton.names
    nodes = {name: row for row, name in reversed(list(enumerate(theirs_named)))}
    missing = [name for name in names if name not in nodes]
    if missing:
        some = ", ".join(repr(name) for name in missing[:8])
        more = f" and {len(missing) - 8} more" if len(missing) > 8 else ""
        raise SettingError(
            f"weights from: the character that gets them has no nodes {some}{more}"
        )
    skeleton = source.scene.skeleton
    ours = source.world[[skeleton.index(name) for name in names]]
    theirs = target.world[[nodes[name] for name in names]]
    away = np.linalg.norm(ours[:, :, 3] - theirs[:, :, 3], axis=1)
    worst = int(np.argmax(away))
    if away[worst] <= FAR * given.size:
        return []
    count = np.count_nonzero(away > FAR * given.size)
    text = (
        f"{count} of {len(names)} joints stand more than {FAR:.0%} of the size "
        f"elsewhere at rest than in the source; {names[worst]!r} by {away[worst]:.3g} m"
    )
    return [Finding("warning", "joints-elsewhere", names[worst], text)]


def _rename(given: _Source, pull: Pull, names: Sequence[str], where: str) -> Pull:
    """The pull with rows of `names` in place of those of the source."""
    rows = {name: row for row, name in reversed(list(enumerate(names)))}
    row_of = np.array([rows.get(name, -1) for name in given.names], np.int32)
    used = np.unique(pull.joints[pull.weights > 0])
    missing = [given.names[row] for row in used if row_of[row] < 0]
    if missing:
        some = ", ".join(repr(name) for name in missing[:8])
        more = f" and {len(missing) - 8} more" if len(missing) > 8 else ""
        raise SettingError(
            f"weights from: {where} lacks the joints {some}{more}, which pull the "
            "surface nearest to it"
        )
    return Pull(np.where(pull.joints >= 0, row_of[pull.joints], -1), pull.weights)


def _skin_name(scene: Scene, body: Body) -> str:
    return f"skin {scene.skins[body.skins[0]].name!r} of the target"


def _tell_far(where: str, away: NDArray[np.float64], size: float) -> list[Finding]:
    count = np.count_nonzero(away > FAR * size)
    if not count:
        return []
    text = (
        f"{count} of {len(away)} vertices are more than {FAR:.0%} of the size from the "
        f"source, the furthest {away.max():.3g} m; they got the weights of its nearest "
        "point all the same"
    )
    return [Finding("warning", "vertices-far", where, text)]


def _give_skins(
    facts: SceneFacts, given: _Source, findings: list[Finding]
) -> tuple[Scene, list[Finding]]:
    """A skin, bound at rest, for every mesh of a scene that has none."""
    target, world = facts.scene, facts.world
    shown = np.flatnonzero(target.node_mesh >= 0)
    meshes, counts = np.unique(target.node_mesh[shown], return_counts=True)
    for mesh, count in zip(meshes.tolist(), counts.tolist(), strict=True):
        if count > 1:
            raise SettingError(
                f"weights from: mesh {target.meshes[mesh].name!r} is shown at "
                f"{count} nodes; a skin needs a mesh of its own for each"
            )
    names = [name for name in given.names if name in target.skeleton.names]
    joints = np.array([target.skeleton.index(name) for name in names], np.int32)
    if (np.abs(np.linalg.det(world[joints, :, :3])) < 1e-18).any():
        raise SettingError(
            "weights from: a joint of the character that gets them is scaled to nothing"
        )
    joint_from_world = transforms.invert(world[joints])
    node_skin, skins = target.node_skin.copy(), list(target.skins)
    out = list(target.meshes)
    for node in shown.tolist():
        mesh = target.meshes[target.node_mesh[node]]
        primitives = []
        for primitive in mesh.primitives:
            places = transforms.apply(world[node], primitive.positions.astype("f8"))
            pull, away = transfer_pull(given.positions, given.faces, given.pull, places)
            pull = _rename(given, pull, names, f"mesh {mesh.name!r}")
            findings = findings + _tell_far(mesh.name, away, given.size)
            primitives.append(replace(primitive, skin=skin_weights(pull)))
        binds = transforms.multiply(joint_from_world, world[node])
        node_skin[node] = len(skins)
        skins.append(Skin(mesh.name, joints.copy(), binds.astype(np.float32)))
        out[target.node_mesh[node]] = replace(mesh, primitives=tuple(primitives))
    scene = replace(target, meshes=tuple(out), skins=tuple(skins), node_skin=node_skin)
    return scene, findings
