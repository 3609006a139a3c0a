"""Small packages, and packages that lie with a right checksum."""

from __future__ import annotations

import dataclasses
import json
import struct
import zlib
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import Any

import numpy as np

from flexor.files.package import format as package_format
from flexor.files.package import tensors
from flexor.scene.character.clip import Clip, Track
from flexor.scene.character.material import (
    Image,
    Material,
    Sampler,
    Texture,
    TextureRef,
)
from flexor.scene.character.mesh import Mesh, MorphTarget, Primitive
from flexor.scene.character.skeleton import Skeleton
from flexor.scene.character.weights import Skin, SkinWeights
from flexor.scene.finding import Finding
from flexor.scene.runtime.envelope import Envelope, Envelopes
from flexor.scene.runtime.layout import DRAW, DRAW_DEFERRED, END, NATIVE, NO_DRAW, START
from flexor.scene.runtime.levels import Levels, LevelSurface
from flexor.scene.runtime.node_table import NodeTable
from flexor.scene.runtime.package import Package
from flexor.scene.scene import RootSet, Scene

Arrays = dict[str, Any]


def tiny_png() -> bytes:
    """2 x 2 pixels: red, green, blue, white."""

    def chunk(kind: bytes, data: bytes) -> bytes:
        end = struct.pack(">I", zlib.crc32(kind + data))
        return struct.pack(">I", len(data)) + kind + data + end

    rows = b"\0\xff\0\0\0\xff\0" + b"\0\0\0\xff\xff\xff\xff"
    head = struct.pack(">IIBBBBB", 2, 2, 8, 2, 0, 0, 0)
    parts = (chunk(b"IHDR", head), chunk(b"IDAT", zlib.compress(rows)))
    return b"\x89PNG\r\n\x1a\n" + b"".join(parts) + chunk(b"IEND", b"")


def floats(*shape: int, start: float = 0.0) -> Any:
    return (np.arange(np.prod(shape), dtype=np.float32) / 8 + start).reshape(shape)


def small_scene() -> Scene:
    """Everything there is, small: three nodes, a skinned, morphed and textured quad
    and a plain triangle, two clips.
    """
    skeleton = Skeleton(
        ("root", "tip", "root"),
        np.array([2, 0, -1]),
        floats(3, 3),
        np.tile(np.array([0, 0, 0, 1], np.float32), (3, 1)),
        np.ones((3, 3)),
        {1: floats(3, 4, start=1)},
    )
    weights = np.array([[1, 0], [0.5, 0.5], [0.25, 0.75], [0, 1]], np.float32)
    quad = Primitive(
        floats(4, 3),
        np.tile(np.array([0, 0, 1], np.float32), (4, 1)),
        np.tile(np.array([1, 0, 0, -1], np.float32), (4, 1)),
        (floats(4, 2), floats(4, 2, start=3)),
        (floats(4, 3) / 2, floats(4, 4) / 4),
        np.array([0, 1, 2, 2, 1, 3]),
        material=0,
        skin=SkinWeights(np.array([[0, 0], [0, 1], [0, 1], [0, 1]]), weights),
        targets=(
            MorphTarget(floats(4, 3), None, floats(4, 3, start=2)),
            MorphTarget(normals=floats(4, 3, start=5)),
        ),
        custom={"_ID": np.arange(4, dtype=np.uint16), "_X": floats(4, 16)},
        carried={"extras": {"made": "by hand"}},
    )
    triangle = Primitive(floats(3, 3, start=-1), mode=6)
    nowhere = float("nan")
    ref = TextureRef(0, 1, 0.3, True, (0.1, -0.0), 1.5, (2.0, 3.0))
    material = Material(
        "paint", (0.1, 0.2, 0.3, 1.0), ref, 0.7, 1 / 3, emissive_texture=TextureRef(0)
    )
    times = np.array([0, 0.5, 2], np.float32)
    walk = Clip(
        "walk",
        (
            Track(0, "translation", times, floats(3, 3)),
            Track(1, "rotation", times, floats(3, 3, 4), "CUBICSPLINE"),
            Track(1, "weights", np.array([1.5]), floats(1, 2), "STEP"),
        ),
        {"extras": [1, 2.5]},
    )
    return Scene(
        skeleton,
        np.array([-1, 0, 1]),
        np.array([-1, 0, -1]),
        (
            Mesh("quad", (quad,), np.array([0.25, 0.5]), ("smile", "frown")),
            Mesh("triangle", (triangle,)),
        ),
        (Skin("skin", np.array([0, 1]), floats(2, 3, 4), 0, False, {"extras": 3}),),
        {"walk": walk, "stand": Clip("still", ())},
        (material, Material()),
        (Texture("t", 0, 0, {"extensions": {"A": {}}}), Texture("", None, None)),
        (Sampler("s", 9728, None, 33071), Sampler()),
        (Image("i", tiny_png(), "image/png"), Image("gone", b"", "", "away.png")),
        (RootSet("all", (2,)), RootSet("no", ())),
        0,
        {1: np.array([0.75, 1], np.float32)},
        {2: {"extras": {"lone half": "\ud800", "much": 1e300, "none": nowhere}}},
        {"cameras": [{"type": "perspective"}], "asset": {"copyright": "é"}},
        (Finding("warning", "odd", "/nodes/0", "left as it was"),),
    )


