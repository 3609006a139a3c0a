"""A scene as a glTF file.

Rows keep their order, so what the file refers to by number from places that are not
looked at (extensions, extras) still fits.
"""

from __future__ import annotations

import base64
import json
from collections.abc import Collection, Iterator
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from flexor.errors import AssetError
from flexor.files.gltf.carried import extensions_in
from flexor.files.gltf.container import join_glb
from flexor.files.gltf.links import add_link
from flexor.files.gltf.materials import material_json, sampler_json
from flexor.files.gltf.write_buffer import INDICES, VERTICES, BufferWriter
from flexor.files.replace import replace_file
from flexor.scene.character.clip import Clip, Track
from flexor.scene.character.material import Image, Texture
from flexor.scene.character.mesh import TRIANGLES, Mesh, MorphTarget, Primitive
from flexor.scene.character.tree import children_of
from flexor.scene.character.weights import Skin, SkinWeights
from flexor.scene.runtime.packed_clip import PackedClip
from flexor.scene.scene import Scene

__all__ = ["write_gltf"]

GENERATOR = "flexor"
MOST_IN_16_BITS = 1 + 1e-5


def write_gltf(scene: Scene, path: Path) -> None:
    """Write .gltf with its data inside, or, for any other ending, GLB.

    One file either way: of two, one could be replaced and the other not.
    """
    try:
        document, data = _document(scene)
        is_text = path.suffix.lower() == ".gltf"
        if is_text and data:
            packed = base64.b64encode(data).decode()
            uri = f"data:application/octet-stream;base64,{packed}"
            document["buffers"][0]["uri"] = uri
        text = json.dumps(
            document,
            indent=1 if is_text else None,
            separators=None if is_text else (",", ":"),
            ensure_ascii=False,
            allow_nan=False,
        ).encode()
    except (TypeError, ValueError) as error:
        raise AssetError(path, "", f"cannot be written: {error}") from None
    replace_file(path, text if is_text else join_glb(text, data))


def _document(scene: Scene) -> tuple[dict[str, Any], bytes]:
    """The JSON of a scene and its one buffer."""
    buffer = BufferWriter()
    tables: dict[str, list[Any]] = {
        "scenes": [
            _plain(name=s.name, nodes=[int(n) for n in s.nodes]) | (s.carried or {})
            for s in scene.root_sets
        ],
        "nodes": list(_nodes(scene)),
        "meshes": [_mesh(mesh, buffer) for mesh in scene.meshes],
        "skins": [_skin(skin, buffer) for skin in scene.skins],
        # An animation without a channel is not valid glTF.
        "animations": [
            _animation(clip, buffer, scene.skeleton.links)
            for clip in scene.clips.values()
            if clip.nodes
        ],
        "materials": [material_json(material) for material in scene.materials],
        "textures": [_texture(texture) for texture in scene.textures],
        "samplers": [sampler_json(sampler) for sampler in scene.samplers],
        "images": [_image(image, buffer) for image in scene.images],
    }
    data = buffer.data()
    tables["accessors"] = buffer.accessors
    tables["bufferViews"] = buffer.views
    if data:
        tables["buffers"] = [{"byteLength": len(data)}]
    carried = dict(scene.carried)
    asset = {"version": "2.0", "generator": GENERATOR, **carried.pop("asset", {})}
    document: dict[str, Any] = {"asset": asset}
    if scene.default_set is not None:
        document["scene"] = int(scene.default_set)
    document.update({name: table for name, table in tables.items() if table})
    document.update(carried)
    used = sorted({name for name, _ in extensions_in(document)})
    if used:
        document["extensionsUsed"] = used
    needed = sorted(set(_needed_extensions(tables["textures"])))
    if needed:
        document["extensionsRequired"] = needed
    return document, data


def _plain(**values: Any) -> dict[str, Any]:
    """The values that are not None and not empty."""
    return {
        key: value
        for key, value in values.items()
        if value is not None and value != "" and value != []
    }


