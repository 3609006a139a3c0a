from __future__ import annotations

import base64
import json
import os
import struct

import numpy as np
import pytest

from flexor.errors import AssetError, VersionError
from flexor.files.gltf.container import join_glb
from flexor.files.gltf.read import read_gltf
from tests.files.gltf.reading import check_refusal, read, refuse
from tests.gltf_builder import mini, pack_glb, write_glb, write_gltf


@pytest.fixture
def glb(tmp_path):
    """Write changed bytes as a .glb file."""

    def write(data):
        path = tmp_path / "mini.glb"
        path.write_bytes(data)
        return path

    return write


def changed(at, value):
    data = bytearray(pack_glb(*mini()))
    struct.pack_into("<I", data, at, value)
    return bytes(data)


def test_buffers_inside_beside_and_embedded_read_alike(tmp_path):
    gltf, data = mini()
    paths = [
        write_glb(tmp_path / "a.glb", gltf, data),
        write_gltf(tmp_path / "b.gltf", gltf, data),
        write_gltf(tmp_path / "c.gltf", gltf, data, embed=True),
        write_glb(tmp_path / "d.vrm", gltf, data),
    ]
    scenes = [read_gltf(path) for path in paths]
    for scene in scenes:
        mesh = scene.meshes[0].primitives[0]
        np.testing.assert_array_equal(mesh.positions[3], [1, 1, 0])
        assert scene.images[0].data.startswith(b"\x89PNG")
        assert scene.findings == ()


def test_join_glb_is_what_is_read(tmp_path):
    gltf, data = mini()
    path = tmp_path / "a.glb"
    path.write_bytes(join_glb(json.dumps(gltf).encode(), data))
    assert len(read_gltf(path).meshes) == 1


def test_json_may_start_with_a_byte_order_mark(tmp_path):
    path = write_gltf(tmp_path / "a.gltf", *mini())
    path.write_bytes(b"\xef\xbb\xbf" + path.read_bytes())
    assert len(read_gltf(path).meshes) == 1


def test_file_cut_at_every_byte_is_refused(glb):
    whole = pack_glb(*mini(texture=False, morph=False, clip=False))
    for size in range(len(whole)):
        path = glb(whole[:size])
        with pytest.raises(AssetError) as caught:
            read_gltf(path)
        assert caught.value.path == path
        assert caught.value.pointer.startswith("byte ")


def test_missing_file_and_folder(tmp_path):
    check_refusal(tmp_path / "none.glb", "", "cannot be read: No such file")
    check_refusal(tmp_path, "", "cannot be read: Is a directory")


@pytest.mark.parametrize("start", [b"", b"glTX", b"PK\x03\x04", b"[1]", b"\0" * 40])
def test_wrong_magic(glb, start):
    check_refusal(glb(start), "byte 0", "neither GLB")


def test_glb_version(glb):
    path = glb(changed(4, 1))
    check_refusal(path, "byte 4", "GLB version 1, expected 2")
    with pytest.raises(VersionError):
        read_gltf(path)


def test_announced_length(glb):
    whole = pack_glb(*mini())
    check_refusal(glb(changed(8, len(whole) + 1)), "byte 8", "truncated")
    check_refusal(glb(changed(8, 12)), "byte 12", "first chunk must be JSON")
    assert read_gltf(glb(whole + b"more")).findings == ()


def test_chunks(glb):
    whole = pack_glb(*mini())
    size = struct.unpack_from("<I", whole, 12)[0]
    check_refusal(glb(changed(12, 1 << 31)), "byte 12", "are left")
    check_refusal(glb(changed(20 + size, 1 << 20)), f"byte {20 + size}", "are left")
    check_refusal(glb(changed(16, 0)), "byte 12", "first chunk must be JSON")
    check_refusal(glb(changed(24 + size, 0)), "/buffers/0", "no binary chunk for it")


@pytest.mark.parametrize(
    ("text", "pointer", "words"),
    [
        ("{", "line 1 column 2", "Expecting property name"),
        ('{\n"a": }', "line 2 column 6", "Expecting value"),
        ('{"a": NaN}', "", "NaN is not a finite number"),
        ('{"a": -Infinity}', "", "-Infinity is not a finite number"),
        ('{"a": 1e999}', "", "1e999 is not a finite number"),
        ('{"a": ' + "9" * 5000 + "}", "", "broken"),
        ('{"a": "\\ud800"}', "", "surrogates not allowed"),
        ('{"a": ' + "[" * 100000 + "}", "", "nested too deeply"),
        ("{}", "/", "'asset' is missing"),
        ('{"asset": 2}', "/asset", "expected an object"),
        ('{"asset": {"version": 2.0}}', "/asset/version", "expected a text"),
        ('{"asset": {"version": "1.0"}}', "/asset/version", "glTF version 1.0"),
        ('{"asset": {}}', "/asset/version", "glTF version missing"),
        (
            '{"asset": {"version": "2.0", "minVersion": "2.1"}}',
            "/asset/minVersion",
            "needs glTF version 2.1",
        ),
    ],
)
def test_json(tmp_path, text, pointer, words):
    path = tmp_path / "a.gltf"
    path.write_text(text)
    check_refusal(path, pointer, words)


def test_json_that_is_not_utf8(tmp_path):
    path = tmp_path / "a.gltf"
    path.write_bytes(b'{"a": "\xff"}')
    check_refusal(path, "", "codec can't decode")


