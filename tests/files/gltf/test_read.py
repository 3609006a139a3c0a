from __future__ import annotations

import numpy as np
import pytest

from flexor.files.gltf.read import read_gltf
from flexor.maths import transforms
from tests.conftest import asset_files
from tests.files.gltf.reading import put, read, refuse
from tests.gltf_builder import Builder, mini, with_values

BINDS = 6


def nodes(*items):
    """A file of nodes alone."""
    return {"asset": {"version": "2.0"}, "nodes": list(items)}, b""


def codes(scene):
    return [finding.code for finding in scene.findings]


def test_mini_character(tmp_path):
    scene = read(tmp_path, *mini())
    assert scene.findings == ()
    assert scene.skeleton.names == ("body", "hip", "knee")
    np.testing.assert_array_equal(scene.skeleton.parents, [-1, -1, 1])
    np.testing.assert_array_equal(scene.skeleton.translations[2], [0, -0.5, 0])
    np.testing.assert_array_equal(scene.node_mesh, [0, -1, -1])
    np.testing.assert_array_equal(scene.node_skin, [0, -1, -1])
    skin = scene.skins[0]
    assert (skin.name, skin.root, skin.has_inverse_binds) == ("legs", 1, True)
    np.testing.assert_array_equal(skin.joints, [1, 2])
    np.testing.assert_array_equal(skin.inverse_binds[:, 1, 3], [-1, -0.5])
    assert scene.root_sets[0].nodes == (0, 1)
    assert scene.default_set == 0


@pytest.mark.parametrize("keys", ["skin", "morph", "clip", "texture"])
def test_mini_character_without(tmp_path, keys):
    assert read(tmp_path, *mini(**{keys: False})).findings == ()


def test_empty_file(tmp_path):
    scene = read(tmp_path, {"asset": {"version": "2.0"}}, b"")
    assert len(scene.skeleton) == 0
    assert scene.default_set is None


# Extensions.


@pytest.mark.parametrize(
    "name", ["KHR_animation_pointer", "EXT_mesh_gpu_instancing", ""]
)
def test_extension_that_is_not_handled(tmp_path, name):
    gltf, data = mini()
    gltf["extensionsRequired"] = ["KHR_materials_unlit", name]
    words = f"needs the extension {name!r}"
    refuse(tmp_path, gltf, data, "/extensionsRequired/1", words)


def test_extension_names_are_texts(tmp_path):
    gltf, data = mini()
    gltf["extensionsRequired"] = [1]
    refuse(tmp_path, gltf, data, "/extensionsRequired/0", "expected a text")
    gltf["extensionsRequired"] = "KHR_materials_unlit"
    refuse(tmp_path, gltf, data, "/extensionsRequired", "expected an array")


def test_extension_that_is_only_used(tmp_path):
    gltf, data = mini()
    gltf["extensionsUsed"] = ["SOME_thing"]
    gltf["extensions"] = {"SOME_thing": {"a": 1}}
    gltf["asset"]["copyright"] = "me"
    scene = read(tmp_path, gltf, data)
    assert scene.carried["extensions"] == {"SOME_thing": {"a": 1}}
    assert scene.carried["asset"] == {"copyright": "me"}


# Nodes.


@pytest.mark.parametrize(
    ("pointer", "value", "words"),
    [
        ("/nodes", {}, "expected an array"),
        ("/nodes/1", 7, "expected an object"),
        ("/nodes/1/name", 7, "expected a text"),
        ("/nodes/1/children", 2, "expected an array"),
        ("/nodes/1/children/0", 3, "node 3 does not exist; the last is 2"),
        ("/nodes/1/children/0", -1, "out of range"),
        ("/nodes/1/children/0", True, "expected a whole number"),
        ("/nodes/1/translation", [0, 0], "2 numbers, expected 3"),
        ("/nodes/1/translation", None, "expected an array"),
        ("/nodes/1/translation/1", "1", "expected a number"),
        ("/nodes/1/translation/1", 1e39, "too large"),
        ("/nodes/1/translation/1", 10**400, "too large"),
        ("/nodes/1/rotation", [0, 0, 0], "3 numbers, expected 4"),
        ("/nodes/1/scale", 1, "expected an array"),
        ("/nodes/1/matrix", [1] * 15, "15 numbers, expected 16"),
        ("/nodes/0/mesh", 1, "mesh 1 does not exist"),
        ("/nodes/0/skin", 1, "skin 1 does not exist"),
        ("/nodes/0/weights", [1], "1 numbers, expected 2"),
        ("/nodes/0/extensions", "x", "expected an object"),
        ("/scene", 1, "scene 1 does not exist"),
        ("/scenes", {}, "expected an array"),
        ("/scenes/0", [], "expected an object"),
        ("/scenes/0/name", [], "expected a text"),
        ("/scenes/0/nodes/0", 3, "node 3 does not exist"),
        ("/skins/0", None, "expected an object"),
        ("/skins/0/joints", [], "at least one joint"),
        ("/skins/0/joints", 1, "expected an array"),
        ("/skins/0/joints/0", 3, "node 3 does not exist"),
        ("/skins/0/skeleton", 3, "node 3 does not exist"),
        ("/skins/0/inverseBindMatrices", 99, "accessor 99 does not exist"),
        ("/skins/0/name", None, "expected a text, got null"),
        ("/extensions", [], "expected an object"),
    ],
)
def test_file_is_refused(tmp_path, pointer, value, words):
    gltf, data = mini()
    put(gltf, pointer, value)
    refuse(tmp_path, gltf, data, pointer, words)


