"""Draco: every attribute in its own type, hostile bytes, real characters."""

from __future__ import annotations

import base64
import random
import sys
import zlib
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

from flexor.errors import BackendMissing
from flexor.files import codecs
from flexor.files.codecs import CodecError, decode_draco
from tests.files.package.packed import make_grid, part_of, read_glb, turned, unpack

draco = pytest.importorskip("DracoPy", reason="needs the extra flexor[codecs]")

# Sums of the decoded arrays, taken after they were found equal, bit by bit, to what
# draco3dgltf 1.5.7 and meshoptimizer 1.3 (JavaScript) decode from the same files.
DRACO_ASSETS = {
    "CesiumMan_draco": (0x5CF3F37D, [(14016, 3572)]),
    "M2M_spider_draco": (0x018E7810, [(4800, 924)]),
    "Q_Astronaut_Finn_draco": (0x4342E523, [(18774, 5696), (7044, 2350)]),
}

# Signed attributes, which DracoPy cannot encode: a quad made with draco3dgltf, unique
# ids 1 to 6, normalized where the id is odd; first edgebreaker, then sequential.
SIGNED_EDGEBREAKER = """
RFJBQ08CAgEBAAAABAIGAgAAAR//ARH/ARH/ARH/ARH/ARH/ARH/AREH/wAAAAAAAQAAAgAAAwAA
BAAABQAAAQAJAwAAAAEEAQEBAQEBBAEBAAIBAQQDAQEDAQEEAwEABAEBBAEBAQUBAQQBAQAGAQAA
AAAAAAAAAAAAAAAAgD8AAIA/AAAAAAAAAAAAAIA/AAAAAAAAgD8AAAAAAAAAAAEBAQAJBwEQEwEw
AwAogv/+/wKA////fwAAAAEBAQAJHwFAAQD/+fj+gP///38AAAABAQEAET8BQAEA///t/+z/9v8A
gP///38AAAEBAQARPwFAAQD//+7/7//x/wCA////fwAAAQEBAAkDARABEBMBIAMAzJD+9geB////
fwAAAAEBAQEBAwMBEAEwAwA4gv////8BAAAA"""
SIGNED_SEQUENTIAL = """
RFJBQ08CAgEAAAACBAEAAQIAAgMBBwAJAwAABAEBAQEEAQEAAgQDAQEDBAMBAAQEAQEBBQQBAQAG
AAEBAQEBAQAAAAAAAAAAAAAAAAAAgD8AAAAAAAAAAAAAgD8AAIA/AAAAAAAAAAAAAIA/AAAAAAAB
AQAJBwEQEwEwAwBEgv/y/wOA////fwAAAAABAQAJDwEQCwEwAwA4gv/+iA+A////fwAAAAABAQAR
EwEQJwEwAwA4gv//9v+c/R8AgP///38AAAABAQAREwEQJwEwAwA4gv//8f///R8AgP///38AAAAB
AQAJAwEQFwEwAwAogv79/QGB////fwAAAAABAQEBAwMBMAEQAwAcgv////8BAAAA"""
SIGNED_VALUES = {  # for the corners (0, 0), (1, 0), (1, 1), (0, 1)
    1: (np.int8, [-128, -127, -1, 127]),
    2: (np.int8, [-128, -1, 3, 127]),
    3: (np.int16, [-32768, -5, 9, 32767]),
    4: (np.int16, [-32768, 7, -9, 32767]),
    5: (np.int8, [127, 0, -127, 127]),
    6: (np.int8, [1, 0, -1, 1]),
}
IDS = {"JOINTS_0": 0, "WEIGHTS_0": 1, "_ID": 2, "COLOR_1": 3, "POSITION": 4}


def make_draco(side: int, **options: Any) -> tuple[bytes, dict[str, NDArray[Any]]]:
    """Encode a grid with joints, weights, a number and a colour to each point."""
    rng = np.random.default_rng(side)
    points, faces = make_grid(side)
    count = len(points)
    values: dict[str, NDArray[Any]] = {
        "JOINTS_0": rng.integers(0, 60_000, (count, 4), dtype=np.uint16),
        "WEIGHTS_0": rng.random((count, 4)).astype(np.float32),
        "_ID": rng.permutation(count).astype(np.uint32)[:, None],
        "COLOR_1": rng.integers(0, 256, (count, 3), dtype=np.uint8),
        "POSITION": points,
        "faces": faces,
    }
    generic = {IDS[name]: values[name] for name in list(values)[:4]}
    data = draco.encode(
        points, faces, quantization_bits=0, generic_attributes=generic, **options
    )
    return data, values


# Draco: what comes out


@pytest.mark.parametrize("side", [2, 3, 10, 40])
@pytest.mark.parametrize("level", [0, 1, 7, 10])
def test_draco_keeps_every_attribute_in_its_own_type(side: int, level: int) -> None:
    data, values = make_draco(side, compression_level=level, preserve_order=True)
    indices, decoded = decode_draco(memoryview(data), IDS)
    assert indices.dtype == np.uint32
    np.testing.assert_array_equal(indices, values["faces"].reshape(-1))
    assert list(decoded) == list(IDS)
    for name, array in decoded.items():
        assert array.dtype == values[name].dtype
        assert array.flags.c_contiguous
        np.testing.assert_array_equal(array, values[name])


