"""Files made to hurt: too much memory, too much time, or broken anywhere at all."""

from __future__ import annotations

import copy
import tempfile
import tracemalloc
from pathlib import Path

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from flexor.errors import AssetError
from flexor.files.gltf.read import read_gltf
from tests.files.gltf.reading import refuse
from tests.gltf_builder import CODES, Builder, mini, pack_glb, write_glb

# Counts.


def surface(b, **attributes):
    """A mesh with one primitive; its attributes' rows."""
    b.json["meshes"] = [{"primitives": [{"attributes": attributes}]}]
    return b.done()


@pytest.mark.parametrize("count", [10**6, 10**9, 2**31, 2**53])
def test_elements_without_data(tmp_path, count):
    b = Builder()
    row = b.add_json(count=count)
    refuse(tmp_path, *surface(b, POSITION=row), f"/accessors/{row}/count", "justify")


@pytest.mark.parametrize("count", [10**6, 10**9, 2**53])
def test_sparse_over_nothing(tmp_path, count):
    b = Builder()
    part = {
        "count": 1,
        "indices": {"bufferView": b.view(b"\0"), "componentType": 5121},
        "values": {"bufferView": b.view(bytes(12))},
    }
    row = b.add_json(count=count, sparse=part)
    refuse(tmp_path, *surface(b, POSITION=row), f"/accessors/{row}/count", "justify")


@pytest.mark.parametrize("stride", [0, 4, 252])
def test_dense_elements_past_the_view(tmp_path, stride):
    b = Builder()
    view = b.view(bytes(1000), **({"byteStride": stride} if stride else {}))
    row = b.add_json(bufferView=view, count=10**4)
    gltf, data = surface(b, POSITION=row)
    pointer = f"/accessors/{row}" + ("" if stride == 4 else "/count")
    words = "overlap" if stride == 4 else "bytes of a view of 1000"
    refuse(tmp_path, gltf, data, pointer, words)


@pytest.mark.parametrize("name", ["EXT_meshopt_compression", "KHR_meshopt_compression"])
@pytest.mark.parametrize("count", [10**6, 2**53])
def test_meshopt(tmp_path, name, count):
    b = Builder()
    view = b.view(bytes(100))
    b.json["bufferViews"][view]["extensions"] = {
        name: {
            "buffer": 0,
            "byteLength": 100,
            "byteStride": 12,
            "count": count,
            "mode": "ATTRIBUTES",
        }
    }
    row = b.add_json(bufferView=view)
    pointer = f"/bufferViews/{view}/extensions/{name}/count"
    refuse(tmp_path, *surface(b, POSITION=row), pointer, "justify")


def test_draco(tmp_path):
    """A Draco header that announces ten million faces."""
    head = b"DRACO\x02\x02\x01\x01\0\0"
    body = head + b"\0" + b"\xff\xff\xff\x04" * 2 + bytes(100)
    b = Builder()
    row = b.add_json()
    gltf, data = surface(b, POSITION=row)
    view = b.view(body)
    name = "KHR_draco_mesh_compression"
    packed = {"bufferView": view, "attributes": {"POSITION": 0}}
    gltf["meshes"][0]["primitives"][0]["extensions"] = {name: packed}
    gltf, data = b.done()
    pointer = f"/meshes/0/primitives/0/extensions/{name}"
    refuse(tmp_path, gltf, data, pointer, "announce")


def test_many_accessors_share_a_view(tmp_path):
    b = Builder()
    first = b.add(np.zeros((3000, 3)))
    b.json["accessors"] *= 5000
    rows = [{"attributes": {"POSITION": row}} for row in range(first, 5000)]
    b.json["meshes"] = [{"primitives": rows}]
    with pytest.raises(AssetError, match=r"/accessors/\d+/count.*justify"):
        read_gltf(write_glb(tmp_path / "a.glb", *b.done()))


@pytest.mark.parametrize("name", ["NORMAL", "TANGENT", "TEXCOORD_0", "COLOR_0"])
def test_one_accessor_without_data_used_by_many(tmp_path, name):
    b = Builder()
    count = 40000
    attributes = {
        "POSITION": b.add_json(count=count),
        name: b.add_json(count=count, type="VEC2" if "TEX" in name else "VEC3"),
    }
    if name == "TANGENT":
        b.json["accessors"][-1]["type"] = "VEC4"
    b.json["meshes"] = [{"primitives": [{"attributes": attributes}] * 600}]
    check_bounded(tmp_path, b)


def test_one_index_accessor_used_by_many(tmp_path):
    b = Builder()
    primitive = {
        "attributes": {"POSITION": b.add(np.zeros((3, 3)))},
        "indices": b.add_json(count=300000, type="SCALAR", componentType=5125),
    }
    b.json["meshes"] = [{"primitives": [primitive] * 600}]
    check_bounded(tmp_path, b)


def test_one_morph_used_by_many(tmp_path):
    b = Builder()
    row = b.add_json(count=50000)
    primitive = {
        "attributes": {"POSITION": row},
        "targets": [{"POSITION": row}] * 1000,
    }
    b.json["meshes"] = [{"primitives": [primitive]}]
    check_bounded(tmp_path, b)


def test_hundreds_of_sets_of_joints(tmp_path):
    b = Builder()
    count = 1000
    joints = b.add_json(count=count, type="VEC4", componentType=CODES["u1"])
    weights = b.add_json(count=count, type="VEC4")
    attributes = {"POSITION": b.add_json(count=count)}
    attributes |= {f"JOINTS_{n}": joints for n in range(1000)}
    attributes |= {f"WEIGHTS_{n}": weights for n in range(1000)}
    b.json["meshes"] = [{"primitives": [{"attributes": attributes}]}]
    check_bounded(tmp_path, b)


