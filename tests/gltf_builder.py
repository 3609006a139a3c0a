"""Tiny glTF files in memory, to be changed by a test and then written.

    gltf, data = mini()                    # JSON as a dict, and its one buffer
    gltf["nodes"][1]["scale"] = "big"
    write_glb(tmp_path / "mini.glb", gltf, data)

`Builder` makes other files: each `add` returns the row of a new accessor.
"""

from __future__ import annotations

import base64
import json
import struct
from pathlib import Path
from typing import Any

import numpy as np

CODES = {"i1": 5120, "u1": 5121, "i2": 5122, "u2": 5123, "u4": 5125, "f4": 5126}
TYPES = {1: "SCALAR", 2: "VEC2", 3: "VEC3", 4: "VEC4", 9: "MAT3", 16: "MAT4"}
# The smallest picture there is: 1 x 1, red.
PNG = base64.b64decode(
    "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAIAAACQd1PeAAAADElEQVR4nGP4z8AAAAMBAQDJ/pLvAAAA"
    "AElFTkSuQmCC"
)

Json = dict[str, Any]


class Builder:
    """A glTF file that grows: `json` is its JSON, `data` its one buffer."""

    def __init__(self) -> None:
        self.json: Json = {
            "asset": {"version": "2.0"},
            "accessors": [],
            "bufferViews": [],
        }
        self.data = b""

    def view(self, data: bytes, **more: Any) -> int:
        """Append bytes as a buffer view, at a multiple of 4."""
        self.data += b"\0" * (-len(self.data) % 4)
        place = {"buffer": 0, "byteOffset": len(self.data), "byteLength": len(data)}
        self.json["bufferViews"].append({**place, **more})
        self.data += data
        return len(self.json["bufferViews"]) - 1

    def add(self, values: Any, kind: str = "f4", **more: Any) -> int:
        """Append numbers (count,) or (count, width) as an accessor of type `kind`."""
        array = np.asarray(values).astype(f"<{kind}")
        array = array.reshape(len(array), -1)
        accessor: Json = {
            "bufferView": self.view(array.tobytes()),
            "componentType": CODES[kind],
            "count": len(array),
            "type": TYPES[array.shape[1]],
            **more,
        }
        self.json["accessors"].append(accessor)
        return len(self.json["accessors"]) - 1

    def add_json(self, **accessor: Any) -> int:
        """Append an accessor as it is; without data unless it names a view."""
        plain = {"componentType": 5126, "count": 3, "type": "VEC3"}
        self.json["accessors"].append({**plain, **accessor})
        return len(self.json["accessors"]) - 1

    def done(self) -> tuple[Json, bytes]:
        """The JSON with its buffer announced, and the buffer."""
        if self.data:
            self.json["buffers"] = [{"byteLength": len(self.data)}]
        return self.json, self.data


def mini(
    *,
    skin: bool = True,
    morph: bool = True,
    clip: bool = True,
    texture: bool = True,
    interpolation: str = "LINEAR",
) -> tuple[Json, bytes]:
    """A character of four vertices and two triangles.

    Nodes: 0 "body" (mesh, skin), 1 "hip" with child 2 "knee", the joints. The clip
    "bend" turns and moves the knee and, with `morph`, raises the first of two morphs.
    """
    b = Builder()
    b.json |= {
        "scene": 0,
        "scenes": [{"name": "main", "nodes": [0, 1]}],
        "nodes": [
            {"name": "body", "mesh": 0},
            {"name": "hip", "translation": [0.0, 1.0, 0.0], "children": [2]},
            {"name": "knee", "translation": [0.0, -0.5, 0.0]},
        ],
    }
    corners = np.array([[0, 0, 0], [1, 0, 0], [0, 1, 0], [1, 1, 0]], float)
    attributes = {
        "POSITION": b.add(corners, min=[0, 0, 0], max=[1, 1, 0]),
        "NORMAL": b.add([[0, 0, 1]] * 4),
        "TEXCOORD_0": b.add(corners[:, :2]),
    }
    primitive: Json = {
        "attributes": attributes,
        "indices": b.add([0, 1, 2, 2, 1, 3], "u2"),
    }
    mesh: Json = {"name": "skin", "primitives": [primitive]}
    b.json["meshes"] = [mesh]
    if skin:
        weights = [[0.75, 0.25, 0, 0], [0.5, 0.5, 0, 0], [1, 0, 0, 0], [0, 1, 0, 0]]
        attributes["JOINTS_0"] = b.add([[0, 1, 0, 0]] * 4, "u1")
        attributes["WEIGHTS_0"] = b.add(weights)
        binds = np.tile(np.eye(4), (2, 1, 1))  # columns first, as glTF has them
        binds[:, 3, 1] = -1, -0.5
        rows = {"inverseBindMatrices": b.add(binds), "joints": [1, 2], "skeleton": 1}
        b.json["skins"] = [{"name": "legs", **rows}]
        b.json["nodes"][0]["skin"] = 0
    if morph:
        rise = np.zeros((4, 3))
        rise[2:, 1] = 1
        primitive["targets"] = [{"POSITION": b.add(rise)}, {"POSITION": b.add(-rise)}]
        mesh["weights"] = [0.25, 0.0]
    if texture:
        _add_texture(b)
        primitive["material"] = 0
    if clip:
        b.json["animations"] = [_bend(b, morph, interpolation)]
    return b.done()