def test_json_chunk_that_is_no_object(glb):
    text = b"[1] "
    head = struct.pack("<4sII", b"glTF", 2, 24)
    path = glb(head + struct.pack("<I4s", 4, b"JSON") + text)
    check_refusal(path, "/", "expected an object, got an array")


def test_whole_surrogate_pairs_are_text(tmp_path):
    gltf, data = mini()
    gltf["nodes"][0]["name"] = "\U0001f9b5"
    assert read(tmp_path, gltf, data).skeleton.names[0] == "\U0001f9b5"


# Buffers and the files they name.


def test_buffer_is_longer_than_its_data(tmp_path):
    gltf, data = mini()
    gltf["buffers"][0]["byteLength"] = len(data) + 4
    refuse(tmp_path, gltf, data, "/buffers/0/byteLength", f"{len(data)} there")
    path = write_gltf(tmp_path / "a.gltf", *mini())
    (tmp_path / "a.bin").write_bytes(data[:10])
    check_refusal(path, "/buffers/0/byteLength", "10 there")


def test_second_buffer_has_no_chunk(tmp_path):
    gltf, data = mini()
    gltf["buffers"].append({"byteLength": 4})
    refuse(tmp_path, gltf, data, "/buffers/1", "has no uri")


@pytest.mark.parametrize("size", [0, -1, "9", None, True])
def test_buffer_length_is_no_count(tmp_path, size):
    gltf, data = mini()
    gltf["buffers"][0]["byteLength"] = size
    refuse(tmp_path, gltf, data, "/buffers/0/byteLength", "expected")


@pytest.mark.parametrize(
    "uri",
    [
        "/etc/passwd",
        "file:///etc/passwd",
        "FILE:a.bin",
        "http://localhost/a.bin",
        "https:a.bin",
        "..\\a.bin",
        "C:\\a.bin",
        "c:a.bin",
        "%2Fetc%2Fpasswd",
        "a%00.bin",
        "%5c%5cserver%5cshare",
    ],
)
def test_uri_with_another_scheme_or_root(tmp_path, uri):
    gltf, data = mini()
    gltf["buffers"][0]["uri"] = uri
    refuse(tmp_path, gltf, data, "/buffers/0/uri", "only data: and relative paths")


@pytest.mark.parametrize(
    "uri", ["../x.bin", "%2e%2e/x.bin", "a/../../x.bin", "..%2Fx.bin"]
)
def test_uri_that_leaves_the_folder(tmp_path, uri):
    (tmp_path / "x.bin").write_bytes(bytes(10000))
    folder = tmp_path / "in"
    folder.mkdir()
    gltf, data = mini()
    gltf["buffers"][0]["uri"] = uri
    refuse(folder, gltf, data, "/buffers/0/uri", "leaves the folder")


def test_symlink_that_leaves_the_folder(tmp_path):
    (tmp_path / "x.bin").write_bytes(bytes(10000))
    folder = tmp_path / "in"
    folder.mkdir()
    (folder / "link.bin").symlink_to(tmp_path / "x.bin")
    gltf, data = mini()
    gltf["buffers"][0]["uri"] = "link.bin"
    refuse(folder, gltf, data, "/buffers/0/uri", "leaves the folder")


def test_uri_inside_the_folder(tmp_path):
    gltf, data = mini()
    (tmp_path / "a b").mkdir()
    (tmp_path / "a b" / "x.bin").write_bytes(data)
    gltf["buffers"][0]["uri"] = "./a%20b/../a%20b/x.bin"
    assert len(read(tmp_path, gltf, b"").meshes) == 1


@pytest.mark.parametrize("uri", ["none.bin", "", ".", "a" * 300])
def test_missing_file_or_folder_as_buffer(tmp_path, uri):
    gltf, data = mini()
    gltf["buffers"][0]["uri"] = uri
    refuse(tmp_path, gltf, data, "/buffers/0/uri", "there is no file")


@pytest.mark.skipif(os.geteuid() == 0, reason="root may read everything")
def test_file_without_permission(tmp_path):
    path = write_gltf(tmp_path / "a.gltf", *mini())
    (tmp_path / "a.bin").chmod(0)
    check_refusal(path, "/buffers/0/uri", "cannot be read: Permission denied")


@pytest.mark.parametrize(
    ("uri", "words"),
    [
        ("data:text/plain,abc", "must be base64"),
        ("data:;base64", "must be base64"),
        ("data:;base64,?", "base64 is broken"),
        ("data:;base64,AAA", "base64 is broken"),
    ],
)
def test_data_uri(tmp_path, uri, words):
    gltf, data = mini()
    gltf["buffers"][0]["uri"] = uri
    refuse(tmp_path, gltf, data, "/buffers/0/uri", words)


def test_data_uri_with_encoded_padding(tmp_path):
    gltf, data = mini()
    body = base64.b64encode(data + b"\0" * (1 - len(data) % 3)).decode()
    gltf["buffers"][0]["uri"] = "DATA:;base64," + body.replace("=", "%3D")
    assert len(read(tmp_path, gltf, b"").meshes) == 1


def test_a_file_that_many_buffers_name_is_read_once(tmp_path):
    gltf, data = mini()
    (tmp_path / "x.bin").write_bytes(data + bytes(1 << 20))
    gltf["buffers"] = [{"byteLength": len(data), "uri": "x.bin"}] * 2000
    assert len(read(tmp_path, gltf, b"").meshes) == 1
