from __future__ import annotations

import sys

import numpy as np
import pytest

from flexor.errors import BackendMissing
from tests.files.gltf.reading import put, read, refuse
from tests.gltf_builder import Builder, mini, with_values

POSITION, NORMAL, TEXCOORD, INDICES, JOINTS, WEIGHTS, BINDS, MORPH = range(8)
ATTRIBUTES = "/meshes/0/primitives/0/attributes"


def codes(scene):
    return [finding.code for finding in scene.findings]


def first(scene):
    return scene.meshes[0].primitives[0]


def test_mini_character(tmp_path):
    mesh = read(tmp_path, *mini()).meshes[0]
    part = mesh.primitives[0]
    assert mesh.name == "skin"
    np.testing.assert_array_equal(part.positions[:, 0], [0, 1, 0, 1])
    np.testing.assert_array_equal(part.normals, [[0, 0, 1]] * 4)
    np.testing.assert_array_equal(part.indices, [0, 1, 2, 2, 1, 3])
    np.testing.assert_array_equal(part.texcoords[0][3], [1, 1])
    np.testing.assert_array_equal(part.skin.weights[0], [0.75, 0.25, 0, 0])
    np.testing.assert_array_equal(part.skin.joints[3], [0, 1, 0, 0])
    np.testing.assert_array_equal(mesh.morph_weights, [0.25, 0])
    np.testing.assert_array_equal(part.targets[1].positions[2], [0, -1, 0])
    assert part.targets[0].normals is None
    assert part.material == 0


@pytest.mark.parametrize("value", [5, None, "x", [], [0], {}, True])
def test_attributes_of_the_wrong_kind(tmp_path, value):
    gltf, data = mini()
    put(gltf, ATTRIBUTES, value)
    words = "'POSITION' is missing" if value == {} else "expected an object"
    refuse(tmp_path, gltf, data, ATTRIBUTES, words)


@pytest.mark.parametrize(
    ("pointer", "value", "words"),
    [
        ("/meshes", {}, "expected an array"),
        ("/meshes/0", 1, "expected an object"),
        ("/meshes/0/primitives", [], "needs at least one primitive"),
        ("/meshes/0/primitives", "x", "expected an array"),
        ("/meshes/0/primitives/0", None, "expected an object"),
        ("/meshes/0/name", 5, "expected a text"),
        ("/meshes/0/weights", [0.5], "1 numbers, expected 2"),
        ("/meshes/0/weights", [0.5, 1e39], "is too large"),
        ("/meshes/0/extensions", [], "expected an object"),
        ("/meshes/0/primitives/0/extensions", 3, "expected an object"),
        ("/meshes/0/primitives/0/mode", 7, "expected 0 to 6"),
        ("/meshes/0/primitives/0/mode", "4", "expected a whole number"),
        ("/meshes/0/primitives/0/material", 1, "material 1 does not exist"),
        ("/meshes/0/primitives/0/indices", 99, "accessor 99 does not exist"),
        ("/meshes/0/primitives/0/targets", {}, "expected an array"),
        ("/meshes/0/primitives/0/targets/0", 0, "expected an object"),
        ("/meshes/0/primitives/0/targets/0/POSITION", 99, "does not exist"),
        ("/meshes/0/primitives/0/targets/0/POSITION", BINDS, "16 components"),
        (ATTRIBUTES + "/POSITION", 99, "accessor 99 does not exist"),
        (ATTRIBUTES + "/POSITION", -1, "out of range"),
        (ATTRIBUTES + "/NORMAL", "1", "expected a whole number"),
        (ATTRIBUTES + "/_OTHER", None, "expected a whole number"),
        (ATTRIBUTES + "/_OTHER", INDICES, "6 elements, POSITION has 4"),
    ],
)
def test_mesh_is_refused(tmp_path, pointer, value, words):
    gltf, data = mini()
    put(gltf, pointer, value)
    where = pointer
    if words == "16 components":
        where = f"/accessors/{BINDS}/type"
    if "too large" in words:
        where += "/1"
    refuse(tmp_path, gltf, data, where, words)


@pytest.mark.parametrize("value", [np.nan, np.inf, -np.inf])
def test_positions_must_be_finite(tmp_path, value):
    gltf, data = mini()
    broken = with_values(gltf, data, POSITION, (2, 1), value)
    refuse(tmp_path, gltf, broken, ATTRIBUTES + "/POSITION", "element 2 is not finite")