def _short(numbers: Any) -> list[float]:
    """Numbers as the shortest decimals that give the same float32."""
    return [float(str(x)) for x in np.asarray(numbers, np.float32).ravel()]


def _nodes(scene: Scene) -> Iterator[dict[str, Any]]:
    skeleton = scene.skeleton
    children = children_of(skeleton.parents)
    has_clips = any(clip.nodes for clip in scene.clips.values())
    for node, name in enumerate(skeleton.names):
        out = _plain(name=name, children=children[node])
        if node in skeleton.matrices:
            full = np.vstack([skeleton.matrices[node], [0, 0, 0, 1]])
            out["matrix"] = _short(full.T)
        else:
            for key, value, rest in (
                ("translation", skeleton.translations[node], (0, 0, 0)),
                ("rotation", skeleton.rotations[node], (0, 0, 0, 1)),
                ("scale", skeleton.scales[node], (1, 1, 1)),
            ):
                if (value != rest).any():
                    out[key] = _short(value)
        if scene.node_mesh[node] >= 0:
            out["mesh"] = int(scene.node_mesh[node])
        if scene.node_skin[node] >= 0:
            out["skin"] = int(scene.node_skin[node])
        if node in scene.node_weights:
            out["weights"] = _short(scene.node_weights[node])
        out |= scene.node_carried.get(node, {})
        yield add_link(out, node, skeleton, has_clips=has_clips)


def _mesh(mesh: Mesh, buffer: BufferWriter) -> dict[str, Any]:
    primitives = [_primitive(primitive, buffer) for primitive in mesh.primitives]
    out = _plain(name=mesh.name, primitives=primitives)
    if len(mesh.morph_weights):
        out["weights"] = _short(mesh.morph_weights)
    out |= mesh.carried or {}
    if mesh.target_names:
        extras = out.get("extras")
        extras = extras if isinstance(extras, dict) else {}
        out["extras"] = {**extras, "targetNames": list(mesh.target_names)}
    return out


def _primitive(primitive: Primitive, buffer: BufferWriter) -> dict[str, Any]:
    if not len(primitive) or (
        primitive.indices is not None and not len(primitive.indices)
    ):
        raise ValueError("glTF cannot hold a primitive without vertices or indices")
    places = buffer.add(primitive.positions, VERTICES, has_bounds=True)
    attributes = {"POSITION": places}
    if primitive.normals is not None:
        attributes["NORMAL"] = buffer.add(primitive.normals, VERTICES)
    if primitive.tangents is not None:
        attributes["TANGENT"] = buffer.add(primitive.tangents, VERTICES)
    for number, texcoords in enumerate(primitive.texcoords):
        attributes[f"TEXCOORD_{number}"] = buffer.add(texcoords, VERTICES)
    for number, colours in enumerate(primitive.colours):
        attributes[f"COLOR_{number}"] = buffer.add(colours, VERTICES)
    if primitive.skin is not None:
        attributes.update(_weights(primitive.skin, buffer))
    for name, values in primitive.custom.items():
        attributes[name] = buffer.add(values, VERTICES)
    out: dict[str, Any] = {"attributes": attributes}
    if primitive.indices is not None:
        # The largest 16-bit number is not an index: it restarts a strip on a GPU.
        small = len(primitive) < 1 << 16
        indices = primitive.indices.astype(np.uint16) if small else primitive.indices
        out["indices"] = buffer.add(indices, INDICES)
    if primitive.mode != TRIANGLES:
        out["mode"] = primitive.mode
    if primitive.material is not None:
        out["material"] = primitive.material
    if primitive.targets:
        out["targets"] = [_target(target, buffer) for target in primitive.targets]
    return out | (primitive.carried or {})


def _target(target: MorphTarget, buffer: BufferWriter) -> dict[str, int]:
    out = {}
    if target.positions is not None:
        out["POSITION"] = buffer.add(target.positions, VERTICES, has_bounds=True)
    if target.normals is not None:
        out["NORMAL"] = buffer.add(target.normals, VERTICES)
    if target.tangents is not None:
        out["TANGENT"] = buffer.add(target.tangents, VERTICES)
    return out


