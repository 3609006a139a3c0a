"""A glTF file as a scene.

Reading is in one pass over the file's tables, from what others point at (buffers,
accessors, materials, meshes) to what points (nodes, clips). Nothing is believed: every
row, range and count is checked before it is used, and a file that fails anywhere gives
an AssetError and no scene.
"""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from flexor.arrays import Floats
from flexor.errors import AssetError, ShapeError
from flexor.files.gltf.accessors import Accessors, check_finite
from flexor.files.gltf.carried import carried_of, dropped_extensions
from flexor.files.gltf.checked import Checked
from flexor.files.gltf.clips import ClipReader
from flexor.files.gltf.container import Container
from flexor.files.gltf.extension import known_extensions
from flexor.files.gltf.links import read_links, undriven, without_link
from flexor.files.gltf.materials import (
    read_image,
    read_material,
    read_sampler,
    read_texture,
)
from flexor.files.gltf.meshes import MeshReader
from flexor.maths import transforms
from flexor.scene.character.clip import Clip
from flexor.scene.character.skeleton import Skeleton
from flexor.scene.character.tree import find_cycle
from flexor.scene.character.weights import Skin
from flexor.scene.finding import Finding
from flexor.scene.scene import RootSet, Scene

__all__ = ["read_gltf"]


def read_gltf(path: Path) -> Scene:
    """Read a .gltf, .glb or .vrm file; AssetError where that cannot be done."""
    container = Container(path)
    try:
        # Numbers of the file may be of any size: what comes of them is checked.
        with np.errstate(all="ignore"):
            return _read_scene(container)
    except ShapeError as error:
        # The checks of the scene types are a second net under those of the reader.
        raise AssetError(path, "", str(error)) from None
    except RecursionError:
        raise AssetError(path, "", "the JSON is nested too deeply") from None


def _read_scene(container: Container) -> Scene:
    root = container.root
    _check_required(root)
    findings: list[Finding] = []
    known = known_extensions()
    undone = {name for name in known if known[name].is_undone}
    for name in dropped_extensions(root, undone):
        text = f"{name} has data of its own, which is not kept"
        findings.append(Finding("warning", "extension-dropped", "/", text))
    accessors = Accessors(container)
    images = tuple(
        read_image(item, container, accessors, findings)
        for item in root.items("images")
    )
    samplers = tuple(read_sampler(item) for item in root.items("samplers"))
    textures = tuple(
        read_texture(item, len(images), len(samplers))
        for item in root.items("textures")
    )
    materials = tuple(
        read_material(item, len(textures)) for item in root.items("materials")
    )
    nodes = root.items("nodes")
    skeleton = _read_skeleton(nodes, findings)
    skins = _read_skins(root, skeleton, accessors, findings)
    links = read_links(nodes, skeleton, skins, findings)
    if links:
        skeleton = replace(skeleton, links=links)
    mesh_items = root.items("meshes")
    node_mesh = _column(nodes, "mesh", len(mesh_items), "mesh")
    node_skin = _column(nodes, "skin", len(skins), "skin")
    joint_counts: dict[int, int] = {}
    for mesh, skin in zip(node_mesh.tolist(), node_skin.tolist(), strict=True):
        if mesh >= 0 and skin >= 0:
            fewest = joint_counts.get(mesh, 1 << 16)
            joint_counts[mesh] = min(fewest, len(skins[skin].joints))
    reader = MeshReader(accessors, findings, len(materials), joint_counts)
    meshes = tuple(reader.read(item, row) for row, item in enumerate(mesh_items))
    targets = [len(meshes[m].morph_weights) if m >= 0 else 0 for m in node_mesh]
    node_weights: dict[int, Floats] = {}
    for node, item in enumerate(nodes):
        if item.has("weights") and targets[node]:
            own = item.vector("weights", (0.0,) * targets[node])
            node_weights[node] = np.array(own, np.float32)
    clip_reader = ClipReader(accessors, findings, targets, skeleton.matrices)
    root_sets, default_set = _read_root_sets(root, skeleton, findings)
    keys = ("camera", "extensions", "extras")
    carried = {
        row: without_link(carried_of(item, *keys), is_link=row in links)
        for row, item in enumerate(nodes)
    }
    clips = _read_clips(root, clip_reader, findings)
    findings += undriven(skeleton, clips)
    return Scene(
        skeleton=skeleton,
        node_mesh=node_mesh,
        node_skin=node_skin,
        meshes=meshes,
        skins=skins,
        clips=clips,
        materials=materials,
        textures=textures,
        samplers=samplers,
        images=images,
        root_sets=root_sets,
        default_set=default_set,
        node_weights=node_weights,
        node_carried={row: json for row, json in carried.items() if json is not None},
        carried=_carried_top(root),
        findings=tuple(findings),
    )


