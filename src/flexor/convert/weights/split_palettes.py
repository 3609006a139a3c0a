"""Scenes whose skins have at most N joints: surfaces that use more are split."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from flexor.arrays import Ints
from flexor.convert.repair.task import SceneTask
from flexor.convert.shape.facts import SceneFacts
from flexor.convert.weights.palettes import PaletteGroup, face_joints, palette_groups
from flexor.errors import SettingError
from flexor.scene.character.clip import Clip
from flexor.scene.character.mesh import (
    LINE_LOOP,
    LINE_STRIP,
    LINES,
    POINTS,
    TRIANGLES,
    Mesh,
    MorphTarget,
    Primitive,
)
from flexor.scene.character.normals import vertex_normals
from flexor.scene.character.skeleton import Skeleton
from flexor.scene.character.weights import Skin, SkinWeights
from flexor.scene.finding import Finding
from flexor.scene.runtime.packed_clip import PackedClip
from flexor.scene.scene import Scene

__all__ = ["palette_pass", "split_palettes"]

Rows = tuple[int, ...]


@dataclass(frozen=True, slots=True, eq=False)
class _Part:
    """Primitives of one mesh that hang on few joints; rows: of the skin, rising."""

    rows: Rows
    primitives: tuple[Primitive, ...]


def palette_pass(task: SceneTask, *, palette: int) -> tuple[SceneFacts, list[Finding]]:
    """The scene with at most `palette` joints in every skin."""
    task.note("splitting surfaces")
    scene, findings = split_palettes(task.facts.scene, palette)
    return SceneFacts(scene), findings


def split_palettes(scene: Scene, most: int) -> tuple[Scene, list[Finding]]:
    """The scene with at most `most` joints in every skin that a mesh hangs on.

    Joint numbers refer to a node's skin, so each piece of a mesh has its own skin, mesh
    and node. The node that was there keeps the first piece; nodes for the others come
    after all nodes, beside it and with its transform. Their names end in -2, -3 and so
    on. Clips that move its morphs move theirs. Vertices are where they were in every
    pose, to the bit. Strips, fans and loops that are split become lists; vertices of
    no face are dropped from what is split; surfaces without normals get those they are
    shown with. Meshes whose skins are small enough stay as they are.
    """
    if most < 1:
        raise SettingError(f"most: {most}, expected at least 1 joint in a skin")
    uses = _skinned_uses(scene)
    large = {
        mesh for mesh, skin in uses.values() if len(scene.skins[skin].joints) > most
    }
    if not large:
        return scene, []
    _check_faces(scene, large, most)
    findings: list[Finding] = []
    parts: dict[int, list[_Part]] = {}
    for mesh in sorted(large):
        parts[mesh], found = _split_mesh(scene, mesh, most)
        findings += found
    return _rebuild(scene, uses, parts), findings


def _skinned_uses(scene: Scene) -> dict[int, tuple[int, int]]:
    """Mesh and skin of every node that has both."""
    both = np.flatnonzero((scene.node_mesh >= 0) & (scene.node_skin >= 0))
    return {
        int(node): (int(scene.node_mesh[node]), int(scene.node_skin[node]))
        for node in both
    }


def _check_faces(scene: Scene, meshes: Iterable[int], most: int) -> None:
    """Refuse fewer joints than some face hangs on, and say how many would do."""
    needed, worst = 0, ""
    for row in meshes:
        mesh = scene.meshes[row]
        for primitive in mesh.primitives:
            if primitive.skin is None or not len(primitive):
                continue
            faces = _faces(primitive)
            names = face_joints(primitive.skin.joints, primitive.skin.weights, faces)
            here = int(np.count_nonzero(names >= 0, axis=1).max())
            if here > needed:
                needed, worst = here, mesh.name
    if needed > most:
        raise SettingError(
            f"most: {most}, but a face of mesh {worst!r} hangs on {needed} joints; at "
            f"least {needed} are needed, or fewer influences"
        )


def _faces(primitive: Primitive) -> Ints:
    """Corners (F, 1 to 3) of what is drawn, or every vertex where nothing is."""
    drawn = _drawn(primitive)
    return drawn if len(drawn) else np.arange(len(primitive), dtype=np.int32)[:, None]


def _drawn(primitive: Primitive) -> Ints:
    """Corners (F, 1 to 3) of points, lines or triangles."""
    if primitive.mode >= TRIANGLES:
        return primitive.triangles()
    corners = np.arange(len(primitive), dtype=np.int32)
    if primitive.indices is not None:
        corners = primitive.indices.astype(np.int32)
    if primitive.mode == POINTS:
        return corners[:, None]
    if primitive.mode == LINES:
        return corners[: len(corners) // 2 * 2].reshape(-1, 2)
    pairs = np.stack([corners[:-1], corners[1:]], 1)
    if primitive.mode == LINE_LOOP and len(corners) > 1:
        pairs = np.concatenate([pairs, [[corners[-1], corners[0]]]])
    return pairs.astype(np.int32)


def _split_mesh(scene: Scene, row: int, most: int) -> tuple[list[_Part], list[Finding]]:
    """The parts of a mesh, at least one, and what was done."""
    mesh = scene.meshes[row]
    loose: list[Primitive] = []
    bins: list[tuple[set[int], list[tuple[Primitive, PaletteGroup | None]]]] = []
    findings = []
    for number, primitive in enumerate(mesh.primitives):
        if primitive.skin is None:
            loose.append(primitive)
            continue
        skin = primitive.skin
        used = np.unique(skin.joints[skin.weights > 0]).tolist()
        pieces: list[tuple[set[int], PaletteGroup | None]] = [(set(used), None)]
        if len(used) > most:
            groups = palette_groups(skin.joints, skin.weights, _faces(primitive), most)
            pieces = [(set(group.joints.tolist()), group) for group in groups]
            where = f"/meshes/{row}/primitives/{number}"
            findings.append(_finding(where, primitive, groups, len(used), most))
        for joints, group in pieces:
            _put(bins, joints, (primitive, group), most)
    if len(bins) > 1 and len(mesh.morph_weights) and scene.carried:
        text = "what extensions say of this mesh's morphs holds for the first piece"
        findings.append(Finding("info", "palette-morphs", f"/meshes/{row}", text))
    parts: list[_Part] = []
    for joints, inside in bins or [(set(), [])]:
        rows = tuple(sorted(joints)) or (0,)
        cut = tuple(_cut(primitive, group, rows) for primitive, group in inside)
        parts.append(_Part(rows, (*(loose if not parts else ()), *cut)))
    return parts, findings


def _put(
    bins: list[tuple[set[int], list[tuple[Primitive, PaletteGroup | None]]]],
    joints: set[int],
    piece: tuple[Primitive, PaletteGroup | None],
    most: int,
) -> None:
    """Put a piece where it needs the fewest new joints, or in a bin of its own."""
    fitting = [entry for entry in bins if len(entry[0] | joints) <= most]
    if not fitting:
        bins.append((set(joints), [piece]))
        return
    best = min(fitting, key=lambda entry: len(joints - entry[0]))
    best[0].update(joints)
    best[1].append(piece)


def _finding(
    where: str, primitive: Primitive, groups: list[PaletteGroup], used: int, most: int
) -> Finding:
    total = sum(len(group.vertices) for group in groups)
    kept = len(np.unique(_faces(primitive)))
    text = (
        f"{used} joints, more than {most}: split into {len(groups)} pieces, "
        f"{total - kept} of {kept} vertices duplicated"
    )
    if kept < len(primitive):
        text += f", {len(primitive) - kept} that no face uses dropped"
    return Finding("info", "palette-split", where, text)


def _cut(primitive: Primitive, group: PaletteGroup | None, rows: Rows) -> Primitive:
    """A primitive, or a piece of one, hanging on the joints `rows` of its skin."""
    assert primitive.skin is not None
    vertices = None if group is None else group.vertices
    joints, weights = primitive.skin.joints, primitive.skin.weights
    if vertices is not None:
        joints, weights = joints[vertices], weights[vertices]
    # The rows stay in order: joints are blended in theirs.
    places = np.searchsorted(rows, np.where(weights > 0, joints, rows[0]))
    skin = SkinWeights(places.astype(np.uint16), weights.copy())
    if group is None or vertices is None:
        return replace(primitive, skin=skin)
    drawn, indices = _drawn(primitive), primitive.indices
    if len(drawn):
        corners = np.searchsorted(vertices, drawn[group.faces])
        indices = corners.astype(np.uint32).ravel()
    elif indices is not None:
        indices = indices[:0].copy()
    normals = primitive.normals
    if normals is None and primitive.mode >= TRIANGLES:
        normals = vertex_normals(primitive)

    def take(array: Any) -> Any:
        return None if array is None else array[vertices]

    def moved(target: MorphTarget) -> MorphTarget:
        parts = (target.positions, target.normals, target.tangents)
        return MorphTarget(*(take(part) for part in parts))

    mode = min(primitive.mode, TRIANGLES) if len(drawn) else primitive.mode
    return replace(
        primitive,
        positions=take(primitive.positions),
        normals=take(normals),
        tangents=take(primitive.tangents),
        texcoords=tuple(take(part) for part in primitive.texcoords),
        colours=tuple(take(part) for part in primitive.colours),
        indices=indices,
        mode=LINES if len(drawn) and mode in (LINE_LOOP, LINE_STRIP) else mode,
        skin=skin,
        targets=tuple(moved(target) for target in primitive.targets),
        custom={name: take(part) for name, part in primitive.custom.items()},
    )


class _Table:
    """Rows of a scene's list of which some are replaced and others added.

    What is asked for first in the place of a row that nothing else keeps takes it.
    """

    def __init__(self, items: Iterable[Any], kept: set[int]) -> None:
        self.items = list(items)
        self._kept = kept
        self._rows: dict[tuple[int, Any], int] = {}

    def row(self, old: int, key: Any, make: Callable[[str], Any]) -> int:
        """The row of what `key` says of the row `old`; make(name) makes it."""
        if (old, key) not in self._rows:
            name = self.items[old].name
            if old in self._kept:
                names = {item.name for item in self.items}
                self._rows[old, key] = len(self.items)
                self.items.append(make(_next_name(name, names)))
            else:
                self._kept.add(old)
                self._rows[old, key] = old
                self.items[old] = make(name)
        return self._rows[old, key]


def _next_name(name: str, taken: set[str]) -> str:
    """name-2, or the first like it that is free; nothing stays nothing."""
    number = 2
    while name and f"{name}-{number}" in taken:
        number += 1
    return name and f"{name}-{number}"


def _rebuild(
    scene: Scene, uses: dict[int, tuple[int, int]], parts: dict[int, list[_Part]]
) -> Scene:
    rigid = (scene.node_mesh >= 0) & (scene.node_skin < 0)
    meshes = _Table(scene.meshes, set(scene.node_mesh[rigid].tolist()))
    whole = {skin for mesh, skin in uses.values() if mesh not in parts}
    skins = _Table(scene.skins, whole)
    node_mesh, node_skin = scene.node_mesh.tolist(), scene.node_skin.tolist()
    copies: list[int] = []  # the node that each new one stands beside
    for node, (mesh, skin) in uses.items():
        for number, part in enumerate(parts.get(mesh, ())):
            old_mesh, old_skin = scene.meshes[mesh], scene.skins[skin]
            mesh_row = meshes.row(mesh, number, _mesh_maker(old_mesh, part))
            skin_row = skins.row(skin, part.rows, _skin_maker(old_skin, part.rows))
            if number == 0:
                node_mesh[node], node_skin[node] = mesh_row, skin_row
            else:
                node_mesh.append(mesh_row)
                node_skin.append(skin_row)
                copies.append(node)
    count = len(scene.skeleton)
    new_nodes: dict[int, list[int]] = {}
    for number, node in enumerate(copies, count):
        new_nodes.setdefault(node, []).append(number)
    weights = dict(scene.node_weights)
    for node in scene.node_weights:
        weights.update(dict.fromkeys(new_nodes.get(node, ()), weights[node]))
    return replace(
        scene,
        skeleton=_with_copies(scene.skeleton, copies),
        node_mesh=np.array(node_mesh, np.int32),
        node_skin=np.array(node_skin, np.int32),
        meshes=tuple(meshes.items),
        skins=tuple(skins.items),
        clips={key: _follow(clip, new_nodes) for key, clip in scene.clips.items()},
        root_sets=tuple(
            replace(roots, nodes=tuple(_beside(roots.nodes, new_nodes)))
            for roots in scene.root_sets
        ),
        node_weights=weights,
    )


def _mesh_maker(mesh: Mesh, part: _Part) -> Callable[[str], Mesh]:
    return lambda name: replace(mesh, name=name, primitives=part.primitives)


def _skin_maker(skin: Skin, rows: Rows) -> Callable[[str], Skin]:
    places: NDArray[np.intp] = np.array(rows, np.intp)
    joints, binds = skin.joints[places], skin.inverse_binds[places]
    return lambda name: replace(skin, name=name, joints=joints, inverse_binds=binds)


def _with_copies(skeleton: Skeleton, copies: list[int]) -> Skeleton:
    """The skeleton with copies of some nodes, without children, at its end."""
    names = list(skeleton.names)
    taken = set(names)
    for node in copies:
        names.append(_next_name(names[node], taken))
        taken.add(names[-1])
    rows = np.concatenate([np.arange(len(skeleton)), np.array(copies, np.intp)])
    matrices = dict(skeleton.matrices)
    for number, node in enumerate(copies, len(skeleton)):
        if node in matrices:
            matrices[number] = matrices[node]
    return replace(
        skeleton,
        names=tuple(names),
        parents=skeleton.parents[rows],
        translations=skeleton.translations[rows],
        rotations=skeleton.rotations[rows],
        scales=skeleton.scales[rows],
        matrices=matrices,
    )


def _beside(nodes: Iterable[int], new_nodes: dict[int, list[int]]) -> list[int]:
    """Nodes, each followed by its copies."""
    return [each for node in nodes for each in (node, *new_nodes.get(node, ()))]


def _follow(
    clip: Clip | PackedClip, new_nodes: dict[int, list[int]]
) -> Clip | PackedClip:
    """The clip with its tracks of morph weights for the copies of nodes too."""
    own = clip.keyed if isinstance(clip, PackedClip) else clip.tracks
    tracks = [
        replace(track, node=node)
        for track in own
        if track.path == "weights"
        for node in new_nodes.get(track.node, ())
    ]
    if not tracks:
        return clip
    if isinstance(clip, PackedClip):
        return replace(clip, keyed=(*own, *tracks))
    return replace(clip, tracks=(*own, *tracks))