def _weights(skin: SkinWeights, buffer: BufferWriter) -> dict[str, int]:
    """Sets of four joints and weights; the last one filled up with zeros."""
    padding = ((0, 0), (0, -skin.joints.shape[1] % 4))
    kind = np.uint8 if skin.joints.max(initial=0) < 256 else np.uint16
    joints = np.pad(skin.joints, padding).astype(kind)
    weights = np.pad(skin.weights, padding)
    out = {}
    for number in range(joints.shape[1] // 4):
        columns = slice(4 * number, 4 * number + 4)
        out[f"JOINTS_{number}"] = buffer.add(joints[:, columns], VERTICES)
        out[f"WEIGHTS_{number}"] = buffer.add(weights[:, columns], VERTICES)
    return out


def _skin(skin: Skin, buffer: BufferWriter) -> dict[str, Any]:
    out = _plain(name=skin.name, joints=skin.joints.tolist(), skeleton=skin.root)
    if skin.has_inverse_binds:
        full = np.zeros((len(skin.joints), 4, 4), np.float32)
        full[:, :3] = skin.inverse_binds
        full[:, 3, 3] = 1
        columns = np.ascontiguousarray(full.transpose(0, 2, 1))
        out["inverseBindMatrices"] = buffer.add(columns)
    return out | (skin.carried or {})


def _animation(
    clip: Clip | PackedClip, buffer: BufferWriter, links: Collection[int]
) -> dict[str, Any]:
    samplers: list[dict[str, Any]] = []
    channels: list[dict[str, Any]] = []
    for track in clip.tracks:
        width = 1 if track.path == "weights" else track.values.shape[-1]
        small = _small_turns(track) if track.node in links else None
        is_link = small is not None
        values = track.values.reshape(-1, width) if small is None else small
        sampler: dict[str, Any] = {
            "input": buffer.add_joined(
                track.times, has_bounds=True, is_looked_at=is_link
            ),
            "output": buffer.add_joined(values, is_looked_at=is_link),
        }
        if track.interpolation != "LINEAR":
            sampler["interpolation"] = track.interpolation
        target = {"node": track.node, "path": track.path}
        channels.append({"sampler": len(samplers), "target": target})
        samplers.append(sampler)
    out = _plain(name=clip.name, samplers=samplers, channels=channels)
    return out | (clip.carried or {})


def _small_turns(track: Track) -> NDArray[np.int16] | None:
    """Rotations of a link (T, 4) in 16 bits; None for what these cannot say.

    There are several links for one joint, and their keys were made here: these may be
    off by 3e-5 radians.
    """
    if track.path != "rotation" or track.interpolation == "CUBICSPLINE":
        return None
    if np.abs(track.values).max() > MOST_IN_16_BITS:
        return None
    whole = np.rint(track.values.astype(np.float64) * 32767)
    return np.clip(whole, -32767, 32767).astype(np.int16)


def _texture(texture: Texture) -> dict[str, Any]:
    out = _plain(name=texture.name, sampler=texture.sampler)
    others = (texture.carried or {}).get("extensions", {}).values()
    sources = [other.get("source") for other in others if isinstance(other, dict)]
    if texture.image not in sources:
        out |= _plain(source=texture.image)
    return out | (texture.carried or {})


def _image(image: Image, buffer: BufferWriter) -> dict[str, Any]:
    out = _plain(name=image.name)
    if not image.data:
        return out | _plain(uri=image.uri, mimeType=image.mime)
    return out | {"bufferView": buffer.add_view(image.data), "mimeType": image.mime}


def _needed_extensions(textures: list[dict[str, Any]]) -> Iterator[str]:
    """Extensions without which a texture has no image."""
    for texture in textures:
        if "source" not in texture:
            for name, body in texture.get("extensions", {}).items():
                if isinstance(body, dict) and "source" in body:
                    yield name