def _check_required(root: Checked) -> None:
    known = known_extensions()
    for item in root.items("extensionsRequired"):
        name = item.value
        if not isinstance(name, str):
            raise item.error("expected a text")
        # Looks that are not drawn do no harm.
        is_fine = name in known and known[name].may_be_required
        if not is_fine and not name.startswith("KHR_materials_"):
            raise item.error(f"the file needs the extension {name!r}, not handled here")


def _carried_top(root: Checked) -> dict[str, Any]:
    """What the top level says beyond the tables: cameras, extras, extensions."""
    carried = carried_of(root, "cameras", "extensions", "extras") or {}
    asset = {
        key: value
        for key, value in root.child("asset").value.items()
        if key not in ("version", "minVersion", "generator")
    }
    if asset:
        carried["asset"] = asset
    return carried


def _column(nodes: list[Checked], key: str, count: int, what: str) -> NDArray[np.int32]:
    """The row under `key` of every node, or -1: int32 (J,)."""
    rows = (item.index(key, count, what) for item in nodes)
    return np.array([-1 if row is None else row for row in rows], np.int32)


def _read_skeleton(nodes: list[Checked], findings: list[Finding]) -> Skeleton:
    count = len(nodes)
    parents = [-1] * count
    for row, item in enumerate(nodes):
        for child in item.indices("children", count, "node"):
            if parents[child] >= 0:
                text = f"node {child} is a child of node {parents[child]} already"
                raise item.error(text, "children")
            parents[child] = row
    cycle = find_cycle(parents)
    if cycle is not None:
        raise nodes[cycle].error("the node is its own ancestor", "children")
    translations = [item.vector("translation", (0.0, 0.0, 0.0)) for item in nodes]
    rotations = [item.vector("rotation", (0.0, 0.0, 0.0, 1.0)) for item in nodes]
    scales = [item.vector("scale", (1.0, 1.0, 1.0)) for item in nodes]
    matrices: dict[int, Floats] = {}
    for row, item in enumerate(nodes):
        if item.has("matrix"):
            numbers = np.array(item.vector("matrix", (0.0,) * 16), np.float64)
            matrix = numbers.reshape(4, 4).T[:3]
            moved, turned, scaled = transforms.decompose(matrix)
            translations[row] = tuple(moved)
            rotations[row] = tuple(turned)
            scales[row] = tuple(scaled)
            if not np.isfinite(scaled.astype(np.float32)).all():
                raise item.error("the numbers are too large", "matrix")
            matrices[row] = matrix.astype(np.float32)
            lost = np.abs(transforms.compose(moved, turned, scaled) - matrix).max()
            if lost > 1e-4 * np.abs(matrix).max():
                text = (
                    "the matrix is sheared; the shear cannot be posed and is left out"
                )
                findings.append(Finding("warning", "matrix-shear", item.pointer, text))
    names = tuple(item.text("name") for item in nodes)
    return Skeleton(
        names,
        np.array(parents, np.int32),
        np.array(translations, np.float32).reshape(count, 3),
        np.array(rotations, np.float32).reshape(count, 4),
        np.array(scales, np.float32).reshape(count, 3),
        matrices,
    )