def test_one_output_used_by_many_channels(tmp_path):
    b = Builder()
    times = b.add(np.arange(4000.0))
    output = b.add_json(count=4000)
    b.json["nodes"] = [{}] * 2000
    b.json["animations"] = [
        {
            "samplers": [{"input": times, "output": output}],
            "channels": [
                {"sampler": 0, "target": {"node": n, "path": "scale"}}
                for n in range(2000)
            ],
        }
    ]
    check_bounded(tmp_path, b)


def test_one_picture_used_by_many_images(tmp_path):
    b = Builder()
    view = b.view(bytes(100000))
    b.json["images"] = [{"bufferView": view}] * 2000
    check_bounded(tmp_path, b)
    (tmp_path / "a.png").write_bytes(bytes(100000))
    b.json["images"] = [{"uri": "a.png"}] * 2000
    check_bounded(tmp_path, b)


def check_bounded(folder, b):
    """Refused as too large, before the memory has been taken."""
    path = write_glb(folder / "a.glb", *b.done())
    with pytest.raises(AssetError, match="justify"):
        read_gltf(path)
    tracemalloc.start()
    with pytest.raises(AssetError, match="justify"):
        read_gltf(path)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert peak < 200 * path.stat().st_size + (8 << 20)


# Work that grows with the square of the file.


def test_many_clips_of_one_name(tmp_path):
    b = Builder()
    b.json["animations"] = [{"name": "a"}] * 20000
    scene = read_gltf(write_glb(tmp_path / "a.glb", *b.done()))
    assert len(scene.clips) == 20000


def test_many_skins_on_many_nodes(tmp_path):
    b = Builder()
    b.json["nodes"] = [{}] * 5000
    b.json["skins"] = [{"joints": [n], "skeleton": n} for n in range(5000)]
    scene = read_gltf(write_glb(tmp_path / "a.glb", *b.done()))
    assert len(scene.skins) == 5000


# Anything at all: only an AssetError may come out, or a scene that is right.

BASES = [
    mini(),
    mini(interpolation="CUBICSPLINE"),
    mini(morph=False, texture=False, interpolation="STEP"),
]
ODD = st.one_of(
    st.none(),
    st.booleans(),
    st.integers(-2, 12),
    st.sampled_from([2**31, 2**53, 2**64, -(2**31), 10**400, 5120, 5121, 5123, 5125]),
    st.floats(allow_nan=False, allow_infinity=False),
    st.sampled_from(
        ["", "VEC3", "MAT4", "SCALAR", "weights", "scale", "STEP", "a.bin"]
    ),
    st.sampled_from([[], {}, [0], [0, 0], [1, 2, 3], [[]], {"a": 1}, [None]]),
)


def places(value, path=()):
    """Every place in JSON as the keys that lead to it."""
    if path:
        yield path
    if isinstance(value, dict | list):
        keys = value if isinstance(value, dict) else range(len(value))
        for key in keys:
            yield from places(value[key], (*path, key))


@st.composite
def broken_json(draw):
    gltf, data = draw(st.sampled_from(BASES))
    gltf = copy.deepcopy(gltf)
    for _ in range(draw(st.integers(1, 3))):
        *above, last = draw(st.sampled_from(list(places(gltf))))
        inner = gltf
        for key in above:
            inner = inner[key]
        if draw(st.booleans()):
            inner[last] = copy.deepcopy(draw(ODD))
        else:
            del inner[last]
    return pack_glb(gltf, data)


@st.composite
def broken_bytes(draw):
    data = bytearray(pack_glb(*draw(st.sampled_from(BASES))))
    for _ in range(draw(st.integers(1, 4))):
        data[draw(st.integers(0, len(data) - 1))] = draw(st.integers(0, 255))
    return bytes(data)


def check_any(data: bytes) -> None:
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "any.glb"
        path.write_bytes(data)
        try:
            scene = read_gltf(path)
        except AssetError:
            return
    check_scene(scene)


def check_scene(scene) -> None:
    for mesh in scene.meshes:
        for part in mesh.primitives:
            assert np.isfinite(part.positions).all()
            if part.normals is not None:
                length = np.linalg.norm(part.normals, axis=1)
                np.testing.assert_allclose(length, 1, atol=1e-4)
            for values in (*part.texcoords, *part.colours):
                assert np.isfinite(values).all()
            if part.skin is not None:
                sums = part.skin.weights.sum(1, dtype=np.float64)
                np.testing.assert_allclose(sums, 1, atol=1e-4)
    for node, (mesh, skin) in enumerate(
        zip(scene.node_mesh, scene.node_skin, strict=True)
    ):
        for part in scene.meshes[mesh].primitives if min(mesh, skin) >= 0 else ():
            most = part.skin.joints.max(initial=0) if part.skin is not None else 0
            assert most < len(scene.skins[skin].joints), node
    for skin in scene.skins:
        assert np.isfinite(skin.inverse_binds).all()
    bones = scene.skeleton
    for values in (bones.translations, bones.rotations, bones.scales):
        assert np.isfinite(values).all()
    for clip in scene.clips.values():
        for track in clip.tracks:
            assert np.isfinite(track.values).all()
            assert (track.times[1:] > track.times[:-1]).all()
            assert np.isfinite(track.times).all()


QUICK = settings(
    max_examples=300, deadline=2000, suppress_health_check=[HealthCheck.too_slow]
)


@QUICK
@given(broken_json())
def test_broken_json(data):
    check_any(data)


@QUICK
@given(broken_bytes())
def test_broken_bytes(data):
    check_any(data)