def plain_envelope(scene: Scene) -> Envelope:
    """An envelope of any scene: each primitive that is shown is one part, which its
    node alone pulls, and which is drawn at once. No faces, and all numbers are 0.
    """
    shown = np.flatnonzero(scene.shown_nodes() & (scene.node_mesh >= 0)).tolist()
    parts = [
        (node, row, node, 0, len(primitive), 0)
        for node in shown
        for row, primitive in enumerate(scene.meshes[scene.node_mesh[node]].primitives)
    ]
    steps, size = [], 0
    for number, (node, _, _, _, count, _) in enumerate(parts):
        steps += [(NATIVE, node, 0, count, size), (DRAW, number, 0, 0, 0)]
        size += 48 * -(-count // 8)
    counts = [part[4] for part in parts]
    none = np.zeros(0, np.int32)
    return Envelope(
        np.array(steps, np.int32).reshape(-1, 5),
        none,
        np.zeros(size, np.float32),
        np.array(parts, np.int32).reshape(-1, 6),
        np.concatenate([none, *map(np.arange, counts)]),
        none.reshape(0, 3),
        None,
        none.reshape(0, 5),
        np.zeros(0, np.float32),
        max(counts, default=0),
    )


def plain_package(scene: Scene) -> Package:
    return Package(scene, Envelopes(plain_envelope(scene), plain_envelope(scene)))


def block(rows: int, count: int, start: float) -> Any:
    """Numbers of up to eight vertices, filled up with zeros."""
    made = np.zeros((rows, 8), np.float32)
    made[:, :count] = floats(rows, count, start=start)
    return made.ravel()


def small_envelope() -> Envelope:
    """`small_scene` with all weights: two parts, one morph, four places.

    The triangle is drawn before the quad comes to its places. Of the quad, vertex 0 is
    node 0's, vertex 3 is node 1's, the others are pulled by both.
    """
    steps = [
        [NATIVE, 2, 0, 3, 0],
        [DRAW, 1, 0, 0, 0],
        [NATIVE, 0, 0, 1, 48],
        [START, 0, 1, 2, 96],
        [NO_DRAW, 0, 0, 0, 0],
        [NATIVE, 1, 3, 1, 152],
        [END, 1, 1, 2, 200],
        [DRAW_DEFERRED, 0, 0, 0, 0],
    ]
    shapes = (6, 3), (6, 1), (7, 2), (6, 1), (7, 2)
    return Envelope(
        np.array(steps),
        np.array([0]),
        np.concatenate([block(*shape, n) for n, shape in enumerate(shapes)]),
        np.array([[1, 0, 0, 0, 4, 2], [2, 0, 2, 0, 3, 1]]),
        np.array([0, 2, 1, 3, 0, 1, 2]),
        np.array([[0, 2, 1], [1, 2, 3], [0, 1, 2]]),
        None,
        np.array([[1, 1, 48, 48, 0]]),
        block(6, 1, 5),
        4,
    )


def small_envelope_of_one_weight() -> Envelope:
    """`small_scene` with one weight, and with addresses."""
    steps = [
        [NATIVE, 2, 0, 3, 0],
        [DRAW, 1, 0, 0, 0],
        [NATIVE, 0, 2, 2, 48],
        [NO_DRAW, 0, 0, 0, 0],
        [NATIVE, 1, 0, 2, 96],
        [DRAW_DEFERRED, 0, 0, 0, 0],
    ]
    return Envelope(
        np.array(steps),
        np.array([0]),
        np.concatenate([block(6, count, count) for count in (3, 2, 2)]),
        np.array([[1, 0, 0, 0, 4, 2], [2, 0, 2, 0, 3, 1]]),
        np.array([3, 2, 1, 0, 0, 1, 2]),
        np.array([[0, 1, 2], [2, 1, 3], [4, 5, 6]]),
        np.array([3, 2, 1, 0, 0, 1, 2]),
        np.array([[1, 1, 48, 48, 0]]),
        block(6, 2, 5),
        4,
    )


def small_envelopes() -> Envelopes:
    return Envelopes(small_envelope(), small_envelope_of_one_weight())


def small_levels() -> Levels:
    """`small_scene` at three levels: the quad's last vertex goes, then its tip.

    Slot 0 is node 0 and slot 1 is node 1, both of the skin; slot 2 is node 2, which
    carries the triangle. The surface without a material is empty at the last level, the
    quad has shapes of its own from the second on.
    """
    table = NodeTable(
        ("root", "root", "tip \ud800"), np.array([2, 0, 1]), np.arange(-1, 2), floats(3)
    )
    three = np.array([[0.5, 0.25, 0.25], [1, 0, 0], [0, 0, 1]], np.float32)
    two = np.array([[1, 0], [0.5, 0.5], [0.25, 0.75], [0, 1]], np.float32)
    quad = LevelSurface(
        0,
        np.array([[1, 0, 1], [1, 0, 2], [1, 0, 0], [1, 0, 3]]),
        np.array([4, 3, 3]),
        tuple(np.array(f) for f in ([[2, 0, 1], [1, 0, 3]], [[2, 0, 1]], [[2, 0, 1]])),
        (np.tile([0, 1], (4, 1)), np.tile([0, 1, 1], (3, 1)), np.zeros((3, 1), int)),
        (two, three, np.ones((3, 1), np.float32)),
        (np.zeros((0, 6), np.float32), floats(3, 6), floats(3, 6) + 1),
    )
    face, none = np.array([[0, 1, 2]]), np.zeros((0, 3), np.int32)
    triangle = LevelSurface(
        -1,
        np.array([[2, 0, 0], [2, 0, 1], [2, 0, 2]]),
        np.array([3, 3, 0]),
        (face, face.copy(), none),
        (np.full((3, 1), 2), np.full((3, 2), 2), np.zeros((0, 1), int)),
        (np.ones((3, 1)), np.full((3, 2), 0.5), np.zeros((0, 1))),
    )
    masks = np.array([[1, 1, 1], [1, 1, 1], [0, 1, 0]], bool)
    errors = np.array([[0, 0], [0.01, 0.02], [0.1, 1 / 3]], np.float32)
    binds = floats(3, 3, 4)
    slots = np.array([0, 1, 2])
    return Levels(table, masks, slots, binds, errors, 0.1, (quad, triangle))


def small_package() -> Package:
    return Package(small_scene(), small_envelopes())


def unlike(a: Any, b: Any, where: str = "") -> Iterator[str]:
    """Places where two values are not the same, bit for bit: NaN is itself, 0.0 is not
    -0.0, and findings count.
    """
    if isinstance(a, np.ndarray):
        is_array = isinstance(b, np.ndarray) and a.dtype == b.dtype
        if not is_array or a.shape != b.shape or a.tobytes() != b.tobytes():
            yield where
    elif dataclasses.is_dataclass(a):
        for field in dataclasses.fields(a):
            pair = getattr(a, field.name), getattr(b, field.name, None)
            yield from unlike(*pair, f"{where}.{field.name}")
    elif isinstance(a, Mapping):
        if not isinstance(b, Mapping) or list(a) != list(b):
            yield f"{where}: keys"
            return
        for key in a:
            yield from unlike(a[key], b[key], f"{where}[{key!r}]")
    elif isinstance(a, tuple | list):
        if not isinstance(b, type(a)) or len(a) != len(b):
            yield f"{where}: length"
            return
        for number, pair in enumerate(zip(a, b, strict=True)):
            yield from unlike(*pair, f"{where}[{number}]")
    elif isinstance(a, bytes | memoryview):
        if bytes(a) != bytes(b):
            yield where
    elif repr(a) != repr(b):
        yield f"{where}: {a!r}, {b!r}"


def unpack(path: Path) -> tuple[dict[str, str], Arrays, Arrays]:
    """Texts, arrays and arrays of the envelopes of a package, as copies."""
    file = tensors.open_tensors(path)
    arrays = {name: file.any_array(name).copy() for name in file.entries}
    return dict(file.metadata), arrays, unpack_inner(file, "envelopes")


def unpack_inner(file: tensors.TensorFile, name: str) -> Arrays:
    """The arrays of a container in the container, as copies."""
    inner = file.inner(name)
    return {n: inner.any_array(n).copy() for n in inner.entries if n != "filler"}


def forge(
    path: Path,
    *,
    texts: Callable[[dict[str, str]], None] | None = None,
    scene: Callable[[dict[str, Any]], None] | None = None,
    arrays: Callable[[Arrays], None] | None = None,
    envelopes: Callable[[Arrays], None] | None = None,
    levels: Callable[[Arrays], None] | None = None,
) -> None:
    """Change what a package says, and make its checksum right again."""
    metadata, found, own = unpack(path)
    if scene is not None:
        tree = json.loads(metadata["scene"])
        scene(tree)
        metadata["scene"] = json.dumps(tree)
    if envelopes is not None:
        envelopes(own)
    found["envelopes"] = tensors.join_tensors(own)
    if levels is not None:
        own = unpack_inner(tensors.open_tensors(path), "levels")
        levels(own)
        found["levels"] = tensors.join_tensors(own)
    if arrays is not None:
        arrays(found)
    if texts is not None:
        texts(metadata)
    head, parts = tensors.layout_tensors(metadata, found)
    path.write_bytes(b"".join([package_format.seal(head, parts), *parts]))


def forge_header(path: Path, change: Callable[[str], str]) -> None:
    """Change the text of the header, and make its checksum right again."""
    data = path.read_bytes()
    size = int.from_bytes(data[:8], "little")
    text = change(data[8 : 8 + size].decode().rstrip(" ")).encode()
    text += b" " * (-(8 + len(text)) % 64)
    head = len(text).to_bytes(8, "little") + text
    rest = data[8 + size :]
    path.write_bytes(package_format.seal(head, [rest]) + rest)
