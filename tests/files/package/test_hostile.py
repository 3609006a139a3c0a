"""Packages that are made on purpose: the checksum is right, what they say is not."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from flexor.errors import AssetError
from flexor.files.package.read import read_package
from flexor.files.package.tensors import MOST_HEADER
from flexor.files.package.write import write_package
from tests.files.package.forged import at, drop, put, refuse, set_array
from tests.files.package.packages import (
    forge,
    forge_header,
    small_package,
)

Change = Callable[[Any], None]


@pytest.fixture
def path(tmp_path: Path) -> Path:
    place = tmp_path / "hostile.flexor"
    write_package(small_package(), place)
    return place


def test_a_forger_that_changes_nothing_is_not_noticed(path: Path) -> None:
    before = path.read_bytes()
    forge(path)
    forge_header(path, lambda text: text)
    assert path.read_bytes() == before
    assert read_package(path).envelopes.multi.peak == 4


NAN, INF = float("nan"), float("inf")


# Rows of `primitives`: vertices, attributes, mode, material, first index, indices,
# influences, first weight, targets. Rows of `attributes`: kind, target, first row.
# `nodes`: parents, depths, meshes, skins of three nodes.
# `tracks`: nodes, kinds, first keys, last keys of three tracks.
WRONG_ARRAYS: list[tuple[Change, str]] = [
    (put("nodes", 0, 3), "parents must lie"),
    (put("nodes", 0, -2), "parents must lie"),
    (put("nodes", 2, 1), "depths"),  # a ring of all three
    (put("nodes", 0, 0), "depths"),  # its own parent
    (put("nodes", 4, 1), "depths"),
    (put("nodes", slice(3, 6), [2**31 - 1, -(2**31), 0]), "depths"),
    (put("nodes", 7, 2), "a mesh or skin that does not exist"),
    (put("nodes", 7, -2), "a mesh or skin that does not exist"),
    (put("nodes", 10, 1), "a mesh or skin that does not exist"),
    (drop("nodes"), "not of 3 nodes"),
    (drop("scales"), "not of 3 nodes"),
    (set_array("nodes", np.zeros((4, 3), np.int32)), "expected I32"),
    (set_array("nodes", np.zeros(12, np.int64)), "expected I32"),
    (set_array("rotations", np.zeros((3, 3), np.float32)), "expected F32"),
    (set_array("translations", np.zeros((2, 3), np.float32)), "not of 3 nodes"),
    (put("translations", (0, 0), NAN), "not finite"),
    (put("rotations", (0, 0), INF), "not finite"),
    (put("matrices", (0, 0, 0), NAN), "not finite"),
    (put("matrix_nodes", 0, 3), "does not exist"),
    (put("matrix_nodes", 0, -1), "does not exist"),
    (set_array("matrix_nodes", np.array([1, 1], np.int32)), "twice"),
    (set_array("matrix_nodes", np.array([1, 2], np.int32)), "not as many"),
    (put("weight_nodes", 0, 7), "does not exist"),
    (put("weight_nodes", 0, 0), "2 weights, expected 0"),
    (set_array("node_weights", np.zeros(3, np.float32)), "3 weights, expected 2"),
    (put("skin_joints", 0, 3), "does not exist"),
    (put("skin_joints", 0, -1), "does not exist"),
    (put("inverse_binds", (0, 0, 0), NAN), "not finite"),
    (set_array("inverse_binds", np.zeros((1, 3, 4), np.float32)), "1 for 2 joints"),
    (drop("primitives"), "more primitives than there are"),
    (put("primitives", (0, 0), -1), "-1 vertices"),
    (put("primitives", (0, 0), 5), "do not exist"),
    (put("primitives", (0, 0), 2**31 - 1), "do not exist"),
    (put("primitives", (0, 1), 99), "more attributes"),
    (put("primitives", (0, 1), -1), "more attributes"),
    (put("primitives", (0, 1), 0), "no positions"),
    (put("primitives", (0, 2), 7), "mode 7"),
    (put("primitives", (0, 3), 2), "material 2 does not exist"),
    (put("primitives", (0, 3), -2), "material -2 does not exist"),
    (put("primitives", (0, 4), 1), "indices that do not exist"),
    (put("primitives", (0, 4), -2), "indices that do not exist"),
    (put("primitives", (0, 5), -1), "indices that do not exist"),
    (put("primitives", (0, 6), 3), "weights that do not exist"),
    (put("primitives", (0, 6), -2), "weights that do not exist"),
    (put("primitives", (0, 6), 2**31 - 1), "weights that do not exist"),
    (put("primitives", (0, 7), 1), "weights that do not exist"),
    (put("primitives", (0, 7), -1), "weights that do not exist"),
    (put("primitives", (0, 6), 0), "off a sum of 1 by 1"),
    (put("primitives", (0, 8), 1), "there is no morph target 1"),
    (put("primitives", (0, 8), 3), "primitive 0: 3 morph targets"),
    (put("primitives", (0, 8), 5_000_000), "primitive 0: 5000000 morph targets"),
    (put("primitives", (0, 8), -1), "-1 morph targets"),
    (put("primitives", (0, 8), 2**31 - 1), "morph targets"),
    (put("attributes", (0, 0), 9), "of kind 9"),
    (put("attributes", (0, 0), -1), "of kind -1"),
    (put("attributes", (1, 0), 0), "has positions twice"),
    (put("attributes", (0, 2), 4), "do not exist"),
    (put("attributes", (0, 2), -1), "do not exist"),
    (put("attributes", (7, 1), -1), "no morph target -1"),
    (drop("positions"), "do not exist"),
    (set_array("positions", np.zeros((7, 4), np.float32)), "expected F32"),
    (set_array("positions", np.zeros((7, 3))), "expected F32"),
    (put("positions", (0, 0), NAN), "not finite"),
    (put("normals", (0, 0), NAN), "not finite"),
    (put("texcoords", (0, 0), INF), "not finite"),
    (put("morph_positions", (0, 0), -INF), "not finite"),
    (put("morph_weights", 0, NAN), "not finite"),
    (drop("morph_weights"), "primitive 0: 2 morph targets"),
    (set_array("morph_weights", np.zeros(3, "f4")), "or morph weights than there are"),
    (put("indices", 0, 4), "index 4 with 4 vertices"),
    (put("indices", 0, 2**32 - 1), "index 4294967295"),
    (put("joints", 0, 2), "hangs on missing joint 2"),
    (put("joints", 0, 65535), "hangs on missing joint 65535"),
    (drop("joints"), "not as many as weights"),
    (put("weights", slice(0, 2), [1.5, -0.5]), "negative"),
    (put("weights", 0, 0.99), "off a sum of 1 by 0.01"),
    (put("weights", 0, NAN), "not finite"),
    (put("tracks", 0, 3), "missing node"),
    (put("tracks", 0, -1), "missing node"),
    (put("tracks", 3, 12), "unknown kind"),
    (put("tracks", 3, -1), "unknown kind"),
    (put("tracks", 6, -1), "no keys"),
    (put("tracks", 6, 3), "no keys"),
    (put("tracks", 9, 4), "no keys"),
    (put("tracks", 9, -1), "no keys"),
    (put("tracks", 9, 2**31 - 1), "no keys"),
    (put("tracks", 9, 1), "other than the tracks need"),
    (put("tracks", 3, 3), "other than the tracks need"),
    (put("tracks", 2, 0), "other than the tracks need"),
    (put("tracks", 9, 3), "must rise"),
    (set_array("tracks", np.zeros(11, np.int32)), "four for each"),
    (set_array("tracks", np.zeros(16, np.int32)), "need|clips name"),
    (drop("tracks"), "0 tracks, the clips name 3"),
    (put("times", 1, 0), "must rise"),
    (put("times", 1, 3), "must rise"),
    (put("times", 0, NAN), "not finite"),
    (put("times", 3, INF), "not finite"),
    (put("values", 5, NAN), "not finite"),
    (drop("values"), "other than the tracks need"),
    (drop("images"), "bytes too many"),
    (drop("custom.0.0"), "expected an array"),
    (set_array("custom.0.0", np.zeros(3, np.uint16)), r"\[3\] for '_ID'"),
]


@pytest.mark.parametrize(("change", "match"), WRONG_ARRAYS)
def test_arrays_that_are_wrong(path: Path, change: Change, match: str) -> None:
    forge(path, arrays=change)
    refuse(path, match)


def deep(depth: int) -> Any:
    made: Any = {}
    for _ in range(depth):
        made = {"a": [made]}
    return made


WRONG_JSON: list[tuple[Change, str]] = [
    (at("names", to=["a", "b"]), "not of 2 nodes"),
    (at("names", to=["a", "b", 3]), "/names: expected an array of texts"),
    (at("names", to="abc"), "/names: expected an array of texts"),
    (lambda tree: tree.pop("names"), "not of 0 nodes"),
    (at("meshes", to={}), "/meshes: expected an array"),
    (at("meshes", to="ab"), "/meshes: expected an array"),
    (at("meshes", 0, to=1), "/meshes/0: expected an object, got 1"),
    (at("meshes", 0, "primitives", to=3), "more primitives"),
    (at("meshes", 0, "primitives", to=-1), "/meshes/0/primitives: expected a whole"),
    (at("meshes", 0, "primitives", to=1.0), "expected a whole number"),
    (at("meshes", 0, "primitives", to=2**60), "expected a whole number"),
    (at("meshes", 0, "primitives", to=2), "primitives differ in morph targets"),
    (at("meshes", 1, "primitives", to=0), "other primitives"),
    (at("meshes", 0, "name", to=None), "/meshes/0/name: expected a text, got null"),
    (at("meshes", 0, "target_names", to=["a"]), "1 names of 2"),
    (at("meshes", 0, "target_names", to=[1, 2]), "array of texts"),
    (at("meshes", 0, "carried", to=[]), "expected an object, got an array"),
    (at("primitives", 0, "custom", to={"_ID": 3}), "an object of texts"),
    (at("primitives", 0, "custom", to={"_ID": "none"}), "expected an array"),
    (at("primitives", 0, "custom", to={"_ID": "envelopes"}), "for '_ID'"),
    (at("skins", 0, "joints", to=3), "2 joints, the skins name 3"),
    (at("skins", 0, "joints", to=2**53), "2 joints, the skins name"),
    (at("skins", 0, "joints", to="2"), "expected a whole number"),
    (at("skins", 0, "root", to=3), "3 is not one of 3 rows"),
    (at("skins", 0, "root", to=-1), "-1 is not one of 3 rows"),
    (at("skins", 0, "root", to=True), "True is not one of 3 rows"),
    (at("skins", 0, "has_inverse_binds", to=0), "expected true or false"),
    (at("skins", to=[]), "2 joints, the skins name 0"),
    (at("clips", 0, "tracks", to=2), "3 tracks, the clips name 2"),
    (at("clips", 0, "tracks", to=-3), "expected a whole number"),
    (at("clips", 1, "name", to="walk"), "two clips have the same name"),
    (at("clips", 0, "name", to=5), "/clips/0/name: expected a text, got 5"),
    (at("clips", 1, "title", to=[]), "/clips/1/title: expected a text"),
    (at("clips", 0, "carried", to=1), "expected an object"),
    (at("materials", 0, "metallic", to="1"), "expected a finite number"),
    (at("materials", 0, "metallic", to=True), "expected a finite number"),
    (at("materials", 0, "metallic", to=NAN), "expected a finite number"),
    (at("materials", 0, "metallic", to=10**400), "expected a finite number"),
    (at("materials", 0, "base_colour", to=[1, 2, 3]), "expected 4 numbers"),
    (at("materials", 0, "base_colour", to=[1, 2, 3, INF]), "a finite number, got inf"),
    (at("materials", 0, "alpha_mode", to="MAYBE"), "expected one of OPAQUE, MASK"),
    (at("materials", 0, "base_texture", to=0), "an object with a texture"),
    (at("materials", 0, "base_texture", to={}), "an object with a texture"),
    (at("materials", 0, "base_texture", "texture", to=2), "not one of 2 rows"),
    (at("materials", 0, "base_texture", "texcoord", to=-1), "expected a whole"),
    (at("materials", 0, "base_texture", "rotation", to=INF), "a finite number"),
    (at("materials", 0, "base_texture", "offset", to=[1]), "expected 2 numbers"),
    (at("materials", 0, "double_sided", to=1), "expected true or false"),
    (at("textures", 0, "image", to=2), "/textures/0/image: 2 is not one of 2 rows"),
    (at("textures", 0, "sampler", to=-1), "not one of 2 rows"),
    (at("textures", 0, "carried", to={"extensions": []}), "under 'extensions'"),
    (at("samplers", 0, "wrap_s", to=1.5), "expected a whole number"),
    (at("samplers", 0, "mag_filter", to=-1), "expected a whole number"),
    (at("images", 0, "size", to=2**53), "bytes too many"),
    (at("images", 1, "size", to=1), "1 bytes too many"),
    (at("images", 0, "size", to=-1), "expected a whole number"),
    (at("images", 0, "mime", to=3), "expected a text"),
    (at("root_sets", 0, "nodes", to=[3]), "a node that does not exist"),
    (at("root_sets", 0, "nodes", to=[-1]), "a node that does not exist"),
    (at("root_sets", 0, "nodes", to=[0.0]), "array of whole numbers"),
    (at("root_sets", 0, "nodes", to={}), "array of whole numbers"),
    (at("default_set", to=2), "expected one of 2 rows"),
    (at("default_set", to=-1), "expected one of 2 rows"),
    (at("default_set", to=False), "expected one of 2 rows"),
    (at("node_carried", 0, "node", to=3), "a node that does not exist"),
    (lambda tree: tree["node_carried"][0].pop("node"), "a node that does not exist"),
    (at("carried", to=[1]), "/carried: expected an object"),
    (at("carried", to={"asset": 1}), "an object under 'asset'"),
    (at("carried", to={"extras": deep(210)}), "nested too deeply"),
    (at("carried", to={"extras": [{}] * 999 + [deep(210)]}), "nested too deeply"),
    (at("findings", 0, "level", to="error"), "expected one of info, warning"),
    (at("findings", 0, "text", to=1), "expected a text"),
    (at("findings", 0, to=[]), "/findings/0: expected an object"),
]


@pytest.mark.parametrize(("change", "match"), WRONG_JSON)
def test_json_that_is_wrong(path: Path, change: Change, match: str) -> None:
    forge(path, scene=change)
    refuse(path, match)


@pytest.mark.parametrize(
    ("text", "match"),
    [
        ("", "not the JSON"),
        ("{", "not the JSON"),
        ("[]", "expected an object"),
        ("null", "expected an object"),
        ("[" * 100_000, "nested too deeply"),
        ('{"names": [], "names": []}', "a name stands twice"),
        ('{"names": [], "materials": [{"unlit": true, "unlit": false}]}', "twice"),
        ('{"names": ' + "9" * 5000 + "}", "not the JSON"),
    ],
)
def test_text_that_is_wrong(path: Path, text: str, match: str) -> None:
    forge(path, texts=lambda texts: texts.update(scene=text))
    refuse(path, match)


def test_a_lone_letter_for_every_list(path: Path) -> None:
    scene = json.loads(_scene_text(path))
    for key in scene:
        for value in (0, 1, "x", True, {"a": 1}, [[]], [None], -1.5):
            write_package(small_package(), path)
            forge(path, scene=at(key, to=value))
            try:
                _ = read_package(path).scene
            except AssetError:
                continue
            assert (key, value) in [("default_set", 0), ("default_set", 1)] or (
                key == "carried" and value == {"a": 1}
            )


def _scene_text(path: Path) -> str:
    size = int.from_bytes(path.read_bytes()[:8], "little")
    header = json.loads(path.read_bytes()[8 : 8 + size])
    text: str = header["__metadata__"]["scene"]
    return text


# The header


def swap(old: str, new: str) -> Callable[[str], str]:
    def change(text: str) -> str:
        assert old in text
        return text.replace(old, new, 1)

    return change


# Joints are the only array of two bytes but for a custom one of 8: (8,), 16 bytes.
JOINTS = '"joints":{"dtype":"U16","shape":[8],"data_offsets":['

IMAGES = '"images":{"dtype":"U8","shape":['


@pytest.mark.parametrize(
    ("change", "match"),
    [
        (swap(JOINTS, JOINTS.replace("U16", "U8")), "in bytes"),
        (swap(JOINTS, JOINTS.replace("U16", "F16")), "expected U16"),
        (swap(JOINTS, JOINTS.replace('"U16"', "16")), "expected dtype"),
        (swap(JOINTS, JOINTS.replace('"U16"', '["U16"]')), "expected dtype"),
        (swap(JOINTS, JOINTS.replace("[8]", "[9]")), "in bytes"),
        (swap(JOINTS, JOINTS.replace("[8]", "[-8]")), "the shape is not one"),
        (swap(JOINTS, JOINTS.replace("[8]", "[-2,-4]")), "the shape is not one"),
        (swap(JOINTS, JOINTS.replace("[8]", "[8.0]")), "the shape is not one"),
        (swap(JOINTS, JOINTS.replace("[8]", "[true,8]")), "the shape is not one"),
        (swap(JOINTS, JOINTS.replace("[8]", "8")), "expected dtype"),
        (swap(JOINTS, JOINTS.replace("[8]", "[[8]]")), "the shape is not one"),
        (swap(JOINTS, JOINTS.replace("[8]", f"[8,{2**64 + 1}]")), "not one"),
        (swap(JOINTS, JOINTS.replace("[8]", f"[{2**47},{2**47},0]")), "in bytes"),
        (swap(JOINTS, JOINTS.replace("[8]", f"[8{',1' * 15}]")), "expected U16"),
        (swap(JOINTS, JOINTS.replace("[8]", f"[8{',1' * 16}]")), "'joints': 17 axes"),
        (
            swap(JOINTS, JOINTS.replace("[8]", f"[{'281474976710656,' * 49999}1]")),
            "50000 axes",
        ),
        (swap(JOINTS, JOINTS + "1"), "in bytes"),
        (swap(JOINTS, JOINTS + "-"), "in bytes"),
        (swap(JOINTS, JOINTS.replace("data_offsets", "offsets")), "expected dtype"),
        (swap(JOINTS, JOINTS.replace('"dtype":"U16",', "")), "expected dtype"),
        (swap(JOINTS, JOINTS.replace('"dtype"', '"dtype":"U16","dtype"')), "expected"),
        (swap(JOINTS, '"joints2":{"a":1},' + JOINTS), "expected dtype"),
        (swap(JOINTS, '"joints2":[],' + JOINTS), "expected dtype"),
        (swap(JOINTS, JOINTS.replace("joints", "images")), "twice"),
        (swap(IMAGES, IMAGES.replace("images", "joints")), "twice"),
        (swap('"format"', '"version":"1","format"'), "twice"),
        (swap('"format":"flexor"', '"format":1'), "expected an object of texts"),
        (swap(',"nodes"', ',"__metadata__":{},"nodes"'), "twice"),
        (swap(',"nodes"', ',"nodes"' + ":" + "[" * 9000 + ',"nodes"'), "not JSON"),
        (lambda text: text[:-1] + ",}", "not JSON"),
        (lambda text: text[:-1] + ',"x":{}}', "expected dtype"),
        (lambda text: text + "x", "not JSON"),
    ],
)
def test_headers_that_are_wrong(
    path: Path, change: Callable[[str], str], match: str
) -> None:
    forge_header(path, change)
    refuse(path, match)


def test_arrays_that_overlap_or_leave_holes(path: Path) -> None:
    data = path.read_bytes()
    size = int.from_bytes(data[:8], "little")
    header = json.loads(data[8 : 8 + size])
    names = [name for name in header if name != "__metadata__"]
    for name in names[1:]:
        for by in (-4, 4, -(1 << 40), 1 << 40):
            first, last = header[name]["data_offsets"]

            def moved(
                text: str, pair: tuple[int, int] = (first, last), by: int = by
            ) -> str:
                old, new = list(pair), [pair[0] + by, pair[1] + by]
                swapped = json.dumps(new, separators=(",", ":"))
                return text.replace(json.dumps(old, separators=(",", ":")), swapped, 1)

            path.write_bytes(data)
            forge_header(path, moved)
            refuse(path, "expected|end|in bytes")


def filled(size: int) -> Callable[[str], str]:
    """A header of so many bytes, most of them blank."""
    return lambda text: text + " " * (size - len(text.encode()))


def test_headers_have_a_limit(path: Path) -> None:
    largest = MOST_HEADER // 64 * 64 - 8
    forge_header(path, filled(largest))
    assert read_package(path).envelopes.multi.peak == 4
    forge_header(path, filled(largest + 64))
    refuse(path, rf"at byte 0: a header of {largest + 64} bytes in \d+")
