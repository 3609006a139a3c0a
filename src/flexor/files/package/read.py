"""A package file as a scene, envelopes and levels, each when it is asked for.

Reading is fast because it does little: the file is mapped, arrays are views of it, and
checks look at whole arrays. But everything is checked: a right checksum says that a
file is as it was written, not that its writer meant well.
"""

from __future__ import annotations

from functools import partial
from pathlib import Path
from typing import Any

import numpy as np

from flexor.arrays import Floats
from flexor.errors import AssetError
from flexor.files.package.clips import read_clips
from flexor.files.package.envelopes import read_envelopes
from flexor.files.package.format import LEVELS, check_bytes, check_format
from flexor.files.package.levels import read_levels
from flexor.files.package.looks import (
    read_findings,
    read_images,
    read_materials,
    read_root_sets,
    read_samplers,
    read_textures,
)
from flexor.files.package.meshes import KINDS, check_joints, read_meshes
from flexor.files.package.motion import MOTION, MOTION_FLOATS
from flexor.files.package.records import (
    Checks,
    carried,
    flag,
    parse_scene,
    read_record,
    read_records,
    row,
    text,
    texts,
    whole,
)
from flexor.files.package.tensors import TensorFile, Wanted, open_tensors
from flexor.scene.character.skeleton import Link, Skeleton, find_link_fault
from flexor.scene.character.weights import Skin
from flexor.scene.runtime.package import Package
from flexor.scene.scene import Scene

__all__ = ["read_package"]

FLOATS = {
    "translations": ("F32", (3,)),
    "rotations": ("F32", (4,)),
    "scales": ("F32", (3,)),
    "matrices": ("F32", (3, 4)),
    "inverse_binds": ("F32", (3, 4)),
    **{name: ("F32", (wide,)) for name, wide in KINDS},
    "weights": ("F32", ()),
    "morph_weights": ("F32", ()),
    "node_weights": ("F32", ()),
    "times": ("F32", ()),
    "values": ("F32", ()),
    **MOTION_FLOATS,
}
TOP: Checks = {"names": texts, "carried": carried}
ON_NODE: Checks = {"node": whole, "carried": carried}
SKIN: Checks = {
    "name": text,
    "joints": whole,
    "has_inverse_binds": flag,
    "carried": carried,
}
WANTED = Wanted(
    {
        **FLOATS,
        **MOTION,
        "nodes": ("I32", ()),
        "matrix_nodes": ("I32", ()),
        "links": ("I32", (2,)),
        "link_fractions": ("F64", ()),
        "link_axes": ("F64", (3,)),
        "link_swings": ("I32", ()),
        "weight_nodes": ("I32", ()),
        "skin_joints": ("I32", ()),
        "primitives": ("I32", (9,)),
        "attributes": ("I32", (3,)),
        "indices": ("U32", ()),
        "joints": ("U16", ()),
        "tracks": ("I32", ()),
        "images": ("U8", ()),
    }
)


def read_package(path: Path) -> Package:
    """Open a .flexor file; AssetError for one that is damaged, or no package.

    Its arrays are views of the file, which stays mapped while any of them lives. Scene,
    envelopes and levels are read and checked when they are first asked for; what
    someone wrote there on purpose can raise an AssetError then.
    """
    file = open_tensors(path)
    check_format(file)
    check_bytes(file)
    return Package(
        partial(_read_scene, file),
        partial(read_envelopes, file),
        partial(read_levels, file) if LEVELS in file.entries else None,
    )


def _read_scene(file: TensorFile) -> Scene:
    try:
        json = parse_scene(file.metadata.get("scene", ""))
    except ValueError as error:
        text = f"not the JSON of one: {error}"
        raise AssetError(file.path, "scene", text) from None
    # Numbers of the file may be of any size: what comes of them is checked.
    with np.errstate(all="ignore"):
        return _make_scene(file, json)


