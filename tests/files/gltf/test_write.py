from __future__ import annotations

import dataclasses
import json
import os
import struct
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from flexor.errors import AssetError
from flexor.files.gltf.read import read_gltf
from flexor.files.gltf.write import write_gltf
from flexor.scene.character.material import (
    Image,
    Material,
    Sampler,
    Texture,
    TextureRef,
)
from flexor.scene.character.mesh import Mesh, Primitive
from flexor.scene.character.skeleton import Skeleton
from flexor.scene.scene import RootSet, Scene
from tests.same import differences
from tests.scenes import random_scene

PIXEL = b"\x89PNG\r\n\x1a\n rest of a picture"


def dressed(scene: Scene) -> Scene:
    """The scene with a material of every kind on its first primitive."""
    moved = TextureRef(0, 1, 0.5, True, (0.25, 0.5), 0.1, (2.0, 3.0))
    materials = (
        Material(
            "all",
            (0.1, 0.2, 0.3, 0.4),
            moved,
            0.25,
            0.75,
            TextureRef(1),
            TextureRef(0, 0, 0.5),
            TextureRef(1, 1, 0.25),
            (0.5, 0.25, 0.125),
            TextureRef(0),
            "MASK",
            0.75,
            True,
            True,
            {
                "extras": {"author": "me"},
                "extensions": {"KHR_materials_ior": {"ior": 1}},
            },
        ),
        Material(),
    )
    # A strength of 0.5 on a base texture has no meaning; only normals and occlusion do.
    materials = (
        dataclasses.replace(
            materials[0], base_texture=dataclasses.replace(moved, factor=1.0)
        ),
        materials[1],
    )
    mesh = scene.meshes[0]
    first = dataclasses.replace(mesh.primitives[0], material=0)
    second = dataclasses.replace(mesh.primitives[1], material=1)
    return dataclasses.replace(
        scene,
        meshes=(
            dataclasses.replace(mesh, primitives=(first, second)),
            *scene.meshes[1:],
        ),
        materials=materials,
        textures=(Texture("t", 0, 0), Texture("", 1, None)),
        samplers=(Sampler("s", 9728, 9987, 33071, 33648),),
        images=(
            Image("i", PIXEL, "image/png"),
            Image("", b"\xff\xd8\xff", "image/jpeg"),
        ),
    )


def rewritten(scene: Scene, path: Path) -> Scene:
    write_gltf(scene, path)
    return read_gltf(path)


@given(seed=st.integers(0, 10**6), ending=st.sampled_from([".glb", ".gltf"]))
@settings(
    max_examples=25,
    suppress_health_check=[HealthCheck.function_scoped_fixture],
)
def test_read_after_write_is_the_identity(
    seed: int, ending: str, tmp_path: Path
) -> None:
    rng = np.random.default_rng(seed)
    influences = 4 * int(rng.integers(1, 4))
    scene = dressed(random_scene(rng, influences=influences, nodes=14))
    again = rewritten(scene, tmp_path / f"scene{ending}")
    assert list(differences(scene, again)) == []
    assert again.findings == ()


def test_matrix_nodes_and_empty_scenes_come_back(tmp_path: Path) -> None:
    matrix = np.array([[0, -2, 0, 1], [2, 0, 0, 2], [0, 0, 2, 3]], np.float32)
    half = np.sqrt(0.5)
    skeleton = Skeleton(
        ("a", ""),
        [-1, -1],
        [[1, 2, 3], [0, 0, 0]],
        [[0, 0, half, half], [0, 0, 0, 1]],
        [[2, 2, 2], [1, 1, 1]],
        {0: matrix},
    )
    none = np.full(2, -1)
    scene = Scene(
        skeleton, none, none, root_sets=(RootSet("", (0,)), RootSet("b", (1,)))
    )
    again = rewritten(scene, tmp_path / "m.glb")
    assert again.skeleton.matrices[0].tolist() == matrix.tolist()
    assert again.root_sets == scene.root_sets
    assert again.default_set is None
    np.testing.assert_allclose(again.skeleton.rotations, skeleton.rotations, atol=1e-7)


def test_joints_past_255_are_written_wide(tmp_path: Path, rng: Any) -> None:
    scene = random_scene(rng, nodes=300, influences=4)
    skin = scene.skins[0]
    joints = np.arange(300)
    wide = dataclasses.replace(
        skin, joints=joints, inverse_binds=np.tile(np.eye(3, 4), (300, 1, 1))
    )
    primitive = scene.meshes[0].primitives[0]
    assert primitive.skin is not None
    moved = dataclasses.replace(primitive.skin, joints=primitive.skin.joints + 290)
    moved_joints = np.where(moved.weights > 0, moved.joints, 0)
    moved = dataclasses.replace(moved, joints=moved_joints)
    mesh = Mesh("wide", (dataclasses.replace(primitive, skin=moved),))
    scene = dataclasses.replace(scene, skins=(wide,), meshes=(mesh, *scene.meshes[1:]))
    again = rewritten(scene, tmp_path / "w.glb")
    assert list(differences(scene, again)) == []


@pytest.mark.parametrize(("count", "code"), [(65_535, 5123), (65_536, 5125)])
def test_many_vertices_need_wide_indices(tmp_path: Path, count: int, code: int) -> None:
    indices = np.array([0, 1, count - 1], np.uint32)
    points = np.zeros((count, 3), np.float32)
    points[1, 0] = points[-1, 1] = 1
    skeleton = Skeleton(("n",), [-1], np.zeros((1, 3)), [[0, 0, 0, 1]], np.ones((1, 3)))
    mesh = Mesh("big", (Primitive(points, indices=indices),))
    scene = Scene(skeleton, [0], [-1], (mesh,))
    again = rewritten(scene, tmp_path / "b.glb")
    assert again.meshes[0].primitives[0].indices.tolist() == indices.tolist()
    write_gltf(scene, tmp_path / "b.gltf")
    document = json.loads((tmp_path / "b.gltf").read_text())
    row = document["meshes"][0]["primitives"][0]["indices"]
    assert document["accessors"][row]["componentType"] == code