def test_cycles(tmp_path):
    words = "the node is its own ancestor"
    refuse(tmp_path, *nodes({"children": [0]}), "/nodes/0/children", words)
    ring = nodes({"children": [1]}, {"children": [2]}, {"children": [0]})
    refuse(tmp_path, *ring, "/nodes/0/children", words)


def test_two_parents(tmp_path):
    tree = nodes({"children": [2]}, {"children": [2]}, {})
    refuse(tmp_path, *tree, "/nodes/1/children", "node 2 is a child of node 0 already")
    twice = nodes({"children": [1, 1]}, {})
    refuse(tmp_path, *twice, "/nodes/0/children", "a child of node 0 already")


def test_deep_tree(tmp_path):
    count = 3000
    chain = nodes(*({"children": [n + 1]} for n in range(count)), {})
    parents = read(tmp_path, *chain).skeleton.parents
    np.testing.assert_array_equal(parents, np.arange(-1, count))


def test_matrix_and_parts_say_the_same(tmp_path):
    half = 0.5**0.5
    parts = {
        "translation": [1, 2, 3],
        "rotation": [0, 0, half, half],
        "scale": [2, 3, -4],
    }
    matrix = [0, 2, 0, 0, -3, 0, 0, 0, 0, 0, -4, 0, 1, 2, 3, 1]
    scene = read(tmp_path, *nodes(parts, {"matrix": matrix}))
    assert scene.findings == ()
    bones = scene.skeleton
    assert list(bones.matrices) == [1]
    np.testing.assert_array_equal(bones.matrices[1][:, 3], [1, 2, 3])
    np.testing.assert_allclose(bones.translations[1], [1, 2, 3])
    np.testing.assert_allclose(abs(np.prod(bones.scales[1])), 24, rtol=1e-6)
    made = transforms.compose(bones.translations, bones.rotations, bones.scales)
    np.testing.assert_allclose(made[0], made[1], atol=1e-6)


@pytest.mark.parametrize(
    "matrix",
    [
        [0] * 16,
        [1, 0, 0, 0, 1, 0, 0, 0, 0, 0, 1, 0, 0, 0, 0, 1],
        [1e38] * 12 + [0, 0, 0, 1],
        [1e-40, 0, 0, 0, 0, 1e-40, 0, 0, 0, 0, 1e-40, 0, 0, 0, 0, 1],
    ],
)
def test_odd_matrices_give_finite_parts(tmp_path, matrix):
    bones = read(tmp_path, *nodes({"matrix": matrix})).skeleton
    for values in (bones.translations, bones.rotations, bones.scales):
        assert np.isfinite(values).all()


def test_matrix_that_scales_past_the_largest_number(tmp_path):
    huge = nodes({"matrix": [3e38] * 12 + [0, 0, 0, 1]})
    refuse(tmp_path, *huge, "/nodes/0/matrix", "the numbers are too large")


def test_sheared_matrix_is_a_finding(tmp_path):
    matrix = np.eye(4)
    matrix[1, 0] = 0.5
    scene = read(tmp_path, *nodes({"matrix": matrix.ravel().tolist()}))
    assert [(f.code, f.where) for f in scene.findings] == [("matrix-shear", "/nodes/0")]


def test_several_scenes(tmp_path):
    gltf, data = nodes({}, {"children": [2]}, {})
    gltf["scenes"] = [{"nodes": [0]}, {"name": "b", "nodes": [1, 2], "extras": 3}, {}]
    gltf["scene"] = 1
    scene = read(tmp_path, gltf, data)
    assert [s.nodes for s in scene.root_sets] == [(0,), (1,), ()]
    assert scene.root_sets[1].carried == {"extras": 3}
    np.testing.assert_array_equal(scene.shown_nodes(), [False, True, True])
    assert codes(scene) == ["scene-roots"]


def test_morph_weights_of_a_node(tmp_path):
    gltf, data = mini()
    gltf["nodes"][0]["weights"] = [0, 1]
    scene = read(tmp_path, gltf, data)
    np.testing.assert_array_equal(scene.rest_weights(0), [0, 1])


def test_unread_json_of_nodes_is_carried(tmp_path):
    gltf, data = mini()
    gltf["nodes"][2] |= {"camera": 0, "extras": {"a": [1]}, "extensions": {"X": {}}}
    carried = read(tmp_path, gltf, data).node_carried
    assert dict(carried) == {
        2: {"camera": 0, "extras": {"a": [1]}, "extensions": {"X": {}}}
    }


# Skins.