def _make_scene(file: TensorFile, json: dict[str, Any]) -> Scene:
    path = file.path
    arrays = file.arrays(WANTED)
    _check_finite(file)
    top = read_record(path, json, TOP)
    names = top.get("names", ())
    count = len(names)
    skeleton = _read_skeleton(file, names, arrays)
    images = read_images(file, json)
    samplers = read_samplers(path, json)
    textures = read_textures(path, json, len(images), len(samplers))
    materials = read_materials(path, json, len(textures))
    skins = _read_skins(file, json, arrays, count)
    meshes = read_meshes(file, json, arrays, len(materials))
    node_mesh, node_skin = arrays["nodes"][2 * count :].reshape(2, count)
    rows_of_mesh, rows_of_skin = node_mesh.tolist(), node_skin.tolist()
    for rows, table in ((rows_of_mesh, meshes), (rows_of_skin, skins)):
        if rows and not (-1 <= min(rows) and max(rows) < len(table)):
            raise file.error("nodes", "a node has a mesh or skin that does not exist")
    pairs = zip(rows_of_mesh, rows_of_skin, strict=True)
    check_joints(file, arrays["joints"], (meshes, skins), pairs)
    of_mesh = [*(len(mesh.morph_weights) for mesh in meshes), 0]  # of -1: the last
    targets = [of_mesh[mesh] for mesh in rows_of_mesh]
    root_sets, default_set = read_root_sets(path, json, count)
    on_nodes = read_records(path, json, "node_carried", ON_NODE)
    if any(item.get("node", count) >= count for item in on_nodes):
        raise AssetError(path, "/node_carried", "a node that does not exist")
    return Scene.unchecked(
        skeleton=skeleton,
        node_mesh=node_mesh,
        node_skin=node_skin,
        meshes=meshes,
        skins=skins,
        clips=read_clips(file, json, arrays, targets),
        materials=materials,
        textures=textures,
        samplers=samplers,
        images=images,
        root_sets=root_sets,
        default_set=default_set,
        node_weights=_read_node_weights(file, arrays, targets),
        node_carried={item["node"]: item.get("carried", {}) for item in on_nodes},
        carried=top.get("carried", {}),
        findings=read_findings(path, json),
    )


def _check_finite(file: TensorFile) -> None:
    """Refuse numbers that are not finite: neighbours at once, as one look at much is
    faster than many at little. The types are known to be right.
    """
    first = last = 0  # bytes of the arrays that are neighbours
    for name, (_, _, begin, end) in file.entries.items():
        if name in FLOATS:
            if begin != last:
                _check_span(file, first, last)
                first = begin
            last = end
    _check_span(file, first, last)


