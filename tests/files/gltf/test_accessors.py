from __future__ import annotations

import numpy as np
import pytest

from flexor.files.gltf.accessors import Accessors
from flexor.files.gltf.container import Container
from tests.files.gltf.reading import refuse
from tests.gltf_builder import CODES, Builder, mini, write_glb


@pytest.fixture
def opened(tmp_path):
    """The accessors of a file made by a builder."""

    def open_file(b):
        return Accessors(Container(write_glb(tmp_path / "a.glb", *b.done())))

    return open_file


@pytest.mark.parametrize("kind", list(CODES))
@pytest.mark.parametrize("width", [1, 2, 3, 4])
def test_every_component_type(opened, rng, kind, width):
    values = rng.integers(0, 100, (7, width))
    b = Builder()
    row = b.add(values, kind)
    accessors = opened(b)
    raw = accessors.raw(row, width)
    assert raw.dtype == np.dtype(kind)
    np.testing.assert_array_equal(raw, values)
    assert accessors.raw(row) is raw
    assert not raw.flags.writeable
    floats = accessors.floats(row, width)
    assert floats.dtype == np.float32
    np.testing.assert_array_equal(floats, values)
    assert not floats.flags.writeable


@pytest.mark.parametrize(
    ("kind", "raw", "expected"),
    [
        ("i1", [-128, -127, 0, 64, 127], [-1, -1, 0, 64 / 127, 1]),
        ("u1", [0, 51, 255], [0, 0.2, 1]),
        ("i2", [-32768, -32767, 0, 32767], [-1, -1, 0, 1]),
        ("u2", [0, 13107, 65535], [0, 0.2, 1]),
        ("u4", [0, 2**32 - 1], [0, 1]),
        ("f4", [-5, 0.5, 3], [-5, 0.5, 3]),
    ],
)
def test_normalised(opened, kind, raw, expected):
    b = Builder()
    row = b.add(raw, kind, normalized=True)
    floats = opened(b).floats(row, 1)
    np.testing.assert_allclose(floats[:, 0], expected, rtol=1e-6)


@pytest.mark.parametrize("kind", ["u1", "i2", "f4"])
def test_stride_and_offset(opened, kind):
    dtype = np.dtype(f"<{kind}")
    block = np.zeros(
        5, np.dtype([("skip", "u1", 8), ("v", dtype, 3), ("gap", "u1", 7)])
    )
    block["v"] = np.arange(15).reshape(5, 3)
    b = Builder()
    view = b.view(block.tobytes(), byteStride=block.itemsize)
    row = b.add_json(bufferView=view, byteOffset=8, count=5, componentType=CODES[kind])
    np.testing.assert_array_equal(opened(b).raw(row, 3), block["v"])


def test_last_element_needs_no_stride_behind_it(opened):
    b = Builder()
    view = b.view(np.arange(7, dtype="<f4").tobytes(), byteStride=16)
    row = b.add_json(bufferView=view, count=2)
    np.testing.assert_array_equal(opened(b).raw(row), [[0, 1, 2], [4, 5, 6]])


