"""What is in a scene, in numbers, and what looks wrong with it."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from flexor.maths import transforms
from flexor.scene.character.clip import Clip
from flexor.scene.character.mesh import Primitive
from flexor.scene.character.skeleton import rest_world
from flexor.scene.character.tree import ancestors
from flexor.scene.finding import Finding
from flexor.scene.runtime.packed_clip import PackedClip
from flexor.scene.scene import Scene

__all__ = ["ClipReport", "MeshReport", "SceneReport", "SkinReport", "report_scene"]


@dataclass(frozen=True, slots=True)
class MeshReport:
    """A mesh. influences: vertices by number of joints that pull them, 0 for rigid."""

    name: str
    primitives: int
    vertices: int
    triangles: int
    influences: dict[int, int]
    morph_targets: int
    materials: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class SkinReport:
    """A skin. unused: names of joints that hold no vertex of any mesh, whatever the
    skin, and have nothing below them that does.
    """

    name: str
    joints: int
    unused: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class ClipReport:
    """A clip. duration: seconds; keys: of all tracks."""

    name: str
    duration: float
    tracks: int
    keys: int
    interpolations: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class SceneReport:
    """A whole scene. size: extent along x, y, z at rest, of the skin, or of the nodes
    where there is none; links: nodes that follow a joint; bytes: of its arrays and
    images, by kind.
    """

    nodes: int
    roots: int
    links: int
    size: tuple[float, float, float]
    meshes: tuple[MeshReport, ...]
    skins: tuple[SkinReport, ...]
    clips: tuple[ClipReport, ...]
    materials: int
    textures: int
    images: int
    bytes: dict[str, int]
    findings: tuple[Finding, ...]


def report_scene(scene: Scene) -> SceneReport:
    """Count what is in a scene and look for what is odd; nothing is changed."""
    needed, names = _needed_nodes(scene), scene.skeleton.names
    skins = tuple(
        SkinReport(
            skin.name,
            len(skin.joints),
            tuple(names[joint] for joint in skin.joints[~needed[skin.joints]]),
        )
        for skin in scene.skins
    )
    findings = (
        *scene.findings,
        *_check_triangles(scene),
        *_check_joints(skins),
        *_check_skinned_nodes(scene),
    )
    return SceneReport(
        nodes=len(scene.skeleton),
        roots=int((scene.skeleton.parents < 0).sum()),
        links=len(scene.skeleton.links),
        size=_rest_size(scene),
        meshes=tuple(_report_mesh(scene, row) for row in range(len(scene.meshes))),
        skins=skins,
        clips=tuple(_report_clip(clip) for clip in scene.clips.values()),
        materials=len(scene.materials),
        textures=len(scene.textures),
        images=len(scene.images),
        bytes=_count_bytes(scene),
        findings=findings,
    )


def _report_mesh(scene: Scene, row: int) -> MeshReport:
    mesh = scene.meshes[row]
    influences: dict[int, int] = {}
    for primitive in mesh.primitives:
        counts = np.zeros(len(primitive), np.intp)
        if primitive.skin is not None:
            counts = primitive.skin.influence_counts()
        numbers, vertices = np.unique(counts, return_counts=True)
        for number, many in zip(numbers.tolist(), vertices.tolist(), strict=True):
            influences[number] = influences.get(number, 0) + many
    materials = {p.material for p in mesh.primitives if p.material is not None}
    return MeshReport(
        mesh.name,
        len(mesh.primitives),
        sum(len(primitive) for primitive in mesh.primitives),
        sum(len(primitive.triangles()) for primitive in mesh.primitives),
        dict(sorted(influences.items())),
        len(mesh.morph_weights),
        tuple(scene.materials[material].name for material in sorted(materials)),
    )


def _report_clip(clip: Clip | PackedClip) -> ClipReport:
    tracks = clip.tracks
    return ClipReport(
        clip.name,
        clip.duration,
        len(tracks),
        sum(len(track.times) for track in tracks),
        tuple(sorted({track.interpolation for track in tracks})),
    )


def _rest_size(scene: Scene) -> tuple[float, float, float]:
    """Extent (3,) of what the default scene shows at rest, in world space.

    In plain NumPy: looking into a file should not wait for kernels to be compiled.
    """
    world = rest_world(scene.skeleton)
    points = [
        _rest_points(scene, node, primitive, world)
        for node in np.flatnonzero(
            scene.shown_nodes() & (scene.node_mesh >= 0)
        ).tolist()
        for primitive in scene.meshes[scene.node_mesh[node]].primitives
        if len(primitive)
    ]
    if not points:
        points = [world[:, :, 3]] if len(world) else [np.zeros((1, 3))]
    low = np.min([p.min(0) for p in points], axis=0)
    high = np.max([p.max(0) for p in points], axis=0)
    x, y, z = (high - low).tolist()
    return x, y, z


def _rest_points(
    scene: Scene, node: int, primitive: Primitive, world: NDArray[np.float64]
) -> NDArray[np.float64]:
    """World positions (V, 3) of a primitive at rest, without morphs."""
    positions = primitive.positions.astype(np.float64)
    row = scene.node_skin[node]
    if row < 0 or primitive.skin is None:
        return transforms.apply(world[node], positions)
    skin = scene.skins[row]
    palette = transforms.multiply(world[skin.joints], skin.inverse_binds)
    joints, weights = primitive.skin.joints, primitive.skin.weights
    total = np.zeros_like(positions)
    for k in range(joints.shape[1]):
        matrices = palette[joints[:, k]]
        moved = np.einsum("vrc,vc->vr", matrices[:, :, :3], positions)
        total += weights[:, k, None] * (moved + matrices[:, :, 3])
    return total


def _needed_nodes(scene: Scene) -> NDArray[np.bool_]:
    """Nodes that hold a vertex or a mesh, and all above them: bool (J,)."""
    needed = scene.node_mesh >= 0
    for mesh, skin in zip(scene.node_mesh, scene.node_skin, strict=True):
        if mesh < 0 or skin < 0:
            continue
        for primitive in scene.meshes[mesh].primitives:
            if primitive.skin is not None:
                held = np.unique(primitive.skin.joints[primitive.skin.weights > 0])
                needed[scene.skins[skin].joints[held]] = True
    parents = scene.skeleton.parents
    for node in np.flatnonzero(needed).tolist():
        needed[ancestors(parents, node)] = True
    return needed


def _check_joints(skins: tuple[SkinReport, ...]) -> Iterator[Finding]:
    for row, skin in enumerate(skins):
        if skin.unused:
            text = f"{len(skin.unused)} of {skin.joints} joints hold nothing"
            yield Finding("info", "joints-unused", f"/skins/{row}", text)


def _check_skinned_nodes(scene: Scene) -> Iterator[Finding]:
    for node, (mesh, skin) in enumerate(
        zip(scene.node_mesh, scene.node_skin, strict=True)
    ):
        if mesh < 0 or skin < 0:
            continue
        if any(p.skin is None for p in scene.meshes[mesh].primitives):
            text = "has a skin, but a primitive without weights; that one moves rigidly"
            yield Finding("warning", "skin-without-weights", f"/nodes/{node}", text)


def _check_triangles(scene: Scene) -> Iterator[Finding]:
    for row, mesh in enumerate(scene.meshes):
        for part, primitive in enumerate(mesh.primitives):
            where = f"/meshes/{row}/primitives/{part}"
            empty = _count_empty(primitive)
            if empty:
                many = len(primitive.triangles())
                text = f"{empty} of {many} triangles have no area"
                yield Finding("info", "triangles-empty", where, text)


def _count_empty(primitive: Primitive) -> int:
    """Number of triangles whose corners lie on a line or a point."""
    faces = primitive.triangles()
    if not len(faces):
        return 0
    corners = primitive.positions.astype(np.float64)[faces]
    first, second = corners[:, 1] - corners[:, 0], corners[:, 2] - corners[:, 0]
    area = np.linalg.norm(np.cross(first, second), axis=1)
    longest = np.maximum((first**2).sum(1), (second**2).sum(1))
    # Relative to the sides: a small triangle is not an empty one.
    return int((area <= 1e-7 * longest).sum())


def _count_bytes(scene: Scene) -> dict[str, int]:
    """Bytes by kind; an array that is used twice counts once."""
    seen: set[int] = set()

    def add(*arrays: NDArray[np.generic] | None) -> int:
        total = 0
        for array in arrays:
            if array is not None and id(array) not in seen:
                seen.add(id(array))
                total += array.nbytes
        return total

    geometry = skinning = morphs = motion = 0
    for mesh in scene.meshes:
        for p in mesh.primitives:
            geometry += add(p.positions, p.normals, p.tangents, p.indices)
            geometry += add(*p.texcoords, *p.colours, *p.custom.values())
            if p.skin is not None:
                skinning += add(p.skin.joints, p.skin.weights)
            for target in p.targets:
                morphs += add(target.positions, target.normals, target.tangents)
    for clip in scene.clips.values():
        if isinstance(clip, PackedClip):
            motion += clip.nbytes
            continue
        for track in clip.tracks:
            motion += add(track.times, track.values)
    skinning += add(*(skin.inverse_binds for skin in scene.skins))
    return {
        "geometry": geometry,
        "skinning": skinning,
        "morphs": morphs,
        "motion": motion,
        "images": sum(len(image.data) for image in scene.images),
    }