def test_the_same_array_is_stored_once(tmp_path: Path, rng: Any) -> None:
    scene = random_scene(rng)
    track = scene.clips["linear"].tracks[0]
    clip = dataclasses.replace(
        scene.clips["linear"],
        tracks=tuple(dataclasses.replace(track, node=node) for node in range(11)),
    )
    one = dataclasses.replace(scene, clips={"linear": clip})
    write_gltf(one, tmp_path / "one.gltf")
    document = json.loads((tmp_path / "one.gltf").read_text())
    samplers = document["animations"][0]["samplers"]
    assert len({sampler["output"] for sampler in samplers}) == 1
    assert len({sampler["input"] for sampler in samplers}) == 1


def test_views_start_at_multiples_of_four(tmp_path: Path, rng: Any) -> None:
    write_gltf(dressed(random_scene(rng)), tmp_path / "a.glb")
    data = (tmp_path / "a.glb").read_bytes()
    size = struct.unpack_from("<I", data, 12)[0]
    document = json.loads(data[20 : 20 + size])
    assert len(data) == struct.unpack_from("<I", data, 8)[0]
    assert len(data) % 4 == 0
    assert all(view["byteOffset"] % 4 == 0 for view in document["bufferViews"])
    used = set(document["extensionsUsed"])
    assert used == {"KHR_texture_transform", "KHR_materials_unlit", "KHR_materials_ior"}


def test_a_missing_image_is_named_again(tmp_path: Path, rng: Any) -> None:
    scene = dressed(random_scene(rng))
    lost = Image("lost", b"", "", "textures/lost.png")
    scene = dataclasses.replace(scene, images=(lost, *scene.images[1:]))
    again = rewritten(scene, tmp_path / "a.glb")
    assert again.images[0].uri == "textures/lost.png"
    assert [finding.code for finding in again.findings] == ["image-missing"]


def test_a_texture_with_only_a_webp_image_requires_the_extension(
    tmp_path: Path, rng: Any
) -> None:
    carried = {"extensions": {"EXT_texture_webp": {"source": 0}}}
    scene = dataclasses.replace(
        dressed(random_scene(rng)),
        textures=(Texture("t", 0, 0, carried), Texture("", 1, None)),
        images=(
            Image("i", b"RIFF....WEBP", "image/webp"),
            Image("", b"\xff\xd8\xff", "image/jpeg"),
        ),
    )
    write_gltf(scene, tmp_path / "a.gltf")
    document = json.loads((tmp_path / "a.gltf").read_text())
    assert document["extensionsRequired"] == ["EXT_texture_webp"]
    assert "source" not in document["textures"][0]
    assert list(differences(scene, read_gltf(tmp_path / "a.gltf"))) == []


@pytest.mark.parametrize("name", ["a name # with ü.gltf", "x" * 246 + ".gltf"])
def test_odd_names(tmp_path: Path, rng: Any, name: str) -> None:
    scene = random_scene(rng)
    assert list(differences(scene, rewritten(scene, tmp_path / name))) == []
    assert os.listdir(tmp_path) == [name], "one file, whole"


@pytest.mark.parametrize("columns", [1, 2, 3, 5])
def test_weights_are_filled_up_to_fours(tmp_path: Path, rng: Any, columns: int) -> None:
    scene = random_scene(rng, influences=columns, nodes=14)
    again = rewritten(scene, tmp_path / "a.glb")
    for a, b in zip(scene.meshes, again.meshes, strict=True):
        for p, q in zip(a.primitives, b.primitives, strict=True):
            if p.skin is None:
                continue
            assert q.skin is not None
            width = p.skin.weights.shape[1]
            assert q.skin.weights.shape[1] == -(-width // 4) * 4
            np.testing.assert_array_equal(q.skin.weights[:, :width], p.skin.weights)
            assert not q.skin.weights[:, width:].any()


def test_what_gltf_cannot_hold(tmp_path: Path) -> None:
    skeleton = Skeleton(("n",), [-1], np.zeros((1, 3)), [[0, 0, 0, 1]], np.ones((1, 3)))
    for primitive, text in (
        (Primitive(np.zeros((0, 3))), "without vertices"),
        (Primitive(np.eye(3), indices=[]), "without vertices or indices"),
        (Primitive(np.eye(3), custom={"_x": np.zeros(3)}), "float64"),
    ):
        scene = Scene(skeleton, [0], [-1], (Mesh("m", (primitive,)),))
        with pytest.raises(AssetError, match=text):
            write_gltf(scene, tmp_path / "a.glb")
    assert os.listdir(tmp_path) == []


def test_a_failed_write_leaves_the_old_file(tmp_path: Path, rng: Any) -> None:
    path = tmp_path / "a.glb"
    path.write_bytes(b"old")
    scene = dataclasses.replace(random_scene(rng), carried={"extras": {1, 2}})
    with pytest.raises(AssetError, match="not JSON serializable"):
        write_gltf(scene, path)
    assert path.read_bytes() == b"old"
    assert os.listdir(tmp_path) == ["a.glb"]


def test_a_folder_that_is_not_there(tmp_path: Path, rng: Any) -> None:
    path = tmp_path / "nowhere" / "a.glb"
    with pytest.raises(AssetError, match="cannot be written"):
        write_gltf(random_scene(rng), path)