@pytest.mark.parametrize("kind", ["u1", "u2"])
@pytest.mark.parametrize("side", [2, 3, 4])
def test_matrix_columns_are_padded(opened, kind, side):
    values = np.arange(2 * side * side).reshape(2, side, side)
    size = np.dtype(kind).itemsize
    padded = -(-side * size // 4) * 4 // size
    block = np.full((2, side, padded), 99, f"<{kind}")
    block[:, :, :side] = values
    b = Builder()
    row = b.add_json(
        bufferView=b.view(block.tobytes()),
        count=2,
        type=f"MAT{side}",
        componentType=CODES[kind],
    )
    np.testing.assert_array_equal(opened(b).raw(row), values.reshape(2, -1))


def sparse(b, places, values, kind="u1", **more):
    return {
        "count": len(places),
        "indices": {
            "bufferView": b.view(np.array(places, f"<{kind}").tobytes()),
            "componentType": CODES[kind],
            **more,
        },
        "values": {"bufferView": b.view(np.array(values, "<f4").tobytes())},
    }


@pytest.mark.parametrize("kind", ["u1", "u2", "u4"])
def test_sparse(opened, kind):
    b = Builder()
    part = sparse(b, [1, 3], [[7, 8, 9], [4, 5, 6]], kind)
    over = b.add(np.ones((4, 3)), sparse=part)
    alone = b.add_json(count=4, sparse=part)
    plain = b.add_json(count=4)
    accessors = opened(b)
    expected = np.ones((4, 3))
    expected[[1, 3]] = [[7, 8, 9], [4, 5, 6]]
    np.testing.assert_array_equal(accessors.floats(over, 3), expected)
    expected[[0, 2]] = 0
    np.testing.assert_array_equal(accessors.floats(alone, 3), expected)
    np.testing.assert_array_equal(accessors.floats(plain, 3), np.zeros((4, 3)))


# Refusals: accessor 0 of the small character holds its positions.


@pytest.mark.parametrize(
    ("key", "value", "words"),
    [
        ("componentType", 5124, "expected one of 5120"),
        ("componentType", "5126", "expected a whole number"),
        ("type", "VEC5", "expected one of SCALAR"),
        ("type", 3, "expected a text"),
        ("type", "VEC4", "4 components, expected 3"),
        ("count", 0, "out of range"),
        ("count", -1, "out of range"),
        ("count", 4.5, "expected a whole number"),
        ("count", True, "expected a whole number"),
        ("count", 10**30, "out of range"),
        ("count", 5, "5 elements need 60 bytes of a view of 48"),
        ("normalized", 1, "expected true or false"),
        ("bufferView", 99, "buffer view 99 does not exist"),
        ("bufferView", None, "expected a whole number"),
        ("byteOffset", -4, "out of range"),
        ("byteOffset", "0", "expected a whole number"),
    ],
)
def test_accessor_is_refused(tmp_path, key, value, words):
    gltf, data = mini()
    gltf["accessors"][0][key] = value
    refuse(tmp_path, gltf, data, f"/accessors/0/{key}", words)


@pytest.mark.parametrize("key", ["componentType", "count"])
def test_accessor_lacks(tmp_path, key):
    gltf, data = mini()
    del gltf["accessors"][0][key]
    refuse(tmp_path, gltf, data, "/accessors/0", f"{key!r} is missing")


def test_accessor_lacks_its_type(tmp_path):
    gltf, data = mini()
    del gltf["accessors"][0]["type"]
    refuse(tmp_path, gltf, data, "/accessors/0/type", "'missing', expected one of")


def test_accessor_offset_past_its_view(tmp_path):
    gltf, data = mini()
    gltf["accessors"][0]["byteOffset"] = 4
    refuse(tmp_path, gltf, data, "/accessors/0/count", "need 52 bytes of a view of 48")


@pytest.mark.parametrize(
    ("key", "value", "pointer", "words"),
    [
        ("buffer", 1, "/buffer", "buffer 1 does not exist"),
        ("buffer", "0", "/buffer", "expected a whole number"),
        ("byteOffset", 10**6, "", "of a buffer of"),
        ("byteOffset", -1, "/byteOffset", "out of range"),
        ("byteLength", 10**6, "", "of a buffer of"),
        ("byteLength", 0, "/byteLength", "out of range"),
        ("byteStride", 256, "/byteStride", "out of range"),
        ("byteStride", -4, "/byteStride", "out of range"),
        ("extensions", [], "/extensions", "expected an object"),
    ],
)
def test_view_is_refused(tmp_path, key, value, pointer, words):
    gltf, data = mini()
    gltf["bufferViews"][0][key] = value
    refuse(tmp_path, gltf, data, f"/bufferViews/0{pointer}", words)


def test_elements_that_overlap(tmp_path):
    gltf, data = mini()
    gltf["bufferViews"][0]["byteStride"] = 8
    refuse(tmp_path, gltf, data, "/accessors/0", "every 8 bytes overlap")


def test_view_of_a_buffer_without_data(tmp_path):
    gltf, data = mini()
    extensions = {"EXT_meshopt_compression": {"fallback": True}}
    gltf["buffers"].append({"byteLength": 100, "extensions": extensions})
    gltf["bufferViews"][0]["buffer"] = 1
    refuse(tmp_path, gltf, data, "/bufferViews/0/buffer", "no data of its own")


@pytest.mark.parametrize(
    ("place", "value", "words"),
    [
        ("/count", 5, "expected 1 to 4"),
        ("/count", 0, "out of range"),
        ("/indices", 4, "element 4 of 4"),
        ("/indices/componentType", 5126, "expected unsigned integers"),
        ("/indices/componentType", 1, "expected one of"),
        ("/indices/bufferView", 77, "does not exist"),
        ("/values/bufferView", 77, "does not exist"),
        ("/values/byteOffset", 4, "bytes of a view of"),
        ("/indices/byteOffset", 4, "bytes of a view of"),
        ("/indices", None, "expected an object"),
        ("", [], "expected an object"),
    ],
)
def test_sparse_is_refused(tmp_path, place, value, words):
    b = Builder()
    last = value if place == "/indices" and value else 3
    part = sparse(b, [0, 1, 2, last], np.zeros((4, 3)), "u4")
    row = b.add_json(count=4, sparse=part)
    b.json["meshes"] = [{"primitives": [{"attributes": {"POSITION": row}}]}]
    target = b.json["accessors"][row]["sparse"]
    *above, key = place.split("/")[1:] or [None]
    for name in above:
        target = target[name]
    if key is None:
        b.json["accessors"][row]["sparse"] = value
    elif place != "/indices" or value is None:
        target[key] = value
    pointer = (
        place if "byteOffset" not in place else place.replace("byteOffset", "count")
    )
    refuse(tmp_path, *b.done(), f"/accessors/{row}/sparse{pointer}", words)


def test_sparse_part_is_missing(tmp_path):
    b = Builder()
    row = b.add_json(sparse={"count": 1})
    b.json["meshes"] = [{"primitives": [{"attributes": {"POSITION": row}}]}]
    refuse(tmp_path, *b.done(), f"/accessors/{row}/sparse", "'indices' is missing")