def test_morphs_must_be_finite(tmp_path):
    gltf, data = mini()
    broken = with_values(gltf, data, MORPH, (3, 0), np.nan)
    pointer = "/meshes/0/primitives/0/targets/0/POSITION"
    refuse(tmp_path, gltf, broken, pointer, "element 3 is not finite")


def test_vertex_index_past_the_end(tmp_path):
    gltf, data = mini()
    broken = with_values(gltf, data, INDICES, 5, 4)
    refuse(tmp_path, gltf, broken, "/meshes/0/primitives/0/indices", "vertex 4 of 4")


def test_indices_are_unsigned(tmp_path):
    gltf, data = mini()
    gltf["accessors"][INDICES]["componentType"] = 5122
    pointer = f"/accessors/{INDICES}/componentType"
    refuse(tmp_path, gltf, data, pointer, "int16, expected unsigned integers")


def test_morph_of_another_length(tmp_path):
    gltf, data = mini()
    gltf["accessors"][MORPH]["count"] = 3
    pointer = "/meshes/0/primitives/0/targets/0/POSITION"
    refuse(tmp_path, gltf, data, pointer, "3 elements, POSITION has 4")


def test_primitives_with_other_numbers_of_morphs(tmp_path):
    gltf, data = mini()
    part = gltf["meshes"][0]["primitives"][0]
    gltf["meshes"][0]["primitives"].append({**part, "targets": []})
    refuse(tmp_path, gltf, data, "/meshes/0/primitives/1", "0 targets, the first")


@pytest.mark.parametrize("names", [["TEXCOORD_1"], ["COLOR_0", "COLOR_2"]])
def test_gap_in_the_numbers(tmp_path, names):
    gltf, data = mini()
    attributes = gltf["meshes"][0]["primitives"][0]["attributes"]
    del attributes["TEXCOORD_0"]
    for name in names:
        attributes[name] = TEXCOORD
    refuse(tmp_path, gltf, data, ATTRIBUTES, "must start at 0 without a gap")


@pytest.mark.parametrize("name", ["TEXCOORD_" + "9" * 5000, "TEXCOORD_1१", "_LOW"])
def test_other_attributes_are_kept_as_they_are(tmp_path, name):
    gltf, data = mini()
    gltf["meshes"][0]["primitives"][0]["attributes"][name] = JOINTS
    part = first(read(tmp_path, gltf, data))
    np.testing.assert_array_equal(part.custom[name], [[0, 1, 0, 0]] * 4)
    assert part.custom[name].dtype == np.uint8


# Skins.


@pytest.mark.parametrize("joint_kind", ["u1", "u2"])
@pytest.mark.parametrize("weight_kind", ["u1", "u2", "f4"])
@pytest.mark.parametrize("sets", [1, 2, 3])
def test_joints_and_weights_of_every_type(tmp_path, joint_kind, weight_kind, sets):
    b = Builder()
    top = 1 if weight_kind == "f4" else np.iinfo(weight_kind).max
    count = 4 * sets
    joints = np.arange(2 * count).reshape(2, count)
    weights = np.zeros((2, count))
    weights[0, 0], weights[0, -1], weights[1, 1] = 0.6, 0.4, 1
    attributes = {"POSITION": b.add(np.zeros((2, 3)))}
    for n in range(sets):
        part = slice(4 * n, 4 * n + 4)
        attributes[f"JOINTS_{n}"] = b.add(joints[:, part], joint_kind)
        stored = np.rint(weights[:, part] * top) if top > 1 else weights[:, part]
        attributes[f"WEIGHTS_{n}"] = b.add(stored, weight_kind, normalized=top > 1)
    b.json["nodes"] = [{}] * (2 * count) + [{"mesh": 0, "skin": 0}]
    b.json["skins"] = [{"joints": list(range(2 * count))}]
    b.json["meshes"] = [{"primitives": [{"attributes": attributes}]}]
    scene = read(tmp_path, *b.done())
    skin = first(scene).skin
    assert scene.findings == ()
    assert skin.weights.shape == (2, count)
    np.testing.assert_allclose(skin.weights, weights, atol=1e-6)
    np.testing.assert_array_equal(skin.joints, np.where(weights > 0, joints, 0))