@pytest.mark.parametrize("side", [2, 3, 10, 40])
@pytest.mark.parametrize("level", [1, 5, 10])
def test_draco_points_stay_together_when_reordered(side: int, level: int) -> None:
    data, values = make_draco(side, compression_level=level)
    indices, decoded = decode_draco(data, IDS)
    origin = np.argsort(values["_ID"][:, 0])[decoded["_ID"][:, 0]]
    for name in IDS:
        np.testing.assert_array_equal(decoded[name], values[name][origin])
    faces = origin[indices.reshape(-1, 3)]
    assert sorted(map(turned, faces)) == sorted(map(turned, values["faces"]))


@pytest.mark.parametrize("text", [SIGNED_EDGEBREAKER, SIGNED_SEQUENTIAL])
def test_draco_signed_integers_come_out_raw(text: str) -> None:
    names = {"POSITION": 0, **{f"_{key}": key for key in SIGNED_VALUES}}
    indices, decoded = decode_draco(base64.b64decode(text), names)
    x, y = decoded["POSITION"][:, :2].T
    corner = np.where(y == 0, x, 3 - x).astype(int)
    for key, (dtype, wanted) in SIGNED_VALUES.items():
        assert decoded[f"_{key}"].dtype == dtype
        assert decoded[f"_{key}"][:, 0].tolist() == np.array(wanted)[corner].tolist()
    assert sorted(map(turned, corner[indices.reshape(-1, 3)])) == [(0, 1, 2), (0, 2, 3)]


def test_draco_int32_is_exact_or_refused() -> None:
    points, faces = make_grid(4)
    whole = (points * 1000).astype(np.int32)
    data = draco.encode(whole, faces, preserve_order=True)
    values = decode_draco(data, {"POSITION": 0})[1]["POSITION"]
    assert values.dtype == np.int32
    np.testing.assert_array_equal(values, whole)
    data = draco.encode(whole << 13, faces, preserve_order=True)
    with pytest.raises(CodecError, match="read back as int32"):
        decode_draco(data, {"POSITION": 0})


def test_draco_metadata_are_stepped_over() -> None:
    points, faces = make_grid(5)
    generic = {"first": points, "second": points[:, :1]}
    data = draco.encode(points, faces, create_metadata=True, generic_attributes=generic)
    assert data[10] & codecs.DRACO_HAS_METADATA
    ids = {item["name"]: item["unique_id"] for item in draco.decode(data).attributes}
    decoded = decode_draco(data, {"A": ids["first"], "B": ids["second"]})[1]
    np.testing.assert_array_equal(decoded["A"][:, :1], decoded["B"])
    for size in range(11, 60):
        with pytest.raises(CodecError):
            decode_draco(data[:size], {"A": 0})


# Draco: what is refused


def test_draco_cut_short_is_refused() -> None:
    data, _ = make_draco(3)
    for size in range(len(data)):
        with pytest.raises(CodecError):
            decode_draco(data[:size], IDS)


def test_draco_changed_bytes_raise_one_type_only() -> None:
    source = random.Random(7)
    for side, order in ((3, False), (3, True), (12, False)):
        data, _ = make_draco(side, compression_level=7, preserve_order=order)
        for _ in range(300):
            changed = bytearray(data)
            for _ in range(source.choice([1, 2, 8])):
                changed[source.randrange(len(data))] = source.randrange(256)
            try:
                indices, values = decode_draco(bytes(changed), IDS)
            except CodecError:
                continue
            assert not len(indices) or indices.max() < len(values["POSITION"])


def number(*values: int) -> bytes:
    """Write numbers with seven bits to a byte, lowest first."""
    done = b""
    for value in values:
        while value > 0x7F:
            done += bytes([value & 0x7F | 0x80])
            value >>= 7
        done += bytes([value])
    return done


HEADS = [  # what follows the word DRACO: version, geometry, method, flags, ...
    (b"\2\2\1", "inside their header"),
    (b"\1\3\1\1\0\0\0\3\1", "bitstream 1.3"),
    (b"\2\3\0\1\0\0\0\3\1", "no triangle mesh"),
    (b"\2\2\1\7\0\0\0\3\1", "encoding method 7"),
    (b"\2\2\1\1\0\0\7\3\1", "traversal 7"),
    (b"\2\2\1\1\0\0\0" + b"\xff" * 9, "too long"),
    (b"\2\2\1\1\0\0\0" + number(1, 10**8) + bytes(50), "100000000 faces"),
    (b"\2\2\1\1\0\0\2" + number(9, 1 << 25) + bytes(10**6), "33554432 faces"),
    (b"\2\2\1\0\0\0" + number(1, 10**8) + bytes(50), "100000000 points"),
    (b"\2\2\1\0\0\0" + number(99, 9) + bytes(50), "99 faces"),
    (b"\2\2\1\0\0\x80" + number(2**32 - 1) + bytes(50), "inside their header"),
    (b"\2\2\1\1\0\0\0\3\1" + bytes(50), "damaged or incomplete"),
]