def test_skin_without_root_or_inverse_binds(tmp_path):
    gltf, data = mini()
    gltf["skins"] = [{"joints": [1, 2]}]
    skin = read(tmp_path, gltf, data).skins[0]
    assert (skin.root, skin.has_inverse_binds) == (None, False)
    np.testing.assert_array_equal(skin.inverse_binds, [np.eye(3, 4)] * 2)


@pytest.mark.parametrize(("root", "kept"), [(0, None), (1, 1), (2, None)])
def test_skin_root_must_be_above(tmp_path, root, kept):
    gltf, data = mini()
    gltf["skins"][0]["skeleton"] = root
    scene = read(tmp_path, gltf, data)
    assert scene.skins[0].root == kept
    assert codes(scene) == ([] if kept is not None else ["skin-root"])


def test_skin_root_in_a_larger_tree(tmp_path):
    gltf, data = nodes(
        {"children": [3, 1]}, {"children": [2]}, {}, {"children": [4, 5]}, {}, {}, {}
    )
    pairs = {(0, 5): True, (3, 5): True, (1, 5): False, (6, 6): True, (4, 3): False}
    gltf["skins"] = [{"joints": [j], "skeleton": r} for r, j in pairs]
    roots = [skin.root for skin in read(tmp_path, gltf, data).skins]
    expected = [r if is_above else None for (r, _), is_above in pairs.items()]
    assert roots == expected


def test_inverse_binds_must_be_finite(tmp_path):
    gltf, data = mini()
    pointer = "/skins/0/inverseBindMatrices"
    broken = with_values(gltf, data, BINDS, (1, 3), np.nan)
    refuse(tmp_path, gltf, broken, pointer, "element 1 is not finite")
    huge = with_values(gltf, data, BINDS, (0, [0, 15]), [1e38, 1e-30])
    refuse(tmp_path, gltf, huge, pointer, "element 0 is not finite")


def test_too_few_inverse_binds(tmp_path):
    gltf, data = mini()
    gltf["skins"][0]["joints"] = [1, 2, 0]
    pointer = "/skins/0/inverseBindMatrices"
    refuse(tmp_path, gltf, data, pointer, "2 matrices for 3 joints")


def test_last_row_of_an_inverse_bind(tmp_path):
    gltf, data = mini()
    data = with_values(gltf, data, BINDS, 0, np.eye(4).ravel() * 2)
    scene = read(tmp_path, gltf, data)
    np.testing.assert_array_equal(scene.skins[0].inverse_binds[0], np.eye(3, 4))
    assert codes(scene) == ["bind-last-row"]


def test_inverse_binds_of_another_type(tmp_path):
    gltf, data = mini()
    gltf["skins"][0]["inverseBindMatrices"] = 0
    refuse(tmp_path, gltf, data, "/accessors/0/type", "3 components, expected 16")


def test_too_many_joints(tmp_path):
    gltf, data = nodes({})
    gltf["skins"] = [{"joints": [0] * 65537}]
    refuse(tmp_path, gltf, data, "/skins/0/joints", "at most 65536")


# Compressed views.


@pytest.mark.parametrize("name", ["EXT_meshopt_compression", "KHR_meshopt_compression"])
def test_meshopt_views(tmp_path, name):
    meshopt = pytest.importorskip("meshoptimizer")
    positions = np.arange(96, dtype=np.float32).reshape(32, 3)
    packed = bytes(meshopt.encode_vertex_buffer(positions, 32, 12))
    b = Builder()
    b.view(packed)
    packing = {
        "buffer": 0,
        "byteLength": len(packed),
        "byteStride": 12,
        "count": 32,
        "mode": "ATTRIBUTES",
    }
    b.json["bufferViews"][0] = {
        "buffer": 1,
        "byteLength": 384,
        "byteStride": 12,
        "extensions": {name: packing},
    }
    b.add_json(bufferView=0, count=32)
    b.json["meshes"] = [{"primitives": [{"attributes": {"POSITION": 0}}]}]
    gltf, data = b.done()
    gltf["extensionsRequired"] = [name]
    spare = {"byteLength": 384, "extensions": {name: {"fallback": True}}}
    gltf["buffers"].append(spare)
    scene = read(tmp_path, gltf, data)
    np.testing.assert_array_equal(scene.meshes[0].primitives[0].positions, positions)
    pointer = f"/bufferViews/0/extensions/{name}"
    packing["mode"] = "NONE"
    refuse(tmp_path, gltf, data, pointer, "is not one of ATTRIBUTES")
    packing |= {"mode": "ATTRIBUTES", "filter": "BLUR"}
    refuse(tmp_path, gltf, data, pointer, "filter 'BLUR' is not one of")
    packing["filter"] = "NONE"
    gltf["bufferViews"][0]["byteLength"] = 385
    refuse(tmp_path, gltf, data, "/bufferViews/0/byteLength", "unpacked from")


@pytest.mark.parametrize("path", asset_files(), ids=lambda path: path.stem)
def test_real_characters_are_read(path):
    scene = read_gltf(path)
    assert len(scene.skeleton) > 0