@pytest.mark.parametrize(
    ("vertex", "weights", "what"),
    [
        (0, [np.nan, 1, 0, 0], "not finite"),
        (0, [-1, 1, 0, 0], "negative"),
        (2, [0, 0, 0, 0], "no weight"),
        (1, [0.5, 0.25, 0, 0], "sum not 1, by 0.25 at worst"),
        (1, [0.5, 0.25, 0.125, 0.125], None),
    ],
)
def test_weights_are_mended_with_a_finding(tmp_path, vertex, weights, what):
    gltf, data = mini()
    data = with_values(gltf, data, WEIGHTS, vertex, weights)
    scene = read(tmp_path, gltf, data)
    found = [f for f in scene.findings if f.code == "weights-mended"]
    texts = [f.text for f in found]
    assert f"1 vertices: {what or 'a joint twice'}" in texts
    assert {f.where for f in found} == {ATTRIBUTES}
    sums = first(scene).skin.weights.sum(1)
    np.testing.assert_allclose(sums, 1, atol=1e-6)


def test_weights_that_are_not_marked_normalised(tmp_path):
    gltf, data = mini()
    b = Builder()
    b.json, b.data = gltf, data
    row = b.add([[255, 0, 0, 0]] * 4, "u1")
    put(gltf, ATTRIBUTES + "/WEIGHTS_0", row)
    scene = read(tmp_path, *b.done())
    np.testing.assert_array_equal(first(scene).skin.weights[:, 0], 1)
    assert codes(scene) == ["weights-mended"]


def test_joint_past_the_end(tmp_path):
    gltf, data = mini()
    broken = with_values(gltf, data, JOINTS, (1, 1), 2)
    words = "vertex 1 hangs on joint 2 of a skin with 2"
    refuse(tmp_path, gltf, broken, ATTRIBUTES + "/JOINTS_0", words)


def test_joint_past_the_end_of_a_second_skin(tmp_path):
    """Weights that another mesh shares fit the first skin, but not the second."""
    gltf, data = mini()
    gltf["meshes"].append(gltf["meshes"][0])
    gltf["skins"].append({"joints": [1]})
    gltf["nodes"].append({"mesh": 1, "skin": 1})
    pointer = "/meshes/1/primitives/0/attributes/JOINTS_0"
    refuse(tmp_path, gltf, data, pointer, "of a skin with 1")


def test_shared_weights_are_mended_once(tmp_path):
    gltf, data = mini()
    part = gltf["meshes"][0]["primitives"][0]
    gltf["meshes"][0]["primitives"].append(part)
    one, two = read(tmp_path, gltf, data).meshes[0].primitives
    assert one.skin is two.skin


@pytest.mark.parametrize(
    ("kind", "words"), [("u4", "must be 8 or 16 bits"), ("i1", "expected unsigned")]
)
def test_joints_of_another_type(tmp_path, kind, words):
    gltf, data = mini()
    b = Builder()
    b.json, b.data = gltf, data
    row = b.add([[0, 1, 0, 0]] * 4, kind)
    put(gltf, ATTRIBUTES + "/JOINTS_0", row)
    where = ATTRIBUTES + "/JOINTS_0"
    if kind == "i1":
        where = f"/accessors/{row}/componentType"
    refuse(tmp_path, *b.done(), where, words)


def test_joints_without_weights(tmp_path):
    gltf, data = mini()
    del gltf["meshes"][0]["primitives"][0]["attributes"]["WEIGHTS_0"]
    refuse(tmp_path, gltf, data, ATTRIBUTES, "1 sets of JOINTS, 0 of WEIGHTS")


# Normals, tangents, coordinates, colours.


def test_normals_are_mended(tmp_path):
    gltf, data = mini()
    data = with_values(
        gltf, data, NORMAL, [0, 1, 2], [[0, 0, 0], [0, 0, 3], [np.nan] * 3]
    )
    scene = read(tmp_path, gltf, data)
    np.testing.assert_allclose(first(scene).normals, [[0, 0, 1]] * 4)
    assert codes(scene) == ["normals-empty", "normals-length"]
    assert scene.findings[0].text.startswith("2 normals")


