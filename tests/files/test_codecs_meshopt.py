"""meshopt: round trips, slow twins of the filters, hostile bytes."""

from __future__ import annotations

import math
import random
import zlib
from collections.abc import Iterator

import numpy as np
import pytest

from flexor.files.codecs import CodecError
from tests.files.package.packed import make_grid, part_of, read_glb, turned, unpack

meshopt = pytest.importorskip("meshoptimizer", reason="needs the extra flexor[codecs]")

# As in the tests of Draco: found equal to what the JavaScript decoder gives.
FOX_SUM = 0x57E8510C


# meshopt: round trips


@pytest.fixture(params=[0, 1])
def version(request: pytest.FixtureRequest) -> Iterator[int]:
    """Encode attributes in a format version, and put the old one back."""
    before = meshopt.encode_vertex_buffer(np.zeros((1, 4), np.uint8))[0] & 0x0F
    meshopt.encode_vertex_version(request.param)
    yield request.param
    meshopt.encode_vertex_version(before)


@pytest.mark.parametrize("count", [0, 1, 15, 16, 17, 255, 256, 257, 1000])
@pytest.mark.parametrize("stride", [4, 12, 64, 256])
def test_attributes_round_trip(version: int, count: int, stride: int) -> None:
    rng = np.random.default_rng(count)
    source = rng.integers(0, 1 + count % 250, (count, stride)).astype(np.uint8)
    data = meshopt.encode_vertex_buffer(source)
    assert data[0] == 0xA0 + version
    decoded = unpack(data, count, stride)
    assert decoded.dtype == np.uint8
    np.testing.assert_array_equal(decoded, source)


@pytest.mark.parametrize("stride", [2, 4])
@pytest.mark.parametrize("side", [2, 3, 20, 120])
def test_indices_round_trip(side: int, stride: int) -> None:
    faces = make_grid(side)[1]
    data = meshopt.encode_index_sequence(faces.reshape(-1))
    decoded = unpack(memoryview(data), faces.size, stride, mode="INDICES")
    assert decoded.shape == (faces.size, stride)
    np.testing.assert_array_equal(decoded.view(f"<u{stride}")[:, 0], faces.reshape(-1))
    data = meshopt.encode_index_buffer(faces.reshape(-1))
    decoded = unpack(data, faces.size, stride, mode="TRIANGLES")
    triangles = decoded.view(f"<u{stride}").reshape(-1, 3)
    assert list(map(turned, triangles)) == list(map(turned, faces))


def test_wide_indices_wrap_to_16_bits() -> None:
    source = np.array([0, 65_535, 65_536, 200_000], np.uint32)
    data = meshopt.encode_index_sequence(source)
    decoded = unpack(data, 4, 2, mode="INDICES")
    assert decoded.view("<u2")[:, 0].tolist() == [0, 65_535, 0, 200_000 - 3 * 65_536]


# meshopt: each filter against a slow twin


def away(value: float) -> int:
    """Round to the nearest whole number, halves away from zero."""
    return int(math.copysign(math.floor(abs(value) + 0.5), value))


def twin_octahedral(element: list[int], bits: int) -> list[float]:
    x, y = element[0] / element[2], element[1] / element[2]
    z = 1 - abs(x) - abs(y)
    fold = min(z, 0.0)
    x, y = x - math.copysign(fold, x), y - math.copysign(fold, y)
    length = math.sqrt(x * x + y * y + z * z)
    most = 2 ** (bits - 1) - 1
    return [*(away(part / length * most) for part in (x, y, z)), element[3]]


def twin_quaternion(element: list[int], bits: int) -> list[float]:
    one = element[3] | 3
    x, y, z = (part / one / math.sqrt(2) for part in element[:3])
    w = math.sqrt(max(0.0, 1 - x * x - y * y - z * z))
    result = [0.0] * 4
    for step, part in enumerate((w, x, y, z)):
        result[(element[3] + step) % 4] = away(part * 32767)
    return result


def twin_exponential(element: list[int], bits: int) -> list[float]:
    return [
        math.ldexp((word & 0xFFFFFF) - ((word & 0x800000) << 1), word >> 24)
        for word in element
    ]