def _bend(b: Builder, morph: bool, interpolation: str) -> Json:
    half = float(np.sqrt(0.5))
    keys: dict[str, tuple[int, list[Any]]] = {
        "rotation": (2, [[0, 0, 0, 1], [0, 0, half, half]]),
        "translation": (2, [[0, -0.5, 0], [0, -1, 0]]),
    }
    if morph:
        keys["weights"] = (0, [[0.25, 0], [1, 0]])
    times = b.add([0, 1], min=[0], max=[1])
    clip: Json = {"name": "bend", "channels": [], "samplers": []}
    for path, (node, values) in keys.items():
        array = np.array(values, float)
        if interpolation == "CUBICSPLINE":  # with tangents of 0 around each value
            array = np.stack([0 * array, array, 0 * array], 1)
        width = 1 if path == "weights" else array.shape[-1]
        output = b.add(array.reshape(-1, width))
        target = {"node": node, "path": path}
        clip["channels"].append({"sampler": len(clip["samplers"]), "target": target})
        clip["samplers"].append(
            {"input": times, "output": output, "interpolation": interpolation}
        )
    return clip


def _add_texture(b: Builder) -> None:
    b.json["images"] = [
        {"name": "red", "bufferView": b.view(PNG), "mimeType": "image/png"}
    ]
    b.json["samplers"] = [{"magFilter": 9729, "minFilter": 9987, "wrapS": 33071}]
    b.json["textures"] = [{"source": 0, "sampler": 0}]
    base = {"baseColorTexture": {"index": 0}, "metallicFactor": 0.5}
    b.json["materials"] = [{"name": "cloth", "pbrMetallicRoughness": base}]


def values_of(gltf: Json, data: bytes, row: int) -> np.ndarray[Any, Any]:
    """The numbers of a tightly packed accessor, to be compared or changed."""
    accessor = gltf["accessors"][row]
    view = gltf["bufferViews"][accessor["bufferView"]]
    kind = next(
        name for name, code in CODES.items() if code == accessor["componentType"]
    )
    width = next(n for n, name in TYPES.items() if name == accessor["type"])
    numbers = np.frombuffer(
        data, f"<{kind}", accessor["count"] * width, view["byteOffset"]
    )
    return numbers.reshape(-1, width)


def with_values(gltf: Json, data: bytes, row: int, place: Any, value: Any) -> bytes:
    """The buffer with the numbers at `place` of an accessor changed to `value`."""
    numbers = values_of(gltf, data, row).copy()
    numbers[place] = value
    at = gltf["bufferViews"][gltf["accessors"][row]["bufferView"]]["byteOffset"]
    new = numbers.tobytes()
    return data[:at] + new + data[at + len(new) :]


def pack_glb(gltf: Json, data: bytes) -> bytes:
    """The bytes of a .glb file."""
    text = json.dumps(gltf).encode()
    text += b" " * (-len(text) % 4)
    chunks = struct.pack("<I4s", len(text), b"JSON") + text
    if data:
        data += b"\0" * (-len(data) % 4)
        chunks += struct.pack("<I4s", len(data), b"BIN\0") + data
    return struct.pack("<4sII", b"glTF", 2, 12 + len(chunks)) + chunks


def write_glb(path: Path, gltf: Json, data: bytes) -> Path:
    """Write a .glb file; return its path."""
    path.write_bytes(pack_glb(gltf, data))
    return path


def write_gltf(path: Path, gltf: Json, data: bytes, *, embed: bool = False) -> Path:
    """Write a .gltf file with its buffer beside it as .bin, or inside (`embed`)."""
    uri = "data:application/octet-stream;base64," + base64.b64encode(data).decode()
    if not embed:
        uri = path.with_suffix(".bin").name
        path.with_suffix(".bin").write_bytes(data)
    buffers = [{**gltf["buffers"][0], "uri": uri}] if data else []
    path.write_text(json.dumps({**gltf, "buffers": buffers}))
    return path