def test_tangents(tmp_path):
    gltf, data = mini()
    b = Builder()
    b.json, b.data = gltf, data
    rows = [[0, 2, 0, -1], [0, 0, 0, 1], [0, 0, 1, np.nan], [1, 0, 0, 1]]
    put(gltf, ATTRIBUTES + "/TANGENT", b.add(rows))
    scene = read(tmp_path, *b.done())
    expected = [[0, 1, 0, -1], [1, 0, 0, 1], [0, 0, 1, 1], [1, 0, 0, 1]]
    np.testing.assert_array_equal(first(scene).tangents, expected)
    assert codes(scene) == ["tangents-empty"]


def test_coordinates_and_colours_that_are_not_finite(tmp_path):
    gltf, data = mini()
    b = Builder()
    b.json, b.data = gltf, data
    put(gltf, ATTRIBUTES + "/COLOR_0", b.add([[np.inf, 1, 1]] + [[1, 1, 1]] * 3))
    put(
        gltf,
        ATTRIBUTES + "/COLOR_1",
        b.add([[255, 0, 51, 255]] * 4, "u1", normalized=True),
    )
    gltf, data = b.done()
    data = with_values(gltf, data, TEXCOORD, (3, 0), np.nan)
    scene = read(tmp_path, gltf, data)
    np.testing.assert_array_equal(first(scene).texcoords[0][3], [0, 0])
    np.testing.assert_array_equal(first(scene).colours[0][0], [0, 0, 0])
    np.testing.assert_allclose(first(scene).colours[1][0], [1, 0, 0.2, 1])
    assert codes(scene) == ["texcoord-broken", "color-broken"]