def twin_color(element: list[int], bits: int) -> list[float]:
    y, orange, green, alpha = element
    depth = alpha.bit_length()
    full = 2**depth - 1
    rest = alpha - 2 ** (depth - 1)
    parts = (y + orange - green, y + green, y - orange - green, rest * 2 + rest % 2)
    return [away(part * (2**bits - 1) / full) for part in parts]


def make_element(name: str, bits: int, source: random.Random) -> list[int]:
    """Make four components of valid filter input, stored in up to `bits` bits."""
    if name == "EXPONENTIAL":
        return [
            source.randint(-100, 100) << 24 | source.getrandbits(24) for _ in range(4)
        ]
    depth = source.randint(4 if name == "QUATERNION" else 2, bits)
    one = 2 ** (depth - 1) - 1
    if name == "OCTAHEDRAL":
        x, y, other = (source.randint(-one, one) for _ in range(3))
        return [x, y, one, other]
    if name == "QUATERNION":
        most = 2 * one // 3  # so that a largest component is left over
        parts = [source.randint(-most, most) for _ in range(3)]
        return [*parts, one & ~3 | source.randrange(4)]
    while True:
        luma, alpha = source.getrandbits(depth), source.getrandbits(depth - 1)
        orange, green = source.randint(-one, one), source.randint(-one, one)
        colors = (luma + orange - green, luma + green, luma - orange - green)
        if min(colors) >= 0 and max(colors) < 2**depth:
            return [luma, orange, green, one + 1 + alpha]


FILTERS = {
    ("OCTAHEDRAL", 8): (twin_octahedral, "<i1", 1),
    ("OCTAHEDRAL", 16): (twin_octahedral, "<i2", 1),
    ("QUATERNION", 16): (twin_quaternion, "<i2", 1),
    ("EXPONENTIAL", 32): (twin_exponential, "<f4", 0),
    ("COLOR", 8): (twin_color, "<u1", 1),
    ("COLOR", 16): (twin_color, "<u2", 1),
}


@pytest.mark.parametrize("count", [1, 3, 4, 5, 17, 300])
@pytest.mark.parametrize(("name", "bits"), FILTERS)
def test_filters_match_their_twins(
    version: int, name: str, bits: int, count: int
) -> None:
    twin, dtype, unit = FILTERS[name, bits]
    source = random.Random(count)
    stored = np.array([make_element(name, bits, source) for _ in range(count)])
    size = bits // 8
    packed = stored.astype(f"<i{size}").view(np.uint8)
    decoded = unpack(meshopt.encode_vertex_buffer(packed), count, 4 * size, name)
    wanted = np.array([twin(row, bits) for row in stored.tolist()], np.float64)
    found = decoded.view(dtype).astype(np.float64)
    # The formats allow one unit in the last place; EXPONENTIAL must be exact.
    assert np.abs(found - wanted).max() <= unit


def test_filters_keep_simple_values() -> None:
    up = np.array([[0, 0, 127, 9], [0, 0, 1, -9]], np.int8).view(np.uint8)
    found = unpack(meshopt.encode_vertex_buffer(up), 2, 4, "OCTAHEDRAL")
    assert found.view(np.int8).tolist() == [[0, 0, 127, 9], [0, 0, 127, -9]]
    still = np.array([[0, 0, 0, 0x7FFF]], np.int16).view(np.uint8)
    found = unpack(meshopt.encode_vertex_buffer(still), 1, 8, "QUATERNION")
    assert found.view(np.int16).tolist() == [[0, 0, 0, 32767]]
    grey = np.array([[255, 0, 0, 255], [0, 0, 0, 128]], np.uint8)
    found = unpack(meshopt.encode_vertex_buffer(grey), 2, 4, "COLOR")
    assert found.tolist() == [[255, 255, 255, 255], [0, 0, 0, 0]]