@pytest.mark.parametrize(("head", "text"), HEADS)
def test_draco_header_is_checked_before_decoding(head: bytes, text: str) -> None:
    with pytest.raises(CodecError, match=text):
        decode_draco(b"DRACO" + head, {"POSITION": 0})
    with pytest.raises(CodecError, match="word DRACO"):
        decode_draco(head, {"POSITION": 0})


def test_draco_attributes_must_be_there() -> None:
    data, _ = make_draco(3)
    with pytest.raises(CodecError, match=r"unique id 77 given for COLOR_0"):
        decode_draco(data, {"POSITION": 4, "COLOR_0": 77})
    with pytest.raises(CodecError, match="no Draco attribute is named"):
        decode_draco(data, {})
    cloud = draco.encode(make_grid(3)[0])
    with pytest.raises(CodecError, match="no triangle mesh"):
        decode_draco(cloud, {"POSITION": 0})


def fake_draco(monkeypatch: pytest.MonkeyPatch, faces: Any, *items: Any) -> None:
    """Put a decoder in place that answers (data type, values) for ids 0, 1, ..."""
    common = {"num_components": 2, "attribute_type": 4}
    records = [
        {**common, "unique_id": key, "data_type": kind, "data": values}
        for key, (kind, values) in enumerate(items)
    ]
    mesh = SimpleNamespace(
        faces=faces, attributes=records, get_attribute_by_unique_id=records.__getitem__
    )
    fake = SimpleNamespace(decode=lambda _: mesh)
    monkeypatch.setitem(sys.modules, "DracoPy", fake)


def test_draco_answers_are_checked(monkeypatch: pytest.MonkeyPatch) -> None:
    data, _ = make_draco(3)
    three = np.zeros((3, 2), np.float32)
    faces = np.array([[0, 1, 3]], np.uint32)
    for text, *items in (
        ("point 3 of 3", (9, three)),
        ("differ in their number of points", (9, three), (9, three[:2])),
        ("data type 10", (10, three)),
        ("not finite", (1, three + np.float32(np.nan))),
        ("read back as int8", (1, three + np.float32(0.3))),
        ("read back as int8", (1, three + np.float32(200))),
    ):
        fake_draco(monkeypatch, faces, *items)
        with pytest.raises(CodecError, match=text):
            decode_draco(data, {str(key): key for key in range(len(items))})
    fake_draco(monkeypatch, None, (4, None))
    indices, values = decode_draco(data, {"A": 0})
    assert indices.shape == (0,)
    assert values["A"].shape == (0, 2)


def raise_memory_error(*_: Any) -> None:
    raise MemoryError("std::bad_alloc")


def test_foreign_exceptions_do_not_escape(monkeypatch: pytest.MonkeyPatch) -> None:
    data, _ = make_draco(3)
    broken = SimpleNamespace(
        decode=raise_memory_error, decode_vertex_buffer=raise_memory_error
    )
    for name in ("DracoPy", "meshoptimizer"):
        monkeypatch.setitem(sys.modules, name, broken)
    with pytest.raises(CodecError, match="damaged"):
        decode_draco(data, IDS)
    with pytest.raises(CodecError, match="bad_alloc"):
        unpack(bytes(99), 1, 4)


def test_missing_packages_name_the_extra(monkeypatch: pytest.MonkeyPatch) -> None:
    data, _ = make_draco(3)
    for name in ("DracoPy", "meshoptimizer"):
        monkeypatch.setitem(sys.modules, name, None)
    with pytest.raises(BackendMissing, match=r"Draco.*pip install 'flexor\[codecs\]'"):
        decode_draco(data, IDS)
    with pytest.raises(BackendMissing, match=r"meshopt.*flexor\[codecs\]"):
        unpack(bytes(9), 3, 2, mode="INDICES")


# Real characters


@pytest.mark.parametrize("name", DRACO_ASSETS)
def test_draco_characters(name: str) -> None:
    tree, binary = read_glb(name)
    total, sizes = 0, []
    for mesh in tree["meshes"]:
        for primitive in mesh["primitives"]:
            packed = primitive["extensions"]["KHR_draco_mesh_compression"]
            data = part_of(tree["bufferViews"][packed["bufferView"]], binary)
            indices, values = decode_draco(data, packed["attributes"])
            total = zlib.crc32(indices.tobytes(), total)
            sizes.append((len(indices), len(values["POSITION"])))
            for key in sorted(values):
                total = zlib.crc32(values[key].tobytes(), total)
                accessor = tree["accessors"][primitive["attributes"][key]]
                assert len(values[key]) == accessor["count"]
            if "JOINTS_0" in values:
                assert values["JOINTS_0"].dtype.kind == "u"
                assert values["JOINTS_0"].max() < len(tree["skins"][0]["joints"])
                sums = values["WEIGHTS_0"].sum(1)
                np.testing.assert_allclose(sums, 1, atol=0.02)
    assert sizes == DRACO_ASSETS[name][1]
    assert total == DRACO_ASSETS[name][0]