def _read_skins(
    root: Checked, skeleton: Skeleton, accessors: Accessors, findings: list[Finding]
) -> tuple[Skin, ...]:
    items = root.items("skins")
    spans = _spans(skeleton) if items else []
    skins = []
    for item in items:
        joints = item.indices("joints", len(skeleton), "node")
        if not joints:
            raise item.error("a skin needs at least one joint", "joints")
        if len(joints) > 1 << 16:
            text = f"{len(joints)} joints, at most 65536 can be named"
            raise item.error(text, "joints")
        binds = _read_binds(item, len(joints), accessors, findings)
        top = item.index("skeleton", len(skeleton), "node")
        if top is not None and not all(
            spans[j][0] in range(*spans[top]) for j in joints
        ):
            text = f"node {top} is not above every joint of the skin; left out"
            findings.append(Finding("warning", "skin-root", item.pointer, text))
            top = None
        skins.append(
            Skin(
                item.text("name"),
                np.array(joints, np.int32),
                np.tile(np.eye(3, 4), (len(joints), 1, 1)) if binds is None else binds,
                top,
                binds is not None,
                carried_of(item, "extensions", "extras"),
            )
        )
    return tuple(skins)


def _read_binds(
    item: Checked, count: int, accessors: Accessors, findings: list[Finding]
) -> Floats | None:
    """The skin's first `count` inverse bind matrices (count, 3, 4), or None."""
    key = "inverseBindMatrices"
    row = item.index(key, len(accessors), "accessor")
    if row is None:
        return None
    numbers = accessors.finite(item, key, row, 16)
    if len(numbers) < count:
        raise item.error(f"{len(numbers)} matrices for {count} joints", key)
    full = numbers[:count].reshape(-1, 4, 4).transpose(0, 2, 1)
    last = full[:, 3]
    off = np.abs(last - np.array([0, 0, 0, 1])).max()
    if off > 0:
        text = f"the last row of an inverse bind matrix is off 0 0 0 1 by {off:.2g}"
        findings.append(Finding("warning", "bind-last-row", item.pointer, text))
    scale = np.where(last[:, 3] == 0, 1, last[:, 3])
    binds = (full[:, :3] / scale[:, None, None]).astype(np.float32)
    check_finite(item, key, binds.reshape(count, 12))
    return binds


def _spans(skeleton: Skeleton) -> list[tuple[int, int]]:
    """Numbers that nest like the tree: a node below another has a span inside its."""
    sizes = [1] * len(skeleton)
    parents, order = skeleton.parents.tolist(), skeleton.order.tolist()
    for node in reversed(order):
        if parents[node] >= 0:
            sizes[parents[node]] += sizes[node]
    spans = [(0, 0)] * len(skeleton)
    top = 0
    free = [0] * len(skeleton)  # the next number for a child of each node
    for node in order:
        if parents[node] >= 0:
            start = free[parents[node]]
            free[parents[node]] += sizes[node]
        else:
            start, top = top, top + sizes[node]
        spans[node] = start, start + sizes[node]
        free[node] = start + 1
    return spans


def _read_root_sets(
    root: Checked, skeleton: Skeleton, findings: list[Finding]
) -> tuple[tuple[RootSet, ...], int | None]:
    sets = []
    for item in root.items("scenes"):
        named = item.indices("nodes", len(skeleton), "node")
        nodes = [node for node in named if skeleton.parents[node] < 0]
        if len(nodes) < len(named):
            text = (
                f"{len(named) - len(nodes)} nodes have a parent, so they are no roots"
            )
            findings.append(Finding("warning", "scene-roots", item.pointer, text))
        carried = carried_of(item, "extensions", "extras")
        sets.append(RootSet(item.text("name"), tuple(nodes), carried))
    return tuple(sets), root.index("scene", len(sets), "scene")


def _read_clips(
    root: Checked, reader: ClipReader, findings: list[Finding]
) -> dict[str, Clip]:
    clips: dict[str, Clip] = {}
    used: dict[str, int] = {}  # the last number put behind a name
    for row, item in enumerate(root.items("animations")):
        wanted = name = item.text("name") or f"clip{row}"
        while name in clips:
            used[wanted] = used.get(wanted, 0) + 1
            name = f"{wanted}.{used[wanted]}"
        if name != wanted:
            text = f"a second clip {wanted!r} is now called {name!r}"
            findings.append(Finding("info", "clip-name", item.pointer, text))
        clips[name] = reader.read(item, name)
    return clips