@pytest.mark.parametrize("kind", ["i1", "u1", "i2", "u2"])
def test_quantised_mesh(tmp_path, kind):
    """KHR_mesh_quantization: small integers, plain or normalised."""
    b = Builder()
    positions = np.array([[0, 0, 0], [100, 0, 0], [0, 100, 0]])
    top = np.iinfo(kind).max
    signed = kind if kind[0] == "i" else "i" + kind[1]
    attributes = {
        "POSITION": b.add(positions, kind),
        "NORMAL": b.add([[0, 0, np.iinfo(signed).max]] * 3, signed, normalized=True),
        "TEXCOORD_0": b.add(positions[:, :2], kind, normalized=True),
        "TEXCOORD_1": b.add(positions[:, :2], kind),
    }
    targets = [{"POSITION": b.add(positions // 2, kind)}]
    part = {"attributes": attributes, "targets": targets}
    b.json["meshes"] = [{"primitives": [part]}]
    b.json["extensionsRequired"] = ["KHR_mesh_quantization"]
    scene = read(tmp_path, *b.done())
    part = first(scene)
    np.testing.assert_array_equal(part.positions, positions)
    np.testing.assert_array_equal(part.normals, [[0, 0, 1]] * 3)
    np.testing.assert_allclose(part.texcoords[0], positions[:, :2] / top, rtol=1e-6)
    np.testing.assert_array_equal(part.texcoords[1], positions[:, :2])
    np.testing.assert_array_equal(part.targets[0].positions, positions // 2)


def test_mesh_without_normals_indices_or_skin(tmp_path):
    b = Builder()
    targets = [
        {"NORMAL": b.add(np.ones((3, 3))), "TANGENT": b.add(np.ones((3, 3)))},
        {},
    ]
    part = {"attributes": {"POSITION": b.add(np.eye(3))}, "targets": targets, "mode": 5}
    names = {"targetNames": ["smile", "frown"]}
    b.json["meshes"] = [{"primitives": [part], "extras": names}]
    mesh = read(tmp_path, *b.done()).meshes[0]
    part = mesh.primitives[0]
    assert (part.normals, part.tangents, part.indices, part.skin) == (None,) * 4
    assert part.mode == 5
    assert part.targets[0].positions is None
    np.testing.assert_array_equal(part.targets[0].tangents, np.ones((3, 3)))
    np.testing.assert_array_equal(mesh.morph_weights, [0, 0])
    assert mesh.target_names == ("smile", "frown")


@pytest.mark.parametrize("names", [["one"], "smile", None, {"a": 1}])
def test_target_names_that_do_not_fit(tmp_path, names):
    gltf, data = mini()
    gltf["meshes"][0]["extras"] = {"targetNames": names}
    assert read(tmp_path, gltf, data).meshes[0].target_names == ()


# Compressed with Draco.


def draco_file(mode=4, **packing):
    draco = pytest.importorskip("DracoPy")
    points = np.array([[0, 0, 0], [1, 0, 0], [0, 1, 0], [1, 1, 0]], np.float32)
    faces = np.array([[0, 1, 2], [2, 1, 3]], np.uint32)
    packed = draco.encode(points, faces, quantization_bits=14)
    b = Builder()
    view = b.view(packed)
    row = b.add_json(count=4)
    indices = b.add_json(count=6, type="SCALAR", componentType=5125)
    extension = {"bufferView": view, "attributes": {"POSITION": 0}, **packing}
    part = {
        "attributes": {"POSITION": row},
        "indices": indices,
        "mode": mode,
        "extensions": {"KHR_draco_mesh_compression": extension},
    }
    b.json["meshes"] = [{"primitives": [part]}]
    return b


def test_draco(tmp_path):
    b = draco_file()
    part = first(read(tmp_path, *b.done()))
    assert sorted(map(tuple, np.rint(part.positions).astype(int).tolist())) == [
        (0, 0, 0),
        (0, 1, 0),
        (1, 0, 0),
        (1, 1, 0),
    ]
    assert len(part.triangles()) == 2
    assert part.carried is None


def test_draco_data_are_the_primitives_own(tmp_path):
    """Two primitives name the same accessors but hold other data."""
    b, other = draco_file(), draco_file()
    draco = pytest.importorskip("DracoPy")
    points = np.array([[0, 0, 5], [1, 0, 5], [0, 1, 5], [1, 1, 5]], np.float32)
    view = b.view(draco.encode(points, np.array([[0, 1, 2], [2, 1, 3]], np.uint32)))
    part = other.json["meshes"][0]["primitives"][0]
    part["extensions"]["KHR_draco_mesh_compression"]["bufferView"] = view
    b.json["meshes"][0]["primitives"].append(part)
    one, two = read(tmp_path, *b.done()).meshes[0].primitives
    assert one.positions[:, 2].max() < 0.01
    assert two.positions[:, 2].min() > 4.99


@pytest.mark.parametrize(
    ("packing", "pointer", "words"),
    [
        ({"bufferView": 9}, "/bufferView", "buffer view 9 does not exist"),
        ({"attributes": []}, "/attributes", "expected an object"),
        ({"attributes": 5}, "/attributes", "expected an object"),
        ({"attributes": {}}, "", "no Draco attribute is named"),
        ({"attributes": {"POSITION": 77}}, "", "unique id 77"),
        ({"attributes": {"NORMAL": 0}}, "/attributes/NORMAL", "not an attribute of"),
    ],
)
def test_draco_is_refused(tmp_path, packing, pointer, words):
    b = draco_file(**packing)
    where = "/meshes/0/primitives/0/extensions/KHR_draco_mesh_compression" + pointer
    refuse(tmp_path, *b.done(), where, words)


def test_draco_with_other_counts_or_mode(tmp_path):
    pointer = "/meshes/0/primitives/0"
    refuse(
        tmp_path, *draco_file(mode=1).done(), pointer + "/mode", "triangles or strips"
    )
    b = draco_file()
    b.json["accessors"][1]["count"] = 9
    refuse(tmp_path, *b.done(), pointer + "/indices", "9 indices announced, 6 in")
    b = draco_file()
    b.json["accessors"][0]["count"] = 5
    refuse(tmp_path, *b.done(), "/accessors/0/count", "5 elements of 3 announced")


def test_draco_data_are_damaged(tmp_path):
    b = draco_file()
    b.data = b.data[:-20] + bytes(20)
    where = "/meshes/0/primitives/0/extensions/KHR_draco_mesh_compression"
    refuse(tmp_path, *b.done(), where, "damaged or incomplete")


def test_missing_decoder_names_the_extra(tmp_path, monkeypatch):
    b = draco_file()
    monkeypatch.setitem(sys.modules, "DracoPy", None)
    with pytest.raises(BackendMissing, match=r"flexor\[codecs\]"):
        read(tmp_path, *b.done())