def _check_span(file: TensorFile, begin: int, end: int) -> None:
    if begin < end:
        floats = np.frombuffer(file.buffer, np.float32, (end - begin) // 4, begin)
        if not np.isfinite(floats).all():
            name = next(n for n, entry in file.entries.items() if entry[2] == begin)
            raise file.error(name, "numbers there or behind are not finite")


def _read_skeleton(
    file: TensorFile, names: tuple[str, ...], arrays: dict[str, Any]
) -> Skeleton:
    count = len(names)
    parts = arrays["translations"], arrays["rotations"], arrays["scales"]
    if len(arrays["nodes"]) != 4 * count or {len(part) for part in parts} != {count}:
        reason = f"these, translations, rotations or scales are not of {count} nodes"
        raise file.error("nodes", reason)
    parents, depth = arrays["nodes"][: 2 * count].reshape(2, count)
    # In plain numbers: a character has some dozens of nodes.
    above, levels = parents.tolist(), depth.tolist()
    if count and not (-1 <= min(above) and max(above) < count):
        raise file.error("nodes", f"parents must lie in -1..{count - 1}")
    # Depths that grow by one from parent to child prove that no node is its own
    # ancestor, and give the order without a walk through the tree.
    for parent, level in zip(above, levels, strict=True):
        if level != (levels[parent] + 1 if parent >= 0 else 0):
            raise file.error("nodes", "depths do not grow by one from parent to child")
    order = np.argsort(depth, kind="stable").astype(np.int32)
    order.flags.writeable = False
    rows = _rows(file, "matrix_nodes", arrays, count)
    if len(rows) != len(arrays["matrices"]):
        raise file.error("matrices", "not as many as nodes that have one")
    matrices = dict(zip(rows, arrays["matrices"], strict=True))
    links = _read_links(file, arrays, above)
    return Skeleton.unchecked(names, parents, parts, matrices, order, links)


def _read_links(
    file: TensorFile, arrays: dict[str, Any], parents: list[int]
) -> dict[int, Link]:
    rows, fractions = arrays["links"].tolist(), arrays["link_fractions"].tolist()
    if len(rows) != len(fractions):
        raise file.error("link_fractions", f"{len(fractions)} for {len(rows)} links")
    axes: list[Any] = arrays["link_axes"].tolist() or [[0.0] * 3] * len(rows)
    if len(rows) != len(axes):
        raise file.error("link_axes", f"{len(axes)} for {len(rows)} links")
    swings = set(arrays["link_swings"].tolist())
    if len(swings) != len(arrays["link_swings"]):
        raise file.error("link_swings", "a node stands there twice")
    links = {
        node: Link(joint, fraction, tuple(axis) if any(axis) else None, node in swings)
        for (node, joint), fraction, axis in zip(rows, fractions, axes, strict=True)
    }
    if swings - links.keys():
        raise file.error("link_swings", "names a node that is no link")
    if len(links) != len(rows):
        raise file.error("links", "a node stands there twice")
    for node in links:
        fault = find_link_fault(node, links, parents)
        if fault is not None:
            raise file.error("links", f"node {node}: {fault}")
    return links


def _rows(file: TensorFile, name: str, arrays: dict[str, Any], count: int) -> list[int]:
    """Different nodes, of `count`."""
    rows: list[int] = arrays[name].tolist()
    if rows and not (min(rows) >= 0 and max(rows) < count):
        raise file.error(name, "a node that does not exist")
    if len(set(rows)) != len(rows):
        raise file.error(name, "a node stands there twice")
    return rows


def _read_skins(
    file: TensorFile, json: dict[str, Any], arrays: dict[str, Any], count: int
) -> tuple[Skin, ...]:
    joints, binds = arrays["skin_joints"], arrays["inverse_binds"]
    if len(joints) != len(binds):
        raise file.error("inverse_binds", f"{len(binds)} for {len(joints)} joints")
    # Without a sign, what is below 0 is large.
    if len(joints) and int(joints.view(np.uint32).max()) >= count:
        raise file.error("skin_joints", "a node that does not exist")
    checks = {**SKIN, "root": row(count)}
    skins, at = [], 0
    for item in read_records(file.path, json, "skins", checks):
        end = at + item.get("joints", 0)
        skin = Skin.unchecked(
            item.get("name", ""),
            joints[at:end],
            binds[at:end],
            item.get("root"),
            item.get("has_inverse_binds", True),
            item.get("carried"),
        )
        skins.append(skin)
        at = end
    if at != len(joints):
        reason = f"{len(joints)} joints, the skins name {at}"
        raise AssetError(file.path, "/skins", reason)
    return tuple(skins)


def _read_node_weights(
    file: TensorFile, arrays: dict[str, Any], targets: list[int]
) -> dict[int, Floats]:
    weights = arrays["node_weights"]
    found: dict[int, Floats] = {}
    at = 0
    for node in _rows(file, "weight_nodes", arrays, len(targets)):
        found[node] = weights[at : at + targets[node]]
        at += targets[node]
    if at != len(weights):
        raise file.error("node_weights", f"{len(weights)} weights, expected {at}")
    return found