@pytest.mark.parametrize(("name", "bits"), FILTERS)
def test_filters_survive_nonsense(name: str, bits: int) -> None:
    rng = np.random.default_rng(bits)
    source = rng.integers(0, 256, (500, bits // 2)).astype(np.uint8)
    source[:100] = 0
    with np.errstate(all="raise"):
        found = unpack(meshopt.encode_vertex_buffer(source), 500, bits // 2, name)
    assert found.shape == source.shape


# meshopt: what is refused


def test_least_size_is_exact(version: int) -> None:
    for stride in (4, 8, 20, 32, 36, 128, 256):
        for count in (0, 1, 16, 17, 64, 65, 256, 257, 5000):
            data = meshopt.encode_vertex_buffer(np.zeros((count, stride), np.uint8))
            assert unpack(data, count, stride).shape == (count, stride)
            with pytest.raises(CodecError, match=f"at least {len(data)} are needed"):
                unpack(data[:-1], count, stride)


@pytest.mark.parametrize("mode", ["ATTRIBUTES", "TRIANGLES", "INDICES"])
def test_sizes_beyond_the_data_are_refused(mode: str) -> None:
    for head in (b"\xa0", b"\xa1", b"\xe1", b"\xd1", b""):
        for count in (3 * 10**5, 3 * 10**9, 3 * 10**30):
            with pytest.raises(CodecError, match="cannot hold"):
                unpack(head + bytes(200), count, 4, mode=mode)


def test_meshopt_cut_short_or_counted_wrong_is_refused(version: int) -> None:
    rng = np.random.default_rng(3)
    points = rng.integers(0, 99, (40, 12)).astype(np.uint8)
    faces = make_grid(5)[1].reshape(-1)
    jobs = [
        # Groups of 16 elements; version 0 counts them in fours.
        ("ATTRIBUTES", meshopt.encode_vertex_buffer(points), 40, 12, (64, -16)),
        ("TRIANGLES", meshopt.encode_index_buffer(faces), len(faces), 4, (3, -3)),
        ("INDICES", meshopt.encode_index_sequence(faces), len(faces), 2, (1, -1)),
    ]
    for mode, data, count, stride, steps in jobs:
        assert len(unpack(data, count, stride, mode=mode)) == count
        for size in range(len(data)):
            with pytest.raises(CodecError):
                unpack(data[:size], count, stride, mode=mode)
        for wrong in (data + b"\0", b"\x55" + data[1:]):
            with pytest.raises(CodecError, match="damaged"):
                unpack(wrong, count, stride, mode=mode)
        for step in steps:
            with pytest.raises(CodecError):
                unpack(data, count + step, stride, mode=mode)


@pytest.mark.parametrize(
    ("count", "stride", "mode", "name", "text"),
    [
        (1, 4, "POINTS", "NONE", "mode 'POINTS'"),
        (1, 4, "ATTRIBUTES", "BLUR", "filter 'BLUR'"),
        (-1, 4, "ATTRIBUTES", "NONE", "negative"),
        (1, 0, "ATTRIBUTES", "NONE", "stride 0"),
        (1, 6, "ATTRIBUTES", "NONE", "stride 6"),
        (1, 260, "ATTRIBUTES", "NONE", "stride 260"),
        (1, 12, "ATTRIBUTES", "OCTAHEDRAL", "OCTAHEDRAL"),
        (1, 4, "ATTRIBUTES", "QUATERNION", "QUATERNION"),
        (1, 6, "ATTRIBUTES", "EXPONENTIAL", "EXPONENTIAL"),
        (1, 16, "ATTRIBUTES", "COLOR", "COLOR"),
        (3, 8, "TRIANGLES", "NONE", "stride of 2 or 4"),
        (3, 1, "INDICES", "NONE", "stride of 2 or 4"),
        (4, 2, "TRIANGLES", "NONE", "whole number of triangles"),
        (3, 4, "INDICES", "EXPONENTIAL", "takes no filter"),
    ],
)
def test_layouts_outside_the_format_are_refused(
    count: int, stride: int, mode: str, name: str, text: str
) -> None:
    with pytest.raises(CodecError, match=text):
        unpack(bytes(99), count, stride, name, mode)


# Real characters


def test_meshopt_character() -> None:
    tree, binary = read_glb("Fox_gltfpack")
    total = 0
    for view in tree["bufferViews"]:
        packed = view.get("extensions", {}).get("EXT_meshopt_compression")
        if packed:
            name, data = packed.get("filter", "NONE"), part_of(packed, binary)
            count, stride = packed["count"], packed["byteStride"]
            decoded = unpack(data, count, stride, name, packed["mode"])
            assert decoded.nbytes == view["byteLength"]
            total = zlib.crc32(decoded.tobytes(), total)
    assert total == FOX_SUM
